/* SPDX-License-Identifier: MIT */
/*
 * Law L7: a request gives the same bytes alone and beside any others. Requests with every kind of drafter and rule run
 * through engines on random schedules: they join and leave at any moment, are cancelled and asked again, share
 * prefixes, and lose their pages to others. Then the rules of admission and the table of shared pages by themselves.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/admit.h"
#include "engine/session.h"
#include "support/decode/answer.h"
#include "support/decode/draft.h"
#include "support/sanitized.h"
#include "support/head/tiny_head.h"

enum { N_REQUESTS = 48, MOST_PROMPT = 300, N_CTX = 400, MOST_LIVE = 16 };
/* Of the test with long prompts. */
enum { N_LONG = 12, LONGEST_PROMPT = 3000, LONG_CTX = 3100 };

typedef struct request {
    int32_t prompt[LONGEST_PROMPT], n_prompt;
    vouch_session_options options;
    answer alone;
} request;

/* Dense, with experts, and with recurrent layers. */
static const char *const archs[] = {"llama", "qwen3moe", "jamba"};
enum { N_ARCHS = sizeof archs / sizeof archs[0] };

static vouch_model *target, *near, *far; /* near, far: draft models */
static vouch_draft_file *head;
static request *requests; /* [n_requests] */
static int32_t n_requests = N_REQUESTS, most_prompt = MOST_PROMPT, n_ctx = N_CTX;

static const unsigned drafter_sets[] = {
    VOUCH_DRAFTER_NONE,    VOUCH_DRAFTER_AUTO,
    VOUCH_DRAFTER_RECYCLE, VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX,
    VOUCH_DRAFTER_MODEL,   VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_RECYCLE,
};
enum { N_SETS = sizeof drafter_sets / sizeof drafter_sets[0] };

/* true: every request has a draft model or a head. The requests differ: chains and trees of every size, with and
 * without free drafters and pace, by either draft model or by a part of its vocabulary. */
static bool all_paid;
static void choose_paid(vouch_speculation *s, int32_t i)
{
    enum { N_HEAD = 40 };
    static int32_t some[N_HEAD];
    for (int32_t t = 0; t < N_HEAD; t++) some[t] = t * 9 % 400;
    s->draft_model = i % 6 == 4 ? far : near;
    s->files[VOUCH_DRAFTER_NUMBER_HEAD] = i % 6 == 3 ? head : NULL;
    s->drafters = i % 6 == 3   ? VOUCH_DRAFTER_HEAD
                  : i % 6 == 2 ? VOUCH_DRAFTER_AUTO
                  : i % 6 == 1 ? VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_RECYCLE
                               : VOUCH_DRAFTER_MODEL;
    s->draft_vocab = i % 6 == 5 ? some : NULL;
    s->n_draft_vocab = i % 6 == 5 ? N_HEAD : 0;
    s->n_draft = i % 4 == 0 ? 0 : 1 + i % 9;
    s->tree_branches = i / 6 % 3 == 0 ? 0 : i / 6 % 3 == 1 ? 3 : 8;
}

static vouch_session_options options_of(int32_t i)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = n_ctx;
    o.n_threads = 2;
    o.max_tokens = 4 + i * 7 % 40;
    o.ignore_eos = i % 3 > 0;
    o.sampling.temperature = i % 4 == 0 ? 0.0f : 0.9f;
    o.sampling.repeat_penalty = i % 5 == 0 ? 1.2f : 1.0f;
    o.sampling.seed = (uint64_t)i;
    o.speculation.accept = i % 2 ? VOUCH_ACCEPT_COUPLED : VOUCH_ACCEPT_MATCH;
    o.speculation.drafters = drafter_sets[i % N_SETS];
    o.speculation.n_draft = i % 5 == 0 ? 5 : 0;
    o.speculation.tree_branches = i / N_SETS % 3 == 1 ? 3 : 0;
    if (drafter_sets[i % N_SETS] & VOUCH_DRAFTER_MODEL) o.speculation.draft_model = near;
    if (all_paid) choose_paid(&o.speculation, i);
    return o;
}

static void requests_open(const char *arch)
{
    test_random random = {5};
    tiny_model_options model = {.arch = arch, .seed = 31, .n_layers = 4, .n_ctx = LONG_CTX};
    if (strcmp(arch, "llama") != 0) model.n_experts = 4, model.n_used = 2;
    target = tiny_model_open(&model);
    model.noise = 0.02f;
    near = tiny_model_open(&model);
    model.seed++;
    far = tiny_model_open(&model);
    head = tiny_head_open(&(tiny_head_options){.target = target, .n_layers = 1, .seed = 3});
    requests = calloc((size_t)n_requests, sizeof *requests);
    for (int32_t i = 0; i < n_requests; i++) {
        request *r = &requests[i];
        const request *other = &requests[i / 2];
        r->n_prompt = 1 + (int32_t)test_below(&random, i % 3 == 0 ? 20 : (uint32_t)most_prompt - 1);
        answer_prompt(r->prompt, r->n_prompt, 400, (uint64_t)i, i % 2);
        const int32_t n = other->n_prompt < r->n_prompt ? other->n_prompt : r->n_prompt;
        if (i % 2) memcpy(r->prompt, other->prompt, (size_t)n * sizeof *r->prompt); /* the same beginning */
        r->options = options_of(i);
        answer_run(&r->alone, target, &r->options, r->prompt, r->n_prompt);
    }
}

