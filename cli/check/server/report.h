/* SPDX-License-Identifier: MIT */
/* What the check of a server found, for people and as JSON. */
#ifndef VOUCH_CLI_CHECK_REPORT_H
#define VOUCH_CLI_CHECK_REPORT_H

#include "check/server/ask.h"

enum { ASK_LAWS = 7 };

/* To standard output. laws [ASK_LAWS]. Errors: MEMORY, IO. */
vouch_status ask_report_print(const ask_check *c, const ask_law *laws, bool is_interrupted, vouch_error *err);
/* To the file of --json. Errors: MEMORY, IO. */
vouch_status ask_report_write(const ask_check *c, const ask_law *laws, bool is_interrupted, vouch_error *err);

#endif
