/* SPDX-License-Identifier: MIT */
/* Why a request is refused: the HTTP status, and an error as the OpenAI API has them. */
#ifndef VOUCH_SERVER_FAULT_H
#define VOUCH_SERVER_FAULT_H

#include <jansson.h>
#include <stdbool.h>

#include "vouch.h"

typedef struct server_fault {
    int status;       /* of HTTP; 0: memory is short, and nobody could say more */
    const char *code; /* a word for programs, a constant */
    char param[160];  /* path of the field, such as messages[2].content; "" where no field is to blame */
    char message[700];
} server_fault;

/* Fills the fault and returns false. */
__attribute__((format(printf, 5, 6))) bool server_fail(server_fault *fault, int status, const char *code,
                                                       const char *param, const char *format, ...);
/* A field with a wrong value: 400. The message begins with the path. */
__attribute__((format(printf, 3, 4))) bool server_fail_field(server_fault *fault, const char *param, const char *format,
                                                             ...);
bool server_fail_memory(server_fault *fault);
/* A failure of the library: 400 where the request is to blame, otherwise 500. */
bool server_fail_library(server_fault *fault, const char *param, const vouch_error *err);
/* {"message", "type", "param", "code"} */
json_t *server_fault_json(const server_fault *fault);
/* The word of `type`: "invalid_request_error", "authentication_error", "not_found_error", "rate_limit_error",
 * "overloaded_error" or "server_error". */
const char *server_fault_type(const server_fault *fault);

#endif
