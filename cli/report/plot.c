/* SPDX-License-Identifier: MIT */
#include "report/plot.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tool/text.h"

enum { WIDTH = CLI_PLOT_WIDTH, CHOSEN_COLORS = 8 };

void cli_put_html(FILE *out, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        const size_t length = tool_utf8_length(text + i, n - i, &code);
        if (length == 0 || code < ' ' || code == 127) fputs("\xef\xbf\xbd", out);
        else if (code == '&') fputs("&amp;", out);
        else if (code == '<') fputs("&lt;", out);
        else if (code == '>') fputs("&gt;", out);
        else if (code == '"') fputs("&quot;", out);
        else fwrite(text + i, 1, length, out);
        i += length ? length : 1;
    }
}

/* The first colours are chosen; later ones take hues a golden angle apart, so that no two series share one. */
static void put_series_colors(FILE *out, const char *const chosen[CHOSEN_COLORS], const char *saturation_lightness,
                              size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (i < CHOSEN_COLORS) fprintf(out, "--c%zu:%s;", i, chosen[i]);
        else fprintf(out, "--c%zu:hsl(%zu %s);", i, (size_t)(137.508 * (double)i) % 360, saturation_lightness);
}

void cli_plot_style(FILE *out, size_t n_series)
{
    static const char *const light[CHOSEN_COLORS] = {"#0b62a8", "#c2560a", "#1c7a4a", "#8a3ea0",
                                                     "#b3275f", "#00808c", "#806600", "#5c4033"};
    static const char *const dark[CHOSEN_COLORS] = {"#6db3f2", "#f2a65a", "#6fcf97", "#c792ea",
                                                    "#ff8fb8", "#56cfd8", "#d9c04c", "#c4a48f"};
    fputs(":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f26;--dim:#586172;--rule:#d5dae2;--card:#f6f7f9;"
          "--shade:#0003;--bad:#b3261e;--n:#3d4654;--p0:#39424f;--p1:#78828f;--p2:#a9b1bc;--p3:#d3d8df;",
          out);
    put_series_colors(out, light, "65% 36%", n_series);
    fputs("}\n@media(prefers-color-scheme:dark){:root{--bg:#14171c;--fg:#e6e9ee;--dim:#a0a9b8;--rule:#363d49;"
          "--card:#1c2027;--shade:#000a;--bad:#ff8a80;--n:#c3cad5;--p0:#dfe4ea;--p1:#98a2b0;--p2:#66707e;--p3:#424a56;",
          out);
    put_series_colors(out, dark, "70% 70%", n_series);
    fputs("}}\nsvg text{font:12px system-ui,sans-serif;fill:var(--fg);paint-order:stroke;stroke:var(--card);"
          "stroke-width:3px}svg .d{fill:var(--dim)}svg .r{stroke:var(--rule);stroke-width:1}"
          "svg .o{stroke:var(--fg);stroke-width:1;stroke-dasharray:3 3}svg .l{fill:none;stroke-width:2}"
          "svg circle{stroke-width:1.5}\n"
          ".key{list-style:none;padding:0;margin:0 0 .5em;display:flex;flex-wrap:wrap;gap:.2em 1em;font-size:.85em}"
          ".key i,td i{display:inline-block;width:.7em;height:.7em;margin-right:.4em}\n",
          out);
}

void cli_plot_legend(FILE *out, const char *const *names, size_t n, char kind)
{
    fputs("<ul class=\"key\">", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "<li><i style=\"background:var(--%c%zu)\"></i>", kind, i);
        cli_put_html(out, names[i]);
        fputs("</li>", out);
    }
    fputs("</ul>\n", out);
}

/* ------------------------------------------------------------------ elements */

static void svg_begin(FILE *out, double height, const char *attributes)
{
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" %s>\n", WIDTH, height,
            attributes ? attributes : "role=\"img\"");
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

/* `title` appears when the pointer rests on the bar. */
static void svg_bar(FILE *out, const char *color, double x, double y, double width, double height, const char *title)
{
    fprintf(out, "<rect style=\"fill:var(--%s)\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\"><title>", color,
            x, y, width, height);
    cli_put_html(out, title);
    fputs("</title></rect>\n", out);
}

/* x with about three digits. */
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

/* ---------------------------------------------------------------------- bars */

void cli_plot_bars(FILE *out, const cli_bars *b)
{
    enum { TOP = 16, BAR = 15, ROOM = 44 };
    const double scale = (WIDTH - ROOM) / b->largest, height = TOP + BAR * (double)b->n + 2;
    const double reference = b->reference * scale;
    char number[32], title[200], color[24];
    svg_begin(out, height, NULL);
    svg_text(out, reference, 11, reference > WIDTH * 0.5 ? "end" : "start", " class=\"d\"", b->reference_label);
    for (size_t i = 0; i < b->n; i++) {
        const double y = TOP + BAR * (double)i;
        if (!isfinite(b->values[i])) continue;
        number_text(number, b->values[i], b->unit);
        snprintf(title, sizeof title, "%s: %s", b->names[i], number);
        snprintf(color, sizeof color, "c%zu", i);
        svg_bar(out, color, 0, y, b->values[i] * scale, BAR - 2, title);
    }
    svg_line(out, reference, TOP - 2, reference, height, "o"); /* over the bars, under the numbers */
    for (size_t i = 0; i < b->n; i++) {
        if (!isfinite(b->values[i])) continue;
        number_text(number, b->values[i], b->unit);
        svg_text(out, b->values[i] * scale + 4, TOP + BAR * (double)i + BAR - 4, "start", "", number);
    }
    fputs("</svg>\n", out);
}

