/* SPDX-License-Identifier: MIT */
/* The controller (pace.h says what it decides by). */
#include "decode/pace.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"

enum {
    FIRST_PLAIN = 2,  /* plain steps learned from before anything is drafted */
    PLAIN_EVERY = 64, /* and one after so many cycles without any; */
    PLAIN_OFTEN = 8,  /* or so many, where drafting seems to win less than a fifth */
    TRY_EVERY = 8,    /* plain steps between trials of a chain that doesn't seem to pay */
    DEPTHS = 6,       /* of drafts with the chain whose acceptance is counted apart; the last stands for
                         all deeper ones */
};

enum { GROWN, CHAIN, PARTS };

/* Of an error, the least that a mean takes over: it follows what happens. */
static const double RATE = 0.1;
/* Acceptance: what is thought of the first guess before any was judged, and of each deeper one what is known of that
 * before it, counts as so many tries; what was tried fades by cycles, by those without the chain, too, so that what
 * stopped being tried is thought of so again. */
static const double HOLD_FIRST = 0.65, HOLD_TRIES = 2, HOLD_FADE = 0.95;
/* Cycles that what the chain catches up with counts for. */
static const double LATE_CYCLES = 16;
/* What a token to catch up with takes, in guesses, until it is measured: they go through the model together. */
static const double LATE_SHARE = 0.25;
/* The budget in plain steps: at the beginning, at most, and its share of the time. */
static const double BUDGET = 3, MOST_BUDGET = 6, INCOME = 0.01;

typedef struct mean {
    double value;
    int32_t n;
} mean;

/* The mean of what was measured, at first; then what happens lately counts more. */
static void mean_add(mean *m, double x, double least_rate)
{
    const double rate = 1.0 / ++m->n;
    m->value += (rate > least_rate ? rate : least_rate) * (x - m->value);
}

struct vouch_pace {
    vouch_drafter_ref part[PARTS];
    double (*now)(void);
    vouch_cost cost;
    double costs[VOUCH_MAX_DRAFT + 2];
    mean judge;         /* seconds a committed token */
    mean grown_seconds; /* a proposal */
    mean guess_seconds; /* a guess of the chain, or a level of its tree */
    mean catch_up_seconds; /* a token that the chain has to catch up with */
    double chain_share;
    int32_t chain_depth; /* given; 0: decided here */
    double tries[DEPTHS], hits[DEPTHS]; /* depths that drafts with the chain reached and went beyond, faded */
    double hold[DEPTHS];                /* the chance that follows */
    mean rows, beyond;   /* of such drafts: guesses for each of the chain's depths; accepted deeper than it */
    int32_t since_plain, n_plain; /* cycles with guesses since the last one without; and the other way round */
    int32_t n_answer;  /* cycles since the prompt */
    int32_t most_rows; /* of the largest pass so far */
    double budget;
    /* The running cycle. */
    int32_t behind; /* tokens that the chain has to catch up with */
    bool by_chain; /* it was asked */
    int32_t depth; /* of its guesses, as far as they are in the draft */
    double chain_costs[VOUCH_MAX_DRAFT + 2]; /* costs, and what its guesses take */
    double draft_seconds;
    double expected; /* tokens */
    double yield;    /* of them for a plain pass's time */
    double without;  /* the same without the chain, or 1 if that is more */
    double seconds;  /* expected, of the draft and the pass */
    uint8_t bits[VOUCH_MAX_DRAFT];
};

/* ----------------------------------------------------------------- estimates */

static double guess_cost(const vouch_pace *p)
{
    return p->guess_seconds.n > 0 ? p->guess_seconds.value / vouch_cost_seconds(&p->cost) : p->chain_share;
}

/* In plain passes: what the chain takes to catch up. */
static double late_cost(const vouch_pace *p)
{
    const double each = p->catch_up_seconds.n > 0 ? p->catch_up_seconds.value / vouch_cost_seconds(&p->cost)
                                                  : LATE_SHARE * guess_cost(p);
    return p->behind * each;
}

