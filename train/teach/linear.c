/* SPDX-License-Identifier: MIT */
/*
 * Two passes over the states. The first gathers the normal equations, block by block: products in single precision, the
 * sums of blocks in double. The second gathers those of F and c, with the head's own results as inputs.
 */
#include "train/teach/linear.h"

#include <stdlib.h>
#include <string.h>

#include "train/network/real.h"

enum { BLOCK_ROWS = 1024 };

/* The normal equations of a regression: gram = X^T X [n_in, n_in], its lower half, and cross = X^T Y [n_in, n_out]. */
typedef struct normal {
    int64_t n_in, n_out, rows; /* rows gathered since the last flush */
    float *x, *y;              /* [BLOCK_ROWS, n_in], [BLOCK_ROWS, n_out] */
    float *product;            /* [n_in, n_in] of a block */
    double *gram, *cross;
} normal;

typedef struct fit {
    const train_lessons_set *lessons;
    const train_linear_options *options;
    const float *embedding;
    train_linear_head *head;
    normal normal;
    int32_t n_answers; /* that it is fitted to */
    int64_t n_rows;    /* of these */
    /* Buffers of the second regression, for one answer. */
    float *taps, *embedded; /* [longest, n_features], [longest, width] */
    float *results;         /* [longest, 2 width] A z | M e */
} fit;

train_linear_options train_linear_options_default(void)
{
    return (train_linear_options){.lambda = 1e-3};
}

static vouch_status memory_fail(vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to fit a linear head");
}

/* ---------------------------------------------------------- normal equations */

static void normal_free(normal *e)
{
    free(e->x);
    free(e->y);
    free(e->product);
    free(e->gram);
    free(e->cross);
    *e = (normal){0};
}

static vouch_status normal_open(normal *e, int64_t n_in, int64_t n_out, vouch_error *err)
{
    const size_t in = (size_t)n_in, out = (size_t)n_out;
    *e = (normal){.n_in = n_in,
                  .n_out = n_out,
                  .x = malloc(BLOCK_ROWS * in * sizeof(float)),
                  .y = malloc(BLOCK_ROWS * out * sizeof(float)),
                  .product = malloc(in * (in > out ? in : out) * sizeof(float)),
                  .gram = calloc(in * in, sizeof(double)),
                  .cross = calloc(in * out, sizeof(double))};
    return e->x && e->y && e->product && e->gram && e->cross ? VOUCH_OK : memory_fail(err);
}

/* gram += x^T x, cross += x^T y. */
static void normal_add(normal *e)
{
    const int64_t in = e->n_in, out = e->n_out, n = e->rows;
    train_blas()->cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)in, (blasint)n, 1, e->x, (blasint)in, 0,
                              e->product, (blasint)in);
    for (int64_t i = 0; i < in; i++)
        for (int64_t j = 0; j <= i; j++) e->gram[i * in + j] += (double)e->product[i * in + j];
    real_product_tn(e->product, out, e->x, in, e->y, out, in, out, n, false);
    for (int64_t i = 0; i < in * out; i++) e->cross[i] += (double)e->product[i];
}

static void normal_flush(normal *e)
{
    if (e->rows > 0) normal_add(e);
    e->rows = 0;
}

/* cross becomes the solution [n_in, n_out] of (gram + lambda diag(gram)) w = cross. gram is used up. An input that is
 * always 0 gets a weight of 0. */
static vouch_status normal_solve(normal *e, double lambda, vouch_error *err)
{
    const int n = (int)e->n_in, n_out = (int)e->n_out;
    int info;
    for (int64_t i = 0; i < e->n_in; i++) {
        double *square = &e->gram[i * e->n_in + i];
        *square = *square > 0 ? *square * (1 + lambda) : 1;
    }
    /* The row-major lower half is the column-major upper one; the right sides have to become columns. */
    double *columns = malloc((size_t)e->n_in * (size_t)e->n_out * sizeof *columns);
    if (!columns) return memory_fail(err);
    for (int64_t i = 0; i < e->n_in; i++)
        for (int64_t j = 0; j < e->n_out; j++) columns[j * e->n_in + i] = e->cross[i * e->n_out + j];
    train_blas()->dpotrf_("U", &n, e->gram, &n, &info);
    if (info == 0) train_blas()->dpotrs_("U", &n, &n_out, e->gram, &n, columns, &n, &info);
    for (int64_t i = 0; i < e->n_in && info == 0; i++)
        for (int64_t j = 0; j < e->n_out; j++) e->cross[i * e->n_out + j] = columns[j * e->n_in + i];
    free(columns);
    if (info == 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_NUMERIC,
                      "linear head: the normal equations aren't positive definite at row %d of %d", info, n);
}

