/* SPDX-License-Identifier: MIT */
#include "train/distill.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/common.h"
#include "base/floats.h"
#include "format/open.h"
#include "train/head_file.h"
#include "train/linear.h"
#include "train/measure.h"

enum { MEASURED_TOKENS = 8000 }; /* most tokens held back that a head is measured on */

/* All that the stages share. */
typedef struct distiller {
    const train_options *options;
    const char *target, *head;
    train_states_header header; /* of the states: the target's facts, and the taps */
    vouch_pool *pool;
    vouch_weights *weights;
    train_chunks *answers, *states, *measured_answers, *measured_states;
    train_lessons_set lessons, measured;
    float *embedding, *output; /* [n_vocab, n_embd] the target's; one array where tied */
} distiller;

train_options train_options_default(void)
{
    return (train_options){.n_tokens = 2000000,
                           .sampled = 0.5,
                           .temperature = 1,
                           .top_p = 0.95f,
                           .n_parallel = 16,
                           .max_tokens = 512,
                           .n_draft = 8192,
                           .depth = 2,
                           .epochs = 3,
                           .rate = 5e-4,
                           .type = "Q8_0"};
}

static vouch_status options_check(const train_options *o, vouch_error *err)
{
    if (o->n_tokens < 1000)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n_tokens is %lld: expected at least 1000", (long long)o->n_tokens);
    if (!(o->sampled >= 0 && o->sampled <= 1))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "sampled is %g: expected a share, 0 to 1", o->sampled);
    if (o->n_parallel < 1 || o->n_parallel > 64)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n_parallel is %d: expected 1 to 64", (int)o->n_parallel);
    if (o->n_taps < 0 || o->n_taps > TRAIN_MOST_TAPS)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n_taps is %d: expected at most %d layers", (int)o->n_taps,
                          TRAIN_MOST_TAPS);
    if (!train_head_type_known(o->type))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "type is '%.40s': expected Q8_0, Q4_0, F16 or F32", o->type);
    return VOUCH_OK;
}

static void note(const distiller *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(const distiller *d, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (d->options->note) d->options->note(d->options->user, line);
}

/* HEAD.answers, HEAD.states, ... */
static const char *path_beside(const distiller *d, const char *what, char path[4096])
{
    snprintf(path, 4096, "%s.%s", d->head, what);
    return path;
}

/* The layers named by the options; otherwise an early one, the middle one, a late one and the last. */
static vouch_status taps_choose(distiller *d, vouch_error *err)
{
    const train_options *o = d->options;
    train_states_header *h = &d->header;
    const int32_t n = h->n_layers, usual[] = {2, n / 2, n - 3, n - 1};
    for (int32_t i = 0; i < o->n_taps; i++) {
        if (o->taps[i] < 0 || o->taps[i] >= n || (i > 0 && o->taps[i] <= o->taps[i - 1]))
            return vouch_fail(err, VOUCH_E_ARGUMENT, "taps has %d: expected ascending layers of the target, 0 to %d",
                              (int)o->taps[i], (int)n - 1);
        h->taps[h->n_taps++] = o->taps[i];
    }
    if (o->n_taps > 0 && o->taps[o->n_taps - 1] != n - 1)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "taps lacks layer %d: a head learns from the last layer's state, too",
                          (int)n - 1);
    for (int32_t i = 0; i < 4 && o->n_taps == 0; i++)
        if (usual[i] >= 0 && (h->n_taps == 0 || usual[i] > h->taps[h->n_taps - 1])) h->taps[h->n_taps++] = usual[i];
    return VOUCH_OK;
}

/* Answers to the prompts that teach, or those that measure. */
static vouch_status answers_stage(distiller *d, vouch_error *err)
{
    char path[4096];
    vouch_model *model;
    vouch_model_options options = vouch_model_options_default();
    options.n_threads = d->options->n_threads;
    VOUCH_TRY(vouch_model_open(&model, d->target, &options, err));
    snprintf(d->header.digest, sizeof d->header.digest, "%s", vouch_model_get_info(model)->digest);
    d->header.n_layers = vouch_model_get_info(model)->n_layers;
    vouch_status status = taps_choose(d, err);
    if (!status) status = train_answers_make(&d->answers, path_beside(d, "answers", path), model, d->options, err);
    if (!status && d->options->measured) {
        train_options measured = *d->options;
        measured.prompts = d->options->measured;
        measured.n_prompts = d->options->n_measured;
        measured.n_excluded = 0;
        measured.n_tokens = INT64_MAX;
        measured.sampled = 0;
        status = train_answers_make(&d->measured_answers, path_beside(d, "measured.answers", path), model, &measured,
                                    err);
    }
    vouch_model_close(model);
    return status;
}

