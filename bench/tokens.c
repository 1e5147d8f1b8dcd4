/* SPDX-License-Identifier: MIT */
/*
 * Tokenizes standard input and prints the ids, without BOS and without special tokens. The tokenizer comes from a GGUF
 * file, which needs no weights and may be of any architecture:
 *
 *     tokens VOCAB.gguf <TEXT       1 2 3
 *     tokens --seconds VOCAB.gguf <TEXT     the time instead
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/tokenizer.h"

static char *input_read(size_t *n)
{
    size_t room = 1 << 20;
    char *text = malloc(room);
    *n = 0;
    while (text && !feof(stdin) && !ferror(stdin)) {
        *n += fread(text + *n, 1, room - *n, stdin);
        char *more = *n == room ? realloc(text, room *= 2) : text;
        if (!more) free(text);
        text = more;
    }
    return text;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static vouch_status tokens_print(const vouch_tokenizer *tokenizer, bool time_only, vouch_error *err)
{
    size_t n_text, n = 0;
    char *text = input_read(&n_text);
    int32_t *ids = text ? malloc((n_text + 2) * 4 * sizeof *ids) : NULL;
    if (!ids) {
        free(text);
        return VOUCH_E_MEMORY;
    }
    const double start = seconds();
    const vouch_status status = vouch_tokenizer_encode(tokenizer, text, n_text, 0, ids, (n_text + 2) * 4, &n, err);
    const double end = seconds();
    if (status == VOUCH_OK && time_only) printf("%zu bytes, %zu tokens, %.3f s\n", n_text, n, end - start);
    for (size_t i = 0; i < n && !time_only; i++) printf("%s%d", i ? " " : "", ids[i]);
    if (!time_only) putchar('\n');
    free(ids);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    const bool time_only = argc == 3 && strcmp(argv[1], "--seconds") == 0;
    vouch_gguf *gguf = NULL;
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {.message = ""};
    if (argc != 2 + time_only) {
        fprintf(stderr, "usage: %s [--seconds] VOCAB.gguf <TEXT\n", argv[0]);
        return 2;
    }
    vouch_status status = vouch_gguf_open(&gguf, argv[argc - 1], &err);
    if (status == VOUCH_OK) status = vouch_tokenizer_open(&tokenizer, gguf, NULL, &err);
    if (status == VOUCH_OK) status = tokens_print(tokenizer, time_only, &err);
    if (status != VOUCH_OK) fprintf(stderr, "%s: %s\n", argv[0], err.message);
    vouch_tokenizer_close(tokenizer);
    vouch_gguf_close(gguf);
    return status != VOUCH_OK;
}
