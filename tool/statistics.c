/* SPDX-License-Identifier: MIT */
#include "tool/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

uint64_t tool_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double tool_quantile(double *values, size_t n, double share)
{
    qsort(values, n, sizeof *values, compare_doubles);
    const double at = share * (double)(n - 1);
    const size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
    return values[low] + (at - (double)low) * (values[high] - values[low]);
}

double tool_chi_square_tail(double statistic, int64_t degrees)
{
    /* The regularised upper incomplete gamma function Q(a, x): its series where x is small, its continued fraction
     * (Lentz's method) where it is large. */
    const double a = (double)degrees / 2, x = statistic / 2;
    const double front = x > 0 ? exp(a * log(x) - x - lgamma(a)) : 0;
    if (x <= 0) return 1;
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int i = 1; i < 10000 && term > sum * 1e-16; i++) sum += term *= x / (a + i);
        return 1 - front * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        const double an = -i * (i - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        const double delta = c * d;
        h *= delta;
        if (fabs(delta - 1) < 1e-15) break;
    }
    return front * h;
}

double tool_counts_fit(const double *p, const int64_t *counts, int32_t n_bins, int64_t n, double least)
{
    double statistic = 0, rest = 0;
    int64_t rest_count = 0, degrees = -1;
    int32_t smallest = -1; /* bin that isn't pooled */
    for (int32_t i = 0; i < n_bins; i++) {
        const bool is_pooled = p[i] * (double)n < least;
        if (is_pooled) rest += p[i] * (double)n, rest_count += counts[i];
        else if (smallest < 0 || p[i] < p[smallest]) smallest = i;
    }
    const bool joins = smallest >= 0 && rest < least && (rest > 0 || rest_count > 0); /* the pooled are still too few */
    if (joins) rest += p[smallest] * (double)n, rest_count += counts[smallest];
    for (int32_t i = 0; i < n_bins; i++) {
        const double expected = p[i] * (double)n, d = (double)counts[i] - expected;
        if (expected < least || (joins && i == smallest)) continue;
        statistic += d * d / expected;
        degrees++;
    }
    if (rest > 0) statistic += ((double)rest_count - rest) * ((double)rest_count - rest) / rest, degrees++;
    return degrees > 0 ? tool_chi_square_tail(statistic, degrees) : 1;
}

static double median_of(const double *values, size_t n)
{
    double sorted[TOOL_MOST_PAIRS];
    memcpy(sorted, values, n * sizeof *sorted);
    return tool_quantile(sorted, n, 0.5);
}

tool_speed_kept tool_compare_speeds(const double *plain, const double *other, size_t n, double promised)
{
    const double most = 3 * median_of(plain, n), most_other = 3 * median_of(other, n);
    const double clear = 0.01; /* most standard error at which a shortfall within the scatter counts as kept */
    double sum = 0, squares = 0, a = 0, b = 0;
    tool_speed_kept kept = {.verdict = TOOL_SPEED_UNCLEAR};
    for (size_t i = 0; i < n; i++) {
        const double left = plain[i] - promised * other[i]; /* 0: exactly the promised share of speed */
        if (plain[i] > most || other[i] > most_other) continue;
        sum += left;
        squares += left * left;
        a += plain[i];
        b += other[i];
        kept.n++;
    }
    const double count = (double)kept.n, mean = sum / count;
    const double mean_error = sqrt(fmax(squares / count - mean * mean, 0) / count);
    kept.share = a / b;
    kept.error = mean_error * count / b;
    if (kept.share >= promised) kept.verdict = TOOL_SPEED_KEPT;
    else if (kept.n < TOOL_ENOUGH_PAIRS) return kept;
    else if (mean <= -3 * mean_error) kept.verdict = TOOL_SPEED_LOST;
    else if (kept.error < clear) kept.verdict = TOOL_SPEED_KEPT;
    return kept;
}
