/* SPDX-License-Identifier: MIT */
/* What `vouch check` and `vouch analyze` try models with: a few texts, and guesses that are made to hold or not. */
#ifndef VOUCH_CLI_PROBE_H
#define VOUCH_CLI_PROBE_H

#include "vouch.h"

enum { CLI_PROBE_TEXTS = 4, CLI_PROBE_TOKENS = 64 };
/* The i-th of CLI_PROBE_TEXTS: text that repeats itself, a list, prose, code; of at most `most` tokens. Ids that mean
 * nothing where the model has no tokenizer. Writes them and returns their number, at least 2. */
int32_t cli_probe_text(const vouch_model *model, int i, int32_t *tokens, int32_t most);

/* Guesses for the library's custom drafter, each a certainty. */
typedef enum cli_oracle_mode { CLI_ORACLE_WRONG, CLI_ORACLE_HALF, CLI_ORACLE_RIGHT, CLI_ORACLE_SILENT } cli_oracle_mode;
typedef struct cli_oracle {
    cli_oracle_mode mode;
    int32_t n_vocab;
    const int32_t *expected; /* [n] the whole sequence, as far as it is known */
    int32_t n;
} cli_oracle;
vouch_drafter cli_oracle_drafter(cli_oracle *oracle);

#endif
