/* SPDX-License-Identifier: MIT */
#include "format/open/hf_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hf/hf_check.h"
#include "format/hf/hf_gemma4.h"
#include "format/hf/hf_head.h"
#include "format/hf/hf_keys.h"
#include "format/hf/hf_pooling.h"
#include "format/hf/hf_sampling.h"
#include "format/hf/hf_tensors.h"
#include "format/hf/vocabulary/hf_tokenizer.h"
#include "os/os.h"

#define SINGLE "model.safetensors"
#define INDEX  "model.safetensors.index.json"
#define MEDUSA "medusa_lm_head.safetensors"
#define MASK "mask_embedding.safetensors" /* DFlash: an embedding for masks alone */

/* The open files of a folder, while it is being read. */
typedef struct opening {
    const char *folder;
    vouch_json config, index;
    vouch_safetensors *files; /* [n_files] */
    const char **names;       /* [n_files] file names in the folder */
    size_t n_files;
    vouch_hf_shape shape;
    char *unknown; /* members of config.json that vouch doesn't know; NULL: none */
    vouch_error *err;
} opening;

static char *path_join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static bool has_file(const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    const bool found = path && vouch_os_exists(path);
    free(path);
    return found;
}

bool vouch_hf_folder_has_weights(const char *folder)
{
    return has_file(folder, SINGLE) || has_file(folder, INDEX);
}

/* ------------------------------------------------------------ safetensors */

static vouch_status file_open(opening *o, const char *name)
{
    char *path = path_join(o->folder, name);
    if (!path) return vouch_fail(o->err, VOUCH_E_MEMORY, "%s: not enough memory", name);
    const vouch_status status = vouch_safetensors_open(&o->files[o->n_files], path, o->err);
    free(path);
    if (status == VOUCH_OK) o->names[o->n_files++] = name;
    return status;
}

/* Makes room for so many files, and for that of a mask's embedding. */
static vouch_status files_allocate(opening *o, size_t most)
{
    o->files = calloc(most + 1, sizeof *o->files);
    o->names = calloc(most + 1, sizeof *o->names);
    if (o->files && o->names) return VOUCH_OK;
    return vouch_fail(o->err, VOUCH_E_MEMORY, "%s: not enough memory for %zu files", vouch_path_tail(o->folder), most);
}

static int text_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Checks the file that the index names for a tensor: it must lie in this folder. */
static vouch_status check_shard(const opening *o, const char *tensor, const json_t *value)
{
    const char *name = json_string_value(value), *end = name ? strrchr(name, '.') : NULL;
    if (name && !strchr(name, '/') && *name != '.' && end && strcmp(end, ".safetensors") == 0) return VOUCH_OK;
    return vouch_fail(o->err, VOUCH_E_FORMAT,
                      "%s: weight_map: tensor '%.100s' is in '%.100s', expected a .safetensors file of this folder",
                      o->index.path, tensor, name ? name : "(no string)");
}

/* Opens the files of the index, in the order of their names. */
static vouch_status shards_open(opening *o)
{
    const json_t *map = NULL;
    const char *tensor;
    json_t *value;
    size_t n = 0;
    VOUCH_TRY(vouch_json_nested(&o->index, o->index.root, "weight_map", JSON_OBJECT, &map, o->err));
    if (!map) return vouch_fail(o->err, VOUCH_E_FORMAT, "%s: weight_map is missing", o->index.path);
    const char **names = calloc(json_object_size(map) + 1, sizeof *names);
    if (!names) return vouch_fail(o->err, VOUCH_E_MEMORY, "%s: not enough memory", o->index.path);
    vouch_status status = VOUCH_OK;
    json_object_foreach((json_t *)(uintptr_t)map, tensor, value) {
        if (status == VOUCH_OK) status = check_shard(o, tensor, value);
        names[n++] = json_string_value(value);
    }
    if (status == VOUCH_OK) {
        qsort(names, n, sizeof *names, text_compare);
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) names[kept++] = names[i];
        n = kept;
        status = files_allocate(o, n);
    }
    for (size_t i = 0; i < n && status == VOUCH_OK; i++) status = file_open(o, names[i]);
    free(names);
    return status;
}

