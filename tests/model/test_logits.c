/* SPDX-License-Identifier: MIT */
/* `vouch logits`: the file holds the library's logits in NumPy's format. Wrong ids are refused, and no file is
 * written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/program/command.h"
#include "support/model/tiny_model.h"

static char target[256], out[256];

enum { N = 70, HEADER = 128 }; /* more tokens than the command reads logits of at once */

static int models_write(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    strcpy(out, test_temporary("logits.npy"));
    tiny_model_write(target, &(tiny_model_options){.seed = 1});
    return 0;
}

/* The logits of ids 1, 2, 3, ... by the library. The caller frees them. */
static float *logits_of(int32_t *n_vocab)
{
    vouch_error err;
    vouch_model *model;
    vouch_session *session;
    const vouch_model_options loading = vouch_model_options_default();
    vouch_session_options options = vouch_session_options_default();
    int32_t ids[N];
    for (int32_t i = 0; i < N; i++) ids[i] = i + 1;
    assert_int_equal(vouch_model_open(&model, target, &loading, &err), VOUCH_OK);
    assert_int_equal(vouch_session_open(&session, model, &options, &err), VOUCH_OK);
    *n_vocab = vouch_model_get_info(model)->n_vocab;
    float *logits = malloc(N * (size_t)*n_vocab * sizeof *logits);
    assert_non_null(logits);
    assert_int_equal(vouch_session_prompt(session, ids, N, &err), VOUCH_OK);
    assert_int_equal(vouch_session_logits(session, 0, N, logits, &err), VOUCH_OK);
    vouch_session_close(session);
    vouch_model_close(model);
    return logits;
}

static void file_holds_the_logits(void **state)
{
    (void)state;
    char list[512] = "", header[HEADER + 1], path[256];
    for (int i = 1; i <= N; i++) snprintf(list + strlen(list), sizeof list - strlen(list), i > 1 ? ", %d" : "%d", i);
    strcpy(path, test_temporary("ids.txt"));
    write_whole(path, list, strlen(list));
    int32_t n_vocab;
    float *expected = logits_of(&n_vocab);
    const char *const ways[][2] = {{list, "256"}, {path, "7"}};
    for (size_t i = 0; i < 2; i++) {
        expect(RUN("logits", target, "--tokens", ways[i][0], "--out", out, "--prefill-chunk", ways[i][1]), 0, NULL);
        size_t n;
        char *bytes = read_whole(out, &n);
        const size_t n_values = N * (size_t)n_vocab * sizeof(float);
        assert_int_equal(n, HEADER + n_values);
        assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", N, n_vocab);
        assert_memory_equal(bytes + 10, header, strlen(header));
        assert_int_equal(bytes[HEADER - 1], '\n');
        assert_memory_equal(bytes + HEADER, expected, n_values);
        free(bytes);
        unlink(out);
    }
    free(expected);
}

static void wrong_ids_are_refused(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("words.txt"));
    write_whole(path, "1 2 three", 9);
    expect(RUN("logits", target, "--tokens", path, "--out", out), 1, "'three' is no token id");
    write_whole(path, "1 2\0 3", 6);
    expect(RUN("logits", target, "--tokens", path, "--out", out), 1, "a NUL byte at offset 3");
    expect(RUN("logits", target, "--tokens", ", ,", "--out", out), 1, "no token ids");
    expect(RUN("logits", target, "--tokens", "1,99999999999", "--out", out), 1, "'99999999999' is no token id");
    expect(RUN("logits", target, "--tokens", "1,2000000000", "--out", out), 1, "token 1 of the prompt is 2000000000");
    expect(RUN("logits", target, "--tokens", "/nowhere/at/all", "--out", out), 1, "--tokens: /nowhere/at/all");
    expect(RUN("logits", target, "--tokens", "1,-2", "--out", out), 1, "--tokens: '-2' is no token id");
    expect(RUN("logits", target, "--tokens", "1,2x", "--out", out), 1, "--tokens: '2x' is no token id");
    expect(RUN("logits", target, "--tokens", "1,2", "--out", "/nowhere/at/all"), 1, "/nowhere/at/all");
    assert_int_equal(access(out, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_holds_the_logits),
        cmocka_unit_test(wrong_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
