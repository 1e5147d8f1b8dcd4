/* SPDX-License-Identifier: MIT */
/* Speculative generation in a few lines:  generate MODEL PROMPT [DRAFT_MODEL]
 * The draft model guesses the next tokens. Without one, guesses come from the text so far. */
#include <stdio.h>
#include <vouch.h>

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "%s: expected a GGUF file and a prompt\n",
                argc > 3   ? "too many arguments"
                : argc > 1 ? "PROMPT is missing"
                           : "MODEL and PROMPT are missing");
        fprintf(stderr, "usage: generate MODEL PROMPT [DRAFT_MODEL]\n");
        return 2;
    }
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
