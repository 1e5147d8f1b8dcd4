/* SPDX-License-Identifier: MIT */
#include "hub/here.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/files.h"
#include "os/os.h"

/* Are all files there that the index of a split folder names? A folder without index has one file. */
static bool folder_is_whole(const char *folder)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_os_info info;
    if (snprintf(path, sizeof path, "%s/model.safetensors.index.json", folder) >= VOUCH_OS_PATH_SIZE) return false;
    json_t *root = json_load_file(path, 0, NULL);
    const char *tensor;
    json_t *file;
    bool ok = true;
    json_object_foreach(json_object_get(root, "weight_map"), tensor, file) {
        const char *name = json_string_value(file);
        ok = ok && name && snprintf(path, sizeof path, "%s/%s", folder, name) < VOUCH_OS_PATH_SIZE &&
             vouch_os_info_of(path, &info);
    }
    json_decref(root);
    return ok;
}

bool hub_here_entry_path(const hub_cache *cache, const char *commit, const char *entry, char path[VOUCH_OS_PATH_SIZE])
{
    const bool is_folder = strcmp(entry, "config.json") == 0;
    hub_cache_snapshot(cache, commit, is_folder ? "" : entry, path);
    return *path && (!is_folder || folder_is_whole(path));
}

/* is_sure: the name of a head or a table has to say so. */
static bool find_in(const hub_cache *cache, const char *commit, const hub_name *name, bool is_sure,
                    char path[VOUCH_OS_PATH_SIZE])
{
    hub_files files;
    vouch_error ignored;
    size_t entry = 0;
    hub_cache_snapshot(cache, commit, "", path);
    if (hub_files_read(&files, path, &ignored)) return false;
    bool ok = !hub_files_choose(&files, name, &entry, &ignored);
    if (ok && is_sure && name->role != HUB_MODEL && !hub_is_model_file(name->part))
        ok = !hub_is_of_role(files.items[entry].path, HUB_MODEL);
    ok = ok && hub_here_entry_path(cache, commit, files.items[entry].path, path);
    hub_files_free(&files);
    return ok;
}

static bool find_in_all(const hub_cache *cache, const hub_name *name, char path[VOUCH_OS_PATH_SIZE])
{
    size_t n;
    bool is_found = false;
    hub_commit *commits = hub_cache_commits(cache, name->revision, &n);
    for (size_t i = 0; !is_found && i < n; i++) is_found = find_in(cache, commits[i], name, false, path);
    free(commits);
    return is_found;
}

bool hub_here_find(const hub_places *places, const hub_name *name, bool may_fetch, char path[VOUCH_OS_PATH_SIZE])
{
    hub_cache cache;
    vouch_error ignored;
    char commit[HUB_NAME_SIZE];
    if (hub_cache_open(&cache, places->cache, name->repository, &ignored)) return false;
    if (!may_fetch && !name->has_revision) return find_in_all(&cache, name, path);
    return hub_cache_commit(&cache, name->revision, commit) && find_in(&cache, commit, name, may_fetch, path);
}

/* The type that a file's name ends in: "Q4_K_M"; NULL: none that is known. */
static const char *type_of(const char *path)
{
    for (size_t i = 0; hub_type(i); i++)
        if (hub_is_of_type(path, hub_type(i))) return hub_type(i);
    return NULL;
}

/* Calls for the repository's name with this part, if it stands for this path. revision: "main" or a name's own. */
static bool part_found(const hub_cache *cache, const char *repository, const char *revision, const char *part,
                       const char *path, hub_found *found, void *user)
{
    char text[VOUCH_OS_PATH_SIZE], meant[VOUCH_OS_PATH_SIZE], commit[HUB_NAME_SIZE];
    hub_name name = {.kind = HUB_REPOSITORY, .has_revision = strcmp(revision, "main") != 0};
    const bool is_folder = strcmp(part, "safetensors") == 0;
    if (snprintf(name.part, sizeof name.part, "%s", part) >= HUB_NAME_SIZE) return false;
    snprintf(name.revision, sizeof name.revision, "%s", revision);
    const bool is_found = name.has_revision
                              ? hub_cache_commit(cache, revision, commit) && find_in(cache, commit, &name, false, meant)
                              : find_in_all(cache, &name, meant);
    if (!is_found || strcmp(meant, path) != 0) return false;
    snprintf(text, sizeof text, "%s%s%s%s%s", repository, is_folder ? "" : ":", is_folder ? "" : part,
             name.has_revision ? "@" : "", name.has_revision ? revision : "");
    found(user, text, path);
    return true;
}

