/* SPDX-License-Identifier: MIT */
#include "train/distill.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/floats.h"
#include "format/open/open.h"
#include "os/os.h"
#include "train/teach/head_file.h"
#include "train/teach/linear.h"
#include "train/network/ops.h"
#include "train/teach/pipeline.h"
#include "train/teach/table.h"
#include "train/teach/teach.h"
#include "train/teach/writing.h"

enum { BEGUN_ROWS = 300000 }; /* rows that a linear head is fitted to where a layer on top goes on learning */

static vouch_status options_check(const train_options *o, vouch_error *err)
{
    if (o->n_tokens < 1000)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`n_tokens` is %lld: expected at least 1000", (long long)o->n_tokens);
    if (!(o->beta > 0 && o->beta < 1))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`beta` is %g: expected a number between 0 and 1", o->beta);
    if (!(o->sampled >= 0 && o->sampled <= 1))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`sampled` is %g: expected a share, 0 to 1", o->sampled);
    if (o->n_parallel < 1 || o->n_parallel > 64)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`n_parallel` is %d: expected 1 to 64", (int)o->n_parallel);
    if (o->n_taps < 0 || o->n_taps > TRAIN_MOST_TAPS)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`taps` has %d layers: expected at most %d", (int)o->n_taps,
                          TRAIN_MOST_TAPS);
    if (o->n_student_layers < 0 || o->n_student_layers > TRAIN_MOST_LAYERS)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`student_layers` has %d layers: expected at most %d",
                          (int)o->n_student_layers, TRAIN_MOST_LAYERS);
    if (o->lora < 0 || (o->lora > 0 && !o->is_student))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`lora` is %d: expected 0, or the rank of a student's factors",
                          (int)o->lora);
    if (o->depth < 1 || o->depth > TRAIN_MOST_DEPTH)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`depth` is %d: expected 1 to %d", (int)o->depth, TRAIN_MOST_DEPTH);
    if (o->n_draft < 16 || o->n_ff < 0 || o->epochs < 1 || !(o->rate > 0))
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "`n_draft` is %d, `n_ff` %d, `epochs` %d, `rate` %g: expected at least 16, 0 and 1, a rate "
                          "above 0",
                          (int)o->n_draft, (int)o->n_ff, (int)o->epochs, o->rate);
    if (train_type_of(o->type) == VOUCH_TYPE_COUNT)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "`type` is '%.40s': expected Q8_0, Q4_1, Q4_0, F16 or F32", o->type);
    return VOUCH_OK;
}

void train_note(const train_distiller *d, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (d->options->note) d->options->note(d->options->user, line);
}

const char *train_path_beside(const train_distiller *d, const char *what, char path[4096])
{
    snprintf(path, 4096, "%s.%s", d->out, what);
    return path;
}

/* The layers named by the options; otherwise an early one, the middle one, a late one and the last. */
static vouch_status taps_choose(train_distiller *d, vouch_error *err)
{
    const train_options *o = d->options;
    train_states_header *h = &d->header;
    const int32_t n = h->n_layers, usual[] = {2, n / 2, n - 3, n - 1};
    for (int32_t i = 0; i < o->n_taps; i++) {
        if (o->taps[i] < 0 || o->taps[i] >= n || (i > 0 && o->taps[i] <= o->taps[i - 1]))
            return vouch_fail(err, VOUCH_E_ARGUMENT, "`taps` has %d: expected ascending layers of the target, 0 to %d",
                              (int)o->taps[i], (int)n - 1);
        h->taps[h->n_taps++] = o->taps[i];
    }
    if (o->n_taps > 0 && o->taps[o->n_taps - 1] != n - 1)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "`taps` lacks layer %d: a head learns from the last layer's state, too", (int)n - 1);
    for (int32_t i = 0; i < 4 && o->n_taps == 0; i++)
        if (usual[i] >= 0 && (h->n_taps == 0 || usual[i] > h->taps[h->n_taps - 1])) h->taps[h->n_taps++] = usual[i];
    return VOUCH_OK;
}

