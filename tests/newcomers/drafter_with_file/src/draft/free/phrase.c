/* SPDX-License-Identifier: MIT */
/* A free drafter with a file and a flag, for tests/house/test_newcomers.sh: the file has a token id, which the drafter
 * guesses. */
#include <stdio.h>
#include <stdlib.h>

#include "draft/registry.h"

static void observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    (void)self, (void)tokens, (void)n_tokens;
}

static void rewind_to(void *self, int32_t n_tokens)
{
    (void)self, (void)n_tokens;
}

static int64_t start(const void *self)
{
    (void)self;
    return 0;
}

static int64_t step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    (void)self, (void)prefix, (void)token;
    return 0;
}

static int32_t expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    (void)prefix;
    out[0] = (vouch_candidate){.token = *(const int32_t *)self};
    return 1;
}

static double prior(int32_t kind)
{
    return kind == 0 ? 0.9 : 0.05;
}

static void close_phrase(void *self)
{
    free(self);
}

static size_t memory(const void *self)
{
    (void)self;
    return sizeof(int32_t);
}

static uint64_t digest(const void *self)
{
    (void)self;
    return 0;
}

static const vouch_source_ops ops = {.name = "phrase",
                                     .bit = VOUCH_DRAFTER_PHRASE,
                                     .n_classes = 1,
                                     .observe = observe,
                                     .rewind = rewind_to,
                                     .start = start,
                                     .step = step,
                                     .expand = expand,
                                     .prior = prior,
                                     .trust = 0.5,
                                     .close = close_phrase,
                                     .memory = memory,
                                     .digest = digest};

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    int32_t *token = malloc(sizeof *token);
    if (!token) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the phrase");
    *token = *(const int32_t *)setup->files[VOUCH_DRAFTER_NUMBER_PHRASE];
    *out = (vouch_source){.ops = &ops, .self = token};
    return VOUCH_OK;
}

static vouch_status open_file(void **out, const char *path, const vouch_draft_target *target, vouch_error *err)
{
    int32_t *token = malloc(sizeof *token);
    FILE *file = fopen(path, "r");
    vouch_status status = VOUCH_OK;
    if (!token || !file) status = vouch_fail(err, VOUCH_E_IO, "%s: can't be read", path);
    else if (fscanf(file, "%d", token) != 1 || *token < 0 || *token >= target->n_vocab)
        status = vouch_fail(err, VOUCH_E_FORMAT, "%s: expected a token id below %d", path, target->n_vocab);
    if (file) fclose(file);
    if (status == VOUCH_OK) *out = token;
    else free(token);
    return status;
}

const vouch_drafter_type vouch_drafter_type_phrase = {.in_auto = true,
                                                      .needs = "a phrase",
                                                      .need = VOUCH_NEED_OPTION,
                                                      .flags = "phrase-file",
                                                      .lacks = "a phrase; set its file",
                                                      .file = "the phrase that the drafter phrase guesses",
                                                      .open_file = open_file,
                                                      .close_file = free,
                                                      .open_free = open_free};