static void requests_close(void)
{
    free(requests);
    vouch_model_close(target);
    vouch_model_close(near);
    vouch_model_close(far);
    vouch_draft_file_close(head);
}

static int llama_open(void **state)
{
    (void)state;
    requests_open("llama");
    return 0;
}

static int llama_close(void **state)
{
    (void)state;
    requests_close();
    return 0;
}

/* A request that runs. */
typedef struct live {
    vouch_session *session;
    int32_t number;
    int32_t n; /* tokens of its answer so far */
    char text[16 * ANSWER_MAX];
    size_t n_text;
} live;

static void live_begin(live *l, vouch_engine *engine, int32_t number)
{
    const request *r = &requests[number];
    vouch_error err = {0};
    *l = (live){.number = number};
    if (vouch_engine_session_open(&l->session, engine, &r->options, &err) != VOUCH_OK) fail_msg("%s", err.message);
    if (vouch_session_prompt(l->session, r->prompt, (size_t)r->n_prompt, &err) != VOUCH_OK) fail_msg("%s", err.message);
}

/* Compares a step with the answer alone. Returns whether it was the last one. */
static bool live_step(live *l, const vouch_step *step)
{
    const answer *alone = &requests[l->number].alone;
    for (int32_t i = 0; i < step->n_tokens; i++)
        if (l->n + i >= alone->n || step->tokens[i] != alone->tokens[l->n + i])
            fail_msg("request %d, token %d: %d, alone %d", l->number, l->n + i, step->tokens[i],
                     l->n + i < alone->n ? alone->tokens[l->n + i] : -1);
    memcpy(l->text + l->n_text, step->text, step->n_text);
    l->n += step->n_tokens;
    l->n_text += step->n_text;
    if (step->finish == VOUCH_FINISH_NONE) return false;
    assert_int_equal(l->n, alone->n);
    assert_int_equal(step->finish, alone->finish);
    assert_int_equal(l->n_text, alone->n_text);
    assert_memory_equal(l->text, alone->text, l->n_text);
    return true;
}

/* All requests in a random order, with `most` at once. One step in `cancel` cancels a request, which comes again. */
static vouch_engine_stats schedule_run(const vouch_engine_options *options, uint64_t seed, int32_t most,
                                       uint32_t cancel)
{
    static live lives[MOST_LIVE];
    test_random random = {seed};
    int32_t todo[N_REQUESTS], n_todo = n_requests, n_live = 0;
    vouch_engine *engine;
    vouch_error err = {0};
    for (int32_t i = 0; i < n_requests; i++) todo[i] = i;
    if (vouch_engine_open(&engine, target, options, &err) != VOUCH_OK) fail_msg("%s", err.message);
    while (n_todo + n_live > 0) {
        while (n_live < most && n_todo > 0 && test_below(&random, 3) > 0) {
            const int32_t at = (int32_t)test_below(&random, (uint32_t)n_todo);
            live_begin(&lives[n_live++], engine, todo[at]);
            todo[at] = todo[--n_todo];
        }
        if (n_live > 0 && cancel > 0 && test_below(&random, cancel) == 0)
            vouch_session_cancel(lives[test_below(&random, (uint32_t)n_live)].session);
        const vouch_engine_event *events;
        size_t n_events;
        assert_true(vouch_engine_step(engine, &events, &n_events) == (n_live > 0));
        for (size_t i = 0; i < n_events; i++) {
            int32_t at = 0;
            while (lives[at].session != events[i].session) at++;
            if (events[i].status == VOUCH_OK && !live_step(&lives[at], &events[i].step)) continue;
            if (events[i].status != VOUCH_OK) {
                assert_int_equal(events[i].status, VOUCH_E_CANCELLED);
                todo[n_todo++] = lives[at].number;
            }
            vouch_session_close(lives[at].session);
            lives[at] = lives[--n_live];
        }
    }
    const vouch_engine_stats stats = *vouch_engine_get_stats(engine);
    assert_int_equal(engine->n_sessions, 0);
    vouch_engine_close(engine);
    return stats;
}

/* A paused session gets no tokens, and afterwards goes on with the bytes that it has alone (law L7). */
static void paused_sessions_wait(void **state)
{
    (void)state;
    enum { N = 3 };
    live lives[N];
    vouch_engine *engine;
    vouch_error err = {0};
    const vouch_engine_event *events;
    const vouch_engine_options options = {.n_sessions = N, .n_ctx = N_CTX, .n_threads = 2};
    if (vouch_engine_open(&engine, target, &options, &err) != VOUCH_OK) fail_msg("%s", err.message);
    for (int32_t i = 0; i < N; i++) live_begin(&lives[i], engine, i);
    test_random random = {3};
    for (int32_t paused = -1, n_done = 0; n_done < N;) {
        if (test_below(&random, 3) == 0) {
            if (paused >= 0 && lives[paused].session) vouch_session_pause(lives[paused].session, false);
            paused = (int32_t)test_below(&random, N);
            if (lives[paused].session) vouch_session_pause(lives[paused].session, true);
        }
        size_t n_events;
        const bool only_paused = n_done == N - 1 && paused >= 0 && lives[paused].session;
        assert_true(vouch_engine_step(engine, &events, &n_events) == !only_paused);
        for (size_t e = 0; e < n_events; e++) {
            int32_t at = 0;
            while (lives[at].session != events[e].session) at++;
            assert_int_not_equal(at, paused);
            if (!live_step(&lives[at], &events[e].step)) continue;
            vouch_session_close(lives[at].session);
            lives[at].session = NULL;
            n_done++;
        }
    }
    vouch_engine_close(engine);
}

