/* SPDX-License-Identifier: MIT */
#include "common/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/file.h"
#include "common/foreign.h"
#include "common/text.h"

_Static_assert(sizeof(vouch_kv_type) == sizeof(int) &&
                   sizeof(vouch_draft_sampling) == sizeof(int) && sizeof(vouch_accept) == sizeof(int),
               "choices are stored as int");

const char *const cli_command_names[CLI_COMMANDS] = {"run",   "info",  "tokenize", "perplexity",
                                                       "bench", "check", "analyze",  "logits"};

#define AT(member)   .offset = offsetof(cli_options, member)
#define ASKING       (CLI_RUN | CLI_BENCH | CLI_ANALYZE)
#define SAMPLING     ASKING, "Sampling"
#define SPECULATION  CLI_RUN | CLI_BENCH, "Speculation"
#define ANSWER       ASKING, "Answer"
#define OUTPUT       CLI_RUN, "Output"
#define PASSES       CLI_BENCH, "Passes"
#define WITH_WEIGHTS (CLI_RUN | CLI_PERPLEXITY | CLI_BENCH | CLI_CHECK | CLI_ANALYZE | CLI_LOGITS)
#define EVERYWHERE   (WITH_WEIGHTS | CLI_INFO | CLI_TOKENIZE)
#define PENALTY      "[-1e6, 1e6]" /* as far as logits stay finite */
#define RULES        VOUCH_ACCEPT_LIST(RULE_WORD) "auto" /* in the order of vouch_accept */
#define RULE_WORD(constant, name) #name "|"
#define ANY          "[0, 2147483647]"
#define SPEC_WORDS   "auto|none" VOUCH_DRAFTER_LIST(SPEC_WORD) /* in the order of the drafters' bits */
#define SPEC_WORD(constant, name, summary) "|" #name

