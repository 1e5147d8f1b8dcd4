/* SPDX-License-Identifier: MIT */
/*
 * vouch_quantize of vouch.h: writes a model as a GGUF file and converts its matrices on the way.
 *
 *   source file ──► mix: a type for each tensor ──► the writer asks for the tensors' bytes, a piece at a time
 *        └─ a piece of the source's blocks ──► floats ──► blocks of the new type     (all threads share a piece)
 *
 * Threads take runs of GRAIN values. A block depends on its own values alone, so the bytes don't depend on threads.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/pool.h"
#include "format/mix.h"
#include "format/open/open.h"
#include "kernels/quantize.h"

enum { GRAIN = 4096, QUANTIZATION_VERSION = 2 };

typedef struct job {
    const vouch_gguf *from;
    const vouch_quantize_options *options;
    vouch_pool *pool;
    vouch_quantize_result *result;
    size_t done; /* bytes of the source's tensors so far */
} job;

/* A tensor of the new file. */
typedef struct output {
    job *job;
    const vouch_gguf_tensor *tensor; /* of the source */
    vouch_type type;
} output;

vouch_quantize_options vouch_quantize_options_default(void)
{
    return (vouch_quantize_options){.type = "Q4_K_M"};
}

const char *vouch_quantize_type(size_t i)
{
    const vouch_mix *mix = vouch_mix_at(i);
    return mix ? mix->name : NULL;
}

/* --------------------------------------------------------------- conversion */

/* The bytes that n values have in a type. */
static size_t bytes_of(uint32_t type, int64_t n)
{
    const vouch_type_info *info = vouch_type_get_stored(type);
    return (size_t)(n / info->block_length * info->block_bytes);
}

typedef struct piece {
    const output *out;
    const unsigned char *from;
    unsigned char *to;
    int64_t n;
    atomic_bool bad; /* a value exceeds the type's range */
} piece;

static bool in_range(const float *x, int64_t n, float most)
{
    bool good = true;
    for (int64_t i = 0; i < n; i++) good &= x[i] >= -most && x[i] <= most;
    return good;
}

static void piece_convert(void *arg, vouch_pool *team, int32_t thread)
{
    piece *p = arg;
    const vouch_type type = p->out->type;
    const uint32_t source = p->out->tensor->type;
    float x[GRAIN];
    vouch_work work = vouch_pool_share(team, thread, p->n, GRAIN);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i += GRAIN) {
            const int64_t n = work.end - i < GRAIN ? work.end - i : GRAIN;
            vouch_dequantize_values((vouch_type)source, p->from + bytes_of(source, i), n, x);
            if (in_range(x, n, vouch_quantize_max(type))) vouch_quantize_values(type, x, n, p->to + bytes_of(type, i));
            else atomic_store(&p->bad, true);
        }
}

/* Names the first value out of range. `first`: the index of the piece's first value in the tensor. */
static vouch_status piece_complain(const piece *p, int64_t first, vouch_error *err)
{
    const vouch_gguf_tensor *t = p->out->tensor;
    const float most = vouch_quantize_max(p->out->type);
    float x[GRAIN];
    for (int64_t i = 0; i < p->n; i += GRAIN) {
        const int64_t n = p->n - i < GRAIN ? p->n - i : GRAIN;
        vouch_dequantize_values((vouch_type)t->type, p->from + bytes_of(t->type, i), n, x);
        for (int64_t k = 0; k < n; k++)
            if (!in_range(&x[k], 1, most))
                return vouch_fail(err, VOUCH_E_NUMERIC,
                                  "%s: tensor '%.*s' has the value %g at index %lld; type %s takes finite numbers of "
                                  "magnitude %g at most: is the file damaged?",
                                  vouch_gguf_path(p->out->job->from), (int)t->name.size, t->name.data, (double)x[k],
                                  (long long)(first + i + k), vouch_type_get_info(p->out->type)->name, (double)most);
    }
    return VOUCH_OK;
}

