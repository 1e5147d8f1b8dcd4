/* SPDX-License-Identifier: MIT */
/*
 * The rotation of config.json, in each of its spellings:
 *
 *   rope_theta, rope_scaling {type, factor, ...}                  older files
 *   rope_parameters {rope_theta, rope_type, factor, ...}          newer files
 *   rope_parameters {full_attention {...}, sliding_attention {...}}   families with a rotation for each type of layer
 *
 * GGUF has keys for linear scaling and for YaRN, as long as YaRN's ramp begins and ends at whole pairs. All other
 * scalings become divisors of the frequencies, a tensor. Numbers and defaults are those of transformers.
 */
#include "format/hf/hf_rope.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/angle.h"
#include "format/hf/hf_keys.h"

/* Members that each type of rotation reads, and those of all types. Members of another type change nothing. */
#define ALL_TYPES "rope_theta rope_type type partial_rotary_factor "
static const struct {
    const char *type, *members;
} types[] = {
    {"default", ""},
    {"linear", "factor"},
    {"yarn", "factor attention_factor beta_fast beta_slow mscale mscale_all_dim original_max_position_embeddings "
             "truncate llama_4_scaling_beta"},
    {"llama3", "factor low_freq_factor high_freq_factor original_max_position_embeddings"},
    {"longrope", "factor attention_factor short_factor long_factor original_max_position_embeddings"},
    {"proportional", "factor partial_rotary_factor"},
    {"dynamic", "factor alpha"},
};
enum { N_TYPES = sizeof types / sizeof types[0] };

/* Positions in a text are equal in all sections of a head; the others are names. */
static const char idle[] = "mrope_section mrope_interleaved max_position_embeddings finetuned";
/* Members of code that isn't transformers'. */
static const char demanded[] = "extrapolation_factor attn_factor";

/* A rotation, while it is read. */
typedef struct rotation {
    const hf_reader *r;
    const json_t *rope;                     /* its members; NULL: none */
    const char *place, *type;               /* the object's name, for messages */
    double theta, factor, original, growth; /* growth: of queries and keys */
} rotation;

static vouch_status rope_float(const rotation *o, const char *name, bool required, double min, double max,
                               double *value)
{
    if (required && !vouch_json_find(o->rope, name))
        return vouch_fail(o->r->err, VOUCH_E_FORMAT, "%s: %s.%s is missing", o->r->config->path, o->place, name);
    return vouch_json_float(o->r->config, o->rope, name, required, min, max, value, o->r->err);
}

/* ------------------------------------------------------------------ members */

static bool is_known(const char *name)
{
    bool known = vouch_hf_list_has(ALL_TYPES, ' ', name) || vouch_hf_list_has(idle, ' ', name);
    for (size_t i = 0; i < N_TYPES; i++) known |= vouch_hf_list_has(types[i].members, ' ', name);
    return known;
}

static vouch_status refuse(const hf_reader *r, const char *place, const char *name, const json_t *value)
{
    char text[64], problem[200];
    snprintf(problem, sizeof problem, "%s.%.60s is %s", place, name, vouch_hf_value(value, text));
    return hf_unsupported(r, problem);
}

vouch_status vouch_hf_rope_members(const hf_reader *r, const char *place, const json_t *rope)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)rope, name, value) {
        const bool is_one = json_is_number(value) && json_number_value(value) == 1;
        if (json_is_null(value) || is_known(name)) continue;
        if (vouch_hf_list_has(demanded, ' ', name) && is_one) continue;
        return refuse(r, place, name, value);
    }
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ scaling */

/* Divides the frequency of each pair by a factor. */
static void add_factors(const rotation *o, const double *factors)
{
    vouch_hf_shape *s = o->r->shape;
    s->n_factors = s->n_rot / 2;
    for (int64_t i = 0; i < s->n_factors; i++) s->factors[i] = (float)factors[i];
}

/* The context of training. The top of config.json has precedence over the rotation's own object, and
 * max_position_embeddings is the default. */
