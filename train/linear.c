/* SPDX-License-Identifier: MIT */
/*
 * Two passes over the states. The first gathers the normal equations, block by block: products in single precision, the
 * sums of blocks in double. The second gathers those of F, with the head's own results as inputs.
 */
#include "train/linear.h"

#include <stdlib.h>
#include <string.h>

#include "train/real.h"

enum { BLOCK_ROWS = 1024 };

/* The normal equations of a regression: gram = X^T X [n_in, n_in], its lower half, and cross = X^T Y [n_in, n_out]. */
typedef struct normal {
    int64_t n_in, n_out, rows; /* rows gathered since the last flush */
    float *x, *y;              /* [BLOCK_ROWS, n_in], [BLOCK_ROWS, n_out] */
    float *product;            /* [n_in, n_in] of a block */
    double *gram, *cross;
} normal;

/* Sums over the rows of each token that occurs. */
typedef struct groups {
    int32_t *slots; /* [n_vocab] -1: the token hasn't occurred */
    int32_t n, room;
    int32_t *counts; /* [n] */
    float *s, *u;    /* [n, n_in], [n, n_out] */
} groups;

typedef struct fit {
    const train_lessons_set *lessons;
    const train_linear_options *options;
    const float *embedding;
    float embedding_scale;
    train_linear_head *head;
    normal normal;
    groups groups;
    int64_t n_rows;
} fit;

train_linear_options train_linear_options_default(void)
{
    return (train_linear_options){.lambda = 1e-3, .kappa = 8, .floor = 0.02};
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

/* gram += factor x^T x, cross += factor x^T y for n rows. */
static void normal_add(normal *e, const float *x, const float *y, int64_t n, double factor)
{
    const int64_t in = e->n_in, out = e->n_out;
    train_blas()->cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)in, (blasint)n, 1, x, (blasint)in, 0,
                              e->product, (blasint)in);
    for (int64_t i = 0; i < in; i++)
        for (int64_t j = 0; j <= i; j++) e->gram[i * in + j] += factor * (double)e->product[i * in + j];
    real_product_tn(e->product, out, x, in, y, out, in, out, n, false);
    for (int64_t i = 0; i < in * out; i++) e->cross[i] += factor * (double)e->product[i];
}

static void normal_flush(normal *e)
{
    if (e->rows > 0) normal_add(e, e->x, e->y, e->rows, 1);
    e->rows = 0;
}

/* cross becomes the solution [n_in, n_out] of (gram + lambda) w = cross. gram is used up. */
static vouch_status normal_solve(normal *e, double lambda, vouch_error *err)
{
    const int n = (int)e->n_in, n_out = (int)e->n_out;
    int info;
    for (int64_t i = 0; i < e->n_in; i++) e->gram[i * e->n_in + i] += lambda;
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
    return vouch_fail(err, VOUCH_E_NUMERIC, "the normal equations of the linear head aren't positive at row %d of %d",
                      info, n);
}

/* --------------------------------------------------------------------- groups */

static void groups_free(groups *g)
{
    free(g->slots);
    free(g->counts);
    free(g->s);
    free(g->u);
}

/* The slot of a token; -1 where memory is short. */
static int32_t groups_slot(groups *g, int32_t token, int64_t n_in, int64_t n_out)
{
    if (g->slots[token] >= 0) return g->slots[token];
    if (g->n == g->room) {
        const int32_t room = g->room ? 2 * g->room : 1024;
        int32_t *counts = realloc(g->counts, (size_t)room * sizeof *counts);
        if (counts) g->counts = counts;
        float *s = realloc(g->s, (size_t)room * (size_t)n_in * sizeof *s);
        if (s) g->s = s;
        float *u = realloc(g->u, (size_t)room * (size_t)n_out * sizeof *u);
        if (u) g->u = u;
        if (!counts || !s || !u) return -1;
        g->room = room;
    }
    g->counts[g->n] = 0;
    memset(g->s + g->n * n_in, 0, (size_t)n_in * sizeof(float));
    memset(g->u + g->n * n_out, 0, (size_t)n_out * sizeof(float));
    return g->slots[token] = g->n++;
}

