/* SPDX-License-Identifier: MIT */
/*
 * Heads in files of llama.cpp's formats: their draft logits against llama.cpp's, laws L2 and L3 with them, and refused
 * files.
 *
 * `test_head_files --write FOLDER` writes targets and heads for golden/head_files.cpp.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/file/model.h"
#include "engine/session.h"
#include "golden/head_files.h"
#include "support/decode/answer.h"
#include "support/decode/draft.h"
#include "support/head/head_bench.h"
#include "support/model/tiny_draft.h"

enum { PROMPT = 20, LENGTH = 40 };

/* llama.cpp needs these divisors of Gemma 4's angles. */
static void add_rope_freqs(vouch_gguf_writer *writer, void *user)
{
    static const float divisors[16] = {1, 1, 1, 1, 1.5f, 1.5f, 2, 2, 3, 3, 4, 4, 1e30f, 1e30f, 1e30f, 1e30f};
    const int64_t n = 16;
    (void)user;
    vouch_gguf_add_tensor(writer, "rope_freqs.weight", VOUCH_TYPE_F32, 1, &n, divisors);
}

static const struct {
    const char *name;
    tiny_model_options target;
    tiny_draft_options head;
} kinds[] = {
    {"gemma4-assistant",
     {.arch = "gemma4", .n_layers = 6, .tied = true, .add = add_rope_freqs, .seed = 31},
     {.kind = TINY_ASSISTANT, .seed = 1}},
    {"dflash", {.n_layers = 4, .seed = 32}, {.kind = TINY_DFLASH, .seed = 2}},
    {"dflash-own", {.n_layers = 4, .seed = 33}, {.kind = TINY_DFLASH, .one_matrix = true, .own_ends = true, .seed = 3}},
    {"dflash-causal", {.n_layers = 4, .seed = 34}, {.kind = TINY_DFLASH, .is_causal = true, .seed = 4}},
    {"dspark", {.n_layers = 4, .seed = 35}, {.kind = TINY_DSPARK, .block_size = 5, .seed = 5}},
    {"dspark-few", {.n_layers = 4, .seed = 36}, {.kind = TINY_DSPARK, .has_bonus = true, .n_draft = 120, .seed = 6}},
    {"dflash2",
     {.n_layers = 4, .n_embd = 288, .n_heads = 9, .n_kv_heads = 3, .seed = 37},
     {.kind = TINY_DFLASH2, .seed = 7}},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static vouch_draft_file *open_head(int i, const vouch_model *target)
{
    tiny_draft_options options = kinds[i].head;
    options.target = target;
    return tiny_draft_open(&options);
}

/* --------------------------------------------------------- against llama.cpp */

/* 5 guesses, and 5 more after a rejection of all of them. */
static void drafts_are_those_of_llama_cpp(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        vouch_model *model = tiny_model_open(&kinds[k].target);
        vouch_draft_file *head = open_head(k, model);
        assert_string_equal(head_file_values[k].name, kinds[k].name);
        head_bench_compare(kinds[k].name, model, head_of(head), head_file_values[k].rows);
        vouch_draft_file_close(head);
        vouch_model_close(model);
    }
}

/* In a chain, the chances of a DSpark head's guesses are llama.cpp's confidences. In a tree, the likeliest guess of the
 * first level has the same chance as in the chain. */
static void confidences_are_those_of_llama_cpp(void **state)
{
    (void)state;
    const vouch_shape tree = {.n = HEAD_DRAFT, .depth = 2, .branches = 3};
    for (int k = 0; k < N_KINDS; k++) {
        if (kinds[k].head.kind != TINY_DSPARK) continue;
        vouch_model *model = tiny_model_open(&kinds[k].target);
        vouch_draft_file *head = open_head(k, model);
        head_bench b, wide;
        head_bench_open(&b, model, head_of(head), 16, 1);
        head_bench_open(&wide, model, head_of(head), 16, 3);
        for (int round = 0; round < HEAD_ROUNDS; round++) {
            const float *expected = &head_file_values[k].chances[round * HEAD_DRAFT];
            double sum = 0;
            head_bench_commit(&b, round ? HEAD_MORE : HEAD_FIRST);
            head_bench_commit(&wide, round ? HEAD_MORE : HEAD_FIRST);
            const vouch_draft draft = head_bench_propose(&b);
            for (int d = 0; d < HEAD_DRAFT; d++) assert_true(fabsf(draft.chances[d] - expected[d]) < 1e-5f);
            const vouch_draft bushy = draft_alone(&wide.drafter, wide.tokens, wide.n, &tree);
            assert_true(bushy.chances[0] == draft.chances[0]);
            for (int32_t i = 0; i < bushy.n; i++) sum += bushy.parents[i] < 0 ? (double)bushy.chances[i] : 0;
            assert_true(sum < 1 && sum > (double)bushy.chances[0]);
            head_bench_reject(&b, &draft);
        }
        head_bench_close(&b);
        head_bench_close(&wide);
        vouch_draft_file_close(head);
        vouch_model_close(model);
    }
}

