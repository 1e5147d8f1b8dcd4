/* SPDX-License-Identifier: MIT */
/* Flags, prompts and answers for the benchmarks that run a model. These benchmarks use only the public header. */
#ifndef VOUCH_BENCH_H
#define VOUCH_BENCH_H

#include <vouch.h>

/* A benchmark's defaults; after bench_parse, the values of the command line. */
typedef struct bench_flags {
    bool help;
    const char *model; /* default NULL: the model of `make run` */
    const char *data;  /* folder with prompts/; default NULL: the environment variable VOUCH_DATA */
    const char *cpu;   /* NULL: the library's choice */
    const char *head;  /* for the model; default NULL: none */
    int32_t n_prompts, n_tokens, n_threads; /* n_threads 0: the library's choice */
    int32_t from;                           /* the line of the output to begin with; 1 if not given */
} bench_flags;

/* Parses --model, --data, --cpu, --head, --prompts, --tokens, --threads and --from. `about` is a line for the help. */
bench_flags bench_parse(const char *name, const char *about, bench_flags defaults, int argc, char **argv);

/* Appends the user's first turn of the first `limit` lines of these categories in data/prompts/FILE to texts [*n].
 * categories is NULL (all) or a list that ends with NULL. texts has room for `limit` more. Exits with a message if the
 * file can't be read. */
void bench_prompts(const char *data, const char *file, const char *const *categories, int32_t limit, char **texts,
                   int32_t *n);

/* A greedy answer to a prompt in the model's chat template. */
typedef struct bench_answer {
    char *text; /* [n_text]; the caller frees it */
    size_t n_text;
    int64_t n_tokens, cycles, drafted, accepted, rejected, n_prompt;
    double seconds; /* decoding time */
} bench_answer;

vouch_model *bench_open(const char *path, const char *cpu);
vouch_session *bench_session(const vouch_model *model, const vouch_session_options *options);
bench_answer bench_ask(vouch_session *session, const char *prompt);
/* Exits with the error's message if the status isn't OK. */
void bench_check(vouch_status status, const vouch_error *err);

#endif
