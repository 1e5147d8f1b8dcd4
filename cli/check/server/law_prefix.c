/* SPDX-License-Identifier: MIT */
/*
 * L7: the prefix cache changes no text. A prompt begins with a number that no prompt had, so the cache can't know it.
 *
 *   new, known      the prompt, and the same again
 *   known in part   another prompt with the same beginning was asked; then the prompt, and the prompt again
 *   left out        where the server takes a field for it: without the cache, and with it
 */
#include "check/server/pair.h"

enum { TOKENS = 24, LONGEST = 900 };

static const char shared[] =
    "The harbour opens at six. The first boat brings fish, the second brings letters, and the third brings the people "
    "who work on the island. At noon the boats lie still. The harbour closes at nine, and the last boat brings back "
    "the people who work on the island. ";

static ask_question asked(const ask_check *c, bool is_chat, const char *end, json_t *fields)
{
    const ask_config *config = &c->server.configs[c->server.n_configs - 1];
    char prompt[LONGEST];
    snprintf(prompt, sizeof prompt, ASK_FRESH "%s%s", shared, end);
    ask_question q = ask_greedy(c, is_chat, config, prompt, TOKENS, false);
    json_object_update(q.body, fields);
    return q;
}

vouch_status ask_law_prefix(ask_check *c, ask_law *law, vouch_error *err)
{
    const ask_server *s = &c->server;
    const bool is_chat = ask_first_api(s);
    vouch_status status = VOUCH_OK;
    const int64_t n_cached = c->n_cached;
    int n = 0;
    for (size_t i = 0; i < 60 && !status && (i < 2 || ask_goes_on(c, law)); i++) {
        const char *end = ask_prompt(i / 3), *other = ask_prompt(i / 3 + 1);
        const int kind = (int)(i % 3);
        ask_pair pair = {.what = ASK_TEXT | ASK_FINISH, .is_fresh = true};
        if (kind == 2 && !s->uncached) continue;
        pair.a = asked(c, is_chat, end, kind == 2 ? s->uncached : s->cached);
        pair.b = asked(c, is_chat, end, s->cached);
        if (kind > 0) pair.before = asked(c, is_chat, other, s->cached);
        pair.name_a = kind == 0 ? "for a new prompt" : kind == 1 ? "for a prompt known in part" : "without the cache";
        pair.name_b = kind == 2 ? "with it" : "for the same prompt again";
        status = ask_pair_judge(c, law, &pair, kind == 0 ? "the same prompt" : "a common beginning", NULL, NULL, err);
        n += !c->is_gone;
    }
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%d prompts of 300 bytes: new, again, with a beginning that another had%s; the server tells of %lld "
             "tokens from "
             "the cache",
             n, s->uncached ? ", without the cache" : "; no known field leaves out the cache",
             (long long)(c->n_cached - n_cached));
    return status;
}
