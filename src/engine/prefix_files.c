/* SPDX-License-Identifier: MIT */
/*
 * The table's pages on disk (prefixes.h). The table's thread queues the last page of a chain when it lists new pages,
 * and when a prompt takes the chain. The writer looks at all pages up to it: where a file has one, the file was used
 * now; else it writes one.
 *
 *   queue    n_back ......... n_done ... n_begun ............ n_put
 *            to be taken back        written      waiting
 *
 * Entries that wait can be taken back, unwritten, where pages run short. They are written the next time they are used.
 */
#include <string.h>

#include "base/common.h"
#include "engine/prefixes.h"
#include "os/os.h"

static size_t payload_of(const vouch_prefixes *p, bool is_state)
{
    return is_state ? p->n_floats * sizeof *p->floats : vouch_page_bytes(p->store);
}

void vouch_prefix_files_layout(vouch_prefixes *prefixes, const vouch_prefixes_options *options, vouch_arena *arena)
{
    vouch_prefix_files *f = &prefixes->files;
    if (!options->cache) return;
    const size_t page = payload_of(prefixes, false), state = payload_of(prefixes, true);
    const size_t room = vouch_record_size(options->n_ctx, page > state ? page : state);
    f->n_queue = prefixes->store->n_pages + prefixes->n_states;
    f->queue = vouch_arena_take(arena, (size_t)f->n_queue, sizeof *f->queue);
    f->written = vouch_arena_take(arena, (size_t)prefixes->store->n_pages, sizeof *f->written);
    f->reading = vouch_arena_take(arena, room, 1);
    f->writing = vouch_arena_take(arena, room, 1);
}

/* -------------------------------------------------------------------- writer */

/* The record of the first n pages of the chain, or of the states at their end. */
static vouch_record_id record_of(const vouch_prefixes *p, int32_t n, bool is_state)
{
    const vouch_prefix_page *x = &p->pages[p->files.written[n - 1]];
    return (vouch_record_id){
        .scope = x->scope, .hash = x->hash, .n_tokens = n * p->store->page_size, .is_state = is_state};
}

/* Whether the files have the last of the first n pages of the chain. */
static bool record_is_there(const vouch_prefixes *p, int32_t n)
{
    const vouch_record_id id = record_of(p, n, false);
    return vouch_prompt_cache_has(p->files.cache, &p->files.model, &id);
}

/* Notes that a record was used. False: there is none. */
static bool record_touch(const vouch_prefixes *p, int32_t n, bool is_state)
{
    const vouch_record_id id = record_of(p, n, is_state);
    return vouch_prompt_cache_touch(p->files.cache, &p->files.model, &id);
}

static void record_write(vouch_prefixes *p, int32_t n, bool is_state)
{
    vouch_prefix_files *f = &p->files;
    const vouch_record_id id = record_of(p, n, is_state);
    const int32_t size = p->store->page_size, page = f->written[n - 1];
    int32_t *tokens = vouch_record_tokens(f->writing);
    for (int32_t i = 0; i < n; i++, tokens += size)
        memcpy(tokens, vouch_prefixes_tokens(p, f->written[i]), (size_t)size * sizeof *tokens);
    unsigned char *payload = f->writing + vouch_record_head(id.n_tokens);
    if (!is_state) vouch_page_save(p->store, page, payload);
    else memcpy(payload, p->floats + (size_t)p->pages[page].state * p->n_floats, payload_of(p, true));
    vouch_prompt_cache_write(f->cache, &f->model, &id, f->writing, payload_of(p, is_state));
}

/* Sets f->written to the chain up to a page. Returns its length; 0: it doesn't go to files. */
static int32_t list_chain(const vouch_prefixes *p, int32_t page)
{
    int32_t n = 0, i = 0;
    for (int32_t at = page; at >= 0; at = p->pages[at].before, n++)
        if (p->pages[at].is_unkept) return 0;
    for (int32_t at = page; at >= 0; at = p->pages[at].before) p->files.written[n - ++i] = at;
    return n;
}

