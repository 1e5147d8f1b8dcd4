/* SPDX-License-Identifier: MIT */
/* Where the figures of a report come from: date, machine, command line, version, models. Every report of bench and
 * analyze carries these facts, so that figures can be compared and measured again. */
#ifndef VOUCH_CLI_PROVENANCE_H
#define VOUCH_CLI_PROVENANCE_H

#include <stdio.h>

#include "model/engine.h"
#include "tool/json.h"

enum { CLI_MOST_FACTS = 6 };

typedef struct cli_fact {
    const char *name; /* "target", "processor", ... */
    char *text;       /* file names in it keep their raw bytes */
    bool for_terminals;
} cli_fact;

typedef struct cli_provenance {
    cli_fact facts[CLI_MOST_FACTS]; /* [n] in the order of a report's heading */
    size_t n;
} cli_provenance;

/* False: not enough memory. cli_provenance_free is due in any case. */
bool cli_provenance_of(cli_provenance *provenance, const cli_engine *engine);
void cli_provenance_free(cli_provenance *provenance);

/* Prints a line "name  text" for each fact that the reader of a terminal doesn't know: models and processor. */
void cli_provenance_print(FILE *out, const cli_provenance *provenance);
/* All facts as a JSON object: a new reference, or NULL when memory is short. */
json_t *cli_provenance_json(const cli_provenance *provenance);

#endif