/* And what a draft of depth n takes before it is scored. */
static double chain_cost(const vouch_pace *p, int32_t n)
{
    return n * guess_cost(p) + late_cost(p);
}

static double hold_of(const vouch_pace *p, int32_t depth)
{
    return p->hold[vouch_min(depth, DEPTHS - 1)];
}

static void hold_update(vouch_pace *p)
{
    double before = HOLD_FIRST;
    for (int d = 0; d < DEPTHS; d++)
        before = p->hold[d] = (p->hits[d] + HOLD_TRIES * before) / (p->tries[d] + HOLD_TRIES);
}

/* Tokens of a cycle with so many guesses of the chain. */
static double tokens_of(const vouch_pace *p, int32_t depth)
{
    double path = 1, tokens = 1 + p->beyond.value;
    for (int32_t n = 0; n < depth; n++) tokens += path *= hold_of(p, n);
    return tokens;
}

/* Rows of its pass. */
static int32_t rows_of(const vouch_pace *p, int32_t depth, int32_t most)
{
    const double n = p->rows.n > 0 ? depth * p->rows.value : depth;
    return 1 + vouch_min(most, (int32_t)(n + 0.5));
}

/* The depth with the highest yield, in tokens per plain pass, of those that can't lose more than there is; 0: none has
 * more than `least`. To have caught up pays in later cycles, too: or a chain that isn't asked would be further behind
 * with each token, until it never could be. */
static int32_t best_depth(const vouch_pace *p, const vouch_shape *most, double least)
{
    const double late = late_cost(p);
    int32_t best = 0;
    for (int32_t n = 1; n <= most->depth; n++) {
        const double cost = p->costs[rows_of(p, n, most->n)] + n * guess_cost(p) + late / LATE_CYCLES;
        const double yield = tokens_of(p, n) / cost;
        if ((cost + late) * p->without - 1 > p->budget) break;
        if (yield <= least) continue;
        least = yield;
        best = n;
    }
    return best;
}

/* Whether a chain could pay if every guess held. */
static bool chain_could_pay(const vouch_pace *p, int32_t most)
{
    for (int32_t n = 1; n <= most; n++)
        if (n + 1 > p->costs[n + 1] + chain_cost(p, n)) return true;
    return false;
}

/* Whether the budget allows one guess for trying. */
static bool may_try(const vouch_pace *p, int32_t most)
{
    const double loss = p->costs[2] + chain_cost(p, 1) - 1;
    return p->n_plain >= TRY_EVERY && p->budget > 1 + loss && chain_could_pay(p, most);
}

/* ------------------------------------------------------------------ proposing */

static vouch_draft ask_grown(vouch_pace *p, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    const vouch_drafter_ref *grown = &p->part[GROWN];
    if (!grown->ops) return (vouch_draft){0};
    const double start = p->now();
    const vouch_draft draft = grown->ops->propose(grown->self, tokens, n_tokens, shape);
    mean_add(&p->grown_seconds, p->now() - start, RATE);
    return draft;
}

static int32_t depth_of(const vouch_draft *draft)
{
    int32_t most = 0;
    for (int32_t i = 0; i < draft->n; i++) {
        const int32_t depth = vouch_draft_depth(draft, i) + 1;
        if (depth > most) most = depth;
    }
    return most;
}

static vouch_draft ask_chain(vouch_pace *p, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    const vouch_drafter_ref *chain = &p->part[CHAIN];
    const double start = p->now();
    vouch_draft draft = chain->ops->propose(chain->self, tokens, n_tokens, shape);
    p->depth = depth_of(&draft);
    const double seconds = p->now() - start, rest = seconds - p->guess_seconds.value * p->depth;
    const int32_t levels = p->depth > 0 ? p->depth : 1; /* to find none takes what one does */
    if (p->behind > 1 && p->guess_seconds.n > 0) mean_add(&p->catch_up_seconds, rest > 0 ? rest / p->behind : 0, RATE);
    else mean_add(&p->guess_seconds, seconds / (levels + LATE_SHARE * (p->behind > 1 ? p->behind : 0)), RATE);
    draft.drafters = p->bits;
    return draft;
}

