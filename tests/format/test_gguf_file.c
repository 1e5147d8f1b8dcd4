/* SPDX-License-Identifier: MIT */
/*
 * GGUF files on disk: unreadable files, files that change while they are open, failed writes; and arguments that the
 * writer refuses.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/filemap.h"
#include "support/model/gguf.h"

static const float floats[64] = {1.5f, -2.0f, 0.25f};

/* ----------------------------------------------------------- files on a disk */

static vouch_status open_status(const char *path, vouch_error *err)
{
    vouch_gguf *gguf;
    *err = (vouch_error){0};
    const vouch_status status = vouch_gguf_open(&gguf, path, err);
    if (status != VOUCH_OK) assert_true(gguf == NULL && err->code == status && strstr(err->message, path));
    vouch_gguf_close(gguf);
    return status;
}

static void test_unreadable_files(void **state)
{
    (void)state;
    vouch_error err;
    const char *path = test_temporary("missing.gguf");
    assert_int_equal(open_status(path, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(ENOENT)));
    assert_int_equal(open_status("/tmp", &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    assert_int_equal(open_status("/dev/null", &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "not a regular file"));

    path = test_temporary("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(open_status(path, &err), VOUCH_E_IO); /* without waiting for a writer to open the pipe */
    assert_non_null(strstr(err.message, "not a regular file"));

    path = test_temporary("empty.gguf");
    write_whole(path, "", 0);
    assert_int_equal(open_status(path, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "empty"));

    path = test_temporary("secret.gguf");
    write_whole(path, "GGUF", 4);
    assert_int_equal(chmod(path, 0), 0);
    const bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0);
    const vouch_status status = open_status(path, &err);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(EACCES)));
}

/* A path longer than the message buffer is shortened, so that the message still states the error. */
static void test_long_path(void **state)
{
    (void)state;
    char name[1200];
    vouch_gguf *gguf;
    vouch_error err;
    memset(name, 'd', sizeof name);
    strcpy(name + sizeof name - 12, "/some.gguf");
    assert_int_equal(vouch_gguf_open_bytes(&gguf, "GGUE....", 8, name, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "ddd/some.gguf: is no GGUF file"));
}

/* The message ends with these words, so nothing was cut off. */
static void assert_ends(const vouch_error *err, const char *words)
{
    const size_t size = strlen(err->message), n = strlen(words);
    if (size < n || strcmp(err->message + size - n, words) != 0)
        fail_msg("'%s' doesn't end with '%s'", err->message, words);
}

/* The same for every later error of a file with a long path, from opening to the last check. */
static void test_long_path_of_a_file(void **state)
{
    (void)state;
    char path[1024];
    size_t at = strlen(strcpy(path, test_temporary("deep")));
    vouch_error err;
    vouch_gguf *gguf;
    assert_int_equal(mkdir(path, 0700), 0);
    for (int i = 0; i < 3; i++) {
        path[at++] = '/';
        memset(path + at, 'd', 200);
        path[at += 200] = '\0';
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_E_IO);
    assert_ends(&err, ": is a directory, not a file");
    strcpy(path + at, "/none/a.gguf");
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_E_IO);
    assert_ends(&err, strerror(ENOENT));
    const int32_t number = -123456789;
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_value(w, "a.number", VOUCH_GGUF_I32, &number);
    assert_int_equal(vouch_gguf_write(w, path, &err), VOUCH_E_IO);
    assert_ends(&err, strerror(ENOENT));
    strcpy(path + at, "/a.gguf");
    assert_int_equal(vouch_gguf_write(w, path, &err), VOUCH_OK);
    vouch_gguf_writer_close(w);

    int64_t integer;
    double real;
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_int_equal(strlen(vouch_gguf_path(gguf)), 200);
    assert_non_null(strstr(vouch_gguf_path(gguf), "ddd/a.gguf"));
    assert_int_equal(vouch_gguf_get_int(gguf, "a.number", true, 0, 7, &integer, &err), VOUCH_E_FORMAT);
    assert_ends(&err, "ddd/a.gguf: metadata key 'a.number' is -123456789; it must be 0 to 7");
    assert_int_equal(vouch_gguf_get_float(gguf, "a.number", true, &real, &err), VOUCH_E_FORMAT);
    assert_ends(&err, "ddd/a.gguf: metadata key 'a.number' is of type i32; vouch needs a float");
    assert_int_equal(vouch_gguf_get_int(gguf, "none", true, 0, 7, &integer, &err), VOUCH_E_FORMAT);
    assert_ends(&err, "ddd/a.gguf: metadata key 'none' is missing");
    assert_int_equal(truncate(path, 1), 0);
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_E_IO);
    assert_ends(&err, "to 1 bytes while vouch read it");
    vouch_gguf_close(gguf);
}

