/* SPDX-License-Identifier: MIT */
/*
 * Every member of config.json that vouch knows. A family lists its own in one text, words with spaces between them:
 *
 *   name          the reader uses it
 *   name!         the same; it must be there
 *   name|other    two names of one member
 *   name=VALUE    other values would change the logits in a way that vouch doesn't compute: they are refused
 *
 * hf_keys.c has the members that no family's logits depend on, with the reasons. Other members are unknown. The reader
 * sees only members of the family's list, so a member that the model's class doesn't read can't change anything.
 * tests/golden/hf_keys.py compares these lists with the configuration classes of transformers, and the effect of each
 * member with the one that it has there.
 */
#ifndef VOUCH_FORMAT_HF_KEYS_H
#define VOUCH_FORMAT_HF_KEYS_H

#include "format/gguf.h"
#include "format/hf/hf_family.h"
#include "format/json.h"

/* Checks the members, removes those that the family's list lacks, and adds the unknown ones to *unknown (hf_unknown).
 * Errors: FORMAT (a member is missing), UNSUPPORTED (a value; an unknown layer_types, rope_parameters, ...), MEMORY. */
vouch_status vouch_hf_keys_check(const vouch_json *config, const vouch_hf_family *family, char **unknown,
                                 vouch_error *err);
/* Adds the members of the family's list that have no VALUE to *sizes: "NAME is VALUE, ...", with null for those that
 * config.json lacks. Error: MEMORY. */
vouch_status vouch_hf_keys_sizes(const vouch_json *config, const vouch_hf_family *family, char **sizes,
                                 vouch_error *err);
/* Whether the family's list has the member without a VALUE. */
bool vouch_hf_keys_has(const vouch_hf_family *family, const char *name);
/* Does the list, with `between` between its words, have the word? */
bool vouch_hf_list_has(const char *list, char between, const char *word);
/* A value as config.json has it, shortened for messages. */
const char *vouch_hf_value(const json_t *value, char text[64]);

#endif
