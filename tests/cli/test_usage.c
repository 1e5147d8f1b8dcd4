/* SPDX-License-Identifier: MIT */
/*
 * Command lines that need no model: help, wrong usage, unreadable files. Each error is one line on standard error that
 * names the flag and the value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/command.h"
#include "vouch.h"

/* `--help` and `-h` of each command that `vouch help` lists print what `vouch help COMMAND` prints. */
static void each_command_has_help(void **state)
{
    (void)state;
    int n_commands = 0;
    result all = RUN("help");
    const char *line = strstr(all.out, "\n  run ");
    for (; line && strncmp(line, "\n  ", 3) == 0; line = strchr(line + 1, '\n')) {
        char name[32];
        if (sscanf(line, "%31s", name) != 1) break;
        result topic = RUN("help", name), spelt = RUN(name, "--help"), brief = RUN(name, "-h");
        assert_int_equal(topic.status + spelt.status + brief.status, 0);
        assert_non_null(strstr(topic.out, "Examples"));
        assert_string_equal(spelt.out, topic.out);
        assert_string_equal(brief.out, topic.out);
        result_free(&topic);
        result_free(&spelt);
        result_free(&brief);
        n_commands++;
    }
    assert_true(n_commands >= 12 && line && strncmp(line, "\n\n", 2) == 0);
    result_free(&all);
}

static void help_goes_to_stdout(void **state)
{
    (void)state;
    static const char *const lines[][4] = {{"--help"},
                                           {"-h"},
                                           {"help"},
                                           {"help", "run"},
                                           {"run", "--help"},
                                           {"run", "-h"},
                                           {"info", "--help"},
                                           {"tokenize", "--help"},
                                           {"perplexity", "--help"},
                                           {"logits", "--help"},
                                           {"--version"},
                                           {"version"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        result r = run_as(&(setting){0}, "vouch", lines[i]);
        assert_int_equal(r.status, 0);
        assert_true(r.n_out > 5);
        assert_string_equal(r.err, "");
        result_free(&r);
    }
    result r = RUN("run", "--help");
    assert_non_null(strstr(r.out, "--num-speculative-tokens N"));
    assert_non_null(strstr(r.out, "in [1, 64]"));
    assert_non_null(strstr(r.out, "--threads N"));
    assert_non_null(strstr(r.out, "Examples"));
    assert_non_null(strstr(r.out, "green are accepted guesses"));
    assert_null(strstr(r.out, "\033"));
    for (int i = 0; i < VOUCH_DRAFTER_NUMBER_CUSTOM; i++) {
        const vouch_drafter_info info = vouch_drafter_get_info(i);
        char line[120];
        snprintf(line, sizeof line, "\n  %-11s %s", info.name, info.summary);
        assert_non_null(strstr(r.out, line));
        assert_true(!info.needs || strstr(r.out, info.needs));
    }
    assert_null(strstr(r.out, "\n  custom"));
    result_free(&r);
    r = RUN("check", "--help");
    assert_null(strstr(r.out, "Drafters"));
    result_free(&r);
    r = run_as(&(setting){0}, "vouch", (const char *const[]){NULL});
    assert_int_equal(r.status, 2);
    assert_int_equal(r.n_out, 0);
    assert_non_null(strstr(r.err, "usage"));
    result_free(&r);
}

/* A wrong command line and the error that it must give. */
typedef struct mistake {
    const char *arguments[9];
    const char *says;
} mistake;

/* The command refuses each mistake before it opens any file, in one line that names flag and value. */
static void check_mistakes(const mistake *mistakes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *says = mistakes[i].says;
        if (test_is_windows() && strstr(says, "expected UTF-8")) {
            test_skip_part("an argument of wrong UTF-8, because those of Windows are UTF-16");
            continue;
        }
        result r = run_as(&(setting){0}, "vouch", mistakes[i].arguments);
        if (r.status != 2 || !strstr(r.err, says)) print_error("expected '%s', got: %s\n", says, r.err);
        assert_int_equal(r.status, 2);
        assert_int_equal(r.n_out, 0);
        assert_int_equal(strncmp(r.err, "vouch: ", 7), 0);
        const char *end = strchr(r.err, '\n'), *found = strstr(r.err, says);
        assert_true(end && found && found < end);
        result_free(&r);
    }
}

