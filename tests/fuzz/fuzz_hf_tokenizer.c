/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the tokenizers of Hugging Face folders.
 *
 *   byte 0   which file the rest is: 0 tokenizer.json, 1 tokenizer.model, 2 tokenizer_config.json, 3 vocab.json
 *   rest     its bytes; the folder's other files are small and valid
 *
 * It asserts that errors are those of hf_tokenizer.h, and that a tokenizer which opens can encode texts, with as many
 * tokens as it counts, all inside the vocabulary.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/hf/vocabulary/hf_tokenizer.h"
#include "os/os.h"
#include "support/test.h"
#include "text/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)             \
    do {                            \
        if (!(condition)) abort();  \
    } while (0)

enum { TOKENIZER, SENTENCEPIECE, CONFIG, VOCAB, MERGES, N_FILES };
static const char *const names[N_FILES] = {"tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json",
                                           "merges.txt"};
static const char *folder;

static const char *path_of(int file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, names[file]);
    return path;
}

static void file_write(int file, const void *bytes, size_t size)
{
    FILE *out = fopen(path_of(file), "wb");
    MUST(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
}

static void folder_make(void)
{
    static const char vocab[] = "{\"a\": 0, \"b\": 1, \"ab\": 2, \"<s>\": 3}";
    static const char config[] = "{\"bos_token\": \"<s>\", \"chat_template\": \"{{ messages }}\"}";
    if (!folder) {
        folder = test_path("folder");
        MUST(vouch_os_folder_make(folder, 0700));
    }
    for (int i = 0; i < N_FILES; i++) unlink(path_of(i));
    file_write(CONFIG, config, sizeof config - 1);
    file_write(VOCAB, vocab, sizeof vocab - 1);
    file_write(MERGES, "a b\n", 4);
}

static void texts_encode(const vouch_tokenizer *tokenizer)
{
    static const char *const texts[] = {"", "Hello  world, it's 1234567!\n\n", "<s>a<think> \xc3\xa9 e\xcc\x81 <R>\t\n",
                                        "\xe4\xbd\xa0\xff\xef\xbd\x9e\xe3\x80\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n, again;
        const vouch_status status =
            vouch_tokenizer_encode(tokenizer, texts[i], strlen(texts[i]), VOUCH_TOKENIZE_SPECIAL, NULL, 0, &n, NULL);
        MUST(status == (n ? VOUCH_E_BUFFER : VOUCH_OK));
        int32_t *tokens = malloc((n + 1) * sizeof *tokens);
        MUST(tokens && vouch_tokenizer_encode(tokenizer, texts[i], strlen(texts[i]), VOUCH_TOKENIZE_SPECIAL, tokens, n,
                                              &again, NULL) == VOUCH_OK);
        MUST(again == n);
        for (size_t j = 0; j < n; j++) MUST(tokens[j] >= 0 && tokens[j] < vouch_tokenizer_size(tokenizer));
        free(tokens);
    }
}

static bool is_refusal(vouch_status status)
{
    return status == VOUCH_E_FORMAT || status == VOUCH_E_UNSUPPORTED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    folder_make();
    file_write(data[0] % MERGES, data + 1, size - 1);
    vouch_gguf_writer *writer;
    MUST(vouch_gguf_writer_open(&writer, NULL) == VOUCH_OK);
    const vouch_status added = vouch_hf_tokenizer_add(writer, folder, 0, NULL);
    MUST(added == VOUCH_OK || is_refusal(added));
    if (added == VOUCH_OK) {
        void *bytes;
        size_t n_bytes;
        vouch_gguf *gguf;
        vouch_tokenizer *tokenizer;
        MUST(vouch_gguf_write_bytes(writer, &bytes, &n_bytes, NULL) == VOUCH_OK);
        MUST(vouch_gguf_open_bytes(&gguf, bytes, n_bytes, "folder", NULL) == VOUCH_OK);
        const vouch_status opened = vouch_tokenizer_open(&tokenizer, gguf, NULL, NULL);
        MUST(opened == VOUCH_OK || is_refusal(opened));
        if (opened == VOUCH_OK) texts_encode(tokenizer);
        vouch_tokenizer_close(tokenizer);
        vouch_gguf_close(gguf);
        free(bytes);
    }
    vouch_gguf_writer_close(writer);
    return 0;
}
