/* SPDX-License-Identifier: MIT */
/* What the environment says about the hub, and where models lie on this machine. Variables and defaults are those of
 * huggingface_hub, so that both programs see the same files:
 *
 *   HF_ENDPOINT               the hub's address, for a mirror
 *   HF_HUB_CACHE, HF_HOME     the folder of fetched files: HF_HOME/hub, HF_HOME is ~/.cache/huggingface
 *   HF_TOKEN, HF_TOKEN_PATH   the token, or its file: HF_HOME/token
 *   HF_HUB_OFFLINE            1: nothing is fetched
 *   HF_HUB_DOWNLOAD_TIMEOUT   seconds without a byte after which a request has failed (10)
 *   SSL_CERT_FILE             certificates to trust in place of the system's; also CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE
 *   OLLAMA_MODELS, LLAMA_CACHE   folders of other programs
 *
 * libcurl reads the variables of proxies by itself. */
#ifndef VOUCH_CLI_HUB_PLACES_H
#define VOUCH_CLI_HUB_PLACES_H

#include "os/os.h"
#include "vouch.h"

typedef struct hub_places {
    char endpoint[512]; /* without a '/' at its end */
    char cache[VOUCH_OS_PATH_SIZE];
    char own[VOUCH_OS_PATH_SIZE]; /* vouch's own folder; files/ in it has the models fetched from other addresses */
    char token_file[VOUCH_OS_PATH_SIZE];
    char certificates[VOUCH_OS_PATH_SIZE]; /* "": the system's */
    char token[512];                       /* "": none */
    char ollama[VOUCH_OS_PATH_SIZE], lm_studio[VOUCH_OS_PATH_SIZE],
        llama_cpp[VOUCH_OS_PATH_SIZE]; /* folders, which need not exist */
    bool is_offline;
    long timeout; /* seconds */
} hub_places;

/* Errors: ARGUMENT, which names the variable; IO, where the token's file can't be read. */
vouch_status hub_places_read(hub_places *places, vouch_error *err);
/* The certificates to trust; "": the system's. False: the path is too long. */
bool hub_certificates_find(char path[VOUCH_OS_PATH_SIZE]);

#endif
