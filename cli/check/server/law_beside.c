/* SPDX-License-Identifier: MIT */
/* L7: the text of a request is the same alone and beside others: other prompts, longer and shorter answers, streams,
 * sampled ones, all at once. */
#include <string.h>

#include "check/server/pair.h"

enum { CROWD = ASK_MOST_BESIDE + 1, SHORTEST = 12, STEP = 5 };

/* Question i of round r. Every other one is a stream. The last is sampled; the others are greedy, and compared. */
static ask_question crowd_question(const ask_check *c, size_t r, size_t i)
{
    const ask_server *s = &c->server;
    const bool is_chat = s->has[0] && s->has[1] ? (r + i) % 4 == 3 : ask_first_api(s);
    const ask_config *config = &s->configs[s->n_configs - 1];
    const int n = SHORTEST + STEP * (int)((i + r) % 5);
    const bool is_sampled = i == CROWD - 1;
    ask_question q = is_sampled ? ask_sampled(c, is_chat, config, ask_prompt(r + i), n, -1, (int64_t)r)
                                : ask_greedy(c, is_chat, config, ask_prompt(r + i), n, false);
    if (i % 2) ask_stream(&q);
    return q;
}

/* Compares the answers of a crowd with those of its members alone, and shrinks those that differ. */
static vouch_status crowd_compare(ask_check *c, ask_law *law, const ask_question *questions, const ask_answer *alone,
                                  const ask_answer *crowd, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i + 1 < CROWD && !status; i++) {
        ask_difference d = {.n_values = 0};
        char name[64];
        ask_answers_compare(&alone[i], &crowd[i], ASK_TEXT | ASK_FINISH, 0, "alone", "beside others", &d);
        snprintf(name, sizeof name, "request %zu of %d", i + 1, CROWD);
        if (!*d.what) {
            cli_finding_compare(&law->finding, true, "%s", name);
            continue;
        }
        ask_pair pair = {.a = ask_copy(&questions[i]),
                         .b = ask_copy(&questions[i]),
                         .what = ASK_TEXT | ASK_FINISH,
                         .name_a = "alone",
                         .name_b = "beside others"};
        for (size_t j = 0; j < CROWD; j++)
            if (j != i) pair.beside[pair.n_beside++] = ask_copy(&questions[j]);
        status = ask_pair_blame(c, law, &pair, name, d.what, err);
    }
    return status;
}

static vouch_status round_run(ask_check *c, ask_law *law, size_t r, vouch_error *err)
{
    ask_question questions[CROWD];
    ask_answer alone[CROWD] = {{.n = 0}}, crowd[CROWD] = {{.n = 0}};
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i < CROWD; i++) questions[i] = crowd_question(c, r, i);
    for (size_t i = 0; i < CROWD && !status; i++) status = ask_warm(c, &questions[i], err);
    for (size_t i = 0; i < CROWD && !status; i++) status = ask_all(c, &questions[i], &alone[i], 1, err);
    if (!status) status = ask_all(c, questions, crowd, CROWD, err);
    if (!status && !c->is_gone) status = crowd_compare(c, law, questions, alone, crowd, err);
    for (size_t i = 0; i < CROWD; i++) {
        ask_answer_free(&alone[i]);
        ask_answer_free(&crowd[i]);
        ask_free(&questions[i]);
    }
    return status;
}

vouch_status ask_law_beside(ask_check *c, ask_law *law, vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    size_t n = 0;
    for (size_t r = 0; r < 50 && !status && (r == 0 || ask_goes_on(c, law)); r++) {
        status = round_run(c, law, r, err);
        n += !c->is_gone;
    }
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%zu rounds of %d requests at once, of all kinds and lengths; %d of each are greedy and compared", n,
             CROWD, CROWD - 1);
    return status;
}