/* The words of a choice stand in the order of its enum. Help wraps the texts. */
static const cli_flag flags[] = {
    {"", NULL, 0, CLI_FLAG_FILE, AT(model_word), "MODEL", NULL, EVERYWHERE, "Model",
     "GGUF file of the model; the same as --model FILE", NULL, NULL},
    {"model", NULL, 'm', CLI_FLAG_FILE, AT(model), "FILE", NULL, EVERYWHERE, "Model",
     "GGUF file of the model whose text is wanted (the target)", NULL, NULL},
    {"prompt", NULL, 'p', CLI_FLAG_TEXT, AT(prompt), "TEXT", NULL, CLI_RUN, "Prompt",
     "the question, or the text to go on with. A file (-f), or else standard input from a pipe or a file, is added "
     "behind it after an empty line",
     NULL, NULL},
    {"prompt", NULL, 'p', CLI_FLAG_TEXT, AT(prompt), "TEXT", NULL, CLI_TOKENIZE, "Prompt",
     "the text. A file (-f), or else standard input from a pipe or a file, is added behind it after an empty line",
     NULL, NULL},
    {"prompt-file", NULL, 'f', CLI_FLAG_FILE, AT(prompt_file), "FILE", NULL, CLI_RUN | CLI_TOKENIZE, "Prompt",
     "read the prompt from a file; - is standard input", NULL, NULL},
    {"prompts", NULL, 0, CLI_FLAG_FILE, AT(prompts), "FILE", NULL, CLI_BENCH | CLI_ANALYZE, "Prompt",
     "answer the prompts in this file: JSON lines with turns, prompt or question, or one prompt a line; - is standard "
     "input",
     NULL, NULL},
    {"category", NULL, 0, CLI_FLAG_TEXTS, AT(categories), "NAME", NULL, CLI_BENCH | CLI_ANALYZE, "Prompt",
     "take only prompts of this category; repeatable", NULL, NULL},
    {"each", NULL, 0, CLI_FLAG_INT, AT(n_each), "N", ANY, CLI_BENCH | CLI_ANALYZE, "Prompt",
     "take at most N prompts of each category; 0: all", NULL, NULL},
    {"chat", NULL, 0, CLI_FLAG_SWITCH, AT(chat), NULL, NULL, CLI_RUN, "Prompt",
     "hold a conversation", NULL, NULL},
    {"system", NULL, 0, CLI_FLAG_TEXT, AT(system), "TEXT", NULL, ASKING, "Prompt",
     "system message (default: the one in the chat template)", NULL, NULL},
    {"chat-template", NULL, 0, CLI_FLAG_FILE, AT(chat_template), "NAME|FILE", NULL, ASKING,
     "Prompt",
     "chat template: auto (the model's own; a base model has none), chatml, none, or a file that holds one (default "
     "auto)",
     NULL, NULL},
    {"raw", NULL, 0, CLI_FLAG_SWITCH, AT(raw), NULL, NULL, ASKING, "Prompt",
     "use no chat template: the model goes on with the prompt", NULL, NULL},

    {"draft-model", NULL, 'd', CLI_FLAG_FILE, AT(draft_model), "FILE", NULL, ASKING | CLI_CHECK, "Speculation",
     "GGUF file of a smaller model with the same tokens, which drafts", NULL, NULL},
    {"spec", NULL, 0, CLI_FLAG_SET, AT(session.speculation.drafters), SPEC_WORDS, NULL, CLI_RUN, "Speculation",
     "the drafters, with commas between. auto: all free drafters, and also the draft model, prediction or history "
     "where one is given",
     NULL, NULL},
    {"spec", NULL, 0, CLI_FLAG_SETS, AT(drafters), SPEC_WORDS, NULL, CLI_BENCH, "Speculation",
     "the drafters, as in `vouch run`; repeatable. bench compares each with plain decoding (default auto)", NULL,
     NULL},
    {"speculative", NULL, 0, CLI_FLAG_SWITCH, AT(speculative), NULL, NULL, CLI_RUN, "Speculation",
     "the same as --spec draft; without --draft-model, as --spec auto", NULL, NULL},
    {"num-speculative-tokens", NULL, 'k', CLI_FLAG_INT, AT(session.speculation.n_draft), "N", "[1, 64]",
     CLI_RUN, "Speculation", "most guesses per cycle (default: as many as pay)",
     "--spec none turns speculation off", NULL},
    {"num-speculative-tokens", NULL, 'k', CLI_FLAG_INTS, AT(draft_lengths), "N,N,...", "[1, 64]", CLI_BENCH,
     "Speculation", "most guesses per cycle; bench measures each number with each --spec (default: as many as pay)",
     NULL, NULL},
    {"tree", NULL, 0, CLI_FLAG_FILE, AT(tree), "B,D", NULL, SPECULATION,
     "shape of the draft: at most B guesses for one position, at most D on one path; 1,D: chains", NULL, NULL},
    {"allow-vocab-mismatch", NULL, 0, CLI_FLAG_SWITCH, AT(session.speculation.allow_vocab_mismatch), NULL, NULL,
     SPECULATION, "accept a draft model with another token table; it drafts the tokens that both models have",
     NULL, NULL},
    {"draft-head", NULL, 0, CLI_FLAG_FILE, AT(draft_head), "FILE", NULL, SPECULATION,
     "the draft model guesses only the tokens in this list, which takes less time. `vouch tokenize --frequent N` makes "
     "the list",
     NULL, NULL},
    {"draft-sampling", NULL, 0, CLI_FLAG_CHOICE, AT(session.speculation.draft_sampling), "sample|greedy",
     NULL, SPECULATION, "how the draft model chooses its guesses", NULL, NULL},
    {"ngram-min", NULL, 0, CLI_FLAG_INT, AT(session.speculation.ngram_min), "N", "[1, 16]", SPECULATION,
     "length of the shortest n-gram that ngram looks up", NULL, NULL},
    {"ngram-max", NULL, 0, CLI_FLAG_INT, AT(session.speculation.ngram_max), "N", "[1, 16]", SPECULATION,
     "length of the longest n-gram that ngram looks up", NULL, NULL},
    {"prediction", NULL, 0, CLI_FLAG_FILE, AT(prediction), "FILE", NULL, CLI_RUN, "Speculation",
     "your own prediction of the answer; guesses are copied from it", NULL, NULL},
    {"history", NULL, 0, CLI_FLAG_FILE, AT(history), "FILE", NULL, CLI_RUN, "Speculation",
     "earlier answers; guesses are copied from them, and this answer is added. Of two runs at the same time the file "
     "keeps the answer of the run that ends last",
     NULL, NULL},
    {"history-tokens", NULL, 0, CLI_FLAG_INT, AT(session.speculation.history_tokens), "N", "[4, 16777216]",
     SPECULATION, "most tokens that the history keeps (default 65536)", NULL, NULL},
    {"forget", NULL, 0, CLI_FLAG_SWITCH, AT(session.speculation.forget), NULL, NULL, SPECULATION,
     "recycle starts each answer without what it kept of earlier answers", NULL, NULL},
    {"accept", NULL, 0, CLI_FLAG_CHOICE, AT(session.speculation.accept), RULES, NULL, CLI_RUN,
     "Speculation",
     "the rule that judges guesses. Each gives exactly the target's distribution. match and coupled: a seed gives the "
     "same text with every drafter and with --spec none. auto: rejection with --lenience or with a draft model that "
     "samples, otherwise match",
     NULL, NULL},
    {"accept", NULL, 0, CLI_FLAG_CHOICES, AT(rules), RULES, NULL, CLI_BENCH, "Speculation",
     "the rule that judges guesses, as in `vouch run`; repeatable (default auto)", NULL, NULL},
    {"lenience", NULL, 0, CLI_FLAG_DOUBLE, AT(session.speculation.lenience), "L", "(0, 1]", SPECULATION,
     "lenience of rejection: accept a guess with probability min(1, p / (L q)); below 1 the text is no longer the "
     "target's own",
     NULL, NULL},

    {"max-tokens", NULL, 'n', CLI_FLAG_INT, AT(session.max_tokens), "N", ANY, CLI_RUN | CLI_BENCH, "Answer",
     "maximum tokens per answer; 0: up to the end of the context", NULL, NULL},
    {"max-tokens", NULL, 'n', CLI_FLAG_INT, AT(session.max_tokens), "N", "[1, 2147483647]", CLI_ANALYZE, "Answer",
     "maximum tokens per answer", NULL, NULL},
    {"stop", NULL, 0, CLI_FLAG_TEXTS, AT(stop), "TEXT", NULL, ANSWER, "end the answer before this text; repeatable",
     NULL, NULL},
    {"ignore-eos", NULL, 0, CLI_FLAG_SWITCH, AT(session.ignore_eos), NULL, NULL, ANSWER,
     "go on when the model ends the answer", NULL, NULL},

    {"temp", "temperature", 0, CLI_FLAG_FLOAT, AT(session.sampling.temperature), "T", "[0, inf)", SAMPLING,
     "temperature; 0: greedy, the likeliest token each time", NULL, NULL},
    {"top-k", NULL, 0, CLI_FLAG_INT, AT(session.sampling.top_k), "N", ANY, SAMPLING,
     "sample from the N likeliest tokens; 0: from all", NULL, NULL},
    {"top-p", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.top_p), "P", "(0, 1]", SAMPLING,
     "sample from the fewest tokens whose probabilities sum to P", NULL, NULL},
    {"min-p", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.min_p), "P", "[0, 1)", SAMPLING,
     "sample from tokens with at least P times the probability of the likeliest", NULL, NULL},
    {"repeat-penalty", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.repeat_penalty), "R", "[0.001, 1000]",
     SAMPLING, "make tokens that occurred less likely: divide a positive logit by R, multiply a negative one; 1: off",
     NULL, NULL},
    {"frequency-penalty", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.frequency_penalty), "X", PENALTY,
     SAMPLING, "subtract X from a token's logit for each time it occurred", NULL, NULL},
    {"presence-penalty", NULL, 0, CLI_FLAG_FLOAT, AT(session.sampling.presence_penalty), "X", PENALTY,
     SAMPLING, "subtract X from a token's logit if it occurred", NULL, NULL},
    {"penalty-window", "repeat-last-n", 0, CLI_FLAG_INT, AT(session.sampling.penalty_window), "N", ANY,
     SAMPLING, "penalties look at the last N tokens", NULL, NULL},
    {"logit-bias", NULL, 0, CLI_FLAG_TEXTS, AT(bias_texts), "ID=X", NULL, SAMPLING,
     "add X, in [-1e9, 1e9], to the logit of token ID; -inf bans the token; repeatable", NULL, NULL},
    {"seed", NULL, 's', CLI_FLAG_SEED, AT(session.sampling.seed), "N", "[0, 2^64)", CLI_RUN, "Sampling",
     "seed of the random numbers (default: a new one for each run when --temp is above 0, which --stats shows; "
     "otherwise 0). With a draft model under --accept rejection, the same text again also needs the same --spec and -k",
     NULL, NULL},
    {"seed", NULL, 's', CLI_FLAG_SEED, AT(session.sampling.seed), "N", "[0, 2^64)", CLI_BENCH | CLI_ANALYZE, "Sampling",
     "seed of the random numbers", NULL, NULL},

    {"file", NULL, 'f', CLI_FLAG_FILE, AT(file), "FILE", NULL, CLI_PERPLEXITY, "Text",
     "the text to predict; - is standard input", NULL, NULL},
    {"text", NULL, 0, CLI_FLAG_FILE, AT(text), "FILE", NULL, CLI_ANALYZE, "Text",
     "compare the models on this text, in chunks (default: on answers that the target writes)", NULL, NULL},
    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[4, 1048576]", CLI_ANALYZE, "Text",
     "tokens per chunk of --text (default 256)", NULL, NULL},
    {"chunks", NULL, 0, CLI_FLAG_INT, AT(n_chunks), "N", "[1, 1000000]", CLI_ANALYZE, "Text",
     "most chunks (default 8)", NULL, NULL},
    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[4, 1048576]", CLI_PERPLEXITY, "Text",
     "tokens per chunk (default 512)", NULL, NULL},
    {"chunks", NULL, 0, CLI_FLAG_INT, AT(n_chunks), "N", ANY, CLI_PERPLEXITY, "Text",
     "most chunks; 0: all", NULL, NULL},

    {"special", NULL, 0, CLI_FLAG_SWITCH, AT(special), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "turn the names of special tokens into their ids", NULL, NULL},
    {"bos", NULL, 0, CLI_FLAG_SWITCH, AT(bos), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "begin with the token that the model's file asks for", NULL, NULL},
    {"ids", NULL, 0, CLI_FLAG_SWITCH, AT(ids), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "print only the ids, on one line", NULL, NULL},
    {"frequent", NULL, 0, CLI_FLAG_INT, AT(n_frequent), "N", "[1, 2147483647]", CLI_TOKENIZE, "Tokens",
     "print instead the ids of the N most frequent tokens and of the token that ends an answer, one a line: a list for "
     "--draft-head",
     NULL, NULL},

    {"tokens", NULL, 0, CLI_FLAG_FILE, AT(tokens), "LIST|FILE", NULL, CLI_LOGITS, "Tokens",
     "token ids, such as 1,2,3, or a file of ids", NULL, NULL},
    {"out", NULL, 'o', CLI_FLAG_FILE, AT(out), "FILE", NULL, CLI_LOGITS, "Tokens", "write the logits to this .npy file",
     NULL, NULL},

    {"rows", NULL, 'r', CLI_FLAG_INTS, AT(rows), "N,N,...", "[1, 65]", PASSES, "tokens scored in one pass", NULL, NULL},
    {"depth", NULL, 0, CLI_FLAG_INT, AT(depth), "N", "[0, 1000000]", PASSES, "tokens in the cache before a pass", NULL,
     NULL},
    {"prefill", NULL, 0, CLI_FLAG_INT, AT(n_prefill), "N", "[0, 1000000]", PASSES,
     "also read a prompt of N tokens; 0: don't", NULL, NULL},
    {"decode", NULL, 0, CLI_FLAG_INT, AT(n_decode), "N", "[0, 1000000]", PASSES,
     "also decode N tokens without speculation, after --depth tokens; 0: don't", NULL, NULL},
    {"reps", NULL, 0, CLI_FLAG_INT, AT(n_reps), "N", "[1, 1000]", CLI_BENCH, "Measuring",
     "measure each N times (default 10; with --prompts 1)", NULL, NULL},
    {"law", NULL, 0, CLI_FLAG_SET, AT(laws), "all|L1|L2|L3|L4", NULL, CLI_CHECK, "Checking",
     "check only these laws, with commas between", NULL, NULL},
    {"seconds", NULL, 0, CLI_FLAG_DOUBLE, AT(seconds), "S", "[0, 86400]", CLI_CHECK, "Checking",
     "about how long to check; some checks run in any case", NULL, NULL},
    {"json", NULL, 'j', CLI_FLAG_FILE, AT(json), "FILE", NULL, CLI_BENCH | CLI_CHECK | CLI_ANALYZE, "Output",
     "write the figures as JSON", NULL, NULL},
    {"svg", NULL, 0, CLI_FLAG_FILE, AT(svg), "FILE", NULL, CLI_ANALYZE, "Output", "write the figures as plots",
     NULL, NULL},
    {"csv", NULL, 0, CLI_FLAG_FILE, AT(csv), "FILE", NULL, CLI_BENCH, "Report",
     "write one line for each answer to a prompt", NULL, NULL},
    {"html", NULL, 0, CLI_FLAG_FILE, AT(html), "FILE", NULL, CLI_BENCH, "Report",
     "write a report with plots", NULL, NULL},

    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_BENCH, "Resources",
     "context length: most tokens of prompt and answer (default: as many as the measurements need)", NULL, NULL},
    {"ctx", NULL, 'c', CLI_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_RUN, "Resources",
     "context length: most tokens of prompt and answer (default: the model's, at most 4096)", NULL, NULL},
    {"threads", NULL, 't', CLI_FLAG_INT, AT(session.n_threads), "N", "[1, 256]", EVERYWHERE, "Resources",
     "threads (default: one for each processor)", NULL, NULL},
    {"cpu", NULL, 0, CLI_FLAG_FILE, AT(cpu), "ISA", NULL, EVERYWHERE, "Resources",
     "instruction set: ref, avx2, avxvnni, avx512, avx512vnni, avx512gfni; on Arm ref, neon, i8mm (default auto: the "
     "widest that this machine has)",
     NULL, NULL},
    {"kv-type", NULL, 0, CLI_FLAG_CHOICE, AT(session.kv_type), CLI_KV_TYPES, NULL, WITH_WEIGHTS, "Resources",
     "type in which the cache keeps keys and values", NULL, NULL},
    {"prefill-chunk", NULL, 0, CLI_FLAG_INT, AT(session.prefill_chunk), "N", "[1, 512]", WITH_WEIGHTS,
     "Resources", "most tokens of a prompt that one pass reads (default 256)", NULL, NULL},

    {"color", "colour", 0, CLI_FLAG_CHOICE, AT(color), "auto|always|never", NULL, OUTPUT,
     "colour the answer: green are accepted guesses, yellow is the token that replaces a rejected guess, cyan is the "
     "token after a draft accepted to its end, without colour is a token without a draft. --color alone means auto: "
     "only on a terminal (default: colours only in tables)",
     NULL, "auto"},
    {"trace", NULL, 0, CLI_FLAG_SWITCH, AT(trace), NULL, NULL, OUTPUT,
     "print a table of the guesses of each cycle on standard error", NULL, NULL},
    {"stats", NULL, 0, CLI_FLAG_SWITCH, AT(stats), NULL, NULL, OUTPUT,
     "print figures at the end on standard error", NULL, NULL},
    {"stats-json", NULL, 0, CLI_FLAG_FILE, AT(stats_json), "FILE", NULL, OUTPUT,
     "write the figures as JSON; with --trace the cycles, too", NULL, NULL},
    {"help", NULL, 'h', CLI_FLAG_SWITCH, AT(help), NULL, NULL, EVERYWHERE, "Help", "print this text", NULL, NULL},
};
enum { N_FLAGS = sizeof flags / sizeof *flags };

