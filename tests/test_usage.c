/* SPDX-License-Identifier: MIT */
/*
 * Command lines that need no model: help, wrong usage, files that can't be read. What is wrong is said in one
 * line on standard error, which names the flag and the value.
 */
#include <stdio.h>
#include <string.h>

#include "support/command.h"

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
    assert_non_null(strstr(r.out, "runs at the same time, only that of the last to end"));
    assert_non_null(strstr(r.out, "Examples"));
    assert_null(strstr(r.out, "\033"));
    result_free(&r);
    r = run_as(&(setting){0}, "vouch", (const char *const[]){NULL});
    assert_int_equal(r.status, 2);
    assert_int_equal(r.n_out, 0);
    assert_non_null(strstr(r.err, "usage"));
    result_free(&r);
}

/* A command line and what is wrong with it. */
typedef struct mistake {
    const char *arguments[9];
    const char *says;
} mistake;

/* Each is refused before any file is opened, in one line that names flag and value. */
static void check_mistakes(const mistake *mistakes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *says = mistakes[i].says;
        result r = run_as(&(setting){0}, "vouch", mistakes[i].arguments);
        if (r.status != 2 || !strstr(r.err, says)) print_error("case %zu: %s\n", i, r.err);
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
        {{"frobnicate"}, "unknown command 'frobnicate'"},
        {{"run"}, "--model FILE is missing"},
        {{"run", "--prompt", "x"}, "--model FILE is missing"},
        {{"perplexity", "-m", "x"}, "--file FILE is missing"},
        {{"run", "--modle", "x"}, "unknown flag --modle; did you mean --model?"},
        {{"run", "--spek=ngram"}, "unknown flag --spek; did you mean --spec?"},
        {{"--max-token", "4"}, "did you mean --max-tokens?"},
        {{"run", "--zzzzzzzz"}, "unknown flag --zzzzzzzz"},
        {{"run", "-Z"}, "unknown flag -Z"},
        {{"info", "--prompt", "x"}, "--prompt is a flag of `vouch run`"},
        {{"run", "Hello"}, "unexpected argument 'Hello'"},
        {{"run", "--bad\033[31m"}, "--bad\\x1b[31m"},
    };
    check_mistakes(mistakes, sizeof mistakes / sizeof *mistakes);
}

