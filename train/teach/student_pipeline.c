/* SPDX-License-Identifier: MIT */
/* The stages of a student (distill.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/hash.h"
#include "format/open/open.h"
#include "os/os.h"
#include "train/teach/pipeline.h"
#include "train/teach/student_teach.h"
#include "train/teach/writing.h"

enum {
    ROUNDS = 8,     /* in an epoch of on-policy teaching */
    OWN_TOKENS = 32 /* most tokens that the student writes after the target's: no draft is longer */
};

static const char *const loss_names[] = {"forward KL", "reverse KL", "Jensen-Shannon", "total variation",
                                         "cross entropy"};

/* A round of on-policy teaching: the texts of target and student, and what the target says after their tokens. */
typedef struct school_round {
    int64_t number; /* -1: none is open */
    train_chunks *answers, *states;
    train_states_header header;
    train_lessons_set lessons;
} school_round;

typedef struct school {
    train_distiller *d;
    train_student student;
    const char *base;  /* path of the model that it began as */
    int32_t *frequent; /* [n_vocab] */
    school_round round;
} school;

/* ----------------------------------------------------------------------- begin */

/* A model of other tokens can't draft for the target. */
static vouch_status pair_check(const school *s, vouch_error *err)
{
    vouch_model *target = NULL, *draft = NULL;
    vouch_model_options options = vouch_model_options_default();
    options.text_only = true;
    vouch_status status = vouch_model_open(&target, s->d->target, &options, err);
    if (!status) status = vouch_model_open(&draft, s->base, &options, err);
    if (!status) status = vouch_model_check_pair(target, draft, err);
    vouch_model_close(draft);
    vouch_model_close(target);
    return status;
}

static vouch_status begin(school *s, vouch_error *err)
{
    const train_options *o = s->d->options;
    vouch_weights *weights = NULL;
    vouch_gguf *gguf;
    s->base = o->student_model ? o->student_model : s->d->target;
    if (o->student_model) VOUCH_TRY(pair_check(s, err));
    VOUCH_TRY(vouch_pool_open(&s->d->pool, o->n_threads, err));
    VOUCH_TRY(vouch_format_open(&gguf, s->base, err));
    vouch_status status =
        vouch_weights_open(&weights, gguf, 0, &(vouch_packing){.kernels = vouch_kernels_find(NULL), .pool = s->d->pool},
                           err);
    vouch_gguf_close(gguf);
    if (!status)
        status = train_student_open(&s->student, s->base, weights, o->student_layers, o->n_student_layers, err);
    vouch_weights_close(weights);
    if (!status && o->lora > 0) status = train_student_adapt(&s->student, o->lora, o->seed, err);
    vouch_pool_close(s->d->pool); /* the next stage opens its own threads */
    s->d->pool = NULL;
    return status;
}

/* ------------------------------------------------------------------- on-policy */

static void round_close(school_round *round)
{
    train_lessons_close(&round->lessons);
    train_chunks_close(round->states);
    train_chunks_close(round->answers);
    *round = (school_round){.number = -1};
}

static const char *round_path(const school *s, int64_t number, const char *what, char path[4096])
{
    char name[64];
    snprintf(name, sizeof name, "round%" PRId64 ".%s", number, what);
    return train_path_beside(s->d, name, path);
}

/*
 * The student's own text alone teaches badly: what decoding drafts after is always the target's text, and a student
 * that sees only its own forgets the other. So a lesson begins as the target's answer. From a random token on, the
 * student goes on as it would with a draft (on-policy and fixed lessons mixed, Agarwal et al., arXiv 2306.13649):
 *
 *   prompt | the target's answer, any number of its tokens | the student's, up to OWN_TOKENS
 *            \_______________ lessons: the target's distributions ______________/
 */

/* Tokens of an answer that a round keeps: any number but all. The last one may end the answer. */
static int32_t n_kept(const school *s, int64_t number, const train_answer *answer)
{
    const int32_t most = vouch_min(answer->n_tokens - 1, TRAIN_MOST_PROMPT) - answer->n_prompt;
    const uint64_t round = vouch_hash_word(vouch_hash_word(VOUCH_HASH_START, s->d->options->seed), (uint64_t)number);
    return most > 0 ? (int32_t)(vouch_hash_word(round, (uint64_t)answer->number) % ((uint64_t)most + 1)) : 0;
}

/* The prompts of a round: each ROUNDS-th of the answers taught. The caller frees *prompts and each one's tokens. */
static vouch_status prompts_take(const school *s, int64_t number, train_prompt **prompts, size_t *n, vouch_error *err)
{
    const train_lessons_set *set = &s->d->lessons;
    *n = 0;
    *prompts = calloc((size_t)set->n_taught, sizeof **prompts);
    if (!*prompts) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %d prompts", (int)set->n_taught);
    for (int32_t i = (int32_t)(number % ROUNDS); i < set->n_taught; i += ROUNDS) {
        train_sequence sequence;
        VOUCH_TRY(train_states_read(set->states, (size_t)set->order[i], set->header, &sequence, err));
        const int32_t begun = n_kept(s, number, &sequence.answer);
        (*prompts)[(*n)++] = (train_prompt){sequence.tokens, (size_t)(sequence.answer.n_prompt + begun), "", 0, begun};
    }
    return VOUCH_OK;
}

