/* SPDX-License-Identifier: MIT */
#include "run/chat/recall.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/file.h"

enum { MOST_MESSAGES = 1000, LONGEST_KEPT = 65536 };

/* Finds the path of the file and makes its folder. False: no folder. */
static bool path_find(char path[VOUCH_OS_PATH_SIZE])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = vouch_os_home();
    int n = -1;
    if (state && *state == '/') n = snprintf(path, VOUCH_OS_PATH_SIZE, "%s/vouch/messages", state);
    else if (home) n = snprintf(path, VOUCH_OS_PATH_SIZE, "%s/.local/state/vouch/messages", home);
    if (n < 0 || n >= VOUCH_OS_PATH_SIZE) return false;
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        const bool made = vouch_os_folder_make(path, 0700) || errno == EEXIST;
        *at = '/';
        if (!made) return false;
    }
    return true;
}

static bool recall_push(cli_recall *recall, const char *text, size_t n)
{
    if (recall->n == recall->capacity) {
        const size_t capacity = recall->capacity * 2 + 64;
        char **larger = realloc(recall->items, capacity * sizeof *larger);
        if (!larger) return false;
        recall->items = larger;
        recall->capacity = capacity;
    }
    char *copy = strndup(text, n);
    if (copy) recall->items[recall->n++] = copy;
    return copy != NULL;
}

/* The message as JSON with a line end. The caller frees it. NULL: malformed UTF-8, or not enough memory. */
static char *line_of(const char *text, size_t n)
{
    json_t *value = json_stringn(text, n);
    char *line = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL, *longer = NULL;
    json_decref(value);
    if (line) longer = realloc(line, strlen(line) + 2);
    if (line && !longer) free(line);
    return longer ? strcat(longer, "\n") : NULL;
}

/* Rewrites a long file with its newest messages. */
static void file_shorten(cli_recall *recall)
{
    if (recall->n <= 2 * MOST_MESSAGES) return;
    const size_t first = recall->n - MOST_MESSAGES;
    char *bytes;
    size_t n;
    vouch_os_stream memory;
    FILE *stream = vouch_os_stream_open(&memory);
    if (!stream) return;
    bool is_whole = true;
    for (size_t i = first; i < recall->n; i++) {
        char *line = line_of(recall->items[i], strlen(recall->items[i]));
        if (line) fputs(line, stream);
        else is_whole = false;
        free(line);
    }
    vouch_error err;
    /* If memory is short or the write fails, the long file stays. */
    if (vouch_os_stream_close(&memory, &bytes, &n) && is_whole) (void)tool_file_write(recall->path, bytes, n, &err);
    free(bytes);
}

/* Reads one message a line; skips damaged lines. */
static void lines_read(cli_recall *recall, char *bytes)
{
    for (char *line = bytes, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        json_t *value = json_loadb(line, (size_t)(end - line), JSON_DECODE_ANY, NULL);
        if (json_is_string(value)) recall_push(recall, json_string_value(value), json_string_length(value));
        json_decref(value);
    }
}

void cli_recall_open(cli_recall *recall)
{
    char path[VOUCH_OS_PATH_SIZE], *bytes = NULL;
    size_t n;
    vouch_os_info info;
    vouch_error err;
    *recall = (cli_recall){0};
    if (!path_find(path)) return;
    recall->path = strdup(path);
    if (!recall->path || !vouch_os_info_of(path, &info) || info.kind != VOUCH_OS_FILE) return;
    if (info.mode & 077) (void)chmod(path, 0600); /* fails on the file of another user, which stays as it is */
    if (tool_file_read(path, &bytes, &n, &err)) return;
    lines_read(recall, bytes);
    free(bytes);
    file_shorten(recall);
}

void cli_recall_add(cli_recall *recall, const char *text, size_t n)
{
    const char *latest = recall->n ? recall->items[recall->n - 1] : "";
    if (n == 0 || (strlen(latest) == n && memcmp(latest, text, n) == 0)) return;
    if (!recall_push(recall, text, n) || !recall->path || n > LONGEST_KEPT) return;
    char *line = line_of(text, n);
    const int fd = line ? vouch_os_open(recall->path, VOUCH_OS_WRITE | VOUCH_OS_APPEND | VOUCH_OS_CREATE, 0600) : -1;
    if (fd >= 0) {
        (void)!vouch_os_write(fd, line, strlen(line)); /* on failure the message is sent all the same */
        close(fd);
    }
    free(line);
}

void cli_recall_close(cli_recall *recall)
{
    for (size_t i = 0; i < recall->n; i++) free(recall->items[i]);
    free(recall->items);
    free(recall->path);
}
