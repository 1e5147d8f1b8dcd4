/* SPDX-License-Identifier: MIT */
#include "hub/files.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/os.h"

static const char *const types[] = {"Q4_K_M", "Q4_K_XL", "Q4_K_S", "Q4_0",   "Q4_1",    "IQ4_NL", "IQ4_XS", "MXFP4",
                                    "Q5_K_M", "Q5_K_S",  "Q5_0",   "Q5_1",   "Q6_K",    "Q8_0",   "BF16",   "F16",
                                    "Q3_K_L", "Q3_K_M",  "IQ3_M",  "Q3_K_S", "IQ3_XXS", "Q2_K",   "F32"};

const char *hub_type(size_t i)
{
    return i < sizeof types / sizeof *types ? types[i] : NULL;
}

static vouch_status files_fail(vouch_error *err, vouch_status code, const char *what, const char *reason)
{
    err->code = code;
    snprintf(err->message, sizeof err->message, "%.200s: %s", what, reason);
    return code;
}

void hub_files_free(hub_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->items[i].path);
        free(files->items[i].digest);
    }
    free(files->items);
    *files = (hub_files){0};
}

/* Takes copies. False: no memory. */
static bool files_add(hub_files *files, const char *path, int64_t size, const char *digest)
{
    if ((files->n & (files->n - 1)) == 0) { /* 0, 1, 2, 4, ...: as many more */
        hub_file *larger = realloc(files->items, (2 * files->n + 1) * sizeof *larger);
        if (!larger) return false;
        files->items = larger;
    }
    hub_file *f = &files->items[files->n++];
    *f = (hub_file){.path = strdup(path), .size = size, .digest = digest ? strdup(digest) : NULL};
    return f->path && (!digest || f->digest);
}

/* ------------------------------------------------------------------------ lists */

/* A path of the repository becomes one below the cache: it may not lead out. */
static bool is_safe_path(const char *path)
{
    if (*path == '/' || !*path || strlen(path) > 1024 || strchr(path, '\\')) return false;
    for (const char *at = path; at;) {
        const size_t n = strcspn(at, "/");
        if (n == 0 || n > 255 || (n == 1 && *at == '.') || (n == 2 && strncmp(at, "..", 2) == 0)) return false;
        at = at[n] ? at + n + 1 : NULL;
    }
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) return false;
    return true;
}

static bool is_hex(const char *text, size_t n)
{
    return strlen(text) == n && strspn(text, "0123456789abcdef") == n;
}

static vouch_status sibling_add(hub_files *files, const json_t *sibling, const char *what, vouch_error *err)
{
    const char *path = json_string_value(json_object_get(sibling, "rfilename"));
    const json_t *lfs = json_object_get(sibling, "lfs");
    const char *digest = json_string_value(json_object_get(lfs, "sha256"));
    const json_t *size = json_object_get(lfs, "size");
    if (!digest) digest = json_string_value(json_object_get(sibling, "blobId"));
    if (!json_is_integer(size)) size = json_object_get(sibling, "size");
    if (!path || !is_safe_path(path))
        return files_fail(err, VOUCH_E_FORMAT, what, "the hub's list has a file without a usable `rfilename`");
    if (!digest || !is_hex(digest, json_is_object(lfs) ? 64 : 40))
        return files_fail(err, VOUCH_E_FORMAT, path, "the hub's list has no digest (`lfs.sha256` or `blobId`)");
    if (!json_is_integer(size) || json_integer_value(size) < 0)
        return files_fail(err, VOUCH_E_FORMAT, path, "the hub's list has no `size`");
    return files_add(files, path, json_integer_value(size), digest)
               ? VOUCH_OK
               : files_fail(err, VOUCH_E_MEMORY, what, "not enough memory for the list of files");
}

vouch_status hub_files_parse(hub_files *files, const char *text, size_t n, const char *what, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    json_t *root = json_loadb(text, n, 0, NULL);
    const json_t *siblings = json_object_get(root, "siblings");
    const char *commit = json_string_value(json_object_get(root, "sha"));
    *files = (hub_files){0};
    if (!root)
        status = files_fail(err, VOUCH_E_FORMAT, what,
                            "the hub's answer is no JSON: a proxy or a sign-in page may answer for the hub");
    else if (!commit || !is_hex(commit, 40))
        status = files_fail(err, VOUCH_E_FORMAT, what, "the hub's answer has no commit in `sha`");
    else if (!json_is_array(siblings))
        status = files_fail(err, VOUCH_E_FORMAT, what, "the hub's answer has no list of files in `siblings`");
    else snprintf(files->commit, sizeof files->commit, "%s", commit);
    for (size_t i = 0; !status && i < json_array_size(siblings); i++)
        status = sibling_add(files, json_array_get(siblings, i), what, err);
    json_decref(root);
    if (status) hub_files_free(files);
    return status;
}

