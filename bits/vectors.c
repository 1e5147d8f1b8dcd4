/* SPDX-License-Identifier: MIT */
/*
 * A file of vectors (docs/float-order.md has its format): operations with inputs and results, and models that lie
 * beside the file, with tokens and logits. Writing fills the inputs from a seed and takes plain C's results. Checking
 * reads both and runs every table of this machine.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/filemap.h"
#include "base/floats.h"
#include "bits/fields.h"
#include "bits/model_vectors.h"
#include "bits/values.h"

#define FORMAT "vouch vectors"
enum { VERSION = 1 };

/* ------------------------------------------------------------- the operations */

static const bits_operation *operation_at(int i)
{
    if (i == 0) return &bits_matmul;
    return i == 1 ? &bits_attention : bits_row_operation(i - 2);
}

static const bits_operation *operation_find(const char *name)
{
    const bits_operation *op;
    for (int i = 0; (op = operation_at(i)) && strcmp(op->name, name) != 0; i++) continue;
    return op;
}

/* The vectors that are written. Sums of more than 16 squares of 16 neighbours use a lane of a row sum twice. */
static const struct {
    const char *name;
    bits_shape shape;
} chosen[] = {
    {"rmsnorm", {.size = {300}}},
    {"rmsnorm", {.size = {37}}},
    {"l2 norm", {.size = {40}}},
    {"rope", {.size = {32}}},
    {"rope", {.size = {32}, .choice = {1}}},
    {"angles", {.size = {32, 5}}},
    {"angles", {.size = {64, 4097}}},
    {"swiglu", {.size = {40}}},
    {"softplus", {.size = {40}}},
    {"softmax", {.size = {5}}},
    {"softmax", {.size = {75}}},
    {"exp weights", {.size = {75}}},
    {"quantize", {.size = {4}}},
    {"convolution", {.size = {20}}},
    {"convolution", {.size = {20}, .choice = {1, 1}}},
    {"scan", {.size = {8, 16}}},
    {"scan", {.size = {8, 16}, .choice = {0, 1}}},
    {"scan", {.size = {8, 16}, .choice = {1, 1}}},
    {"scan", {.size = {8, 16}, .choice = {1, 2}}},
    {"scan", {.size = {8, 16}, .choice = {1, 3}}},
    {"channel scan", {.size = {16}}},
    {"matmul", {VOUCH_TYPE_F32, {77, 2, 2}, {1}}},
    {"matmul", {VOUCH_TYPE_Q8_0, {64, 17, 1}, {1}}},
    {"matmul", {VOUCH_TYPE_Q4_K, {512, 2, 2}, {1}}},
};
enum { N_CHOSEN = sizeof chosen / sizeof *chosen };

/* The shape of another vector for each type of weights, and for each type of a cache. */
static bits_shape typed_shape(const bits_operation *op, vouch_type type)
{
    const bool is_long = vouch_type_get_info(type)->block_length == 256;
    if (op == &bits_attention) return (bits_shape){type, {32, 21, 2}, {0}};
    return (bits_shape){type, {is_long ? 256 : 128, 3, is_long ? 1 : 2}, {0}};
}

/* -------------------------------------------------------------------- writing */

static json_t *fields_write(const bits_field *fields, int n, const float *numbers)
{
    json_t *object = json_object();
    for (int i = 0; i < n; i++)
        json_object_set_new(object, fields[i].name,
                            bits_field_write(&fields[i], fields[i].at ? fields[i].at : numbers + fields[i].first));
    return object;
}

static json_t *vector_write(bits_work *work, const bits_operation *op, const bits_shape *s)
{
    bits_fields fields = {0};
    json_t *vector = json_object();
    op->fill(work, s);
    op->list(work, s, &fields);
    op->run(work, vouch_kernels_get(0), s, work->found);
    json_object_set_new(vector, "operation", json_string(op->name));
    if (op->has_type) json_object_set_new(vector, "type", json_string(vouch_type_get_info(s->type)->name));
    for (int i = 0; i < BITS_MOST_SIZES && op->sizes[i].name; i++)
        json_object_set_new(vector, op->sizes[i].name, json_integer(s->size[i]));
    for (int i = 0; i < BITS_MOST_CHOICES && op->choices[i].name; i++)
        json_object_set_new(vector, op->choices[i].name, json_integer(s->choice[i]));
    json_object_set_new(vector, "inputs", fields_write(fields.inputs, fields.n_inputs, work->found));
    json_object_set_new(vector, "results", fields_write(fields.results, fields.n_results, work->found));
    return vector;
}

