/* SPDX-License-Identifier: MIT */
/*
 * `vouch distill` from end to end on a tiny model: it writes a head in the form of head_file.h, a killed run goes
 * on to the same head, and bad input gets a clear error.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/gguf.h"
#include "support/program/command.h"
#include "support/model/tiny_model.h"

static const char *tiny(const char *name, uint64_t seed)
{
    const char *path = test_path(name);
    tiny_model_write(path, &(tiny_model_options){.n_layers = 4, .seed = seed});
    return path;
}

#define QUICK "--quick", "--tokens", "3000", "--max-tokens", "40", "--parallel", "4", "--threads", "1"

static int64_t head_int(const vouch_gguf *gguf, const char *key)
{
    int64_t value = -1;
    assert_int_equal(vouch_gguf_get_int(gguf, key, true, 0, INT32_MAX, &value, NULL), VOUCH_OK);
    return value;
}

static void a_quick_head_has_its_form(void **state)
{
    (void)state;
    const char *model = tiny("m.gguf", 1), *head = test_path("h.gguf");
    result r = RUN("distill", model, "--head", head, QUICK);
    assert_non_null(strstr(r.err, "tokens per cycle"));
    expect(r, 0, "MB of memory");
    vouch_gguf *gguf;
    vouch_error err;
    if (vouch_gguf_open(&gguf, head, &err)) fail_msg("%s", err.message);
    assert_int_equal(head_int(gguf, "vouch-head.embedding_length"), 64);
    assert_int_equal(head_int(gguf, "vouch-head.block_count"), 0);
    assert_int_equal(head_int(gguf, "vouch-head.target.block_count"), 4);
    assert_int_equal(head_int(gguf, "vouch-head.target.vocab_size"), 400);
    vouch_gguf_array taps;
    assert_int_equal(vouch_gguf_get_array(gguf, "vouch-head.taps", true, &taps, &err), VOUCH_OK);
    /* The default layers 2, n / 2, n - 3 and n - 1 are 2, 2, 1 and 3. Only the ascending 2 and 3 are taken. */
    assert_int_equal(taps.count, 2);
    assert_int_equal(vouch_gguf_array_int(&taps, 1), 3);
    const vouch_gguf_tensor *fc = vouch_gguf_find_tensor(gguf, "fc.weight");
    assert_true(fc && fc->dim[0] == 128 && fc->dim[1] == 64 && fc->type == VOUCH_TYPE_Q8_0);
    const vouch_gguf_tensor *join = vouch_gguf_find_tensor(gguf, "join.weight");
    assert_true(join && join->dim[0] == 64 && join->dim[1] == 64 && join->type == VOUCH_TYPE_Q8_0);
    const vouch_gguf_tensor *leave = vouch_gguf_find_tensor(gguf, "leave.weight");
    assert_true(leave && leave->dim[0] == 64 && leave->dim[1] == 64);
    assert_null(vouch_gguf_find_tensor(gguf, "output.weight"));
    assert_null(vouch_gguf_find_tensor(gguf, "d2t"));
    vouch_gguf_close(gguf);
    expect(RUN("distill", model, "--head", head, QUICK, "--vocab", "50"), 0, NULL);
    if (vouch_gguf_open(&gguf, head, &err)) fail_msg("%s", err.message);
    const vouch_gguf_tensor *d2t = vouch_gguf_find_tensor(gguf, "d2t");
    assert_true(d2t && d2t->dim[0] == 50);
    assert_null(vouch_gguf_find_tensor(gguf, "output_norm.weight")); /* the target's */
    vouch_gguf_close(gguf);
}

