/* SPDX-License-Identifier: MIT */
/*
 * The budget of thoughts: marks read off templates, the state that follows an answer, and sessions. Law L2: the same
 * text with every drafter. Law L3: after each step the state is the state that the committed tokens alone give.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/model.h"
#include "engine/session.h"
#include "support/decode/answer.h"
#include "support/model/tiny_vocab.h"
#include "support/model/tokenizers.h"
#include "text/internal.h"

enum { PROMPT = 16, LENGTH = 60 };

static char path[256];
static vouch_model *target, *near;

#define TURN(before, after)                                                                                           \
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}" before                            \
    "{{ m.reasoning_content }}" after "{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}"
#define OPEN  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
#define QWEN  TURN("<think>\n", "\n</think>\n\n") OPEN
#define OPENS                                                                                                         \
    TURN("<think>\n", "\n</think>\n\n") "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
#define HARMONY                                                                                                       \
    "{% for m in messages %}{% if m.thinking %}<|start|>assistant<|channel|>analysis<|message|>{{ m.thinking }}"      \
    "<|end|><|start|>assistant<|channel|>final<|message|>{{ m.content }}<|return|>{% else %}<|start|>{{ m.role }}"    \
    "<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"                                                        \
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"

/* --------------------------------------------------------------------- marks */

static const struct {
    const char *text, *begin, *end, *closing; /* begin "": no thoughts */
} templates[] = {
    {QWEN, "<think>", "</think>", "\n</think>\n\n"},
    {OPENS, "<think>", "</think>", "\n</think>\n\n"},
    {TURN("[THINK]", "[/THINK]") OPEN, "[THINK]", "[/THINK]", "[/THINK]"},
    {TURN("Thoughts:\n", "\nAnswer:\n") OPEN, "Thoughts:", "Answer:", "\nAnswer:\n"},
    {HARMONY, "<|channel|>analysis<|message|>", "<|end|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},
    /* Thoughts of earlier answers are cut off. */
    {"{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|im_end|>\n{% endfor "
     "%}" OPEN,
     "<think>", "</think>", "\n</think>\n\n"},
    {"{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}" OPEN, "", "", NULL},
    {"{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{{ m.reasoning_content }}<|im_end|>\n{% endfor "
     "%}" OPEN,
     "", "", NULL},
    {"{{ raise_exception('thinking is refused') }}{{ messages }}", "", "", NULL},
};

static void assert_marks(const char *name, const vouch_tokenizer *t, const char *begin, const char *end,
                         const char *closing)
{
    const char *given[] = {vouch_tokenizer_thoughts_begin(t), vouch_tokenizer_thoughts_end(t)};
    if (strcmp(given[0], begin) != 0 || strcmp(given[1], end) != 0)
        fail_msg("%s: marks '%s' and '%s', expected '%s' and '%s'", name, given[0], given[1], begin, end);
    if (!closing) assert_null(t->thoughts_closing);
    else if (strcmp(t->thoughts_closing, closing) != 0) fail_msg("%s: closing '%s'", name, t->thoughts_closing);
}

/* Templates that models ship, where the optional data folder has them. */
static const struct {
    const char *file, *begin, *end, *closing;
} published[] = {
    {"Qwen-Qwen3-0.6B", "<think>", "</think>", "\n</think>\n\n"},
    {"GLM-4.6", "<think>", "</think>", "</think>\n"},
    {"llama-cpp-deepseek-r1", "<think>", "</think>", "\n</think>\n\n"},
    {"Kimi-K2-Thinking", "<think>", "</think>", "\n</think>\n\n"},
    {"mistralai-Ministral-3-14B-Reasoning-2512", "[THINK]", "[/THINK]", "[/THINK]"},
    {"openai-gpt-oss-120b", "<|channel|>analysis<|message|>", "<|end|>",
     "<|end|><|start|>assistant<|channel|>final<|message|>"},
    {"upstage-Solar-Open-100B", "<|think|>", "<|end|>", "<|end|><|begin|>assistant<|content|>"},
    {"Apriel-1.6-15b-Thinker-fixed", "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]",
     "\n[BEGIN FINAL RESPONSE]\n"},
    {"Apertus-8B-Instruct", "<|inner_prefix|>", "<|inner_suffix|>", "<|inner_suffix|>"},
    {"google-gemma-4-31B-it", "<|channel>thought", "<channel|>", "\n<channel|>"},
    {"Qwen-Qwen2.5-7B-Instruct", "", "", NULL},
    {"meta-llama-Llama-3.1-8B-Instruct", "", "", NULL},
};

static void marks_are_read_off_published_templates(void **state)
{
    (void)state;
    char name[128];
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        snprintf(name, sizeof name, "templates/%s.jinja", published[i].file);
        const char *file = test_data_needed(name);
        char text[1 << 16] = "";
        FILE *f = fopen(file, "r");
        assert_non_null(f);
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        fclose(f);
        vouch_error err;
        vouch_model *m;
        const vouch_model_options options = {.text_only = true, .chat_template = text};
        if (vouch_model_open(&m, path, &options, &err)) fail_msg("%s: %s", name, err.message);
        assert_marks(name, m->tokenizer, published[i].begin, published[i].end, published[i].closing);
        vouch_model_close(m);
    }
}