/* Law L3: after rejections target and head are as they are without any guess. The digests notice one token more. */
static void rejected_guesses_leave_no_trace(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        vouch_model *model = tiny_model_open(&kinds[k].target);
        vouch_draft_file *head = open_head(k, model);
        head_bench guessed, plain;
        head_bench_open(&guessed, model, head_of(head), 16, 1);
        head_bench_open(&plain, model, head_of(head), 16, 1);
        for (int round = 0; round < 6; round++) {
            head_bench_commit(&guessed, round ? HEAD_MORE : HEAD_FIRST);
            head_bench_commit(&plain, round ? HEAD_MORE : HEAD_FIRST);
            const vouch_draft draft = head_bench_propose(&guessed);
            assert_int_equal(draft.n, HEAD_DRAFT);
            head_bench_reject(&guessed, &draft);
            draft_follow(&plain.drafter, plain.tokens, plain.n + 1); /* catches up */
            assert_true(guessed.drafter.ops->digest(guessed.drafter.self) ==
                        plain.drafter.ops->digest(plain.drafter.self));
            assert_true(vouch_memory_digest(guessed.target.memory) == vouch_memory_digest(plain.target.memory));
        }
        vouch_pass_chain(guessed.target.pass, guessed.target.memory, guessed.tokens + guessed.n - 1, 1, 1);
        assert_true(vouch_memory_digest(guessed.target.memory) != vouch_memory_digest(plain.target.memory));
        head_bench_close(&guessed);
        head_bench_close(&plain);
        vouch_draft_file_close(head);
        vouch_model_close(model);
    }
}

/* A head that borrows the target's keys must find in the target's memory exactly the tokens before the last one.
 * Otherwise it doesn't guess. */
static void borrowed_keys_are_those_of_the_tokens(void **state)
{
    (void)state;
    vouch_model *model = tiny_model_open(&kinds[0].target);
    vouch_draft_file *head = open_head(0, model);
    head_bench b;
    head_bench_open(&b, model, head_of(head), 16, 1);
    head_bench_commit(&b, HEAD_FIRST);
    assert_true(head_of(head)->borrows_keys);
    vouch_pass_chain(b.target.pass, b.target.memory, b.tokens + b.n - 1, 1, 1);
    assert_int_equal(head_bench_propose(&b).n, 0);
    vouch_memory_rewind(b.target.memory, b.n - 1);
    assert_int_equal(head_bench_propose(&b).n, HEAD_DRAFT);
    head_bench_close(&b);
    vouch_draft_file_close(head);
    vouch_model_close(model);
}

/* The largest error of the difference of two q's logits, which the biases after the tokens x and y give, up to a
 * constant. */
static double bias_error(const vouch_head_block *block, const vouch_dist *first, int32_t x, const vouch_dist *second,
                         int32_t y)
{
    float from_x[64], from_y[64], to[64];
    double most = 0, shift = 0;
    vouch_matrix_get_row(&block->from, x, from_x);
    vouch_matrix_get_row(&block->from, y, from_y);
    for (int32_t t = 0; t < first->n_vocab; t++) {
        double expected = 0;
        vouch_matrix_get_row(&block->to, t, to);
        for (int64_t i = 0; i < block->to.n_in; i++)
            expected += (double)to[i] * ((double)from_x[i] - (double)from_y[i]);
        const double error = log((double)first->weight[t] / (double)second->weight[t]) - expected;
        if (t == 0) shift = error;
        most = fmax(most, fabs(error - shift));
    }
    return most;
}