static json_t *operations_write(bits_work *work)
{
    const bits_operation *const typed[] = {&bits_matmul, &bits_attention};
    json_t *array = json_array();
    for (int i = 0; i < N_CHOSEN; i++)
        json_array_append_new(array, vector_write(work, operation_find(chosen[i].name), &chosen[i].shape));
    for (int i = 0; i < 2; i++)
        for (int type = 0; type < VOUCH_TYPE_COUNT; type++) {
            if (!typed[i]->has_type((vouch_type)type)) continue;
            const bits_shape shape = typed_shape(typed[i], (vouch_type)type);
            json_array_append_new(array, vector_write(work, typed[i], &shape));
        }
    return array;
}

vouch_status bits_make_vectors(json_t **vectors, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    static const bits_listener nobody;
    bits_work work;
    json_t *models;
    *vectors = NULL;
    VOUCH_TRY(bits_work_open(&work, &nobody, err));
    const vouch_status status = bits_models_write(&models, err);
    if (status == VOUCH_OK) {
        *vectors = json_object();
        json_object_set_new(*vectors, "format", json_string(FORMAT));
        json_object_set_new(*vectors, "version", json_integer(VERSION));
        json_object_set_new(*vectors, "operations", operations_write(&work));
        json_object_set_new(*vectors, "models", models);
    }
    bits_work_close(&work);
    return status;
}

/* ------------------------------------------------------------------- checking */

static vouch_status type_read(const vouch_json *json, const json_t *vector, const bits_operation *op, bits_shape *s,
                              vouch_error *err)
{
    const char *name = NULL;
    VOUCH_TRY(vouch_json_text(json, vector, "type", true, &name, err));
    const int32_t type = bits_type_find(name);
    s->type = (vouch_type)type;
    if (type >= 0 && op->has_type(s->type)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: type is '%s', which this operation doesn't have", json->path, name);
}

static vouch_status shape_read(const vouch_json *json, const json_t *vector, const bits_operation *op, bits_shape *s,
                               vouch_error *err)
{
    *s = (bits_shape){0};
    if (op->has_type) VOUCH_TRY(type_read(json, vector, op, s, err));
    for (int i = 0; i < BITS_MOST_SIZES && op->sizes[i].name; i++) {
        const int64_t length = op->has_type ? vouch_type_get_info(s->type)->block_length : 1;
        const int64_t step = i == 0 && op->sizes[i].step < length ? length : op->sizes[i].step;
        VOUCH_TRY(vouch_json_int(json, vector, op->sizes[i].name, true, op->sizes[i].least, op->sizes[i].most,
                                 &s->size[i], err));
        if (s->size[i] % step != 0)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is %" PRId64 ", expected a multiple of %" PRId64, json->path,
                              op->sizes[i].name, s->size[i], step);
    }
    for (int i = 0; i < BITS_MOST_CHOICES && op->choices[i].name; i++) {
        int64_t choice = 0;
        VOUCH_TRY(vouch_json_int(json, vector, op->choices[i].name, true, 0, op->choices[i].n - 1, &choice, err));
        s->choice[i] = (int)choice;
    }
    return VOUCH_OK;
}

static vouch_status above_zero_check(const vouch_json *json, const bits_field *field, vouch_error *err)
{
    const float *numbers = field->at;
    for (int64_t i = 0; i < field->n; i++)
        if (!(numbers[i] > 0 && numbers[i] < INFINITY))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s[%" PRId64 "] is %g, expected a finite number above 0",
                              json->path, field->name, i, (double)numbers[i]);
    return VOUCH_OK;
}

/* Reads inputs to their places, and results to work->expected. */
static vouch_status fields_read(const vouch_json *json, const json_t *vector, bits_work *work, const bits_operation *op,
                                const bits_fields *fields, vouch_error *err)
{
    const json_t *inputs = NULL, *results = NULL;
    VOUCH_TRY(vouch_json_nested(json, vector, "inputs", JSON_OBJECT, &inputs, err));
    VOUCH_TRY(vouch_json_nested(json, vector, "results", JSON_OBJECT, &results, err));
    memset(work->inputs, 0, BITS_MOST * sizeof *work->inputs); /* kernels may read beyond a row */
    for (int i = 0; i < fields->n_inputs; i++)
        VOUCH_TRY(bits_field_read(json, inputs, &fields->inputs[i], fields->inputs[i].at, err));
    for (int i = 0; i < fields->n_inputs && op->is_above_zero; i++)
        VOUCH_TRY(above_zero_check(json, &fields->inputs[i], err));
    for (int i = 0; i < fields->n_results; i++)
        VOUCH_TRY(bits_field_read(json, results, &fields->results[i], work->expected + fields->results[i].first, err));
    return VOUCH_OK;
}

