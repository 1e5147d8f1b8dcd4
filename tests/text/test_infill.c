/* SPDX-License-Identifier: MIT */
/* Text in the middle: the tokens for it, the prompt, how it is cut, and the server's two ways to ask for it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/http.h"
#include "support/model/tiny_model.h"
#include "support/model/tokenizers.h"
#include "vouch.h"

/* Ordinary tokens that the tiny model's file names for text in the middle. */
enum { PREFIX = 300, SUFFIX, MIDDLE, REPOSITORY, FILE_MARK };

/* ------------------------------------------------------------------- tokens */

/* llama.cpp knows these names. Files mark them as control tokens, as vocabulary, or not at all. */
static void names_are_known(void **state)
{
    (void)state;
    static const char *const names[][3] = {
        {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},
        {"<fim-prefix>", "<fim-suffix>", "<fim-middle>"},
        {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},
        {"<\xef\xbd\x9c"
         "fim\xe2\x96\x81"
         "begin\xef\xbd\x9c>",
         "<\xef\xbd\x9c"
         "fim\xe2\x96\x81hole\xef\xbd\x9c>",
         "<\xef\xbd\x9c"
         "fim\xe2\x96\x81"
         "end\xef\xbd\x9c>"},
        {"<PRE>", "<SUF>", "<MID>"},
        {"\xe2\x96\x81<PRE>", "\xe2\x96\x81<SUF>", "\xe2\x96\x81<MID>"},
        {"<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"},
        {"<|prefix|>", "<|suffix|>", "<|middle|>"},
    };
    static const int32_t kinds[] = {3, 4, 1};
    for (size_t row = 0; row < sizeof names / sizeof *names; row++)
        for (size_t kind = 0; kind < 3; kind++) {
            vouch_gguf_writer *w = writer_open();
            vouch_text texts[5] = {{"a", 1}, {"b", 1}};
            int32_t all[5] = {1, 1};
            for (int i = 0; i < 3; i++) texts[2 + i] = (vouch_text){names[row][i], strlen(names[row][i])};
            for (int i = 0; i < 3; i++) all[2 + i] = kinds[kind];
            vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
            vouch_gguf_add_text(w, "tokenizer.ggml.pre", "smollm");
            vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", texts, 5);
            vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, all, 5);
            vouch_gguf_add_texts(w, "tokenizer.ggml.merges", NULL, 0);
            vouch_tokenizer *t;
            vouch_error err;
            if (tokenizer_finish(w, &t, &err)) fail_msg("%s: %s", names[row][0], err.message);
            for (int part = 0; part < 3; part++) {
                assert_int_equal(vouch_tokenizer_infill(t, (vouch_infill_part)part), 2 + part);
                assert_true(vouch_tokenizer_is_special(t, 2 + part));
                assert_false(vouch_tokenizer_ends_answer(t, 2 + part));
            }
            assert_int_equal(vouch_tokenizer_infill(t, VOUCH_INFILL_FILE), -1);
            vouch_tokenizer_close(t);
        }
}

static void add_keys(vouch_gguf_writer *w, void *user)
{
    const bool *with_files = user;
    vouch_gguf_add_u32(w, "tokenizer.ggml.prefix_token_id", 0); /* the newer key counts */
    vouch_gguf_add_u32(w, "tokenizer.ggml.fim_pre_token_id", PREFIX);
    vouch_gguf_add_u32(w, "tokenizer.ggml.suffix_token_id", SUFFIX);
    vouch_gguf_add_u32(w, "tokenizer.ggml.fim_mid_token_id", MIDDLE);
    vouch_gguf_add_u32(w, "tokenizer.ggml.fim_pad_token_id", 1u << 30); /* outside the vocabulary: absent */
    if (!*with_files) return;
    vouch_gguf_add_u32(w, "tokenizer.ggml.fim_rep_token_id", REPOSITORY);
    vouch_gguf_add_u32(w, "tokenizer.ggml.fim_sep_token_id", FILE_MARK);
}

static char infills[256], infills_files[256], plain[256]; /* without and with tokens for files; without any */

static vouch_model *model_open(const char *path)
{
    vouch_model *model;
    vouch_error err;
    const vouch_model_options options = {.text_only = true};
    if (vouch_model_open(&model, path, &options, &err)) fail_msg("%s", err.message);
    return model;
}

