/* SPDX-License-Identifier: MIT */
#include "support/decode/answer.h"

#include <math.h>
#include <string.h>

vouch_model *tiny_model_open(const tiny_model_options *options)
{
    const char *path = test_temporary("tiny.gguf");
    vouch_model *model;
    vouch_error err;
    tiny_model_write(path, options);
    if (vouch_model_open(&model, path, NULL, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return model;
}

void answer_prompt(int32_t *tokens, int32_t n, int32_t n_vocab, uint64_t seed, bool repeats)
{
    test_random random = {seed};
    for (int32_t i = 0; i < n; i++)
        tokens[i] = repeats && i >= n / 2 ? tokens[i - n / 2] : (int32_t)test_below(&random, (uint32_t)n_vocab);
}

vouch_session *answer_open(const vouch_model *model, const vouch_session_options *options)
{
    vouch_session *session;
    vouch_error err;
    if (vouch_session_open(&session, model, options, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return session;
}

/* Checks that the numbers of one step are consistent. */
static void check_step(const vouch_step *step)
{
    assert_in_range(step->n_tokens, 1, VOUCH_MAX_DRAFT + 1);
    assert_in_range(step->n_accepted, 0, step->n_guesses);
    const bool cut = step->last == VOUCH_ORIGIN_ACCEPTED;
    assert_int_equal(step->n_tokens, step->n_accepted + !cut);
    assert_true(!cut || step->finish != VOUCH_FINISH_NONE);
    assert_int_equal(step->last == VOUCH_ORIGIN_PLAIN, step->n_guesses == 0);
    int32_t last = -1, n_accepted = 0, n_rejected = 0;
    for (int32_t i = 0; i < step->n_guesses; i++) {
        const vouch_guess *guess = &step->guesses[i];
        const bool reached = guess->verdict != VOUCH_NOT_REACHED;
        assert_in_range(guess->parent + 1, 0, i);
        assert_int_equal(guess->depth, guess->parent < 0 ? 0 : step->guesses[guess->parent].depth + 1);
        if (reached && guess->parent >= 0) assert_int_equal(step->guesses[guess->parent].verdict, VOUCH_ACCEPTED);
        const bool by_number = !vouch_accept_get_info((int)step->accept).seed_reproduces;
        if (reached && !by_number) assert_true(isnan(guess->u));
        if (reached && !isnan(guess->u)) assert_int_equal(guess->verdict == VOUCH_ACCEPTED, guess->u < guess->accept);
        n_rejected += guess->verdict == VOUCH_REJECTED && guess->depth == step->n_accepted;
        if (guess->verdict != VOUCH_ACCEPTED) continue;
        assert_int_equal(guess->token, step->tokens[n_accepted++]);
        last = i;
    }
    assert_int_equal(n_accepted, step->n_accepted);
    if (step->last == VOUCH_ORIGIN_RESIDUAL) assert_true(n_rejected > 0);
    for (int32_t i = 0; i < step->n_guesses && step->last == VOUCH_ORIGIN_BONUS; i++)
        assert_int_not_equal(step->guesses[i].parent, last);
}

static void check_stats(const vouch_stats *s)
{
    int64_t drafted = 0, accepted = 0, cycles = 0, by_depth = 0;
    for (int i = 0; i < VOUCH_MAX_DRAFT; i++) {
        drafted += s->drafted_at[i];
        accepted += s->accepted_at[i];
    }
    for (int i = 0; i < VOUCH_DEPTHS; i++) {
        cycles += s->depth_histogram[i];
        by_depth += i * s->depth_histogram[i];
    }
    assert_int_equal(drafted, s->drafted);
    assert_int_equal(by_depth, s->drafted);
    assert_int_equal(accepted, s->accepted);
    assert_int_equal(cycles, s->cycles);
    assert_int_equal(s->draft_cycles, s->cycles - s->depth_histogram[0]);
    assert_true(s->full_accepts <= s->draft_cycles && s->judged <= s->drafted);
}

void answer_finish(answer *out, vouch_session *session)
{
    vouch_step step;
    vouch_error err;
    do {
        if (vouch_session_step(session, &step, &err) != VOUCH_OK) fail_msg("%s", err.message);
        check_step(&step);
        assert_true(out->n + step.n_tokens <= ANSWER_MAX);
        assert_true(out->n_text + step.n_text <= sizeof out->text);
        memcpy(out->tokens + out->n, step.tokens, (size_t)step.n_tokens * sizeof *step.tokens);
        if (step.n_text) memcpy(out->text + out->n_text, step.text, step.n_text);
        out->n += step.n_tokens;
        out->n_text += step.n_text;
    } while (step.finish == VOUCH_FINISH_NONE);
    out->finish = step.finish;
    out->last = step.last;
    out->stats = *vouch_session_stats(session);
    check_stats(&out->stats);
}

void answer_continue(answer *out, vouch_session *session, const int32_t *prompt, int32_t n_prompt)
{
    vouch_error err;
    memset(out, 0, sizeof *out);
    if (vouch_session_prompt(session, prompt, (size_t)n_prompt, &err) != VOUCH_OK) fail_msg("%s", err.message);
    answer_finish(out, session);
    size_t n;
    const int32_t *tokens = vouch_session_tokens(session, &n);
    assert_int_equal(n, n_prompt + out->n);
    assert_memory_equal(tokens, prompt, (size_t)n_prompt * sizeof *prompt);
    assert_memory_equal(tokens + n_prompt, out->tokens, (size_t)out->n * sizeof *tokens);
}

void answer_run(answer *out, const vouch_model *model, const vouch_session_options *options, const int32_t *prompt,
                int32_t n_prompt)
{
    vouch_session *session = answer_open(model, options);
    answer_continue(out, session, prompt, n_prompt);
    assert_int_equal(out->stats.generated_tokens, out->n);
    vouch_session_close(session);
}

bool answer_equal(const answer *a, const answer *b)
{
    return a->n == b->n && a->n_text == b->n_text && a->finish == b->finish &&
           memcmp(a->tokens, b->tokens, (size_t)a->n * sizeof *a->tokens) == 0 &&
           memcmp(a->text, b->text, a->n_text) == 0;
}

/* ---------------------------------------------------------------- drafters */

static int32_t oracle_propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    oracle *o = user;
    (void)tokens;
    for (int32_t i = 0; i < k; i++) {
        const int32_t right = n_tokens + i < o->n ? o->tokens[n_tokens + i] : 0;
        const bool errs = test_below(&o->random, 100) < o->error_percent;
        guesses[i] =
            errs ? (right + 1 + (int32_t)test_below(&o->random, (uint32_t)o->n_vocab - 1)) % o->n_vocab : right;
    }
    return k;
}

vouch_drafter oracle_drafter(oracle *o)
{
    return (vouch_drafter){.propose = oracle_propose, .user = o};
}

static int32_t junk_propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    static const int32_t junk[] = {-1, INT32_MIN, INT32_MAX, 1 << 20, 0, 1, 2, 3};
    test_random *random = user;
    (void)tokens;
    (void)n_tokens;
    const uint32_t how = test_below(random, 6);
    for (int32_t i = 0; i < k && how < 5; i++) guesses[i] = junk[test_below(random, 8)];
    return how == 0 ? 0 : how == 1 ? -7 : how == 2 ? INT32_MAX : k;
}

vouch_drafter junk_drafter(test_random *random)
{
    return (vouch_drafter){.propose = junk_propose, .user = random};
}