/* Takes the part that the tokens' own means explain out of the normal equations. */
static void groups_subtract(const groups *g, normal *e, double kappa)
{
    for (int32_t i = 0; i < g->n; i++) {
        const float factor = (float)(1 / sqrt((double)g->counts[i] + kappa));
        float *x = e->x + e->rows * e->n_in, *y = e->y + e->rows * e->n_out;
        for (int64_t j = 0; j < e->n_in; j++) x[j] = factor * g->s[i * e->n_in + j];
        for (int64_t j = 0; j < e->n_out; j++) y[j] = factor * g->u[i * e->n_out + j];
        if (++e->rows == BLOCK_ROWS || i + 1 == g->n) {
            normal_add(e, e->x, e->y, e->rows, -1);
            e->rows = 0;
        }
    }
}

/* --------------------------------------------------------------------- passes */

/* Calls `take` for every counted row of the lessons taught. */
typedef vouch_status row_fn(fit *f, const train_sequence *s, int64_t t, vouch_error *err);
static vouch_status rows_visit(fit *f, row_fn *take, double from, double to, vouch_error *err)
{
    const train_lessons_set *l = f->lessons;
    for (int32_t i = 0; i < l->n_taught; i++) {
        train_sequence s;
        VOUCH_TRY(train_states_read(l->states, (size_t)l->order[i], l->header, &s, err));
        vouch_status status = VOUCH_OK;
        for (int64_t t = train_lessons_first(&s); !status && t + 1 < s.answer.n_tokens; t++)
            status = take(f, &s, t, err);
        free(s.tokens);
        if (status) return status;
        if (f->options->report) f->options->report(f->options->user, from + (to - from) * (i + 1) / l->n_taught);
    }
    normal_flush(&f->normal);
    return VOUCH_OK;
}

/* Inputs of the first regression: taps, the token's embedding, 1. */
static void inputs_of(const fit *f, const train_sequence *s, int64_t t, float *x)
{
    const int64_t width = f->head->width, n_features = f->head->n_features;
    const float *embedding = f->embedding + s->tokens[t + 1] * width;
    train_lessons_features(f->lessons, s, t, x);
    for (int64_t i = 0; i < width; i++) x[n_features + i] = embedding[i] * f->embedding_scale;
    x[n_features + width] = 1;
}

static vouch_status first_row(fit *f, const train_sequence *s, int64_t t, vouch_error *err)
{
    normal *e = &f->normal;
    float *x = e->x + e->rows * e->n_in, *y = e->y + e->rows * e->n_out;
    inputs_of(f, s, t, x);
    train_lessons_final(f->lessons, s, t + 1, y);
    const int32_t slot = groups_slot(&f->groups, s->tokens[t + 1], e->n_in, e->n_out);
    if (slot < 0) return memory_fail(err);
    f->groups.counts[slot]++;
    for (int64_t i = 0; i < e->n_in; i++) f->groups.s[slot * e->n_in + i] += x[i];
    for (int64_t i = 0; i < e->n_out; i++) f->groups.u[slot * e->n_out + i] += y[i];
    f->n_rows++;
    if (++e->rows == BLOCK_ROWS) normal_flush(e);
    return VOUCH_OK;
}

/* tokens[v] = M e + R + b, from the solution w [n_in, width]. */
static void tokens_make(fit *f, const float *w)
{
    const int64_t width = f->head->width, n_features = f->head->n_features, n_in = f->normal.n_in;
    const groups *g = &f->groups;
    float *tokens = f->head->tokens;
    real_product_nn(tokens, width, f->embedding, width, w + n_features * width, width, f->head->n_vocab, width, width,
                    false);
    const float *bias = w + (n_features + width) * width;
    for (int64_t v = 0; v < f->head->n_vocab; v++)
        for (int64_t i = 0; i < width; i++)
            tokens[v * width + i] = tokens[v * width + i] * f->embedding_scale + bias[i];
    /* u_v - W^T s_v, in place of u. */
    train_blas()->cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, g->n, (blasint)width, (blasint)n_in, -1,
                              g->s, (blasint)n_in, w, (blasint)width, 1, g->u, (blasint)width);
    for (int64_t v = 0; v < f->head->n_vocab; v++) {
        const int32_t slot = g->slots[v];
        if (slot < 0) continue;
        const float factor = (float)(1 / ((double)g->counts[slot] + f->options->kappa));
        for (int64_t i = 0; i < width; i++) tokens[v * width + i] += factor * g->u[slot * width + i];
    }
}

