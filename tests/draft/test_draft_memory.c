/* SPDX-License-Identifier: MIT */
/* Draft memories through the API: who sees an answer, what is kept on disk, and what damage leaves of it. */
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "support/decode/configs.h"
#include "support/decode/numbered.h"

enum { SMALL = 1 << 16 };

static vouch_draft_memory *open_memory(const char *folder, size_t n_bytes)
{
    vouch_draft_memory *m;
    vouch_error err;
    if (vouch_draft_memory_open(&m, target, folder, n_bytes, &err)) fail_msg("%s", err.message);
    return m;
}

/* A new folder for each call. */
static const char *new_folder(void)
{
    static char path[VOUCH_OS_PATH_SIZE];
    static int n;
    char name[32];
    snprintf(name, sizeof name, "answers %d", n++);
    snprintf(path, sizeof path, "%s", test_temporary(name));
    return path;
}

/* The only file of answers in a folder. */
static const char *only_file(const char *folder)
{
    static char path[2 * VOUCH_OS_PATH_SIZE];
    char **names;
    int n_found = 0;
    const ptrdiff_t n = vouch_os_folder_list(folder, &names);
    assert_true(n > 0);
    for (ptrdiff_t i = 0; i < n; i++) {
        if (!vouch_os_matches("*.answers", names[i])) continue;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        n_found++;
    }
    vouch_os_names_free(names, n);
    assert_int_equal(n_found, 1);
    return path;
}

static vouch_session *open_remembering(vouch_draft_memory *m, uint64_t scope)
{
    vouch_session_options options = options_of(NGRAM, 8, NULL);
    options.speculation.drafters = VOUCH_DRAFTER_HISTORY;
    options.speculation.draft_memory = m;
    options.scope = scope;
    return answer_open(target, &options);
}

/* One answer of a session with this memory. Returns how many guesses were accepted. */
static int64_t answer_with(vouch_draft_memory *m, uint64_t scope, const answer *plain, const int32_t *prompt)
{
    static answer got;
    vouch_session *session = open_remembering(m, scope);
    answer_continue(&got, session, prompt, PROMPT);
    assert_true(answer_equal(&got, plain));
    assert_true(got.stats.accepted_by[VOUCH_DRAFTER_NUMBER_HISTORY] == got.stats.accepted);
    vouch_session_close(session);
    return got.stats.accepted;
}

static void an_answer_helps_its_own_scope(void **state)
{
    (void)state;
    static answer plain;
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, N_VOCAB, 4, false);
    vouch_session_options options = options_of(PLAIN, 0, NULL);
    answer_run(&plain, target, &options, prompt, PROMPT);
    const char *folder = new_folder();
    vouch_draft_memory *m = open_memory(folder, SMALL);
    assert_int_equal(answer_with(m, 1, &plain, prompt), 0);
    assert_true(answer_with(m, 1, &plain, prompt) > plain.n / 2);
    assert_int_equal(answer_with(m, 2, &plain, prompt), 0);
    vouch_draft_memory_close(m);

    m = open_memory(folder, SMALL); /* from disk */
    assert_int_equal(vouch_draft_memory_get_info(m).n_kept, 3);
    assert_true(answer_with(m, 1, &plain, prompt) > plain.n / 2);
    assert_int_equal(answer_with(m, 3, &plain, prompt), 0);
    vouch_session_options wrong = options_of(NGRAM, 8, NULL);
    vouch_error err;
    wrong.speculation.draft_memory = m;
    assert_int_equal(vouch_session_check(near, &wrong, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "another model"));
    assert_int_equal(vouch_draft_memory_clear(m, NULL), VOUCH_OK);
    assert_int_equal(answer_with(m, 1, &plain, prompt), 0);
    vouch_draft_memory_close(m);

    m = open_memory(folder, SMALL);
    assert_int_equal(vouch_draft_memory_get_info(m).n_kept, 1); /* the answer after the clearing */
    vouch_draft_memory_close(m);
    vouch_draft_memory *other; /* another model has other files */
    assert_int_equal(vouch_draft_memory_open(&other, near, folder, SMALL, NULL), VOUCH_OK);
    assert_int_equal(vouch_draft_memory_get_info(other).n_kept, 0);
    vouch_draft_memory_close(other);
}

