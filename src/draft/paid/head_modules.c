/* SPDX-License-Identifier: MIT */
/*
 * Heads with a module for each depth, all of which read the target's states (MiMo-V2: arXiv 2601.02780). Each module is
 * a head with keys and values of its own. Row t of the module for depth d:
 *
 *   reads      the target's state at t, and the token x[t + 1 + d]
 *   predicts   x[t + 2 + d]
 *
 * So a guess g[i] after n tokens, which has position n - 1 + i, is read by row n - 2 - d + i of that module:
 *
 *   depth 0      x[1] ... x[n - 2] x[n - 1]                  predicts g[1]
 *   depth 1      x[2] ... x[n - 1] g[1]                      predicts g[2]
 *   depth 2      x[3] ... g[1]     g[2]                      predicts g[3]
 *   state at       0  ...  n - 3    n - 2
 *
 * The rows of a module:
 *
 *   0 ........ n_rows - 1 │ n_rows ..... n - 2 - d │ n - 1 - d ..... n - 2
 *   have run              │ wait                   │ read guesses, and are dropped after each pass
 *
 *   follow   stages the rows of depth 0 that wait; the last one predicts the first guess
 *   feed     stages rows of the module for the guesses' depth: those that wait, and those of the guesses' paths
 *
 * Rows of deeper modules wait until somebody asks for a guess of that depth, or until `states` is full. No row of a
 * guess stays (law L3). After the last module the draft ends.
 */
#include "draft/paid/head.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/hash.h"
#include "draft/paid/head_inputs.h"

typedef struct module {
    const vouch_head_weights *head;
    vouch_shared_sequence sequence;
    vouch_head_inputs in;
    int32_t n_rows; /* rows that have run */
} module;

typedef struct modules_guesser {
    const vouch_head_weights *head; /* of depth 0 */
    module modules[VOUCH_HEAD_DEPTHS];
    int32_t n_modules;
    int32_t n_ctx;
    int32_t window;        /* positions that `states` has room for */
    int32_t first;         /* position of states[0] */
    int32_t n_given;       /* positions whose states have come */
    float *states;         /* [window][n_embd of the target] */
    int32_t n_tokens;      /* of the sequence that follow was called for last */
    const int32_t *tokens; /* [n_tokens] */
    module *staged;        /* the module whose rows wait for their pass; NULL: none */
    vouch_staged rows;     /* the staged rows, or those of the last pass */
    module *asked;         /* the module that has the logits of the last follow or feed; NULL: no module is so deep */
    int32_t n_fed;         /* guesses since follow, of which each has a number */
    int32_t guesses[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT]; /* depth 1: the first guess */
    float *nothing; /* [n_vocab] not a number: the draft ends before this depth */
    vouch_arena arena;
} modules_guesser;

static int32_t depth_of(const modules_guesser *g, const module *m)
{
    return (int32_t)(m - g->modules);
}

static const float *states_at(const modules_guesser *g, int32_t position)
{
    return g->states + (int64_t)(position - g->first) * g->head->n_features;
}

/* The first position with a row that waits. */
static int32_t first_waiting(const modules_guesser *g)
{
    int32_t least = g->n_given;
    for (int32_t d = 0; d < g->n_modules; d++) least = vouch_min(least, g->modules[d].n_rows);
    return least;
}

/* Keeps the states of rows that wait, and of the row before, which may have to run again. */
static void drop_states(modules_guesser *g)
{
    const int32_t position = vouch_max(first_waiting(g) - 1, 0), n = g->n_given - position;
    if (position <= g->first) return;
    memmove(g->states, states_at(g, position), (size_t)n * (size_t)g->head->n_features * sizeof *g->states);
    g->first = position;
}

/* -------------------------------------------------------------------- staging */

/* Row number i of those to be staged: the state at `position` and the token. */
static void put_row(const modules_guesser *g, module *m, int32_t i, int32_t position, bool kept, int32_t parent)
{
    vouch_row *row = vouch_shared_pass_rows(m->sequence.shared) + i;
    vouch_head_inputs_read(&m->in, i, states_at(g, position), 1);
    *row = (vouch_row){.memory = m->sequence.memory, .parent = parent, .kept = kept};
}