/* --------------------------------------------------------------------- passes */

/* The first answers that have options->most_rows rows together; all of them where they have fewer. */
static vouch_status answers_limit(fit *f, vouch_error *err)
{
    const train_lessons_set *l = f->lessons;
    const int64_t most = f->options->most_rows;
    for (int64_t rows = 0; f->n_answers < l->n_taught && (most == 0 || rows < most); f->n_answers++) {
        train_answer answer;
        VOUCH_TRY(train_states_peek(l->states, (size_t)l->order[f->n_answers], &answer, err));
        rows += answer.n_tokens - answer.n_prompt;
        f->n_rows = rows;
    }
    return VOUCH_OK;
}

/* Multiplications of the passes and of Cholesky's solutions after each, which are in double precision: half as fast. */
typedef enum part { FIRST_ROWS, FIRST_SOLUTION, SECOND_ROWS, SECOND_SOLUTION, N_PARTS } part;
static double cost_of(const fit *f, part p)
{
    const double n = (double)f->n_rows, width = (double)f->head->width, features = (double)f->head->n_features;
    const double in = features + width + 1;
    switch (p) {
    case FIRST_ROWS: return n * in * (in / 2 + width);
    case FIRST_SOLUTION: return 2 * in * in * (in / 6 + width);
    case SECOND_ROWS: return n * width * (features + 2.5 * width);
    case SECOND_SOLUTION: return 2 * width * width * (width / 6 + width);
    default: return 0;
    }
}

/* The share of all multiplications that is done when `share` of a part is. */
static double share_of(const fit *f, part now, double share)
{
    double done = 0, all = 0;
    for (part p = FIRST_ROWS; p < N_PARTS; p++) {
        done += p < now ? cost_of(f, p) : p == now ? share * cost_of(f, p) : 0;
        all += cost_of(f, p);
    }
    return done / all;
}

/* lessons_visit calls it for each of these answers. */
typedef void sequence_fn(fit *f, const train_sequence *s);
static vouch_status lessons_visit(fit *f, sequence_fn *take, part p, vouch_error *err)
{
    const train_lessons_set *l = f->lessons;
    for (int32_t i = 0; i < f->n_answers; i++) {
        train_sequence s;
        VOUCH_TRY(train_states_read(l->states, (size_t)l->order[i], l->header, &s, err));
        take(f, &s);
        free(s.tokens);
        if (f->options->report) f->options->report(f->options->user, share_of(f, p, (i + 1.0) / f->n_answers));
    }
    normal_flush(&f->normal);
    return VOUCH_OK;
}

/* Inputs of the first regression: taps, the token's embedding, 1. */
static void inputs_of(const fit *f, const train_sequence *s, int64_t t, float *x)
{
    const int64_t width = f->head->width, n_features = f->head->n_features;
    train_lessons_features(f->lessons, s, t, x);
    memcpy(x + n_features, f->embedding + s->tokens[t + 1] * width, (size_t)width * sizeof *x);
    x[n_features + width] = 1;
}

static void first_rows(fit *f, const train_sequence *s)
{
    normal *e = &f->normal;
    for (int64_t t = train_lessons_first(s); t + 1 < s->answer.n_tokens; t++) {
        inputs_of(f, s, t, e->x + e->rows * e->n_in);
        train_lessons_final(f->lessons, s, t + 1, e->y + e->rows * e->n_out);
        if (++e->rows == BLOCK_ROWS) normal_flush(e);
    }
}

/* [rows, outputs] of the solution become [outputs, rows]. */
static void columns_take(float *out, const float *w, int64_t n_in, int64_t n_out)
{
    for (int64_t i = 0; i < n_in; i++)
        for (int64_t o = 0; o < n_out; o++) out[o * n_in + i] = w[i * n_out + o];
}

/* The solution in single precision. */
static const float *solution(normal *e)
{
    for (int64_t i = 0; i < e->n_in * e->n_out; i++) e->product[i] = (float)e->cross[i];
    return e->product;
}

static vouch_status first_fit(fit *f, vouch_error *err)
{
    train_linear_head *h = f->head;
    normal *e = &f->normal;
    VOUCH_TRY(normal_open(e, h->n_features + h->width + 1, h->width, err));
    VOUCH_TRY(lessons_visit(f, first_rows, FIRST_ROWS, err));
    VOUCH_TRY(normal_solve(e, f->options->lambda, err));
    const float *w = solution(e);
    columns_take(h->fc, w, h->n_features, h->width);
    columns_take(h->token, w + h->n_features * h->width, h->width, h->width);
    columns_take(h->fc_bias, w + (h->n_features + h->width) * h->width, 1, h->width);
    normal_free(e);
    return VOUCH_OK;
}

