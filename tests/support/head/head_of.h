/* SPDX-License-Identifier: MIT */
/* The weights in the file of a head. */
#ifndef VOUCH_TESTS_HEAD_OF_H
#define VOUCH_TESTS_HEAD_OF_H

#include "draft/draft_file.h"
#include "model/head/head_weights.h"

static inline const vouch_head_weights *head_of(const vouch_draft_file *file)
{
    return file->content;
}

#endif
