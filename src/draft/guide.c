/* SPDX-License-Identifier: MIT */
/* The guesses of a paid drafter, and how often guesses of their classes are right (guide.h). */
#include "draft/guide.h"

#include <string.h>

enum {
    SOURCES,
    GUIDE,
    OPINIONS,    /* the two opinions, and their number */
    LEVELS = 15, /* intervals between neighbours in `levels` */
    DEPTHS = 6,  /* the last one stands for all greater depths */
    /* Classes: the level of the first guess at its prefix; from LATER on, the level of another guess there; from
     * UNRATED on, the depth of a guess without an estimate. */
    LATER = LEVELS,
    UNRATED = 2 * LEVELS,
    CLASSES = UNRATED + DEPTHS,
};

static const double levels[LEVELS + 1] = {0,   0.01, 0.03, 0.06, 0.1, 0.2,  0.3,  0.4,
                                          0.5, 0.6,  0.7,  0.8,  0.9, 0.95, 0.98, 1};

static int32_t level_of(double chance)
{
    int32_t level = 0;
    while (level < LEVELS - 1 && chance >= levels[level + 1]) level++;
    return level;
}

static double level_prior(int32_t kind)
{
    return kind < LEVELS ? (levels[kind] + levels[kind + 1]) / 2 : 0;
}

static double guess_prior(int32_t kind)
{
    if (kind < LATER)
        return 0.4 + 0.58 * level_prior(kind); /* a model's likeliest token is right more often than its q says */
    if (kind < UNRATED) return level_prior(kind - LATER);
    return kind < CLASSES ? 0.65 : 0.05;
}

static const vouch_source_ops opinions[OPINIONS] = {
    [SOURCES] = {.name = "sources", .n_classes = LEVELS, .prior = level_prior, .trust = 0.5},
    [GUIDE] = {.name = "guide", .n_classes = CLASSES, .prior = guess_prior, .trust = 0.5},
};

void vouch_guide_init(vouch_guide *guide)
{
    const vouch_source both[OPINIONS] = {{.ops = &opinions[SOURCES]}, {.ops = &opinions[GUIDE]}};
    guide->n = 0;
    vouch_chances_init(&guide->chances, both, OPINIONS);
}

int32_t vouch_guide_next(const vouch_guide *guide, int32_t prefix, int32_t i)
{
    const vouch_draft known = {.n = guide->n, .parents = guide->parents};
    return vouch_next_child(&known, prefix - 1, i);
}

void vouch_guide_set(vouch_guide *guide, const vouch_draft *draft, int32_t n_tokens)
{
    vouch_guide *g = guide;
    g->n_tokens = n_tokens;
    g->n = draft ? draft->n : 0;
    g->drawn = draft && draft->q;
    g->has_paths = draft && draft->paths;
    for (int32_t i = 0; i < g->n; i++) {
        g->tokens[i] = draft->tokens[i];
        g->parents[i] = vouch_draft_parent(draft, i);
        g->q[i] = draft->q ? draft->q[i] : NULL;
        g->paths[i] = draft->paths ? draft->paths[i] : 0;
        g->drafters[i] = vouch_draft_drafters(draft, i);
        const bool is_first = vouch_next_child(draft, g->parents[i], -1) == i;
        const int32_t depth = vouch_draft_depth(draft, i);
        g->kinds[i] = (int8_t)(draft->chances ? level_of((double)draft->chances[i]) + (is_first ? 0 : LATER)
                                              : UNRATED + (depth < DEPTHS - 1 ? depth : DEPTHS - 1));
    }
}

int32_t vouch_guide_prefix(const vouch_guide *guide, const int32_t *tokens, int32_t n)
{
    const vouch_guide *g = guide;
    int32_t prefix = 0;
    if (g->n == 0 || n < g->n_tokens) return -1;
    for (int32_t at = g->n_tokens; at < n; at++) {
        int32_t i = vouch_guide_next(g, prefix, -1);
        while (i >= 0 && g->tokens[i] != tokens[at]) i = vouch_guide_next(g, prefix, i);
        if (i < 0) return -1;
        prefix = i + 1;
    }
    return vouch_guide_next(g, prefix, -1) >= 0 ? prefix : -1;
}

double vouch_guide_chance(const vouch_guide *guide, int32_t guess, double chance, vouch_opinion *opinion)
{
    memset(opinion, VOUCH_SILENT, sizeof *opinion);
    if (chance >= 0) opinion->kind[SOURCES] = (int8_t)level_of(chance);
    opinion->kind[GUIDE] = (int8_t)(guess < 0 ? CLASSES : guide->kinds[guess]);
    return vouch_chance_of(&guide->chances, opinion);
}