const cli_flag_table cli_option_table = {flags, N_FLAGS, cli_command_names, CLI_COMMANDS, cli_foreign_flags};

cli_options cli_options_default(unsigned command)
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

/* Files that the command replaces when it is done. */
static bool is_written(const cli_flag *flag)
{
    static const char *const names[] = {"json", "svg", "csv", "html", "stats-json", "history", "out"};
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
            cli_complain("--%s -: standard output has the text alone; expected a file, ./- for one of that name",
                         flags[i].name);
            return false;
        }
        for (size_t j = 0; j < sizeof standard / sizeof *standard; j++) {
            if (!cli_file_is_same(given[i], standard[j][0])) continue;
            cli_complain("--%s %s is also the file that standard %s, and would overwrite it; name another file",
                         flags[i].name, given[i], standard[j][1]);
            return false;
        }
        for (size_t j = 0; j < N_FLAGS; j++) {
            const bool is_file = flags[j].kind == CLI_FLAG_FILE && strstr(flags[j].value, "FILE");
            if (j == i || !given[j] || !is_file || !cli_file_is_same(given[i], given[j])) continue;
            cli_complain("--%s %s is also the file of --%s, and would overwrite it; name another file", flags[i].name,
                         given[i], flags[j].name);
            return false;
        }
    }
    return true;
}

