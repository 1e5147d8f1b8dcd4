/* SPDX-License-Identifier: MIT */
#include "serve/models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/recommended.h"
#include "os/os.h"

/* --------------------------------------------------------------------- names */

/* The name of a model given as a path: its last part without ".gguf". */
static char *name_of_path(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    size_t from = n;
    while (from > 0 && path[from - 1] != '/') from--;
    if (n - from > 5 && strncmp(path + n - 5, ".gguf", 5) == 0) n -= 5;
    return strndup(path + from, n - from);
}

static bool is_taken(const cli_served_models *models, const char *name)
{
    for (size_t i = 0; i < models->n; i++)
        if (strcmp(models->items[i].name, name) == 0) return true;
    return false;
}

/* The next model, without a name. NULL: memory is short, which is told. */
static cli_served *add(cli_served_models *models, const cli_options *options)
{
    if (models->n < models->most) {
        cli_served *served = &models->items[models->n];
        *served = (cli_served){.options = *options};
        return served;
    }
    tool_complain("not enough memory for the models");
    return NULL;
}

/* Splits NAME=FILE. A word without "=" is a path. */
static int add_given(cli_served_models *models, const cli_options *options, const char *text)
{
    const char *equal = strchr(text, '='), *slash = strchr(text, '/');
    const bool has_name = equal && (!slash || equal < slash);
    cli_served *served = add(models, options);
    if (!served) return CLI_FAILED;
    char *name = has_name ? strndup(text, (size_t)(equal - text)) : name_of_path(text);
    served->options.model = has_name ? equal + 1 : text;
    if (name && !is_taken(models, name)) {
        served->name = name;
        models->n++;
        return CLI_DONE;
    }
    if (!name) tool_complain("not enough memory for the models");
    else
        tool_complain("--model '%s': the name '%s' is given twice; choose another, as in --model NAME=FILE",
                      served->options.model, name);
    free(name);
    return name ? CLI_WRONG_USAGE : CLI_FAILED;
}

/* -------------------------------------------------------------------- folder */

/* A GGUF file that begins a model: no later part of a split one, and no projector of pictures. */
static bool is_model_file(const char *name)
{
    return vouch_os_matches("*.gguf", name) && strncmp(name, "mmproj", 6) != 0 &&
           (!vouch_os_matches("*-of-*.gguf", name) || vouch_os_matches("*-00001-of-*.gguf", name));
}

static bool is_in(const char *folder, const char *name)
{
    char path[VOUCH_OS_PATH_SIZE];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && vouch_os_exists(path);
}

/* The path of the model that an entry of the folder is or holds; false: none. */
static bool find_model(const char *folder, const char *entry, char path[VOUCH_OS_PATH_SIZE])
{
    char **names;
    vouch_os_info info;
    if (entry[0] == '.' || snprintf(path, VOUCH_OS_PATH_SIZE, "%s/%s", folder, entry) >= VOUCH_OS_PATH_SIZE)
        return false;
    if (!vouch_os_info_of(path, &info)) return false;
    if (info.kind == VOUCH_OS_FILE) return is_model_file(entry);
    if (info.kind != VOUCH_OS_FOLDER) return false;
    if (is_in(path, "config.json")) return true;
    const ptrdiff_t n = vouch_os_folder_list(path, &names);
    const char *first = NULL;
    for (ptrdiff_t i = 0; i < n && !first; i++)
        if (is_model_file(names[i])) first = names[i];
    const size_t used = strlen(path);
    const bool found =
        first && snprintf(path + used, VOUCH_OS_PATH_SIZE - used, "/%s", first) < VOUCH_OS_PATH_SIZE - (int)used;
    if (n >= 0) vouch_os_names_free(names, n);
    return found;
}

/* A model of the folder; one that can't be opened is told and left out. */
static int add_found(cli_served_models *models, const cli_options *options, const char *entry, const char *path)
{
    cli_served *served = add(models, options);
    if (!served) return CLI_FAILED;
    char *name = name_of_path(entry);
    served->path = strdup(path);
    if (!name || !served->path) {
        free(name);
        free(served->path);
        tool_complain("not enough memory for the models");
        return CLI_FAILED;
    }
    served->options.model = served->path;
    if (is_taken(models, name)) tool_note("--models: %s is left out: --model has its name already", path);
    else if (cli_engine_open_text(&served->text, &served->options)) tool_note("--models: %s is left out", path);
    else {
        served->name = name;
        served->has_text = true;
        models->n++;
        return CLI_DONE;
    }
    cli_engine_close(&served->text);
    free(name);
    free(served->path);
    return CLI_DONE;
}

static int add_folder(cli_served_models *models, const cli_options *options, char **names, ptrdiff_t n)
{
    char path[VOUCH_OS_PATH_SIZE];
    const char *folder = options->serve.models_folder;
    int status = CLI_DONE;
    const size_t before = models->n;
    for (ptrdiff_t i = 0; i < n && !status; i++)
        if (find_model(folder, names[i], path)) status = add_found(models, options, names[i], path);
    if (status || models->n > before) return status;
    tool_complain("--models %s: the folder has no model: expected GGUF files, or folders with one", folder);
    return CLI_FAILED;
}

