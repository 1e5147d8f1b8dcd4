/* SPDX-License-Identifier: MIT */
/* L2 for greedy text: each way to speculate gives the text of plain decoding. */
#include "check/server/pair.h"

enum { TOKENS = 48 };

vouch_status ask_law_greedy(ask_check *c, ask_law *law, vouch_error *err)
{
    const ask_server *s = &c->server;
    vouch_status status = VOUCH_OK;
    int n_ways = 0, n_prompts = 0;
    if (!s->has_plain) {
        snprintf(law->finding.covered, sizeof law->finding.covered,
                 "the server has no known switch for speculation: --plain-server URL names one that runs without");
        return VOUCH_OK;
    }
    for (size_t i = 0; i < 2 * ASK_PROMPTS && !status && (n_prompts == 0 || ask_goes_on(c, law)); i++) {
        const bool is_chat = i % 2;
        if (!s->has[is_chat]) continue;
        for (size_t w = 1; w < s->n_ways && !status; w++) {
            char name[80];
            const char *prompt = ask_prompt(i / 2);
            ask_pair pair = {.a = ask_greedy(c, is_chat, &s->ways[0], prompt, TOKENS, false),
                             .b = ask_greedy(c, is_chat, &s->ways[w], prompt, TOKENS, false),
                             .what = ASK_TEXT | ASK_FINISH,
                             .name_a = s->ways[0].name,
                             .name_b = s->ways[w].name};
            snprintf(name, sizeof name, "prompt %zu%s", i / 2, is_chat ? ", chat" : "");
            status = ask_pair_judge(c, law, &pair, name, NULL, NULL, err);
            n_ways = (int)w > n_ways ? (int)w : n_ways;
        }
        n_prompts++;
    }
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%d prompts of up to %d tokens, plain and with %d way%s to speculate", n_prompts, TOKENS, n_ways,
             n_ways == 1 ? "" : "s");
    return status;
}