/* A head with a layer, taught in a few steps. A second call finds the work done and writes the same bytes. */
static void a_head_with_a_layer_has_its_form(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("l.gguf", 6), *head = test_path("l.head");
#define LAYER "--vocab", "50", "--epochs", "1", "--tokens", "3000", "--max-tokens", "40", "--threads", "2"
    result r = RUN("distill", model, "--head", head, LAYER);
    assert_non_null(strstr(r.err, "layer: "));
    assert_non_null(strstr(r.err, "50 guessed tokens"));
    expect(r, 0, "tokens per cycle");
    size_t n[2];
    char *first = read_whole(head, &n[0]);
    unlink(head);
    expect(RUN("distill", model, "--head", head, LAYER), 0, NULL);
    char *second = read_whole(head, &n[1]);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(first, second, n[0]);
    vouch_gguf *gguf;
    vouch_error err;
    if (vouch_gguf_open(&gguf, head, &err)) fail_msg("%s", err.message);
    assert_int_equal(head_int(gguf, "vouch-head.block_count"), 1);
    assert_int_equal(head_int(gguf, "vouch-head.attention.head_count"), 4);
    const vouch_gguf_tensor *d2t = vouch_gguf_find_tensor(gguf, "d2t");
    assert_true(d2t && d2t->dim[0] == 50);
    assert_non_null(vouch_gguf_find_tensor(gguf, "blk.0.ffn_down.weight"));
    assert_null(vouch_gguf_find_tensor(gguf, "output.weight"));
    vouch_gguf_close(gguf);
    expect(RUN("distill", model, "--head", head, "--rate", "0.5", LAYER), 1, "with other training data or options");
    free(first);
    free(second);
}

/* A random model's text can't be learnt, so the first depth learns nothing. */
static void a_depth_that_learned_nothing_is_named(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("w.gguf", 1), *head = test_path("w.head");
    result r = RUN("distill", model, "--head", head, QUICK, "--sampled", "0");
    assert_non_null(strstr(r.err, "accepted on answers held back. Raise --tokens, or teach a layer"));
    expect(r, 0, "warning: depth 1 learned nothing: 0.0");
    size_t n;
    char *bytes = read_whole(head, &n);
    assert_non_null(memmem(bytes, n, "\"dead_depth\": 1", 15));
    free(bytes);
    const char *easy = test_path("e.gguf"), *good = test_path("e.head");
    tiny_model_write(easy, &(tiny_model_options){.n_layers = 4, .seed = 8, .embedding = 100});
    r = RUN("distill", easy, "--head", good, QUICK, "--sampled", "0");
    assert_null(strstr(r.err, "warning"));
    expect(r, 0, NULL);
}

/* A run that asks for fewer tokens than an earlier one kept uses all of them, and says so. */
static void kept_answers_are_all_used(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("u.gguf", 3), *head = test_path("u.head");
    expect(RUN("distill", model, "--head", head, QUICK), 0, NULL);
    result r = RUN("distill", model, "--head", head, "--quick", "--tokens", "1000", "--max-tokens", "40");
    const char *note = strstr(r.err, "answers: all ");
    assert_non_null(note);
    assert_true(atol(note + strlen("answers: all ")) >= 3000);
    assert_non_null(strstr(note, "u.head.answers are used, more than --tokens 1000"));
    expect(r, 0, NULL);
}

/* `vouch run` drafts with both kinds of heads; the text is the target's own (law L2). */
static void the_drafter_reads_the_heads(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("d.gguf", 7), *quick = test_path("d.quick"), *layer = test_path("d.layer");
    expect(RUN("distill", model, "--head", quick, QUICK), 0, NULL);
    expect(RUN("distill", model, "--head", layer, LAYER), 0, NULL);
#define ANSWER "--prompt", "one two three", "-n", "60", NO_CONTROL
    result plain = RUN(GREEDY, model, "--spec", "none", ANSWER);
    assert_int_equal(plain.status, 0);
    const char *const heads[] = {quick, layer};
    for (int i = 0; i < 2; i++) {
        result r = RUN(GREEDY, model, "--head", heads[i], "--spec", "head", "-k", "3", "--stats", ANSWER);
        assert_string_equal(r.out, plain.out);
        assert_non_null(strstr(r.err, "accepted"));
        expect(r, 0, NULL);
    }
    result_free(&plain);
}

/* A head for a hybrid: layers with recurrent state beside those with attention. Rejected guesses leave no trace in the
 * state (law L3), so the text stays the target's own. */