static vouch_status read_original(rotation *o)
{
    static const char name[] = "original_max_position_embeddings";
    const json_t *root = o->r->config->root;
    const json_t *place = vouch_json_find(root, name) && !o->r->family->has_rope_kinds ? root : o->rope;
    if (!vouch_json_find(place, name))
        return vouch_json_float(o->r->config, root, "max_position_embeddings|n_positions", true, 1, 1e9, &o->original,
                                o->r->err);
    return vouch_json_float(o->r->config, place, name, true, 1, 1e9, &o->original, o->r->err);
}

/* factor; null means max_position_embeddings over the context of training. */
static vouch_status read_factor(rotation *o, bool may_be_absent)
{
    double longest = 0;
    const json_t *value = json_object_get(o->rope, "factor");
    if ((value && !json_is_null(value)) || (!value && !may_be_absent))
        return rope_float(o, "factor", true, 1e-3, 1e6, &o->factor);
    VOUCH_TRY(vouch_json_float(o->r->config, o->r->config->root, "max_position_embeddings", true, 1, 1e9, &longest,
                               o->r->err));
    o->factor = longest / o->original;
    return VOUCH_OK;
}

/* Llama 3: pairs of low frequency rotate `factor` times slower, pairs of high frequency as before. The factor changes
 * smoothly between them. */
static vouch_status read_llama3(rotation *o)
{
    const vouch_hf_shape *s = o->r->shape;
    double low = 1, high = 4, factors[VOUCH_HF_MOST_PAIRS];
    VOUCH_TRY(rope_float(o, "factor", true, 1e-3, 1e6, &o->factor));
    VOUCH_TRY(rope_float(o, "low_freq_factor", true, 1e-3, 1e6, &low));
    VOUCH_TRY(rope_float(o, "high_freq_factor", true, 1e-3, 1e6, &high));
    VOUCH_TRY(read_original(o));
    if (high <= low)
        return vouch_fail(o->r->err, VOUCH_E_FORMAT, "%s: high_freq_factor %g must exceed low_freq_factor %g",
                          o->r->config->path, high, low);
    for (int64_t i = 0; i < s->n_rot / 2; i++) {
        const double wave = 2 * 3.14159265358979323846 * vouch_power(o->theta, (double)(2 * i) / (double)s->n_rot);
        const double smooth = (o->original / wave - low) / (high - low);
        factors[i] = wave < o->original / high  ? 1
                     : wave > o->original / low ? o->factor
                                                : 1 / ((1 - smooth) / o->factor + smooth);
    }
    add_factors(o, factors);
    return VOUCH_OK;
}

static vouch_status read_list(const rotation *o, const char *name, float *factors)
{
    const json_t *list = NULL;
    vouch_hf_shape *s = o->r->shape;
    const char *path = o->r->config->path;
    VOUCH_TRY(vouch_json_nested(o->r->config, o->rope, name, JSON_ARRAY, &list, o->r->err));
    if (json_array_size(list) != (size_t)s->n_rot / 2)
        return vouch_fail(o->r->err, VOUCH_E_FORMAT, "%s: %s has %zu elements, expected %lld: one per rotated pair",
                          path, name, json_array_size(list), (long long)s->n_rot / 2);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *factor = json_array_get(list, i);
        factors[i] = (float)json_number_value(factor);
        if (!json_is_number(factor) || !(factors[i] >= 1e-6f && factors[i] <= 1e6f))
            return vouch_fail(o->r->err, VOUCH_E_FORMAT, "%s: %s: element %zu: expected a number from 1e-6 to 1e6",
                              path, name, i);
    }
    s->n_factors = s->n_rot / 2;
    return VOUCH_OK;
}

