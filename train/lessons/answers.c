/* SPDX-License-Identifier: MIT */
/*
 * Answers are made in slots, which share one engine. A slot has a greedy and a sampling session and these states:
 *
 *   idle ──► asking ──► answering ──► idle      the target's own prompts: the sampling session asks
 *     └──────────────────▲                      given prompts
 */
#include "train/lessons/answers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/filemap.h"
#include "base/hash.h"
#include "train/lessons/overlap.h"

enum {
    ASKED_TOKENS = 256, /* most tokens of a prompt that the target makes up */
    BEGUN_TOKENS = 8,   /* tokens that a base model samples as its own prompt; it has no template to ask with */
    LEAST_BYTES = 8     /* shorter prompts of the target's own are dropped: they hardly ask anything */
};

typedef enum phase { IDLE, ASKING, ANSWERING } phase;

typedef struct slot {
    vouch_session *greedy, *sampling;
    phase phase;
    int32_t number;   /* of the prompt */
    int32_t n_prompt; /* first tokens of the running session, which no answer has */
} slot;

typedef struct maker {
    const vouch_model *model;
    const train_options *options;
    train_chunks *file;
    train_overlap *excluded;
    vouch_engine *engine;
    slot slots[64];
    int32_t *opening; /* [n_opening] first tokens of the target's own prompts */
    size_t n_opening;
    bool is_base;  /* the model has no template */
    uint8_t *done; /* [n_done] 1: the file has the prompt of this number */
    int32_t n_done, next;
    size_t n_answered;        /* prompts that the file has */
    size_t n_left_out;        /* of these, prompts without an answer */
    int64_t n_tokens;         /* tokens of answers in the file */
    int64_t n_asked, n_begun; /* in this run: tokens of the target's own prompts; answers begun */
    double synced;
} maker;

/* ------------------------------------------------------------------ resuming */

static bool is_done(const maker *m, int32_t number)
{
    return number < m->n_done && m->done[number];
}

static vouch_status mark_done(maker *m, int32_t number, int32_t n_tokens, vouch_error *err)
{
    if (number >= m->n_done) {
        const int32_t n = 2 * number + 64;
        uint8_t *done = realloc(m->done, (size_t)n);
        if (!done) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a list of %d prompts", (int)n);
        memset(done + m->n_done, 0, (size_t)(n - m->n_done));
        m->done = done;
        m->n_done = n;
    }
    m->n_answered += !m->done[number];
    m->n_left_out += !m->done[number] && n_tokens == 0;
    m->done[number] = 1;
    return VOUCH_OK;
}

/* Marks the prompts that the file has already. */
static vouch_status resume(maker *m, vouch_error *err)
{
    for (size_t i = 0; i < train_chunks_n(m->file); i++) {
        train_answer answer;
        if (train_chunks_size(m->file, i) < sizeof answer)
            return vouch_fail(err, VOUCH_E_FORMAT, "answers: chunk %zu is too short; delete the file", i + 1);
        VOUCH_TRY(train_chunks_peek(m->file, i, 0, &answer, sizeof answer, err));
        if (answer.number < 0 || answer.number >= INT32_MAX / 4 || answer.n_prompt < 0 ||
            answer.n_tokens < answer.n_prompt)
            return vouch_fail(err, VOUCH_E_FORMAT, "answers: chunk %zu names no prompt; delete the file", i + 1);
        const size_t size = sizeof answer + (size_t)answer.n_tokens * sizeof(int32_t);
        if (train_chunks_size(m->file, i) != size)
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "answers: chunk %zu has %zu bytes, expected %zu for %d tokens; delete the file", i + 1,
                              train_chunks_size(m->file, i), size, answer.n_tokens);
        VOUCH_TRY(mark_done(m, answer.number, answer.n_tokens, err));
        m->n_tokens += answer.n_tokens - answer.n_prompt;
    }
    return VOUCH_OK;
}

/* Is the answer to this prompt sampled? The sampled ones are spread evenly over the numbers. */
static bool is_sampled(const maker *m, int32_t number)
{
    const double share = m->options->sampled;
    return (int64_t)((double)(number + 1) * share) > (int64_t)((double)number * share);
}