static vouch_status weights_open(distiller *d, vouch_error *err)
{
    vouch_gguf *gguf;
    VOUCH_TRY(vouch_pool_open(&d->pool, d->options->n_threads, err));
    VOUCH_TRY(vouch_format_open(&gguf, d->target, err));
    const vouch_status status =
        vouch_weights_open(&d->weights, gguf, 0, vouch_kernels_find(NULL), d->pool, NULL, NULL, err);
    vouch_gguf_close(gguf);
    return status;
}

static vouch_status states_stage(distiller *d, vouch_error *err)
{
    char path[4096];
    const vouch_hparams *hparams = &d->weights->hparams;
    snprintf(d->header.version, sizeof d->header.version, "states 1");
    d->header.n_embd = hparams->n_embd;
    d->header.n_vocab = hparams->n_vocab;
    VOUCH_TRY(train_states_make(&d->states, path_beside(d, "states", path), &d->header, d->answers, d->weights, d->pool,
                                d->options, err));
    VOUCH_TRY(train_lessons_open(&d->lessons, d->states, &d->header, d->weights, err));
    if (!d->measured_answers) return VOUCH_OK;
    VOUCH_TRY(train_states_make(&d->measured_states, path_beside(d, "measured.states", path), &d->header,
                                d->measured_answers, d->weights, d->pool, d->options, err));
    VOUCH_TRY(train_lessons_open(&d->measured, d->measured_states, &d->header, d->weights, err));
    /* The head's own standardisation counts there, too. */
    memcpy(d->measured.mean, d->lessons.mean, (size_t)d->lessons.n_features * sizeof *d->lessons.mean);
    memcpy(d->measured.inv_scale, d->lessons.inv_scale, (size_t)d->lessons.n_features * sizeof *d->lessons.mean);
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ linear head */

static vouch_status matrix_open(float **out, const vouch_matrix *matrix, vouch_error *err)
{
    *out = malloc((size_t)matrix->n_out * (size_t)matrix->n_in * sizeof **out);
    if (!*out) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the target's tokens in F32");
    for (int64_t i = 0; i < matrix->n_out; i++) vouch_matrix_get_row(matrix, i, *out + i * matrix->n_in);
    return VOUCH_OK;
}

/* The target's embedding and output matrix as floats. */
static vouch_status ends_open(distiller *d, vouch_error *err)
{
    const vouch_weights *w = d->weights;
    if (w->output_norm.kind != VOUCH_NORM_RMS)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "heads are taught for targets with RMSNorm before the output; %s has another norm",
                          w->hparams.arch);
    VOUCH_TRY(matrix_open(&d->embedding, &w->embedding, err));
    d->output = d->embedding;
    return w->head == &w->embedding ? VOUCH_OK : matrix_open(&d->output, w->head, err);
}

static void linear_report(void *user, double share)
{
    const distiller *d = user;
    const train_options *o = d->options;
    if (o->report) o->report(o->user, &(train_report){"linear", "fitting", share});
}

static train_figures figures_of(const train_score *score)
{
    train_figures f = {.n_tokens = score->tokens};
    for (int g = 0; g < TRAIN_MEASURED_DEPTH; g++)
        f.accepted[g] = (double)score->accepted[g] / fmax(1, (double)score->reached[g]);
    f.tokens_per_cycle = (double)score->tokens / fmax(1, (double)score->cycles);
    return f;
}

/* Acceptance on the answers held back, and on the measured prompts' answers. */
static vouch_status measure(distiller *d, const train_taught *taught, train_result *result, vouch_error *err)
{
    train_score held = {0}, measured = {0};
    VOUCH_TRY(train_measure(&held, taught, &d->lessons, d->lessons.n_taught, d->lessons.n, MEASURED_TOKENS, err));
    result->held = figures_of(&held);
    result->n_tokens = d->lessons.n_rows;
    if (d->measured_states)
        VOUCH_TRY(train_measure(&measured, taught, &d->measured, 0, d->measured.n, INT64_MAX, err));
    result->measured = figures_of(&measured);
    return VOUCH_OK;
}