static void marks_are_read_off_templates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        vouch_tokenizer *t = templated_tokenizer(templates[i].text);
        assert_marks(templates[i].text, t, templates[i].begin, templates[i].end, templates[i].closing);
        vouch_tokenizer_close(t);
    }
}

/* --------------------------------------------------------------------- states */

/* The state after the text, whose bytes come as single tokens or in the vocabulary's own. */
static vouch_thoughts_state follow(const vouch_thoughts *thoughts, const char *prompt, const char *said, bool bytes)
{
    const vouch_tokenizer *t = thoughts->tokenizer;
    ids before = encode(t, prompt, strlen(prompt), VOUCH_TOKENIZE_SPECIAL);
    ids after = encode(t, said, strlen(said), VOUCH_TOKENIZE_SPECIAL);
    vouch_thoughts_state s = vouch_thoughts_begin(thoughts, before.at, (int32_t)before.n);
    if (bytes)
        for (const char *c = said; *c; c++) vouch_thoughts_step(thoughts, &s, TINY_BYTES + (unsigned char)*c);
    else
        for (size_t i = 0; i < after.n; i++) vouch_thoughts_step(thoughts, &s, after.at[i]);
    free(before.at);
    free(after.at);
    return s;
}

static void states_follow_the_text(void **state)
{
    (void)state;
    static const struct {
        const char *prompt, *answer;
        int32_t budget;
        vouch_thoughts_phase phase;
        int32_t n; /* in bytes */
    } cases[] = {
        {"a", "", 9, VOUCH_THOUGHTS_BEFORE, 0},
        {"a", " \n", 9, VOUCH_THOUGHTS_BEFORE, 0},
        {"a", "<thi", 9, VOUCH_THOUGHTS_BEFORE, 0},
        {"a", "<thx", 9, VOUCH_THOUGHTS_OVER, 0},
        {"a", "x<think>", 9, VOUCH_THOUGHTS_OVER, 0},
        {"a", "\n<think>ab", 9, VOUCH_THOUGHTS_INSIDE, 2},
        {"a", "<think>ab</think>c", 99, VOUCH_THOUGHTS_OVER, 9},
        {"a", "<think>ab</think><think>", 99, VOUCH_THOUGHTS_OVER, 9},
        {"a<think>", "ab", 9, VOUCH_THOUGHTS_INSIDE, 2},
        {"a<think>\n", "ab</</think>", 99, VOUCH_THOUGHTS_OVER, 11},
        {"a<think>\n\n</think>\n\n", "ab", 9, VOUCH_THOUGHTS_OVER, 0},
        {"a<think>\n", "", 0, VOUCH_THOUGHTS_CLOSING, 0},
        {"a", "<think>", 0, VOUCH_THOUGHTS_CLOSING, 0},
        {"a<think>\n", "abc", 3, VOUCH_THOUGHTS_CLOSING, 3},
        {"a<think>\n", "ab\xc3", 3, VOUCH_THOUGHTS_INSIDE, 3}, /* the character is finished first */
        {"a<think>\n", "ab\xc3\xa9", 3, VOUCH_THOUGHTS_CLOSING, 4},
        {"a<think>\n", "ab\xe4\xbd\xa0", 3, VOUCH_THOUGHTS_CLOSING, 5},
        {"a<think>\n", "ab\xe4x", 3, VOUCH_THOUGHTS_CLOSING, 4}, /* or given up */
        {"a<think>\n", "abcd", 3, VOUCH_THOUGHTS_OVER, 3},       /* a token that wasn't the forced one */
        {"a<think>\n", "abc", -1, VOUCH_THOUGHTS_INSIDE, 3},
    };
    vouch_tokenizer *t = templated_tokenizer(QWEN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vouch_thoughts thoughts;
        assert_int_equal(vouch_thoughts_open(&thoughts, t, cases[i].budget, false, NULL), VOUCH_OK);
        const vouch_thoughts_state s = follow(&thoughts, cases[i].prompt, cases[i].answer, true);
        if (s.phase != cases[i].phase || s.n != cases[i].n)
            fail_msg("'%s' after '%s': phase %d, %d tokens", cases[i].answer, cases[i].prompt, (int)s.phase, s.n);
        assert_int_equal(vouch_thoughts_forced(&thoughts, &s) >= 0, cases[i].phase == VOUCH_THOUGHTS_CLOSING);
        /* The vocabulary's own tokens, such as <think>, lead to the same phase where no budget ends. */
        if (cases[i].budget < 0 || cases[i].budget >= 9)
            assert_int_equal(follow(&thoughts, cases[i].prompt, cases[i].answer, false).phase, cases[i].phase);
        vouch_thoughts_close(&thoughts);
    }
    vouch_tokenizer_close(t);
}