/* Adds what lies below folder/path. Links count as what they lead to. */
static vouch_status folder_add(hub_files *files, const char *folder, const char *path, int depth, vouch_error *err)
{
    char full[VOUCH_OS_PATH_SIZE], below[VOUCH_OS_PATH_SIZE];
    char **names;
    vouch_status status = VOUCH_OK;
    snprintf(full, sizeof full, "%s%s%s", folder, *path ? "/" : "", path);
    const ptrdiff_t n = vouch_os_folder_list(full, &names);
    if (n < 0) return files_fail(err, VOUCH_E_IO, full, strerror(errno));
    for (ptrdiff_t i = 0; i < n; i++) {
        vouch_os_info info;
        const char *name = names[i];
        const int length = snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", name);
        const bool fits = snprintf(full, sizeof full, "%s/%s", folder, below) < VOUCH_OS_PATH_SIZE && length < 1024;
        if (!status && fits && *name != '.' && vouch_os_info_of(full, &info)) {
            if (info.kind == VOUCH_OS_FOLDER && depth < 8) status = folder_add(files, folder, below, depth + 1, err);
            else if (info.kind == VOUCH_OS_FILE && !files_add(files, below, info.size, NULL))
                status = files_fail(err, VOUCH_E_MEMORY, folder, "not enough memory for the list of files");
        }
    }
    vouch_os_names_free(names, n);
    return status;
}

vouch_status hub_files_read(hub_files *files, const char *folder, vouch_error *err)
{
    *files = (hub_files){0};
    const vouch_status status = folder_add(files, folder, "", 0, err);
    if (status) hub_files_free(files);
    return status;
}

/* ----------------------------------------------------------------------- choice */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool has_mark(const char *path, const char *const *marks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasestr(last_part(path), marks[i])) return true;
    return false;
}

bool hub_is_drafter(const char *path)
{
    static const char *const marks[] = {"mtp-", "eagle3", "dflash", "dspark", "-assistant"};
    return has_mark(path, marks, sizeof marks / sizeof *marks);
}

/* Length of a GGUF file's name without ".gguf" and "-00001-of-00003". *part and *n_parts: 1 and 1 where it isn't
 * split. 0: no GGUF file. */
static size_t stem_length(const char *path, int *part, int *n_parts)
{
    const size_t n = strlen(path);
    *part = *n_parts = 1;
    if (n < 6 || strcasecmp(path + n - 5, ".gguf") != 0) return 0;
    const size_t stem = n - 5;
    const char *end = path + stem - 15; /* "-00001-of-00003" */
    if (stem <= 15 || end[0] != '-' || strncmp(end + 6, "-of-", 4) != 0) return stem;
    if (strspn(end + 1, "0123456789") != 5 || strspn(end + 10, "0123456789") != 5) return stem;
    *part = (int)strtol(end + 1, NULL, 10);
    *n_parts = (int)strtol(end + 10, NULL, 10);
    return stem - 15;
}

bool hub_is_of_type(const char *path, const char *type)
{
    int part, n_parts;
    const size_t stem = stem_length(path, &part, &n_parts), n = strlen(type);
    return stem >= n && strncasecmp(path + stem - n, type, n) == 0 && (stem == n || strchr("-._/", path[stem - n - 1]));
}

/* Are both parts of one file? */
static bool is_same_model(const char *a, const char *b)
{
    int part, n_parts;
    const size_t n = stem_length(a, &part, &n_parts);
    return n > 0 && n == stem_length(b, &part, &n_parts) && strncmp(a, b, n) == 0;
}

/* Marks all parts of a file; false where one is missing. *entry becomes the first. */
static bool choose_parts(hub_files *files, size_t i, size_t *entry)
{
    int part, n_parts, n_found = 0, n_expected;
    stem_length(files->items[i].path, &part, &n_expected);
    for (size_t j = 0; j < files->n; j++) {
        if (!is_same_model(files->items[i].path, files->items[j].path)) continue;
        stem_length(files->items[j].path, &part, &n_parts);
        files->items[j].is_chosen = true;
        n_found++;
        if (part == 1) *entry = j;
    }
    return n_found == n_expected;
}

