/* SPDX-License-Identifier: MIT */
#include "common/options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/text.h"

_Static_assert(sizeof(vouch_kv_type) == sizeof(int) &&
                   sizeof(vouch_draft_sampling) == sizeof(int) && sizeof(vouch_accept) == sizeof(int),
               "choices are stored as int");

const char *const cli_command_names[CLI_COMMANDS] = {"run", "info", "tokenize", "perplexity", "bench", "check",
                                                       "analyze"};

#define AT(member)   .offset = offsetof(cli_options, member)
#define ASKING       (CLI_RUN | CLI_BENCH | CLI_ANALYZE)
#define SAMPLING     ASKING, "Sampling"
#define SPECULATION  CLI_RUN | CLI_BENCH, "Speculation"
#define ANSWER       ASKING, "Answer"
#define OUTPUT       CLI_RUN, "Output"
#define PASSES       CLI_BENCH, "Passes"
#define WITH_WEIGHTS (CLI_RUN | CLI_PERPLEXITY | CLI_BENCH | CLI_CHECK | CLI_ANALYZE)
#define EVERYWHERE   (WITH_WEIGHTS | CLI_INFO | CLI_TOKENIZE)
#define PENALTY      "[-1e6, 1e6]" /* as far as logits stay finite */
#define RULES        "rejection|match|block|coupled|auto" /* in the order of vouch_accept */
#define ANY          "[0, 2147483647]"
#define SPEC_WORDS   "auto|none|draft|ngram|suffix|recycle|prediction|history" /* in the order of the drafters' bits */

