/* SPDX-License-Identifier: MIT */
/* L2 for greedy text: each configuration that speculates gives the text of plain decoding. */
#include "check/server/pair.h"

enum { TOKENS = 48 };

vouch_status ask_law_greedy(ask_check *c, ask_law *law, vouch_error *err)
{
    const ask_server *s = &c->server;
    vouch_status status = VOUCH_OK;
    int n_configs = 0, n_prompts = 0;
    if (!s->has_plain) {
        snprintf(law->finding.covered, sizeof law->finding.covered,
                 "the server has no known switch for speculation: --plain-server URL names one that runs without");
        return VOUCH_OK;
    }
    for (size_t i = 0; i < 2 * ASK_PROMPTS && !status && (n_prompts == 0 || ask_goes_on(c, law)); i++) {
        const bool is_chat = i % 2;
        if (!s->has[is_chat]) continue;
        for (size_t j = 1; j < s->n_configs && !status; j++) {
            char name[80];
            const char *prompt = ask_prompt(i / 2);
            ask_pair pair = {.a = ask_greedy(c, is_chat, &s->configs[0], prompt, TOKENS, false),
                             .b = ask_greedy(c, is_chat, &s->configs[j], prompt, TOKENS, false),
                             .what = ASK_TEXT | ASK_FINISH,
                             .name_a = s->configs[0].name,
                             .name_b = s->configs[j].name};
            snprintf(name, sizeof name, "prompt %zu%s", i / 2, is_chat ? ", chat" : "");
            status = ask_pair_judge(c, law, &pair, name, NULL, NULL, err);
            n_configs = (int)j > n_configs ? (int)j : n_configs;
        }
        n_prompts += !c->is_gone;
    }
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%d prompts of up to %d tokens, plain and in %d configuration%s with speculation", n_prompts, TOKENS,
             n_configs, n_configs == 1 ? "" : "s");
    return status;
}