static void unknown_words_are_named(void **state)
{
    (void)state;
    static const mistake mistakes[] = {
        {{"rum"}, "did you mean run?"},
        {{"frobnicate"}, "'frobnicate' is neither a command nor a file"},
        {{"run"}, "--model FILE is missing"},
        {{"chat"}, "as in `vouch chat m.gguf`"},
        {{"chat", "/nowhere/at/all"}, "`vouch chat` expects the file"},
        {{"run", "--prompt", "x"}, "--model FILE is missing"},
        {{"run", "one", "-m", "x", "two"}, "unexpected argument 'one': the model is --model x already"},
        {{"run", "-m", "x", "one", "two", "three"}, "'three': a value follows its flag; several words are one"},
        {{"run", "x", "one", "-p", "two"}, "the prompt is given twice, as 'one' and as --prompt 'two'"},
        {{"logits", "-m", "x", "--out", "y"}, "--tokens LIST is missing"},
        {{"logits", "-m", "x", "--tokens", "1"}, "--out FILE is missing"},
        {{"run", "--modle", "x"}, "unknown flag --modle; did you mean --model?"},
        {{"run", "--spek=ngram"}, "unknown flag --spek; did you mean --spec?"},
        {{"run", "--Max-Tokens", "4"}, "unknown flag --Max-Tokens; did you mean --max-tokens?"},
        {{"Serve"}, "did you mean serve?"},
        {{"run", "-m", "x", "--chat-template", "ChatML"}, "'ChatML': neither a name nor a file; did you mean chatml?"},
        {{"run", "-m", "x", "--chat-template", "llama-3"}, "did you mean llama3?"},
        {{"run", "-m", "x", "hello", "-n", "-2"}, "-n '-2': outside the range; expected a whole number in [-1, "},
        {{"run", "-m", "x", "hello", "-n", "1e3"}, "-n '1e3': not a whole number"},
        {{"lists"}, "unknown command 'lists'; did you mean list?"},
        {{"show"}, "'show' is neither a command nor a file"},
        {{"--max-token", "4"}, "did you mean --max-tokens?"},
        {{"run", "--zzzzzzzz"}, "unknown flag --zzzzzzzz"},
        {{"run", "-Z"}, "unknown flag -Z"},
        {{"info", "--prompt", "x"}, "--prompt is a flag of `vouch run`"},
        {{"run", "Hello"}, "'Hello': No such file or directory; `vouch run` expects the file or folder of a model"},
        {{"info", "absent.gguf"}, "'absent.gguf': No such file or directory; `vouch info` expects"},
        {{"absent.gguf"}, "'absent.gguf': No such file or directory; `vouch run` expects"},
        {{"run", "-model", "x"}, "unknown flag -model; did you mean --model?"},
        {{"run", "-modle", "x"}, "unknown flag -modle; did you mean --model?"},
        {{"run", "-M", "x"}, "unknown flag -M; did you mean -m (--model)?"},
        {{"run", "--bad\033[31m"}, "--bad\\x1b[31m"},
    };
    check_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

/* For flags of other programs, the error says what to do here. */
static void foreign_flags_say_what_to_do(void **state)
{
    (void)state;
    static const mistake mistakes[] = {
        {{"run", "-hff", "m.gguf"},
         "-hff is not a flag of vouch: write the file after the repository: --model OWNER/NAME:FILE.gguf"},
        {{"-ngl", "99"}, "-ngl is not a flag of vouch: leave it out: vouch computes on processors only"},
        {{"run", "--n-gpu-layers=99"}, "--n-gpu-layers is not a flag of vouch: leave it out"},
        {{"run", "-fa", "on"}, "-fa is not a flag of vouch: leave it out"},
        {{"run", "-ctk", "q8_0"}, "-ctk is not a flag of vouch: write --kv-type"},
        {{"run", "--jinja"}, "vouch applies the chat template in the file without being asked"},
        {{"run", "-m", "x", "-e", "-p", "y"}, "-e is not a flag of vouch: let the shell write the line ends"},
        {{"run", "-m", "x", "--no-display-prompt"}, "leave it out: vouch never prints the prompt"},
        {{"run", "-m", "x", "--log-disable"}, "--log-disable is not a flag of vouch: leave it out"},
        {{"run", "-m", "x", "--min_p", "0.1"}, "unknown flag --min_p; did you mean --min-p?"},
        {{"run", "--mirostat", "2"}, "vouch has no such sampler; --help lists those that it has"},
        {{"run", "--samplers", "top_k;temperature"}, "the order is fixed"},
        {{"run", "--typical-p", "0"}, "--typical-p '0': outside the range; expected a number in (0, 1]"},
        {{"run", "--dry-base", "0.5"}, "--dry-base '0.5': outside the range; expected a number in [1, 1e6]"},
        {{"run", "--xtc-probability", "1.5"}, "outside the range; expected a number in [0, 1]"},
        {{"serve", "--top-nsigma", "-1"}, "--top-nsigma '-1': outside the range"},
        {{"run", "--dry-sequence-breaker", ""}, "--dry-sequence-breaker '': the value is empty"},
        {{"info", "-cnv"}, "-cnv is a flag of `vouch run`, not of this command"},
        {{"bench", "-i"}, "-i is a flag of `vouch run`"},
        /* These flags mean the same here, so the error is about something else. */
        {{"run", "-cnv", "-f", "x"}, "--prompt-file and --chat exclude each other"},
        {{"chat", "-m", "x", "--raw"}, "--raw and --chat exclude each other"},
        {{"run", "--n_predict", "x"}, "--n_predict 'x': not a whole number"},
        {{"run", "--max_tokens=x"}, "--max_tokens 'x': not a whole number"},
        {{"run", "--num-predict", "x"}, "--num-predict 'x': not a whole number"},
        {{"run", "--flash_attn"}, "--flash_attn is not a flag of vouch: leave it out"},
        {{"run", "--n-predict", "x"}, "--n-predict 'x': not a whole number"},
        {{"run", "-md"}, "-md needs a value: -md FILE"},
        {{"run", "--ctx-size=1"}, "--ctx-size '1': outside the range"},
        {{"run", "-t", "0"}, "-t '0': outside the range; expected a whole number in [1, 256]"},
        {{"run", "-t", "0.8"}, "-t '0.8': not a whole number"},
        {{"run", "-no-cnv", "--system", "x"}, "--raw and --system exclude each other"},
        {{"run", "-n", "5", "--predict", "6"}, "--predict is given twice, as '5' and as '6'"},
    };
    check_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

/* No line is longer than a terminal of 80 columns. */
static void help_is_narrow(void **state)
{
    (void)state;
    static const char *const topics[] = {NULL,    "run",   "info",    "tokenize", "perplexity",
                                         "bench", "check", "analyze", "logits"};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        result r = RUN("help", topics[i]);
        assert_int_equal(r.status, 0);
        for (const char *line = r.out; *line; line += strcspn(line, "\n") + 1) {
            if (strcspn(line, "\n") > 80) print_error("%.*s\n", (int)strcspn(line, "\n"), line);
            assert_true(strcspn(line, "\n") <= 80);
        }
        result_free(&r);
    }
}

/* Manual page and completions contain every command, and the programs that read them accept them. */
static void manual_and_completions_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[3];
        const char *has, *checker; /* a command that prints the errors in a file */
    } cases[] = {
        {{"--man"}, ".SH \"VOUCH tokenize\"\n", "groff -ww -man -Tutf8 -z"},
        {{"--man"}, "\n\\fBsuffix\\fR\n", "groff -ww -man -Tutf8 -z"},
        {{"--man"}, "\\fB\\-t\\fR, \\fB\\-\\-threads\\fR \\fIN\\fR\n", "mandoc -Tlint -W error"},
        {{"--completion", "bash"}, "'run --kv-type') COMPREPLY=($(compgen -W 'f16 f32 q8_0 q4_0'", "bash -n"},
        {{"--completion", "zsh"}, "{-t,--threads}'[threads]:value:'", "zsh -n"},
        {{"--completion", "fish"}, "complete -c vouch -n '__vouch_command info' -l model -s m -r -F", "fish -n"},
    };
    char path[256], command[700], tool[16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result r = RUN("help", cases[i].arguments[0], cases[i].arguments[1]);
        assert_int_equal(r.status, 0);
        assert_non_null(strstr(r.out, cases[i].has));
        strcpy(path, test_temporary("generated"));
        write_whole(path, r.out, r.n_out);
        snprintf(tool, sizeof tool, "%.*s", (int)strcspn(cases[i].checker, " "), cases[i].checker);
        snprintf(command, sizeof command,
                 "! command -v %s >/dev/null || { said=$(%s '%s' 2>&1) && test -z \"$said\"; }", tool, cases[i].checker,
                 path);
        if (system(command) != 0) print_error("%s\n", command);
        assert_int_equal(system(command), 0);
        result_free(&r);
    }
    expect(RUN("help", "--completion", "tcsh"), 2, "--completion 'tcsh': expected one of bash|zsh|fish");
}