static vouch_status record(maker *m, const slot *s, const int32_t *tokens, size_t n, vouch_error *err)
{
    const train_answer answer = {s->number, n > 0 ? s->n_prompt : 0, (int32_t)n, is_sampled(m, s->number)};
    const train_piece pieces[] = {{&answer, sizeof answer}, {tokens, n * sizeof *tokens}};
    VOUCH_TRY(train_chunks_append(m->file, pieces, n > 0 ? 2 : 1, err));
    VOUCH_TRY(mark_done(m, s->number, answer.n_tokens, err));
    m->n_tokens += answer.n_tokens - answer.n_prompt;
    const double now = vouch_now();
    if (now - m->synced < 20) return VOUCH_OK;
    m->synced = now;
    return train_chunks_sync(m->file, err);
}

/* ------------------------------------------------------------------- prompts */

/* Tokenizes a text. The caller frees *tokens. */
static vouch_status tokens_of(const vouch_model *model, const char *text, size_t n, unsigned flags, int32_t **tokens,
                              size_t *count, vouch_error *err)
{
    const vouch_status asked = vouch_tokenize(model, text, n, flags, NULL, 0, count, err);
    if (asked && asked != VOUCH_E_BUFFER) return asked;
    *tokens = malloc((*count + 1) * sizeof **tokens);
    if (!*tokens) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %zu tokens", *count);
    return vouch_tokenize(model, text, n, flags, *tokens, *count, count, err);
}

/* The opening is what the chat template writes in front of a user's first message. */
static vouch_status opening_of_template(maker *m, vouch_error *err)
{
    static const char JSON[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"@@MESSAGE@@\"}],"
                               " \"add_generation_prompt\": false}";
    char text[8192];
    size_t n = 0;
    VOUCH_TRY(vouch_render_chat(m->model, JSON, sizeof JSON - 1, text, sizeof text - 1, &n, err));
    text[n] = 0;
    char *message = strstr(text, "@@MESSAGE@@");
    if (!message || message == text)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "the chat template writes nothing in front of the user's message, so the model can't make "
                          "prompts of its own; give `prompts`");
    return tokens_of(m->model, text, (size_t)(message - text), VOUCH_TOKENIZE_SPECIAL, &m->opening, &m->n_opening, err);
}

static vouch_status opening_make(maker *m, vouch_error *err)
{
    const vouch_model_info *info = vouch_model_get_info(m->model);
    m->is_base = strcmp(info->chat_template, "none") == 0;
    if (m->options->prompts) return VOUCH_OK;
    if (!m->is_base) return opening_of_template(m, err);
    if (info->token_bos < 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "the model has neither a chat template nor a BOS token to begin with; give `prompts`");
    m->opening = malloc(sizeof *m->opening);
    if (!m->opening) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a prompt");
    m->opening[0] = info->token_bos;
    m->n_opening = 1;
    return VOUCH_OK;
}

static uint64_t prompts_hash(const train_options *options)
{
    uint64_t hash = VOUCH_HASH_START;
    for (size_t i = 0; i < options->n_prompts; i++)
        hash = vouch_hash_bytes(hash, options->prompts[i].tokens, options->prompts[i].n * sizeof(int32_t));
    return options->prompts ? hash : 0;
}

/* ------------------------------------------------------------------- sessions */

static vouch_status session_open(maker *m, vouch_session **out, bool samples, vouch_error *err)
{
    vouch_session_options options = vouch_session_options_default();
    options.max_tokens = m->options->max_tokens;
    options.sampling = vouch_sampling_default();
    options.sampling.temperature = samples ? m->options->temperature : 0;
    options.sampling.top_p = samples ? m->options->top_p : 1;
    options.sampling.top_k = 0;
    return vouch_engine_session_open(out, m->engine, &options, err);
}

