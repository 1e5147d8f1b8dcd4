/* SPDX-License-Identifier: MIT */
#include "options/option_checks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"

/* "ngram,recycle" */
const char *cli_spec_text(unsigned drafters, char text[CLI_DRAFTERS_SIZE])
{
    size_t used = 0;
    snprintf(text, CLI_DRAFTERS_SIZE, "%s", drafters ? "" : "auto");
    for (int i = 0; vouch_drafter_name(i) && used < CLI_DRAFTERS_SIZE; i++)
        if (drafters >> i & 1)
            used +=
                (size_t)snprintf(text + used, CLI_DRAFTERS_SIZE - used, "%s%s", used ? "," : "", vouch_drafter_name(i));
    return text;
}

/* The drafters whose model or file is on the command line. */
static unsigned given_drafters(const cli_options *options)
{
    return (options->draft_model ? VOUCH_DRAFTER_MODEL : 0u) | (options->head ? VOUCH_DRAFTER_HEAD : 0u) |
           (options->draft_table ? VOUCH_DRAFTER_TABLE : 0u) | (options->prediction ? VOUCH_DRAFTER_PREDICTION : 0u) |
           (options->history ? VOUCH_DRAFTER_HISTORY : 0u) |
           (options->grammar_file || options->json_schema || options->regex || options->json_answer
                ? VOUCH_DRAFTER_GRAMMAR
                : 0u);
}

bool cli_check_set_spec(const cli_options *options, const char *text)
{
    const unsigned here = vouch_drafter_auto(given_drafters(options)) | VOUCH_DRAFTER_HEAD; /* the model may have one */
    char typed[32];
    for (const char *at = text;; at++) {
        const size_t n = strcspn(at, ",");
        snprintf(typed, sizeof typed, "%.*s", (int)n, at);
        int i = 0;
        while (vouch_drafter_name(i) && strcmp(vouch_drafter_name(i), typed) != 0) i++;
        const bool is_known = strcmp(typed, "auto") == 0 || (i < VOUCH_DRAFTER_NUMBER_CUSTOM && vouch_drafter_name(i));
        if (!is_known || (i > 0 && vouch_drafter_name(i) && !(here >> i & 1))) {
            char names[CLI_DRAFTERS_SIZE];
            cli_spec_text(here & ~(unsigned)(options->head ? 0 : VOUCH_DRAFTER_HEAD), names);
            if (!is_known) cli_complain("/set spec %s: no drafter has this name; here are auto, none, %s", text, names);
            else
                cli_complain("/set spec %s: %s needs %s, which only the command line can give; here are auto, none, %s",
                             text, typed, vouch_drafter_get_info(i).needs, names);
            return false;
        }
        at += n;
        if (!*at) return true;
    }
}

/* "B,D" */
static bool parse_tree(const char *text, vouch_speculation *speculation)
{
    char *end = NULL;
    const long branches = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    const char *second = end && *end == ',' ? end + 1 : "";
    const long depth = isdigit((unsigned char)*second) ? strtol(second, &end, 10) : 0;
    if (depth < 1 || depth > VOUCH_MAX_DRAFT || *end || branches < 1 || branches > VOUCH_MAX_DRAFT) {
        cli_complain("--tree '%s': expected BRANCHES,DEPTH such as 4,3, both in [1, %d]", text, VOUCH_MAX_DRAFT);
        return false;
    }
    speculation->tree_branches = (int32_t)branches;
    speculation->tree_depth = (int32_t)depth;
    return true;
}

bool cli_check_drafters(cli_options *options)
{
    enum { MODEL = VOUCH_DRAFTER_MODEL };
    vouch_speculation *speculation = &options->session.speculation;
    char text[CLI_DRAFTERS_SIZE];
    if (speculation->drafters == VOUCH_DRAFTER_AUTO)
        speculation->drafters = vouch_drafter_auto(given_drafters(options));
    cli_spec_text(speculation->drafters, text);
    if (options->head && options->draft_model) {
        cli_complain("--head and --draft-model exclude each other: leave out one of them");
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_NONE) && speculation->drafters != VOUCH_DRAFTER_NONE) {
        cli_complain("--spec %s: none stands alone; leave out the others", text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_PREDICTION) && !options->prediction) {
        if (options->command & CLI_SERVE)
            cli_complain("--spec %s: a prediction belongs to one request, which brings it; leave it out", text);
        else if (options->prompts)
            cli_complain("--spec %s: bench can't measure prediction, because a prediction belongs to one prompt; leave "
                         "it out",
                         text);
        else cli_complain("--spec %s needs a prediction: add --prediction FILE", text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_HISTORY) && !options->history && !options->prompts) {
        cli_complain("--spec %s needs a history: add --history FILE", text);
        return false;
    }
    if (speculation->drafters & ~given_drafters(options) & VOUCH_DRAFTER_GRAMMAR) {
        cli_complain("--spec %s needs a grammar: add --json, --json-schema FILE, --regex PATTERN or --grammar-file "
                     "FILE",
                     text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_TABLE) && !options->draft_table) {
        cli_complain("--spec %s needs a table: add --draft-table FILE, which `vouch distill --table` makes", text);
        return false;
    }
    if ((speculation->drafters & MODEL) && !options->draft_model) {
        cli_complain("--spec %s needs a draft model: add --draft-model FILE, or use --spec ngram, which needs none",
                     text);
        return false;
    }
    return true;
}