static vouch_status first_fit(fit *f, vouch_error *err)
{
    train_linear_head *h = f->head;
    normal *e = &f->normal;
    VOUCH_TRY(normal_open(e, h->n_features + h->width + 1, h->width, err));
    VOUCH_TRY(rows_visit(f, first_row, 0, 0.45, err));
    groups_subtract(&f->groups, e, f->options->kappa);
    VOUCH_TRY(normal_solve(e, f->options->lambda * (double)f->n_rows, err));
    float *w = e->product; /* the solution in single precision */
    for (int64_t i = 0; i < e->n_in * e->n_out; i++) w[i] = (float)e->cross[i];
    for (int64_t i = 0; i < h->n_features; i++)
        for (int64_t o = 0; o < h->width; o++) h->fc[o * h->n_features + i] = w[i * h->width + o];
    tokens_make(f, w);
    normal_free(e);
    return VOUCH_OK;
}

/* The inputs of the second regression are the head's own results s(t), which predict y(t + 2) less the token's part. */
static void second_rows(fit *f, const train_sequence *q, float *taps, float *s)
{
    const train_lessons_set *l = f->lessons;
    const train_linear_head *h = f->head;
    normal *e = &f->normal;
    const int64_t first = train_lessons_first(q), n = q->answer.n_tokens - 2 - first;
    if (n <= 0) return;
    for (int64_t t = 0; t < n; t++) train_lessons_features(l, q, first + t, taps + t * h->n_features);
    real_product_nt(s, h->width, taps, h->n_features, h->fc, h->n_features, n, h->width, h->n_features, false);
    for (int64_t t = 0; t < n; t++) {
        float *x = e->x + e->rows * h->width, *y = e->y + e->rows * h->width;
        const float *now = h->tokens + q->tokens[first + t + 1] * h->width;
        const float *next = h->tokens + q->tokens[first + t + 2] * h->width;
        train_lessons_final(l, q, first + t + 2, y);
        for (int64_t j = 0; j < h->width; j++) {
            x[j] = s[t * h->width + j] + now[j];
            y[j] -= next[j];
        }
        if (++e->rows == BLOCK_ROWS) normal_flush(e);
    }
}

static vouch_status second_fit(fit *f, vouch_error *err)
{
    const train_lessons_set *l = f->lessons;
    train_linear_head *h = f->head;
    normal *e = &f->normal;
    vouch_status status = VOUCH_OK;
    float *taps = malloc((size_t)l->longest * (size_t)h->n_features * sizeof *taps);
    float *s = malloc((size_t)l->longest * (size_t)h->width * sizeof *s);
    if (!taps || !s) status = memory_fail(err);
    if (!status) status = normal_open(e, h->width, h->width, err);
    for (int32_t i = 0; i < l->n_taught && !status; i++) {
        train_sequence q;
        status = train_states_read(l->states, (size_t)l->order[i], l->header, &q, err);
        if (status) break;
        second_rows(f, &q, taps, s);
        free(q.tokens);
        if (f->options->report) f->options->report(f->options->user, 0.5 + 0.45 * (i + 1) / l->n_taught);
    }
    normal_flush(e);
    if (!status) status = normal_solve(e, f->options->lambda * (double)f->n_rows, err);
    free(taps);
    free(s);
    return status;
}

/* ------------------------------------------------------- F and its inverse */

/* out [n, n] = (a diag(factors)) b^T as floats, row-major; a and b are row-major, and `a` is used up. */
static void scaled_product(float *out, double *a, const double *factors, const double *b, double *space, int64_t n)
{
    for (int64_t o = 0; o < n; o++)
        for (int64_t k = 0; k < n; k++) a[o * n + k] *= factors[k];
    train_blas()->cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)n, (blasint)n, (blasint)n, 1,
                              a, (blasint)n, b, (blasint)n, 0, space, (blasint)n);
    for (int64_t i = 0; i < n * n; i++) out[i] = (float)space[i];
}

static void transpose(double *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double kept = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = kept;
        }
}

/* feature = F with raised singular values, and `inverse` its inverse. f [n, n] is F, column-major; LAPACK's results are
 * column-major, too: u holds U^T by rows, and vt holds V by rows. Returns LAPACK's info, or -1 where memory is
 * short. */