/* Each tensor must be where the index says. So none is in two files, and none is missing. */
static vouch_status shards_check(const opening *o)
{
    const json_t *map = json_object_get(o->index.root, "weight_map");
    size_t n = 0;
    for (size_t i = 0; i < o->n_files; i++)
        for (size_t t = 0; t < o->files[i].n; t++, n++) {
            const char *name = o->files[i].tensors[t].name;
            const char *expected = json_string_value(json_object_get(map, name));
            if (!expected || strcmp(expected, o->names[i]) != 0)
                return vouch_fail(o->err, VOUCH_E_FORMAT, "%s: tensor '%.100s' is in %.100s; weight_map says %.100s",
                                  o->index.path, name, o->names[i], expected ? expected : "nothing");
        }
    if (n == json_object_size(map)) return VOUCH_OK;
    return vouch_fail(o->err, VOUCH_E_FORMAT, "%s: weight_map names %zu tensors, but the files have %zu", o->index.path,
                      json_object_size(map), n);
}

/* Opens the file of a mask's embedding, where the folder has one. */
static vouch_status mask_open(opening *o)
{
    if (has_file(o->folder, MASK)) return file_open(o, MASK);
    for (size_t i = 0; i < o->n_files; i++)
        for (size_t t = 0; t < o->files[i].n; t++)
            if (strcmp(o->files[i].tensors[t].name, "mask_embedding") == 0) return VOUCH_OK;
    if (!has_file(o->folder, "mask_embedding.pt")) return VOUCH_OK;
    return vouch_fail(o->err, VOUCH_E_UNSUPPORTED,
                      "%s: has the embedding of masks in mask_embedding.pt, which can run code; save it as " MASK
                      " (docs/heads.md)",
                      vouch_path_tail(o->folder));
}

static vouch_status weights_open(opening *o)
{
    static const char *const pickled[] = {"pytorch_model.bin", "pytorch_model.bin.index.json", "medusa_lm_head.pt"};
    VOUCH_TRY(vouch_json_open(&o->index, o->folder, INDEX, false, o->err));
    if (o->index.root) {
        VOUCH_TRY(shards_open(o));
        VOUCH_TRY(shards_check(o));
        return mask_open(o);
    }
    const char *single = has_file(o->folder, SINGLE) || !has_file(o->folder, MEDUSA) ? SINGLE : MEDUSA;
    if (has_file(o->folder, single)) {
        VOUCH_TRY(files_allocate(o, 1));
        VOUCH_TRY(file_open(o, single));
        return mask_open(o);
    }
    for (size_t i = 0; i < sizeof pickled / sizeof pickled[0]; i++)
        if (has_file(o->folder, pickled[i]))
            return vouch_fail(o->err, VOUCH_E_UNSUPPORTED,
                              "%s: has its weights in %s, which can run code; use the safetensors of the model, "
                              "or save them as " SINGLE " (docs/heads.md)",
                              vouch_path_tail(o->folder), pickled[i]);
    return vouch_fail(o->err, VOUCH_E_FORMAT, "%s: has no " SINGLE " and no " INDEX, o->folder);
}

/* -------------------------------------------------------------------- keys */

/* The last part of the folder's path, as the model's name. */
static void add_name(vouch_gguf_writer *keys, const char *folder)
{
    char *path = vouch_os_path_resolve(folder);
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (slash && slash[1]) vouch_gguf_add_text(keys, "general.name", slash + 1);
    free(path);
}