/* Tokens that the chain lacks, beside the one that it runs with its first guess. */
static int32_t tokens_behind(const vouch_pace *p, const int32_t *tokens, int32_t n_tokens)
{
    const vouch_drafter_ref *chain = &p->part[CHAIN];
    if (!chain->ops || !chain->ops->known) return 0;
    const int32_t behind = n_tokens - chain->ops->known(chain->self, tokens, n_tokens) - 1;
    return behind > 0 ? behind : 0;
}

/* How deep the chain should go, given a draft without it of this yield; 0: not at all. */
static int32_t chain_depth(const vouch_pace *p, const vouch_shape *most, double yield)
{
    if (!p->part[CHAIN].ops || p->budget <= 0) return 0;
    const int32_t depth = best_depth(p, most, yield);
    return depth > 0 || yield > 1 || !may_try(p, most->depth) ? depth : 1;
}

/* t(1) has to be known, the better the less there is to win. */
static bool wants_plain(const vouch_pace *p)
{
    return p->n_answer == 0 || p->cost.n_plain < FIRST_PLAIN ||
           p->since_plain >= (p->yield < 1.2 ? PLAIN_OFTEN : PLAIN_EVERY);
}

/* The chain's guesses, where there are any, in one draft with those grown around them. */
static vouch_draft join(vouch_pace *p, const vouch_draft *guide, const int32_t *tokens, int32_t n_tokens,
                        const vouch_shape *most)
{
    vouch_shape shape = *most;
    shape.guide = guide->n > 0 ? guide : NULL;
    return p->part[GROWN].ops ? ask_grown(p, tokens, n_tokens, &shape) : *guide;
}

/* A draft with guesses of the chain instead of one without, if that promises more. */
static vouch_draft replace_by_chain(vouch_pace *p, vouch_draft grown, const int32_t *tokens, int32_t n_tokens,
                                    const vouch_shape *most)
{
    vouch_shape shape = *most;
    shape.depth = chain_depth(p, most, p->yield);
    p->by_chain = shape.depth > 0;
    if (!p->by_chain) return grown;
    const double cost = chain_cost(p, shape.depth);
    for (int32_t n = 1; n <= shape.n + 1; n++) p->chain_costs[n] = p->costs[n] + cost;
    shape.cost = p->chain_costs;
    const vouch_draft guide = ask_chain(p, tokens, n_tokens, &shape);
    p->seconds += cost * vouch_cost_seconds(&p->cost);
    if (guide.n == 0) return grown; /* it has taken its time all the same */
    shape.depth = most->depth;
    const vouch_draft draft = join(p, &guide, tokens, n_tokens, &shape);
    p->depth = vouch_min(p->depth, depth_of(&draft));
    p->expected = draft.expected > 0 ? draft.expected : tokens_of(p, p->depth);
    p->yield = p->expected / p->chain_costs[draft.n + 1];
    return draft;
}

/* The chain as deep as it is to be. */
static vouch_draft propose_given(vouch_pace *p, const int32_t *tokens, int32_t n_tokens, const vouch_shape *given)
{
    vouch_shape shape = *given;
    shape.n = vouch_min(given->n, p->chain_depth);
    shape.depth = vouch_min(given->depth, p->chain_depth);
    shape.cost = NULL;
    const vouch_draft guide = ask_chain(p, tokens, n_tokens, &shape);
    return join(p, &guide, tokens, n_tokens, given);
}

