/* SPDX-License-Identifier: MIT */
/* Counts and weights of the opinions (chance.h). */
#include "draft/chance.h"

#include "base/angle.h"
#include "base/hash.h"

enum { FADE_AT = 400 }; /* at so many tries of a class, its tries and hits are halved */

static const double PRIOR_TRIES = 6, RATE = 0.02;
/* Several sources begin with weights that sum to FIRST_SUM, and with FIRST_BIAS. A fit to 150,000 candidates of
 * SmolLM2's answers, separate for each set of sources, gave sums of 0.8 to 2.0 and biases of 0.3 to 2.9. */
static const double FIRST_SUM = 1.4, FIRST_BIAS = 1.2;
/* The table of squash goes from -LIMIT to LIMIT, STEPS entries a unit. */
static const double LIMIT = 12, STEPS = 4;

static void tally_update(vouch_tally *t, double prior)
{
    const double chance = (t->hits + PRIOR_TRIES * prior) / (t->tries + PRIOR_TRIES);
    t->chance = chance < 1e-4 ? 1e-4 : chance > 0.9999 ? 0.9999 : chance;
    t->stretch = vouch_ln(t->chance / (1 - t->chance));
}

void vouch_chances_init(vouch_chances *chances, const vouch_source *sources, int32_t n_sources)
{
    vouch_chances *c = chances;
    *c = (vouch_chances){.n_sources = n_sources};
    for (int32_t s = 0; s < n_sources; s++) {
        c->ops[s] = sources[s].ops;
        for (int32_t kind = 0; kind <= c->ops[s]->n_classes; kind++)
            tally_update(&c->tallies[s][kind], c->ops[s]->prior(kind));
    }
    for (unsigned set = 1; set < 1u << n_sources; set++) {
        double trust = 0;
        for (int32_t s = 0; s < n_sources; s++)
            if (set >> s & 1) trust += c->ops[s]->trust;
        for (int32_t s = 0; s < n_sources; s++) c->weights[set][s] = FIRST_SUM * c->ops[s]->trust / trust;
        c->bias[set] = FIRST_BIAS;
    }
    for (int i = 0; i < VOUCH_CHANCE_TABLE; i++) c->squash[i] = 1 / (1 + vouch_power(VOUCH_E, LIMIT - i / STEPS));
}

static double squash(const vouch_chances *c, double x)
{
    if (x <= -LIMIT) return c->squash[0];
    if (x >= LIMIT) return c->squash[VOUCH_CHANCE_TABLE - 1];
    const double at = (x + LIMIT) * STEPS;
    const int32_t i = (int32_t)at;
    return c->squash[i] + (at - i) * (c->squash[i + 1] - c->squash[i]);
}

static unsigned set_of(const vouch_chances *c, const vouch_opinion *opinion)
{
    unsigned set = 0;
    for (int32_t s = 0; s < c->n_sources; s++) set |= (unsigned)(opinion->kind[s] != VOUCH_SILENT) << s;
    return set;
}

double vouch_chance_of(const vouch_chances *chances, const vouch_opinion *opinion)
{
    const vouch_chances *c = chances;
    const unsigned set = set_of(c, opinion);
    const bool is_lone = (set & (set - 1)) == 0;
    double x = c->bias[set];
    for (int32_t s = 0; s < c->n_sources; s++) {
        if (!(set >> s & 1)) continue;
        const vouch_tally *t = &c->tallies[s][opinion->kind[s]];
        if (is_lone) return t->chance;
        x += c->weights[set][s] * t->stretch;
    }
    return squash(c, x);
}

void vouch_chances_learn(vouch_chances *chances, const vouch_opinion *opinion, bool is_right)
{
    vouch_chances *c = chances;
    const unsigned set = set_of(c, opinion);
    const double error = (is_right ? 1 : 0) - vouch_chance_of(c, opinion);
    c->bias[set] += RATE * error;
    for (int32_t s = 0; s < c->n_sources; s++) {
        if (!(set >> s & 1)) continue;
        const int32_t kind = opinion->kind[s];
        vouch_tally *t = &c->tallies[s][kind];
        c->weights[set][s] += RATE * error * t->stretch;
        t->tries += 1;
        t->hits += is_right;
        if (t->tries >= FADE_AT) {
            t->tries /= 2;
            t->hits /= 2;
        }
        tally_update(t, c->ops[s]->prior(kind));
    }
}

uint64_t vouch_chances_digest(const vouch_chances *chances)
{
    uint64_t hash = (uint64_t)chances->n_sources;
    for (int32_t s = 0; s < chances->n_sources; s++)
        for (int32_t kind = 0; kind <= chances->ops[s]->n_classes; kind++) {
            const vouch_tally *t = &chances->tallies[s][kind];
            hash = vouch_hash_words(hash, (const double[]){t->tries, t->hits}, 2 * sizeof(double));
            hash = vouch_hash_word(hash, 0);
        }
    hash = vouch_hash_words(hash, chances->bias, sizeof chances->bias);
    return vouch_hash_words(hash, chances->weights, sizeof chances->weights);
}
