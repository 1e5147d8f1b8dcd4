/* SPDX-License-Identifier: MIT */
/* What the programs that ask a model share: flags, prompts, answers. They see the public header only. */
#ifndef VOUCH_BENCH_H
#define VOUCH_BENCH_H

#include <vouch.h>

/* Defaults of a program, then what was given. */
typedef struct bench_flags {
    bool help;
    const char *model;                      /* NULL as a default: the model of `make run` */
    const char *data;                       /* folder with prompts/; NULL as a default: ../shared/data */
    const char *cpu;                        /* NULL: not given */
    int32_t n_prompts, n_tokens, n_threads; /* n_threads 0: not given */
    int32_t from;                           /* the line of the output to begin with; not given: 1 */
} bench_flags;

/* --model, --data, --cpu, --prompts, --tokens, --threads, --from. `about` is a line for the help. */
bench_flags bench_parse(const char *name, const char *about, bench_flags defaults, int argc, char **argv);

/* The user's first turn of each of the first `limit` lines of that category in data/prompts/FILE; a NULL
 * category takes all. Appends to texts [*n], which has room. Exits with a message where the file can't be
 * read. */
void bench_prompts(const char *data, const char *file, const char *const *categories, int32_t limit,
                   char **texts, int32_t *n);

/* Greedy, with the model's chat template. */
typedef struct bench_answer {
    char *text; /* [n_text], the caller's to free */
    size_t n_text;
    int64_t n_tokens, cycles, drafted, accepted, rejected, n_prompt;
    double seconds; /* of decoding */
} bench_answer;

vouch_model *bench_open(const char *path, const char *cpu);
vouch_session *bench_session(const vouch_model *model, const vouch_session_options *options);
bench_answer bench_ask(vouch_session *session, const char *prompt);
/* Exits with the message when the status isn't OK. */
void bench_check(vouch_status status, const vouch_error *err);

#endif
