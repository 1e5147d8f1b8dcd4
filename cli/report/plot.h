/* SPDX-License-Identifier: MIT */
/*
 * Plots as inline SVG, CLI_PLOT_WIDTH units wide: text has its natural size on a telephone and grows a little with the
 * page. Hover over a bar or a point and the browser shows its name, value and count.
 *
 * One colour has one meaning in a report:
 *   --c0, --c1, ...   the series, which are the same everywhere: series i has colour i in each plot and table
 *   --p0 .. --p3      parts of a whole, in greys
 *   --n               anything else: the only line of a plot, plain decoding
 * The colours are CSS variables with a light and a dark set.
 */
#ifndef VOUCH_CLI_PLOT_H
#define VOUCH_CLI_PLOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_PLOT_WIDTH = 360, CLI_LINES_HEIGHT = 240, CLI_FEW = 10 /* a figure from fewer samples is marked */ };

/* Writes text with the characters < > & and " escaped for HTML and XML. Control characters, which XML
 * forbids, and bytes that are no UTF-8 become U+FFFD. */
void cli_put_html(FILE *out, const char *text);

/* The CSS of all plots, with colours for n series. */
void cli_plot_style(FILE *out, size_t n_series);
/* A coloured square for each name. `kind` is 'c' for series and 'p' for parts. */
void cli_plot_legend(FILE *out, const char *const *names, size_t n, char kind);

/* One bar a series, from 0 to `largest`; NAN: no bar. A labelled line stands at `reference`. */
typedef struct cli_bars {
    const char *const *names;
    const double *values; /* [n] */
    size_t n;
    double largest, reference;
    const char *reference_label;
    const char *unit; /* printed after each value */
} cli_bars;
void cli_plot_bars(FILE *out, const cli_bars *bars);

/* One bar for each row, made of n_parts parts end to end; their sum is printed after it. A row whose first part is NAN
 * has no bar, only its name. values: [n_rows][n_parts]. */
typedef struct cli_stacks {
    const char *const *rows, *const *parts;
    size_t n_rows, n_parts;
    const double *values;
    const char *unit;
} cli_stacks;
void cli_plot_stacks(FILE *out, const cli_stacks *stacks);

/* Lines through points; NAN: no point. The y axis begins at 0. */
typedef struct cli_lines {
    const double *x;       /* [n_points], ascending */
    const double *y;       /* [n_series][n_points] */
    const int64_t *counts; /* [n_series][n_points] samples of each point; below CLI_FEW it is hollow. NULL: not known */
    size_t n_points, n_series;
    const char *const *names; /* [n_series]; NULL: one line in --n */
    const char *x_label, *y_label;
    double reference; /* a labelled line across; 0: none */
    const char *reference_label;
    const char *attributes; /* of the <svg> inside another one; NULL: it stands by itself */
} cli_lines;
void cli_plot_lines(FILE *out, const cli_lines *lines);

#endif
