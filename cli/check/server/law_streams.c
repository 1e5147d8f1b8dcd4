/* SPDX-License-Identifier: MIT */
/* S1: a stream has the text, the tokens, the finish reason and the usage of a body. Every other case ends at a stop
 * text, which is taken from the answer. */
#include <stdlib.h>
#include <string.h>

#include "check/server/pair.h"
#include "tool/text.h"

enum { TOKENS = 32 };

/* Takes two characters from the middle of a text as a stop text: the first two neighbours that are ASCII and no spaces.
 * "": there are none. */
static void stop_find(const ask_answer *a, char stop[4])
{
    *stop = '\0';
    for (size_t i = a->n / 3; i + 1 < a->n && !*stop; i++)
        if (a->text[i] > ' ' && a->text[i] < 127 && a->text[i + 1] > ' ' && a->text[i + 1] < 127)
            snprintf(stop, 4, "%.2s", a->text + i);
}

/* Adds a stop text to the pair, as found in an answer. */
static vouch_status stop_add(ask_check *c, ask_pair *p, vouch_error *err)
{
    ask_answer answer;
    char stop[4];
    const vouch_status status = ask_all(c, &p->a, &answer, 1, err);
    if (status) return status;
    stop_find(&answer, stop);
    ask_answer_free(&answer);
    if (*stop) {
        ask_set(&p->a, "stop", json_pack("[s]", stop));
        ask_set(&p->b, "stop", json_pack("[s]", stop));
    }
    return VOUCH_OK;
}

vouch_status ask_law_streams(ask_check *c, ask_law *law, vouch_error *err)
{
    const ask_server *s = &c->server;
    const ask_config *config = &s->configs[s->n_configs - 1];
    vouch_status status = VOUCH_OK;
    int n[2] = {0};
    for (size_t i = 0; i < 4 * ASK_PROMPTS && !status && (n[0] + n[1] < 2 || ask_goes_on(c, law)); i++) {
        const bool is_chat = i / 2 % 2, stops = i % 2;
        if (!s->has[is_chat]) continue;
        char name[80];
        ask_pair pair = {.a = ask_greedy(c, is_chat, config, ask_prompt(i / 4), TOKENS, !stops),
                         .what = ASK_TEXT | ASK_FINISH | ASK_USAGE | (stops ? 0 : ASK_TOKENS),
                         .name_a = "in a body",
                         .name_b = "in a stream"};
        pair.b = ask_copy(&pair.a);
        ask_stream(&pair.b);
        if (stops) status = stop_add(c, &pair, err);
        snprintf(name, sizeof name, "prompt %zu%s%s", i / 4, is_chat ? ", chat" : "",
                 stops ? ", with a stop text" : "");
        if (status) {
            ask_free(&pair.a);
            ask_free(&pair.b);
        } else status = ask_pair_judge(c, law, &pair, name, NULL, NULL, err);
        n[is_chat] += !status && !c->is_gone;
    }
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%d answers of completions and %d of chat: text, tokens, log probabilities, finish reason, usage", n[0],
             n[1]);
    return status;
}
