/* SPDX-License-Identifier: MIT */
/*
 * The file of a saved session: records (record.h) of its pages in order, of which the last may be partly filled, then
 * of the recurrent states after the last token, and of the checkpoint where there is one. Each names all tokens up to
 * its end, so the last page names all. The scope of the records is that of the session's pages.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/floats.h"
#include "engine/file/kept.h"
#include "engine/session.h"

/* What a file of an engine's sequences has. */
typedef struct layout {
    vouch_record_model model;
    uint64_t scope;
    size_t page_bytes, state_bytes;
} layout;

static layout layout_of(const vouch_engine *engine, uint64_t scope)
{
    vouch_record_model model = vouch_engine_record_model(engine);
    model.page_size = VOUCH_SHARED_PAGE_SIZE;
    return (layout){.model = model,
                    .scope = scope,
                    .page_bytes = vouch_slots_bytes(engine->pages),
                    .state_bytes = vouch_states_size(engine->pages->weights) * sizeof(float)};
}

static vouch_record_id id_of(const layout *l, int32_t n_tokens, bool is_state)
{
    return (vouch_record_id){.scope = l->scope, .n_tokens = n_tokens, .is_state = is_state};
}

/* ---------------------------------------------------------------------- save */

/* A sequence that is being written: n tokens in these pages, with the copies of its states after all of them and at a
 * checkpoint. */
typedef struct output {
    const vouch_engine *engine;
    layout layout;
    const int32_t *tokens, *pages;
    int32_t n;
    const float *states; /* NULL: no layer is recurrent */
    const float *checkpoint;
    int32_t n_checkpoint;  /* 0: there is none */
    unsigned char *record; /* room for the largest */
    int fd;
} output;

/* The payload is in its place. */
static bool put_record(output *o, int32_t n_tokens, bool is_state)
{
    const size_t n_payload = is_state ? o->layout.state_bytes : o->layout.page_bytes;
    const vouch_record_id id = id_of(&o->layout, n_tokens, is_state);
    memcpy(vouch_record_tokens(o->record), o->tokens, (size_t)n_tokens * sizeof(int32_t));
    vouch_record_finish(o->record, &o->layout.model, &id, n_payload);
    return vouch_kept_put_all(o->fd, &(vouch_bytes){o->record, vouch_record_size(n_tokens, n_payload)});
}

static bool put_states(output *o, int32_t n_tokens, const float *states)
{
    memcpy(o->record + vouch_record_head(n_tokens), states, o->layout.state_bytes);
    return put_record(o, n_tokens, true);
}

static bool put_all(output *o)
{
    for (int32_t at = 0; at < o->n; at += VOUCH_SHARED_PAGE_SIZE) {
        const int32_t past = vouch_min(o->n, at + VOUCH_SHARED_PAGE_SIZE);
        vouch_slots_save(o->engine->pages, o->pages, at, past - at, o->record + vouch_record_head(past));
        if (!put_record(o, past, false)) return false;
    }
    if (o->states && !put_states(o, o->n, o->states)) return false;
    return o->n_checkpoint == 0 || put_states(o, o->n_checkpoint, o->checkpoint);
}

/* Writes a file beside the path and puts it in its place at once. */
static vouch_status file_write(output *o, const char *path, vouch_error *err)
{
    char fresh[VOUCH_OS_PATH_SIZE];
    const size_t larger = o->layout.page_bytes > o->layout.state_bytes ? o->layout.page_bytes : o->layout.state_bytes;
    static atomic_int
        n_files; /* several sessions of several processes may write the same file, and the last one stays */
    const int number = atomic_fetch_add(&n_files, 1);
    if (snprintf(fresh, sizeof fresh, "%s.%ld-%d.new", path, (long)getpid(), number) >= (int)sizeof fresh)
        return vouch_fail(err, VOUCH_E_IO, "%.200s...: the path is too long", path);
    o->record = malloc(vouch_record_size(o->n, larger));
    if (!o->record) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to save a session of %d tokens", o->n);
    o->fd = vouch_os_open(fresh, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_EMPTY | VOUCH_OS_NO_LINK, 0600);
    bool is_good = o->fd >= 0 && put_all(o) && vouch_os_file_sync(o->fd);
    const int code = errno;
    if (o->fd >= 0 && close(o->fd) != 0) is_good = false;
    else errno = code;
    is_good = is_good && vouch_os_file_replace(fresh, path);
    const vouch_status status = is_good ? VOUCH_OK : vouch_kept_fail(err, path);
    if (!is_good && o->fd >= 0) (void)vouch_os_remove(fresh);
    free(o->record);
    return status;
}