/* Answers to the prompts that teach, or those that measure. */
vouch_status train_answers_stage(train_distiller *d, vouch_error *err)
{
    char path[4096];
    vouch_model *model;
    vouch_model_options options = vouch_model_options_default();
    options.n_threads = d->options->n_threads;
    VOUCH_TRY(vouch_model_open(&model, d->target, &options, err));
    snprintf(d->header.digest, sizeof d->header.digest, "%s", vouch_model_get_info(model)->digest);
    d->header.n_layers = vouch_model_get_info(model)->n_layers;
    d->header.n_vocab = vouch_model_get_info(model)->n_vocab;
    vouch_status status = d->options->is_student ? VOUCH_OK : taps_choose(d, err);
    if (!status)
        status = train_answers_make(&d->answers, train_path_beside(d, "answers", path), model, d->options, err);
    if (!status && d->options->measured) {
        train_options measured = *d->options;
        measured.prompts = d->options->measured;
        measured.n_prompts = d->options->n_measured;
        measured.n_excluded = 0;
        measured.n_tokens = INT64_MAX;
        measured.sampled = 0;
        status = train_answers_make(&d->measured_answers, train_path_beside(d, "measured.answers", path), model,
                                    &measured, err);
    }
    vouch_model_close(model);
    return status;
}

vouch_status train_weights_open(train_distiller *d, vouch_error *err)
{
    vouch_gguf *gguf;
    VOUCH_TRY(vouch_pool_open(&d->pool, d->options->n_threads, err));
    VOUCH_TRY(vouch_format_open(&gguf, d->target, err));
    const vouch_status status =
        vouch_weights_open(&d->weights, gguf, 0, &(vouch_packing){.kernels = vouch_kernels_find(NULL), .pool = d->pool},
                           err);
    vouch_gguf_close(gguf);
    return status;
}

vouch_status train_lessons_make(const train_distiller *d, const char *path, const train_chunks *answers,
                                train_states_header *header, train_chunks **states, train_lessons_set *lessons,
                                vouch_error *err)
{
    *header = d->header;
    header->answers = train_chunks_header_hash(answers);
    VOUCH_TRY(train_states_make(states, path, header, answers, d->weights, d->pool, d->options, err));
    return train_lessons_open(lessons, *states, header, d->weights, err);
}

vouch_status train_states_stage(train_distiller *d, vouch_error *err)
{
    char path[4096];
    const vouch_hparams *hparams = &d->weights->hparams;
    snprintf(d->header.version, sizeof d->header.version, "states 2");
    d->header.n_embd = hparams->n_embd;
    d->header.n_vocab = hparams->n_vocab;
    VOUCH_TRY(train_lessons_make(d, train_path_beside(d, "states", path), d->answers, &d->header, &d->states,
                                 &d->lessons, err));
    if (!d->measured_answers) return VOUCH_OK;
    VOUCH_TRY(train_lessons_make(d, train_path_beside(d, "measured.states", path), d->measured_answers,
                                 &d->measured_header, &d->measured_states, &d->measured, err));
    /* The head standardises all states as those that it learned from. */
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

vouch_status train_ends_open(train_distiller *d, vouch_error *err)
{
    const vouch_weights *w = d->weights;
    if (w->output_norm.kind != VOUCH_NORM_RMS)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "heads are taught for targets with RMSNorm before the output; %s has another norm",
                          w->hparams.arch);
    VOUCH_TRY(matrix_open(&d->output, w->output, err));
    VOUCH_TRY(matrix_open(&d->embedding, &w->embedding, err));
    float factor;
    for (int64_t v = 0; v < w->embedding.n_out; v++) {
        float *row = d->embedding + v * w->embedding.n_in;
        if (w->hparams.embedding_scale != 0)
            for (int64_t i = 0; i < w->embedding.n_in; i++) row[i] *= w->hparams.embedding_scale;
        train_norm(row, &factor, row, NULL, 1, w->embedding.n_in, w->hparams.norm_eps);
    }
    return VOUCH_OK;
}

static void linear_report(void *user, double share)
{
    const train_distiller *d = user;
    const train_options *o = d->options;
    if (o->report) o->report(o->user, &(train_report){"linear", "fitting", share});
}

static double rate(const train_rates *rates, int g)
{
    return (double)rates->accepted[g] / fmax(1, (double)rates->reached[g]);
}

