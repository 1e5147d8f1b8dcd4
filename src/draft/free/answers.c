/* SPDX-License-Identifier: MIT */
#include "draft/free/answers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
    PAGE = VOUCH_ANSWERS_PAGE,
    SHORT = VOUCH_ANSWERS_LEAST,
    LONG = 8,    /* tokens */
    VISITS = 12, /* positions of one chain that a search looks at */
};

/* Leads from the last n_tokens tokens to positions. Holds the low 32 bits of each. */
typedef struct chains {
    int32_t n_tokens;
    _Atomic uint32_t *newest; /* [mask + 1] by hash */
    _Atomic uint32_t *older;  /* [capacity] by position */
} chains;

struct vouch_answers {
    int64_t capacity; /* tokens: whole pages */
    uint32_t mask;    /* of the tables */
    chains by_long, by_short;
    _Atomic int32_t *tokens;  /* [capacity] */
    _Atomic uint64_t *scopes; /* [capacity / PAGE] */
    /* Positions below `written` have been written, and those from `reserved` on have not begun to be. The first
     * position is `capacity`: what stands below it is never valid. */
    _Atomic int64_t written, reserved;
    _Atomic int64_t first; /* positions below it are forgotten */
    pthread_mutex_t lock;  /* of writers */
    vouch_arena arena;
};

/* -------------------------------------------------------------------- memory */

static void layout(vouch_answers *a, vouch_arena *arena)
{
    const size_t n = (size_t)a->capacity, n_slots = (size_t)a->mask + 1;
    a->tokens = vouch_arena_take(arena, n, sizeof *a->tokens);
    a->scopes = vouch_arena_take(arena, n / PAGE, sizeof *a->scopes);
    for (int i = 0; i < 2; i++) {
        chains *c = i == 0 ? &a->by_long : &a->by_short;
        c->n_tokens = i == 0 ? LONG : SHORT;
        c->newest = vouch_arena_take(arena, n_slots, sizeof *c->newest);
        c->older = vouch_arena_take(arena, n, sizeof *c->older);
    }
}

vouch_status vouch_answers_open(vouch_answers **out, size_t n_bytes, vouch_error *err)
{
    static const char what[] = "the memory of answers";
    enum { TOKEN_BYTES = 3 * sizeof(int32_t) }; /* a token, and its links in two chains */
    *out = NULL;
    vouch_answers *a = calloc(1, sizeof *a);
    if (!a) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %s", what);
    uint32_t n_slots = 1;
    while (n_slots < n_bytes / 32 && n_slots < UINT32_C(1) << 30) n_slots *= 2;
    const size_t tables = 2 * (size_t)n_slots * sizeof(uint32_t) + 4096; /* at most half of the bytes, and padding */
    const size_t n_pages = (n_bytes - tables) / (PAGE * TOKEN_BYTES + sizeof(uint64_t));
    a->mask = n_slots - 1;
    a->capacity = (int64_t)n_pages * PAGE;
    layout(a, &a->arena);
    const vouch_status status = vouch_arena_allocate(&a->arena, what, err);
    if (status != VOUCH_OK) {
        free(a);
        return status;
    }
    layout(a, &a->arena);
    pthread_mutex_init(&a->lock, NULL);
    atomic_store(&a->written, a->capacity);
    atomic_store(&a->reserved, a->capacity);
    atomic_store(&a->first, a->capacity);
    *out = a;
    return VOUCH_OK;
}

void vouch_answers_close(vouch_answers *answers)
{
    if (!answers) return;
    pthread_mutex_destroy(&answers->lock);
    vouch_arena_free(&answers->arena);
    free(answers);
}

int64_t vouch_answers_capacity(const vouch_answers *answers)
{
    return answers->capacity;
}

/* The first position that the ring still has. */
static int64_t first_position(const vouch_answers *a)
{
    const int64_t kept = atomic_load_explicit(&a->reserved, memory_order_relaxed) - a->capacity;
    const int64_t first = atomic_load_explicit(&a->first, memory_order_relaxed);
    return kept > first ? kept : first;
}

