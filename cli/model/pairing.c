/* SPDX-License-Identifier: MIT */
#include "model/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "hub/fetch.h"
#include "hub/files.h"
#include "os/os.h"
#include "tool/term.h"

static const char *end_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void left(const char *path, const char *reason)
{
    const size_t n = strlen(path); /* messages of the library begin with the path */
    if (strncmp(reason, path, n) == 0 && strncmp(reason + n, ": ", 2) == 0) reason += n + 2;
    tool_note("%s is beside the model, and is left: %s", end_of(path), reason);
}

/* Half of the memory is for what comes later: caches, other programs. */
static bool fits(const char *path)
{
    vouch_os_info info;
    const double available = (double)vouch_os_memory_left();
    if (!vouch_os_info_of(path, &info)) return false;
    if (available < 0 || 2 * (double)info.size <= available) return true;
    char size[16], room[16];
    hub_size_write(size, info.size);
    hub_size_write(room, (int64_t)available);
    tool_note("%s would draft for the model, but its %s are more than half of the %s of memory that are available",
              end_of(path), size, room);
    return false;
}

/* ---------------------------------------------------------------- 1 and 2: files */

static bool has_own(const vouch_model *target)
{
    vouch_error ignored;
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        vouch_session_options o = vouch_session_options_default();
        o.speculation.drafters = 1u << i;
        if (vouch_drafter_get_info(i).in_model && vouch_session_check(target, &o, &ignored) == VOUCH_OK) return true;
    }
    return false;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);
    return n > n_end && strcmp(text + n - n_end, end) == 0;
}

/* Takes the file for the drafter that it opens for. */
static void file_take(cli_pairs *pairs, const char *path)
{
    vouch_error err = {.message = ""};
    vouch_status status = VOUCH_E_FORMAT;
    const bool is_table = ends_in(path, ".table.gguf");
    for (int i = 0; i < VOUCH_DRAFTERS && status; i++) {
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        if (!info.file || info.is_paid == is_table || pairs->files[i]) continue;
        if (!fits(path)) return;
        status = vouch_draft_file_open(&pairs->files[i], i, path, pairs->target, false, &err);
        if (status) continue;
        pairs->is_found = true;
        tool_note("drafting with %s, which lies beside the model (--draft-model none leaves it out)", end_of(path));
    }
    if (status && *err.message) left(path, err.message);
}

static bool is_companion(const char *file)
{
    const bool is_own = ends_in(file, ".head.gguf") || ends_in(file, ".table.gguf");
    return ends_in(file, ".gguf") && (is_own || hub_is_drafter(file));
}

/* The files of the model's folder, in the order of their names. folder: where they are, which ends in '/' or is empty.
 * Returns their number; -1: the folder can't be read. */
static ptrdiff_t neighbours_list(const char *model, char folder[VOUCH_OS_PATH_SIZE], char ***names)
{
    vouch_os_info info;
    if (vouch_os_info_of(model, &info) && info.kind == VOUCH_OS_FOLDER)
        snprintf(folder, VOUCH_OS_PATH_SIZE, "%s/", model);
    else snprintf(folder, VOUCH_OS_PATH_SIZE, "%.*s", (int)(end_of(model) - model), model);
    return vouch_os_folder_list(*folder ? folder : ".", names);
}

/* Does the file beside the model say that it drafts? */
static bool is_other_companion(const char *name, const char *model)
{
    return is_companion(name) && strcmp(name, end_of(model)) != 0;
}

static void folder_search(cli_pairs *pairs, const char *model)
{
    char folder[VOUCH_OS_PATH_SIZE], path[VOUCH_OS_PATH_SIZE], **names;
    const ptrdiff_t n = neighbours_list(model, folder, &names);
    for (ptrdiff_t i = 0; i < n; i++)
        if (is_other_companion(names[i], model) &&
            snprintf(path, sizeof path, "%s%s", folder, names[i]) < VOUCH_OS_PATH_SIZE)
            file_take(pairs, path);
    vouch_os_names_free(names, n);
}

char *cli_companion_of(const char *model)
{
    char folder[VOUCH_OS_PATH_SIZE], *first = NULL, **names;
    const ptrdiff_t n = neighbours_list(model, folder, &names);
    for (ptrdiff_t i = 0; i < n && !first; i++)
        if (is_other_companion(names[i], model)) first = strdup(names[i]);
    vouch_os_names_free(names, n);
    return first;
}

