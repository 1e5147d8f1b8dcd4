/* SPDX-License-Identifier: MIT */
/*
 * stories260K is a trained model of 260,000 parameters, made for llama2.c. These tests convert its checkpoint to GGUF
 * and compare our greedy text with llama2.c's. Both files belong to the optional data; without them the tests skip.
 *
 *   checkpoint   i32 dim, hidden, layers, heads, kv heads, vocabulary (negative: separate output head), context
 *                | f32 embedding | attention norms | q | k | v | o | ffn norms | gate | down | up | final norm
 *                | (tables of RoPE angles) | output head.  Each kind holds the matrices of all layers in order.
 *   tok512.bin   i32 longest token | vocabulary x (f32 score, i32 length, bytes)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gguf.h"
#include "support/decode/answer.h"

enum { BOS = 1, N_STEPS = 200 };

typedef struct file {
    unsigned char *bytes;
    size_t size;
} file;

/* bytes is NULL when the file is missing. */
static file data_read(const char *relative)
{
    file f = {0};
    const char *path = test_data(relative);
    if (path) f.bytes = (unsigned char *)read_whole(path, &f.size);
    return f;
}

/* --------------------------------------------------------------- conversion */

typedef struct conversion {
    vouch_gguf_writer *writer;
    const float *at, *end;
    int32_t dim, hidden, layers, heads, kv_heads, vocab, context;
} conversion;

static const float *take(conversion *c, int64_t n)
{
    const float *taken = c->at;
    assert_true(c->end - c->at >= n);
    c->at += n;
    return taken;
}

/* Adds the next `copies` matrices of the checkpoint. '#' in the name stands for the layer. */
static void add(conversion *c, const char *name, int32_t copies, int64_t n_out, int64_t n_in)
{
    const int64_t dim[] = {n_in, n_out};
    for (int32_t i = 0; i < copies; i++) {
        char full[64], number[16];
        const char *mark = strchr(name, '#');
        snprintf(number, sizeof number, "%d", i);
        if (mark) snprintf(full, sizeof full, "%.*s%s%s", (int)(mark - name), name, number, mark + 1);
        else snprintf(full, sizeof full, "%s", name);
        vouch_gguf_add_tensor(c->writer, full, VOUCH_TYPE_F32, n_out > 1 ? 2 : 1, dim, take(c, n_out * n_in));
    }
}

