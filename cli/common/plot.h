/* SPDX-License-Identifier: MIT */
/*
 * Plots as inline SVG. 360 units wide, so that text has its natural size on a telephone and grows with the page;
 * colours are CSS variables of the page (cli_plot_style), which has a light and a dark set.
 */
#ifndef VOUCH_CLI_PLOT_H
#define VOUCH_CLI_PLOT_H

#include <stddef.h>
#include <stdio.h>

/* Text as HTML or XML may hold it: well-formed, escaped. */
void cli_put_html(FILE *out, const char *text);

/* The declarations of the variables, and the classes that plots use. */
void cli_plot_style(FILE *out);
/* "■ name" for each series, as an HTML list. */
void cli_plot_legend(FILE *out, const char *const *names, size_t n);

/* values [n_groups][n_series]; NAN: no bar. A line stands at `reference`, where that is above 0. */
typedef struct cli_bars {
    const char *const *groups;
    size_t n_groups, n_series;
    const double *values;
    double reference;
    const char *unit; /* behind each value */
} cli_bars;
void cli_plot_bars(FILE *out, const cli_bars *bars);

/* values [n_rows][n_parts], stacked; the sum stands behind each row. */
typedef struct cli_stacks {
    const char *const *rows;
    size_t n_rows, n_parts;
    const double *values;
    const char *unit;
} cli_stacks;
void cli_plot_stacks(FILE *out, const cli_stacks *stacks);

/* Lines through points; NAN: no point. Both axes begin at 0 or below the least. */
typedef struct cli_lines {
    const double *x; /* [n_points], ascending */
    const double *y; /* [n_series][n_points] */
    size_t n_points, n_series;
    const char *x_label, *y_label;
    const char *place; /* attributes of the <svg> inside another one; NULL: it is by itself */
} cli_lines;
enum { CLI_PLOT_WIDTH = 360, CLI_LINES_HEIGHT = 240 };
void cli_plot_lines(FILE *out, const cli_lines *lines);

#endif
