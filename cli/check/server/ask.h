/* SPDX-License-Identifier: MIT */
/* What the laws of a server share: what is known of it, questions, and findings with failures. */
#ifndef VOUCH_CLI_CHECK_ASK_H
#define VOUCH_CLI_CHECK_ASK_H

#include "check/server/answer.h"
#include "options/options.h"
#include "report/finding.h"

enum { ASK_MOST_CONFIGS = 3, ASK_PROMPTS = 6, ASK_NOTES_SIZE = 600, ASK_MOST_ADDRESS = 512, ASK_MOST_FAILURES = 3 };

typedef enum ask_kind { ASK_OTHER, ASK_VOUCH, ASK_LLAMA, ASK_VLLM } ask_kind;

/* One configuration: how the server speculates, or that it does not. */
typedef struct ask_config {
    const char *name; /* "plain", "with speculation" */
    const char *base; /* of the server that is asked */
    json_t *fields;   /* what it adds to a request */
} ask_config;

/* What is known of the server. */
typedef struct ask_server {
    char base[ASK_MOST_ADDRESS], plain_base[ASK_MOST_ADDRESS]; /* without "/v1"; "": there is no second server */
    ask_kind kind;
    char version[120], model[256];
    bool has[2];        /* [is_chat] */
    int n_top[2];       /* [is_chat] likeliest tokens that it tells with log probabilities; -1: it tells none */
    bool has_plain;     /* configs[0] is without speculation */
    bool tells_guesses; /* its kind or an answer says how many tokens were drafted */
    ask_config configs[ASK_MOST_CONFIGS]; /* configs[0] is plain */
    size_t n_configs;
    json_t *fields;             /* what every request gets: samplers that change nothing */
    json_t *uncached, *cached;  /* what leaves out the prefix cache, and what uses it; NULL: no field does */
    char notes[ASK_NOTES_SIZE]; /* what could not be asked, each with a line end */
} ask_server;

typedef struct ask_check {
    const cli_options *options;
    ask_client *client;
    const char *key; /* NULL or "": none */
    ask_server server;
    tool_progress progress;
    double start, deadline;                              /* of the whole check, of the current law */
    double tolerance;                                    /* of log probabilities */
    uint64_t state;                                      /* of random numbers (tool_random) */
    int64_t n_requests, n_drafted, n_accepted, n_cached; /* as far as the server tells them */
    bool is_gone;                                        /* the server stopped to answer */
} ask_check;

typedef struct ask_law {
    cli_finding finding;
    json_t *failures; /* [{"case", "difference", "commands", ...}], at most ASK_MOST_FAILURES */
} ask_law;

/* Each tries a law. Errors: MEMORY, CANCELLED. */
typedef vouch_status ask_law_fn(ask_check *c, ask_law *law, vouch_error *err);
ask_law_fn ask_law_values, ask_law_greedy, ask_law_sampled, ask_law_beside, ask_law_prefix, ask_law_streams,
    ask_law_seeds;

/* Finds out what the server is and takes. Errors: IO, which names the address and the cause; MEMORY, CANCELLED. */
vouch_status ask_know(ask_check *c, vouch_error *err);
void ask_know_free(ask_server *server);

/* ---------------------------------------------------------------------- questions */

typedef struct ask_question {
    const char *base;
    bool is_chat;
    json_t *body;
} ask_question;

/* A prompt that drafters guess in: repetition, a list, code, a copy; or less: prose, data. */
const char *ask_prompt(size_t i);
/* A greedy question. logprobs: ask for log probabilities, too, as far as the server tells them. */
ask_question ask_greedy(const ask_check *c, bool is_chat, const ask_config *config, const char *prompt, int max_tokens,
                        bool logprobs);
/* The same, sampled at temperature 1 with nothing else in the way. */
ask_question ask_sampled(const ask_check *c, bool is_chat, const ask_config *config, const char *prompt, int max_tokens,
                         int n_top, int64_t seed);
void ask_stream(ask_question *question);                               /* asks for a stream with usage */
void ask_set(ask_question *question, const char *name, json_t *value); /* takes the value */
ask_question ask_copy(const ask_question *question);
void ask_free(ask_question *question);
const char *ask_get_prompt(const ask_question *question);
void ask_set_prompt(ask_question *question, const char *prompt);
/* A command line that asks it; the caller frees it. NULL: memory is short. */
char *ask_curl(const ask_question *question, const ask_check *c);

/* Asks all at once, n <= ASK_MOST_AT_ONCE. The caller frees the answers. Errors: MEMORY, CANCELLED; then there are
 * none. If an answer doesn't come (ask_answer.is_gone), c->is_gone says so: a law counts none of these answers, and
 * later questions fail at once without being sent. */
vouch_status ask_all(ask_check *c, const ask_question *questions, ask_answer *answers, size_t n, vouch_error *err);

/* Asks for one token, so that the prefix cache knows the prompt in all answers that are compared. Where a field leaves
 * out the cache, the laws but that of the cache do so, and this does nothing. Errors: MEMORY, CANCELLED. */
vouch_status ask_warm(ask_check *c, const ask_question *question, vouch_error *err);

/* -------------------------------------------------------------------------- laws */

/* Is there time for another case, a server to ask, and anything to learn beside the failures that are recorded? */
bool ask_goes_on(const ask_check *c, const ask_law *law);
/* The first API that the server has: is_chat. */
bool ask_first_api(const ask_server *server);

/* Records a failure of a law, and takes `commands`, an array of lines. a, b: the answers that differ; seen: "3 of 3"
 * further tries. Any of these may be NULL. */
void ask_fail(ask_law *law, const char *name, const char *difference, json_t *commands, const ask_answer *a,
              const ask_answer *b, const char *seen);

#endif
