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

/* Whether the word stands in a list with spaces between. words NULL: an empty list. "", the name of a word without a
 * flag, stands in none. */
static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; n > 0 && at && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

unsigned cli_drafters_taking(const char *name)
{
    unsigned set = 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        if (has_word(info.flags, name) || has_word(info.settings, name)) set |= 1u << i;
    }
    return set;
}

bool cli_remembers(const cli_options *options)
{
    const bool is_one = options->prompt || options->prompt_file || options->suffix || options->suffix_file;
    const bool is_many = options->command & (CLI_BATCH | CLI_SERVE) || (options->command & CLI_RUN && !is_one);
    return options->draft_memory_size > 0 && (is_many || options->draft_memory);
}

/* --json of `vouch bench` is no grammar. */
unsigned cli_drafters_given(const cli_options *options, cli_given given)
{
    const bool has_grammar = options->grammar_file || options->json_schema || options->regex || options->json_answer;
    unsigned set = has_grammar ? vouch_drafter_needing(VOUCH_NEED_GRAMMAR) : 0;
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        for (size_t j = 0; j < cli_option_table()->n && info.need != VOUCH_NEED_GRAMMAR; j++)
            if (given[j] && has_word(info.flags, cli_flag_at(j)->name)) set |= 1u << i;
    }
    const unsigned remembering = cli_drafters_taking("draft-memory");
    return cli_remembers(options) ? set | remembering : set & ~remembering;
}

/* Writes the command's flags that give what one of the drafters needs: "--head FILE or --draft-table FILE". */
static void flags_text(unsigned command, unsigned drafters, char text[256])
{
    const tool_flag *found[16];
    size_t n = 0, used = 0;
    for (int i = VOUCH_DRAFTERS - 1; i >= 0; i--)
        for (size_t j = 0; j < cli_option_table()->n && n < 16 && drafters >> i & 1; j++)
            if (cli_flag_at(j)->commands & command && has_word(vouch_drafter_get_info(i).flags, cli_flag_at(j)->name))
                found[n++] = cli_flag_at(j);
    *text = '\0';
    for (size_t i = 0; i < n && used < 256; i++)
        used += (size_t)snprintf(text + used, 256 - used, "%s--%s%s%s",
                                 i == 0      ? ""
                                 : i + 1 < n ? ", "
                                             : " or ",
                                 found[i]->name, found[i]->value ? " " : "", found[i]->value ? found[i]->value : "");
}

bool cli_check_set_spec(const cli_options *options, const char *text)
{
    const unsigned ready = vouch_drafter_auto(options->drafters_given);
    unsigned here = ready;
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (vouch_drafter_get_info(i).in_model) here |= 1u << i;
    char typed[32];
    for (const char *at = text;; at++) {
        const size_t n = strcspn(at, ",");
        snprintf(typed, sizeof typed, "%.*s", (int)n, at);
        int i = 0;
        while (vouch_drafter_name(i) && strcmp(vouch_drafter_name(i), typed) != 0) i++;
        const bool is_known = strcmp(typed, "auto") == 0 || (i < VOUCH_DRAFTER_NUMBER_CUSTOM && vouch_drafter_name(i));
        if (!is_known || (i > 0 && vouch_drafter_name(i) && !(here >> i & 1))) {
            char names[CLI_DRAFTERS_SIZE];
            cli_spec_text(ready, names);
            if (!is_known)
                tool_complain("/set spec %s: no drafter has this name; here are auto, none, %s", text, names);
            else
                tool_complain(
                    "/set spec %s: %s needs %s, which only the command line can give; here are auto, none, %s", text,
                    typed, vouch_drafter_get_info(i).needs, names);
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
        tool_complain("--tree '%s': expected BRANCHES,DEPTH such as 4,3, both in [1, %d]", text, VOUCH_MAX_DRAFT);
        return false;
    }
    speculation->tree_branches = (int32_t)branches;
    speculation->tree_depth = (int32_t)depth;
    return true;
}

/* Refuses --spec where drafter i lacks what it needs. */
static bool check_need(const cli_options *options, int i)
{
    const vouch_drafter_info info = vouch_drafter_get_info(i);
    /* bench remembers the answers before */
    const bool brings_itself = options->command & CLI_BENCH && cli_drafters_taking("draft-memory") >> i & 1;
    if (info.need == VOUCH_NEED_NOTHING || info.in_model || brings_itself || options->drafters_given >> i & 1)
        return true;
    char spec[CLI_DRAFTERS_SIZE], flags[256];
    cli_spec_text(options->session.speculation.drafters, spec);
    flags_text(options->command, 1u << i, flags);
    if (*flags) tool_complain("--spec %s needs %s: add %s", spec, info.needs, flags);
    else if (options->command & CLI_SERVE && info.need == VOUCH_NEED_PREDICTION)
        tool_complain("--spec %s: %s belongs to one request, which brings it; leave it out", spec, info.needs);
    else if (options->prompts)
        tool_complain("--spec %s: bench can't measure %s, because %s belongs to one prompt; leave it out", spec,
                      info.name, info.needs);
    else
        tool_complain("--spec %s: %s needs %s, which no flag of this command gives; leave it out", spec, info.name,
                      info.needs);
    return false;
}

bool cli_check_drafters(cli_options *options)
{
    vouch_speculation *speculation = &options->session.speculation;
    char text[CLI_DRAFTERS_SIZE];
    const char *paid = NULL;
    if (speculation->drafters == VOUCH_DRAFTER_AUTO)
        speculation->drafters = vouch_drafter_auto(options->drafters_given);
    for (int i = VOUCH_DRAFTERS - 1; i >= 0; i--) {
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        if (!info.is_paid || !(options->drafters_given >> i & 1)) continue;
        if (paid) {
            tool_complain("--%s and --%s exclude each other: leave out one of them", paid, info.flags);
            return false;
        }
        paid = info.flags;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_NONE) && speculation->drafters != VOUCH_DRAFTER_NONE) {
        tool_complain("--spec %s: none stands alone; leave out the others", cli_spec_text(speculation->drafters, text));
        return false;
    }
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (speculation->drafters >> i & 1 && !check_need(options, i)) return false;
    return true;
}

