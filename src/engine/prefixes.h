/* SPDX-License-Identifier: MIT */
/*
 * A table of the pages that sequences have filled, found by their tokens. A prompt that begins with the tokens of
 * such pages takes the pages over instead of running these tokens.
 *
 *   page   7                 3                 9
 *          [ tokens 0..63 ]◄─[ 64..127 ]◄──────[ 128..191 ]     each knows its tokens and the page before it
 *                          ◄─[ 64..127, others ]                another sequence with the same first page
 *
 * A page is found by the hash of all tokens up to its end, in O(1), and taken only if its own tokens and the tokens of
 * all pages before it are equal. Pages belong to a scope, such as a user: no other scope finds them. The table owns
 * each page that it lists, so a page outlives its sequences. When the store runs short of pages, the table forgets one:
 * the least recently used page that no sequence owns and no listed page follows. It looks at all pages for it, 48 bytes
 * each, once for each page that a pass needs.
 *
 * Keys and values alone don't continue a sequence with recurrent layers. Some pages therefore have a copy of the states
 * at their end: near the end of a prompt, and where a prompt departs from listed pages, since what two prompts share a
 * third one probably shares, too (Marconi, arXiv 2411.19379). Such a sequence takes pages up to the last copy.
 *
 * With a prompt cache (file/prompt_cache.h) a thread writes the pages and copies to files (prefix_files.c). It owns the
 * last page of each chain that waits for it, so no page of the chain is forgotten meanwhile.
 */
#ifndef VOUCH_ENGINE_PREFIXES_H
#define VOUCH_ENGINE_PREFIXES_H

#include <stdatomic.h>

#include "engine/file/prompt_cache.h"
#include "model/memory/memory.h"

/* The beginning of a sequence. */
typedef struct vouch_scoped_prefix {
    uint64_t scope;
    const int32_t *tokens; /* [n] */
    int32_t n;
} vouch_scoped_prefix;

typedef struct vouch_prefix_page {
    uint64_t hash; /* of the scope, and of all tokens up to its end */
    uint64_t scope;
    int64_t used;     /* clock of its last use; 0: the page is not listed */
    int32_t before;   /* the page before it; -1: none */
    int32_t n_behind; /* listed pages that follow it */
    int32_t next;     /* the next page in its bucket; -1: none */
    int32_t state;    /* the copy of the states at its end; -1: none */
    bool is_queued;   /* the writer has yet to look at it */
    bool is_unkept;   /* neither it nor what follows goes to files: it was listed before these were cleared */
} vouch_prefix_page;

/* A copy of the recurrent states. */
typedef struct vouch_prefix_state {
    int32_t page; /* at whose end; -1: the copy is free */
    int64_t used; /* clock of its last use */
    bool is_queued;
} vouch_prefix_state;

/* What the writer is to look at: a chain by its last page, or that page's copy of the states. */
typedef struct vouch_prefix_entry {
    int32_t page;
    bool is_state;
} vouch_prefix_entry;

/* The files of the pages, and the thread that writes them. */
typedef struct vouch_prefix_files {
    vouch_prompt_cache *cache; /* NULL: there are none */
    vouch_record_model model;
    unsigned char *reading, *writing; /* room for a record: of the table's thread, and of the writer */
    int32_t *written;                 /* [store->n_pages] the chain that the writer looks at */
    vouch_prefix_entry *queue;        /* [n_queue] a ring */
    int32_t n_queue;
    int64_t n_back; /* entries that the table has taken back */
    bool has_thread;
    atomic_bool gives_up; /* the writer leaves the entry that it has begun */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t change;
    int64_t n_put, n_begun, n_done; /* entries that were queued, and that the writer has begun and done */
    bool ends;
} vouch_prefix_files;

typedef struct vouch_prefixes {
    vouch_pages *store;
    vouch_prefix_page *pages;   /* [store->n_pages] */
    int32_t *buckets;           /* [store->n_pages] the first page whose hash has this remainder; -1: none */
    int32_t *tokens;            /* [store->n_pages][page_size] */
    int32_t *chain;             /* [store->n_pages] of the running search */
    uint64_t *hashes;           /* [store->n_pages] likewise: of each page of the prefix, also beyond the chain */
    vouch_prefix_state *states; /* [n_states] */
    float *floats;              /* [n_states][n_floats] */
    int32_t n_states;           /* 0: no layer is recurrent */
    size_t n_floats;
    int64_t clock;
    vouch_prefix_files files;
    vouch_arena arena;
} vouch_prefixes;