/* Puts the rows that wait before row `past`, at most `most` of them. Returns their number. */
static int32_t put_waiting(modules_guesser *g, module *m, const int32_t *tokens, int32_t past, int32_t most)
{
    const int32_t n = vouch_max(vouch_min(past - m->n_rows, most), 0);
    for (int32_t i = 0; i < n; i++) put_row(g, m, i, m->n_rows + i, true, -1);
    if (n > 0)
        vouch_head_inputs_make(&m->in, 0, tokens + m->n_rows + 1 + depth_of(g, m),
                               vouch_shared_pass_rows(m->sequence.shared), n);
    m->n_rows += n;
    return n;
}

static void stage(modules_guesser *g, module *m, int32_t n)
{
    g->rows = vouch_shared_pass_stage(m->sequence.shared, n);
    g->staged = m;
}

/* Stages rows that wait, as many as fit. `logits`: of the last one. */
static vouch_staging stage_waiting(modules_guesser *g, module *m, const int32_t *tokens, int32_t past, bool logits)
{
    vouch_shared_pass *shared = m->sequence.shared;
    const int32_t room = vouch_shared_pass_room(shared, logits);
    if (m->n_rows >= past) return VOUCH_STAGED_NONE;
    if (room == 0) return VOUCH_STAGED_FULL;
    const int32_t n = put_waiting(g, m, tokens, past, vouch_min(room, g->window));
    vouch_shared_pass_rows(shared)[n - 1].logits = logits && m->n_rows == past;
    stage(g, m, n);
    return m->n_rows < past ? VOUCH_STAGED_PART : VOUCH_STAGED_ROWS;
}

static double modules_run(void *self)
{
    modules_guesser *g = self;
    module *m = g->staged;
    if (!m) return 0;
    vouch_shared_sequence_run(&m->sequence);
    vouch_memory_keep_rows(m->sequence.memory, 0);
    drop_states(g);
    g->staged = NULL;
    return vouch_shared_pass_seconds(m->sequence.shared, &g->rows);
}

/* The next module with rows before the end of n tokens that wait; NULL: none. Row t reads token t + 1 + depth. */
static module *find_waiting(modules_guesser *g, int32_t n)
{
    for (int32_t d = 0; d < g->n_modules; d++)
        if (g->modules[d].n_rows < n - 1 - d) return &g->modules[d];
    return NULL;
}

static vouch_staging stage_any(modules_guesser *g, const int32_t *tokens, int32_t n)
{
    module *m = find_waiting(g, n);
    return m ? stage_waiting(g, m, tokens, n - 1 - depth_of(g, m), false) : VOUCH_STAGED_NONE;
}

/* ------------------------------------------------------------- hidden states */

static int32_t modules_taps(const void *self, const int32_t **layers)
{
    const modules_guesser *g = self;
    *layers = g->head->taps;
    return g->head->n_taps;
}

static void modules_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states)
{
    modules_guesser *g = self;
    const size_t width = (size_t)g->head->n_features;
    assert(position == g->n_given);
    if (position - g->first == g->window)
        while (stage_any(g, tokens, position + 1) != VOUCH_STAGED_NONE) modules_run(g);
    memcpy(g->states + (size_t)(position - g->first) * width, states[0], width * sizeof *g->states);
    g->n_given++;
}

static int32_t modules_n_hidden(const void *self)
{
    const modules_guesser *g = self;
    return g->n_given;
}

/* ------------------------------------------------------------------- guesser */

/* Drops the rows that read a token after the first n. If states that are needed now are gone, the target gives them
 * again. */
static void modules_rewind(void *self, int32_t n)
{
    modules_guesser *g = self;
    g->n_given = vouch_min(g->n_given, n);
    for (int32_t d = 0; d < g->n_modules; d++) {
        module *m = &g->modules[d];
        m->n_rows = vouch_memory_rewind(m->sequence.memory, vouch_max(vouch_min(m->n_rows, n - 1 - d), 0));
    }
    const int32_t needed = first_waiting(g);
    if (needed < g->first) g->n_given = g->first = needed;
    g->n_fed = 0;
}