static void add_keys(conversion *c)
{
    const struct {
        const char *key;
        int32_t value;
    } keys[] = {{"llama.block_count", c->layers},         {"llama.context_length", c->context},
                {"llama.embedding_length", c->dim},       {"llama.feed_forward_length", c->hidden},
                {"llama.attention.head_count", c->heads}, {"llama.attention.head_count_kv", c->kv_heads}};
    vouch_gguf_add_text(c->writer, "general.architecture", "llama");
    vouch_gguf_add_text(c->writer, "tokenizer.ggml.model", "none");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        vouch_gguf_add_u32(c->writer, keys[i].key, (uint32_t)keys[i].value);
    vouch_gguf_add_f32(c->writer, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
}

static void add_tensors(conversion *c, bool separate_head)
{
    const int64_t width = c->dim / c->heads, kv = width * c->kv_heads;
    add(c, "token_embd.weight", 1, c->vocab, c->dim);
    add(c, "blk.#.attn_norm.weight", c->layers, 1, c->dim);
    add(c, "blk.#.attn_q.weight", c->layers, c->dim, c->dim);
    add(c, "blk.#.attn_k.weight", c->layers, kv, c->dim);
    add(c, "blk.#.attn_v.weight", c->layers, kv, c->dim);
    add(c, "blk.#.attn_output.weight", c->layers, c->dim, c->dim);
    add(c, "blk.#.ffn_norm.weight", c->layers, 1, c->dim);
    add(c, "blk.#.ffn_gate.weight", c->layers, c->hidden, c->dim);
    add(c, "blk.#.ffn_down.weight", c->layers, c->dim, c->hidden);
    add(c, "blk.#.ffn_up.weight", c->layers, c->hidden, c->dim);
    add(c, "output_norm.weight", 1, 1, c->dim);
    take(c, c->context * width);
    if (separate_head) add(c, "output.weight", 1, c->vocab, c->dim);
}

static void convert(const file *checkpoint, const char *path)
{
    int32_t header[7];
    conversion c = {0};
    vouch_error err;
    memcpy(header, checkpoint->bytes, sizeof header);
    c.dim = header[0], c.hidden = header[1], c.layers = header[2], c.heads = header[3], c.kv_heads = header[4];
    c.vocab = abs(header[5]), c.context = header[6];
    c.at = (const float *)(const void *)(checkpoint->bytes + sizeof header);
    c.end = c.at + (checkpoint->size - sizeof header) / sizeof(float);
    assert_int_equal(vouch_gguf_writer_open(&c.writer, &err), VOUCH_OK);
    add_keys(&c);
    add_tensors(&c, header[5] < 0);
    assert_ptr_equal(c.at, c.end);
    if (vouch_gguf_write(c.writer, path, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_writer_close(c.writer);
}

/* ---------------------------------------------------------------------- text */

/* Writes the text of the tokens up to a BOS and returns its size. Drops the space that begins the text; <0xNN> is a
 * byte. */
static size_t decode(const file *table, const int32_t *tokens, int32_t n, char *out)
{
    size_t size = 0;
    for (int32_t i = 0; i < n && tokens[i] != BOS; i++) {
        const unsigned char *at = table->bytes + 4;
        int32_t length;
        for (int32_t id = 0;; id++) {
            memcpy(&length, at + 4, sizeof length);
            if (id == tokens[i]) break;
            at += 8 + length;
        }
        const char *piece = (const char *)at + 8;
        unsigned byte;
        if (i == 0 && length > 0 && piece[0] == ' ') piece++, length--;
        if (length == 6 && sscanf(piece, "<0x%02X>", &byte) == 1) out[size++] = (char)byte;
        else memcpy(out + size, piece, (size_t)length), size += (size_t)length;
    }
    return size;
}

static void greedy_text_is_the_golden_one(void **state)
{
    (void)state;
    static answer got;
    file checkpoint = data_read("models/stories260K.bin"), table = data_read("models/tok512.bin"),
         golden = data_read("models/stories260K.greedy200.txt");
    if (!checkpoint.bytes || !table.bytes || !golden.bytes) {
        free(checkpoint.bytes), free(table.bytes), free(golden.bytes);
        test_skip("VOUCH_DATA has no models/stories260K.bin");
    }
    const char *path = test_temporary("stories.gguf");
    convert(&checkpoint, path);
    vouch_error err;
    for (size_t cpu = 0; vouch_cpu_name(cpu); cpu++) {
        vouch_model *model;
        vouch_model_options options = vouch_model_options_default();
        options.cpu = vouch_cpu_name(cpu);
        if (vouch_model_open(&model, path, &options, &err) != VOUCH_OK) fail_msg("%s", err.message);
        for (int speculative = 0; speculative < 2; speculative++) {
            char text[16 * N_STEPS];
            const int32_t bos = BOS;
            vouch_session_options session = vouch_session_options_default();
            session.kv_type = VOUCH_KV_F32;
            session.max_tokens = N_STEPS;
            session.n_threads = 1;
            session.speculation.drafters = speculative ? VOUCH_DRAFTER_NGRAM : VOUCH_DRAFTER_NONE;
            session.speculation.n_draft = speculative ? 4 : 0;
            answer_run(&got, model, &session, &bos, 1);
            const size_t n = decode(&table, got.tokens, got.n, text);
            assert_int_equal(n, golden.size);
            assert_memory_equal(text, golden.bytes, n);
            if (speculative) assert_true(got.stats.accepted > 10);
        }
        vouch_model_close(model);
    }
    free(checkpoint.bytes), free(table.bytes), free(golden.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_text_is_the_golden_one),
    };
    return cmocka_run_group_tests_name("stories", tests, NULL, NULL);
}