/* The words of a choice stand in the order of its enum. */
static const cli_flag flags[] = {
    {"model", NULL, 'm', CLI_FLAG_FILE, AT(model), "FILE", NULL, EVERYWHERE, "Model",
     "GGUF file of the target model", NULL, NULL},
    {"prompt", NULL, 'p', CLI_FLAG_TEXT, AT(prompt), "TEXT", NULL, CLI_RUN | CLI_TOKENIZE, "Prompt",
     "the question, or the text to go on with", NULL, NULL},
    {"prompt-file", NULL, 'f', CLI_FLAG_FILE, AT(prompt_file), "FILE", NULL, CLI_RUN | CLI_TOKENIZE, "Prompt",
     "the same from a file, - for standard input", NULL, NULL},
    {"prompts", NULL, 0, CLI_FLAG_FILE, AT(prompts), "FILE", NULL, CLI_BENCH | CLI_ANALYZE, "Prompt",
     "answer these: JSON lines with turns, prompt or\nquestion, or a prompt a line; - for standard input", NULL, NULL},
    {"category", NULL, 0, CLI_FLAG_TEXTS, AT(categories), "NAME", NULL, CLI_BENCH | CLI_ANALYZE, "Prompt",
     "only prompts of this category; may be repeated", NULL, NULL},
    {"each", NULL, 0, CLI_FLAG_INT, AT(n_each), "N", ANY, CLI_BENCH | CLI_ANALYZE, "Prompt",
     "at most N prompts of each category; 0: all", NULL, NULL},
    {"chat", NULL, 0, CLI_FLAG_SWITCH, AT(chat), NULL, NULL, CLI_RUN, "Prompt",
     "a conversation, one line a turn", NULL, NULL},
    {"system", NULL, 0, CLI_FLAG_TEXT, AT(system), "TEXT", NULL, ASKING, "Prompt",
     "the system message (default: the template's)", NULL, NULL},
    {"chat-template", NULL, 0, CLI_FLAG_FILE, AT(chat_template), "NAME|FILE", NULL, ASKING,
     "Prompt", "auto (the model's own, none for a base model), chatml,\nnone, or the file of a template", NULL, NULL},
    {"raw", NULL, 0, CLI_FLAG_SWITCH, AT(raw), NULL, NULL, ASKING, "Prompt",
     "no template: the model goes on with the prompt", NULL, NULL},

    {"draft-model", NULL, 'd', CLI_FLAG_FILE, AT(draft_model), "FILE", NULL, ASKING | CLI_CHECK, "Speculation",
     "GGUF file of a smaller model with the same tokens", NULL, NULL},
    {"spec", NULL, 0, CLI_FLAG_SET, AT(session.speculation.drafters), SPEC_WORDS, NULL, CLI_RUN, "Speculation",
     "who guesses, or several with commas between;\nauto: ngram,suffix,recycle, and the draft model,\n"
     "prediction or history that is given",
     NULL, NULL},
    {"spec", NULL, 0, CLI_FLAG_SETS, AT(drafters), SPEC_WORDS, NULL, CLI_BENCH, "Speculation",
     "who guesses, as in `vouch run`; may be repeated:\neach is measured beside plain decoding (default auto)",
     NULL, NULL},
    {"speculative", NULL, 0, CLI_FLAG_SWITCH, AT(speculative), NULL, NULL, CLI_RUN, "Speculation",
     "the same as --spec draft; without a draft model,\nas --spec auto", NULL, NULL},
    {"num-speculative-tokens", NULL, 'k', CLI_FLAG_INT, AT(session.speculation.n_draft), "N", "[1, 64]",
     CLI_RUN, "Speculation", "most guesses a cycle (default: what pays)", "--spec none turns speculation off", NULL},
    {"num-speculative-tokens", NULL, 'k', CLI_FLAG_INTS, AT(draft_lengths), "N,N,...", "[1, 64]", CLI_BENCH,
     "Speculation", "most guesses a cycle, each measured with each --spec\n(default: what pays)", NULL, NULL},
    {"tree", NULL, 0, CLI_FLAG_FILE, AT(tree), "B,D", NULL, SPECULATION,
     "at most B guesses for one place, D on a path; 1,D: chains", NULL, NULL},
    {"allow-vocab-mismatch", NULL, 0, CLI_FLAG_SWITCH, AT(session.speculation.allow_vocab_mismatch), NULL, NULL,
     SPECULATION, "a draft model with other tokens drafts on those that\nboth have", NULL, NULL},
    {"draft-head", NULL, 0, CLI_FLAG_FILE, AT(draft_head), "FILE", NULL, SPECULATION,
     "the draft model guesses only these of its tokens, so\nthat it takes less time: what `vouch tokenize\n"
     "--frequent N` wrote",
     NULL, NULL},
    {"draft-sampling", NULL, 0, CLI_FLAG_CHOICE, AT(session.speculation.draft_sampling), "sample|greedy",
     NULL, SPECULATION, "how the draft model draws its guesses", NULL, NULL},
    {"ngram-min", NULL, 0, CLI_FLAG_INT, AT(session.speculation.ngram_min), "N", "[1, 16]", SPECULATION,
     "shortest n-gram looked up", NULL, NULL},
    {"ngram-max", NULL, 0, CLI_FLAG_INT, AT(session.speculation.ngram_max), "N", "[1, 16]", SPECULATION,
     "longest n-gram looked up", NULL, NULL},
    {"prediction", NULL, 0, CLI_FLAG_FILE, AT(prediction), "FILE", NULL, CLI_RUN, "Speculation",
     "your own guess of the answer, to copy from", NULL, NULL},
    {"history", NULL, 0, CLI_FLAG_FILE, AT(history), "FILE", NULL, CLI_RUN, "Speculation",
     "earlier answers to copy from; this one is added (of\nruns at the same time, only that of the last to end)",
     NULL, NULL},
    {"history-tokens", NULL, 0, CLI_FLAG_INT, AT(session.speculation.history_tokens), "N", "[4, 16777216]",
     SPECULATION, "most of them kept (default 65536)", NULL, NULL},
    {"forget", NULL, 0, CLI_FLAG_SWITCH, AT(session.speculation.forget), NULL, NULL, SPECULATION,
     "an answer doesn't recycle what was kept of those\nbefore it", NULL, NULL},
    {"accept", NULL, 0, CLI_FLAG_CHOICE, AT(session.speculation.accept), RULES, NULL, CLI_RUN,
     "Speculation",
     "the rule that judges guesses; all give exactly the\ntarget's distribution. match, coupled: the same text for\n"
     "a seed whatever guesses, and with --spec none.\nauto: rejection with a draft model that samples or\n"
     "with --lenience, else match",
     NULL, NULL},
    {"accept", NULL, 0, CLI_FLAG_CHOICES, AT(rules), RULES, NULL, CLI_BENCH, "Speculation",
     "the rule that judges guesses; may be repeated\n(default auto, as in `vouch run`)", NULL, NULL},
    {"lenience", NULL, 0, CLI_FLAG_DOUBLE, AT(session.speculation.lenience), "L", "(0, 1]", SPECULATION,
     "accept with min(1, p / (L q)); below 1 it is lossy", NULL, NULL},

    {"max-tokens", NULL, 'n', CLI_FLAG_INT, AT(session.max_tokens), "N", ANY, CLI_RUN | CLI_BENCH, "Answer",
     "an answer's longest; 0: up to the context's end", NULL, NULL},
    {"max-tokens", NULL, 'n', CLI_FLAG_INT, AT(session.max_tokens), "N", "[1, 2147483647]", CLI_ANALYZE, "Answer",
     "an answer's longest", NULL, NULL},
    {"stop", NULL, 0, CLI_FLAG_TEXTS, AT(stop), "TEXT", NULL, ANSWER, "end before this text; may be repeated",
     NULL, NULL},
    {"ignore-eos", NULL, 0, CLI_FLAG_SWITCH, AT(session.ignore_eos), NULL, NULL, ANSWER,
     "go on after the end of the answer", NULL, NULL},

    {"temp", "temperature", 't', CLI_FLAG_FLOAT, AT(session.sampling.temperature), "T", "[0, inf)", SAMPLING,
     "0 is greedy", NULL, NULL},
    {"top-k", NULL, 0, CLI_FLAG_INT, AT(session.sampling.top_k), "N", ANY, SAMPLING,
     "keep the N likeliest tokens; 0: all", NULL, NULL},
    {"top-p", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.top_p), "P", "(0, 1]", SAMPLING,
     "keep the likeliest that sum to P", NULL, NULL},
    {"min-p", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.min_p), "P", "[0, 1)", SAMPLING,
     "keep those with P times the likeliest's", NULL, NULL},
    {"repeat-penalty", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.repeat_penalty), "R", "[0.001, 1000]",
     SAMPLING, "divides logits of tokens seen; 1: off", NULL, NULL},
    {"frequency-penalty", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.frequency_penalty), "X", PENALTY,
     SAMPLING, "minus X for each time seen", NULL, NULL},
    {"presence-penalty", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.presence_penalty), "X", PENALTY,
     SAMPLING, "minus X once seen", NULL, NULL},
    {"penalty-window", "repeat-last-n", 0, CLI_FLAG_INT, AT(session.sampling.penalty_window), "N", ANY,
     SAMPLING, "tokens back that penalties see", NULL, NULL},
    {"logit-bias", NULL, 0, CLI_FLAG_TEXTS, AT(bias_texts), "ID=X", NULL, SAMPLING,
     "adds X, in [-1e9, 1e9], to a token's logit; -inf bans\nit; repeatable", NULL, NULL},
    {"seed", NULL, 0, CLI_FLAG_SEED, AT(session.sampling.seed), "N", "[0, 2^64)", SAMPLING,
     "key of the random numbers; with a draft model under\nrejection --spec and -k are needed, too, for the same\n"
     "text again",
     NULL, NULL},

    {"file", NULL, 'f', CLI_FLAG_FILE, AT(file), "FILE", NULL, CLI_PERPLEXITY, "Text",
     "the text to predict, - for standard input", NULL, NULL},
    {"text", NULL, 0, CLI_FLAG_FILE, AT(text), "FILE", NULL, CLI_ANALYZE, "Text",
     "a text to compare the models on, in chunks\n(default: what the target writes)", NULL, NULL},
    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[4, 1048576]", CLI_ANALYZE, "Text",
     "tokens a chunk of --text (default 256)", NULL, NULL},
    {"chunks", NULL, 0, CLI_FLAG_INT, AT(n_chunks), "N", "[1, 1000000]", CLI_ANALYZE, "Text",
     "how many chunks at most (default 8)", NULL, NULL},
    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[4, 1048576]", CLI_PERPLEXITY, "Text",
     "tokens a chunk (default 512)", NULL, NULL},
    {"chunks", NULL, 0, CLI_FLAG_INT, AT(n_chunks), "N", ANY, CLI_PERPLEXITY, "Text",
     "how many chunks; 0: all", NULL, NULL},

    {"special", NULL, 0, CLI_FLAG_SWITCH, AT(special), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "names of special tokens become their ids", NULL, NULL},
    {"bos", NULL, 0, CLI_FLAG_SWITCH, AT(bos), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "begin as the model's file asks", NULL, NULL},
    {"ids", NULL, 0, CLI_FLAG_SWITCH, AT(ids), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "only the ids, on one line", NULL, NULL},
    {"frequent", NULL, 0, CLI_FLAG_INT, AT(n_frequent), "N", "[1, 2147483647]", CLI_TOKENIZE, "Tokens",
     "instead, the ids of the N most frequent, the end of an\nanswer among them, one a line: for --draft-head",
     NULL, NULL},

    {"rows", NULL, 'r', CLI_FLAG_INTS, AT(rows), "N,N,...", "[1, 65]", PASSES, "tokens scored in one pass", NULL, NULL},
    {"depth", NULL, 0, CLI_FLAG_INT, AT(depth), "N", "[0, 1000000]", PASSES, "tokens in the cache before a pass", NULL,
     NULL},
    {"prefill", NULL, 0, CLI_FLAG_INT, AT(n_prefill), "N", "[0, 1000000]", PASSES,
     "also read a prompt of N tokens; 0: don't", NULL, NULL},
    {"decode", NULL, 0, CLI_FLAG_INT, AT(n_decode), "N", "[0, 1000000]", PASSES,
     "also take N plain steps behind --depth; 0: don't", NULL, NULL},
    {"reps", NULL, 0, CLI_FLAG_INT, AT(n_reps), "N", "[1, 1000]", CLI_BENCH, "Measuring",
     "times that each is measured (default 10, with --prompts 1)", NULL, NULL},
    {"law", NULL, 0, CLI_FLAG_SET, AT(laws), "all|L1|L2|L3|L4", NULL, CLI_CHECK, "Checking",
     "only these, with commas between", NULL, NULL},
    {"seconds", NULL, 0, CLI_FLAG_DOUBLE, AT(seconds), "S", "[0, 86400]", CLI_CHECK, "Checking",
     "about how long to try; the least is tried in any case", NULL, NULL},
    {"json", NULL, 'j', CLI_FLAG_FILE, AT(json), "FILE", NULL, CLI_BENCH | CLI_CHECK | CLI_ANALYZE, "Output",
     "the figures as JSON", NULL, NULL},
    {"svg", NULL, 0, CLI_FLAG_FILE, AT(svg), "FILE", NULL, CLI_ANALYZE, "Output", "the same as plots", NULL, NULL},
    {"csv", NULL, 0, CLI_FLAG_FILE, AT(csv), "FILE", NULL, CLI_BENCH, "Report",
     "each answer to a prompt as a line", NULL, NULL},
    {"html", NULL, 0, CLI_FLAG_FILE, AT(html), "FILE", NULL, CLI_BENCH, "Report",
     "the answers to prompts as a report with plots", NULL, NULL},

    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_BENCH, "Resources",
     "room of the cache, in tokens\n(default: what the measurements take)", NULL, NULL},
    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_RUN, "Resources",
     "most tokens of prompt and answer\n(default: the model's, at most 4096)", NULL, NULL},
    {"threads", NULL, 0, CLI_FLAG_INT, AT(session.n_threads), "N", "[1, 256]", EVERYWHERE, "Resources",
     "(default: every processor)", NULL, NULL},
    {"cpu", NULL, 0, CLI_FLAG_FILE, AT(cpu), "ISA", NULL, EVERYWHERE, "Resources",
     "instruction set: ref, avx2, avxvnni, avx512,\navx512vnni, avx512gfni; on Arm ref, neon, i8mm\n"
     "(default auto: the widest here)",
     NULL, NULL},
    {"kv-type", NULL, 0, CLI_FLAG_CHOICE, AT(session.kv_type), CLI_KV_TYPES, NULL, WITH_WEIGHTS, "Resources",
     "storage of keys and values", NULL, NULL},
    {"prefill-chunk", NULL, 0, CLI_FLAG_INT, AT(session.prefill_chunk), "N", "[1, 512]", WITH_WEIGHTS,
     "Resources", "rows of one pass (default 256)", NULL, NULL},

    {"color", "colour", 0, CLI_FLAG_CHOICE, AT(color), "auto|always|never", NULL, OUTPUT,
     "accepted, corrected and bonus tokens each in its\nown colour; plain --color means auto: on a terminal\n"
     "(default: only tables and messages)",
     NULL, "auto"},
    {"trace", NULL, 0, CLI_FLAG_SWITCH, AT(trace), NULL, NULL, OUTPUT, "a table a cycle on standard error",
     NULL, NULL},
    {"stats", NULL, 0, CLI_FLAG_SWITCH, AT(stats), NULL, NULL, OUTPUT,
     "figures at the end, on standard error", NULL, NULL},
    {"stats-json", NULL, 0, CLI_FLAG_FILE, AT(stats_json), "FILE", NULL, OUTPUT,
     "the same as JSON, with the trace where --trace is given", NULL, NULL},
    {"help", NULL, 'h', CLI_FLAG_SWITCH, AT(help), NULL, NULL, EVERYWHERE, "Help", "this text", NULL, NULL},
};
enum { N_FLAGS = sizeof flags / sizeof *flags };

