/* SPDX-License-Identifier: MIT */
/* The scopes of API keys in a draft memory (vouch_draft_memory). */
#ifndef VOUCH_CLI_SCOPES_H
#define VOUCH_CLI_SCOPES_H

#include <stddef.h>
#include <stdint.h>

/* Fills scopes [n_keys], one for each key, which the caller frees. A scope is 64
 * bits of the SHA-256 of a salt and the key, so that files name no key. The salt is random. With a folder it is kept
 * there (FOLDER/salt, readable by this user only), so that a key keeps its scope. Prints its own complaint; returns an
 * exit status. */
int cli_scopes_open(uint64_t **scopes, const char *const *keys, size_t n_keys, const char *flag, const char *folder);

#endif