/* Refuses options that the rule doesn't support. */
static bool check_accept(const vouch_speculation *speculation, cli_given given)
{
    const bool is_auto = speculation->accept == VOUCH_ACCEPT_AUTO;
    const vouch_accept_info rule = vouch_accept_get_info((int)speculation->accept);
    if (cli_given_find(given, "accept") && speculation->drafters == VOUCH_DRAFTER_NONE && !rule.seed_reproduces) {
        cli_complain("--accept %s has no effect with --spec none: leave out one of them", is_auto ? "auto" : rule.name);
        return false;
    }
    if (is_auto) return true;
    if (cli_given_find(given, "lenience") && !rule.lenient) {
        cli_complain("--lenience has no effect with --accept %s: leave out one of them", rule.name);
        return false;
    }
    if (speculation->tree_branches > 1 && !rule.trees) {
        cli_complain("--tree %d,%d and --accept %s exclude each other: %s judges chains; use --tree 1,%d",
                     speculation->tree_branches, speculation->tree_depth, rule.name, rule.name,
                     speculation->tree_depth);
        return false;
    }
    return true;
}

bool cli_check_effects(cli_options *options, cli_given given)
{
    enum {
        MODEL = VOUCH_DRAFTER_MODEL,
        HEAD = VOUCH_DRAFTER_HEAD,
        NGRAM = VOUCH_DRAFTER_NGRAM,
        TABLE = VOUCH_DRAFTER_TABLE,
        ALL = ~VOUCH_DRAFTER_NONE,
        PREDICTION = VOUCH_DRAFTER_PREDICTION,
        HISTORY = VOUCH_DRAFTER_HISTORY
    };
    static const char model[] = "--draft-model FILE";
    static const struct {
        const char *name;
        int drafters;
        const char *needs; /* one of these files; NULL: none, or the flag brings it */
    } uses[] = {{"draft-model", MODEL, NULL},
                {"draft-sampling", MODEL | HEAD, "--head FILE or --draft-model FILE"},
                {"head", HEAD, NULL},
                {"allow-other-head", HEAD | TABLE, "--head FILE or --draft-table FILE"},
                {"draft-table", TABLE, NULL},
                {"allow-vocab-mismatch", MODEL, model},
                {"draft-vocab", MODEL, model},
                {"ngram-min", NGRAM, NULL},
                {"ngram-max", NGRAM, NULL},
                {"lenience", ALL, NULL},
                {"num-speculative-tokens", ALL, NULL},
                {"tree", ALL, NULL},
                {"prediction", PREDICTION, NULL},
                {"history", HISTORY, NULL},
                {"history-tokens", HISTORY, NULL},
                {"forget", VOUCH_DRAFTER_RECYCLE, NULL}};
    vouch_speculation *speculation = &options->session.speculation;
    char text[CLI_DRAFTERS_SIZE];
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!cli_given_find(given, uses[i].name) || (unsigned)uses[i].drafters & speculation->drafters) continue;
        if (uses[i].needs && !((unsigned)uses[i].drafters & given_drafters(options)))
            cli_complain("--%s has no effect without %s", uses[i].name, uses[i].needs);
        else
            cli_complain("--%s has no effect with --spec %s: leave out one of them", uses[i].name,
                         cli_spec_text(speculation->drafters, text));
        return false;
    }
    if (options->tree && !parse_tree(options->tree, speculation)) return false;
    if (!check_accept(speculation, given)) return false;
    if (speculation->ngram_min > speculation->ngram_max) {
        cli_complain("--ngram-min %d is more than --ngram-max %d; lower one or raise the other", speculation->ngram_min,
                     speculation->ngram_max);
        return false;
    }
    return true;
}

bool cli_check_speculation(cli_options *options, cli_given given)
{
    vouch_speculation *speculation = &options->session.speculation;
    char text[CLI_DRAFTERS_SIZE];
    if (options->speculative) {
        const unsigned meant = options->draft_model ? VOUCH_DRAFTER_MODEL : VOUCH_DRAFTER_AUTO;
        const bool is_given = cli_given_find(given, "spec");
        if (is_given && speculation->drafters != meant && speculation->drafters != VOUCH_DRAFTER_MODEL) {
            cli_complain("--speculative means --spec %s %s a draft model, but --spec %s was given; leave out "
                         "one of them",
                         options->draft_model ? "draft" : "auto", options->draft_model ? "with" : "without",
                         cli_spec_text(speculation->drafters, text));
            return false;
        }
        if (!is_given) speculation->drafters = meant;
    }
    const bool is_auto = speculation->drafters == VOUCH_DRAFTER_AUTO;
    if (!cli_check_drafters(options) || !cli_check_effects(options, given)) return false;
    if (is_auto) { /* AUTO is the same set to the library; -k then limits the drafts of pace */
        speculation->drafters = VOUCH_DRAFTER_AUTO;
        speculation->auto_with = given_drafters(options);
    }
    return true;
}
