/* SPDX-License-Identifier: MIT */
#include "train/lessons/states.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "model/pass/pass.h"

enum { PASS_ROWS = 128 };

enum { FOUND_ANSWER = 1, FOUND_STATES = 2 };

typedef struct maker {
    train_chunks *file;
    const train_chunks *answers;
    const train_states_header *header;
    const vouch_weights *weights;
    vouch_pool *pool;
    vouch_pages *pages;
    vouch_memory *memory;
    vouch_pass *pass;
    float *weighed; /* [n_vocab] */
    uint8_t *found; /* [n_found] by the number of an answer: FOUND_ bits */
    int32_t n_found;
    int64_t n_tokens, n_done; /* of all answers; of those whose states the file has */
} maker;

static size_t row_values(const train_states_header *header)
{
    return (size_t)header->n_taps * (size_t)header->n_embd;
}

/* Bytes after the train_answer of a chunk of n tokens. */
static size_t body_bytes(const train_states_header *header, size_t n)
{
    return n * (sizeof(int32_t) * (1 + TRAIN_TOP) + sizeof(uint16_t) * (row_values(header) + TRAIN_TOP));
}

/* The arrays of n tokens in one block, as a chunk has them after its train_answer. */
static void sequence_lay_out(train_sequence *s, void *block, const train_states_header *header, size_t n)
{
    s->tokens = block;
    s->ids = s->tokens + n;
    s->taps = (uint16_t *)(s->ids + n * TRAIN_TOP);
    s->p = s->taps + n * row_values(header);
}

/* --------------------------------------------------------------------- rows */

static uint16_t half_of(float value)
{
    const float most = 65504;
    return vouch_float_to_half(value > most ? most : value < -most ? -most : value);
}

/* The likeliest TRAIN_TOP of n weights: their ids, and their shares of `sum` as 16-bit floats. Of equal ones the lower
 * id comes first. */
static void top_of(const float *weighed, int32_t n, double sum, int32_t *ids, uint16_t *p)
{
    float best[TRAIN_TOP];
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (count == TRAIN_TOP && weighed[i] <= best[TRAIN_TOP - 1]) continue;
        int32_t at = count < TRAIN_TOP ? count++ : TRAIN_TOP - 1;
        for (; at > 0 && best[at - 1] < weighed[i]; at--) {
            best[at] = best[at - 1];
            ids[at] = ids[at - 1];
        }
        best[at] = weighed[i];
        ids[at] = i;
    }
    for (int32_t i = 0; i < TRAIN_TOP; i++) {
        if (i >= count) ids[i] = -1;
        p[i] = i < count ? vouch_float_to_half((float)((double)best[i] / sum)) : 0;
    }
}

/* Copies the taps of row r of the last pass to row `to` of the sequence. */
static void taps_take(maker *m, train_sequence *s, int32_t r, int32_t to)
{
    const train_states_header *h = m->header;
    uint16_t *taps = s->taps + (size_t)to * row_values(h);
    for (int32_t t = 0; t < h->n_taps; t++) {
        const float *x = vouch_pass_tap(m->pass, h->taps[t], r);
        for (int32_t i = 0; i < h->n_embd; i++) taps[t * h->n_embd + i] = half_of(x[i]);
    }
}

/* The likeliest tokens by these logits become those of row `to`; logits NULL: none. */
static vouch_status tokens_take(maker *m, train_sequence *s, const float *logits, int32_t to, vouch_error *err)
{
    const train_states_header *h = m->header;
    int32_t *ids = s->ids + (size_t)to * TRAIN_TOP;
    uint16_t *p = s->p + (size_t)to * TRAIN_TOP;
    if (!logits) {
        for (int32_t i = 0; i < TRAIN_TOP; i++) {
            ids[i] = -1;
            p[i] = 0;
        }
        return VOUCH_OK;
    }
    float max;
    int32_t index;
    if (!m->weights->kernels->find_max(logits, h->n_vocab, &max, &index))
        return vouch_fail(err, VOUCH_E_NUMERIC, "answer %d, token %d: the model gave no finite logits",
                          s->answer.number, to);
    const double sum = m->weights->kernels->exp_weights(m->weighed, logits, h->n_vocab, max, 1);
    top_of(m->weighed, h->n_vocab, sum, ids, p);
    return VOUCH_OK;
}

