/* SPDX-License-Identifier: MIT */
/*
 * The command, run as users run it, on tiny models that this program writes and on the real model if it is present.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/command.h"
#include "support/model/tiny_model.h"
#include "support/model/tiny_vocab.h"
#include "vouch.h"

/* Model files: a target, a draft model close to it, a larger one, one with another token table, and the draft model
 * with a short context. */
static char target[256], draft[256], large[256], foreign[256], narrow[256];

static int models_write(void **state)
{
    (void)state;
    strcpy(target, test_temporary("target.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    strcpy(large, test_temporary("large.gguf"));
    strcpy(foreign, test_temporary("foreign.gguf"));
    tiny_model_write(target, &(tiny_model_options){.n_ctx = 8192, .seed = 1});
    tiny_model_write(draft, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .noise = 0.15f});
    tiny_model_write(large, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .n_layers = 3});
    tiny_model_write(foreign, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .vocab_seed = 1});
    strcpy(narrow, test_temporary("narrow.gguf"));
    tiny_model_write(narrow, &(tiny_model_options){.n_ctx = 100, .seed = 1, .noise = 0.15f});
    return 0;
}

static void text_is_the_same_with_every_drafter(void **state)
{
    (void)state;
    result plain = RUN(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--spec", "none");
    assert_int_equal(plain.status, 0);
    assert_string_equal(plain.err, "");
    char history[256], prediction[256], session[256];
    strcpy(session, test_temporary("session"));
    strcpy(history, test_temporary("answers.history"));
    strcpy(prediction, test_temporary("prediction.txt"));
    const char *const *const others[] = {
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60"),
        ARGUMENTS("-m", target, "-p", "The river said", "-n60", "-k=3", "--temp=0"),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n60", "--spec", "none", "--accept", "match"),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--speculative", "--draft-model", draft,
                  "--num-speculative-tokens", "6"),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--speculative", "--num-speculative-tokens",
                  "6"),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--speculative", "--spec", "auto"),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "-d", draft, "--draft-sampling", "greedy",
                  "--threads", "1", "--cpu", "ref", "--prefill-chunk", "3"),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--spec", "suffix,recycle", "--tree", "3,4",
                  "-k", "12", "--forget"),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--draft-memory", history),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--draft-memory", history, "--prediction",
                  prediction),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--prompt-cache", history),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--session", session),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--session", session),
        ARGUMENTS(GREEDY, "-m", target, "-p", "The river said", "-n", "60", "--prompt-cache", history,
                  "--prompt-cache-size", "1M"),
    };
    FILE *stream = fopen(prediction, "w");
    assert_int_equal(fwrite(plain.out, 1, plain.n_out, stream), plain.n_out);
    assert_int_equal(fclose(stream), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        result r = run_as(&(setting){0}, "vouch", others[i]);
        assert_int_equal(r.status, 0);
        assert_int_equal(r.n_out, plain.n_out);
        assert_memory_equal(r.out, plain.out, r.n_out);
        result_free(&r);
    }
    expect(RUN("run", "-m", target, "-p", "x", "--draft-memory", prediction), 2, prediction);
    expect(RUN("run", "-m", target, "-p", "x", "--prediction", "/nowhere/at/all"), 2, "/nowhere/at/all");
    expect(RUN("run", "-m", target, "-p", "x", "--draft-memory", "/nowhere/at/all"), 2, "/nowhere/at/all");
    expect(RUN("run", "-m", target, "-p", "x", "--draft-memory", history, "--draft-memory-size", "9K"), 2,
           "draft memory: n_bytes is 9000");
    expect(RUN("run", "-m", target, "-p", "x", "--prompt-cache", "/nowhere/at/all"), 2, "/nowhere/at/all");
    expect(RUN("run", "-m", target, "-p", "x", "--prompt-cache", history, "--prompt-cache-size", "9K"), 2,
           "--prompt-cache-size");
    expect(RUN("run", "-m", target, "-p", "x", "--session", prediction), 2, "the file has no session of this model");
    expect(RUN("run", "-m", target, "-p", "x", "--session", "/nowhere/at/all"), 2, "/nowhere/at/all");
    expect(RUN("memory", history), 0, NULL);
    expect(RUN("memory", history, "--clear"), 0, NULL);
    expect(RUN("memory", "/nowhere/at/all", "--clear"), 1, "/nowhere/at/all");
    result_free(&plain);
}

/* --draft-vocab: making the list of frequent tokens, using it, and errors in it. */
static void draft_vocab_is_a_list_of_tokens(void **state)
{
    (void)state;
    char head[256];
    strcpy(head, test_temporary("draft.head"));
    result all = RUN("tokenize", "-m", draft, "-p", "the river, the river", "--ids");
    result most = RUN("tokenize", "-m", draft, "-p", "the river, the river", "--frequent", "4");
    assert_int_equal(all.status | most.status, 0);
    int n = 0;
    for (const char *line = most.out; n < 4; n++) {
        char *end;
        const long id = strtol(line, &end, 10);
        char among[16];
        snprintf(among, sizeof among, "%ld", id);
        assert_true(end > line && *end == '\n');
        assert_true(n == 0 || strstr(all.out, among)); /* the first one ends an answer and has no text */
        line = end + 1;
    }
    write_whole(head, most.out, most.n_out);
    result plain = RUN(GREEDY, "-m", target, "-p", "The river said", "-n", "30", "--spec", "none");
    result trimmed = RUN(GREEDY, "-m", target, "-p", "The river said", "-n", "30", "-d", draft, "--spec", "draft",
                         "--draft-vocab", head);
    assert_int_equal(plain.status | trimmed.status, 0);
    assert_int_equal(plain.n_out, trimmed.n_out);
    assert_memory_equal(plain.out, trimmed.out, plain.n_out);
    const char *const bad[] = {"", "5\nx\n", "7\n\n8\n", "-1\n", "99999999999\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_whole(head, bad[i], strlen(bad[i]));
        expect(RUN("run", "-m", target, "-p", "x", "-d", draft, "--draft-vocab", head), 2, head);
    }
    write_whole(head, "5\n6\n\0rubbish\n", 13);
    expect(RUN("run", "-m", target, "-p", "x", "-d", draft, "--draft-vocab", head), 2, "a NUL byte at offset 4");
    write_whole(head, "5\n400000\n", 9);
    expect(RUN("run", "-m", target, "-p", "x", "-d", draft, "--draft-vocab", head), 2,
           ":2: expected the id of a token, 0 to");
    write_whole(head, "5\n6\n5\n", 6);
    expect(RUN("run", "-m", target, "-p", "x", "-d", draft, "--draft-vocab", head), 2, ":3: token 5 is given twice");
    expect(RUN("run", "-m", target, "-p", "x", "--draft-vocab", head), 2, "no effect without --draft-model FILE");
    result_free(&all);
    result_free(&most);
    result_free(&plain);
    result_free(&trimmed);
}

