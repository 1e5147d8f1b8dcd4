/* SPDX-License-Identifier: MIT */
/* MinGW's fmaf rounds twice. This one takes its place, so that plain C gives the bits that it gives on other systems.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * The product of two floats is exact in double. The sum is rounded to odd: where it isn't exact, its last bit
 * becomes 1. Rounding that to float gives the float nearest to the exact sum (Boldo and Melquiond, Emulation of a FMA
 * and correctly rounded sums, IEEE Transactions on Computers 57, 2008).
 */
float fmaf(float a, float b, float c)
{
    const double product = (double)a * (double)b, sum = product + (double)c;
    /* What the sum has lost (Knuth's TwoSum). */
    const double part = sum - product, lost = (product - (sum - part)) + ((double)c - part);
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (!isfinite(sum) || lost == 0 || (bits & 1)) return (float)sum;
    /* The neighbour towards the lost part has an odd last bit. */
    bits += (lost > 0) == (sum > 0) ? 1 : -1;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}