static int feature_invert(float *feature, float *inverse, double *f, int64_t width, double floor)
{
    const int n = (int)width, n_work = 8 * n * n + 16 * n;
    const size_t square = (size_t)n * (size_t)n;
    double *block = malloc((3 * square + 2 * (size_t)n + (size_t)n_work) * sizeof *block);
    int *iwork = malloc(8 * (size_t)n * sizeof *iwork), info = -1;
    if (block && iwork) {
        double *u = block, *vt = u + square, *space = vt + square, *sigma = space + square, *inverted = sigma + n;
        train_blas()->dgesdd_("A", &n, &n, f, &n, sigma, u, &n, vt, &n, inverted + n, &n_work, iwork, &info);
        for (int i = 0; i < n; i++) {
            sigma[i] = fmax(sigma[i], floor * sigma[0]);
            inverted[i] = 1 / (sigma[i] * sigma[i]);
        }
        transpose(u, n); /* now U by rows */
        scaled_product(feature, u, sigma, vt, space, n);
        scaled_product(inverse, vt, inverted, u, space, n); /* u holds U diag(sigma) */
    }
    free(block);
    free(iwork);
    return info;
}

static vouch_status feature_make(fit *f, vouch_error *err)
{
    train_linear_head *h = f->head;
    const int64_t n = h->width;
    float *inverse = malloc((size_t)(n * n) * sizeof *inverse);
    float *fc = malloc((size_t)(n * h->n_features) * sizeof *fc);
    const int info =
        inverse && fc ? feature_invert(h->feature, inverse, f->normal.cross, n, f->options->floor) : -1;
    if (info == 0) {
        real_product_nn(fc, h->n_features, inverse, n, h->fc, h->n_features, n, h->n_features, n, false);
        memcpy(h->fc, fc, (size_t)(n * h->n_features) * sizeof *fc);
    }
    free(inverse);
    free(fc);
    if (info < 0) return memory_fail(err);
    if (info == 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_NUMERIC, "the linear head's singular values don't converge (%d)", info);
}

/* ------------------------------------------------------------------------ fit */

static vouch_status head_open(train_linear_head *h, const train_lessons_set *lessons, vouch_error *err)
{
    const size_t width = (size_t)lessons->header->n_embd, n_vocab = (size_t)lessons->header->n_vocab;
    *h = (train_linear_head){.n_features = lessons->n_features,
                             .width = lessons->header->n_embd,
                             .n_vocab = lessons->header->n_vocab,
                             .fc = malloc(width * (size_t)lessons->n_features * sizeof(float)),
                             .feature = malloc(width * width * sizeof(float)),
                             .tokens = malloc(n_vocab * width * sizeof(float))};
    return h->fc && h->feature && h->tokens ? VOUCH_OK : memory_fail(err);
}

static float embedding_scale(const float *embedding, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)(embedding[i] * embedding[i]);
    return (float)(1 / sqrt(sum / (double)n + 1e-20));
}

double train_linear_bytes(const train_lessons_set *l)
{
    const double in = (double)(l->n_features + l->header->n_embd + 1), width = (double)l->header->n_embd;
    const double vocab = (double)l->header->n_vocab, seen = fmin(vocab, (double)l->n_rows);
    return in * in * 12 + BLOCK_ROWS * (in + width) * 4 + in * width * 16 + seen * (in + width) * 8 +
           vocab * width * 8 + width * width * 90;
}

vouch_status train_linear_fit(train_linear_head *head, const train_lessons_set *lessons, const float *embedding,
                              const train_linear_options *options, vouch_error *err)
{
    fit f = {.lessons = lessons, .options = options, .embedding = embedding, .head = head};
    vouch_status status = head_open(head, lessons, err);
    f.groups.slots = malloc((size_t)lessons->header->n_vocab * sizeof *f.groups.slots);
    if (!status && !f.groups.slots) status = memory_fail(err);
    if (!status) {
        for (int32_t v = 0; v < lessons->header->n_vocab; v++) f.groups.slots[v] = -1;
        f.embedding_scale = embedding_scale(embedding, head->n_vocab * head->width);
        status = first_fit(&f, err);
    }
    if (!status) status = second_fit(&f, err);
    if (!status) status = feature_make(&f, err);
    normal_free(&f.normal);
    groups_free(&f.groups);
    if (status) train_linear_free(head);
    return status;
}

void train_linear_free(train_linear_head *head)
{
    free(head->fc);
    free(head->feature);
    free(head->tokens);
    *head = (train_linear_head){0};
}