static vouch_status engine_open(maker *m, vouch_error *err)
{
    const int32_t n = m->options->n_parallel, n_train = vouch_model_get_info(m->model)->n_ctx_train;
    const int32_t n_ctx = vouch_min(n_train, TRAIN_MOST_PROMPT + m->options->max_tokens);
    vouch_engine_options options = vouch_engine_options_default();
    options.n_sessions = 2 * n;
    options.n_ctx = n_ctx;
    options.n_cache = (int64_t)n_ctx * n;
    options.n_threads = m->options->n_threads;
    options.inter_token_seconds = 3600; /* nobody waits for a single token */
    VOUCH_TRY(vouch_engine_open(&m->engine, m->model, &options, err));
    for (int32_t i = 0; i < n; i++) {
        VOUCH_TRY(session_open(m, &m->slots[i].greedy, false, err));
        VOUCH_TRY(session_open(m, &m->slots[i].sampling, true, err));
    }
    return VOUCH_OK;
}

/* One session of a slot runs. The other one is paused: a question of a base model would go on after its last token. */
static vouch_status session_begin(slot *s, vouch_session *session, uint64_t seed, const int32_t *tokens, size_t n,
                                  vouch_error *err)
{
    vouch_session_pause(s->greedy, session != s->greedy);
    vouch_session_pause(s->sampling, session != s->sampling);
    vouch_session_set_seed(session, seed);
    return vouch_session_prompt(session, tokens, n, err);
}

/* Begins the answer to a prompt, or goes on with one of which the last n_begun tokens are there. A prompt that doesn't
 * fit is left out. */
static vouch_status answer_begin(maker *m, slot *s, const int32_t *tokens, size_t n, int32_t n_begun, vouch_error *err)
{
    vouch_session *session = is_sampled(m, s->number) ? s->sampling : s->greedy;
    s->phase = IDLE;
    if (n == 0 || n > TRAIN_MOST_PROMPT) return record(m, s, NULL, 0, err);
    const vouch_status status =
        session_begin(s, session, m->options->seed + 2 * (uint64_t)s->number + 1, tokens, n, err);
    if (status == VOUCH_E_CONTEXT) return record(m, s, NULL, 0, err);
    if (status) return status;
    s->phase = ANSWERING;
    m->n_begun++;
    s->n_prompt = (int32_t)n - n_begun;
    return VOUCH_OK;
}

/* Gives an idle slot the next prompt, if any is left. */
static vouch_status slot_begin(maker *m, slot *s, vouch_error *err)
{
    const train_options *o = m->options;
    while (s->phase == IDLE) {
        while (is_done(m, m->next)) m->next++;
        if (m->n_tokens >= o->n_tokens || (o->prompts && (size_t)m->next >= o->n_prompts)) return VOUCH_OK;
        s->number = m->next++;
        if (o->prompts) {
            const train_prompt *prompt = &o->prompts[s->number];
            const bool is_excluded = train_overlap_has(m->excluded, prompt->text, strlen(prompt->text));
            VOUCH_TRY(answer_begin(m, s, prompt->tokens, is_excluded ? 0 : prompt->n, prompt->n_begun, err));
            continue;
        }
        VOUCH_TRY(session_begin(s, s->sampling, o->seed + 2 * (uint64_t)s->number, m->opening, m->n_opening, err));
        s->phase = ASKING;
        s->n_prompt = (int32_t)m->n_opening;
    }
    return VOUCH_OK;
}

/* The text of tokens, without special ones. The caller frees it. */
static char *text_of(const vouch_model *model, const int32_t *tokens, size_t n, size_t *size)
{
    char *text = NULL;
    size_t room = 0;
    *size = 0;
    for (size_t i = 0; i < n; i++) {
        size_t n_bytes = 0;
        const char *bytes = vouch_token_bytes(model, tokens[i], &n_bytes);
        if (!bytes || vouch_token_is_special(model, tokens[i])) continue;
        if (*size + n_bytes + 1 > room) {
            room = 2 * (*size + n_bytes) + 64;
            char *more = realloc(text, room);
            if (!more) {
                free(text);
                return NULL;
            }
            text = more;
        }
        memcpy(text + *size, bytes, n_bytes);
        *size += n_bytes;
        text[*size] = 0;
    }
    return text ? text : calloc(1, 1);
}

