/* SPDX-License-Identifier: MIT */
#include "base/tensor_type.h"

#include <stddef.h>
#include <string.h>

static const vouch_type_info type_infos[VOUCH_TYPE_COUNT] = {
    [VOUCH_TYPE_F32] = {"F32", 1, 4},
    [VOUCH_TYPE_F16] = {"F16", 1, 2},
    [VOUCH_TYPE_BF16] = {"BF16", 1, 2},
    [VOUCH_TYPE_Q8_0] = {"Q8_0", 32, 34},
    [VOUCH_TYPE_Q4_0] = {"Q4_0", 32, 18},
    [VOUCH_TYPE_Q4_1] = {"Q4_1", 32, 20},
    [VOUCH_TYPE_Q5_0] = {"Q5_0", 32, 22},
    [VOUCH_TYPE_Q5_1] = {"Q5_1", 32, 24},
    [VOUCH_TYPE_Q2_K] = {"Q2_K", 256, 84},
    [VOUCH_TYPE_Q3_K] = {"Q3_K", 256, 110},
    [VOUCH_TYPE_Q4_K] = {"Q4_K", 256, 144},
    [VOUCH_TYPE_Q5_K] = {"Q5_K", 256, 176},
    [VOUCH_TYPE_Q6_K] = {"Q6_K", 256, 210},
    [VOUCH_TYPE_IQ4_NL] = {"IQ4_NL", 32, 18},
    [VOUCH_TYPE_IQ4_XS] = {"IQ4_XS", 256, 136},
    [VOUCH_TYPE_IQ1_S] = {"IQ1_S", 256, 50},
    [VOUCH_TYPE_IQ1_M] = {"IQ1_M", 256, 56},
    [VOUCH_TYPE_IQ2_XXS] = {"IQ2_XXS", 256, 66},
    [VOUCH_TYPE_IQ2_XS] = {"IQ2_XS", 256, 74},
    [VOUCH_TYPE_IQ2_S] = {"IQ2_S", 256, 82},
    [VOUCH_TYPE_IQ3_XXS] = {"IQ3_XXS", 256, 98},
    [VOUCH_TYPE_IQ3_S] = {"IQ3_S", 256, 110},
    [VOUCH_TYPE_TQ1_0] = {"TQ1_0", 256, 54},
    [VOUCH_TYPE_TQ2_0] = {"TQ2_0", 256, 66},
    [VOUCH_TYPE_MXFP4] = {"MXFP4", 32, 17},
    [VOUCH_TYPE_NVFP4] = {"NVFP4", 64, 36},
};

const vouch_type_info *vouch_type_get_info(uint32_t id)
{
    return id < VOUCH_TYPE_COUNT && type_infos[id].name ? &type_infos[id] : NULL;
}

const vouch_type_info *vouch_type_get_stored(uint32_t id)
{
    static const vouch_type_info i32 = {"I32", 1, 4}, i64 = {"I64", 1, 8};
    return id == VOUCH_TYPE_I32 ? &i32 : id == VOUCH_TYPE_I64 ? &i64 : vouch_type_get_info(id);
}

const char *vouch_type_gguf_name(uint32_t id)
{
    /* Ids 4, 5, 31 to 33 and 36 to 38 were withdrawn from the format. */
    static const char *const names[] = {
        "F32",   "F16",    "Q4_0",  "Q4_1", NULL,   NULL,      "Q5_0",   "Q5_1",    "Q8_0",  "Q8_1",   "Q2_K",
        "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
        "IQ2_S", "IQ4_XS", "I8",    "I16",  "I32",  "I64",     "F64",    "IQ1_M",   "BF16",  NULL,     NULL,
        NULL,    "TQ1_0",  "TQ2_0", NULL,   NULL,   NULL,      "MXFP4",  "NVFP4",   "Q1_0",  "Q2_0"};
    return id < sizeof names / sizeof names[0] ? names[id] : NULL;
}

float vouch_bfloat_to_float(uint16_t upper)
{
    const uint32_t bits = (uint32_t)upper << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float vouch_e8m0_half(uint8_t bits)
{
    return vouch_bfloat_to_float((uint16_t)(bits < 2 ? 0x20 << bits : (bits - 1) << 7)); /* below 2^-126: a denormal */
}

float vouch_e4m3_half(uint8_t bits)
{
    return bits == 0x7f ? 0.0f : vouch_bfloat_to_float((uint16_t)((bits & 0x7f) << 4)) * 0x1p119f;
}

float vouch_half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = half >> 10 & 0x1f;
    uint32_t mantissa = half & 0x3ff, bits;
    if (exponent == 0x1f) {
        bits = 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0); /* NaN becomes quiet */
    } else if (exponent != 0) {
        bits = (exponent + 112) << 23 | mantissa << 13;
    } else if (mantissa == 0) {
        bits = 0;
    } else { /* every denormal half is a normal float */
        const int shift = __builtin_clz(mantissa) - 21;
        mantissa = mantissa << shift & 0x3ff;
        bits = (uint32_t)(113 - shift) << 23 | mantissa << 13;
    }
    bits |= sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t vouch_float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff)); /* quiet NaN */
    if (bits >= 0x47800000) return sign | 0x7c00;                                   /* 65536 and above: infinity */
    uint32_t kept, dropped, half_way;
    if (bits >= 0x38800000) { /* a normal half; rounding up to infinity is correct */
        kept = (bits - 0x38000000) >> 13;
        dropped = bits & 0x1fff;
        half_way = 0x1000;
    } else if (bits >= 0x33000000) { /* a denormal half: units of 2^-24 */
        const uint32_t shift = 126 - (bits >> 23), mantissa = (bits & 0x7fffff) | 0x800000;
        kept = mantissa >> shift;
        dropped = mantissa & ((1u << shift) - 1);
        half_way = 1u << (shift - 1);
    } else {
        return sign;
    }
    kept += dropped > half_way || (dropped == half_way && (kept & 1));
    return (uint16_t)(sign | kept);
}
