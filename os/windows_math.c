/* SPDX-License-Identifier: MIT */
/*
 * MinGW's fma and fmaf round twice, and its fesetenv leaves the register as it is that controls SSE's arithmetic. These
 * functions take their places, so that plain C gives the bits that it gives on other systems. fma and fmaf round to
 * nearest, which the library sees to.
 */
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
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

__extension__ typedef unsigned __int128 whole;
enum { TOP = 125, DIGITS = 53, LEAST = -1074 /* the exponent of the least double */ };

/* The number bits * 2^exponent, where the highest bit that is set is TOP: two more leave room for a sum. */
typedef struct number {
    whole bits;
    int exponent;
    bool is_negative;
} number;

static int length_of(whole bits)
{
    const uint64_t high = (uint64_t)(bits >> 64), low = (uint64_t)bits;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* Shifts to the right. The last bit of the result is also set where bits that are set get lost: rounding needs to know
 * no more of them. */
static whole shift_right(whole bits, int n)
{
    if (n >= 128) return bits != 0;
    return bits >> n | ((bits & (((whole)1 << n) - 1)) != 0);
}

static number number_of(whole bits, int exponent, bool is_negative)
{
    const int shift = TOP + 1 - length_of(bits);
    return (number){bits << shift, exponent - shift, is_negative};
}

/* A finite double as an integer times a power of two. */
static uint64_t digits_of(double x, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    *exponent = (field ? field - 1 : 0) + LEAST;
    return fraction | (uint64_t)(field != 0) << 52;
}

/* The nearest double to bits * 2^exponent; of two, the even one. */
static double nearest(whole bits, int exponent, bool is_negative)
{
    int n = length_of(bits) - DIGITS;
    if (n < LEAST - exponent) n = LEAST - exponent;
    if (n > 0) {
        bits = n > 1 ? shift_right(bits, n - 2) : bits << 1; /* two more: half of the last one, and any below it */
        bits = (bits >> 2) + ((bits & 2) && (bits & 5) ? 1 : 0);
        exponent += n;
    }
    const double x = ldexp((double)(uint64_t)bits, exponent);
    return is_negative ? -x : x;
}

/* The product has at most 106 bits, so it is exact. The smaller of product and c is shifted to the exponent of the
 * other. Bits get lost in that only where it is so much smaller that they can't become digits of the result. */
double fma(double a, double b, double c)
{
    if (!isfinite(a) || !isfinite(b) || !isfinite(c) || a == 0 || b == 0) return a * b + c;
    if (c == 0) return a * b;
    int of_a, of_b, of_c;
    const uint64_t digits_a = digits_of(a, &of_a), digits_b = digits_of(b, &of_b), digits_c = digits_of(c, &of_c);
    number large = number_of((whole)digits_a * digits_b, of_a + of_b, signbit(a) != signbit(b));
    number small = number_of(digits_c, of_c, signbit(c));
    if (small.exponent > large.exponent || (small.exponent == large.exponent && small.bits > large.bits)) {
        const number swapped = large;
        large = small;
        small = swapped;
    }
    small.bits = shift_right(small.bits, large.exponent - small.exponent);
    if (large.is_negative == small.is_negative) large.bits += small.bits;
    else large.bits -= small.bits;
    return large.bits ? nearest(large.bits, large.exponent, large.is_negative) : 0;
}

#ifdef __x86_64__

int fegetenv(fenv_t *environment)
{
    __asm__ volatile("fnstenv %0\n\tfldcw %0" : "=m"(*environment)); /* fnstenv has masked the exceptions */
    environment->__mxcsr = __builtin_ia32_stmxcsr();
    return 0;
}

int fesetenv(const fenv_t *environment)
{
    enum { DEFAULT = 0x1f80, BITS_53 = 0x27f };
    const unsigned short bits_53 = BITS_53;
    if (environment == FE_DFL_ENV || environment == FE_PC64_ENV || environment == FE_PC53_ENV) {
        __asm__ volatile("fninit");
        if (environment == FE_PC53_ENV) __asm__ volatile("fldcw %0" : : "m"(bits_53));
        __builtin_ia32_ldmxcsr(DEFAULT);
    } else {
        __asm__ volatile("fldenv %0" : : "m"(*environment));
        __builtin_ia32_ldmxcsr(environment->__mxcsr);
    }
    return 0;
}

#endif