static void prompt_comes_from_anywhere(void **state)
{
    (void)state;
    char file[256];
    strcpy(file, test_temporary("prompt"));
    write_whole(file, "Down, said", 10);
    result given = RUN(GREEDY, "-m", target, "-p", "Down, said", "-n", "20");
    result from_file = RUN(GREEDY, "-m", target, "-f", file, "-n", "20");
    const setting piped = {.input = "Down, said"};
    result standard = run_as(&piped, "vouch", ARGUMENTS(GREEDY, "-m", target, "-n", "20"));
    result dash = run_as(&piped, "vouch", ARGUMENTS(GREEDY, "-m", target, "-n", "20", "-f", "-"));
    result raw = RUN(GREEDY, "-m", target, "-p", "Down, said", "-n", "20", "--raw");
    assert_int_equal(given.status | from_file.status | standard.status | dash.status | raw.status, 0);
    assert_true(given.n_out > 0);
    assert_string_equal(given.out, from_file.out);
    assert_string_equal(given.out, standard.out);
    assert_string_equal(given.out, dash.out);
    assert_string_not_equal(given.out, raw.out);
    result_free(&given), result_free(&from_file), result_free(&standard), result_free(&dash), result_free(&raw);
}

/* The prompt's second part comes from a file, or from standard input if that is a file or a pipe. */
static void prompts_have_two_parts(void **state)
{
    (void)state;
    char file[256], empty[256], command[1024];
    strcpy(file, test_temporary("part"));
    strcpy(empty, test_temporary("empty"));
    write_whole(file, "the river", 9);
    write_whole(empty, "", 0);
#define PARTS "tokenize", target, "--ids"
    result whole_text = RUN(PARTS, "-p", "Say:\n\nthe river"), first = RUN(PARTS, "-p", "Say:");
    result second = RUN(PARTS, "-p", "the river");
    const setting piped = {.input = "the river"}, device = {.device = test_is_windows() ? NULL : "/dev/zero"};
    snprintf(command, sizeof command, "printf 'the river' | '%s' tokenize '%s' --ids -p Say: | cmp -s - '%s'",
             program("vouch"), target, test_temporary("wanted"));
    write_whole(test_temporary("wanted"), whole_text.out, whole_text.n_out);
    const struct {
        result got;
        const char *want;
    } cases[] = {
        {run_as(&piped, "vouch", ARGUMENTS(PARTS, "-p", "Say:")), whole_text.out},
        {RUN(PARTS, "-p", "Say:", "-f", file), whole_text.out},
        {run_as(&piped, "vouch", ARGUMENTS(PARTS, "-p", "Say:", "-f", "-")), whole_text.out},
        {run_as(&piped, "vouch", ARGUMENTS(PARTS, "-p", "")), second.out},
        {RUN(PARTS, "-p", "Say:"), first.out}, /* an empty file */
        {RUN(PARTS, "-p", "Say:", "-f", empty), first.out},
        {run_as(&device, "vouch", ARGUMENTS(PARTS, "-p", "Say:")), first.out},             /* a device is not read */
        {run_as(&piped, "vouch", ARGUMENTS(PARTS, "-p", "Say:", "-f", empty)), first.out}, /* the file wins */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result r = cases[i].got;
        if (r.status || strcmp(r.out, cases[i].want) != 0) print_error("case %zu: %s%s", i, r.out, r.err);
        assert_int_equal(r.status, 0);
        assert_string_equal(r.out, cases[i].want);
        assert_string_equal(r.err, "");
        result_free(&r);
    }
    assert_int_equal(system(command), 0);
    /* Standard input that another flag reads is no part of the prompt. */
    result plain = RUN(GREEDY, target, "-p", "Say:", "-n", "9", NO_CONTROL);
    result predicted =
        run_as(&piped, "vouch", ARGUMENTS(GREEDY, target, "-p", "Say:", "-n", "9", NO_CONTROL, "--prediction", "-"));
    result more = run_as(&piped, "vouch", ARGUMENTS(GREEDY, target, "-p", "Say:", "-n", "9", NO_CONTROL));
    assert_int_equal(plain.status | predicted.status | more.status, 0);
    assert_string_equal(plain.out, predicted.out);
    assert_string_not_equal(plain.out, more.out);
    result_free(&plain), result_free(&predicted), result_free(&more);
    result_free(&whole_text), result_free(&first), result_free(&second);
}

/* A pipe into which nobody writes: the command says what it waits for, and goes on when the pipe ends. */
static void a_silent_pipe_is_named(void **state)
{
    (void)state;
    if (test_is_windows()) test_skip("Wine can't tell whether a pipe of this system is empty");
    char command[1024], err[256];
    size_t n;
    strcpy(err, test_temporary("silent.err"));
    snprintf(command, sizeof command,
             "{ until grep -q waiting '%s' 2>/dev/null; do sleep 0.05; done; } | "
             "'%s' tokenize '%s' -p x --ids >/dev/null 2>'%s'",
             err, program("vouch"), target, err);
    assert_int_equal(system(command), 0);
    char *text = read_whole(err, &n);
    assert_string_equal(text, "vouch: note: waiting for standard input, which is added to --prompt; </dev/null leaves "
                              "it out\n");
    free(text);
}

/* A prompt may begin with dashes unless it is the name of a flag. */
static void texts_may_begin_with_dashes(void **state)
{
    (void)state;
    result r = RUN("tokenize", target, "-p", "--x", "--ids"), same = RUN("tokenize", target, "-p=--x", "--ids");
    assert_int_equal(r.status | same.status, 0);
    assert_true(r.n_out > 1);
    assert_string_equal(r.out, same.out);
    result_free(&r), result_free(&same);
    expect(RUN(GREEDY, target, "-p", "x", "--stop", "--end", "-n", "2"), 0, NULL);
}