/* Kinds of GGUF files, by their names. A file that only "-assistant" marks is a HEAD and an ASSISTANT. */
typedef enum file_kind { PLAIN, HEAD, TABLE, ASSISTANT, COMPANION } file_kind;

static bool is_of_kind(const char *path, file_kind kind)
{
    static const char *const unused[] = {"mmproj", "imatrix", "-vocab"};
    static const char *const sure[] = {"mtp-", "eagle3", "dflash", "dspark"};
    int part, n_parts;
    if (stem_length(path, &part, &n_parts) == 0 || part != 1) return false;
    const bool is_unused = has_mark(path, unused, sizeof unused / sizeof *unused);
    const bool is_table = strcasestr(last_part(path), ".table.gguf");
    const bool has_end = strcasestr(last_part(path), ".head.gguf");
    const bool is_head = !is_unused && !is_table && (has_end || hub_is_drafter(path));
    switch (kind) {
    case PLAIN: return !is_unused && !is_table && !is_head;
    case HEAD: return is_head;
    case TABLE: return is_table && !is_unused;
    case ASSISTANT: return is_head && !has_end && !has_mark(path, sure, sizeof sure / sizeof *sure);
    case COMPANION: return is_unused || is_table || is_head;
    }
    return false;
}

bool hub_is_of_role(const char *path, hub_role role)
{
    return is_of_kind(path, role == HUB_HEAD ? HEAD : role == HUB_TABLE ? TABLE : PLAIN);
}

static bool has_kind(const hub_files *files, file_kind kind)
{
    for (size_t i = 0; i < files->n; i++)
        if (is_of_kind(files->items[i].path, kind)) return true;
    return false;
}

/* The files that a role's is chosen among. */
static file_kind kind_for(const hub_files *files, hub_role role)
{
    bool has_config = false;
    if (role == HUB_HEAD && has_kind(files, HEAD)) return HEAD;
    if (role == HUB_TABLE && has_kind(files, TABLE)) return TABLE;
    for (size_t i = 0; i < files->n; i++) has_config |= strcmp(files->items[i].path, "config.json") == 0;
    return !has_config && !has_kind(files, PLAIN) && has_kind(files, ASSISTANT) ? ASSISTANT : PLAIN;
}

bool hub_files_is_model(const hub_files *files, size_t i)
{
    return is_of_kind(files->items[i].path, kind_for(files, HUB_MODEL));
}

/* "a.gguf, b.gguf", as far as it fits */
static void names_write(const hub_files *files, file_kind kind, char *text, size_t size)
{
    size_t used = 0, n = 0;
    *text = '\0';
    for (size_t i = 0; i < files->n; i++) {
        const char *name = last_part(files->items[i].path);
        if (!is_of_kind(files->items[i].path, kind)) continue;
        if (used + strlen(name) + 8 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", n++ ? ", " : "", name);
    }
}

/* The files of a folder of safetensors: weights and what is read beside them. */
static bool choose_folder(hub_files *files, size_t *entry)
{
    static const char *const others[] = {"config.json",
                                         "generation_config.json",
                                         "tokenizer.json",
                                         "tokenizer_config.json",
                                         "tokenizer.model",
                                         "special_tokens_map.json",
                                         "added_tokens.json",
                                         "vocab.json",
                                         "merges.txt",
                                         "chat_template.jinja",
                                         "chat_template.json",
                                         "model.safetensors.index.json",
                                         "1_Pooling/config.json",
                                         "2_Dense/config.json"};
    bool has_config = false, has_weights = false;
    for (size_t i = 0; i < files->n; i++) {
        hub_file *f = &files->items[i];
        const size_t n = strlen(f->path);
        const bool is_weight = n > 12 && strcmp(f->path + n - 12, ".safetensors") == 0 && !strchr(f->path, '/');
        bool is_other = false;
        for (size_t j = 0; j < sizeof others / sizeof *others; j++) is_other |= strcmp(f->path, others[j]) == 0;
        if (!is_weight && !is_other) continue;
        f->is_chosen = true;
        has_weights |= is_weight;
        if (strcmp(f->path, "config.json") == 0) {
            has_config = true;
            *entry = i;
        }
    }
    return has_config && has_weights;
}

static vouch_status choose_fail(const hub_files *files, const hub_name *name, const char *reason, vouch_error *err)
{
    char names[300];
    names_write(files, kind_for(files, name->role), names, sizeof names);
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message, "%.100s%s%.60s: %s%s%s", name->repository, *name->part ? ":" : "",
             name->part, reason, *names ? "; it has " : "", names);
    return err->code;
}

