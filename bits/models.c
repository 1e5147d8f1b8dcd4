/* SPDX-License-Identifier: MIT */
/*
 * Runs tiny models as a user's session runs: a prompt, greedy tokens without guesses, sampled tokens. The logits of all
 * positions, the cache and the tokens have digests. Then it runs the same prompts again: with guesses, of which some
 * are right, with passes of other lengths, and with other numbers of threads. Each run must give the tokens and the
 * cache of the run without guesses (L2, L3).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bits/compare.h"
#include "bits/tiny.h"
#include "engine/file/model.h"
#include "engine/session.h"

enum { N_PROMPT = 21, N_ANSWER = 40, N_ALL = N_PROMPT + N_ANSWER };

int32_t bits_model_names(void)
{
    vouch_kv_type ignored;
    int32_t n = 0;
    while (bits_tiny_name(n, &ignored)) n++;
    return n;
}

/* What an answer is: its tokens, and digests of the cache after it and of the logits at each position. */
typedef struct answer {
    int32_t tokens[N_ALL];
    uint64_t cache, logits;
} answer;

typedef struct trial {
    const vouch_model *model;
    vouch_kv_type kv_type;
    bool is_sampled;
    int32_t n_threads, prefill_chunk;
    const answer *plain; /* guesses follow it in part; NULL: no guesses */
} trial;

/* Three right guesses of four, from the plain answer. */
static int32_t propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    const answer *plain = user;
    int32_t n = 0;
    (void)tokens;
    for (; n < k && n_tokens + n < N_ALL; n++) {
        const int32_t token = plain->tokens[n_tokens + n];
        guesses[n] = (n_tokens + n) % 4 == 3 ? (token + 1) % BITS_VOCAB : token;
    }
    return n;
}

static vouch_session_options options_of(const trial *t)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = N_ALL + 8;
    o.n_threads = t->n_threads;
    o.prefill_chunk = t->prefill_chunk;
    o.kv_type = t->kv_type;
    o.max_tokens = N_ANSWER;
    o.ignore_eos = true;
    o.sampling.temperature = t->is_sampled ? 0.8f : 0;
    o.sampling.top_p = t->is_sampled ? 0.95f : 1;
    o.sampling.seed = 7;
    o.speculation.drafters = t->plain ? VOUCH_DRAFTER_CUSTOM : VOUCH_DRAFTER_NONE;
    o.speculation.custom = (vouch_drafter){propose, (void *)(uintptr_t)t->plain};
    o.speculation.accept = VOUCH_ACCEPT_MATCH;
    o.speculation.n_draft = 4;
    return o;
}

/* The logits of every position but the last, whose token no pass has run. */
static vouch_status logits_read(vouch_session *session, answer *out, vouch_error *err)
{
    float rows[N_ALL - 1][BITS_VOCAB];
    VOUCH_TRY(vouch_session_logits(session, 0, N_ALL - 1, rows[0], err));
    out->logits = vouch_hash_bytes(VOUCH_HASH_START, rows, sizeof rows);
    return VOUCH_OK;
}

static vouch_status session_run(vouch_session *session, bool wants_logits, answer *out, vouch_error *err)
{
    int32_t prompt[N_PROMPT];
    size_t n;
    vouch_step step;
    for (int i = 0; i < N_PROMPT; i++) prompt[i] = i * i % 17 * 5 % BITS_VOCAB;
    VOUCH_TRY(vouch_session_prompt(session, prompt, N_PROMPT, err));
    do VOUCH_TRY(vouch_session_step(session, &step, err));
    while (step.finish == VOUCH_FINISH_NONE);
    const int32_t *tokens = vouch_session_tokens(session, &n);
    if (n != N_ALL) return vouch_fail(err, VOUCH_E_UNSUPPORTED, "a tiny model's answer has %d tokens", (int)n);
    memcpy(out->tokens, tokens, sizeof out->tokens);
    out->cache = vouch_memory_digest(vouch_session_target(session));
    return wants_logits ? logits_read(session, out, err) : VOUCH_OK;
}

