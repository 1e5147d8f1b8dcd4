/* SPDX-License-Identifier: MIT */
/*
 * libmicrohttpd, loaded when a server starts. A linked library would be loaded by every command, and it brings GnuTLS:
 * 3 to 4 ms of every start (an EPYC 9005, busy).
 */
#ifndef VOUCH_SERVER_MHD_H
#define VOUCH_SERVER_MHD_H

#include <microhttpd.h>

#include "vouch.h"

/* The functions of libmicrohttpd that the server calls, as in mhd.MHD_start_daemon(...). */
#define SERVER_MHD_FUNCTIONS(X)                                                                                 \
    X(MHD_add_response_header) X(MHD_create_response_from_buffer) X(MHD_create_response_from_callback)          \
    X(MHD_destroy_response) X(MHD_get_connection_info) X(MHD_get_connection_values_n)                           \
    X(MHD_lookup_connection_value) X(MHD_queue_response) X(MHD_resume_connection) X(MHD_start_daemon)           \
    X(MHD_stop_daemon) X(MHD_suspend_connection)

typedef struct server_mhd {
#define MEMBER(name) __typeof__(name) *name;
    SERVER_MHD_FUNCTIONS(MEMBER)
#undef MEMBER
} server_mhd;

/* Constant after server_mhd_open. */
extern server_mhd mhd;

/* Fills `mhd`. Before any thread of the server. Errors: UNSUPPORTED (and what to install). */
vouch_status server_mhd_open(vouch_error *err);

#endif