static vouch_status choose_file(hub_files *files, const hub_name *name, size_t *entry, vouch_error *err)
{
    for (size_t i = 0; i < files->n; i++) {
        if (strcmp(files->items[i].path, name->part) != 0) continue;
        *entry = i;
        files->items[i].is_chosen = true;
        return choose_parts(files, i, entry) || !is_of_kind(name->part, PLAIN)
                   ? VOUCH_OK
                   : choose_fail(files, name, "a part of the file is missing in the repository", err);
    }
    return choose_fail(files, name, "the repository has no such file", err);
}

/* Why nothing of a repository was chosen that has no file of the kind, and no folder. */
static vouch_status choose_none(const hub_files *files, const hub_name *name, vouch_error *err)
{
    char names[200];
    if (!has_kind(files, COMPANION))
        return choose_fail(files, name,
                           "the repository has neither a GGUF file nor a folder of safetensors with config.json", err);
    names_write(files, COMPANION, names, sizeof names);
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message,
             "%.100s: %s has only files that go with a model: %s; give its name to --head or --draft-table, or write "
             "OWNER/NAME:FILE.gguf",
             name->repository, name->role == HUB_MODEL ? "the repository is no model's, and" : "the repository", names);
    return err->code;
}

/* type NULL: any. Sets *n_found to the number of files of the kind; *entry to the last. */
static void find_type(const hub_files *files, file_kind kind, const char *type, size_t *n_found, size_t *entry)
{
    *n_found = 0;
    for (size_t i = 0; i < files->n; i++) {
        const char *path = files->items[i].path;
        if (!is_of_kind(path, kind) || (type && !hub_is_of_type(path, type))) continue;
        *entry = i;
        ++*n_found;
    }
}

vouch_status hub_files_choose(hub_files *files, const hub_name *name, size_t *entry, vouch_error *err)
{
    size_t n_found = 0, n_models = 0;
    const file_kind kind = kind_for(files, name->role);
    for (size_t i = 0; i < files->n; i++) files->items[i].is_chosen = false;
    if (hub_is_model_file(name->part)) return choose_file(files, name, entry, err);
    const bool is_folder = strcasecmp(name->part, "safetensors") == 0;
    if (*name->part && !is_folder) find_type(files, kind, name->part, &n_found, entry);
    for (size_t i = 0; !*name->part && n_found == 0 && hub_type(i); i++)
        find_type(files, kind, hub_type(i), &n_found, entry);
    if (n_found == 0 && !*name->part) { /* a single file may have any name */
        find_type(files, kind, NULL, &n_models, entry);
        if (n_models == 1) n_found = 1;
    }
    if (n_found > 1) return choose_fail(files, name, "several files have this type; write OWNER/NAME:FILE.gguf", err);
    if (n_found == 1)
        return choose_parts(files, *entry, entry)
                   ? VOUCH_OK
                   : choose_fail(files, name, "a part of the file is missing in the repository", err);
    const bool has_any = has_kind(files, kind) || !has_kind(files, COMPANION);
    if (*name->part && !is_folder && has_any)
        return choose_fail(files, name, "the repository has no file of this type", err);
    if (n_models > 1) return choose_fail(files, name, "no file says its type; write OWNER/NAME:FILE.gguf", err);
    if ((!*name->part || is_folder) && choose_folder(files, entry)) return VOUCH_OK;
    return choose_none(files, name, err);
}

bool hub_files_choose_drafter(hub_files *files)
{
    hub_file *best = NULL;
    for (size_t i = 0; i < files->n; i++) {
        hub_file *f = &files->items[i];
        int part, n_parts;
        const bool is_whole = stem_length(f->path, &part, &n_parts) > 0 && n_parts == 1;
        if (is_whole && !f->is_chosen && hub_is_drafter(f->path) && (!best || f->size < best->size)) best = f;
    }
    if (best) best->is_chosen = true;
    return best != NULL;
}
