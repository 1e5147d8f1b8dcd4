/* SPDX-License-Identifier: MIT */
/*
 * A draft model that learns. One step in single precision against PyTorch (golden/student.py): the loss and the
 * gradient of each loss are the same to 1e-4, relative to the largest value. So are they for factors of low rank.
 *
 * From end to end on tiny models: a student of all the target's layers guesses as the target does, every divergence
 * raises a noisy student's acceptance, also on-policy, interrupted teaching ends with the same bytes, and bad input is
 * refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "format/gguf.h"
#include "golden/student.h"
#include "support/program/command.h"
#include "support/head/tiny_lessons.h"
#include "support/model/tiny_model.h"
#include "train/network/adam.h"
#include "train/lessons/answers.h"
#include "train/teach/student_teach.h"

enum { OUTPUTS = 11, WIDTH = 16, STRIDE = 17 /* of the gradients in the golden file */ };

static const train_student_shape shape = {2, {WIDTH, 24, {4, 2, 4}, 1e-5f}};

typedef struct step {
    train_student student;
    int64_t n; /* weights that learn */
    real *grads, *bias;
    train_student_values values;
    vouch_arena arena;
    tiny_lessons lessons;
    train_batch batch;
} step;

/* rank 0: all weights learn. */
static void step_open(step *s, int32_t rank)
{
    train_student *student = &s->student;
    *s = (step){.student.shape = shape};
    student->block = tiny_wave(train_student_size(&shape), 1, 0.4);
    student->embedding = tiny_wave(LESSON_VOCAB * WIDTH, 2, 0.7);
    student->output = tiny_wave(OUTPUTS * WIDTH, 3, 0.5);
    s->bias = tiny_wave(OUTPUTS, 5, 0.3);
    if (rank > 0) assert_int_equal(train_student_adapt(student, rank, 0, NULL), VOUCH_OK);
    s->n = train_student_n_learned(student);
    s->grads = tiny_wave(s->n, 0, 0);
    s->batch = tiny_lessons_make(&s->lessons, 0, OUTPUTS, 0.4f);
    s->lessons.ids[4 * LESSON_TOP + 1] = -1; /* the outputs lack it */
    train_student_values_take(&s->values, &s->arena, student, LESSON_ROWS, LESSON_LENGTH, OUTPUTS);
    assert_int_equal(vouch_arena_allocate(&s->arena, "values", NULL), VOUCH_OK);
    train_student_values_take(&s->values, &s->arena, student, LESSON_ROWS, LESSON_LENGTH, OUTPUTS);
}

