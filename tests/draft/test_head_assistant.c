/* SPDX-License-Identifier: MIT */
/* Gemma 4's assistants in folders of transformers. test_head_files.c compares the same files' drafts with
 * llama.cpp's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draft/paid/head_centroids.h"
#include "engine/file/model.h"
#include "golden/centroids.h"
#include "os/os.h"
#include "support/decode/answer.h"
#include "support/head/head_bench.h"
#include "support/model/hf_model.h"
#include "support/model/tiny_draft.h"

static const tiny_model_options target_options = {.arch = "gemma4", .n_layers = 6, .tied = true, .seed = 31};

/* A tensor's name in a folder of transformers. */
static void name_in_folder(char out[96], const vouch_gguf_tensor *tensor)
{
    static const struct {
        const char *gguf, *folder;
    } names[] = {{"attn_norm.weight", "input_layernorm.weight"},
                 {"attn_q.weight", "self_attn.q_proj.weight"},
                 {"attn_q_norm.weight", "self_attn.q_norm.weight"},
                 {"attn_output.weight", "self_attn.o_proj.weight"},
                 {"post_attention_norm.weight", "post_attention_layernorm.weight"},
                 {"ffn_norm.weight", "pre_feedforward_layernorm.weight"},
                 {"post_ffw_norm.weight", "post_feedforward_layernorm.weight"},
                 {"ffn_gate.weight", "mlp.gate_proj.weight"},
                 {"ffn_up.weight", "mlp.up_proj.weight"},
                 {"ffn_down.weight", "mlp.down_proj.weight"},
                 {"layer_output_scale.weight", "layer_scalar"},
                 {"token_embd.weight", "model.embed_tokens.weight"},
                 {"output_norm.weight", "model.norm.weight"},
                 {"nextn.pre_projection.weight", "pre_projection.weight"},
                 {"nextn.post_projection.weight", "post_projection.weight"},
                 {"masked_embd_centroids.weight", "masked_embedding.centroids.weight"},
                 {"masked_embd_ordering", "masked_embedding.token_ordering"}};
    char name[96];
    int layer = 0, skipped = 0;
    snprintf(name, sizeof name, "%.*s", (int)tensor->name.size, tensor->name.data);
    const bool is_layer = sscanf(name, "blk.%d.%n", &layer, &skipped) == 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name + skipped, names[i].gguf) != 0) continue;
        if (is_layer) snprintf(out, 96, "model.layers.%d.%s", layer, names[i].folder);
        else snprintf(out, 96, "%s", names[i].folder);
        return;
    }
    fail_msg("%s", name);
}

/* Writes the tensors of an assistant's GGUF file as a folder of transformers. */
static void write_folder_of(const char *folder, const vouch_gguf *gguf, const char *config)
{
    static char header[1 << 14];
    static unsigned char data[1 << 20];
    uint64_t n_data = 0;
    size_t n = 8 + (size_t)sprintf(header + 8, "{"); /* after the header's size */
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(gguf, i);
        char name[96], shape[48];
        name_in_folder(name, t);
        if (t->n_dims == 1) snprintf(shape, sizeof shape, "%d", (int)t->dim[0]);
        else snprintf(shape, sizeof shape, "%d,%d", (int)t->dim[1], (int)t->dim[0]);
        const char *dtype = t->type == VOUCH_TYPE_I32 ? "I32" : "F32";
        assert_true(n_data + t->bytes <= sizeof data && n + 256 < sizeof header);
        n += (size_t)sprintf(header + n, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%d,%d]}",
                             i ? "," : "", name, dtype, shape, (int)n_data, (int)(n_data + t->bytes));
        memcpy(data + n_data, t->data, t->bytes);
        n_data += t->bytes;
    }
    n += (size_t)sprintf(header + n, "}");
    while (n % 8) header[n++] = ' ';
    const uint64_t n_header = n - 8;
    memcpy(header, &n_header, sizeof n_header);
    static unsigned char file[sizeof header + sizeof data];
    memcpy(file, header, n);
    memcpy(file + n, data, n_data);
    vouch_os_folder_make(folder, 0700);
    write_whole(hf_file(folder, "model.safetensors"), file, n + n_data);
    write_whole(hf_file(folder, "config.json"), config, strlen(config));
}

