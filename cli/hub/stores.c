/* SPDX-License-Identifier: MIT */
#include "hub/stores.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/files.h"
#include "tool/file.h"

#define OWN_REGISTRY "registry.ollama.ai"

/* Ollama names files by digests such as sha256:9f86...; the file is sha256-9f86... */
static bool blob_path(const hub_places *places, const char *digest, char path[VOUCH_OS_PATH_SIZE])
{
    static const char begin[] = "sha256:";
    const size_t n = sizeof begin - 1;
    if (!digest || strncmp(digest, begin, n) != 0 || strlen(digest) != n + 64) return false;
    if (strspn(digest + n, "0123456789abcdef") != 64) return false;
    return snprintf(path, VOUCH_OS_PATH_SIZE, "%s/blobs/sha256-%s", places->ollama, digest + n) < VOUCH_OS_PATH_SIZE;
}

/* The weights that a manifest names. */
static vouch_status manifest_read(const hub_places *places, const char *manifest, char path[VOUCH_OS_PATH_SIZE],
                                  vouch_error *err)
{
    char *text;
    size_t n;
    const vouch_status status = tool_file_read(manifest, &text, &n, err);
    if (status) return status;
    json_t *root = json_loadb(text, n, 0, NULL);
    const json_t *layers = json_object_get(root, "layers");
    bool is_found = false;
    for (size_t i = 0; !is_found && i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i);
        const char *type = json_string_value(json_object_get(layer, "mediaType"));
        is_found = type && strcmp(type, "application/vnd.ollama.image.model") == 0 &&
                   blob_path(places, json_string_value(json_object_get(layer, "digest")), path);
    }
    json_decref(root);
    free(text);
    if (is_found) return VOUCH_OK;
    err->code = VOUCH_E_FORMAT;
    snprintf(err->message, sizeof err->message, "%.300s: no layer of Ollama's manifest has weights", manifest);
    return err->code;
}

/* "library/qwen3/4b" of the own registry is qwen3:4b, "hf.co/OWNER/NAME/TAG" is hf.co/OWNER/NAME:TAG. */
static void name_write(const char *manifest, char *name, size_t size)
{
    static const char own[] = OWN_REGISTRY "/", library[] = "library/";
    if (strncmp(manifest, own, sizeof own - 1) == 0) {
        manifest += sizeof own - 1;
        if (strncmp(manifest, library, sizeof library - 1) == 0) manifest += sizeof library - 1;
    }
    const char *slash = strrchr(manifest, '/');
    snprintf(name, size, "ollama:%.*s:%s", (int)(slash ? slash - manifest : 0), manifest, slash ? slash + 1 : manifest);
}

static void ollama_walk(const hub_places *places, hub_found *found, void *user)
{
    char folder[VOUCH_OS_PATH_SIZE], path[VOUCH_OS_PATH_SIZE], name[VOUCH_OS_PATH_SIZE];
    hub_files files;
    vouch_error ignored;
    if (snprintf(folder, sizeof folder, "%s/manifests", places->ollama) >= VOUCH_OS_PATH_SIZE) return;
    if (hub_files_read(&files, folder, &ignored)) return;
    for (size_t i = 0; i < files.n; i++) {
        char manifest[VOUCH_OS_PATH_SIZE];
        if (snprintf(manifest, sizeof manifest, "%s/%s", folder, files.items[i].path) >= VOUCH_OS_PATH_SIZE) continue;
        if (manifest_read(places, manifest, path, &ignored)) continue;
        name_write(files.items[i].path, name, sizeof name);
        found(user, name, path);
    }
    hub_files_free(&files);
}

static void folder_walk(const char *folder, hub_found *found, void *user)
{
    hub_files files;
    vouch_error ignored;
    if (hub_files_read(&files, folder, &ignored)) return;
    for (size_t i = 0; i < files.n; i++) {
        char path[VOUCH_OS_PATH_SIZE];
        const char *at = files.items[i].path, *part = strstr(at, "-of-");
        const size_t n = strlen(at);
        const bool is_first = !part || part - at < 6 || strncmp(part - 6, "-00001", 6) == 0;
        if (n < 6 || strcmp(at + n - 5, ".gguf") != 0 || strstr(at, "mmproj") || !is_first) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, at) < VOUCH_OS_PATH_SIZE) found(user, path, path);
    }
    hub_files_free(&files);
}

void hub_stores_walk(const hub_places *places, hub_found *found, void *user)
{
    ollama_walk(places, found, user);
    folder_walk(places->own, found, user);
    folder_walk(places->lm_studio, found, user);
    folder_walk(places->llama_cpp, found, user);
}

typedef struct names {
    char text[120];
    size_t n;
} names;

static void name_add(void *user, const char *name, const char *path)
{
    names *list = user;
    const size_t used = strlen(list->text);
    (void)path;
    if (strncmp(name, "ollama:", 7) == 0 && used + strlen(name) + 3 < sizeof list->text)
        snprintf(list->text + used, sizeof list->text - used, "%s%s", list->n++ ? ", " : "", name);
}

vouch_status hub_ollama_find(const hub_places *places, const char *name, const char *tag, char path[VOUCH_OS_PATH_SIZE],
                             vouch_error *err)
{
    char manifest[VOUCH_OS_PATH_SIZE];
    const char *slash = strchr(name, '/');
    const bool has_host = slash && strchr(slash + 1, '/');
    const int n = snprintf(manifest, sizeof manifest, "%s/manifests/%s%s%s/%s", places->ollama,
                           has_host ? "" : OWN_REGISTRY "/", slash ? "" : "library/", name, tag);
    if (n < VOUCH_OS_PATH_SIZE && vouch_os_exists(manifest)) return manifest_read(places, manifest, path, err);
    names list = {"", 0};
    ollama_walk(places, name_add, &list);
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message, "ollama:%.100s:%.60s: Ollama holds no such model in %.100s%s%.120s",
             name, tag, places->ollama, *list.text ? "; it holds " : "; `ollama pull` fetches it", list.text);
    return err->code;
}
