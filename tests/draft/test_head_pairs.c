/* SPDX-License-Identifier: MIT */
/*
 * Laws L2 and L3 with every kind of head, alone, beside each free drafter, and beside all of them: chains and trees,
 * under each rule. Greedy text, and sampled text under match and coupled, is that of plain decoding, and so are the
 * target's keys and values after each answer.
 *
 * `test_head_pairs --answers N` compares at least N answers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/judge.h"
#include "engine/session.h"
#include "model/head/draft_table.h"
#include "support/decode/grammar.h"
#include "support/head/head_kinds.h"

enum { PROMPT = 20, LENGTH = 32, N_VOCAB = 400, ROUNDS = 2 };

/* The text that the grammar drafter finishes. */
static const char grammar_text[] = "root ::= (\"name: \" [a-z] [a-z] \", age: \" [1-9] [0-9] \"; \")*";

/* ------------------------------------------------------------------- settings */

typedef struct setting {
    vouch_accept rule;
    bool is_sampled;
    int32_t branches, n_draft;
} setting;

static const setting settings[] = {
    {VOUCH_ACCEPT_REJECTION, false, 1, 4}, {VOUCH_ACCEPT_REJECTION, false, 3, 8}, {VOUCH_ACCEPT_MATCH, false, 1, 6},
    {VOUCH_ACCEPT_MATCH, false, 4, 12},    {VOUCH_ACCEPT_BLOCK, false, 1, 5},     {VOUCH_ACCEPT_COUPLED, false, 1, 3},
    {VOUCH_ACCEPT_COUPLED, false, 2, 7},   {VOUCH_ACCEPT_MATCH, true, 1, 4},      {VOUCH_ACCEPT_MATCH, true, 3, 9},
    {VOUCH_ACCEPT_COUPLED, true, 1, 5},    {VOUCH_ACCEPT_COUPLED, true, 2, 6},
};
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

/* Sets of free drafters: none, each of them, all. */
static int list_companies(unsigned companies[VOUCH_DRAFTERS + 2])
{
    unsigned all = 0;
    int n = 0;
    companies[n++] = 0;
    for (int i = VOUCH_DRAFTER_NUMBER_NONE + 1; i < VOUCH_DRAFTER_NUMBER_CUSTOM; i++) {
        if (vouch_drafter_get_info(i).is_paid) continue;
        companies[n++] = 1U << i;
        all |= 1U << i;
    }
    companies[n++] = all;
    return n;
}

static vouch_session_options options_of(const setting *s, unsigned company, const vouch_draft_file *head,
                                        const vouch_grammar *grammar, uint64_t seed)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = PROMPT + LENGTH;
    o.max_tokens = LENGTH;
    o.ignore_eos = true;
    o.n_threads = 1;
    o.prefill_chunk = 1 + 6 * (int32_t)(seed % 4);
    o.sampling.temperature = s->is_sampled ? 0.8f : 0;
    o.sampling.top_p = seed % 3 ? 1 : 0.9f;
    o.sampling.repeat_penalty = seed % 5 ? 1 : 1.2f;
    o.sampling.seed = seed;
    o.speculation.accept = s->rule;
    o.speculation.tree_branches = s->branches;
    o.speculation.n_draft = s->n_draft;
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
    o.speculation.drafters = VOUCH_DRAFTER_HEAD | company;
    o.grammar = company & VOUCH_DRAFTER_GRAMMAR ? grammar : NULL;
    return o;
}

/* A table with two tokens after each token. */
static vouch_draft_file table_of(const vouch_model *target)
{
    static vouch_table_context contexts[N_VOCAB];
    static int32_t starts[N_VOCAB + 1], tokens[2 * N_VOCAB];
    static uint16_t shares[2 * N_VOCAB];
    static vouch_table_rows rows = {N_VOCAB, 2 * N_VOCAB, contexts, starts, tokens, shares};
    for (int32_t t = 0; t < N_VOCAB; t++) {
        contexts[t] = (vouch_table_context){{t, -1, -1}};
        starts[t + 1] = 2 * (t + 1);
        for (int i = 0; i < 2; i++) {
            tokens[2 * t + i] = (7 * t + 3 + i) % N_VOCAB;
            shares[2 * t + i] = vouch_float_to_half(0.25f);
        }
    }
    return (vouch_draft_file){.drafter = VOUCH_DRAFTER_NUMBER_TABLE, .target = target, .content = &rows};
}