static int32_t modules_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    const modules_guesser *g = self;
    int32_t known = n_tokens;
    (void)tokens;
    for (int32_t d = 0; d < g->n_modules; d++) known = vouch_min(known, g->modules[d].n_rows + 1 + d);
    return known;
}

static vouch_staging modules_follow(void *self, const int32_t *tokens, int32_t n, bool logits)
{
    modules_guesser *g = self;
    module *m = &g->modules[0];
    g->n_fed = 0;
    g->asked = NULL;
    if (n < 2 || g->n_given < n - 1) return VOUCH_STAGED_NONE;
    if (!logits) return stage_any(g, tokens, n);
    if (m->n_rows >= n - 1) m->n_rows = vouch_memory_rewind(m->sequence.memory, n - 2);
    if (g->first > m->n_rows) return VOUCH_STAGED_NONE;
    g->tokens = tokens;
    g->n_tokens = n;
    g->asked = m;
    return stage_waiting(g, m, tokens, n - 1, true);
}

static int32_t modules_room(const void *self)
{
    const modules_guesser *g = self;
    return g->n_ctx - vouch_memory_n_tokens(g->modules[0].sequence.memory);
}

/* Numbers the guesses on the paths to the guesses from `first` on in `of`, by their order; -1: on no path, or its row
 * would stand before the first one. Returns how many there are. */
static int32_t number_paths(const modules_guesser *g, int32_t first, int32_t least, int32_t of[VOUCH_MAX_DRAFT])
{
    int32_t n = 0;
    memset(of, -1, (size_t)g->n_fed * sizeof *of);
    for (int32_t i = first; i < g->n_fed; i++)
        for (int32_t a = i; a >= 0 && g->depths[a] >= least; a = g->parents[a]) of[a] = 0;
    for (int32_t i = 0; i < g->n_fed; i++)
        if (of[i] == 0) of[i] = n++;
    return n;
}

/* Stages the module's rows that wait, and those of the paths to the guesses from `first` on, which get logits. */
static vouch_staging stage_paths(modules_guesser *g, module *m, int32_t first)
{
    const int32_t depth = depth_of(g, m), past = g->n_tokens - 1 - depth, n_waiting = vouch_max(past - m->n_rows, 0);
    int32_t of[VOUCH_MAX_DRAFT], tokens[VOUCH_MAX_DRAFT];
    const int32_t n = number_paths(g, first, 1 - past, of);
    if (vouch_shared_pass_room(m->sequence.shared, g->n_fed - first) < n_waiting + n) return VOUCH_STAGED_FULL;
    vouch_row *rows = vouch_shared_pass_rows(m->sequence.shared);
    put_waiting(g, m, g->tokens, past, n_waiting);
    for (int32_t i = 0; i < g->n_fed; i++) {
        if (of[i] < 0) continue;
        const int32_t parent = g->parents[i] < 0 ? -1 : of[g->parents[i]];
        put_row(g, m, n_waiting + of[i], past + g->depths[i] - 1, false, parent);
        rows[n_waiting + of[i]].logits = i >= first;
        tokens[of[i]] = g->guesses[i];
    }
    vouch_head_inputs_make(&m->in, n_waiting, tokens, rows + n_waiting, n);
    stage(g, m, n_waiting + n);
    return VOUCH_STAGED_ROWS;
}

/* The guesses of one call have the same depth (tree.c). */
static vouch_staging modules_feed(void *self, const int32_t *guesses, const int32_t *parents, int32_t n)
{
    modules_guesser *g = self;
    const int32_t first = g->n_fed;
    for (int32_t i = 0; i < n; i++) {
        const int32_t number = first + i, parent = parents ? parents[i] : number - 1;
        g->guesses[number] = guesses[i];
        g->parents[number] = parent;
        g->depths[number] = parent < 0 ? 1 : g->depths[parent] + 1;
        assert(g->depths[number] == g->depths[first]);
    }
    g->n_fed = first + n;
    g->asked = g->depths[first] < g->n_modules ? &g->modules[g->depths[first]] : NULL;
    const vouch_staging staged = g->asked ? stage_paths(g, g->asked, first) : VOUCH_STAGED_ROWS;
    if (staged == VOUCH_STAGED_FULL) g->n_fed = first;
    return staged;
}