static const cli_flag_table table = {flags, N_FLAGS, cli_command_names, CLI_COMMANDS};

static cli_options options_default(unsigned command)
{
    cli_options options = {
        .session = vouch_session_options_default(), .rows = {{1, 2, 4, 5, 8, 16}, 6}, .depth = 128, .seconds = 60};
    options.session.max_tokens = command == CLI_RUN ? 512 : 128;
    options.session.sampling.temperature = 0;
    options.session.n_ctx = options.session.n_threads = options.session.prefill_chunk = 0;
    options.session.speculation.n_draft = 0;
    return options;
}

/* ---------------------------------------------------------- contradictions */

typedef const char *given_flags[N_FLAGS];

/* The row of a flag that was given, or NULL. */
static const cli_flag *given_find(given_flags given, const char *name)
{
    for (size_t i = 0; i < N_FLAGS; i++)
        if (given[i] && strcmp(flags[i].name, name) == 0) return &flags[i];
    return NULL;
}

/* What is written when the command is done replaces what is there. */
static bool is_written(const cli_flag *flag)
{
    static const char *const names[] = {"json", "svg", "csv", "html", "stats-json", "history"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(flag->name, names[i]) == 0) return true;
    return false;
}

static bool check_written(given_flags given)
{
    static const char *const standard[][2] = {{"/dev/stdin", "input comes from"}, {"/dev/stdout", "output goes to"}};
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (!given[i] || !is_written(&flags[i])) continue;
        if (strcmp(given[i], "-") == 0) {
            cli_complain("--%s -: standard output has the text alone; name a file, ./- for one of that name",
                         flags[i].name);
            return false;
        }
        for (size_t j = 0; j < sizeof standard / sizeof *standard; j++) {
            if (!cli_file_is_same(given[i], standard[j][0])) continue;
            cli_complain("--%s %s is the file that standard %s, too, which would be lost", flags[i].name, given[i],
                         standard[j][1]);
            return false;
        }
        for (size_t j = 0; j < N_FLAGS; j++) {
            const bool is_file = flags[j].kind == CLI_FLAG_FILE && strstr(flags[j].value, "FILE");
            if (j == i || !given[j] || !is_file || !cli_file_is_same(given[i], given[j])) continue;
            cli_complain("--%s %s is the file of --%s, too, which would be lost", flags[i].name, given[i],
                         flags[j].name);
            return false;
        }
    }
    return true;
}

