/* SPDX-License-Identifier: MIT */
/*
 * The session through its API: how answers end, what a prompt reuses of the previous one, cancelling, seeds, broken
 * models, threads. With any drafter, an answer that ends early is a prefix of the plain answer.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "engine/session.h"
#include "support/model/tiny_vocab.h"
#include "support/decode/configs.h"

static bool is_beginning(const answer *part, const answer *whole)
{
    return part->n <= whole->n && memcmp(part->tokens, whole->tokens, (size_t)part->n * sizeof(int32_t)) == 0;
}

/* ------------------------------------------------------------------ endings */

static void max_tokens_cuts_accepted_runs(void **state)
{
    (void)state;
    static known k;
    static answer got;
    know(&k, 1);
    for (int config = 0; config < N_CONFIGS; config++)
        for (int32_t most = 1; most <= 12; most++) {
            vouch_session_options options = options_of(config, 7, &k.o);
            options.ignore_eos = true;
            options.max_tokens = most;
            answer_run(&got, target, &options, k.prompt, PROMPT);
            assert_int_equal(got.n, most);
            assert_int_equal(got.finish, VOUCH_FINISH_LENGTH);
            assert_true(is_beginning(&got, &k.plain));
        }
}

/* An answer fills the context to its last position, and no draft goes beyond it. */
static void context_end_cuts_accepted_runs(void **state)
{
    (void)state;
    static known k;
    static answer got;
    know(&k, 2);
    for (int config = 0; config < N_CONFIGS; config++)
        for (int32_t room = 1; room <= 18; room++) {
            vouch_session_options options = options_of(config, 7, &k.o);
            options.ignore_eos = true;
            options.n_ctx = PROMPT + room;
            answer_run(&got, target, &options, k.prompt, PROMPT);
            assert_int_equal(got.n, room);
            assert_int_equal(got.finish, VOUCH_FINISH_CONTEXT);
            assert_true(is_beginning(&got, &k.plain));
        }
}

/* A bias makes EOS likely. The answer ends with it, even if the target would accept the guesses after it. */
static void eos_ends_the_answer_inside_accepted_runs(void **state)
{
    (void)state;
    static answer plain, got;
    const vouch_logit_bias bias[] = {{TINY_IM_END, 6}, {TINY_ENDOFTEXT, 6}};
    int inside = 0, ended = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        int32_t prompt[PROMPT], sequence[PROMPT + ANSWER_MAX];
        vouch_session_options options = options_of(PLAIN, 0, NULL);
        options.sampling.bias = bias;
        options.sampling.n_bias = 2;
        answer_prompt(prompt, PROMPT, N_VOCAB, seed, false);
        answer_run(&plain, target, &options, prompt, PROMPT);
        for (int32_t i = 0; i < plain.n; i++) {
            const bool ends = plain.tokens[i] == TINY_IM_END || plain.tokens[i] == TINY_ENDOFTEXT;
            assert_int_equal(ends, plain.finish == VOUCH_FINISH_EOS && i == plain.n - 1);
        }
        ended += plain.finish == VOUCH_FINISH_EOS;
        memcpy(sequence, prompt, sizeof prompt);
        memcpy(sequence + PROMPT, plain.tokens, (size_t)plain.n * sizeof *prompt);
        /* The drafter keeps guessing after EOS. */
        for (int32_t n = plain.n; n < LENGTH; n++) sequence[PROMPT + n] = 17;
        oracle o = {.tokens = sequence, .n = PROMPT + LENGTH, .n_vocab = N_VOCAB};
        for (int32_t k = 1; k <= 8; k++)
            for (int config = 1; config < N_CONFIGS; config++) {
                options = options_of(config, k, &o);
                options.sampling.bias = bias;
                options.sampling.n_bias = 2;
                answer_run(&got, target, &options, prompt, PROMPT);
                assert_true(answer_equal(&got, &plain));
                assert_int_equal(got.stats.generated_tokens, plain.n);
                inside += got.finish == VOUCH_FINISH_EOS && got.last == VOUCH_ORIGIN_ACCEPTED;
            }
    }
    assert_true(ended >= 6 && inside > 0);
    /* EOS has no text. */
    assert_null(strstr(plain.text, "<|im_end|>"));
}

static bool is_ascii(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] >= 0x80 || text[i] == 0) return false;
    return true;
}