/* config.json of the tiny assistant. `more` are members of text_config, each with a comma after it. */
static const char *config_of(const vouch_model *target, int32_t head_dim, const char *more, const char *full_rotation)
{
    static char config[2048];
    snprintf(config, sizeof config,
             "{\"architectures\": [\"Gemma4AssistantForCausalLM\"], \"model_type\": \"gemma4_assistant\", "
             "\"backbone_hidden_size\": %d, \"use_ordered_embeddings\": false, \"tie_word_embeddings\": true, "
             "\"text_config\": {%s \"model_type\": \"gemma4_text\", \"vocab_size\": %d, \"hidden_size\": 48, "
             "\"intermediate_size\": 80, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, "
             "\"num_key_value_heads\": 2, \"head_dim\": %d, \"rms_norm_eps\": 1e-5, \"sliding_window\": 5, "
             "\"max_position_embeddings\": 512, \"hidden_activation\": \"gelu_pytorch_tanh\", \"layer_types\": "
             "[\"sliding_attention\", \"sliding_attention\", \"full_attention\"], \"rope_parameters\": "
             "{\"full_attention\": {%s, \"rope_theta\": 10000}, \"sliding_attention\": {\"rope_type\": "
             "\"default\", \"rope_theta\": 100}}}}",
             target->info.n_embd, more, target->info.n_vocab, head_dim, full_rotation);
    return config;
}

static const char plain_rotation[] = "\"rope_type\": \"default\"";

/* A folder drafts as the file with the same weights. */
static void assistants_are_read_from_folders(void **state)
{
    (void)state;
    vouch_model *target = tiny_model_open(&target_options);
    const int32_t head_dim = target->weights->hparams.layers[0].head_dim;
    tiny_draft_options o = {.kind = TINY_ASSISTANT, .seed = 1};
    char path[256], folder[256], wide[64], layers[64];
    vouch_gguf *gguf;
    vouch_draft_file *heads[2];
    vouch_error err;
    o.target = target;
    o.omit = "rope_freqs.weight";
    snprintf(path, sizeof path, "%s", test_temporary("assistant.gguf"));
    snprintf(folder, sizeof folder, "%s", test_temporary("assistant"));
    snprintf(wide, sizeof wide, "\"global_head_dim\": %d,", 2 * head_dim);
    snprintf(layers, sizeof layers, "\"per_layer_config\": {\"2\": {\"head_dim\": %d}},", 2 * head_dim);
    tiny_draft_write(path, &o);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    for (int form = 0; form < 2; form++) {
        static float weights[HEAD_DRAFT][512];
        int32_t tokens[HEAD_DRAFT];
        write_folder_of(folder, gguf, config_of(target, head_dim, form ? layers : wide, plain_rotation));
        if (vouch_draft_file_open(&heads[0], VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, &err) != VOUCH_OK)
            fail_msg("%s", err.message);
        if (vouch_draft_file_open(&heads[1], VOUCH_DRAFTER_NUMBER_HEAD, folder, target, false, &err) != VOUCH_OK)
            fail_msg("%s", err.message);
        for (int i = 0; i < 2; i++) {
            head_bench b;
            head_bench_open(&b, target, head_of(heads[i]), 16, 1);
            head_bench_commit(&b, HEAD_FIRST);
            const vouch_draft draft = head_bench_propose(&b);
            assert_int_equal(draft.n, HEAD_DRAFT);
            for (int d = 0; d < HEAD_DRAFT; d++) {
                const size_t bytes = (size_t)draft.q[d]->n_vocab * sizeof(float);
                if (i == 0) tokens[d] = draft.tokens[d];
                if (i == 0) memcpy(weights[d], draft.q[d]->weight, bytes);
                assert_int_equal(draft.tokens[d], tokens[d]);
                assert_memory_equal(draft.q[d]->weight, weights[d], bytes);
            }
            head_bench_close(&b);
            vouch_draft_file_close(heads[i]);
        }
    }
    vouch_gguf_close(gguf);
    vouch_model_close(target);
}