static void step_close(step *s)
{
    real *const all[] = {s->student.block, s->grads, s->student.embedding, s->student.output, s->bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    train_lora_close(&s->student.lora);
    vouch_arena_free(&s->arena);
}

static double step_run(step *s, train_loss kind)
{
    const train_goal goal = {kind, 0.4, {(real)0.7}};
    const train_outputs outputs = {OUTPUTS, s->student.output, s->bias};
    memset(s->grads, 0, (size_t)s->n * sizeof *s->grads);
    train_student_run(&s->values, &s->student, s->grads, &outputs, &s->batch, &goal);
    assert_int_equal(s->values.sums.rows, LESSON_ROWS - 1);
    return (double)goal.weights[0] * s->values.sums.loss;
}

#define LOSS(kind, name) {kind, name##_loss, name##_block, sizeof name##_block / sizeof *name##_block}

static void gradients_are_those_of_pytorch(void **state)
{
    (void)state;
    static const struct {
        train_loss kind;
        const double *loss, *block;
        size_t n;
    } cases[] = {LOSS(TRAIN_FORWARD_KL, forward_kl), LOSS(TRAIN_REVERSE_KL, reverse_kl),
                 LOSS(TRAIN_JENSEN_SHANNON, jensen_shannon), LOSS(TRAIN_TOTAL_VARIATION, total_variation),
                 LOSS(TRAIN_CROSS_ENTROPY, cross_entropy)};
    step s;
    step_open(&s, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double loss = step_run(&s, cases[i].kind);
        assert_true(fabs(loss / *cases[i].loss - 1) < 1e-5);
        assert_int_equal(cases[i].n, (size_t)(s.n + STRIDE - 1) / STRIDE);
        assert_true(tiny_difference(s.grads, STRIDE, cases[i].block, cases[i].n) < 1e-4);
        /* Another loss has other gradients. */
        assert_true(tiny_difference(s.grads, STRIDE, cases[(i + 1) % 5].block, cases[i].n) > 1e-2);
    }
    step_close(&s);
}

#define GOLDEN(name) name, sizeof name / sizeof *name

static void a_step_of_factors_is_that_of_pytorch(void **state)
{
    (void)state;
    const train_adam adam = {
        .rate = 0.01, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.02, .n_warm = 0, .n_steps = 1000000000};
    step s;
    step_open(&s, 3);
    const train_lora *lora = &s.student.lora;
    const size_t n_block = (size_t)train_student_size(&shape);
    real *start = tiny_wave((int64_t)n_block, 1, 0.4);
    train_student_merge(&s.student); /* B is 0 */
    assert_memory_equal(s.student.block, start, n_block * sizeof *start);
    real *begun = tiny_wave(s.n, 4, 0.3), *m = tiny_wave(s.n, 0, 0), *v = tiny_wave(s.n, 0, 0);
    memcpy(lora->factors, begun, (size_t)s.n * sizeof *begun);
    assert_true(fabs(step_run(&s, TRAIN_FORWARD_KL) / *factors_loss - 1) > 1e-2); /* the fixed matrices alone */
    train_student_merge(&s.student);
    assert_true(fabs(step_run(&s, TRAIN_FORWARD_KL) / *factors_loss - 1) < 1e-5);
    assert_int_equal(sizeof factors_grads / sizeof *factors_grads, (size_t)(s.n + STRIDE - 1) / STRIDE);
    assert_true(tiny_difference(s.grads, STRIDE, GOLDEN(factors_grads)) < 1e-4);
    train_adam_step(&adam, 1, lora->factors, m, v, s.grads, s.n, adam.decay);
    assert_true(tiny_difference(lora->factors, STRIDE, GOLDEN(factors_after)) < 1e-4);
    assert_true(tiny_difference(begun, STRIDE, GOLDEN(factors_after)) > 1e-3);
    /* Factors of another scale run as another model. */
    for (int64_t i = 0; i < s.n; i++) lora->factors[i] = begun[i] * 0.7f; /* about the root of a half */
    train_student_merge(&s.student);
    assert_true(fabs(step_run(&s, TRAIN_FORWARD_KL) / *factors_loss - 1) > 1e-2);
    real *const all[] = {start, begun, m, v};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    step_close(&s);
}

/* Gradient and two means of each weight that learns. With factors, also the fixed layers and one layer's gradients. */
static void factors_take_less_memory(void **state)
{
    (void)state;
    train_states_header header = {0};
    const train_lessons_set set = {.header = &header};
    train_student student = {.shape = shape, .n_vocab = OUTPUTS};
    train_student_course course = {.student = &student, .set = &set, .longest = 9, .n_outputs = OUTPUTS};
    student.block = tiny_wave(train_student_size(&shape), 1, 0.4);
    assert_int_equal(vouch_pool_open(&course.pool, 1, NULL), VOUCH_OK);
    const double all = train_student_teach_bytes(&course), n_all = (double)train_student_n_learned(&student);
    assert_int_equal(train_student_adapt(&student, 1, 0, NULL), VOUCH_OK);
    const double less = train_student_teach_bytes(&course), n_less = (double)train_student_n_learned(&student),
                 layer = (double)train_layer_size(&shape.layer);
    assert_true(fabs((all - less) / sizeof(real) - (3 * n_all - 4 * n_less - 3 * layer)) < 256); /* 64-byte arrays */
    assert_true(less < all - layer * sizeof(real));
    vouch_pool_close(course.pool);
    train_lora_close(&student.lora);
    free(student.block);
}

/* ------------------------------------------------------------------ end to end */

static const char *tiny(const char *name, const tiny_model_options *options)
{
    const char *path = test_path(name);
    tiny_model_write(path, options);
    return path;
}

#define FEW "--tokens", "3000", "--max-tokens", "40", "--parallel", "4", "--threads", "1", "--seed", "3"

/* The number after `after` after the line's beginning `line`. */
static double figure(const char *text, const char *line, const char *after)
{
    const char *at = strstr(text, line);
    at = at ? strstr(at, after) : NULL;
    assert_non_null(at);
    return strtod(at + strlen(after), NULL);
}

/* With all layers of the target, forward passes of teaching equal the model's own, so every guess is right. */
static void a_student_of_all_layers_is_its_target(void **state)
{
    (void)state;
    test_skip_slow();
    const tiny_model_options kinds[] = {{.n_layers = 3, .seed = 1},
                                        {.n_layers = 2, .seed = 2, .tied = true, .n_kv_heads = 4, .rope_freqs = true},
                                        {.n_layers = 2, .seed = 3, .rope_base = 500, .rope_scale = 2}};
    static const char *const names[] = {"a0", "a1", "a2"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *model = tiny("a.gguf", &kinds[i]), *path = test_path(names[i]);
        result r = RUN("distill", model, "--student", path, "--student-model", model, "--rate", "1e-9", "--epochs", "1",
                       "--type", "F32", FEW);
        if (r.status) fail_msg("%s", r.err);
        assert_true(figure(r.err, "answers held back, before", "accepted ") > 0.999);
        assert_true(figure(r.err, "answers held back, before", "tokens per cycle; ") > 0.99);
        result_free(&r);
        r = RUN(GREEDY, model, "--draft-model", path, "--spec", "draft", "-k", "3", "--stats", "--prompt", "one two",
                "-n", "40", NO_CONTROL);
        assert_non_null(strstr(r.err, "100"));
        expect(r, 0, NULL);
    }
}

/* The file has the chosen layers, the target's digest and the recipe, and `vouch run` drafts with it (law L2). */
static void a_student_has_its_form(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("f.gguf", &(tiny_model_options){.n_layers = 4, .seed = 5}), *out = test_path("f.student");
    result r = RUN("distill", model, "--student", out, "--student-layers", "0,3", "--epochs", "1", FEW);
    assert_non_null(strstr(r.err, "student: "));
    expect(r, 0, "MB of memory");
    vouch_gguf *gguf;
    vouch_error err;
    vouch_text text;
    int64_t n = 0;
    if (vouch_gguf_open(&gguf, out, &err)) fail_msg("%s", err.message);
    assert_int_equal(vouch_gguf_get_int(gguf, "llama.block_count", true, 0, 99, &n, &err), VOUCH_OK);
    assert_int_equal(n, 2);
    assert_int_equal(vouch_gguf_get_text(gguf, "vouch.distill.target", true, &text, &err), VOUCH_OK);
    assert_int_equal(text.size, 16);
    assert_int_equal(vouch_gguf_get_text(gguf, "vouch.distill.recipe", true, &text, &err), VOUCH_OK);
    assert_non_null(memmem(text.data, text.size, "\"loss\": \"forward KL\"", 20));
    const vouch_gguf_tensor *up = vouch_gguf_find_tensor(gguf, "blk.1.ffn_up.weight");
    assert_true(up && up->type == VOUCH_TYPE_Q8_0);
    assert_null(vouch_gguf_find_tensor(gguf, "blk.2.ffn_up.weight"));
    vouch_gguf_close(gguf);
    result plain = RUN(GREEDY, model, "--spec", "none", "--prompt", "one two three", "-n", "50", NO_CONTROL);
    r = RUN(GREEDY, model, "--draft-model", out, "--spec", "draft", "-k", "3", "--prompt", "one two three", "-n", "50",
            NO_CONTROL);
    assert_string_equal(r.out, plain.out);
    expect(r, 0, NULL);
    result_free(&plain);
}

/* A copy of the answers, because an interrupted first stage may end with a few other ones. */
static void answers_copy(const char *from, const char *to)
{
    char path[300];
    size_t n;
    snprintf(path, sizeof path, "%s.answers", from);
    char *bytes = read_whole(path, &n);
    snprintf(path, sizeof path, "%s.answers", to);
    write_whole(path, bytes, n);
    free(bytes);
}

/* A student begins as its target with noise in all weights. Every divergence raises what the target accepts. */
static void every_divergence_teaches(void **state)
{
    (void)state;
    test_skip_slow();
    static const char *const losses[] = {"forward-kl", "reverse-kl", "jensen-shannon", "total-variation"};
    const tiny_model_options options = {.seed = 7, .tied = true};
    tiny_model_options noisy = options;
    noisy.noise = 0.05f;
    const char *model = tiny("t.gguf", &options), *base = tiny("n.gguf", &noisy), *answers = NULL;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (test_is_quick() && i != 1) continue; /* the gradients of all are compared with PyTorch's */
        for (int on_policy = 0; on_policy <= (i == 1); on_policy++) {
            const char *out = test_path(losses[i] + on_policy);
            if (answers) answers_copy(answers, out);
            answers = out;
            result r = RUN("distill", model, "--student", out, "--student-model", base, "--loss", losses[i], "--rate",
                           "2e-3", "--epochs", on_policy ? "2" : "6", "--tokens", "6000", "--max-tokens", "40",
                           "--threads", "1", on_policy ? "--on-policy" : NULL);
            if (r.status) fail_msg("%s: %s", losses[i], r.err);
            const char *learned = strstr(strstr(r.err, "held back, before") + 1, "held back");
            assert_non_null(learned);
            const double before = figure(r.err, "held back, before", "tokens per cycle; "),
                         after = figure(learned, "held back", "tokens per cycle; ");
            assert_true(after > 1.1 * before);
            result_free(&r);
        }
    }
}

