/* SPDX-License-Identifier: MIT */
/*
 * Vectors of texts (vouch_session_embed). The last token's vector times the embedding of each token is that token's
 * logit, where the output is tied. And the bits are the same alone and beside others, in any chunks, after any text.
 */
#include <math.h>
#include <string.h>

#include "support/decode/answer.h"

enum { N_VOCAB = 400, N_EMBD = 64, MOST = 90, N_TEXTS = 12 };

static char path[256];
static vouch_model *model;

static int group_begin(void **state)
{
    (void)state;
    strcpy(path, test_temporary("tied.gguf"));
    tiny_model_write(path, &(tiny_model_options){.seed = 3, .tied = true});
    return vouch_model_open(&model, path, NULL, NULL);
}

static int group_end(void **state)
{
    (void)state;
    vouch_model_close(model);
    return 0;
}

static vouch_session_options options_of(int32_t chunk)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = 128;
    o.prefill_chunk = chunk;
    o.speculation.drafters = VOUCH_DRAFTER_NONE;
    return o;
}

/* Text i: 1 to MOST tokens. */
static int32_t text_of(int i, int32_t tokens[MOST])
{
    const int32_t n = i == 0 ? 1 : 1 + i * 7 % MOST;
    answer_prompt(tokens, n, N_VOCAB, (uint64_t)i, false);
    return n;
}

static void embed_alone(int i, int32_t chunk, vouch_pooling pooling, float out[N_EMBD])
{
    int32_t tokens[MOST];
    const int32_t n = text_of(i, tokens);
    const vouch_session_options o = options_of(chunk);
    vouch_session *session = answer_open(model, &o);
    vouch_error err;
    if (vouch_session_embed(session, tokens, (size_t)n, pooling, out, &err)) fail_msg("%s", err.message);
    vouch_session_close(session);
}