/* The first depth that learned nothing (distill.h). */
static int32_t dead_depth(const train_figures *f)
{
    for (int32_t g = 0; g < TRAIN_MEASURED_DEPTH && f->n_reached[g] >= 50; g++)
        if (f->accepted[g] < 0.05 || f->accepted[g] < f->accepted[0] / 4) return g + 1;
    return 0;
}

train_figures train_figures_of(const train_score *score)
{
    train_figures f = {.n_tokens = score->anywhere.reached[0]};
    for (int g = 0; g < TRAIN_MEASURED_DEPTH; g++) {
        f.n_reached[g] = score->anywhere.reached[g];
        f.accepted[g] = rate(&score->anywhere, g);
        f.in_cycles[g] = rate(&score->cycles, g);
    }
    f.dead_depth = dead_depth(&f);
    f.guessable = (double)score->n_guessable / fmax(1, (double)score->anywhere.reached[0]);
    f.tokens_per_cycle = (double)score->n_tokens / fmax(1, (double)score->n_cycles);
    return f;
}

/* Acceptance on the answers held back, and on the measured prompts' answers. */
static vouch_status measure(train_distiller *d, const train_taught *taught, train_result *result, vouch_error *err)
{
    train_score held = {0}, measured = {0};
    train_kinds kinds = {.prompts = d->options->measured, .n_prompts = d->options->n_measured};
    VOUCH_TRY(train_measure(&held, NULL, taught, &d->lessons, d->lessons.n_taught, d->lessons.n, TRAIN_MEASURED_TOKENS,
                            err));
    result->held = train_figures_of(&held);
    result->n_tokens = d->lessons.n_rows;
    if (d->measured_states)
        VOUCH_TRY(train_measure(&measured, &kinds, taught, &d->measured, 0, d->measured.n, INT64_MAX, err));
    result->measured = train_figures_of(&measured);
    for (int i = 0; i < TRAIN_MOST_KINDS; i++) result->kinds[i] = train_figures_of(&kinds.scores[i]);
    return VOUCH_OK;
}

static vouch_status write_head(train_distiller *d, const train_taught *taught, const int32_t *guesses,
                               train_result *result, vouch_error *err)
{
    const train_options *o = d->options;
    const train_figures *held = &result->held;
    char recipe[640];
    vouch_os_info info;
    snprintf(recipe, sizeof recipe,
             "{\"method\": \"%s\", \"tokens\": %" PRId64 ", \"sampled\": %g, \"seed\": %" PRIu64
             ", \"epochs\": %d, \"depth\": %d, \"rate\": %g, \"accepted\": [%.4f, %.4f, %.4f], "
             "\"dead_depth\": %d, \"tokens_per_cycle\": %.4f}",
             o->quick ? "linear" : "layer", d->lessons.n_rows, o->sampled, o->seed, o->quick ? 0 : (int)o->epochs,
             o->quick ? 0 : (int)o->depth, o->quick ? 0 : o->rate, held->accepted[0], held->accepted[1],
             held->accepted[2], (int)held->dead_depth, held->tokens_per_cycle);
    const train_head_file file = {.set = &d->lessons,
                                  .shape = taught->shape,
                                  .head = taught->head,
                                  .guesses = taught->shape->n_draft < d->header.n_vocab ? guesses : NULL,
                                  .rope_base = d->weights->hparams.rope_base,
                                  .name = o->quick ? "linear head" : "head with a layer",
                                  .recipe = recipe,
                                  .type = o->type};
    VOUCH_TRY(train_head_write(&file, d->out, err));
    result->bytes = vouch_os_info_of(d->out, &info) ? info.size : 0;
    return VOUCH_OK;
}

/* ----------------------------------------------------------------------- the head */

/* The head as it is measured and written. */
typedef struct learner {
    train_head_shape shape;
    train_head head;
    real *block, *output, *output_bias;
    int32_t *drafts, *guesses; /* [n_vocab] draft ids of tokens, or -1; [n_draft] tokens of draft ids */
    float *cosines, *sines;
} learner;

