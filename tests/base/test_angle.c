/* SPDX-License-Identifier: MIT */
/*
 * Compares vouch_power with the C library in long double, and vouch_sine_cosine with a Taylor series in pairs of
 * doubles: sinl isn't exact enough for large angles on every system.
 */
#include <math.h>
#include <string.h>

#include "base/angle.h"
#include "base/hash.h"
#include "support/test.h"

/* The sum of two doubles, where low is below half of the last digit of high: 106 bits (Dekker, A floating-point
 * technique for extending the available precision, Numerische Mathematik 18, 1971). */
typedef struct pair {
    double high, low;
} pair;

static pair add(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

static pair times(double a, double b)
{
    const double split = 0x1p27 + 1, product = a * b;
    const double a_high = a * split - (a * split - a), a_low = a - a_high;
    const double b_high = b * split - (b * split - b), b_low = b - b_high;
    return (pair){product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

static pair pair_add(pair a, pair b)
{
    const pair sum = add(a.high, b.high);
    return add(sum.high, sum.low + a.low + b.low);
}

static pair pair_times(pair a, pair b)
{
    const pair product = times(a.high, b.high);
    return add(product.high, product.low + a.high * b.low + a.low * b.high);
}

static pair pair_over(pair a, double b)
{
    const double quotient = a.high / b;
    const pair back = times(quotient, b);
    return add(quotient, (a.high - back.high - back.low + a.low) / b);
}

/* Sine (first: 1) or cosine (first: 0) of |r| < 0.8. */
static pair series(pair r, int first)
{
    const pair square = pair_times(r, r);
    pair term = first ? r : (pair){1, 0}, sum = term;
    for (int k = first + 1; k < 30; k += 2) {
        term = pair_over(pair_times(term, square), -1.0 * k * (k + 1));
        sum = pair_add(sum, term);
    }
    return sum;
}

static double difference(double x, pair exact)
{
    return fabs(x - exact.high - exact.low);
}

static void check_angle(double angle)
{
    static const double half_pi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
    const double n = floor(angle / half_pi[0] + 0.5);
    pair r = {angle, 0};
    double sine, cosine;
    vouch_sine_cosine(angle, &sine, &cosine);
    for (int i = 0; i < 3; i++) r = pair_add(r, times(-n, half_pi[i]));
    pair parts[] = {series(r, 1), series(r, 0)}; /* turned n times by pi/2 below */
    for (int i = 0; i < (int)fmod(n, 4); i++) {
        const pair before = parts[0];
        parts[0] = parts[1];
        parts[1] = (pair){-before.high, -before.low};
    }
    assert_true(difference(sine, parts[0]) < 1e-15);
    assert_true(difference(cosine, parts[1]) < 1e-15);
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

static void digest_add(uint64_t *digest, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    *digest = vouch_hash_word(*digest, bits);
}

/* Law L1: each system computes these bits. They come from the functions themselves, on Linux on x86-64. */
static void test_bits(void **state)
{
    (void)state;
    uint64_t digest = VOUCH_HASH_START;
    for (int i = 1; i <= 20000; i++) {
        double sine, cosine;
        vouch_sine_cosine(i * 0.7, &sine, &cosine);
        digest_add(&digest, sine);
        digest_add(&digest, cosine);
        digest_add(&digest, vouch_power(10000, i / -20000.0));
        digest_add(&digest, vouch_ln(i * 0.3));
    }
    assert_int_equal(digest, UINT64_C(0x23bd713542b6c396));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sine_cosine), cmocka_unit_test(test_power),
                                       cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
