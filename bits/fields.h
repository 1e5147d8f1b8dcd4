/* SPDX-License-Identifier: MIT */
/* The numbers of a file of vectors as text: words of hexadecimal digits with a blank between two (docs/float-order.md).
 */
#ifndef VOUCH_BITS_FIELDS_H
#define VOUCH_BITS_FIELDS_H

#include "bits/operation.h"
#include "format/json.h"

/* Reads the member of an object with the field's name into `to`, an array of floats or bytes. Errors: FORMAT, which
 * names json->path and the member. */
vouch_status bits_field_read(const vouch_json *json, const json_t *object, const bits_field *field, void *to,
                             vouch_error *err);
/* The field's elements in `from` as a string; NULL when memory is short. */
json_t *bits_field_write(const bits_field *field, const void *from);

#endif
