/* SPDX-License-Identifier: MIT */
/* The table of rules, vouch_judge, and dice over the random numbers. */
#include "decode/rules.h"

#define DECLARE(constant, name) extern const vouch_rule vouch_rule_##name;
VOUCH_ACCEPT_LIST(DECLARE)
#undef DECLARE

static const struct {
    const char *name;
    const vouch_rule *rule;
} rules[VOUCH_ACCEPTS] = {
#define ROW(constant, name) {#name, &vouch_rule_##name},
    VOUCH_ACCEPT_LIST(ROW)
#undef ROW
};

const vouch_rule *vouch_rule_get(vouch_accept accept)
{
    return (unsigned)accept < VOUCH_ACCEPTS ? rules[accept].rule : NULL;
}

/* The seed reproduces the text unless it is to be lossy. A rule that reads q accepts drawn guesses more often. */
vouch_accept vouch_rule_auto(double lenience, bool drawn)
{
    int i = 0;
    for (; i < VOUCH_ACCEPTS; i++) {
        const vouch_rule *rule = rules[i].rule;
        if (lenience < 1 ? rule->lenient : rule->seed_reproduces && rule->ignores_q == !drawn) break;
    }
    return (vouch_accept)i;
}

vouch_accept_info vouch_accept_get_info(int i)
{
    if (i < 0 || i >= VOUCH_ACCEPTS) return (vouch_accept_info){0};
    const vouch_rule *rule = rules[i].rule;
    return (vouch_accept_info){.name = rules[i].name,
                               .trees = rule->trees,
                               .paths = rule->paths,
                               .lenient = rule->lenient,
                               .seed_reproduces = rule->seed_reproduces};
}

const char *vouch_accept_name(int i)
{
    return vouch_accept_get_info(i).name;
}

vouch_status vouch_judge(vouch_judgement *out, vouch_guess *guesses, const vouch_rule *rule, const vouch_trial *trial)
{
    const vouch_draft *draft = trial->draft;
    out->n_accepted = 0;
    for (int32_t i = 0; i < draft->n; i++) {
        const int32_t token = draft->tokens[i];
        guesses[i] = (vouch_guess){.token = token,
                                   .parent = vouch_draft_parent(draft, i),
                                   .drafters = vouch_draft_drafters(draft, i),
                                   .verdict = VOUCH_NOT_REACHED,
                                   .q = vouch_draft_is_drawn(draft, i) ? vouch_dist_p(draft->q[i], token) : 1};
        out->overlap[i] = 0;
    }
    return rule->judge(out, guesses, trial);
}

/* -------------------------------------------------------------------- dice */

static bool philox_accept(void *self, int64_t position, double before, double limit, double *u)
{
    (void)before;
    *u = vouch_uniform(((const vouch_seeded_draw *)self)->seed, position, VOUCH_PURPOSE_ACCEPT);
    return *u < limit;
}

static int32_t philox_draw(void *self, int64_t position, const vouch_residual *left)
{
    const vouch_seeded_draw *seeded = self;
    return seeded->draw(left, seeded->seed, position, 0);
}

vouch_dice vouch_dice_philox(const vouch_seeded_draw *seeded)
{
    return (vouch_dice){
        .accept = philox_accept, .draw = philox_draw, .self = (void *)(uintptr_t)seeded}; /* only read */
}