/* The q of the first guess, [n_vocab]. */
static void first_q(float *q, const char *path, const vouch_model *target)
{
    vouch_error err;
    vouch_draft_file *head;
    head_bench b;
    if (vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, &err) != VOUCH_OK)
        fail_msg("%s", err.message);
    head_bench_open(&b, target, head_of(head), 16, 3);
    head_bench_commit(&b, HEAD_FIRST);
    const vouch_draft draft = head_bench_propose(&b);
    assert_true(draft.n > 0);
    memcpy(q, draft.q[0]->weight, (size_t)b.n_vocab * sizeof *q);
    head_bench_close(&b);
    vouch_draft_file_close(head);
}

/* Centroid c is the embedding of its first token, so its score is that token's logit. So the likely tokens are known
 * from the same head without centroids, and their logits are equal. A file, and a folder. */
static void centroids_find_likely_tokens(void **state)
{
    (void)state;
    enum { N_VOCAB = 400, N = 25, EACH = N_VOCAB / N, BEST = 7 };
    static float all[N_VOCAB], few[N_VOCAB];
    vouch_model *target = tiny_model_open(&target_options);
    tiny_draft_options o = {.kind = TINY_ASSISTANT, .seed = 1, .target = target, .omit = "rope_freqs.weight"};
    char path[256], folder[256], more[128];
    vouch_gguf *gguf;
    vouch_error err;
    assert_int_equal(target->info.n_vocab, N_VOCAB);
    snprintf(path, sizeof path, "%s", test_temporary("assistant.gguf"));
    snprintf(folder, sizeof folder, "%s", test_temporary("assistant"));
    tiny_draft_write(path, &o);
    first_q(all, path, target);
    o.n_centroids = N;
    tiny_draft_write(path, &o);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    const vouch_gguf_tensor *embedding = vouch_gguf_find_tensor(gguf, "token_embd.weight");
    const vouch_gguf_tensor *centroids = vouch_gguf_find_tensor(gguf, "masked_embd_centroids.weight");
    const size_t row = (size_t)embedding->dim[0] * sizeof(float);
    static unsigned char changed[N * 1024];
    for (size_t c = 0; c < N; c++) /* the tokens' order is backwards */
        memcpy(changed + c * row, (const char *)embedding->data + (N_VOCAB - 1 - c * EACH) * row, row);
    ((vouch_gguf_tensor *)(uintptr_t)centroids)->data = changed;
    snprintf(more, sizeof more, "\"global_head_dim\": %d, \"centroid_intermediate_top_k\": %d,",
             2 * target->weights->hparams.layers[0].head_dim, BEST);
    write_folder_of(folder, gguf, config_of(target, target->weights->hparams.layers[0].head_dim, more, plain_rotation));
    first_q(few, folder, target);
    double ratio = 0;
    for (int c = 0; c < N; c++) {
        int n_better = 0;
        for (int d = 0; d < N; d++) n_better += all[N_VOCAB - 1 - d * EACH] > all[N_VOCAB - 1 - c * EACH];
        for (int i = c * EACH; i < (c + 1) * EACH; i++) {
            const int token = N_VOCAB - 1 - i;
            assert_true((few[token] > 0) == (n_better < BEST));
            if (n_better >= BEST) continue;
            if (ratio == 0) ratio = (double)few[token] / (double)all[token];
            assert_true(fabs((double)few[token] / (double)all[token] / ratio - 1) < 1e-5);
        }
    }
    vouch_gguf_close(gguf);
    vouch_model_close(target);
}

/* Returns a packed F32 matrix, of which the caller frees `data`. centroids.py computes the same values from
 * the name. Row i of the matrix is row (i * step) mod n_out of those values. */
