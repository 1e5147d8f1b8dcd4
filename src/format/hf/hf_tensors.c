/* SPDX-License-Identifier: MIT */
#include "format/hf/hf_tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = VOUCH_GGUF_NAME_MAX + 1, MOST_CONSTANTS = 2 };

/* A tensor of a file, and the tensor of GGUF that it becomes, or becomes a part of. */
typedef struct part {
    char name[NAME_SIZE];
    int32_t index; /* in a stack */
    vouch_hf_layout layout;
    const vouch_safetensor *from;
    uint32_t file;
    vouch_type type;
    int64_t rows, columns; /* of GGUF's tensor; a vector has one column, unless it is stacked */
} part;

typedef struct builder {
    vouch_gguf *gguf;
    const vouch_safetensors *files;
    const vouch_hf_family *family;
    const vouch_hf_shape *shape;
    part *parts; /* sorted by name and index */
    size_t n_parts;
    vouch_error *err;
} builder;

static vouch_status part_fail(const builder *b, const part *p, vouch_status code, const char *problem)
{
    return vouch_fail(b->err, code, "%s: tensor '%.100s': %s", b->gguf->files[p->file].path, p->from->name, problem);
}

/* A tensor contradicts config.json. */
static vouch_status shape_fail(const builder *b, const part *p, const char *problem)
{
    part_fail(b, p, VOUCH_E_FORMAT, problem);
    vouch_gguf_add_sizes(b->gguf, b->err);
    return VOUCH_E_FORMAT;
}

/* -------------------------------------------------------------------- parts */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Writes `pattern`, with the layer's number for '#', and then the suffix. False: the name is too long. */
static bool make_name(char name[NAME_SIZE], const char *pattern, int32_t layer, const char *suffix)
{
    const int n = (int)strcspn(pattern, "#");
    const int used = pattern[n] ? snprintf(name, NAME_SIZE, "%.*s%d%s%s", n, pattern, layer, pattern + n + 1, suffix)
                                : snprintf(name, NAME_SIZE, "%s%s", pattern, suffix);
    return used > 0 && used < NAME_SIZE;
}

/* A part of stacked experts takes every output (1) or every second one (2). */
static int64_t output_step(vouch_hf_layout layout)
{
    return layout == VOUCH_HF_EVEN || layout == VOUCH_HF_ODD ? 2 : 1;
}

static bool has_experts(const part *p)
{
    return p->layout == VOUCH_HF_EXPERTS || output_step(p->layout) == 2;
}

/* Whether the part has bytes of MXFP4: blocks [experts, outputs, blocks, 16], or their scales [experts, outputs,
 * blocks]. */
static bool is_mxfp4(const part *p)
{
    return has_experts(p) && strcmp(p->from->dtype, "U8") == 0;
}

static bool has_ids(const part *p)
{
    return p->layout == VOUCH_HF_IDS || p->layout == VOUCH_HF_STEPS;
}

static vouch_status read_type(const builder *b, part *p)
{
    if (is_mxfp4(p)) {
        p->type = VOUCH_TYPE_MXFP4;
        p->index = p->from->n_dims == 3;
        return VOUCH_OK;
    }
    if (has_ids(p) && (strcmp(p->from->dtype, "I64") == 0 || strcmp(p->from->dtype, "I32") == 0)) {
        p->type = VOUCH_TYPE_I64;
        return VOUCH_OK;
    }
    static const struct {
        const char *dtype;
        vouch_type type;
    } types[] = {{"F32", VOUCH_TYPE_F32}, {"F16", VOUCH_TYPE_F16}, {"BF16", VOUCH_TYPE_BF16}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].dtype, p->from->dtype) == 0) {
            p->type = types[i].type;
            return VOUCH_OK;
        }
    char problem[80];
    snprintf(problem, sizeof problem, "dtype %s is not supported (supported: F32, F16, BF16)", p->from->dtype);
    return part_fail(b, p, VOUCH_E_UNSUPPORTED, problem);
}