/* The model's path needs no flag, first or last, and no `run`. */
static void the_model_needs_no_flag(void **state)
{
    (void)state;
    result flag = RUN(GREEDY, "--model", target, "-p", "Hello", "-n", "8");
    const char *const *const lines[] = {
        ARGUMENTS(GREEDY, target, "-p", "Hello", "-n", "8"),
        ARGUMENTS(GREEDY, "-p", "Hello", "-n", "8", target),
        ARGUMENTS(target, "-p", "Hello", "-n", "8", "--temp", "0"),
        ARGUMENTS(target, "--temp", "0", "--prompt", "Hello", "--n-predict", "8"),
        ARGUMENTS("-p", "Hello", "--temp", "0", target, "-n", "8", "-t", "2"),
        ARGUMENTS(GREEDY, target, "Hello", "-n", "8"), /* nor does the prompt */
        ARGUMENTS(target, "Hello", "--temp", "0", "-n", "8"),
        ARGUMENTS(GREEDY, "-m", target, "Hello", "-n", "8"),
        ARGUMENTS(GREEDY, "Hello", "-n", "8", "-m", target),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        result r = run_as(&(setting){0}, "vouch", lines[i]);
        assert_int_equal(r.status, 0);
        assert_string_equal(r.out, flag.out);
        result_free(&r);
    }
    result_free(&flag);
    expect(RUN("run", target, "-m", target, "-p", "x"), 2, "unexpected argument");
}

/* The command adds a newline to an answer without one, on pipes and in files as well. */
static void answers_end_their_line(void **state)
{
    (void)state;
    result full = RUN(GREEDY, target, "-p", "Hello", "-n", "30", NO_CONTROL);
    assert_int_equal(full.status, 0);
    assert_true(full.n_out > 1 && full.out[full.n_out - 1] == '\n' && full.out[full.n_out - 2] != '\n');
    result_free(&full);
    char id[24];
    result newline = RUN("tokenize", target, "-p", "\n", "--ids");
    snprintf(id, sizeof id, "%d=1e9", atoi(newline.out));
    result r = RUN(GREEDY, target, "-p", "Hello", "-n", "1", "--logit-bias", id);
    assert_string_equal(r.out, "\n");
    result_free(&r), result_free(&newline);
    char none[] = "0=1e9"; /* EOS becomes certain, so the answer is empty */
    r = RUN(GREEDY, target, "-p", "Hello", "-n", "1", "--logit-bias", none);
    assert_int_equal(r.n_out, 0);
    result_free(&r);
}

/* An answer has the form that was asked for, and at least so many tokens. */
static void answers_are_bound(void **state)
{
    (void)state;
    char no_end[] = "0=1e9", path[256]; /* EOS becomes certain wherever it is allowed */
    strcpy(path, test_temporary("bound.json"));
    result r = RUN(GREEDY, target, "-p", "x", "--regex", "(yes|no)\\.", "-n", "20");
    assert_true(strcmp(r.out, "yes.\n") == 0 || strcmp(r.out, "no.\n") == 0);
    result_free(&r);
    r = RUN(GREEDY, target, "-p", "x", "--regex", "", "-n", "20");
    assert_int_equal(r.status, 0);
    assert_int_equal(r.n_out, 0);
    result_free(&r);
    expect(RUN(GREEDY, target, "-p", "x", "--regex", "(yes", "-n", "20"), 2, "--regex: the pattern");
    expect(RUN(GREEDY, target, "-p", "x", "--json-schema", "{\"minimum\": []}"), 2, "--json-schema: ");
    expect(RUN(GREEDY, target, "-p", "x", "--json-schema", "/nowhere/at/all"), 2, "--json-schema: /nowhere/at/all");
    static const char marked[] = "\xef\xbb\xbf{\"const\": 7}"; /* with a byte-order mark */
    write_whole(path, marked, sizeof marked - 1);
    r = RUN(GREEDY, target, "-p", "x", "--json-schema", path, "-n", "20");
    assert_string_equal(r.out, "7\n");
    result_free(&r);
    for (int least = 0; least < 7; least += 3) {
        char number[] = {(char)('0' + least), 0};
        expect(RUN(GREEDY, target, "-p", "x", "-n", "9", "--min-tokens", number, "--logit-bias", no_end, "--stats-json",
                   path),
               0, NULL);
        json_t *o = json_of(path);
        assert_int_equal(whole(o, "generated_tokens"), least + 1); /* and EOS */
        json_decref(o);
    }
}

/* Without --seed, each sampled answer gets a random seed, which the statistics name. Greedy text has seed 0. */
static void seeds_are_drawn_and_named(void **state)
{
    (void)state;
    char path[256], seeds[2][24];
    strcpy(path, test_temporary("seed.json"));
    for (int i = 0; i < 2; i++) {
        result r = RUN("run", target, "-p", "The river", "-n", "40", NO_CONTROL, "--temp", "1", "--stats-json", path,
                       "--stats");
        json_t *o = json_of(path);
        snprintf(seeds[i], sizeof seeds[i], "%lld", (long long)whole(o, "seed"));
        char line[64];
        snprintf(line, sizeof line, "; seed %s\n", seeds[i]);
        assert_non_null(strstr(r.err, line));
        result again = RUN("run", target, "-p", "The river", "-n", "40", NO_CONTROL, "--temp", "1", "--seed", seeds[i]);
        assert_string_equal(again.out, r.out);
        json_decref(o);
        result_free(&r), result_free(&again);
    }
    assert_string_not_equal(seeds[0], seeds[1]);
    expect(RUN(GREEDY, target, "-p", "x", "-n", "2", "--stats-json", path), 0, NULL);
    json_t *o = json_of(path);
    assert_int_equal(whole(o, "seed"), 0);
    json_decref(o);
}

/* -n -1 means no limit, as in llama.cpp. The line end that echo adds is no part of the prompt. */
static void habits_of_other_programs(void **state)
{
    (void)state;
    result zero = RUN(GREEDY, target, "Hello", "-n", "0", "-c", "64", NO_CONTROL);
    result none = RUN(GREEDY, target, "Hello", "-n", "-1", "-c", "64", NO_CONTROL);
    assert_int_equal(none.status, 0);
    assert_string_equal(zero.out, none.out);
    static const char *const echoed[] = {"Hello", "Hello\n", "Hello\r\n"};
    result wanted = RUN("run", target, "-p", "Hello", "--show-prompt"), two;
    for (size_t i = 0; i < 3; i++) {
        const setting piped = {.input = echoed[i]};
        result r = run_as(&piped, "vouch", ARGUMENTS("run", target, "--show-prompt"));
        assert_string_equal(r.out, wanted.out);
        result_free(&r);
    }
    two = run_as(&(setting){.input = "Hello\n\n"}, "vouch", ARGUMENTS("run", target, "--show-prompt"));
    assert_string_not_equal(two.out, wanted.out); /* one line end only */
    result exact = run_as(&(setting){.input = "a\n"}, "vouch", ARGUMENTS("tokenize", target, "--ids"));
    result same = RUN("tokenize", target, "a\n", "--ids");
    assert_string_equal(exact.out, same.out); /* tokenize counts every byte */
    result_free(&zero), result_free(&none), result_free(&wanted), result_free(&two), result_free(&exact);
    result_free(&same);
}

