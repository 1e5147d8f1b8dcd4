/* SPDX-License-Identifier: MIT */
/* A vouch_draft_file: what a drafter read from its file, and the model that it is for. */
#ifndef VOUCH_DRAFT_FILE_H
#define VOUCH_DRAFT_FILE_H

#include "vouch.h"

struct vouch_draft_file {
    int drafter; /* its number */
    const vouch_model *target;
    void *content; /* made and freed by the drafter (registry.h) */
};

#endif