/* The offset in the text of the first stop text; the size of the text if there is none. */
static size_t find_stop(const answer *plain, const char *const *stop, size_t n_stop)
{
    size_t first = plain->n_text;
    for (size_t i = 0; i < n_stop; i++) {
        const size_t n = strlen(stop[i]);
        for (size_t at = 0; at + n <= plain->n_text && at < first; at++)
            if (memcmp(plain->text + at, stop[i], n) == 0) first = at;
    }
    return first;
}

/* Uses every substring of the plain text of 1 to 9 bytes as a stop text. The answer ends before its first
 * occurrence. */
static void stop_texts_end_the_answer_anywhere(void **state)
{
    (void)state;
    static known k;
    static answer got, first;
    int inside = 0, straddling = 0;
    know(&k, 3);
    assert_true(k.plain.n_text > 60);
    for (size_t at = 0; at + 9 <= k.plain.n_text; at += test_is_quick() ? 5 : 1) {
        char text[16];
        const size_t n = 1 + at % 9;
        if (!is_ascii(k.plain.text + at, n)) continue;
        snprintf(text, sizeof text, "%.*s", (int)n, k.plain.text + at);
        const char *const stop[] = {"never to be seen", text};
        for (int config = 0; config < N_CONFIGS; config++) {
            vouch_session_options options = options_of(config, 6, &k.o);
            options.ignore_eos = true;
            options.stop = stop;
            options.n_stop = 2;
            answer_run(&got, target, &options, k.prompt, PROMPT);
            assert_int_equal(got.finish, VOUCH_FINISH_STOP);
            assert_int_equal(got.n_text, find_stop(&k.plain, stop, 2));
            assert_memory_equal(got.text, k.plain.text, got.n_text);
            assert_true(is_beginning(&got, &k.plain));
            if (config == PLAIN) first = got;
            assert_true(answer_equal(&got, &first));
            inside += got.last == VOUCH_ORIGIN_ACCEPTED;
            size_t last;
            vouch_token_bytes(target, got.tokens[got.n - 1], &last);
            straddling += last < n;
        }
    }
    assert_true(inside > 0 && straddling > 0);
}

/* The session holds back text that could begin a stop text, and shows it when it doesn't or when the answer ends. */
static void a_stop_that_never_comes_changes_nothing(void **state)
{
    (void)state;
    static known k;
    static answer got;
    know(&k, 4);
    char text[32];
    size_t at = k.plain.n_text - 4;
    while (!is_ascii(k.plain.text + at, k.plain.n_text - at)) at++;
    snprintf(text, sizeof text, "%.*s and more", (int)(k.plain.n_text - at), k.plain.text + at);
    const char *const stop[] = {text};
    for (int config = 0; config < N_CONFIGS; config++) {
        vouch_session_options options = options_of(config, 5, &k.o);
        options.ignore_eos = true;
        options.stop = stop;
        options.n_stop = 1;
        answer_run(&got, target, &options, k.prompt, PROMPT);
        assert_true(answer_equal(&got, &k.plain));
    }
}

static void a_step_needs_an_answer_under_way(void **state)
{
    (void)state;
    static answer got;
    vouch_step step;
    vouch_error err;
    vouch_session_options options = options_of(PLAIN, 0, NULL);
    options.max_tokens = 3;
    vouch_session *session = answer_open(target, &options);
    assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "prompt"));
    const int32_t prompt[] = {40, 41};
    for (int i = 0; i < 2; i++) {
        answer_continue(&got, session, prompt, 2);
        const vouch_stats before = *vouch_session_stats(session);
        assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_E_ARGUMENT);
        assert_int_equal(step.n_tokens, 0);
        assert_memory_equal(&before, vouch_session_stats(session), sizeof before);
    }
    vouch_session_reset_stats(session);
    assert_int_equal(vouch_session_stats(session)->cycles, 0);
    vouch_session_close(session);
}

/* ------------------------------------------------------------------- prompts */

