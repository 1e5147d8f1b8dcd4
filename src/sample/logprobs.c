/* SPDX-License-Identifier: MIT */
/* Log probabilities of a row of logits, before sampling parameters: log softmax in double precision, summed in the
 * order of the ids (law L1). */
#include <assert.h>
#include <math.h>

#include "sample/sample.h"

/* log sum exp */
static double log_total(const float *logits, int32_t n_vocab)
{
    float most = logits[0];
    for (int32_t i = 1; i < n_vocab; i++)
        if (logits[i] > most) most = logits[i];
    double sum = 0;
    for (int32_t i = 0; i < n_vocab; i++) sum += exp((double)(logits[i] - most));
    return (double)most + log(sum);
}

void vouch_logprobs_of_row(const float *logits, int32_t n_vocab, int32_t token, int32_t n_top, vouch_logprob *out)
{
    assert(n_top >= 0 && n_top <= VOUCH_MAX_LOGPROBS);
    vouch_logprob *top = out + 1;
    int32_t n = 0;
    const double total = log_total(logits, n_vocab);
    out[0] = (vouch_logprob){token, (float)((double)logits[token] - total)};
    for (int32_t i = 0; i < n_vocab && n_top > 0; i++) {
        if (n == n_top && !(logits[i] > logits[top[n - 1].token])) continue;
        int32_t at = n < n_top ? n++ : n - 1;
        for (; at > 0 && logits[i] > logits[top[at - 1].token]; at--) top[at] = top[at - 1];
        top[at] = (vouch_logprob){i, (float)((double)logits[i] - total)};
    }
    for (; n < n_top; n++) top[n] = (vouch_logprob){-1, -INFINITY};
}