static vouch_status sequence_run(maker *m, train_sequence *s, vouch_error *err)
{
    const int32_t n = s->answer.n_tokens, first = train_states_first(&s->answer);
    vouch_memory_rewind(m->memory, 0);
    if (!vouch_memory_reserve(m->memory, n))
        return vouch_fail(err, VOUCH_E_CONTEXT, "answer %d has %d tokens, more than the answers' context",
                          s->answer.number, n);
    for (int32_t begin = 0; begin < n; begin += PASS_ROWS) {
        const int32_t rows = vouch_min(PASS_ROWS, n - begin);
        const int32_t n_logits = vouch_min(rows, vouch_max(0, begin + rows - first));
        vouch_pass_chain(m->pass, m->memory, s->tokens + begin, rows, n_logits);
        for (int32_t r = 0; r < rows; r++) {
            const int32_t i = r - (rows - n_logits);
            taps_take(m, s, r, begin + r);
            VOUCH_TRY(tokens_take(m, s, i < 0 ? NULL : vouch_pass_logits(m->pass, i), begin + r, err));
        }
    }
    return VOUCH_OK;
}

/* ---------------------------------------------------------------------- file */

static vouch_status answer_take(maker *m, size_t i, vouch_error *err)
{
    const size_t size = train_chunks_size(m->answers, i);
    train_sequence s;
    VOUCH_TRY(train_chunks_peek(m->answers, i, 0, &s.answer, sizeof s.answer, err));
    if (s.answer.n_tokens < 2 || m->found[s.answer.number] & FOUND_STATES) return VOUCH_OK;
    const size_t n = (size_t)s.answer.n_tokens;
    if (size != sizeof s.answer + n * sizeof(int32_t))
        return vouch_fail(err, VOUCH_E_FORMAT, "answers: chunk %zu has another size than its tokens; delete the file",
                          i + 1);
    char *payload = malloc(size);
    void *block = malloc(body_bytes(m->header, n));
    vouch_status status = payload && block ? train_chunks_read(m->answers, i, payload, err)
                                           : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %zu tokens", n);
    if (!status) {
        sequence_lay_out(&s, block, m->header, n);
        memcpy(s.tokens, payload + sizeof s.answer, n * sizeof(int32_t));
        for (size_t t = 0; t < n && !status; t++)
            if (s.tokens[t] < 0 || s.tokens[t] >= m->header->n_vocab)
                status = vouch_fail(err, VOUCH_E_FORMAT, "answers: chunk %zu has token %d; the target has %d tokens",
                                    i + 1, s.tokens[t], m->header->n_vocab);
    }
    if (!status) status = sequence_run(m, &s, err);
    if (!status) {
        const train_piece pieces[] = {{&s.answer, sizeof s.answer}, {block, body_bytes(m->header, n)}};
        status = train_chunks_append(m->file, pieces, 2, err);
        m->n_done += s.answer.n_tokens;
    }
    free(payload);
    free(block);
    return status;
}

/* Finds the answers whose states the file has already. Both files hold at most one chunk for each number. */
static vouch_status resume(maker *m, vouch_error *err)
{
    train_answer answer;
    for (size_t i = 0; i < train_chunks_n(m->answers); i++) {
        VOUCH_TRY(train_chunks_peek(m->answers, i, 0, &answer, sizeof answer, err));
        m->n_found = vouch_max(m->n_found, answer.number + 1);
    }
    m->found = calloc((size_t)vouch_max(m->n_found, 1), 1);
    if (!m->found)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a list of %d answers", (int)m->n_found);
    for (size_t i = 0; i < train_chunks_n(m->answers); i++) {
        VOUCH_TRY(train_chunks_peek(m->answers, i, 0, &answer, sizeof answer, err));
        m->found[answer.number] |= FOUND_ANSWER;
        m->n_tokens += answer.n_tokens;
    }
    for (size_t i = 0; i < train_chunks_n(m->file); i++) {
        VOUCH_TRY(train_states_peek(m->file, i, &answer, err));
        if (answer.number >= m->n_found || !m->found[answer.number])
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "states: chunk %zu belongs to answer %d, which the file that ends in .answers lacks; "
                              "delete the file that ends in .states",
                              i + 1, (int)answer.number);
        m->found[answer.number] |= FOUND_STATES;
        m->n_done += answer.n_tokens;
    }
    return VOUCH_OK;
}

static vouch_status pass_open(maker *m, vouch_error *err)
{
    int32_t longest = 2;
    train_answer answer;
    for (size_t i = 0; i < train_chunks_n(m->answers); i++) {
        VOUCH_TRY(train_chunks_peek(m->answers, i, 0, &answer, sizeof answer, err));
        longest = vouch_max(longest, answer.n_tokens);
    }
    const vouch_pages_options pages = vouch_pages_for(longest, VOUCH_KV_F16);
    const vouch_pass_options pass = {.n_ctx = longest, .max_rows = PASS_ROWS, .max_logits = PASS_ROWS};
    m->weighed = malloc((size_t)m->header->n_vocab * sizeof *m->weighed);
    if (!m->weighed) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a row of probabilities");
    VOUCH_TRY(vouch_pages_open(&m->pages, m->weights, &pages, err));
    VOUCH_TRY(vouch_memory_open(&m->memory, m->pages, longest, PASS_ROWS, err));
    VOUCH_TRY(vouch_pass_open(&m->pass, m->weights, m->pool, &pass, err));
    for (int32_t t = 0; t < m->header->n_taps; t++) VOUCH_TRY(vouch_pass_open_tap(m->pass, m->header->taps[t], err));
    return VOUCH_OK;
}

