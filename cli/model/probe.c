/* SPDX-License-Identifier: MIT */
#include "model/probe.h"

#include <string.h>

int32_t cli_probe_text(const vouch_model *model, int i, int32_t *tokens, int32_t most)
{
    static const char *const texts[CLI_PROBE_TEXTS] = {
        "red green blue red green blue red green blue red green",
        ("The first ten numbers are one, two, three, four, five, six, seven, eight, nine, ten. The first ten numbers "
         "are one, two, three,"),
        "It was the best of times, it was the worst of times, it was the age of",
        "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return a - b\n\ndef mul(a, b):\n    return"};
    const int32_t n_vocab = vouch_model_get_info(model)->n_vocab;
    size_t n = 0;
    const vouch_status status =
        vouch_tokenize(model, texts[i], strlen(texts[i]), VOUCH_TOKENIZE_BOS, tokens, (size_t)most, &n, NULL);
    if (status && status != VOUCH_E_BUFFER) n = 0;
    for (int32_t t = (int32_t)n; t < most && n < 2; t++) tokens[t] = (int32_t)(((int64_t)(t % 7) * 7919 + i) % n_vocab);
    return n < 2 || n > (size_t)most ? most : (int32_t)n;
}

/* The expected token if it is known and the mode wants a right guess, else another token. */
static int32_t oracle_propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    const cli_oracle *o = user;
    if (o->mode == CLI_ORACLE_SILENT) return 0;
    for (int32_t i = 0; i < k; i++) {
        const int32_t at = n_tokens + i;
        const int32_t token = at < o->n ? o->expected[at] : (tokens[n_tokens - 1] + i) % o->n_vocab;
        const bool right = o->mode == CLI_ORACLE_RIGHT || (o->mode == CLI_ORACLE_HALF && at / 2 % 2 == 0);
        guesses[i] = right ? token : (token + 1) % o->n_vocab;
    }
    return k;
}

vouch_drafter cli_oracle_drafter(cli_oracle *oracle)
{
    return (vouch_drafter){oracle_propose, oracle};
}
