/* SPDX-License-Identifier: MIT */
#include "run/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/text.h"

static const char *const verdicts[] = {
    [VOUCH_ACCEPTED] = "accepted", [VOUCH_REJECTED] = "rejected", [VOUCH_NOT_REACHED] = "not reached"};
static const char *const origins[] = {[VOUCH_ORIGIN_ACCEPTED] = "accepted",
                                      [VOUCH_ORIGIN_PLAIN] = "plain",
                                      [VOUCH_ORIGIN_RESIDUAL] = "residual",
                                      [VOUCH_ORIGIN_BONUS] = "bonus"};

/* ------------------------------------------------------------------- table */

enum { TOKEN_COLUMNS = 20 };

static const char *paint(bool color, const char *code)
{
    return color ? code : "";
}

/* Indents a guess of a tree by its depth, up to half of the column. */
static void print_token(FILE *stream, const vouch_model *model, int32_t token, int32_t depth)
{
    size_t n = 0;
    const char *bytes = vouch_token_bytes(model, token, &n);
    const int indent = depth < TOKEN_COLUMNS / 2 ? depth : TOKEN_COLUMNS / 2;
    fprintf(stream, "  %*s\"", indent, "");
    const size_t used = 2 + (size_t)indent +
                        (bytes ? tool_put_escaped(stream, bytes, n, (size_t)(TOKEN_COLUMNS - 2 - indent))
                               : (size_t)fprintf(stream, "#%d", token));
    fprintf(stream, "\"%*s", TOKEN_COLUMNS > used ? (int)(TOKEN_COLUMNS - used) : 0, "");
}

/* Prints four digits after the point, or an exponent below 0.0001. */
static void print_figure(FILE *stream, double x)
{
    fprintf(stream, x == 0 || x >= 0.0001 ? "  %8.4f" : "  %8.1e", x);
}

static void print_guess(FILE *stream, bool color, const vouch_model *model, const vouch_guess *guess, bool is_tree)
{
    static const char *const colors[] = {
        [VOUCH_ACCEPTED] = "\033[32m", [VOUCH_REJECTED] = "\033[31m", [VOUCH_NOT_REACHED] = "\033[2m"};
    print_token(stream, model, guess->token, is_tree ? guess->depth : 0);
    print_figure(stream, guess->q);
    if (guess->verdict == VOUCH_NOT_REACHED) {
        fprintf(stream, "%10s%10s%10s", "-", "-", "-");
    } else {
        print_figure(stream, guess->p);
        print_figure(stream, guess->accept);
        if (isnan(guess->u)) fprintf(stream, "%10s", "-");
        else print_figure(stream, guess->u);
    }
    fprintf(stream, "  %s%s%s\n", paint(color, colors[guess->verdict]), verdicts[guess->verdict],
            paint(color, "\033[0m"));
}

void cli_trace_print(FILE *stream, bool color, const vouch_model *model, int64_t number, size_t position,
                     const vouch_step *step)
{
    static const char *const endings[] = {[VOUCH_ORIGIN_PLAIN] = "plain, nothing was drafted",
                                          [VOUCH_ORIGIN_RESIDUAL] = "replaces the rejected guess",
                                          [VOUCH_ORIGIN_BONUS] = "bonus, every guess accepted"};
    fprintf(stream, "cycle %lld at %zu: %d drafted, %d accepted", (long long)number, position, step->n_guesses,
            step->n_accepted);
    if (step->accept > 0) /* the rule of the papers goes without saying */
        fprintf(stream, "; %s", vouch_accept_name((int)step->accept));
    if (step->lenience < 1) fprintf(stream, "; lenience %g, lossy", step->lenience);
    fprintf(stream, "\n");
    if (step->n_guesses > 0)
        fprintf(stream, "  %s%-*s%10s%10s%10s%10s  verdict%s\n", paint(color, "\033[1m"), TOKEN_COLUMNS, "token", "q",
                "p", "alpha", "u", paint(color, "\033[0m"));
    bool is_tree = false;
    for (int32_t i = 0; i < step->n_guesses; i++) is_tree |= step->guesses[i].parent != i - 1;
    for (int32_t i = 0; i < step->n_guesses; i++) print_guess(stream, color, model, &step->guesses[i], is_tree);
    if (step->last == VOUCH_ORIGIN_ACCEPTED) {
        fprintf(stream, step->finish == VOUCH_FINISH_NONE
                            ? "  no token follows: the model gave no finite logits after the accepted guesses\n"
                            : "  the answer ends inside the accepted guesses\n");
        return;
    }
    print_token(stream, model, step->tokens[step->n_tokens - 1], 0);
    fprintf(stream, "%*s  %s%s%s\n", step->n_guesses > 0 ? 40 : 0, "", paint(color, "\033[36m"), endings[step->last],
            paint(color, "\033[0m"));
}

