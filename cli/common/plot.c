/* SPDX-License-Identifier: MIT */
#include "common/plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/text.h"

enum { WIDTH = CLI_PLOT_WIDTH, COLORS = 6 };

void cli_put_html(FILE *out, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        const size_t length = cli_utf8_length(text + i, n - i, &code);
        if (length == 0 || code < ' ' || code == 127) fputs("\xef\xbf\xbd", out);
        else if (code == '&') fputs("&amp;", out);
        else if (code == '<') fputs("&lt;", out);
        else if (code == '>') fputs("&gt;", out);
        else if (code == '"') fputs("&quot;", out);
        else fwrite(text + i, 1, length, out);
        i += length ? length : 1;
    }
}

void cli_plot_style(FILE *out)
{
    fputs(":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f26;--dim:#586172;--rule:#d5dae2;--card:#f6f7f9;"
          "--bad:#b3261e;--c0:#0b62a8;--c1:#b4540a;--c2:#1c7a4a;--c3:#8a3ea0;--c4:#7d6400;--c5:#4d5866}\n"
          "@media(prefers-color-scheme:dark){"
          ":root{--bg:#14171c;--fg:#e6e9ee;--dim:#a0a9b8;--rule:#363d49;--card:#1c2027;"
          "--bad:#ff8a80;--c0:#6db3f2;--c1:#f2a65a;--c2:#6fcf97;--c3:#c792ea;--c4:#e0c04c;--c5:#a9b4c2}}\n"
          "section svg{display:block;width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:var(--fg);"
          "paint-order:stroke;stroke:var(--card);stroke-width:3px}"
          "svg .d{fill:var(--dim)}svg .r{stroke:var(--rule);stroke-width:1}"
          "svg .o{stroke:var(--fg);stroke-width:1;stroke-dasharray:3 3}svg .l{fill:none;stroke-width:2}\n",
          out);
    for (int i = 0; i < COLORS; i++)
        fprintf(out, ".f%d{fill:var(--c%d)}.s%d{stroke:var(--c%d)}.k%d{color:var(--c%d)}", i, i, i, i, i, i);
    fputs("\n.key{list-style:none;padding:0;margin:0 0 .5em;display:flex;flex-wrap:wrap;gap:.2em 1em;font-size:.85em}"
          ".key span{margin-right:.4em}\n",
          out);
}

void cli_plot_legend(FILE *out, const char *const *names, size_t n)
{
    fputs("<ul class=\"key\">", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "<li><span class=\"k%zu\">&#9632;</span>", i % COLORS);
        cli_put_html(out, names[i]);
        fputs("</li>", out);
    }
    fputs("</ul>\n", out);
}

static void svg_begin(FILE *out, double height, const char *place)
{
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" %s>\n", WIDTH, height,
            place ? place : "role=\"img\"");
}

static void svg_text(FILE *out, double x, double y, const char *anchor, const char *class, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, class);
    cli_put_html(out, text);
    fputs("</text>\n", out);
}

static void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *class)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2);
}

/* Three digits, as far as they say something. */
static void number_text(char text[32], double x, const char *unit)
{
    const double size = fabs(x);
    snprintf(text, 32, "%.*f%s", size >= 100 ? 0 : size >= 10 ? 1 : 2, x, unit);
}