/* Bytes of a tensor of a file, which the caller frees. */
static char *tensor_read(const char *path, const char *name, size_t *n)
{
    vouch_gguf *gguf;
    vouch_error err;
    if (vouch_gguf_open(&gguf, path, &err)) fail_msg("%s", err.message);
    const vouch_gguf_tensor *t = vouch_gguf_find_tensor(gguf, name);
    assert_true(t && !vouch_gguf_load(gguf, t, 0, t->bytes, &err));
    char *bytes = malloc(*n = t->bytes);
    assert_non_null(bytes);
    memcpy(bytes, t->data, *n);
    vouch_gguf_close(gguf);
    return bytes;
}

static bool tensors_are_equal(const char *a, const char *b, const char *name)
{
    size_t n, m;
    char *x = tensor_read(a, name, &n), *y = tensor_read(b, name, &m);
    const bool are_equal = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return are_equal;
}

#define ADAPT(out, ...) \
    RUN("distill", model, "--student", out, "--student-model", base, "--tokens", "6000", "--max-tokens", "40", \
        "--threads", "1", __VA_ARGS__)

/* Factors raise what the target accepts, with a smaller checkpoint. The file is an ordinary model: it guesses as the
 * student did. */
static void factors_teach_an_ordinary_model(void **state)
{
    (void)state;
    test_skip_slow();
    static const char *const matrices[] = {"attn_q",   "attn_k", "attn_v",  "attn_output",
                                           "ffn_gate", "ffn_up", "ffn_down"};
    const tiny_model_options options = {.seed = 7, .tied = true};
    tiny_model_options noisy = options;
    noisy.noise = 0.05f;
    const char *model = tiny("x.gguf", &options), *base = tiny("y.gguf", &noisy);
    const char *all = test_path("all"), *still = test_path("still"), *out = test_path("factors"), *in = "held back";
    const char *again = test_path("again");
    char path[300], name[64];
    size_t n, n_factors;
    result r = ADAPT(all, "--rate", "1e-9", "--epochs", "1");
    expect(r, 0, NULL);
    answers_copy(all, still);
    answers_copy(all, out);
    answers_copy(all, again);
    expect(ADAPT(still, "--rate", "1e-9", "--epochs", "1", "--lora", "4"), 0, NULL);
    r = ADAPT(out, "--rate", "5e-3", "--epochs", "6", "--type", "F32", "--lora", "16");
    if (r.status) fail_msg("%s", r.err);
    assert_non_null(strstr(r.err, " of factors of rank 16 in 2 layers learn by forward KL"));
    const double before = figure(r.err, "held back, before", "tokens per cycle; ");
    const char *learned = strstr(strstr(r.err, "held back, before") + 1, in);
    assert_non_null(learned);
    const double after = figure(learned, in, "tokens per cycle; ");
    assert_true(after > 1.1 * before);
    result_free(&r);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        snprintf(name, sizeof name, "blk.1.%s.weight", matrices[i]);
        assert_true(tensors_are_equal(all, still, name)); /* B is 0, but for 1e-9 */
        assert_false(tensors_are_equal(base, out, name));
    }
    assert_true(tensors_are_equal(base, out, "blk.0.attn_norm.weight"));
    assert_true(tensors_are_equal(base, out, "output_norm.weight"));
    /* A student that begins as the file begins as good as this one ended. */
    base = out;
    r = ADAPT(again, "--rate", "1e-9", "--epochs", "1");
    assert_true(fabs(figure(r.err, "held back, before", "tokens per cycle; ") - after) < 0.0015);
    result_free(&r);
    snprintf(path, sizeof path, "%s.checkpoint", all);
    free(read_whole(path, &n));
    snprintf(path, sizeof path, "%s.checkpoint", out);
    free(read_whole(path, &n_factors));
    assert_true(n_factors < n / 2);
}