/* Releasing a tensor removes its pages from memory but keeps its neighbours' and the header's. Its data can be read
 * again afterwards. */
static void test_release(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    static float values[2][N];
    const int64_t dim[] = {N};
    vouch_gguf *gguf;
    char path[300];
    if (test_is_emulated()) test_skip("the emulator doesn't tell which pages are resident");
    for (int i = 0; i < N; i++) values[0][i] = (float)i, values[1][i] = -(float)i;
    strcpy(path, test_temporary("release.gguf"));
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_tensor(w, "a", VOUCH_TYPE_F32, 1, dim, values[0]);
    vouch_gguf_add_tensor(w, "b", VOUCH_TYPE_F32, 1, dim, values[1]);
    assert_int_equal(vouch_gguf_write(w, path, NULL), VOUCH_OK);
    vouch_gguf_writer_close(w);
    assert_int_equal(vouch_gguf_open(&gguf, path, NULL), VOUCH_OK);
    const vouch_gguf_tensor *a = vouch_gguf_find_tensor(gguf, "a"), *b = vouch_gguf_find_tensor(gguf, "b");
    assert_int_equal(vouch_gguf_load(gguf, a, 0, a->bytes, NULL), VOUCH_OK);
    assert_int_equal(vouch_gguf_load(gguf, b, 0, b->bytes, NULL), VOUCH_OK);
    const int64_t whole = test_resident(path), page = sysconf(_SC_PAGESIZE);
    if (whole < 0) test_skip("no /proc/self/smaps");
    assert_true(whole >= 2 * (int64_t)sizeof values[0]);
    vouch_gguf_release(gguf, a, 0, a->bytes);
    assert_in_range(test_resident(path), whole - (int64_t)sizeof values[0],
                    whole - (int64_t)sizeof values[0] + 2 * page);
    assert_int_equal(vouch_gguf_load(gguf, a, 0, a->bytes, NULL), VOUCH_OK);
    assert_memory_equal(a->data, values[0], sizeof values[0]);
    assert_memory_equal(b->data, values[1], sizeof values[1]);
    vouch_gguf_release(gguf, a, 0, a->bytes);
    vouch_gguf_release(gguf, b, 0, b->bytes);
    assert_true(test_resident(path) <= whole - 2 * (int64_t)sizeof values[0] + 4 * page);
    vouch_gguf_close(gguf);
}

static size_t count_files(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir)) n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

static void test_write_file(void **state)
{
    (void)state;
    vouch_error err;
    char folder[256], path[300], link_path[300];
    snprintf(folder, sizeof folder, "%s", test_temporary("written"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/a.gguf", folder);
    snprintf(link_path, sizeof link_path, "%s/link.gguf", folder);

    for (uint32_t round = 1; round <= 3; round++) { /* a new file; an existing one; through a symbolic link */
        vouch_gguf_writer *w = writer_open();
        vouch_gguf_add_u32(w, "round", round);
        vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, (const int64_t[]){64}, floats);
        if (vouch_gguf_write(w, round == 3 ? link_path : path, &err) != VOUCH_OK) fail_msg("%s", err.message);
        vouch_gguf_writer_close(w);
        vouch_gguf *gguf;
        assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
        assert_int_equal(get_int(gguf, "round"), round);
        gguf_walk(gguf);
        assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_OK);
        assert_memory_equal(vouch_gguf_find_tensor(gguf, "t")->data, floats, sizeof floats);
        vouch_gguf_close(gguf);
        if (round == 2) {
            struct stat info;
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(info.st_mode & 0777, 0600); /* the mode that round 1 set survives the overwrite */
            assert_int_equal(symlink("a.gguf", link_path), 0);
        }
        assert_int_equal(chmod(path, 0600), 0);
    }
    struct stat info;
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(count_files(folder), 2);
}

