/* SPDX-License-Identifier: MIT */
#include "hub/siblings.h"

#include <stdio.h>
#include <string.h>

#include "os/os.h"

static const char data[] = {
#include "siblings.inc" /* the bytes of siblings.txt */
    0};

bool hub_sibling_of(const char *repository, char name[HUB_NAME_SIZE])
{
    char pattern[HUB_NAME_SIZE];
    for (const char *line = data, *next; *line; line = next) {
        const size_t n = strcspn(line, " \n"), gap = strspn(line + n, " "), n_name = strcspn(line + n + gap, " \n");
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (*line == '#' || n == 0 || n_name == 0 || n >= sizeof pattern || n_name >= HUB_NAME_SIZE) continue;
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, line);
        if (!vouch_os_matches(pattern, repository)) continue;
        snprintf(name, HUB_NAME_SIZE, "%.*s", (int)n_name, line + n + gap);
        return strcmp(name, "-") != 0;
    }
    return false;
}