/* A row of stacked experts is one output of one expert. A row of their biases is one expert. */
static vouch_status read_experts_shape(const builder *b, part *p)
{
    const vouch_safetensor *from = p->from;
    const int64_t step = output_step(p->layout), outputs = from->shape[from->n_dims == 3 && !is_mxfp4(p) ? 2 : 1];
    const bool is_good = is_mxfp4(p) ? from->n_dims == 3 || (from->n_dims == 4 && from->shape[3] == 16)
                                     : from->n_dims == 3 || (from->n_dims == 2 && step == 2);
    if (!is_good || from->bytes == 0 || outputs % step != 0)
        return part_fail(b, p, VOUCH_E_FORMAT, "expected the stacked matrices, blocks, scales or biases of experts");
    p->rows = from->shape[0] * (from->n_dims == 2 ? 1 : outputs / step);
    p->columns = is_mxfp4(p) ? from->shape[2] * 32 : from->n_dims == 2 ? outputs / step : from->shape[1];
    return VOUCH_OK;
}

static bool may_be_convolution(const part *p)
{
    return p->layout == VOUCH_HF_CONVOLUTION || p->layout == VOUCH_HF_VALUES_LAST;
}

/* Whether rows or columns of the part are value heads of delta nets. */
static bool has_values(const part *p)
{
    return p->layout >= VOUCH_HF_VALUES && p->layout <= VOUCH_HF_VALUES_COLUMNS;
}

/* Rows or columns of one value head, if there are n of all heads: 1, or the width of a value; 0: n doesn't fit. */
static int64_t value_width(const builder *b, int64_t n)
{
    const vouch_hf_shape *s = b->shape;
    const int64_t n_values = s->n_groups * s->values_per_key;
    return n == n_values ? 1 : n == s->n_groups * s->delta_values ? s->delta_values / s->values_per_key : 0;
}

static vouch_status check_values(const builder *b, const part *p)
{
    const int64_t n_keys = p->layout == VOUCH_HF_VALUES_LAST ? 2 * b->shape->n_groups * b->shape->delta_keys : 0;
    if (has_values(p) && value_width(b, (p->layout == VOUCH_HF_VALUES_COLUMNS ? p->columns : p->rows) - n_keys) == 0)
        return shape_fail(b, p, "its shape isn't that of the value heads");
    return VOUCH_OK;
}

static vouch_status read_shape(const builder *b, part *p)
{
    if (has_experts(p)) return read_experts_shape(b, p);
    const vouch_safetensor *from = p->from;
    const bool is_matrix = from->n_dims == 2, is_convolution = may_be_convolution(p) && from->n_dims == 3;
    const bool is_whole = p->layout == VOUCH_HF_WHOLE && from->n_dims == 3;
    if ((from->n_dims != 1 && !is_matrix && !is_whole && !is_convolution) || from->bytes == 0)
        return part_fail(b, p, VOUCH_E_UNSUPPORTED, "expected a vector or a matrix that isn't empty");
    if (is_convolution && from->shape[1] != 1)
        return part_fail(b, p, VOUCH_E_FORMAT, "a convolution's second dimension must be 1");
    p->rows = from->shape[0] * (is_whole ? from->shape[1] : 1);
    p->columns = is_matrix ? from->shape[1] : is_whole || is_convolution ? from->shape[2] : 1;
    if (p->layout == VOUCH_HF_FIRST_HALF || p->layout == VOUCH_HF_SECOND_HALF) {
        if (p->rows % 2 != 0) return part_fail(b, p, VOUCH_E_FORMAT, "its number of rows is odd; expected two halves");
        p->rows /= 2;
    }
    if (p->layout == VOUCH_HF_DELTA || p->layout == VOUCH_HF_DELTA_GATE) {
        const vouch_hf_shape *s = b->shape;
        if (!is_matrix || p->rows != s->n_groups * 2 * (s->delta_keys + s->delta_values))
            return shape_fail(b, p, "its rows aren't the queries, keys, values and gates");
        p->rows = s->n_groups * (s->delta_values + (p->layout == VOUCH_HF_DELTA ? 2 * s->delta_keys : 0));
    }
    VOUCH_TRY(check_values(b, p));
    if (p->layout == VOUCH_HF_GROUPS && (from->n_dims != 1 || p->rows % b->shape->n_groups != 0))
        return shape_fail(b, p, "expected a vector whose length is a multiple of the number of groups");
    if (p->layout == VOUCH_HF_TRANSPOSED && is_matrix) {
        p->rows = from->shape[1];
        p->columns = from->shape[0];
    } else if (p->layout == VOUCH_HF_STACKED && !is_matrix) {
        p->rows = 1;
        p->columns = from->shape[0];
    }
    return VOUCH_OK;
}