/* A model for pictures has a text model of one of the family's types, which may be a family of its own. */
static vouch_status text_family(const opening *o, const vouch_hf_family **family)
{
    const json_t *text = NULL;
    const char *type = NULL, *path = o->config.path;
    if (!(*family)->texts) return VOUCH_OK;
    VOUCH_TRY(vouch_json_nested(&o->config, o->config.root, "text_config", JSON_OBJECT, &text, o->err));
    VOUCH_TRY(vouch_json_text(&o->config, text, "model_type", false, &type, o->err));
    if (type && !vouch_hf_list_has((*family)->texts, '|', type))
        return vouch_fail(o->err, VOUCH_E_UNSUPPORTED,
                          "%s: text_config.model_type is '%.40s'; for model_type '%s' vouch supports %s", path, type,
                          (*family)->model_type, (*family)->texts);
    const vouch_hf_family *own = *family;
    if (type) VOUCH_TRY(vouch_hf_family_find(type, path, &own, o->err));
    if (strcmp(own->arch, (*family)->arch) == 0) *family = own;
    return VOUCH_OK;
}

/* Models for pictures have the text model's members in text_config: copies them to the top. Only tie_word_embeddings
 * is the whole model's, where it has one. Adds the family's defaults. */
static vouch_status config_complete(const opening *o, const vouch_hf_family *family)
{
    static const char tie[] = "tie_word_embeddings";
    json_t *root = o->config.root;
    const json_t *nested = NULL;
    VOUCH_TRY(vouch_json_nested(&o->config, root, "text_config", JSON_OBJECT, &nested, o->err));
    json_t *text = json_incref((json_t *)(uintptr_t)nested); /* the update may free root's text_config */
    json_t *is_tied = json_incref((json_t *)(uintptr_t)vouch_json_find(root, tie));
    json_t *defaults = family->defaults ? json_loads(family->defaults, 0, NULL) : NULL;
    bool is_complete = !family->defaults || defaults;
    if (text) is_complete &= json_object_update(root, text) == 0;
    if (is_tied) is_complete &= json_object_set(root, tie, is_tied) == 0;
    if (defaults) is_complete &= json_object_update_missing(root, defaults) == 0;
    json_decref(defaults);
    json_decref(is_tied);
    json_decref(text);
    return is_complete ? VOUCH_OK : vouch_fail(o->err, VOUCH_E_MEMORY, "%s: not enough memory", o->config.path);
}

static vouch_status keys_make(opening *o, const vouch_hf_family **family, void **bytes, size_t *size)
{
    const char *model_type = NULL;
    vouch_gguf_writer *keys;
    const vouch_hf_family *head = *family = vouch_hf_head_find(o->files, o->n_files);
    if (!head) {
        VOUCH_TRY(vouch_json_text(&o->config, o->config.root, "model_type", true, &model_type, o->err));
        VOUCH_TRY(vouch_hf_family_find(model_type, o->config.path, family, o->err));
        VOUCH_TRY(text_family(o, family));
    }
    VOUCH_TRY(config_complete(o, *family));
    VOUCH_TRY(vouch_hf_keys_check(&o->config, *family, &o->unknown, o->err));
    VOUCH_TRY(vouch_gguf_writer_open(&keys, o->err));
    add_name(keys, o->folder);
    vouch_hf_config_fn *const read = head                           ? vouch_hf_head_read
                                     : (*family)->has_two_rotations ? vouch_hf_gemma4_read
                                                                    : vouch_hf_config_read;
    vouch_status status = read(&o->config, *family, keys, &o->shape, o->err);
    if (status == VOUCH_OK && !head)
        status = vouch_hf_tokenizer_add(keys, o->folder, (int32_t)o->shape.n_vocab, o->err);
    if (status == VOUCH_OK && !head) status = vouch_hf_sampling_add(keys, o->folder, o->err);
    if (status == VOUCH_OK && !head) status = vouch_hf_pooling_add(keys, (*family)->arch, o->folder, o->err);
    if (status == VOUCH_OK && !vouch_gguf_writer_has(keys, "tokenizer.ggml.model"))
        vouch_gguf_add_text(keys, "tokenizer.ggml.model", "none"); /* llama.cpp refuses a file without the key */
    if (status == VOUCH_OK) status = vouch_gguf_write_bytes(keys, bytes, size, o->err);
    vouch_gguf_writer_close(keys);
    return status;
}