enum { FILLED_BLOCKS = 100000, FILLED_BYTES = FILLED_BLOCKS * 34 };

/* Byte i depends on i alone. *user holds the offset that the next piece must have. */
static vouch_status bytes_fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    (void)err;
    size_t *next = user;
    if (offset > 0) assert_int_equal(offset, *next); /* offset 0 begins a new write */
    assert_true(size % (8 * 34) == 0 || offset + size == FILLED_BYTES);
    for (size_t i = 0; i < size; i++) ((unsigned char *)bytes)[i] = (unsigned char)((offset + i) * 0x9e3779b1 >> 24);
    *next = offset + size;
    return VOUCH_OK;
}

/* Fails in its second piece. */
static vouch_status failing_fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    (void)user;
    memset(bytes, 0, size);
    return offset == 0 ? VOUCH_OK : vouch_fail(err, VOUCH_E_CANCELLED, "stopped at byte %zu", offset);
}

/* A tensor filled by a callback gives the same bytes as a tensor given as memory, on disk and in memory. */
static void test_write_filled(void **state)
{
    (void)state;
    const int64_t dim[] = {32, FILLED_BLOCKS};
    unsigned char *whole = malloc(FILLED_BYTES);
    void *expected, *filled;
    size_t n_expected, n_filled, next = 0;
    char path[256];
    assert_non_null(whole);
    bytes_fill(&next, 0, whole, FILLED_BYTES, NULL);
    for (int round = 0; round < 2; round++) {
        vouch_gguf_writer *w = writer_open();
        if (round == 0) vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_Q8_0, 2, dim, whole);
        else vouch_gguf_add_filled(w, "t", VOUCH_TYPE_Q8_0, 2, dim, bytes_fill, &next);
        vouch_gguf_add_tensor(w, "after", VOUCH_TYPE_F32, 1, (const int64_t[]){64}, floats);
        assert_int_equal(vouch_gguf_write_bytes(w, round ? &filled : &expected, round ? &n_filled : &n_expected, NULL),
                         VOUCH_OK);
        strcpy(path, test_temporary("filled.gguf"));
        assert_int_equal(vouch_gguf_write(w, path, NULL), VOUCH_OK);
        vouch_gguf_writer_close(w);
        assert_int_equal(next, FILLED_BYTES);
    }
    assert_int_equal(n_filled, n_expected);
    assert_memory_equal(filled, expected, n_filled);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(filled, 1, n_filled, file), n_filled);
    assert_int_equal(fgetc(file), EOF);
    assert_memory_equal(filled, expected, n_filled);
    fclose(file);
    free(filled);
    free(expected);
    free(whole);
}