/* A cancelled answer is kept as far as it came, and a session adds each answer once. */
static void an_answer_is_added_once(void **state)
{
    (void)state;
    int32_t prompt[PROMPT];
    vouch_step step;
    answer_prompt(prompt, PROMPT, N_VOCAB, 4, false);
    vouch_draft_memory *m = open_memory(NULL, SMALL);
    vouch_session *session = open_remembering(m, 0);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
    vouch_session_cancel(session);
    assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_E_CANCELLED);
    assert_int_equal(vouch_draft_memory_get_info(m).n_tokens, 0);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    const int64_t n = vouch_draft_memory_get_info(m).n_tokens;
    assert_true(n > 0);
    vouch_session_close(session);
    assert_int_equal(vouch_draft_memory_get_info(m).n_tokens, n);
    assert_int_equal(vouch_draft_memory_add(m, 0, (int32_t[]){N_VOCAB}, 1, NULL), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_draft_memory_add(m, 0, (int32_t[]){-1}, 1, NULL), VOUCH_E_ARGUMENT);
    vouch_draft_memory_close(m);
}

static void files_are_private_and_can_be_removed(void **state)
{
    (void)state;
    const char *folder = new_folder();
    vouch_draft_memory *m = open_memory(folder, SMALL);
    vouch_os_info info;
    size_t n_files;
    int64_t n_bytes;
    for (uint64_t scope = 0; scope < 3; scope++) numbered_add(m, scope, 8);
    vouch_draft_memory_close(m);
    if (!test_is_windows()) {
        assert_true(vouch_os_info_of(folder, &info) && info.mode == 0700);
        char **names;
        const ptrdiff_t n = vouch_os_folder_list(folder, &names);
        for (ptrdiff_t i = 0; i < n; i++) {
            char path[2 * VOUCH_OS_PATH_SIZE];
            snprintf(path, sizeof path, "%s/%s", folder, names[i]);
            assert_true(vouch_os_info_of(path, &info) && info.mode == 0600);
        }
        vouch_os_names_free(names, n);
    }
    assert_int_equal(vouch_draft_memory_remove(folder, true, &n_files, &n_bytes, NULL), VOUCH_OK);
    assert_true(n_files == 3 && n_bytes > 0);
    assert_int_equal(vouch_draft_memory_remove(folder, false, &n_files, &n_bytes, NULL), VOUCH_OK);
    assert_int_equal(n_files, 3);
    assert_int_equal(vouch_draft_memory_remove(folder, true, &n_files, &n_bytes, NULL), VOUCH_OK);
    assert_true(n_files == 0 && n_bytes == 0);
    assert_int_equal(vouch_draft_memory_remove(test_temporary("nowhere"), false, &n_files, &n_bytes, NULL), VOUCH_E_IO);
    vouch_error err;
    assert_int_equal(vouch_draft_memory_open(&m, target, NULL, 100, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "n_bytes is 100"));
    write_whole(test_temporary("a file"), "x", 1);
    assert_int_equal(vouch_draft_memory_open(&m, target, test_temporary("a file"), 0, &err), VOUCH_E_IO);
    assert_null(m);
}

/* Opens the folder, whose only file has these bytes. Returns how many of the first `most` numbered answers are there;
 * the next open finds no damage. */
static int32_t count_damaged(const char *folder, const char *path, const char *bytes, size_t n, int32_t most)
{
    write_whole(path, bytes, n);
    vouch_draft_memory *m = open_memory(folder, SMALL);
    const int32_t count = numbered_count(m, most);
    vouch_draft_memory_close(m);
    m = open_memory(folder, SMALL);
    assert_int_equal(vouch_draft_memory_get_info(m).n_damaged, 0);
    assert_int_equal(numbered_count(m, most), count);
    vouch_draft_memory_close(m);
    return count;
}