/* Standard input can be read once: by a flag with the value -, by a conversation, or as the prompt. Beside --prompt it
 * is read only where nothing else reads it. */
static bool check_read(cli_options *options, unsigned command, given_flags given)
{
    const bool asks = command & (CLI_RUN | CLI_TOKENIZE);
    const bool is_prompt = asks && !options->chat && !options->prompt && !options->prompt_file;
    const char *first = options->chat ? "chat" : NULL;
    if (asks && options->prompt && strcmp(options->prompt, "-") == 0) {
        cli_complain("--prompt -: expected a text; write --prompt-file - to read the prompt from standard input");
        return false;
    }
    for (size_t i = 0; i < N_FLAGS; i++) {
        const bool is_read = flags[i].kind == CLI_FLAG_FILE && !is_written(&flags[i]);
        if (!given[i] || !is_read || strcmp(given[i], "-") != 0) continue;
        if (is_prompt) {
            cli_complain("--%s -: without --prompt or --prompt-file the prompt is standard input; add one of them",
                         flags[i].name);
            return false;
        }
        if (first) {
            cli_complain("--%s and --%s - both read standard input; give one of them a file", first, flags[i].name);
            return false;
        }
        first = flags[i].name;
    }
    options->prompt_adds_input = asks && options->prompt && !options->prompt_file && !first;
    return true;
}

