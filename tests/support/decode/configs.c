/* SPDX-License-Identifier: MIT */
#include "support/decode/configs.h"

#include <string.h>

vouch_model *target, *near;

int configs_open(void **state)
{
    (void)state;
    target = tiny_model_open(&(tiny_model_options){.seed = 21});
    near = tiny_model_open(&(tiny_model_options){.seed = 21, .noise = 0.02f});
    return 0;
}

int configs_close(void **state)
{
    (void)state;
    vouch_model_close(target);
    vouch_model_close(near);
    return 0;
}

vouch_session_options options_of(int config, int32_t k, oracle *o)
{
    vouch_session_options options = vouch_session_options_default();
    options.n_threads = 1;
    options.n_ctx = 128;
    options.max_tokens = LENGTH;
    options.speculation.n_draft = k;
    static const unsigned drafters[N_CONFIGS] = {VOUCH_DRAFTER_NONE, VOUCH_DRAFTER_MODEL, VOUCH_DRAFTER_CUSTOM,
                                                 VOUCH_DRAFTER_NGRAM};
    options.speculation.drafters = drafters[config];
    if (config == MODEL) options.speculation.draft_model = near;
    if (config == ORACLE) options.speculation.custom = oracle_drafter(o);
    return options;
}

void know(known *k, uint64_t seed)
{
    vouch_session_options options = options_of(PLAIN, 0, NULL);
    options.ignore_eos = true;
    answer_prompt(k->prompt, PROMPT, N_VOCAB, seed, false);
    answer_run(&k->plain, target, &options, k->prompt, PROMPT);
    assert_int_equal(k->plain.finish, VOUCH_FINISH_LENGTH);
    memcpy(k->sequence, k->prompt, sizeof k->prompt);
    memcpy(k->sequence + PROMPT, k->plain.tokens, (size_t)k->plain.n * sizeof(int32_t));
    k->o = (oracle){.tokens = k->sequence, .n = PROMPT + k->plain.n, .n_vocab = N_VOCAB, .error_percent = 5};
}
