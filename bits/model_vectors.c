/* SPDX-License-Identifier: MIT */
#include "bits/model_vectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filemap.h"
#include "base/hash.h"
#include "bits/fields.h"
#include "bits/tiny.h"
#include "engine/file/model.h"
#include "kernels/cache.h"

enum { MOST_TOKENS = 512, MOST_LOGITS = 1 << 22 };

/* The tiny models that are written. */
static const struct {
    const char *family, *file;
} chosen[] = {{"llama Q4_1", "llama.gguf"}, {"qwen35 Q4_0", "qwen35.gguf"}};
enum { N_CHOSEN = sizeof chosen / sizeof *chosen, N_TOKENS = 24 };

static const char *cache_name(int kv_type)
{
    return vouch_type_get_info(vouch_cache_types[kv_type])->name;
}

/* A model that runs on one table after the other. */
typedef struct subject {
    vouch_gguf *gguf;
    vouch_kv_type kv_type;
    int32_t n_tokens, tokens[MOST_TOKENS];
    int64_t n_logits;        /* of all positions; 0 before the first run */
    float *found, *expected; /* [n_logits], the caller frees them */
} subject;

static vouch_status logits_compute(const subject *s, const vouch_model *model, vouch_error *err)
{
    vouch_session_options options = vouch_session_options_default();
    vouch_session *session = NULL;
    options.n_ctx = s->n_tokens + 8;
    options.n_threads = 1;
    options.kv_type = s->kv_type;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_status status = vouch_session_open(&session, model, &options, err);
    if (status == VOUCH_OK) status = vouch_session_prompt(session, s->tokens, (size_t)s->n_tokens, err);
    if (status == VOUCH_OK) status = vouch_session_logits(session, 0, s->n_tokens, s->found, err);
    vouch_session_close(session);
    return status;
}

/* Computes the logits on a table. The first run allocates them. */
static vouch_status subject_run(subject *s, const char *table, const char *path, vouch_error *err)
{
    const vouch_model_options options = {.cpu = table, .n_threads = 1, .untuned = true};
    vouch_model *model = NULL;
    VOUCH_TRY(vouch_model_open_file(&model, s->gguf, &options, err));
    const int64_t n = (int64_t)vouch_model_get_info(model)->n_vocab * s->n_tokens;
    vouch_status status = VOUCH_OK;
    if (n > MOST_LOGITS)
        status = vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: has %" PRId64 " logits, at most %d are supported", path, n,
                            MOST_LOGITS);
    else if (s->n_logits == 0) {
        s->n_logits = n;
        s->found = malloc((size_t)n * sizeof *s->found);
        s->expected = malloc((size_t)n * sizeof *s->expected);
        if (!s->found || !s->expected) status = vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", path);
    }
    if (status == VOUCH_OK) status = logits_compute(s, model, err);
    vouch_model_close(model);
    return status;
}

static bits_field logits_field(const subject *s)
{
    return (bits_field){.name = "logits", .kind = BITS_FLOAT, .n = s->n_logits};
}

static uint64_t file_digest(const void *bytes, size_t size)
{
    return vouch_hash_bytes(VOUCH_HASH_START, bytes, size);
}

/* ------------------------------------------------------------------- checking */

static vouch_status tables_compare(const vouch_json *json, const json_t *vector, bits_work *work, subject *s,
                                   const char *name, vouch_error *err)
{
    const vouch_kernels *kernels;
    char what[120];
    snprintf(what, sizeof what, "%.60s: logit", name);
    for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++) {
        VOUCH_TRY(subject_run(s, kernels->name, json->path, err));
        const bits_field logits = logits_field(s);
        if (k == 0) VOUCH_TRY(bits_field_read(json, vector, &logits, s->expected, err));
        bits_compare_numbers(work, BITS_MODELS,
                             &(bits_numbers){.table = kernels->name,
                                             .what = what,
                                             .found = s->found,
                                             .expected = s->expected,
                                             .n = s->n_logits,
                                             .size = sizeof(float)});
    }
    return VOUCH_OK;
}

static vouch_status map_check(const vouch_json *json, const json_t *vector, bits_work *work, subject *s,
                              const vouch_filemap *map, const char *name, vouch_error *err)
{
    const char *digest = NULL;
    char found[17];
    VOUCH_TRY(vouch_json_text(json, vector, "digest", true, &digest, err));
    VOUCH_TRY(vouch_filemap_load(map, name, 0, map->size, err));
    snprintf(found, sizeof found, "%016" PRIx64, file_digest(map->data, map->size));
    if (strcmp(found, digest) != 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: digest is '%.20s', but that of %.100s is %s: another or a damaged file", json->path,
                          digest, name, found);
    VOUCH_TRY(vouch_gguf_open_bytes(&s->gguf, map->data, map->size, name, err));
    const vouch_status status = tables_compare(json, vector, work, s, name, err);
    vouch_gguf_close(s->gguf);
    return status;
}