/* A vouch_gguf_fill_fn. */
static vouch_status output_fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    const output *o = user;
    job *j = o->job;
    const vouch_type_info *info = vouch_type_get_stored(o->type);
    const int64_t first = (int64_t)(offset / (size_t)info->block_bytes) * info->block_length;
    const int64_t n = (int64_t)(size / (size_t)info->block_bytes) * info->block_length;
    const size_t from = bytes_of(o->tensor->type, first), n_from = bytes_of(o->tensor->type, n);
    if (j->options->is_cancelled && j->options->is_cancelled(j->options->user))
        return vouch_fail(err, VOUCH_E_CANCELLED, "quantisation was cancelled");
    VOUCH_TRY(vouch_gguf_load(j->from, o->tensor, from, n_from, err));
    piece p = {.out = o, .from = (const unsigned char *)o->tensor->data + from, .to = bytes, .n = n};
    if (o->type == o->tensor->type) memcpy(bytes, p.from, size);
    else vouch_pool_run(j->pool, piece_convert, &p);
    if (p.bad) return piece_complain(&p, first, err);
    vouch_gguf_release(j->from, o->tensor, from, n_from);
    j->done += n_from;
    if (j->options->progress) j->options->progress(j->options->user, (double)j->done / (double)j->result->bytes_before);
    return (int64_t)j->done == j->result->bytes_before ? vouch_gguf_recheck(j->from, err) : VOUCH_OK;
}

/* ------------------------------------------------------------------- choice */

static vouch_status mix_find(const char *name, const vouch_mix **mix, vouch_error *err)
{
    char names[256] = "";
    *mix = vouch_mix_find(name);
    if (*mix) return VOUCH_OK;
    for (size_t i = 0; vouch_mix_at(i); i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", vouch_mix_at(i)->name);
    }
    return vouch_fail(err, VOUCH_E_ARGUMENT, "type '%.40s': expected one of %s", name, names);
}

/* Finds the type with this name. *type points to it in *store, or is NULL if there is no name. */
static vouch_status type_find(const char *option, const char *name, vouch_type *store, const vouch_type **type,
                              vouch_error *err)
{
    *type = NULL;
    if (!name) return VOUCH_OK;
    for (uint32_t id = 0; id < VOUCH_TYPE_COUNT; id++) {
        const vouch_type_info *info = vouch_type_get_info(id);
        if (!info || strcasecmp(info->name, name) != 0 || !vouch_type_can_quantize((vouch_type)id)) continue;
        *store = (vouch_type)id;
        *type = store;
        return VOUCH_OK;
    }
    return vouch_fail(err, VOUCH_E_ARGUMENT, "%s '%.40s': expected a tensor type such as Q6_K, Q8_0 or F16", option,
                      name);
}

static vouch_status output_check(const vouch_gguf *from, const output *o, bool allow_requantize, vouch_error *err)
{
    const vouch_gguf_tensor *t = o->tensor;
    const vouch_type_info *source = vouch_type_get_info(t->type), *wanted = vouch_type_get_info(o->type);
    if (o->type == t->type && vouch_type_get_stored(t->type)) return VOUCH_OK; /* also where the tensor has integers */
    if (!source) {
        const char *name = vouch_type_gguf_name(t->type);
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: tensor '%.*s' has type %s; supported are " VOUCH_TYPE_NAMES,
                          vouch_gguf_path(from), (int)t->name.size, t->name.data, name ? name : "unknown");
    }
    if (o->type == t->type) return VOUCH_OK;
    if (t->dim[0] % wanted->block_length != 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "tensor '%.*s' has rows of %lld values; type %s needs a multiple of %d: choose a type with "
                          "smaller blocks",
                          (int)t->name.size, t->name.data, (long long)t->dim[0], wanted->name, wanted->block_length);
    if (source->block_length > 1 && o->type != VOUCH_TYPE_F32 && !allow_requantize) /* F32 holds every value */
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "%s: tensor '%.*s' is quantised already (%s), and quantising it to %s again costs quality; "
                          "take the F16, BF16 or F32 file of the model, or allow it (--allow-requantize)",
                          vouch_gguf_path(from), (int)t->name.size, t->name.data, source->name, wanted->name);
    return VOUCH_OK;
}

/* ---------------------------------------------------------------------- file */

/* The new file doesn't copy split keys, because it has one part. With a mix, keys_add sets two more keys anew. */
static bool key_is_replaced(vouch_text key, bool has_mix)
{
    static const char *const replaced[] = {"split.no", "split.count", "split.tensors.count",
                                           "general.quantization_version", "general.file_type"};
    for (size_t i = 0; i < (has_mix ? 5 : 3); i++)
        if (key.size == strlen(replaced[i]) && memcmp(key.data, replaced[i], key.size) == 0) return true;
    return false;
}