/* A bit that flips costs one answer at most, and a file cut short the answer at its end. No other token appears. */
static void damage_costs_an_answer(void **state)
{
    (void)state;
    enum { ANSWERS = 20 };
    const char *folder = new_folder();
    vouch_draft_memory *m = open_memory(folder, SMALL);
    for (int32_t i = 0; i < ANSWERS; i++) numbered_add(m, 9, i);
    vouch_draft_memory_close(m);
    const char *path = only_file(folder);
    size_t n;
    char *bytes = read_whole(path, &n);
    test_random random = {3};
    assert_int_equal(count_damaged(folder, path, bytes, n, ANSWERS), ANSWERS);
    for (int i = 0; i < 300; i++) {
        const size_t at = test_below(&random, (uint32_t)n);
        const char flip = (char)(1 << test_below(&random, 8));
        bytes[at] ^= flip;
        assert_int_equal(count_damaged(folder, path, bytes, n, ANSWERS), ANSWERS - 1);
        bytes[at] ^= flip;
    }
    int32_t before = 0;
    for (size_t size = 0; size <= n; size += 13) {
        const int32_t count = count_damaged(folder, path, bytes, size, ANSWERS);
        assert_true(count == before || count == before + 1);
        before = count;
    }
    free(bytes);
}

/* Answers of a scope under the name of another's file, or of another model's, are not taken. */
static void a_renamed_file_is_not_taken(void **state)
{
    (void)state;
    const char *folder = new_folder();
    char renamed[VOUCH_OS_PATH_SIZE];
    vouch_draft_memory *m = open_memory(folder, SMALL);
    numbered_add(m, 1, 3);
    vouch_draft_memory_close(m);
    const char *path = only_file(folder);
    snprintf(renamed, sizeof renamed, "%s", path);
    renamed[strlen(renamed) - strlen(".answers") - 1] = '2';
    assert_true(vouch_os_file_replace(path, renamed));
    m = open_memory(folder, SMALL);
    assert_int_equal(vouch_draft_memory_get_info(m).n_kept, 0);
    assert_int_equal(vouch_draft_memory_get_info(m).n_damaged, 1);
    vouch_draft_memory_close(m);
}

/* After a million tokens, memory and file are no larger than their limits. */
static void a_million_tokens_take_no_more(void **state)
{
    (void)state;
    enum { N = 1000, ANSWERS = 1000 };
    static int32_t tokens[N];
    const char *folder = new_folder();
    test_random random = {7};
    vouch_draft_memory *m = open_memory(folder, 16 << 20);
    const size_t before = vouch_draft_memory_get_info(m).n_bytes;
    vouch_os_info info;
    for (int i = 0; i < ANSWERS; i++) {
        for (int32_t j = 0; j < N; j++) tokens[j] = (int32_t)test_below(&random, N_VOCAB);
        assert_int_equal(vouch_draft_memory_add(m, 0, tokens, N, NULL), VOUCH_OK);
        if (i % 10 == 9) assert_int_equal(vouch_draft_memory_keep(m, NULL), VOUCH_OK);
    }
    const vouch_draft_memory_info after = vouch_draft_memory_get_info(m);
    assert_true(after.n_bytes == before && before <= 16 << 20);
    assert_true(after.n_tokens <= after.n_most && after.n_tokens > after.n_most / 2);
    vouch_draft_memory_close(m);
    assert_true(vouch_os_info_of(only_file(folder), &info));
    assert_true(info.size <= 8 * after.n_most + 8 * N);
    m = open_memory(folder, 16 << 20);
    assert_true(vouch_draft_memory_get_info(m).n_kept > ANSWERS / 4);
    vouch_draft_memory_close(m);
}

/* ------------------------------------------------------------------ processes */

/* Two memories on one folder, as of two processes: each keeps its own answers, and no answer is lost. */
static void two_processes_share_a_folder(void **state)
{
    (void)state;
    const char *folder = new_folder();
    vouch_draft_memory *a = open_memory(folder, SMALL), *b = open_memory(folder, SMALL);
    for (int32_t i = 0; i < 20; i++) {
        numbered_add(i % 2 ? a : b, 0, i);
        assert_int_equal(vouch_draft_memory_keep(i % 2 ? a : b, NULL), VOUCH_OK);
    }
    vouch_draft_memory_close(a);
    vouch_draft_memory_close(b);
    a = open_memory(folder, SMALL);
    assert_int_equal(numbered_count(a, 20), 20);
    vouch_draft_memory_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_helps_its_own_scope),        cmocka_unit_test(an_answer_is_added_once),
        cmocka_unit_test(files_are_private_and_can_be_removed), cmocka_unit_test(damage_costs_an_answer),
        cmocka_unit_test(a_renamed_file_is_not_taken),          cmocka_unit_test(a_million_tokens_take_no_more),
        cmocka_unit_test(two_processes_share_a_folder),
    };
    return cmocka_run_group_tests_name("draft_memory", tests, configs_open, configs_close);
}