/* Runs every table of this machine. */
static void vector_compare(bits_work *work, const bits_operation *op, const bits_shape *s, const bits_fields *fields,
                           int64_t number)
{
    const vouch_kernels *kernels;
    char what[80];
    for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++) {
        bits_run_into(work, op->run, kernels, s, work->found);
        for (int i = 0; i < fields->n_results; i++) {
            const bits_field *field = &fields->results[i];
            snprintf(what, sizeof what, "operations[%" PRId64 "], %s%s%s: %s", number, op->name,
                     op->has_type ? " " : "", op->has_type ? vouch_type_get_info(s->type)->name : "", field->name);
            bits_compare_numbers(work, BITS_ORDER,
                                 &(bits_numbers){.table = kernels->name,
                                                 .what = what,
                                                 .found = work->found + field->first,
                                                 .expected = work->expected + field->first,
                                                 .n = field->n,
                                                 .size = field->kind == BITS_DOUBLE ? sizeof(double) : sizeof(float)});
        }
    }
}

static vouch_status vector_check(const vouch_json *json, const json_t *vector, bits_work *work, int64_t number,
                                 vouch_error *err)
{
    const char *name = NULL;
    bits_shape shape;
    bits_fields fields = {0};
    VOUCH_TRY(bits_go_on(work, err));
    VOUCH_TRY(vouch_json_text(json, vector, "operation", true, &name, err));
    const bits_operation *op = operation_find(name);
    if (!op) return vouch_fail(err, VOUCH_E_FORMAT, "%s: operation is '%s', which is unknown", json->path, name);
    VOUCH_TRY(shape_read(json, vector, op, &shape, err));
    op->list(work, &shape, &fields);
    VOUCH_TRY(fields_read(json, vector, work, op, &fields, err));
    vector_compare(work, op, &shape, &fields, number);
    return VOUCH_OK;
}

typedef vouch_status vector_checker(const vouch_json *json, const json_t *vector, bits_work *work, int64_t number,
                                    vouch_error *err);

/* Messages name the file and the vector. */
static vouch_status array_check(const vouch_json *json, const char *name, bits_work *work, vector_checker *check,
                                vouch_error *err)
{
    const json_t *array = json_object_get(json->root, name);
    char place[VOUCH_PATH_SHOWN + 64];
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i < json_array_size(array) && status == VOUCH_OK; i++) {
        snprintf(place, sizeof place, "%s: %s[%zu]", json->path, name, i);
        status =
            check(&(vouch_json){.root = json->root, .path = place}, json_array_get(array, i), work, (int64_t)i, err);
    }
    return status;
}

static vouch_status head_check(const vouch_json *json, bits_work *work, vouch_error *err)
{
    const json_t *operations = NULL, *models = NULL;
    const char *format = NULL;
    int64_t version = 0;
    VOUCH_TRY(vouch_json_text(json, json->root, "format", true, &format, err));
    if (strcmp(format, FORMAT) != 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: format is '%s', expected '%s'", json->path, format, FORMAT);
    VOUCH_TRY(vouch_json_int(json, json->root, "version", true, VERSION, VERSION, &version, err));
    VOUCH_TRY(vouch_json_nested(json, json->root, "operations", JSON_ARRAY, &operations, err));
    VOUCH_TRY(vouch_json_nested(json, json->root, "models", JSON_ARRAY, &models, err));
    work->n_all = (int32_t)(json_array_size(operations) + json_array_size(models));
    if (work->n_all > 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: has neither operations nor models", json->path);
}

vouch_status bits_check_vectors(const char *path, const bits_listener *listener, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    bits_work work;
    vouch_json json = {0};
    char shown[VOUCH_PATH_SHOWN + 1];
    snprintf(shown, sizeof shown, "%s", vouch_path_tail(path));
    VOUCH_TRY(vouch_json_load(&json.root, path, err));
    json.path = shown;
    vouch_status status = bits_work_open(&work, listener, err);
    if (status == VOUCH_OK) {
        work.file = path;
        status = head_check(&json, &work, err);
        if (status == VOUCH_OK) status = array_check(&json, "operations", &work, vector_check, err);
        if (status == VOUCH_OK) status = array_check(&json, "models", &work, bits_model_check, err);
        bits_work_close(&work);
    }
    json_decref(json.root);
    return status;
}
