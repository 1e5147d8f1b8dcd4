/* SPDX-License-Identifier: MIT */
/* The flags of every command, and the struct that their values go into. Flags write into the library's own options
 * where the library has such an option. */
#ifndef VOUCH_CLI_OPTION_TABLE_H
#define VOUCH_CLI_OPTION_TABLE_H

#include "tool/flags.h"
#include "tool/term.h"
#include "vouch.h"

/* Bits of commands, so that a flag can belong to several. */
enum {
    CLI_RUN = 1u << 0,
    CLI_INFO = 1u << 1,
    CLI_TOKENIZE = 1u << 2,
    CLI_PERPLEXITY = 1u << 3,
    CLI_BENCH = 1u << 4,
    CLI_CHECK = 1u << 5,
    CLI_ANALYZE = 1u << 6,
    CLI_LOGITS = 1u << 7,
    CLI_QUANTIZE = 1u << 8,
    CLI_CONVERT = 1u << 9,
    CLI_BATCH = 1u << 10,
    CLI_SERVE = 1u << 11,
    CLI_DISTILL = 1u << 12,
    CLI_COMMANDS = 13
};
extern const char *const cli_command_names[CLI_COMMANDS];

/* Words for vouch_kv_type, in the order of the enum. */
#define CLI_KV_TYPES "f16|f32|q8_0|q4_0"

/* The words of --think. */
typedef enum cli_think { CLI_THINK_AUTO, CLI_THINK_ON, CLI_THINK_OFF, CLI_THINK_HIDE } cli_think;

typedef struct cli_options {
    unsigned command; /* its bit */
    char **arguments; /* [n_arguments] as given after the command's name, for reports */
    int n_arguments;
    const char *model, *draft_model, *cpu;
    const char *model_word, *prompt_word;      /* the model, and the prompt, given as words without a flag */
    const char *prompt, *prompt_file, *system; /* NULL where not given */
    const char *suffix, *suffix_file;          /* run: the text after the answer; NULL where not given */
    bool prompt_adds_input;                    /* standard input from a pipe or a file is added behind `prompt` */
    bool chat, raw, help;
    const char *chat_template; /* "auto", "none", a name of vouch_chat_template_name, or a file; NULL: auto */
    bool lists_templates;      /* --chat-template list */
    bool speculative;
    const char *tree;                               /* "B,D" */
    const char *prediction, *history, *draft_vocab; /* files */
    const char *draft_files[VOUCH_DRAFTERS];        /* by drafter's number (vouch_draft_file_open) */
    unsigned drafters_given;                        /* bits of those whose model or file the command line gives */
    bool allow_other_head;
    const char *grammar_file, *json_schema, *regex;
    bool open_objects;
    bool json_answer;
    vouch_session_options session; /* draft_model is set when the model is open (engine.h) */
    cli_texts stop, bias_texts, breakers;
    vouch_logit_bias *bias;
    int color;                        /* cli_color, of messages and tables */
    bool paint;                       /* --color was given: colour the answer, too, where `color` allows it */
    bool trace, stats, seed_is_drawn; /* seed_is_drawn: vouch draws the seed, because --seed was not given */
    unsigned sampling_given;          /* VOUCH_SAMPLING_ bits of the flags that were given */
    const char *stats_json;
    const char *file; /* perplexity */
    int32_t n_chunks;
    bool ids, special, bos; /* tokenize */
    const char *messages;   /* tokenize: a file with a conversation as JSON */
    bool render;
    bool show_prompt;
    int think; /* cli_think */
    int32_t n_frequent;
    const char *tokens;                              /* logits */
    const char *out;                                 /* logits, quantize, batch */
    const char *type, *output_type, *embedding_type; /* quantize */
    bool pure, allow_requantize, force;
    int32_t n_parallel; /* batch, serve */
    cli_ints parallel;  /* bench over prompts: numbers of answers at once; n 0: one after the other */
    bool resume;
    cli_texts models, keys, origins; /* serve */
    const char *host, *metrics_prefix, *key_file, *tls_cert, *tls_key;
    bool no_key;
    int32_t port, n_queue;
    double ping, timeout; /* seconds */
    double inter_token_ms;
    const char *max_memory_text;
    double max_memory; /* bytes; 0: no limit */
    cli_ints rows;     /* bench */
    int32_t depth, n_reps, n_prefill, n_decode;
    const char *prompts; /* bench over prompts */
    cli_texts categories;
    int32_t n_each;
    cli_ints drafters;      /* sets of VOUCH_DRAFTER_ bits */
    cli_ints draft_lengths; /* values of -k; 0: as many as pay */
    cli_ints rules;         /* values of vouch_accept */
    const char *json, *csv, *html, *svg;
    const char *text; /* analyze */
    struct {
        const char *head, *student, *student_model, *measured, *table;
        cli_texts excluded; /* files of prompts */
        int32_t n_tokens, n_draft, n_ff, depth, epochs;
        double sampled, rate;
        cli_ints taps, student_layers;
        bool quick, on_policy;
        int32_t lora;
        int loss; /* train_loss */
        double beta;
    } distill;
    double seconds; /* check */
    unsigned laws;  /* bits 0 to 3: L1 to L4; 0: all */
} cli_options;

/* The flags of all commands, and the values before any flag is read. Parsing, help, manual and completions come from
 * these. */
enum { CLI_MOST_FLAGS = 192 };
extern const cli_flag_table cli_option_table;
cli_options cli_options_default(unsigned command);

#endif
