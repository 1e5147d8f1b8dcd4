/* SPDX-License-Identifier: MIT */
/* What each system has to do alike (os/os.h). */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "support/test.h"

static void put(const char *path, const char *text)
{
    const int fd = vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_EMPTY, 0666);
    assert_true(fd >= 0);
    assert_int_equal(vouch_os_write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void patterns_match(void **state)
{
    (void)state;
    assert_true(vouch_os_matches("*/Qwen3-*", "Owner/qwen3-4B"));
    assert_true(vouch_os_matches("a*b*c", "a-b-b-c"));
    assert_true(vouch_os_matches("a?c", "abc"));
    assert_true(vouch_os_matches("*", ""));
    assert_false(vouch_os_matches("a?c", "ac"));
    assert_false(vouch_os_matches("*/Qwen3-*", "Owner/Qwen2-4B"));
    assert_false(vouch_os_matches("a*b", "a-b-c"));
}

static void streams_keep_their_bytes(void **state)
{
    (void)state;
    vouch_os_stream stream;
    char *bytes;
    size_t n;
    FILE *file = vouch_os_stream_open(&stream);
    assert_non_null(file);
    for (int i = 0; i < 10000; i++) fprintf(file, "%d\n", i);
    assert_true(vouch_os_stream_close(&stream, &bytes, &n));
    assert_int_equal(n, strlen(bytes));
    assert_memory_equal(bytes, "0\n1\n2\n", 6);
    assert_string_equal(bytes + n - 5, "9999\n");
    free(bytes);
}

static void files_are_replaced_and_told_apart(void **state)
{
    (void)state;
    char first[256], second[256];
    vouch_os_info a, b;
    strcpy(first, test_temporary("first"));
    strcpy(second, test_temporary("second"));
    put(first, "one");
    put(second, "three");
    assert_true(vouch_os_info_of(first, &a) && vouch_os_info_of(second, &b));
    assert_int_equal(a.kind, VOUCH_OS_FILE);
    assert_int_equal(a.size, 3);
    assert_int_equal(b.size, 5);
    assert_true(a.number != b.number || a.device != b.device);
    assert_true(vouch_os_file_replace(first, second));
    assert_true(vouch_os_info_of(second, &b));
    assert_int_equal(b.number, a.number);
    assert_false(vouch_os_info_of(first, &a));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(vouch_os_open(second, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NEW, 0666), -1);
    assert_int_equal(errno, EEXIST);
    unlink(second);
}

static bool is_windows(void)
{
    return strcmp(vouch_os_name(), "Windows") == 0;
}

/* Checks that the file holds the text and no more. */
static void expect_text(const char *path, const char *text)
{
    char found[64];
    const int fd = vouch_os_open(path, VOUCH_OS_READ, 0);
    assert_true(fd >= 0);
    assert_int_equal(vouch_os_read(fd, found, sizeof found), strlen(text));
    assert_memory_equal(found, text, strlen(text));
    close(fd);
}

static void expect_no_open(const char *path, unsigned how, int reason)
{
    errno = 0;
    assert_int_equal(vouch_os_open(path, how, 0666), -1);
    assert_int_equal(errno, reason);
}

static void opening_empties_a_file_on_request_only(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("emptied"));
    put(path, "a long text");
    put(path, "short");
    expect_text(path, "short");
    int fd = vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_APPEND, 0666);
    assert_int_equal(vouch_os_write(fd, "er", 2), 2);
    close(fd);
    expect_text(path, "shorter");
    fd = vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_EMPTY | VOUCH_OS_NO_LINK, 0);
    close(fd);
    expect_text(path, "");
    unlink(path);
    expect_no_open(path, VOUCH_OS_WRITE | VOUCH_OS_EMPTY, ENOENT);
}

static void folders_are_no_files(void **state)
{
    (void)state;
    char folder[256], byte;
    vouch_os_info info;
    strcpy(folder, test_temporary("opened"));
    assert_true(vouch_os_folder_make(folder, 0700));
    expect_no_open(folder, VOUCH_OS_WRITE, EISDIR);
    expect_no_open(folder, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_EMPTY, EISDIR);
    expect_no_open(folder, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NEW, EEXIST);
    const int fd = vouch_os_open(folder, VOUCH_OS_READ | VOUCH_OS_NO_LINK, 0);
    assert_true(fd >= 0 && vouch_os_info_of_open(fd, &info));
    assert_int_equal(info.kind, VOUCH_OS_FOLDER);
    assert_int_equal(vouch_os_read(fd, &byte, 1), -1);
    assert_int_equal(errno, EISDIR);
    close(fd);
    rmdir(folder);
    assert_false(vouch_os_folder_make("/", 0700));
    assert_int_equal(errno, EEXIST);
}