vouch_status vouch_session_save(const vouch_session *session, const char *path, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    const vouch_memory *m = session->target.memory;
    output o = {.engine = session->engine,
                .layout = layout_of(session->engine, session->page_scope),
                .tokens = session->cycle.tokens,
                .pages = m->pages,
                .n = m->n_tokens,
                .n_checkpoint = m->states.n_checkpoint};
    float *states = NULL;
    if (m->n_tokens == 0 || m->n_rows > 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "the session has no tokens to save: give it a prompt first");
    if (vouch_memory_is_recurrent(m)) {
        states = malloc(2 * o.layout.state_bytes);
        if (!states) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to save a session");
        float *checkpoint = states + o.layout.state_bytes / sizeof *states;
        vouch_states_save(&m->states, states);
        if (o.n_checkpoint > 0) vouch_states_save_checkpoint(&m->states, checkpoint);
        o.states = states;
        o.checkpoint = checkpoint;
    }
    const vouch_status status = file_write(&o, path, err);
    free(states);
    return status;
}

static uint64_t scope_of(const vouch_engine *engine, const vouch_session_options *whose)
{
    return vouch_page_scope(engine->model, whose->scope, whose->adapter_scales);
}

vouch_status vouch_engine_save(vouch_engine *engine, const vouch_session_options *whose, const int32_t *tokens,
                               size_t n_tokens, const char *path, int32_t *n_saved, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_prefixes *p = &engine->prefixes;
    const int32_t most = n_tokens < (size_t)engine->options.n_ctx ? (int32_t)n_tokens : engine->options.n_ctx;
    const vouch_scoped_prefix prefix = {.scope = scope_of(engine, whose), .tokens = tokens, .n = most};
    *n_saved = 0;
    if (!p->pages) return VOUCH_OK;
    int32_t n = vouch_prefixes_walk(p, &prefix);
    const float *states = vouch_prefixes_last_states(p, &n);
    if (n == 0) return VOUCH_OK;
    output o = {.engine = engine,
                .layout = layout_of(engine, prefix.scope),
                .tokens = tokens,
                .pages = p->chain,
                .n = n * engine->pages->page_size,
                .states = states};
    const vouch_status status = file_write(&o, path, err);
    if (status == VOUCH_OK) *n_saved = o.n;
    return status;
}

/* ---------------------------------------------------------------------- load */

/* The records of a file, which are read one after the other. */
typedef struct input {
    layout layout;
    const char *path;
    vouch_bytes file;
    size_t at;
    const int32_t *tokens; /* [n] all tokens */
    int32_t n;
    vouch_error *err;
} input;

static vouch_status refuse(const input *in)
{
    return vouch_fail(
        in->err, VOUCH_E_FORMAT,
        "%s: the file has no session of this model with these options: it was saved with another model, KV "
        "type or adapter, for another user, by another version, or is damaged; remove it, or name another "
        "file",
        in->path);
}

/* The number of tokens that the next record names; 0: no record begins here. */
static int32_t next_length(const input *in)
{
    const size_t left = in->file.n - in->at;
    if (left < VOUCH_RECORD_FIELDS) return 0;
    const uint64_t n = vouch_kept_get(in->file.at + in->at + VOUCH_RECORD_FIELDS - 4, 4);
    return n <= (left - VOUCH_RECORD_FIELDS) / sizeof(int32_t) && n <= INT32_MAX ? (int32_t)n : 0;
}

/* The payload of the next record, of the first n_tokens tokens. NULL: it isn't that. */
static const unsigned char *take_record(input *in, int32_t n_tokens, bool is_state)
{
    const size_t n_payload = is_state ? in->layout.state_bytes : in->layout.page_bytes;
    const size_t size = vouch_record_size(n_tokens, n_payload);
    unsigned char *record = in->file.at + in->at;
    const vouch_record_id id = id_of(&in->layout, n_tokens, is_state);
    const bool is_whole = size <= in->file.n - in->at;
    if (!is_whole || !vouch_record_is_good(record, size, &in->layout.model, &id, in->tokens, n_payload)) return NULL;
    in->at += size;
    return record + vouch_record_head(n_tokens);
}

/* Finds the last page's record, which names all tokens. take_record checks them. */
static bool find_tokens(input *in)
{
    for (int64_t past = VOUCH_SHARED_PAGE_SIZE; in->at < in->file.n; past += VOUCH_SHARED_PAGE_SIZE) {
        const int32_t n = next_length(in);
        if (n <= in->n || n > past) break;
        in->tokens = vouch_record_tokens(in->file.at + in->at);
        in->n = n;
        const size_t size = vouch_record_size(n, in->layout.page_bytes);
        if (n < past || size > in->file.n - in->at) break;
        in->at += size;
    }
    in->at = 0;
    return in->n > 0;
}

static bool fill_states(input *in, vouch_states *states)
{
    const unsigned char *payload = take_record(in, in->n, true);
    if (!payload) return false;
    vouch_states_load(states, (const float *)(const void *)payload);
    if (in->at == in->file.n) return true;
    const int32_t n = next_length(in);
    payload = n > 0 && n <= in->n ? take_record(in, n, true) : NULL;
    if (payload) vouch_states_load_checkpoint(states, (const float *)(const void *)payload, n);
    return payload;
}