/* Several prompts in one session: each gives the answer of a fresh session, and only its new tokens run. */
static void a_prompt_reuses_what_it_shares(void **state)
{
    (void)state;
    static known k;
    static answer fresh, got;
    know(&k, 5);
    for (int config = 0; config < N_CONFIGS; config++) {
        int32_t changed[PROMPT], longer[PROMPT + 9];
        memcpy(changed, k.prompt, sizeof changed);
        changed[11] ^= 1;
        memcpy(longer, k.prompt, sizeof k.prompt);
        memcpy(longer + PROMPT, k.plain.tokens, 7 * sizeof *longer);
        longer[PROMPT + 7] = longer[PROMPT + 8] = 200;
        const struct {
            const int32_t *tokens;
            int32_t n, n_new; /* n_new: tokens that run; the last one always does */
        } prompts[] = {{k.prompt, PROMPT, PROMPT}, {longer, PROMPT + 9, 2}, {k.prompt, PROMPT, 1}, {k.prompt, 5, 1},
                       {changed, PROMPT, 15},      {changed, PROMPT, 1},    {k.prompt, PROMPT, 9}};
        vouch_session_options options = options_of(config, 4, &k.o);
        options.max_tokens = 14;
        options.ignore_eos = true;
        options.prefill_chunk = 4;
        vouch_session *session = answer_open(target, &options);
        for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
            answer_run(&fresh, target, &options, prompts[i].tokens, prompts[i].n);
            vouch_session_reset_stats(session);
            answer_continue(&got, session, prompts[i].tokens, prompts[i].n);
            assert_true(answer_equal(&got, &fresh));
            assert_int_equal(fresh.stats.prompt_tokens, prompts[i].n);
            assert_int_equal(got.stats.prompt_tokens, prompts[i].n_new);
            /* The drafter starts afresh as well. The oracle's errors don't: they come from one random stream. */
            if (config != ORACLE) assert_int_equal(got.stats.accepted, fresh.stats.accepted);
            if (config != ORACLE) assert_int_equal(got.stats.drafted, fresh.stats.drafted);
        }
        vouch_session_close(session);
    }
}

static void bad_prompts_leave_the_session_as_it_was(void **state)
{
    (void)state;
    static known k;
    know(&k, 6);
    const int32_t outside[] = {5, 6, N_VOCAB}, negative[] = {-1}, many[128] = {0};
    vouch_session_options options = options_of(MODEL, 3, NULL);
    options.ignore_eos = true;
    vouch_session *session = answer_open(target, &options);
    vouch_error err;
    vouch_step step;
    assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT, &err), VOUCH_OK);
    for (int round = 0; round < 4; round++) {
        assert_int_equal(vouch_session_prompt(session, outside, 3, &err), VOUCH_E_ARGUMENT);
        assert_string_equal(err.message, "token 2 of the prompt is 400, must be 0 to 399");
        assert_int_equal(vouch_session_prompt(session, negative, 1, &err), VOUCH_E_ARGUMENT);
        assert_int_equal(vouch_session_prompt(session, NULL, 0, &err), VOUCH_E_ARGUMENT);
        assert_int_equal(vouch_session_text(session, "", 0, &err), VOUCH_E_ARGUMENT);
        assert_int_equal(vouch_session_prompt(session, many, 128, &err), VOUCH_E_CONTEXT);
        assert_non_null(strstr(err.message, "128"));
        assert_int_equal(vouch_session_chat(session, NULL, 0, &err), VOUCH_E_ARGUMENT);
        assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_OK);
        size_t n;
        const int32_t *tokens = vouch_session_tokens(session, &n);
        assert_memory_equal(tokens, k.sequence, n * sizeof *tokens);
    }
    assert_int_equal(vouch_session_prompt(session, many, 127, &err), VOUCH_OK);
    vouch_session_close(session);
}

static void text_and_chat_are_their_tokens(void **state)
{
    (void)state;
    static answer by_text, by_tokens;
    static const char text[] = "Once upon a time <|im_end|> \xff\xfe";
    const vouch_message turn = {"user", text};
    vouch_session_options options = options_of(PLAIN, 0, NULL);
    vouch_session *session = answer_open(target, &options);
    for (int chat = 0; chat < 2; chat++) {
        int32_t tokens[200];
        size_t n;
        assert_int_equal(chat
                             ? vouch_tokenize_chat(target, &turn, 1, tokens, 200, &n, NULL)
                             : vouch_tokenize(target, text, sizeof text - 1, VOUCH_TOKENIZE_BOS, tokens, 200, &n, NULL),
                         VOUCH_OK);
        answer_run(&by_tokens, target, &options, tokens, (int32_t)n);
        assert_int_equal(chat ? vouch_session_chat(session, &turn, 1, NULL)
                              : vouch_session_text(session, text, sizeof text - 1, NULL),
                         VOUCH_OK);
        memset(&by_text, 0, sizeof by_text);
        answer_finish(&by_text, session);
        assert_true(answer_equal(&by_text, &by_tokens));
    }
    vouch_session_close(session);
    vouch_model *silent = tiny_model_open(&(tiny_model_options){.n_vocab = 50});
    vouch_error err;
    session = answer_open(silent, &options);
    assert_int_equal(vouch_session_text(session, "x", 1, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "tokenizer"));
    vouch_session_close(session);
    vouch_model_close(silent);
}