static vouch_draft pace_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *given)
{
    vouch_pace *p = self;
    if (p->chain_depth > 0) return propose_given(p, tokens, n_tokens, given);
    const double start = p->now();
    p->behind = tokens_behind(p, tokens, n_tokens);
    vouch_shape shape = *given;
    shape.n = vouch_min(shape.n, 2 * p->most_rows - 1); /* t(n) far beyond what was measured is a guess, too */
    shape.depth = vouch_min(shape.depth, shape.n);
    shape.cost = p->costs;
    for (int32_t n = 1; n <= given->n + 1; n++) p->costs[n] = vouch_cost_of(&p->cost, n);
    const bool is_plain = wants_plain(p);
    vouch_draft draft = {0};
    if (!is_plain) draft = ask_grown(p, tokens, n_tokens, &shape);
    p->expected = draft.n > 0 ? draft.expected : 1;
    p->yield = p->expected / p->costs[draft.n + 1];
    p->without = p->yield > 1 ? p->yield : 1;
    p->seconds = 0;
    p->by_chain = false;
    if (!is_plain) draft = replace_by_chain(p, draft, tokens, n_tokens, &shape);
    p->seconds += p->grown_seconds.value + p->costs[draft.n + 1] * vouch_cost_seconds(&p->cost);
    p->since_plain = draft.n > 0 ? p->since_plain + 1 : 0;
    p->n_plain = draft.n > 0 ? 0 : p->n_plain + 1;
    p->draft_seconds = p->now() - start;
    return draft;
}

/* -------------------------------------------------------------------- learning */

static void learn_chain(vouch_pace *p, const vouch_lap *lap)
{
    for (int d = 0; d < DEPTHS; d++) {
        p->tries[d] *= HOLD_FADE;
        p->hits[d] *= HOLD_FADE;
    }
    for (int32_t i = 0; p->by_chain && i < p->depth && i <= lap->n_accepted; i++) {
        const int32_t d = vouch_min(i, DEPTHS - 1);
        p->tries[d] += 1;
        p->hits[d] += i < lap->n_accepted;
    }
    hold_update(p);
    if (!p->by_chain || p->depth == 0) return;
    mean_add(&p->rows, (double)lap->n_guesses / p->depth, RATE);
    mean_add(&p->beyond, lap->n_accepted > p->depth ? lap->n_accepted - p->depth : 0, RATE);
}

void vouch_pace_learn(vouch_pace *pace, const vouch_lap *lap)
{
    vouch_pace *p = pace;
    const int32_t n = lap->n_accepted + 1;
    if (p->n_answer++ == 0) return; /* the first pass finds everything cold */
    vouch_cost_learn(&p->cost, lap->n_guesses + 1, lap->pass_seconds);
    if (lap->n_guesses >= p->most_rows) p->most_rows = lap->n_guesses + 1;
    mean_add(&p->judge, lap->judge_seconds / n, RATE);
    const double plain = vouch_pace_plain_seconds(p);
    const double steps = (p->draft_seconds + lap->pass_seconds + lap->judge_seconds) / plain;
    p->budget += INCOME * steps;
    if (p->by_chain) p->budget += n - steps * p->without;
    learn_chain(p, lap);
    if (p->budget > MOST_BUDGET) p->budget = MOST_BUDGET;
}

vouch_forecast vouch_pace_forecast(const vouch_pace *pace)
{
    const vouch_pace *p = pace;
    if (p->cost.n_passes == 0) return (vouch_forecast){0};
    return (vouch_forecast){.tokens = p->expected, .seconds = p->seconds + p->judge.value * p->expected};
}

double vouch_pace_plain_seconds(const vouch_pace *pace)
{
    return pace->cost.n_passes > 0 ? vouch_cost_seconds(&pace->cost) + pace->judge.value : 0;
}

/* -------------------------------------------------------- what both are told */

static void pace_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    vouch_pace *p = self;
    const vouch_drafter_ref *grown = &p->part[GROWN], *chain = &p->part[CHAIN];
    if (grown->ops && grown->ops->observe) grown->ops->observe(grown->self, tokens, n_tokens);
    if (!chain->ops || !chain->ops->observe) return;
    if (p->chain_depth == 0 && guess_cost(p) >= 1) return; /* it won't be asked */
    chain->ops->observe(chain->self, tokens, n_tokens);
}