/* Cancels a call after a number of questions after the line that begins the last stage. */
typedef struct interruption {
    bool is_last_stage;
    int left;
} interruption;

static void note(void *user, const char *line)
{
    interruption *i = user;
    i->is_last_stage |= strncmp(line, "student: ", 9) == 0;
}

static bool is_cancelled(void *user)
{
    interruption *i = user;
    return i->is_last_stage && i->left-- == 0;
}

/* Teaching that is interrupted again and again, also while the student answers, writes the same file. */
static void interrupted_teaching_ends_with_the_same_bytes(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("i.gguf", &(tiny_model_options){.n_layers = 3, .seed = 9});
    for (int i = test_is_quick() ? 2 : 0; i < 3; i++) { /* all weights; on-policy; factors, on-policy, too */
        static const char *const names[] = {"w0", "p0", "w1", "p1", "w2", "p2"};
        const bool on_policy = i > 0;
        const char *whole = test_path(names[2 * i]), *parts = test_path(names[2 * i + 1]);
        interruption stop = {0};
        train_options o = train_options_default();
        train_result taught;
        vouch_error err;
        vouch_status status = VOUCH_E_CANCELLED;
        size_t n[2];
        int calls = 0;
        o.is_student = true;
        o.student_layers = (const int32_t[]){0, 2};
        o.n_student_layers = 2;
        o.on_policy = on_policy;
        o.lora = i == 2 ? 4 : 0;
        o.epochs = on_policy ? 1 : 3;
        o.n_tokens = 2000;
        o.max_tokens = 30;
        o.n_draft = 100;
        o.n_threads = 2;
        if (train_distill(model, whole, &o, &taught, &err)) fail_msg("%s", err.message);
        answers_copy(whole, parts);
        o.note = note;
        o.is_cancelled = is_cancelled;
        o.user = &stop;
        for (; status == VOUCH_E_CANCELLED && calls < 200; calls++) {
            stop.is_last_stage = false;
            stop.left = on_policy ? 13 * calls % 60 + calls : calls % 3;
            status = train_distill(model, parts, &o, &taught, &err);
        }
        assert_int_equal(status, VOUCH_OK);
        assert_true(calls > 3);
        char *a = read_whole(whole, &n[0]), *b = read_whole(parts, &n[1]);
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(a, b, n[0]);
        free(a);
        free(b);
    }
}