/* Adds a name of 100 letters to the path. */
static void deepen(char *path, char letter)
{
    char name[101];
    memset(name, letter, 100);
    name[100] = 0;
    strcat(strcat(path, "/"), name);
    assert_true(vouch_os_folder_make(path, 0700));
}

/* The C library of Windows takes no path of more than 260 bytes. */
static void paths_may_be_long(void **state)
{
    (void)state;
    char top[256], paths[3][512], path[600], **names;
    vouch_os_info info;
    strcpy(top, test_temporary("long"));
    assert_true(vouch_os_folder_make(top, 0700));
    for (int i = 0; i < 3; i++) {
        strcpy(paths[i], i == 0 ? top : paths[i - 1]);
        deepen(paths[i], (char)('a' + i));
    }
    snprintf(path, sizeof path, "%s/file", paths[2]);
    put(path, "text");
    expect_text(path, "text");
    assert_true(vouch_os_info_of(path, &info));
    assert_int_equal(info.size, 4);
    assert_int_equal(vouch_os_folder_list(paths[2], &names), 1);
    assert_string_equal(names[0], "file");
    vouch_os_names_free(names, 1);
    char *resolved = vouch_os_path_resolve(path);
    if (!is_windows()) assert_non_null(resolved); /* Wine resolves short paths only */
    if (resolved) assert_string_equal(resolved + strlen(resolved) - 9, "cccc/file");
    free(resolved);
    char near[300]; /* unlink and rmdir take it */
    snprintf(near, sizeof near, "%s/near", top);
    assert_true(vouch_os_file_replace(path, near));
    expect_text(near, "text");
    assert_int_equal(unlink(near), 0);
    for (int i = 2; i >= 0; i--) {
        assert_true(vouch_os_file_replace(paths[i], near));
        assert_int_equal(rmdir(near), 0);
    }
    assert_int_equal(rmdir(top), 0);
}

/* What a reader has open stays as it is, or the file isn't replaced. */
static void a_file_that_is_open_is_replaced_whole_or_not(void **state)
{
    (void)state;
    char old[256], new[256], found[8];
    strcpy(old, test_temporary("old"));
    strcpy(new, test_temporary("new"));
    put(old, "old");
    put(new, "new!");
    const int fd = vouch_os_open(old, VOUCH_OS_READ, 0);
    const bool is_done = vouch_os_file_replace(new, old);
    if (!is_done) assert_true(is_windows());
    expect_text(old, is_done ? "new!" : "old");
    if (!is_done) expect_text(new, "new!");
    assert_int_equal(vouch_os_file_read_at(fd, found, sizeof found, 0), 3);
    assert_memory_equal(found, "old", 3);
    close(fd);
    if (!is_done) assert_true(vouch_os_file_replace(new, old));
    expect_text(old, "new!");
    unlink(old);
}

static void links_are_told_from_files(void **state)
{
    (void)state;
    char file[256], link[256], to[512];
    vouch_os_info info;
    strcpy(file, test_temporary("linked"));
    strcpy(link, test_temporary("link"));
    put(file, "text");
    if (!vouch_os_link_make("linked", link)) assert_int_equal(errno, EPERM);
    if (!vouch_os_info_of_link(link, &info)) test_skip("no symbolic links here");
    assert_int_equal(info.kind, VOUCH_OS_LINK);
    assert_true(vouch_os_info_of(link, &info));
    assert_int_equal(info.kind, VOUCH_OS_FILE);
    assert_int_equal(info.size, 4);
    expect_text(link, "text");
    expect_no_open(link, VOUCH_OS_READ | VOUCH_OS_NO_LINK, ELOOP);
    expect_no_open(link, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_EMPTY | VOUCH_OS_NO_LINK, ELOOP);
    expect_text(file, "text");
    const ptrdiff_t n = vouch_os_link_read(link, to, sizeof to);
    assert_int_equal(n, strlen(to));
    assert_string_equal(to + n - strlen("linked"), "linked");
    assert_int_equal(vouch_os_link_read(file, to, sizeof to), -1);
    assert_int_equal(errno, EINVAL);
    char *resolved = vouch_os_path_resolve(link), *own = vouch_os_path_resolve(file);
    assert_true(resolved && own);
    assert_string_equal(resolved, own);
    free(resolved);
    free(own);
    unlink(link);
    unlink(file);
}

