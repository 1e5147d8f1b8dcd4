/* SPDX-License-Identifier: MIT */
/*
 * Runs passes over a session's own sequence between two steps: logits, p, and the time of a pass. They leave no trace
 * (law L3) but a shorter cache. In an engine the other sessions may lose their pages for it, and run their tokens again
 * later.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/floats.h"
#include "engine/options.h"
#include "engine/session.h"

/* Cuts the cache to the first n tokens at most, and makes room for `past` tokens in all. */
static void rewind_with_room(vouch_session *s, int32_t n, int32_t past)
{
    vouch_engine_target_rewind(&s->target, n);
    vouch_engine_make_room(s->engine, s, past - vouch_memory_n_tokens(s->target.memory));
}

/* Cuts the cache to the tokens that the drafters know: without the last token, which the next cycle runs, and without
 * tokens of a prompt that has not run to its end. */
static void rewind_to_followed(vouch_session *s)
{
    vouch_engine_target_rewind(&s->target, s->n_answer > 0 ? s->cycle.n_tokens - 1 : s->n_prompt_run);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

vouch_status vouch_session_time_pass(vouch_session *session, int32_t n_rows, int32_t reps, double *seconds,
                                     vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    enum { MAX_REPS = 1000 };
    vouch_session *s = session;
    const int32_t n_cached = s->cycle.n_tokens - 1, most = s->options.n_ctx - n_cached;
    vouch_memory *memory = s->target.memory;
    if (n_rows < 1 || n_rows > memory->max_rows)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "rows of a timed pass is %d, must be 1 to %d where n_draft is %d",
                          n_rows, memory->max_rows, s->options.speculation.n_draft);
    if (reps < 1 || reps > MAX_REPS)
        return vouch_options_out_of_range(err, "repetitions of a timed pass", reps, 1, MAX_REPS);
    if (s->cycle.n_tokens == 0) return vouch_fail(err, VOUCH_E_ARGUMENT, "a timed pass needs a prompt first");
    if (n_rows > most)
        return vouch_fail(err, VOUCH_E_CONTEXT, "%d rows do not fit: %d positions are left in the context", n_rows,
                          most);
    int32_t tokens[VOUCH_MAX_DRAFT + 1];
    double times[MAX_REPS];
    rewind_with_room(s, n_cached, n_cached + n_rows);
    vouch_engine_target_run(&s->target, s->cycle.tokens, n_cached, 0);
    for (int32_t i = 0; i < n_rows; i++) tokens[i] = s->cycle.tokens[s->cycle.n_tokens - 1];
    for (int32_t i = 0; i < reps; i++) {
        const double start = vouch_now();
        vouch_pass_tree(s->target.pass, memory, tokens, NULL, n_rows, n_rows);
        times[i] = vouch_now() - start;
        vouch_memory_keep_rows(memory, 0);
    }
    rewind_to_followed(s);
    qsort(times, (size_t)reps, sizeof times[0], compare_doubles);
    *seconds = times[reps / 2];
    return VOUCH_OK;
}

/* Takes the logits of row i. */
typedef vouch_status visit_fn(void *self, vouch_session *s, int32_t i, const float *logits);

/* Runs the rows at positions [first, first + n), and visits their logits in order. */
static vouch_status each_row(vouch_session *s, int32_t first, int32_t n, visit_fn *visit, void *self, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    if (first < 0 || n < 0 || first > s->cycle.n_tokens || n > s->cycle.n_tokens - first)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "logits of positions %d to %lld: the sequence has %d tokens", first,
                          (long long)first + n, s->cycle.n_tokens);
    rewind_with_room(s, first, first + n);
    for (int32_t done = 0; done < n && status == VOUCH_OK;) {
        const int32_t rows = vouch_min(n - done, vouch_min(s->engine->max_logits, s->options.prefill_chunk));
        vouch_engine_target_run(&s->target, s->cycle.tokens, first + done + rows, rows);
        for (int32_t r = 0; r < rows && status == VOUCH_OK; r++) {
            status = visit(self, s, done + r, vouch_pass_logits(s->target.pass, r));
            if (status != VOUCH_OK)
                vouch_fail(err, status, "token %d of the sequence: %s", first + done + r + 1,
                           vouch_status_text(status));
        }
        done += rows;
    }
    rewind_to_followed(s);
    return status;
}

typedef struct row_reader {
    int32_t first, n_top;
    float *rows;             /* [n][n_vocab] */
    vouch_logprob *logprobs; /* [n][1 + n_top] */
} row_reader;

static vouch_status read_logits(void *self, vouch_session *s, int32_t i, const float *logits)
{
    const row_reader *reader = self;
    const size_t n_vocab = (size_t)s->model->info.n_vocab;
    memcpy(reader->rows + (size_t)i * n_vocab, logits, n_vocab * sizeof *logits);
    return VOUCH_OK;
}

static vouch_status read_probabilities(void *self, vouch_session *s, int32_t i, const float *logits)
{
    const row_reader *reader = self;
    const int32_t n_vocab = s->model->info.n_vocab;
    float *row = reader->rows + (size_t)i * (size_t)n_vocab;
    VOUCH_TRY(vouch_engine_target_distribution(&s->target, logits, s->cycle.tokens, reader->first + i + 1));
    for (int32_t x = 0; x < n_vocab; x++) row[x] = (float)vouch_dist_p(&s->target.p, x);
    return VOUCH_OK;
}

static vouch_status read_logprobs(void *self, vouch_session *s, int32_t i, const float *logits)
{
    const row_reader *reader = self;
    vouch_logprob *out = reader->logprobs + (size_t)i * (size_t)(1 + reader->n_top);
    vouch_logprobs_of_row(logits, s->model->info.n_vocab, s->cycle.tokens[reader->first + i + 1], reader->n_top, out);
    return isfinite(out->logprob) ? VOUCH_OK : VOUCH_E_NUMERIC;
}

vouch_status vouch_session_logits(vouch_session *session, int32_t first, int32_t n, float *out, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    return each_row(session, first, n, read_logits, &(row_reader){.rows = out}, err);
}

vouch_status vouch_session_probabilities(vouch_session *session, int32_t first, int32_t n, float *out, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    return each_row(session, first, n, read_probabilities, &(row_reader){.first = first, .rows = out}, err);
}

vouch_status vouch_session_logprobs(vouch_session *session, int32_t first, int32_t n, int32_t n_top, vouch_logprob *out,
                                    vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    if (first < 1 || n < 0 || first > session->cycle.n_tokens || n > session->cycle.n_tokens - first)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "log probabilities of positions %d to %lld: expected 1 to %d", first,
                          (long long)first + n, session->cycle.n_tokens);
    if (n_top < 0 || n_top > VOUCH_MAX_LOGPROBS)
        return vouch_options_out_of_range(err, "n_top", n_top, 0, VOUCH_MAX_LOGPROBS);
    row_reader reader = {.first = first - 1, .n_top = n_top, .logprobs = out};
    return each_row(session, first - 1, n, read_logprobs, &reader, err);
}
