/* SPDX-License-Identifier: MIT */
#include "support/model/sequence.h"

vouch_status vouch_sequence_open(vouch_sequence *out, const vouch_weights *weights, vouch_pool *pool,
                                 const vouch_sequence_options *options, vouch_error *err)
{
    *out = (vouch_sequence){0};
    const vouch_pages_options pages = vouch_pages_for(options->n_ctx, options->kv_type);
    const vouch_pass_options pass = {.n_ctx = options->n_ctx,
                                     .max_rows = options->max_rows,
                                     .max_logits = options->max_logits,
                                     .output = options->head,
                                     .output_bias = options->head_bias};
    const int32_t max_tree = options->max_tree > 0 ? options->max_tree : options->max_rows;
    vouch_status status = vouch_pages_open(&out->pages, weights, &pages, err);
    if (status == VOUCH_OK) status = vouch_memory_open(&out->memory, out->pages, options->n_ctx, max_tree, err);
    if (status == VOUCH_OK) status = vouch_pass_open(&out->pass, weights, pool, &pass, err);
    if (status != VOUCH_OK) vouch_sequence_close(out);
    return status;
}

void vouch_sequence_close(vouch_sequence *sequence)
{
    vouch_pass_close(sequence->pass);
    vouch_memory_close(sequence->memory);
    vouch_pages_close(sequence->pages);
    *sequence = (vouch_sequence){0};
}

size_t vouch_sequence_bytes(const vouch_sequence *sequence)
{
    return vouch_pages_bytes(sequence->pages) + vouch_memory_bytes(sequence->memory) + vouch_pass_bytes(sequence->pass);
}