typedef struct vouch_prefixes_options {
    int32_t n_ctx;             /* most tokens of a sequence */
    int32_t n_states;          /* copies of recurrent states */
    vouch_prompt_cache *cache; /* NULL: nothing goes to files */
    vouch_record_model model;
} vouch_prefixes_options;

/* Errors: MEMORY. */
vouch_status vouch_prefixes_open(vouch_prefixes *out, vouch_pages *store, const vouch_prefixes_options *options,
                                 vouch_error *err);
/* Writes what waits, and forgets all pages. */
void vouch_prefixes_close(vouch_prefixes *prefixes);

/* Lists the whole pages of a sequence's tokens. The memory holds at least all of them. has_states: the memory is at the
 * end of the last page, and the table copies its states. */
void vouch_prefixes_add(vouch_prefixes *prefixes, const vouch_memory *memory, const vouch_scoped_prefix *prefix,
                        bool has_states);
/* The memory takes over the longest listed beginning, where that is longer than its own equal beginning. Returns the
 * number of tokens that it holds then. *n_common: the tokens after which the prefix departs from another sequence; 0:
 * it goes on where the other one ended, or shares no page. */
int32_t vouch_prefixes_take(vouch_prefixes *prefixes, vouch_memory *memory, const vouch_scoped_prefix *prefix,
                            int32_t *n_common);
/* Frees one listed page that no sequence uses. Returns false where there is none. */
bool vouch_prefixes_forget(vouch_prefixes *prefixes);
/* Forgets all pages that no sequence uses. The others no longer go to files. */
void vouch_prefixes_clear(vouch_prefixes *prefixes);

/* The number of tokens up to which files may have what the table lacks of the prefix; 0: they don't. */
int32_t vouch_prefixes_kept(vouch_prefixes *prefixes, const vouch_scoped_prefix *prefix);
/* Lists pages of the prefix from files, and the states at its end, for about so many seconds. Its length is what
 * vouch_prefixes_kept returned. True: more are left. */
bool vouch_prefixes_load(vouch_prefixes *prefixes, const vouch_scoped_prefix *prefix, double seconds);

/* For prefixes.c and prefix_files.c. */
void vouch_prefix_files_layout(vouch_prefixes *prefixes, const vouch_prefixes_options *options, vouch_arena *arena);
/* Starts the thread. Errors: MEMORY. */
vouch_status vouch_prefix_files_open(vouch_prefixes *prefixes, const vouch_prefixes_options *options, vouch_error *err);
void vouch_prefix_files_close(vouch_prefixes *prefixes);
/* Queues an entry, unless its page, or its copy of the states, waits already. */
void vouch_prefix_files_put(vouch_prefixes *prefixes, vouch_prefix_entry entry);
/* Takes back the pages that the writer is done with; `all`: and those that wait, which it then doesn't write. Returns
 * their number. */
int64_t vouch_prefix_files_take_back(vouch_prefixes *prefixes, bool all);
/* Fills chain and hashes. Returns the length of the chain: the listed pages that the prefix begins with. */
int32_t vouch_prefixes_walk(vouch_prefixes *prefixes, const vouch_scoped_prefix *prefix);
/* Lists a page of the store as number i of the chain. */
void vouch_prefixes_list(vouch_prefixes *prefixes, int32_t page, const vouch_scoped_prefix *prefix, int32_t i);
/* A page of the store for page number i of the chain; -1: none is free. */
int32_t vouch_prefixes_take_page(vouch_prefixes *prefixes);
/* Gives a page a copy of states, whose content is up to the caller. NULL: none is free. */
float *vouch_prefixes_take_state(vouch_prefixes *prefixes, int32_t page);
/* The copy of the states at the end of the chain's first *n pages. *n becomes the number of pages up to the last one
 * that has a copy. NULL: no layer is recurrent, or no page has one, and *n is 0. */
const float *vouch_prefixes_last_states(vouch_prefixes *prefixes, int32_t *n);
const int32_t *vouch_prefixes_tokens(const vouch_prefixes *prefixes, int32_t page);

#endif