/* gpt-oss may think again after a message. Its closing opens the answer, or, with a grammar, only ends the message. */
static void channels_may_come_again(void **state)
{
    (void)state;
    static const char analysis[] = "<|channel|>analysis<|message|>";
    vouch_tokenizer *t = templated_tokenizer(HARMONY);
    vouch_thoughts thoughts, bound;
    char again[200];
    assert_int_equal(vouch_thoughts_open(&thoughts, t, 5, false, NULL), VOUCH_OK);
    assert_int_equal(vouch_thoughts_open(&bound, t, 5, true, NULL), VOUCH_OK);
    assert_true(bound.n_closing < thoughts.n_closing);
    snprintf(again, sizeof again, "%sab", analysis);
    assert_int_equal(follow(&thoughts, "<|start|>assistant", again, true).phase, VOUCH_THOUGHTS_INSIDE);
    snprintf(again, sizeof again, "<|channel|>final<|message|>x<|end|><|start|>assistant%sabcde", analysis);
    vouch_thoughts_state s = follow(&thoughts, "<|start|>assistant", again, true);
    assert_int_equal(s.phase, VOUCH_THOUGHTS_CLOSING);
    for (int32_t i = 0; i < thoughts.n_closing; i++) {
        assert_int_equal(vouch_thoughts_forced(&thoughts, &s), thoughts.closing[i]);
        vouch_thoughts_step(&thoughts, &s, thoughts.closing[i]);
    }
    assert_int_equal(s.phase, VOUCH_THOUGHTS_OVER);
    s = follow(&bound, "<|start|>assistant", again, true);
    for (int32_t i = 0; i < bound.n_closing; i++) vouch_thoughts_step(&bound, &s, bound.closing[i]);
    assert_int_equal(s.phase, VOUCH_THOUGHTS_BETWEEN);
    for (const char *c = analysis; *c; c++) vouch_thoughts_step(&bound, &s, TINY_BYTES + (unsigned char)*c);
    assert_int_equal(s.phase, VOUCH_THOUGHTS_CLOSING); /* nothing is left of the budget */
    vouch_thoughts_close(&thoughts);
    vouch_thoughts_close(&bound);
    vouch_tokenizer_close(t);
}

/* ------------------------------------------------------------------- sessions */

static vouch_model *thinking_model(const char *file)
{
    vouch_model *model;
    vouch_error err;
    vouch_model_options options = vouch_model_options_default();
    options.chat_template = QWEN;
    if (vouch_model_open(&model, file, &options, &err)) fail_msg("%s", err.message);
    return model;
}

static int models_open(void **state)
{
    (void)state;
    char other[256];
    strcpy(path, test_temporary("thinks.gguf"));
    strcpy(other, test_temporary("near.gguf"));
    tiny_model_write(path, &(tiny_model_options){.seed = 5, .n_vocab = 600, .n_ctx = 1024});
    tiny_model_write(other, &(tiny_model_options){.seed = 5, .n_vocab = 600, .n_ctx = 1024, .noise = 0.03f});
    target = thinking_model(path);
    near = thinking_model(other);
    return 0;
}

static int models_close(void **state)
{
    (void)state;
    vouch_model_close(target);
    vouch_model_close(near);
    return 0;
}

