/* SPDX-License-Identifier: MIT */
/*
 * Split models. The same tiny model is written whole and in three parts: all tensors but one, the one, and none. The
 * parts must give the whole model's tensors and text, and every wrong part must be named.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/program/command.h"
#include "support/model/gguf.h"
#include "support/model/tiny_model.h"

#define APART "blk.1.ffn_down.weight"

static char whole_path[256], folder[256];

static const char *part_path(int number, int count)
{
    static char paths[4][320];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/m-%05d-of-%05d.gguf", folder, number, count);
    return path;
}

static void add_split(vouch_gguf_writer *writer, uint16_t number, uint16_t count, int32_t n_tensors)
{
    vouch_gguf_add_value(writer, "split.no", VOUCH_GGUF_U16, &number);
    vouch_gguf_add_value(writer, "split.count", VOUCH_GGUF_U16, &count);
    vouch_gguf_add_value(writer, "split.tensors.count", VOUCH_GGUF_I32, &n_tensors);
}

static int32_t n_tensors;

static void add_first(vouch_gguf_writer *writer, void *user)
{
    (void)user;
    add_split(writer, 0, 3, n_tensors);
}

/* Writes a part with the tensor `name` of the whole model; NULL: no tensor. */
static void write_part(const char *path, uint16_t number, uint16_t count, const char *name)
{
    vouch_gguf *from;
    vouch_error err;
    assert_int_equal(vouch_gguf_open(&from, whole_path, &err), VOUCH_OK);
    vouch_gguf_writer *writer = writer_open();
    add_split(writer, number, count, n_tensors);
    if (name) {
        const vouch_gguf_tensor *t = vouch_gguf_find_tensor(from, name);
        vouch_gguf_add_tensor(writer, name, (vouch_type)t->type, t->n_dims, t->dim, t->data);
    }
    assert_int_equal(vouch_gguf_write(writer, path, &err), VOUCH_OK);
    vouch_gguf_writer_close(writer);
    vouch_gguf_close(from);
}

static void write_parts(void)
{
    tiny_model_write(part_path(1, 3), &(tiny_model_options){.seed = 3, .omit = APART, .add = add_first});
    write_part(part_path(2, 3), 1, 3, APART);
    write_part(part_path(3, 3), 2, 3, NULL);
}

static int set_up(void **state)
{
    (void)state;
    vouch_gguf *gguf;
    vouch_error err;
    strcpy(whole_path, test_temporary("whole.gguf"));
    strcpy(folder, test_temporary("parts"));
    mkdir(folder, 0700);
    tiny_model_write(whole_path, &(tiny_model_options){.seed = 3});
    if (vouch_gguf_open(&gguf, whole_path, &err)) return 1;
    n_tensors = (int32_t)vouch_gguf_n_tensors(gguf);
    vouch_gguf_close(gguf);
    return 0;
}

static void parts_are_the_whole(void **state)
{
    (void)state;
    vouch_gguf *one, *parts;
    vouch_error err;
    write_parts();
    assert_int_equal(vouch_gguf_open(&one, whole_path, &err), VOUCH_OK);
    if (vouch_gguf_open(&parts, part_path(1, 3), &err)) fail_msg("%s", err.message);
    assert_int_equal(vouch_gguf_n_tensors(parts), n_tensors);
    for (size_t i = 0; i < (size_t)n_tensors; i++) {
        char name[65] = "";
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(one, i);
        memcpy(name, t->name.data, t->name.size);
        const vouch_gguf_tensor *u = vouch_gguf_find_tensor(parts, name);
        assert_true(u && u->type == t->type && u->bytes == t->bytes && memcmp(u->dim, t->dim, sizeof u->dim) == 0);
        assert_int_equal(u->file, strcmp(name, APART) == 0);
        assert_int_equal(vouch_gguf_load(parts, u, 0, u->bytes, &err), VOUCH_OK);
        assert_memory_equal(u->data, t->data, t->bytes);
        vouch_gguf_release(parts, u, 0, u->bytes);
    }
    gguf_walk(parts);
    assert_int_equal(vouch_gguf_recheck(parts, &err), VOUCH_OK);
    write_part(part_path(2, 3), 1, 3, APART); /* another file under this name leaves the open one alone */
    assert_int_equal(vouch_gguf_recheck(parts, &err), VOUCH_OK);
    assert_int_equal(truncate(part_path(3, 3), 50), 0);
    assert_int_equal(vouch_gguf_recheck(parts, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "m-00003-of-00003.gguf: "));
    vouch_gguf_close(parts);
    vouch_gguf_close(one);
}

