/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the tokenizers: any text, flags and conversation over the tiny vocabulary, with each
 * pre-tokenizer, and over small vocabularies of SentencePiece's kinds.
 *
 *   byte 0   bits 0 and 1: pre-tokenizer; bits 2 and 3: flags; bit 4: as a conversation; bits 5 to 7: 1 to 3 for
 *            a vocabulary of "llama", "gemma4" or "t5" instead
 *   byte 1   low 4 bits: length of the stop text, which follows (0: none)
 *   rest     the text
 *
 * It asserts that the tokens' bytes equal the text (its NFC form for qwen2), that the content of a conversation gives
 * no control tokens, and that a stream shows well-formed UTF-8 without the stop text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "support/model/tiny_vocab.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) abort();                                                                           \
    } while (0)

enum { N_PRES = 4, N_VOCAB = 800 };
static const char *const pres[N_PRES] = {"smollm", "gpt-2", "llama-bpe", "qwen2"};

/* Opened once and never closed. They stay reachable, so leak checkers don't report them. */
static vouch_tokenizer *tokenizers[N_PRES];

static void tokenizers_open(void)
{
    for (int i = 0; i < N_PRES && !tokenizers[i]; i++) {
        vouch_gguf_writer *writer;
        vouch_gguf *gguf;
        void *bytes;
        size_t size;
        MUST(vouch_gguf_writer_open(&writer, NULL) == VOUCH_OK);
        tiny_vocab_add_pre(writer, N_VOCAB, 1, pres[i]);
        MUST(vouch_gguf_write_bytes(writer, &bytes, &size, NULL) == VOUCH_OK);
        MUST(vouch_gguf_open_bytes(&gguf, bytes, size, "tiny", NULL) == VOUCH_OK);
        MUST(vouch_tokenizer_open(&tokenizers[i], gguf, NULL, NULL) == VOUCH_OK);
        vouch_gguf_close(gguf);
        vouch_gguf_writer_close(writer);
        free(bytes);
    }
}

enum { N_KINDS = 3 };
static const char *const kinds[N_KINDS] = {"llama", "gemma4", "t5"};
static vouch_tokenizer *sentencepieces[N_KINDS];

/* Opens a vocabulary of <unk>, <s>, </s>, 256 bytes and some pieces. The last three pieces have merges. */
static void sentencepiece_open(int kind)
{
    static const char *const pieces[] = {"\xe2\x96\x81", "t",        "h",       "e",  "a",   "1",
                                         "\n",           "\xc3\xa9", "<think>", "th", "the", "\xe2\x96\x81the"};
    static const vouch_text merges[] = {{"t h", 3}, {"th e", 4}, {"\xe2\x96\x81 the", 7}};
    enum { N_PIECES = sizeof pieces / sizeof *pieces, N = 259 + N_PIECES };
    static char names[256][8];
    vouch_text texts[N] = {{"<unk>", 5}, {"<s>", 3}, {"</s>", 4}};
    int32_t types[N] = {2, 3, 3};
    float scores[N] = {0};
    for (int i = 0; i < 256; i++) {
        texts[3 + i] = (vouch_text){names[i], (size_t)snprintf(names[i], 8, "<0x%02X>", (unsigned)i & 0xff)};
        types[3 + i] = 6;
    }
    for (int i = 0; i < N_PIECES; i++) {
        texts[259 + i] = (vouch_text){pieces[i], strlen(pieces[i])};
        types[259 + i] = pieces[i][0] == '<' ? 4 : 1;
        scores[259 + i] = (float)-(i % 5);
    }
    vouch_gguf_writer *writer;
    vouch_gguf *gguf;
    void *bytes;
    size_t size;
    MUST(vouch_gguf_writer_open(&writer, NULL) == VOUCH_OK);
    vouch_gguf_add_text(writer, "tokenizer.ggml.model", kinds[kind]);
    vouch_gguf_add_texts(writer, "tokenizer.ggml.tokens", texts, N);
    vouch_gguf_add_array(writer, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, types, N);
    vouch_gguf_add_array(writer, "tokenizer.ggml.scores", VOUCH_GGUF_F32, scores, N);
    vouch_gguf_add_texts(writer, "tokenizer.ggml.merges", merges, 3);
    MUST(vouch_gguf_write_bytes(writer, &bytes, &size, NULL) == VOUCH_OK);
    MUST(vouch_gguf_open_bytes(&gguf, bytes, size, "tiny", NULL) == VOUCH_OK);
    MUST(vouch_tokenizer_open(&sentencepieces[kind], gguf, NULL, NULL) == VOUCH_OK);
    vouch_gguf_close(gguf);
    vouch_gguf_writer_close(writer);
    free(bytes);
}

static void check_stream(const vouch_tokenizer *tokenizer, const int32_t *tokens, size_t n, const char *stop)
{
    vouch_stream *stream;
    char *shown = malloc(n * 64 + 64);
    size_t n_shown = 0;
    MUST(shown);
    if (vouch_stream_open(&stream, tokenizer, &stop, stop ? 1 : 0, 1, NULL) == VOUCH_OK) {
        for (size_t i = 0; i <= n; i++) {
            if (i == n) vouch_stream_finish(stream);
            else if (vouch_stream_push(stream, tokens[i])) i = n;
            const vouch_text text = vouch_stream_take(stream);
            MUST(vouch_utf8_valid_prefix(text.data, text.size) == text.size);
            if (text.size) memcpy(shown + n_shown, text.data, text.size);
            n_shown += text.size;
        }
        if (stop) MUST(!memmem(shown, n_shown, stop, strlen(stop)));
        vouch_stream_close(stream);
    }
    free(shown);
}