/* The question that a slot has asked itself becomes a message, and the answer begins. */
static vouch_status question_take(maker *m, slot *s, const vouch_step *step, vouch_error *err)
{
    int32_t tokens[TRAIN_MOST_PROMPT];
    size_t n = 0, size = 0;
    const int32_t *asked = vouch_session_tokens(s->sampling, &n);
    m->n_asked += (int64_t)(n - m->n_opening);
    char *text = text_of(m->model, asked + m->n_opening, n - m->n_opening, &size);
    if (!text) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a prompt");
    vouch_status status = VOUCH_OK;
    const bool is_good = size >= LEAST_BYTES && strlen(text) == size && step->finish == VOUCH_FINISH_EOS &&
                         !train_overlap_has(m->excluded, text, size);
    n = 0;
    if (is_good) {
        const vouch_message message = {"user", text};
        status = vouch_tokenize_chat(m->model, &message, 1, tokens, TRAIN_MOST_PROMPT, &n, err);
        if (status == VOUCH_E_BUFFER) status = VOUCH_OK;
    }
    free(text);
    return status ? status : answer_begin(m, s, tokens, n, 0, err);
}

/* The text that a base model has begun becomes the prompt, and the answer begins. */
static vouch_status beginning_take(maker *m, slot *s, vouch_error *err)
{
    int32_t tokens[BEGUN_TOKENS + 1];
    size_t n = 0;
    const int32_t *begun = vouch_session_tokens(s->sampling, &n);
    m->n_asked += (int64_t)(n - m->n_opening);
    if (n > BEGUN_TOKENS + 1) n = BEGUN_TOKENS + 1;
    memcpy(tokens, begun, n * sizeof *tokens);
    return answer_begin(m, s, tokens, n, 0, err);
}

static bool asked_enough(const maker *m, const slot *s)
{
    size_t n = 0;
    vouch_session_tokens(s->sampling, &n);
    return n >= m->n_opening + (m->is_base ? BEGUN_TOKENS : ASKED_TOKENS);
}

static vouch_status event_take(maker *m, const vouch_engine_event *event, vouch_error *err)
{
    slot *s = m->slots;
    while (s->greedy != event->session && s->sampling != event->session) s++;
    if (event->status) { /* no finite logits: this prompt is left out */
        s->phase = IDLE;
        VOUCH_TRY(record(m, s, NULL, 0, err));
        return slot_begin(m, s, err);
    }
    const bool is_over = event->step.finish != VOUCH_FINISH_NONE;
    if (s->phase == ASKING) {
        if (!is_over && !asked_enough(m, s)) return VOUCH_OK;
        VOUCH_TRY(m->is_base ? beginning_take(m, s, err) : question_take(m, s, &event->step, err));
    } else if (is_over) {
        size_t n = 0;
        const int32_t *tokens = vouch_session_tokens(event->session, &n);
        s->phase = IDLE;
        VOUCH_TRY(record(m, s, tokens, n, err));
    }
    return slot_begin(m, s, err);
}

/* ---------------------------------------------------------------------- run */

/*
 * The mean length of an answer is the tokens written for each answer that has ended, which is the likeliest mean of
 * exponential lengths. When the last token wanted is there, each slot is half through an answer, which is lost.
 */
double train_answers_share(const train_outlook *o)
{
    const double written = (double)o->n_written, asked = (double)o->n_asked;
    const double mean = o->n_ended > 0 ? fmin(o->max_tokens, written / (double)o->n_ended) : o->max_tokens;
    const double opening = asked / fmax(1, (double)o->n_begun);
    double all = (double)o->n_wanted + o->n_parallel * mean / 2;
    if (o->n_prompts > 0) all = fmin(all, (double)o->n_prompts * mean);
    const double left = fmax(0, all - written) * (1 + opening / fmax(1, mean));
    return written + asked > 0 ? (written + asked) / (written + asked + left) : 0;
}

/* Adds the tokens of the slots' running sessions. */
static void outlook_add_running(const maker *m, train_outlook *outlook)
{
    for (int32_t i = 0; i < m->options->n_parallel; i++) {
        const slot *s = &m->slots[i];
        size_t n = 0;
        if (s->phase == IDLE) continue;
        if (s->phase == ASKING || is_sampled(m, s->number)) vouch_session_tokens(s->sampling, &n);
        else vouch_session_tokens(s->greedy, &n);
        *(s->phase == ASKING ? &outlook->n_asked : &outlook->n_written) += (int64_t)n - s->n_prompt;
        outlook->n_begun += s->phase == ASKING;
    }
}