static bool has_paid_file(const cli_pairs *pairs)
{
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (pairs->files[i] && vouch_drafter_get_info(i).is_paid) return true;
    return false;
}

/* --------------------------------------------------------------- 3: a small model */

enum { MOST_CANDIDATES = 8, FIFTH = 5 }; /* opening a tokenizer takes a tenth of a second */

typedef struct candidate {
    char name[256], path[VOUCH_OS_PATH_SIZE];
    int64_t bytes;
} candidate;

typedef struct search {
    const cli_pairs *pairs;
    double most_bytes;
    candidate *items; /* [MOST_CANDIDATES], largest first */
    size_t n;
} search;

static void candidate_add(void *user, const char *name, const char *path)
{
    search *s = user;
    vouch_os_info info;
    if (!vouch_os_info_of(path, &info) || info.kind != VOUCH_OS_FILE || (double)info.size > s->most_bytes) return;
    if (strlen(path) >= VOUCH_OS_PATH_SIZE) return;
    size_t at = s->n;
    while (at > 0 && s->items[at - 1].bytes < info.size) at--;
    if (at == MOST_CANDIDATES) return;
    if (s->n == MOST_CANDIDATES) s->n--;
    memmove(&s->items[at + 1], &s->items[at], (s->n - at) * sizeof *s->items);
    s->items[at].bytes = info.size;
    snprintf(s->items[at].name, sizeof s->items[at].name, "%s", strcmp(name, path) == 0 ? end_of(path) : name);
    snprintf(s->items[at].path, VOUCH_OS_PATH_SIZE, "%s", path);
    s->n++;
}

/* Has the file the target's tokens? *is_alike: and its architecture. Opens the tokenizer alone. */
static bool is_pair(const cli_pairs *pairs, const char *path, bool *is_alike)
{
    vouch_model *model;
    vouch_error ignored;
    vouch_model_options options = vouch_model_options_default();
    options.text_only = true;
    if (vouch_model_open(&model, path, &options, &ignored)) return false;
    const vouch_model_info *target = vouch_model_get_info(pairs->target), *draft = vouch_model_get_info(model);
    const bool ok = strcmp(target->tokenizer, "none") != 0 && draft->n_parameters > 0 &&
                    strcmp(target->digest, draft->digest) != 0 &&
                    vouch_model_check_pair(pairs->target, model, &ignored) == VOUCH_OK;
    *is_alike = strcmp(target->architecture, draft->architecture) == 0;
    vouch_model_close(model);
    return ok;
}

static const candidate *best_of(const search *s)
{
    const candidate *other = NULL;
    for (size_t i = 0; i < s->n; i++) {
        bool is_alike;
        if (!is_pair(s->pairs, s->items[i].path, &is_alike) || !fits(s->items[i].path)) continue;
        if (is_alike) return &s->items[i];
        if (!other) other = &s->items[i];
    }
    return other;
}

static void models_search(cli_pairs *pairs)
{
    hub_places places;
    vouch_error err;
    search s = {pairs, vouch_model_pass_bytes(pairs->target, 1) / FIFTH, NULL, 0};
    if (hub_places_read(&places, &err)) return; /* a variable of the hub is wrong, which doesn't matter here */
    s.items = calloc(MOST_CANDIDATES + 1, sizeof *s.items);
    if (!s.items) return;
    hub_walk(&places, candidate_add, &s);
    const candidate *best = best_of(&s);
    if (best) {
        pairs->draft = strdup(best->path);
        pairs->draft_name = strdup(best->name);
    }
    free(s.items);
}

cli_pairs cli_pairs_find(const vouch_model *target, const char *path)
{
    cli_pairs pairs = {.target = target};
    if (has_own(target)) {
        pairs.is_found = true;
        tool_note(
            "drafting with the layers of multi-token prediction in the model's file (--spec none leaves them out)");
        return pairs;
    }
    folder_search(&pairs, path);
    if (!has_paid_file(&pairs)) models_search(&pairs);
    pairs.is_found |= pairs.draft && pairs.draft_name;
    return pairs;
}