/* ------------------------------------------------------------------- open and close */

/* What requests of the model have in common, from its text part. */
static int describe(cli_served *served, server_model_options *m)
{
    vouch_error err;
    cli_engine *engine = served->has_text ? &served->text : &served->engine;
    cli_sampling_take(&served->options, engine->model);
    *m = (server_model_options){.name = served->name,
                                .path = served->options.model,
                                .is_on_demand = served->has_text,
                                .model = engine->model,
                                .draft = engine->draft,
                                .adapters = (const char *const *)served->options.lora_paths,
                                .pooling = cli_engine_pooling(engine),
                                .session = served->options.session};
    cli_engine_check_think(engine);
    m->session.n_ctx = cli_engine_context(engine);
    /* Whether something drafts for it is known only when it is loaded. The text of a seed must not depend on that. */
    engine->is_paired |= served->has_text && served->options.pairing;
    cli_engine_speculate(engine, &m->session.speculation);
    if (!vouch_session_check(m->model, &m->session, &err)) return CLI_DONE;
    tool_complain("%s: %s", m->path, err.message);
    return CLI_WRONG_USAGE;
}

static int open_all(cli_served_models *models, const cli_options *options, char **names, ptrdiff_t n)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < options->models.n && !status; i++)
        status = add_given(models, options, options->models.items[i]);
    if (options->models.n == 0 && options->model) status = add_given(models, options, options->model);
    for (size_t i = 0; i < models->n && !status; i++) {
        models->items[i].is_loaded = true;
        status = cli_engine_open(&models->items[i].engine, &models->items[i].options);
    }
    if (!status && options->serve.models_folder) status = add_folder(models, options, names, n);
    for (size_t i = 0; i < models->n && !status; i++) {
        cli_served *served = &models->items[i];
        if (served->has_text) status = cli_engine_open_memory(&served->text, &served->options);
        if (!status) status = describe(served, &models->options[i]);
    }
    return status;
}

int cli_served_open(cli_served_models *models, const cli_options *options)
{
    const char *folder = options->serve.models_folder;
    char **names = NULL;
    *models = (cli_served_models){0};
    const ptrdiff_t n = folder ? vouch_os_folder_list(folder, &names) : 0;
    if (n < 0) {
        tool_complain("--models %s: %s", folder, strerror(errno));
        return CLI_WRONG_USAGE;
    }
    models->most = options->models.n + 1 + (size_t)n;
    models->items = calloc(models->most, sizeof *models->items);
    models->options = calloc(models->most, sizeof *models->options);
    int status = models->items && models->options ? CLI_DONE : CLI_FAILED;
    if (status) tool_complain("not enough memory for the models");
    else status = open_all(models, options, names, n);
    if (names) vouch_os_names_free(names, n);
    return status;
}

void cli_served_close(cli_served_models *models)
{
    for (size_t i = 0; models->items && i < models->n; i++) {
        cli_served *served = &models->items[i];
        if (served->is_loaded) cli_engine_close(&served->engine);
        if (served->has_text) cli_engine_close(&served->text);
        free(served->name);
        free(served->path);
    }
    free(models->items);
    free(models->options);
}

/* -------------------------------------------------------------------- supply */

static vouch_status load(void *user, size_t i, vouch_progress_fn progress, void *progress_user, server_stock *out,
                         vouch_error *err)
{
    cli_served_models *models = user;
    cli_served *served = &models->items[i];
    cli_options *options = &served->options;
    options->load_progress = progress;
    options->load_progress_user = progress_user;
    options->draft_memory_size = 0; /* the text part has it, and keeps it */
    tool_note("loading %s", served->name);
    if (cli_engine_open(&served->engine, options)) {
        *err = (vouch_error){.code = VOUCH_E_IO};
        /* tool_complain has told the operator why, with the path, which is nobody else's to know. */
        snprintf(err->message, sizeof err->message, "model: %s can't be loaded; the server's log says why",
                 served->name);
        cli_engine_close(&served->engine);
        return err->code;
    }
    served->is_loaded = true;
    *out = (server_stock){.model = served->engine.model,
                          .bytes = (int64_t)vouch_model_get_info(served->engine.model)->packed_bytes};
    if (served->engine.draft) out->bytes += (int64_t)vouch_model_get_info(served->engine.draft)->packed_bytes;
    cli_engine_speculate(&served->engine, &out->speculation);
    return VOUCH_OK;
}

static void unload(void *user, size_t i)
{
    cli_served_models *models = user;
    cli_served *served = &models->items[i];
    tool_note("unloading %s", served->name);
    cli_engine_close(&served->engine);
    served->is_loaded = false;
}

server_supply cli_served_supply(cli_served_models *models)
{
    return (server_supply){.load = load, .unload = unload, .user = models};
}
