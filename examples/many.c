/* SPDX-License-Identifier: MIT */
/* Answers up to eight prompts at once:  many MODEL.gguf PROMPT... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vouch.h"

enum { MOST = 8 };

typedef struct answer {
    vouch_session *session;
    char text[4096];
    size_t n;
} answer;

static void add(answer *a, const vouch_step *step)
{
    const size_t left = sizeof a->text - a->n, n = step->n_text < left ? step->n_text : left;
    memcpy(a->text + a->n, step->text, n);
    a->n += n;
}

int main(int argc, char **argv)
{
    vouch_model *model = NULL;
    vouch_engine *engine = NULL;
    vouch_error err = {0};
    const vouch_engine_options options = {.n_sessions = MOST};
    vouch_session_options session = vouch_session_options_default();
    answer *answers = NULL;
    const vouch_engine_event *events;
    size_t n_events;
    const int n = argc - 2;

    session.max_tokens = 200;
    if (n < 1 || n > MOST) return fprintf(stderr, "usage: many MODEL.gguf PROMPT...\n"), 2;
    answers = calloc(MOST, sizeof *answers);
    if (!answers) return fprintf(stderr, "not enough memory\n"), 1;
    if (vouch_model_open(&model, argv[1], NULL, &err)) goto done;
    if (vouch_engine_open(&engine, model, &options, &err)) goto done;
    for (int i = 0; i < n; i++) {
        const vouch_message turn = {"user", argv[i + 2]};
        if (vouch_engine_session_open(&answers[i].session, engine, &session, &err)) goto done;
        if (vouch_session_chat(answers[i].session, &turn, 1, &err)) goto done;
    }
    while (vouch_engine_step(engine, &events, &n_events)) /* one pass for all */
        for (size_t e = 0; e < n_events; e++)
            for (int i = 0; i < n; i++)
                if (answers[i].session == events[e].session) add(&answers[i], &events[e].step);
    for (int i = 0; i < n; i++) printf("%s\n  %.*s\n\n", argv[i + 2], (int)answers[i].n, answers[i].text);
done:
    if (err.code) fprintf(stderr, "%s\n", err.message);
    for (int i = 0; answers && i < MOST; i++) vouch_session_close(answers[i].session);
    vouch_engine_close(engine);
    vouch_model_close(model);
    free(answers);
    return err.code != VOUCH_OK;
}
