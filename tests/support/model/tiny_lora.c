/* SPDX-License-Identifier: MIT */
#include "support/model/tiny_lora.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "support/model/gguf.h"
#include "support/test.h"

static vouch_gguf *open_file(const char *path)
{
    vouch_gguf *gguf;
    vouch_error err;
    if (vouch_gguf_open(&gguf, path, &err)) fail_msg("%s", err.message);
    return gguf;
}

/* The tensor of a layer without "blk.N." and ".weight"; "": it can't have an adapter. */
static const char *part_of(vouch_text name)
{
    static const char *const parts[] = {"attn_q",      "attn_k",   "attn_v", "attn_qkv",
                                        "attn_output", "ffn_gate", "ffn_up", "ffn_down"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char end[40];
        const int n = snprintf(end, sizeof end, ".%s.weight", parts[i]);
        if (name.size > (size_t)n && memcmp(name.data + name.size - n, end, (size_t)n) == 0 && name.data[0] == 'b')
            return parts[i];
    }
    return "";
}

static void add_random(vouch_gguf_writer *writer, const char *name, vouch_type type, int64_t n_in, int64_t n_out,
                       test_random *random, void **owned)
{
    const int64_t n = n_in * n_out;
    float *values = malloc((size_t)n * sizeof *values);
    for (int64_t i = 0; i < n; i++) values[i] = 0.3f * ((float)test_below(random, 2001) / 1000 - 1);
    uint16_t *halves = (uint16_t *)values;
    for (int64_t i = 0; type == VOUCH_TYPE_F16 && i < n; i++) halves[i] = vouch_float_to_half(values[i]);
    vouch_gguf_add_tensor(writer, name, type, 2, (int64_t[]){n_in, n_out}, values);
    *owned = values;
}

void tiny_lora_write(const char *path, const char *model, const tiny_lora_options *o)
{
    vouch_gguf *gguf = open_file(model);
    vouch_gguf_writer *writer = writer_open();
    vouch_error err;
    vouch_text arch = {"", 0};
    char text[64];
    const size_t n_tensors = vouch_gguf_n_tensors(gguf);
    void **owned = calloc(2 * n_tensors + 1, sizeof *owned);
    test_random random = {o->seed};
    const int32_t rank = o->rank ? o->rank : 4;
    assert_int_equal(vouch_gguf_get_text(gguf, "general.architecture", true, &arch, &err), VOUCH_OK);
    snprintf(text, sizeof text, "%.*s", (int)arch.size, arch.data);
    vouch_gguf_add_text(writer, "general.architecture", o->arch ? o->arch : text);
    vouch_gguf_add_text(writer, "general.type", "adapter");
    vouch_gguf_add_text(writer, "adapter.type", o->kind ? o->kind : "lora");
    vouch_gguf_add_f32(writer, "adapter.lora.alpha", o->alpha);
    for (size_t i = 0; i < n_tensors; i++) {
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(gguf, i);
        const char *part = part_of(t->name);
        char name[80];
        if (!*part || (o->only && strcmp(o->only, part) != 0)) continue;
        snprintf(name, sizeof name, "%.*s.lora_a", (int)t->name.size, t->name.data);
        add_random(writer, name, o->type, t->dim[0] + (o->is_wide ? 32 : 0), rank, &random, &owned[2 * i]);
        name[strlen(name) - 1] = 'b';
        if (!o->lacks_b) add_random(writer, name, o->type, rank, t->dim[1], &random, &owned[2 * i + 1]);
    }
    if (o->extra) add_random(writer, o->extra, o->type, 32, 32, &random, &owned[2 * n_tensors]);
    if (vouch_gguf_write(writer, path, &err)) fail_msg("%s", err.message);
    vouch_gguf_writer_close(writer);
    for (size_t i = 0; i < 2 * n_tensors + 1; i++) free(owned[i]);
    free(owned);
    vouch_gguf_close(gguf);
}

static float value_of(const vouch_gguf_tensor *t, int64_t i)
{
    if (t->type == VOUCH_TYPE_F32) return ((const float *)(const void *)t->data)[i];
    assert_int_equal(t->type, VOUCH_TYPE_F16);
    return vouch_half_to_float(((const uint16_t *)(const void *)t->data)[i]);
}

/* w += scale f B A */
static void merge_one(float *w, const vouch_gguf_tensor *t, const vouch_gguf *adapter, float scale)
{
    char name[80];
    double alpha = 0;
    snprintf(name, sizeof name, "%.*s.lora_a", (int)t->name.size, t->name.data);
    const vouch_gguf_tensor *a = vouch_gguf_find_tensor(adapter, name);
    name[strlen(name) - 1] = 'b';
    const vouch_gguf_tensor *b = vouch_gguf_find_tensor(adapter, name);
    if (!a) return;
    assert_int_equal(vouch_gguf_get_float(adapter, "adapter.lora.alpha", true, &alpha, NULL), VOUCH_OK);
    const int64_t rank = a->dim[1];
    const double factor = scale * (alpha != 0 ? alpha / (double)rank : 1);
    for (int64_t o = 0; o < t->dim[1]; o++)
        for (int64_t i = 0; i < t->dim[0]; i++) {
            double sum = 0;
            for (int64_t r = 0; r < rank; r++)
                sum += (double)value_of(b, o * rank + r) * (double)value_of(a, r * t->dim[0] + i);
            w[o * t->dim[0] + i] += (float)(factor * sum);
        }
}

void tiny_lora_merge(const char *path, const char *model, const char *const *adapters, const float *scales, int32_t n)
{
    vouch_gguf *gguf = open_file(model);
    vouch_gguf_writer *writer = writer_open();
    vouch_error err;
    const size_t n_tensors = vouch_gguf_n_tensors(gguf);
    float **owned = calloc(n_tensors, sizeof *owned);
    for (size_t i = 0; i < vouch_gguf_n_kv(gguf); i++) vouch_gguf_add_key(writer, gguf, i);
    for (size_t i = 0; i < n_tensors; i++) {
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(gguf, i);
        const int64_t count = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
        char name[80];
        uint32_t n_dims = 4;
        while (n_dims > 1 && t->dim[n_dims - 1] == 1) n_dims--;
        snprintf(name, sizeof name, "%.*s", (int)t->name.size, t->name.data);
        const void *data = t->data;
        if (*part_of(t->name)) {
            owned[i] = malloc((size_t)count * sizeof *owned[i]);
            for (int64_t v = 0; v < count; v++) owned[i][v] = value_of(t, v);
            data = owned[i];
        }
        for (int32_t a = 0; a < n && owned[i]; a++) {
            vouch_gguf *adapter = open_file(adapters[a]);
            merge_one(owned[i], t, adapter, scales[a]);
            vouch_gguf_close(adapter);
        }
        vouch_gguf_add_tensor(writer, name, owned[i] ? VOUCH_TYPE_F32 : (vouch_type)t->type, n_dims, t->dim, data);
    }
    if (vouch_gguf_write(writer, path, &err)) fail_msg("%s", err.message);
    vouch_gguf_writer_close(writer);
    for (size_t i = 0; i < n_tensors; i++) free(owned[i]);
    free(owned);
    vouch_gguf_close(gguf);
}