static void hybrids_get_heads(void **state)
{
    (void)state;
    test_skip_slow();
    static const char *const archs[] = {"qwen35", "lfm2"}, *const names[] = {"qwen35.head", "lfm2.head"};
    for (int i = 0; i < (test_is_quick() ? 1 : 2); i++) {
        const char *model = test_path(archs[i]), *head = test_path(names[i]);
        tiny_model_write(model, &(tiny_model_options){.arch = archs[i], .n_layers = 4, .seed = 8});
        expect(RUN("distill", model, "--head", head, LAYER), 0, NULL);
        result plain = RUN(GREEDY, model, "--spec", "none", ANSWER);
        assert_int_equal(plain.status, 0);
        result r = RUN(GREEDY, model, "--head", head, "--spec", "head", "-k", "3", "--stats", ANSWER);
        assert_string_equal(r.out, plain.out);
        assert_non_null(strstr(r.err, "accepted"));
        expect(r, 0, NULL);
        result_free(&plain);
    }
}

/* The payloads of a file's chunks. */
typedef struct chunk {
    int32_t head[4]; /* number, n_prompt, n_tokens, is_sampled */
    const char *payload;
    uint64_t size;
} chunk;

/* The chunks of a file after its header; the caller frees *bytes. */
static int chunks_of(const char *path, char **bytes, chunk *chunks, int room)
{
    size_t n;
    int count = -1;
    *bytes = read_whole(path, &n);
    for (size_t at = 8; at < n;) {
        chunk c = {.payload = *bytes + at + 16};
        memcpy(&c.size, *bytes + at, sizeof c.size);
        memcpy(c.head, c.payload, sizeof c.head);
        if (count >= 0) chunks[count] = c;
        assert_true(++count < room);
        at += 16 + c.size;
    }
    return count;
}

/* A killed run loses nothing that its files have, and each prompt's answer is the one of a run that wasn't killed. */
static void a_killed_run_goes_on(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("k.gguf", 2), *whole = test_path("whole.head"), *killed = test_path("killed.head");
    char answers[512], vouch[512];
    struct stat info;
    expect(RUN("distill", model, "--head", whole, QUICK), 0, NULL);
    snprintf(answers, sizeof answers, "%s.answers", killed);
    snprintf(vouch, sizeof vouch, "%s", program("vouch"));
    for (off_t size = 2000; size <= 8000; size += 3000) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            become(ARGUMENTS(vouch, "distill", model, "--head", killed, QUICK), &(setting){0}, "/dev/null", "/dev/null",
                   "/dev/null");
        for (int i = 0; i < 20000 && (stat(answers, &info) || info.st_size < size); i++) usleep(1000);
        kill(child, SIGKILL);
        assert_int_equal(status_of(child), 128 + SIGKILL);
    }
    expect(RUN("distill", model, "--head", killed, QUICK), 0, NULL);
    char *bytes[2], whole_answers[512];
    static chunk a[8000], b[8000];
    snprintf(whole_answers, sizeof whole_answers, "%s.answers", whole);
    const int n = chunks_of(whole_answers, &bytes[0], a, 8000), m = chunks_of(answers, &bytes[1], b, 8000);
    int same = 0, twice = 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < i; j++) twice += b[i].head[0] == b[j].head[0];
        for (int j = 0; j < n; j++)
            if (a[j].head[0] == b[i].head[0]) {
                assert_int_equal(a[j].size, b[i].size);
                assert_memory_equal(a[j].payload, b[i].payload, a[j].size);
                same++;
            }
    }
    assert_int_equal(twice, 0);
    assert_true(same >= n - 12 && n > 50); /* the runs stop with up to 4 other answers unfinished */

    size_t size;
    char *damaged = read_whole(whole_answers, &size);
    const int32_t more = a[0].head[2] + 1; /* tokens than the chunk has */
    memcpy(damaged + (a[0].payload - bytes[0]) + 2 * sizeof more, &more, sizeof more);
    write_whole(whole_answers, damaged, size);
    expect(RUN("distill", model, "--head", whole, QUICK), 1, "answers: chunk 1 has ");
    free(damaged);
    free(bytes[0]);
    free(bytes[1]);
}

