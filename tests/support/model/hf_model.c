/* SPDX-License-Identifier: MIT */
#include "os/os.h"
#include "support/model/hf_model.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/tensor_type.h"
#include "golden/hf_folders.h"
#include "support/test.h"

enum { MOST_TENSORS = 400, NAME = 96, HEADER = 1 << 16 };

const int32_t hf_vocabulary = HF_VOCABULARY, hf_tokens = HF_TOKENS;

const hf_case *hf_case_at(size_t i)
{
    return i < sizeof hf_cases / sizeof hf_cases[0] ? &hf_cases[i] : NULL;
}

const hf_case *hf_case_named(const char *name)
{
    for (size_t i = 0; hf_case_at(i); i++)
        if (strcmp(hf_cases[i].name, name) == 0) return &hf_cases[i];
    fail_msg("no case '%s'", name);
    return NULL;
}

/* ----------------------------------------------------------------- weights */

/* Blocks and scales of MXFP4 are stored as bytes. */
static bool is_bytes(const char *name)
{
    return strstr(name, "_blocks") || strstr(name, "_scales");
}

/* The dtype of a tensor where most tensors have `dtype`. d2t and t2d of EAGLE-3's heads are integers and flags. */
static const char *dtype_of(const char *name, const char *dtype)
{
    return is_bytes(name) ? "U8" : strcmp(name, "d2t") == 0 ? "I64" : strcmp(name, "t2d") == 0 ? "BOOL" : dtype;
}

static size_t width_of(const char *dtype)
{
    return strcmp(dtype, "I64") == 0 ? 8 : strcmp(dtype, "F32") == 0 ? 4 : dtype[1] == '1' || dtype[1] == 'F' ? 2 : 1;
}

/* Value i of a tensor, by the rule of hf_folders.py. */
static float weight_next(test_random *random, const char *name, int32_t n_dims)
{
    const uint32_t x = test_next(random);
    const size_t n = strlen(name);
    if (is_bytes(name)) return (float)(strstr(name, "_blocks") ? x >> 24 : 118 + (x >> 30));
    if (n_dims == 1 && strcmp(name + n - 6, "weight") == 0) return (float)(12 + (x >> 29)) / 16;
    const bool is_embedding =
        strstr(name, "embed") || strstr(name, "wte") || strstr(name, "wpe") || strstr(name, "lm_head");
    return (float)(2 * (int32_t)(x >> 25) - 127) / (is_embedding ? 128 : 1024);
}

/* The random numbers from which a tensor's values are made. */
static test_random random_of(const char *name)
{
    return (test_random){vouch_hash_bytes(VOUCH_HASH_START, name, strlen(name))};
}

void hf_values(float *values, const char *name, int32_t n_dims, int32_t n)
{
    test_random random = random_of(name);
    for (int32_t i = 0; i < n; i++) values[i] = weight_next(&random, name, n_dims);
}

static size_t put_value(unsigned char *out, const char *dtype, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (strcmp(dtype, "U8") == 0) {
        *out = (unsigned char)value;
        return 1;
    }
    const uint16_t half = strcmp(dtype, "F16") == 0 ? vouch_float_to_half(value) : (uint16_t)(bits >> 16);
    const bool is_single = strcmp(dtype, "F32") == 0;
    memcpy(out, is_single ? (const void *)&bits : &half, width_of(dtype));
    return width_of(dtype);
}

/* ------------------------------------------------------------------- files */

typedef struct named {
    char name[NAME];
    size_t skipped; /* bytes of the name that the file lacks */
    const hf_tensor *tensor;
} named;

/* `pattern` with i for the first '#' and j for the second. */
static void make_name(char name[NAME], const char *pattern, int32_t i, int32_t j)
{
    const int32_t numbers[2] = {i, j};
    size_t used = 0, n = 0;
    for (; *pattern; pattern++)
        used += (size_t)(*pattern == '#' ? snprintf(name + used, NAME - used, "%d", numbers[n++])
                                         : snprintf(name + used, NAME - used, "%c", *pattern));
}

static int32_t list_tensors(const hf_case *model, const hf_layout *layout, named *all)
{
    int32_t count = 0;
    for (const hf_tensor *t = model->tensors; t->name; t++)
        for (int32_t i = 0; i < t->n; i++)
            for (int32_t j = 0; j < t->m; j++) {
                assert_true(count < MOST_TENSORS);
                make_name(all[count].name, t->name, i, j);
                all[count].tensor = t;
                all[count].skipped = layout->is_bare && strncmp(all[count].name, "model.", 6) == 0 ? 6 : 0;
                if (!layout->left_out || strcmp(layout->left_out, all[count].name) != 0) count++;
            }
    return count;
}