static void keys_are_read(void **state)
{
    (void)state;
    vouch_model *model = model_open(infills_files), *without = model_open(infills), *none = model_open(plain);
    const vouch_model_info *info = vouch_model_get_info(model);
    assert_int_equal(info->token_fim_prefix, PREFIX);
    assert_int_equal(info->token_fim_suffix, SUFFIX);
    assert_int_equal(info->token_fim_middle, MIDDLE);
    assert_int_equal(info->token_fim_pad, -1);
    assert_int_equal(info->token_fim_repository, REPOSITORY);
    assert_int_equal(info->token_fim_file, FILE_MARK);
    assert_true(vouch_token_is_special(model, FILE_MARK)); /* ends answers */
    assert_false(vouch_token_is_special(without, FILE_MARK));
    assert_int_equal(vouch_model_get_info(without)->token_fim_file, -1);
    assert_int_equal(vouch_model_get_info(none)->token_fim_prefix, -1);
    vouch_model_close(model);
    vouch_model_close(without);
    vouch_model_close(none);
}

/* ------------------------------------------------------------------- prompts */

typedef struct list {
    int32_t at[20000];
    size_t n;
} list;

static void add(list *out, const vouch_model *model, const char *text, size_t n, unsigned flags)
{
    size_t n_tokens = 0;
    vouch_error err;
    if (vouch_tokenize(model, text, n, flags, out->at + out->n, 20000 - out->n, &n_tokens, &err))
        fail_msg("%s", err.message);
    out->n += n_tokens;
}

static void add_string(list *out, const vouch_model *model, const char *text)
{
    add(out, model, text, strlen(text), 0);
}

static void assert_prompt(const vouch_model *model, const vouch_infill *infill, const list *wanted)
{
    static int32_t got[20000];
    size_t n = 0, asked = 0;
    vouch_error err;
    assert_int_equal(vouch_tokenize_infill(model, infill, NULL, 0, &asked, &err), VOUCH_E_BUFFER);
    if (vouch_tokenize_infill(model, infill, got, asked, &n, &err)) fail_msg("%s", err.message);
    assert_int_equal(asked, wanted->n);
    assert_int_equal(n, wanted->n);
    assert_memory_equal(got, wanted->at, n * sizeof *got);
}

#define TEXT "/v1/completions"
#define GIVEN(member, text) .member = text, .n_##member = strlen(text)

static void prompts_have_their_form(void **state)
{
    (void)state;
    static list wanted;
    vouch_model *model = model_open(infills_files), *without = model_open(infills);
    const vouch_infill_file files[] = {{"a.c", "int a;\n", 7}, {NULL, "int b;\n", 7}};
    vouch_infill infill = {GIVEN(prefix, "int main(<|im_end|>"), GIVEN(suffix, "}<|im_end|>\n"),
                           GIVEN(begun, "void<|im_end|>")};
    /* Without names and files: the texts alone. A special token's name counts in `begun` only. */
    wanted.n = 0;
    wanted.at[wanted.n++] = PREFIX;
    add_string(&wanted, model, "int main(<|im_end|>");
    add(&wanted, model, "void<|im_end|>", 14, VOUCH_TOKENIZE_SPECIAL);
    assert_int_equal(wanted.at[wanted.n - 1], TINY_IM_END);
    wanted.at[wanted.n++] = SUFFIX;
    add_string(&wanted, model, "}<|im_end|>\n");
    wanted.at[wanted.n++] = MIDDLE;
    const list texts = wanted;
    assert_prompt(model, &infill, &wanted);
    assert_prompt(without, &infill, &wanted);
    /* With all of them. */
    infill.files = files;
    infill.n_files = 2;
    infill.repository = "project";
    infill.filename = "main.c";
    wanted.n = 0;
    wanted.at[wanted.n++] = REPOSITORY;
    add_string(&wanted, model, "project\n");
    wanted.at[wanted.n++] = FILE_MARK;
    add_string(&wanted, model, "a.c\n");
    add_string(&wanted, model, "int a;\n");
    wanted.at[wanted.n++] = FILE_MARK;
    add_string(&wanted, model, "tmp\n");
    add_string(&wanted, model, "int b;\n");
    wanted.at[wanted.n++] = FILE_MARK;
    add_string(&wanted, model, "main.c\n");
    memcpy(wanted.at + wanted.n, texts.at, texts.n * sizeof *texts.at);
    wanted.n += texts.n;
    assert_prompt(model, &infill, &wanted);
    /* A model without tokens for files gets llama.cpp's separator. */
    wanted.n = 0;
    for (int i = 0; i < 2; i++) {
        add_string(&wanted, model, "\n\n--- snippet ---\n\n");
        add_string(&wanted, model, i == 0 ? "int a;\n" : "int b;\n");
    }
    memcpy(wanted.at + wanted.n, texts.at, texts.n * sizeof *texts.at);
    wanted.n += texts.n;
    assert_prompt(without, &infill, &wanted);
    vouch_model_close(model);
    vouch_model_close(without);
}

