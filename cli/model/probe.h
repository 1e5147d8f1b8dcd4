/* SPDX-License-Identifier: MIT */
/* Texts and artificial guesses with which `vouch check`, `bench` and `analyze` try models. */
#ifndef VOUCH_CLI_PROBE_H
#define VOUCH_CLI_PROBE_H

#include "vouch.h"

enum { CLI_PROBE_TEXTS = 4, CLI_PROBE_TOKENS = 64 };
/* Writes at most `most` tokens of text i (0: repetition, 1: a list, 2: prose, 3: code) and returns their number, at
 * least 2. A model without a tokenizer gets arbitrary ids. */
int32_t cli_probe_text(const vouch_model *model, int i, int32_t *tokens, int32_t most);

/* A custom drafter with point-mass guesses: always wrong; two right, two wrong by turns; always right as far as the
 * sequence is known; or no guesses. */
typedef enum cli_oracle_mode { CLI_ORACLE_WRONG, CLI_ORACLE_HALF, CLI_ORACLE_RIGHT, CLI_ORACLE_SILENT } cli_oracle_mode;
typedef struct cli_oracle {
    cli_oracle_mode mode;
    int32_t n_vocab;
    const int32_t *expected; /* [n] the known beginning of the sequence */
    int32_t n;
} cli_oracle;
vouch_drafter cli_oracle_drafter(cli_oracle *oracle);

#endif
