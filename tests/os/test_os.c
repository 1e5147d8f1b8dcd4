/* SPDX-License-Identifier: MIT */
/* What each system has to do alike (os/os.h). */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
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
