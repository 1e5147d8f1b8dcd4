/* SPDX-License-Identifier: MIT */
/* Digests against the examples of FIPS 180-4 and git; what a word is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"

#include "hub/bytes/digest.h"
#include "hub/files.h"
#include "os/os.h"
#include "hub/name.h"

static void digest_is(hub_digest d, const char *bytes, size_t n, size_t step, const char *expected)
{
    char text[HUB_DIGEST_SIZE];
    for (size_t at = 0; at < n; at += step) hub_digest_add(&d, bytes + at, n - at < step ? n - at : step);
    hub_digest_end(&d, text);
    assert_string_equal(text, expected);
}

static void digests_are_those_of_the_standard(void **state)
{
    (void)state;
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const size_t steps[] = {1, 3, 63, 64, 65, 1000, 1000000};
    const size_t n_a = 1000000;
    char *a = malloc(n_a);
    memset(a, 'a', n_a);
    digest_is(hub_digest_sha256(), "", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_is(hub_digest_git(0), "", 0, 1, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    digest_is(hub_digest_git(12), "hello world\n", 12, 5, "3b18e512dba79e4c8300dd08aeb37f8e728b8dad");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        digest_is(hub_digest_sha256(), "abc", 3, steps[i],
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        digest_is(hub_digest_sha256(), two_blocks, strlen(two_blocks), steps[i],
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        digest_is(hub_digest_sha256(), a, n_a, steps[i],
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    free(a);
}

static void words_are_paths_or_names(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        hub_kind kind;
        const char *repository, *revision, *part;
    } rows[] = {
        {"Qwen/Qwen3-4B-GGUF", HUB_REPOSITORY, "Qwen/Qwen3-4B-GGUF", "main", ""},
        {"a/b.c:Q4_K_M", HUB_REPOSITORY, "a/b.c", "main", "Q4_K_M"},
        {"a/b@v1", HUB_REPOSITORY, "a/b", "v1", ""},
        {"a/b:Q8_0@refs/pr/1", HUB_REPOSITORY, "a/b", "refs/pr/1", "Q8_0"},
        {"a/b@v1:Q8_0", HUB_REPOSITORY, "a/b", "v1", "Q8_0"},
        {"HF:a/b", HUB_REPOSITORY, "a/b", "main", ""},
        {"hf://a/b/c/d.gguf@x", HUB_REPOSITORY, "a/b", "x", "c/d.gguf"},
        {"hf:a/b.gguf", HUB_REPOSITORY, "a/b.gguf", "main", ""},
        {"ollama:qwen3", HUB_OLLAMA, "qwen3", "", "latest"},
        {"ollama:qwen3:4b", HUB_OLLAMA, "qwen3", "", "4b"},
        {"https://hub.example/a/b/resolve/v1/c.gguf", HUB_REPOSITORY, "a/b", "v1", "c.gguf"},
        {"https://hub.example.org/a/b/resolve/v1/c.gguf", HUB_ADDRESS, "", "", ""},
        {"a/b.gguf", HUB_PATH, "", "", ""},
        {"a/b/c", HUB_PATH, "", "", ""},
        {"./a/b", HUB_PATH, "", "", ""},
        {"/a/b", HUB_PATH, "", "", ""},
        {"a", HUB_PATH, "", "", ""},
        {"a b/c", HUB_PATH, "", "", ""},
        {"a/b c", HUB_PATH, "", "", ""},
        {"", HUB_PATH, "", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hub_name name;
        vouch_error err;
        assert_int_equal(hub_name_parse(&name, rows[i].word, "https://hub.example", &err), VOUCH_OK);
        assert_int_equal(name.kind, rows[i].kind);
        assert_string_equal(name.repository, rows[i].repository);
        assert_string_equal(name.revision, rows[i].revision);
        assert_string_equal(name.part, rows[i].part);
    }
}

/* The word is a path where a file of this name, or its first folder, exists. */
static void a_path_that_exists_wins(void **state)
{
    (void)state;
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_temporary("here"));
    assert_true(vouch_os_folder_make(folder, 0700));
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(hub_kind_of("owner/name"), HUB_REPOSITORY);
    assert_true(vouch_os_folder_make("owner", 0700));
    assert_int_equal(hub_kind_of("owner/name"), HUB_PATH);
    assert_int_equal(hub_kind_of("hf:owner/name"), HUB_REPOSITORY);
    assert_true(vouch_os_folder_make("owner/name", 0700));
    assert_int_equal(hub_kind_of("owner/name"), HUB_PATH);
    assert_int_equal(rmdir("owner/name") | rmdir("owner"), 0);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void types_end_a_name(void **state)
{
    (void)state;
    assert_true(hub_is_of_type("m-Q4_K_M.gguf", "q4_k_m"));
    assert_true(hub_is_of_type("m.Q4_K_M-00001-of-00002.gguf", "Q4_K_M"));
    assert_true(hub_is_of_type("Q4_K_M/m-UD-Q4_K_XL.gguf", "Q4_K_XL"));
    assert_false(hub_is_of_type("m-IQ4_XS.gguf", "Q4_XS"));
    assert_false(hub_is_of_type("m-Q4_K_M.safetensors", "Q4_K_M"));
    assert_true(hub_is_of_type("Q4_K_M.gguf", "Q4_K_M"));
    assert_true(hub_is_of_role("m-00001-of-00002.gguf", HUB_MODEL));
    assert_false(hub_is_of_role("m-00002-of-00002.gguf", HUB_MODEL));
    assert_false(hub_is_of_role("mmproj-F16.gguf", HUB_MODEL));
    assert_true(hub_is_of_role("mtp-m.gguf", HUB_HEAD) && hub_is_of_role("m.head.gguf", HUB_HEAD));
    assert_false(hub_is_of_role("mmproj-m-mtp-F16.gguf", HUB_HEAD) || hub_is_of_role("m.table.gguf", HUB_HEAD));
    assert_true(hub_is_of_role("m.table.gguf", HUB_TABLE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(words_are_paths_or_names),
        cmocka_unit_test(a_path_that_exists_wins),
        cmocka_unit_test(types_end_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