/* ---------------------------------------------------------------- cancelling */

typedef struct canceller {
    vouch_session *session;
    double at, last;
} canceller;

static void cancel_at(void *user, double share)
{
    canceller *c = user;
    assert_true(share > c->last && share <= 1);
    c->last = share;
    if (share >= c->at) vouch_session_cancel(c->session);
}

static void cancelling_leaves_a_session_to_go_on_with(void **state)
{
    (void)state;
    static known k;
    static answer got;
    know(&k, 7);
    for (int config = 0; config < N_CONFIGS; config++) {
        vouch_session_options options = options_of(config, 4, &k.o);
        options.ignore_eos = true;
        options.prefill_chunk = 3;
        vouch_session *session = answer_open(target, &options);
        vouch_error err;
        vouch_step step;
        canceller c = {.session = session, .at = 0.5};
        size_t n;

        /* Cancels inside a prompt: the session keeps a prefix of it. */
        vouch_session_set_progress(session, cancel_at, &c);
        assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT, &err), VOUCH_E_CANCELLED);
        const int32_t *tokens = vouch_session_tokens(session, &n);
        assert_true(n > 0 && n < PROMPT);
        assert_memory_equal(tokens, k.prompt, n * sizeof *tokens);
        assert_true(vouch_memory_n_tokens(vouch_session_target(session)) < (int32_t)n);
        assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_E_ARGUMENT);
        vouch_session_set_progress(session, NULL, NULL);

        /* Repeats the prompt and cancels a step of its answer; the next step continues. */
        assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT, &err), VOUCH_OK);
        memset(&got, 0, sizeof got);
        vouch_session_cancel(session);
        vouch_session_cancel(session);
        assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_E_CANCELLED);
        answer_finish(&got, session);
        assert_true(answer_equal(&got, &k.plain));

        /* Cancels before a prompt with one new token or none: nothing changes. */
        for (int32_t shorter = 0; shorter < 2; shorter++) {
            vouch_session_cancel(session);
            assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT - shorter, &err), VOUCH_E_CANCELLED);
            tokens = vouch_session_tokens(session, &n);
            assert_int_equal(n, PROMPT + k.plain.n);
            assert_memory_equal(tokens, k.sequence, n * sizeof *tokens);
        }
        answer_continue(&got, session, k.prompt, PROMPT);
        assert_true(answer_equal(&got, &k.plain));
        vouch_session_close(session);
    }
}

/* A drafter that cancels the session during a cycle. */
typedef struct meddler {
    vouch_session *session;
    vouch_drafter oracle;
} meddler;

static int32_t meddler_propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    const meddler *m = user;
    vouch_session_cancel(m->session);
    return m->oracle.propose(m->oracle.user, tokens, n_tokens, k, guesses);
}

/* A cancel during the last step of an answer doesn't affect the next prompt. A cancel during an earlier step cancels
 * the next step. */
static void a_cancel_ends_with_its_answer(void **state)
{
    (void)state;
    static known k;
    know(&k, 9);
    k.o.error_percent = 0;
    meddler m = {.oracle = oracle_drafter(&k.o)};
    vouch_session_options options = options_of(ORACLE, 4, &k.o);
    options.ignore_eos = true;
    options.max_tokens = 5 + 3;
    options.speculation.custom = (vouch_drafter){.propose = meddler_propose, .user = &m};
    m.session = answer_open(target, &options);
    vouch_step step;
    vouch_error err;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(vouch_session_prompt(m.session, k.prompt, PROMPT, &err), VOUCH_OK);
        assert_int_equal(vouch_session_step(m.session, &step, &err), VOUCH_OK);
        assert_int_equal(step.n_tokens, 5);
        assert_int_equal(vouch_session_step(m.session, &step, &err), VOUCH_E_CANCELLED);
        assert_int_equal(vouch_session_step(m.session, &step, &err), VOUCH_OK);
        assert_int_equal(step.n_accepted, 2);
        assert_int_equal(step.finish, VOUCH_FINISH_LENGTH);
    }
    vouch_session_close(m.session);
}