static void values_out_of_range_are_named(void **state)
{
    (void)state;
    static const mistake mistakes[] = {
        {{"run", "-k", "0"}, "-k '0': outside the range; it takes a whole number in [1, 64]; --spec none"},
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
        {{"run", "--model", ""}, "--model: the value is empty"},
        {{"run", "--stop", ""}, "--stop: the value is empty"},
        {{"run", "--stop", "a", "--stop", "b\xff"}, "--stop 'b\\xff': not UTF-8"},
        {{"run", "--temp", "nan"}, "--temp 'nan': outside"},
        {{"run", "--temp", "1e999"}, "outside"},
        {{"run", "--temp", "-0.5"}, "outside"},
        {{"run", "--temp", "0,5"}, "not a number"},
        {{"run", "--temp", "0x1"}, "--temp '0x1': not a number"},
        {{"run", "--top-p", "0"}, "it takes a number in (0, 1]"},
        {{"run", "--top-p", "1.01"}, "(0, 1]"},
        {{"run", "--min-p", "1"}, "[0, 1)"},
        {{"run", "--top-k", "-1"}, "--top-k '-1'"},
        {{"run", "--repeat-penalty", "0"}, "[0.001, 1000]"},
        {{"run", "--repeat-penalty", "1e-38"}, "--repeat-penalty '1e-38': outside the range"},
        {{"run", "--frequency-penalty", "inf"}, "[-1e6, 1e6]"},
        {{"run", "--presence-penalty", "-1e38"}, "[-1e6, 1e6]"},
        {{"run", "--lenience", "0"}, "(0, 1]"},
        {{"run", "--lenience", "1.5"}, "(0, 1]"},
        {{"run", "--max-tokens", "-1"}, "--max-tokens '-1'"},
        {{"run", "--seed", "-1"}, "--seed '-1': not a whole number"},
        {{"run", "--seed", "18446744073709551616"}, "[0, 2^64)"},
        {{"run", "--ctx", "1"}, "--ctx '1'"},
        {{"run", "--threads", "0"}, "[1, 256]"},
        {{"run", "--prefill-chunk", "513"}, "[1, 512]"},
        {{"run", "--kv-type", "q8"}, "one of f16|f32|q8_0|q4_0"},
        {{"run", "--spec", "eagle"}, "one of auto|none|draft|ngram"},
        {{"run", "--spec", "ngram,"}, "--spec 'ngram,': it takes one of"},
        {{"run", "--spec", "ngram,auto"}, "one of auto|none|draft|ngram"},
        {{"run", "--spec", "ngram,ngram"}, "--spec 'ngram,ngram': ngram is there twice"},
        {{"bench", "--prompts", "x", "--spec", "suffix,recycle,suffix"}, "suffix is there twice"},
        {{"run", "--tree", "3"}, "--tree '3': it takes B,D, two whole numbers in [1, 64]"},
        {{"run", "--tree", "0,4"}, "--tree '0,4'"},
        {{"run", "--tree", "2,65"}, "--tree '2,65'"},
        {{"run", "--tree", "2,4x"}, "--tree '2,4x'"},
        {{"run", "--tree", " 2,3"}, "--tree ' 2,3'"},
        {{"run", "--tree", "2, 3"}, "--tree '2, 3'"},
        {{"run", "--tree", "2,3 "}, "--tree '2,3 '"},
        {{"run", "--tree", "2"}, "--tree '2'"},
        {{"run", "--tree", "2,"}, "--tree '2,'"},
        {{"run", "--accept", "typical"}, "one of rejection|match|block|coupled"},
        {{"run", "--cpu", "z80"}, "--cpu 'z80': this machine has auto, ref"},
        {{"run", "--color=pink"}, "auto|always|never"},
        {{"run", "--raw=yes"}, "--raw takes no value"},
        {{"run", "--logit-bias", "7"}, "it takes ID=X"},
        {{"run", "--logit-bias", "7=inf"}, "it takes ID=X"},
        {{"run", "--logit-bias", "7=1e38"}, "a number in [-1e9, 1e9] or -inf"},
        {{"run", "--logit-bias", "7=nan"}, "it takes ID=X"},
        {{"run", "--logit-bias", "7="}, "it takes ID=X"},
        {{"run", "--logit-bias", "7= 1"}, "it takes ID=X"},
        {{"run", "--logit-bias", "7=0x1"}, "it takes ID=X"},
        {{"run", "--logit-bias", "-7=1"}, "it takes ID=X"},
        {{"run", "--logit-bias", "99999999999=1"}, "it takes ID=X"},
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
        {{"run", "--draft-head", "x"}, "--draft-head has no effect without --draft-model FILE"},
        {{"run", "--allow-vocab-mismatch"}, "--allow-vocab-mismatch has no effect without --draft-model FILE"},
        {{"run", "--draft-sampling", "greedy"}, "--draft-sampling has no effect without --draft-model FILE"},
        {{"run", "--spec", "ngram,none"}, "--spec none,ngram: none stands alone"},
        {{"run", "--spec", "suffix", "--forget"}, "--forget has no effect with --spec suffix"},
        {{"run", "--spec", "ngram", "--prediction", "x"}, "--prediction has no effect with --spec ngram"},
        {{"run", "--spec", "ngram", "--history", "x"}, "--history has no effect with --spec ngram"},
        {{"run", "--spec", "ngram,prediction"}, "--spec ngram,prediction needs --prediction FILE"},
        {{"run", "--stats-json", "Makefile", "-f", "./Makefile"}, "--stats-json Makefile is the file of --prompt-file"},
        {{"bench", "--prompts", "p", "--json", "no-such", "--csv", "no-such"}, "--json no-such is the file of --csv"},
        {{"bench", "--prompts", "p", "--json", "absent", "--html", ".//absent"}, "--json absent is the file of --html"},
        {{"bench", "--prompts", "p", "--json", "tests/../x", "--html", "x"}, "--json tests/../x is the file of --html"},
        {{"bench", "--prompts", "p", "--json", "no-such", "--html", "tests/no-such"}, "--model FILE is missing"},
        {{"run", "--stats-json", "-"}, "--stats-json -: standard output has the text alone; name a file"},
        {{"run", "--history", "-"}, "--history -: standard output"},
        {{"bench", "--csv", "-"}, "--csv -: standard output"},
        {{"analyze", "--svg=-"}, "--svg -: standard output"},
        {{"check", "-j-"}, "--json -: standard output"},
        {{"tokenize", "--frequent", "5", "--ids"}, "--ids has no effect with --frequent"},
        {{"run", "--spec", "history"}, "--spec history needs --history FILE"},
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
        {{"run", "--prompt", "a", "--prompt-file", "b"}, "exclude each other"},
        {{"run", "--prompt", "a", "--chat"}, "exclude each other"},
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

/* "--flag: path", until the next call. */
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
    expect(RUN("run", "-m", absent, "-p", "x"), 1, absent);
    expect(RUN("run", "-m", folder, "-p", "x"), 1, folder);
    expect(RUN("run", "-m", junk, "-p", "x"), 1, junk);
    expect(RUN("info", "-m", junk), 1, junk);
    expect(RUN("run", "-m", junk, "-f", absent), 1, complaint_of("prompt-file", absent));
    expect(RUN("run", "-m", junk, "-f", folder), 1, "Is a directory");
    expect(RUN("tokenize", "-m", junk, "-f", absent), 1, complaint_of("prompt-file", absent));
    expect(RUN("perplexity", "-m", junk, "-f", absent), 1, complaint_of("file", absent));
    expect(RUN("run", "-m", junk, "-p", "x", "--stats-json", folder), 1, "--stats-json");
    expect(RUN("run", "-m", junk, "-p", "x", "--stats-json", "/nowhere/at/all.json"), 1,
           "/nowhere/at/all.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_goes_to_stdout),           cmocka_unit_test(unknown_words_are_named),
        cmocka_unit_test(values_out_of_range_are_named), cmocka_unit_test(flags_that_contradict_are_named),
        cmocka_unit_test(unreadable_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
