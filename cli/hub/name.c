/* SPDX-License-Identifier: MIT */
#include "hub/name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "os/os.h"

static vouch_status name_fail(vouch_error *err, const char *word, const char *reason)
{
    err->code = VOUCH_E_ARGUMENT;
    snprintf(err->message, sizeof err->message, "'%.160s': %s", word, reason);
    return err->code;
}

static const char *after(const char *word, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncasecmp(word, prefix, n) == 0 ? word + n : NULL;
}

static bool has_end(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcasecmp(text + n - n_end, end) == 0;
}

bool hub_is_model_file(const char *path)
{
    return has_end(path, ".gguf") || has_end(path, ".safetensors");
}

/* Length of a part of a repository's name: letters, digits, '-', '_' and '.', neither ".." nor "--" in it. */
static size_t part_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || (text[n] && strchr("-_.", text[n]))) {
        if (n > 0 && text[n] == text[n - 1] && (text[n] == '.' || text[n] == '-')) return 0;
        n++;
    }
    return n > 96 || text[0] == '-' || text[0] == '.' ? 0 : n;
}

static bool is_folder(const char *path)
{
    vouch_os_info info;
    return vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FOLDER;
}

/* "OWNER/NAME" and then nothing, ':' or '@', but no word that ends in ".gguf", which is a mistyped path. Writes OWNER.
 */
static bool spells_repository(const char *word, char owner[HUB_NAME_SIZE])
{
    const size_t n_owner = part_length(word);
    if (n_owner == 0 || n_owner >= HUB_NAME_SIZE || word[n_owner] != '/') return false;
    const size_t n_name = part_length(word + n_owner + 1), n = n_owner + 1 + n_name;
    if (n_name == 0 || (word[n] && word[n] != ':' && word[n] != '@')) return false;
    if (!word[n] && hub_is_model_file(word)) return false;
    snprintf(owner, HUB_NAME_SIZE, "%.*s", (int)n_owner, word);
    return true;
}

bool hub_is_behind_folder(const char *word)
{
    char owner[HUB_NAME_SIZE];
    return !vouch_os_exists(word) && spells_repository(word, owner) && is_folder(owner);
}

hub_kind hub_kind_of(const char *word)
{
    if (vouch_os_exists(word)) return HUB_PATH;
    if (after(word, "hf:")) return HUB_REPOSITORY;
    if (after(word, "ollama:")) return HUB_OLLAMA;
    if (after(word, "https://") || after(word, "http://")) return HUB_ADDRESS;
    char owner[HUB_NAME_SIZE]; /* a word in a folder that exists is a mistyped path */
    return spells_repository(word, owner) && !is_folder(owner) ? HUB_REPOSITORY : HUB_PATH;
}

/* Copies n bytes; false where they are none or too many, or no path. */
static bool take(char to[HUB_NAME_SIZE], const char *from, size_t n)
{
    if (n == 0 || n >= HUB_NAME_SIZE) return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)from[i] <= ' ' || from[i] == 127 || strchr("\\?#%:@", from[i])) return false;
    memcpy(to, from, n);
    to[n] = '\0';
    if (to[0] == '/' || to[n - 1] == '/' || strstr(to, "//")) return false;
    for (const char *at = to; at; at = strchr(at, '/')) { /* no step leaves the folder */
        at += *at == '/';
        const size_t length = strcspn(at, "/");
        if ((length == 1 && at[0] == '.') || (length == 2 && strncmp(at, "..", 2) == 0)) return false;
    }
    return true;
}

/* "OWNER/NAME[:PART][@REVISION]", in either order, or "OWNER/NAME/PATH[@REVISION]". */
static bool parse_repository(hub_name *name, const char *text)
{
    const size_t n_owner = part_length(text);
    if (n_owner == 0 || text[n_owner] != '/') return false;
    const size_t n_name = part_length(text + n_owner + 1), n = n_owner + 1 + n_name;
    if (n_name == 0 || !take(name->repository, text, n)) return false;
    for (const char *at = text + n; *at;) {
        char *to = *at == '@' ? name->revision : (*at == ':' || *at == '/') && !*name->part ? name->part : NULL;
        const char *begin = at + 1, *end = *at == '@' ? ":" : "@";
        const size_t length = strcspn(begin, end);
        if (!to || !take(to, begin, length)) return false;
        at = begin + length;
    }
    return true;
}

/* ENDPOINT/OWNER/NAME/resolve/REVISION/PATH; blob/ is the page about the same file. */
static bool parse_page(hub_name *name, const char *text)
{
    const size_t n_owner = part_length(text), n_name = text[n_owner] ? part_length(text + n_owner + 1) : 0;
    if (n_owner == 0 || n_name == 0 || text[n_owner] != '/') return false;
    const char *at = text + n_owner + 1 + n_name;
    if (!take(name->repository, text, n_owner + 1 + n_name)) return false;
    if (!*at) return true;
    const char *rest = after(at, "/resolve/");
    if (!rest) rest = after(at, "/blob/");
    const char *slash = rest ? strchr(rest, '/') : NULL;
    return slash && take(name->revision, rest, (size_t)(slash - rest)) &&
           take(name->part, slash + 1, strcspn(slash + 1, "?"));
}

vouch_status hub_name_parse(hub_name *name, const char *word, const char *endpoint, vouch_error *err)
{
    const char *text = after(word, "hf://");
    *name = (hub_name){.kind = hub_kind_of(word)};
    if (name->kind == HUB_PATH) return VOUCH_OK;
    if (name->kind == HUB_OLLAMA) {
        text = after(word, "ollama:");
        const size_t n = strcspn(text, ":");
        if (!take(name->repository, text, n)) return name_fail(err, word, HUB_NAME_FORMS);
        snprintf(name->part, sizeof name->part, "latest");
        if (text[n] && !take(name->part, text + n + 1, strlen(text + n + 1)))
            return name_fail(err, word, HUB_NAME_FORMS);
        return VOUCH_OK;
    }
    const size_t n_endpoint = strlen(endpoint);
    if (name->kind == HUB_ADDRESS) {
        if (strncmp(word, endpoint, n_endpoint) != 0 || word[n_endpoint] != '/') return VOUCH_OK;
        name->kind = HUB_REPOSITORY;
        snprintf(name->revision, sizeof name->revision, "main");
        if (!parse_page(name, word + n_endpoint + 1)) return name_fail(err, word, HUB_NAME_FORMS);
        name->has_revision = strcmp(name->revision, "main") != 0; /* every page's address has one */
        return VOUCH_OK;
    }
    if (!text) text = after(word, "hf:");
    if (!parse_repository(name, text ? text : word)) return name_fail(err, word, HUB_NAME_FORMS);
    name->has_revision = *name->revision;
    if (!name->has_revision) snprintf(name->revision, sizeof name->revision, "main");
    return VOUCH_OK;
}
