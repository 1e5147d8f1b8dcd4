/* SPDX-License-Identifier: MIT */
#include "engine/admit.h"

#include "base/common.h"

static double next_value(const vouch_offer *o)
{
    return o->n_admitted < o->n ? o->expected[o->n_admitted + 1] - o->expected[o->n_admitted] : -1;
}

/* Adds at most `most` guesses after the fixed ones. Returns the number of guesses with the largest E / (t(N) + d). */
static int32_t add(vouch_offer *offers, int32_t n, int32_t most, const vouch_cost *cost, double spent)
{
    double expected = 0, best = 0;
    int32_t n_rows = 0, n_best = 0;
    for (int32_t i = 0; i < n; i++) {
        vouch_offer *o = &offers[i];
        o->n_admitted = o->n_fixed;
        n_rows += o->n_fixed + 1;
        expected += o->expected ? o->expected[o->n_fixed] : 1;
    }
    for (int32_t added = 0;; added++) {
        const double worth = vouch_worth(0, expected, vouch_cost_of(cost, n_rows) + spent);
        if (added == 0 || worth > best) best = worth, n_best = added;
        vouch_offer *next = NULL;
        for (vouch_offer *o = offers; o < offers + n; o++)
            if (next_value(o) > (next ? next_value(next) : 0)) next = o;
        if (!next || added == most || n_rows == VOUCH_COST_ROWS) return n_best;
        expected += next_value(next);
        next->n_admitted++;
        n_rows++;
    }
}

void vouch_admit(vouch_offer *offers, int32_t n, int32_t most, const vouch_cost *cost, double spent)
{
    const int32_t n_best = add(offers, n, most, cost, spent);
    add(offers, n, n_best, cost, spent);
}
