/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "bits/bits.h"
#include "check/check.h"
#include "cli.h"
#include "tool/file.h"

/* Writes the models beside the file of vectors. */
static vouch_status models_write(const char *vectors, vouch_error *err)
{
    const char *name;
    for (int32_t i = 0;; i++) {
        void *bytes = NULL;
        size_t size = 0;
        vouch_status status = bits_make_model(i, &name, &bytes, &size, err);
        if (status || !name) return status;
        char *path = bits_path_beside(vectors, name);
        status = VOUCH_E_MEMORY;
        if (path) status = tool_file_write(path, bytes, size, err);
        else *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
        if (!status) tool_note("wrote %s", path);
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
    vouch_status status = bits_make_vectors(&vectors, &err);
    if (!status) status = models_write(path, &err);
    if (!status) status = tool_file_write_json(path, vectors, &err);
    json_decref(vectors);
    if (status) return cli_flag_fail("write-vectors", &err);
    tool_note("wrote %s", path);
    return CLI_DONE;
}
