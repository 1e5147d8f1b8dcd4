/* SPDX-License-Identifier: MIT */
/* Sessions with a grammar. Law L2: the same text with every drafter, and always a text of the grammar. Law L3: after
 * each step the grammar's state is the state that the committed tokens alone give. */
#include <string.h>

#include "engine/file/model.h"
#include "engine/session.h"
#include "support/decode/answer.h"
#include "support/decode/grammar.h"
#include "support/model/tiny_vocab.h"

enum { PROMPT = 16, LENGTH = 60 };

static vouch_model *target, *near;

static int models_open(void **state)
{
    (void)state;
    tiny_model_options options = {.seed = 5, .n_vocab = 600};
    target = tiny_model_open(&options);
    options.noise = 0.03f;
    near = tiny_model_open(&options);
    return 0;
}

static int models_close(void **state)
{
    (void)state;
    vouch_model_close(target);
    vouch_model_close(near);
    return 0;
}

static const struct {
    vouch_grammar_kind kind;
    const char *text;
} grammars[] = {
    {VOUCH_GRAMMAR_JSON, NULL},
    {VOUCH_GRAMMAR_JSON_SCHEMA,
     "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\", \"maxLength\": 12}, "
     "\"ages\": {\"type\": \"array\", \"items\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 120}, "
     "\"maxItems\": 4}, \"kind\": {\"enum\": [\"left\", \"right\"]}}, \"required\": [\"name\", \"ages\", \"kind\"], "
     "\"additionalProperties\": false}"},
    {VOUCH_GRAMMAR_GBNF, "root ::= sum\nsum ::= item (\" \" [-+] \" \" item)*\nitem ::= [0-9]{1,3} | \"(\" sum \")\""},
    {VOUCH_GRAMMAR_GBNF, "root ::= (\"the \" | \"they \" | [\\u4e00-\\u9fff] | \"\xf0\x9f\x98\x80\")+ \"!\""},
    {VOUCH_GRAMMAR_GBNF, "root ::= %until \"e\" %json {\"type\": \"array\", \"items\": {\"enum\": [\"left\", 2]}}"},
};
enum { N_GRAMMARS = sizeof grammars / sizeof grammars[0] };

static const char names_a_token[] = "root ::= [a-z]{1,3} (%token \"<|im_start|>\" [0-9]){2,3}";

static vouch_session_options options_of(const vouch_grammar *grammar, unsigned drafters, float temperature)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = PROMPT + LENGTH + 8;
    o.n_threads = 1;
    o.max_tokens = LENGTH;
    o.grammar = grammar;
    o.sampling.temperature = temperature;
    o.sampling.seed = 3;
    o.speculation.drafters = drafters;
    o.speculation.n_draft = drafters == VOUCH_DRAFTER_NONE ? 0 : 5;
    if (drafters & VOUCH_DRAFTER_MODEL) o.speculation.draft_model = near;
    return o;
}

static verdict verdict_of(const vouch_grammar *grammar, const answer *a)
{
    vouch_automaton *automaton = grammar_automaton(grammar);
    const verdict found = grammar_follow(automaton, a->text, a->n_text);
    grammar_close_automaton(automaton);
    return found;
}

/* An answer that ended by itself is a text of the grammar, and any other one the beginning of such a text. A character
 * that the limit has cut off leaves U+FFFD, which the grammar need not have. */
static void check_text(const vouch_grammar *grammar, const answer *a)
{
    const verdict found = verdict_of(grammar, a);
    if (a->finish == VOUCH_FINISH_EOS) assert_int_equal(found, ACCEPTED);
    else if (!strstr(a->text, "\xef\xbf\xbd")) assert_int_not_equal(found, REFUSED);
}

static const unsigned sets[] = {
    VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE | VOUCH_DRAFTER_GRAMMAR, VOUCH_DRAFTER_MODEL,
    VOUCH_DRAFTER_GRAMMAR | VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_RECYCLE | VOUCH_DRAFTER_SUFFIX};
enum { N_SETS = sizeof sets / sizeof sets[0] };

