/* SPDX-License-Identifier: MIT */
/*
 * The folder of fetched files, in the layout of huggingface_hub, so that both programs use each other's files:
 *
 *   models--OWNER--NAME/refs/main              the commit that the branch had when files were last fetched; it
 *                                              is written after them
 *   models--OWNER--NAME/snapshots/COMMIT/PATH  a link to the file's blob
 *   models--OWNER--NAME/blobs/DIGEST           its bytes; DIGEST.incomplete while they come
 *   .locks/models--OWNER--NAME/DIGEST.lock     held while a blob comes
 *
 * Every file appears complete or not at all. Errors are IO, with path and reason.
 */
#ifndef VOUCH_CLI_HUB_CACHE_H
#define VOUCH_CLI_HUB_CACHE_H

#include "hub/name.h"
#include "os/os.h"

typedef struct hub_cache {
    char folder[VOUCH_OS_PATH_SIZE]; /* models--OWNER--NAME */
    char locks[VOUCH_OS_PATH_SIZE];
} hub_cache;

/* root: the folder of all repositories. Creates nothing. Errors: ARGUMENT (paths that are too long). */
vouch_status hub_cache_open(hub_cache *cache, const char *root, const char *repository, vouch_error *err);
/* "OWNER/NAME" of a folder's name; false: it isn't one of a model. */
bool hub_cache_repository(const char *folder_name, char repository[HUB_NAME_SIZE]);

/* The commit that a branch, tag or commit means here; false: none is known. */
bool hub_cache_commit(const hub_cache *cache, const char *revision, char commit[HUB_NAME_SIZE]);
/* Lists the commits whose snapshots are in the cache: first that of the revision, then the others from the newest to
 * the oldest. The caller frees the list. Without a snapshot, or without memory, *n is 0. */
typedef char hub_commit[41];
hub_commit *hub_cache_commits(const hub_cache *cache, const char *revision, size_t *n);
/* A branch or tag that is known to mean the commit: main, if it does. False: none is. */
bool hub_cache_ref_of(const hub_cache *cache, const char *commit, char revision[HUB_NAME_SIZE]);
vouch_status hub_cache_set_commit(const hub_cache *cache, const char *revision, const char *commit, vouch_error *err);

/* Paths; "" where they are too long. */
void hub_cache_snapshot(const hub_cache *cache, const char *commit, const char *file, char path[VOUCH_OS_PATH_SIZE]);
void hub_cache_blob(const hub_cache *cache, const char *digest, const char *end, char path[VOUCH_OS_PATH_SIZE]);

/* The file that is locked while the blob comes. */
void hub_cache_lock_path(const hub_cache *cache, const char *digest, char path[VOUCH_OS_PATH_SIZE]);
enum { HUB_NO_LOCK = -1, HUB_BUSY = -2 };
/* Waits until this process alone holds the lock. Returns a descriptor to close afterwards; HUB_NO_LOCK where the file
 * system has no locks. what: named in a note where another process holds it; NULL: don't wait, return HUB_BUSY. */
int hub_lock(const char *path, const char *what);
/* Creates the folder that the file of this path lies in. */
vouch_status hub_cache_make_folder(const char *path, vouch_error *err);
/* Links a blob into the snapshot; on a file system without links, moves it there. */
vouch_status hub_cache_link(const hub_cache *cache, const char *commit, const char *file, const char *digest,
                            vouch_error *err);

/* What was removed, and what stays because another process holds its lock. */
typedef struct hub_removal {
    int64_t freed; /* bytes */
    size_t n_busy; /* blobs */
} hub_removal;

/* Each adds to *removal, and removes a blob only where no snapshot links to it afterwards. */
/* Files of a snapshot. */
vouch_status hub_cache_remove_files(const hub_cache *cache, const char *commit, const char *const *files, size_t n,
                                    hub_removal *removal, vouch_error *err);
/* A snapshot, and the refs that name it. */
vouch_status hub_cache_remove_snapshot(const hub_cache *cache, const char *commit, hub_removal *removal,
                                       vouch_error *err);
/* The whole repository, with the blobs that are incomplete. */
vouch_status hub_cache_remove(const hub_cache *cache, hub_removal *removal, vouch_error *err);

#endif