static vouch_session_options options_of(int32_t budget, unsigned drafters, float temperature)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = PROMPT + LENGTH + 8;
    o.n_threads = 1;
    o.max_tokens = LENGTH;
    o.thought_budget = budget;
    o.ignore_eos = true;
    o.sampling.temperature = temperature;
    o.sampling.seed = 3;
    o.speculation.drafters = drafters;
    o.speculation.n_draft = drafters == VOUCH_DRAFTER_NONE ? 0 : 5;
    if (drafters & VOUCH_DRAFTER_MODEL) o.speculation.draft_model = near;
    return o;
}

/* A prompt that opens thoughts. */
static void prompt_fill(int32_t *prompt, int round)
{
    answer_prompt(prompt, PROMPT, 600, (uint64_t)round, true);
    prompt[PROMPT - 1] = TINY_THINK;
}

static const unsigned sets[] = {VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE, VOUCH_DRAFTER_MODEL,
                                VOUCH_DRAFTER_AUTO, VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_RECYCLE | VOUCH_DRAFTER_SUFFIX};
enum { N_SETS = sizeof sets / sizeof sets[0] };

/* Index of the closing within the answer, by a search; -1: it is not there. */
static int32_t closing_at(const answer *a)
{
    vouch_thoughts thoughts;
    int32_t at = -1;
    assert_int_equal(vouch_thoughts_open(&thoughts, target->tokenizer, 0, false, NULL), VOUCH_OK);
    for (int32_t i = 0; i + thoughts.n_closing <= a->n && at < 0; i++)
        if (memcmp(a->tokens + i, thoughts.closing, (size_t)thoughts.n_closing * sizeof *a->tokens) == 0) at = i;
    vouch_thoughts_close(&thoughts);
    return at;
}

/* The answer begins as without a budget, then the closing comes, and all drafters give the same bytes. */
static void the_budget_is_exact(void **state)
{
    (void)state;
    test_skip_slow();
    static const int32_t budgets[] = {0, 1, 7, 30};
    static answer free_text, plain, other;
    int32_t prompt[PROMPT];
    int64_t accepted = 0;
    int closed = 0;
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++)
        for (int round = 0; round < 3; round++)
            for (int accept = 0; accept < VOUCH_ACCEPTS; accept++)
                for (int hot = 0; hot < 2; hot++) {
                    prompt_fill(prompt, round);
                    vouch_session_options o = options_of(-1, VOUCH_DRAFTER_NONE, hot ? 1 : 0);
                    o.speculation.accept = (vouch_accept)accept;
                    answer_run(&free_text, target, &o, prompt, PROMPT);
                    o = options_of(budgets[b], VOUCH_DRAFTER_NONE, hot ? 1 : 0);
                    o.speculation.accept = (vouch_accept)accept;
                    answer_run(&plain, target, &o, prompt, PROMPT);
                    const int32_t at = closing_at(&plain);
                    if (!strstr(free_text.text, "</think>")) {
                        assert_in_range(at, budgets[b], budgets[b] + 3);
                        assert_int_equal(plain.stats.thought_tokens, at);
                        assert_int_equal(free_text.stats.thought_tokens, LENGTH);
                        assert_memory_equal(plain.tokens, free_text.tokens, (size_t)at * sizeof *plain.tokens);
                        closed++;
                    }
                    for (int set = 0; set < N_SETS; set++) {
                        o = options_of(budgets[b], sets[set], hot ? 1 : 0);
                        o.speculation.accept = (vouch_accept)accept;
                        if (o.speculation.drafters == VOUCH_DRAFTER_AUTO) o.speculation.draft_model = near;
                        answer_run(&other, target, &o, prompt, PROMPT);
                        accepted += other.stats.accepted;
                        const bool reproduces = accept == VOUCH_ACCEPT_MATCH || accept == VOUCH_ACCEPT_COUPLED;
                        if (!hot || reproduces) {
                            assert_true(answer_equal(&plain, &other));
                            assert_int_equal(other.stats.thought_tokens, plain.stats.thought_tokens);
                        } else if (!strstr(other.text, "</think>")) {
                            fail_msg("budget %d is not enforced", budgets[b]);
                        }
                    }
                }
    assert_true(accepted > 1000 && closed > 60);
}