/* Writes the student as it is at the beginning of the round, opens that file, and lets it go on with the round's
 * answers. */
static vouch_status round_answer(school *s, int64_t number, bool begins, vouch_error *err)
{
    const train_options *o = s->d->options;
    train_options options = *o;
    vouch_model_options model_options = vouch_model_options_default();
    vouch_model *model = NULL;
    train_prompt *prompts = NULL;
    size_t n = 0;
    char draft[4096], path[4096];
    train_path_beside(s->d, "draft.gguf", draft);
    model_options.n_threads = o->n_threads;
    vouch_status status = VOUCH_OK;
    if (begins)
        status =
            train_student_write(&s->student, s->base, draft, train_type_of(o->type), s->d->header.digest, "{}", err);
    if (!status) status = prompts_take(s, number, &prompts, &n, err);
    if (!status) status = vouch_model_open(&model, draft, &model_options, err);
    options.prompts = prompts;
    options.n_prompts = n;
    options.n_excluded = 0;
    options.n_tokens = INT64_MAX;
    options.max_tokens = vouch_min(o->max_tokens, OWN_TOKENS);
    options.seed = vouch_hash_word(vouch_hash_word(VOUCH_HASH_START, o->seed), (uint64_t)number);
    if (!status)
        status = train_answers_make(&s->round.answers, round_path(s, number, "answers", path), model, &options, err);
    vouch_model_close(model);
    for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)prompts[i].tokens);
    free(prompts);
    return status;
}

/* Each round needs answers enough to learn from. */
static vouch_status rounds_check(const school *s, vouch_error *err)
{
    const int32_t n = s->d->lessons.n_taught;
    if (!s->d->options->on_policy || n >= ROUNDS * TRAIN_LEAST_ANSWERS) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT,
                      "%d answers are too few for `on_policy`: expected at least %d, %d for each of its %d rounds; "
                      "raise `n_tokens`",
                      (int)n, ROUNDS * TRAIN_LEAST_ANSWERS, TRAIN_LEAST_ANSWERS, ROUNDS);
}

/* A train_descent.lessons: opens a round and removes the files of the round before. */
static vouch_status round_open(void *user, int64_t number, bool begins, const train_lessons_set **set, vouch_error *err)
{
    school *s = user;
    train_distiller *d = s->d;
    char path[4096];
    round_close(&s->round);
    if (number > 0) {
        unlink(round_path(s, number - 1, "answers", path));
        unlink(round_path(s, number - 1, "states", path));
    }
    s->round.number = number;
    VOUCH_TRY(round_answer(s, number, begins, err));
    VOUCH_TRY(train_lessons_make(d, round_path(s, number, "states", path), s->round.answers, &s->round.header,
                                 &s->round.states, &s->round.lessons, err));
    *set = &s->round.lessons;
    return VOUCH_OK;
}

/* -------------------------------------------------------------------- teaching */

static bool is_cancelled(void *user)
{
    const school *s = user;
    return s->d->options->is_cancelled(s->d->options->user);
}

static void report(void *user, int64_t step, int64_t n_steps, const train_sums *sums, const train_score *held)
{
    const school *s = user;
    const train_options *o = s->d->options;
    char detail[96];
    snprintf(detail, sizeof detail, "step %" PRId64 " of %" PRId64 ", loss %.4f", step, n_steps,
             sums->loss / fmax(1, (double)sums->rows));
    if (o->report) o->report(o->user, &(train_report){"student", detail, fmin(1, (double)step / (double)n_steps)});
    if (!held) return;
    const train_figures figures = train_figures_of(held);
    train_note(s->d, "%s; held back: %.3f accepted, %.2f tokens per cycle", detail, figures.accepted[0],
               figures.tokens_per_cycle);
}