static bool check_exclusive(given_flags given)
{
    static const char *const pairs[][3] = {
        {"prompt", "chat", "a conversation reads its own lines"},
        {"prompt-file", "chat", "a conversation reads its own lines"},
        {"raw", "chat", "a conversation needs a chat template"},
        {"raw", "chat-template", "--raw means no chat template"},
        {"raw", "system", "a system message needs a chat template"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!given_find(given, pairs[i][0]) || !given_find(given, pairs[i][1])) continue;
        cli_complain("--%s and --%s exclude each other: %s; leave out one of them", pairs[i][0], pairs[i][1],
                     pairs[i][2]);
        return false;
    }
    return true;
}

/* "ngram,recycle" */
const char *cli_spec_text(unsigned drafters, char text[64])
{
    size_t used = 0;
    snprintf(text, 64, "%s", drafters ? "" : "auto");
    for (int i = 0; vouch_drafter_name(i) && used < 64; i++)
        if (drafters >> i & 1)
            used += (size_t)snprintf(text + used, 64 - used, "%s%s", used ? "," : "", vouch_drafter_name(i));
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
        cli_complain("--tree '%s': expected BRANCHES,DEPTH such as 4,3, both in [1, %d]", text, VOUCH_MAX_DRAFT);
        return false;
    }
    speculation->tree_branches = (int32_t)branches;
    speculation->tree_depth = (int32_t)depth;
    return true;
}