int64_t vouch_answers_end(const vouch_answers *answers)
{
    return atomic_load_explicit(&answers->written, memory_order_acquire);
}

int64_t vouch_answers_size(const vouch_answers *answers)
{
    const int64_t size = vouch_answers_end(answers) - first_position(answers);
    return size > 0 ? size : 0;
}

size_t vouch_answers_memory(const vouch_answers *answers)
{
    return sizeof *answers + answers->arena.size;
}

/* -------------------------------------------------------------------- writing */

/* The slot of a scope and n tokens. */
static uint32_t slot_of(const vouch_answers *a, uint64_t scope, const int32_t *tokens, int32_t n)
{
    uint64_t hash = scope;
    for (int32_t i = 0; i < n; i++) hash = vouch_hash_word(hash, (uint32_t)tokens[i]);
    return (uint32_t)(hash >> 24) & a->mask;
}

/* Enters the position after tokens[0, n) where the chain's last tokens are among them. */
static void chain_enter(vouch_answers *a, chains *c, uint64_t scope, const int32_t *tokens, int32_t n, int64_t next)
{
    if (n < c->n_tokens) return;
    _Atomic uint32_t *newest = &c->newest[slot_of(a, scope, tokens + n - c->n_tokens, c->n_tokens)];
    const uint32_t before = atomic_load_explicit(newest, memory_order_relaxed);
    atomic_store_explicit(&c->older[next % a->capacity], before, memory_order_release);
    atomic_store_explicit(newest, (uint32_t)next, memory_order_release);
}

void vouch_answers_add(vouch_answers *answers, uint64_t scope, const int32_t *tokens, int32_t n_tokens)
{
    vouch_answers *a = answers;
    const int64_t most = a->capacity / 2 - PAGE;
    if (n_tokens < 1 || most < 1) return;
    const int32_t n = n_tokens < most ? n_tokens : (int32_t)most;
    tokens += n_tokens - n;
    pthread_mutex_lock(&a->lock);
    const int64_t from = atomic_load_explicit(&a->reserved, memory_order_relaxed);
    const int64_t past = from + (n / PAGE + 1) * PAGE; /* at least one separator */
    /* A reader that sees any of the words below also sees `reserved`. */
    atomic_store_explicit(&a->reserved, past, memory_order_release);
    for (int64_t at = from; at < past; at += PAGE)
        atomic_store_explicit(&a->scopes[at % a->capacity / PAGE], scope, memory_order_release);
    for (int64_t at = from; at < past; at++) {
        const int32_t token = at - from < n ? tokens[at - from] : VOUCH_ANSWERS_SEPARATOR;
        atomic_store_explicit(&a->tokens[at % a->capacity], token, memory_order_release);
    }
    for (int32_t i = 1; i < n; i++) {
        chain_enter(a, &a->by_long, scope, tokens, i, from + i);
        chain_enter(a, &a->by_short, scope, tokens, i, from + i);
    }
    atomic_store_explicit(&a->written, past, memory_order_release);
    pthread_mutex_unlock(&a->lock);
}

int64_t vouch_answers_clear(vouch_answers *answers)
{
    pthread_mutex_lock(&answers->lock);
    const int64_t first = atomic_load(&answers->reserved);
    atomic_store(&answers->first, first);
    pthread_mutex_unlock(&answers->lock);
    return first;
}

/* -------------------------------------------------------------------- reading */

int32_t vouch_answers_token(const vouch_answers *answers, uint64_t scope, int64_t position)
{
    const vouch_answers *a = answers;
    if (position < a->capacity) return VOUCH_ANSWERS_SEPARATOR;
    const int64_t slot = position % a->capacity;
    const uint64_t owner = atomic_load_explicit(&a->scopes[slot / PAGE], memory_order_acquire);
    const int32_t token = atomic_load_explicit(&a->tokens[slot], memory_order_acquire);
    const bool is_valid = owner == scope && position >= first_position(a) &&
                          position < atomic_load_explicit(&a->written, memory_order_relaxed);
    return is_valid ? token : VOUCH_ANSWERS_SEPARATOR;
}