static vouch_status trial_run(const trial *t, answer *out, vouch_error *err)
{
    const vouch_session_options options = options_of(t);
    vouch_session *session = NULL;
    vouch_status status = vouch_session_open(&session, t->model, &options, err);
    if (status == VOUCH_OK) status = session_run(session, !t->plain && !t->is_sampled, out, err);
    vouch_session_close(session);
    return status;
}

/* ----------------------------------------------------------------- verdicts */

static uint64_t tokens_digest(const answer *a)
{
    return vouch_hash_bytes(VOUCH_HASH_START, a->tokens, sizeof a->tokens);
}

static void compare(bits_work *work, const char *table, const char *family, const char *what, uint64_t digest)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", family, what);
    bits_compare_digest(work, BITS_MODELS, strcmp(table, "ref") == 0 ? NULL : table, name, digest);
}

static void drafts_compare(bits_work *work, const char *table, const char *what, const answer *plain, const answer *a)
{
    const bits_listener *listener = work->listener;
    char text[200];
    int32_t i = 0;
    while (i < N_ALL && a->tokens[i] == plain->tokens[i]) i++;
    if (i < N_ALL)
        snprintf(text, sizeof text, "%s: %s, %s: with guesses, token %d is %d, expected %d", table, work->name, what, i,
                 a->tokens[i], plain->tokens[i]);
    listener->compared(listener->user, BITS_DRAFTS, i < N_ALL ? text : NULL);
    if (a->cache != plain->cache)
        snprintf(text, sizeof text, "%s: %s, %s: with guesses, the cache's digest is %016llx, expected %016llx", table,
                 work->name, what, (unsigned long long)a->cache, (unsigned long long)plain->cache);
    listener->compared(listener->user, BITS_DRAFTS, a->cache != plain->cache ? text : NULL);
}

/* Plain answers of one thread, then answers with guesses of two. */
static vouch_status model_check(bits_work *work, const vouch_model *model, vouch_kv_type kv_type, const char *family,
                                vouch_error *err)
{
    const char *table = vouch_model_get_info(model)->cpu;
    for (int sampled = 0; sampled < 2; sampled++) {
        const char *what = sampled ? "sampled" : "greedy";
        answer plain, drafted;
        trial t = {model, kv_type, sampled, .n_threads = 1, .prefill_chunk = 16};
        VOUCH_TRY(trial_run(&t, &plain, err));
        compare(work, table, family, sampled ? "sampled tokens" : "tokens", tokens_digest(&plain));
        if (!sampled) compare(work, table, family, "logits", plain.logits);
        if (!sampled) compare(work, table, family, "cache", plain.cache);
        t.plain = &plain, t.n_threads = 2, t.prefill_chunk = 5;
        VOUCH_TRY(trial_run(&t, &drafted, err));
        drafts_compare(work, table, what, &plain, &drafted);
    }
    return VOUCH_OK;
}

static vouch_status family_check(bits_work *work, int32_t i, const char *family, vouch_kv_type kv_type,
                                 vouch_error *err)
{
    vouch_gguf *gguf = NULL;
    void *bytes = NULL;
    size_t size;
    VOUCH_TRY(bits_tiny_make(i, &bytes, &size, err));
    vouch_status status = vouch_gguf_open_bytes(&gguf, bytes, size, family, err);
    for (size_t k = 0; vouch_kernels_get(k) && status == VOUCH_OK; k++) {
        const vouch_model_options options = {.cpu = vouch_kernels_get(k)->name, .n_threads = 1, .untuned = true};
        vouch_model *model = NULL;
        status = vouch_model_open_file(&model, gguf, &options, err);
        if (status == VOUCH_OK) status = model_check(work, model, kv_type, family, err);
        vouch_model_close(model);
    }
    vouch_gguf_close(gguf);
    free(bytes);
    return status;
}

vouch_status bits_check_models(bits_work *work, vouch_error *err)
{
    vouch_kv_type kv_type;
    const char *family;
    for (int32_t i = 0; (family = bits_tiny_name(i, &kv_type)); i++) {
        VOUCH_TRY(bits_begin(work, family, err));
        VOUCH_TRY(family_check(work, i, family, kv_type, err));
    }
    return VOUCH_OK;
}