/* The state of a new constraint that has seen nothing but these tokens. */
static uint64_t digest_of(const vouch_thoughts *thoughts, const int32_t *tokens, int32_t n)
{
    vouch_constraint *fresh;
    assert_int_equal(vouch_constraint_open(&fresh, NULL, NULL, thoughts, 600, NULL), VOUCH_OK);
    vouch_constraint_begin(fresh, tokens, PROMPT);
    vouch_constraint_settle(fresh, VOUCH_FOLLOWER_JUDGE, tokens, n);
    const uint64_t digest = vouch_constraint_digest(fresh);
    vouch_constraint_close(fresh);
    return digest;
}

static void rejections_leave_no_trace(void **state)
{
    (void)state;
    int32_t prompt[PROMPT];
    int rejections = 0, differ = 0;
    for (int round = 0; round < 6; round++) {
        const vouch_session_options o = options_of(40, sets[3], 1);
        vouch_session *s = answer_open(target, &o);
        vouch_step step;
        prompt_fill(prompt, round);
        assert_int_equal(vouch_session_prompt(s, prompt, PROMPT, NULL), VOUCH_OK);
        do {
            size_t n;
            assert_int_equal(vouch_session_step(s, &step, NULL), VOUCH_OK);
            const int32_t *tokens = vouch_session_tokens(s, &n);
            const uint64_t digest = vouch_constraint_digest(s->target.constraint);
            assert_true(digest == digest_of(&s->thoughts, tokens, (int32_t)n));
            if (step.n_guesses <= step.n_accepted) continue;
            rejections++;
            /* Shows that the digest would notice a state that a rejected guess had touched. */
            int32_t wrong[PROMPT + LENGTH + 8];
            memcpy(wrong, tokens, n * sizeof *tokens);
            wrong[n] = step.guesses[step.n_accepted].token;
            differ += digest != digest_of(&s->thoughts, wrong, (int32_t)n + 1);
        } while (step.finish == VOUCH_FINISH_NONE);
        vouch_session_close(s);
    }
    assert_true(rejections > 20 && differ > rejections / 4);
}

/* A budget and a grammar: thoughts are closed within the text that the grammar allows. */
static void a_grammar_goes_on_behind_thoughts(void **state)
{
    (void)state;
    static answer plain, other;
    static const char text[] = "root ::= %until \"</think>\" [ \\n]{0,4} (\"left\" | \"right\") \"!\"";
    vouch_grammar *grammar;
    vouch_error err;
    int32_t prompt[PROMPT];
    if (vouch_grammar_open(&grammar, VOUCH_GRAMMAR_GBNF, text, strlen(text), &err)) fail_msg("%s", err.message);
    for (int round = 0; round < 4; round++) {
        prompt_fill(prompt, round);
        vouch_session_options o = options_of(9, VOUCH_DRAFTER_NONE, 0);
        o.grammar = grammar;
        o.ignore_eos = false;
        answer_run(&plain, target, &o, prompt, PROMPT);
        assert_int_equal(plain.finish, VOUCH_FINISH_EOS);
        assert_true(strstr(plain.text, "left!") || strstr(plain.text, "right!"));
        o.speculation.drafters = VOUCH_DRAFTER_GRAMMAR | VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_SUFFIX;
        o.speculation.draft_model = near;
        answer_run(&other, target, &o, prompt, PROMPT);
        assert_true(answer_equal(&plain, &other));
    }
    vouch_grammar_close(grammar);
}

static void options_are_checked(void **state)
{
    (void)state;
    vouch_session *s;
    vouch_error err;
    vouch_session_options o = options_of(-2, VOUCH_DRAFTER_NONE, 0);
    assert_int_equal(vouch_session_open(&s, target, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "thought_budget is -2"));
    const vouch_logit_bias ban = {TINY_THINK_END, -INFINITY};
    o.thought_budget = 3;
    o.sampling.bias = &ban;
    o.sampling.n_bias = 1;
    assert_int_equal(vouch_session_open(&s, target, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "logit_bias bans token 5"));
    const vouch_model_info *info = vouch_model_get_info(target);
    assert_string_equal(info->thoughts_begin, "<think>");
    assert_string_equal(info->thoughts_end, "</think>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_read_off_published_templates),
        cmocka_unit_test(marks_are_read_off_templates),
        cmocka_unit_test(states_follow_the_text),
        cmocka_unit_test(channels_may_come_again),
        cmocka_unit_test(the_budget_is_exact),
        cmocka_unit_test(rejections_leave_no_trace),
        cmocka_unit_test(a_grammar_goes_on_behind_thoughts),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, models_open, models_close);
}