/* How many pages from the beginning the files may hold at once; the others would be of no use without these. */
static int32_t count_fitting(const vouch_prefixes *p, int32_t n)
{
    const int64_t most = vouch_prompt_cache_get_info(p->files.cache).n_most / 10 * 9; /* as many stay when it is full */
    int64_t n_bytes = 0;
    int32_t i = 0;
    for (; i < n && n_bytes <= most; i++)
        n_bytes += (int64_t)vouch_record_size((i + 1) * p->store->page_size, payload_of(p, false));
    return n_bytes > most ? i - 1 : i;
}

/* Writes what the files lack of the entry, and then notes that all of it was used, from its end to its beginning: what
 * is of no use without another record is the older one. What this reads of the table stays
 * as it is while the entry is queued. */
static void entry_write(vouch_prefixes *p, vouch_prefix_entry entry)
{
    vouch_prefix_files *f = &p->files;
    const int32_t n = list_chain(p, entry.page);
    if (n == 0) return;
    if (entry.is_state) {
        if (!record_touch(p, n, true)) record_write(p, n, true);
        return;
    }
    const int32_t n_fitting = count_fitting(p, n);
    for (int32_t i = 1; i <= n_fitting && !atomic_load(&f->gives_up); i++)
        if (!record_is_there(p, i)) record_write(p, i, false);
    for (int32_t i = n_fitting; i > 0 && !atomic_load(&f->gives_up); i--) (void)record_touch(p, i, false);
}

static void *write_entries(void *arg)
{
    vouch_prefixes *p = arg;
    vouch_prefix_files *f = &p->files;
    vouch_os_thread_stand_back();
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (f->n_begun == f->n_put && !f->ends) pthread_cond_wait(&f->change, &f->lock);
        if (f->n_begun == f->n_put) break;
        const vouch_prefix_entry entry = f->queue[f->n_begun++ % f->n_queue];
        pthread_mutex_unlock(&f->lock);
        entry_write(p, entry);
        pthread_mutex_lock(&f->lock);
        f->n_done++;
        pthread_cond_broadcast(&f->change);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

vouch_status vouch_prefix_files_open(vouch_prefixes *prefixes, const vouch_prefixes_options *options, vouch_error *err)
{
    vouch_prefix_files *f = &prefixes->files;
    if (!options->cache) return VOUCH_OK;
    f->cache = options->cache;
    f->model = options->model;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->change, NULL);
    f->has_thread = vouch_os_thread_start(&f->thread, write_entries, prefixes);
    return f->has_thread ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "the system gives no more threads");
}

void vouch_prefix_files_close(vouch_prefixes *prefixes)
{
    vouch_prefix_files *f = &prefixes->files;
    if (!f->cache) return;
    if (f->has_thread) {
        pthread_mutex_lock(&f->lock);
        f->ends = true;
        pthread_cond_broadcast(&f->change);
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
        (void)vouch_prefix_files_take_back(prefixes, true);
    }
    pthread_cond_destroy(&f->change);
    pthread_mutex_destroy(&f->lock);
}

/* --------------------------------------------------------------------- queue */

static bool *queued_flag(vouch_prefixes *p, vouch_prefix_entry entry)
{
    return entry.is_state ? &p->states[p->pages[entry.page].state].is_queued : &p->pages[entry.page].is_queued;
}

void vouch_prefix_files_put(vouch_prefixes *prefixes, vouch_prefix_entry entry)
{
    vouch_prefixes *p = prefixes;
    vouch_prefix_files *f = &p->files;
    if (!f->cache || *queued_flag(p, entry)) return;
    *queued_flag(p, entry) = true;
    vouch_page_share(p->store, entry.page);
    pthread_mutex_lock(&f->lock);
    f->queue[f->n_put++ % f->n_queue] = entry;
    pthread_cond_broadcast(&f->change);
    pthread_mutex_unlock(&f->lock);
}