static void text_is_the_same(void **state)
{
    (void)state;
    write_parts();
    result a = RUN(GREEDY, whole_path, "-p", "abc", "-n", "24", "--raw", NO_CONTROL);
    result b = RUN(GREEDY, part_path(1, 3), "-p", "abc", "-n", "24", "--raw", NO_CONTROL);
    assert_int_equal(a.status, 0);
    assert_int_equal(b.status, 0);
    assert_string_equal(a.out, b.out);
    result_free(&a);
    result_free(&b);
    result info = RUN("info", part_path(1, 3));
    assert_non_null(strstr(info.out, "vouch runs it     yes"));
    result_free(&info);
}

static void expect_refusal(const char *path, vouch_status code, const char *words)
{
    vouch_gguf *gguf;
    vouch_error err, flaw;
    const vouch_status status = vouch_gguf_open(&gguf, path, &err);
    if (status != code || gguf || !strstr(err.message, words)) fail_msg("%d: %s, for '%s'", status, err.message, words);
    assert_int_equal(vouch_gguf_open_header(&gguf, path, &flaw, &err), VOUCH_OK);
    assert_string_equal(flaw.message, err.message);
    vouch_gguf_close(gguf);
}

static void wrong_parts_are_named(void **state)
{
    (void)state;
    write_parts();
    expect_refusal(part_path(2, 3), VOUCH_E_UNSUPPORTED, "part 2 of a model in 3 files; give the first: ");
    expect_refusal(part_path(2, 3), VOUCH_E_UNSUPPORTED, "/m-00001-of-00003.gguf");

    write_part(part_path(3, 3), 2, 4, NULL);
    expect_refusal(part_path(1, 3), VOUCH_E_FORMAT,
                   "m-00003-of-00003.gguf: is part 3 of 4 (split.no, split.count), "
                   "expected part 3 of 3");
    write_part(part_path(3, 3), 1, 3, NULL);
    expect_refusal(part_path(1, 3), VOUCH_E_FORMAT, "is part 2 of 3 (split.no, split.count), expected part 3 of 3");
    tiny_model_write(part_path(3, 3), &(tiny_model_options){.seed = 3});
    expect_refusal(part_path(1, 3), VOUCH_E_FORMAT, "m-00003-of-00003.gguf: is a whole model, expected part 3 of 3");
    write_whole(part_path(3, 3), "GGUE", 4);
    expect_refusal(part_path(1, 3), VOUCH_E_FORMAT, "m-00003-of-00003.gguf: is no GGUF file");
    write_part(part_path(3, 3), 2, 3, "output_norm.weight");
    expect_refusal(part_path(1, 3), VOUCH_E_FORMAT, "split.tensors.count is");
    write_part(part_path(2, 3), 1, 3, NULL);
    expect_refusal(part_path(1, 3), VOUCH_E_FORMAT, "tensor 'output_norm.weight': occurs more than once");
    unlink(part_path(2, 3));
    expect_refusal(part_path(1, 3), VOUCH_E_IO, "m-00002-of-00003.gguf: is missing; the model consists of 3 files");

    write_parts();
    char other[320];
    snprintf(other, sizeof other, "%s/other.gguf", folder);
    assert_int_equal(rename(part_path(1, 3), other), 0);
    expect_refusal(other, VOUCH_E_FORMAT, "its name must end in -00001-of-00003.gguf");
    assert_int_equal(rename(other, part_path(1, 4)), 0);
    expect_refusal(part_path(1, 4), VOUCH_E_FORMAT, "its name must end in -00001-of-00003.gguf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(text_is_the_same),
        cmocka_unit_test(wrong_parts_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