/* An empty raw prompt starts from the model's BOS token, if its file has one. */
static void no_text_begins_with_bos(void **state)
{
    (void)state;
    char path[256], bare[256];
    size_t n;
    strcpy(path, test_temporary("bos.json"));
    result empty = RUN(GREEDY, target, "--raw", "-p", "", "-n", "12", NO_CONTROL, "--stats-json", path);
    assert_int_equal(empty.status, 0);
    assert_true(empty.n_out > 0);
    json_t *o = json_of(path);
    assert_int_equal(whole(o, "prompt_tokens"), 1);
    json_decref(o);
    result_free(&empty);
    expect(RUN(GREEDY, target, "--raw", "-f", null_device(), "-n", "2"), 0, NULL);
    char *bytes = read_whole(target, &n), *key = memmem(bytes, n, "bos_token_id", 12);
    assert_non_null(key);
    key[0] = 'X';
    strcpy(bare, test_temporary("nobos.gguf"));
    write_whole(bare, bytes, n);
    free(bytes);
    expect(RUN(GREEDY, bare, "--raw", "-p", "", "-n", "2"), 2,
           "the prompt is empty, and the model's file has no BOS token to begin with");
}

static void odd_prompts(void **state)
{
    (void)state;
    const char *n = "-n", *two = "2";
    expect(RUN("run", "-m", target, "-p", "\xff\xc0 \xe2\x82", n, two), 0, NULL);
    expect(RUN("run", "-m", target, "-p", ""), 2, "the prompt is empty; write --prompt TEXT");
    expect(RUN("run", "-m", target), 2, "vouch: the prompt is empty; write --prompt TEXT\n");
    expect(RUN("run", "-m", target, "--raw"), 2, "vouch: the prompt is empty; write --prompt TEXT\n");
    expect(RUN("run", "-m", target, "-f", "-"), 2, "vouch: the prompt is empty; write --prompt TEXT\n");
    expect(RUN("run", "-m", target, "-f", null_device()), 2, ": the prompt is empty");
    const setting nul = {.input = "a\0b", .n_input = 3};
    expect(run_as(&nul, "vouch", ARGUMENTS("run", "-m", target, n, two)), 1, "NUL byte at offset 1");
    expect(run_as(&nul, "vouch", ARGUMENTS("run", "-m", target, n, two, "--raw")), 0, NULL);
    static const char wide[] = "\xff\xfeO\0n\0c\0e";
    const setting utf16 = {.input = wide, .n_input = sizeof wide};
    expect(run_as(&utf16, "vouch", ARGUMENTS("run", "-m", target, n, two)), 1,
           "the prompt is in UTF-16; save it as UTF-8");
    const setting marked = {.input = "\xef\xbb\xbfOnce"}, plain = {.input = "Once"};
    result with = run_as(&marked, "vouch", ARGUMENTS("run", "-m", target, n, two, "--temperature", "0"));
    result without = run_as(&plain, "vouch", ARGUMENTS("run", "-m", target, n, two, "--temperature", "0"));
    assert_string_equal(with.out, without.out);
    result_free(&with), result_free(&without);
    char *text = malloc(20001);
    memset(text, 'z', 20000);
    text[20000] = 0;
    expect(run_as(&(setting){.input = text}, "vouch", ARGUMENTS("run", "-m", target, "-c", "64")), 1,
           "the context holds 64 and needs one for the answer: shorten the prompt or use a larger context: "
           "--ctx N sets");
    free(text);
}

/* The error names the file that doesn't fit and says what to do. */
static void files_that_do_not_fit_are_named(void **state)
{
    (void)state;
    char says[400], bare[256], passwords[256];
    snprintf(says, sizeof says, "--draft-model: %s: token ", foreign);
    const char *const *const pairs[] = {
        ARGUMENTS("run", "-m", target, "-d", foreign, "-p", "x"),
        ARGUMENTS("check", "-m", target, "-d", foreign),
        ARGUMENTS("analyze", "-m", target, "-d", foreign),
        ARGUMENTS("bench", "-m", target, "-d", foreign, "--prompts", "/dev/null"),
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        result pair = run_as(&(setting){0}, "vouch", pairs[i]);
        assert_non_null(strstr(pair.err, "; with --allow-vocab-mismatch, `vouch run`"));
        expect(pair, 1, says);
    }
    strcpy(bare, test_temporary("bare.gguf"));
    tiny_model_write(bare, &(tiny_model_options){.n_vocab = 100, .n_ctx = 8192, .seed = 1});
    snprintf(says, sizeof says, "%s: the file has no tokenizer", bare);
    expect(RUN("run", "-m", bare, "-p", "x"), 1, says);
    expect(RUN("tokenize", "-m", bare, "-p", "x"), 1, says);
    snprintf(says, sizeof says, "--draft-model: %s: the draft model has no token table", bare);
    result r = RUN("run", "-m", target, "-d", bare, "-p", "x");
    assert_null(strstr(r.err, "--allow-vocab-mismatch"));
    expect(r, 1, says);
    strcpy(passwords, test_temporary("passwords"));
    write_whole(passwords, "root:x:0:0", 10);
    snprintf(says, sizeof says, "--chat-template: %s: chat template: it never names the variable messages", passwords);
    expect(RUN("run", "-m", target, "-p", "x", "--chat-template", passwords), 2, says);
    snprintf(says, sizeof says, "vouch: %s: ", bare);
    expect(RUN("run", "-m", bare, "-p", "x", "--chat-template", passwords), 1, says);
}

static void values_only_the_model_can_judge(void **state)
{
    (void)state;
    expect(RUN("run", "-m", target, "-p", "x", "--logit-bias", "99999999=1"), 2,
           "--logit-bias '99999999=1': expected a token of the model, 0 to ");
    expect(RUN("perplexity", "-m", target, "-f", "/nowhere/at/all"), 2, "--file: /nowhere/at/all");
    expect(RUN(GREEDY, "-m", target, "-d", large, "-p", "x", "-n", "2"), 0, "larger than the target");
    expect(RUN(GREEDY, "-m", target, "-d", narrow, "-p", "x", "-n", "2"), 0,
           "trained for 100 tokens of context, the target");
    result r = RUN(GREEDY, "-m", target, "-d", narrow, "-p", "x", "-n", "2", "-c", "100");
    assert_string_equal(r.err, "");
    result_free(&r);
    expect(RUN("run", "-m", target, "-p", "x", "-n", "2", "--temp", "1", "--lenience", "0.5"), 0,
           "lossy: with --lenience 0.5 the text no longer has exactly");
}

