/* SPDX-License-Identifier: MIT */
/*
 * /slots, as llama.cpp's server has them: what each session does, and files of what slots remember. The slots of all
 * models have one row of numbers, those of the first model first. A file has the pages of a slot's tokens
 * (vouch_engine_save). It belongs to the key that saved it: another key's file of the same name is another file, and a
 * slot with another key's answer is empty.
 */
#ifndef VOUCH_SERVER_API_SLOTS_H
#define VOUCH_SERVER_API_SLOTS_H

#include "http/http.h"

void server_show_slots(server_exchange *x);  /* GET /slots */
void server_change_slot(server_exchange *x); /* POST /slots/{id}?action=save|restore|erase */

#endif