static void snapshot_walk(const hub_cache *cache, const char *commit, const char *repository, hub_found *found,
                          void *user)
{
    char path[VOUCH_OS_PATH_SIZE], revision[HUB_NAME_SIZE];
    hub_files files;
    vouch_error ignored;
    hub_cache_snapshot(cache, commit, "", path);
    if (hub_files_read(&files, path, &ignored)) return;
    if (!hub_cache_ref_of(cache, commit, revision)) snprintf(revision, sizeof revision, "main");
    for (size_t i = 0; i < files.n; i++) {
        const char *file = files.items[i].path, *type = type_of(file);
        if (!hub_files_is_model(&files, i)) continue;
        hub_cache_snapshot(cache, commit, file, path);
        if (!type || !part_found(cache, repository, revision, type, path, found, user))
            part_found(cache, repository, revision, file, path, found, user);
    }
    hub_files_free(&files);
    hub_cache_snapshot(cache, commit, "", path);
    part_found(cache, repository, revision, "safetensors", path, found, user);
}

void hub_here_walk(const hub_cache *cache, const char *repository, hub_found *found, void *user)
{
    size_t n;
    hub_commit *commits = hub_cache_commits(cache, "main", &n);
    for (size_t i = 0; i < n; i++) snapshot_walk(cache, commits[i], repository, found, user);
    free(commits);
}

/* --------------------------------------------------------------------- removing */

static bool any_chosen(const hub_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->items[i].is_chosen) return true;
    return false;
}

/* Removes the files of the name from a snapshot. *n_removed: their number. Errors: as well ARGUMENT, where the snapshot
 * has no such files. */
static vouch_status remove_from(const hub_cache *cache, const char *commit, const hub_name *name, size_t *n_removed,
                                hub_removal *removal, vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    hub_files files;
    size_t entry, n = 0;
    hub_cache_snapshot(cache, commit, "", path);
    vouch_status status = hub_files_read(&files, path, err);
    if (status) return status;
    const char **chosen = calloc(files.n + 1, sizeof *chosen);
    if (!chosen) {
        err->code = status = VOUCH_E_MEMORY;
        snprintf(err->message, sizeof err->message, "not enough memory for the list of files");
    }
    if (!status) status = hub_files_choose(&files, name, &entry, err);
    for (hub_role role = HUB_MODEL + 1; status == VOUCH_E_ARGUMENT && !any_chosen(&files) && role < HUB_ROLES; role++) {
        vouch_error ignored; /* the first error stays */
        hub_name other = *name;
        other.role = role;
        if (!hub_files_choose(&files, &other, &entry, &ignored)) status = VOUCH_OK;
    }
    for (size_t i = 0; chosen && i < files.n; i++)
        if (files.items[i].is_chosen) chosen[n++] = files.items[i].path;
    /* A split file with missing parts is no model, but the name stands for its parts all the same: they are removed. */
    if (n > 0) status = hub_cache_remove_files(cache, commit, chosen, n, removal, err);
    *n_removed += n;
    free(chosen);
    hub_files_free(&files);
    return status;
}

static vouch_status remove_from_all(const hub_cache *cache, const hub_name *name, const char *word,
                                    hub_removal *removal, vouch_error *err)
{
    vouch_status status = VOUCH_OK, first = VOUCH_OK;
    vouch_error e, first_error;
    size_t n, n_removed = 0;
    hub_commit *commits = hub_cache_commits(cache, name->revision, &n);
    for (size_t i = 0; (!status || status == VOUCH_E_ARGUMENT) && i < n; i++) {
        status = remove_from(cache, commits[i], name, &n_removed, removal, &e);
        if (status && !first) {
            first = status;
            first_error = e;
        }
    }
    free(commits);
    if (n == 0) {
        err->code = first = VOUCH_E_ARGUMENT;
        snprintf(err->message, sizeof err->message, "%.200s: no file of it is here; `vouch list` prints what is", word);
        return first;
    }
    if (status && status != VOUCH_E_ARGUMENT) *err = e;
    else if (n_removed > 0) return VOUCH_OK;
    else {
        *err = first_error;
        return first;
    }
    return status;
}

vouch_status hub_here_remove(const hub_cache *cache, const hub_name *name, const char *word, hub_removal *removal,
                             vouch_error *err)
{
    char commit[HUB_NAME_SIZE], path[VOUCH_OS_PATH_SIZE];
    size_t n_removed = 0;
    vouch_os_info info;
    if (!name->has_revision)
        return *name->part ? remove_from_all(cache, name, word, removal, err) : hub_cache_remove(cache, removal, err);
    const bool is_known = hub_cache_commit(cache, name->revision, commit);
    hub_cache_snapshot(cache, commit, "", path);
    if (!is_known || !vouch_os_info_of(path, &info)) {
        err->code = VOUCH_E_ARGUMENT;
        snprintf(err->message, sizeof err->message, "%.200s: no such revision is here", word);
        return err->code;
    }
    if (*name->part) return remove_from(cache, commit, name, &n_removed, removal, err);
    return hub_cache_remove_snapshot(cache, commit, removal, err);
}
