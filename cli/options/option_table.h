/* SPDX-License-Identifier: MIT */
/* The flags of every command, and the struct that their values go into. Flags write into the library's own options
 * where the library has such an option. */
#ifndef VOUCH_CLI_OPTION_TABLE_H
#define VOUCH_CLI_OPTION_TABLE_H

#include "tool/flags.h"
#include "tool/term.h"
#include "train/distill.h"
#include "vouch.h"

/* The commands with flags of their own, in the order of help: bit, name. Each is a function (cli.h), and a
 * row of main.c says what help says. `vouch chat` is run with --chat. */
#define CLI_COMMAND_LIST(X)   \
    X(RUN, run)               \
    X(BATCH, batch)           \
    X(SERVE, serve)           \
    X(INFO, info)             \
    X(TOKENIZE, tokenize)     \
    X(PERPLEXITY, perplexity) \
    X(LOGITS, logits)         \
    X(QUANTIZE, quantize)     \
    X(CONVERT, convert)       \
    X(DISTILL, distill)       \
    X(BENCH, bench)           \
    X(CHECK, check)           \
    X(ANALYZE, analyze)       \
    X(PULL, pull)             \
    X(LIST, list)             \
    X(RM, rm)                 \
    X(MEMORY, memory)         \
    X(EMBED, embed)

/* Bits of commands, so that a flag can belong to several. */
enum {
#define CLI_COMMAND_NUMBER(constant, name) CLI_NUMBER_##constant,
    CLI_COMMAND_LIST(CLI_COMMAND_NUMBER) CLI_COMMANDS
#undef CLI_COMMAND_NUMBER
};
enum {
#define CLI_COMMAND_BIT(constant, name) CLI_##constant = 1u << CLI_NUMBER_##constant,
    CLI_COMMAND_LIST(CLI_COMMAND_BIT)
#undef CLI_COMMAND_BIT
};
extern const char *const cli_command_names[CLI_COMMANDS];

/* Words for vouch_kv_type, in the order of the enum. */
#define CLI_KV_TYPES "f16|f32|q8_0|q4_0"

/* Does vouch look for a drafter by itself (model/pairing.h)? YES without being asked to, ASKED: --draft-model auto. */
typedef enum cli_pairing { CLI_PAIRING_NO, CLI_PAIRING_YES, CLI_PAIRING_ASKED } cli_pairing;

/* The words of --tune. */
typedef enum cli_tune { CLI_TUNE_ON, CLI_TUNE_OFF } cli_tune;

/* The words of --think. */
typedef enum cli_think { CLI_THINK_AUTO, CLI_THINK_ON, CLI_THINK_OFF, CLI_THINK_HIDE } cli_think;

typedef struct cli_tokenize_options {
    bool ids, special, bos, render;
    const char *messages; /* a file with a conversation as JSON */
    int32_t n_frequent;
} cli_tokenize_options;

typedef struct cli_quantize_options {
    const char *output_type, *embedding_type;
    bool pure, allow_requantize, force;
} cli_quantize_options;

typedef struct cli_serve_options {
    tool_texts keys, origins;
    const char *host, *metrics_prefix, *key_file, *admin_key, *admin_key_file, *tls_cert, *tls_key;
    bool no_key, shares_memory;
    int32_t port, n_queue;
    double ping, timeout, idle; /* seconds */
    double inter_token_ms;
    const char *models_folder, *slots_folder;
} cli_serve_options;

typedef struct cli_bench_options {
    tool_ints rows; /* of passes */
    int32_t depth, n_reps, n_prefill, n_decode;
    tool_ints parallel;      /* over prompts: numbers of answers at once; n 0: one after the other */
    tool_ints drafters;      /* sets of VOUCH_DRAFTER_ bits */
    tool_ints draft_lengths; /* values of -k; 0: as many as pay */
    tool_ints rules;         /* values of vouch_accept */
    const char *csv, *html;
    bool kernels;
} cli_bench_options;

typedef struct cli_check_server_options {
    const char *address;                     /* NULL: models are checked, and no server */
    const char *plain_address, *key, *model; /* NULL where not given */
    double timeout;                          /* seconds */
    double tolerance;                        /* of log probabilities; below 0: as the server's kind says */
    uint64_t seed;                           /* 0: a new one */
} cli_check_server_options;

/* The laws of --law, in the order of their bits. */
#define CLI_LAW_LIST(X) X(L1) X(L2) X(L3) X(L4) X(L7) X(S1) X(S2)
enum {
#define CLI_LAW_NUMBER(name) CLI_LAW_NUMBER_##name,
    CLI_LAW_LIST(CLI_LAW_NUMBER)
#undef CLI_LAW_NUMBER
};
enum {
#define CLI_LAW_BIT(name) CLI_LAW_##name = 1u << CLI_LAW_NUMBER_##name,
    CLI_LAW_LIST(CLI_LAW_BIT)
#undef CLI_LAW_BIT
        CLI_LAWS_OF_MODELS = CLI_LAW_L1 | CLI_LAW_L2 | CLI_LAW_L3 | CLI_LAW_L4,
    CLI_LAWS_OF_SERVERS = CLI_LAW_L1 | CLI_LAW_L2 | CLI_LAW_L7 | CLI_LAW_S1 | CLI_LAW_S2
};

