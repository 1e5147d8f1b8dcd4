/* SPDX-License-Identifier: MIT */
/* The storage types of tensors, numbered by their GGUF ids. A tensor stores its values in blocks. */
#ifndef VOUCH_BASE_TENSOR_TYPE_H
#define VOUCH_BASE_TENSOR_TYPE_H

#include <stdint.h>

typedef enum vouch_type {
    VOUCH_TYPE_F32 = 0,
    VOUCH_TYPE_F16 = 1,
    VOUCH_TYPE_Q4_0 = 2,
    VOUCH_TYPE_Q4_1 = 3,
    VOUCH_TYPE_Q5_0 = 6,
    VOUCH_TYPE_Q5_1 = 7,
    VOUCH_TYPE_Q8_0 = 8,
    VOUCH_TYPE_Q2_K = 10,
    VOUCH_TYPE_Q3_K = 11,
    VOUCH_TYPE_Q4_K = 12,
    VOUCH_TYPE_Q5_K = 13,
    VOUCH_TYPE_Q6_K = 14,
    VOUCH_TYPE_IQ2_XXS = 16,
    VOUCH_TYPE_IQ2_XS = 17,
    VOUCH_TYPE_IQ3_XXS = 18,
    VOUCH_TYPE_IQ1_S = 19,
    VOUCH_TYPE_IQ4_NL = 20,
    VOUCH_TYPE_IQ3_S = 21,
    VOUCH_TYPE_IQ2_S = 22,
    VOUCH_TYPE_IQ4_XS = 23,
    VOUCH_TYPE_I32 = 26,
    VOUCH_TYPE_I64 = 27,
    VOUCH_TYPE_IQ1_M = 29,
    VOUCH_TYPE_BF16 = 30,
    VOUCH_TYPE_TQ1_0 = 34,
    VOUCH_TYPE_TQ2_0 = 35,
    VOUCH_TYPE_MXFP4 = 39,
    VOUCH_TYPE_NVFP4 = 40,
    VOUCH_TYPE_COUNT = 41
} vouch_type;

/* All supported types, for messages. */
#define VOUCH_TYPE_NAMES                                                                                           \
    "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, " \
    "IQ2_S, IQ3_XXS, IQ3_S, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0, MXFP4, NVFP4"

typedef struct vouch_type_info {
    const char *name;
    int32_t block_length; /* values in a block */
    int32_t block_bytes;  /* bytes of a block in a file */
} vouch_type_info;

/* NULL for an id that is not supported, and for integers, which aren't weights. */
const vouch_type_info *vouch_type_get_info(uint32_t id);
/* The same, integers (I32, I64) included: the types whose data the GGUF reader and writer know. */
const vouch_type_info *vouch_type_get_stored(uint32_t id);
/* GGUF's name of the id, supported or not; NULL for an id that GGUF doesn't define. */
const char *vouch_type_gguf_name(uint32_t id);

/* A bfloat16 is the upper 16 bits of a single. */
float vouch_bfloat_to_float(uint16_t upper);
/* IEEE 754 half to single is exact; single to half rounds to nearest even. */
float vouch_half_to_float(uint16_t half);
uint16_t vouch_float_to_half(float value);
/* The value of an 8-bit scale, times one half, exact: the tables of 4-bit floats hold doubled values. E8M0 (OCP
 * Microscaling Formats): 2^(bits - 128), no bits are a NaN. E4M3: 4 bits of exponent, 3 of mantissa; as in ggml, the
 * sign bit is ignored, and 0x7f is 0. */
float vouch_e8m0_half(uint8_t bits);
float vouch_e4m3_half(uint8_t bits);

#endif