/* Two guesses of a tree at one depth have the same logits but for the biases by the tokens before them. */
static void siblings_differ_by_their_biases(void **state)
{
    (void)state;
    enum { SPARK = 4 };
    const vouch_shape shape = {.n = HEAD_DRAFT, .depth = 2, .branches = 3};
    vouch_model *model = tiny_model_open(&kinds[SPARK].target);
    vouch_draft_file *head = open_head(SPARK, model);
    int n_pairs = 0;
    head_bench b;
    head_bench_open(&b, model, head_of(head), 16, 3);
    for (int round = 0; round < 12; round++) {
        head_bench_commit(&b, round ? HEAD_MORE : HEAD_FIRST);
        const vouch_draft draft = draft_alone(&b.drafter, b.tokens, b.n, &shape);
        const int32_t last = draft.n - 1, one = last - 1; /* the second level's */
        const int32_t x = draft.tokens[draft.parents[one]], y = draft.tokens[draft.parents[last]];
        assert_true(draft.parents[one] >= 0 && draft.parents[last] >= 0);
        if (x == y) continue;
        assert_true(bias_error(&head_of(head)->block, draft.q[one], x, draft.q[last], y) < 1e-3);
        assert_true(bias_error(&head_of(head)->block, draft.q[one], y, draft.q[last], x) > 0.1);
        n_pairs++;
    }
    assert_true(n_pairs > 0);
    head_bench_close(&b);
    vouch_draft_file_close(head);
    vouch_model_close(model);
}

/* -------------------------------------------------------------------- answers */

static vouch_session_options options_of(int i)
{
    static const unsigned company[] = {0, VOUCH_DRAFTER_NGRAM, VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE};
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = PROMPT + LENGTH;
    o.max_tokens = LENGTH;
    o.ignore_eos = true;
    o.prefill_chunk = 1 + 5 * (i % 4);
    o.n_threads = 1 + i % 2;
    o.sampling.temperature = i % 2 ? 0.8f : 0;
    o.sampling.seed = (uint64_t)i;
    o.speculation.n_draft = 1 + i % 7;
    o.speculation.tree_branches = 1 + i % 4;
    o.speculation.accept = i % 2 ? VOUCH_ACCEPT_MATCH : (vouch_accept)(i / 2 % VOUCH_ACCEPTS);
    o.speculation.drafters = i % 12 == 11 ? VOUCH_DRAFTER_AUTO : VOUCH_DRAFTER_HEAD | company[i % 3];
    return o;
}

/* Laws L2 and L3: greedy text under every rule, and sampled text under match, is that of plain decoding, and so are the
 * keys and values. The second prompt shares a beginning with the first, so target and head go back. */