/* A fill function that fails ends the write with its error, and the folder stays as it was. */
static void test_fill_fails(void **state)
{
    (void)state;
    char folder[256], path[300];
    vouch_error err;
    snprintf(folder, sizeof folder, "%s", test_temporary("stopped"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/a.gguf", folder);
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_filled(w, "t", VOUCH_TYPE_Q8_0, 2, (const int64_t[]){32, FILLED_BLOCKS}, failing_fill, NULL);
    assert_int_equal(vouch_gguf_write(w, path, &err), VOUCH_E_CANCELLED);
    assert_non_null(strstr(err.message, "stopped at byte"));
    assert_int_equal(count_files(folder), 0);
    vouch_gguf_writer_close(w);
}

static vouch_status write_to(const char *path, vouch_error *err)
{
    size_t size;
    unsigned char *bytes = write_larger(&size);
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, (const int64_t[]){(int64_t)(size / 4)}, bytes);
    const vouch_status status = vouch_gguf_write(w, path, err);
    vouch_gguf_writer_close(w);
    free(bytes);
    return status;
}

static void test_write_fails(void **state)
{
    (void)state;
    vouch_error err;
    char folder[256], path[300];
    snprintf(folder, sizeof folder, "%s", test_temporary("full"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/a.gguf", folder);
    write_whole(path, "precious", 8);

    /* A file size limit imitates a full disk: the old file survives, and no temporary file is left. */
    struct rlimit limit, old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    limit = (struct rlimit){.rlim_cur = 100000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const vouch_status status = write_to(path, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, VOUCH_E_IO);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, strerror(EFBIG)));
    assert_int_equal(count_files(folder), 1);
    char kept[9] = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(kept, 1, 8, file), 8);
    fclose(file);
    assert_string_equal(kept, "precious");

    if (access("/dev/full", W_OK) == 0) { /* the writer writes into a device and never replaces it */
        assert_int_equal(write_to("/dev/full", &err), VOUCH_E_IO);
        assert_non_null(strstr(err.message, strerror(ENOSPC)));
        struct stat info;
        assert_int_equal(stat("/dev/full", &info), 0);
        assert_true(S_ISCHR(info.st_mode));
    }
    assert_int_equal(write_to(folder, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    snprintf(path, sizeof path, "%s/none/a.gguf", folder);
    assert_int_equal(write_to(path, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(ENOENT)));

    snprintf(path, sizeof path, "%s/b.gguf", folder);
    assert_int_equal(chmod(folder, 0500), 0);
    const bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0);
    const vouch_status unwritable = write_to(path, &err);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(unwritable, VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(EACCES)));
    assert_int_equal(count_files(folder), 1);
}

/* A file that shrinks or changes after opening gives an error, not a SIGBUS. */
static void test_file_changes(void **state)
{
    (void)state;
    vouch_error err;
    vouch_gguf *gguf;
    size_t size;
    const char *path = test_temporary("changing.gguf");
    unsigned char *bytes = write_larger(&size);
    write_whole(path, bytes, size);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    const vouch_gguf_tensor *last = vouch_gguf_find_tensor(gguf, "blk.47.weight");
    assert_int_equal(vouch_gguf_load(gguf, last, 0, last->bytes, &err), VOUCH_OK);
    assert_int_equal(truncate(path, (off_t)(size / 2)), 0);
    assert_int_equal(vouch_gguf_load(gguf, last, 0, last->bytes, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "while vouch read it"));
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_E_IO);
    vouch_gguf_close(gguf);

    write_whole(path, bytes, size);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_OK);
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "wrote to the file while vouch read it"));
    vouch_gguf_close(gguf);
    free(bytes);
}

/* ------------------------------------------------------------------- writer */

static void expect_refused_(vouch_gguf_writer *w, const char *words, int line)
{
    vouch_error err = {0};
    void *bytes = w;
    size_t size = 1;
    vouch_gguf_add_u32(w, "a.good.key", 1); /* a later valid key doesn't clear the error */
    const vouch_status status = vouch_gguf_write_bytes(w, &bytes, &size, &err);
    if (status != VOUCH_E_ARGUMENT || bytes || size || !strstr(err.message, words))
        fail_msg("line %d: status %d, message '%s' for '%s'", line, status, err.message, words);
    vouch_gguf_writer_close(w);
}
#define expect_refused(w, words) expect_refused_(w, words, __LINE__)