/* -------------------------------------------------------------------- JSON */

/* Adds "token" and "text"; also "bytes" for a token that is not well-formed UTF-8. */
static bool token_describe(json_t *object, const vouch_model *model, int32_t token)
{
    size_t n = 0, n_text = 0;
    const char *bytes = vouch_token_bytes(model, token, &n);
    if (!bytes) bytes = "";
    char *text = tool_utf8_repair(bytes, n, &n_text);
    if (!text) return false;
    bool ok = json_object_set_new(object, "token", json_integer(token)) == 0 &&
              json_object_set_new(object, "text", json_stringn(text, n_text)) == 0;
    if (n_text != n || memcmp(text, bytes, n) != 0) {
        char *hex = malloc(2 * n + 1);
        for (size_t i = 0; hex && i < n; i++) snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)bytes[i]);
        ok = ok && hex && json_object_set_new(object, "bytes", json_stringn(hex, 2 * n)) == 0;
        free(hex);
    }
    free(text);
    return ok;
}

static json_t *drafters_json(unsigned drafters)
{
    json_t *names = json_array();
    for (int i = 0; names && vouch_drafter_name(i); i++)
        if (drafters >> i & 1 && json_array_append_new(names, json_string(vouch_drafter_name(i))) != 0) {
            json_decref(names);
            return NULL;
        }
    return names;
}

static json_t *guess_json(const vouch_model *model, const vouch_guess *guess)
{
    const bool reached = guess->verdict != VOUCH_NOT_REACHED;
    json_t *object = json_object();
    if (object && token_describe(object, model, guess->token) &&
        json_object_set_new(object, "parent", json_integer(guess->parent)) == 0 &&
        json_object_set_new(object, "drafters", drafters_json(guess->drafters)) == 0 &&
        json_object_set_new(object, "q", json_real(guess->q)) == 0 &&
        json_object_set_new(object, "p", reached ? json_real(guess->p) : json_null()) == 0 &&
        json_object_set_new(object, "accept", reached ? json_real(guess->accept) : json_null()) == 0 &&
        json_object_set_new(object, "u", reached && !isnan(guess->u) ? json_real(guess->u) : json_null()) == 0 &&
        json_object_set_new(object, "verdict", json_string(verdicts[guess->verdict])) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *final_json(const vouch_model *model, const vouch_step *step)
{
    json_t *object = json_object();
    if (object && token_describe(object, model, step->tokens[step->n_tokens - 1]) &&
        json_object_set_new(object, "origin", json_string(origins[step->last])) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *cli_trace_json(const vouch_model *model, size_t position, const vouch_step *step)
{
    json_t *cycle = json_object(), *guesses = json_array();
    bool ok = cycle && guesses;
    for (int32_t i = 0; ok && i < step->n_guesses; i++)
        ok = json_array_append_new(guesses, guess_json(model, &step->guesses[i])) == 0;
    ok = ok && json_object_set_new(cycle, "position", json_integer((json_int_t)position)) == 0 &&
         json_object_set_new(cycle, "accept", json_string(vouch_accept_name((int)step->accept))) == 0 &&
         json_object_set_new(cycle, "lenience", json_real(step->lenience)) == 0 &&
         json_object_set(cycle, "guesses", guesses) == 0 &&
         json_object_set_new(cycle, "final", final_json(model, step)) == 0;
    json_decref(guesses);
    if (ok) return cycle;
    json_decref(cycle);
    return NULL;
}