/* After a cancel at any point of a prompt, the caches are one token after the tokens, and reusing them is correct. */
static void a_cancelled_prompt_keeps_the_invariant(void **state)
{
    (void)state;
    static known k;
    static answer got;
    know(&k, 10);
    for (int config = 0; config < N_CONFIGS; config++)
        for (int32_t chunk = 1; chunk <= 6; chunk++)
            for (int share = 0; share <= 4; share++) {
                vouch_session_options options = options_of(config, 4, &k.o);
                options.ignore_eos = true;
                options.prefill_chunk = chunk;
                vouch_session *session = answer_open(target, &options);
                canceller c = {.session = session, .at = share / 4.0};
                size_t n;
                vouch_session_set_progress(session, cancel_at, &c);
                assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT, NULL), VOUCH_E_CANCELLED);
                vouch_session_set_progress(session, NULL, NULL);
                vouch_session_tokens(session, &n);
                assert_int_equal(vouch_memory_n_tokens(vouch_session_target(session)), n - 1);
                double seconds;
                assert_int_equal(vouch_session_time_pass(session, 2, 1, &seconds, NULL), VOUCH_OK);
                answer_continue(&got, session, k.prompt, PROMPT);
                assert_true(answer_equal(&got, &k.plain));
                vouch_session_close(session);
            }
}

static atomic_bool stop_cancelling;

static void *cancel_often(void *arg)
{
    while (!atomic_load(&stop_cancelling)) vouch_session_cancel(arg);
    return NULL;
}

/* Another thread cancels all the time. Each step is then either cancelled or complete. */
static void any_thread_may_cancel(void **state)
{
    (void)state;
    static known k;
    know(&k, 8);
    vouch_session_options options = options_of(MODEL, 4, NULL);
    options.ignore_eos = true;
    options.n_threads = 2;
    vouch_session *session = answer_open(target, &options);
    assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT, NULL), VOUCH_OK);
    pthread_t thread;
    atomic_store(&stop_cancelling, false);
    assert_int_equal(pthread_create(&thread, NULL, cancel_often, session), 0);
    vouch_step step = {0};
    vouch_status status = VOUCH_OK;
    for (int i = 0; i < 200 && step.finish == VOUCH_FINISH_NONE; i++) {
        status = vouch_session_step(session, &step, NULL);
        assert_true(status == VOUCH_OK || status == VOUCH_E_CANCELLED);
    }
    atomic_store(&stop_cancelling, true);
    pthread_join(thread, NULL);
    while (step.finish == VOUCH_FINISH_NONE) vouch_session_step(session, &step, NULL);
    size_t n;
    const int32_t *tokens = vouch_session_tokens(session, &n);
    assert_int_equal(n, PROMPT + k.plain.n);
    assert_memory_equal(tokens, k.sequence, n * sizeof *tokens);
    vouch_session_close(session);
}

/* ---------------------------------------------------------- broken models, threads */

static void add_broken_norm(vouch_gguf_writer *writer, void *user)
{
    static float values[64];
    const int64_t n = 64;
    for (int i = 0; i < 64; i++) values[i] = *(const float *)user;
    vouch_gguf_add_tensor(writer, "output_norm.weight", VOUCH_TYPE_F32, 1, &n, values);
}

/* A target with NaN logits makes the step fail, not the process. A draft model with NaN logits drafts nothing. */
static void nan_logits_are_an_error(void **state)
{
    (void)state;
    static known k;
    static answer got;
    float values[] = {NAN, INFINITY};
    know(&k, 40);
    for (int i = 0; i < 2; i++) {
        vouch_model *broken = tiny_model_open(&(tiny_model_options){
            .seed = 21, .omit = "output_norm.weight", .add = add_broken_norm, .user = &values[i]});
        vouch_session_options options = options_of(PLAIN, 0, NULL);
        vouch_session *session = answer_open(broken, &options);
        vouch_step step;
        vouch_error err;
        size_t n;
        assert_int_equal(vouch_session_prompt(session, k.prompt, PROMPT, &err), VOUCH_OK);
        assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_E_NUMERIC);
        assert_int_equal(err.code, VOUCH_E_NUMERIC);
        vouch_session_tokens(session, &n);
        assert_int_equal(n, PROMPT);
        assert_int_equal(vouch_session_stats(session)->cycles, 0);
        vouch_session_close(session);

        options = options_of(MODEL, 3, NULL);
        options.ignore_eos = true;
        options.speculation.draft_model = broken;
        for (int greedy = 0; greedy < 2; greedy++) {
            options.speculation.draft_sampling = greedy ? VOUCH_DRAFT_GREEDY : VOUCH_DRAFT_SAMPLE;
            answer_run(&got, target, &options, k.prompt, PROMPT);
            assert_true(answer_equal(&got, &k.plain));
            assert_int_equal(got.stats.drafted, 0);
        }
        vouch_model_close(broken);
    }
}