static void the_last_vector_gives_the_logits(void **state)
{
    (void)state;
    static float logits[N_VOCAB];
    vouch_gguf *gguf;
    assert_int_equal(vouch_gguf_open(&gguf, path, NULL), VOUCH_OK);
    const vouch_gguf_tensor *embedding = vouch_gguf_find_tensor(gguf, "token_embd.weight");
    assert_true(embedding && embedding->type == VOUCH_TYPE_F32 && embedding->dim[0] == N_EMBD);
    const float *rows = embedding->data;
    for (int i = 0; i < N_TEXTS; i++) {
        int32_t tokens[MOST + 1];
        float vector[N_EMBD];
        const int32_t n = text_of(i, tokens);
        tokens[n] = 0;
        embed_alone(i, 7, VOUCH_POOLING_LAST, vector);
        const vouch_session_options o = options_of(0);
        vouch_session *session = answer_open(model, &o);
        assert_int_equal(vouch_session_prompt(session, tokens, (size_t)n + 1, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_logits(session, n - 1, 1, logits, NULL), VOUCH_OK);
        vouch_session_close(session);
        for (int32_t t = 0; t < N_VOCAB; t++) {
            double sum = 0;
            for (int32_t d = 0; d < N_EMBD; d++) sum += (double)vector[d] * (double)rows[t * N_EMBD + d];
            assert_true(fabs(sum - (double)logits[t]) < 1e-3);
        }
    }
    vouch_gguf_close(gguf);
}

/* The mean is that of the last vectors of all beginnings of the text. */
static void the_mean_is_of_all_tokens(void **state)
{
    (void)state;
    int32_t tokens[MOST];
    float mean[N_EMBD], vector[N_EMBD];
    double sum[N_EMBD] = {0};
    const int i = 5;
    const int32_t n = text_of(i, tokens);
    const vouch_session_options o = options_of(0);
    vouch_session *session = answer_open(model, &o);
    for (int32_t part = 1; part <= n; part++) {
        assert_int_equal(vouch_session_embed(session, tokens, (size_t)part, VOUCH_POOLING_LAST, vector, NULL),
                         VOUCH_OK);
        for (int32_t d = 0; d < N_EMBD; d++) sum[d] += (double)vector[d];
    }
    vouch_session_close(session);
    embed_alone(i, 0, VOUCH_POOLING_MEAN, mean);
    for (int32_t d = 0; d < N_EMBD; d++) assert_true(fabs(sum[d] / n - (double)mean[d]) < 1e-5);
}

/* Eight at once, beside a session that answers, and one after the other in one session. */
static void company_changes_no_bit(void **state)
{
    (void)state;
    enum { AT_ONCE = 8 };
    static float alone[2][N_TEXTS][N_EMBD], beside[N_TEXTS][N_EMBD];
    static const vouch_pooling poolings[] = {VOUCH_POOLING_MEAN, VOUCH_POOLING_LAST};
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < N_TEXTS; i++) {
            float chunked[N_EMBD];
            embed_alone(i, 0, poolings[p], alone[p][i]);
            embed_alone(i, 1 + i, poolings[p], chunked);
            assert_memory_equal(chunked, alone[p][i], sizeof chunked);
            if (i > 0) assert_memory_not_equal(alone[p][i - 1], alone[p][i], sizeof chunked);
        }
    assert_memory_not_equal(alone[0], alone[1], sizeof alone[0]);
    const vouch_engine_options options = {.n_sessions = AT_ONCE + 1, .n_ctx = 128, .prefill_chunk = 24};
    vouch_engine *engine;
    vouch_session *sessions[AT_ONCE], *answering;
    int32_t tokens[MOST];
    const vouch_session_options o = options_of(24);
    assert_int_equal(vouch_engine_open(&engine, model, &options, NULL), VOUCH_OK);
    for (int s = 0; s < AT_ONCE; s++)
        assert_int_equal(vouch_engine_session_open(&sessions[s], engine, &o, NULL), VOUCH_OK);
    vouch_session_options other = o;
    other.ignore_eos = true;
    other.max_tokens = 100;
    assert_int_equal(vouch_engine_session_open(&answering, engine, &other, NULL), VOUCH_OK);
    for (int p = 0; p < 2; p++) {
        const vouch_engine_event *events;
        size_t n_events;
        int n_done = 0;
        answer_prompt(tokens, 20, N_VOCAB, 99, false);
        assert_int_equal(vouch_session_prompt(answering, tokens, 20, NULL), VOUCH_OK);
        for (int from = 0; from < N_TEXTS; from += AT_ONCE) {
            for (int i = from; i < N_TEXTS && i < from + AT_ONCE; i++) {
                const int32_t n = text_of(i, tokens);
                assert_int_equal(vouch_session_embed(sessions[i - from], tokens, (size_t)n, poolings[p], beside[i],
                                                     NULL),
                                 VOUCH_OK);
            }
            const int wanted = from + AT_ONCE < N_TEXTS ? from + AT_ONCE : N_TEXTS;
            while (n_done < wanted && vouch_engine_step(engine, &events, &n_events))
                for (size_t e = 0; e < n_events; e++) {
                    assert_int_equal(events[e].status, VOUCH_OK);
                    n_done += events[e].session != answering;
                    if (events[e].session != answering) assert_int_equal(events[e].step.n_tokens, 0);
                }
        }
        assert_int_equal(n_done, N_TEXTS);
        assert_memory_equal(beside, alone[p], sizeof beside);
    }
    for (int s = 0; s < AT_ONCE; s++) vouch_session_close(sessions[s]);
    vouch_session_close(answering);
    vouch_engine_close(engine);
}