static void schedules_run(const char *arch, uint64_t n_schedules)
{
    vouch_engine_stats sum = {0};
    vouch_prompt_cache *cache;
    vouch_error err = {0};
    requests_open(arch);
    if (vouch_prompt_cache_open(&cache, test_temporary(arch), 16 << 20, &err)) fail_msg("%s", err.message);
    for (uint64_t seed = 0; seed < n_schedules; seed++) {
        test_random random = {seed};
        const bool is_kept = seed % 4 == 1 || seed % 4 == 2;
        const int32_t most = seed == 0 ? 1 : 2 + (int32_t)test_below(&random, MOST_LIVE - 1);
        const vouch_engine_options options = {
            .n_sessions = most,
            .n_ctx = n_ctx,
            .n_cache = seed % 3 == 2 ? n_ctx + 100 : 0,
            .page_size = is_kept ? 32 : 16 * (1 + (int32_t)test_below(&random, 16)),
            .no_sharing = seed % 4 == 3,
            .prompt_cache = is_kept ? cache : NULL,
            .n_threads = 1 + (int32_t)test_below(&random, 3),
            .prefill_chunk = 16 + (int32_t)test_below(&random, 100),
        };
        const vouch_engine_stats stats = schedule_run(&options, seed, most, seed % 2 ? 20 : 0);
        sum.preemptions += stats.preemptions;
        sum.shared_tokens += stats.shared_tokens;
        sum.accepted += stats.accepted;
    }
    if (sum.preemptions == 0 || sum.accepted == 0)
        fail_msg("%s: %lld preemptions, %lld guesses accepted", arch, (long long)sum.preemptions,
                 (long long)sum.accepted);
    assert_true(sum.shared_tokens > 0);
    const vouch_prompt_cache_info info = vouch_prompt_cache_get_info(cache);
    if (info.n_read == 0 || info.n_damaged > 0 || info.n_bytes > info.n_most)
        fail_msg("%s: %lld records read, %lld damaged, %lld bytes", arch, (long long)info.n_read,
                 (long long)info.n_damaged, (long long)info.n_bytes);
    assert_int_equal(vouch_prompt_cache_check(cache, &err), VOUCH_OK);
    vouch_prompt_cache_close(cache);
    requests_close();
}

static void requests_beside_others_keep_their_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < N_ARCHS; i++) schedules_run(archs[i], test_is_quick() ? 3 : 12);
}

/* Law L7 where every request has a draft model or a head. Sessions share the passes of both. */
static void draft_models_beside_others_keep_their_bytes(void **state)
{
    (void)state;
    test_skip_slow();
    all_paid = true;
    schedules_run("llama", test_is_quick() ? 4 : 12);
    schedules_run("jamba", test_is_quick() ? 3 : 8);
    all_paid = false;
}

/* Law L7 with prompts of up to 3,000 tokens, half of which share long beginnings. */
static void long_prompts_beside_others_keep_their_bytes(void **state)
{
    (void)state;
    test_skip_slow();
    n_requests = N_LONG, most_prompt = LONGEST_PROMPT, n_ctx = LONG_CTX;
    schedules_run("llama", 5);
    schedules_run("jamba", 3);
    n_requests = N_REQUESTS, most_prompt = MOST_PROMPT, n_ctx = N_CTX;
}

/* A second prompt with the same 2,000 tokens at its beginning runs at most 5 % of the rows that the first one ran, and
 * its answer has the bytes of a session by itself. Without sharing it runs all of them. */
static void a_known_beginning_is_not_run_again(void **state)
{
    (void)state;
    enum { BEGINNING = 2000, PROMPT = BEGINNING + 30 };
    vouch_session_options o = options_of(0);
    o.n_ctx = 0;
    for (int no_sharing = 0; no_sharing < 2; no_sharing++) {
        const vouch_engine_options options = {
            .n_sessions = 2, .n_ctx = LONG_CTX, .n_threads = 2, .no_sharing = no_sharing};
        int64_t rows[2];
        vouch_engine *engine;
        assert_int_equal(vouch_engine_open(&engine, target, &options, NULL), VOUCH_OK);
        const vouch_engine_stats *stats = vouch_engine_get_stats(engine);
        for (int i = 0; i < 2; i++) {
            static answer alone;
            int32_t prompt[PROMPT], n = 0;
            vouch_session *session;
            answer_prompt(prompt, BEGINNING, 400, 7, true);
            answer_prompt(prompt + BEGINNING, PROMPT - BEGINNING, 400, (uint64_t)i, false);
            vouch_session_options by_itself = o;
            by_itself.n_ctx = LONG_CTX;
            answer_run(&alone, target, &by_itself, prompt, PROMPT);
            const int64_t before = stats->prompt_rows;
            assert_int_equal(vouch_engine_session_open(&session, engine, &o, NULL), VOUCH_OK);
            assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
            const vouch_engine_event *events;
            size_t n_events;
            while (vouch_engine_step(engine, &events, &n_events)) {
                for (size_t e = 0; e < n_events; e++)
                    for (int32_t t = 0; t < events[e].step.n_tokens; t++)
                        assert_int_equal(events[e].step.tokens[t], alone.tokens[n++]);
            }
            assert_int_equal(n, alone.n);
            rows[i] = stats->prompt_rows - before;
            vouch_session_close(session);
        }
        assert_true(no_sharing ? rows[1] == rows[0] : rows[1] * 20 <= rows[0]);
        vouch_engine_close(engine);
    }
}