int64_t vouch_prefix_files_take_back(vouch_prefixes *prefixes, bool all)
{
    vouch_prefixes *p = prefixes;
    vouch_prefix_files *f = &p->files;
    if (!f->cache || f->n_back == f->n_put) return 0; /* only this thread changes the two */
    const int64_t first = f->n_back;
    pthread_mutex_lock(&f->lock);
    if (all) {
        const int64_t n_put = f->n_put, n_begun = f->n_begun;
        f->n_put = n_begun; /* the rest won't be begun */
        atomic_store(&f->gives_up, true);
        while (f->n_done < n_begun) pthread_cond_wait(&f->change, &f->lock);
        atomic_store(&f->gives_up, false);
        f->n_put = f->n_begun = f->n_done = n_put;
    }
    const int64_t n_done = f->n_done;
    pthread_mutex_unlock(&f->lock);
    for (; f->n_back < n_done; f->n_back++) {
        const vouch_prefix_entry entry = f->queue[f->n_back % f->n_queue];
        *queued_flag(p, entry) = false;
        vouch_page_release(p->store, entry.page);
    }
    return n_done - first;
}

/* ------------------------------------------------------------------- reading */

static vouch_record_id id_of(const vouch_prefixes *p, const vouch_scoped_prefix *prefix, int32_t i, bool is_state)
{
    return (vouch_record_id){
        .scope = prefix->scope, .hash = p->hashes[i], .n_tokens = (i + 1) * p->store->page_size, .is_state = is_state};
}

int32_t vouch_prefixes_kept(vouch_prefixes *prefixes, const vouch_scoped_prefix *prefix)
{
    vouch_prefixes *p = prefixes;
    vouch_prefix_files *f = &p->files;
    if (!f->cache) return 0;
    int32_t n = prefix->n / p->store->page_size;
    const int32_t n_listed = vouch_prefixes_walk(p, prefix);
    if (p->n_states == 0) {
        const vouch_record_id next = n_listed < n ? id_of(p, prefix, n_listed, false) : (vouch_record_id){0};
        return n_listed < n && vouch_prompt_cache_has(f->cache, &f->model, &next) ? n * p->store->page_size : 0;
    }
    for (; n > 0; n--) {
        const vouch_record_id id = id_of(p, prefix, n - 1, true);
        if (n <= n_listed && p->pages[p->chain[n - 1]].state >= 0) return 0; /* the table has the best one */
        if (vouch_prompt_cache_has(f->cache, &f->model, &id)) break;
    }
    return n * p->store->page_size;
}

/* Page number i of a prefix, whose chain is complete up to there. */
static bool load_page(vouch_prefixes *p, const vouch_scoped_prefix *prefix, int32_t i)
{
    vouch_prefix_files *f = &p->files;
    const vouch_record_id id = id_of(p, prefix, i, false);
    const int32_t page = vouch_prefixes_take_page(p);
    if (page < 0) return false;
    const unsigned char *payload =
        vouch_prompt_cache_read(f->cache, &f->model, &id, prefix->tokens, f->reading, payload_of(p, false));
    if (payload) {
        vouch_page_load(p->store, page, payload);
        vouch_prefixes_list(p, page, prefix, i);
    } else {
        vouch_page_release(p->store, page);
    }
    return payload;
}

/* The states at the end of the chain of n pages. */
static void load_state(vouch_prefixes *p, const vouch_scoped_prefix *prefix, int32_t n)
{
    vouch_prefix_files *f = &p->files;
    if (n == 0 || p->pages[p->chain[n - 1]].state >= 0) return;
    const vouch_record_id id = id_of(p, prefix, n - 1, true);
    const unsigned char *payload =
        vouch_prompt_cache_read(f->cache, &f->model, &id, prefix->tokens, f->reading, payload_of(p, true));
    float *states = payload ? vouch_prefixes_take_state(p, p->chain[n - 1]) : NULL;
    if (states) memcpy(states, payload, payload_of(p, true));
}

bool vouch_prefixes_load(vouch_prefixes *prefixes, const vouch_scoped_prefix *prefix, double seconds)
{
    vouch_prefixes *p = prefixes;
    const double start = vouch_now();
    const int32_t n = prefix->n / p->store->page_size;
    (void)vouch_prefix_files_take_back(p, false);
    for (int32_t i = vouch_prefixes_walk(p, prefix); i < n; i++) {
        if (!load_page(p, prefix, i)) return false;
        if (vouch_now() - start > seconds) return true;
    }
    if (p->n_states > 0) load_state(p, prefix, n);
    return false;
}
