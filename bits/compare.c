/* SPDX-License-Identifier: MIT */
#include "bits/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "base/hash.h"

uint32_t bits_next(bits_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 32);
}

float bits_uniform(bits_random *random, float low, float high)
{
    return low + (high - low) * ((float)(bits_next(random) >> 8) * 0x1p-24f);
}

void bits_fill(bits_random *random, float *x, int64_t n, float low, float high)
{
    for (int64_t i = 0; i < n; i++) x[i] = bits_uniform(random, low, high);
}

/* ---------------------------------------------------------------- comparing */

vouch_status bits_begin(bits_work *work, const char *name, vouch_error *err)
{
    work->name = name;
    work->digest = VOUCH_HASH_START;
    const double share = (double)work->n_done++ / work->n_all;
    if (work->listener->goes_on(work->listener->user, share)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_CANCELLED, "cancelled");
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The first number that differs becomes the text of a mismatch. */
static void table_compare(bits_work *work, const vouch_kernels *kernels, const char *shape, int64_t n, int64_t n_found)
{
    const bits_listener *listener = work->listener;
    char text[240];
    int64_t i = 0;
    while (i < n && i < n_found && bits_of(work->expected[i]) == bits_of(work->found[i])) i++;
    if (i == n && n == n_found) {
        listener->compared(listener->user, BITS_KERNELS, NULL);
        return;
    }
    snprintf(text, sizeof text, "%s: %s, %s: number %lld is 0x%08x (%.9g), expected 0x%08x (%.9g)", kernels->name,
             work->name, shape, (long long)i, bits_of(work->found[i]), (double)work->found[i],
             bits_of(work->expected[i]), (double)work->expected[i]);
    listener->compared(listener->user, BITS_KERNELS, text);
}

void bits_compare(bits_work *work, bits_run *run, const void *arg, const char *shape)
{
    const vouch_kernels *kernels;
    const int64_t n = run(work, vouch_kernels_get(0), arg, work->expected);
    work->digest = vouch_hash_bytes(work->digest, work->expected, (size_t)n * sizeof(float));
    for (size_t i = 1; (kernels = vouch_kernels_get(i)) != NULL; i++)
        table_compare(work, kernels, shape, n, run(work, kernels, arg, work->found));
}

void bits_compare_digest(bits_work *work, bits_part part, const char *table, const char *name, uint64_t digest)
{
    const bits_listener *listener = work->listener;
    char text[240];
    uint64_t expected = 0;
    if (!table) listener->found(listener->user, name, digest);
    const bool is_known = bits_expected(name, &expected);
    if (is_known && digest == expected) {
        listener->compared(listener->user, part, NULL);
        return;
    }
    const int n = snprintf(text, sizeof text, "%s: %s: the digest is %016llx, ", table ? table : "ref", name,
                           (unsigned long long)digest);
    if (is_known) snprintf(text + n, sizeof text - (size_t)n, "expected %016llx", (unsigned long long)expected);
    else snprintf(text + n, sizeof text - (size_t)n, "and digests.inc has none of this name");
    listener->compared(listener->user, part, text);
}

void bits_end(bits_work *work)
{
    bits_compare_digest(work, BITS_ORDER, NULL, work->name, work->digest);
}

/* ---------------------------------------------------------------- the check */

static void work_layout(bits_work *work, vouch_arena *arena)
{
    work->expected = vouch_arena_take(arena, BITS_MOST + 1, sizeof(float));
    work->found = vouch_arena_take(arena, BITS_MOST + 1, sizeof(float));
    work->inputs = vouch_arena_take(arena, BITS_MOST, sizeof(float));
    work->more = vouch_arena_take(arena, BITS_MOST, sizeof(float));
    work->bytes = vouch_arena_take(arena, BITS_BYTES, 1);
    work->packed = vouch_arena_take(arena, BITS_BYTES, 1);
    vouch_acts_layout(&work->acts, 32, 512, VOUCH_NEEDS_QUANTS | VOUCH_NEEDS_FLOATS, arena);
}

vouch_status bits_check(const bits_listener *listener, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    bits_work work = {.listener = listener, .n_all = bits_matmul_names() + bits_row_names() + bits_model_names()};
    work_layout(&work, &work.arena);
    VOUCH_TRY(vouch_arena_allocate(&work.arena, "numbers to compare", err));
    work_layout(&work, &work.arena);
    vouch_status status = bits_check_matmuls(&work, err);
    if (status == VOUCH_OK) status = bits_check_rows(&work, err);
    if (status == VOUCH_OK) status = bits_check_models(&work, err);
    vouch_arena_free(&work.arena);
    return status;
}