/* In a layer without experts, the "shared" network is the dense one: "ffn_up_shexp" becomes "ffn_up". */
static void name_dense(const builder *b, char name[NAME_SIZE])
{
    static const char tail[] = "_shexp";
    char *at = b->shape->n_experts == 0 ? strstr(name, tail) : NULL;
    if (at) memmove(at, at + sizeof tail - 1, strlen(at + sizeof tail - 1) + 1);
}

static bool is_named(vouch_hf_layout layout)
{
    return layout == VOUCH_HF_NAMED || layout == VOUCH_HF_COLUMN || layout == VOUCH_HF_DECAY ||
           layout == VOUCH_HF_DECAY_COLUMN || layout == VOUCH_HF_VALUES_NAMED || layout == VOUCH_HF_VALUES_DECAY ||
           layout == VOUCH_HF_EXPERTS || layout == VOUCH_HF_WHOLE || layout == VOUCH_HF_IDS ||
           layout == VOUCH_HF_STEPS || output_step(layout) == 2;
}

/* Adds a part by its rule, unless GGUF doesn't have the tensor. */
static vouch_status part_add_by(builder *b, uint32_t file, const vouch_safetensor *from, const vouch_hf_rule *rule,
                                int32_t layer, int32_t index, const char *suffix)
{
    part *p = &b->parts[b->n_parts];
    *p = (part){.file = file, .from = from};
    if (rule->layout == VOUCH_HF_DROPPED) return VOUCH_OK;
    if (!make_name(p->name, rule->to, layer, is_named(rule->layout) ? "" : *suffix ? suffix : ".weight"))
        return part_fail(b, p, VOUCH_E_FORMAT, "the layer's number is too large");
    name_dense(b, p->name);
    if (b->shape->is_tied && strcmp(p->name, "output.weight") == 0) return VOUCH_OK;
    p->index = strchr(rule->from, '#') == strrchr(rule->from, '#') ? layer : index; /* the last number */
    p->layout = rule->layout;
    const bool is_rotated = p->layout == VOUCH_HF_QUERIES || p->layout == VOUCH_HF_KEYS || p->layout == VOUCH_HF_HEAD;
    if (is_rotated && !b->family->rotates_adjacent) p->layout = VOUCH_HF_AS_IS;
    VOUCH_TRY(read_type(b, p));
    VOUCH_TRY(read_shape(b, p));
    b->n_parts++;
    return VOUCH_OK;
}

static vouch_status part_add(builder *b, uint32_t file, const vouch_safetensor *from)
{
    int32_t layer, index;
    const char *suffix;
    const vouch_hf_rule *rule =
        vouch_hf_family_rule(b->family, from->name, !b->shape->is_untied, &layer, &index, &suffix);
    if (!rule) {
        const part p = {.file = file, .from = from};
        char problem[80];
        snprintf(problem, sizeof problem, "has no place in a model of type '%.40s'", b->family->model_type);
        return part_fail(b, &p, VOUCH_E_UNSUPPORTED, problem);
    }
    VOUCH_TRY(part_add_by(b, file, from, rule, layer, index, suffix));
    if (rule->layout != VOUCH_HF_FIRST_HALF && rule->layout != VOUCH_HF_EVEN && rule->layout != VOUCH_HF_DELTA)
        return VOUCH_OK;
    return part_add_by(b, file, from, rule + 1, layer, index, suffix);
}

