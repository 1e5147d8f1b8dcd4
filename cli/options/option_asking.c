/* SPDX-License-Identifier: MIT */
#include "options/option_checks.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/file.h"
#include "options/options.h"
#include "tool/text.h"

/* ------------------------------------------------------- prompts and answers */

/* "ID=X" */
static bool parse_bias(const char *text, vouch_logit_bias *bias)
{
    char *end;
    const long long token = strtoll(text, &end, 10);
    const bool has_token = *text >= '0' && *text <= '9' && *end == '=' && token <= INT32_MAX;
    const char *number = has_token ? end + 1 : "";
    const float value = strtof(number, &end);
    const bool is_number = end > number && !isspace((unsigned char)*number) && !*end && !strpbrk(number, "xX");
    if (!has_token || !is_number || !(fabsf(value) <= 1e9f || value == -INFINITY)) {
        tool_complain("--logit-bias '%s': expected ID=X, the id of a token and a number in [-1e9, 1e9] or -inf", text);
        return false;
    }
    *bias = (vouch_logit_bias){(int32_t)token, value};
    return true;
}

static bool check_stop(const char *text)
{
    const size_t n = strlen(text);
    uint32_t code;
    for (size_t at = 0, length; at < n; at += length) {
        length = tool_utf8_length(text + at, n - at, &code);
        if (length > 0) continue;
        tool_complain("--stop '%s': expected UTF-8 text", text);
        return false;
    }
    return true;
}

uint64_t cli_seed_draw(void)
{
    uint32_t seed;
    if (vouch_os_random(&seed, sizeof seed)) return seed;
    return (uint64_t)(tool_now() * 1e9) & UINT32_MAX;
}

/* The parameters of sampling that flags set. */
static unsigned given_sampling(cli_given given)
{
    static const struct {
        const char *flag;
        unsigned field;
    } rows[] = {{"temp", VOUCH_SAMPLING_TEMPERATURE},
                {"top-k", VOUCH_SAMPLING_TOP_K},
                {"top-p", VOUCH_SAMPLING_TOP_P},
                {"min-p", VOUCH_SAMPLING_MIN_P},
                {"typical", VOUCH_SAMPLING_TYPICAL_P},
                {"xtc-probability", VOUCH_SAMPLING_XTC_PROBABILITY},
                {"xtc-threshold", VOUCH_SAMPLING_XTC_THRESHOLD},
                {"repeat-penalty", VOUCH_SAMPLING_REPEAT_PENALTY},
                {"penalty-window", VOUCH_SAMPLING_PENALTY_WINDOW}};
    unsigned fields = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cli_given_find(given, rows[i].flag)) fields |= rows[i].field;
    return fields;
}

/* Hands --dry-sequence-breaker to the library's options, which keep their own breakers without the flag. */
static bool take_breakers(cli_options *options)
{
    const tool_texts *texts = &options->breakers;
    vouch_sampling *sampling = &options->session.sampling;
    if (texts->n == 0) return true;
    const bool is_none = texts->n == 1 && strcmp(texts->items[0], "none") == 0;
    if (texts->n > VOUCH_MAX_BREAKERS) {
        tool_complain("--dry-sequence-breaker is given %zu times; expected at most %d", texts->n, VOUCH_MAX_BREAKERS);
        return false;
    }
    for (size_t i = 0; i < texts->n; i++) {
        const size_t n = strlen(texts->items[i]);
        if (n <= VOUCH_MAX_BREAKER_BYTES) continue;
        tool_complain("--dry-sequence-breaker '%s': %zu bytes; expected at most %d", texts->items[i], n,
                      VOUCH_MAX_BREAKER_BYTES);
        return false;
    }
    sampling->dry_sequence_breakers = texts->items;
    sampling->n_dry_sequence_breakers = is_none ? 0 : texts->n;
    return true;
}

/* Checks the flags about prompts, answers and sampling, and hands them to the library's options. */
bool cli_check_asking(cli_options *options, cli_given given)
{
    options->sampling_given = given_sampling(given);
    for (size_t i = 0; i < options->bias_texts.n; i++)
        if (!parse_bias(options->bias_texts.items[i], &options->bias[i])) return false;
    for (size_t i = 0; i < options->stop.n; i++)
        if (!check_stop(options->stop.items[i])) return false;
    if (!take_breakers(options)) return false;
    options->session.sampling.bias = options->bias;
    options->session.sampling.n_bias = options->bias_texts.n;
    options->session.stop = options->stop.items;
    options->session.n_stop = options->stop.n;
    if (options->raw) options->chat_template = "none";
    if (options->chat_template && strcmp(options->chat_template, "none") == 0 && (options->chat || options->system)) {
        tool_complain("--%s needs a chat template, but --chat-template is none: leave out one of them",
                      options->chat ? "chat" : "system");
        return false;
    }
    return true;
}
