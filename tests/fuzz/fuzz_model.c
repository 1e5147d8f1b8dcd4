/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of whole models. It opens the input as a model file. Either the library refuses it with a message,
 * or the model works: it tokenizes a text and a conversation, runs a prompt, and two cycles of speculation give tokens
 * inside the vocabulary or VOUCH_E_NUMERIC. Anything else traps.
 *
 * The library opens models by path, so the input goes into a temporary file. test_fuzz_model.c runs this target
 * inside the ordinary tests and reads the counts in `seen`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "support/test.h"
#include "vouch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) __builtin_trap();                                                                  \
    } while (0)

enum { N_CTX = 32, N_PROMPT = 5 };

static struct {
    long refused, opened, answered, numeric;
    vouch_error last; /* of the last refused input */
} seen;

static void check_error(vouch_status status, const vouch_error *err)
{
    REQUIRE(err->code == status && err->message[0] && !strchr(err->message, '\n'));
}

static void check_text(const vouch_model *model, int32_t n_vocab)
{
    static const char text[] = "Who is it? <|im_start|> It's 42 \xc3\xa9\xff";
    const vouch_message turn = {"user", text};
    int32_t tokens[64];
    size_t n;
    vouch_error err = {0};
    vouch_status status =
        vouch_tokenize(model, text, sizeof text - 1, VOUCH_TOKENIZE_SPECIAL | VOUCH_TOKENIZE_BOS, tokens, 64, &n, &err);
    if (status) check_error(status, &err);
    for (size_t i = 0; status == VOUCH_OK && i < n; i++) {
        size_t n_bytes;
        REQUIRE(tokens[i] >= 0 && tokens[i] < n_vocab && vouch_token_bytes(model, tokens[i], &n_bytes));
    }
    REQUIRE(!vouch_token_bytes(model, n_vocab, &n) && !vouch_token_bytes(model, -1, &n));
    status = vouch_tokenize_chat(model, &turn, 1, tokens, 64, &n, &err);
    if (status) check_error(status, &err);
}

static void check_answer(const vouch_model *model, int32_t n_vocab)
{
    static const int32_t prompt[N_PROMPT] = {0, 1, 0, 1, 0}; /* repeats, so that the n-gram drafter finds a match */
    vouch_session *session;
    vouch_error err = {0};
    vouch_session_options options = vouch_session_options_default();
    options.n_ctx = N_CTX;
    options.n_threads = 1;
    options.prefill_chunk = 3;
    options.speculation.drafters = VOUCH_DRAFTER_NGRAM;
    options.speculation.n_draft = 2;
    vouch_status status = vouch_session_open(&session, model, &options, &err);
    if (status == VOUCH_OK) status = vouch_session_prompt(session, prompt, N_PROMPT, &err);
    vouch_step step = {0};
    for (int cycle = 0; cycle < 2 && status == VOUCH_OK && step.finish == VOUCH_FINISH_NONE; cycle++) {
        status = vouch_session_step(session, &step, &err);
        REQUIRE(status || step.n_tokens >= 1);
        for (int32_t i = 0; status == VOUCH_OK && i < step.n_tokens; i++)
            REQUIRE(step.tokens[i] >= 0 && step.tokens[i] < n_vocab);
    }
    if (status) check_error(status, &err);
    seen.answered += status == VOUCH_OK;
    seen.numeric += status == VOUCH_E_NUMERIC;
    vouch_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *path;
    static int file;
    vouch_model *model;
    vouch_error err = {0};
    vouch_model_options options = vouch_model_options_default();
    options.n_threads = 1;
    options.cpu = size % 2 ? "ref" : NULL;
    if (!path) {
        path = test_path("model");
        file = vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_CREATE, 0600);
    }
    REQUIRE(file >= 0 && ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
    for (size_t at = 0; at < size;) {
        const ptrdiff_t n = vouch_os_write(file, data + at, size - at);
        REQUIRE(n > 0);
        at += (size_t)n;
    }
    const vouch_status status = vouch_model_open(&model, path, &options, &err);
    if (status) {
        REQUIRE(!model);
        check_error(status, &err);
        seen.refused++;
        seen.last = err;
        return 0;
    }
    seen.opened++;
    const vouch_model_info *info = vouch_model_get_info(model);
    REQUIRE(info->n_vocab > 0 && info->n_layers > 0);
    check_text(model, info->n_vocab);
    check_answer(model, info->n_vocab);
    vouch_model_close(model);
    return 0;
}