/* While a session decodes, a pass takes no more rows of prompts than fit into inter_token_seconds, but at least
 * VOUCH_LEAST_CHUNK, and each pass gives the session a token. A limit that no pass reaches lets the whole prompt in. */
static void running_answers_limit_the_rows_of_prompts(void **state)
{
    (void)state;
    enum { PROMPT = 200, LEAST = 16 };
    const double limits[] = {1e-9, 3600};
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, 400, 7, false);
    for (int i = 0; i < 2; i++) {
        const vouch_engine_options options = {
            .n_sessions = 2, .n_ctx = LONG_CTX, .no_sharing = true, .inter_token_seconds = limits[i]};
        vouch_session_options o = vouch_session_options_default();
        vouch_engine *engine;
        vouch_session *sessions[2];
        const vouch_engine_event *events;
        size_t n_events = 0;
        o.ignore_eos = true;
        o.max_tokens = PROMPT;
        assert_int_equal(vouch_engine_open(&engine, target, &options, NULL), VOUCH_OK);
        const vouch_engine_stats *stats = vouch_engine_get_stats(engine);
        for (int k = 0; k < 2; k++)
            assert_int_equal(vouch_engine_session_open(&sessions[k], engine, &o, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_prompt(sessions[0], prompt, PROMPT / 2, NULL), VOUCH_OK);
        while (n_events == 0) assert_true(vouch_engine_step(engine, &events, &n_events));
        assert_int_equal(vouch_session_prompt(sessions[1], prompt, PROMPT, NULL), VOUCH_OK);
        int64_t most = 0, left = PROMPT - 1;
        for (int64_t before = stats->prompt_rows; left > 0; before = stats->prompt_rows) {
            assert_true(vouch_engine_step(engine, &events, &n_events));
            assert_int_equal(n_events, 1);
            assert_ptr_equal(events->session, sessions[0]);
            const int64_t rows = stats->prompt_rows - before;
            most = rows > most ? rows : most;
            left -= rows;
        }
        assert_int_equal(most, i == 0 ? LEAST : PROMPT - 1);
        for (int k = 0; k < 2; k++) vouch_session_close(sessions[k]);
        vouch_engine_close(engine);
    }
}

/* A session of an engine may ask again and again; its cache keeps what the prompts have in common. */
static void sessions_take_further_prompts(void **state)
{
    (void)state;
    vouch_engine *engine;
    vouch_session *session;
    vouch_error err = {0};
    const vouch_engine_options options = {.n_sessions = 1, .n_ctx = N_CTX, .n_threads = 1};
    const request *r = &requests[4];
    assert_int_equal(vouch_engine_open(&engine, target, &options, &err), VOUCH_OK);
    assert_int_equal(vouch_engine_session_open(&session, engine, &r->options, &err), VOUCH_OK);
    for (int time = 0; time < 3; time++) {
        int32_t n = 0;
        vouch_session_set_seed(session, r->options.sampling.seed);
        assert_int_equal(vouch_session_prompt(session, r->prompt, (size_t)r->n_prompt, &err), VOUCH_OK);
        const vouch_engine_event *events;
        size_t n_events;
        while (vouch_engine_step(engine, &events, &n_events)) {
            for (size_t i = 0; i < n_events; i++)
                for (int32_t t = 0; t < events[i].step.n_tokens; t++)
                    assert_int_equal(events[i].step.tokens[t], r->alone.tokens[n++]);
        }
        assert_int_equal(n, r->alone.n);
    }
    assert_int_equal(vouch_session_stats(session)->prompt_tokens, r->n_prompt + 2);
    vouch_session_close(session);
    vouch_engine_close(engine);
}

/* Logits, or with `processed` p, of the first n positions of a request's prompt, from a session by itself. */
static float *rows_alone(const request *r, int32_t n, bool processed)
{
    vouch_session *session;
    vouch_error err = {0};
    float *rows = malloc((size_t)n * (size_t)vouch_model_get_info(target)->n_vocab * sizeof *rows);
    assert_non_null(rows);
    assert_int_equal(vouch_session_open(&session, target, &r->options, &err), VOUCH_OK);
    assert_int_equal(vouch_session_prompt(session, r->prompt, (size_t)r->n_prompt, &err), VOUCH_OK);
    assert_int_equal((processed ? vouch_session_probabilities : vouch_session_logits)(session, 0, n, rows, &err),
                     VOUCH_OK);
    vouch_session_close(session);
    return rows;
}

/* Reads logits, or processed p, of some of the first `most` rows. Logits must equal alone[0], p must equal alone[1]. */
static void read_some_rows(test_random *random, vouch_session *session, int32_t most, float *const alone[2])
{
    const size_t n_vocab = (size_t)vouch_model_get_info(target)->n_vocab;
    const int32_t first = (int32_t)test_below(random, (uint32_t)most);
    const int32_t n = (int32_t)test_below(random, (uint32_t)(most - first) + 1);
    const bool processed = test_below(random, 2);
    float *rows = malloc((size_t)most * n_vocab * sizeof *rows);
    double seconds;
    vouch_error err = {0};
    assert_non_null(rows);
    if (vouch_session_time_pass(session, 3, 1, &seconds, &err) != VOUCH_OK) fail_msg("%s", err.message);
    assert_int_equal((processed ? vouch_session_probabilities : vouch_session_logits)(session, first, n, rows, &err),
                     VOUCH_OK);
    assert_memory_equal(rows, alone[processed] + (size_t)first * n_vocab, (size_t)n * n_vocab * sizeof *rows);
    free(rows);
}