/* A round step that cuts the range into 3 to 6 parts. */
static double axis_step(double range)
{
    const double raw = range / 4, power = pow(10, floor(log10(raw)));
    const double digit = raw / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

static double largest_of(const double *values, size_t n, double at_least)
{
    double largest = at_least;
    for (size_t i = 0; i < n; i++)
        if (values[i] > largest) largest = values[i];
    return largest > 0 ? largest : 1;
}

void cli_plot_bars(FILE *out, const cli_bars *b)
{
    enum { LABEL = 16, BAR = 13, GAP = 8, ROOM = 52 };
    const double group = LABEL + BAR * (double)b->n_series + GAP, height = group * (double)b->n_groups + 4;
    const double scale = (WIDTH - ROOM) / largest_of(b->values, b->n_groups * b->n_series, b->reference);
    char text[32];
    svg_begin(out, height, NULL);
    if (b->reference > 0) svg_line(out, b->reference * scale, 0, b->reference * scale, height, "o");
    for (size_t g = 0; g < b->n_groups; g++) {
        const double top = group * (double)g;
        svg_text(out, 0, top + 12, "start", " class=\"d\"", b->groups[g]);
        for (size_t s = 0; s < b->n_series; s++) {
            const double value = b->values[g * b->n_series + s], y = top + LABEL + BAR * (double)s;
            if (!isfinite(value)) continue;
            fprintf(out, "<rect class=\"f%zu\" x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n", s % COLORS, y,
                    value * scale, BAR - 2);
            number_text(text, value, b->unit);
            svg_text(out, value * scale + 4, y + BAR - 3, "start", "", text);
        }
    }
    fputs("</svg>\n", out);
}

void cli_plot_stacks(FILE *out, const cli_stacks *k)
{
    enum { LABEL = 16, BAR = 16, GAP = 8, ROOM = 60 };
    const double row = LABEL + BAR + GAP;
    double largest = 0;
    char text[32];
    for (size_t r = 0; r < k->n_rows; r++) {
        double sum = 0;
        for (size_t p = 0; p < k->n_parts; p++) sum += k->values[r * k->n_parts + p];
        if (sum > largest) largest = sum;
    }
    const double scale = (WIDTH - ROOM) / (largest > 0 ? largest : 1);
    svg_begin(out, row * (double)k->n_rows, NULL);
    for (size_t r = 0; r < k->n_rows; r++) {
        const double top = row * (double)r;
        double sum = 0;
        svg_text(out, 0, top + 12, "start", " class=\"d\"", k->rows[r]);
        for (size_t p = 0; p < k->n_parts; p++) {
            const double value = k->values[r * k->n_parts + p];
            fprintf(out, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n", p % COLORS,
                    sum * scale, top + LABEL, value * scale, BAR);
            sum += value;
        }
        number_text(text, sum, k->unit);
        svg_text(out, sum * scale + 4, top + LABEL + BAR - 4, "start", "", text);
    }
    fputs("</svg>\n", out);
}

/* Where the axes stand, and what a unit of each is. */
typedef struct frame {
    double left, bottom, x_scale, y_scale, x_first;
} frame;

static void axes_draw(FILE *out, const cli_lines *l, const frame *f, double x_last, double y_last)
{
    const double step = axis_step(y_last), x_range = x_last - f->x_first;
    const double x_step = x_range > 0 ? axis_step(x_range) : 1; /* one place has one mark, its own */
    char text[32];
    for (int i = 0; i * step <= y_last * 1.0001; i++) {
        const double y = i * step, at = f->bottom - y * f->y_scale;
        svg_line(out, f->left, at, WIDTH - 6, at, "r");
        snprintf(text, sizeof text, "%g", y);
        svg_text(out, f->left - 4, at + 4, "end", " class=\"d\"", text);
    }
    const double x_begin = x_range > 0 ? ceil(f->x_first / x_step) * x_step : x_last;
    for (int i = 0; x_begin + i * x_step <= x_last * 1.0001; i++) {
        const double x = x_begin + i * x_step;
        snprintf(text, sizeof text, "%g", x);
        svg_text(out, f->left + (x - f->x_first) * f->x_scale, f->bottom + 14, "middle", " class=\"d\"", text);
    }
    svg_text(out, f->left, 10, "start", " class=\"d\"", l->y_label);
    svg_text(out, WIDTH - 6, f->bottom + 28, "end", " class=\"d\"", l->x_label);
}

static void line_draw(FILE *out, const cli_lines *l, const frame *f, size_t series)
{
    const double *y = l->y + series * l->n_points;
    bool drawn = false;
    fprintf(out, "<path class=\"l s%zu\" d=\"", series % COLORS);
    for (size_t i = 0; i < l->n_points; i++) {
        if (isfinite(y[i]))
            fprintf(out, "%s%.1f %.1f", drawn ? "L" : "M", f->left + (l->x[i] - f->x_first) * f->x_scale,
                    f->bottom - y[i] * f->y_scale);
        drawn = isfinite(y[i]);
    }
    fputs("\"/>\n", out);
    for (size_t i = 0; i < l->n_points; i++)
        if (isfinite(y[i]))
            fprintf(out, "<circle class=\"f%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", series % COLORS,
                    f->left + (l->x[i] - f->x_first) * f->x_scale, f->bottom - y[i] * f->y_scale);
}

void cli_plot_lines(FILE *out, const cli_lines *l)
{
    enum { HEIGHT = CLI_LINES_HEIGHT, LEFT = 36, TOP = 18, BOTTOM = 34, RIGHT = 12 };
    if (l->n_points == 0) return;
    const double x_last = l->x[l->n_points - 1], y_last = largest_of(l->y, l->n_series * l->n_points, 0);
    const double x_range = x_last > l->x[0] ? x_last - l->x[0] : 1;
    const frame f = {.left = LEFT,
                     .bottom = HEIGHT - BOTTOM,
                     .x_scale = (WIDTH - LEFT - RIGHT) / x_range,
                     .y_scale = (HEIGHT - BOTTOM - TOP) / y_last,
                     .x_first = l->x[0]};
    svg_begin(out, HEIGHT, l->place);
    axes_draw(out, l, &f, x_last, y_last);
    for (size_t s = 0; s < l->n_series; s++) line_draw(out, l, &f, s);
    fputs("</svg>\n", out);
}
