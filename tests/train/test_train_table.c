/* SPDX-License-Identifier: MIT */
/* The table of next tokens (draft_table.h): how it is counted, laws L2 and L3 with it, and refused files (law L5). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/session.h"
#include "model/head/draft_table.h"
#include "format/gguf.h"
#include "support/decode/answer.h"
#include "support/mutate.h"
#include "support/model/tiny_table.h"
#include "train/lessons/answers.h"
#include "train/teach/table.h"

enum { PROMPT = 20, LENGTH = 60, N_ANSWERS = 40 };

static train_chunks *open_answers(const char *name)
{
    const train_answers_header header = {.version = "test"};
    train_chunks *chunks;
    assert_int_equal(train_chunks_open(&chunks, test_temporary(name), "answers", &header, sizeof header, NULL),
                     VOUCH_OK);
    return chunks;
}

static void add_answer(train_chunks *chunks, const int32_t *tokens, int32_t n_prompt, int32_t n)
{
    const train_answer added = {.n_prompt = n_prompt, .n_tokens = n};
    const train_piece pieces[] = {{&added, sizeof added}, {tokens, (size_t)n * sizeof *tokens}};
    assert_int_equal(train_chunks_append(chunks, pieces, 2, NULL), VOUCH_OK);
}

static const char *write_table(const train_chunks *chunks, const char *digest, int32_t n_vocab, const char *name)
{
    const train_table_file file = {.answers = chunks, .digest = digest, .n_vocab = n_vocab, .sampled = 0.5};
    const char *path = test_temporary(name);
    int64_t n_contexts, n_tokens;
    vouch_error err = {0};
    if (train_table_write(&file, path, &n_contexts, &n_tokens, &err) != VOUCH_OK) fail_msg("%s", err.message);
    assert_true(n_contexts > 0 && n_tokens > 0);
    char recipe[64];
    size_t n;
    char *bytes = read_whole(path, &n);
    snprintf(recipe, sizeof recipe, "{\"tokens\": %lld, \"sampled\": 0.5,", (long long)n_tokens);
    assert_non_null(memmem(bytes, n, recipe, strlen(recipe)));
    free(bytes);
    return path;
}

static vouch_table_rows *open_rows(const char *path, const char *digest, int32_t n_vocab)
{
    const vouch_draft_target target = {.digest = digest, .n_vocab = n_vocab};
    vouch_table_rows *rows;
    vouch_gguf *gguf;
    assert_int_equal(vouch_gguf_open(&gguf, path, NULL), VOUCH_OK);
    assert_int_equal(vouch_table_rows_open(&rows, gguf, &target, NULL), VOUCH_OK);
    vouch_gguf_close(gguf);
    return rows;
}

static int32_t find(const vouch_table_rows *t, int32_t last, int32_t before, int32_t first)
{
    const vouch_table_context context = {{last, before, first}};
    return vouch_table_rows_find(t, &context);
}

static void expect_row(const vouch_table_rows *t, int32_t row, int32_t n, const int32_t *tokens, const double *shares)
{
    assert_true(row >= 0);
    assert_int_equal(t->starts[row + 1] - t->starts[row], n);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(t->tokens[t->starts[row] + i], tokens[i]);
        assert_true(fabs((double)vouch_half_to_float(t->shares[t->starts[row] + i]) - shares[i]) < 0.0006);
    }
}

/* Contexts may begin in the prompt. A context that came once is left out. Shorter contexts are mixed in: after 2 came
 * 3 three times, 4 and 5 once, so that (2) has the shares 3, 1, 1 in 5 + 3; after (2 1) came 3 three times and 4 once,
 * so that 3 has the share (3 + 2 * 3/8) / (4 + 2). */
static void rows_are_what_followed(void **state)
{
    (void)state;
    static const int32_t one[] = {9, 1, 2, 3, 1, 2, 4, 1, 2, 3}, other[] = {5, 1, 2, 3}, third[] = {7, 6, 2, 5};
    train_chunks *chunks = open_answers("counted.answers");
    add_answer(chunks, one, 3, 10);
    add_answer(chunks, other, 1, 4);
    add_answer(chunks, third, 3, 4);
    vouch_table_rows *t = open_rows(write_table(chunks, "d", 10, "counted.gguf"), "d", 10);
    expect_row(t, find(t, 2, -1, -1), 3, (const int32_t[]){3, 4, 5}, (const double[]){0.375, 0.125, 0.125});
    expect_row(t, find(t, 2, 1, -1), 2, (const int32_t[]){3, 4}, (const double[]){3.75 / 6, 1.25 / 6});
    assert_int_equal(find(t, 2, 6, -1), -1); /* once */
    assert_int_equal(find(t, 2, 1, 9), -1);
    assert_int_equal(find(t, 1, 9, -1), -1); /* in the prompt */
    vouch_table_rows_close(t);
    train_chunks_close(chunks);
}

