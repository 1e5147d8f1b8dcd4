/* SPDX-License-Identifier: MIT */
/*
 * What the cache holds of a repository, without a request to the hub. Each commit has a snapshot, and a snapshot has
 * only those files of its commit that were fetched. A name without a revision stands for files of the snapshot of main;
 * where they are not in it, for those of the newest snapshot that holds them. A name with a revision stands for that
 * one's.
 */
#ifndef VOUCH_CLI_HUB_HERE_H
#define VOUCH_CLI_HUB_HERE_H

#include "hub/cache.h"
#include "hub/stores.h"

/* The path of an entry (hub_files_choose) below a snapshot: of config.json its folder. False: files of it are missing.
 */
bool hub_here_entry_path(const hub_cache *cache, const char *commit, const char *entry, char path[VOUCH_OS_PATH_SIZE]);
/* The path of a repository's name. False: it isn't here. may_fetch: the hub can be asked instead; then false as well
 * where only another snapshot than the revision's has the files, and where a head or a table is wanted and only a GGUF
 * file is here whose name doesn't say that it is one, such as the model. */
bool hub_here_find(const hub_places *places, const hub_name *name, bool may_fetch, char path[VOUCH_OS_PATH_SIZE]);
/* Calls for each model of the repository, with the path that its name stands for. */
void hub_here_walk(const hub_cache *cache, const char *repository, hub_found *found, void *user);
/* Removes what a repository's name stands for, from all snapshots where it says no revision. word: for messages.
 * Errors: ARGUMENT (no such revision or files), IO, MEMORY. */
vouch_status hub_here_remove(const hub_cache *cache, const hub_name *name, const char *word, hub_removal *removal,
                             vouch_error *err);

#endif
