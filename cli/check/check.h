/* SPDX-License-Identifier: MIT */
/*
 * `vouch check`: tries the library's laws on this machine, with these models.
 *
 *   L1  same bits      a row's logits, whatever shares the pass                       check_bits.c
 *   L2  lossless       greedy text is the same with every drafter                     check_greedy.c
 *                      sampled tokens have the target's distribution (chi-square)     check_sampled.c
 *   L3  no trace       after rejections the cache equals one that never had them      check_rollback.c
 *   L4  never slower   speed with a drafter that is always wrong                      check_speed.c
 *
 * `vouch check --system` and `--vectors` compare this build with every other, without a model: system.c, bits/bits.h.
 * `--write-vectors` writes vectors for other engines: write_vectors.c.
 *
 * `vouch check --server` asks the laws of a server over HTTP: server/.
 *
 * check.c splits the time among the laws and prints the verdicts.
 * Each law tries its cases in a fixed order, the most telling first, until its time is over, and says which it tried.
 * The first few cases, its minimum, always run. On plain C the minimum of a real model takes longer than a short
 * --seconds. The progress line then says so and counts down to the end of the minimum.
 */
#ifndef VOUCH_CLI_CHECK_H
#define VOUCH_CLI_CHECK_H

#include "model/engine.h"
#include "model/probe.h"
#include "report/finding.h"

typedef struct cli_check {
    const cli_engine *engine;
    tool_progress progress;
    double start, seconds; /* of the whole check */
    double deadline;       /* of the current law */
    double row_seconds;    /* of a pass of one row */
    double law_end;        /* estimated end of the current law's minimum */
    double later_seconds;  /* estimated time of the minimums of the laws to come */
    bool interrupted;
    int32_t n_prompt, n_answer; /* most tokens of prompts and answers: fewer on a slow machine */
} cli_check;

enum { CLI_CHECK_ANSWER = 48 }; /* most tokens of an answer */

/* Shows progress: call it at least once a pass. */
void cli_check_report(cli_check *check);
/* Shows progress. Is there time for another case? */
bool cli_check_goes_on(cli_check *check);
/* Runs `vouch check --system` or `--vectors`. It compares kernels and tiny models bit by bit with digests, which are
 * equal on all systems, or with a file of vectors. Returns an exit status. */
int cli_check_system(const cli_options *options);
int cli_check_write_vectors(const cli_options *options);

/* Each tries a law. An error is a failure of the machine or of a file, not of the law. */
vouch_status cli_check_bits(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_greedy(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_sampled(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_rollback(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_speed(cli_check *check, cli_finding *finding, vouch_error *err);

/* The estimated number of rows that the shortest check of each law runs. */
double cli_check_bits_rows(const cli_check *check);
double cli_check_greedy_rows(const cli_check *check);
double cli_check_sampled_rows(const cli_check *check);
double cli_check_rollback_rows(const cli_check *check);
double cli_check_speed_rows(const cli_check *check);

#endif