static vouch_status tokens_read(const vouch_json *json, const json_t *vector, subject *s, vouch_error *err)
{
    const json_t *tokens = NULL;
    VOUCH_TRY(vouch_json_nested(json, vector, "tokens", JSON_ARRAY, &tokens, err));
    const size_t n = json_array_size(tokens);
    if (n < 1 || n > MOST_TOKENS)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokens has %zu elements, expected 1 to %d", json->path, n,
                          MOST_TOKENS);
    for (size_t i = 0; i < n; i++) {
        const json_t *token = json_array_get(tokens, i);
        const json_int_t id = json_integer_value(token);
        if (!json_is_integer(token) || id < 0 || id > INT32_MAX)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokens[%zu]: expected an integer from 0 to %d", json->path, i,
                              INT32_MAX);
        s->tokens[s->n_tokens++] = (int32_t)id;
    }
    return VOUCH_OK;
}

static vouch_status kv_type_read(const vouch_json *json, const json_t *vector, subject *s, vouch_error *err)
{
    const char *name = NULL;
    int i = 0;
    VOUCH_TRY(vouch_json_text(json, vector, "cache", true, &name, err));
    while (i < VOUCH_N_CACHE_TYPES && strcmp(cache_name(i), name) != 0) i++;
    s->kv_type = (vouch_kv_type)i;
    if (i < VOUCH_N_CACHE_TYPES) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: cache is '%s', expected F16, F32, Q8_0 or Q4_0", json->path, name);
}

char *bits_path_beside(const char *vectors, const char *name)
{
    size_t n = strlen(vectors);
    while (n > 0 && vectors[n - 1] != '/' && vectors[n - 1] != '\\') n--;
    const size_t size = n + strlen(name) + 1;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%.*s%s", (int)n, vectors, name);
    return path;
}

vouch_status bits_model_check(const vouch_json *json, const json_t *vector, bits_work *work, int64_t number,
                              vouch_error *err)
{
    subject s = {0};
    const char *name = NULL;
    vouch_filemap map;
    (void)number;
    VOUCH_TRY(bits_go_on(work, err));
    VOUCH_TRY(vouch_json_text(json, vector, "file", true, &name, err));
    if (!*name || strpbrk(name, "/\\"))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: file is '%s', expected the name of a file in the same folder",
                          json->path, name);
    VOUCH_TRY(kv_type_read(json, vector, &s, err));
    VOUCH_TRY(tokens_read(json, vector, &s, err));
    char *path = bits_path_beside(work->file, name);
    if (!path) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", json->path);
    vouch_status status = vouch_filemap_open(&map, path, err);
    if (status == VOUCH_OK) {
        status = map_check(json, vector, work, &s, &map, name, err);
        vouch_filemap_close(&map);
    }
    free(path), free(s.found), free(s.expected);
    return status;
}

/* -------------------------------------------------------------------- writing */

vouch_status bits_make_model(int32_t i, const char **file, void **bytes, size_t *size, vouch_error *err)
{
    *file = NULL;
    if (i >= N_CHOSEN) return VOUCH_OK;
    *file = chosen[i].file;
    return bits_tiny_make(bits_tiny_find(chosen[i].family), bytes, size, err);
}

/* Some come twice. */
static void tokens_make(subject *s)
{
    s->n_tokens = N_TOKENS;
    for (int i = 0; i < N_TOKENS; i++) s->tokens[i] = i * i % 17 * 5 % BITS_VOCAB;
}

static json_t *model_write(const subject *s, const char *file, uint64_t digest)
{
    json_t *object = json_object(), *tokens = json_array();
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    for (int32_t i = 0; i < s->n_tokens; i++) json_array_append_new(tokens, json_integer(s->tokens[i]));
    const bits_field logits = logits_field(s);
    json_object_set_new(object, "file", json_string(file));
    json_object_set_new(object, "digest", json_string(text));
    json_object_set_new(object, "cache", json_string(cache_name(s->kv_type)));
    json_object_set_new(object, "tokens", tokens);
    json_object_set_new(object, logits.name, bits_field_write(&logits, s->found));
    return object;
}

static vouch_status model_add(json_t *models, int32_t i, vouch_error *err)
{
    subject s = {0};
    const char *file;
    void *bytes = NULL;
    size_t size = 0;
    bits_tiny_name(bits_tiny_find(chosen[i].family), &s.kv_type);
    VOUCH_TRY(bits_make_model(i, &file, &bytes, &size, err));
    tokens_make(&s);
    vouch_status status = vouch_gguf_open_bytes(&s.gguf, bytes, size, file, err);
    if (status == VOUCH_OK) {
        status = subject_run(&s, "ref", file, err);
        if (status == VOUCH_OK) json_array_append_new(models, model_write(&s, file, file_digest(bytes, size)));
        vouch_gguf_close(s.gguf);
    }
    free(bytes), free(s.found), free(s.expected);
    return status;
}

vouch_status bits_models_write(json_t **models, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    *models = json_array();
    for (int32_t i = 0; i < N_CHOSEN && status == VOUCH_OK; i++) status = model_add(*models, i, err);
    if (status == VOUCH_OK) return VOUCH_OK;
    json_decref(*models);
    *models = NULL;
    return status;
}