/* The inputs of the second regression are the head's own results s(t + 1) = A z + M e + b and 1, which predict
 * y(t + 2) - M e(t + 2). */
static void second_rows(fit *f, const train_sequence *q)
{
    const train_linear_head *h = f->head;
    normal *e = &f->normal;
    const int64_t first = train_lessons_first(q), n = q->answer.n_tokens - 2 - first, width = h->width;
    float *s = f->results, *tokens = s + width;
    if (n <= 0) return;
    for (int64_t t = 0; t <= n; t++) {
        train_lessons_features(f->lessons, q, first + t, f->taps + t * h->n_features);
        memcpy(f->embedded + t * width, f->embedding + q->tokens[first + t + 1] * width, (size_t)width * sizeof(float));
    }
    real_product_nt(s, 2 * width, f->taps, h->n_features, h->fc, h->n_features, n, width, h->n_features, false);
    real_product_nt(tokens, 2 * width, f->embedded, width, h->token, width, n + 1, width, width, false);
    for (int64_t t = 0; t < n; t++) {
        float *x = e->x + e->rows * e->n_in, *y = e->y + e->rows * width;
        train_lessons_final(f->lessons, q, first + t + 2, y);
        for (int64_t j = 0; j < width; j++) {
            x[j] = s[2 * t * width + j] + tokens[2 * t * width + j] + h->fc_bias[j];
            y[j] -= tokens[2 * (t + 1) * width + j];
        }
        x[width] = 1;
        if (++e->rows == BLOCK_ROWS) normal_flush(e);
    }
}

static vouch_status second_fit(fit *f, vouch_error *err)
{
    train_linear_head *h = f->head;
    normal *e = &f->normal;
    const size_t rows = (size_t)f->lessons->longest, width = (size_t)h->width;
    f->taps = malloc(rows * (size_t)h->n_features * sizeof *f->taps);
    f->embedded = malloc(rows * width * sizeof *f->embedded);
    f->results = malloc(rows * 2 * width * sizeof *f->results);
    if (!f->taps || !f->embedded || !f->results) return memory_fail(err);
    VOUCH_TRY(normal_open(e, h->width + 1, h->width, err));
    VOUCH_TRY(lessons_visit(f, second_rows, SECOND_ROWS, err));
    VOUCH_TRY(normal_solve(e, f->options->lambda, err));
    const float *w = solution(e);
    columns_take(h->leave, w, h->width, h->width);
    columns_take(h->token_bias, w + h->width * h->width, 1, h->width);
    for (int64_t j = 0; j < h->width; j++) h->fc_bias[j] -= h->token_bias[j];
    return VOUCH_OK;
}

/* ------------------------------------------------------------------------ fit */

static vouch_status head_open(train_linear_head *h, const train_lessons_set *lessons, vouch_error *err)
{
    const size_t width = (size_t)lessons->header->n_embd;
    *h = (train_linear_head){.n_features = lessons->n_features,
                             .width = lessons->header->n_embd,
                             .fc = malloc(width * (size_t)lessons->n_features * sizeof(float)),
                             .fc_bias = malloc(width * sizeof(float)),
                             .leave = malloc(width * width * sizeof(float)),
                             .token = malloc(width * width * sizeof(float)),
                             .token_bias = malloc(width * sizeof(float))};
    return h->fc && h->fc_bias && h->leave && h->token && h->token_bias ? VOUCH_OK : memory_fail(err);
}

double train_linear_bytes(const train_lessons_set *l)
{
    const double in = (double)(l->n_features + l->header->n_embd + 1), width = (double)l->header->n_embd;
    return in * in * 12 + BLOCK_ROWS * (in + width) * 4 + in * width * 20 + width * width * 28 +
           l->longest * (in + 2 * width) * 4;
}

vouch_status train_linear_fit(train_linear_head *head, const train_lessons_set *lessons, const float *embedding,
                              const train_linear_options *options, vouch_error *err)
{
    fit f = {.lessons = lessons, .options = options, .embedding = embedding, .head = head};
    vouch_status status = head_open(head, lessons, err);
    if (!status) status = answers_limit(&f, err);
    if (!status) status = first_fit(&f, err);
    if (!status) status = second_fit(&f, err);
    normal_free(&f.normal);
    free(f.taps);
    free(f.embedded);
    free(f.results);
    if (status) train_linear_free(head);
    return status;
}

void train_linear_free(train_linear_head *head)
{
    free(head->fc);
    free(head->fc_bias);
    free(head->leave);
    free(head->token);
    free(head->token_bias);
    *head = (train_linear_head){0};
}