/* Refuses options that the rule doesn't support. */
static bool check_accept(const vouch_speculation *speculation, cli_given given)
{
    const bool is_auto = speculation->accept == VOUCH_ACCEPT_AUTO;
    const vouch_accept_info rule = vouch_accept_get_info((int)speculation->accept);
    if (cli_given_find(given, "accept") && speculation->drafters == VOUCH_DRAFTER_NONE && !rule.seed_reproduces) {
        tool_complain("--accept %s has no effect with --spec none: leave out one of them",
                      is_auto ? "auto" : rule.name);
        return false;
    }
    if (is_auto) return true;
    if (cli_given_find(given, "lenience") && !rule.lenient) {
        tool_complain("--lenience has no effect with --accept %s: leave out one of them", rule.name);
        return false;
    }
    if (speculation->tree_branches > 1 && !rule.trees) {
        tool_complain("--tree %d,%d and --accept %s exclude each other: %s judges chains; use --tree 1,%d",
                      speculation->tree_branches, speculation->tree_depth, rule.name, rule.name,
                      speculation->tree_depth);
        return false;
    }
    return true;
}

/* Refuses a flag that none of the drafters in use reads. */
static bool check_effect(const cli_options *options, const char *name)
{
    static const char *const of_all[] = {"lenience", "num-speculative-tokens", "tree"};
    const unsigned drafters = options->session.speculation.drafters;
    unsigned set = cli_drafters_taking(name), needy = 0;
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        if (strcmp(of_all[i], name) == 0) set = ~(unsigned)VOUCH_DRAFTER_NONE;
    if (!set || set & drafters) return true;
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (set >> i & 1 && vouch_drafter_get_info(i).flags) needy |= 1u << i;
    char text[256];
    flags_text(options->command, needy, text);
    if (set == needy && !(set & options->drafters_given) && *text)
        tool_complain("--%s has no effect without %s", name, text);
    else {
        char spec[CLI_DRAFTERS_SIZE];
        tool_complain("--%s has no effect with --spec %s: leave out one of them", name, cli_spec_text(drafters, spec));
    }
    return false;
}

bool cli_check_effects(cli_options *options, cli_given given)
{
    vouch_speculation *speculation = &options->session.speculation;
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const tool_flag *flag = cli_flag_at(i);
        if (given[i] && flag->commands & options->command && strcmp(flag->group, "Speculation") == 0 &&
            !check_effect(options, flag->name))
            return false;
    }
    if (options->tree && !parse_tree(options->tree, speculation)) return false;
    if (!check_accept(speculation, given)) return false;
    if (speculation->ngram_min > speculation->ngram_max) {
        tool_complain("--ngram-min %d is more than --ngram-max %d; lower one or raise the other",
                      speculation->ngram_min, speculation->ngram_max);
        return false;
    }
    return true;
}

bool cli_check_speculation(cli_options *options, cli_given given)
{
    vouch_speculation *speculation = &options->session.speculation;
    char text[CLI_DRAFTERS_SIZE], given_text[CLI_DRAFTERS_SIZE];
    if (options->speculative) {
        const unsigned draft = options->draft_model ? cli_drafters_taking("draft-model") : 0;
        const unsigned meant = draft ? draft : VOUCH_DRAFTER_AUTO;
        const bool is_given = cli_given_find(given, "spec");
        if (is_given && speculation->drafters != meant && speculation->drafters != cli_drafters_taking("draft-model")) {
            tool_complain("--speculative means --spec %s %s a draft model, but --spec %s was given; leave out "
                          "one of them",
                          cli_spec_text(meant, text), draft ? "with" : "without",
                          cli_spec_text(speculation->drafters, given_text));
            return false;
        }
        if (!is_given) speculation->drafters = meant;
    }
    const bool is_auto = speculation->drafters == VOUCH_DRAFTER_AUTO;
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (options->drafters_given >> i & 1 && vouch_drafter_get_info(i).is_paid) options->pairing = CLI_PAIRING_NO;
    if (!is_auto && options->pairing == CLI_PAIRING_ASKED) {
        tool_complain("--draft-model auto and --spec %s exclude each other: leave out one of them",
                      cli_spec_text(speculation->drafters, text));
        return false;
    }
    if (!is_auto) options->pairing = CLI_PAIRING_NO;
    if (!cli_check_drafters(options) || !cli_check_effects(options, given)) return false;
    if (is_auto) { /* AUTO is the same set to the library; -k then limits the drafts of pace */
        speculation->drafters = VOUCH_DRAFTER_AUTO;
        speculation->auto_with = options->drafters_given;
    }
    return true;
}