/* The first index in the answer, at 20 or later, of a token that did not occur before. */
static int32_t find_new_token(const int32_t *sequence, int32_t n)
{
    for (int32_t at = PROMPT + 20; at < n; at++) {
        int32_t i = 0;
        while (sequence[i] != sequence[at]) i++;
        if (i == at) return at - PROMPT;
    }
    fail_msg("each of %d tokens comes twice", n);
    return -1;
}

/* The answer is the rest of sequence[0, n). Every step after it fails. */
static void check_breakdown(const vouch_model *model, const vouch_session_options *options, const int32_t *sequence,
                            int32_t n)
{
    vouch_session *session = answer_open(model, options);
    vouch_step step;
    vouch_error err;
    char expected[80];
    snprintf(expected, sizeof expected, "token %d of the sequence: the model gave no finite logits", n);
    assert_int_equal(vouch_session_prompt(session, sequence, PROMPT, &err), VOUCH_OK);
    while (vouch_session_step(session, &step, &err) == VOUCH_OK) {}
    for (int i = 0; i < 3; i++) {
        size_t n_tokens;
        const int32_t *tokens = vouch_session_tokens(session, &n_tokens);
        assert_int_equal(n_tokens, n);
        assert_memory_equal(tokens, sequence, n_tokens * sizeof *tokens);
        assert_int_equal(err.code, VOUCH_E_NUMERIC);
        assert_string_equal(err.message, expected);
        assert_int_equal(vouch_session_stats(session)->generated_tokens, n - PROMPT);
        assert_int_equal(vouch_session_step(session, &step, &err), VOUCH_E_NUMERIC);
    }
    vouch_session_close(session);
}

/* Models whose logits become NaN after one token. With such a target and any drafter, the session gives the plain
 * answer up to and including this token, then the error at every step. With such a draft model it gives the whole
 * plain answer. */
static void logits_may_become_nan_in_an_answer(void **state)
{
    (void)state;
    static known k;
    static answer got;
    know(&k, 41);
    const int32_t bad_at = find_new_token(k.sequence, PROMPT + LENGTH);
    vouch_model *broken = tiny_model_open(&(tiny_model_options){.seed = 21, .poison = k.sequence[PROMPT + bad_at]});

    vouch_session_options options = options_of(MODEL, 7, NULL);
    options.ignore_eos = true;
    options.speculation.draft_model = broken;
    answer_run(&got, target, &options, k.prompt, PROMPT);
    assert_true(answer_equal(&got, &k.plain));
    assert_true(got.stats.drafted > 0 && got.stats.accepted == got.stats.drafted);
    assert_true(got.stats.accepted <= bad_at + 1);

    for (int config = 0; config < N_CONFIGS; config++)
        for (int32_t n_draft = 1; n_draft <= 8; n_draft++) {
            options = options_of(config, n_draft, &k.o);
            options.ignore_eos = true;
            if (config == MODEL) options.speculation.draft_model = target;
            check_breakdown(broken, &options, k.sequence, PROMPT + bad_at + 1);
        }
    vouch_model_close(broken);
}

typedef struct job {
    const known *known;
    bool same;
} job;

static void *answer_on_thread(void *arg)
{
    job *j = arg;
    vouch_session_options options = options_of(MODEL, 4, NULL);
    options.ignore_eos = true;
    options.n_threads = 2;
    vouch_session *session;
    vouch_step step = {0};
    if (vouch_session_open(&session, target, &options, NULL) != VOUCH_OK) return NULL;
    if (vouch_session_prompt(session, j->known->prompt, PROMPT, NULL) != VOUCH_OK) return NULL;
    while (step.finish == VOUCH_FINISH_NONE)
        if (vouch_session_step(session, &step, NULL) != VOUCH_OK) return NULL;
    size_t n;
    const int32_t *tokens = vouch_session_tokens(session, &n);
    j->same = n == (size_t)(PROMPT + LENGTH) && memcmp(tokens, j->known->sequence, n * sizeof *tokens) == 0;
    vouch_session_close(session);
    return NULL;
}