/* Forced text is guessed: fewer cycles for the same text, and the drafter's guesses are mostly right. */
static void test_forced_text_is_guessed(void **state)
{
    (void)state;
    static answer plain, other;
    int32_t prompt[PROMPT];
    int64_t tokens = 0, cycles = 0, drafted = 0, accepted = 0;
    vouch_grammar *grammar =
        grammar_open(VOUCH_GRAMMAR_JSON_SCHEMA,
                     "{\"type\": \"object\", \"properties\": {\"large model\": {\"type\": \"boolean\"}, "
                     "\"small model\": {\"type\": \"boolean\"}}, \"required\": [\"large model\", \"small model\"], "
                     "\"additionalProperties\": false}");
    for (int round = 0; round < 6; round++) {
        answer_prompt(prompt, PROMPT, 600, (uint64_t)round, true);
        vouch_session_options o = options_of(grammar, VOUCH_DRAFTER_NONE, 0);
        answer_run(&plain, target, &o, prompt, PROMPT);
        o = options_of(grammar, VOUCH_DRAFTER_GRAMMAR, 0);
        answer_run(&other, target, &o, prompt, PROMPT);
        assert_true(answer_equal(&plain, &other));
        tokens += other.n;
        cycles += other.stats.cycles;
        drafted += other.stats.drafted_by[VOUCH_DRAFTER_NUMBER_GRAMMAR];
        accepted += other.stats.accepted_by[VOUCH_DRAFTER_NUMBER_GRAMMAR];
    }
    assert_true(drafted > 20 && accepted > 10 && cycles < tokens);
    vouch_grammar_close(grammar);
}

/* AUTO has the drafter where there is a grammar. Without a grammar it guesses nothing. */
static void test_drafter_needs_a_grammar(void **state)
{
    (void)state;
    static answer plain;
    int32_t prompt[PROMPT];
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_JSON, NULL);
    vouch_session_options o = options_of(grammar, VOUCH_DRAFTER_AUTO, 0);
    vouch_session *s = answer_open(target, &o);
    assert_non_null(strstr(vouch_session_drafter(s), "grammar"));
    vouch_session_close(s);
    o = options_of(NULL, VOUCH_DRAFTER_AUTO, 0);
    s = answer_open(target, &o);
    assert_null(strstr(vouch_session_drafter(s), "grammar"));
    vouch_session_close(s);
    answer_prompt(prompt, PROMPT, 600, 0, true);
    o = options_of(NULL, VOUCH_DRAFTER_GRAMMAR, 0);
    answer_run(&plain, target, &o, prompt, PROMPT);
    assert_int_equal(plain.stats.drafted, 0);
    vouch_grammar_close(grammar);
}

static void test_same_text_with_every_drafter(void **state)
{
    (void)state;
    static answer plain, other;
    int32_t prompt[PROMPT];
    int64_t accepted = 0, drafted = 0;
    int ended = 0;
    for (int g = 0; g < N_GRAMMARS; g++) {
        vouch_grammar *grammar = grammar_open(grammars[g].kind, grammars[g].text);
        for (int round = 0; round < 4; round++)
            for (int accept = 0; accept < VOUCH_ACCEPTS; accept++)
                for (int hot = 0; hot < 2; hot++) {
                    answer_prompt(prompt, PROMPT, 600, (uint64_t)round, true);
                    vouch_session_options o = options_of(grammar, VOUCH_DRAFTER_NONE, hot ? 1 : 0);
                    o.speculation.accept = (vouch_accept)accept;
                    answer_run(&plain, target, &o, prompt, PROMPT);
                    check_text(grammar, &plain);
                    ended += plain.finish == VOUCH_FINISH_EOS;
                    for (int set = 0; set < N_SETS; set++) {
                        o = options_of(grammar, sets[set], hot ? 1 : 0);
                        o.speculation.accept = (vouch_accept)accept;
                        answer_run(&other, target, &o, prompt, PROMPT);
                        check_text(grammar, &other);
                        accepted += other.stats.accepted;
                        drafted += other.stats.drafted;
                        const bool reproduces = accept == VOUCH_ACCEPT_MATCH || accept == VOUCH_ACCEPT_COUPLED;
                        if (!hot || reproduces) assert_true(answer_equal(&plain, &other));
                    }
                }
        vouch_grammar_close(grammar);
    }
    assert_true(accepted > drafted / 10 && accepted < drafted);
    assert_true(ended > 10);
}