/* No allowed value of a flag leads to NaN logits. */
static void penalties_keep_logits_finite(void **state)
{
    (void)state;
    static const char *const lines[][4] = {
        {"--repeat-penalty", "0.001", "--logit-bias", "50=1e9"},
        {"--repeat-penalty", "1000", "--logit-bias", "50=-1e9"},
        {"--repeat-penalty", "0.001", "--frequency-penalty", "-1e6"},
        {"--frequency-penalty", "1e6", "--presence-penalty", "1e6"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(RUN(GREEDY, "-m", target, "-p", "The river", "-n", "40", NO_CONTROL, lines[i][0], lines[i][1],
                   lines[i][2], lines[i][3]),
               0, NULL);
}

/* -------------------------------------------------------------------- JSON */

static int64_t sum(const json_t *object, const char *key)
{
    const json_t *array = json_object_get(object, key);
    int64_t total = 0;
    assert_true(json_is_array(array));
    for (size_t i = 0; i < json_array_size(array); i++) total += json_integer_value(json_array_get(array, i));
    return total;
}

static void stats_add_up(void **state)
{
    (void)state;
    static const char *const keys[] = {"prompt_tokens",
                                       "prefill_seconds",
                                       "generated_tokens",
                                       "decode_seconds",
                                       "tokens_per_second",
                                       "cycles",
                                       "drafted",
                                       "accepted",
                                       "acceptance_rate",
                                       "expected_acceptance",
                                       "tokens_per_cycle",
                                       "full_accept_fraction",
                                       "accepted_per_position",
                                       "draft_seconds",
                                       "verify_seconds",
                                       "judge_seconds",
                                       "plain_tokens_per_second",
                                       "speedup",
                                       "load_seconds",
                                       "peak_memory_bytes",
                                       "drafter",
                                       "depth_histogram",
                                       "seed",
                                       "cpu",
                                       "threads",
                                       "accept",
                                       "lossless",
                                       "lenience"};
    char path[256];
    strcpy(path, test_temporary("stats.json"));
    result r =
        RUN("run", "-m", target, "-d", draft, "--speculative", "-k", "4", "-p", "The river", "-n", "50", NO_CONTROL,
            "--temp", "1", "--seed", "18446744073709551615", "--threads", "2", "--stats", "--stats-json", path);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, "tokens per cycle"));
    json_t *o = json_of(path);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!json_object_get(o, keys[i])) print_error("no %s\n", keys[i]);
        assert_non_null(json_object_get(o, keys[i]));
    }
    assert_int_equal(whole(o, "generated_tokens"), 50);
    assert_int_equal(sum(o, "accepted_per_position"), whole(o, "accepted"));
    assert_int_equal(sum(o, "drafted_per_position"), whole(o, "drafted"));
    assert_int_equal(sum(o, "depth_histogram"), whole(o, "cycles"));
    assert_true(fabs(json_real_value(json_object_get(o, "acceptance_rate")) * (double)whole(o, "drafted") -
                     (double)whole(o, "accepted")) < 1e-9);
    assert_string_equal(json_string_value(json_object_get(o, "drafter")), "draft");
    assert_string_equal(json_string_value(json_object_get(o, "seed")), "18446744073709551615");
    assert_string_equal(json_string_value(json_object_get(o, "finish")), "length");
    assert_int_equal(whole(o, "threads"), 2);
    const double share = json_number_value(json_object_get(o, "processor_share"));
    assert_true((share > 0 || test_is_windows()) && share >= 0 && share < 1.1); /* Windows counts in steps of 16 ms */
    assert_null(json_object_get(o, "trace"));
    json_decref(o);
    result_free(&r);
}

/* A ratio that was measured beside another program says so. Both have one processor, and the other one most of it. */
static void a_busy_machine_is_named(void **state)
{
    (void)state;
    test_skip_slow();
    if (system("command -v taskset >/dev/null") != 0) test_skip("no taskset");
    char command[2000], err[256], begun[256];
    size_t n;
    strcpy(err, test_temporary("busy.err"));
    strcpy(begun, test_temporary("busy.begun"));
    snprintf(
        command, sizeof command,
        "cpu=$(taskset -cp $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/')\n"
        "timeout 100 taskset -c $cpu sh -c ': >\"$0\"; while :; do :; done' '%s' &\n"
        "until [ -e '%s' ]; do sleep 0.05; done\n"
        "taskset -c $cpu nice -n 15 '%s' run '%s' -d '%s' -p 'The river' -n 4000 --temp 0 --threads 1 --ignore-eos "
        "--stats --color never >/dev/null 2>'%s'\n"
        "status=$?; kill $!; exit $status",
        begun, begun, program("vouch"), target, draft, err);
    assert_int_equal(system(command), 0);
    char *text = read_whole(err, &n);
    if (!strstr(text, "x plain decoding (") || !strstr(text, ") on a busy machine")) fail_msg("%s", text);
    assert_non_null(strstr(text, "\nbusy      other programs took the processor for "));
    free(text);
}

/* Statistics and trace name the rule and say whether the text is lossless. */
static void rules_are_named(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("rules.json"));
    for (int i = 0; i <= VOUCH_ACCEPTS; i++) {
        const char *rule = vouch_accept_name(i % VOUCH_ACCEPTS), *lenience = i == VOUCH_ACCEPTS ? "0.5" : NULL;
        const bool is_default = strcmp(rule, "rejection") == 0;
        result r = RUN("run", "-m", target, "-d", draft, "-k", "4", "-p", "The river", "-n", "40", NO_CONTROL, "--temp",
                       "1", "--seed", "0", "--trace", "--stats", "--stats-json", path, "--accept", rule,
                       lenience ? "--lenience" : NULL, lenience);
        assert_int_equal(r.status, 0);
        json_t *o = json_of(path);
        const json_t *cycle = json_array_get(json_object_get(o, "trace"), 0);
        assert_string_equal(json_string_value(json_object_get(o, "accept")), rule);
        assert_string_equal(json_string_value(json_object_get(cycle, "accept")), rule);
        assert_int_equal(json_is_true(json_object_get(o, "lossless")), !lenience);
        assert_true(json_number_value(json_object_get(cycle, "lenience")) == (lenience ? 0.5 : 1));
        char line[64];
        snprintf(line, sizeof line, "\nrule      %s, %s", rule, lenience ? "lossy: lenience 0.5 in" : "lossless\n");
        assert_non_null(strstr(r.err, line));
        snprintf(line, sizeof line, "accepted; %s\n", lenience ? "lenience 0.5, lossy" : rule);
        assert_int_equal(strstr(r.err, line) != NULL, lenience || !is_default);
        assert_int_equal(strstr(r.err, "note: lossy") != NULL, lenience != NULL);
        json_decref(o);
        result_free(&r);
    }
    /* With any lenience, greedy text is lossless. */
    result r = RUN(GREEDY, "-m", target, "-d", draft, "-p", "x", "-n", "9", "--lenience", "0.5", "--stats-json", path);
    json_t *o = json_of(path);
    assert_true(json_is_true(json_object_get(o, "lossless")) && !strstr(r.err, "lossy"));
    json_decref(o);
    result_free(&r);
}