/* Greedy and sampled answers of the model, as vouch distill makes them. */
static const char *teach(const vouch_model *model)
{
    static answer a;
    static int32_t tokens[PROMPT + LENGTH];
    vouch_session_options o = vouch_session_options_default();
    o.max_tokens = LENGTH;
    o.ignore_eos = true;
    o.n_threads = 1;
    train_chunks *chunks = open_answers("model.answers");
    for (int i = 0; i < N_ANSWERS; i++) {
        o.sampling.temperature = i % 2 ? 0.3f : 0;
        answer_prompt(tokens, PROMPT, model->info.n_vocab, (uint64_t)(i % 4), true);
        answer_run(&a, model, &o, tokens, PROMPT);
        memcpy(tokens + PROMPT, a.tokens, sizeof *tokens * LENGTH);
        add_answer(chunks, tokens, PROMPT, PROMPT + LENGTH);
    }
    const char *path = write_table(chunks, model->info.digest, model->info.n_vocab, "model.table.gguf");
    train_chunks_close(chunks);
    return path;
}

/* The text, the target's memory, and what the drafter has learned are the same with a table and without; more guesses
 * are accepted. */
static void text_is_the_same_and_sooner(void **state)
{
    (void)state;
    static answer with, without;
    vouch_model *model = tiny_model_open(&(tiny_model_options){.seed = 5});
    vouch_draft_file *table;
    int64_t accepted = 0, accepted_without = 0;
    assert_int_equal(vouch_draft_file_open(&table, VOUCH_DRAFTER_NUMBER_TABLE, teach(model), model, false, NULL),
                     VOUCH_OK);
    for (int i = 0; i < 24; i++) {
        static const unsigned sets[] = {VOUCH_DRAFTER_TABLE, VOUCH_DRAFTER_RECYCLE | VOUCH_DRAFTER_TABLE,
                                        VOUCH_DRAFTER_AUTO};
        vouch_session_options o = vouch_session_options_default();
        int32_t prompt[PROMPT];
        o.max_tokens = LENGTH;
        o.ignore_eos = true;
        o.n_threads = 1;
        o.sampling.temperature = i % 2 ? 0.8f : 0;
        o.speculation.accept = i % 2 ? VOUCH_ACCEPT_MATCH : (vouch_accept)(i / 2 % VOUCH_ACCEPTS);
        o.speculation.drafters = sets[i % 3];
        o.speculation.n_draft = i % 3 == 2 ? 0 : 6;
        answer_prompt(prompt, PROMPT, model->info.n_vocab, (uint64_t)(i % 4), true);
        o.speculation.drafters &= ~(unsigned)VOUCH_DRAFTER_TABLE;
        vouch_session *plain = answer_open(model, &o);
        o.speculation.files[VOUCH_DRAFTER_NUMBER_TABLE] = table;
        o.speculation.drafters = sets[i % 3];
        vouch_session *one = answer_open(model, &o);
        answer_continue(&without, plain, prompt, PROMPT);
        answer_continue(&with, one, prompt, PROMPT);
        assert_true(answer_equal(&with, &without));
        assert_true(vouch_memory_digest(vouch_session_target(one)) == vouch_memory_digest(vouch_session_target(plain)));
        if (i % 3 < 2) accepted += with.stats.accepted;
        if (i % 3 < 2) accepted_without += without.stats.accepted;
        vouch_session_close(one);
        vouch_session_close(plain);
    }
    assert_true(accepted > 2 * accepted_without);
    vouch_draft_file_close(table);
    vouch_model_close(model);
}

/* ----------------------------------------------------------------- bad input */

static void expect_refusal(const vouch_model *model, const tiny_table *t, vouch_status status, const char *words)
{
    const char *path = test_temporary("bad.gguf");
    vouch_error err = {0};
    vouch_draft_file *table;
    tiny_table_write(path, model, t);
    assert_int_equal(vouch_draft_file_open(&table, VOUCH_DRAFTER_NUMBER_TABLE, path, model, false, &err), status);
    if (status == VOUCH_OK) vouch_draft_file_close(table);
    else if (!strstr(err.message, words) || !strstr(err.message, "bad.gguf")) fail_msg("%s", err.message);
}

