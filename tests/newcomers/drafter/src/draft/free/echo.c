/* SPDX-License-Identifier: MIT */
/* A free drafter in one file, for tests/house/test_newcomers.sh: it guesses that the last token repeats. */
#include <stdlib.h>

#include "draft/registry.h"

static void observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    (void)self, (void)tokens, (void)n_tokens; /* expand() finds all that it needs in its vouch_prefix */
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
    (void)self;
    out[0] = (vouch_candidate){.token = prefix->end[-1]};
    return 1;
}

static double prior(int32_t kind)
{
    return kind == 0 ? 0.9 : 0.05;
}

static void close_echo(void *self)
{
    free(self);
}

static size_t memory(const void *self)
{
    (void)self;
    return 1;
}

static uint64_t digest(const void *self)
{
    (void)self;
    return 0;
}

static const vouch_source_ops ops = {.name = "echo",
                                     .bit = VOUCH_DRAFTER_ECHO,
                                     .n_classes = 1,
                                     .observe = observe,
                                     .rewind = rewind_to,
                                     .start = start,
                                     .step = step,
                                     .expand = expand,
                                     .prior = prior,
                                     .trust = 0.5,
                                     .close = close_echo,
                                     .memory = memory,
                                     .digest = digest};

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    (void)setup;
    *out = (vouch_source){.ops = &ops, .self = malloc(1)};
    return out->self ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the echo");
}

const vouch_drafter_type vouch_drafter_type_echo = {.in_auto = true, .open_free = open_free};
