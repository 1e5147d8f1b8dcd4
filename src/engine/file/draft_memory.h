/* SPDX-License-Identifier: MIT */
/* A vouch_draft_memory, for the session. */
#ifndef VOUCH_ENGINE_DRAFT_MEMORY_H
#define VOUCH_ENGINE_DRAFT_MEMORY_H

#include <pthread.h>

#include "draft/free/answers.h"
#include "engine/file/model.h"

struct vouch_draft_memory {
    const vouch_model *model;
    vouch_answers *answers;
    char *folder;         /* NULL: nothing is kept */
    size_t most;          /* bytes of a file: twice the tokens that the memory holds */
    pthread_mutex_t lock; /* of what follows */
    int64_t kept;         /* answers below this position are in the files */
    vouch_draft_memory_info info;
};

#endif