typedef struct cli_check_options {
    bool system;                       /* checks the build, without a model */
    const char *vectors, *new_vectors; /* likewise, with a file of vectors; writes one */
    double seconds;
    unsigned laws; /* CLI_LAW_ bits; 0: all */
    cli_check_server_options server;
} cli_check_options;

typedef struct cli_hub_options {
    const char *name; /* of pull and rm */
    bool print_path, with_draft;
} cli_hub_options;

typedef struct cli_distill_options {
    const char *head, *student, *measured;
    tool_texts excluded; /* files of prompts */
    tool_ints taps, student_layers;
    int32_t n_tokens;    /* of train */
    train_options train; /* the other flags write into it; distill.c adds the prompts */
} cli_distill_options;

/* What several commands share, and what each has of its own. */
typedef struct cli_options {
    unsigned command; /* its bit */
    char **arguments; /* [n_arguments] as given after the command's name, for reports */
    int n_arguments;
    bool help;

    bool machine; /* info: of the machine, without a model */
    const char *model, *draft_model, *cpu;
    tool_texts models;             /* serve: NAME=FILE */
    const char *model_word;        /* the model, given as a word without a flag */
    char *model_path;              /* the same as a path; owned */
    vouch_session_options session; /* draft_model is set when the model is open (engine.h) */
    unsigned sampling_given;       /* VOUCH_SAMPLING_ bits of the flags that were given */
    bool seed_is_drawn;            /* vouch draws the seed, because --seed was not given */
    tool_texts stop, bias_texts, breakers;
    vouch_logit_bias *bias;

    const char *prompt_word;                   /* the prompt, given as a word without a flag */
    const char *prompt, *prompt_file, *system; /* NULL where not given */
    const char *suffix, *suffix_file;          /* the text after the answer; NULL where not given */
    bool prompt_adds_input;                    /* standard input from a pipe or a file is added after `prompt` */
    bool chat, raw;
    const char *chat_template; /* "auto", "none", a name of vouch_chat_template_name, or a file; NULL: auto */
    bool lists_templates;      /* --chat-template list */
    int think;                 /* cli_think */
    int tune;                  /* cli_tune */
    const char *prompts;       /* a file of many */
    tool_texts categories;
    int32_t n_each;

    bool speculative;
    cli_pairing pairing;
    const char *tree;                     /* "B,D" */
    const char *prediction, *draft_vocab; /* files */
    tool_texts loras;                     /* FILE=SCALE */
    char *lora_paths[VOUCH_MOST_LORAS];   /* [loras.n] */
    float lora_scales[VOUCH_MOST_LORAS];
    const char *draft_memory; /* a folder; NULL: the memory isn't kept */
    int pooling;              /* vouch_pooling; NONE: as the model's file says */
    int32_t dimensions;       /* embed: of the vectors; 0: all */
    bool clears_memory;
    int64_t draft_memory_size;               /* bytes; 0: there is none */
    const char *session_file;                /* NULL: the session isn't kept */
    const char *prompt_cache;                /* a folder; NULL: pages aren't kept */
    int64_t prompt_cache_size;               /* bytes */
    const char *draft_files[VOUCH_DRAFTERS]; /* by drafter's number (vouch_draft_file_open) */
    unsigned drafters_given;                 /* bits of those whose model or file the command line gives */
    bool allow_other_head;
    const char *grammar_file, *json_schema, *regex;
    bool open_objects, json_answer;

    int color;  /* tool_color, of messages and tables */
    bool paint; /* --color was given: colour the answer, too, where `color` allows it */
    bool trace, stats, show_prompt;
    const char *stats_json, *json, *svg;
    const char *file; /* perplexity: the text */
    const char *text; /* analyze: likewise */
    int32_t n_chunks;
    const char *tokens;              /* logits */
    const char *out;                 /* logits, quantize, batch */
    const char *type;                /* quantize, convert */
    int32_t n_parallel;              /* most answers at once, of batch and serve */
    bool resume;                     /* batch */
    vouch_progress_fn load_progress; /* of models; NULL: it is shown on the terminal */
    void *load_progress_user;
    int64_t max_memory; /* bytes; 0: no limit */

    cli_tokenize_options tokenize;
    cli_quantize_options quantize;
    cli_serve_options serve;
    cli_bench_options bench;
    cli_check_options check;
    cli_distill_options distill;
    cli_hub_options hub;

    char **found; /* [n_found]: paths that names stood for (model/names.h) */
    size_t n_found;
} cli_options;

/* The flags of all commands, and the values before any flag is read. Parsing, help, manual and completions come from
 * these. */
enum { CLI_MOST_FLAGS = 240 };
const tool_flag_table *cli_option_table(void);
cli_options cli_options_default(unsigned command);

#endif
