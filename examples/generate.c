/* SPDX-License-Identifier: MIT */
/* Speculative generation in a few lines:  generate MODEL PROMPT [DRAFT_MODEL]
 * With a draft model it guesses the next tokens; without, they are looked up in the text so far. */
#include <stdio.h>
#include <vouch.h>

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: %s MODEL PROMPT [DRAFT_MODEL]\n", argv[0]), 2;
    vouch_model *model = NULL, *draft = NULL;
    vouch_session *session = NULL;
    vouch_model_options loading = vouch_model_options_default();
    vouch_session_options options = vouch_session_options_default();
    vouch_message turn = {"user", argv[2]};
    vouch_step step = {0};
    vouch_error err;
    int status = 1;
    options.max_tokens = 256;
    if (vouch_model_open(&model, argv[1], &loading, &err)) goto done;
    if (argc > 3 && vouch_model_open(&draft, argv[3], &loading, &err)) goto done;
    options.speculation.draft_model = draft;
    if (vouch_session_open(&session, model, &options, &err)) goto done;
    if (vouch_session_chat(session, &turn, 1, &err)) goto done;
    while (step.finish == VOUCH_FINISH_NONE) {
        if (vouch_session_step(session, &step, &err)) goto done;
        fwrite(step.text, 1, step.n_text, stdout);
        fflush(stdout);
    }
    const vouch_stats *stats = vouch_session_stats(session);
    fprintf(stderr, "\n%d tokens in %d passes\n", (int)stats->generated_tokens, (int)stats->cycles);
    status = 0;
done:
    if (status) fprintf(stderr, "%s\n", err.message);
    vouch_session_close(session);
    vouch_model_close(draft);
    vouch_model_close(model);
    return status;
}