static void text_is_the_same_with_every_head(void **state)
{
    (void)state;
    static answer without, with;
    for (int k = 0; k < N_KINDS; k++) {
        vouch_model *model = tiny_model_open(&kinds[k].target);
        vouch_draft_file *head = open_head(k, model);
        for (int i = 0; i < (test_is_quick() ? 12 : 48); i++) {
            if (test_is_quick() && (i + k) % 3 > 0) continue;
            vouch_session_options o = options_of(i), none = o;
            int32_t prompt[PROMPT];
            o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
            none.speculation.drafters = VOUCH_DRAFTER_NONE;
            vouch_session *one = answer_open(model, &o), *other = answer_open(model, &none);
            answer_prompt(prompt, PROMPT, model->info.n_vocab, (uint64_t)i, true);
            for (int round = 0; round < 2; round++) {
                prompt[PROMPT - 3] ^= round;
                vouch_session_set_seed(one, 9);
                vouch_session_set_seed(other, 9);
                answer_continue(&with, one, prompt, PROMPT);
                answer_continue(&without, other, prompt, PROMPT);
                assert_true(answer_equal(&with, &without));
                assert_true(vouch_memory_digest(vouch_session_target(one)) ==
                            vouch_memory_digest(vouch_session_target(other)));
            }
            assert_true(i % 12 == 11 || with.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
            vouch_session_close(one);
            vouch_session_close(other);
        }
        vouch_draft_file_close(head);
        vouch_model_close(model);
    }
}

/* Law L2: the target's keys and values may have any type. */
static void borrowed_keys_may_be_quantised(void **state)
{
    (void)state;
    static answer without, with;
    static const vouch_kv_type types[] = {VOUCH_KV_F32, VOUCH_KV_Q8_0, VOUCH_KV_Q4_0};
    tiny_model_options target = kinds[0].target;
    target.head_dim = 32; /* whole blocks */
    target.add = NULL;
    vouch_model *model = tiny_model_open(&target);
    vouch_draft_file *head = tiny_draft_open(&(tiny_draft_options){.target = model, .head_dim = 32});
    for (int i = 0; i < 3; i++) {
        vouch_session_options o = options_of(2 * i), none;
        int32_t prompt[PROMPT];
        o.kv_type = types[i];
        none = o;
        o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
        none.speculation.drafters = VOUCH_DRAFTER_NONE;
        answer_prompt(prompt, PROMPT, model->info.n_vocab, (uint64_t)i, true);
        answer_run(&with, model, &o, prompt, PROMPT);
        answer_run(&without, model, &none, prompt, PROMPT);
        assert_true(answer_equal(&with, &without));
        assert_true(with.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
    }
    vouch_draft_file_close(head);
    vouch_model_close(model);
}

/* Laws L2 and L7: the text is the same in an engine, beside other sessions, with so few pages that sessions lose
 * theirs. */
static void text_is_the_same_in_an_engine(void **state)
{
    (void)state;
    enum { N = 4 };
    static answer alone[N], beside[N];
    for (int k = 0; k < N_KINDS; k++) {
        const vouch_engine_options eo = {.n_sessions = N,
                                         .n_ctx = PROMPT + LENGTH,
                                         .n_cache = 2 * (PROMPT + LENGTH),
                                         .page_size = 16,
                                         .n_threads = 2};
        vouch_model *model = tiny_model_open(&kinds[k].target);
        vouch_draft_file *head = open_head(k, model);
        vouch_session *sessions[N];
        vouch_engine *engine;
        const vouch_engine_event *events;
        size_t n_events;
        assert_int_equal(vouch_engine_open(&engine, model, &eo, NULL), VOUCH_OK);
        for (int i = 0; i < N; i++) {
            vouch_session_options o = options_of(i);
            int32_t prompt[PROMPT];
            o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
            o.speculation.accept = VOUCH_ACCEPT_MATCH;
            answer_prompt(prompt, PROMPT, model->info.n_vocab, (uint64_t)i, i % 2);
            answer_run(&alone[i], model, &o, prompt, PROMPT);
            beside[i].n = 0;
            assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
            assert_int_equal(vouch_session_prompt(sessions[i], prompt, PROMPT, NULL), VOUCH_OK);
        }
        while (vouch_engine_step(engine, &events, &n_events))
            for (size_t e = 0; e < n_events; e++)
                for (int i = 0; i < N; i++) {
                    if (events[e].session != sessions[i]) continue;
                    assert_int_equal(events[e].status, VOUCH_OK);
                    const vouch_step *step = &events[e].step;
                    memcpy(beside[i].tokens + beside[i].n, step->tokens, (size_t)step->n_tokens * sizeof(int32_t));
                    beside[i].n += step->n_tokens;
                    if (step->finish == VOUCH_FINISH_NONE) continue;
                    assert_true(vouch_session_stats(sessions[i])->drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
                    vouch_session_close(sessions[i]); /* its pages are free now */
                    break;
                }
        for (int i = 0; i < N; i++) {
            assert_int_equal(beside[i].n, alone[i].n);
            assert_memory_equal(beside[i].tokens, alone[i].tokens, (size_t)alone[i].n * sizeof(int32_t));
        }
        vouch_engine_close(engine);
        vouch_draft_file_close(head);
        vouch_model_close(model);
    }
}

/* Sessions that share a head's passes make the guesses that each makes alone. */
static void guesses_are_the_same_beside_others(void **state)
{
    (void)state;
    enum { N = 5 };
    for (int k = 0; k < N_KINDS; k++) {
        const vouch_engine_options eo = {.n_sessions = N, .n_ctx = PROMPT + LENGTH, .n_threads = 2};
        vouch_model *model = tiny_model_open(&kinds[k].target);
        vouch_draft_file *head = open_head(k, model);
        vouch_session *sessions[N];
        uint64_t alone[N], beside[N];
        vouch_engine *engine;
        const vouch_engine_event *events;
        size_t n_events;
        assert_int_equal(vouch_engine_open(&engine, model, &eo, NULL), VOUCH_OK);
        for (int i = 0; i < N; i++) {
            vouch_session_options o = options_of(2 * i + 1); /* match */
            int32_t prompt[PROMPT];
            o.prefill_chunk = 0;
            o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
            o.speculation.drafters = VOUCH_DRAFTER_HEAD;
            answer_prompt(prompt, PROMPT, model->info.n_vocab, (uint64_t)i, i % 2);
            alone[i] = draft_hash_alone(model, &o, prompt, PROMPT);
            beside[i] = VOUCH_HASH_START;
            assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
            assert_int_equal(vouch_session_prompt(sessions[i], prompt, PROMPT, NULL), VOUCH_OK);
        }
        while (vouch_engine_step(engine, &events, &n_events))
            for (size_t e = 0; e < n_events; e++)
                for (int i = 0; i < N; i++)
                    if (events[e].session == sessions[i]) beside[i] = draft_hash(beside[i], &events[e].step);
        for (int i = 0; i < N; i++) {
            assert_true(beside[i] == alone[i]);
            assert_true(i == 0 || alone[i] != alone[0]);
            vouch_session_close(sessions[i]);
        }
        vouch_engine_close(engine);
        vouch_draft_file_close(head);
        vouch_model_close(model);
    }
}

/* ------------------------------------------------------------------ bad input */

static void refuses(const vouch_model *model, const tiny_draft_options *options, vouch_status status, const char *words)
{
    const char *path = test_temporary("bad.gguf");
    tiny_draft_options o = *options;
    vouch_error err = {0};
    vouch_draft_file *head;
    o.target = model;
    tiny_draft_write(path, &o);
    assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, model, false, &err), status);
    assert_null(head);
    if (!strstr(err.message, words) || !strstr(err.message, "bad.gguf")) print_message("%s\n", err.message);
    assert_non_null(strstr(err.message, words));
    assert_non_null(strstr(err.message, "bad.gguf"));
}

static void other_and_damaged_assistants_are_refused(void **state)
{
    (void)state;
    static const char *const needed[] = {"gemma4-assistant.embedding_length",
                                         "gemma4-assistant.embedding_length_out",
                                         "gemma4-assistant.attention.head_count",
                                         "gemma4-assistant.attention.key_length_swa",
                                         "token_embd.weight",
                                         "output_norm.weight",
                                         "nextn.pre_projection.weight",
                                         "nextn.post_projection.weight",
                                         "blk.0.attn_q.weight",
                                         "blk.2.attn_q_norm.weight",
                                         "blk.1.ffn_down.weight"};
    vouch_model *model = tiny_model_open(&kinds[0].target);
    vouch_model *other = tiny_model_open(&(tiny_model_options){.n_layers = 3});
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        refuses(model, &(tiny_draft_options){.omit = needed[i]}, VOUCH_E_FORMAT, needed[i]);
    refuses(model, &(tiny_draft_options){.n_embd = 32}, VOUCH_E_MISMATCH,
            "embedding_length_out is 32, but the model has 64");
    refuses(model, &(tiny_draft_options){.head_dim = 8}, VOUCH_E_MISMATCH, "layer 0 has 4 heads of width 8 ");
    refuses(model, &(tiny_draft_options){.n_heads = 5, .n_kv_heads = 1}, VOUCH_E_MISMATCH,
            "layer 0 has 5 heads of width 16 ");
    refuses(other, &(tiny_draft_options){.n_embd = 64}, VOUCH_E_MISMATCH, "'gemma4-assistant', but the model is of ");
    vouch_model_close(model);
    vouch_model_close(other);
}

static void other_and_damaged_block_heads_are_refused(void **state)
{
    (void)state;
    static const char *const needed[] = {"dflash.embedding_length",      "dflash.block_size",  "dflash.target_layers",
                                         "tokenizer.ggml.mask_token_id", "fc.weight",          "enc.output_norm.weight",
                                         "output_norm.weight",           "markov_w2.weight",   "blk.0.attn_k.weight",
                                         "blk.1.attn_k_norm.weight",     "blk.2.ffn_up.weight"};
    vouch_model *model = tiny_model_open(&kinds[1].target);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        refuses(model, &(tiny_draft_options){.kind = TINY_DSPARK, .omit = needed[i]}, VOUCH_E_FORMAT, needed[i]);
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .n_embd = 32}, VOUCH_E_MISMATCH,
            "embedding_length is 32, but the model has 64");
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .tap = 5}, VOUCH_E_MISMATCH,
            "target_layers[1] is 5, but the model's are 1 to 4");
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .tap = 1}, VOUCH_E_UNSUPPORTED, "must ascend");
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .mask = 400}, VOUCH_E_MISMATCH,
            "mask_token_id is 400, but the model has 400 tokens");
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .block_size = 1}, VOUCH_E_FORMAT, "block_size");
    refuses(model, &(tiny_draft_options){.kind = TINY_DSPARK, .extra = "selector_hidden.weight"}, VOUCH_E_UNSUPPORTED,
            "one or the other");
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .extra = "selector_hidden.weight"}, VOUCH_E_FORMAT,
            "dflash.selector_rank");
    static const char *const of_selector[] = {"dflash.conv_kernel_size",    "dflash.conv_group_size",
                                              "dflash.selector_top_k",      "blk.1.attn_conv_base",
                                              "blk.2.ffn_conv_proj.weight", "selector_successor.weight"};
    for (size_t i = 0; i < sizeof of_selector / sizeof *of_selector; i++)
        refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH2, .omit = of_selector[i]}, VOUCH_E_FORMAT,
                of_selector[i]);
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .n_draft = 20, .omit = "output.weight"}, VOUCH_E_FORMAT,
            "'output.weight' is missing");
    refuses(model, &(tiny_draft_options){.kind = TINY_DFLASH, .extra = "blk.0.attn_q.bias2"}, VOUCH_E_UNSUPPORTED,
            "blk.0.attn_q.bias2");
    vouch_model_close(model);
}