/* The state of a new constraint that has seen nothing but these tokens. */
static uint64_t digest_of(const vouch_grammar *grammar, const int32_t *tokens, int32_t n)
{
    const vouch_trie *trie;
    vouch_constraint *fresh;
    assert_int_equal(vouch_model_trie(&trie, target, NULL), VOUCH_OK);
    assert_int_equal(vouch_constraint_open(&fresh, grammar, trie, NULL, trie->n_vocab, NULL), VOUCH_OK);
    vouch_constraint_begin(fresh, tokens, PROMPT);
    vouch_constraint_settle(fresh, VOUCH_FOLLOWER_JUDGE, tokens, n);
    const uint64_t digest = vouch_constraint_digest(fresh);
    vouch_constraint_close(fresh);
    return digest;
}

static void test_rejections_leave_no_trace(void **state)
{
    (void)state;
    int32_t prompt[PROMPT];
    int rejections = 0, differ = 0;
    for (int g = 0; g < N_GRAMMARS; g++) {
        vouch_grammar *grammar = grammar_open(grammars[g].kind, grammars[g].text);
        const vouch_session_options o = options_of(grammar, sets[2], 1);
        vouch_session *s = answer_open(target, &o);
        for (int round = 0; round < 2; round++) {
            vouch_step step;
            answer_prompt(prompt, PROMPT, 600, (uint64_t)round, true);
            assert_int_equal(vouch_session_prompt(s, prompt, PROMPT, NULL), VOUCH_OK);
            do {
                size_t n;
                assert_int_equal(vouch_session_step(s, &step, NULL), VOUCH_OK);
                const int32_t *tokens = vouch_session_tokens(s, &n);
                const uint64_t digest = vouch_constraint_digest(s->target.constraint);
                assert_true(digest == digest_of(grammar, tokens, (int32_t)n));
                if (step.n_guesses <= step.n_accepted) continue;
                rejections++;
                /* Shows that the digest would notice a state that a rejected guess had touched. */
                int32_t wrong[PROMPT + LENGTH + 8];
                memcpy(wrong, tokens, n * sizeof *tokens);
                wrong[n] = step.guesses[step.n_accepted].token;
                differ += digest != digest_of(grammar, wrong, (int32_t)n + 1);
            } while (step.finish == VOUCH_FINISH_NONE);
        }
        vouch_session_close(s);
        vouch_grammar_close(grammar);
    }
    assert_true(rejections > 20 && differ > rejections / 2);
}

/* Without the mask the same model leaves the grammar at once, so the tests above can fail. */
static void test_an_answer_without_the_grammar_is_refused(void **state)
{
    (void)state;
    static answer plain;
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, 600, 0, true);
    vouch_grammar *grammar = grammar_open(grammars[1].kind, grammars[1].text);
    const vouch_session_options o = options_of(NULL, VOUCH_DRAFTER_NONE, 0);
    answer_run(&plain, target, &o, prompt, PROMPT);
    assert_int_equal(verdict_of(grammar, &plain), REFUSED);
    vouch_grammar_close(grammar);
}

/* A mask decides on whole subtrees of the vocabulary at once. It must equal the answers for each token by itself. */
static void test_masks_are_what_single_tokens_give(void **state)
{
    (void)state;
    const vouch_trie *trie;
    test_random random = {4};
    int allowed = 0;
    assert_int_equal(vouch_model_trie(&trie, target, NULL), VOUCH_OK);
    for (int g = 0; g <= N_GRAMMARS; g++) {
        vouch_grammar *grammar = g < N_GRAMMARS ? grammar_open(grammars[g].kind, grammars[g].text)
                                                : grammar_open(VOUCH_GRAMMAR_GBNF, names_a_token);
        vouch_constraint *c;
        int32_t path[PROMPT + LENGTH];
        assert_int_equal(vouch_constraint_open(&c, grammar, trie, NULL, trie->n_vocab, NULL), VOUCH_OK);
        vouch_constraint_begin(c, NULL, 0);
        for (int32_t n = 0; n < LENGTH; n++) {
            uint64_t copy[10];
            int32_t choices[600], n_choices = 0;
            const uint64_t *mask;
            assert_true(vouch_constraint_mask(c, VOUCH_FOLLOWER_MODEL, path, n, &mask));
            assert_non_null(mask);
            memcpy(copy, mask, sizeof copy);
            for (int32_t x = 0; x < 600; x++) {
                path[n] = x;
                const bool single = vouch_constraint_allows(c, VOUCH_FOLLOWER_MODEL, path, n + 1);
                assert_true((copy[x / 64] >> x % 64 & 1) == single);
                if (single && x != TINY_ENDOFTEXT && x != TINY_IM_END) choices[n_choices++] = x;
            }
            allowed += n_choices;
            if (n_choices == 0) break;
            path[n] = choices[test_below(&random, (uint32_t)n_choices)];
        }
        vouch_constraint_close(c);
        vouch_grammar_close(grammar);
    }
    assert_true(allowed > 10000);
}