static void report(const maker *m, const train_options *options)
{
    char detail[64];
    if (!options->report) return;
    snprintf(detail, sizeof detail, "%" PRId64 " of %" PRId64 " tokens", m->n_done, m->n_tokens);
    const double share = (double)m->n_done / fmax(1, (double)m->n_tokens);
    options->report(options->user, &(train_report){"states", detail, share});
}

static vouch_status make_all(maker *m, const train_options *options, vouch_error *err)
{
    const size_t n = train_chunks_n(m->answers);
    double synced = vouch_now();
    report(m, options);
    for (size_t i = 0; i < n; i++) {
        const int64_t before = m->n_done;
        VOUCH_TRY(answer_take(m, i, err));
        if (options->is_cancelled && options->is_cancelled(options->user))
            return vouch_fail(err, VOUCH_E_CANCELLED, "cancelled");
        if (m->n_done > before) report(m, options);
        if (vouch_now() - synced < 20) continue;
        VOUCH_TRY(train_chunks_sync(m->file, err));
        synced = vouch_now();
    }
    return train_chunks_sync(m->file, err);
}

vouch_status train_states_make(train_chunks **chunks, const char *path, const train_states_header *header,
                               const train_chunks *answers, const vouch_weights *weights, vouch_pool *pool,
                               const train_options *options, vouch_error *err)
{
    maker m = {.answers = answers, .header = header, .weights = weights, .pool = pool};
    VOUCH_TRY(train_chunks_open(&m.file, path, "states", header, sizeof *header, err));
    vouch_status status = resume(&m, err);
    if (!status) status = pass_open(&m, err);
    if (!status) status = make_all(&m, options, err);
    vouch_pass_close(m.pass);
    vouch_memory_close(m.memory);
    vouch_pages_close(m.pages);
    free(m.weighed);
    free(m.found);
    if (status) train_chunks_close(m.file);
    else *chunks = m.file;
    return status;
}

/* ------------------------------------------------------------------- reading */

vouch_status train_states_peek(const train_chunks *chunks, size_t i, train_answer *out, vouch_error *err)
{
    if (train_chunks_size(chunks, i) < sizeof *out)
        return vouch_fail(err, VOUCH_E_FORMAT, "states: chunk %zu is too short; delete the file that ends in .states",
                          i + 1);
    VOUCH_TRY(train_chunks_peek(chunks, i, 0, out, sizeof *out, err));
    if (out->number >= 0 && out->number < INT32_MAX / 4 && out->n_prompt >= 0 && out->n_tokens >= 2 &&
        out->n_prompt <= out->n_tokens)
        return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "states: chunk %zu names no answer; delete the file that ends in .states",
                      i + 1);
}

vouch_status train_states_read(const train_chunks *chunks, size_t i, const train_states_header *header,
                               train_sequence *out, vouch_error *err)
{
    const size_t size = train_chunks_size(chunks, i);
    VOUCH_TRY(train_states_peek(chunks, i, &out->answer, err));
    const size_t n = (size_t)out->answer.n_tokens;
    if (size != sizeof out->answer + body_bytes(header, n))
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "states: chunk %zu has %zu bytes, expected %zu for %zu tokens; delete the file that ends in "
                          ".states",
                          i + 1, size, sizeof out->answer + body_bytes(header, n), n);
    char *payload = malloc(size);
    if (!payload) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the states of %zu tokens", n);
    vouch_status status = train_chunks_read(chunks, i, payload, err);
    if (!status) {
        memmove(payload, payload + sizeof out->answer, size - sizeof out->answer);
        sequence_lay_out(out, payload, header, n);
        bool is_valid = true;
        for (size_t t = 0; t < n; t++) is_valid &= out->tokens[t] >= 0 && out->tokens[t] < header->n_vocab;
        for (size_t t = 0; t < n * TRAIN_TOP; t++) is_valid &= out->ids[t] >= -1 && out->ids[t] < header->n_vocab;
        if (!is_valid)
            status = vouch_fail(err, VOUCH_E_FORMAT,
                                "states: chunk %zu has a token that the target lacks; delete the file that ends in "
                                ".states",
                                i + 1);
    }
    if (status) free(payload);
    return status;
}