static vouch_status linear_write(distiller *d, const train_taught *taught, train_result *result, vouch_error *err)
{
    char recipe[512];
    struct stat info;
    snprintf(recipe, sizeof recipe,
             "{\"method\": \"linear\", \"tokens\": %" PRId64 ", \"sampled\": %g, \"seed\": %" PRIu64
             ", \"accepted\": [%.4f, %.4f, %.4f], \"tokens_per_cycle\": %.4f}",
             d->lessons.n_rows, d->options->sampled, d->options->seed, result->held.accepted[0],
             result->held.accepted[1], result->held.accepted[2], result->held.tokens_per_cycle);
    const train_head_file file = {.set = &d->lessons,
                                  .shape = taught->shape,
                                  .head = taught->head,
                                  .name = "linear head",
                                  .recipe = recipe,
                                  .type = d->options->type};
    VOUCH_TRY(train_head_write(&file, d->head, err));
    result->bytes = stat(d->head, &info) == 0 ? info.st_size : 0;
    return VOUCH_OK;
}

static vouch_status linear_stage(distiller *d, train_result *result, vouch_error *err)
{
    train_linear_head linear;
    train_linear_options options = train_linear_options_default();
    options.report = linear_report;
    options.user = d;
    note(d, "linear head: %" PRId64 " tokens of %d answers, %" PRId64 " inputs; %.0f MB of memory", d->lessons.n_rows,
         (int)d->lessons.n_taught, d->lessons.n_features + d->header.n_embd,
         (train_linear_bytes(&d->lessons) + 4 * (double)d->header.n_vocab * d->header.n_embd) * 1e-6);
    VOUCH_TRY(ends_open(d, err));
    VOUCH_TRY(train_linear_fit(&linear, &d->lessons, d->embedding, &options, err));
    float *zero = calloc((size_t)linear.width, sizeof *zero);
    float *norm = malloc((size_t)linear.width * sizeof *norm);
    vouch_status status = zero && norm ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a head");
    const train_head_shape shape = {.n_features = linear.n_features,
                                    .width = linear.width,
                                    .n_vocab = linear.n_vocab,
                                    .n_draft = linear.n_vocab,
                                    .n_generations = TRAIN_MEASURED_DEPTH,
                                    .eps = d->weights->hparams.norm_eps};
    if (!status) {
        for (int64_t i = 0; i < linear.width; i++)
            norm[i] = d->weights->output_norm.weight ? d->weights->output_norm.weight[i] : 1;
        const train_head head = {.fc = linear.fc, .fc_bias = zero, .feature = linear.feature, .output_norm = norm,
                                 .output = d->output, .tokens = linear.tokens};
        const train_taught taught = {.head = &head, .shape = &shape};
        status = measure(d, &taught, result, err);
        if (!status) status = linear_write(d, &taught, result, err);
    }
    free(zero);
    free(norm);
    train_linear_free(&linear);
    return status;
}

static vouch_status run(distiller *d, train_result *result, vouch_error *err)
{
    VOUCH_TRY(answers_stage(d, err));
    VOUCH_TRY(weights_open(d, err));
    train_blas()->openblas_set_num_threads((int)vouch_pool_size(d->pool));
    VOUCH_TRY(states_stage(d, err));
    return linear_stage(d, result, err);
}

vouch_status train_distill(const char *target, const char *head, const train_options *options, train_result *result,
                           vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    distiller d = {.options = options, .target = target, .head = head};
    *result = (train_result){0};
    VOUCH_TRY(options_check(options, err));
    VOUCH_TRY(train_blas_open(err));
    const vouch_status status = run(&d, result, err);
    if (d.output != d.embedding) free(d.output);
    free(d.embedding);
    train_lessons_close(&d.lessons);
    train_lessons_close(&d.measured);
    train_chunks_close(d.measured_states);
    train_chunks_close(d.measured_answers);
    train_chunks_close(d.states);
    train_chunks_close(d.answers);
    vouch_weights_close(d.weights);
    vouch_pool_close(d.pool);
    return status;
}
