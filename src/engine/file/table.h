/* SPDX-License-Identifier: MIT */
/* A vouch_draft_table: the rows of a table, and the model that it is for. */
#ifndef VOUCH_ENGINE_TABLE_H
#define VOUCH_ENGINE_TABLE_H

#include "engine/file/model.h"
#include "model/head/draft_table.h"

struct vouch_draft_table {
    const vouch_model *target;
    vouch_table_rows *rows;
};

#endif
