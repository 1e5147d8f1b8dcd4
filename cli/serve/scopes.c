/* SPDX-License-Identifier: MIT */
#include "serve/scopes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hub/bytes/digest.h"
#include "model/engine.h"
#include "os/os.h"

enum { SALT = 32 /* bytes */ };

/* Reads the salt of the folder, or writes a new one there. Of two processes that begin at once, one writes it. */
static bool salt_open(const char *folder, unsigned char salt[SALT])
{
    char path[VOUCH_OS_PATH_SIZE];
    if (!vouch_os_random(salt, SALT)) return false;
    if (!folder) return true;
    if (!vouch_os_folder_make(folder, 0700) && errno != EEXIST) return false;
    if (snprintf(path, sizeof path, "%s/salt", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NO_LINK, 0600);
    if (fd < 0) return false;
    unsigned char kept[SALT];
    bool is_good = vouch_os_file_lock(fd, true) == VOUCH_OS_LOCKED;
    if (is_good && vouch_os_read(fd, kept, SALT) == SALT) memcpy(salt, kept, SALT);
    else if (is_good) is_good = lseek(fd, 0, SEEK_SET) == 0 && vouch_os_write(fd, salt, SALT) == SALT;
    const int code = errno;
    close(fd);
    errno = code;
    return is_good;
}

static uint64_t scope_of(const unsigned char salt[SALT], const char *key)
{
    char text[HUB_DIGEST_SIZE];
    hub_digest digest = hub_digest_sha256();
    hub_digest_add(&digest, salt, SALT);
    hub_digest_add(&digest, key, strlen(key));
    hub_digest_end(&digest, text);
    text[16] = '\0';
    return strtoull(text, NULL, 16);
}

int cli_scopes_open(uint64_t **scopes, const char *const *keys, size_t n_keys, const char *flag, const char *folder)
{
    unsigned char salt[SALT];
    *scopes = NULL;
    if (!salt_open(folder, salt)) {
        tool_complain("--%s %s: %s", flag, folder ? folder : "", strerror(errno));
        return CLI_FAILED;
    }
    *scopes = calloc(n_keys + 1, sizeof **scopes);
    if (!*scopes) {
        tool_complain("not enough memory for the keys");
        return CLI_FAILED;
    }
    for (size_t i = 0; i < n_keys; i++) (*scopes)[i] = scope_of(salt, keys[i]);
    return CLI_DONE;
}
