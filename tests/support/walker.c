/* SPDX-License-Identifier: MIT */
#include "support/walker.h"

#include "support/test.h"

void walker_begin(walker *w)
{
    *w = (walker){.probability = 1};
}

int walker_choose(walker *w, const double *probability, int n)
{
    if (w->depth == w->n) {
        assert_true(w->n < WALKER_PATH);
        w->path[w->n].option = 0;
        w->path[w->n++].n_options = n;
    }
    assert_int_equal(w->path[w->depth].n_options, n); /* the run has no other source of chance */
    const int option = w->path[w->depth++].option;
    w->probability *= probability[option];
    return option;
}

int32_t walker_choose_token(walker *w, const double *mass, int32_t n_vocab)
{
    double probability[WALKER_OPTIONS], total = 0;
    int32_t token[WALKER_OPTIONS];
    int n = 0;
    assert_true(n_vocab <= WALKER_OPTIONS);
    for (int32_t x = 0; x < n_vocab; x++) total += mass[x];
    for (int32_t x = 0; x < n_vocab; x++) {
        if (!(mass[x] > 0)) continue;
        probability[n] = mass[x] / total;
        token[n++] = x;
    }
    assert_true(n > 0);
    return token[walker_choose(w, probability, n)];
}

bool walker_next(walker *w)
{
    w->depth = 0;
    w->probability = 1;
    while (w->n > 0 && ++w->path[w->n - 1].option == w->path[w->n - 1].n_options) w->n--;
    return w->n > 0;
}