/* A session of an engine reads its logits between any two steps, also where that takes the pages of others. They are
 * the bits of a session by itself, and all answers go on as if nothing had been read (laws L1, L3, L7). */
static void sessions_read_their_logits(void **state)
{
    (void)state;
    enum { LIVE = 3, ROWS = 40 };
    for (int is_tight = 0; is_tight < 2; is_tight++) {
        static live lives[LIVE];
        test_random random = {(uint64_t)is_tight};
        vouch_engine *engine;
        vouch_error err = {0};
        const vouch_engine_options options = {.n_sessions = LIVE,
                                              .n_ctx = N_CTX,
                                              .n_cache = is_tight ? N_CTX : 0,
                                              .page_size = 16,
                                              .n_threads = 2,
                                              .prefill_chunk = 32};
        float *alone[LIVE][2];
        assert_int_equal(vouch_engine_open(&engine, target, &options, &err), VOUCH_OK);
        for (int32_t i = 0, number = 0; i < LIVE; i++, number++) {
            while (requests[number].n_prompt < 2 * ROWS) number++;
            live_begin(&lives[i], engine, number);
            for (int kind = 0; kind < 2; kind++) alone[i][kind] = rows_alone(&requests[number], ROWS, kind);
        }
        for (int32_t n_over = 0; n_over < LIVE;) {
            const uint32_t at = test_below(&random, LIVE);
            if (test_below(&random, 8) == 0) /* rarely: a session whose pages were taken has to run its tokens again */
                read_some_rows(&random, lives[at].session, ROWS, alone[at]);
            const vouch_engine_event *events;
            size_t n_events;
            vouch_engine_step(engine, &events, &n_events);
            for (size_t e = 0; e < n_events; e++)
                for (int32_t l = 0; l < LIVE; l++)
                    if (lives[l].session == events[e].session) n_over += live_step(&lives[l], &events[e].step);
        }
        assert_true(!is_tight || vouch_engine_get_stats(engine)->preemptions > 0);
        for (int32_t i = 0; i < LIVE; i++) {
            vouch_session_close(lives[i].session);
            for (int kind = 0; kind < 2; kind++) free(alone[i][kind]);
        }
        vouch_engine_close(engine);
    }
}

static void bad_use_is_refused(void **state)
{
    (void)state;
    vouch_engine *engine;
    vouch_session *session, *second;
    vouch_error err = {0};
    vouch_step step;
    double seconds;
    static const struct {
        vouch_engine_options options;
        const char *message;
    } cases[] = {
        {{.n_sessions = -1}, "n_sessions is -1, must be 1 to 256"},
        {{.n_sessions = 257}, "n_sessions is 257"},
        {{.n_ctx = 1}, "n_ctx is 1"},
        {{.n_ctx = 100, .n_cache = 99}, "n_cache is 99, must be 100"},
        {{.page_size = 24}, "page_size is 24, must be a multiple of 16"},
        {{.page_size = 512}, "page_size is 512"},
        {{.prefill_chunk = 8}, "prefill_chunk of an engine is 8, must be 16 to 512"},
        {{.inter_token_seconds = -1}, "inter_token_seconds is -1"},
        {{.inter_token_seconds = (double)NAN}, "inter_token_seconds is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(vouch_engine_open(&engine, target, &cases[i].options, &err), VOUCH_E_ARGUMENT);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s", err.message);
        assert_null(engine);
    }
    const vouch_engine_options one = {.n_sessions = 1, .n_ctx = 64, .n_threads = 1};
    assert_int_equal(vouch_engine_open(&engine, target, &one, &err), VOUCH_OK);
    vouch_session_options wide = vouch_session_options_default();
    wide.n_ctx = 65;
    assert_int_equal(vouch_engine_session_open(&session, engine, &wide, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "n_ctx of a session of this engine is 65, must be 2 to 64"));
    wide.n_ctx = 0;
    wide.sampling.top_p = 2;
    assert_int_equal(vouch_engine_session_open(&session, engine, &wide, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_engine_session_open(&session, engine, NULL, &err), VOUCH_OK);
    assert_int_equal(vouch_engine_session_open(&second, engine, NULL, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "1 sessions are open"));
    assert_int_equal(vouch_session_prompt(session, requests[0].prompt, 65, &err), VOUCH_E_CONTEXT);
    assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "belongs to an engine"));
    assert_int_equal(vouch_session_time_pass(session, 1, 1, &seconds, &err), VOUCH_E_ARGUMENT); /* no sequence yet */
    vouch_session_close(session);
    vouch_engine_close(engine);
    vouch_engine_close(NULL);
}

/* ------------------------------------------------------------- admission, pages */