static void test_writer_refuses_keys(void **state)
{
    (void)state;
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_u32(w, "", 1);
    expect_refused(w, "key '' has 0 bytes");
    w = writer_open();
    vouch_gguf_add_text(w, NULL, "text");
    expect_refused(w, "key '' has 0 bytes");
    w = writer_open();
    vouch_gguf_add_u32(w, "a\nkey", 1);
    expect_refused(w, "control characters");
    w = writer_open();
    vouch_gguf_add_u32(w, "a.key", 1);
    vouch_gguf_add_bool(w, "b.key", 1);
    vouch_gguf_add_f32(w, "a.key", 1);
    expect_refused(w, "key 'a.key' was added twice");
    w = writer_open();
    vouch_gguf_add_text(w, "a.key", NULL);
    vouch_gguf_add_u32(w, "", 1); /* the message reports the first error */
    expect_refused(w, "key 'a.key' has no value");
    w = writer_open();
    vouch_gguf_add_u32(w, "general.alignment", 24);
    expect_refused(w, "'general.alignment' is 24; it must be a power of two");
    w = writer_open();
    vouch_gguf_add_text(w, "general.alignment", "32");
    expect_refused(w, "'general.alignment' has type");
    w = writer_open();
    vouch_gguf_add_value(w, "a.key", VOUCH_GGUF_ARRAY, floats);
    expect_refused(w, "type 9; expected a scalar");
    w = writer_open();
    vouch_gguf_add_value(w, "a.key", VOUCH_GGUF_TYPE_COUNT, floats);
    expect_refused(w, "type 13; expected a scalar");
    w = writer_open();
    vouch_gguf_add_array(w, "a.key", VOUCH_GGUF_STRING, floats, 1);
    expect_refused(w, "1 elements of type 8");
    w = writer_open();
    vouch_gguf_add_array(w, "a.key", VOUCH_GGUF_U64, floats, SIZE_MAX / 4);
    expect_refused(w, "elements of type 10");
    w = writer_open();
    vouch_gguf_add_array(w, "a.key", VOUCH_GGUF_BOOL, "\1\2", 2);
    expect_refused(w, "has a bool of 2");
    vouch_gguf_writer_close(NULL);
}

static void test_writer_refuses_tensors(void **state)
{
    (void)state;
    static const int64_t good[] = {32};
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_tensor(w, "", VOUCH_TYPE_F32, 1, good, floats);
    expect_refused(w, "tensor name '' has 0 bytes");
    w = writer_open();
    vouch_gguf_add_tensor(w, "0123456789012345678901234567890123456789012345678901234567890123456", VOUCH_TYPE_F32, 1,
                          good, floats);
    expect_refused(w, "has 67 bytes; it must have 1 to 64");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, good, floats);
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F16, 1, good, floats);
    expect_refused(w, "tensor 't' was added twice");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", (vouch_type)5, 1, good, floats);
    expect_refused(w, "tensor 't' has type 5");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 0, good, floats);
    expect_refused(w, "has 0 dimensions");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 5, (const int64_t[]){1, 1, 1, 1, 1}, floats);
    expect_refused(w, "has 5 dimensions");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_Q4_0, 1, (const int64_t[]){33}, floats);
    expect_refused(w, "multiple of 32 for type Q4_0");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 2, (const int64_t[]){32, 0}, floats);
    expect_refused(w, "all must be positive");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 2, (const int64_t[]){INT64_MAX, 3}, floats);
    expect_refused(w, "below 2^63");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, good, NULL);
    expect_refused(w, "tensor 't' has no data");
    w = writer_open();
    vouch_gguf_add_filled(w, "t", VOUCH_TYPE_F32, 1, good, NULL, NULL);
    expect_refused(w, "tensor 't' has no data");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unreadable_files),
        cmocka_unit_test(test_long_path),
        cmocka_unit_test(test_long_path_of_a_file),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_write_file),
        cmocka_unit_test(test_write_filled),
        cmocka_unit_test(test_write_fails),
        cmocka_unit_test(test_file_changes),
        cmocka_unit_test(test_fill_fails),
        cmocka_unit_test(test_writer_refuses_keys),
        cmocka_unit_test(test_writer_refuses_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
