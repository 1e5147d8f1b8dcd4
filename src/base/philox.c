/* SPDX-License-Identifier: MIT */
#include "base/philox.h"

void vouch_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53 * c0, b = (uint64_t)0xCD9E8D57 * c2;
        const uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9; /* golden ratio */
        k1 += 0xBB67AE85; /* sqrt(3) - 1 */
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static uint64_t random_bits(uint64_t seed, int64_t position, vouch_purpose purpose, int32_t number)
{
    const uint32_t counter[4] = {(uint32_t)position, (uint32_t)((uint64_t)position >> 32), (uint32_t)purpose,
                                 (uint32_t)number};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    vouch_philox4x32(counter, key, out);
    return (uint64_t)out[0] << 32 | out[1];
}

double vouch_uniform_of(uint64_t seed, int64_t position, vouch_purpose purpose, int32_t number)
{
    return (double)(random_bits(seed, position, purpose, number) >> 11) * 0x1p-53;
}

uint64_t vouch_seed_of_answer(uint64_t seed, int64_t number)
{
    return number == 0 ? seed : random_bits(seed, number, VOUCH_PURPOSE_SEED, 0);
}

double vouch_uniform(uint64_t seed, int64_t position, vouch_purpose purpose)
{
    return vouch_uniform_of(seed, position, purpose, 0);
}
