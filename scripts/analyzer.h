/* SPDX-License-Identifier: MIT */
/* For `make lint` alone, which sees one file at a time: what vouch_fail returns is its second argument, never OK. */
#include "base/status.h"

#define vouch_fail(err, code, ...) ((void)(vouch_fail)(err, code, __VA_ARGS__), (code))