/* Standard input can be read once. */
static bool check_read(given_flags given)
{
    const char *first = given_find(given, "chat") ? "chat" : NULL;
    for (size_t i = 0; i < N_FLAGS; i++) {
        const bool is_read = flags[i].kind == CLI_FLAG_FILE && !is_written(&flags[i]);
        if (!given[i] || !is_read || strcmp(given[i], "-") != 0) continue;
        if (first) {
            cli_complain("--%s and --%s - both read standard input", first, flags[i].name);
            return false;
        }
        first = flags[i].name;
    }
    return true;
}

static bool check_exclusive(given_flags given)
{
    static const char *const pairs[][3] = {
        {"prompt", "prompt-file", "both give the prompt"},
        {"prompt", "chat", "a conversation reads its own lines"},
        {"prompt-file", "chat", "a conversation reads its own lines"},
        {"raw", "chat", "a conversation needs a template"},
        {"raw", "chat-template", "--raw means no template"},
        {"raw", "system", "a system message needs a template"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!given_find(given, pairs[i][0]) || !given_find(given, pairs[i][1])) continue;
        cli_complain("--%s and --%s exclude each other: %s", pairs[i][0], pairs[i][1], pairs[i][2]);
        return false;
    }
    return true;
}

/* "ngram,recycle" */
const char *cli_spec_text(unsigned drafters, char text[64])
{
    const char *word = strchr(SPEC_WORDS, '|') + 1;
    size_t used = 0;
    snprintf(text, 64, "%s", drafters ? "" : "auto");
    for (; drafters; drafters >>= 1) {
        const int n = (int)strcspn(word, "|");
        if (drafters & 1) used += (size_t)snprintf(text + used, 64 - used, "%s%.*s", used ? "," : "", n, word);
        word += n + 1;
    }
    return text;
}