static void report(const maker *m)
{
    char detail[96];
    const train_options *o = m->options;
    if (!o->report) return;
    train_outlook outlook = {.n_wanted = o->n_tokens,
                             .n_prompts = o->prompts ? (int64_t)(o->n_prompts - m->n_left_out) : 0,
                             .n_parallel = o->n_parallel,
                             .max_tokens = o->max_tokens,
                             .n_written = m->n_tokens,
                             .n_ended = (int64_t)(m->n_answered - m->n_left_out),
                             .n_asked = m->n_asked,
                             .n_begun = m->n_begun};
    outlook_add_running(m, &outlook);
    if (o->n_tokens == INT64_MAX) snprintf(detail, sizeof detail, "%zu of %zu prompts", m->n_answered, o->n_prompts);
    else snprintf(detail, sizeof detail, "%" PRId64 " of %" PRId64 " tokens", m->n_tokens, o->n_tokens);
    o->report(o->user, &(train_report){"answers", detail, train_answers_share(&outlook)});
}

/* Says that an earlier run asked for more: by more than the last answer is too long. */
static void kept_note(const maker *m, const char *path)
{
    char line[256];
    const train_options *o = m->options;
    if (m->n_tokens <= o->n_tokens + o->max_tokens) return;
    snprintf(line, sizeof line, "answers: all %" PRId64 " tokens of %.150s are used, more than `n_tokens` %" PRId64,
             m->n_tokens, vouch_path_tail(path), o->n_tokens);
    if (o->note) o->note(o->user, line);
}

static vouch_status make_all(maker *m, vouch_error *err)
{
    const vouch_engine_event *events;
    size_t n_events;
    for (int32_t i = 0; i < m->options->n_parallel; i++) VOUCH_TRY(slot_begin(m, &m->slots[i], err));
    while (m->n_tokens < m->options->n_tokens && vouch_engine_step(m->engine, &events, &n_events)) {
        for (size_t i = 0; i < n_events; i++) VOUCH_TRY(event_take(m, &events[i], err));
        if (m->options->is_cancelled && m->options->is_cancelled(m->options->user))
            return vouch_fail(err, VOUCH_E_CANCELLED, "cancelled");
        report(m);
    }
    return train_chunks_sync(m->file, err);
}

static void maker_close(maker *m)
{
    for (int32_t i = 0; i < m->options->n_parallel; i++) {
        vouch_session_close(m->slots[i].greedy);
        vouch_session_close(m->slots[i].sampling);
    }
    vouch_engine_close(m->engine);
    train_overlap_close(m->excluded);
    free(m->opening);
    free(m->done);
}

vouch_status train_answers_make(train_chunks **chunks, const char *path, const vouch_model *model,
                                const train_options *options, vouch_error *err)
{
    maker m = {.model = model, .options = options, .synced = vouch_now()};
    train_answers_header header;
    memset(&header, 0, sizeof header); /* its padding is written, too */
    snprintf(header.version, sizeof header.version, "answers 1");
    snprintf(header.digest, sizeof header.digest, "%s", vouch_model_get_info(model)->digest);
    header.seed = options->seed;
    header.sampled = options->sampled;
    header.temperature = (double)options->temperature;
    header.top_p = (double)options->top_p;
    header.max_tokens = options->max_tokens;
    header.prompts = prompts_hash(options);
    VOUCH_TRY(train_chunks_open(&m.file, path, "answers", &header, sizeof header, err));
    vouch_status status = resume(&m, err);
    if (!status && m.n_tokens >= options->n_tokens) kept_note(&m, path);
    else if (!status) {
        status = train_overlap_open(&m.excluded, options->excluded, options->n_excluded, err);
        if (!status) status = opening_make(&m, err);
        if (!status) status = engine_open(&m, err);
        if (!status) status = make_all(&m, err);
    }
    maker_close(&m);
    if (status) train_chunks_close(m.file);
    else *chunks = m.file;
    return status;
}