static void sessions_share_models_between_threads(void **state)
{
    (void)state;
    enum { N = 3 };
    static known k[N];
    job jobs[N];
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        know(&k[i], 30 + (uint64_t)i);
        jobs[i] = (job){.known = &k[i]};
    }
    for (int i = 0; i < N; i++) assert_int_equal(pthread_create(&threads[i], NULL, answer_on_thread, &jobs[i]), 0);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        assert_true(jobs[i].same);
    }
}

/* Each answer of a session has a seed of its own: the first has the session's, the others derive theirs from it. */
static void each_answer_has_its_own_seed(void **state)
{
    (void)state;
    static answer first, second, again, other;
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, vouch_model_get_info(target)->n_vocab, 5, true);
    for (int accept = 0; accept < VOUCH_ACCEPTS; accept++)
        for (int drafts = 0; drafts < 2; drafts++) {
            vouch_session_options options = vouch_session_options_default();
            options.max_tokens = 40;
            options.ignore_eos = true;
            options.sampling.temperature = 1;
            options.sampling.seed = 11;
            options.speculation.accept = (vouch_accept)accept;
            options.speculation.drafters = drafts ? VOUCH_DRAFTER_MODEL : VOUCH_DRAFTER_NONE;
            options.speculation.draft_model = drafts ? target : NULL;
            options.speculation.n_draft = drafts ? 4 : 0;
            vouch_session *session = answer_open(target, &options), *twin = answer_open(target, &options);
            answer_continue(&first, session, prompt, PROMPT);
            answer_continue(&second, session, prompt, PROMPT);
            assert_false(answer_equal(&first, &second));
            if (drafts && accept == VOUCH_ACCEPT_COUPLED) /* the draft model runs the race of the same seed */
                assert_int_equal(second.stats.accepted, second.stats.drafted);
            answer_continue(&again, twin, prompt, PROMPT);
            assert_true(answer_equal(&first, &again));
            assert_int_equal(vouch_session_prompt(twin, prompt, 0, NULL), VOUCH_E_ARGUMENT); /* begins no answer */
            answer_continue(&again, twin, prompt, PROMPT);
            assert_true(answer_equal(&second, &again));
            for (int i = 0; i < 2; i++) {
                vouch_session_set_seed(i ? session : twin, 12);
                answer_continue(i ? &other : &again, i ? session : twin, prompt, PROMPT);
            }
            assert_true(answer_equal(&other, &again));
            assert_false(answer_equal(&other, &first));
            vouch_session_set_seed(session, 11);
            answer_continue(&again, session, prompt, PROMPT);
            assert_true(answer_equal(&first, &again));
            answer_continue(&again, session, prompt, PROMPT);
            assert_true(answer_equal(&second, &again));
            vouch_session_close(session);
            vouch_session_close(twin);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_has_its_own_seed),
        cmocka_unit_test(max_tokens_cuts_accepted_runs),
        cmocka_unit_test(context_end_cuts_accepted_runs),
        cmocka_unit_test(eos_ends_the_answer_inside_accepted_runs),
        cmocka_unit_test(stop_texts_end_the_answer_anywhere),
        cmocka_unit_test(a_stop_that_never_comes_changes_nothing),
        cmocka_unit_test(a_step_needs_an_answer_under_way),
        cmocka_unit_test(a_prompt_reuses_what_it_shares),
        cmocka_unit_test(bad_prompts_leave_the_session_as_it_was),
        cmocka_unit_test(text_and_chat_are_their_tokens),
        cmocka_unit_test(cancelling_leaves_a_session_to_go_on_with),
        cmocka_unit_test(a_cancel_ends_with_its_answer),
        cmocka_unit_test(a_cancelled_prompt_keeps_the_invariant),
        cmocka_unit_test(any_thread_may_cancel),
        cmocka_unit_test(nan_logits_are_an_error),
        cmocka_unit_test(logits_may_become_nan_in_an_answer),
        cmocka_unit_test(sessions_share_models_between_threads),
    };
    return cmocka_run_group_tests_name("session", tests, configs_open, configs_close);
}