static void values_out_of_range_are_named(void **state)
{
    (void)state;
    static const mistake mistakes[] = {
        {{"run", "-k", "0"}, "-k '0': outside the range; expected a whole number in [1, 64]; --spec none"},
        {{"run", "-k", "-3"}, "-k '-3': outside"},
        {{"run", "-k65"}, "-k '65': outside"},
        {{"run", "--num-speculative-tokens=99999999999999999999999"}, "--num-speculative-tokens '9999"},
        {{"run", "-k", "4294967297"}, "outside the range"},
        {{"run", "-k", "four"}, "-k 'four': not a whole number"},
        {{"run", "-k", "4.5"}, "not a whole number"},
        {{"run", "-k", "4x"}, "not a whole number"},
        {{"run", "-k", " 4"}, "not a whole number"},
        {{"run", "-k", ""}, "not a whole number"},
        {{"run", "-k"}, "-k needs a value"},
        {{"run", "--model"}, "--model needs a value: --model FILE"},
        {{"run", "--model", "--prompt", "x"}, "--model needs a value"},
        {{"run", "--model", ""}, "--model '': the value is empty"},
        {{"run", "--stop", ""}, "--stop '': the value is empty"},
        {{"run", "--stop", "a", "--stop", "b\xff"}, "--stop 'b\\xff': expected UTF-8"},
        {{"run", "--temp", "nan"}, "--temp 'nan': outside"},
        {{"run", "--temp", "1e999"}, "outside"},
        {{"run", "--temp", "-0.5"}, "outside"},
        {{"run", "--temp", "0,5"}, "not a number"},
        {{"run", "--temp", "0x1"}, "--temp '0x1': not a number"},
        {{"run", "--top-p", "0"}, "expected a number in (0, 1]"},
        {{"run", "--top-p", "1.01"}, "(0, 1]"},
        {{"run", "--min-p", "1"}, "[0, 1)"},
        {{"run", "--top-k", "-1"}, "--top-k '-1'"},
        {{"run", "--repeat-penalty", "0"}, "[0.001, 1000]"},
        {{"run", "--repeat-penalty", "1e-38"}, "--repeat-penalty '1e-38': outside the range"},
        {{"run", "--frequency-penalty", "inf"}, "[-1e6, 1e6]"},
        {{"run", "--presence-penalty", "-1e38"}, "[-1e6, 1e6]"},
        {{"run", "--lenience", "0"}, "(0, 1]"},
        {{"run", "--lenience", "1.5"}, "(0, 1]"},
        {{"run", "--max-tokens", "-2"}, "--max-tokens '-2'"},
        {{"run", "--seed", "-1"}, "--seed '-1': not a whole number"},
        {{"run", "--seed", "18446744073709551616"}, "[0, 2^64)"},
        {{"run", "--ctx", "1"}, "--ctx '1'"},
        {{"run", "--threads", "0"}, "[1, 256]"},
        {{"run", "--prefill-chunk", "513"}, "[1, 512]"},
        {{"run", "--kv-type", "q8"}, "one of f16|f32|q8_0|q4_0"},
        {{"run", "--spec", "eagle"}, "one of auto|none|draft|ngram"},
        {{"run", "--spec", "ngram,"}, "--spec 'ngram,': expected one of"},
        {{"run", "--spec", "ngram,auto"}, "one of auto|none|draft|ngram"},
        {{"run", "--spec", "ngram,ngram"}, "--spec 'ngram,ngram': ngram is given twice"},
        {{"bench", "--prompts", "x", "--spec", "suffix,recycle,suffix"}, "suffix is given twice"},
        {{"run", "--tree", "3"}, "--tree '3': expected BRANCHES,DEPTH such as 4,3, both in [1, 64]"},
        {{"run", "--tree", "0,4"}, "--tree '0,4'"},
        {{"run", "--tree", "2,65"}, "--tree '2,65'"},
        {{"run", "--tree", "2,4x"}, "--tree '2,4x'"},
        {{"run", "--tree", " 2,3"}, "--tree ' 2,3'"},
        {{"run", "--tree", "2, 3"}, "--tree '2, 3'"},
        {{"run", "--tree", "2,3 "}, "--tree '2,3 '"},
        {{"run", "--tree", "2"}, "--tree '2'"},
        {{"run", "--tree", "2,"}, "--tree '2,'"},
        {{"run", "--accept", "typical"}, "one of rejection|match|block|coupled|traversal|multipath"},
        {{"run", "--cpu", "z80"}, "--cpu 'z80': expected one that this machine has: auto, ref"},
        {{"run", "--color=pink"}, "auto|always|never"},
        {{"run", "--raw=yes"}, "--raw takes no value"},
        {{"run", "--logit-bias", "7"}, "expected ID=X"},
        {{"run", "--logit-bias", "7=inf"}, "expected ID=X"},
        {{"run", "--logit-bias", "7=1e38"}, "a number in [-1e9, 1e9] or -inf"},
        {{"run", "--logit-bias", "7=nan"}, "expected ID=X"},
        {{"run", "--logit-bias", "7="}, "expected ID=X"},
        {{"run", "--logit-bias", "7= 1"}, "expected ID=X"},
        {{"run", "--logit-bias", "7=0x1"}, "expected ID=X"},
        {{"run", "--logit-bias", "-7=1"}, "expected ID=X"},
        {{"run", "--logit-bias", "99999999999=1"}, "expected ID=X"},
    };
    check_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

static void flags_that_contradict_are_named(void **state)
{
    (void)state;
    static const mistake mistakes[] = {
        {{"run", "--spec", "none", "-k", "5"}, "--num-speculative-tokens has no effect with --spec none"},
        {{"run", "--spec", "ngram", "--draft-model", "x"}, "--draft-model has no effect with --spec ngram"},
        {{"run", "--draft-model", "x", "--spec", "draft", "--ngram-min", "2"},
         "--ngram-min has no effect with --spec draft"},
        {{"run", "--allow-other-head"}, "without --head FILE or --draft-table FILE"},
        {{"run", "--draft-vocab", "x"}, "--draft-vocab has no effect without --draft-model FILE"},
        {{"run", "--allow-vocab-mismatch"}, "--allow-vocab-mismatch has no effect without --draft-model FILE"},
        {{"run", "--draft-sampling", "greedy"}, "without --head FILE or --draft-model FILE"},
        {{"run", "--spec", "ngram,none"}, "--spec none,ngram: none stands alone"},
        {{"run", "--spec", "suffix", "--forget"}, "--forget has no effect with --spec suffix"},
        {{"run", "--spec", "ngram", "--prediction", "x"}, "--prediction has no effect with --spec ngram"},
        {{"run", "--spec", "ngram", "--draft-memory", "x"}, "--draft-memory has no effect with --spec ngram"},
        {{"run", "--draft-memory-size", "64Q"}, "--draft-memory-size '64Q': not a size; expected a size such as 800M"},
        {{"batch", "--max-memory", "0"}, "--max-memory '0': outside the range"},
        {{"memory"}, "FOLDER is missing"},
        {{"run", "--spec", "ngram,prediction"}, "--spec ngram,prediction needs a prediction: add --prediction FILE"},
        {{"run", "--stats-json", "Makefile", "-f", "./Makefile"},
         "--stats-json Makefile is also the file of --prompt-file"},
        {{"bench", "--prompts", "p", "--json", "no-such", "--csv", "no-such"},
         "--json no-such is also the file of --csv"},
        {{"bench", "--prompts", "p", "--json", "absent", "--html", ".//absent"},
         "--json absent is also the file of --html"},
        {{"bench", "--prompts", "p", "--json", "tests/../x", "--html", "x"},
         "--json tests/../x is also the file of --html"},
        {{"bench", "--prompts", "p", "--json", "no-such", "--html", "tests/no-such"}, "--model FILE is missing"},
        {{"run", "--stats-json", "-"}, "--stats-json -: standard output carries the text only; expected a file"},
        {{"bench", "--csv", "-"}, "--csv -: standard output"},
        {{"analyze", "--svg=-"}, "--svg -: standard output"},
        {{"check", "-j-"}, "--json -: standard output"},
        {{"tokenize", "--frequent", "5", "--ids"}, "--ids has no effect with --frequent"},
        {{"run", "-p", "x", "--spec", "history"}, "--spec history needs a draft memory: add --draft-memory FOLDER"},
        {{"run", "--spec", "grammar"},
         "--spec grammar needs a grammar: add --json, --json-schema FILE, --regex PATTERN or"},
        {{"serve", "-m", "x", "--tls-cert", "x"}, "--tls-cert needs --tls-key, too"},
        {{"serve", "-m", "x", "--idle", "9"}, "--idle needs --models, too"},
        {{"serve", "-m", "x", "--max-memory", "9G"}, "--max-memory needs --models, too"},
        {{"run", "-m", "x", "--prompt-cache-size", "9G"}, "--prompt-cache-size needs --prompt-cache, too"},
        {{"run", "--json-schema", "x", "--regex", "x"}, "--json-schema and --regex exclude each other"},
        {{"run", "--min-tokens", "4", "-n", "3"}, "--min-tokens 4: expected at most --max-tokens, which is 3"},
        {{"batch", "--min-tokens", "-1"}, "--min-tokens"},
        {{"run", "--json", "--grammar-file", "x"}, "--json and --grammar-file exclude each other"},
        {{"run", "--spec", "none", "--tree", "2,3"}, "--tree has no effect with --spec none"},
        {{"run", "--draft-model", "x", "--speculative", "--spec", "auto"},
         "--speculative means --spec draft with a draft model, but --spec auto was given"},
        {{"run", "--ngram-min", "9", "--ngram-max", "3"}, "--ngram-min 9 is more than --ngram-max 3"},
        {{"run", "--spec", "draft"}, "--spec draft needs a draft model: add --draft-model FILE"},
        {{"run", "--speculative", "--spec", "draft"}, "--spec draft needs a draft model"},
        {{"run", "--spec", "draft,ngram"}, "--spec draft,ngram needs a draft model"},
        {{"run", "--speculative", "--spec", "ngram"},
         "--speculative means --spec auto without a draft model, but --spec ngram was given"},
        {{"run", "--spec", "none", "--accept", "block"}, "--accept block has no effect with --spec none"},
        {{"run", "--spec", "none", "--accept", "rejection"}, "--accept rejection has no effect with --spec none"},
        {{"run", "--spec", "none", "--lenience", "0.5"}, "--lenience has no effect with --spec none"},
        {{"run", "--lenience", "0.5", "--accept", "coupled"}, "--lenience has no effect with --accept coupled"},
        {{"run", "--accept", "match", "--lenience", "1"}, "--lenience has no effect with --accept match"},
        {{"run", "--accept", "block", "--lenience", "0.9"}, "--lenience has no effect with --accept block"},
        {{"run", "--accept", "block", "--tree", "2,4"}, "block judges chains; use --tree 1,4"},
        {{"run", "--temp", "1", "--temp", "2"}, "--temp is given twice, as '1' and as '2'"},
        {{"run", "--prompt", "-"}, "--prompt -: expected a text; write --prompt-file -"},
        {{"run", "--prediction", "-"},
         "--prediction -: without --prompt or --prompt-file the prompt is standard input"},
        {{"run", "-p", "x", "-f", "-", "--chat-template", "-"}, "--prompt-file and --chat-template - both read"},
        {{"run", "-p", "--stats"}, "-p needs a value: -p TEXT; if --stats is the value, write -p=--stats"},
        {{"run", "-p"}, "-p needs a value: -p TEXT"},
        {{"run", "--prompt-file", "a", "--chat"}, "exclude each other"},
        {{"run", "--raw", "--system", "b"}, "exclude each other"},
        {{"run", "--prompt-file", "-", "--prediction", "-"}, "both read standard input"},
        {{"run", "--chat", "--prediction", "-"}, "both read standard input"},
        {{"analyze", "-m", "x", "-d", "x", "--each", "2"}, "--each has no effect without --prompts FILE"},
        {{"analyze", "-m", "x", "-d", "x", "--system", "y"}, "--system has no effect without --prompts FILE"},
        {{"analyze", "-m", "x", "-d", "x", "--text", "y", "-n", "9"}, "--max-tokens has no effect with --text FILE"},
        {{"analyze", "-m", "x", "-d", "x", "--text", "y", "--stop", "z"}, "--stop has no effect with --text FILE"},
        {{"analyze", "-m", "x", "-d", "x", "--prompts", "y", "-c", "64"}, "--ctx has no effect without --text FILE"},
        {{"run", "--chat-template", "none", "--chat"}, "--chat needs a chat template"},
    };
    check_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

/* "--flag: path"; valid until the next call. */
static const char *complaint_of(const char *flag, const char *path)
{
    static char text[300];
    snprintf(text, sizeof text, "--%s: %s", flag, path);
    return text;
}

static void unreadable_files_are_named(void **state)
{
    (void)state;
    char folder[256], junk[256], absent[256];
    strcpy(junk, test_temporary("junk.gguf"));
    strcpy(absent, test_temporary("absent"));
    strcpy(folder, junk);
    *strrchr(folder, '/') = 0;
    write_whole(junk, "this is not a model", 19);
    expect(RUN("run", "-m", absent, "-p", "x"), 2, absent);
    expect(RUN("run", "-m", folder, "-p", "x"), 1, folder);
    expect(RUN("run", "-m", junk, "-p", "x"), 1, junk);
    expect(RUN("info", "-m", junk), 1, junk);
    expect(RUN("run", "-m", junk, "-f", absent), 2, complaint_of("prompt-file", absent));
    expect(RUN("run", "-m", junk, "-f", folder), 2, "Is a directory");
    expect(RUN("tokenize", "-m", junk, "-f", absent), 2, complaint_of("prompt-file", absent));
    expect(RUN("perplexity", "-m", junk, "-f", absent), 2, complaint_of("file", absent));
    expect(RUN("run", "-m", junk, "-p", "x", "--stats-json", folder), 2, "--stats-json");
    expect(RUN("run", "-m", junk, "-p", "x", "--stats-json", "/nowhere/at/all.json"), 2, "/nowhere/at/all.json");
}

/* A name of the hub whose owner is a folder here is a path; the message says how to name the hub's model. */
static void a_folder_hides_the_hub(void **state)
{
    (void)state;
    expect(RUN("run", "tests/no-such-model", "x"), 2, "hf:tests/no-such-model");
    expect(RUN("tests/no-such-model:Q8_0"), 2, "hf:tests/no-such-model:Q8_0");
    expect(RUN("run", "-m", "tests/no-such-model", "-p", "x"), 2, "hf:tests/no-such-model");
    expect(RUN("info", "tests/no-such-model"), 2, "hf:tests/no-such-model");
    expect(RUN("serve", "--model", "x=tests/no-such-model"), 2, "hf:tests/no-such-model");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_has_help),           cmocka_unit_test(help_goes_to_stdout),
        cmocka_unit_test(unknown_words_are_named),         cmocka_unit_test(values_out_of_range_are_named),
        cmocka_unit_test(flags_that_contradict_are_named), cmocka_unit_test(unreadable_files_are_named),
        cmocka_unit_test(foreign_flags_say_what_to_do),    cmocka_unit_test(help_is_narrow),
        cmocka_unit_test(manual_and_completions_are_read), cmocka_unit_test(a_folder_hides_the_hub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