static vouch_matrix make_matrix(const char *name, int32_t n_out, int32_t step)
{
    vouch_matrix m;
    const size_t width = CENTROIDS_WIDTH;
    float *values = calloc((size_t)n_out * width, sizeof *values), *rows = calloc((size_t)n_out * width, sizeof *rows);
    assert_non_null(values);
    assert_non_null(rows);
    hf_values(values, name, 2, n_out * CENTROIDS_WIDTH);
    for (int32_t i = 0; i < n_out; i++)
        memcpy(rows + (size_t)i * width, values + (size_t)(i * step % n_out) * width, width * sizeof *rows);
    free(values);
    assert_true(vouch_matrix_shape(&m, VOUCH_TYPE_F32, n_out, CENTROIDS_WIDTH));
    m.data = vouch_os_aligned_take(64, vouch_matrix_bytes(&m));
    assert_non_null(m.data);
    vouch_matrix_pack(&m, rows, 0, m.n_tiles);
    free(rows);
    return m;
}

/* vouch computes logits for the same tokens as transformers, and the logits agree. */
static void centroids_agree_with_transformers(void **state)
{
    (void)state;
    float states[CENTROIDS_ROWS][CENTROIDS_WIDTH];
    int32_t order[CENTROIDS_VOCABULARY];
    const vouch_kernels *kernels;
    vouch_pool *pool;
    hf_values(states[0], "states.embed", 3, CENTROIDS_ROWS * CENTROIDS_WIDTH);
    /* make_matrix puts the rows of `output` into the same order. */
    for (int32_t i = 0; i < CENTROIDS_VOCABULARY; i++) order[i] = i * 7 % CENTROIDS_VOCABULARY;
    vouch_matrix output = make_matrix("lm_head.embed", CENTROIDS_VOCABULARY, 7);
    vouch_matrix centroids = make_matrix("centroids.embed", CENTROIDS, 1);
    assert_int_equal(vouch_pool_open(&pool, 2, NULL), VOUCH_OK);
    for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++) {
        vouch_weights body = {.kernels = kernels, .hparams = {.n_embd = CENTROIDS_WIDTH}, .output = &output};
        const vouch_head_weights head = {
            .body = &body,
            .centroids = {.matrix = centroids, .n_best = CENTROIDS_BEST, .n_each = CENTROIDS_VOCABULARY / CENTROIDS},
            .n_draft = CENTROIDS_VOCABULARY,
            .tokens = order};
        vouch_centroids likely;
        vouch_arena arena = {0};
        vouch_centroids_open(&likely, &head, pool);
        vouch_centroids_layout(&likely, CENTROIDS_ROWS, &arena);
        assert_int_equal(vouch_arena_allocate(&arena, "centroids", NULL), VOUCH_OK);
        vouch_centroids_layout(&likely, CENTROIDS_ROWS, &arena);
        vouch_centroids_clear(&likely);
        vouch_centroids_run(&likely, states[0], CENTROIDS_ROWS);
        for (int32_t i = 0; i < CENTROIDS_ROWS; i++) {
            const float *logits = vouch_centroids_logits(&likely, i);
            for (int32_t t = 0; t < CENTROIDS_VOCABULARY; t++) {
                const float expected = centroids_logits[i][t];
                if (isinf(expected)) assert_true(logits[t] == expected);
                else assert_true(fabsf(logits[t] - expected) < 1e-5f);
            }
        }
        vouch_arena_free(&arena);
    }
    vouch_pool_close(pool);
    vouch_os_aligned_free(output.data);
    vouch_os_aligned_free(centroids.data);
}