/* Weights of the target's output norm. */
static void norm_copy(const train_distiller *d, float *norm)
{
    const float *weight = d->weights->output_norm.weight;
    for (int32_t i = 0; i < d->header.n_embd; i++) norm[i] = weight ? weight[i] : 1;
}

/* The target's output rows of the guessed tokens, and their bias. */
static void output_copy(const train_distiller *d, learner *l)
{
    const size_t width = (size_t)l->shape.width;
    const float *bias = d->weights->output_bias;
    for (int64_t i = 0; i < l->shape.n_draft; i++) {
        memcpy(l->output + i * l->shape.width, d->output + l->guesses[i] * l->shape.width, width * sizeof *l->output);
        l->output_bias[i] = bias ? bias[l->guesses[i]] : 0;
    }
    l->head.output = l->output;
    l->head.output_bias = bias ? l->output_bias : NULL;
}

typedef struct counted {
    int64_t count;
    int32_t token;
} counted;

static int counted_compare(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->token > y->token) - (x->token < y->token);
}

/* How often each token stands in the answers. */
static vouch_status tokens_count(const train_distiller *d, counted *counts, vouch_error *err)
{
    for (int32_t v = 0; v < d->header.n_vocab; v++) counts[v] = (counted){0, v};
    for (size_t i = 0; i < train_chunks_n(d->answers); i++) {
        const size_t size = train_chunks_size(d->answers, i), n = (size - sizeof(train_answer)) / sizeof(int32_t);
        char *payload = malloc(size);
        if (!payload) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %zu tokens", n);
        const vouch_status status = train_chunks_read(d->answers, i, payload, err);
        const train_answer *answer = (const train_answer *)(const void *)payload;
        const int32_t *tokens = (const int32_t *)(const void *)(payload + sizeof *answer);
        for (size_t t = status ? n : (size_t)answer->n_prompt; t < n; t++)
            if (tokens[t] >= 0 && tokens[t] < d->header.n_vocab) counts[tokens[t]].count++;
        free(payload);
        if (status) return status;
    }
    return VOUCH_OK;
}

vouch_status train_tokens_rank(const train_distiller *d, int32_t **tokens, vouch_error *err)
{
    const int32_t n_vocab = d->header.n_vocab;
    counted *counts = malloc((size_t)n_vocab * sizeof *counts);
    *tokens = malloc((size_t)n_vocab * sizeof **tokens);
    vouch_status status = counts && *tokens
                              ? tokens_count(d, counts, err)
                              : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to count %d tokens", (int)n_vocab);
    if (!status) {
        qsort(counts, (size_t)n_vocab, sizeof *counts, counted_compare);
        for (int32_t v = 0; v < n_vocab; v++) (*tokens)[v] = counts[v].token;
    }
    free(counts);
    return status;
}

/* The head guesses the most frequent tokens of the answers. */
static vouch_status guesses_choose(const train_distiller *d, learner *l, vouch_error *err)
{
    const int32_t n_vocab = d->header.n_vocab;
    int32_t *ranked = NULL;
    vouch_status status = train_tokens_rank(d, &ranked, err);
    l->drafts = malloc((size_t)n_vocab * sizeof *l->drafts);
    l->guesses = malloc((size_t)l->shape.n_draft * sizeof *l->guesses);
    if (!status && (!l->drafts || !l->guesses))
        status = vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %d tokens", (int)n_vocab);
    if (!status) {
        for (int32_t v = 0; v < n_vocab; v++) l->drafts[v] = -1;
        for (int64_t i = 0; i < l->shape.n_draft; i++) l->drafts[ranked[i]] = 0;
        for (int32_t v = 0, id = 0; v < n_vocab; v++) {
            if (l->drafts[v] < 0) continue;
            l->guesses[id] = v;
            l->drafts[v] = id++;
        }
    }
    free(ranked);
    return status;
}

