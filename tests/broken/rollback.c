/* SPDX-License-Identifier: MIT */
/*
 * Builds the command with a rollback that leaves a trace: it replaces the keys and values of the last kept token by
 * those of another token. `vouch check` must find that law L3 is broken.
 */
#include "model/context.h"

void __real_vouch_context_keep(vouch_context *context, int32_t n);
void __real_vouch_context_keep_path(vouch_context *context, const int32_t *path, int32_t n);
void __wrap_vouch_context_keep(vouch_context *context, int32_t n);
void __wrap_vouch_context_keep_path(vouch_context *context, const int32_t *path, int32_t n);

static void last_replace(vouch_context *context)
{
    static const int32_t stray = 1;
    const int32_t n = vouch_context_n_cached(context);
    if (n < 2) return;
    __real_vouch_context_keep(context, n - 1);
    vouch_context_forward(context, &stray, NULL, 1, 0);
}

void __wrap_vouch_context_keep(vouch_context *context, int32_t n)
{
    const bool forgets = n < vouch_context_n_cached(context);
    __real_vouch_context_keep(context, n);
    if (forgets) last_replace(context);
}

void __wrap_vouch_context_keep_path(vouch_context *context, const int32_t *path, int32_t n)
{
    __real_vouch_context_keep_path(context, path, n);
    last_replace(context);
}
