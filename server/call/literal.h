/* SPDX-License-Identifier: MIT */
/*
 * Reads the value of a call's arguments as a model writes it, piece by piece, and writes it as JSON. Three notations
 * share one reader, because each is JSON with more freedom:
 *
 *   JSON      {"x": [1, "a"]}
 *   Python    (x=[1, 'a'])          words True, False, None; tuples; keys of the outer parentheses without quotes
 *   bare      {x:[1,<|"|>a<|"|>]}   keys without quotes; strings between marks of the template's own
 *
 * Numbers stay as they are written, whatever their length, and so do the escapes of strings. White space between tokens
 * is dropped. The reader accepts more than valid values: arguments are what the model wrote, valid or not.
 */
#ifndef VOUCH_SERVER_LITERAL_H
#define VOUCH_SERVER_LITERAL_H

#include <stdint.h>

#include "work/text.h"

typedef enum server_match { SERVER_NO, SERVER_MORE, SERVER_MATCH } server_match;

enum { SERVER_MOST_DEPTH = 1024 }; /* of values within values: a grammar allows 1,000 */

typedef struct server_literal {
    const char *quote; /* the mark around strings; "": none but quotes */
    bool is_python;    /* True, False and None are words */
    char raw;          /* strings of the outer level in this quote have no escapes: it ends one where , or )
                          follows; 0: all strings have escapes */
    char closers[SERVER_MOST_DEPTH]; /* [depth] the JSON bracket that ends each open value */
    int32_t depth;
    char string;     /* the quote of the open string; 'm': the mark; 0: none is open */
    bool is_escaped; /* a backslash came before */
    bool needs_comma;
    server_text word; /* a number, a name or a key that may go on */
} server_literal;

/* quote "": JSON or Python. The quote must outlive the reader. */
void server_literal_begin(server_literal *literal, const char *quote, bool is_python, char raw);
/* Reads the beginning of text[n] and appends its JSON. *used: the bytes that have been read. MATCH: the value is
 * complete; what follows hasn't been read. MORE: it goes on. NO: the byte at *used belongs to no value. */
server_match server_literal_push(server_literal *literal, const char *text, size_t n, size_t *used, server_text *json);
void server_literal_free(server_literal *literal);

/* Whether text[n] is a number of JSON. */
bool server_is_number(const char *text, size_t n);
/* Appends text[n] as the inside of a JSON string. */
void server_put_escaped(server_text *json, const char *text, size_t n);

#endif
