/* SPDX-License-Identifier: MIT */
#include "hub/places.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/os.h"
#include "tool/file.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool is_true(const char *value)
{
    static const char *const words[] = {"1", "on", "yes", "true"};
    for (size_t i = 0; value && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value, words[i]) == 0) return true;
    return false;
}

static const char *home_folder(void)
{
    const char *home = vouch_os_home();
    return home ? home : "/";
}

/* Writes FIRST/SECOND, where ~ at the beginning is the home folder. */
static bool join(char to[VOUCH_OS_PATH_SIZE], const char *first, const char *second)
{
    const bool is_home = first[0] == '~' && (first[1] == '/' || !first[1]);
    const char *mark = *second && *first && first[strlen(first) - 1] != '/' ? "/" : "";
    const int n =
        snprintf(to, VOUCH_OS_PATH_SIZE, "%s%s%s%s", is_home ? home_folder() : "", first + is_home, mark, second);
    vouch_os_path_tidy(to);
    return n > 0 && n < VOUCH_OS_PATH_SIZE;
}

static vouch_status places_fail(vouch_error *err, vouch_status code, const char *variable_name, const char *reason)
{
    err->code = code;
    snprintf(err->message, sizeof err->message, "%s: %s", variable_name, reason);
    return code;
}

/* A token is sent in a header: one word of visible characters. */
static vouch_status token_take(hub_places *places, const char *text, const char *from, vouch_error *err)
{
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) n--;
    while (n > 0 && isspace((unsigned char)*text)) text++, n--;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] > '~')
            return places_fail(err, VOUCH_E_ARGUMENT, from, "expected a token, which is one word of ASCII characters");
    if (n >= sizeof places->token) return places_fail(err, VOUCH_E_ARGUMENT, from, "longer than a token can be");
    memcpy(places->token, text, n);
    places->token[n] = '\0';
    return VOUCH_OK;
}

static vouch_status token_read(hub_places *places, vouch_error *err)
{
    if (variable("HF_TOKEN")) return token_take(places, variable("HF_TOKEN"), "HF_TOKEN", err);
    if (!vouch_os_exists(places->token_file) || is_true(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return VOUCH_OK;
    char *bytes;
    size_t n;
    vouch_status status = tool_file_read(places->token_file, &bytes, &n, err);
    if (status) return status;
    status = token_take(places, bytes, places->token_file, err);
    free(bytes);
    return status;
}

static vouch_status timeout_read(hub_places *places, vouch_error *err)
{
    const char *text = variable("HF_HUB_DOWNLOAD_TIMEOUT");
    char *end = NULL;
    places->timeout = text ? strtol(text, &end, 10) : 10;
    if ((end && *end) || places->timeout < 1 || places->timeout > 86400)
        return places_fail(err, VOUCH_E_ARGUMENT, "HF_HUB_DOWNLOAD_TIMEOUT", "expected seconds in [1, 86400]");
    return VOUCH_OK;
}

static vouch_status endpoint_read(hub_places *places, vouch_error *err)
{
    const char *text = variable("HF_ENDPOINT") ? variable("HF_ENDPOINT") : "https://huggingface.co";
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '/') n--;
    if (n >= sizeof places->endpoint || (strncmp(text, "https://", 8) != 0 && strncmp(text, "http://", 7) != 0))
        return places_fail(err, VOUCH_E_ARGUMENT, "HF_ENDPOINT", "expected an address such as https://huggingface.co");
    snprintf(places->endpoint, sizeof places->endpoint, "%.*s", (int)n, text);
    return VOUCH_OK;
}

bool hub_certificates_find(char path[VOUCH_OS_PATH_SIZE])
{
    const char *trusted = variable("SSL_CERT_FILE");
    if (!trusted) trusted = variable("CURL_CA_BUNDLE") ? variable("CURL_CA_BUNDLE") : variable("REQUESTS_CA_BUNDLE");
    *path = '\0';
    return !trusted || join(path, trusted, "");
}

vouch_status hub_places_read(hub_places *places, vouch_error *err)
{
    char home[VOUCH_OS_PATH_SIZE], caches[VOUCH_OS_PATH_SIZE];
    const char *llama = variable("LLAMA_CACHE"), *ollama = variable("OLLAMA_MODELS");
    const char *cache = variable("HF_HUB_CACHE") ? variable("HF_HUB_CACHE") : variable("HUGGINGFACE_HUB_CACHE");
    *places =
        (hub_places){.is_offline = is_true(variable("HF_HUB_OFFLINE")) || is_true(variable("TRANSFORMERS_OFFLINE"))};
    const vouch_status bad = timeout_read(places, err);
    if (bad) return bad;
    bool fits = variable("XDG_CACHE_HOME") ? join(caches, variable("XDG_CACHE_HOME"), "")
                                           : join(caches, home_folder(), ".cache");
    fits = fits && (variable("HF_HOME") ? join(home, variable("HF_HOME"), "") : join(home, caches, "huggingface"));
    fits = fits && (cache ? join(places->cache, cache, "") : join(places->cache, home, "hub"));
    fits = fits && (variable("HF_TOKEN_PATH") ? join(places->token_file, variable("HF_TOKEN_PATH"), "")
                                              : join(places->token_file, home, "token"));
    fits = fits && hub_certificates_find(places->certificates);
    fits = fits && join(places->own, caches, "vouch");
    fits = fits && (llama ? join(places->llama_cpp, llama, "") : join(places->llama_cpp, caches, "llama.cpp"));
    fits = fits && (ollama ? join(places->ollama, ollama, "") : join(places->ollama, home_folder(), ".ollama/models"));
    if (!ollama && !vouch_os_exists(places->ollama)) /* where Ollama's own user keeps them */
        fits = fits && join(places->ollama, "/usr/share/ollama/.ollama/models", "");
    fits = fits && join(places->lm_studio, home_folder(), ".lmstudio/models");
    if (!vouch_os_exists(places->lm_studio))
        fits = fits && join(places->lm_studio, home_folder(), ".cache/lm-studio/models");
    if (!fits) return places_fail(err, VOUCH_E_ARGUMENT, "HF_HOME or HF_HUB_CACHE", "the path is too long");
    const vouch_status status = endpoint_read(places, err);
    return status ? status : token_read(places, err);
}