static int part_compare(const void *a, const void *b)
{
    const part *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* ------------------------------------------------------------------- views */

/* Rows [0, rows) as they are. */
static vouch_view view_plain(const part *p, const unsigned char *data)
{
    return (vouch_view){data, p->file, .n = {1, 1, p->rows}, .stride = {0, 0, p->columns}, .step = 1};
}

/* GGUF interleaves the halves of a head: its row (head, pair, half) is the file's row (head, half, pair). */
static vouch_status view_rotated(const builder *b, const part *p, int64_t n_heads, vouch_view *view)
{
    if (p->rows % (2 * n_heads) != 0) return shape_fail(b, p, "its rows are not an even number per head");
    const int64_t half = p->rows / n_heads / 2, c = p->columns;
    *view =
        (vouch_view){view->data, p->file, .n = {n_heads, half, 2}, .stride = {2 * half * c, c, half * c}, .step = 1};
    return VOUCH_OK;
}

/* Rows of a group in the file: its queries, its key, its value. */
static vouch_status views_fused(const builder *b, const part *p, vouch_view views[3])
{
    const vouch_hf_shape *s = b->shape;
    const int64_t groups = s->n_kv_heads, n_queries = s->n_heads / groups, width = s->head_dim, c = p->columns;
    const int64_t group = (n_queries + 2) * width * c;
    if (p->rows != groups * (n_queries + 2) * width)
        return shape_fail(b, p, "its rows aren't the queries, keys and values");
    for (int64_t i = 0; i < 3; i++) {
        const int64_t first = i == 0 ? 0 : n_queries + i - 1, n = i == 0 ? n_queries : 1;
        views[i] = (vouch_view){views[0].data,
                                p->file,
                                .first = first * width * c,
                                .n = {groups, n, width},
                                .stride = {group, width * c, c},
                                .step = 1};
    }
    return VOUCH_OK;
}

/* Rows of a key head in the file: its query, its key, its values, its gates. */
static void views_delta(const builder *b, const part *p, vouch_view views[3])
{
    const vouch_hf_shape *s = b->shape;
    const bool is_gate = p->layout == VOUCH_HF_DELTA_GATE;
    const int64_t c = p->columns, head = 2 * (s->delta_keys + s->delta_values);
    const int64_t first[] = {0, s->delta_keys, 2 * s->delta_keys, 2 * s->delta_keys + s->delta_values};
    for (int64_t i = 0; i < (is_gate ? 1 : 3); i++) {
        const int64_t at = is_gate ? 3 : i, n = at < 2 ? s->delta_keys : s->delta_values;
        views[i] = (vouch_view){
            views[0].data, p->file, .first = first[at] * c, .n = {s->n_groups, n, 1}, .stride = {head * c, c, 0},
            .step = 1};
    }
}

/* Value head j of key head i is number j * n_groups + i in GGUF. If columns are value heads, a view's row is one head's
 * part of a row. */
static size_t views_values(const builder *b, const part *p, vouch_view views[2])
{
    const vouch_hf_shape *s = b->shape;
    const int64_t keys = s->n_groups, each = s->values_per_key, c = p->columns;
    const int64_t first = p->layout == VOUCH_HF_VALUES_LAST ? 2 * keys * s->delta_keys : 0;
    if (p->layout == VOUCH_HF_VALUES_COLUMNS) {
        const int64_t width = value_width(b, c);
        views[0] = (vouch_view){views[0].data, p->file, .n = {p->rows, each, keys}, .stride = {c, width, each * width},
                                .step = 1};
        return 1;
    }
    const int64_t width = value_width(b, p->rows - first);
    const size_t n = first > 0 ? 2 : 1;
    if (first > 0) views[0].n[2] = first;
    views[n - 1] = (vouch_view){views[0].data,
                                p->file,
                                .first = first * c,
                                .n = {each, keys, width},
                                .stride = {width * c, each * width * c, c},
                                .step = 1};
    return n;
}

/* Rows of stacked experts. With MXFP4, parts[1] has the scales. */
static vouch_view view_experts(const builder *b, const part *parts)
{
    const part *p = &parts[0];
    const vouch_safetensor *from = p->from;
    const int64_t n = from->shape[0], step = output_step(p->layout), odd = p->layout == VOUCH_HF_ODD;
    const unsigned char *data = b->files[p->file].map.data + from->offset;
    if (from->n_dims == 2)
        return (vouch_view){data,        p->file, .first = odd, .n = {n, 1, 1}, .stride = {from->shape[1], 0, 0},
                            .step = step};
    if (from->n_dims == 3) {
        const int64_t outputs = from->shape[2];
        return (vouch_view){data,
                            p->file,
                            .first = odd,
                            .n = {n, outputs / step, 1},
                            .stride = {from->shape[1] * outputs, step, 0},
                            .step = outputs};
    }
    const int64_t outputs = from->shape[1], blocks = from->shape[2];
    return (vouch_view){data,
                        p->file,
                        b->files[parts[1].file].map.data + parts[1].from->offset,
                        parts[1].file,
                        odd * blocks,
                        {n, outputs / step, 1},
                        {outputs * blocks, step * blocks, 0},
                        1};
}

/* The views of n parts, which have the same name in GGUF. */
static vouch_status make_views(const builder *b, const part *parts, size_t n, vouch_view *views, size_t *n_views)
{
    const part *p = parts;
    if (has_experts(p)) {
        views[0] = view_experts(b, parts);
        *n_views = 1;
        return VOUCH_OK;
    }
    for (size_t i = 0; i < n; i++)
        views[i] = view_plain(&parts[i], b->files[parts[i].file].map.data + parts[i].from->offset);
    *n_views = has_values(p) ? views_values(b, p, views) : n;
    switch (p->layout) {
    case VOUCH_HF_QUERIES: return view_rotated(b, p, b->shape->n_heads, views);
    case VOUCH_HF_KEYS: return view_rotated(b, p, b->shape->n_kv_heads, views);
    case VOUCH_HF_HEAD: return view_rotated(b, p, 1, views);
    case VOUCH_HF_FUSED: *n_views = 3; return views_fused(b, p, views);
    case VOUCH_HF_DELTA:
        *n_views = 3;
        views_delta(b, p, views);
        return VOUCH_OK;
    case VOUCH_HF_DELTA_GATE: views_delta(b, p, views); return VOUCH_OK;
    case VOUCH_HF_SECOND_HALF: views[0].first = p->rows * p->columns; return VOUCH_OK;
    case VOUCH_HF_TRANSPOSED:
        views[0].stride[2] = 1;
        views[0].step = p->rows;
        return VOUCH_OK;
    default: return VOUCH_OK;
    }
}

/* ------------------------------------------------------------------ tensors */

/* vouch takes vectors, norms, routers and positions in F32 only, as llama.cpp does. */
static bool is_float(const part *p)
{
    return p->from->n_dims == 1 || p->layout == VOUCH_HF_CONVOLUTION || ends_with(p->name, "_conv_base") ||
           (p->layout == VOUCH_HF_VALUES_LAST && p->from->n_dims == 3) || ends_with(p->name, "_exps.bias") ||
           ends_with(p->name, "_norm.weight") || ends_with(p->name, ".ffn_gate_inp.weight") ||
           ends_with(p->name, ".ffn_gate_inp_shexp.weight") || strcmp(p->name, "position_embd.weight") == 0 ||
           strcmp(p->name, "mask_hidden.weight") == 0 || strcmp(p->name, "mask_embedding.weight") == 0;
}

static void set_dims(const builder *b, vouch_gguf_tensor *t, const part *p, size_t n)
{
    const bool is_stack = p->layout == VOUCH_HF_STACKED, is_matrix = p->from->n_dims >= 2;
    const int64_t count = (int64_t)n;
    t->dim[0] = is_matrix || is_stack ? p->columns : p->rows;
    t->dim[1] = is_matrix ? p->rows : is_stack ? count : 1;
    t->dim[2] = is_matrix && is_stack ? count : 1;
    t->dim[3] = 1;
    t->n_dims = p->from->n_dims + is_stack;
    if (has_experts(p)) {
        t->n_dims = p->from->n_dims == 2 ? 2 : 3;
        t->dim[1] = p->from->n_dims == 2 ? p->rows : p->rows / p->from->shape[0];
        t->dim[2] = p->from->n_dims == 2 ? 1 : p->from->shape[0];
    } else if (p->layout == VOUCH_HF_WHOLE && p->from->n_dims == 3) {
        t->dim[1] = p->from->shape[1];
        t->dim[2] = p->from->shape[0];
    } else if (p->layout == VOUCH_HF_GROUPS) {
        t->dim[0] = p->rows / b->shape->n_groups;
        t->dim[1] = b->shape->n_groups;
    } else if (p->layout == VOUCH_HF_COLUMN || p->layout == VOUCH_HF_DECAY_COLUMN) {
        t->dim[0] = 1;
        t->dim[1] = p->rows;
    }
    if (t->dim[1] > 1 && t->n_dims < 2) t->n_dims = 2;
    if (may_be_convolution(p) && is_matrix) t->n_dims = 2;
}

/* Checks that the n parts are one tensor, or a stack with the numbers 0, 1, ... */
static vouch_status check_stack(const builder *b, const part *parts, size_t n)
{
    if (is_mxfp4(parts)) {
        const bool is_pair = n == 2 && parts[0].index == 0 && parts[1].index == 1;
        if (is_pair && parts[0].rows == parts[1].rows && parts[0].columns == parts[1].columns) return VOUCH_OK;
        return part_fail(b, parts, VOUCH_E_FORMAT, "expected blocks and scales of equal shapes");
    }
    if (n > 1 && parts->layout != VOUCH_HF_STACKED)
        return part_fail(b, &parts[1], VOUCH_E_FORMAT, "another tensor has the same role");
    for (size_t i = 0; i < n; i++) {
        const part *p = &parts[i];
        if (p->index != (int32_t)i && p->layout == VOUCH_HF_STACKED)
            return part_fail(b, p, VOUCH_E_FORMAT,
                             p->index < (int32_t)i ? "it occurs twice"
                                                   : "the tensor before it in its stack is missing");
        if (p->type != parts->type || p->rows != parts->rows || p->columns != parts->columns)
            return part_fail(b, p, VOUCH_E_FORMAT, "shape or dtype differ from those of number 0 of its stack");
    }
    return VOUCH_OK;
}

/* Adds a tensor of integers, each plus its own index. */
static vouch_status steps_add(const builder *b, const part *p, vouch_gguf_tensor *t)
{
    const bool is_wide = strcmp(p->from->dtype, "I64") == 0;
    const vouch_filemap *map = &b->files[p->file].map;
    const unsigned char *data = map->data + p->from->offset;
    if (p->type != VOUCH_TYPE_I64 || p->from->n_dims != 1)
        return part_fail(b, p, VOUCH_E_FORMAT, "expected a vector of integers");
    VOUCH_TRY(vouch_filemap_load(map, b->gguf->files[p->file].path, p->from->offset, p->from->bytes, b->err));
    int64_t *steps = b->gguf->made->steps = calloc((size_t)p->rows, sizeof *steps);
    if (!steps) return part_fail(b, p, VOUCH_E_MEMORY, "not enough memory for its values");
    for (int64_t i = 0; i < p->rows; i++) {
        int32_t narrow;
        if (is_wide) memcpy(&steps[i], data + i * 8, 8);
        else {
            memcpy(&narrow, data + i * 4, 4);
            steps[i] = narrow;
        }
        if (p->layout == VOUCH_HF_STEPS)
            steps[i] = (int64_t)((uint64_t)steps[i] + (uint64_t)i); /* a damaged number may be any */
    }
    t->data = (unsigned char *)steps;
    t->bytes = (size_t)p->rows * sizeof *steps;
    t->file = VOUCH_GGUF_NO_FILE;
    return VOUCH_OK;
}

/* Makes GGUF's tensor number `index` from n parts. */
static vouch_status tensor_add(const builder *b, const part *parts, size_t n, size_t index)
{
    const part *p = parts;
    vouch_gguf_tensor *t = &b->gguf->tensors[index];
    vouch_recipe *r = &b->gguf->made->recipes[index];
    char *name = b->gguf->made->names + index * NAME_SIZE;
    VOUCH_TRY(check_stack(b, parts, n));
    const bool adds = b->family->adds_one && p->layout == VOUCH_HF_AS_IS && ends_with(p->from->name, "norm.weight");
    const bool is_decay =
        p->layout == VOUCH_HF_DECAY || p->layout == VOUCH_HF_DECAY_COLUMN || p->layout == VOUCH_HF_VALUES_DECAY;
    const bool is_widened = adds || is_decay || (is_float(p) && p->type != VOUCH_TYPE_F32);
    strcpy(name, p->name);
    b->gguf->made->origins[index] = strdup(p->from->name);
    if (!b->gguf->made->origins[index]) return part_fail(b, p, VOUCH_E_MEMORY, "not enough memory for its name");
    *t = (vouch_gguf_tensor){.name = {name, strlen(name)}, .type = is_widened ? VOUCH_TYPE_F32 : p->type};
    set_dims(b, t, p, n);
    if (has_ids(p)) {
        t->type = VOUCH_TYPE_I64;
        return steps_add(b, p, t);
    }
    const int64_t values = is_mxfp4(p) ? 32 : 1; /* of a block */
    t->bytes = (size_t)(t->dim[0] / values * t->dim[1] * t->dim[2]) * (size_t)vouch_type_get_info(t->type)->block_bytes;
    t->data = b->files[p->file].map.data + p->from->offset;
    t->file = p->file;
    const bool is_aligned = (uintptr_t)t->data % VOUCH_GGUF_ALIGNMENT_MIN == 0;
    const bool is_same = p->layout == VOUCH_HF_AS_IS || p->layout == VOUCH_HF_CONVOLUTION ||
                         p->layout == VOUCH_HF_WHOLE || p->layout == VOUCH_HF_GROUPS || p->layout == VOUCH_HF_NAMED ||
                         p->layout == VOUCH_HF_COLUMN || p->layout == VOUCH_HF_FIRST_HALF;
    const bool is_plain = is_same || (p->layout == VOUCH_HF_TRANSPOSED && p->from->n_dims == 1);
    if (is_plain && !is_widened && is_aligned) return VOUCH_OK;
    vouch_view *views = calloc(n < 3 ? 3 : n, sizeof *views);
    if (!views) return part_fail(b, p, VOUCH_E_MEMORY, "not enough memory for its recipe");
    *r = (vouch_recipe){
        .type = p->type,
        .is_widened = is_widened,
        .is_decay = is_decay,
        .add = adds ? 1 : 0,
        .n_columns = p->layout == VOUCH_HF_VALUES_COLUMNS ? value_width(b, p->columns) : p->columns / values,
        .views = views};
    t->file = VOUCH_GGUF_NO_FILE;
    return make_views(b, parts, n, views, &r->n_views);
}

/* Adds RoPE's factors as tensors: rope_freqs.weight, or rope_factors_short.weight and rope_factors_long.weight. */
static vouch_status constants_add(const builder *b, size_t *n)
{
    const vouch_hf_shape *s = b->shape;
    vouch_made *made = b->gguf->made;
    if (s->n_factors == 0) return VOUCH_OK;
    made->constants = calloc((size_t)s->n_factors * MOST_CONSTANTS, sizeof *made->constants);
    if (!made->constants) return vouch_fail(b->err, VOUCH_E_MEMORY, "%s: not enough memory", b->gguf->path);
    const size_t bytes = (size_t)s->n_factors * sizeof *made->constants;
    for (int i = 0; i < (s->has_long_factors ? 2 : 1); i++) {
        const char *text = !s->has_long_factors ? "rope_freqs.weight"
                           : i == 0             ? "rope_factors_short.weight"
                                                : "rope_factors_long.weight";
        float *data = made->constants + i * s->n_factors;
        char *name = made->names + *n * NAME_SIZE;
        strcpy(name, text);
        memcpy(data, i == 0 ? s->factors : s->long_factors, bytes);
        b->gguf->tensors[(*n)++] = (vouch_gguf_tensor){.name = {name, strlen(name)},
                                                       .n_dims = 1,
                                                       .dim = {s->n_factors, 1, 1, 1},
                                                       .type = VOUCH_TYPE_F32,
                                                       .data = data,
                                                       .bytes = bytes,
                                                       .file = VOUCH_GGUF_NO_FILE};
    }
    return VOUCH_OK;
}

static vouch_status build(builder *b)
{
    vouch_gguf *g = b->gguf;
    const size_t most = b->n_parts + MOST_CONSTANTS;
    qsort(b->parts, b->n_parts, sizeof *b->parts, part_compare);
    free(g->tensors);
    free(g->tensor_index);
    g->tensors = calloc(most, sizeof *g->tensors);
    g->tensor_index = calloc(most, sizeof *g->tensor_index);
    g->made->recipes = calloc(most, sizeof *g->made->recipes);
    g->made->names = calloc(most, NAME_SIZE);
    g->made->origins = calloc(most, sizeof *g->made->origins);
    if (!g->tensors || !g->tensor_index || !g->made->recipes || !g->made->names || !g->made->origins)
        return vouch_fail(b->err, VOUCH_E_MEMORY, "%s: not enough memory for %zu tensors", g->path, most);
    size_t n = 0;
    g->made->n = most;
    for (size_t i = 0, end; i < b->n_parts; i = end) {
        for (end = i + 1; end < b->n_parts && strcmp(b->parts[i].name, b->parts[end].name) == 0;) end++;
        VOUCH_TRY(tensor_add(b, &b->parts[i], end - i, n));
        n++;
    }
    VOUCH_TRY(constants_add(b, &n));
    g->n_tensors = g->made->n = n;
    VOUCH_TRY(vouch_made_reserve(g->made, g->tensors, g->path, b->err));
    VOUCH_TRY(vouch_gguf_index_tensors(g, b->err));
    if (!b->shape->is_untied || vouch_gguf_find_tensor(g, "output.weight")) return VOUCH_OK;
    return vouch_fail(b->err, VOUCH_E_FORMAT,
                      "%s: the output matrix (lm_head.weight) is missing, and tie_word_embeddings is false", g->path);
}

vouch_status vouch_hf_tensors_add(vouch_gguf *gguf, const vouch_safetensors *files, size_t n,
                                  const vouch_hf_family *family, const vouch_hf_shape *shape, vouch_error *err)
{
    builder b = {.gguf = gguf, .files = files, .family = family, .shape = shape, .err = err};
    size_t most = 1;
    for (size_t i = 0; i < n; i++) most += 2 * files[i].n; /* a tensor may become two */
    b.parts = calloc(most, sizeof *b.parts);
    vouch_status status = VOUCH_OK;
    if (!b.parts) status = vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory for its tensors", gguf->path);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; status == VOUCH_OK && t < files[i].n; t++)
            status = part_add(&b, (uint32_t)i, &files[i].tensors[t]);
    if (status == VOUCH_OK) status = build(&b);
    free(b.parts);
    return status;
}