/* The bytes of the tokens must equal the text, or its NFC form for a tokenizer that normalises. */
static void check_bytes(const vouch_tokenizer *tokenizer, const int32_t *tokens, size_t n, const char *text,
                        size_t n_text, bool nfc)
{
    char *normal = NULL;
    size_t n_normal, at = 0;
    if (nfc) {
        if (vouch_utf8_valid_prefix(text, n_text) != n_text) return;
        MUST(vouch_nfc(text, n_text, &normal, &n_normal, NULL) == VOUCH_OK);
        if (normal) {
            text = normal;
            n_text = n_normal;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const vouch_text bytes = vouch_tokenizer_bytes(tokenizer, tokens[i]);
        MUST(at + bytes.size <= n_text && memcmp(text + at, bytes.data, bytes.size) == 0);
        at += bytes.size;
    }
    MUST(at == n_text);
    free(normal);
}

static int32_t *encode(const vouch_tokenizer *tokenizer, bool chat, const char *text, size_t n_text, unsigned flags,
                       size_t *n)
{
    const vouch_message messages[] = {{"user", text}, {"assistant", text}};
    size_t again;
    vouch_status status = chat ? vouch_tokenizer_encode_chat(tokenizer, messages, 2, NULL, 0, n, NULL)
                               : vouch_tokenizer_encode(tokenizer, text, n_text, flags, NULL, 0, n, NULL);
    MUST(status == (*n ? VOUCH_E_BUFFER : VOUCH_OK));
    int32_t *tokens = malloc((*n + 1) * sizeof *tokens);
    MUST(tokens);
    status = chat ? vouch_tokenizer_encode_chat(tokenizer, messages, 2, tokens, *n, &again, NULL)
                  : vouch_tokenizer_encode(tokenizer, text, n_text, flags, tokens, *n, &again, NULL);
    MUST(status == VOUCH_OK && again == *n);
    return tokens;
}

/* Checks that text becomes special tokens only where `flags` allow it, and that the bytes of gemma4's tokens are the
 * text. The tokens of llama have a prefix besides, and t5 may lose characters. */
static void check_sentencepiece(int kind, const char *text, size_t n_text, unsigned flags, const char *stop)
{
    if (!sentencepieces[kind]) sentencepiece_open(kind);
    const vouch_tokenizer *tokenizer = sentencepieces[kind];
    size_t n, at = 0;
    int32_t *tokens = encode(tokenizer, false, text, n_text, flags, &n);
    char *shown = malloc(n * 8 + 1);
    MUST(shown);
    for (size_t i = 0; i < n; i++) {
        const vouch_text bytes = vouch_tokenizer_bytes(tokenizer, tokens[i]);
        if (!flags) MUST(!vouch_tokenizer_is_special(tokenizer, tokens[i]) || tokens[i] == 2);
        memcpy(shown + at, bytes.data, bytes.size);
        at += bytes.size;
    }
    if (kind == 1 && !flags && !memmem(text, n_text, "\xe2\x96\x81", 3))
        MUST(at == n_text && memcmp(shown, text, at) == 0);
    check_stream(tokenizer, tokens, n, stop);
    free(shown);
    free(tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    tokenizers_open();
    const int pre = data[0] % N_PRES;
    const bool chat = data[0] & 16;
    const unsigned flags = data[0] >> 2 & 3;
    const size_t n_stop = data[1] % 16 < size - 2 ? data[1] % 16 : 0, n_text = size - 2 - n_stop;
    char *stop = n_stop ? strndup((const char *)data + 2, n_stop) : NULL;
    char *text = malloc(n_text + 1);
    MUST(text);
    memcpy(text, data + 2 + n_stop, n_text);
    text[n_text] = 0;

    const int kind = data[0] >> 5;
    if (kind > 0 && kind <= N_KINDS) {
        check_sentencepiece(kind - 1, text, n_text, flags, stop);
        free(text);
        free(stop);
        return 0;
    }
    size_t n;
    int32_t *tokens = encode(tokenizers[pre], chat, text, n_text, flags, &n);
    size_t controls = 0;
    for (size_t i = 0; i < n; i++) {
        MUST(tokens[i] >= 0 && tokens[i] < N_VOCAB);
        controls += vouch_tokenizer_is_special(tokenizers[pre], tokens[i]);
    }
    if (chat) MUST(controls == 3 * 2 + 1);
    else if (!(flags & VOUCH_TOKENIZE_SPECIAL)) MUST(controls == 0);
    if (!chat) check_bytes(tokenizers[pre], tokens, n, text, n_text, pre == 3);
    check_stream(tokenizers[pre], tokens, n, stop);
    free(tokens);
    free(text);
    free(stop);
    return 0;
}
