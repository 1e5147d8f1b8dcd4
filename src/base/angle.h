/* SPDX-License-Identifier: MIT */
/*
 * Logarithms, powers, sines and cosines in double precision, for RoPE's angles and the drafters' log odds. The C
 * library's functions differ in the last bit between versions and processors, which law L1 forbids. These functions use
 * only additions, multiplications, divisions and fma() in a fixed order, so every IEEE 754 machine gets the same bits.
 */
#ifndef VOUCH_BASE_ANGLE_H
#define VOUCH_BASE_ANGLE_H

/* The natural logarithm of a finite x > 0. */
double vouch_ln(double x);

#define VOUCH_E 2.718281828459045

/* base^exponent for base > 0 and |exponent ln base| < 700; relative error below 1e-14. */
double vouch_power(double base, double exponent);

/* Sine and cosine of 0 <= angle < 2^30 radians; absolute error below 1e-15. */
void vouch_sine_cosine(double angle, double *sine, double *cosine);

#endif
