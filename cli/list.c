/* SPDX-License-Identifier: MIT */
/* vouch list: the models on this machine that a name stands for. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "hub/fetch.h"
#include "model/pairing.h"
#include "tool/file.h"
#include "tool/json.h"

typedef struct row {
    char *name, *path;
    char type[32], family[64], tokenizer[64]; /* "" where the file can't be read */
    int64_t bytes;
    int32_t n_vocab;
    const char *drafter; /* a file beside it, or the name of a small model; NULL: none is seen */
    char *companion;     /* the file beside it */
} row;

typedef struct rows {
    row *items;
    size_t n;
    bool is_short_of_memory;
} rows;

/* Type of most of the values, and the architecture. */
static void row_describe(row *r)
{
    vouch_file *file;
    vouch_error ignored;
    if (vouch_file_open(&file, r->path, &ignored)) return;
    const vouch_file_info *info = vouch_file_get_info(file);
    r->bytes = info->file_bytes;
    snprintf(r->family, sizeof r->family, "%s", info->architecture);
    snprintf(r->tokenizer, sizeof r->tokenizer, "%s", info->tokenizer);
    r->n_vocab = info->n_vocab;
    for (size_t i = 0, most = 0; i < info->n_types; i++)
        if (i == 0 || info->types[i].n_values > info->types[most].n_values) {
            most = i;
            snprintf(r->type, sizeof r->type, "%s", info->types[i].name);
        }
    vouch_file_close(file);
}

static void row_add(void *user, const char *name, const char *path)
{
    rows *list = user;
    row *larger = realloc(list->items, (list->n + 1) * sizeof *larger);
    if (larger) list->items = larger;
    row r = {.name = strdup(name), .path = strdup(path), .bytes = 0};
    list->is_short_of_memory |= !larger || !r.name || !r.path;
    if (list->is_short_of_memory) {
        free(r.name);
        free(r.path);
        return;
    }
    row_describe(&r);
    r.drafter = r.companion = cli_companion_of(r.path);
    list->items[list->n++] = r;
}

/* The small model that vouch would take where no file is beside the model, by what headers say (pairing.h). */
static void rows_pair(rows *list)
{
    for (size_t i = 0; i < list->n; i++) {
        row *r = &list->items[i];
        const row *best = NULL;
        for (size_t j = 0; !r->drafter && j < list->n; j++) {
            const row *other = &list->items[j];
            const bool fits = other->bytes > 0 && other->bytes * 5 <= r->bytes && other->n_vocab == r->n_vocab &&
                              r->n_vocab > 0 && strcmp(other->tokenizer, r->tokenizer) == 0;
            if (fits && (!best || other->bytes > best->bytes)) best = other;
        }
        if (best) r->drafter = best->name;
    }
}

static json_t *rows_json(const rows *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->n; i++) {
        const row *r = &list->items[i];
        json_array_append_new(array, json_pack("{s:s, s:I, s:s, s:s, s:s?, s:s}", "name", r->name, "bytes",
                                               (json_int_t)r->bytes, "type", r->type, "family", r->family, "drafter",
                                               r->drafter, "path", r->path));
    }
    return array;
}

static void rows_print(const rows *list)
{
    int width = 4, width_drafter = 7;
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].drafter && (int)strlen(list->items[i].drafter) > width_drafter)
            width_drafter = (int)strlen(list->items[i].drafter);
    for (size_t i = 0; i < list->n; i++)
        if ((int)strlen(list->items[i].name) > width) width = (int)strlen(list->items[i].name);
    if (width > 60) width = 60;
    printf("%-*s  %9s  %-8s  %-14s  %-*s  %s\n", width, "name", "size", "type", "family", width_drafter, "drafter",
           "path");
    for (size_t i = 0; i < list->n; i++) {
        const row *r = &list->items[i];
        char size[16];
        hub_size_write(size, r->bytes);
        printf("%-*s  %9s  %-8s  %-14s  %-*s  %s\n", width, r->name, size, *r->type ? r->type : "?",
               *r->family ? r->family : "?", width_drafter, r->drafter ? r->drafter : "-",
               strcmp(r->name, r->path) == 0 ? "(the name)" : r->path);
    }
}

int cli_list_run(const cli_options *options)
{
    hub_places places;
    vouch_error err;
    rows list = {NULL, 0, false};
    int status = CLI_DONE;
    if (hub_places_read(&places, &err)) {
        tool_complain("%s", err.message);
        return CLI_FAILED;
    }
    hub_walk(&places, row_add, &list);
    rows_pair(&list);
    if (list.is_short_of_memory) {
        tool_complain("not enough memory");
        status = CLI_FAILED;
    } else if (options->json) {
        json_t *array = rows_json(&list);
        if (tool_file_write_json(options->json, array, &err)) {
            tool_complain("%s", err.message);
            status = CLI_FAILED;
        }
        json_decref(array);
    } else if (list.n == 0) {
        tool_note("no models in %s or in the folders of other programs; `vouch pull NAME` fetches one", places.cache);
    } else {
        rows_print(&list);
    }
    for (size_t i = 0; i < list.n; i++) {
        free(list.items[i].name);
        free(list.items[i].path);
        free(list.items[i].companion);
    }
    free(list.items);
    return status;
}
