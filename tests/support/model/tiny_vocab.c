/* SPDX-License-Identifier: MIT */
/*
 * Learns merges from a short text, so that English takes fewer tokens than bytes. The text starts as a row of byte
 * tokens. Each merge picks two neighbours at random and joins them everywhere in the row. When no pair is left in the
 * row, merges join random pairs of tokens.
 */
#include "support/model/tiny_vocab.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static const char corpus[] =
    "The quick brown fox jumps over the lazy dog, and the dog doesn't mind: it's asleep. "
    "Speculative decoding lets a small model guess what a large model would say; the large model checks all "
    "of the guesses in one pass and keeps those that hold. What comes out is what the large model alone "
    "would have said, only sooner. When nothing holds, nothing is lost but a little time.\n"
    "\tfor (int i = 0; i < 10; i++) {\n\t\tprintf(\"%d\\n\", values[i]);\n\t}\n"
    "Once upon a time there was a little river that wanted to see the sea. \"Where are you going?\" asked "
    "the "
    "stones. \"Down,\" said the river, \"always down.\" And the stones laughed, because they had been going "
    "down themselves for a thousand years, and had not yet moved an inch.\n\n"
    "H\xc3\xa9llo, w\xc3\xb6rld! \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80 "
    "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 2024-01-31 3.14159\n";

enum { LONGEST = 16 };

typedef struct tiny_token {
    unsigned char bytes[LONGEST];
    int n;
} tiny_token;

typedef struct tiny_vocab {
    tiny_token *tokens;         /* [n_vocab] */
    int32_t n;                  /* tokens made so far */
    int32_t left, right;        /* the pair that the next merge joins */
    int32_t row[sizeof corpus]; /* [n_row] the corpus in the tokens made so far */
    int n_row;
    test_random random;
    vouch_text *texts, *merges; /* [n_vocab] */
} tiny_vocab;

int tiny_vocab_letter(int byte, char *out)
{
    int c = byte;
    if (byte <= 0x20) c = 0x100 + byte;
    else if (byte >= 0x7f && byte <= 0xa0) c = 0x121 + byte - 0x7f;
    else if (byte == 0xad) c = 0x143;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    out[0] = (char)(0xc0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3f));
    return 2;
}

static int letters_write(const tiny_token *token, char *out)
{
    int n = 0;
    for (int i = 0; i < token->n; i++) n += tiny_vocab_letter(token->bytes[i], out + n);
    return n;
}

static vouch_text text_copy(const char *data, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    return (vouch_text){copy, size};
}

/* Whether the pair may become a token: its bytes must be new, not too long, and have white space only at the start. */
static int pair_is_new(const tiny_vocab *v, int32_t left, int32_t right, tiny_token *joined)
{
    const tiny_token *a = &v->tokens[left], *b = &v->tokens[right];
    if (left < TINY_BYTES || right < TINY_BYTES || a->n + b->n > LONGEST) return 0;
    if (b->bytes[0] <= ' ' && a->bytes[0] > ' ') return 0;
    *joined = *a;
    memcpy(joined->bytes + a->n, b->bytes, (size_t)b->n);
    joined->n += b->n;
    for (int32_t i = TINY_BYTES; i < v->n; i++)
        if (v->tokens[i].n == joined->n && memcmp(v->tokens[i].bytes, joined->bytes, (size_t)joined->n) == 0) return 0;
    return 1;
}

/* Chooses a pair of neighbours in the corpus or, if 100 attempts fail, any pair of tokens. */
static void pair_choose(tiny_vocab *v, tiny_token *joined)
{
    for (int attempt = 0; attempt < 100 && v->n_row > 1; attempt++) {
        const uint32_t place = test_below(&v->random, (uint32_t)v->n_row - 1);
        v->left = v->row[place];
        v->right = v->row[place + 1];
        if (pair_is_new(v, v->left, v->right, joined)) return;
    }
    do {
        v->left = (int32_t)test_below(&v->random, (uint32_t)v->n);
        v->right = (int32_t)test_below(&v->random, (uint32_t)v->n);
    } while (!pair_is_new(v, v->left, v->right, joined));
}