/* The drafters beyond the free ones for which there is something on the command line. */
static unsigned given_drafters(const cli_options *options)
{
    return (options->draft_model ? VOUCH_DRAFTER_MODEL : 0u) | (options->prediction ? VOUCH_DRAFTER_PREDICTION : 0u) |
           (options->history ? VOUCH_DRAFTER_HISTORY : 0u);
}

/* Resolves "auto"; refuses sets that can't be, or lack what they need. */
static bool resolve_drafters(cli_options *options)
{
    enum { MODEL = VOUCH_DRAFTER_MODEL };
    vouch_speculation *speculation = &options->session.speculation;
    char text[64];
    if (speculation->drafters == VOUCH_DRAFTER_AUTO)
        speculation->drafters = vouch_drafter_auto(given_drafters(options));
    cli_spec_text(speculation->drafters, text);
    if ((speculation->drafters & VOUCH_DRAFTER_NONE) && speculation->drafters != VOUCH_DRAFTER_NONE) {
        cli_complain("--spec %s: none stands alone; leave out the others", text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_PREDICTION) && !options->prediction) {
        if (options->prompts)
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
        cli_complain("--ngram-min %d is more than --ngram-max %d; lower one or raise the other", speculation->ngram_min,
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
            cli_complain("--speculative means --spec %s %s a draft model, but --spec %s was given; leave out "
                         "one of them",
                         options->draft_model ? "draft" : "auto", options->draft_model ? "with" : "without",
                         cli_spec_text(speculation->drafters, text));
            return false;
        }
        if (!is_given) speculation->drafters = meant;
    }
    const bool is_auto = speculation->drafters == VOUCH_DRAFTER_AUTO;
    if (!resolve_drafters(options) || !check_effects(options, given)) return false;
    if (is_auto) { /* the library resolves it again, to the same set; -k then limits the drafts that pace chooses */
        speculation->drafters = VOUCH_DRAFTER_AUTO;
        speculation->auto_with = given_drafters(options);
    }
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
    cli_complain("--cpu '%s': expected one that this machine has: %s", cpu, known);
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
        cli_complain("--logit-bias '%s': expected ID=X, the id of a token and a number in [-1e9, 1e9] or -inf", text);
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
        cli_complain("--stop '%s': expected UTF-8 text", text);
        return false;
    }
    return true;
}