/* ---------------------------------------------------------------- on-policy texts */

/* Cancels when the student's first step is reported, so that the round's files remain. */
static void step_report(void *user, const train_report *r)
{
    *(bool *)user |= strcmp(r->stage, "student") == 0;
}

static bool step_is_cancelled(void *user)
{
    return *(const bool *)user;
}

typedef struct answers {
    size_t n;
    const train_answer **items; /* [n]; the tokens follow each one */
    char *bytes;
} answers;

static const int32_t *tokens_of(const train_answer *answer)
{
    return (const int32_t *)(const void *)(answer + 1);
}

/* Reads a file of answers (chunks.h): its magic, a header's chunk, and a chunk for each answer. */
static answers answers_read(const char *out, const char *what)
{
    char path[300];
    size_t size, n;
    snprintf(path, sizeof path, "%s.%s", out, what);
    answers a = {.bytes = read_whole(path, &size)};
    a.items = calloc(size / sizeof(train_answer), sizeof *a.items);
    for (size_t at = 8, i = 0; at < size; at += 16 + n, i++) {
        memcpy(&n, a.bytes + at, sizeof n);
        if (i > 0) a.items[a.n++] = (const train_answer *)(const void *)(a.bytes + at + 16);
    }
    return a;
}

static void answers_free(answers *a)
{
    free(a->items);
    free(a->bytes);
}

