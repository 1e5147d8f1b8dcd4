/* SPDX-License-Identifier: MIT */
#include "hub/bytes/digest.h"

#include <stdio.h>
#include <string.h>

static uint32_t left(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static uint32_t right(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* FIPS 180-4, 6.1.2 */
static void block_sha1(uint32_t state[8], const uint8_t *block)
{
    static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int t = 0; t < 16; t++) w[t] = word_at(block + 4 * t);
    for (int t = 16; t < 80; t++) w[t] = left(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        const uint32_t choice = (b & c) | (~b & d), parity = b ^ c ^ d, majority = (b & c) | (b & d) | (c & d);
        const uint32_t f = t < 20 ? choice : t / 20 == 2 ? majority : parity;
        const uint32_t next = left(a, 5) + f + e + k[t / 20] + w[t];
        e = d;
        d = c;
        c = left(b, 30);
        b = a;
        a = next;
    }
    const uint32_t end[5] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++) state[i] += end[i];
}

/* FIPS 180-4, 6.2.2 */
static void block_sha256(uint32_t state[8], const uint8_t *block)
{
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++) w[t] = word_at(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        const uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = (right(y, 17) ^ right(y, 19) ^ y >> 10) + w[t - 7] + (right(x, 7) ^ right(x, 18) ^ x >> 3) + w[t - 16];
    }
    memcpy(s, state, sizeof s);
    for (int t = 0; t < 64; t++) {
        const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        const uint32_t one = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) + choice + k[t] + w[t];
        const uint32_t two = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

hub_digest hub_digest_sha256(void)
{
    return (hub_digest){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

hub_digest hub_digest_git(uint64_t size)
{
    hub_digest d = {.is_sha1 = true, .state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
    char head[32];
    const int n = snprintf(head, sizeof head, "blob %llu", (unsigned long long)size);
    hub_digest_add(&d, head, (size_t)n + 1);
    return d;
}

static void block_add(hub_digest *d, const uint8_t *block)
{
    if (d->is_sha1) block_sha1(d->state, block);
    else block_sha256(d->state, block);
}

void hub_digest_add(hub_digest *d, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    size_t kept = d->n % 64;
    d->n += n;
    if (kept > 0) {
        const size_t now = n < 64 - kept ? n : 64 - kept;
        memcpy(d->block + kept, from, now);
        from += now;
        n -= now;
        kept += now;
        if (kept == 64) block_add(d, d->block);
    }
    for (; n >= 64; n -= 64, from += 64) block_add(d, from);
    if (n > 0) memcpy(d->block, from, n);
}

void hub_digest_end(hub_digest *d, char text[HUB_DIGEST_SIZE])
{
    static const uint8_t padding[72] = {0x80};
    const uint64_t bits = d->n * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    hub_digest_add(d, padding, 1 + (119 - d->n % 64) % 64);
    hub_digest_add(d, length, 8);
    for (int i = 0; i < (d->is_sha1 ? 5 : 8); i++) snprintf(text + 8 * i, 9, "%08x", (unsigned)d->state[i]);
}
