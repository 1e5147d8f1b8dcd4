/* SPDX-License-Identifier: MIT */
#ifndef VOUCH_KERNELS_READ_BLOCK_H
#define VOUCH_KERNELS_READ_BLOCK_H

#include "kernels/file_block.h"

/* The reader of each quantised type. */
extern vouch_block_reader *const vouch_block_readers[VOUCH_TYPE_COUNT];

#endif