/* Bytes without merges, so that n bytes are n tokens: control characters that the tiny text never pairs. */
static char *bytes_of(size_t n, char byte)
{
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, byte, n);
    text[n] = '\0';
    return text;
}

/* The cut keeps the end of the prefix, the beginning of the suffix and the end of the files. In a context of 4096 and
 * more it is llama.cpp's; in any, the answer has room. */
static void prompts_are_cut(void **state)
{
    (void)state;
    vouch_model *model = model_open(infills_files);
    test_random random = {3};
    static int32_t got[20000];
    for (int round = 0; round < 300; round++) {
        const int32_t n_ctx =
            round < 100 ? 4096 + (int32_t)test_below(&random, 4000) : 16 + (int32_t)test_below(&random, 4200);
        const size_t n_prefix = test_below(&random, 3000), n_suffix = test_below(&random, 2000),
                     n_begun = test_below(&random, 2) ? 0 : test_below(&random, 20),
                     n_extra = test_below(&random, 2) ? 0 : test_below(&random, 7000);
        char *prefix = bytes_of(n_prefix, 1), *suffix = bytes_of(n_suffix, 2), *begun = bytes_of(n_begun, 3),
             *extra = bytes_of(n_extra, 4);
        const int32_t n_predict = test_below(&random, 2) ? 0 : 1 + (int32_t)test_below(&random, 300);
        const vouch_infill_file file = {"", extra, n_extra};
        const vouch_infill infill = {.prefix = prefix,
                                     .n_prefix = n_prefix,
                                     .suffix = suffix,
                                     .n_suffix = n_suffix,
                                     .begun = begun,
                                     .n_begun = n_begun,
                                     .files = &file,
                                     .n_files = 1,
                                     .n_ctx = n_ctx,
                                     .n_predict = n_predict};
        size_t n = 0, count[5] = {0}, n_files = 0;
        vouch_error err;
        if (vouch_tokenize_infill(model, &infill, got, 20000, &n, &err)) fail_msg("%s", err.message);
        for (size_t i = 0; i < n; i++) {
            const int32_t byte = got[i] - TINY_BYTES;
            if (byte >= 1 && byte <= 4) count[byte]++;
        }
        while (got[n_files] != PREFIX) n_files++;
        /* One run each, in order, with a mark before each but `begun`. */
        assert_int_equal(n, n_files + count[1] + count[2] + count[3] + 3);
        assert_int_equal(got[n_files + 1 + count[1] + count[3]], SUFFIX);
        assert_int_equal(got[n - 1], MIDDLE);
        assert_int_equal(count[3], n_begun);
        const size_t all_files = n_extra + 2; /* FILE_MARK, the line end of the name "" */
        assert_true(n_files <= all_files);
        if (n_ctx >= 4096) {
            const size_t most_suffix = 512 - 2 - n_begun, room = (size_t)n_ctx - 2048 + 2;
            assert_int_equal(count[1], n_prefix < 1536 ? n_prefix : 1536);
            assert_int_equal(count[2], n_suffix < most_suffix ? n_suffix : most_suffix);
            const size_t llama = all_files < room ? all_files : room;
            if (n - n_files + llama + 4 + 300 < (size_t)n_ctx) assert_int_equal(n_files, llama);
        }
        const int32_t answer = n_predict > 0 ? n_predict : n_ctx / 4 < 256 ? n_ctx / 4 : 256;
        if (n_ctx >= 128 && answer <= n_ctx / 2) assert_true((int32_t)n + answer <= n_ctx);
        free(prefix);
        free(suffix);
        free(begun);
        free(extra);
    }
    vouch_model_close(model);
}