/* "B,D" */
static bool parse_tree(const char *text, vouch_speculation *speculation)
{
    char *end = NULL;
    const long branches = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    const char *second = end && *end == ',' ? end + 1 : "";
    const long depth = isdigit((unsigned char)*second) ? strtol(second, &end, 10) : 0;
    if (depth < 1 || depth > VOUCH_MAX_DRAFT || *end || branches < 1 || branches > VOUCH_MAX_DRAFT) {
        cli_complain("--tree '%s': it takes B,D, two whole numbers in [1, %d]", text, VOUCH_MAX_DRAFT);
        return false;
    }
    speculation->tree_branches = (int32_t)branches;
    speculation->tree_depth = (int32_t)depth;
    return true;
}

/* Resolves "auto"; refuses sets that can't be, or lack what they need. */
static bool resolve_drafters(cli_options *options)
{
    enum { MODEL = VOUCH_DRAFTER_MODEL };
    vouch_speculation *speculation = &options->session.speculation;
    char text[64];
    if (speculation->drafters == VOUCH_DRAFTER_AUTO) {
        speculation->drafters = VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE;
        if (options->prediction) speculation->drafters |= VOUCH_DRAFTER_PREDICTION;
        if (options->history) speculation->drafters |= VOUCH_DRAFTER_HISTORY;
        if (options->draft_model) speculation->drafters |= MODEL;
    }
    cli_spec_text(speculation->drafters, text);
    if ((speculation->drafters & VOUCH_DRAFTER_NONE) && speculation->drafters != VOUCH_DRAFTER_NONE) {
        cli_complain("--spec %s: none stands alone", text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_PREDICTION) && !options->prediction) {
        if (options->prompts)
            cli_complain("--spec %s: bench can't measure a prediction, which belongs to one prompt", text);
        else cli_complain("--spec %s needs --prediction FILE", text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_HISTORY) && !options->history && !options->prompts) {
        cli_complain("--spec %s needs --history FILE", text);
        return false;
    }
    if ((speculation->drafters & MODEL) && !options->draft_model) {
        cli_complain("--spec %s needs a draft model: add --draft-model FILE, or use --spec ngram, which needs none",
                     text);
        return false;
    }
    return true;
}

