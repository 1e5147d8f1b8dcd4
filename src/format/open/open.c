/* SPDX-License-Identifier: MIT */
#include "format/open/open.h"

#include <sys/stat.h>

#include "format/open/hf_folder.h"

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

vouch_status vouch_format_open(vouch_gguf **out, const char *path, vouch_error *err)
{
    return is_folder(path) ? vouch_hf_folder_open(out, path, err) : vouch_gguf_open(out, path, err);
}

vouch_status vouch_format_open_header(vouch_gguf **out, const char *path, vouch_error *flaw, vouch_error *err)
{
    if (!is_folder(path)) return vouch_gguf_open_header(out, path, flaw, err);
    *flaw = (vouch_error){VOUCH_OK, ""};
    return vouch_hf_folder_open(out, path, err);
}