/* How many of the tokens before `end` also stand before the position. */
static int32_t agreeing(const vouch_answers *a, uint64_t scope, int64_t next, const int32_t *end, int32_t n_tail)
{
    int32_t n = 0;
    while (n < n_tail && vouch_answers_token(a, scope, next - n - 1) == end[-n - 1]) n++;
    return n;
}

static int32_t insert(vouch_answer_match *matches, int32_t n, vouch_answer_match match)
{
    for (int32_t i = 0; i < n; i++)
        if (matches[i].next == match.next) return n;
    if (n == VOUCH_ANSWERS_MATCHES && match.length <= matches[n - 1].length) return n;
    int32_t at = n < VOUCH_ANSWERS_MATCHES ? n++ : n - 1;
    for (; at > 0 && match.length > matches[at - 1].length; at--) matches[at] = matches[at - 1];
    matches[at] = match;
    return n;
}

/* Adds the matches of one chain. Returns the number of all. */
static int32_t chain_follow(const vouch_answers *a, const chains *c, uint64_t scope, const int32_t *end, int32_t n_tail,
                            vouch_answer_match *out, int32_t n)
{
    if (n_tail < c->n_tokens) return n;
    int64_t above = atomic_load_explicit(&a->reserved, memory_order_acquire);
    uint32_t low =
        atomic_load_explicit(&c->newest[slot_of(a, scope, end - c->n_tokens, c->n_tokens)], memory_order_acquire);
    for (int32_t visit = 0; visit < VISITS; visit++) {
        const uint32_t distance = (uint32_t)above - low; /* from `above`, which is newer */
        const int64_t next = above - (int64_t)distance;
        if (distance == 0 || next < first_position(a)) break;
        const int32_t length = agreeing(a, scope, next, end, n_tail);
        if (length >= c->n_tokens) n = insert(out, n, (vouch_answer_match){next, length});
        low = atomic_load_explicit(&c->older[next % a->capacity], memory_order_acquire);
        above = next;
    }
    return n;
}

int32_t vouch_answers_find(const vouch_answers *answers, uint64_t scope, const int32_t *end, int32_t n_tail,
                           vouch_answer_match *out)
{
    const int32_t n = chain_follow(answers, &answers->by_long, scope, end, n_tail, out, 0);
    return n > 0 ? n : chain_follow(answers, &answers->by_short, scope, end, n_tail, out, 0);
}

bool vouch_answers_next(const vouch_answers *answers, int64_t *position, uint64_t *scope, int32_t **tokens,
                        int32_t *n_tokens)
{
    const vouch_answers *a = answers;
    *tokens = NULL;
    for (;;) {
        const int64_t first = first_position(a), past = atomic_load_explicit(&a->written, memory_order_acquire);
        const int64_t from = *position > first ? *position : first;
        if (from >= past) return false;
        *scope = atomic_load_explicit(&a->scopes[from % a->capacity / PAGE], memory_order_acquire);
        int32_t n = 0;
        while (vouch_answers_token(a, *scope, from + n) != VOUCH_ANSWERS_SEPARATOR) n++;
        int32_t *copy = malloc(((size_t)n + 1) * sizeof *copy);
        if (!copy) return true;
        for (int32_t i = 0; i < n; i++)
            copy[i] = atomic_load_explicit(&a->tokens[(from + i) % a->capacity], memory_order_acquire);
        const bool is_whole = first_position(a) <= from; /* the ring has not begun to overwrite it */
        *position = is_whole ? from + (n / PAGE + 1) * PAGE : 0;
        if (is_whole && n > 0) {
            *tokens = copy;
            *n_tokens = n;
            return true;
        }
        free(copy);
    }
}