void cli_plot_stacks(FILE *out, const cli_stacks *k)
{
    enum { LABEL = 16, BAR = 16, GAP = 8, ROOM = 60 };
    const double row = LABEL + BAR + GAP;
    double largest = 0;
    char number[32], title[200], color[24];
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
        if (!isfinite(k->values[r * k->n_parts])) continue;
        for (size_t p = 0; p < k->n_parts; p++) {
            const double value = k->values[r * k->n_parts + p];
            number_text(number, value, k->unit);
            snprintf(title, sizeof title, "%s: %s %s", k->rows[r], k->parts[p], number);
            snprintf(color, sizeof color, "p%zu", p);
            svg_bar(out, color, sum * scale, top + LABEL, value * scale, BAR, title);
            sum += value;
        }
        number_text(number, sum, k->unit);
        svg_text(out, sum * scale + 4, top + LABEL + BAR - 4, "start", "", number);
    }
    fputs("</svg>\n", out);
}

/* --------------------------------------------------------------------- lines */

/* left, bottom: where the axes are in the drawing. x_scale, y_scale: drawing units per unit. x_first: x at `left`. */
typedef struct frame {
    double left, bottom, x_scale, y_scale, x_first;
} frame;

static void axes_draw(FILE *out, const cli_lines *l, const frame *f, double x_last, double y_last)
{
    const double step = axis_step(y_last), x_range = x_last - f->x_first;
    const double x_step = x_range > 0 ? axis_step(x_range) : 1; /* a single x has one mark, its own */
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
    svg_text(out, 0, 10, "start", " class=\"d\"", l->y_label);
    svg_text(out, WIDTH - 6, f->bottom + 28, "end", " class=\"d\"", l->x_label);
    if (l->reference <= 0) return;
    const double at = f->bottom - l->reference * f->y_scale;
    svg_line(out, f->left, at, WIDTH - 6, at, "o");
    svg_text(out, WIDTH - 6, at - 4, "end", "", l->reference_label);
}

static void point_draw(FILE *out, const cli_lines *l, const char *color, size_t series, size_t i, double x, double y)
{
    const int64_t count = l->counts ? l->counts[series * l->n_points + i] : CLI_FEW;
    char number[32];
    number_text(number, l->y[series * l->n_points + i], "");
    fprintf(out, "<circle style=\"stroke:var(--%s);fill:var(--%s)\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"><title>", color,
            count < CLI_FEW ? "card" : color, x, y);
    if (l->names) {
        cli_put_html(out, l->names[series]);
        fputs(", ", out);
    }
    cli_put_html(out, l->x_label);
    fprintf(out, " %g: %s", l->x[i], number);
    if (l->counts) fprintf(out, " (n = %lld)", (long long)count);
    fputs("</title></circle>\n", out);
}

static void line_draw(FILE *out, const cli_lines *l, const frame *f, size_t series)
{
    const double *y = l->y + series * l->n_points;
    bool drawn = false;
    char color[24] = "n";
    if (l->names) snprintf(color, sizeof color, "c%zu", series);
    fprintf(out, "<path class=\"l\" style=\"stroke:var(--%s)\" d=\"", color);
    for (size_t i = 0; i < l->n_points; i++) {
        if (isfinite(y[i]))
            fprintf(out, "%s%.1f %.1f", drawn ? "L" : "M", f->left + (l->x[i] - f->x_first) * f->x_scale,
                    f->bottom - y[i] * f->y_scale);
        drawn = isfinite(y[i]);
    }
    fputs("\"/>\n", out);
    for (size_t i = 0; i < l->n_points; i++)
        if (isfinite(y[i]))
            point_draw(out, l, color, series, i, f->left + (l->x[i] - f->x_first) * f->x_scale,
                       f->bottom - y[i] * f->y_scale);
}

void cli_plot_lines(FILE *out, const cli_lines *l)
{
    enum { HEIGHT = CLI_LINES_HEIGHT, LEFT = 36, TOP = 22, BOTTOM = 34, RIGHT = 12 };
    if (l->n_points == 0) return;
    const double x_last = l->x[l->n_points - 1], y_last = largest_of(l->y, l->n_series * l->n_points, l->reference);
    const double x_range = x_last > l->x[0] ? x_last - l->x[0] : 1;
    const frame f = {.left = LEFT,
                     .bottom = HEIGHT - BOTTOM,
                     .x_scale = (WIDTH - LEFT - RIGHT) / x_range,
                     .y_scale = (HEIGHT - BOTTOM - TOP) / y_last,
                     .x_first = l->x[0]};
    svg_begin(out, HEIGHT, l->attributes);
    axes_draw(out, l, &f, x_last, y_last);
    for (size_t s = 0; s < l->n_series; s++) line_draw(out, l, &f, s);
    fputs("</svg>\n", out);
}
