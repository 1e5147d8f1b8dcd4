/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"

static const char *existing(const char *path)
{
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *test_data(const char *relative)
{
    static char path[1024];
    const char *folder = getenv("VOUCH_DATA");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", relative);
    return existing(path);
}

const char *test_data_needed(const char *relative)
{
    const char *path = test_data(relative);
    if (!path) test_skip("VOUCH_DATA has no %s", relative);
    return path;
}

const char *test_model(void)
{
    static char path[1024];
    const char *file = "vouch/SmolLM2-135M-Instruct.Q4_1.gguf";
    const char *given = getenv("VOUCH_TEST_MODEL"), *cache = getenv("XDG_CACHE_HOME"), *home = vouch_os_home();
    if (given) snprintf(path, sizeof path, "%s", given);
    else if (cache && *cache) snprintf(path, sizeof path, "%s/%s", cache, file);
    else snprintf(path, sizeof path, "%s/.cache/%s", home ? home : "", file);
    return existing(path);
}

int test_is_quick(void)
{
    const char *tier = getenv("VOUCH_TEST_TIER");
    return tier && strcmp(tier, "test") != 0;
}

int test_is_emulated(void)
{
    const char *tier = getenv("VOUCH_TEST_TIER");
    return tier && strcmp(tier, "arm") == 0;
}

int test_is_windows(void)
{
    const char *tier = getenv("VOUCH_TEST_TIER");
    return tier && strcmp(tier, "windows") == 0;
}

/* VOUCH_TEST_FILTER='*truncated*' runs only the tests whose names match the pattern. */
__attribute__((constructor)) static void filter_set(void)
{
    const char *filter = getenv("VOUCH_TEST_FILTER");
    if (filter && *filter) cmocka_set_test_filter(filter);
}

static char folder[200];

static void remove_tree(const char *path)
{
    vouch_os_info info;
    char **names = NULL, below[VOUCH_OS_NAME_SIZE + 256];
    if (!vouch_os_info_of_link(path, &info)) return;
    if (info.kind != VOUCH_OS_FOLDER) {
        unlink(path);
        return;
    }
    const ptrdiff_t n = vouch_os_folder_list(path, &names);
    for (ptrdiff_t i = 0; i < n; i++) {
        snprintf(below, sizeof below, "%s/%s", path, names[i]);
        remove_tree(below);
    }
    vouch_os_names_free(names, n);
    if (rmdir(path) != 0) fprintf(stderr, "could not remove %s\n", path);
}

static void remove_folder(void)
{
    remove_tree(folder);
}

const char *test_temporary(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    if (!folder[0]) {
        const char *parent = getenv("TMPDIR");
        bool is_new = false;
        do {
            uint32_t number = 0;
            if (!vouch_os_random(&number, sizeof number)) abort();
            snprintf(folder, sizeof folder, "%s/vouch-test-%06" PRIx32, parent && *parent ? parent : "/tmp",
                     number & 0xffffff);
            is_new = vouch_os_folder_make(folder, 0700);
        } while (!is_new && errno == EEXIST);
        if (!is_new) abort();
        atexit(remove_folder);
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *test_path(const char *name)
{
    static char paths[64][256];
    static int n;
    assert_true(n < 64);
    snprintf(paths[n], sizeof paths[n], "%s", test_temporary(name));
    return paths[n++];
}

char *read_whole(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s can't be read", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    bytes[*n] = 0;
    fclose(file);
    return bytes;
}

void write_whole(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("%s can't be written", path);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

int64_t test_resident(const char *path)
{
    char line[4352];
    long long kilobytes, total = -1;
    bool inside = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (strchr(line, '/')) inside = strstr(line, path) != NULL;
        else if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' ')) inside = false; /* an anonymous mapping */
        if (inside && sscanf(line, "Rss: %lld kB", &kilobytes) == 1) total = (total < 0 ? 0 : total) + kilobytes * 1024;
    }
    if (maps) fclose(maps);
    return total;
}

/* splitmix64 */
uint32_t test_next(test_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

uint32_t test_below(test_random *random, uint32_t limit)
{
    return (uint32_t)((uint64_t)test_next(random) * limit >> 32);
}

float test_uniform(test_random *random, float low, float high)
{
    return low + (high - low) * ((float)(test_next(random) >> 8) * 0x1p-24f);
}

float test_normal(test_random *random)
{
    const double u = ((double)test_next(random) + 1) * 0x1p-32, v = test_next(random) * 0x1p-32;
    return (float)(sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v));
}
