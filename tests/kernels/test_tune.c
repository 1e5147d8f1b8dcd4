/* SPDX-License-Identifier: MIT */
/* Measuring the ways to read weights: what is measured, what is chosen, and that it holds for the right rows. Speed is
 * not tested, because it depends on the machine. */
#include <stdlib.h>
#include <string.h>

#include "kernels/tables.h"
#include "kernels/tune.h"
#include "os/os.h"
#include "support/test.h"

enum { WIDTH = 1024 };

static vouch_matrix make_matrix(vouch_type type, int64_t n_out)
{
    vouch_matrix w;
    assert_true(vouch_matrix_shape(&w, type, n_out, WIDTH));
    w.data = vouch_os_aligned_take(64, vouch_matrix_bytes(&w));
    assert_non_null(w.data);
    memset(w.data, 0x11, vouch_matrix_bytes(&w));
    return w;
}

static void measure(vouch_tuning *tuning, const vouch_kernels *kernels, const vouch_matrix *matrices, size_t n)
{
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 2, NULL), VOUCH_OK);
    vouch_tuning_init(tuning);
    vouch_tuning_measure(tuning, kernels, matrices, n, pool);
    vouch_pool_close(pool);
}

/* The trials of one type and number of rows: the usual reading comes first where these rows can have it, and one is
 * chosen. Returns the trial after them. */
static const vouch_kernel_trial *check_step(const vouch_tuning *tuning, const vouch_kernels *kernels,
                                            const vouch_kernel_trial *trials, vouch_type type, int32_t rows,
                                            int32_t first, int32_t last)
{
    const vouch_reading usual = VOUCH_USUAL_READING;
    const int32_t n = rows <= kernels->pair_rows ? 4 : 2;
    int32_t best = 0, n_chosen = 0;
    assert_int_equal(trials[0].tiles, rows <= kernels->pair_rows ? usual.tiles : 1);
    assert_int_equal(trials[0].ahead, usual.ahead);
    for (int32_t i = 0; i < n; i++) {
        assert_string_equal(trials[i].type, vouch_type_get_info(type)->name);
        assert_int_equal(trials[i].rows, rows);
        assert_true(trials[i].tiles == 1 || rows <= kernels->pair_rows);
        assert_true(trials[i].bytes_per_second > 0);
        n_chosen += trials[i].is_chosen;
        if (trials[i].is_chosen) best = i;
    }
    assert_int_equal(n_chosen, 1);
    for (int32_t i = 0; i < n; i++)
        assert_true(trials[i].bytes_per_second <= trials[best].bytes_per_second * (best == 0 ? 1.02 : 1));
    for (int32_t r = first; r <= last; r++) {
        assert_int_equal(tuning->readings[type][r].tiles, trials[best].tiles);
        assert_int_equal(tuning->readings[type][r].ahead, trials[best].ahead);
    }
    return trials + n;
}

static const vouch_kernel_trial *check_type(const vouch_tuning *tuning, const vouch_kernels *kernels,
                                            const vouch_kernel_trial *trials, vouch_type type)
{
    const vouch_reading usual = VOUCH_USUAL_READING;
    trials = check_step(tuning, kernels, trials, type, 1, 1, 1);
    trials = check_step(tuning, kernels, trials, type, 2, 2, 3);
    trials = check_step(tuning, kernels, trials, type, 5, 4, 5);
    trials = check_step(tuning, kernels, trials, type, 8, 6, 8);
    for (int r = 9; r <= VOUCH_MAX_GROUP; r++) assert_int_equal(tuning->readings[type][r].ahead, usual.ahead);
    return trials;
}

static void types_are_measured(void **state)
{
    (void)state;
    static vouch_tuning tuning;
    const vouch_kernels *kernels = vouch_kernels_find(NULL);
    if (kernels == &vouch_kernels_ref) skip();
    /* Many small matrices of one type, one large matrix of another, floats, and a type with too small a part. */
    vouch_matrix all[24];
    size_t n = 0;
    for (; n < 21; n++) all[n] = make_matrix(VOUCH_TYPE_Q4_0, 1000);
    all[n++] = make_matrix(VOUCH_TYPE_Q8_0, 9000);
    all[n++] = make_matrix(VOUCH_TYPE_F16, 1000);
    all[n++] = make_matrix(VOUCH_TYPE_Q5_0, 48);
    measure(&tuning, kernels, all, n);
    const vouch_kernel_trial *next = check_type(&tuning, kernels, tuning.trials, VOUCH_TYPE_Q4_0);
    next = check_type(&tuning, kernels, next, VOUCH_TYPE_Q8_0);
    assert_int_equal(tuning.n_trials, next - tuning.trials);
    measure(&tuning, &vouch_kernels_ref, all, n);
    assert_int_equal(tuning.n_trials, 0);
    for (size_t i = 0; i < n; i++) vouch_os_aligned_free(all[i].data);
}

static void few_weights_are_left_alone(void **state)
{
    (void)state;
    static vouch_tuning tuning;
    vouch_matrix w = make_matrix(VOUCH_TYPE_Q4_0, 2000);
    measure(&tuning, vouch_kernels_find(NULL), &w, 1);
    assert_int_equal(tuning.n_trials, 0);
    measure(&tuning, vouch_kernels_find(NULL), NULL, 0);
    assert_int_equal(tuning.n_trials, 0);
    vouch_os_aligned_free(w.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_measured),
        cmocka_unit_test(few_weights_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