/* Refuses what the rule doesn't do. */
static bool check_accept(const vouch_speculation *speculation, given_flags given)
{
    const char *rule = speculation->accept == VOUCH_ACCEPT_AUTO ? "auto" : vouch_accept_name((int)speculation->accept);
    if (given_find(given, "accept") && speculation->drafters == VOUCH_DRAFTER_NONE &&
        speculation->accept != VOUCH_ACCEPT_COUPLED && speculation->accept != VOUCH_ACCEPT_MATCH) {
        cli_complain("--accept %s has no effect with --spec none: leave out one of them", rule);
        return false;
    }
    if (given_find(given, "lenience") && speculation->accept != VOUCH_ACCEPT_REJECTION &&
        speculation->accept != VOUCH_ACCEPT_AUTO) {
        cli_complain("--lenience has no effect with --accept %s: leave out one of them", rule);
        return false;
    }
    if (speculation->tree_branches > 1 && speculation->accept == VOUCH_ACCEPT_BLOCK) {
        cli_complain("--tree %d,%d and --accept block exclude each other: block judges chains; use --tree 1,%d",
                     speculation->tree_branches, speculation->tree_depth, speculation->tree_depth);
        return false;
    }
    return true;
}

/* Refuses flags that the drafters in use would ignore. */
static bool check_effects(cli_options *options, given_flags given)
{
    enum { MODEL = VOUCH_DRAFTER_MODEL, NGRAM = VOUCH_DRAFTER_NGRAM, ALL = ~VOUCH_DRAFTER_NONE,
           PREDICTION = VOUCH_DRAFTER_PREDICTION, HISTORY = VOUCH_DRAFTER_HISTORY };
    static const struct {
        const char *name;
        int drafters;
    } uses[] = {{"draft-model", MODEL}, {"draft-sampling", MODEL}, {"allow-vocab-mismatch", MODEL},
                {"draft-head", MODEL}, {"ngram-min", NGRAM},
                {"ngram-max", NGRAM},   {"lenience", ALL},         {"num-speculative-tokens", ALL},
                {"tree", ALL}, {"prediction", PREDICTION}, {"history", HISTORY},
                {"history-tokens", HISTORY}, {"forget", VOUCH_DRAFTER_RECYCLE}};
    vouch_speculation *speculation = &options->session.speculation;
    char text[64];
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!given_find(given, uses[i].name) || (unsigned)uses[i].drafters & speculation->drafters) continue;
        if (uses[i].drafters == MODEL && !options->draft_model)
            cli_complain("--%s has no effect without --draft-model FILE", uses[i].name);
        else cli_complain("--%s has no effect with --spec %s: leave out one of them", uses[i].name,
                     cli_spec_text(speculation->drafters, text));
        return false;
    }
    if (options->tree && !parse_tree(options->tree, speculation)) return false;
    if (!check_accept(speculation, given)) return false;
    if (speculation->ngram_min > speculation->ngram_max) {
        cli_complain("--ngram-min %d is more than --ngram-max %d", speculation->ngram_min,
                     speculation->ngram_max);
        return false;
    }
    return true;
}

static bool check_speculation(cli_options *options, given_flags given)
{
    vouch_speculation *speculation = &options->session.speculation;
    char text[64];
    if (options->speculative) {
        const unsigned meant = options->draft_model ? VOUCH_DRAFTER_MODEL : VOUCH_DRAFTER_AUTO;
        const bool is_given = given_find(given, "spec");
        if (is_given && speculation->drafters != meant && speculation->drafters != VOUCH_DRAFTER_MODEL) {
            cli_complain("--speculative means --spec %s %s a draft model, but --spec %s was given",
                         options->draft_model ? "draft" : "auto", options->draft_model ? "with" : "without",
                         cli_spec_text(speculation->drafters, text));
            return false;
        }
        if (!is_given) speculation->drafters = meant;
    }
    const bool is_auto = speculation->drafters == VOUCH_DRAFTER_AUTO && !options->prediction && !options->history;
    if (!resolve_drafters(options) || !check_effects(options, given)) return false;
    if (is_auto) speculation->drafters = VOUCH_DRAFTER_AUTO; /* so that -k only limits what pace decides */
    return true;
}

