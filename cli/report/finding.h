/* SPDX-License-Identifier: MIT */
/* A finding is what a check found about one law. These functions count its comparisons and write it into reports. */
#ifndef VOUCH_CLI_FINDING_H
#define VOUCH_CLI_FINDING_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/json.h"

typedef struct cli_finding {
    const char *law, *name; /* "L1", "same bits" */
    int64_t n_compared, n_broken;
    char covered[240]; /* the cases that were tried, or the reason why none was */
    char first[240];   /* the first failed comparison; "" */
} cli_finding;

/* Counts a comparison. The finding keeps the description of the first one that fails. */
__attribute__((format(printf, 3, 4))) void cli_finding_compare(cli_finding *finding, bool holds, const char *format,
                                                               ...);

/* Prints a line such as "L1  same bits   holds, 12 comparisons", then what was tried, and the first failure. */
void cli_finding_put(const cli_finding *finding, FILE *out);
json_t *cli_finding_json(const cli_finding *finding);
/* Breaks the text between words, into indented lines of a terminal. */
void cli_put_wrapped(const char *text, FILE *out);
/* Lists the broken laws, "L1, L3", and returns the number of broken findings. */
enum { CLI_BROKEN_SIZE = 32 };
size_t cli_findings_broken(const cli_finding *findings, size_t n_findings, char text[CLI_BROKEN_SIZE]);

#endif