static void row_join(tiny_vocab *v, int32_t id)
{
    int n = 0;
    for (int i = 0; i < v->n_row; i++) {
        const int pair = i + 1 < v->n_row && v->row[i] == v->left && v->row[i + 1] == v->right;
        v->row[n++] = pair ? id : v->row[i];
        i += pair;
    }
    v->n_row = n;
}

static void merges_learn(tiny_vocab *v, int32_t n_vocab)
{
    for (int i = 0; i < (int)sizeof corpus - 1; i++) v->row[i] = TINY_BYTES + (unsigned char)corpus[i];
    v->n_row = (int)sizeof corpus - 1;
    while (v->n < n_vocab) {
        tiny_token joined;
        char line[4 * LONGEST + 1];
        pair_choose(v, &joined);
        int n = letters_write(&v->tokens[v->left], line);
        line[n++] = ' ';
        n += letters_write(&v->tokens[v->right], line + n);
        v->merges[v->n - TINY_MERGES] = text_copy(line, (size_t)n);
        v->tokens[v->n] = joined;
        row_join(v, v->n++);
    }
}

static void keys_add(vouch_gguf_writer *w, const tiny_vocab *v, const char *pre)
{
    int32_t *kinds = calloc((size_t)v->n, sizeof *kinds);
    if (!kinds) abort();
    for (int32_t i = 0; i < v->n; i++) kinds[i] = i < TINY_THINK ? 3 : i < TINY_BYTES ? 4 : 1;
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
    vouch_gguf_add_text(w, "tokenizer.ggml.pre", pre);
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", v->texts, (size_t)v->n);
    vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, kinds, (size_t)v->n);
    vouch_gguf_add_texts(w, "tokenizer.ggml.merges", v->merges, (size_t)(v->n - TINY_MERGES));
    vouch_gguf_add_u32(w, "tokenizer.ggml.bos_token_id", TINY_IM_START);
    vouch_gguf_add_u32(w, "tokenizer.ggml.eos_token_id", TINY_IM_END);
    vouch_gguf_add_u32(w, "tokenizer.ggml.padding_token_id", TINY_PAD);
    vouch_gguf_add_bool(w, "tokenizer.ggml.add_bos_token", false);
    vouch_gguf_add_text(w, "tokenizer.chat_template",
                        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
                        "{{ '<|im_start|>system\n" TINY_SYSTEM "<|im_end|>\n' }}{% endif %}"
                        "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
                        "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
    free(kinds);
}

void tiny_vocab_add_pre(vouch_gguf_writer *writer, int32_t n_vocab, uint64_t seed, const char *pre)
{
    static const char *const specials[TINY_BYTES] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>",
                                                     "<|pad|>",       "<think>",      "</think>"};
    if (n_vocab < TINY_MERGES) {
        vouch_gguf_add_text(writer, "tokenizer.ggml.model", "none");
        return;
    }
    tiny_vocab *v = calloc(1, sizeof *v);
    if (!v) abort();
    v->random.state = seed;
    v->tokens = calloc((size_t)n_vocab, sizeof *v->tokens);
    v->texts = calloc((size_t)n_vocab, sizeof *v->texts);
    v->merges = calloc((size_t)n_vocab, sizeof *v->merges);
    if (!v->tokens || !v->texts || !v->merges) abort();
    for (int byte = 0; byte < 256; byte++) v->tokens[TINY_BYTES + byte] = (tiny_token){{(unsigned char)byte}, 1};
    v->n = TINY_MERGES;
    merges_learn(v, n_vocab);
    for (int32_t i = 0; i < n_vocab; i++) {
        char letters[2 * LONGEST];
        v->texts[i] = i < TINY_BYTES ? text_copy(specials[i], strlen(specials[i]))
                                     : text_copy(letters, (size_t)letters_write(&v->tokens[i], letters));
    }
    keys_add(writer, v, pre);
    for (int32_t i = 0; i < n_vocab; i++) {
        free((char *)(uintptr_t)v->texts[i].data);
        free((char *)(uintptr_t)v->merges[i].data);
    }
    free(v->tokens);
    free(v->texts);
    free(v->merges);
    free(v);
}

void tiny_vocab_add(vouch_gguf_writer *writer, int32_t n_vocab, uint64_t seed)
{
    tiny_vocab_add_pre(writer, n_vocab, seed, "smollm");
}