/* -------------------------------------------------------------------- answers */

static uint64_t trace_of(const vouch_session *session)
{
    return vouch_memory_digest(vouch_session_target(session));
}

/* Answers two prompts with the head and without it. The second prompt shares a beginning with the first, so target and
 * head go back. Returns how many answers differ in text or memory. */
static int count_differences(const vouch_model *target, const vouch_session_options *o, uint64_t seed,
                             int64_t *n_drafted)
{
    static const char prediction[] = "the answer is the answer is the answer";
    static answer with, without;
    int32_t prompt[PROMPT];
    int n = 0;
    vouch_session_options none = *o;
    none.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_session *one = answer_open(target, o), *other = answer_open(target, &none);
    if (o->speculation.drafters & VOUCH_DRAFTER_PREDICTION)
        assert_int_equal(vouch_session_predict(one, prediction, sizeof prediction - 1, NULL), VOUCH_OK);
    answer_prompt(prompt, PROMPT, N_VOCAB, seed, true);
    for (int round = 0; round < ROUNDS; round++) {
        prompt[PROMPT - 3] ^= round;
        vouch_session_set_seed(one, seed);
        vouch_session_set_seed(other, seed);
        answer_continue(&with, one, prompt, PROMPT);
        answer_continue(&without, other, prompt, PROMPT);
        n += !answer_equal(&with, &without) || trace_of(one) != trace_of(other);
    }
    *n_drafted += with.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD];
    vouch_session_close(one);
    vouch_session_close(other);
    return n;
}

/* Compares every `step`-th combination of kind, company and setting, `repeats` times. */
static void compare_answers(int step, int repeats)
{
    unsigned companies[VOUCH_DRAFTERS + 2];
    const int n_companies = list_companies(companies);
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, grammar_text);
    int n_answers = 0, n_different = 0, number = 0;
    for (int kind = 0; kind < N_HEAD_KINDS; kind++) {
        head_pair pair = head_pair_open(kind, N_VOCAB, (uint64_t)kind);
        const vouch_draft_file table = table_of(pair.target);
        vouch_draft_memory *memory;
        assert_int_equal(vouch_draft_memory_open(&memory, pair.target, NULL, 1 << 16, NULL), VOUCH_OK);
        int64_t n_drafted = 0;
        for (int c = 0; c < n_companies; c++)
            for (int s = 0; s < N_SETTINGS; s++) {
                if (number++ % step) continue;
                for (int i = 0; i < repeats; i++) {
                    const uint64_t seed = (uint64_t)(number + 1000 * i);
                    vouch_session_options o = options_of(&settings[s], companies[c], pair.head, grammar, seed);
                    o.speculation.files[VOUCH_DRAFTER_NUMBER_TABLE] =
                        companies[c] & VOUCH_DRAFTER_TABLE ? &table : NULL;
                    o.speculation.draft_memory = companies[c] & VOUCH_DRAFTER_HISTORY ? memory : NULL;
                    const int n = count_differences(pair.target, &o, seed, &n_drafted);
                    n_answers += ROUNDS;
                    n_different += n;
                    if (n > 0)
                        print_message("%s, drafters %x, rule %s, %s, branches %d, seed %llu: %d answers differ\n",
                                      head_kind_names[kind], o.speculation.drafters,
                                      vouch_accept_name(settings[s].rule),
                                      settings[s].is_sampled ? "sampled" : "greedy", settings[s].branches,
                                      (unsigned long long)seed, n);
                }
            }
        if (n_drafted == 0) fail_msg("%s never guesses", head_kind_names[kind]);
        vouch_draft_memory_close(memory);
        head_pair_close(&pair);
    }
    vouch_grammar_close(grammar);
    print_message("%d answers, %d differ\n", n_answers, n_different);
    assert_int_equal(n_different, 0);
}

