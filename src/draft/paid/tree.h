/* SPDX-License-Identifier: MIT */
/* The drafter that grows a chain or a tree of guesses from the logits of a guesser (Leviathan et al., arXiv 2211.17192;
 * Li et al., EAGLE-2, arXiv 2406.16858). It knows no model. */
#ifndef VOUCH_DRAFT_TREE_H
#define VOUCH_DRAFT_TREE_H

#include "draft/drafter.h"
#include "draft/paid/guesser.h"
#include "draft/setup.h"

/* Opens the drafter with this name and bit. Of the setup it takes the sampling (q is processed as p is), the grammar,
 * which q obeys as p does, and the limits of a draft. Its state is the guesser's. The drafter owns the guesser and
 * closes it; a failed call closes it as well. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_drafter_tree_open(vouch_drafter_ref *out, vouch_guesser guesser, const char *name, unsigned bit,
                                     const vouch_drafter_setup *setup, const vouch_kernels *kernels, vouch_error *err);

#endif
