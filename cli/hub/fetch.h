/* SPDX-License-Identifier: MIT */
/* From a model's name to its path on this machine. */
#ifndef VOUCH_CLI_HUB_FETCH_H
#define VOUCH_CLI_HUB_FETCH_H

#include "hub/name.h"
#include "hub/bytes/space.h"
#include "hub/stores.h"

typedef enum hub_wish {
    HUB_ANY,       /* what is here is used as it is; what is missing is fetched */
    HUB_NEWEST,    /* the hub is asked whether the revision has another commit by now */
    HUB_WITH_DRAFT /* likewise, and what drafts for the model comes along: a file of the same repository, or else the
                      small model of its family (siblings.txt) */
} hub_wish;

/* Writes the path of a GGUF file or a folder for the role. Notes and progress of a fetch go to standard error. Errors:
 * those of name.h, files.h, transfer.h and cache.h. */
vouch_status hub_find(const hub_places *places, const char *word, hub_role role, hub_wish wish,
                      char path[VOUCH_OS_PATH_SIZE], vouch_error *err);

/* Calls for each model on this machine: fetched ones by names such as OWNER/NAME:Q4_K_M, those of other programs
 * (stores.h). */
void hub_walk(const hub_places *places, hub_found *found, void *user);

/* Removes what a name stands for among the fetched files; without a type or file in the name, the whole repository.
 * *freed: bytes. Errors: ARGUMENT (nothing of this name, or of another program), IO. */
vouch_status hub_remove(const hub_places *places, const char *word, int64_t *freed, vouch_error *err);

#endif
