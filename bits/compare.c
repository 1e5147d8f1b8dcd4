/* SPDX-License-Identifier: MIT */
#include "bits/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "base/hash.h"
#include "bits/values.h"

uint32_t bits_next(bits_random *random)
{
    return (uint32_t)(bits_next_word(&random->state) >> 32);
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

vouch_status bits_go_on(bits_work *work, vouch_error *err)
{
    const double share = (double)work->n_done++ / work->n_all;
    if (work->listener->goes_on(work->listener->user, share)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_CANCELLED, "cancelled");
}

vouch_status bits_begin(bits_work *work, const char *name, vouch_error *err)
{
    work->name = name;
    work->digest = VOUCH_HASH_START;
    return bits_go_on(work, err);
}

/* "0x3f800000 (1)" */
static void number_show(const bits_numbers *numbers, const void *all, int64_t i, char text[64])
{
    uint32_t bits;
    uint64_t wide;
    float single;
    double number;
    const char *at = (const char *)all + (size_t)i * numbers->size;
    if (numbers->size == sizeof number) {
        memcpy(&wide, at, sizeof wide), memcpy(&number, at, sizeof number);
        snprintf(text, 64, "0x%016llx (%.17g)", (unsigned long long)wide, number);
    } else {
        memcpy(&bits, at, sizeof bits), memcpy(&single, at, sizeof single);
        snprintf(text, 64, "0x%08x (%.9g)", bits, (double)single);
    }
}

void bits_compare_numbers(const bits_work *work, bits_part part, const bits_numbers *numbers)
{
    const bits_listener *listener = work->listener;
    const char *found = numbers->found, *expected = numbers->expected;
    char text[240], is[64], should_be[64];
    int64_t i = 0;
    while (i < numbers->n && memcmp(found, expected, numbers->size) == 0)
        i++, found += numbers->size, expected += numbers->size;
    if (i == numbers->n) {
        listener->compared(listener->user, part, NULL);
        return;
    }
    number_show(numbers, numbers->found, i, is);
    number_show(numbers, numbers->expected, i, should_be);
    snprintf(text, sizeof text, "%s: %s %lld is %s, expected %s", numbers->table, numbers->what, (long long)i, is,
             should_be);
    listener->compared(listener->user, part, text);
}

int64_t bits_run_into(bits_work *work, bits_run *run, const vouch_kernels *kernels, const void *arg, float *out)
{
    memset(out, 0xff, (BITS_MOST + 1) * sizeof *out);
    return run(work, kernels, arg, out);
}

void bits_compare(bits_work *work, bits_run *run, const void *arg, const char *shape)
{
    const vouch_kernels *kernels;
    char what[160];
    const int64_t n = bits_run_into(work, run, vouch_kernels_get(0), arg, work->expected);
    work->digest = vouch_hash_bytes(work->digest, work->expected, (size_t)n * sizeof(float));
    snprintf(what, sizeof what, "%s, %s: number", work->name, shape);
    for (size_t i = 1; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        const int64_t n_found = bits_run_into(work, run, kernels, arg, work->found);
        bits_compare_numbers(work, BITS_KERNELS,
                             &(bits_numbers){.table = kernels->name,
                                             .what = what,
                                             .found = work->found,
                                             .expected = work->expected,
                                             .n = n_found > n ? n_found : n,
                                             .size = sizeof(float)});
    }
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

vouch_status bits_work_open(bits_work *work, const bits_listener *listener, vouch_error *err)
{
    *work = (bits_work){.listener = listener};
    work_layout(work, &work->arena);
    VOUCH_TRY(vouch_arena_allocate(&work->arena, "numbers to compare", err));
    work_layout(work, &work->arena);
    return VOUCH_OK;
}

void bits_work_close(bits_work *work)
{
    vouch_arena_free(&work->arena);
}

vouch_status bits_check(const bits_listener *listener, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    bits_work work;
    VOUCH_TRY(bits_work_open(&work, listener, err));
    work.n_all = bits_matmul_names() + bits_row_names() + bits_model_names();
    vouch_status status = bits_check_matmuls(&work, err);
    if (status == VOUCH_OK) status = bits_check_rows(&work, err);
    if (status == VOUCH_OK) status = bits_check_models(&work, err);
    bits_work_close(&work);
    return status;
}