/* Under match and coupled, a seed gives the same text with and without drafts. */
static void sampled_text_by_rule(void **state)
{
    (void)state;
#define SAMPLED "run", "-m", target, "-p", "The river said", "-n", "60", "--temp", "0.8", "--seed", "4"
    result plain = RUN(SAMPLED, "--spec", "none"), race = RUN(SAMPLED, "--spec", "none", "--accept", "coupled");
    assert_string_not_equal(plain.out, race.out);
    const char *const *const lines[] = {
        ARGUMENTS(SAMPLED, "--accept", "match"),
        ARGUMENTS(SAMPLED, "--accept", "coupled"),
        ARGUMENTS(SAMPLED, "--accept", "match", "-d", draft, "-k", "7"),
        ARGUMENTS(SAMPLED, "--accept", "coupled", "-d", draft, "-k", "7"),
        ARGUMENTS(SAMPLED, "--accept", "match", "-d", draft, "--draft-sampling", "greedy"),
        ARGUMENTS(SAMPLED, "--accept", "coupled", "-d", draft, "--draft-sampling", "greedy"),
        ARGUMENTS(SAMPLED), /* the default rule is one of the two */
        ARGUMENTS(SAMPLED, "-d", draft),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        result r = run_as(&(setting){0}, "vouch", lines[i]);
        assert_string_equal(r.out, i % 2 ? race.out : plain.out);
        result_free(&r);
    }
    result_free(&plain);
    result_free(&race);
#undef SAMPLED
}

/* Counts the verdicts in a JSON trace that break the acceptance rule. */
static int trace_violations(const json_t *stats, double lenience, int *n_judged)
{
    const json_t *trace = json_object_get(stats, "trace");
    int64_t expected_position = -1, n_committed = 0;
    int wrong = 0;
    assert_true(json_array_size(trace) > 0);
    for (size_t c = 0; c < json_array_size(trace); c++) {
        const json_t *cycle = json_array_get(trace, c), *guesses = json_object_get(cycle, "guesses");
        const char *origin = json_string_value(json_object_get(json_object_get(cycle, "final"), "origin"));
        /* The last cycle may end inside its draft; the guesses after that were never judged. */
        const bool cut = strcmp(origin, "accepted") == 0;
        int64_t n_accepted = 0;
        bool ended = false;
        int last = -1;               /* index of the last accepted guess */
        double limit = 0, taken = 0; /* of the guesses rejected at this position: latest accept, sum of p */
        for (size_t i = 0; i < json_array_size(guesses); i++) {
            const json_t *g = json_array_get(guesses, i);
            const char *verdict = json_string_value(json_object_get(g, "verdict"));
            const double q = json_number_value(json_object_get(g, "q"));
            const int parent = (int)whole(g, "parent");
            assert_true(json_is_string(json_object_get(g, "text")) && json_is_integer(json_object_get(g, "token")));
            assert_true(json_array_size(json_object_get(g, "drafters")) > 0);
            wrong += parent < -1 || parent >= (int)i;
            if (strcmp(verdict, "not reached") == 0) {
                wrong += (parent == last && !cut) || !json_is_null(json_object_get(g, "p"));
                continue;
            }
            const double p = json_number_value(json_object_get(g, "p"));
            const double accept = json_number_value(json_object_get(g, "accept"));
            const json_t *u = json_object_get(g, "u"); /* null: the judge compared the guess with the target's draw */
            const bool accepted = strcmp(verdict, "accepted") == 0;
            const double chance = fmin(1, p / (1 - taken) / (lenience * q));
            wrong += parent != last;
            wrong += fabs(accept - (limit + (1 - limit) * chance)) > 1e-12;
            wrong += json_is_number(u) ? accepted != (json_number_value(u) < accept) : q != 1;
            limit = accepted ? 0 : accept;
            taken = accepted ? 0 : taken + p; /* guesses beside others are point masses here */
            n_accepted += accepted;
            ended = !accepted;
            if (accepted) last = (int)i;
            ++*n_judged;
        }
        const char *due = ended ? "residual" : json_array_size(guesses) > 0 ? "bonus" : "plain";
        wrong += cut ? c + 1 < json_array_size(trace) : strcmp(origin, due) != 0;
        wrong += expected_position >= 0 && whole(cycle, "position") != expected_position;
        expected_position = whole(cycle, "position") + n_accepted + 1;
        n_committed += cut ? whole(stats, "generated_tokens") - n_committed : n_accepted + 1;
    }
    return wrong + (n_committed != whole(stats, "generated_tokens"));
}

/* The figures in a trace satisfy the rule for the run's lenience, and not for another one. */
static void trace_obeys_the_rule(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("trace.json"));
    const char *const *const lines[] = {
        ARGUMENTS("run", "-m", target, "-d", draft, "--speculative", "-k", "4", "-p", "The river", "-n", "120",
                  NO_CONTROL, "--temp", "1", "--seed", "3", "--accept", "rejection", "--trace", "--stats-json", path),
        ARGUMENTS("run", "-m", target, "-d", draft, "--speculative", "-k", "4", "-p", "The river", "-n", "120",
                  NO_CONTROL, "--temp", "1", "--seed", "0", "--lenience", "0.6", "--trace", "--stats-json", path),
        ARGUMENTS("run", "-m", target, "--ngram-min", "1", "-p", "down down down down", "-n", "120", NO_CONTROL,
                  "--temp", "0.7", "--seed", "0", "--accept", "rejection", "--trace", "--stats-json", path),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        result r = run_as(&(setting){0}, "vouch", lines[i]);
        const double lenience = i == 1 ? 0.6 : 1;
        int n_judged = 0;
        assert_int_equal(r.status, 0);
        json_t *o = json_of(path);
        assert_int_equal(trace_violations(o, lenience, &n_judged), 0);
        assert_true(n_judged > 0);
        if (i < 2) {
            assert_true(trace_violations(o, lenience * 0.9, &n_judged) > 0);
            assert_non_null(strstr(r.err, "rejected"));
        }
        assert_non_null(strstr(r.err, "cycle 1 at "));
        assert_null(strstr(r.out, "cycle"));
        assert_null(strchr(r.err, '\033'));
        json_decref(o);
        result_free(&r);
    }
}

