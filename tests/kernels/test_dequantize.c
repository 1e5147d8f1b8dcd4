/* SPDX-License-Identifier: MIT */
/*
 * Dequantization. Random blocks of every type, packed and read back, have bit for bit the values that gguf-py gives
 * them. golden/dequantize.py wrote the table of values.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/dequantize.h"
#include "kernels/kernels.h"
#include "os/os.h"
#include "support/test.h"

typedef struct sample {
    vouch_type type;
    const unsigned char *blocks;
    const uint32_t *values; /* [n] expected values, as the bits of floats */
    int64_t n;
} sample;

#define SAMPLE(type) {VOUCH_TYPE_##type, blocks_##type, values_##type, sizeof values_##type / sizeof(uint32_t)},
static const sample samples[] = {SAMPLE(F16) SAMPLE(BF16) VOUCH_QUANTIZED_TYPES(SAMPLE)};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

/* Packs the blocks as rows of n_in values, reads them back, and counts the values that differ from the sample's. */
static int64_t count_differences(const sample *s, const unsigned char *blocks, int64_t n_in)
{
    vouch_matrix m;
    assert_true(vouch_matrix_shape(&m, s->type, s->n / n_in, n_in));
    m.data = vouch_os_aligned_take(64, vouch_matrix_bytes(&m));
    vouch_matrix_pack(&m, blocks, 0, m.n_tiles);
    float *row = malloc((size_t)n_in * sizeof *row);
    int64_t differing = 0;
    for (int64_t i = 0; i < s->n / n_in; i++) {
        vouch_matrix_get_row(&m, i, row);
        for (int64_t k = 0; k < n_in; k++) differing += memcmp(&row[k], &s->values[i * n_in + k], sizeof *row) != 0;
    }
    free(row);
    vouch_os_aligned_free(m.data);
    return differing;
}

static void values_are_those_of_gguf_py(void **state)
{
    (void)state;
    for (int i = 0; i < N_SAMPLES; i++) {
        const sample *s = &samples[i];
        const vouch_type_info *info = vouch_type_get_info(s->type);
        const int64_t block = info->block_length > 16 ? info->block_length : 16;
        if (count_differences(s, s->blocks, s->n) || count_differences(s, s->blocks, block)) fail_msg("%s", info->name);
    }
}

/* Changing any byte of a block changes a value, so the reader uses every byte. */
static void every_byte_counts(void **state)
{
    (void)state;
    unsigned char changed[2048];
    for (int i = 0; i < N_SAMPLES; i++) {
        const sample *s = &samples[i];
        const vouch_type_info *info = vouch_type_get_info(s->type);
        const size_t bytes = (size_t)(s->n / info->block_length * info->block_bytes);
        assert_true(bytes <= sizeof changed);
        for (int32_t at = 0; at < info->block_bytes; at++) {
            memcpy(changed, s->blocks, bytes);
            changed[at] ^= 0x11;
            assert_true(count_differences(s, changed, s->n) > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_gguf_py),
        cmocka_unit_test(every_byte_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