/* LongRoPE (arXiv 2402.13753): one set of divisors within the original context, another beyond it. */
static vouch_status read_longrope(rotation *o)
{
    VOUCH_TRY(read_original(o));
    VOUCH_TRY(read_factor(o, true));
    VOUCH_TRY(read_list(o, "short_factor", o->r->shape->factors));
    VOUCH_TRY(read_list(o, "long_factor", o->r->shape->long_factors));
    o->r->shape->has_long_factors = true;
    if (o->original < 2)
        return vouch_fail(o->r->err, VOUCH_E_FORMAT, "%s: original_max_position_embeddings is %g, expected 2 or more",
                          o->r->config->path, o->original);
    o->growth = o->factor > 1 ? sqrt(1 + vouch_ln(o->factor) / vouch_ln(o->original)) : 1;
    VOUCH_TRY(rope_float(o, "attention_factor", false, 1e-3, 1e3, &o->growth));
    hf_add_int(o->r, "rope.scaling.original_context_length", (int64_t)o->original);
    hf_add_float(o->r, "rope.scaling.attn_factor", o->growth);
    return VOUCH_OK;
}

/* YaRN's factor of queries and keys (arXiv 2309.00071, section 3.4). */
static double yarn_growth(double factor, double weight)
{
    return factor > 1 ? 0.1 * weight * vouch_ln(factor) + 1 : 1;
}

static vouch_status read_yarn_growth(rotation *o)
{
    double weight = 0, weight_of_all = 0;
    VOUCH_TRY(rope_float(o, "mscale", false, 0, 1e3, &weight));
    VOUCH_TRY(rope_float(o, "mscale_all_dim", false, 0, 1e3, &weight_of_all));
    o->growth = yarn_growth(o->factor, 1);
    if (weight != 0 && weight_of_all != 0)
        o->growth = yarn_growth(o->factor, weight) / yarn_growth(o->factor, weight_of_all);
    return rope_float(o, "attention_factor", false, 1e-3, 1e3, &o->growth);
}

/* Number of the pair that makes `turns` turns in the context of training. */
static double pair_of_turns(const rotation *o, double turns)
{
    const double two_pi = 6.283185307179586;
    return (double)o->r->shape->n_rot * vouch_ln(o->original / (turns * two_pi)) / (2 * vouch_ln(o->theta));
}

/* YaRN as divisors: pairs up to `low` keep their frequency, pairs from `high` on are divided by the factor. */
static void add_yarn_factors(const rotation *o, double low, double high)
{
    double factors[VOUCH_HF_MOST_PAIRS];
    if (low == high) high += 0.001;
    for (int64_t i = 0; i < o->r->shape->n_rot / 2; i++) {
        const double ramp = fmin(1, fmax(0, ((double)i - low) / (high - low)));
        factors[i] = 1 / (ramp / o->factor + 1 - ramp);
    }
    add_factors(o, factors);
    hf_add_float(o->r, "rope.scaling.attn_factor", o->growth);
    hf_add_int(o->r, "rope.scaling.original_context_length", (int64_t)o->original);
}

static void add_yarn_keys(const rotation *o, double fast, double slow)
{
    char name[96];
    vouch_gguf_add_text(o->r->keys, hf_key(o->r, "rope.scaling.type", name), "yarn");
    hf_add_float(o->r, "rope.scaling.factor", o->factor);
    hf_add_int(o->r, "rope.scaling.original_context_length", (int64_t)o->original);
    hf_add_float(o->r, "rope.scaling.attn_factor", o->growth / yarn_growth(o->factor, 1));
    hf_add_float(o->r, "rope.scaling.yarn_beta_fast", fast);
    hf_add_float(o->r, "rope.scaling.yarn_beta_slow", slow);
}

/* truncate, true by default, rounds the ramp's ends to whole pairs; null counts as false. beta_fast and beta_slow 0
 * count as absent. */
