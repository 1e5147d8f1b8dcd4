/* SPDX-License-Identifier: MIT */
/*
 * Models by their names. A path that exists is never taken for a name.
 *
 *   Qwen/Qwen3-4B-GGUF              a repository of the hub; hf:Qwen/... and hf://Qwen/... say so without doubt
 *   Qwen/Qwen3-4B-GGUF:Q4_K_M       its file of this quantisation
 *   Qwen/Qwen3-4B-GGUF:sub/f.gguf   its file of this path; hf:Qwen/Qwen3-4B-GGUF/sub/f.gguf is the same
 *   Qwen/Qwen3-4B-GGUF@v1.0         a branch, a tag or a commit; without it main
 *   https://host/folder/f.gguf      a file at an address
 *   ollama:qwen3:4b                 a model that Ollama holds on this machine
 *
 * name.h     what a name says
 * places.h   where models lie on this machine, and what the environment says about the hub
 * cache.h    the folder that holds fetched files, shared with other programs
 * transfer.h one request to a server: redirects, retries, continued downloads
 * files.h    which files of a repository make up a model
 * fetch.h    from a name to a path, fetching what is missing
 */
#ifndef VOUCH_CLI_HUB_NAME_H
#define VOUCH_CLI_HUB_NAME_H

#include "vouch.h"

typedef enum hub_kind { HUB_PATH, HUB_REPOSITORY, HUB_ADDRESS, HUB_OLLAMA } hub_kind;

/* What the file of a repository is wanted for. */
typedef enum hub_role { HUB_MODEL, HUB_HEAD, HUB_TABLE, HUB_ROLES } hub_role;

/* For messages. */
#define HUB_NAME_FORMS                                                                               \
    "expected OWNER/NAME, OWNER/NAME:Q4_K_M, OWNER/NAME:FILE.gguf, each with @REVISION or without, " \
    "https://HOST/FILE.gguf, or ollama:NAME:TAG"

enum { HUB_NAME_SIZE = 256 };

typedef struct hub_name {
    hub_kind kind;
    hub_role role;                  /* hub_name_parse says HUB_MODEL */
    char repository[HUB_NAME_SIZE]; /* "Qwen/Qwen3-4B-GGUF"; of an Ollama model "qwen3" */
    char revision[HUB_NAME_SIZE];   /* "main"; "" for the other kinds */
    bool has_revision;              /* the word says a revision; else `revision` is "main" */
    char part[HUB_NAME_SIZE];       /* a quantisation, a file's path, Ollama's tag; "": not said */
} hub_name;

/* What the word is, by its looks and by what exists. Touches no network. */
hub_kind hub_kind_of(const char *word);
/* Is the word "OWNER/NAME", and a path only because a folder OWNER exists here? No such path exists. */
bool hub_is_behind_folder(const char *word);
/* endpoint: the hub's address, so that an address below it counts as a name. Errors: ARGUMENT, which shows the form. */
vouch_status hub_name_parse(hub_name *name, const char *word, const char *endpoint, vouch_error *err);
/* Does the path end in ".gguf" or ".safetensors"? */
bool hub_is_model_file(const char *path);

#endif