/* Damaged orders and centroids. */
static void bad_centroids_are_refused(void **state)
{
    (void)state;
    vouch_model *target = tiny_model_open(&target_options);
    const struct {
        int32_t n;
        const char *omit, *words;
    } bad[] = {{25, "masked_embd_ordering", "'masked_embd_ordering' 0 tokens"}, {27, NULL, "has 27 centroids"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *path = test_temporary("assistant.gguf");
        vouch_draft_file *head;
        vouch_error err;
        tiny_draft_write(path, &(tiny_draft_options){.kind = TINY_ASSISTANT,
                                                     .target = target,
                                                     .seed = 1,
                                                     .n_centroids = bad[i].n,
                                                     .omit = bad[i].omit});
        assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, &err),
                         VOUCH_E_FORMAT);
        if (!strstr(err.message, bad[i].words)) fail_msg("%s", err.message);
    }
    static const char *const words[] = {"masked_embd_ordering", "masked_embd_centroids.weight", NULL};
    char path[256];
    snprintf(path, sizeof path, "%s", test_temporary("damaged.gguf"));
    tiny_draft_write(path,
                     &(tiny_draft_options){.kind = TINY_ASSISTANT, .target = target, .seed = 1, .n_centroids = 25});
    head_bench_damage(path, path, target, words, 7);
    vouch_model_close(target);
}

/* "proportional" rotates the first pairs of a head, and its frequencies are those of the whole head. Other settings are
 * refused by name. */
static void settings_of_assistants_are_checked(void **state)
{
    (void)state;
    vouch_model *target = tiny_model_open(&target_options);
    const int32_t head_dim = target->weights->hparams.layers[0].head_dim;
    tiny_draft_options o = {.kind = TINY_ASSISTANT, .seed = 1};
    char path[256], folder[256], more[128];
    vouch_gguf *gguf;
    vouch_draft_file *head;
    vouch_error err;
    o.target = target;
    o.omit = "rope_freqs.weight";
    snprintf(path, sizeof path, "%s", test_temporary("assistant.gguf"));
    snprintf(folder, sizeof folder, "%s", test_temporary("assistant"));
    tiny_draft_write(path, &o);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    snprintf(more, sizeof more, "\"global_head_dim\": %d,", 2 * head_dim);
    write_folder_of(folder, gguf,
                    config_of(target, head_dim, more,
                              "\"rope_type\": \"proportional\", "
                              "\"partial_rotary_factor\": 0.25"));
    if (vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, folder, target, false, &err) != VOUCH_OK)
        fail_msg("%s", err.message);
    const vouch_weights *body = head_of(head)->body;
    const vouch_rotary *full = &body->rotaries[body->layers[2].attention.rotary];
    assert_int_equal(full->n_rot, 2 * head_dim);
    for (int32_t i = 0; i < head_dim; i++) {
        const double expected = i < head_dim / 4 ? pow(10000, -(double)i / head_dim) : 0;
        assert_true(fabs(full->frequencies[i] - expected) < 1e-9);
    }
    vouch_draft_file_close(head);
    const struct {
        const char *more, *rotation, *words;
    } bad[] = {{"\"enable_moe_block\": true,", plain_rotation, "enable_moe_block is true"},
               {"\"hidden_size_per_layer_input\": 8,", plain_rotation, "hidden_size_per_layer_input isn't 0"},
               {"", "\"rope_type\": \"yarn\"", "rope_type is 'yarn', which vouch doesn't support"},
               {"\"global_head_dim\": 2,", plain_rotation, "layer 2 has 4 heads of width 2 without a window"},
               {"\"global_head_dim\": 2000,", plain_rotation, "global_head_dim is 2000, expected 2 to 1024"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_folder_of(folder, gguf, config_of(target, head_dim, bad[i].more, bad[i].rotation));
        assert_true(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, folder, target, false, &err) != VOUCH_OK);
        if (!strstr(err.message, bad[i].words)) fail_msg("%s", err.message);
    }
    vouch_gguf_close(gguf);
    vouch_model_close(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assistants_are_read_from_folders),   cmocka_unit_test(centroids_find_likely_tokens),
        cmocka_unit_test(centroids_agree_with_transformers),  cmocka_unit_test(bad_centroids_are_refused),
        cmocka_unit_test(settings_of_assistants_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