/* The states name the likeliest tokens after each token of an answer, and none inside a prompt. After the tokens of a
 * greedy answer the likeliest one is the answer's next. */
static void states_teach_answers_alone(const char *path)
{
    enum { TOP = 32 };
    char *bytes;
    chunk chunks[200];
    int32_t n_prompt_rows = 0, n_greedy_rows = 0;
    const int n = chunks_of(path, &bytes, chunks, 200);
    for (int i = 0; i < n; i++) {
        const int32_t n_prompt = chunks[i].head[1], n_tokens = chunks[i].head[2];
        const char *tokens = chunks[i].payload + sizeof chunks[i].head, *ids = tokens + sizeof(int32_t) * n_tokens;
        for (int32_t t = 0; t + 1 < n_tokens; t++) {
            int32_t first, next;
            memcpy(&first, ids + sizeof first * TOP * t, sizeof first);
            memcpy(&next, tokens + sizeof next * (t + 1), sizeof next);
            if (t < n_prompt - 1) {
                assert_int_equal(first, -1);
                n_prompt_rows++;
            } else if (chunks[i].head[3] == 0) {
                assert_int_equal(first, next);
                n_greedy_rows++;
            }
        }
    }
    assert_true(n_prompt_rows > 100 && n_greedy_rows > 100);
    free(bytes);
}

static void given_prompts_are_answered_unless_excluded(void **state)
{
    (void)state;
    const char *model = tiny("p.gguf", 3), *head = test_path("p.head");
    const char *prompts = test_path("prompts.txt"), *excluded = test_path("excluded.txt");
    char lines[8000] = "";
    for (int i = 0; i < 120; i++) snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "word %d here\n", i);
    write_whole(prompts, lines, strlen(lines));
    char objects[8000] = "";
    for (int i = 0; i < 60; i++)
        snprintf(objects + strlen(objects), sizeof objects - strlen(objects),
                 "{\"category\": \"%s\", \"prompt\": \"word %d here\"}\n", i < 20 ? "few" : "many", i);
    write_whole(excluded, objects, strlen(objects));
    result r = RUN("distill", model, "--head", head, "--prompts", prompts, "--measure", excluded, QUICK);
    const char *const parts[] = {"\nmeasured prompts, ", "\nfew, ", "\nmany, "};
    long tokens[3];
    for (int i = 0; i < 3; i++) {
        const char *found = strstr(r.err, parts[i]);
        assert_non_null(found);
        tokens[i] = atol(found + strlen(parts[i]));
    }
    assert_true(tokens[1] > 0 && tokens[2] > tokens[1] && tokens[0] == tokens[1] + tokens[2]);
    expect(r, 0, NULL);
    char path[512];
    snprintf(path, sizeof path, "%s.answers", head);
    char *bytes;
    chunk chunks[200];
    const int n = chunks_of(path, &bytes, chunks, 200);
    int kept = 0, left_out = 0;
    for (int i = 0; i < n; i++) {
        kept += chunks[i].head[2] > 0;
        left_out += chunks[i].head[2] == 0;
        if (chunks[i].head[2] > 0) assert_true(chunks[i].head[0] >= 59);
    }
    assert_true(kept >= 50 && left_out >= 58 && kept + left_out == 120);
    free(bytes);
    snprintf(path, sizeof path, "%s.states", head);
    states_teach_answers_alone(path);
}

/* Where the answers are deleted, as the message about other settings says, the states of the old ones are refused. The
 * numbers of answers alone don't tell: both files count their prompts from 0. */
static void states_belong_to_their_answers(void **state)
{
    (void)state;
    const char *model = tiny("o.gguf", 8), *head = test_path("o.head"), *many = test_path("o.many.txt"),
               *one = test_path("o.one.txt");
    write_whole(many, "one\ntwo\nthree\nfour\nfive\n", 24);
    write_whole(one, "six\n", 4);
    expect(RUN("distill", model, "--head", head, QUICK, "--measure", many), 0, NULL);
    unlink(test_path("o.head.measured.answers"));
    expect(RUN("distill", model, "--head", head, QUICK, "--measure", one), 1,
           "o.head.measured.states holds states of another target or of other settings");
    unlink(test_path("o.head.answers"));
    expect(RUN("distill", model, "--head", head, QUICK, "--seed", "2"), 1, "o.head.states holds states of another");
    unlink(test_path("o.head.states"));
    expect(RUN("distill", model, "--head", head, QUICK, "--seed", "2"), 0, NULL);
}