static void refusals_say_why(void **state)
{
    (void)state;
    vouch_model *model = model_open(infills), *none = model_open(plain);
    size_t n;
    vouch_error err;
    vouch_infill infill = {GIVEN(prefix, "a"), GIVEN(suffix, "b"), .n_ctx = 15};
    assert_int_equal(vouch_tokenize_infill(model, &infill, NULL, 0, &n, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "n_ctx is 15"));
    infill.n_ctx = -1;
    assert_int_equal(vouch_tokenize_infill(model, &infill, NULL, 0, &n, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_tokenize_infill(none, &infill, NULL, 0, &n, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "prefix suffix middle"));
    vouch_model_close(model);
    vouch_model_close(none);
}

/* -------------------------------------------------------------------- server */

static json_t *post(const http_server *server, const char *path, const char *body, int status)
{
    http_reply reply = http_post(server->port, path, body);
    if (reply.status != status) fail_msg("%s: status %d: %s", body, reply.status, reply.body);
    return http_json(&reply);
}

#define SAME ", \"temperature\": 0, \"ignore_eos\": true, \"seed\": 1"

/* /infill and `suffix` give the answer of /completion to the tokens of vouch_tokenize_infill, with speculation on and
 * off. */
static void the_server_fills_in(void **state)
{
    (void)state;
    static list wanted;
    http_server server = http_server_start(ARGUMENTS(infills_files));
    vouch_model *model = model_open(infills_files);
    const vouch_infill_file file = {"a.c", "int a;\n", 7};
    const vouch_infill cases[] = {
        {GIVEN(prefix, "int main("), GIVEN(suffix, "}\n"), GIVEN(begun, "void"), .files = &file, .n_files = 1,
         .repository = "myproject", .filename = "filename", .n_ctx = 512, .n_predict = 20},
        {GIVEN(prefix, "int main("), GIVEN(suffix, "}\n")},
    };
    static const char *const paths[] = {"/infill", TEXT};
    for (int i = 0; i < 4; i++) {
        const vouch_infill *c = &cases[i / 2];
        char given[8000] = "", body[9000];
        vouch_error err;
        const char *drafters = i % 2 ? "none" : "auto";
        if (vouch_tokenize_infill(model, c, wanted.at, 20000, &wanted.n, &err)) fail_msg("%s", err.message);
        for (size_t t = 0; t < wanted.n; t++)
            snprintf(given + strlen(given), sizeof given - strlen(given), "%s%d", t ? ", " : "", wanted.at[t]);
        snprintf(body, sizeof body, "{\"prompt\": [%s], \"n_predict\": 20" SAME "}", given);
        json_t *direct = post(&server, "/completion", body, 200);
        if (i / 2 == 0)
            snprintf(body, sizeof body,
                     "{\"input_prefix\": \"int main(\", \"input_suffix\": \"}\\n\", \"prompt\": \"void\", "
                     "\"input_extra\": [{\"filename\": \"a.c\", \"text\": \"int a;\\n\"}], \"n_predict\": 20, "
                     "\"speculative\": {\"drafters\": \"%s\"}" SAME "}",
                     drafters);
        else
            snprintf(body, sizeof body,
                     "{\"prompt\": \"int main(\", \"suffix\": \"}\\n\", \"max_tokens\": 20, \"speculative\": "
                     "{\"drafters\": \"%s\"}" SAME "}",
                     drafters);
        json_t *answer = post(&server, paths[i / 2], body, 200);
        const char *text = http_text_at(answer, i / 2 ? "choices.0.text" : "content");
        assert_string_equal(text, http_text_at(direct, "content"));
        const json_t *count = http_at(answer, i / 2 ? "usage.prompt_tokens" : "tokens_evaluated");
        assert_int_equal(json_integer_value(count), (json_int_t)wanted.n);
        json_decref(direct);
        json_decref(answer);
    }
    /* `prompt` is "" unless given; a stream has the same text. */
    json_t *bare =
        post(&server, "/infill", "{\"input_prefix\": \"a\", \"input_suffix\": \"b\", \"n_predict\": 3" SAME "}", 200);
    assert_int_equal(json_integer_value(http_at(bare, "tokens_predicted")), 3);
    json_decref(bare);
    vouch_model_close(model);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* Requests as editors send them: empty sides, no files, streams, several answers. */
static void odd_requests_are_filled_in(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body;
        int n_prompt, n_answer; /* tokens */
    } cases[] = {
        {"/infill", "\"input_prefix\": \"\", \"input_suffix\": \"\", \"n_predict\": 3", 3, 3},
        {"/infill", "\"input_prefix\": \"\\u0001\", \"input_suffix\": \"\", \"n_predict\": 3", 4, 3},
        {"/infill", "\"input_prefix\": \"\", \"input_suffix\": \"\\u0001\\u0002\", \"n_predict\": 3", 5, 3},
        {"/infill", "\"input_prefix\": \"\\u0001\", \"input_suffix\": \"\\u0002\", \"n_predict\": 0", 5, 0},
        {"/infill", "\"input_prefix\": \"\", \"input_suffix\": \"\", \"input_extra\": [], \"n_predict\": 1", 3, 1},
        {"/infill",
         "\"input_prefix\": \"\", \"input_suffix\": \"\", \"input_extra\": null, \"prompt\": null, "
         "\"n_predict\": 1",
         3, 1},
        {"/infill", "\"input_prefix\": \"\\r\\n\\r\", \"input_suffix\": \"\", \"n_predict\": 1", 6, 1},
        {"/infill", "\"input_prefix\": \"\\ud83d\\ude00\", \"input_suffix\": \"\", \"n_predict\": 1", 6, 1},
        {"/infill",
         "\"input_prefix\": \"\", \"input_suffix\": \"\", \"prompt\": \"\\u0001\", \"n_predict\": 2, "
         "\"t_max_predict_ms\": null, \"cache_prompt\": true",
         4, 2},
        {TEXT, "\"prompt\": \"\\u0001\", \"suffix\": \"\\u0002\", \"max_tokens\": 3", 5, 3},
        {TEXT, "\"prompt\": \"\", \"suffix\": \"\\u0002\", \"max_tokens\": 3", 4, 3},
        {TEXT, "\"prompt\": \"\\u0001\", \"suffix\": null, \"max_tokens\": 3", 1, 3},
        {TEXT, "\"prompt\": \"\\u0001\", \"suffix\": \"\", \"max_tokens\": 3", 1, 3},
        {TEXT, "\"prompt\": \"\\u0001\", \"suffix\": \"\\u0002\", \"max_tokens\": 3, \"n\": 2", 5, 6},
    };
    http_server server = http_server_start(ARGUMENTS(infills));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        const bool is_text = strcmp(cases[i].path, TEXT) == 0;
        snprintf(body, sizeof body, "{%s" SAME "}", cases[i].body);
        json_t *answer = post(&server, cases[i].path, body, 200);
        const json_int_t n_prompt =
            json_integer_value(http_at(answer, is_text ? "usage.prompt_tokens" : "tokens_evaluated"));
        const json_int_t n_answer =
            json_integer_value(http_at(answer, is_text ? "usage.completion_tokens" : "tokens_predicted"));
        if (n_prompt != cases[i].n_prompt || n_answer != cases[i].n_answer)
            fail_msg("%s: %d and %d tokens", body, (int)n_prompt, (int)n_answer);
        /* A stream has the same text. */
        char streamed[2000] = "";
        snprintf(body, sizeof body, "{%s" SAME ", \"stream\": true}", cases[i].body);
        http_reply reply = http_post(server.port, cases[i].path, body);
        bool is_done;
        json_t *events = http_events(&reply, &is_done), *event;
        size_t e;
        json_array_foreach(events, e, event) {
            const json_t *piece = http_at(event, is_text ? "choices.0.text" : "content");
            if (json_is_string(piece) && json_integer_value(http_at(event, "choices.0.index")) == 0)
                strcat(streamed, json_string_value(piece));
        }
        assert_string_equal(streamed, http_text_at(answer, is_text ? "choices.0.text" : "content"));
        json_decref(events);
        http_reply_free(&reply);
        json_decref(answer);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void bad_requests_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body, *param, *says;
    } cases[] = {
        {"/infill", "{\"input_suffix\": \"b\"}", "input_prefix", "got nothing"},
        {"/infill", "{\"input_prefix\": \"b\"}", "input_suffix", "got nothing"},
        {"/infill", "{\"input_prefix\": 1, \"input_suffix\": \"b\"}", "input_prefix", "expected a string"},
        {"/infill", "{\"input_prefix\": \"a\", \"input_suffix\": \"b\", \"prompt\": [1]}", "prompt",
         "expected a string"},
        {"/infill", "{\"input_prefix\": \"a\", \"input_suffix\": \"b\", \"input_extra\": {}}", "input_extra",
         "expected an array"},
        {"/infill", "{\"input_prefix\": \"a\", \"input_suffix\": \"b\", \"input_extra\": [{\"filename\": \"x\"}]}",
         "input_extra", "element 0"},
        {"/infill",
         "{\"input_prefix\": \"a\", \"input_suffix\": \"b\", \"input_extra\": [{\"text\": \"x\", "
         "\"filename\": 3}]}",
         "input_extra", "element 0"},
        {TEXT, "{\"prompt\": [1, 2], \"suffix\": \"b\"}", "prompt", "expected a string"},
        {TEXT, "{\"prompt\": \"a\", \"suffix\": 2}", "suffix", "expected a string"},
        {TEXT, "{\"prompt\": \"a\", \"suffix\": \"b\", \"echo\": true}", "suffix", "without echo"},
    };
    http_server server = http_server_start(ARGUMENTS(infills));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *body = post(&server, cases[i].path, cases[i].body, 400);
        assert_string_equal(http_text_at(body, "error.param"), cases[i].param);
        if (!strstr(http_text_at(body, "error.message"), cases[i].says)) fail_msg("%s", cases[i].body);
        json_decref(body);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    server = http_server_start(ARGUMENTS(plain));
    json_t *body = post(&server, "/infill", "{\"input_prefix\": \"a\", \"input_suffix\": \"b\"}", 400);
    assert_non_null(strstr(http_text_at(body, "error.message"), "can't write text in the middle"));
    json_decref(body);
    json_decref(post(&server, TEXT, "{\"prompt\": \"a\", \"suffix\": \"\", \"max_tokens\": 1}", 200));
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* vouch run --suffix and --suffix-file, and vouch info. */
static void the_command_fills_in(void **state)
{
    (void)state;
    char file[256];
    strcpy(file, test_temporary("suffix.txt"));
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs("}\n", out);
    fclose(out);
    result text = RUN("run", infills, "-p", "int main(", "--suffix", "}\n", "--show-prompt"),
           by_file = RUN("run", infills, "-p", "int main(", "--suffix-file", file, "--show-prompt"),
           info = RUN("info", infills), other = RUN("info", plain);
    assert_int_equal(text.status, 0);
    assert_string_equal(text.out, by_file.out);
    char line[32];
    snprintf(line, sizeof line, "\n%d\t", MIDDLE);
    assert_non_null(strstr(text.out, line));
    assert_non_null(strstr(info.out, "infill            yes\n"));
    assert_null(strstr(other.out, "infill"));
    result_free(&text);
    result_free(&by_file);
    result_free(&info);
    result_free(&other);
    expect(RUN("run", infills, "-p", "a", "--suffix", "b", "-n", "3"), 0, NULL);
    expect(RUN("run", plain, "-p", "a", "--suffix", "b"), 1, "--suffix: the model can't write text in the middle");
    expect(RUN("run", infills, "-p", "a", "--suffix-file", "/nowhere/at/all"), 2, "/nowhere/at/all");
    expect(RUN("run", infills, "-p", "a", "--suffix", "b", "--suffix-file", file), 2, "exclude each other");
    expect(RUN("run", infills, "--chat", "--suffix", "b"), 2, "exclude each other");
}

static int models_write(void **state)
{
    (void)state;
    static bool with_files = true, without_files = false;
    strcpy(infills_files, test_temporary("infills-files.gguf"));
    strcpy(infills, test_temporary("infills.gguf"));
    strcpy(plain, test_temporary("plain.gguf"));
    tiny_model_write(infills_files, &(tiny_model_options){.seed = 7, .add = add_keys, .user = &with_files});
    tiny_model_write(infills, &(tiny_model_options){.seed = 7, .add = add_keys, .user = &without_files});
    tiny_model_write(plain, &(tiny_model_options){.seed = 7});
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_known),
        cmocka_unit_test(keys_are_read),
        cmocka_unit_test(prompts_have_their_form),
        cmocka_unit_test(prompts_are_cut),
        cmocka_unit_test(refusals_say_why),
        cmocka_unit_test(the_server_fills_in),
        cmocka_unit_test(odd_requests_are_filled_in),
        cmocka_unit_test(bad_requests_are_named),
        cmocka_unit_test(the_command_fills_in),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