/* The engine admits the guesses that give the most tokens per second. It always admits fixed guesses. */
static void guesses_that_pay_are_admitted(void **state)
{
    (void)state;
    vouch_cost cost;
    vouch_cost_init(&cost, NULL, 0);
    test_random random = {3};
    for (int round = 0; round < 2000; round++) {
        double expected[4][9];
        vouch_offer offers[4];
        const int32_t n = 1 + (int32_t)test_below(&random, 4);
        cost.log_c = (double)test_uniform(&random, -3, 0);
        const double spent = round % 2 ? (double)test_uniform(&random, 0, 2) : 0;
        for (int32_t i = 0; i < n; i++) {
            double value = 1;
            expected[i][0] = 1;
            offers[i] = (vouch_offer){.expected = expected[i], .n = (int32_t)test_below(&random, 9)};
            for (int32_t g = 0; g < offers[i].n; g++)
                expected[i][g + 1] = expected[i][g] + (value *= (double)test_uniform(&random, 0, 1));
            const int32_t fixed = (int32_t)test_below(&random, (uint32_t)offers[i].n + 1);
            offers[i].n_fixed = test_below(&random, 3) == 0 ? fixed : 0;
        }
        vouch_admit(offers, n, 64, &cost, spent);
        double sum = 0, best = 0;
        int32_t rows = 0;
        for (int32_t i = 0; i < n; i++) {
            assert_in_range(offers[i].n_admitted, offers[i].n_fixed, offers[i].n);
            sum += expected[i][offers[i].n_admitted];
            rows += 1 + offers[i].n_admitted;
        }
        const double yield = sum / (vouch_cost_of(&cost, rows) + spent);
        int32_t take[4] = {0};
        for (bool more = true; more;) { /* all choices */
            double tokens = 0;
            int32_t n_rows = 0;
            bool is_allowed = true;
            for (int32_t i = 0; i < n; i++) {
                is_allowed &= take[i] >= offers[i].n_fixed;
                tokens += expected[i][take[i]];
                n_rows += 1 + take[i];
            }
            const double other = tokens / (vouch_cost_of(&cost, n_rows) + spent);
            if (is_allowed && other > best) best = other;
            int32_t at = 0;
            while (at < n && take[at] == offers[at].n) take[at++] = 0;
            more = at < n;
            if (more) take[at]++;
        }
        assert_true(yield >= best * (1 - 1e-12));
    }
}

static void few_guesses_are_admitted_at_most(void **state)
{
    (void)state;
    static const double expected[] = {1, 1.9, 2.7, 3.4};
    vouch_cost cost;
    vouch_cost_init(&cost, NULL, 0);
    cost.log_c = -9;
    vouch_offer offers[] = {{.expected = expected, .n = 3}, {.n = 2, .n_fixed = 2}, {.expected = expected, .n = 3}};
    vouch_admit(offers, 3, 3, &cost, 0);
    assert_int_equal(offers[0].n_admitted, 2);
    assert_int_equal(offers[1].n_admitted, 2);
    assert_int_equal(offers[2].n_admitted, 1);
    vouch_admit(offers, 3, 0, &cost, 0);
    assert_int_equal(offers[0].n_admitted + offers[2].n_admitted, 0);
}

/* The table of shared pages finds the longest listed beginning of a sequence, and no other page. A sequence has up to
 * DEPTH pages with one of two contents each, so that it is a path in a binary tree: 2 n and 2 n + 1 follow node n. Each
 * of two scopes has a tree, under nodes 2 and 3. The store is too small for all nodes, so pages are forgotten in
 * between. */