static bool check_cpu(const char *cpu)
{
    char known[128] = "auto";
    if (!cpu || strcmp(cpu, "auto") == 0) return true;
    for (size_t i = 0; vouch_cpu_name(i); i++) {
        if (strcmp(vouch_cpu_name(i), cpu) == 0) return true;
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", vouch_cpu_name(i));
    }
    cli_complain("--cpu '%s': this machine has %s", cpu, known);
    return false;
}

/* "ID=X" */
static bool parse_bias(const char *text, vouch_logit_bias *bias)
{
    char *end;
    const long long token = strtoll(text, &end, 10);
    const bool has_token = *text >= '0' && *text <= '9' && *end == '=' && token <= INT32_MAX;
    const char *number = has_token ? end + 1 : "";
    const float value = strtof(number, &end);
    const bool is_number = end > number && !isspace((unsigned char)*number) && !*end && !strpbrk(number, "xX");
    if (!has_token || !is_number || !(fabsf(value) <= 1e9f || value == -INFINITY)) {
        cli_complain("--logit-bias '%s': it takes ID=X, a token's id and a number in [-1e9, 1e9] or -inf", text);
        return false;
    }
    *bias = (vouch_logit_bias){(int32_t)token, value};
    return true;
}

static bool check_stop(const char *text)
{
    const size_t n = strlen(text);
    uint32_t code;
    for (size_t at = 0, length; at < n; at += length) {
        length = cli_utf8_length(text + at, n - at, &code);
        if (length > 0) continue;
        cli_complain("--stop '%s': not UTF-8", text);
        return false;
    }
    return true;
}

/* What the library wants of prompts, answers and sampling. */
static bool check_asking(cli_options *options)
{
    for (size_t i = 0; i < options->bias_texts.n; i++)
        if (!parse_bias(options->bias_texts.items[i], &options->bias[i])) return false;
    for (size_t i = 0; i < options->stop.n; i++)
        if (!check_stop(options->stop.items[i])) return false;
    options->session.sampling.bias = options->bias;
    options->session.sampling.n_bias = options->bias_texts.n;
    options->session.stop = options->stop.items;
    options->session.n_stop = options->stop.n;
    if (options->raw) options->chat_template = "none";
    if (options->chat_template && strcmp(options->chat_template, "none") == 0 && (options->chat || options->system)) {
        cli_complain("--%s needs a chat template, and --chat-template is none",
                     options->chat ? "chat" : "system");
        return false;
    }
    return true;
}

static bool check_run(cli_options *options, given_flags given)
{
    options->session.expected_acceptance = options->stats_json != NULL; /* the summary doesn't show it */
    options->paint = given_find(given, "color") != NULL;
    return check_asking(options) && check_speculation(options, given);
}

/* The cache holds the sequence and what a measurement adds, and one token more that is never run. */
int32_t cli_bench_room(const cli_options *options)
{
    const int32_t most_rows = options->rows.items[options->rows.n - 1];
    const int32_t added = most_rows > options->n_decode ? most_rows : options->n_decode;
    const int32_t behind = options->depth + 1 + added, prompt = options->n_prefill + 2;
    return behind > prompt ? behind : prompt;
}

/* Each set of drafters by itself; afterwards speculation.drafters is all of them. */
static bool check_bench_speculation(cli_options *options, given_flags given)
{
    vouch_speculation *speculation = &options->session.speculation;
    cli_ints *sets = &options->drafters;
    unsigned all = 0;
    char text[64];
    if (sets->n == 0) sets->items[sets->n++] = VOUCH_DRAFTER_AUTO;
    if (options->draft_lengths.n == 0) options->draft_lengths.items[options->draft_lengths.n++] = 0;
    for (size_t i = 0; i < sets->n; i++) {
        speculation->drafters = (unsigned)sets->items[i];
        if (!resolve_drafters(options)) return false;
        sets->items[i] = (int32_t)speculation->drafters;
        for (size_t j = 0; j < i; j++)
            if (sets->items[j] == sets->items[i]) {
                cli_complain("--spec %s: given twice, here that is what auto means",
                             cli_spec_text(speculation->drafters, text));
                return false;
            }
        all |= speculation->drafters;
    }
    if (options->rules.n == 0) options->rules.items[options->rules.n++] = VOUCH_ACCEPT_AUTO;
    speculation->drafters = all;
    for (size_t i = 0; i < options->rules.n; i++) {
        speculation->accept = (vouch_accept)options->rules.items[i];
        if (!check_effects(options, given)) return false;
    }
    return true;
}

