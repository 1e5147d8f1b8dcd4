/* SPDX-License-Identifier: MIT */
/* Operators on values, as Python defines them for its int, float, str, list and tuple. An int has 64 bits; a result
 * beyond that fails. */
#include <math.h>

#include "text/jinja/render.h"

static jinja_value concat_lists(jinja_run *run, const jinja_value *a, const jinja_value *b)
{
    jinja_value all = vouch_jinja_list_new(run, a->kind);
    for (size_t i = 0; i < a->list->n && !run->failed; i++) vouch_jinja_list_push(run, all.list, a->list->items[i]);
    for (size_t i = 0; i < b->list->n && !run->failed; i++) vouch_jinja_list_push(run, all.list, b->list->items[i]);
    return all;
}

static jinja_value repeat(jinja_run *run, const jinja_value *x, int64_t n)
{
    if (x->kind == JINJA_STRING) {
        jinja_builder text = {0};
        for (int64_t i = 0; i < n && !run->failed; i++) vouch_jinja_add(run, &text, x->string);
        return jinja_text(vouch_jinja_built(&text));
    }
    jinja_value all = vouch_jinja_list_new(run, x->kind);
    for (int64_t i = 0; i < n && vouch_jinja_step(run, 1); i++)
        for (size_t j = 0; j < x->list->n && !run->failed; j++) vouch_jinja_list_push(run, all.list, x->list->items[j]);
    return all;
}

static jinja_value integer_operation(jinja_run *run, char op, bool is_double, int64_t x, int64_t y)
{
    int64_t result = 0;
    bool overflow = false;
    if (op == '+') overflow = __builtin_add_overflow(x, y, &result);
    else if (op == '-') overflow = __builtin_sub_overflow(x, y, &result);
    else if (op == '*' && !is_double) overflow = __builtin_mul_overflow(x, y, &result);
    else if (op == '*') {
        if (y < 0) return jinja_float(pow((double)x, (double)y));
        result = 1;
        for (int64_t i = 0; i < y && !overflow && vouch_jinja_step(run, 1); i++)
            overflow = __builtin_mul_overflow(result, x, &result);
    } else if (y == 0) {
        return vouch_jinja_fail(run, "division by zero");
    } else if (op == '/' && !is_double) {
        return jinja_float((double)x / (double)y);
    } else if (x == INT64_MIN && y == -1) {
        overflow = op == '/';
    } else { /* towards minus infinity */
        const int64_t rest = x % y, is_below = rest != 0 && (rest < 0) != (y < 0);
        result = op == '/' ? x / y - is_below : rest + (is_below ? y : 0);
    }
    if (overflow) return vouch_jinja_fail(run, "the result of %c is too large for 64 bits", op);
    return jinja_int(result);
}

static jinja_value float_operation(jinja_run *run, char op, bool is_double, double x, double y)
{
    if ((op == '/' || op == '%') && y == 0) return vouch_jinja_fail(run, "division by zero");
    switch (op) {
    case '+': return jinja_float(x + y);
    case '-': return jinja_float(x - y);
    case '*': return jinja_float(is_double ? pow(x, y) : x * y);
    case '/': return jinja_float(is_double ? floor(x / y) : x / y);
    default: return jinja_float(x - y * floor(x / y));
    }
}

static jinja_value add_strings(jinja_run *run, jinja_string a, jinja_string b)
{
    if (!a.is_safe && !b.is_safe) return jinja_text(vouch_jinja_concat(run, a, b));
    a = vouch_jinja_escape(run, a);
    jinja_string joined = vouch_jinja_concat(run, a, vouch_jinja_escape(run, b));
    joined.is_safe = true;
    return jinja_text(joined);
}

jinja_value vouch_jinja_operate(jinja_run *run, jinja_string name, const jinja_value *a, const jinja_value *b)
{
    const char op = name.bytes[0];
    const bool is_double = name.n == 2;
    if (op == '~') {
        const jinja_string left = vouch_jinja_str(run, a);
        return jinja_text(vouch_jinja_concat(run, left, vouch_jinja_str(run, b)));
    }
    const bool is_list = a->kind == JINJA_LIST || a->kind == JINJA_TUPLE;
    if (vouch_jinja_is_number(a) && vouch_jinja_is_number(b)) {
        if (a->kind == JINJA_FLOAT || b->kind == JINJA_FLOAT)
            return float_operation(run, op, is_double, vouch_jinja_number(a), vouch_jinja_number(b));
        return integer_operation(run, op, is_double, vouch_jinja_integer(a), vouch_jinja_integer(b));
    }
    if (op == '+' && a->kind == JINJA_STRING && b->kind == JINJA_STRING) return add_strings(run, a->string, b->string);
    if (op == '+' && is_list && a->kind == b->kind) return concat_lists(run, a, b);
    if (op == '*' && !is_double && (a->kind == JINJA_STRING || is_list) && b->kind == JINJA_INT)
        return repeat(run, a, b->integer);
    if (op == '%' && a->kind == JINJA_STRING) {
        const jinja_arguments arguments = {.n = b->kind == JINJA_TUPLE ? b->list->n : 1,
                                           .values = b->kind == JINJA_TUPLE ? b->list->items : b};
        return vouch_jinja_filter(run, vouch_jinja_literal("format"), a, &arguments);
    }
    if (!vouch_jinja_check_defined(run, a) || !vouch_jinja_check_defined(run, b)) return jinja_undefined();
    return vouch_jinja_fail(run, "%s %.*s %s has no meaning", vouch_jinja_kind_name(a->kind), (int)name.n, name.bytes,
                            vouch_jinja_kind_name(b->kind));
}

bool vouch_jinja_holds(jinja_run *run, jinja_string op, const jinja_value *a, const jinja_value *b)
{
    if (vouch_jinja_is(op, "==")) return vouch_jinja_equal(run, a, b);
    if (vouch_jinja_is(op, "!=")) return !vouch_jinja_equal(run, a, b);
    if (vouch_jinja_is(op, "in")) return vouch_jinja_contains(run, b, a);
    if (vouch_jinja_is(op, "not in")) return !vouch_jinja_contains(run, b, a);
    if (!vouch_jinja_check_defined(run, a) || !vouch_jinja_check_defined(run, b)) return false;
    const int order = vouch_jinja_compare(run, a, b);
    const bool or_equal = op.n == 2;
    return op.bytes[0] == '<' ? order < or_equal : order > -or_equal;
}

jinja_value vouch_jinja_negate(jinja_run *run, const jinja_value *x)
{
    if (x->kind == JINJA_FLOAT) return jinja_float(-x->number);
    if (!vouch_jinja_is_number(x)) return vouch_jinja_fail(run, "%s has no negative", vouch_jinja_kind_name(x->kind));
    return integer_operation(run, '-', false, 0, vouch_jinja_integer(x));
}
