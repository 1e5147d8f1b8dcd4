/* SPDX-License-Identifier: MIT */
/*
 * A store of pages: room for the keys and values of many sequences (memory.h). Each page holds page_size slots of all
 * layers. Sequences with an equal beginning own its pages together.
 *
 *   store    | page 0 | page 1 | page 2 | page 3 | ...
 *   owners       1        2        1        0
 *
 *   G1  A page's count of owners is the number of memories, tables and queues that list it. A page without owners is on
 * the stack of free pages, and no other page is.
 *
 * Nothing is allocated after open (law L6). A store belongs to one thread at a time, except that threads may release
 * pages at the same time: each may keep the path of its own memory (memory.h).
 */
#ifndef VOUCH_MODEL_PAGES_H
#define VOUCH_MODEL_PAGES_H

#include <pthread.h>

#include "model/load/weights.h"

/*
 * The store, layer by layer and KV head by KV head (cache.h draws the matrices). A head's keys of all pages stand side
 * by side, and so do its values: a kernel fetches ahead from the end of one page into the next.
 *
 *   layer 0, head 0   keys [page_size, head_dim]:   page 0 | page 1 | ... | page n_pages - 1
 *                     values [value_dim, page_size]: page 0 | page 1 | ... | page n_pages - 1
 *   layer 0, head 1   ...
 */
typedef struct vouch_page_layer {
    vouch_matrix keys, values;       /* one head's, without data */
    size_t keys_bytes, values_bytes; /* of one head in one page */
    unsigned char *data;             /* [n_kv_heads][n_pages * (keys_bytes + values_bytes)] */
    int32_t n_kv_heads;              /* 0: the layer has no attention */
} vouch_page_layer;

/* The version of docs/float-order.md. Another order makes other bits: whoever changes one changes this number, and what
 * files keep of keys, values and states is computed again. */
enum { VOUCH_FLOAT_ORDER = 1 };

typedef struct vouch_pages {
    const vouch_weights *weights;
    int32_t page_size, n_pages, n_layers;
    vouch_page_layer *layers; /* [n_layers] */
    int32_t *n_owners;        /* [n_pages] */
    int32_t *free;            /* [n_pages] a stack of free pages: free[n_free - 1] is taken next */
    int32_t n_free;
    pthread_mutex_t releasing;
    vouch_arena arena;
} vouch_pages;

/* Slots of a page where nothing else is asked for: of a sequence alone, and where sequences share pages. */
enum { VOUCH_PAGE_SIZE = 256, VOUCH_SHARED_PAGE_SIZE = 64, VOUCH_MOST_PAGE_SIZE = 256 };

typedef struct vouch_pages_options {
    vouch_kv_type kv_type;
    int32_t page_size; /* slots of a page: a multiple of 16, 16 to 256 */
    int32_t n_pages;
} vouch_pages_options;

/* Just enough pages for one sequence of n_ctx tokens. */
vouch_pages_options vouch_pages_for(int32_t n_ctx, vouch_kv_type kv_type);

/* Keys and values have the shapes of these weights' layers. The weights must outlive the store. Errors: MEMORY (with
 * the size); UNSUPPORTED where a head isn't whole blocks of a quantised cache. */
vouch_status vouch_pages_open(vouch_pages **out, const vouch_weights *weights, const vouch_pages_options *options,
                              vouch_error *err);
/* Closes the store, after all its memories. NULL is allowed. */
void vouch_pages_close(vouch_pages *pages);
size_t vouch_pages_bytes(const vouch_pages *pages);
int32_t vouch_pages_n_free(const vouch_pages *pages);

/* For memories. Takes a free page for one owner. The store must have a free page. */
int32_t vouch_page_take(vouch_pages *pages);
/* Adds an owner to a page that has at least one. */
void vouch_page_share(vouch_pages *pages, int32_t page);
void vouch_page_release(vouch_pages *pages, int32_t page);
void vouch_page_copy(vouch_pages *pages, int32_t to, int32_t from);

/* For files. Bytes of a page's keys and values, and the page to or from such bytes. Every instruction set lays them out
 * alike. */
size_t vouch_page_bytes(const vouch_pages *pages);
void vouch_page_save(const vouch_pages *pages, int32_t page, unsigned char *to);
void vouch_page_load(vouch_pages *pages, int32_t page, const unsigned char *from);
/* The same for the slots [first, first + n) of a sequence with these pages, as a page of VOUCH_SHARED_PAGE_SIZE slots
 * whatever the size of the store's pages; n is at most that. Slots of `to` beyond n are 0. */
size_t vouch_slots_bytes(const vouch_pages *pages);
void vouch_slots_save(const vouch_pages *pages, const int32_t *list, int32_t first, int32_t n, unsigned char *to);
void vouch_slots_load(vouch_pages *pages, const int32_t *list, int32_t first, int32_t n, const unsigned char *from);

/* A KV head's keys of page 0. */
static inline unsigned char *vouch_page_head(const vouch_pages *s, int32_t layer, int32_t head)
{
    const vouch_page_layer *l = &s->layers[layer];
    return l->data + (size_t)head * (size_t)s->n_pages * (l->keys_bytes + l->values_bytes);
}

/* A KV head's keys and values in a page of the store. */
static inline vouch_matrix vouch_page_keys(const vouch_pages *s, int32_t page, int32_t layer, int32_t head)
{
    const vouch_page_layer *l = &s->layers[layer];
    vouch_matrix keys = l->keys;
    keys.data = vouch_page_head(s, layer, head) + (size_t)page * l->keys_bytes;
    return keys;
}

static inline vouch_matrix vouch_page_values(const vouch_pages *s, int32_t page, int32_t layer, int32_t head)
{
    const vouch_page_layer *l = &s->layers[layer];
    vouch_matrix values = l->values;
    values.data = vouch_page_head(s, layer, head) + (size_t)s->n_pages * l->keys_bytes + (size_t)page * l->values_bytes;
    return values;
}

#endif
