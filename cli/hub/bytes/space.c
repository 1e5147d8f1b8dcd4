/* SPDX-License-Identifier: MIT */
#include "hub/bytes/space.h"

#include <stdio.h>
#include <string.h>

#include "os/os.h"

void hub_size_write(char text[16], int64_t bytes)
{
    if (bytes >= 1000000000) snprintf(text, 16, "%.1f GB", (double)bytes * 1e-9);
    else if (bytes >= 1000000) snprintf(text, 16, "%.0f MB", (double)bytes * 1e-6);
    else snprintf(text, 16, "%d kB", (int)((bytes + 999) / 1000));
}

vouch_status hub_space_check(const char *folder, int64_t bytes, const char *what, const char *variable,
                             vouch_error *err)
{
    char path[VOUCH_OS_PATH_SIZE];
    int64_t available;
    snprintf(path, sizeof path, "%s", folder);
    while ((available = vouch_os_disk_left(path)) < 0) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path) return VOUCH_OK;
        *slash = '\0';
    }
    if (available >= bytes) return VOUCH_OK;
    char needed[16], free_bytes[16];
    hub_size_write(needed, bytes);
    hub_size_write(free_bytes, available);
    err->code = VOUCH_E_IO;
    snprintf(err->message, sizeof err->message,
             "%.120s needs %s, and %.200s has %s left: make room there, or set %s to a folder of another disk", what,
             needed, path, free_bytes, variable);
    return err->code;
}
