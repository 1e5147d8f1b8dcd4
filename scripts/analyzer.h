/* SPDX-License-Identifier: MIT */
/* Only for `make lint`: tells the analyser, which sees one file at a time, that vouch_fail returns its second argument
 * and never VOUCH_OK. */
#include "base/status.h"

#define vouch_fail(err, code, ...) ((void)(vouch_fail)(err, code, __VA_ARGS__), (code))
