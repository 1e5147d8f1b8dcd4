/* SPDX-License-Identifier: MIT */
/* vouch_grammar_open: from a notation to an automaton. */
#include "base/floats.h"
#include "text/grammar/notations.h"
#include "text/grammar/program.h"

enum { LONGEST = 16 << 20 }; /* bytes of a grammar's text */

vouch_status vouch_grammar_open(vouch_grammar **out, vouch_grammar_kind kind, const char *text, size_t n_text,
                                vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    enum { FLAGS = VOUCH_GRAMMAR_CLOSED | VOUCH_GRAMMAR_LENIENT };
    vouch_builder builder = {.flags = (unsigned)kind & FLAGS};
    int32_t root = 0;
    *out = NULL;
    if (n_text > LONGEST)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "the grammar has %zu bytes; expected at most %d", n_text, LONGEST);
    switch ((int)kind & ~FLAGS) {
    case VOUCH_GRAMMAR_GBNF: root = vouch_gbnf_read(&builder, text, n_text); break;
    case VOUCH_GRAMMAR_JSON_SCHEMA: root = vouch_schema_read(&builder, text, n_text); break;
    case VOUCH_GRAMMAR_REGEX: root = vouch_regex_read(&builder, text, n_text); break;
    case VOUCH_GRAMMAR_JSON: root = vouch_schema_read(&builder, "{\"type\": \"object\"}", 18); break;
    default:
        return vouch_fail(err, VOUCH_E_ARGUMENT, "grammar kind is %d; expected 0 to %d, with the flags %d and %d",
                          (int)kind, VOUCH_GRAMMAR_REGEX, VOUCH_GRAMMAR_CLOSED, VOUCH_GRAMMAR_LENIENT);
    }
    return vouch_grammar_compile(out, &builder, root, err);
}
