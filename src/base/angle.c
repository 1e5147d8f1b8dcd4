/* SPDX-License-Identifier: MIT */
/*
 * The textbook's method (Cody, Waite: "Software Manual for the Elementary Functions", 1980). The argument is
 * reduced with a constant in two or three parts, and fma() rounds no product. A Taylor series follows, long enough for
 * double precision.
 */
#include "base/angle.h"

#include <math.h>

#define LN2_HIGH 0x1.62e42fefa39efp-1
#define LN2_LOW 0x1.abc9e3b39803fp-56
#define HALF_PI_1 0x1.921fb54442d18p+0
#define HALF_PI_2 0x1.1a62633145c07p-54
#define HALF_PI_3 -0x1.f1976b7ed8fbcp-110
#define ROUND 0x1.8p52 /* x + ROUND - ROUND is x rounded to the nearest integer */

/* ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1), for m in [1 / sqrt 2, sqrt 2]. */
double vouch_ln(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 0;
    for (int k = 25; k >= 1; k -= 2) sum = fma(sum, square, 1.0 / k);
    return fma(exponent, LN2_HIGH, fma(exponent, LN2_LOW, 2 * s * sum));
}

/* e^y = 2^n e^r, r = y - n ln 2. */
static double exponential(double y)
{
    const double n = y * (1 / LN2_HIGH) + ROUND - ROUND;
    const double r = fma(-n, LN2_LOW, fma(-n, LN2_HIGH, y));
    double sum = 1;
    for (int k = 16; k >= 1; k--) sum = fma(sum, r / k, 1);
    return ldexp(sum, (int)n);
}

double vouch_power(double base, double exponent)
{
    return exponential(exponent * vouch_ln(base));
}

void vouch_sine_cosine(double angle, double *sine, double *cosine)
{
    const double n = angle * (1 / HALF_PI_1) + ROUND - ROUND;
    const double r = fma(-n, HALF_PI_3, fma(-n, HALF_PI_2, fma(-n, HALF_PI_1, angle)));
    const double square = r * r;
    double s = 1, c = 1;
    for (int k = 18; k >= 2; k -= 2) {
        s = fma(-s, square / (k * (k + 1)), 1);
        c = fma(-c, square / (k * (k - 1)), 1);
    }
    s *= r;
    switch ((long long)n & 3) { /* the quadrant */
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}