/* The token of guess i of the first cycle. */
static int32_t guess_of(const json_t *stats, size_t i)
{
    const json_t *cycle = json_array_get(json_object_get(stats, "trace"), 0);
    return (int32_t)whole(json_array_get(json_object_get(cycle, "guesses"), i), "token");
}

/* A step may add no token of its own: a stop text ends the answer inside the accepted guesses, or the logits after
 * them are NaN. Here they become NaN after a token that first occurs at position 10 or later. */
static void trace_says_why_no_token_follows(void **state)
{
    (void)state;
#define ONE_CYCLE "--raw", "-p", "The river", "-d", target, "--speculative", "-k", "64", "-n", "50", "--trace", \
                  NO_CONTROL
    char path[256], stop[2] = "", broken[256];
    size_t at = 10, i = 0;
    strcpy(path, test_temporary("trace.json"));
    result whole_answer = RUN(GREEDY, "-m", target, ONE_CYCLE, "--stats-json", path);
    assert_int_equal(whole_answer.status, 0);
    assert_null(strstr(whole_answer.err, "accepted guesses"));
    json_t *o = json_of(path);
    for (; i < at; i++)
        if (guess_of(o, i) == guess_of(o, at)) at++, i = 0;
    strcpy(broken, test_temporary("broken.gguf"));
    tiny_model_write(broken, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .poison = guess_of(o, at)});
    json_decref(o);

    stop[0] = *strpbrk(whole_answer.out + whole_answer.n_out / 3, "abcdefghijklmnopqrstuvwxyz");
    result r = RUN(GREEDY, "-m", target, ONE_CYCLE, "--stop", stop);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, "the answer ends inside the accepted guesses"));
    result_free(&r);
    r = RUN(GREEDY, "-m", broken, ONE_CYCLE);
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "no token follows: the model gave no finite logits after"));
    assert_null(strstr(r.err, "the answer ends"));
    assert_non_null(strstr(r.err, "of the sequence: the model gave no finite logits"));
    assert_true(r.n_out > 0 && strncmp(whole_answer.out, r.out, r.n_out - 1) == 0);
    result_free(&r), result_free(&whole_answer);
}

static void colours_only_add_colours(void **state)
{
    (void)state;
    result plain =
        RUN(GREEDY, "-m", target, "-d", draft, "-p", "The river", "-n", "80", "--speculative", "-k", "4", NO_CONTROL);
    result automatic = RUN(GREEDY, "-m", target, "-d", draft, "-p", "The river", "-n", "80", "--speculative", "-k", "4",
                           NO_CONTROL, "--color");
    result painted = RUN(GREEDY, "-m", target, "-d", draft, "-p", "The river", "-n", "80", "--speculative", "-k", "4",
                         NO_CONTROL, "--color", "always");
    assert_int_equal(plain.status | automatic.status | painted.status, 0);
    assert_string_equal(plain.out, automatic.out);
    size_t n = 0;
    for (size_t i = 0; i < painted.n_out; i++) {
        if (painted.out[i] == '\033' && painted.out[i + 1] == '[' && strchr("03", painted.out[i + 2]))
            i += strcspn(painted.out + i, "m");
        else painted.out[n++] = painted.out[i];
    }
    assert_true(n < painted.n_out);
    assert_int_equal(n, plain.n_out);
    assert_memory_equal(painted.out, plain.out, n);
    result_free(&plain), result_free(&automatic), result_free(&painted);
}

/* ------------------------------------------------------------ other commands */

static void info_and_tokenize(void **state)
{
    (void)state;
    result r = RUN("info", "-m", target);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "architecture      llama"));
    assert_non_null(strstr(r.out, "chat template     jinja, "));
    result_free(&r);
    r = RUN("tokenize", "-m", target, "-p", "<|im_start|>\n", "--special");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "1\t<|im_start|>\n"));
    assert_non_null(strstr(r.out, "\t\\n\n"));
    result_free(&r);
    r = RUN("tokenize", "-m", target, "-p", "<|im_start|>", "--ids");
    assert_int_equal(r.status, 0);
    assert_int_not_equal(strcmp(r.out, "1\n"), 0); /* without --special, markers are plain text */
    assert_int_equal(r.out[r.n_out - 1], '\n');
    result_free(&r);
}

/* Computes the perplexity here from the library's logits, one row at a time. */
static double perplexity_here(const char *path, const char *text, int32_t n_ctx, size_t n_chunks)
{
    vouch_error err;
    vouch_model *model;
    vouch_session *session;
    vouch_model_options loading = vouch_model_options_default();
    vouch_session_options options = vouch_session_options_default();
    options.n_ctx = n_ctx + 1;
    static int32_t tokens[1 << 14];
    size_t n;
    assert_int_equal(vouch_model_open(&model, path, &loading, &err), VOUCH_OK);
    assert_int_equal(vouch_session_open(&session, model, &options, &err), VOUCH_OK);
    assert_int_equal(vouch_tokenize(model, text, strlen(text), 0, tokens, 1 << 14, &n, &err), VOUCH_OK);
    const int32_t n_vocab = vouch_model_get_info(model)->n_vocab;
    float *logits = malloc((size_t)n_vocab * sizeof *logits);
    double total = 0;
    int count = 0;
    for (size_t c = 0; c < n_chunks; c++) {
        const int32_t *chunk = tokens + c * (size_t)n_ctx;
        assert_true((c + 1) * (size_t)n_ctx <= n);
        assert_int_equal(vouch_session_prompt(session, chunk, (size_t)n_ctx, &err), VOUCH_OK);
        for (int32_t i = n_ctx / 2; i < n_ctx - 1; i++, count++) {
            long double mass = 0;
            assert_int_equal(vouch_session_logits(session, i, 1, logits, &err), VOUCH_OK);
            for (int32_t v = 0; v < n_vocab; v++) mass += expl((long double)logits[v] - logits[chunk[i + 1]]);
            total += (double)logl(mass);
        }
    }
    free(logits);
    vouch_session_close(session);
    vouch_model_close(model);
    return exp(total / count);
}