static int n_wanted; /* answers; 0: the usual number */

static void answers_are_those_of_plain_decoding(void **state)
{
    (void)state;
    test_skip_slow();
    unsigned companies[VOUCH_DRAFTERS + 2];
    const int n_all = N_HEAD_KINDS * list_companies(companies) * N_SETTINGS * ROUNDS;
    compare_answers(n_wanted ? 1 : test_is_quick() ? 3 : 1, (n_wanted + n_all - 1) / n_all + (n_wanted == 0));
}

/* ---------------------------------------------------------------- broken laws */

/* A rule that accepts the first guess of every chain, and no other. */
static vouch_status accept_first(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    const vouch_dist *p;
    const vouch_status status = vouch_rule_get(VOUCH_ACCEPT_MATCH)->judge(out, guesses, trial);
    if (status != VOUCH_OK || out->n_accepted > 0 || trial->draft->n == 0) return status;
    guesses[0].verdict = VOUCH_ACCEPTED;
    out->n_accepted = 1;
    out->path[0] = 0;
    out->origin = trial->draft->n > 1 ? VOUCH_ORIGIN_RESIDUAL : VOUCH_ORIGIN_BONUS;
    if (trial->draft->n > 1) guesses[1] = (vouch_guess){.token = guesses[1].token, .parent = 0, .u = NAN};
    if (trial->draft->n > 1) guesses[1].verdict = VOUCH_REJECTED;
    return trial->row_p(trial->row_self, 1, 1, &p);
}

/* The test above can fail: a wrong rule changes the text, and a rollback that leaves a trace changes the memory. */
static void broken_laws_are_noticed(void **state)
{
    (void)state;
    static answer wrong, right;
    vouch_rule rule = *vouch_rule_get(VOUCH_ACCEPT_MATCH);
    rule.judge = accept_first;
    for (int kind = 0; kind < N_HEAD_KINDS; kind++) {
        head_pair pair = head_pair_open(kind, N_VOCAB, (uint64_t)kind);
        const setting chain = {VOUCH_ACCEPT_MATCH, false, 1, 4};
        const vouch_session_options o = options_of(&chain, 0, pair.head, NULL, 1);
        int32_t prompt[PROMPT];
        vouch_step step;
        vouch_session *session = answer_open(pair.target, &o);
        answer_prompt(prompt, PROMPT, N_VOCAB, 1, true);
        answer_continue(&right, session, prompt, PROMPT);
        const uint64_t trace = trace_of(session);
        session->cycle.rule = &rule;
        answer_continue(&wrong, session, prompt, PROMPT);
        assert_false(answer_equal(&wrong, &right));
        session->cycle.rule = vouch_rule_get(VOUCH_ACCEPT_MATCH);
        assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        vouch_memory_move_slot(session->target.memory, PROMPT - 1, PROMPT - 2);
        memset(&wrong, 0, sizeof wrong);
        answer_finish(&wrong, session);
        assert_true(trace_of(session) != trace);
        vouch_session_close(session);
        head_pair_close(&pair);
    }
}

/* A session has one paid drafter: a head or a draft model. */
static void a_head_excludes_a_draft_model(void **state)
{
    (void)state;
    head_pair pair = head_pair_open(LINEAR_HEAD, N_VOCAB, 0);
    vouch_session_options o = options_of(&settings[0], VOUCH_DRAFTER_MODEL, pair.head, NULL, 1);
    vouch_session *session;
    vouch_error err;
    o.speculation.draft_model = pair.target;
    assert_int_equal(vouch_session_open(&session, pair.target, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "expected one of them at most"));
    head_pair_close(&pair);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_plain_decoding),
        cmocka_unit_test(broken_laws_are_noticed),
        cmocka_unit_test(a_head_excludes_a_draft_model),
    };
    if (argc == 3 && strcmp(argv[1], "--answers") == 0) n_wanted = atoi(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