/* ------------------------------------------------------- changes in a chat */

/* 32 bits: a seed that people can type again. */
static uint64_t seed_draw(void)
{
    uint32_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    return (uint64_t)(cli_now() * 1e9) & UINT32_MAX;
}

static const char *const changeable[] = {
    "temp", "top-k", "top-p", "min-p", "repeat-penalty", "frequency-penalty", "presence-penalty", "penalty-window",
    "seed", "max-tokens", "spec", "num-speculative-tokens", "draft-sampling", "accept", "lenience", "color", "trace",
    "stats"};

const char *cli_option_name(size_t i)
{
    return i < sizeof changeable / sizeof *changeable ? changeable[i] : NULL;
}

static const cli_flag *run_flag(const char *name)
{
    for (size_t i = 0; i < N_FLAGS; i++)
        if (flags[i].commands & CLI_RUN &&
            (strcmp(flags[i].name, name) == 0 || (flags[i].alias && strcmp(flags[i].alias, name) == 0) ||
             (name[0] && !name[1] && flags[i].letter == name[0])))
            return &flags[i];
    return NULL;
}

/* `--color` colours generated text; a color that was not given leaves it plain. */
const char *cli_option_text(const cli_options *options, const char *name, char text[CLI_FLAG_VALUE])
{
    if (strcmp(name, "color") == 0 && !options->paint) return strcpy(text, "never");
    return cli_flag_text(run_flag(name), options, text);
}

static const char *changeable_word(const void *arg, size_t i)
{
    (void)arg;
    return cli_option_name(i);
}

const char *cli_option_change(cli_options *options, const char *name, const char *value)
{
    const cli_flag *flag = run_flag(name);
    bool known = false;
    for (size_t i = 0; flag && cli_option_name(i); i++) known |= strcmp(flag->name, cli_option_name(i)) == 0;
    if (!known) {
        const char *near = cli_nearest(name, changeable_word, NULL);
        if (flag) cli_complain("/set %s: --%s can be given at the start only", name, flag->name);
        else cli_complain("/set %s: unknown name%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
                          near ? "?" : "; /set lists the names");
        return NULL;
    }
    char shown[48];
    cli_options changed = *options;
    given_flags given = {NULL};
    snprintf(shown, sizeof shown, "/set %s", name);
    if (!cli_flag_change(flag, shown, value, &changed)) return NULL;
    vouch_sampling *sampling = &changed.session.sampling;
    if (options->session.sampling.temperature == 0 && sampling->temperature > 0 && sampling->seed == 0)
        sampling->seed = seed_draw(); /* as for a run that begins with this temperature */
    if (strcmp(flag->name, "color") == 0) changed.paint = changed.color != CLI_COLOR_NEVER;
    if (!check_speculation(&changed, given)) return NULL;
    *options = changed;
    return flag->name;
}

/* Checks the flags about prompts, answers and sampling, and hands them to the library's options. */
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
        cli_complain("--%s needs a chat template, but --chat-template is none: leave out one of them",
                     options->chat ? "chat" : "system");
        return false;
    }
    return true;
}