static void keys_add(vouch_gguf_writer *w, const vouch_gguf *from, const vouch_mix *mix)
{
    for (size_t i = 0; i < vouch_gguf_n_kv(from); i++)
        if (!key_is_replaced(vouch_gguf_key(from, i, NULL), mix != NULL)) vouch_gguf_add_key(w, from, i);
    if (!mix) return;
    vouch_gguf_add_u32(w, "general.quantization_version", QUANTIZATION_VERSION);
    vouch_gguf_add_u32(w, "general.file_type", mix->file_type);
}

/* outputs, types: room for all tensors. */
static vouch_status outputs_add(vouch_gguf_writer *w, job *j, const vouch_mix_options *mix, output *outputs,
                                uint32_t *types, vouch_error *err)
{
    vouch_quantize_result *result = j->result;
    size_t n_fallback = 0;
    for (size_t i = 0; i < vouch_gguf_n_tensors(j->from); i++) types[i] = vouch_gguf_get_tensor(j->from, i)->type;
    if (mix->mix) VOUCH_TRY(vouch_mix_assign(j->from, mix, types, &n_fallback, err));
    result->n_fallback = (int64_t)n_fallback;
    result->n_tensors = (int64_t)vouch_gguf_n_tensors(j->from);
    for (size_t i = 0; i < vouch_gguf_n_tensors(j->from); i++) {
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(j->from, i);
        char name[65];
        snprintf(name, sizeof name, "%.*s", (int)t->name.size, t->name.data);
        outputs[i] = (output){j, t, (vouch_type)types[i]};
        VOUCH_TRY(output_check(j->from, &outputs[i], j->options->allow_requantize, err));
        vouch_gguf_add_filled(w, name, outputs[i].type, t->n_dims, t->dim, output_fill, &outputs[i]);
        result->n_converted += types[i] != t->type;
        result->bytes_before += (int64_t)t->bytes;
        result->bytes_after += (int64_t)bytes_of(types[i], t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]);
    }
    return VOUCH_OK;
}

static vouch_status file_write(job *j, const vouch_mix_options *mix, const char *to, vouch_error *err)
{
    const size_t n = vouch_gguf_n_tensors(j->from);
    vouch_gguf_writer *w = NULL;
    output *outputs = calloc(n + 1, sizeof *outputs);
    uint32_t *types = calloc(n + 1, sizeof *types);
    vouch_status status = outputs && types ? vouch_gguf_writer_open(&w, err)
                                           : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %zu tensors", n);
    if (status == VOUCH_OK) status = outputs_add(w, j, mix, outputs, types, err);
    if (status == VOUCH_OK) {
        keys_add(w, j->from, mix->mix);
        status = vouch_gguf_write(w, to, err);
    }
    vouch_gguf_writer_close(w);
    free(types);
    free(outputs);
    return status;
}

vouch_status vouch_quantize(const char *from, const char *to, const vouch_quantize_options *options,
                            vouch_quantize_result *result, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    const vouch_quantize_options defaults = vouch_quantize_options_default();
    vouch_quantize_result ignored;
    vouch_type output_type, embedding_type;
    vouch_gguf *gguf = NULL;
    job j = {.options = options ? options : &defaults, .result = result ? result : &ignored};
    vouch_mix_options mix = {.pure = j.options->pure};
    *j.result = (vouch_quantize_result){0};
    if (j.options->type) VOUCH_TRY(mix_find(j.options->type, &mix.mix, err));
    VOUCH_TRY(type_find("output_type", j.options->output_type, &output_type, &mix.output, err));
    VOUCH_TRY(type_find("embedding_type", j.options->embedding_type, &embedding_type, &mix.embedding, err));
    vouch_status status = vouch_format_open(&gguf, from, err);
    if (status == VOUCH_OK) status = vouch_pool_open(&j.pool, j.options->n_threads, err);
    if (status == VOUCH_OK) {
        j.from = gguf;
        status = file_write(&j, &mix, to, err);
    }
    vouch_pool_close(j.pool);
    vouch_gguf_close(gguf);
    return status;
}