static void paths_are_resolved(void **state)
{
    (void)state;
    char folder[256], path[300], whole[600];
    strcpy(folder, test_temporary("resolved"));
    assert_true(vouch_os_folder_make(folder, 0700));
    snprintf(path, sizeof path, "%s/file", folder);
    put(path, "");
    char *plain = vouch_os_path_resolve(path);
    snprintf(whole, sizeof whole, "%s/./../resolved//file", folder);
    char *resolved = vouch_os_path_resolve(whole);
    assert_true(plain && resolved);
    assert_string_equal(resolved, plain);
    assert_null(strchr(plain, '\\'));
    free(plain);
    free(resolved);
    unlink(path);
    rmdir(folder);
    assert_null(vouch_os_path_resolve(path));
    assert_int_equal(errno, ENOENT);
    strcpy(path, "C:\\models\\a.gguf");
    vouch_os_path_tidy(path);
    assert_string_equal(path, is_windows() ? "C:/models/a.gguf" : "C:\\models\\a.gguf");
}

static void temporary_files_have_names_of_their_own(void **state)
{
    (void)state;
    char names[2][256];
    for (int i = 0; i < 2; i++) {
        strcpy(names[i], test_temporary("part-XXXXXX"));
        const int fd = vouch_os_file_temporary(names[i]);
        assert_true(fd >= 0);
        assert_int_equal(vouch_os_write(fd, "text", 4), 4);
        close(fd);
        assert_null(strstr(names[i], "XXXXXX"));
        expect_text(names[i], "text");
    }
    assert_string_not_equal(names[0], names[1]);
    for (int i = 0; i < 2; i++) unlink(names[i]);
    strcpy(names[0], test_temporary("nowhere/part-XXXXXX"));
    assert_int_equal(vouch_os_file_temporary(names[0]), -1);
    assert_int_equal(errno, ENOENT);
}

static void lines_are_read_whole(void **state)
{
    (void)state;
    char path[256], *line = NULL, longest[1000];
    size_t room = 0;
    memset(longest, 'x', sizeof longest);
    strcpy(path, test_temporary("lines"));
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite("one\n\na\0b\n", 1, 9, file);
    fwrite(longest, 1, sizeof longest, file);
    fwrite("\nend", 1, 4, file);
    fclose(file);
    file = fopen(path, "rb");
    assert_int_equal(getline(&line, &room, file), 4);
    assert_string_equal(line, "one\n");
    assert_int_equal(getline(&line, &room, file), 1);
    assert_string_equal(line, "\n");
    assert_int_equal(getline(&line, &room, file), 4);
    assert_memory_equal(line, "a\0b\n", 5);
    assert_int_equal(getline(&line, &room, file), 1001);
    assert_memory_equal(line, longest, 1000);
    assert_true(room > 1001);
    assert_int_equal(getline(&line, &room, file), 3);
    assert_string_equal(line, "end");
    assert_int_equal(getline(&line, &room, file), -1);
    free(line);
    fclose(file);
    unlink(path);
}

static void parts_of_texts_are_found(void **state)
{
    (void)state;
    const char *text = "aab\0aabc";
    assert_ptr_equal(memmem(text, 8, "aabc", 4), text + 4);
    assert_ptr_equal(memmem(text, 8, "\0a", 2), text + 3);
    assert_ptr_equal(memmem(text, 8, "", 0), text);
    assert_null(memmem(text, 7, "aabc", 4));
    assert_null(memmem(text, 2, "aab", 3));
    assert_null(memmem(text, 0, "a", 1));
    text = "Some\xc3\x84 Text";
    assert_ptr_equal(strcasestr(text, "tEXT"), text + 7);
    assert_ptr_equal(strcasestr(text, "\xc3\x84 t"), text + 4);
    assert_ptr_equal(strcasestr(text, ""), text);
    assert_null(strcasestr(text, "texts"));
    assert_null(strcasestr("", "t"));
    char *copy = strndup(text, 4);
    assert_string_equal(copy, "Some");
    free(copy);
    copy = strndup("ab", 10);
    assert_string_equal(copy, "ab");
    free(copy);
}

static void a_lock_keeps_others_out(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("locked"));
    put(path, "text");
    const int first = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_WRITE, 0),
              second = vouch_os_open(path, VOUCH_OS_READ, 0);
    char byte;
    assert_int_equal(vouch_os_file_lock(first, false), VOUCH_OS_LOCKED);
    assert_int_equal(vouch_os_file_lock(second, false), VOUCH_OS_LOCK_BUSY);
    assert_int_equal(vouch_os_file_read_at(second, &byte, 1, 2), 1); /* the lock doesn't stop others from reading */
    assert_int_equal(byte, 'x');
    close(first);
    assert_int_equal(vouch_os_file_lock(second, false), VOUCH_OS_LOCKED);
    close(second);
    unlink(path);
}

