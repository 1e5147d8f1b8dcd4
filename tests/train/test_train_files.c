/* SPDX-License-Identifier: MIT */
/* The files that training grows: chunks survive a kill, a full disk and damage; excluded prompts are found. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"
#include "train/lessons/chunks.h"
#include "train/lessons/overlap.h"

static const char HEADER[] = "header";

static train_chunks *chunks_open(const char *path)
{
    train_chunks *chunks;
    vouch_error err;
    if (train_chunks_open(&chunks, path, "lessons", HEADER, sizeof HEADER, &err)) fail_msg("%s", err.message);
    return chunks;
}

static void expect_refused(const char *path, const char *header, vouch_status status, const char *message)
{
    train_chunks *chunks;
    vouch_error err;
    assert_int_equal(train_chunks_open(&chunks, path, "lessons", header, strlen(header) + 1, &err), status);
    if (!strstr(err.message, message)) fail_msg("'%s' isn't in '%s'", message, err.message);
}

/* Appends n chunks: chunk i has 10 (i + 1) bytes of the value i, in two pieces. */
static void chunks_add(train_chunks *chunks, int n)
{
    for (int k = 0; k < n; k++) {
        const size_t i = train_chunks_n(chunks);
        char bytes[2000];
        memset(bytes, (int)i, sizeof bytes);
        const train_piece pieces[] = {{bytes, 4}, {bytes, 10 * (i + 1) - 4}};
        assert_int_equal(train_chunks_append(chunks, pieces, 2, NULL), VOUCH_OK);
    }
}

static void chunks_check(const train_chunks *chunks, size_t n)
{
    assert_int_equal(train_chunks_n(chunks), n);
    for (size_t i = 0; i < n; i++) {
        char bytes[2000];
        assert_int_equal(train_chunks_size(chunks, i), 10 * (i + 1));
        assert_int_equal(train_chunks_read(chunks, i, bytes, NULL), VOUCH_OK);
        for (size_t k = 0; k < 10 * (i + 1); k++) assert_int_equal(bytes[k], (char)i);
    }
}

static void chunks_come_back(void **state)
{
    (void)state;
    const char *path = test_temporary("chunks");
    train_chunks *chunks = chunks_open(path);
    chunks_add(chunks, 3);
    assert_int_equal(train_chunks_sync(chunks, NULL), VOUCH_OK);
    expect_refused(path, HEADER, VOUCH_E_IO, "another process has the lessons open");
    train_chunks_close(chunks);
    chunks = chunks_open(path);
    chunks_check(chunks, 3);
    chunks_add(chunks, 2);
    chunks_check(chunks, 5);
    train_chunks_close(chunks);
}

/* A file cut at any byte has the chunks before the cut, and goes on from there. */
static void a_torn_chunk_is_cut_off(void **state)
{
    (void)state;
    const char *path = test_temporary("whole"), *torn = test_temporary("torn");
    train_chunks *chunks = chunks_open(path);
    chunks_add(chunks, 4);
    train_chunks_close(chunks);
    size_t n;
    char *bytes = read_whole(path, &n);
    const size_t first = 8 + 16 + sizeof HEADER;
    for (size_t cut = first; cut < n; cut++) {
        size_t whole = 0, at = first;
        while (at + 16 + 10 * (whole + 1) <= cut) at += 16 + 10 * ++whole;
        write_whole(torn, bytes, cut);
        chunks = chunks_open(torn);
        chunks_check(chunks, whole);
        chunks_add(chunks, 1);
        train_chunks_close(chunks);
        chunks = chunks_open(torn);
        chunks_check(chunks, whole + 1);
        train_chunks_close(chunks);
    }
    for (size_t cut = 1; cut < first; cut++) {
        write_whole(torn, bytes, cut);
        expect_refused(torn, HEADER, VOUCH_E_FORMAT, cut < 8 ? "is no file of lessons" : "cut short");
    }
    free(bytes);
}

static void damage_is_named(void **state)
{
    (void)state;
    const char *path = test_temporary("damaged");
    train_chunks *chunks = chunks_open(path);
    chunks_add(chunks, 3);
    train_chunks_close(chunks);
    expect_refused(path, "another", VOUCH_E_MISMATCH, "of another target or of other settings");
    size_t n;
    char *bytes = read_whole(path, &n), payload[100];
    bytes[n - 35] ^= 1; /* the checksum of chunk 3, whose 16 + 30 bytes end the file */
    bytes[n - 50] ^= 1; /* the payload of chunk 2 */
    write_whole(path, bytes, n);
    chunks = chunks_open(path);
    vouch_error err;
    assert_int_equal(train_chunks_read(chunks, 0, payload, &err), VOUCH_OK);
    assert_int_equal(train_chunks_read(chunks, 1, payload, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "chunk 2 of the lessons is damaged"));
    train_chunks_close(chunks);
    write_whole(path, "something else", 14);
    expect_refused(path, HEADER, VOUCH_E_FORMAT, "is no file of lessons");
    expect_refused("/nonexistent/folder/x", HEADER, VOUCH_E_IO, "can't open the lessons");
    expect_refused("/dev/null", HEADER, VOUCH_E_IO, "is no regular file");
    free(bytes);
}

/* An append that doesn't fit leaves no trace, and later ones go on. */
static void a_full_disk_leaves_whole_chunks(void **state)
{
    (void)state;
    const char *path = test_temporary("full");
    train_chunks *chunks = chunks_open(path);
    struct stat info;
    struct rlimit old, limit;
    char bytes[5000] = {0};
    chunks_add(chunks, 3);
    assert_int_equal(stat(path, &info), 0);
    const off_t before = info.st_size;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = (rlim_t)before + 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    vouch_error err;
    const train_piece piece = {bytes, sizeof bytes};
    const vouch_status status = train_chunks_append(chunks, &piece, 1, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(EFBIG)));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, before);
    chunks_add(chunks, 2);
    chunks_check(chunks, 5);
    train_chunks_close(chunks);
    chunks = chunks_open(path);
    chunks_check(chunks, 5);
    train_chunks_close(chunks);
}

static void excluded_prompts_are_found(void **state)
{
    (void)state;
    static const char *const texts[] = {"Janet's ducks lay 16 eggs per day. She eats three for breakfast.",
                                        "Name three rivers!"};
    static const struct {
        const char *text;
        bool overlaps;
    } cases[] = {
        {"Name three rivers!", true},
        {"name THREE  rivers", true},
        {"Name three rivers in France", false},
        {"Name three", false},
        {"Here: janets ducks lay 16 eggs per day.", false},
        {"Here: Janet's ducks lay 16 eggs per day, and so on", true},
        {"Janet's ducks lay 17 eggs per day. She eats three", false},
        {"eggs per day. She eats three for BREAKFAST", true},
        {"", false},
        {"!?", false},
    };
    train_overlap *overlap;
    assert_int_equal(train_overlap_open(&overlap, texts, 2, NULL), VOUCH_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (train_overlap_has(overlap, cases[i].text, strlen(cases[i].text)) != cases[i].overlaps)
            fail_msg("'%s'", cases[i].text);
    train_overlap_close(overlap);
    assert_int_equal(train_overlap_open(&overlap, NULL, 0, NULL), VOUCH_OK);
    assert_false(train_overlap_has(overlap, "Name three rivers!", 18));
    train_overlap_close(overlap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_come_back),
        cmocka_unit_test(a_torn_chunk_is_cut_off),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(a_full_disk_leaves_whole_chunks),
        cmocka_unit_test(excluded_prompts_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