static void pace_begin(void *self, const int32_t *tokens, int32_t n_tokens)
{
    vouch_pace *p = self;
    p->n_answer = 0;
    for (int i = 0; i < PARTS; i++)
        if (p->part[i].ops && p->part[i].ops->begin) p->part[i].ops->begin(p->part[i].self, tokens, n_tokens);
}

static void pace_end(void *self, const int32_t *tokens, int32_t n_tokens)
{
    const vouch_pace *p = self;
    for (int i = 0; i < PARTS; i++)
        if (p->part[i].ops && p->part[i].ops->end) p->part[i].ops->end(p->part[i].self, tokens, n_tokens);
}

static void pace_see(void *self, const int32_t *tokens, const vouch_seen *row)
{
    const vouch_pace *p = self;
    for (int i = 0; i < PARTS; i++)
        if (p->part[i].ops && p->part[i].ops->see) p->part[i].ops->see(p->part[i].self, tokens, row);
}

static void pace_rewind(void *self, int32_t n_tokens)
{
    vouch_pace *p = self;
    for (int i = 0; i < PARTS; i++)
        if (p->part[i].ops) p->part[i].ops->rewind(p->part[i].self, n_tokens);
}

static void pace_close(void *self)
{
    vouch_pace *p = self;
    for (int i = 0; i < PARTS; i++)
        if (p->part[i].ops) p->part[i].ops->close(p->part[i].self);
    free(p);
}

static size_t pace_memory(const void *self)
{
    const vouch_pace *p = self;
    size_t bytes = sizeof *p;
    for (int i = 0; i < PARTS; i++)
        if (p->part[i].ops) bytes += p->part[i].ops->memory(p->part[i].self);
    return bytes;
}

/* What was measured is no function of the tokens; what was grown from them is. */
static uint64_t pace_digest(const void *self)
{
    const vouch_drafter_ref *grown = &((const vouch_pace *)self)->part[GROWN];
    return grown->ops && grown->ops->digest ? grown->ops->digest(grown->self) : 0;
}

static const vouch_drafter_ops pace_ops = {
    .name = "pace",
    .propose = pace_propose,
    .observe = pace_observe,
    .begin = pace_begin,
    .end = pace_end,
    .see = pace_see,
    .rewind = pace_rewind,
    .close = pace_close,
    .memory = pace_memory,
    .digest = pace_digest,
};

vouch_status vouch_pace_open(vouch_drafter_ref *out, const vouch_pace_options *options, vouch_error *err)
{
    *out = (vouch_drafter_ref){0};
    vouch_pace *p = calloc(1, sizeof *p);
    if (!p) {
        if (options->grown.ops) options->grown.ops->close(options->grown.self);
        if (options->chain.ops) options->chain.ops->close(options->chain.self);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the pace of drafting (%zu bytes)", sizeof *p);
    }
    p->part[GROWN] = options->grown;
    p->part[CHAIN] = options->chain;
    p->now = options->now;
    p->chain_share = options->chain_share;
    p->chain_depth = options->chain_depth;
    p->budget = BUDGET;
    hold_update(p);
    vouch_cost_init(&p->cost);
    if (options->chain.ops) memset(p->bits, options->chain.ops->bit, sizeof p->bits);
    *out = (vouch_drafter_ref){.ops = &pace_ops, .self = p};
    return VOUCH_OK;
}

vouch_pace *vouch_pace_of(vouch_drafter_ref drafter)
{
    return drafter.ops == &pace_ops ? drafter.self : NULL;
}

vouch_drafter_ref vouch_pace_grown(const vouch_pace *pace)
{
    return pace->part[GROWN];
}

vouch_drafter_ref vouch_pace_chain(const vouch_pace *pace)
{
    return pace->part[CHAIN];
}
