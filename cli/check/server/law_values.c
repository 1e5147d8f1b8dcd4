/* SPDX-License-Identifier: MIT */
/* L1: log probabilities of drafted tokens are those of plain decoding, within a tolerance; on vouch they are equal. */
#include "check/server/pair.h"

enum { TOKENS = 32 };

vouch_status ask_law_values(ask_check *c, ask_law *law, vouch_error *err)
{
    const ask_server *s = &c->server;
    const bool first = s->n_top[0] < 0; /* the API to begin with */
    vouch_status status = VOUCH_OK;
    double most = 0;
    int64_t n_values = 0;
    if (!s->has_plain || (s->n_top[0] < 0 && s->n_top[1] < 0)) {
        snprintf(law->finding.covered, sizeof law->finding.covered, "%s",
                 s->has_plain ? "the server tells no log probabilities"
                              : "the server has no known switch for speculation: --plain-server URL names one that "
                                "runs without");
        return VOUCH_OK;
    }
    for (size_t i = 0; i < ASK_PROMPTS && !status && (i == 0 || ask_goes_on(c, law)); i++) {
        const bool is_chat = s->n_top[0] >= 0 && s->n_top[1] >= 0 ? i % 2 : first;
        for (size_t j = 1; j < s->n_configs && !status; j++) {
            char name[80];
            const char *prompt = ask_prompt(i);
            ask_pair pair = {.a = ask_greedy(c, is_chat, &s->configs[0], prompt, TOKENS, true),
                             .b = ask_greedy(c, is_chat, &s->configs[j], prompt, TOKENS, true),
                             .what = ASK_TOKENS,
                             .name_a = s->configs[0].name,
                             .name_b = s->configs[j].name};
            snprintf(name, sizeof name, "prompt %zu%s", i, is_chat ? ", chat" : "");
            status = ask_pair_judge(c, law, &pair, name, &most, &n_values, err);
        }
    }
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%lld log probabilities, plain and with speculation; largest difference %.3g, tolerance %g",
             (long long)n_values, most, c->tolerance);
    return status;
}
