/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the reader of answers: a byte that chooses the form, a byte of flags, a byte for the length of
 * pieces, and the answer.
 *
 * It asserts that nothing waits at the end, that where the answer is cut into pieces changes nothing, and that a
 * complete call has arguments.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call/reader.h"
#include "support/program/call_templates.h"
#include "support/model/tiny_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)             \
    do {                            \
        if (!(condition)) abort();  \
    } while (0)

enum { MOST_FORMS = 64 };
static server_form *forms[MOST_FORMS]; /* [n_call_templates] */
static json_t *tools;

static void open_forms(void)
{
    char path[] = "/tmp/vouch-fuzz-XXXXXX";
    const int fd = mkstemp(path);
    MUST(fd >= 0 && close(fd) == 0 && n_call_templates <= MOST_FORMS);
    tiny_model_write(path, &(tiny_model_options){.seed = 7});
    for (size_t i = 0; i < n_call_templates; i++) {
        vouch_model_options o = vouch_model_options_default();
        vouch_model *model;
        o.text_only = true;
        o.chat_template = call_templates[i].text;
        MUST(vouch_model_open(&model, path, &o, NULL) == VOUCH_OK);
        MUST((forms[i] = server_form_open(model)) != NULL);
        vouch_model_close(model);
    }
    unlink(path);
    static const char described[] =
        "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": \"object\", "
        "\"properties\": {\"word\": {\"type\": \"string\"}, \"x\": {\"type\": [\"integer\", \"null\"]}}}}}]";
    tools = json_loads(described, 0, NULL);
    MUST(tools);
}

static void read_pieces(server_reader *reader, const char *text, size_t n, size_t piece, bool is_cut)
{
    for (size_t at = 0; at < n; at += piece) server_reader_push(reader, text + at, n - at < piece ? n - at : piece);
    server_reader_end(reader, is_cut);
    MUST(reader->text.n == 0);
}

static void check_same(const server_text *a, const server_text *b)
{
    MUST(a->n == b->n && (a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!tools) open_forms();
    if (size < 3) return 0;
    const server_form *form = forms[data[0] % n_call_templates];
    const bool thinks = data[1] & 1, is_cut = data[1] & 2, only_one = data[1] & 4;
    const json_t *with = data[1] & 8 ? NULL : tools;
    server_reader one, other;
    server_reader_begin(&one, form, with, thinks);
    server_reader_begin(&other, form, with, thinks);
    one.only_one = other.only_one = only_one;
    read_pieces(&one, (const char *)data + 3, size - 3, 1 + data[2] % 16, is_cut);
    read_pieces(&other, (const char *)data + 3, size - 3, size, is_cut);
    check_same(&one.content, &other.content);
    check_same(&one.thoughts, &other.thoughts);
    MUST(one.n_calls == other.n_calls);
    for (size_t i = 0; i < one.n_calls; i++) {
        MUST(strcmp(one.calls[i].name, other.calls[i].name) == 0);
        check_same(&one.calls[i].arguments, &other.calls[i].arguments);
        MUST(!one.calls[i].is_over || one.calls[i].arguments.n > 0);
    }
    server_reader_free(&one);
    server_reader_free(&other);
    return 0;
}