/* Teaching stops where the states file has an answer that the answers file lacks. The head would learn from an answer
 * that is no longer there. */
static void states_of_lost_answers_are_refused(void **state)
{
    (void)state;
    const char *model = tiny("lost.gguf", 8), *head = test_path("lost");
#define FEWER RUN("distill", model, "--head", head, "--quick", "--tokens", "1000", "--max-tokens", "40")
    expect(RUN("distill", model, "--head", head, QUICK), 0, NULL);
    unlink(test_path("lost.answers"));
    expect(FEWER, 1, "which the file that ends in .answers lacks; delete the file that ends in .states");
    unlink(test_path("lost.states"));
    expect(FEWER, 0, NULL);
#undef FEWER
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    const char *model = tiny("b.gguf", 4), *other = tiny("c.gguf", 5), *head = test_path("b.head");
    expect(RUN("distill", model), 2, "--head OUT is missing");
    expect(RUN("distill", "--head", head), 2, "--model FILE is missing");
    expect(RUN("distill", model, "--head", model, QUICK), 2, "would overwrite it");
    expect(RUN("distill", model, "--head", "/nonexistent/x", QUICK), 2, "--head");
    expect(RUN("distill", model, "--head", head, "--taps", "1,4", QUICK), 2, "--taps has 4");
    expect(RUN("distill", model, "--head", head, "--taps", "0,1", QUICK), 2, "--taps lacks layer 3");
    expect(RUN("distill", model, "--head", head, "--type", "Q5_9", QUICK), 2, "--type 'Q5_9': expected");
    expect(RUN("distill", model, "--head", head, "--tokens", "5"), 2, "--tokens");
    expect(RUN("distill", model, "--head", head, "--table", head, QUICK), 2, "is also the file of --");
    expect(RUN("distill", model, "--head", head, "--epochs", "3", QUICK), 2, "--epochs has no effect with --quick");
    expect(RUN("distill", model, "--table", head, "--vocab", "99"), 2, "--vocab has no effect without --head OUT or");
    expect(RUN("distill", model, "--head", head, "--measure", "/dev/null", QUICK), 1, "--measure: /dev/null has no");
    expect(RUN("distill", model, "--head", head, "--exclude", "/dev/null", QUICK), 1, "--exclude: /dev/null has no");
    const char *few = test_path("few.txt");
    write_whole(few, "a\nb\nc\nd\ne\n", 10);
    expect(RUN("distill", model, "--head", test_path("few.head"), "--prompts", few, QUICK), 0,
           "answers held back: no greedy answer");
    expect(RUN("distill", model, "--head", head, QUICK), 0, NULL);
    expect(RUN("distill", other, "--head", head, QUICK), 1, "of another target or of other settings");
    expect(RUN("distill", model, "--head", head, "--seed", "9", QUICK), 1, "of another target or of other settings");
    result r = run_as(&(setting){.file_limit = 40000}, "vouch",
                      ARGUMENTS("distill", model, "--head", test_path("full.head"), QUICK));
    expect(r, 1, "File too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quick_head_has_its_form),
        cmocka_unit_test(a_head_with_a_layer_has_its_form),
        cmocka_unit_test(a_depth_that_learned_nothing_is_named),
        cmocka_unit_test(kept_answers_are_all_used),
        cmocka_unit_test(the_drafter_reads_the_heads),
        cmocka_unit_test(hybrids_get_heads),
        cmocka_unit_test(a_killed_run_goes_on),
        cmocka_unit_test(given_prompts_are_answered_unless_excluded),
        cmocka_unit_test(states_belong_to_their_answers),
        cmocka_unit_test(states_of_lost_answers_are_refused),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