/* ------------------------------------------------------------------ folder */

/* Hands the maps of the opened files over to the model. */
static vouch_status files_move(const opening *o, vouch_gguf *gguf)
{
    gguf->files = calloc(o->n_files + 1, sizeof *gguf->files);
    if (!gguf->files) return vouch_fail(o->err, VOUCH_E_MEMORY, "%s: not enough memory", vouch_path_tail(o->folder));
    for (size_t i = 0; i < o->n_files; i++) {
        char *path = path_join(gguf->path, o->names[i]);
        if (!path) return vouch_fail(o->err, VOUCH_E_MEMORY, "%s: not enough memory", vouch_path_tail(o->folder));
        gguf->files[gguf->n_files++] = (vouch_gguf_file){path, o->files[i].map};
    }
    return VOUCH_OK;
}

static vouch_status model_make(vouch_gguf **out, opening *o)
{
    const vouch_hf_family *family;
    void *bytes = NULL;
    size_t size;
    VOUCH_TRY(keys_make(o, &family, &bytes, &size));
    vouch_status status = vouch_gguf_open_bytes(out, bytes, size, o->folder, o->err);
    vouch_gguf *g = *out;
    if (status == VOUCH_OK && !(g->made = calloc(1, sizeof *g->made)))
        status = vouch_fail(o->err, VOUCH_E_MEMORY, "%s: not enough memory", vouch_path_tail(o->folder));
    if (status != VOUCH_OK) {
        vouch_gguf_close(g);
        *out = NULL;
        free(bytes);
        return status;
    }
    g->made->keys = bytes;
    status = vouch_hf_keys_sizes(&o->config, family, &g->made->sizes, o->err);
    *g->unknown = o->unknown;
    o->unknown = NULL;
    if (status == VOUCH_OK) status = files_move(o, g);
    if (status == VOUCH_OK)
        status = vouch_hf_check_switches(&o->config, family, o->files, o->n_files, o->shape.is_tied, o->err);
    if (status == VOUCH_OK) status = vouch_hf_tensors_add(g, o->files, o->n_files, family, &o->shape, o->err);
    if (status == VOUCH_OK) status = vouch_hf_check_experts(&o->config, &o->shape, g, o->err);
    if (status == VOUCH_OK && strcmp(family->arch, "gemma4") == 0)
        status = vouch_hf_gemma4_check(&o->config, g, o->err);
    /* From here on the model closes the maps that it has received. */
    for (size_t i = 0; i < g->n_files; i++) o->files[i].map = (vouch_filemap){0};
    return status;
}

vouch_status vouch_hf_folder_open(vouch_gguf **out, const char *folder, vouch_error *err)
{
    opening o = {.folder = folder, .err = err};
    *out = NULL;
    vouch_status status = VOUCH_OK;
    if (!has_file(folder, "config.json"))
        status = vouch_fail(err, VOUCH_E_FORMAT,
                            "%s: is a folder without config.json; give a Hugging Face folder or a GGUF file",
                            vouch_path_tail(folder));
    if (status == VOUCH_OK) status = vouch_json_open(&o.config, folder, "config.json", true, err);
    if (status == VOUCH_OK) status = weights_open(&o);
    if (status == VOUCH_OK) status = model_make(out, &o);
    if (status != VOUCH_OK && *out) {
        vouch_gguf_close(*out);
        *out = NULL;
    }
    for (size_t i = 0; i < o.n_files; i++) vouch_safetensors_close(&o.files[i]);
    free(o.files);
    free(o.names);
    free(o.unknown);
    vouch_json_close(&o.config);
    vouch_json_close(&o.index);
    return status;
}
