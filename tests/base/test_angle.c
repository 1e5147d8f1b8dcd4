/* SPDX-License-Identifier: MIT */
/* Compares vouch_power and vouch_sine_cosine with the C library in long double. */
#include <math.h>

#include "base/angle.h"
#include "support/test.h"

static void check_angle(double angle)
{
    double sine, cosine;
    vouch_sine_cosine(angle, &sine, &cosine);
    assert_true(fabsl(sine - sinl(angle)) < 1e-15L);
    assert_true(fabsl(cosine - cosl(angle)) < 1e-15L);
}

static void test_sine_cosine(void **state)
{
    (void)state;
    test_random random = {1};
    double sine, cosine;
    vouch_sine_cosine(0, &sine, &cosine);
    assert_true(sine == 0 && cosine == 1);
    for (int position = 0; position < 20000; position++) check_angle(position);
    for (int i = 0; i < 100000; i++)
        check_angle((double)test_below(&random, 1u << (test_below(&random, 30) + 1)) *
                    (double)test_uniform(&random, 0, 1));
    /* Multiples of pi / 4, where range reduction is hardest. */
    for (int i = 1; i < 4000; i++) check_angle(i * 0.78539816339744830962);
}

static void test_power(void **state)
{
    (void)state;
    const double bases[] = {1, 2, 10000, 100000, 500000, 1e6, 1e12, 0.5};
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++)
        for (int i = 0; i <= 512; i++) {
            const double exponent = -2.0 * i / 512, power = vouch_power(bases[b], exponent);
            const long double exact = powl(bases[b], exponent);
            assert_true(fabsl(power - exact) <= 1e-14L * exact);
        }
    assert_true(vouch_power(10000, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sine_cosine), cmocka_unit_test(test_power)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
