/* SPDX-License-Identifier: MIT */
/* All drafters in the order of their bits (registry.h). */
#include "draft/registry.h"

#include <string.h>

#include "draft/compose.h"

#define DECLARE(constant, name, summary) extern const vouch_drafter_type vouch_drafter_type_##name;
VOUCH_DRAFTER_LIST(DECLARE)
DECLARE(CUSTOM, custom, )
#undef DECLARE

static const vouch_drafter_type none = {0};

/* clang-format off */
static const struct {
    const char *name, *summary;
    const vouch_drafter_type *type;
} drafters[VOUCH_DRAFTERS] = {
    {"none", "plain decoding", &none},
#define ROW(constant, name, summary) {#name, summary, &vouch_drafter_type_##name},
    VOUCH_DRAFTER_LIST(ROW)
    ROW(CUSTOM, custom, "the caller's own, in C")
#undef ROW
};
/* clang-format on */

const vouch_drafter_type *vouch_drafter_type_get(int i)
{
    return i < 0 || i >= VOUCH_DRAFTERS ? &none : drafters[i].type;
}

vouch_drafter_info vouch_drafter_get_info(int i)
{
    if (i < 0 || i >= VOUCH_DRAFTERS) return (vouch_drafter_info){0};
    const vouch_drafter_type *type = drafters[i].type;
    return (vouch_drafter_info){.name = drafters[i].name,
                                .summary = drafters[i].summary,
                                .needs = type->needs,
                                .need = type->need,
                                .flags = type->flags,
                                .settings = type->settings,
                                .file = type->file,
                                .is_paid = type->open_paid,
                                .in_auto = type->in_auto,
                                .in_model = type->in_model};
}

const char *vouch_drafter_name(int i)
{
    return vouch_drafter_get_info(i).name;
}

unsigned vouch_drafter_auto(unsigned given)
{
    unsigned set = 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        const vouch_drafter_type *type = drafters[i].type;
        if (type->in_auto && (!type->needs || given >> i & 1)) set |= 1u << i;
    }
    return set;
}

unsigned vouch_drafter_needing(vouch_need need)
{
    unsigned set = 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (drafters[i].type->need == need) set |= 1u << i;
    return set;
}

unsigned vouch_drafters_given(const vouch_speculation *speculation)
{
    unsigned set = 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        const vouch_drafter_type *type = drafters[i].type;
        if (type->need == VOUCH_NEED_OPTION && (type->is_given ? type->is_given(speculation) : !!speculation->files[i]))
            set |= 1u << i;
    }
    return set;
}

unsigned vouch_speculation_lacks(const vouch_speculation *speculation)
{
    return speculation->drafters & vouch_drafter_needing(VOUCH_NEED_OPTION) & ~vouch_drafters_given(speculation);
}

unsigned vouch_drafters_paid(void)
{
    unsigned set = 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (drafters[i].type->open_paid) set |= 1u << i;
    return set;
}

const vouch_drafter_type *vouch_drafters_paid_type(unsigned set)
{
    const vouch_drafter_type *paid = &none;
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (set >> i & 1 && drafters[i].type->open_paid) paid = drafters[i].type;
    return paid;
}

void vouch_drafters_name(unsigned set, char out[VOUCH_DRAFTER_NAMES])
{
    *out = '\0';
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (set >> i & 1) strcat(strcat(out, *out ? "," : ""), drafters[i].name);
}

/* ------------------------------------------------------------------- opening */

static vouch_status open_free(vouch_drafter_ref *out, unsigned set, const vouch_drafter_setup *setup, bool is_wanted,
                              vouch_error *err)
{
    vouch_source sources[VOUCH_DRAFTERS];
    int32_t n = 0;
    vouch_status status = VOUCH_OK;
    for (int i = 0; i < VOUCH_DRAFTERS && status == VOUCH_OK; i++) {
        if (!(set >> i & 1) || !drafters[i].type->open_free) continue;
        status = drafters[i].type->open_free(&sources[n], setup, err);
        n += status == VOUCH_OK;
    }
    if (status == VOUCH_OK && (n > 0 || is_wanted)) {
        VOUCH_TRY(vouch_drafter_compose_open(out, sources, n, err));
        vouch_drafter_compose_bind(*out, setup->constraint);
        return VOUCH_OK;
    }
    while (n > 0) {
        n--;
        sources[n].ops->close(sources[n].self);
    }
    return status;
}

static vouch_status open_paid(vouch_drafters *out, const vouch_drafter_type *type, const vouch_drafter_setup *setup,
                              vouch_error *err)
{
    if (!type->open_paid) return VOUCH_OK;
    out->paid_share = type->share ? type->share(setup) : 0;
    out->paid_at_once = type->at_once && type->at_once(setup);
    return type->open_paid(&out->paid, setup, err);
}

vouch_status vouch_drafters_open(vouch_drafters *out, unsigned set, const vouch_drafter_setup *setup, bool is_paced,
                                 vouch_error *err)
{
    const vouch_drafter_type *paid = vouch_drafters_paid_type(set);
    const bool has_trees = paid->has_q && setup->branches > 1;
    *out = (vouch_drafters){0};
    VOUCH_TRY(open_free(&out->free, set, setup, is_paced && has_trees, err));
    const vouch_status status = open_paid(out, paid, setup, err);
    if (status != VOUCH_OK) vouch_drafters_close(out);
    return status;
}