static void bad_tables_are_refused(void **state)
{
    (void)state;
    vouch_model *model = tiny_model_open(&(tiny_model_options){0});
    vouch_draft_file *table;
    vouch_error err;
#define CONTEXTS .contexts = {{1, -1, -1}, {1, 2, -1}}
#define STARTS .starts = {0, 2, 3}
#define TOKENS .tokens = {7, 8, 7}
    expect_refusal(model, &(tiny_table){CONTEXTS, STARTS, TOKENS}, VOUCH_OK, "");
    expect_refusal(model, &(tiny_table){.digest = "0123456789abcdef", CONTEXTS, STARTS}, VOUCH_E_MISMATCH,
                   "for the model with digest 0123456789abcdef");
    expect_refusal(model, &(tiny_table){.omit = "contexts", CONTEXTS, STARTS}, VOUCH_E_FORMAT, "'contexts' is missing");
    expect_refusal(model, &(tiny_table){.omit = "starts", CONTEXTS, STARTS}, VOUCH_E_FORMAT, "'starts' is missing");
    expect_refusal(model, &(tiny_table){.contexts = {{1, 2, -1}, {1, 2, -1}}, STARTS}, VOUCH_E_FORMAT,
                   "contexts[1] is (1, 2, -1)");
    expect_refusal(model, &(tiny_table){.contexts = {{1, -2, -1}, {1, 2, -1}}, STARTS}, VOUCH_E_FORMAT,
                   "contexts[0] is (1, -2, -1)");
    expect_refusal(model, &(tiny_table){.contexts = {{1, -1, 3}, {1, 2, -1}}, STARTS}, VOUCH_E_FORMAT,
                   "contexts[0] is (1, -1, 3)");
    expect_refusal(model, &(tiny_table){.contexts = {{1, 2, -1}, {400, 2, -1}}, STARTS}, VOUCH_E_FORMAT,
                   "contexts[1] is (400, 2, -1)");
    expect_refusal(model, &(tiny_table){CONTEXTS, .starts = {0, 0, 3}}, VOUCH_E_FORMAT,
                   "starts[0] is 0 and the next 0");
    expect_refusal(model, &(tiny_table){CONTEXTS, .starts = {0, 2, 4}}, VOUCH_E_FORMAT, "starts go from 0 to 4");
    expect_refusal(model, &(tiny_table){CONTEXTS, .starts = {INT32_MIN, INT32_MAX, 3}}, VOUCH_E_FORMAT, "starts[0]");
    expect_refusal(model, &(tiny_table){CONTEXTS, STARTS, .tokens = {1, 400}}, VOUCH_E_FORMAT, "tokens[1] is 400");
    expect_refusal(model, &(tiny_table){CONTEXTS, STARTS, .tokens = {7, 7, 8}}, VOUCH_E_FORMAT,
                   "tokens[1] is 7, which comes twice after contexts[0]");
    expect_refusal(model, &(tiny_table){CONTEXTS, STARTS, TOKENS, .share = 0x7e00}, VOUCH_E_FORMAT, "shares[0] is");
    const char *other = test_temporary("model.gguf");
    tiny_model_write(other, &(tiny_model_options){0});
    assert_int_equal(vouch_draft_file_open(&table, VOUCH_DRAFTER_NUMBER_TABLE, other, model, false, &err),
                     VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "expected a table"));
    vouch_model *opened;
    const char *file = test_temporary("bad.gguf");
    assert_int_equal(vouch_model_open(&opened, file, NULL, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'vouch-table' is a table, which guesses for a model"));
    vouch_model_close(model);
}

/* A damaged file is refused, or gives a table with which answers stay the same. */
static void damaged_tables_never_crash(void **state)
{
    (void)state;
    static const char *const words[] = {"contexts", "starts", "tokens", "shares", "vocab_size", "digest", NULL};
    static answer a, right;
    vouch_model *model = tiny_model_open(&(tiny_model_options){.seed = 5});
    vouch_session_options o = vouch_session_options_default();
    const char *path = teach(model);
    int32_t prompt[PROMPT];
    size_t size;
    int n_opened = 0;
    mutator m;
    uint8_t *bytes = (uint8_t *)read_whole(path, &size);
    o.max_tokens = LENGTH / 3;
    o.ignore_eos = true;
    o.n_threads = 1;
    o.speculation.drafters = VOUCH_DRAFTER_NONE;
    answer_prompt(prompt, PROMPT, model->info.n_vocab, 1, true);
    answer_run(&right, model, &o, prompt, PROMPT);
    mutator_open(&m, bytes, size, words, 1);
    for (int i = 0; i < (test_is_quick() ? 60 : 400); i++) {
        vouch_draft_file *table;
        vouch_error err = {0};
        if (i % 4) mutator_next(&m);
        else mutator_truncate(&m, size / 400 * (size_t)i);
        write_whole(path, m.bytes, m.n);
        if (vouch_draft_file_open(&table, VOUCH_DRAFTER_NUMBER_TABLE, path, model, false, &err) != VOUCH_OK) {
            assert_true(err.message[0] != 0);
            continue;
        }
        o.speculation.files[VOUCH_DRAFTER_NUMBER_TABLE] = table;
        o.speculation.drafters = VOUCH_DRAFTER_TABLE;
        answer_run(&a, model, &o, prompt, PROMPT);
        assert_true(answer_equal(&a, &right));
        vouch_draft_file_close(table);
        n_opened++;
    }
    assert_true(n_opened > 0);
    mutator_close(&m);
    free(bytes);
    vouch_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_what_followed),
        cmocka_unit_test(text_is_the_same_and_sooner),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(damaged_tables_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