static bool check_run(cli_options *options, given_flags given)
{
    options->session.expected_acceptance = options->stats_json != NULL; /* only the JSON has it */
    options->paint = given_find(given, "color") != NULL;
    if (options->session.sampling.temperature > 0 && !given_find(given, "seed"))
        options->session.sampling.seed = seed_draw();
    return check_asking(options) && check_speculation(options, given);
}

/* The cache holds --depth tokens, the rows of a measurement, and one token more that is never run. */
int32_t cli_bench_room(const cli_options *options)
{
    const int32_t most_rows = options->rows.items[options->rows.n - 1];
    const int32_t added = most_rows > options->n_decode ? most_rows : options->n_decode;
    const int32_t behind = options->depth + 1 + added, prompt = options->n_prefill + 2;
    return behind > prompt ? behind : prompt;
}

/* Checks each set of drafters by itself. Afterwards speculation.drafters holds all of them. */
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
                cli_complain("--spec %s is given twice, because auto means the same here; leave one out",
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

/* Refuses flags about passes beside --prompts, and flags about prompts without it. */
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
    cli_complain("--ctx %d: --depth, --rows, --prefill and --decode need %d; raise --ctx or leave it out",
                 options->session.n_ctx, room);
    return false;
}

/* The texts to compare on are chunks of --text, answers to --prompts, or answers to prompts that vouch brings. */
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
        cli_complain("--draft-model FILE is missing: expected the GGUF file of the model that drafts");
        return false;
    }
    if (options->text && options->prompts) {
        cli_complain("--text and --prompts exclude each other: each says what to compare the models on; leave out one");
        return false;
    }
    return check_texts(options, given) && check_asking(options);
}

static const char *command_name(unsigned command)
{
    size_t bit = 0;
    while (!(command >> bit & 1)) bit++;
    return cli_command_names[bit];
}

/* The word without a flag becomes --model. A prompt in its place gets a remedy, unlike a file that --model names and
 * that can't be opened. */
static bool take_model_word(cli_options *options, unsigned command, given_flags given)
{
    const cli_flag *flag = given_find(given, "model");
    const char *word = options->model_word;
    if (!word) return true;
    if (flag) {
        cli_complain("unexpected argument '%s': the model is --model %s already; a prompt follows --prompt", word,
                     options->model);
        return false;
    }
    if (access(word, F_OK) != 0) {
        cli_complain("'%s': %s; `vouch %s` expects the GGUF file of a model here%s", word, strerror(errno),
                     command_name(command), command == CLI_RUN ? ", and a prompt behind --prompt" : "");
        return false;
    }
    options->model = word;
    for (size_t i = 0; i < N_FLAGS; i++)
        if (strcmp(flags[i].name, "model") == 0) given[i] = word;
    return true;
}

bool cli_options_parse(cli_options *options, unsigned command, int argc, char **argv)
{
    given_flags given = {NULL};
    *options = cli_options_default(command);
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
    if (!cli_flags_parse(&cli_option_table, command, argc, argv, options, given)) return false;
    if (options->help) return true;
    if (!take_model_word(options, command, given)) return false;
    if (!check_exclusive(given) || !check_read(options, command, given) || !check_written(given)) return false;
    if (!check_cpu(options->cpu)) return false;
    if (command == CLI_TOKENIZE && options->ids && options->n_frequent > 0) {
        cli_complain("--ids has no effect with --frequent: leave out one of them");
        return false;
    }
    if (command == CLI_RUN && !check_run(options, given)) return false;
    if (command == CLI_BENCH && !check_bench(options, given)) return false;
    if (!options->model) {
        cli_complain("--model FILE is missing: expected the GGUF file of a model, as in `vouch %s m.gguf`",
                     command_name(command));
        return false;
    }
    if (command == CLI_ANALYZE && !check_analyze(options, given)) return false;
    if (command == CLI_LOGITS && (!options->tokens || !options->out)) {
        cli_complain("--%s is missing: expected %s", options->tokens ? "out FILE" : "tokens LIST",
                     options->tokens ? "the .npy file to write" : "token ids, such as 1,2,3, or a file of ids");
        return false;
    }
    if (command == CLI_PERPLEXITY && !options->file) {
        cli_complain("--file FILE is missing: expected the text to predict");
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
    const cli_options defaults = cli_options_default(command);
    cli_flags_help(&cli_option_table, command, &defaults, stream);
}
