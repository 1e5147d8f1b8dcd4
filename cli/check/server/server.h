/* SPDX-License-Identifier: MIT */
/*
 * `vouch check --server URL`: asks the laws of any server that has /v1/completions or /v1/chat/completions.
 *
 *   L1  log-probabilities   of drafted tokens as of others                                law_values.c
 *   L2  lossless, greedy    the text with speculation and without                         law_greedy.c
 *       lossless, sampled   tokens have the distribution that the server itself tells     law_sampled.c
 *   L7  alone or beside     the text of a request alone and beside others                 law_beside.c
 *       prefix cache        the text of a prompt that is new, known, known in part        law_prefix.c
 *   S1  streams             a streamed answer equals the same answer sent whole           law_streams.c
 *   S2  seeds               a seed gives its text again, others give others               law_seeds.c
 *
 * client.h sends, answer.h reads, know.c finds out what the server is and takes, ask.h is what the laws share, pair.h
 * compares two questions' answers and shrinks a failure, report.c prints.
 */
#ifndef VOUCH_CLI_CHECK_SERVER_H
#define VOUCH_CLI_CHECK_SERVER_H

#include "options/option_checks.h"

/* Checks the flags of --server: false, after a complaint, where one is wrong. */
bool cli_check_server_flags(const cli_options *options, cli_given given);
/* Returns an exit status. */
int cli_check_server(const cli_options *options);

#endif
