/* SPDX-License-Identifier: MIT */
#include "format/open/open.h"

#include "format/open/hf_folder.h"
#include "os/os.h"

static bool is_folder(const char *path)
{
    vouch_os_info info;
    return vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FOLDER;
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
