/* SPDX-License-Identifier: MIT */
#include "http/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tool/json.h"

static bool fill(server_fault *fault, int status, const char *code, const char *param)
{
    *fault = (server_fault){.status = status, .code = code};
    snprintf(fault->param, sizeof fault->param, "%s", param);
    return false;
}

bool server_fail(server_fault *fault, int status, const char *code, const char *param, const char *format, ...)
{
    va_list arguments;
    fill(fault, status, code, param);
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    return false;
}

bool server_fail_field(server_fault *fault, const char *param, const char *format, ...)
{
    va_list arguments;
    fill(fault, 400, "invalid_value", param);
    const int n = snprintf(fault->message, sizeof fault->message, "%.150s: ", param);
    va_start(arguments, format);
    vsnprintf(fault->message + n, sizeof fault->message - (size_t)n, format, arguments);
    va_end(arguments);
    return false;
}

bool server_fail_memory(server_fault *fault)
{
    return server_fail(fault, 503, "out_of_memory", "", "not enough memory for the request");
}

bool server_fail_library(server_fault *fault, const char *param, const vouch_error *err)
{
    if (!*param && strstr(err->message, "logit_bias")) param = "logit_bias";
    switch (err->code) {
    case VOUCH_E_CONTEXT: return server_fail(fault, 400, "context_length_exceeded", param, "%s", err->message);
    case VOUCH_E_ARGUMENT:
    case VOUCH_E_MISMATCH:
    case VOUCH_E_GRAMMAR:
    case VOUCH_E_UNSUPPORTED: return server_fail(fault, 400, "invalid_value", param, "%s", err->message);
    case VOUCH_E_MEMORY: return server_fail(fault, 503, "out_of_memory", "", "%s", err->message);
    default: return server_fail(fault, 500, "internal_error", "", "%s", err->message);
    }
}

const char *server_fault_type(const server_fault *fault)
{
    switch (fault->status) {
    case 401:
    case 403: return "authentication_error";
    case 404: return "not_found_error";
    case 429: return "rate_limit_error";
    case 503: return "overloaded_error";
    default: return fault->status < 500 ? "invalid_request_error" : "server_error";
    }
}

json_t *server_fault_json(const server_fault *fault)
{
    const tool_json_entry entries[] = {
        {"message", tool_json_text(fault->message)},
        {"type", json_string(server_fault_type(fault))},
        {"param", fault->param[0] ? tool_json_text(fault->param) : json_null()},
        {"code", json_string(fault->code)},
    };
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}