static void pages_are_found_by_their_tokens(void **state)
{
    (void)state;
    enum { SIZE = 16, DEPTH = 6, N_PAGES = 40, N_SEQUENCES = 3, ROUNDS = 2000 };
    const vouch_pages_options options = {.kv_type = VOUCH_KV_F16, .page_size = SIZE, .n_pages = N_PAGES};
    int32_t node_of[N_PAGES] = {0}, n_forgotten = 0, n_found = 0;
    bool is_listed[4 << DEPTH] = {false};
    vouch_memory *memories[N_SEQUENCES];
    vouch_pages *store;
    vouch_prefixes table;
    test_random random = {11};
    assert_int_equal(vouch_pages_open(&store, target->weights, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_prefixes_open(&table, store, &(vouch_prefixes_options){0}, NULL), VOUCH_OK);
    for (int i = 0; i < N_SEQUENCES; i++)
        assert_int_equal(vouch_memory_open(&memories[i], store, DEPTH * SIZE, 1, NULL), VOUCH_OK);
    for (int round = 0; round < ROUNDS; round++) {
        vouch_memory *memory = memories[round % N_SEQUENCES];
        const int32_t n = 1 + (int32_t)test_below(&random, DEPTH);
        int32_t tokens[DEPTH * SIZE], nodes[DEPTH], expected = 0, n_common;
        const vouch_scoped_prefix prefix = {.scope = test_below(&random, 2), .tokens = tokens, .n = n * SIZE};
        for (int32_t i = 0; i < n; i++) {
            nodes[i] = 2 * (i > 0 ? nodes[i - 1] : 2 + (int32_t)prefix.scope) + (int32_t)test_below(&random, 2);
            for (int32_t t = 0; t < SIZE; t++) tokens[i * SIZE + t] = t + nodes[i] % 2;
        }
        while (expected < n && is_listed[nodes[expected]]) expected++;
        vouch_memory_rewind(memory, 0);
        assert_int_equal(vouch_prefixes_take(&table, memory, &prefix, &n_common), expected * SIZE);
        for (int32_t i = 0; i < expected; i++) assert_int_equal(node_of[memory->pages[i]], nodes[i]);
        while (!vouch_memory_reserve(memory, (n - expected) * SIZE)) {
            assert_true(vouch_prefixes_forget(&table));
            for (int32_t page = 0; page < N_PAGES; page++) {
                if (node_of[page] == 0 || table.pages[page].used > 0) continue;
                is_listed[node_of[page]] = false;
                node_of[page] = 0;
                n_forgotten++;
            }
        }
        for (int32_t i = expected * SIZE; i < n * SIZE; i++) vouch_memory_add_token(memory);
        vouch_prefixes_add(&table, memory, &prefix, false);
        for (int32_t i = 0; i < n; i++) {
            is_listed[nodes[i]] = true;
            node_of[memory->pages[i]] = nodes[i];
        }
        n_found += expected;
    }
    assert_true(n_found > ROUNDS && n_forgotten > ROUNDS / 4);
    for (int i = 0; i < N_SEQUENCES; i++) vouch_memory_close(memories[i]);
    vouch_prefixes_close(&table);
    vouch_pages_close(store);
}

/* Invariant E2: a session that has nothing to do gives its pages to a later one that has. */
static void idle_sessions_give_way(void **state)
{
    (void)state;
    vouch_engine *engine;
    static live lives[2];
    const vouch_engine_options options = {
        .n_sessions = 2, .n_ctx = N_CTX, .n_cache = N_CTX, .page_size = 16, .no_sharing = true, .n_threads = 1};
    assert_int_equal(vouch_engine_open(&engine, target, &options, NULL), VOUCH_OK);
    for (int32_t i = 0, number = 0; i < 2; i++, number++) {
        while (requests[number].n_prompt < N_CTX / 2) number++;
        live_begin(&lives[i], engine, number);
        const vouch_engine_event *events;
        size_t n_events;
        bool is_over = false;
        while (vouch_engine_step(engine, &events, &n_events)) {
            for (size_t e = 0; e < n_events; e++) is_over |= live_step(&lives[i], &events[e].step);
        }
        assert_true(is_over);
    }
    for (int32_t i = 0; i < 2; i++) vouch_session_close(lives[i].session);
    vouch_engine_close(engine);
}

/* A paused session keeps no other from going on, even where the cache has room for one alone and the paused one joined
 * first (E2 of engine.h). It runs its tokens again later, with the same bytes (law L7). */
static void paused_sessions_give_way(void **state)
{
    (void)state;
    vouch_engine *engine;
    static live lives[2];
    const vouch_engine_options options = {
        .n_sessions = 2, .n_ctx = N_CTX, .n_cache = N_CTX, .page_size = 16, .n_threads = 1};
    const vouch_engine_event *events;
    size_t n_events = 0;
    assert_int_equal(vouch_engine_open(&engine, target, &options, NULL), VOUCH_OK);
    for (int32_t i = 0, number = 0; i < 2; i++, number++) {
        while (requests[number].n_prompt < N_CTX / 2 + 20) number++;
        live_begin(&lives[i], engine, number);
        while (i == 0 && n_events == 0) assert_true(vouch_engine_step(engine, &events, &n_events));
    }
    assert_false(live_step(&lives[0], &events[0].step));
    vouch_session_pause(lives[0].session, true);
    for (int32_t at = 1; at >= 0; at--) {
        bool is_over = false;
        while (!is_over) {
            assert_true(vouch_engine_step(engine, &events, &n_events));
            for (size_t e = 0; e < n_events; e++) is_over |= live_step(&lives[at], &events[e].step);
        }
        vouch_session_pause(lives[0].session, false);
    }
    assert_int_equal(vouch_engine_get_stats(engine)->preemptions, 1);
    for (int32_t i = 0; i < 2; i++) vouch_session_close(lives[i].session);
    vouch_engine_close(engine);
}

/* Law L7: an answer after a cancelled prompt is sampled as without that prompt, as in a session by itself. */
static void a_cancelled_prompt_takes_no_seed(void **state)
{
    (void)state;
    enum { SAMPLED = 1 }; /* a request with a temperature */
    const request *r = &requests[SAMPLED];
    const vouch_engine_options options = {.n_sessions = 1, .n_ctx = N_CTX, .n_threads = 1};
    const vouch_engine_event *events;
    vouch_engine *engine;
    size_t n_events = 0;
    static live one;
    assert_true(r->options.sampling.temperature > 0);
    assert_int_equal(vouch_engine_open(&engine, target, &options, NULL), VOUCH_OK);
    live_begin(&one, engine, SAMPLED);
    vouch_session_cancel(one.session);
    assert_true(vouch_engine_step(engine, &events, &n_events));
    assert_int_equal(n_events, 1);
    assert_int_equal(events[0].status, VOUCH_E_CANCELLED);
    assert_int_equal(vouch_session_prompt(one.session, r->prompt, (size_t)r->n_prompt, NULL), VOUCH_OK);
    for (bool is_over = false; !is_over;) {
        assert_true(vouch_engine_step(engine, &events, &n_events));
        for (size_t e = 0; e < n_events; e++) is_over |= live_step(&one, &events[e].step);
    }
    vouch_session_close(one.session);
    vouch_engine_close(engine);
}

/* Sessions with the same draft model or head share its passes: with 8 sessions at once a cycle takes as many passes of
 * it as with one. A chain of n guesses takes n passes, since the last guess is never fed; a tree takes one for each
 * level. Each session makes the guesses that it makes alone. */
static void sessions_share_the_passes_of_a_level(void **state)
{
    (void)state;
    enum { MOST = 8, GUESSES = 5, DEPTH = 3, N_PROMPT = 8, LENGTH = 30, KINDS = 4 };
    for (int kind = 0; kind < KINDS; kind++)
        for (int32_t n = 1; n <= MOST; n += MOST - 1) {
            const bool has_trees = kind % 2;
            const int32_t levels = has_trees ? DEPTH : GUESSES;
            uint64_t alone[MOST], beside[MOST];
            vouch_session *sessions[MOST];
            vouch_engine *engine;
            vouch_session_options o = vouch_session_options_default();
            o.n_ctx = N_CTX;
            o.n_threads = 2;
            o.max_tokens = LENGTH;
            o.ignore_eos = true;
            o.sampling.temperature = 0.5f;
            o.speculation.accept = VOUCH_ACCEPT_MATCH;
            o.speculation.drafters = kind < 2 ? VOUCH_DRAFTER_MODEL : VOUCH_DRAFTER_HEAD;
            o.speculation.draft_model = near;
            o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
            o.speculation.n_draft = GUESSES;
            o.speculation.tree_branches = has_trees ? 2 : 0;
            o.speculation.tree_depth = has_trees ? DEPTH : 0;
            const vouch_engine_options options = {.n_sessions = MOST, .n_ctx = N_CTX, .n_threads = 2};
            assert_int_equal(vouch_engine_open(&engine, target, &options, NULL), VOUCH_OK);
            for (int32_t i = 0; i < n; i++) {
                const int32_t *prompt = requests[0].prompt + i;
                alone[i] = draft_hash_alone(target, &o, prompt, N_PROMPT);
                beside[i] = VOUCH_HASH_START;
                assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
                assert_int_equal(vouch_session_prompt(sessions[i], prompt, N_PROMPT, NULL), VOUCH_OK);
            }
            const vouch_engine_stats *stats = vouch_engine_get_stats(engine);
            const vouch_engine_event *events;
            size_t n_events;
            vouch_engine_stats before = *stats;
            for (int step = 0; vouch_engine_step(engine, &events, &n_events); before = *stats, step++) {
                for (size_t e = 0; e < n_events; e++)
                    for (int32_t i = 0; i < n; i++)
                        if (sessions[i] == events[e].session) beside[i] = draft_hash(beside[i], &events[e].step);
                if (step == 0) assert_int_equal(stats->draft_passes, 1); /* all prompts */
                if (step < 2 || step > 4) continue; /* the last drafts are cut at the end of the answer */
                assert_int_equal(n_events, n);
                assert_int_equal(stats->drafted - before.drafted, n * GUESSES);
                assert_int_equal(stats->draft_passes - before.draft_passes, levels);
                assert_true(stats->draft_rows - before.draft_rows >= n * levels);
            }
            for (int32_t i = 0; i < n; i++) {
                assert_true(beside[i] == alone[i]);
                assert_true(i == 0 || alone[i] != alone[0]);
                vouch_session_close(sessions[i]);
            }
            assert_null(engine->draft_passes.first);
            vouch_engine_close(engine);
        }
}

static void *cancel_all(void *sessions)
{
    for (int i = 0; i < 4; i++) vouch_session_cancel(((vouch_session **)sessions)[i]);
    return NULL;
}

/* Another thread may cancel while the engine steps. */
static void other_threads_cancel(void **state)
{
    (void)state;
    vouch_engine *engine;
    vouch_session *sessions[4];
    vouch_error err = {0};
    const vouch_engine_options options = {.n_sessions = 4, .n_ctx = N_CTX, .n_threads = 2};
    assert_int_equal(vouch_engine_open(&engine, target, &options, &err), VOUCH_OK);
    for (int i = 0; i < 4; i++) {
        const request *r = &requests[i];
        assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &r->options, &err), VOUCH_OK);
        assert_int_equal(vouch_session_prompt(sessions[i], r->prompt, (size_t)r->n_prompt, &err), VOUCH_OK);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_all, sessions), 0);
    int n_over = 0;
    const vouch_engine_event *events;
    size_t n_events;
    while (vouch_engine_step(engine, &events, &n_events)) {
        for (size_t i = 0; i < n_events; i++)
            n_over += events[i].status != VOUCH_OK || events[i].step.finish != VOUCH_FINISH_NONE;
    }
    pthread_join(thread, NULL);
    assert_int_equal(n_over, 4);
    for (int i = 0; i < 4; i++) vouch_session_close(sessions[i]);
    vouch_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest of_many_models[] = {
        cmocka_unit_test(requests_beside_others_keep_their_bytes),
        cmocka_unit_test(draft_models_beside_others_keep_their_bytes),
        cmocka_unit_test(long_prompts_beside_others_keep_their_bytes),
        cmocka_unit_test(guesses_that_pay_are_admitted),
        cmocka_unit_test(few_guesses_are_admitted_at_most),
    };
    const struct CMUnitTest of_llama[] = {
        /* they only read the requests and their answers */
        cmocka_unit_test(a_known_beginning_is_not_run_again),
        cmocka_unit_test(running_answers_limit_the_rows_of_prompts),
        cmocka_unit_test(sessions_take_further_prompts),
        cmocka_unit_test(sessions_read_their_logits),
        cmocka_unit_test(bad_use_is_refused),
        cmocka_unit_test(paused_sessions_wait),
        cmocka_unit_test(pages_are_found_by_their_tokens),
        cmocka_unit_test(idle_sessions_give_way),
        cmocka_unit_test(paused_sessions_give_way),
        cmocka_unit_test(a_cancelled_prompt_takes_no_seed),
        cmocka_unit_test(sessions_share_the_passes_of_a_level),
        cmocka_unit_test(other_threads_cancel),
    };
    return cmocka_run_group_tests(of_many_models, NULL, NULL) +
           cmocka_run_group_tests(of_llama, llama_open, llama_close);
}
