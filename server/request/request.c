/* SPDX-License-Identifier: MIT */
#include "request/request.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

enum { MOST_STOPS = 16, MOST_STOP_BYTES = 1024, MOST_CHOICES = 128 };

#define AT(member)  offsetof(server_request, member)
#define CHAT        SERVER_CHAT
#define COMPLETIONS SERVER_COMPLETIONS
#define NATIVE      (SERVER_NATIVE | SERVER_INFILL)
#define MESSAGES    SERVER_MESSAGES
#define RESPONSES   SERVER_RESPONSES
#define OPENAI      (CHAT | COMPLETIONS)
#define ALL         (OPENAI | NATIVE | MESSAGES | RESPONSES)
#define PENALTY     "[-1000, 1000]"
#define BUDGET      "[-1, 2147483647]"

static const server_field fields[] = {
    {"model", ALL, SERVER_FIELD_STRING, AT(model_name), NULL},
    {"messages", CHAT | MESSAGES | RESPONSES, SERVER_FIELD_VALUE, AT(messages), NULL},
    {"prompt", COMPLETIONS | NATIVE, SERVER_FIELD_VALUE, AT(prompt), NULL},
    {"stream", ALL, SERVER_FIELD_BOOL, AT(stream), NULL},
    {"stream_options", OPENAI, SERVER_FIELD_VALUE, AT(stream_options), NULL},
    {"n", OPENAI, SERVER_FIELD_INT, AT(n), "[1, 64]"},
    {"max_tokens", MESSAGES, SERVER_FIELD_INT, AT(max_tokens), "[1, 2147483647]"},
    {"max_tokens", OPENAI, SERVER_FIELD_INT, AT(max_tokens), "[-1, 2147483647]"},
    {"max_completion_tokens", CHAT, SERVER_FIELD_INT, AT(max_completion_tokens), "[-1, 2147483647]"},
    {"n_predict", COMPLETIONS | NATIVE, SERVER_FIELD_INT, AT(n_predict), "[-2, 2147483647]"},
    {"max_output_tokens", RESPONSES, SERVER_FIELD_INT, AT(max_tokens), "[-1, 2147483647]"},
    {"min_tokens", ALL, SERVER_FIELD_INT, AT(session.min_tokens), "[0, 2147483647]"},
    {"stop_sequences", MESSAGES, SERVER_FIELD_VALUE, AT(stop), NULL},
    {"stop", ALL & ~(unsigned)(MESSAGES | RESPONSES), SERVER_FIELD_VALUE, AT(stop), NULL},
    {"ignore_eos", ALL, SERVER_FIELD_BOOL, AT(session.ignore_eos), NULL},
    {"echo", COMPLETIONS, SERVER_FIELD_BOOL, AT(echo), NULL},

    {"temperature", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.temperature), "[0, 100]"},
    {"top_k", ALL, SERVER_FIELD_INT, AT(session.sampling.top_k), "[-1, 2147483647]"},
    {"top_p", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.top_p), "[0, 1]"},
    {"min_p", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.min_p), "[0, 1)"},
    {"typical_p", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.typical_p), "[0, 1]"},
    {"typ_p", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.typical_p), "[0, 1]"},
    {"top_n_sigma", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.top_n_sigma), "[-1, 1000]"},
    {"xtc_probability", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.xtc_probability), "[0, 1]"},
    {"xtc_threshold", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.xtc_threshold), "[0, 1]"},
    {"dry_multiplier", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.dry_multiplier), "[0, 1000]"},
    {"dry_base", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.dry_base), "[1, 1000]"},
    {"dry_allowed_length", ALL, SERVER_FIELD_INT, AT(session.sampling.dry_allowed_length), "[0, 2147483647]"},
    {"dry_penalty_last_n", ALL, SERVER_FIELD_INT, AT(session.sampling.dry_penalty_last_n), "[-1, 2147483647]"},
    {"dry_sequence_breakers", ALL, SERVER_FIELD_VALUE, AT(breakers), NULL},
    {"samplers", ALL, SERVER_FIELD_VALUE, AT(samplers), NULL},
    {"frequency_penalty", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.frequency_penalty), PENALTY},
    {"presence_penalty", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.presence_penalty), PENALTY},
    {"repeat_penalty", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.repeat_penalty), "[0.001, 1000]"},
    {"repetition_penalty", ALL, SERVER_FIELD_FLOAT, AT(session.sampling.repeat_penalty), "[0.001, 1000]"},
    {"repeat_last_n", ALL, SERVER_FIELD_INT, AT(session.sampling.penalty_window), "[-1, 2147483647]"},
    {"logit_bias", ALL, SERVER_FIELD_VALUE, AT(logit_bias), NULL},
    {"lora", ALL, SERVER_FIELD_VALUE, AT(lora), NULL},
    {"seed", ALL, SERVER_FIELD_VALUE, AT(seed_value), NULL},

    {"prediction", CHAT, SERVER_FIELD_VALUE, AT(prediction), NULL},
    {"speculative", ALL, SERVER_FIELD_VALUE, AT(speculative), NULL},

    {"logprobs", CHAT, SERVER_FIELD_BOOL, AT(with_logprobs), NULL},
    {"top_logprobs", CHAT | RESPONSES, SERVER_FIELD_INT, AT(top_logprobs), "[0, 20]"},
    {"logprobs", COMPLETIONS, SERVER_FIELD_VALUE, AT(n_logprobs), NULL},
    {"best_of", COMPLETIONS, SERVER_FIELD_NEUTRAL, 0, "1"},
    {"suffix", COMPLETIONS, SERVER_FIELD_STRING, AT(suffix), NULL},
    {"input_prefix", SERVER_INFILL, SERVER_FIELD_STRING, AT(input_prefix), NULL},
    {"input_suffix", SERVER_INFILL, SERVER_FIELD_STRING, AT(input_suffix), NULL},
    {"input_extra", SERVER_INFILL, SERVER_FIELD_VALUE, AT(input_extra), NULL},
    {"tools", CHAT | MESSAGES | RESPONSES, SERVER_FIELD_VALUE, AT(tools), NULL},
    {"tool_choice", CHAT | MESSAGES | RESPONSES, SERVER_FIELD_VALUE, AT(tool_choice), NULL},
    {"parallel_tool_calls", CHAT | RESPONSES | MESSAGES, SERVER_FIELD_BOOL, AT(several_calls), NULL},
    {"functions", CHAT, SERVER_FIELD_IGNORED, 0, NULL}, /* these two became tools and tool_choice (legacy.c) */
    {"function_call", CHAT, SERVER_FIELD_IGNORED, 0, NULL},
    {"grammar", OPENAI | NATIVE, SERVER_FIELD_STRING, AT(grammar), NULL},
    {"structured_outputs", OPENAI, SERVER_FIELD_VALUE, AT(structured_outputs), NULL},
    {"guided_json", OPENAI, SERVER_FIELD_VALUE, AT(guided_json), NULL},
    {"guided_choice", OPENAI, SERVER_FIELD_VALUE, AT(guided_choice), NULL},
    {"guided_regex", OPENAI, SERVER_FIELD_STRING, AT(guided_regex), NULL},
    {"guided_grammar", OPENAI, SERVER_FIELD_STRING, AT(guided_grammar), NULL},
    {"guided_decoding_backend", OPENAI, SERVER_FIELD_IGNORED, 0, NULL},
    {"guided_whitespace_pattern", OPENAI, SERVER_FIELD_IGNORED, 0, NULL},
    {"regex", OPENAI | NATIVE, SERVER_FIELD_STRING, AT(regex), NULL},
    {"response_format", OPENAI | RESPONSES | MESSAGES, SERVER_FIELD_VALUE, AT(response_format), NULL},
    {"audio", CHAT, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"web_search_options", CHAT, SERVER_FIELD_NEUTRAL, 0, NULL},

    {"add_generation_prompt", CHAT, SERVER_FIELD_BOOL, AT(add_generation_prompt), NULL},
    {"continue_final_message", CHAT | MESSAGES, SERVER_FIELD_BOOL, AT(continue_final_message), NULL},
    {"documents", CHAT, SERVER_FIELD_VALUE, AT(documents), NULL},
    {"chat_template_kwargs", CHAT | MESSAGES | RESPONSES, SERVER_FIELD_VALUE, AT(template_kwargs), NULL},
    {"reasoning_effort", CHAT | RESPONSES, SERVER_FIELD_STRING, AT(reasoning_effort), NULL},
    {"reasoning", CHAT | RESPONSES, SERVER_FIELD_VALUE, AT(reasoning), NULL},
    {"thinking", CHAT | MESSAGES, SERVER_FIELD_VALUE, AT(thinking), NULL},
    {"enable_thinking", CHAT, SERVER_FIELD_BOOL, AT(enable_thinking), NULL},
    {"thinking_budget", CHAT, SERVER_FIELD_INT, AT(session.thought_budget), BUDGET},
    {"thinking_budget_tokens", ALL, SERVER_FIELD_INT, AT(session.thought_budget), BUDGET},
    {"reasoning_budget", ALL, SERVER_FIELD_INT, AT(session.thought_budget), BUDGET},
    {"reasoning_budget_tokens", ALL, SERVER_FIELD_INT, AT(session.thought_budget), BUDGET},

    {"user", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"store", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"metadata", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"service_tier", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"safety_identifier", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"prompt_cache_key", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"prompt_cache_retention", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"cache_prompt", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"modalities", CHAT, SERVER_FIELD_IGNORED, 0, NULL},
    {"verbosity", CHAT, SERVER_FIELD_IGNORED, 0, NULL},

    {"id_slot", OPENAI | NATIVE, SERVER_FIELD_INT, AT(id_slot), "[-1, 2147483647]"},
    {"n_keep", NATIVE, SERVER_FIELD_IGNORED, 0, NULL},
    {"timings_per_token", OPENAI | NATIVE, SERVER_FIELD_BOOL, AT(timings_per_token), NULL},
    {"return_tokens", NATIVE, SERVER_FIELD_BOOL, AT(return_tokens), NULL},
    {"response_fields", NATIVE, SERVER_FIELD_VALUE, AT(response_fields), NULL},
    {"n_probs", NATIVE, SERVER_FIELD_INT, AT(top_logprobs), "[0, 20]"},
    {"post_sampling_probs", NATIVE, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"json_schema", OPENAI | NATIVE, SERVER_FIELD_VALUE, AT(json_schema), NULL},
    {"open_objects", ALL, SERVER_FIELD_BOOL, AT(open_objects), NULL},
    {"tfs_z", NATIVE, SERVER_FIELD_NEUTRAL, 0, "1"},
    {"min_keep", NATIVE, SERVER_FIELD_NEUTRAL, 0, "0"},
    {"mirostat", ALL, SERVER_FIELD_NEUTRAL, 0, "0"},
    {"mirostat_tau", ALL, SERVER_FIELD_IGNORED, 0, NULL}, /* without mirostat it changes nothing */
    {"mirostat_eta", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"dynatemp_range", ALL, SERVER_FIELD_NEUTRAL, 0, "0"},
    {"dynatemp_exponent", ALL, SERVER_FIELD_IGNORED, 0, NULL},

    {"mcp_servers", MESSAGES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"container", MESSAGES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"context_management", MESSAGES | RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
    {"cache_control", ALL, SERVER_FIELD_IGNORED, 0, NULL},
    {"diagnostics", MESSAGES, SERVER_FIELD_IGNORED, 0, NULL},
    {"inference_geo", MESSAGES, SERVER_FIELD_IGNORED, 0, NULL},
    {"user_profile_id", MESSAGES, SERVER_FIELD_IGNORED, 0, NULL},
    {"workspace_id", MESSAGES, SERVER_FIELD_IGNORED, 0, NULL},
    {"compaction", MESSAGES, SERVER_FIELD_IGNORED, 0, NULL},
    {"speed", MESSAGES, SERVER_FIELD_NEUTRAL, 0, "standard"},
    {"fallbacks", MESSAGES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"output_config", MESSAGES, SERVER_FIELD_IGNORED, 0, NULL},

    {"instructions", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL}, /* the first message has them (responses.c) */
    {"include", RESPONSES, SERVER_FIELD_VALUE, AT(include), NULL},
    {"text", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL}, /* response_format has its format (responses.c) */
    {"personality", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
    {"truncation", RESPONSES, SERVER_FIELD_NEUTRAL, 0, "disabled"},
    {"previous_response_id", RESPONSES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"conversation", RESPONSES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"prompt", RESPONSES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"moderation", CHAT | RESPONSES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"prompt_cache_options", CHAT | RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
    {"access_programs", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
    {"image", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
    {"background", RESPONSES, SERVER_FIELD_NEUTRAL, 0, NULL},
    {"stream_options", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
    {"client_metadata", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
    {"max_tool_calls", RESPONSES, SERVER_FIELD_IGNORED, 0, NULL},
};
const server_field_table server_request_fields = {fields, sizeof fields / sizeof *fields};

/* ------------------------------------------------------------- speculation */

enum { AUTO_ASKED = 1u << VOUCH_DRAFTERS }; /* "auto" stands in the list; it has no bit of its own */

/* Adds the drafters of a list with commas. */
static bool add_drafters(const char *names, const char *path, unsigned *drafters, server_fault *fault)
{
    for (const char *at = names; *at; at += strspn(at, ", ")) {
        const size_t n = strcspn(at, ", ");
        int i = -1;
        if (n == 4 && strncmp(at, "auto", n) == 0) i = VOUCH_DRAFTERS;
        for (int d = 0; d < VOUCH_DRAFTERS && i < 0; d++)
            if (strlen(vouch_drafter_name(d)) == n && strncmp(vouch_drafter_name(d), at, n) == 0) i = d;
        const unsigned bit = i >= 0 ? 1u << i : 0;
        if (i < 0 || bit & VOUCH_DRAFTER_CUSTOM)
            return server_fail_field(fault, path, "'%.*s': expected auto, none, or drafters of --spec",
                                     (int)(n < 60 ? n : 60), at);
        if (*drafters & bit) return server_fail_field(fault, path, "'%.*s' is given twice", (int)n, at);
        *drafters |= bit;
        at += n;
    }
    return true;
}

bool server_read_drafters(const json_t *value, const char *path, unsigned *drafters, server_fault *fault)
{
    unsigned found = 0;
    if (!json_is_string(value) && !json_is_array(value))
        return server_fail_field(fault, path, "expected a string or an array of strings, got %s",
                                 server_json_kind(value));
    if (json_is_string(value) && !add_drafters(json_string_value(value), path, &found, fault)) return false;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        if (!name) return server_fail_field(fault, path, "element %zu: expected a string", i);
        if (!add_drafters(name, path, &found, fault)) return false;
    }
    if (found == 0) return server_fail_field(fault, path, "the list is empty; expected auto, none, or drafters");
    if (found & AUTO_ASKED && found != AUTO_ASKED)
        return server_fail_field(fault, path, "auto chooses among all drafters; expected it alone");
    *drafters = found & AUTO_ASKED ? VOUCH_DRAFTER_AUTO : found;
    return true;
}

typedef struct speculative {
    json_t *drafters;
    const char *accept, *draft_sampling;
    int32_t k, branches, depth;
    double lenience;
    bool trace;
} speculative;

/* The number of a word among the names that `name` gives, or how many there are. */
static int find_word(const char *(*name)(int i), const char *word)
{
    int i = 0;
    while (name(i) && strcmp(name(i), word) != 0) i++;
    return i;
}

#define RULE(constant, name) #name ", "

static bool read_accept(const char *word, const char *path, vouch_accept *accept, server_fault *fault)
{
    const int i = find_word(vouch_accept_name, word); /* "auto" stands after the rules */
    if (!vouch_accept_name(i) && strcmp(word, "auto") != 0)
        return server_fail_field(fault, path, "'%.60s': expected " VOUCH_ACCEPT_LIST(RULE) "or auto", word);
    *accept = (vouch_accept)i;
    return true;
}

#undef RULE

static bool read_sampling(const char *word, const char *path, vouch_draft_sampling *sampling, server_fault *fault)
{
    const int i = find_word(vouch_draft_sampling_name, word);
    if (!vouch_draft_sampling_name(i))
        return server_fail_field(fault, path, "'%.60s': expected auto, sample or greedy", word);
    *sampling = (vouch_draft_sampling)i;
    return true;
}

#define SPEC(member) offsetof(speculative, member)
#define SPECULATION  (SERVER_SPECULATIVE | SERVER_ADMIN)
static const server_field speculation_fields[] = {
    {"drafters", SPECULATION, SERVER_FIELD_VALUE, SPEC(drafters), NULL},
    {"k", SPECULATION, SERVER_FIELD_INT, SPEC(k), "[0, 64]"},
    {"accept", SPECULATION, SERVER_FIELD_STRING, SPEC(accept), NULL},
    {"lenience", SPECULATION, SERVER_FIELD_DOUBLE, SPEC(lenience), "(0, 1]"},
    {"draft_sampling", SPECULATION, SERVER_FIELD_STRING, SPEC(draft_sampling), NULL},
    {"branches", SPECULATION, SERVER_FIELD_INT, SPEC(branches), "[0, 64]"},
    {"depth", SPECULATION, SERVER_FIELD_INT, SPEC(depth), "[0, 64]"},
    {"trace", SERVER_SPECULATIVE, SERVER_FIELD_BOOL, SPEC(trace), NULL},
};
const server_field_table server_speculation_fields = {speculation_fields,
                                                      sizeof speculation_fields / sizeof *speculation_fields};

bool server_read_speculation(json_t *value, const char *path, vouch_speculation *out, bool *trace, server_fault *fault)
{
    speculative s = {
        .k = out->n_draft, .branches = out->tree_branches, .depth = out->tree_depth, .lenience = out->lenience};
    const char *dot = *path ? "." : "";
    char inner[96];
    const unsigned where = trace ? SERVER_SPECULATIVE : SERVER_ADMIN;
    if (!server_fields_read(value, path, &server_speculation_fields, where, &s, fault)) return false;
    snprintf(inner, sizeof inner, "%s%sdrafters", path, dot);
    if (s.drafters && !server_read_drafters(s.drafters, inner, &out->drafters, fault)) return false;
    snprintf(inner, sizeof inner, "%s%saccept", path, dot);
    if (s.accept && !read_accept(s.accept, inner, &out->accept, fault)) return false;
    snprintf(inner, sizeof inner, "%s%sdraft_sampling", path, dot);
    if (s.draft_sampling && !read_sampling(s.draft_sampling, inner, &out->draft_sampling, fault)) return false;
    const vouch_accept_info rule = vouch_accept_get_info((int)out->accept); /* without a name: AUTO */
    snprintf(inner, sizeof inner, "%s%slenience", path, dot);
    if (s.lenience < 1 && rule.name && !rule.lenient)
        return server_fail_field(fault, inner,
                                 "is %g, of the request or the server's default, but %s needs 1: send "
                                 "\"lenience\": 1",
                                 s.lenience, rule.name);
    snprintf(inner, sizeof inner, "%s%sbranches", path, dot);
    if (s.branches > 1 && rule.name && !rule.trees)
        return server_fail_field(fault, inner,
                                 "is %d, of the request or the server's default, but %s judges "
                                 "chains: send \"branches\": 1",
                                 (int)s.branches, rule.name);
    out->n_draft = s.k;
    out->tree_branches = s.branches;
    out->tree_depth = s.depth;
    out->lenience = s.lenience;
    if (trace) *trace = s.trace;
    return true;
}

/* ------------------------------------------------------------ other objects */

static bool read_stream_options(server_request *r, server_fault *fault)
{
    static const server_field options[] = {
        {"include_usage", 1, SERVER_FIELD_BOOL, AT(include_usage), NULL},
        {"include_obfuscation", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"continuous_usage_stats", 1, SERVER_FIELD_NEUTRAL, 0, NULL},
    };
    static const server_field_table table = {options, sizeof options / sizeof *options};
    if (!r->stream_options) return true;
    if (!r->stream) return server_fail_field(fault, "stream_options", "allowed only with \"stream\": true");
    return server_fields_read(r->stream_options, "stream_options", &table, 1, r, fault);
}

/* -1 asks llama.cpp for a seed of its own. */
static bool read_seed(server_request *r, server_fault *fault)
{
    if (r->seed_value && !json_is_integer(r->seed_value))
        return server_fail_field(fault, "seed", "expected an integer, got %s",
                                 json_is_real(r->seed_value) ? "a fraction" : server_json_kind(r->seed_value));
    const bool is_given = r->seed_value && !(r->where == SERVER_NATIVE && json_integer_value(r->seed_value) == -1);
    if (is_given) r->seed = (uint64_t)json_integer_value(r->seed_value);
    else if (r->session.sampling.seed) r->seed = r->session.sampling.seed;
    else if (!vouch_os_random(&r->seed, sizeof r->seed)) r->seed = 0;
    return true;
}

/* The Responses API's list of extra parts that an answer should have. All but the log probabilities concern tools that
 * run elsewhere, or pictures. */
static bool read_include(server_request *r, server_fault *fault)
{
    static const char *const known[] = {"message.output_text.logprobs",
                                        "reasoning.encrypted_content",
                                        "file_search_call.results",
                                        "web_search_call.results",
                                        "web_search_call.action.sources",
                                        "message.input_image.image_url",
                                        "computer_call_output.output.image_url",
                                        "code_interpreter_call.outputs"};
    enum { N_KNOWN = sizeof known / sizeof *known };
    const json_t *word;
    size_t i;
    if (r->include && !json_is_array(r->include))
        return server_fail_field(fault, "include", "expected an array of names, got %s", server_json_kind(r->include));
    json_array_foreach(r->include, i, word) {
        const char *name = json_string_value(word);
        int k = 0;
        while (name && k < N_KNOWN && strcmp(known[k], name) != 0) k++;
        if (!name || k == N_KNOWN)
            return server_fail_field(fault, "include",
                                     "element %zu: '%.60s' is unknown; log probabilities are "
                                     "message.output_text.logprobs",
                                     i, name ? name : server_json_kind(word));
        r->with_logprobs |= k == 0;
    }
    return true;
}

/* Chat has a switch and a number; responses, completions and /completion a number alone. */
static bool read_logprobs(server_request *r, server_fault *fault)
{
    vouch_session_options *o = &r->session;
    if (!read_include(r, fault)) return false;
    o->logprobs = r->with_logprobs || (r->where & (NATIVE | RESPONSES) && r->top_logprobs > 0);
    o->top_logprobs = r->top_logprobs;
    if (r->top_logprobs > 0 && !o->logprobs)
        return server_fail_field(fault, "top_logprobs", "allowed only with \"logprobs\": true");
    if (r->n_logprobs && !json_is_false(r->n_logprobs)) {
        const json_int_t n = json_integer_value(r->n_logprobs);
        if (!json_is_integer(r->n_logprobs) || n < 0 || n > VOUCH_MAX_LOGPROBS)
            return server_fail_field(fault, "logprobs", "expected an integer in [0, %d]", VOUCH_MAX_LOGPROBS);
        o->logprobs = true;
        o->top_logprobs = (int32_t)n;
    }
    if (r->echo && r->stream && o->logprobs)
        return server_fail_field(fault, "echo", "with logprobs it needs \"stream\": false");
    return true;
}

/* -1 doesn't bound the answer. Of completions, 0 asks for no tokens, only for the prompt's text and log probabilities;
 * n_predict 0 asks for none, too. */
static bool read_length(server_request *r, server_fault *fault)
{
    static const char *const names[] = {"max_tokens", "max_output_tokens", "max_completion_tokens", "n_predict"};
    const int32_t values[] = {r->max_tokens, r->max_tokens, r->max_completion_tokens, r->n_predict};
    const char *empty = NULL; /* the field that is 0 */
    for (int i = 0; i < 4; i++) {
        const json_t *given = json_object_get(r->document, names[i]);
        if (!given || json_is_null(given)) continue;
        r->session.max_tokens = values[i] > 0 ? values[i] : 0;
        if (values[i] == 0) empty = names[i];
    }
    const int32_t most = r->session.max_tokens;
    if (!empty && most > 0 && r->session.min_tokens > most)
        return server_fail_field(fault, "min_tokens",
                                 "is %d, but the answer may have %d tokens at most; send fewer, "
                                 "or a larger maximum",
                                 (int)r->session.min_tokens, (int)most);
    if (!empty) return true;
    r->prompt_only = r->where & (COMPLETIONS | NATIVE);
    if (r->where & NATIVE || (r->where == COMPLETIONS && r->echo && !r->stream)) return true;
    return server_fail_field(fault, empty,
                             r->where == COMPLETIONS ? "0 is allowed only with echo, and without stream"
                                                     : "0 is outside the range; expected at least 1, or -1: no bound");
}

/* Paths of members, such as "timings/predicted_n". */
static bool read_response_fields(const server_request *r, server_fault *fault)
{
    const json_t *path;
    size_t i;
    if (r->response_fields && !json_is_array(r->response_fields))
        return server_fail_field(fault, "response_fields", "expected an array of names of members, got %s",
                                 server_json_kind(r->response_fields));
    json_array_foreach(r->response_fields, i, path)
        if (!json_is_string(path))
            return server_fail_field(fault, "response_fields", "element %zu: expected a string, got %s", i,
                                     server_json_kind(path));
    return true;
}

const char *server_chosen_tool(const server_request *r)
{
    const json_t *function = json_object_get(r->tool_choice, "function");
    return server_word(function ? function : r->tool_choice, "name");
}

const char *server_tool_path(const server_request *r, size_t i, char out[64])
{
    snprintf(out, 64, "%s[%zu].%s", r->is_legacy ? "functions" : "tools", i,
             r->where == MESSAGES                    ? "input_schema"
             : r->where == RESPONSES || r->is_legacy ? "parameters"
                                                     : "function.parameters");
    return out;
}

/* Parameters describe an object, as the OpenAI API has it. Without a type they do. */
static bool check_parameters(const server_request *r, const json_t *parameters, size_t i, server_fault *fault)
{
    const json_t *type = json_object_get(parameters, "type"), *word;
    bool is_object = !type || json_is_null(type) || strcmp(server_word(parameters, "type"), "object") == 0;
    char param[64];
    size_t w;
    json_array_foreach(type, w, word)
        is_object |= json_is_string(word) && strcmp(json_string_value(word), "object") == 0;
    return is_object || server_fail_field(fault, server_tool_path(r, i, param),
                                          "type: expected \"object\", because a call's arguments are an object");
}

/* All tools are functions with a name. */
static bool check_tools(const server_request *r, server_fault *fault)
{
    const json_t *tools = r->tools, *tool;
    size_t i;
    if (tools && !json_is_array(tools))
        return server_fail_field(fault, "tools", "expected an array, got %s", server_json_kind(tools));
    json_array_foreach(tools, i, tool) {
        char path[32];
        snprintf(path, sizeof path, "%s[%zu]", r->is_legacy ? "functions" : "tools", i);
        const json_t *function = json_object_get(tool, "function");
        const char *type = server_word(tool, "type");
        if (*type && strcmp(type, "function") != 0)
            return server_fail_field(fault, path, "type '%.60s' is not supported; expected function", type);
        if (!*server_word(function, "name")) return server_fail_field(fault, path, "expected a function with a name");
        if (!check_parameters(r, json_object_get(function, "parameters"), i, fault)) return false;
    }
    return true;
}

/* {"mode": "auto" or "required", "tools": [...]}; chat has it within "allowed_tools". Leaves only the tools that it
 * names. */
static bool read_allowed(server_request *r, const char **word, server_fault *fault)
{
    const json_t *inner = json_object_get(r->tool_choice, "allowed_tools"), *allowed = inner ? inner : r->tool_choice;
    const json_t *names = json_object_get(allowed, "tools"), *name;
    json_t *left = json_array(), *known = json_object(), *chosen = json_object(), *tool;
    size_t i;
    *word = server_word(allowed, "mode");
    /* The document owns the array and the objects, whose keys are names: of the tools, and of those that are left. */
    json_object_set_new(r->document, "allowed_tools", json_pack("[o, o, o]", left, known, chosen));
    if (strcmp(*word, "auto") != 0 && strcmp(*word, "required") != 0)
        return server_fail_field(fault, "tool_choice", "mode: expected auto or required");
    if (json_array_size(names) == 0)
        return server_fail_field(fault, "tool_choice", "tools: expected an array of at least one tool");
    json_array_foreach(r->tools, i, tool)
        json_object_set_new(known, server_word(json_object_get(tool, "function"), "name"), json_true());
    json_array_foreach(names, i, name) {
        const json_t *function = json_object_get(name, "function");
        const char *wanted = server_word(function ? function : name, "name");
        if (!json_object_get(known, wanted))
            return server_fail_field(fault, "tool_choice", "no tool has the name '%.60s'", wanted);
        json_object_set_new(chosen, wanted, json_true());
    }
    json_array_foreach(r->tools, i, tool)
        if (json_object_get(chosen, server_word(json_object_get(tool, "function"), "name")))
            json_array_append(left, tool);
    r->tools = left;
    return true;
}

/* With "none" the model doesn't hear of the tools. */
static bool read_tools(server_request *r, server_fault *fault)
{
    const char *choice = json_string_value(r->tool_choice), *type = server_word(r->tool_choice, "type");
    const char *word = choice ? choice : type;
    const bool names = (strcmp(type, "function") == 0 || strcmp(type, "tool") == 0) && *server_chosen_tool(r);
    if (!check_tools(r, fault)) return false;
    if (strcmp(type, "allowed_tools") == 0 && !read_allowed(r, &word, fault)) return false;
    r->must_call = names || strcmp(word, "required") == 0 || strcmp(word, "any") == 0;
    if (r->tool_choice && !r->must_call && strcmp(word, "auto") != 0 && strcmp(word, "none") != 0)
        return server_fail_field(fault, "tool_choice",
                                 "'%.60s': expected auto, none, required, allowed_tools, or an object that names "
                                 "a tool",
                                 *word ? word : server_json_kind(r->tool_choice));
    if (r->must_call && json_array_size(r->tools) == 0)
        return server_fail_field(fault, "tool_choice", "a call is forced, but the request has no tools");
    if (json_array_size(r->tools) == 0 || strcmp(word, "none") == 0) r->tools = NULL;
    return true;
}

char *server_unescaped(const char *name)
{
    char *copy = strdup(name), *out = copy;
    for (unsigned byte; copy && *name; name++) {
        const bool is_escape = *name == '%' && isxdigit((unsigned char)name[1]) && isxdigit((unsigned char)name[2]) &&
                               sscanf(name + 1, "%2x", &byte) == 1 && byte > 0;
        *out++ = is_escape ? (char)byte : *name;
        if (is_escape) name += 2;
    }
    if (copy) *out = '\0';
    return copy;
}

bool server_fail_model(server_fault *fault, const char *name)
{
    return server_fail(fault, 404, "model_not_found", "model",
                       "model: '%.200s' is not served; /v1/models lists the models", name);
}

server_model *server_find_model(server *s, const json_t *name, server_fault *fault)
{
    const char *word = json_string_value(name);
    if (name && !json_is_null(name) && !word) {
        server_fail_field(fault, "model", "expected a string, got %s", server_json_kind(name));
        return NULL;
    }
    if (!word || s->options->n_models == 1) return &s->models[0];
    for (size_t i = 0; i < s->options->n_models; i++)
        if (strcmp(s->models[i].options->name, word) == 0) return &s->models[i];
    server_fail_model(fault, word);
    return NULL;
}

bool server_check_drafters(const vouch_speculation *s, const char *param, server_fault *fault)
{
    const unsigned lacking = vouch_speculation_lacks(s);
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        const vouch_drafter_info drafter = vouch_drafter_get_info(i);
        if (lacking >> i & 1)
            return server_fail_field(fault, param, "%s needs %s; start the server with --%s", drafter.name,
                                     drafter.needs, drafter.flags);
    }
    return true;
}

static bool read_speculative(server_request *r, server_fault *fault)
{
    vouch_speculation *s = &r->session.speculation;
    if (r->speculative && !server_read_speculation(r->speculative, "speculative", s, &r->trace, fault)) return false;
    const unsigned predicting = vouch_drafter_needing(VOUCH_NEED_PREDICTION);
    if (r->prediction) s->auto_with |= predicting;
    else if (s->drafters & predicting)
        return server_fail_field(fault, "speculative.drafters", "prediction needs the field `prediction`");
    if (r->prediction && s->drafters != VOUCH_DRAFTER_AUTO && s->drafters != VOUCH_DRAFTER_NONE)
        s->drafters |= predicting;
    if (s->drafters & vouch_drafter_needing(VOUCH_NEED_GRAMMAR) && !r->response_format && !r->grammar &&
        !r->json_schema && !r->must_call)
        return server_fail_field(fault, "speculative.drafters", "grammar needs an answer that is bound to a grammar");
    /* What drafts for a model that comes on demand is known when it has come. */
    return r->model->options->is_on_demand || server_check_drafters(s, "speculative.drafters", fault);
}

bool server_request_read(server_request *r, server_exchange *x, unsigned where, server_fault *fault)
{
    *r = (server_request){.where = where & SERVER_INFILL ? SERVER_NATIVE : where,
                          .infills = where & SERVER_INFILL,
                          .n = 1,
                          .id_slot = -1,
                          .several_calls = true,
                          .add_generation_prompt = true,
                          .document = x->json};
    /* The name of the model comes first: its options are the defaults. */
    r->model = server_find_model(x->server, json_object_get(x->json, "model"), fault);
    if (!r->model) return false;
    r->session = r->model->options->session;
    pthread_mutex_lock(&r->model->lock);
    r->session.speculation = r->model->speculation;
    pthread_mutex_unlock(&r->model->lock);
    r->session.scope = x->scope; /* also of what a conversation brings to the draft memory */
    if (where == CHAT && !server_convert_functions(r, fault)) return false;
    if (!server_fields_read(x->json, "", &server_request_fields, where, r, fault)) return false;
    vouch_sampling *sampling = &r->session.sampling;
    if (sampling->top_k < 0) sampling->top_k = 0;
    if (sampling->penalty_window < 0) sampling->penalty_window = INT32_MAX;
    if (sampling->dry_penalty_last_n < 0) sampling->dry_penalty_last_n = INT32_MAX;
    if (sampling->top_n_sigma < 0) sampling->top_n_sigma = 0;
    if (sampling->top_p < 1e-6f) sampling->top_p = 1e-6f; /* 0 keeps the likeliest token, as every top_p does */
    if (sampling->typical_p < 1e-6f) sampling->typical_p = 1e-6f;
    if (r->samplers && !server_read_samplers(r->samplers, sampling, fault)) return false;
    return read_length(r, fault) && read_logprobs(r, fault) && read_tools(r, fault) &&
           server_request_structured(r, fault) && server_read_thinking(r, fault) && read_stream_options(r, fault) &&
           read_response_fields(r, fault) && read_seed(r, fault) && read_speculative(r, fault);
}

/* ----------------------------------------------------------------------- job */

static bool copy_breakers(const server_request *r, server_job *job, server_fault *fault)
{
    const size_t n = json_array_size(r->breakers);
    vouch_sampling *sampling = &job->options.sampling;
    if (!r->breakers) return true;
    if (!json_is_array(r->breakers) || n > VOUCH_MAX_BREAKERS)
        return server_fail_field(fault, "dry_sequence_breakers", "expected an array of at most %d strings",
                                 VOUCH_MAX_BREAKERS);
    const char **texts = server_job_allocate(job, n, sizeof *texts);
    char *bytes = server_job_allocate(job, n, VOUCH_MAX_BREAKER_BYTES + 1);
    if (!texts || !bytes) return server_fail_memory(fault);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(r->breakers, i);
        char path[40];
        snprintf(path, sizeof path, "dry_sequence_breakers[%zu]", i);
        const size_t size = json_string_length(value);
        if (!json_is_string(value) || size < 1 || size > VOUCH_MAX_BREAKER_BYTES)
            return server_fail_field(fault, path, "expected a string of 1 to %d bytes", VOUCH_MAX_BREAKER_BYTES);
        texts[i] = memcpy(bytes + i * (VOUCH_MAX_BREAKER_BYTES + 1), json_string_value(value), size + 1);
    }
    sampling->dry_sequence_breakers = texts;
    sampling->n_dry_sequence_breakers = n;
    return true;
}

/* Copies the texts that end an answer. They end its content, so an answer that has to be a call takes none. */
static bool copy_stops(const server_request *r, server_job *job, server_fault *fault)
{
    const size_t n = json_is_array(r->stop) ? json_array_size(r->stop) : r->stop ? 1 : 0;
    const char *field = r->where == MESSAGES ? "stop_sequences" : "stop";
    if (!r->stop) return true;
    if (n > MOST_STOPS) return server_fail_field(fault, field, "%zu texts; expected at most %d", n, MOST_STOPS);
    const char **stops = server_job_allocate(job, n, sizeof *stops);
    char *bytes = server_job_allocate(job, n, MOST_STOP_BYTES + 1);
    if (!stops || !bytes) return server_fail_memory(fault);
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_is_array(r->stop) ? json_array_get(r->stop, i) : r->stop;
        char path[32];
        snprintf(path, sizeof path, json_is_array(r->stop) ? "%s[%zu]" : "%s", field, i);
        if (!json_is_string(value))
            return server_fail_field(fault, path, "expected a string, got %s", server_json_kind(value));
        const size_t length = json_string_length(value);
        if (length > MOST_STOP_BYTES)
            return server_fail_field(fault, path, "%zu bytes; expected at most %d", length, MOST_STOP_BYTES);
        if (length == 0) continue;
        char *copy = bytes + i * (MOST_STOP_BYTES + 1);
        memcpy(copy, json_string_value(value), length);
        stops[used++] = copy;
    }
    job->options.stop = stops;
    job->options.n_stop = r->must_call ? 0 : used;
    return true;
}

/* {"type": "content", "content": "text" or [{"type": "text", "text": "..."}, ...]} */
static bool copy_prediction(const server_request *r, server_job *job, server_fault *fault)
{
    const json_t *type = json_object_get(r->prediction, "type"), *content = json_object_get(r->prediction, "content");
    server_text text = {0};
    if (!r->prediction) return true;
    if (!json_is_string(type) || strcmp(json_string_value(type), "content") != 0)
        return server_fail_field(fault, "prediction.type", "expected content");
    if (json_is_string(content)) server_text_add(&text, json_string_value(content), json_string_length(content));
    else if (!json_is_array(content))
        return server_fail_field(fault, "prediction.content", "expected a string or parts of the type text");
    for (size_t i = 0; json_is_array(content) && i < json_array_size(content); i++) {
        const json_t *part = json_object_get(json_array_get(content, i), "text");
        if (json_is_string(part)) {
            server_text_add(&text, json_string_value(part), json_string_length(part));
            continue;
        }
        server_text_free(&text);
        return server_fail_field(fault, "prediction.content", "part %zu: expected {\"type\": \"text\", \"text\": ...}",
                                 i);
    }
    char *copy = text.failed ? NULL : server_job_allocate(job, text.n, 1);
    if (copy && text.n) memcpy(copy, text.bytes, text.n);
    job->prediction = copy;
    job->n_prediction = text.n;
    server_text_free(&text);
    return copy || server_fail_memory(fault);
}

/* The answers to one prompt have the seeds r->seed, r->seed + 1, ... */
server_job *server_request_job(const server_request *r, int32_t n_prompts, server_fault *fault)
{
    const int64_t n_choices = (int64_t)r->n * n_prompts;
    vouch_error err;
    if (n_choices > MOST_CHOICES) {
        server_fail_field(fault, "n", "%lld answers in all; expected at most %d", (long long)n_choices, MOST_CHOICES);
        return NULL;
    }
    server_job *job = server_job_new((int32_t)n_choices);
    if (!job) {
        server_fail_memory(fault);
        return NULL;
    }
    job->options = r->session;
    job->with_guesses = r->trace;
    job->slot = r->id_slot;
    job->prompt_only = r->prompt_only;
    for (int32_t i = 0; i < job->n_choices; i++) job->choices[i].seed = r->seed + (uint64_t)(i % r->n);
    if (copy_stops(r, job, fault) && copy_breakers(r, job, fault) && server_request_biases(r, job, fault) &&
        server_request_lora(r, job, fault) && copy_prediction(r, job, fault)) {
        if (!vouch_session_check(r->model->options->model, &job->options, &err)) return job;
        server_fail_library(fault, "", &err);
    }
    server_job_release(job);
    return NULL;
}

/* Each API's clients look for other words, and then shorten the conversation. */
static bool fail_length(const server_request *r, const char *param, size_t n_tokens, server_fault *fault)
{
    static const char code[] = "context_length_exceeded",
                      remedy[] = "shorten the prompt or start the server with a larger --ctx";
    const int32_t n_ctx = r->session.n_ctx;
    if (r->where == MESSAGES)
        return server_fail(fault, 400, code, param, "prompt is too long: %zu tokens > %d maximum; %s", n_tokens,
                           n_ctx - 1, remedy);
    if (r->where == SERVER_NATIVE)
        return server_fail(fault, 400, code, param,
                           "%s: the prompt has %zu tokens and exceeds the available context "
                           "size, %d, which needs one for the answer; %s",
                           param, n_tokens, n_ctx, remedy);
    return server_fail(fault, 400, code, param,
                       "%s: This model's maximum context length is %d tokens. The prompt has "
                       "%zu, and the answer needs one; %s",
                       param, n_ctx, n_tokens, remedy);
}

bool server_request_prompt(const server_request *r, server_job *job, int32_t prompt, const int32_t *tokens,
                           size_t n_tokens, const char *param, server_fault *fault)
{
    const int32_t n_ctx = r->session.n_ctx;
    if (n_tokens == 0) return server_fail_field(fault, param, "the prompt has no tokens; at least one is needed");
    if (n_tokens >= (size_t)n_ctx) return fail_length(r, param, n_tokens, fault);
    for (int32_t i = 0; i < r->n; i++) {
        server_choice *choice = &job->choices[prompt * r->n + i];
        choice->tokens = tokens;
        choice->n_tokens = n_tokens;
        if (!r->echo || !r->session.logprobs) continue;
        choice->prompt_logprobs =
            server_job_allocate(job, n_tokens * (size_t)(1 + r->session.top_logprobs), sizeof *choice->prompt_logprobs);
        if (!choice->prompt_logprobs) return server_fail_memory(fault);
    }
    return true;
}