/* A grammar may name control tokens, which have no text. They come where it names them and nowhere else, with the same
 * tokens under every drafter. */
static void test_control_tokens_are_named(void **state)
{
    (void)state;
    static answer plain, other;
    int32_t prompt[PROMPT];
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, names_a_token);
    for (int round = 0; round < 4; round++) {
        answer_prompt(prompt, PROMPT, 600, (uint64_t)round, true);
        vouch_session_options o = options_of(grammar, VOUCH_DRAFTER_NONE, (float)(round % 2));
        o.speculation.accept = VOUCH_ACCEPT_MATCH;
        answer_run(&plain, target, &o, prompt, PROMPT);
        int32_t n_named = 0;
        for (int32_t i = 0; i < plain.n; i++) n_named += plain.tokens[i] == TINY_IM_START;
        assert_true(plain.finish == VOUCH_FINISH_EOS && n_named >= 2 && n_named <= 3);
        assert_int_equal(strcspn(plain.text, "0123456789"), plain.n_text - (size_t)n_named);
        for (int i = 0; i < N_SETS; i++) {
            o = options_of(grammar, sets[i], (float)(round % 2));
            o.speculation.accept = VOUCH_ACCEPT_MATCH;
            answer_run(&other, target, &o, prompt, PROMPT);
            assert_true(answer_equal(&plain, &other));
        }
    }
    vouch_grammar_close(grammar);
}

