/* SPDX-License-Identifier: MIT */
/* Writes the seeds of the targets that read texts:  seed_texts fuzz_jinja|fuzz_calls|fuzz_grammar FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/jinja.h"
#include "golden/schema_values.h"
#include "support/program/call_templates.h"
#include "support/model/tiny_model.h"
#include "text/chat/templates.h"
#include "vouch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *folder;
static int n_seeds;

/* A seed is two parts, with a byte between them where there are two. */
static void seed(const void *first, size_t n_first, const char *between, const char *second)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/seed%04d", folder, n_seeds++);
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(first, 1, n_first, file) == n_first;
    if (between) good = good && fwrite(between, 1, 1, file) == 1;
    good = good && fputs(second, file) >= 0;
    if (file && fclose(file) == 0 && good) return;
    fprintf(stderr, "%s can't be written\n", path);
    exit(1);
}

/* ----------------------------------------------------------------- templates */

static void seed_jinja(void)
{
    const vouch_chat_template *known;
    for (size_t i = 0; i < COUNT(jinja_cases); i++)
        seed(jinja_cases[i].source, strlen(jinja_cases[i].source), "", i % 2 ? jinja_context : jinja_conversations[7]);
    for (size_t i = 0; i < n_call_templates; i++)
        seed(call_templates[i].text, strlen(call_templates[i].text), "", jinja_conversations[6 + i % 3]);
    for (size_t i = 0; (known = vouch_template_at(i)) != NULL; i++)
        seed(known->text, strlen(known->text), "", jinja_conversations[i % COUNT(jinja_conversations)]);
}

/* --------------------------------------------------------------------- calls */

static char *rendered(const vouch_model *model, const char *conversation)
{
    size_t n = 0;
    (void)vouch_render_chat(model, conversation, strlen(conversation), NULL, 0, &n, NULL);
    char *text = calloc(1, n + 1);
    if (text && !vouch_render_chat(model, conversation, strlen(conversation), text, n, &n, NULL)) return text;
    fprintf(stderr, "a template can't be rendered\n");
    exit(1);
}

/* Two calls as a template writes them: what follows the prompt, for each value of the flags' byte. */
static void seed_calls_of(const vouch_model *model, unsigned char form)
{
    static const char begin[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}",
                      end[] = "], \"add_generation_prompt\": true}",
                      calls[] = ", {\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": "
                                "\"abcdefghi\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": "
                                "\"{\\\"word\\\": \\\"a \\\\n<b>\\\", \\\"x\\\": 1}\"}}";
    char short_one[1024], long_one[1024];
    snprintf(short_one, sizeof short_one, "%s%s", begin, end);
    snprintf(long_one, sizeof long_one, "%s%s]}%s", begin, calls, end);
    char *prompt = rendered(model, short_one), *whole = rendered(model, long_one);
    size_t n = 0;
    while (prompt[n] && prompt[n] == whole[n]) n++;
    for (unsigned char flags = 0; flags < 16; flags++) seed((const unsigned char[]){form, flags}, 2, "\7", whole + n);
    free(prompt);
    free(whole);
}

static void seed_calls(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/model", folder);
    tiny_model_write(path, &(tiny_model_options){.seed = 7});
    for (size_t i = 0; i < n_call_templates; i++) {
        vouch_model_options o = vouch_model_options_default();
        vouch_model *model;
        o.text_only = true;
        o.chat_template = call_templates[i].text;
        if (vouch_model_open(&model, path, &o, NULL)) exit(1);
        seed_calls_of(model, (unsigned char)i);
        vouch_model_close(model);
    }
    unlink(path);
}

/* ------------------------------------------------------------------ grammars */

static void seed_grammar(void)
{
    static const char *const others[] = {
        "root ::= \"a\" [a-z]{2,5} (item | \"b\")* # text\nitem ::= \"x\" | [^\\n\\u00e9-\\u00ff]+ root?",
        "root ::= \"<think>\" %until \"</think>\" \"\\n\"{0,2} %json {\"enum\": [\"a\", 1.5e3]} %token \"[X]\"",
        "^(a|b\\d{2,3}|[^\\w]+?)*(?:c{2}|\\.)$"};
    static const unsigned char choices[40] = {0, 37, 74, 111, 148, 185, 222, 3, 40, 77, 114, 151, 188, 225, 6, 43, 80};
    for (size_t i = 0; i < COUNT(others) + COUNT(schema_cases); i++) {
        const bool is_schema = i >= COUNT(others);
        const char *text = is_schema ? schema_cases[i - COUNT(others)].schema : others[i];
        const size_t n = strlen(text);
        unsigned char *bytes = calloc(1, n + 2 + sizeof choices);
        if (!bytes) exit(1);
        bytes[0] = (unsigned char)(is_schema ? 1 + i % 4 * 2 : i == 2 ? 8 : 0);
        memcpy(bytes + 1, text, n);
        memcpy(bytes + n + 2, choices, sizeof choices);
        seed(bytes, n + 2 + sizeof choices, NULL, "");
        free(bytes);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *target;
        void (*write)(void);
    } targets[] = {{"fuzz_jinja", seed_jinja}, {"fuzz_calls", seed_calls}, {"fuzz_grammar", seed_grammar}};
    for (size_t i = 0; i < COUNT(targets) && argc == 3; i++) {
        if (strcmp(argv[1], targets[i].target) != 0) continue;
        folder = argv[2];
        targets[i].write();
        return 0;
    }
    fprintf(stderr, "usage: seed_texts fuzz_jinja|fuzz_calls|fuzz_grammar FOLDER\n");
    return 2;
}
