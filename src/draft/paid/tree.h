/* SPDX-License-Identifier: MIT */
/* The drafter that grows a chain or a tree of guesses from the logits of a guesser (Leviathan et al., arXiv 2211.17192;
 * Li et al., EAGLE-2, arXiv 2406.16858). It knows no model. */
#ifndef VOUCH_DRAFT_TREE_H
#define VOUCH_DRAFT_TREE_H

#include "draft/drafter.h"
#include "draft/paid/guesser.h"
#include "draft/setup.h"

/* ops: VOUCH_TREE_OPS with the drafter's name and bit. Of the setup it takes the sampling (q is processed as p is), the
 * grammar, which q obeys as p does, and the limits of a draft. The drafter owns the guesser and closes it; a failed
 * call closes it as well. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_drafter_tree_open(vouch_drafter_ref *out, vouch_guesser guesser, const vouch_drafter_ops *ops,
                                     const vouch_drafter_setup *setup, const vouch_kernels *kernels, vouch_error *err);

/* The functions of such a drafter. */
extern const vouch_level_ops vouch_tree_levels;
void vouch_tree_rewind(void *self, int32_t n_tokens);
int32_t vouch_tree_known(const void *self, const int32_t *tokens, int32_t n_tokens);
void vouch_tree_close(void *self);
size_t vouch_tree_memory(const void *self);
uint64_t vouch_tree_digest(const void *self);

/* Those of a drafter whose guesser reads hidden states. */
int32_t vouch_tree_taps(const void *self, const int32_t **layers);
void vouch_tree_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states);
int32_t vouch_tree_n_hidden(const void *self);

#define VOUCH_TREE_FUNCTIONS(drafter_name, drafter_bit)                                                               \
    .name = drafter_name,                                                                                             \
     .bit = drafter_bit,                                                                                              \
     .levels = &vouch_tree_levels,                                                                                    \
     .rewind = vouch_tree_rewind,                                                                                     \
     .known = vouch_tree_known,                                                                                       \
     .close = vouch_tree_close,                                                                                       \
     .memory = vouch_tree_memory,                                                                                     \
     .digest = vouch_tree_digest
#define VOUCH_TREE_OPS(drafter_name, drafter_bit) {VOUCH_TREE_FUNCTIONS(drafter_name, drafter_bit)}

#endif