static double modules_part(const void *self, int32_t n_rows, int32_t n)
{
    const modules_guesser *g = self;
    return vouch_shared_pass_part(g->modules[0].sequence.shared, n_rows, n);
}

static const float *modules_logits(void *self, int32_t i)
{
    const modules_guesser *g = self;
    if (!g->asked) return g->nothing;
    return vouch_pass_logits(g->asked->sequence.shared->pass, g->rows.first_logits + i);
}

static void modules_close(void *self)
{
    modules_guesser *g = self;
    for (int32_t d = 0; d < g->n_modules; d++) vouch_shared_sequence_close(&g->modules[d].sequence);
    vouch_arena_free(&g->arena);
    free(g);
}

static size_t modules_memory(const void *self)
{
    const modules_guesser *g = self;
    size_t bytes = sizeof *g + g->arena.size;
    for (int32_t d = 0; d < g->n_modules; d++) bytes += vouch_shared_sequence_bytes(&g->modules[d].sequence);
    return bytes;
}

static uint64_t modules_digest(const void *self)
{
    const modules_guesser *g = self;
    uint64_t hash = VOUCH_HASH_START;
    for (int32_t d = 0; d < g->n_modules; d++)
        hash = vouch_hash_word(hash, vouch_memory_digest(g->modules[d].sequence.memory));
    return hash;
}

static const vouch_guesser_ops guesser_ops = {.follow = modules_follow,
                                              .room = modules_room,
                                              .feed = modules_feed,
                                              .run = modules_run,
                                              .part = modules_part,
                                              .logits = modules_logits,
                                              .taps = modules_taps,
                                              .hidden = modules_hidden,
                                              .n_hidden = modules_n_hidden,
                                              .known = modules_known,
                                              .rewind = modules_rewind,
                                              .close = modules_close,
                                              .memory = modules_memory,
                                              .digest = modules_digest};

/* ------------------------------------------------------------------- opening */

static void layout_guesser(modules_guesser *g, int32_t max_rows, vouch_arena *arena)
{
    g->states = vouch_arena_take(arena, (size_t)g->window * (size_t)g->head->n_features, sizeof *g->states);
    g->nothing = vouch_arena_take(arena, (size_t)g->head->n_draft, sizeof *g->nothing);
    for (int32_t d = 0; d < g->n_modules; d++) vouch_head_inputs_layout(&g->modules[d].in, 1, max_rows, arena);
}

static vouch_status open_parts(modules_guesser *g, const vouch_drafter_setup *setup, vouch_error *err)
{
    const int32_t k = setup->speculation->n_draft;
    const vouch_shared_sequence_options sequence = {
        .pass = {.n_ctx = g->n_ctx, .max_rows = g->window + k, .max_logits = vouch_setup_level(setup)},
        .max_tree = k,
        .kv_type = vouch_head_kv_type(setup)};
    vouch_arena arena = {0};
    layout_guesser(g, sequence.pass.max_rows, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the head's hidden states (use a smaller prefill_chunk)", err));
    layout_guesser(g, sequence.pass.max_rows, &arena);
    g->arena = arena;
    for (int32_t t = 0; t < g->head->n_draft; t++) g->nothing[t] = NAN;
    for (int32_t d = 0; d < g->n_modules; d++)
        VOUCH_TRY(vouch_shared_sequence_open(&g->modules[d].sequence, setup->passes, g->modules[d].head->body,
                                             &sequence, err));
    return VOUCH_OK;
}

vouch_status vouch_head_modules_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *head = vouch_setup_head(setup);
    modules_guesser *g = calloc(1, sizeof *g);
    if (!g) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the head's state");
    g->head = head;
    g->n_ctx = setup->n_ctx;
    for (const vouch_head_weights *h = head; h; h = h->deeper) {
        module *m = &g->modules[g->n_modules++];
        m->head = h;
        vouch_head_inputs_open(&m->in, h, setup->passes->pool);
    }
    g->window = setup->prefill_chunk + g->n_modules + 1; /* states that wait, and those of the newest rows */
    const vouch_status status = open_parts(g, setup, err);
    if (status == VOUCH_OK) *out = (vouch_guesser){.ops = &guesser_ops, .self = g};
    else modules_close(g);
    return status;
}
