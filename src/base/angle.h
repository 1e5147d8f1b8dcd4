/* SPDX-License-Identifier: MIT */
/*
 * Logarithms, powers, sines and cosines in double, for RoPE's angles and the drafters' odds. The C library's
 * differ in the last bit between versions and processors, which law L1 doesn't allow; these use additions,
 * multiplications and fma() in a written order only, so they are the same wherever IEEE 754 is.
 */
#ifndef VOUCH_BASE_ANGLE_H
#define VOUCH_BASE_ANGLE_H

/* The natural logarithm of an ordinary x > 0. */
double vouch_ln(double x);

#define VOUCH_E 2.718281828459045

/* base^exponent for base > 0, where the result and |exponent ln base| < 700 are ordinary; relative error below
 * 1e-14. */
double vouch_power(double base, double exponent);

/* Of 0 <= angle < 2^30 radians; absolute error below 1e-15. */
void vouch_sine_cosine(double angle, double *sine, double *cosine);

#endif