static void folders_list_their_names_in_order(void **state)
{
    (void)state;
    static const char *const made[] = {"b", "a", "\xc3\xbc"};
    char folder[256], path[300], **names;
    strcpy(folder, test_temporary("folder"));
    assert_true(vouch_os_folder_make(folder, 0700));
    assert_false(vouch_os_folder_make(folder, 0700));
    assert_int_equal(errno, EEXIST);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, made[i]);
        put(path, "");
    }
    assert_int_equal(vouch_os_folder_list(folder, &names), 3);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b");
    assert_string_equal(names[2], "\xc3\xbc");
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    vouch_os_names_free(names, 3);
    rmdir(folder);
    assert_int_equal(vouch_os_folder_list(folder, &names), -1);
    assert_int_equal(errno, ENOENT);
}

static void dropped_pages_read_as_zero(void **state)
{
    (void)state;
    const size_t n = 4 * vouch_os_page_size();
    unsigned char *pages = vouch_os_pages_reserve(n);
    assert_non_null(pages);
    assert_true(vouch_os_pages_commit(pages, n));
    memset(pages, 1, n);
    vouch_os_pages_drop(pages + n / 2, n / 2);
    assert_true(vouch_os_pages_commit(pages + n / 2 - 1, 2)); /* parts of two pages */
    assert_true(vouch_os_pages_commit(pages, n));
    for (size_t i = 0; i < n; i++) assert_int_equal(pages[i], i < n / 2);
    vouch_os_pages_free(pages, n);
}

static void reserved_pages_take_no_memory(void **state)
{
    (void)state;
    const size_t n = (size_t)1 << 38;
    unsigned char *pages = vouch_os_pages_reserve(n);
    assert_non_null(pages);
    assert_true(vouch_os_pages_commit(pages + n - 2, 2));
    pages[n - 1] = 1;
    assert_int_equal(pages[n - 2] + pages[n - 1], 1);
    vouch_os_pages_free(pages, n);
}

static void dropped_pages_of_a_file_read_as_the_file(void **state)
{
    (void)state;
    const char *path = test_temporary("dropped");
    put(path, "text");
    const int fd = vouch_os_open(path, VOUCH_OS_READ, 0);
    const unsigned char *bytes = vouch_os_file_map(fd, 4);
    assert_non_null(bytes);
    assert_memory_equal(bytes, "text", 4);
    vouch_os_file_drop(bytes, vouch_os_page_size());
    assert_memory_equal(bytes, "text", 4);
    vouch_os_file_unmap(bytes, 4);
    close(fd);
}

static int by_context(const void *a, const void *b, void *context)
{
    const int sign = *(int *)context, x = *(const int *)a, y = *(const int *)b;
    return sign * ((x > y) - (x < y));
}

static void items_are_sorted_with_a_context(void **state)
{
    (void)state;
    int items[] = {3, 1, 2}, sign = -1;
    vouch_os_sort(items, 3, sizeof *items, by_context, &sign);
    assert_memory_equal(items, ((int[]){3, 2, 1}), sizeof items);
}

static _Atomic unsigned word;

static void *change_word(void *arg)
{
    (void)arg;
    atomic_store(&word, 1);
    vouch_os_wake(&word);
    return NULL;
}

static void a_sleeping_thread_wakes(void **state)
{
    (void)state;
    pthread_t thread;
    assert_true(vouch_os_thread_start(&thread, change_word, NULL));
    while (atomic_load(&word) == 0) vouch_os_wait(&word, 0);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match),
        cmocka_unit_test(streams_keep_their_bytes),
        cmocka_unit_test(files_are_replaced_and_told_apart),
        cmocka_unit_test(opening_empties_a_file_on_request_only),
        cmocka_unit_test(folders_are_no_files),
        cmocka_unit_test(paths_may_be_long),
        cmocka_unit_test(a_file_that_is_open_is_replaced_whole_or_not),
        cmocka_unit_test(links_are_told_from_files),
        cmocka_unit_test(paths_are_resolved),
        cmocka_unit_test(temporary_files_have_names_of_their_own),
        cmocka_unit_test(lines_are_read_whole),
        cmocka_unit_test(parts_of_texts_are_found),
        cmocka_unit_test(a_lock_keeps_others_out),
        cmocka_unit_test(folders_list_their_names_in_order),
        cmocka_unit_test(dropped_pages_read_as_zero),
        cmocka_unit_test(reserved_pages_take_no_memory),
        cmocka_unit_test(dropped_pages_of_a_file_read_as_the_file),
        cmocka_unit_test(items_are_sorted_with_a_context),
        cmocka_unit_test(a_sleeping_thread_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