/* p has no mass on tokens that the grammar forbids, and EOS only where a text may end. */
static void test_probabilities_are_masked(void **state)
{
    (void)state;
    int32_t prompt[PROMPT];
    static float p[3 * 600];
    vouch_step step;
    answer_prompt(prompt, PROMPT, 600, 0, true);
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, "root ::= \"x\" [yz]?");
    const vouch_session_options o = options_of(grammar, VOUCH_DRAFTER_NONE, 1);
    vouch_session *s = answer_open(target, &o);
    assert_int_equal(vouch_session_prompt(s, prompt, PROMPT, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_step(s, &step, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_probabilities(s, PROMPT - 2, 3, p, NULL), VOUCH_OK);
    for (int row = 0; row < 3; row++) {
        double sum = 0;
        for (int32_t x = 0; x < 600; x++) {
            size_t n;
            const char *bytes = vouch_token_bytes(target, x, &n);
            const bool special = vouch_token_is_special(target, x);
            const bool is_pair = n == 2 && (bytes[1] == 'y' || bytes[1] == 'z');
            const bool is_x = !special && bytes[0] == 'x' && (n == 1 || is_pair);
            const bool is_end = x == TINY_ENDOFTEXT || x == TINY_IM_END || (n == 1 && (*bytes == 'y' || *bytes == 'z'));
            const float of_x = p[(size_t)row * 600 + (size_t)x];
            sum += (double)of_x;
            if (row == 1 && !is_x) assert_true(of_x == 0);
            if (row == 2 && step.tokens[0] == TINY_BYTES + 'x') assert_true((of_x > 0) == is_end);
        }
        assert_float_equal(sum, 1, 1e-4);
    }
    vouch_session_close(s);
    vouch_grammar_close(grammar);
}

static void test_grammars_that_a_model_cannot_follow(void **state)
{
    (void)state;
    vouch_error err = {0};
    vouch_session *s;
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, "root ::= \"x\"");
    vouch_session_options o = options_of(grammar, VOUCH_DRAFTER_NONE, 1);
    vouch_model *bare = tiny_model_open(&(tiny_model_options){.n_vocab = 24});
    assert_int_equal(vouch_session_open(&s, bare, &o, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "needs a tokenizer"));
    vouch_model_close(bare);
    /* A name that only a control token has. */
    vouch_grammar *foreign = grammar_open(VOUCH_GRAMMAR_GBNF, "root ::= %token \"<think>\"");
    o.grammar = foreign;
    assert_int_equal(vouch_session_open(&s, target, &o, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no control token of this name"));
    vouch_grammar_close(foreign);
    o.grammar = grammar;
    /* A bias that bans the only token that the grammar allows. */
    const vouch_logit_bias ban = {TINY_BYTES + 'x', -1.0f / 0.0f};
    o.sampling.bias = &ban;
    o.sampling.n_bias = 1;
    s = answer_open(target, &o);
    vouch_step step;
    assert_int_equal(vouch_session_prompt(s, (const int32_t[]){7, 8}, 2, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_step(s, &step, &err), VOUCH_E_GRAMMAR);
    assert_non_null(strstr(err.message, "logit_bias"));
    vouch_session_close(s);
    vouch_grammar_close(grammar);
}

/* Law L7: sessions of one engine, each with its own grammar, give the bytes that they give alone. */
static void test_same_text_in_an_engine(void **state)
{
    (void)state;
    static answer alone[N_GRAMMARS];
    vouch_grammar *opened[N_GRAMMARS];
    vouch_session *sessions[N_GRAMMARS];
    vouch_engine *engine;
    int32_t prompt[PROMPT];
    size_t n_text[N_GRAMMARS] = {0}, n_events;
    const vouch_engine_event *events;
    vouch_engine_options eo = vouch_engine_options_default();
    eo.n_ctx = PROMPT + LENGTH + 8;
    eo.n_threads = 1;
    assert_int_equal(vouch_engine_open(&engine, target, &eo, NULL), VOUCH_OK);
    answer_prompt(prompt, PROMPT, 600, 1, true);
    for (int g = 0; g < N_GRAMMARS; g++) {
        opened[g] = grammar_open(grammars[g].kind, grammars[g].text);
        vouch_session_options o = options_of(opened[g], VOUCH_DRAFTER_AUTO, 0.8f);
        o.speculation.accept = VOUCH_ACCEPT_MATCH;
        answer_run(&alone[g], target, &o, prompt, PROMPT);
        assert_int_equal(vouch_engine_session_open(&sessions[g], engine, &o, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_prompt(sessions[g], prompt, PROMPT, NULL), VOUCH_OK);
    }
    while (vouch_engine_step(engine, &events, &n_events))
        for (size_t i = 0; i < n_events; i++)
            for (int g = 0; g < N_GRAMMARS; g++) {
                if (events[i].session != sessions[g]) continue;
                assert_int_equal(events[i].status, VOUCH_OK);
                assert_true(n_text[g] + events[i].step.n_text <= alone[g].n_text);
                assert_memory_equal(alone[g].text + n_text[g], events[i].step.text, events[i].step.n_text);
                n_text[g] += events[i].step.n_text;
            }
    for (int g = 0; g < N_GRAMMARS; g++) {
        assert_int_equal(n_text[g], alone[g].n_text);
        vouch_session_close(sessions[g]);
        vouch_grammar_close(opened[g]);
    }
    vouch_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_text_with_every_drafter),
        cmocka_unit_test(test_forced_text_is_guessed),
        cmocka_unit_test(test_drafter_needs_a_grammar),
        cmocka_unit_test(test_rejections_leave_no_trace),
        cmocka_unit_test(test_an_answer_without_the_grammar_is_refused),
        cmocka_unit_test(test_masks_are_what_single_tokens_give),
        cmocka_unit_test(test_probabilities_are_masked),
        cmocka_unit_test(test_control_tokens_are_named),
        cmocka_unit_test(test_grammars_that_a_model_cannot_follow),
        cmocka_unit_test(test_same_text_in_an_engine),
    };
    return cmocka_run_group_tests_name("grammar_session", tests, models_open, models_close);
}
