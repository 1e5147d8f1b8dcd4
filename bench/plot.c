/* SPDX-License-Identifier: MIT */
/*
 * Draws the figure on standard input as an SVG file on standard output, with the plots of the command's reports
 * (cli/report/plot.h). It follows the reader's light or dark theme, also as an image of a page.
 *
 *   plot <FIGURE.json >FIGURE.svg
 *
 *   {"title": "...", "names": ["...", ...], "reference": 1, "reference_label": "...",
 *    "x": [1, 2, 4], "y": [[...], ...], "x_label": "...", "y_label": "..."}      lines: y of each name at each x
 *    "values": [...], "unit": "..."}                                            bars: one for each name
 *
 * null: no point or bar there. "reference" may be absent from lines.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/plot.h"

enum {
    MARGIN = 12,
    WIDTH = CLI_PLOT_WIDTH + 2 * MARGIN,
    TITLE = 24, /* height of the title */
    NAME = 17,  /* height of a line of names */
    LONG = 20,  /* characters of a name that takes a line by itself, and with it all others */
    BAR = 15,   /* of cli_plot_bars: a bar, and what stands above and below all bars */
    BAR_FRAME = 18
};

typedef struct figure {
    const char *title, **names;
    size_t n_names;
    double *x, *values; /* x [n_points]; values [n_names][n_points], of bars [n_names] */
    size_t n_points;    /* of bars 1 */
    const json_t *root;
} figure;

static void give_up(const char *why)
{
    fprintf(stderr, "plot: standard input: %s\n", why);
    exit(2);
}

static const char *text_of(const json_t *root, const char *name)
{
    const char *text = json_string_value(json_object_get(root, name));
    return text ? text : "";
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Copies the n numbers of an array to `to`. */
static void numbers_copy(double *to, const json_t *array, size_t n)
{
    if (json_array_size(array) != n) give_up("expected as many numbers as x has, and as many rows as names");
    for (size_t i = 0; i < n; i++) to[i] = number_of(json_array_get(array, i));
}

static figure figure_read(const json_t *root)
{
    const json_t *names = json_object_get(root, "names"), *x = json_object_get(root, "x");
    const json_t *y = json_object_get(root, "y"), *values = json_object_get(root, "values");
    figure f = {.title = text_of(root, "title"), .n_names = json_array_size(names), .root = root};
    f.n_points = values ? 1 : json_array_size(x);
    if (f.n_names == 0 || f.n_points == 0) give_up("expected \"names\", and \"values\" or \"x\" and \"y\"");
    f.names = calloc(f.n_names, sizeof *f.names);
    f.x = calloc(f.n_points, sizeof *f.x);
    f.values = calloc(f.n_names * f.n_points, sizeof *f.values);
    if (!f.names || !f.x || !f.values) give_up("not enough memory");
    for (size_t i = 0; i < f.n_names; i++) {
        f.names[i] = json_string_value(json_array_get(names, i));
        if (!f.names[i]) give_up("expected texts in \"names\"");
    }
    if (values) {
        numbers_copy(f.values, values, f.n_names);
    } else {
        if (json_array_size(y) != f.n_names) give_up("expected a row of \"y\" for each name");
        numbers_copy(f.x, x, f.n_points);
        for (size_t i = 0; i < f.n_names; i++)
            numbers_copy(f.values + i * f.n_points, json_array_get(y, i), f.n_points);
    }
    return f;
}

/* Columns of names. */
static size_t columns_of(const figure *f)
{
    size_t longest = 0;
    for (size_t i = 0; i < f->n_names; i++)
        if (strlen(f->names[i]) > longest) longest = strlen(f->names[i]);
    return longest > LONG ? 1 : 2;
}

/* Height of title and names. */
static int head_height(const figure *f)
{
    const size_t n = columns_of(f);
    return MARGIN + TITLE + (int)((f->n_names + n - 1) / n) * NAME;
}

static void head_put(FILE *out, const figure *f)
{
    const size_t n = columns_of(f);
    fprintf(out, "<text x=\"%d\" y=\"%d\" style=\"font-weight:600\">", MARGIN, MARGIN + 8);
    cli_put_html(out, f->title);
    fputs("</text>\n", out);
    for (size_t i = 0; i < f->n_names; i++) {
        const int left = MARGIN + (int)(i % n) * CLI_PLOT_WIDTH / 2, top = MARGIN + TITLE + (int)(i / n) * NAME;
        fprintf(out,
                "<rect style=\"fill:var(--c%zu)\" x=\"%d\" y=\"%d\" width=\"9\" height=\"9\"/>"
                "<text x=\"%d\" y=\"%d\">",
                i, left, top - 9, left + 14, top);
        cli_put_html(out, f->names[i]);
        fputs("</text>\n", out);
    }
}

static void lines_put(FILE *out, const figure *f)
{
    const json_t *reference = json_object_get(f->root, "reference");
    const cli_lines lines = {.x = f->x,
                             .y = f->values,
                             .n_points = f->n_points,
                             .n_series = f->n_names,
                             .names = f->names,
                             .x_label = text_of(f->root, "x_label"),
                             .y_label = text_of(f->root, "y_label"),
                             .reference = reference ? number_of(reference) : 0,
                             .reference_label = text_of(f->root, "reference_label")};
    cli_plot_lines(out, &lines);
}

static void bars_put(FILE *out, const figure *f)
{
    const double reference = number_of(json_object_get(f->root, "reference"));
    double largest = isfinite(reference) ? reference : 0;
    for (size_t i = 0; i < f->n_names; i++)
        if (f->values[i] > largest) largest = f->values[i];
    const cli_bars bars = {.names = f->names,
                           .values = f->values,
                           .n = f->n_names,
                           .largest = largest > 0 ? largest : 1,
                           .reference = isfinite(reference) ? reference : 0,
                           .reference_label = text_of(f->root, "reference_label"),
                           .unit = text_of(f->root, "unit")};
    cli_plot_bars(out, &bars);
}

static void figure_put(FILE *out, const figure *f)
{
    const bool has_bars = json_object_get(f->root, "values") != NULL;
    const int plot = has_bars ? BAR_FRAME + BAR * (int)f->n_names : CLI_LINES_HEIGHT;
    const int top = head_height(f), height = top + plot + MARGIN;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "role=\"img\">\n",
            2 * WIDTH, 2 * height, WIDTH, height);
    fputs("<style>", out);
    cli_plot_style(out, f->n_names);
    fputs("</style>\n", out);
    fprintf(out, "<rect style=\"fill:var(--card)\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", WIDTH, height);
    head_put(out, f);
    fprintf(out, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">\n", MARGIN, top, CLI_PLOT_WIDTH, plot);
    if (has_bars) bars_put(out, f);
    else lines_put(out, f);
    fputs("</svg>\n</svg>\n", out);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) give_up("the figure comes from there as JSON; leave out all arguments");
    json_error_t err;
    json_t *root = json_loadf(stdin, 0, &err);
    if (!root) give_up(err.text);
    figure f = figure_read(root);
    figure_put(stdout, &f);
    free(f.names);
    free(f.x);
    free(f.values);
    json_decref(root);
    return fflush(stdout) != 0 || ferror(stdout);
}