/* Flags that are about prompts, or about passes, say nothing about the other. */
static bool check_bench_flags(const cli_options *options, given_flags given)
{
    static const char *const about_prompts[] = {"Prompt", "Speculation", "Answer", "Sampling", "Report"};
    for (size_t i = 0; i < N_FLAGS; i++) {
        bool idle = options->prompts && strcmp(flags[i].group, "Passes") == 0;
        for (size_t j = 0; !options->prompts && j < sizeof about_prompts / sizeof *about_prompts; j++)
            if (strcmp(flags[i].group, about_prompts[j]) == 0) idle = true;
        if (!given[i] || !idle) continue;
        cli_complain(options->prompts ? "--%s has no effect with --prompts: leave out one of them"
                                      : "--%s has no effect without --prompts FILE",
                     flags[i].name);
        return false;
    }
    return true;
}

static bool check_bench(cli_options *options, given_flags given)
{
    if (!check_bench_flags(options, given)) return false;
    if (options->n_reps == 0) options->n_reps = options->prompts ? 1 : 10;
    if (options->prompts) return check_asking(options) && check_bench_speculation(options, given);
    const int32_t room = cli_bench_room(options);
    if (options->session.n_ctx == 0 || options->session.n_ctx >= room) return true;
    cli_complain("--ctx %d: %d are needed for --depth, --rows, --prefill and --decode", options->session.n_ctx, room);
    return false;
}

/* Texts are the chunks of one, answers to prompts, or answers to a few prompts of the program's own. */
static bool check_texts(const cli_options *options, given_flags given)
{
    enum { CHUNKS = 1, ANSWERS = 2, OWN = 4 };
    static const struct {
        const char *name;
        unsigned where;
    } uses[] = {
        {"ctx", CHUNKS},     {"chunks", CHUNKS},           {"category", ANSWERS},   {"each", ANSWERS},
        {"system", ANSWERS}, {"max-tokens", ANSWERS | OWN}, {"stop", ANSWERS | OWN}, {"ignore-eos", ANSWERS | OWN},
    };
    const unsigned here = options->text ? CHUNKS : options->prompts ? ANSWERS : OWN;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!given_find(given, uses[i].name) || uses[i].where & here) continue;
        cli_complain("--%s has no effect %s", uses[i].name,
                     uses[i].where == CHUNKS ? "without --text FILE"
                     : uses[i].where & OWN   ? "with --text FILE"
                                             : "without --prompts FILE");
        return false;
    }
    return true;
}

static bool check_analyze(cli_options *options, given_flags given)
{
    if (!options->draft_model) {
        cli_complain("--draft-model FILE is missing: the GGUF file of the model that would guess");
        return false;
    }
    if (options->text && options->prompts) {
        cli_complain("--text and --prompts exclude each other: both say what the models are compared on");
        return false;
    }
    return check_texts(options, given) && check_asking(options);
}

bool cli_options_parse(cli_options *options, unsigned command, int argc, char **argv)
{
    given_flags given = {NULL};
    *options = options_default(command);
    options->command = command;
    options->arguments = argv;
    options->n_arguments = argc;
    options->stop.items = calloc((size_t)argc + 1, sizeof *options->stop.items);
    options->bias_texts.items = calloc((size_t)argc + 1, sizeof *options->bias_texts.items);
    options->categories.items = calloc((size_t)argc + 1, sizeof *options->categories.items);
    options->bias = calloc((size_t)argc + 1, sizeof *options->bias);
    if (!options->stop.items || !options->bias_texts.items || !options->categories.items || !options->bias) {
        cli_complain("not enough memory");
        return false;
    }
    if (!cli_flags_parse(&table, command, argc, argv, options, given)) return false;
    if (options->help) return true;
    if (!check_exclusive(given) || !check_read(given) || !check_written(given)) return false;
    if (!check_cpu(options->cpu)) return false;
    if (command == CLI_TOKENIZE && options->ids && options->n_frequent > 0) {
        cli_complain("--ids has no effect with --frequent: leave out one of them");
        return false;
    }
    if (command == CLI_RUN && !check_run(options, given)) return false;
    if (command == CLI_BENCH && !check_bench(options, given)) return false;
    if (!options->model) {
        cli_complain("--model FILE is missing: the GGUF file of a model");
        return false;
    }
    if (command == CLI_ANALYZE && !check_analyze(options, given)) return false;
    if (command == CLI_PERPLEXITY && !options->file) {
        cli_complain("--file FILE is missing: the text to predict");
        return false;
    }
    return true;
}

void cli_options_free(cli_options *options)
{
    free(options->stop.items);
    free(options->bias_texts.items);
    free(options->categories.items);
    free(options->bias);
}

void cli_options_help(unsigned command, FILE *stream)
{
    const cli_options defaults = options_default(command);
    cli_flags_help(&table, command, &defaults, stream);
}