static vouch_status read_yarn(rotation *o)
{
    double fast = 0, slow = 0, heat = 0;
    const json_t *truncate = json_object_get(o->rope, "truncate");
    bool is_truncated = truncate == NULL;
    /* transformers ignores `truncate` in the object of one type of layer. */
    if (truncate && !json_is_true(truncate) && o->r->family->has_rope_kinds)
        return refuse(o->r, o->place, "truncate", truncate);
    VOUCH_TRY(vouch_json_bool(o->r->config, o->rope, "truncate", &is_truncated, o->r->err));
    VOUCH_TRY(read_original(o));
    VOUCH_TRY(read_factor(o, false));
    VOUCH_TRY(read_yarn_growth(o));
    VOUCH_TRY(rope_float(o, "beta_fast", false, 0, 1e6, &fast));
    VOUCH_TRY(rope_float(o, "beta_slow", false, 0, 1e6, &slow));
    VOUCH_TRY(rope_float(o, "llama_4_scaling_beta", false, 0, 1e3, &heat));
    if (heat != 0 && strcmp(o->r->family->model_type, "ministral3") != 0)
        return refuse(o->r, o->place, "llama_4_scaling_beta", vouch_json_find(o->rope, "llama_4_scaling_beta"));
    if (heat != 0) hf_add_float(o->r, "attention.temperature_scale", heat);
    if (fast == 0) fast = 32;
    if (slow == 0) slow = 1;
    double low = pair_of_turns(o, fast), high = pair_of_turns(o, slow);
    if (is_truncated) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, (double)o->r->shape->n_rot - 1);
    if (is_truncated && low <= high && fast >= 1e-3 && slow >= 1e-3) add_yarn_keys(o, fast, slow);
    else add_yarn_factors(o, low, high);
    return VOUCH_OK;
}

/* Hunyuan's "dynamic" scaling: `alpha` raises the base of RoPE, equally for all lengths (NTK-aware scaling). */
static vouch_status read_ntk(rotation *o)
{
    const double n = (double)o->r->shape->n_rot;
    double alpha = 1;
    VOUCH_TRY(rope_float(o, "alpha", true, 1, 1e6, &alpha));
    if (n > 2) o->theta *= vouch_power(alpha, n / (n - 2));
    return VOUCH_OK;
}

static vouch_status read_scaling(rotation *o)
{
    char name[96];
    const bool is_hunyuan = strcmp(o->r->family->arch, "hunyuan-dense") == 0;
    if (strcmp(o->type, "default") == 0) return VOUCH_OK;
    if (strcmp(o->type, "llama3") == 0) return read_llama3(o);
    if (strcmp(o->type, "longrope") == 0 || strcmp(o->type, "su") == 0) return read_longrope(o);
    if (strcmp(o->type, "yarn") == 0) return read_yarn(o);
    if (strcmp(o->type, "dynamic") == 0 && is_hunyuan && vouch_json_find(o->rope, "alpha")) return read_ntk(o);
    if (strcmp(o->type, "linear") != 0)
        return refuse(o->r, o->place, vouch_json_find(o->rope, "rope_type") ? "rope_type" : "type",
                      vouch_json_find(o->rope, "rope_type|type"));
    VOUCH_TRY(rope_float(o, "factor", true, 1e-3, 1e6, &o->factor));
    vouch_gguf_add_text(o->r->keys, hf_key(o->r, "rope.scaling.type", name), o->type);
    hf_add_float(o->r, "rope.scaling.factor", o->factor);
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ objects */

/* rope_parameters may have objects for types of layers and nothing beside them. */
static vouch_status check_kinds(const hf_reader *r, const json_t *kinds)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)kinds, name, value) {
        if (!vouch_hf_list_has("full_attention sliding_attention", ' ', name) && !json_is_null(value))
            return refuse(r, "rope_parameters", name, value);
    }
    return VOUCH_OK;
}

/* Finds the two objects of rope_parameters: the rotation of layers with full attention, and of those with a sliding
 * window. */
