/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bits/bits.h"
#include "check/check.h"
#include "cli.h"
#include "os/os.h"
#include "tool/file.h"

/* A model's file must not be there yet, or have the model's bytes. */
static vouch_status place_check(const char *vectors, const char *path, const void *bytes, size_t size, vouch_error *err)
{
    char *old = NULL;
    size_t n = 0;
    if (strcmp(path, vectors) == 0) {
        *err = (vouch_error){.code = VOUCH_E_ARGUMENT};
        snprintf(err->message, sizeof err->message, "%s: a model gets this name; choose another for the vectors", path);
        return err->code;
    }
    if (!vouch_os_exists(path)) return VOUCH_OK;
    const vouch_status status = tool_file_read(path, &old, &n, err);
    const bool is_same = !status && n == size && memcmp(old, bytes, n) == 0;
    free(old);
    if (status || is_same) return status;
    *err = (vouch_error){.code = VOUCH_E_ARGUMENT};
    snprintf(err->message, sizeof err->message,
             "%s: is another file, which a model would replace; choose another folder", path);
    return err->code;
}

/* Checks the places of the models beside the file of vectors, or writes the models there. */
static vouch_status models_place(const char *vectors, bool writes, vouch_error *err)
{
    const char *name;
    for (int32_t i = 0;; i++) {
        void *bytes = NULL;
        size_t size = 0;
        vouch_status status = bits_make_model(i, &name, &bytes, &size, err);
        if (status || !name) return status;
        char *path = bits_path_beside(vectors, name);
        status = VOUCH_E_MEMORY;
        if (!path) *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
        else if (!writes) status = place_check(vectors, path, bytes, size, err);
        else status = tool_file_write(path, bytes, size, err);
        if (!status && writes) tool_note("wrote %s", path);
        free(path), free(bytes);
        if (status) return status;
    }
}

int cli_check_write_vectors(const cli_options *options)
{
    const char *path = options->check.new_vectors;
    json_t *vectors = NULL;
    vouch_error err;
    if (tool_file_check(path, &err)) return cli_flag_refuse("write-vectors", &err);
    if (models_place(path, false, &err)) return cli_flag_refuse("write-vectors", &err);
    vouch_status status = bits_make_vectors(&vectors, &err);
    if (!status) status = tool_file_write_json(path, vectors, &err);
    json_decref(vectors);
    if (!status) tool_note("wrote %s", path);
    if (!status) status = models_place(path, true, &err);
    return status ? cli_flag_fail("write-vectors", &err) : CLI_DONE;
}
