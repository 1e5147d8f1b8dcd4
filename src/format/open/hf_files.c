/* SPDX-License-Identifier: MIT */
/* Opens the files of a Hugging Face folder that describe its tokenizer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hf/hf_private.h"
#include "format/json.h"
#include "os/os.h"

static bool file_exists(const char *path)
{
    vouch_os_info info;
    return vouch_os_info_of(path, &info) && info.kind != VOUCH_OS_FOLDER;
}

static bool path_ends(const char *path, const char *end)
{
    const size_t n = strlen(path), n_end = strlen(end);
    return n >= n_end && strcmp(path + n - n_end, end) == 0;
}

static vouch_status json_open(json_t **out, const char *path, vouch_error *err)
{
    *out = NULL;
    return file_exists(path) ? vouch_json_load(out, path, err) : VOUCH_OK;
}

static vouch_status map_open(vouch_filemap *map, const char *path, vouch_error *err)
{
    if (!file_exists(path)) return VOUCH_OK;
    VOUCH_TRY(vouch_filemap_open(map, path, err));
    return vouch_filemap_load(map, path, 0, map->size, err);
}

enum { TOKENIZER, CONFIG, SPECIALS, ADDED, MODEL, GENERATION, VOCAB, MERGES, TEMPLATE, SENTENCEPIECE, SPIECE, N_FILES };

static vouch_status paths_make(hf_files *files, const char *folder, size_t n_folder, vouch_error *err)
{
    static const char *const names[N_FILES] = {"tokenizer.json",
                                               "tokenizer_config.json",
                                               "special_tokens_map.json",
                                               "added_tokens.json",
                                               "config.json",
                                               "generation_config.json",
                                               "vocab.json",
                                               "merges.txt",
                                               "chat_template.jinja",
                                               "tokenizer.model",
                                               "spiece.model"};
    _Static_assert(sizeof files->paths / sizeof *files->paths == N_FILES, "a path for each name");
    for (size_t i = 0; i < N_FILES; i++) {
        const size_t size = n_folder + strlen(names[i]) + 2;
        files->paths[i] = malloc(size);
        if (!files->paths[i]) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the tokenizer's paths");
        snprintf(files->paths[i], size, "%.*s%s%s", (int)n_folder, folder, n_folder ? "/" : "", names[i]);
    }
    return VOUCH_OK;
}

/* Puts a path in place of the folder's own file; "" reads none. */
static vouch_status path_replace(hf_files *files, int which, const char *path, vouch_error *err)
{
    free(files->paths[which]);
    files->paths[which] = strdup(path);
    return files->paths[which] ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a path");
}

static bool is_byte_level(const json_t *step)
{
    const char *type = vouch_hf_text(step, "type");
    if (type && strcmp(type, "ByteLevel") == 0) return true;
    const json_t *steps = json_object_get(step, "pretokenizers");
    for (size_t i = 0; i < json_array_size(steps); i++) {
        type = vouch_hf_text(json_array_get(steps, i), "type");
        if (type && strcmp(type, "ByteLevel") == 0) return true;
    }
    return false;
}

/* Opens the first vocabulary file that exists, in the order that hf_tokenizer.h lists. */
static vouch_status vocabulary_open(hf_files *files, vouch_error *err)
{
    char **paths = files->paths;
    files->name = paths[TOKENIZER];
    VOUCH_TRY(json_open(&files->tokenizer, paths[TOKENIZER], err));
    if (is_byte_level(json_object_get(files->tokenizer, "pre_tokenizer"))) return VOUCH_OK;
    for (int which = SENTENCEPIECE; which <= SPIECE; which++) {
        VOUCH_TRY(map_open(&files->sentencepiece, paths[which], err));
        if (!files->sentencepiece.data) continue;
        files->name = paths[which];
        return VOUCH_OK;
    }
    if (files->tokenizer) return VOUCH_OK;
    VOUCH_TRY(json_open(&files->vocab, paths[VOCAB], err));
    if (!files->vocab) return VOUCH_OK;
    files->name = paths[VOCAB];
    VOUCH_TRY(map_open(&files->merges, paths[MERGES], err));
    if (files->merges.data) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_IO, "%s: needs merges.txt beside it", vouch_path_tail(paths[VOCAB]));
}

static vouch_status files_open(hf_files *files, const char *path, vouch_error *err)
{
    vouch_os_info info;
    if (!vouch_os_info_of(path, &info))
        return vouch_fail(err, VOUCH_E_IO, "%s: can't open: %s", vouch_path_tail(path), strerror(errno));
    const bool is_folder = info.kind == VOUCH_OS_FOLDER, is_json = !is_folder && path_ends(path, ".json");
    const char *slash = strrchr(path, '/');
    size_t n_folder = is_folder ? strlen(path) : !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    while (is_folder && n_folder > 1 && path[n_folder - 1] == '/') n_folder--;
    VOUCH_TRY(paths_make(files, path, n_folder, err));
    if (!is_folder) { /* the path names one vocabulary; no other is read */
        VOUCH_TRY(path_replace(files, TOKENIZER, is_json ? path : "", err));
        VOUCH_TRY(path_replace(files, SENTENCEPIECE, is_json ? "" : path, err));
        VOUCH_TRY(path_replace(files, SPIECE, "", err));
    }
    VOUCH_TRY(vocabulary_open(files, err));
    VOUCH_TRY(json_open(&files->config, files->paths[CONFIG], err));
    VOUCH_TRY(json_open(&files->specials, files->paths[SPECIALS], err));
    VOUCH_TRY(json_open(&files->added, files->paths[ADDED], err));
    VOUCH_TRY(json_open(&files->model, files->paths[MODEL], err));
    VOUCH_TRY(json_open(&files->generation, files->paths[GENERATION], err));
    return map_open(&files->chat_template, files->paths[TEMPLATE], err);
}

vouch_status vouch_hf_files_open(hf_files *files, const char *path, vouch_error *err)
{
    *files = (hf_files){.name = path};
    const vouch_status status = files_open(files, path, err);
    if (status != VOUCH_OK) vouch_hf_files_close(files);
    return status;
}

void vouch_hf_files_close(hf_files *files)
{
    json_decref(files->tokenizer);
    json_decref(files->config);
    json_decref(files->specials);
    json_decref(files->added);
    json_decref(files->model);
    json_decref(files->generation);
    json_decref(files->vocab);
    vouch_filemap_close(&files->sentencepiece);
    vouch_filemap_close(&files->merges);
    vouch_filemap_close(&files->chat_template);
    for (size_t i = 0; i < N_FILES; i++) free(files->paths[i]);
    *files = (hf_files){0};
}

const char *vouch_hf_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

bool vouch_hf_bool(const json_t *object, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}
