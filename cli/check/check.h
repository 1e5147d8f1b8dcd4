/* SPDX-License-Identifier: MIT */
/*
 * `vouch check`: the promises of the library, tried on this machine with these files.
 *
 *   L1  same bits      a row's logits, whatever shares the pass                     check_bits.c
 *   L2  lossless       greedy text is the same with every way of guessing           check_text.c
 *                      sampled tokens have the target's distribution (chi-square)   check_chance.c
 *   L3  no trace       after rejections the cache gives what a fresh one gives      check_trace.c
 *   L4  never slower   speed kept with a drafter that is never right                check_speed.c
 *
 * Each law has a share of the time and a list of cases, the most telling first: what a slow machine can't reach is
 * left out, and what was covered is said. The first cases are tried in any case.
 */
#ifndef VOUCH_CLI_CHECK_H
#define VOUCH_CLI_CHECK_H

#include "common/engine.h"
#include "common/probe.h"

typedef struct cli_finding {
    const char *law, *name; /* "L1", "same bits" */
    int64_t n_compared, n_broken;
    char covered[240]; /* what was tried, for people; or why nothing was */
    char first[240];   /* what was broken first; "" */
} cli_finding;

typedef struct cli_check {
    const cli_engine *engine;
    cli_progress progress;
    double start, seconds; /* of the whole check */
    double deadline;       /* of the law in hand */
    bool interrupted;
    int32_t n_prompt, n_answer; /* tokens of prompts and answers, at most: fewer on a slow machine */
} cli_check;

enum { CLI_CHECK_ANSWER = 48 }; /* tokens of an answer, at most */
/* Is there time for another case? Reports progress. */
bool cli_check_goes_on(cli_check *check);
/* Counts a comparison. Where it failed, the first time is described. */
__attribute__((format(printf, 3, 4))) void cli_check_compare(cli_finding *finding, bool holds, const char *format, ...);

/* Each tries a law. Errors are failures of the machine or the files, not of the law. */
vouch_status cli_check_bits(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_greedy(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_sampled(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_rollback(cli_check *check, cli_finding *finding, vouch_error *err);
vouch_status cli_check_speed(cli_check *check, cli_finding *finding, vouch_error *err);

#endif