/* Pages for one text alone: sessions lose theirs, and run their tokens again. A cancelled embedding leaves nothing. */
static void lost_pages_and_cancels_change_nothing(void **state)
{
    (void)state;
    enum { AT_ONCE = 4 };
    static float alone[AT_ONCE][N_EMBD], beside[AT_ONCE][N_EMBD], lost[N_EMBD];
    const vouch_engine_options options = {
        .n_sessions = AT_ONCE, .n_ctx = 128, .n_cache = 128, .page_size = 16, .prefill_chunk = 16};
    const vouch_session_options o = options_of(16);
    const vouch_engine_event *events;
    vouch_engine *engine;
    vouch_session *sessions[AT_ONCE];
    int32_t tokens[MOST];
    size_t n_events;
    int n_done = 0;
    assert_int_equal(vouch_engine_open(&engine, model, &options, NULL), VOUCH_OK);
    for (int s = 0; s < AT_ONCE; s++) {
        embed_alone(s + 8, 0, VOUCH_POOLING_MEAN, alone[s]);
        assert_int_equal(vouch_engine_session_open(&sessions[s], engine, &o, NULL), VOUCH_OK);
    }
    for (int s = AT_ONCE - 1; s >= 0; s--) { /* one that joined earlier takes the pages of those that have begun */
        const int32_t n = text_of(s + 8, tokens);
        assert_int_equal(vouch_session_embed(sessions[s], tokens, (size_t)n, VOUCH_POOLING_MEAN, beside[s], NULL),
                         VOUCH_OK);
        for (int i = 0; i < 2 && vouch_engine_step(engine, &events, &n_events); i++)
            for (size_t e = 0; e < n_events; e++) n_done += events[e].status == VOUCH_OK;
    }
    while (n_done < AT_ONCE && vouch_engine_step(engine, &events, &n_events))
        for (size_t e = 0; e < n_events; e++) n_done += events[e].status == VOUCH_OK;
    assert_memory_equal(beside, alone, sizeof alone);
    assert_true(vouch_engine_get_stats(engine)->preemptions > 0);

    const int32_t n = text_of(9, tokens);
    assert_int_equal(vouch_session_embed(sessions[0], tokens, (size_t)n, VOUCH_POOLING_MEAN, lost, NULL), VOUCH_OK);
    assert_true(vouch_engine_step(engine, &events, &n_events));
    vouch_session_cancel(sessions[0]);
    assert_true(vouch_engine_step(engine, &events, &n_events));
    assert_int_equal(events[0].status, VOUCH_E_CANCELLED);
    memset(lost, 0, sizeof lost);
    assert_int_equal(vouch_session_prompt(sessions[0], tokens, (size_t)n, NULL), VOUCH_OK);
    for (n_done = 0; n_done == 0 && vouch_engine_step(engine, &events, &n_events);)
        for (size_t e = 0; e < n_events; e++) n_done += events[e].step.n_tokens;
    assert_true(n_done > 0); /* an answer, and no vector */
    for (int d = 0; d < N_EMBD; d++) assert_true(lost[d] == 0);
    for (int s = 0; s < AT_ONCE; s++) vouch_session_close(sessions[s]);
    vouch_engine_close(engine);
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    static int32_t tokens[200];
    float vector[N_EMBD];
    vouch_error err;
    const vouch_session_options o = options_of(0);
    vouch_session *session = answer_open(model, &o);
    assert_int_equal(vouch_session_embed(session, tokens, 0, VOUCH_POOLING_MEAN, vector, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_embed(session, tokens, 5, VOUCH_POOLING_NONE, vector, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "pooling is 0"));
    assert_int_equal(vouch_session_embed(session, tokens, 127, VOUCH_POOLING_MEAN, vector, &err), VOUCH_E_CONTEXT);
    tokens[3] = N_VOCAB;
    assert_int_equal(vouch_session_embed(session, tokens, 5, VOUCH_POOLING_MEAN, vector, &err), VOUCH_E_ARGUMENT);
    tokens[3] = 0;
    assert_int_equal(vouch_session_embed(session, tokens, 126, VOUCH_POOLING_MEAN, vector, &err), VOUCH_OK);
    /* The session goes on as any other. */
    static answer got;
    answer_prompt(tokens, 10, N_VOCAB, 4, false);
    answer_continue(&got, session, tokens, 10);
    assert_true(got.n > 0);
    vouch_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_vector_gives_the_logits),
        cmocka_unit_test(the_mean_is_of_all_tokens),
        cmocka_unit_test(company_changes_no_bit),
        cmocka_unit_test(lost_pages_and_cancels_change_nothing),
        cmocka_unit_test(bad_calls_are_refused),
    };
    return cmocka_run_group_tests_name("embeddings", tests, group_begin, group_end);
}