/* Fills the memory, which is empty and has room for all tokens. */
static bool fill(input *in, vouch_memory *m)
{
    for (int32_t at = 0; at < in->n; at += VOUCH_SHARED_PAGE_SIZE) {
        const int32_t past = vouch_min(in->n, at + VOUCH_SHARED_PAGE_SIZE);
        const unsigned char *payload = take_record(in, past, false);
        if (!payload) return false;
        vouch_slots_load(m->store, m->pages, at, past - at, payload);
    }
    m->n_tokens = in->n;
    return (!vouch_memory_is_recurrent(m) || fill_states(in, &m->states)) && in->at == in->file.n;
}

static vouch_status take_file(vouch_session *s, input *in)
{
    vouch_memory *m = s->target.memory;
    if (!find_tokens(in)) return refuse(in);
    if (in->n >= s->options.n_ctx)
        return vouch_fail(in->err, VOUCH_E_CONTEXT,
                          "%s: the session has %d tokens and the context holds %d: use a larger one", in->path, in->n,
                          s->options.n_ctx);
    for (int32_t i = 0; i < in->n; i++)
        if (in->tokens[i] < 0 || in->tokens[i] >= s->model->info.n_vocab) return refuse(in);
    vouch_session_begin_empty(s);
    vouch_engine_make_room(s->engine, s, in->n);
    if (fill(in, m)) {
        vouch_session_take_sequence(s, in->tokens, in->n);
        return VOUCH_OK;
    }
    vouch_memory_rewind(m, 0);
    return refuse(in);
}

vouch_status vouch_session_load(vouch_session *session, const char *path, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    input in = {.layout = layout_of(session->engine, session->page_scope), .path = path, .err = err};
    const int32_t *layers;
    if (vouch_drafters_taps(&session->cycle.drafters, &layers) > 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: a head that reads hidden states has to see all tokens run; use another drafter to go on "
                          "with a saved session",
                          path);
    VOUCH_TRY(vouch_kept_read(path, &in.file, err));
    const vouch_status status = in.file.at ? take_file(session, &in) : refuse(&in);
    free(in.file.at);
    return status;
}

/* Lists the file's whole pages that the engine lacks, and the states at their end. */
static bool list_pages(vouch_engine *engine, input *in, int32_t *n_loaded)
{
    vouch_prefixes *p = &engine->prefixes;
    const vouch_scoped_prefix prefix = {
        .scope = in->layout.scope, .tokens = in->tokens, .n = vouch_min(in->n, engine->options.n_ctx)};
    const int32_t n = prefix.n / VOUCH_SHARED_PAGE_SIZE, n_before = vouch_prefixes_walk(p, &prefix);
    *n_loaded = n_before * VOUCH_SHARED_PAGE_SIZE;
    for (int32_t i = 0; i < n; i++) {
        const unsigned char *payload = take_record(in, (i + 1) * VOUCH_SHARED_PAGE_SIZE, false);
        if (!payload) return false;
        if (i < n_before) continue;
        const int32_t page = vouch_prefixes_take_page(p);
        if (page < 0) return true; /* the cache is full */
        vouch_slots_load(engine->pages, &page, 0, VOUCH_SHARED_PAGE_SIZE, payload);
        vouch_prefixes_list(p, page, &prefix, i);
        *n_loaded = (i + 1) * VOUCH_SHARED_PAGE_SIZE;
    }
    if (p->n_states == 0 || n == 0 || in->n != n * VOUCH_SHARED_PAGE_SIZE) return true;
    const unsigned char *states = take_record(in, in->n, true);
    if (!states || p->pages[p->chain[n - 1]].state >= 0) return states;
    float *to = vouch_prefixes_take_state(p, p->chain[n - 1]);
    if (to) memcpy(to, states, in->layout.state_bytes);
    return true;
}

/* Returns how many of the loaded tokens a prompt can take. A model with recurrent layers goes on only from a page that
 * has a copy of the states. */
static int32_t count_usable(vouch_prefixes *p, int32_t n_loaded)
{
    int32_t n = n_loaded / VOUCH_SHARED_PAGE_SIZE;
    if (p->n_states > 0) (void)vouch_prefixes_last_states(p, &n);
    return n * VOUCH_SHARED_PAGE_SIZE;
}

vouch_status vouch_engine_load(vouch_engine *engine, const vouch_session_options *whose, const char *path,
                               int32_t *tokens, int32_t *n_loaded, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    input in = {.layout = layout_of(engine, scope_of(engine, whose)), .path = path, .err = err};
    *n_loaded = 0;
    if (!engine->prefixes.pages || engine->options.page_size != VOUCH_SHARED_PAGE_SIZE)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "an engine that takes pages from files shares pages of %d tokens",
                          VOUCH_SHARED_PAGE_SIZE);
    VOUCH_TRY(vouch_kept_read(path, &in.file, err));
    (void)vouch_prefix_files_take_back(&engine->prefixes, false);
    const bool is_good = in.file.at && find_tokens(&in) && list_pages(engine, &in, n_loaded);
    *n_loaded = is_good ? count_usable(&engine->prefixes, *n_loaded) : 0;
    const vouch_status status = is_good ? VOUCH_OK : refuse(&in);
    if (is_good && tokens) memcpy(tokens, in.tokens, (size_t)*n_loaded * sizeof *tokens);
    free(in.file.at);
    return status;
}