/* A layer has the shape of the target's own. */
static train_head_shape shape_choose(const train_distiller *d, const train_linear_head *linear)
{
    const vouch_hparams *h = &d->weights->hparams;
    const train_options *o = d->options;
    const int64_t n_draft = vouch_min(o->n_draft, d->header.n_vocab), n_heads = h->n_heads > 0 ? h->n_heads : 1;
    const train_layer_shape layer = {.n_embd = linear->width,
                                     .n_ff = o->n_ff > 0   ? o->n_ff
                                             : h->n_ff > 0 ? h->n_ff
                                                           : 4 * linear->width,
                                     .heads = {n_heads, h->n_kv_heads > 0 ? h->n_kv_heads : n_heads, h->head_dim},
                                     .eps = h->norm_eps};
    return (train_head_shape){.n_features = linear->n_features,
                              .width = linear->width,
                              .n_draft = n_draft,
                              .n_layers = o->quick ? 0 : 1,
                              .n_generations = o->depth,
                              .layer = layer,
                              .eps = h->norm_eps,
                              .logit_scale = h->logit_scale,
                              .logit_softcap = h->logit_softcap};
}

/* The linear head, the target's own output rows, and unless it stays linear a layer that changes nothing yet. */
static vouch_status learner_open(train_distiller *d, learner *l, train_linear_head *linear, vouch_error *err)
{
    l->shape = shape_choose(d, linear);
    const size_t width = (size_t)linear->width, half = (size_t)l->shape.layer.heads.head_dim / 2;
    const size_t n_positions = (size_t)vouch_max(d->lessons.longest, d->measured.longest) + 1;
    VOUCH_TRY(guesses_choose(d, l, err));
    l->block = calloc((size_t)train_head_size(&l->shape), sizeof *l->block);
    l->output = malloc((size_t)l->shape.n_draft * width * sizeof *l->output);
    l->output_bias = malloc((size_t)l->shape.n_draft * sizeof *l->output_bias);
    l->cosines = malloc(n_positions * half * sizeof *l->cosines);
    l->sines = malloc(n_positions * half * sizeof *l->sines);
    if (!l->block || !l->output || !l->output_bias || !l->cosines || !l->sines)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a head");
    train_angles(l->cosines, l->sines, (int64_t)n_positions, 2 * (int64_t)half, d->weights->hparams.rope_base);
    l->head = train_head_at(&l->shape, l->block);
    l->head.embedding = d->embedding;
    memcpy(l->head.fc, linear->fc, width * (size_t)linear->n_features * sizeof *linear->fc);
    memcpy(l->head.fc_bias, linear->fc_bias, width * sizeof *linear->fc_bias);
    memcpy(l->head.token, linear->token, width * width * sizeof *linear->token);
    memcpy(l->head.token_bias, linear->token_bias, width * sizeof *linear->token_bias);
    memcpy(l->head.leave, linear->leave, width * width * sizeof *linear->leave);
    norm_copy(d, l->head.output_norm);
    output_copy(d, l);
    train_layers_begin(&l->head, &l->shape, d->options->seed);
    return VOUCH_OK;
}

static void learner_free(learner *l)
{
    free(l->block);
    free(l->output);
    free(l->output_bias);
    free(l->drafts);
    free(l->guesses);
    free(l->cosines);
    free(l->sines);
}

static bool teaching_is_cancelled(void *user)
{
    const train_distiller *d = user;
    return d->options->is_cancelled(d->options->user);
}

static void layer_report(void *user, int64_t step, int64_t n_steps, const train_sums *sums, const train_score *held)
{
    const train_distiller *d = user;
    const double rows = fmax(1, (double)sums->rows);
    char detail[96];
    snprintf(detail, sizeof detail, "step %" PRId64 " of %" PRId64 ", loss %.3f, guesses %.3f", step, n_steps,
             sums->loss / rows, (double)sums->hits / rows);
    if (d->options->report)
        d->options->report(d->options->user, &(train_report){"layer", detail, (double)step / (double)n_steps});
    if (!held) return;
    const train_figures figures = train_figures_of(held);
    train_note(d, "%s; held back: %.3f accepted, %.2f tokens per cycle", detail, figures.accepted[0],
               figures.tokens_per_cycle);
}