/* Law L5: damaged files are refused with an error, or give a head that drafts. */
static void damaged_files_never_crash(void **state)
{
    (void)state;
    static const char *const words[] = {"block_count",
                                        "embedding_length",
                                        "sliding_window",
                                        "head_count",
                                        "key_length",
                                        "target_layers",
                                        "block_size",
                                        "mask_token_id",
                                        "blk.0.attn_q",
                                        "fc.weight",
                                        "markov_w1",
                                        "selector_top_k",
                                        "selector_rank",
                                        "conv_group_size",
                                        "conv_kernel_size",
                                        "attn_conv_base",
                                        "nextn.pre_projection",
                                        "d2t",
                                        NULL};
    static const int damaged[] = {0, 1, 4, 6}; /* one of each family */
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        const int k = damaged[i];
        vouch_model *model = tiny_model_open(&kinds[k].target);
        tiny_draft_options options = kinds[k].head;
        const char *path = test_temporary("damaged.gguf");
        options.target = model;
        tiny_draft_write(path, &options);
        head_bench_damage(path, path, model, words, (uint64_t)k);
        vouch_model_close(model);
    }
}

/* A head is no model: opening it as one fails, and the message says what to do. */
static void heads_are_no_models(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *path = test_temporary("head.gguf");
        vouch_model *model = tiny_model_open(&kinds[k].target), *other;
        tiny_draft_options options = kinds[k].head;
        vouch_file *file;
        vouch_error err;
        options.target = model;
        tiny_draft_write(path, &options);
        assert_int_equal(vouch_model_open(&other, path, NULL, &err), VOUCH_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, "give it this file as its head"));
        assert_int_equal(vouch_file_open(&file, path, &err), VOUCH_OK);
        assert_non_null(strstr(vouch_file_get_info(file)->problems[0].message, "is a head"));
        vouch_file_close(file);
        vouch_model_close(model);
    }
}

