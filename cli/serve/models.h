/* SPDX-License-Identifier: MIT */
/*
 * The models of a server: those of --model, which are loaded at the start and stay, and those of the folder of
 * --models, of which only the text part is read at the start. The server asks for the rest when a request needs it
 * (server_supply).
 */
#ifndef VOUCH_CLI_SERVE_MODELS_H
#define VOUCH_CLI_SERVE_MODELS_H

#include "model/engine.h"
#include "server.h"

/* A model, as the command opens it. */
typedef struct cli_served {
    char *name, *path;   /* path: of a model of the folder; NULL: the command line's */
    cli_options options; /* the command's, with the model's path */
    cli_engine text;     /* of a model of the folder: without weights, with its draft memory */
    cli_engine engine;   /* with weights, where it is loaded */
    bool has_text, is_loaded;
} cli_served;

typedef struct cli_served_models {
    cli_served *items;             /* [n] */
    server_model_options *options; /* [n] for the server */
    size_t n, most;
} cli_served_models;

/* Opens the models. Prints its own complaint; returns an exit status. Call cli_served_close in any case. */
int cli_served_open(cli_served_models *models, const cli_options *options);
void cli_served_close(cli_served_models *models);
/* Loads and unloads the folder's models; `models` must outlive it. */
server_supply cli_served_supply(cli_served_models *models);

#endif
