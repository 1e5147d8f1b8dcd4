/* SPDX-License-Identifier: MIT */
/*
 * Law L1 under any floating-point environment of the caller. With another rounding direction, with denormals flushed to
 * zero, or with trapping exceptions, the library computes the same bits. It leaves the environment as it found it.
 */
#include <fenv.h>
#include <string.h>

#include "engine/file/model.h"
#include "support/decode/answer.h"
#include "support/model/sequence.h"

enum { PROMPT = 20, LENGTH = 24, N_VOCAB = 400 };

static const struct mode {
    const char *name;
    int rounding;
    bool flush, trap;
} modes[] = {
    {"as usual", FE_TONEAREST, false, false}, {"up", FE_UPWARD, false, false},
    {"down", FE_DOWNWARD, false, false},      {"towards zero", FE_TOWARDZERO, false, false},
    {"flush", FE_TONEAREST, true, false},     {"trap", FE_TONEAREST, false, true},
};
enum { N_MODES = sizeof modes / sizeof *modes };

static unsigned control_of(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr();
#else
    return (unsigned)fegetround();
#endif
}

static void mode_set(const struct mode *mode)
{
    fesetenv(FE_DFL_ENV);
    fesetround(mode->rounding);
#if defined(__x86_64__)
    if (mode->flush) __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); /* FTZ, DAZ */
    if (mode->trap) {
        unsigned short x87; /* its control word: that unit traps, too */
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x1f80u);
        __asm__("fnstcw %0" : "=m"(x87));
        x87 &= (unsigned short)~0x3fu;
        __asm__ volatile("fldcw %0" : : "m"(x87));
    }
#else
    if (mode->trap) feenableexcept(FE_ALL_EXCEPT);
#endif
}

/* All results of the library in one mode. */
typedef struct outcome {
    float logits[PROMPT * N_VOCAB];
    int32_t tokens[PROMPT + LENGTH + VOUCH_MAX_DRAFT];
    size_t n_tokens;
    int32_t accepted, final;
    vouch_guess verdict;
    char text[128]; /* of the chat template */
    size_t n_text;
} outcome;

static char target_path[256], draft_path[256];
static int32_t prompt[PROMPT];

static int models_write(void **state)
{
    (void)state;
    strcpy(target_path, test_temporary("target.gguf"));
    strcpy(draft_path, test_temporary("draft.gguf"));
    tiny_model_write(target_path, &(tiny_model_options){.seed = 5, .type = VOUCH_TYPE_Q4_1});
    tiny_model_write(draft_path, &(tiny_model_options){.seed = 5, .type = VOUCH_TYPE_Q4_1, .noise = 0.01f});
    answer_prompt(prompt, PROMPT, N_VOCAB, 6, false);
    return 0;
}

static vouch_session_options options_of(const vouch_model *draft)
{
    vouch_session_options options = vouch_session_options_default();
    options.n_threads = 2;
    options.n_ctx = 128;
    options.max_tokens = LENGTH;
    options.ignore_eos = true;
    options.sampling.temperature = 0.9f;
    options.sampling.top_p = 0.95f;
    options.sampling.repeat_penalty = 1.1f;
    options.speculation.draft_model = draft;
    return options;
}

static void progress_ignore(void *user, double share)
{
    (void)user;
    (void)share;
}

/* Runs every entry point that computes. The test itself does no floating-point arithmetic here, so the mode acts on the
 * library alone. */
static void library_use(outcome *out)
{
    static const int32_t guess = 1;
    static const char chat[] = "[{\"role\": \"user\", \"content\": \"0.1\"}]";
    static const char schema[] = "{\"type\": \"number\", \"minimum\": 0.1, \"maximum\": 2.7}";
    static const float p[] = {0.1f, 0.3f, 0.6f, 0.2f, 0.5f, 0.3f}, q[] = {0.3f, 0.6f, 0.1f};
    const vouch_rejection row = {.k = 1, .n_vocab = 3, .guesses = &guess, .p = p, .q = q, .lenience = 1, .seed = 7};
    vouch_model *target, *draft;
    vouch_session *session;
    vouch_grammar *grammar;
    vouch_step step = {0};
    double seconds;
    vouch_model_options loading = vouch_model_options_default();
    loading.chat_template = "{{ 1 / 3 }} {{ 2.675 | round(2) }} {{ messages[0].content | float / 7 }}";
    loading.progress = progress_ignore; /* so that the library computes the shares of progress */
    assert_int_equal(vouch_model_open(&target, target_path, &loading, NULL), VOUCH_OK);
    assert_int_equal(vouch_model_open(&draft, draft_path, &loading, NULL), VOUCH_OK);
    const vouch_session_options options = options_of(draft);
    assert_int_equal(vouch_session_open(&session, target, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_logits(session, 0, PROMPT, out->logits, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_time_pass(session, 3, 1, &seconds, NULL), VOUCH_OK);
    while (step.finish == VOUCH_FINISH_NONE) assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
    const int32_t *tokens = vouch_session_tokens(session, &out->n_tokens);
    memcpy(out->tokens, tokens, out->n_tokens * sizeof *tokens);
    assert_int_equal(vouch_render_chat(target, chat, strlen(chat), out->text, sizeof out->text, &out->n_text, NULL),
                     VOUCH_OK);
    assert_int_equal(vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), NULL), VOUCH_OK);
    vouch_grammar_close(grammar);
    assert_int_equal(vouch_reject(&row, &out->accepted, &out->final, &out->verdict, NULL), VOUCH_OK);
    vouch_session_close(session);
    vouch_model_close(draft);
    vouch_model_close(target);
}

static void the_callers_environment_changes_no_bit(void **state)
{
    (void)state;
    static outcome expected, got;
    for (size_t i = 0; i < N_MODES; i++) {
        memset(&got, 0, sizeof got);
        mode_set(&modes[i]);
        const unsigned before = control_of();
        library_use(&got);
        const unsigned after = control_of();
        fesetenv(FE_DFL_ENV);
        if (i == 0) expected = got;
        if (after != before) fail_msg("rounding %s: left as 0x%x, was 0x%x", modes[i].name, after, before);
        if (memcmp(&got, &expected, sizeof got) != 0) fail_msg("rounding %s: other results", modes[i].name);
    }
    assert_int_equal(expected.n_tokens, PROMPT + LENGTH);
}

/* Shows that the test above can fail: a pass outside the C API runs in the caller's environment and gives other
 * bits. */
static void a_pass_alone_is_not_protected(void **state)
{
    (void)state;
    static float logits[2][N_VOCAB];
    vouch_model *model;
    vouch_pool *pool;
    vouch_sequence s;
    const vouch_sequence_options options = {.n_ctx = 32, .max_rows = PROMPT, .max_logits = 1};
    assert_int_equal(vouch_model_open(&model, target_path, NULL, NULL), VOUCH_OK);
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    assert_int_equal(vouch_sequence_open(&s, model->weights, pool, &options, NULL), VOUCH_OK);
    for (int i = 0; i < 2; i++) {
        mode_set(&modes[i]);
        vouch_pass_chain(s.pass, s.memory, prompt, PROMPT, 1);
        fesetenv(FE_DFL_ENV);
        memcpy(logits[i], vouch_pass_logits(s.pass, 0), sizeof logits[i]);
        vouch_memory_rewind(s.memory, 0);
    }
    assert_memory_not_equal(logits[0], logits[1], sizeof logits[0]);
    vouch_sequence_close(&s);
    vouch_pool_close(pool);
    vouch_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_callers_environment_changes_no_bit),
        cmocka_unit_test(a_pass_alone_is_not_protected),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