/* A model whose logits are NaN after a token of the text gives an error, not a perplexity. */
static void perplexity_refuses_nan_logits(void **state)
{
    (void)state;
    char path[256], broken[256], text[700] = "";
    for (int i = 0; i < 100; i++) strcat(text, " river");
    strcpy(path, test_temporary("rivers"));
    write_whole(path, text, strlen(text));
    result ids = RUN("tokenize", "-m", target, "-p", " river", "--ids");
    strcpy(broken, test_temporary("poisoned.gguf"));
    tiny_model_write(broken, &(tiny_model_options){.n_ctx = 8192, .seed = 1, .poison = atoi(ids.out)});
    result r = RUN("perplexity", "-m", broken, "--file", path, "--ctx", "32");
    assert_int_equal(r.status, 1);
    assert_string_equal(r.err, "vouch: chunk 1: the model gave no finite logits\n");
    assert_int_equal(r.n_out, 0);
    result_free(&r);
    result_free(&ids);
}

static void perplexity_is_the_mean_surprise(void **state)
{
    (void)state;
    char path[256], text[3000] = "";
    for (int i = 0; i < 30; i++) strcat(text, "Where are you going? asked the stones, and the river said: down. ");
    strcpy(path, test_temporary("corpus"));
    write_whole(path, text, strlen(text));
    result r = RUN("perplexity", "-m", target, "--file", path, "--ctx", "32", "--chunks", "4", "--prefill-chunk", "7");
    assert_int_equal(r.status, 0);
    const char *line = strstr(r.out, "\nperplexity: ");
    assert_non_null(line);
    const double shown = atof(line + 13), here = perplexity_here(target, text, 32, 4);
    assert_true(fabs(shown - here) <= 1e-5 * here);
    assert_true(here > 1);
    assert_string_equal(strchr(line + 1, '\n'), "\n"); /* the last line */
    assert_non_null(strstr(r.out, "chunk 4 of 4: "));
    const setting piped = {.input = text};
    result others[] = {
        RUN("perplexity", target, path, "--ctx", "32", "--chunks", "4"),
        run_as(&piped, "vouch", ARGUMENTS("perplexity", target, "--ctx", "32", "--chunks", "4")),
        run_as(&piped, "vouch", ARGUMENTS("perplexity", target, "-", "--ctx", "32", "--chunks", "4")),
        run_as(&piped, "vouch", ARGUMENTS("perplexity", "-m", target, "-f", "-", "-c", "32", "--chunks", "4"))};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(others[i].out, r.out);
        result_free(&others[i]);
    }
    result_free(&r);
    expect(RUN("perplexity", "-m", target, "--file", path, "--ctx", "2048"), 1,
           "expected at least one chunk of --ctx 2048: lower --ctx");
}

static void example_generates(void **state)
{
    (void)state;
    result r = run_as(&(setting){0}, "examples/generate", ARGUMENTS(target, "The river", draft));
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, test_is_windows() ? " passes\r\n" : " passes\n")); /* streams of text there */
    result_free(&r);
    r = run_as(&(setting){0}, "examples/generate", ARGUMENTS("/nowhere.gguf", "x"));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "/nowhere.gguf"));
    result_free(&r);
    r = run_as(&(setting){0}, "examples/generate", ARGUMENTS(target));
    assert_int_equal(r.status, 2);
    assert_non_null(strstr(r.err, "PROMPT is missing: expected a GGUF file and a prompt"));
    assert_non_null(strstr(r.err, "usage: generate MODEL PROMPT [DRAFT_MODEL]"));
    result_free(&r);
}

/* -------------------------------------------------------------- real model */

static void real_model_answers(void **state)
{
    (void)state;
    const char *model = test_model();
    char path[256];
    int n_judged = 0;
    if (!model) test_skip("no real model");
    strcpy(path, test_temporary("real.json"));
    const char *prompt = "The capital of France is";
    result plain = RUN(GREEDY, "-m", model, "--raw", "-p", prompt, "--spec", "none", "-n", "32");
    result fast = RUN(GREEDY, "-m", model, "--raw", "-p", prompt, "-n", "32");
    assert_int_equal(plain.status | fast.status, 0);
    assert_non_null(strstr(plain.out, "Paris"));
    assert_string_equal(plain.out, fast.out);
    result_free(&plain), result_free(&fast);
    result r =
        RUN("run", "-m", model, "-d", model, "-k", "4", "--draft-sampling", "greedy", "--temp", "0.9", "--seed", "0",
            "--accept", "rejection", "-p", "Write a line about rivers.", "-n", "48", "--trace", "--stats-json", path);
    assert_int_equal(r.status, 0);
    json_t *o = json_of(path);
    assert_int_equal(trace_violations(o, 1, &n_judged), 0);
    assert_true(n_judged > 0);
    json_decref(o);
    result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_the_same_with_every_drafter),
        cmocka_unit_test(draft_vocab_is_a_list_of_tokens),
        cmocka_unit_test(prompt_comes_from_anywhere),
        cmocka_unit_test(prompts_have_two_parts),
        cmocka_unit_test(a_silent_pipe_is_named),
        cmocka_unit_test(texts_may_begin_with_dashes),
        cmocka_unit_test(the_model_needs_no_flag),
        cmocka_unit_test(habits_of_other_programs),
        cmocka_unit_test(answers_end_their_line),
        cmocka_unit_test(answers_are_bound),
        cmocka_unit_test(seeds_are_drawn_and_named),
        cmocka_unit_test(no_text_begins_with_bos),
        cmocka_unit_test(odd_prompts),
        cmocka_unit_test(files_that_do_not_fit_are_named),
        cmocka_unit_test(values_only_the_model_can_judge),
        cmocka_unit_test(penalties_keep_logits_finite),
        cmocka_unit_test(stats_add_up),
        cmocka_unit_test(a_busy_machine_is_named),
        cmocka_unit_test(rules_are_named),
        cmocka_unit_test(sampled_text_by_rule),
        cmocka_unit_test(trace_obeys_the_rule),
        cmocka_unit_test(trace_says_why_no_token_follows),
        cmocka_unit_test(colours_only_add_colours),
        cmocka_unit_test(info_and_tokenize),
        cmocka_unit_test(perplexity_is_the_mean_surprise),
        cmocka_unit_test(perplexity_refuses_nan_logits),
        cmocka_unit_test(example_generates),
        cmocka_unit_test(real_model_answers),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