static int32_t count_values(const hf_tensor *t)
{
    int32_t count = 1;
    for (int32_t i = 0; i < t->n_dims; i++) count *= t->shape[i];
    return count;
}

/* Writes a safetensors file of n tensors. */
static void write_tensors(const char *path, const char *dtype, const named *all, int32_t n, int32_t shift)
{
    static char header[HEADER];
    size_t used = 0, data = 0;
    used += (size_t)snprintf(header, HEADER, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int32_t i = 0; i < n; i++) {
        const hf_tensor *t = all[i].tensor;
        const size_t begin = data;
        const char *own = dtype_of(all[i].name, dtype);
        char shape[64] = "";
        for (int32_t d = 0; d < t->n_dims; d++)
            snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%d", d ? "," : "", t->shape[d]);
        data += (size_t)count_values(t) * width_of(own);
        used += (size_t)snprintf(header + used, HEADER - used,
                                 ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                                 all[i].name + all[i].skipped, own, shape, begin, data);
    }
    used += (size_t)snprintf(header + used, HEADER - used, "}");
    assert_true(used + 16 < HEADER);
    while (used % 8 != 0) header[used++] = ' ';
    for (int32_t i = 0; i < shift; i++) header[used++] = ' ';
    unsigned char *bytes = malloc(8 + used + data), *out = bytes;
    assert_non_null(bytes);
    const uint64_t length = used;
    memcpy(out, &length, sizeof length);
    memcpy(out + sizeof length, header, used);
    out += sizeof length + used;
    for (int32_t i = 0; i < n; i++) {
        const hf_tensor *t = all[i].tensor;
        test_random random = random_of(all[i].name);
        const char *own = dtype_of(all[i].name, dtype);
        const int32_t n_values = count_values(t);
        for (int32_t k = 0; k < n_values; k++) {
            const int64_t step = 2 * k; /* d2t[k]: draft token k is token k + 2 k */
            if (strcmp(own, "I64") == 0) out = (unsigned char *)memcpy(out, &step, sizeof step) + sizeof step;
            else if (strcmp(own, "BOOL") == 0) *out++ = k % 3 == 0;
            else out += put_value(out, own, weight_next(&random, all[i].name, t->n_dims));
        }
    }
    write_whole(path, bytes, (size_t)(out - bytes));
    free(bytes);
}

const char *hf_file(const char *folder, const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Tensor i is in file i mod n_files. */
static void write_shards(const char *folder, const hf_case *model, const named *all, int32_t n, const hf_layout *layout)
{
    static named own[MOST_TENSORS];
    static char index[HEADER];
    size_t used = (size_t)snprintf(index, HEADER, "{\"metadata\":{},\"weight_map\":{");
    for (int32_t f = 0; f < layout->n_files; f++) {
        char name[64];
        int32_t count = 0;
        snprintf(name, sizeof name, "model-%05d-of-%05d.safetensors", f + 1, layout->n_files);
        for (int32_t i = f; i < n; i += layout->n_files) {
            own[count++] = all[i];
            used += (size_t)snprintf(index + used, HEADER - used, "\"%s\":\"%s\",", all[i].name + all[i].skipped, name);
        }
        write_tensors(hf_file(folder, name), model->dtype, own, count, layout->shift);
    }
    index[used - 1] = '}';
    index[used++] = '}';
    write_whole(hf_file(folder, "model.safetensors.index.json"), index, used);
}

const char *hf_folder_write(const char *name, const hf_case *model, const hf_layout *layout)
{
    static named all[MOST_TENSORS];
    static char folders[4][256];
    static unsigned next;
    char *folder = folders[next++ % 4];
    snprintf(folder, sizeof folders[0], "%s", test_temporary(name));
    vouch_os_folder_make(folder, 0700);
    const char *config = layout->config ? layout->config : model->config;
    write_whole(hf_file(folder, "config.json"), config, strlen(config));
    const int32_t n = list_tensors(model, layout, all);
    if (layout->n_files > 1) write_shards(folder, model, all, n, layout);
    else write_tensors(hf_file(folder, "model.safetensors"), model->dtype, all, n, layout->shift);
    return folder;
}

const char *hf_folder_reworded(const hf_case *model, const char *from, const char *to)
{
    char config[4096];
    const char *at = strstr(model->config, from);
    if (!at) fail_msg("%s has no %s", model->name, from);
    snprintf(config, sizeof config, "%.*s%s%s", (int)(at - model->config), model->config, to, at + strlen(from));
    return hf_folder_write("reworded", model, &(hf_layout){.config = config});
}