static vouch_status teach(school *s, vouch_error *err)
{
    train_distiller *d = s->d;
    const train_options *o = d->options;
    const int32_t longest = d->lessons.longest + (o->on_policy ? OWN_TOKENS : 0);
    const uint64_t start = vouch_hash_bytes(VOUCH_HASH_START, s->student.block,
                                            (size_t)train_student_size(&s->student.shape) * sizeof *s->student.block);
    char path[4096];
    train_student_course course = {.student = &s->student,
                                   .set = &d->lessons,
                                   .lessons = o->on_policy ? round_open : NULL,
                                   .n_rounds = o->on_policy ? ROUNDS : 1,
                                   .longest = longest,
                                   .goal = {.loss = o->loss, .beta = o->beta},
                                   .adam = train_adam_default(),
                                   .n_epochs = o->epochs,
                                   .seed = o->seed,
                                   .frequent = s->frequent,
                                   .n_outputs = o->n_draft,
                                   .settings = start,
                                   .checkpoint = train_path_beside(d, "checkpoint", path),
                                   .checkpoint_seconds = 45,
                                   .pool = d->pool,
                                   .report = report,
                                   .is_cancelled = o->is_cancelled ? is_cancelled : NULL,
                                   .user = s};
    course.adam.rate = o->rate;
    char factors[48] = "";
    if (o->lora > 0) snprintf(factors, sizeof factors, " of factors of rank %d", (int)o->lora);
    train_note(d, "student: %" PRId64 " weights%s in %d layers learn by %s%s; %.0f MB of memory",
               train_student_n_learned(&s->student), factors, (int)s->student.shape.n_layers, loss_names[o->loss],
               o->on_policy ? " from its own text, too" : "", train_student_teach_bytes(&course) * 1e-6);
    train_blas()->openblas_set_num_threads(1); /* each worker multiplies for its own shards */
    const vouch_status status = train_student_teach(&course, err);
    train_blas()->openblas_set_num_threads((int)vouch_pool_size(d->pool));
    return status;
}

/* ------------------------------------------------------------------------- end */

static vouch_status figures_take(const school *s, const train_lessons_set *set, int32_t from, int64_t most,
                                 train_figures *figures, vouch_error *err)
{
    train_student_score score = {0};
    VOUCH_TRY(train_student_measure(&score, &s->student, set, from, set->n, most, err));
    *figures = train_figures_of(&score.greedy);
    figures->sampled = score.accepted / fmax(1, (double)score.n_rows);
    return VOUCH_OK;
}

static vouch_status measure(const school *s, train_result *result, vouch_error *err)
{
    const train_distiller *d = s->d;
    result->n_tokens = d->lessons.n_rows;
    VOUCH_TRY(figures_take(s, &d->lessons, d->lessons.n_taught, TRAIN_MEASURED_TOKENS, &result->held, err));
    return d->measured_states ? figures_take(s, &d->measured, 0, INT64_MAX, &result->measured, err) : VOUCH_OK;
}

static vouch_status write_file(const school *s, train_result *result, vouch_error *err)
{
    const train_distiller *d = s->d;
    const train_options *o = d->options;
    const train_figures *held = &result->held;
    char recipe[640];
    vouch_os_info info;
    snprintf(recipe, sizeof recipe,
             "{\"method\": \"student\", \"loss\": \"%s\", \"beta\": %g, \"on_policy\": %s, \"lora\": %d, "
             "\"tokens\": %" PRId64 ", \"sampled\": %g, \"seed\": %" PRIu64 ", \"epochs\": %d, \"rate\": %g, "
             "\"outputs\": %d, \"accepted\": [%.4f, %.4f, %.4f], \"dead_depth\": %d, \"tokens_per_cycle\": %.4f, "
             "\"accepted_sampled\": %.4f}",
             loss_names[o->loss], o->beta, o->on_policy ? "true" : "false", (int)o->lora, d->lessons.n_rows, o->sampled,
             o->seed, (int)o->epochs, o->rate, (int)vouch_min(o->n_draft, d->header.n_vocab), held->accepted[0],
             held->accepted[1], held->accepted[2], (int)held->dead_depth, held->tokens_per_cycle, held->sampled);
    VOUCH_TRY(train_student_write(&s->student, s->base, d->out, train_type_of(o->type), d->header.digest, recipe, err));
    result->bytes = vouch_os_info_of(d->out, &info) ? info.size : 0;
    return VOUCH_OK;
}

/* Removes the last round's files. */
static void clean(school *s)
{
    char path[4096];
    const int64_t last = s->round.number;
    round_close(&s->round);
    if (last < 0) return;
    unlink(round_path(s, last, "answers", path));
    unlink(round_path(s, last, "states", path));
    unlink(train_path_beside(s->d, "draft.gguf", path));
}

static vouch_status stages(school *s, train_result *result, vouch_error *err)
{
    train_distiller *d = s->d;
    VOUCH_TRY(begin(s, err));
    VOUCH_TRY(train_answers_stage(d, err));
    VOUCH_TRY(train_weights_open(d, err));
    train_blas()->openblas_set_num_threads((int)vouch_pool_size(d->pool));
    VOUCH_TRY(train_states_stage(d, err));
    VOUCH_TRY(rounds_check(s, err));
    VOUCH_TRY(train_tokens_rank(d, &s->frequent, err));
    VOUCH_TRY(measure(s, result, err));
    result->held_before = result->held;
    result->measured_before = result->measured;
    VOUCH_TRY(teach(s, err));
    VOUCH_TRY(measure(s, result, err));
    VOUCH_TRY(write_file(s, result, err));
    clean(s);
    return VOUCH_OK;
}

vouch_status train_student_distill(train_distiller *d, train_result *result, vouch_error *err)
{
    school s = {.d = d, .round = {.number = -1}};
    const vouch_status status = stages(&s, result, err);
    round_close(&s.round);
    train_student_close(&s.student);
    free(s.frequent);
    return status;
}
