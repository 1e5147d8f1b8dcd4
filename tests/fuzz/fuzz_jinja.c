/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the chat templates: a template, a NUL, and a conversation as JSON. Without a NUL the conversation
 * is a short one.
 *
 * It asserts that a template which fails its check fails the rendering with the same status, that errors are those of
 * template.h, that the text stays within the limit of bytes, that each byte has a mark, and that a second run gives the
 * same text.
 */
#include <stdlib.h>
#include <string.h>

#include "text/chat/conversation.h"
#include "text/jinja/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)             \
    do {                            \
        if (!(condition)) abort();  \
    } while (0)

static const jinja_limits limits = {.steps = 50 * 1000, .bytes = 4 << 20, .depth = 100};

/* A rendering, and what it reads. */
typedef struct rendering {
    jinja_run run;
    json_t *root;
    jinja_string text;
    vouch_status status;
} rendering;

static bool is_status_of_render(vouch_status status)
{
    return status == VOUCH_OK || status == VOUCH_E_ARGUMENT || status == VOUCH_E_UNSUPPORTED;
}

static rendering render(const char *source, size_t n, const char *json, size_t n_json)
{
    rendering r = {0};
    vouch_error err = {0};
    r.status = vouch_conversation_read(&r.root, json, n_json, &err);
    vouch_jinja_run_begin(&r.run, &limits);
    /* The form differs with the template's length, so that each is tried. */
    const conversation_form form = {
        .parts = n % 2, .null_content = n % 3 == 0, .text_arguments = n % 5 < 2, .ids = (conversation_ids)(n % 7 % 3)};
    if (r.status == VOUCH_OK) r.status = vouch_conversation_rewrite(r.root, &form, &err);
    if (r.status == VOUCH_OK && vouch_conversation_has_bare_tools(r.root))
        r.status = vouch_conversation_complete_tools(r.root, &err);
    jinja_value variables = vouch_jinja_dict_new(&r.run, JINJA_DICT);
    if (r.status == VOUCH_OK) r.status = vouch_conversation_add(&r.run, variables.dict, r.root, &err);
    if (r.status == VOUCH_OK) r.status = vouch_jinja_render(&r.run, source, n, &variables, &r.text, &err);
    MUST(is_status_of_render(r.status));
    return r;
}

static void rendering_free(rendering *r)
{
    vouch_jinja_run_end(&r->run);
    json_decref(r->root);
}

static vouch_status check(const char *source, size_t n)
{
    jinja_run run;
    vouch_jinja_run_begin(&run, &limits);
    const vouch_status status = vouch_jinja_check(&run, source, n, NULL);
    (void)vouch_jinja_names(&run, source, n, "messages");
    vouch_jinja_run_end(&run);
    MUST(is_status_of_render(status));
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char plain[] = "[{\"role\": \"user\", \"content\": \"Hi\"}]";
    const char *source = (const char *)data, *nul = size ? memchr(source, 0, size) : NULL;
    const size_t n = nul ? (size_t)(nul - source) : size;
    const char *json = nul ? nul + 1 : plain;
    const size_t n_json = nul ? size - n - 1 : sizeof plain - 1;
    const vouch_status checked = check(source, n);
    rendering first = render(source, n, json, n_json), second = render(source, n, json, n_json);
    if (checked != VOUCH_OK) MUST(first.status != VOUCH_OK);
    MUST(first.status == second.status && first.text.n == second.text.n && first.text.n <= limits.bytes);
    for (size_t i = 0; i < first.text.n; i++)
        MUST(first.text.bytes[i] == second.text.bytes[i] && vouch_jinja_mark(first.text, i) <= JINJA_OF_MODEL);
    rendering_free(&first);
    rendering_free(&second);
    return 0;
}
