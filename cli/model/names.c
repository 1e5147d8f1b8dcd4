/* SPDX-License-Identifier: MIT */
#include "model/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/fetch.h"

/* Keeps a text as long as the options. NULL: no memory, with a complaint. */
static const char *keep(cli_options *options, const char *text)
{
    char **larger = realloc(options->found, (options->n_found + 1) * sizeof *larger);
    char *copy = strdup(text);
    if (larger) options->found = larger;
    if (!larger || !copy) {
        free(copy);
        tool_complain("not enough memory");
        return NULL;
    }
    options->found[options->n_found++] = copy;
    return copy;
}

/* Replaces a name by its path; NULL and paths stay. The first name fills in `places`. */
static int name_find(cli_options *options, hub_places *places, hub_role role, const char **word)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_error err;
    if (*word && hub_is_behind_folder(*word)) {
        const int n = (int)strcspn(*word, "/");
        tool_complain("'%s': %s; a folder '%.*s' exists here, so this is a path; the hub's model is hf:%s", *word,
                      strerror(ENOENT), n, *word, *word);
        return CLI_WRONG_USAGE;
    }
    if (!*word || hub_kind_of(*word) == HUB_PATH) return CLI_DONE;
    if ((!*places->endpoint && hub_places_read(places, &err)) || hub_find(places, *word, role, HUB_ANY, path, &err)) {
        tool_complain("%s", err.message);
        return err.code == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    const char *kept = keep(options, path);
    if (kept) *word = kept;
    return kept ? CLI_DONE : CLI_FAILED;
}

/* NAME=WORD: where the '=' is; NULL: the text is a word. */
static const char *name_end(const char *text)
{
    const char *equal = strchr(text, '='), *slash = strchr(text, '/');
    return equal && (!slash || equal < slash) ? equal : NULL;
}

/* A fetch may take an hour, so names are checked before. */
static int served_check(const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *equal = name_end(texts[i]);
        if (!equal) continue;
        const size_t length = (size_t)(equal - texts[i]) + 1;
        if (length == 1 || !equal[1]) {
            tool_complain("--model '%s': expected NAME=FILE", texts[i]);
            return CLI_WRONG_USAGE;
        }
        for (size_t j = 0; j < i; j++)
            if (strncmp(texts[i], texts[j], length) == 0) {
                tool_complain("--model '%s': the name is given twice; choose another, as in --model NAME=FILE",
                              texts[i]);
                return CLI_WRONG_USAGE;
            }
    }
    return CLI_DONE;
}

/* Replaces NAME=WORD by NAME=PATH, and WORD by NAME=PATH, whose name is the end of the word. */
static int served_find(cli_options *options, hub_places *places, const char **text)
{
    char both[2 * VOUCH_OS_PATH_SIZE];
    const char *equal = name_end(*text);
    const bool has_name = equal != NULL;
    const char *word = has_name ? equal + 1 : *text, *path = word;
    const int status = name_find(options, places, HUB_MODEL, &path);
    if (status || path == word) return status;
    const char *end = strrchr(word, '/'), *colon = strchr(word, ':');
    const char *name = has_name ? *text : end ? end + 1 : colon ? colon + 1 : word;
    snprintf(both, sizeof both, "%.*s=%s", has_name ? (int)(equal - *text) : (int)strcspn(name, "@?"), name, path);
    const char *kept = keep(options, both);
    if (kept) *text = kept;
    return kept ? CLI_DONE : CLI_FAILED;
}

int cli_names_find(cli_options *options)
{
    hub_places places = {.endpoint = ""};
    const char **words[] = {&options->model, &options->draft_model, &options->distill.train.student_model};
    int status = served_check(options->models.items, options->models.n);
    for (size_t i = 0; !status && i < options->models.n; i++)
        status = served_find(options, &places, &options->models.items[i]);
    if (options->models.n > 0) options->model = options->models.items[0];
    for (size_t i = options->models.n > 0; !status && i < sizeof words / sizeof *words; i++)
        status = name_find(options, &places, HUB_MODEL, words[i]);
    for (int i = 0; !status && i < VOUCH_DRAFTERS; i++) {
        const hub_role role = vouch_drafter_get_info(i).is_paid ? HUB_HEAD : HUB_TABLE;
        status = name_find(options, &places, role, &options->draft_files[i]);
    }
    return status;
}