static int write_files(const char *folder)
{
    for (int k = 0; k < N_KINDS; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.target.gguf", folder, kinds[k].name);
        tiny_model_write(path, &kinds[k].target);
        vouch_model *model = tiny_model_open(&kinds[k].target);
        tiny_draft_options options = kinds[k].head;
        options.target = model;
        snprintf(path, sizeof path, "%s/%s.gguf", folder, kinds[k].name);
        tiny_draft_write(path, &options);
        vouch_model_close(model);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drafts_are_those_of_llama_cpp),
        cmocka_unit_test(confidences_are_those_of_llama_cpp),
        cmocka_unit_test(rejected_guesses_leave_no_trace),
        cmocka_unit_test(borrowed_keys_are_those_of_the_tokens),
        cmocka_unit_test(text_is_the_same_with_every_head),
        cmocka_unit_test(borrowed_keys_may_be_quantised),
        cmocka_unit_test(text_is_the_same_in_an_engine),
        cmocka_unit_test(guesses_are_the_same_beside_others),
        cmocka_unit_test(siblings_differ_by_their_biases),
        cmocka_unit_test(other_and_damaged_assistants_are_refused),
        cmocka_unit_test(other_and_damaged_block_heads_are_refused),
        cmocka_unit_test(damaged_files_never_crash),
        cmocka_unit_test(heads_are_no_models),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_files(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
