/* SPDX-License-Identifier: MIT */
/*
 * The files of a repository, and those among them that make up a model:
 *
 *   OWNER/NAME              the GGUF file of the first type of hub_types that is there; else a folder of safetensors
 *   OWNER/NAME:Q4_K_M       the GGUF file of this type; :safetensors the folder
 *   OWNER/NAME:FILE.gguf    this file
 *
 * A split file is all of its parts. Companions, such as mtp-*.gguf, and files for pictures are never the model; but
 * where no other file is, one that only "-assistant" marks is a model of such a name. Where a head or a table is
 * wanted, those of a repository are chosen among in the same way; where its names mark none, a head may have any name.
 */
#ifndef VOUCH_CLI_HUB_FILES_H
#define VOUCH_CLI_HUB_FILES_H

#include <stdint.h>

#include "hub/name.h"

typedef struct hub_file {
    char *path; /* in the repository, with '/' */
    int64_t size;
    char *digest; /* names the blob: SHA-256 of large files, git's SHA-1 of others; NULL in a list made from a folder */
    bool is_chosen; /* by hub_files_choose */
} hub_file;

typedef struct hub_files {
    char commit[HUB_NAME_SIZE];
    hub_file *items;
    size_t n;
} hub_files;

/* The hub's answer to /api/models/OWNER/NAME/revision/REVISION?blobs=true. Errors: FORMAT, which names the field;
 * MEMORY. */
vouch_status hub_files_parse(hub_files *files, const char *json, size_t n, const char *what, vouch_error *err);
/* The files below a folder, in the order of their paths. Errors: IO, MEMORY. */
vouch_status hub_files_read(hub_files *files, const char *folder, vouch_error *err);
void hub_files_free(hub_files *files);

/* Does a GGUF file's name, or its folder's, end in the type? "m-Q4_K_M.gguf", "Q4_K_M/m.Q4_K_M-00001-of-00002.gguf" */
bool hub_is_of_type(const char *path, const char *type);
/* Does a file of this name draft for a model beside it, such as mtp-m.gguf? */
bool hub_is_drafter(const char *path);
/* Is it a GGUF file, or the first part of one, whose name says that it is for this? */
bool hub_is_of_role(const char *path, hub_role role);
/* Would hub_files_choose choose the file for a model? */
bool hub_files_is_model(const hub_files *files, size_t i);
/* The types that a name without one stands for, best first. NULL past the last. */
const char *hub_type(size_t i);

/* Marks the files of the model. *entry: the item to open: the GGUF file, its first part, or config.json of a folder.
 * Errors: ARGUMENT, with the types that are there, where none fits or several do. */
vouch_status hub_files_choose(hub_files *files, const hub_name *name, size_t *entry, vouch_error *err);
/* Marks a file that drafts for the model, too, the smallest of several. False: there is none. */
bool hub_files_choose_drafter(hub_files *files);

#endif