/* The target's answer to the same prompt. */
static const train_answer *answer_find(const answers *all, const train_answer *like)
{
    for (size_t i = 0; i < all->n; i++) {
        const train_answer *a = all->items[i];
        if (a->n_prompt != like->n_prompt || a->n_tokens == 0) continue;
        if (memcmp(tokens_of(a), tokens_of(like), (size_t)a->n_prompt * sizeof(int32_t)) == 0) return a;
    }
    fail_msg("a prompt of the round is none of the target's");
    return NULL;
}

/* The share of a target's answer with which another answer begins. */
static double kept(const train_answer *target, const train_answer *other)
{
    const int32_t *x = tokens_of(target) + target->n_prompt, *y = tokens_of(other) + other->n_prompt;
    const int32_t n = target->n_tokens - target->n_prompt, m = other->n_tokens - other->n_prompt;
    int32_t same = 0;
    while (same < n && same < m && x[same] == y[same]) same++;
    return (double)same / n;
}

/* A lesson is the target's answer up to a random token, half of it in the mean, and then the student's text. Where the
 * student wrote answers from their beginning, as with these of another prompt, the target's tokens would be missing. */
static void on_policy_goes_on_with_the_targets_answers(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("o.gguf", &(tiny_model_options){.n_layers = 3, .seed = 9}), *out = test_path("o.student");
    bool began = false;
    double share = 0, wrong = 0;
    int32_t own = 0, longest = 0, n_short = 0;
    train_options o = train_options_default();
    train_result taught;
    o.is_student = true;
    o.student_layers = (const int32_t[]){0, 2};
    o.n_student_layers = 2;
    o.on_policy = true;
    o.n_tokens = 12000;
    o.max_tokens = 100;
    o.n_threads = 1;
    o.report = step_report;
    o.is_cancelled = step_is_cancelled;
    o.user = &began;
    assert_int_equal(train_distill(model, out, &o, &taught, NULL), VOUCH_E_CANCELLED);
    answers target = answers_read(out, "answers"), round = answers_read(out, "round0.answers");
    assert_true(round.n >= 12);
    for (size_t i = 0; i < round.n; i++) {
        const train_answer *a = round.items[i], *whole = answer_find(&target, a);
        const double k = kept(whole, a);
        share += k / (double)round.n;
        n_short += k < 0.25;
        wrong += kept(answer_find(&target, round.items[(i + 1) % round.n]), a) / (double)round.n;
        own = vouch_max(own, a->n_tokens - a->n_prompt - (int32_t)(k * (whole->n_tokens - whole->n_prompt) + 0.5));
        longest = vouch_max(longest, a->n_tokens - a->n_prompt);
    }
    assert_true(share > 0.35 && share < 0.7);
    assert_true(n_short > 0 && longest > 80); /* any number of tokens */
    assert_true(own > 16 && own <= 32);
    assert_true(wrong < 0.1);
    answers_free(&target);
    answers_free(&round);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    test_skip_slow();
    const char *model = tiny("b.gguf", &(tiny_model_options){.seed = 4}), *out = test_path("b.student");
    const char *other = tiny("o.gguf", &(tiny_model_options){.seed = 4, .vocab_seed = 8});
    const char *qwen = tiny("q.gguf", &(tiny_model_options){.arch = "qwen2"});
    const char *experts = tiny("e.gguf", &(tiny_model_options){.n_experts = 4});
    expect(RUN("distill", model), 2, "--student OUT");
    expect(RUN("distill", model, "--student", out), 2, "--student needs --student-layers or --student-model");
    expect(RUN("distill", model, "--student", out, "--head", "x"), 2, "exclude each other");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--quick"), 2, "--quick has no effect");
    expect(RUN("distill", model, "--table", out, "--quick"), 2, "--quick has no effect without --head OUT");
    expect(RUN("distill", model, "--student", test_path("b.rounds"), "--student-layers", "0", "--on-policy", "--tokens",
               "1000", "--max-tokens", "100", "--parallel", "4", "--threads", "1"),
           2, "too few for --on-policy: expected at least 32, 4 for each of its 8 rounds");
    expect(RUN("distill", model, "--head", out, "--on-policy"), 2, "--on-policy has no effect without --student");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--beta", "0.3"), 2,
           "--beta has no effect");
    expect(RUN("distill", model, "--student", model, "--student-layers", "0"), 2, "would overwrite it");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0,2", FEW), 2, "--student-layers has 2");
    expect(RUN("distill", model, "--student", out, "--student-model", other, FEW), 1, "token");
    expect(RUN("distill", qwen, "--student", out, "--student-layers", "0", FEW), 1, "'qwen2'");
    expect(RUN("distill", experts, "--student", out, "--student-layers", "0", FEW), 1, "with experts");
    expect(RUN("distill", model, "--student", out, "--student-model", "/nonexistent/x", FEW), 1, "/nonexistent/x");
    expect(RUN("distill", model, "--head", out, "--lora", "4"), 2, "--lora has no effect without --student OUT");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--lora", "0"), 2, "--lora");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--lora", "65", FEW), 2,
           "--lora is 65: expected a rank, 1 to the width of the layers, 64");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--epochs", "1", FEW), 0, NULL);
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--epochs", "1", "--lora", "4", FEW), 1,
           "with other training data or options");
    expect(RUN("distill", model, "--student", out, "--student-layers", "1", "--epochs", "1", FEW), 1,
           "with other training data or options");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--epochs", "2", FEW), 1,
           "with other training data or options");
    out = test_path("b.factors");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--epochs", "1", "--lora", "4", FEW), 0,
           "rank 4");
    expect(RUN("distill", model, "--student", out, "--student-layers", "0", "--epochs", "1", "--lora", "5", FEW), 1,
           "with other training data or options");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_pytorch),
        cmocka_unit_test(a_step_of_factors_is_that_of_pytorch),
        cmocka_unit_test(factors_take_less_memory),
        cmocka_unit_test(a_student_of_all_layers_is_its_target),
        cmocka_unit_test(a_student_has_its_form),
        cmocka_unit_test(every_divergence_teaches),
        cmocka_unit_test(factors_teach_an_ordinary_model),
        cmocka_unit_test(interrupted_teaching_ends_with_the_same_bytes),
        cmocka_unit_test(on_policy_goes_on_with_the_targets_answers),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