static vouch_status layer_stage(train_distiller *d, learner *l, vouch_error *err)
{
    const train_options *o = d->options;
    char path[4096];
    train_course course = {.set = &d->lessons,
                           .shape = l->shape,
                           .goal = {.loss = TRAIN_FORWARD_KL, .weights = {1, 0.8f, 0.64f, 0.5f}},
                           .adam = train_adam_default(),
                           .n_epochs = o->epochs,
                           .seed = o->seed,
                           .rope_base = d->weights->hparams.rope_base,
                           .checkpoint = train_path_beside(d, "checkpoint", path),
                           .checkpoint_seconds = 45,
                           .drafts = l->drafts,
                           .pool = d->pool,
                           .report = layer_report,
                           .is_cancelled = o->is_cancelled ? teaching_is_cancelled : NULL,
                           .user = d};
    course.adam.rate = o->rate;
    train_note(d, "layer: %" PRId64 " weights, %" PRId64 " guessed tokens; %.0f MB of memory",
               train_head_size(&l->shape), l->shape.n_draft, train_teach_bytes(&course) * 1e-6);
    train_blas()->openblas_set_num_threads(1); /* each worker multiplies for its own shards */
    const vouch_status status = train_teach(&course, &l->head, l->block, err);
    train_blas()->openblas_set_num_threads((int)vouch_pool_size(d->pool));
    return status;
}

/* From the linear head to the file. */
static vouch_status learner_stages(train_distiller *d, train_linear_head *linear, train_result *result,
                                   vouch_error *err)
{
    learner l = {0};
    vouch_status status = learner_open(d, &l, linear, err);
    if (!status && !d->options->quick) status = layer_stage(d, &l, err);
    if (!status) {
        l.shape.n_generations = TRAIN_MEASURED_DEPTH;
        const train_taught taught = {&l.head, &l.shape, l.drafts, l.cosines, l.sines};
        status = measure(d, &taught, result, err);
        if (!status) status = write_head(d, &taught, l.guesses, result, err);
    }
    learner_free(&l);
    return status;
}

/* ------------------------------------------------------------------------ stages */

static vouch_status head_stages(train_distiller *d, train_result *result, vouch_error *err)
{
    train_linear_head linear;
    train_linear_options options = train_linear_options_default();
    options.most_rows = d->options->quick ? 0 : BEGUN_ROWS;
    options.report = linear_report;
    options.user = d;
    train_note(d, "linear head: %" PRId64 " tokens of %d answers, %" PRId64 " inputs; %.0f MB of memory",
               d->lessons.n_rows, (int)d->lessons.n_taught, d->lessons.n_features + d->header.n_embd,
               (train_linear_bytes(&d->lessons) + 8 * (double)d->header.n_vocab * d->header.n_embd) * 1e-6);
    VOUCH_TRY(train_ends_open(d, err));
    VOUCH_TRY(train_linear_fit(&linear, &d->lessons, d->embedding, &options, err));
    const vouch_status status = learner_stages(d, &linear, result, err);
    train_linear_free(&linear);
    return status;
}

static vouch_status write_table(const train_distiller *d, train_result *result, vouch_error *err)
{
    const train_options *o = d->options;
    const train_table_file file = {.answers = d->answers,
                                   .digest = d->header.digest,
                                   .n_vocab = d->header.n_vocab,
                                   .sampled = o->sampled,
                                   .seed = o->seed};
    return train_table_write(&file, o->table, &result->n_contexts, &result->n_counted, err);
}

static vouch_status run(train_distiller *d, train_result *result, vouch_error *err)
{
    if (d->options->is_student) return train_student_distill(d, result, err);
    VOUCH_TRY(train_answers_stage(d, err));
    if (d->options->table) VOUCH_TRY(write_table(d, result, err));
    if (d->options->table_only) return VOUCH_OK;
    VOUCH_TRY(train_weights_open(d, err));
    train_blas()->openblas_set_num_threads((int)vouch_pool_size(d->pool));
    VOUCH_TRY(train_states_stage(d, err));
    return head_stages(d, result, err);
}

vouch_status train_distill(const char *target, const char *out, const train_options *options, train_result *result,
                           vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    train_distiller d = {.options = options, .target = target, .out = out};
    *result = (train_result){0};
    VOUCH_TRY(options_check(options, err));
    VOUCH_TRY(train_blas_open(err));
    const vouch_status status = run(&d, result, err);
    free(d.output);
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