static vouch_status find_objects(const hf_reader *r, rotation *full, rotation *window)
{
    const json_t *root = r->config->root, *old = NULL, *new = NULL;
    const bool has_kinds = r->family->has_rope_kinds;
    VOUCH_TRY(vouch_json_nested(r->config, root, "rope_scaling", JSON_OBJECT, &old, r->err));
    VOUCH_TRY(vouch_json_nested(r->config, root, "rope_parameters", JSON_OBJECT, &new, r->err));
    if (json_object_size(old) == 0) old = NULL;
    if (json_object_size(new) == 0) new = NULL;
    full->rope = old ? old : new;
    full->place = old ? "rope_scaling" : "rope_parameters";
    if (!has_kinds) return VOUCH_OK;
    if (old && new) return hf_unsupported(r, "rope_scaling is given beside rope_parameters");
    if (!new) return VOUCH_OK;
    VOUCH_TRY(vouch_json_nested(r->config, new, "full_attention", JSON_OBJECT, &full->rope, r->err));
    VOUCH_TRY(vouch_json_nested(r->config, new, "sliding_attention", JSON_OBJECT, &window->rope, r->err));
    full->place = "rope_parameters.full_attention";
    window->place = "rope_parameters.sliding_attention";
    if (full->rope == new || !window->rope)
        return hf_unsupported(r, "rope_parameters lacks full_attention or sliding_attention");
    return check_kinds(r, new);
}

/* Reads base, type and share of the rotated elements. The top of config.json has what the object lacks. */
static vouch_status read_basics(rotation *o, const char *outer, double *share)
{
    const hf_reader *r = o->r;
    const json_t *root = r->config->root;
    const json_t *place = vouch_json_find(o->rope, "rope_theta") ? o->rope : root;
    VOUCH_TRY(vouch_hf_rope_members(r, o->place, o->rope));
    VOUCH_TRY(vouch_json_text(r->config, o->rope, "rope_type|type", false, &o->type, r->err));
    VOUCH_TRY(vouch_json_float(r->config, place, place == root ? outer : "rope_theta", false, 1, 1e12, &o->theta,
                               r->err));
    const bool is_inner = vouch_json_find(o->rope, "partial_rotary_factor") != NULL;
    place = is_inner ? o->rope : root;
    VOUCH_TRY(vouch_json_float(r->config, place, "partial_rotary_factor|rotary_pct", false, 0, 1, share, r->err));
    if (*share != 1 && !r->family->is_head && !vouch_hf_keys_has(r->family, "partial_rotary_factor") &&
        !vouch_hf_keys_has(r->family, "rotary_pct"))
        return refuse(r, is_inner ? o->place : "config.json", "partial_rotary_factor",
                      vouch_json_find(place, "partial_rotary_factor"));
    return VOUCH_OK;
}

vouch_status vouch_hf_rope_read(const hf_reader *r)
{
    vouch_hf_shape *s = r->shape;
    rotation full = {.r = r, .type = "default", .theta = 10000, .factor = 1, .growth = 1}, window = full;
    double share = 1, window_share = 1;
    char name[64];
    window.theta = 0;
    VOUCH_TRY(find_objects(r, &full, &window));
    VOUCH_TRY(read_basics(&full, "rope_theta|rotary_emb_base", &share));
    if (r->family->has_rope_kinds) {
        VOUCH_TRY(read_basics(&window, "rope_local_base_freq", &window_share));
        if (window.theta == 0) window.theta = full.theta;
        if (strcmp(window.type, "default") != 0)
            return refuse(r, window.place, "rope_type", vouch_json_find(window.rope, "rope_type|type"));
    }
    s->n_rot = (int64_t)(share * (double)s->head_dim);
    VOUCH_TRY(vouch_json_int(r->config, r->config->root, "rotary_dim", false, 2, s->head_dim, &s->n_rot, r->err));
    if (s->n_rot < 2 || s->n_rot % 2 != 0)
        return vouch_fail(r->err, VOUCH_E_UNSUPPORTED,
                          "%s: %s is %g: it rotates %lld of a head's %lld elements (head_dim, or hidden_size / "
                          "num_attention_heads); vouch needs an even number, 2 or more",
                          r->config->path, vouch_json_name(r->config->root, "rotary_pct|partial_rotary_factor", name),
                          share, (long long)s->n_rot, (long long)s->head_dim);
    VOUCH_TRY(read_scaling(&full));
    hf_add_int(r, "rope.dimension_count", s->n_rot);
    hf_add_float(r, "rope.freq_base", full.theta);
    if (window.theta != 0) hf_add_float(r, "rope.freq_base_swa", window.theta);
    return VOUCH_OK;
}
