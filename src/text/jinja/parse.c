/* SPDX-License-Identifier: MIT */
/*
 * Tokens to a tree (syntax.h): recursive descent, one function a level of precedence, from the loosest to the tightest:
 *
 *   if-else   or   and   not   comparison   + -   ~   * / // %   **   unary   postfix and filters   primary
 */
#include <stdlib.h>
#include <string.h>

#include "text/jinja/syntax.h"
#include "text/jinja/template.h"

typedef struct parser {
    jinja_run *run;
    const jinja_token *token; /* the next one */
    int32_t n_loops;          /* open ones, for break and continue */
} parser;

static jinja_node *parse_expression(parser *p);
static jinja_node *parse_unary(parser *p, bool with_filters);
static jinja_node *parse_body(parser *p, const char *const *ends);

/* ----------------------------------------------------------------------- tokens */

static bool at_operator(const parser *p, const char *text)
{
    return p->token->kind == JINJA_OPERATOR && vouch_jinja_is(p->token->text, text);
}

static bool at_name(const parser *p, const char *text)
{
    return p->token->kind == JINJA_NAME && vouch_jinja_is(p->token->text, text);
}

static bool skip_operator(parser *p, const char *text)
{
    const bool is_here = at_operator(p, text);
    p->token += is_here;
    return is_here;
}

static bool skip_name(parser *p, const char *text)
{
    const bool is_here = at_name(p, text);
    p->token += is_here;
    return is_here;
}

static void *expected(parser *p, const char *what)
{
    p->run->line = p->token->line;
    const jinja_string found = p->token->text;
    if (found.n)
        vouch_jinja_fail(p->run, "%s expected before '%.*s'", what, (int)(found.n < 40 ? found.n : 40), found.bytes);
    else vouch_jinja_fail(p->run, "%s expected", what);
    return NULL;
}

/* Refuses a construct that jinja2 has and this interpreter doesn't. */
static void *refuse(parser *p, const char *what)
{
    p->run->line = p->token->line;
    vouch_jinja_fail(p->run, "%s: vouch doesn't support them in a template", what);
    return NULL;
}

static void need_operator(parser *p, const char *text)
{
    if (!p->run->failed && !skip_operator(p, text)) expected(p, text);
}

static void need(parser *p, jinja_token_kind kind, const char *what)
{
    if (p->run->failed) return;
    if (p->token->kind == kind) p->token++;
    else expected(p, what);
}

static jinja_string take_name(parser *p)
{
    if (p->token->kind == JINJA_NAME) return (p->token++)->text;
    expected(p, "a name");
    return vouch_jinja_literal("");
}

/* ------------------------------------------------------------------------ nodes */

static jinja_node *node_new(parser *p, jinja_node_kind kind)
{
    jinja_node *node = vouch_jinja_take(p->run, 1, sizeof *node);
    if (node) *node = (jinja_node){.kind = kind, .line = p->token->line};
    return node;
}

static jinja_node *node_of(parser *p, jinja_node_kind kind, jinja_node *a, jinja_node *b)
{
    jinja_node *node = node_new(p, kind);
    if (!node) return NULL;
    node->a = a;
    node->b = b;
    return node;
}

/* Room doubles at 4, 8, 16, ... items. */
static void add_item(parser *p, jinja_node *to, jinja_string name, jinja_node *item)
{
    if (p->run->failed || !to) return;
    if (to->n == 0 || (to->n >= 4 && (to->n & (to->n - 1)) == 0)) {
        const size_t room = to->n == 0 ? 4 : 2 * to->n;
        jinja_node **items = vouch_jinja_take(p->run, room, sizeof(jinja_node *));
        jinja_string *names = vouch_jinja_take(p->run, room, sizeof *names);
        if (!items || !names) return;
        if (to->n) {
            memcpy(items, to->items, to->n * sizeof(jinja_node *));
            memcpy(names, to->names, to->n * sizeof *names);
        }
        to->items = items;
        to->names = names;
    }
    to->items[to->n] = item;
    to->names[to->n++] = name;
}

static jinja_node *constant(parser *p, jinja_value value)
{
    jinja_node *node = node_new(p, JINJA_CONSTANT);
    if (node) node->constant = value;
    return node;
}

/* ------------------------------------------------------------------- expressions */

static const jinja_string unnamed;

/* Parses items with commas between them, up to a closing bracket, which is taken. */
static void parse_items(parser *p, jinja_node *to, const char *closing)
{
    while (!p->run->failed && !skip_operator(p, closing)) {
        if (to && to->n && !skip_operator(p, ",")) {
            expected(p, "a comma");
            return;
        }
        if (skip_operator(p, closing)) return;
        add_item(p, to, unnamed, parse_expression(p));
    }
}

/* Parses arguments after the opening parenthesis: positional ones, then named ones. */
static void parse_arguments(parser *p, jinja_node *to)
{
    for (bool is_first = true; !p->run->failed && !skip_operator(p, ")"); is_first = false) {
        if (!is_first && !skip_operator(p, ",")) {
            expected(p, "a comma");
            return;
        }
        if (skip_operator(p, ")")) return;
        if (at_operator(p, "*") || at_operator(p, "**")) {
            refuse(p, "arguments given by * or **");
            return;
        }
        jinja_string name = unnamed;
        if (p->token->kind == JINJA_NAME && p->token[1].kind == JINJA_OPERATOR &&
            vouch_jinja_is(p->token[1].text, "=")) {
            name = p->token->text;
            p->token += 2;
        }
        add_item(p, to, name, parse_expression(p));
    }
}

static jinja_node *parse_dict(parser *p)
{
    jinja_node *dict = node_new(p, JINJA_DICT_OF);
    while (!p->run->failed && !skip_operator(p, "}")) {
        if (dict && dict->n) need_operator(p, ",");
        if (skip_operator(p, "}")) break;
        add_item(p, dict, unnamed, parse_expression(p));
        need_operator(p, ":");
        add_item(p, dict, unnamed, parse_expression(p));
    }
    return dict;
}

/* Parses ( ): an empty tuple, an expression, or a tuple where there is a comma. */
static jinja_node *parse_parentheses(parser *p)
{
    jinja_node *tuple = node_new(p, JINJA_TUPLE_OF);
    if (skip_operator(p, ")")) return tuple;
    jinja_node *first = parse_expression(p);
    if (skip_operator(p, ")")) return first;
    add_item(p, tuple, unnamed, first);
    if (!at_operator(p, ",")) return expected(p, "a comma or )");
    parse_items(p, tuple, ")");
    return tuple;
}

static jinja_node *parse_string(parser *p)
{
    jinja_string all = (p->token++)->text;
    while (p->token->kind == JINJA_STRING_TOKEN) all = vouch_jinja_concat(p->run, all, (p->token++)->text);
    return constant(p, jinja_text(all));
}

/* Parses a number. Digits may have _ between them. */
static jinja_node *parse_number(parser *p)
{
    char digits[64];
    size_t n = 0;
    const jinja_token *token = p->token++;
    for (size_t i = 0; i < token->text.n && n + 1 < sizeof digits; i++)
        if (token->text.bytes[i] != '_') digits[n++] = token->text.bytes[i];
    digits[n] = '\0';
    if (token->kind == JINJA_FLOAT_TOKEN) return constant(p, jinja_float(strtod(digits, NULL)));
    if (n > 18) {
        vouch_jinja_fail(p->run, "the number %s is too large", digits);
        return NULL;
    }
    return constant(p, jinja_int(strtoll(digits, NULL, 10)));
}

static jinja_node *parse_name(parser *p)
{
    static const struct {
        const char *name;
        jinja_value value;
    } words[] = {{"true", {.kind = JINJA_BOOL, .boolean = true}},
                 {"True", {.kind = JINJA_BOOL, .boolean = true}},
                 {"false", {.kind = JINJA_BOOL, .boolean = false}},
                 {"False", {.kind = JINJA_BOOL, .boolean = false}},
                 {"none", {.kind = JINJA_NONE}},
                 {"None", {.kind = JINJA_NONE}}};
    const jinja_string name = take_name(p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vouch_jinja_is(name, words[i].name)) return constant(p, words[i].value);
    jinja_node *variable = node_new(p, JINJA_VARIABLE);
    if (variable) variable->name = name;
    return variable;
}

static jinja_node *parse_primary(parser *p)
{
    switch (p->token->kind) {
    case JINJA_NAME: return parse_name(p);
    case JINJA_STRING_TOKEN: return parse_string(p);
    case JINJA_INT_TOKEN:
    case JINJA_FLOAT_TOKEN: return parse_number(p);
    default: break;
    }
    if (skip_operator(p, "(")) return parse_parentheses(p);
    if (skip_operator(p, "{")) return parse_dict(p);
    if (!skip_operator(p, "[")) return expected(p, "an expression");
    jinja_node *list = node_new(p, JINJA_LIST_OF);
    parse_items(p, list, "]");
    return list;
}

/* Parses a[b] or a[begin:end:step], after the [. */
static jinja_node *parse_subscript(parser *p, jinja_node *a)
{
    jinja_node *parts[3] = {NULL};
    int n = 0;
    bool is_slice = false;
    for (; n < 3 && !p->run->failed; n++) {
        if (!at_operator(p, ":") && !at_operator(p, "]")) parts[n] = parse_expression(p);
        if (!skip_operator(p, ":")) break;
        is_slice = true;
    }
    need_operator(p, "]");
    if (!is_slice) {
        if (!parts[0]) return expected(p, "a subscript");
        return node_of(p, JINJA_SUBSCRIPT, a, parts[0]);
    }
    jinja_node *slice = node_of(p, JINJA_SLICE, a, NULL);
    for (int i = 0; i < 3; i++) add_item(p, slice, unnamed, parts[i]);
    return slice;
}

static jinja_node *parse_call(parser *p, jinja_node *a)
{
    jinja_node *call = node_of(p, JINJA_CALL, a, NULL);
    parse_arguments(p, call);
    return call;
}

static jinja_node *parse_postfix(parser *p, jinja_node *a)
{
    while (!p->run->failed) {
        if (skip_operator(p, ".")) {
            jinja_node *attribute = node_of(p, JINJA_ATTRIBUTE, a, NULL);
            if (!attribute) return NULL;
            if (p->token->kind == JINJA_INT_TOKEN) { /* a.0 is a[0] */
                attribute->kind = JINJA_SUBSCRIPT;
                attribute->b = parse_number(p);
            } else {
                attribute->name = take_name(p);
            }
            a = attribute;
        } else if (skip_operator(p, "[")) {
            a = parse_subscript(p, a);
        } else if (skip_operator(p, "(")) {
            a = parse_call(p, a);
        } else {
            return a;
        }
    }
    return NULL;
}

/* Parses the name of a filter or a test, which may have dots. */
static jinja_node *parse_named(parser *p, jinja_node_kind kind, jinja_node *a)
{
    jinja_node *node = node_of(p, kind, a, NULL);
    if (!node) return NULL;
    node->name = take_name(p);
    return node;
}

/* Parses a test after `is`. Its argument needs no parentheses. */
static jinja_node *parse_test(parser *p, jinja_node *a)
{
    const bool is_negated = skip_name(p, "not");
    jinja_node *test = parse_named(p, JINJA_TEST, a);
    const jinja_token_kind kind = p->token->kind;
    if (skip_operator(p, "(")) {
        parse_arguments(p, test);
    } else if ((kind == JINJA_NAME && !at_name(p, "else") && !at_name(p, "or") && !at_name(p, "and") &&
                !at_name(p, "if") && !at_name(p, "in") && !at_name(p, "not") && !at_name(p, "is")) ||
               kind == JINJA_STRING_TOKEN || kind == JINJA_INT_TOKEN || kind == JINJA_FLOAT_TOKEN ||
               at_operator(p, "[") || at_operator(p, "{")) {
        add_item(p, test, unnamed, parse_postfix(p, parse_primary(p)));
    }
    return is_negated ? node_of(p, JINJA_NOT, test, NULL) : test;
}

static jinja_node *parse_filter(parser *p, jinja_node *a)
{
    jinja_node *filter = parse_named(p, JINJA_FILTER, a);
    if (skip_operator(p, "(")) parse_arguments(p, filter);
    return filter;
}

/* Parses the filters of {% filter a | b %}. No "|" stands before the first one. */
static jinja_node *parse_block_filters(parser *p)
{
    jinja_node *a = parse_filter(p, NULL);
    while (!p->run->failed && skip_operator(p, "|")) a = parse_filter(p, a);
    return a;
}

static jinja_node *parse_filters(parser *p, jinja_node *a)
{
    while (!p->run->failed) {
        if (skip_operator(p, "|")) a = parse_filter(p, a);
        else if (skip_name(p, "is")) a = parse_test(p, a);
        else if (skip_operator(p, "(")) a = parse_call(p, a);
        else return a;
    }
    return NULL;
}

static jinja_node *parse_unary(parser *p, bool with_filters)
{
    jinja_node *node = NULL;
    if (!vouch_jinja_enter(p->run)) return NULL;
    if (skip_operator(p, "-")) node = node_of(p, JINJA_NEGATE, parse_unary(p, false), NULL);
    else if (skip_operator(p, "+")) node = node_of(p, JINJA_PLUS, parse_unary(p, false), NULL);
    else node = parse_postfix(p, parse_primary(p));
    if (with_filters) node = parse_filters(p, node);
    vouch_jinja_leave(p->run);
    return node;
}

/* The four levels of left-associative operators, tightest last. */
static jinja_node *parse_binary(parser *p, int level)
{
    static const char *const operators[4][5] = {{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}};
    if (level == 4) return parse_unary(p, true);
    jinja_node *left = parse_binary(p, level + 1);
    while (!p->run->failed) {
        const char *found = NULL;
        for (int i = 0; operators[level][i] && !found; i++)
            if (skip_operator(p, operators[level][i])) found = operators[level][i];
        if (!found) break;
        left = node_of(p, JINJA_BINARY, left, parse_binary(p, level + 1));
        if (left) left->name = vouch_jinja_literal(found);
    }
    return left;
}

static const char *take_comparison(parser *p)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (skip_operator(p, operators[i])) return operators[i];
    if (skip_name(p, "in")) return "in";
    if (at_name(p, "not") && p->token[1].kind == JINJA_NAME && vouch_jinja_is(p->token[1].text, "in")) {
        p->token += 2;
        return "not in";
    }
    return NULL;
}

static jinja_node *parse_comparison(parser *p)
{
    jinja_node *first = parse_binary(p, 0), *all = NULL;
    for (const char *found; !p->run->failed && (found = take_comparison(p));) {
        if (!all) all = node_of(p, JINJA_COMPARE, first, NULL);
        add_item(p, all, vouch_jinja_literal(found), parse_binary(p, 0));
    }
    return all ? all : first;
}

static jinja_node *parse_not(parser *p)
{
    if (!skip_name(p, "not")) return parse_comparison(p);
    if (!vouch_jinja_enter(p->run)) return NULL;
    jinja_node *node = node_of(p, JINJA_NOT, parse_not(p), NULL);
    vouch_jinja_leave(p->run);
    return node;
}

static jinja_node *parse_and(parser *p)
{
    jinja_node *left = parse_not(p);
    while (!p->run->failed && skip_name(p, "and")) left = node_of(p, JINJA_AND, left, parse_not(p));
    return left;
}

static jinja_node *parse_or(parser *p)
{
    jinja_node *left = parse_and(p);
    while (!p->run->failed && skip_name(p, "or")) left = node_of(p, JINJA_OR, left, parse_and(p));
    return left;
}

static jinja_node *parse_expression(parser *p)
{
    if (!vouch_jinja_enter(p->run)) return NULL;
    jinja_node *value = parse_or(p);
    while (!p->run->failed && skip_name(p, "if")) {
        jinja_node *choice = node_of(p, JINJA_IF_ELSE, parse_or(p), value);
        if (choice && skip_name(p, "else")) choice->c = parse_expression(p);
        value = choice;
    }
    vouch_jinja_leave(p->run);
    return value;
}

/* Parses expressions with commas between them: a tuple without parentheses. `parse` reads one expression. */
static jinja_node *parse_tuple(parser *p, jinja_node *(*parse)(parser *))
{
    jinja_node *first = parse(p);
    if (!at_operator(p, ",")) return first;
    jinja_node *tuple = node_new(p, JINJA_TUPLE_OF);
    add_item(p, tuple, unnamed, first);
    while (!p->run->failed && skip_operator(p, ",")) {
        if (p->token->kind == JINJA_BLOCK_END || p->token->kind == JINJA_PRINT_END || at_operator(p, "=") ||
            at_name(p, "in"))
            break;
        add_item(p, tuple, unnamed, parse(p));
    }
    return tuple;
}

/* -------------------------------------------------------------------- statements */

static jinja_node *parse_target_item(parser *p)
{
    if (skip_operator(p, "(")) {
        jinja_node *tuple = node_new(p, JINJA_TUPLE_OF);
        do add_item(p, tuple, unnamed, parse_target_item(p));
        while (!p->run->failed && skip_operator(p, ",") && !at_operator(p, ")"));
        need_operator(p, ")");
        return tuple;
    }
    jinja_node *target = node_new(p, JINJA_VARIABLE);
    if (target) target->name = take_name(p);
    return target;
}

/* Parses the body of a block and the tag that ends it: {% end... %}, whose name is taken. */
static jinja_node *parse_block(parser *p, const char *end)
{
    need(p, JINJA_BLOCK_END, "%}");
    jinja_node *body = parse_body(p, (const char *const[]){end, NULL});
    p->token += !p->run->failed;
    need(p, JINJA_BLOCK_END, "%}");
    return body;
}

static jinja_node *parse_for(parser *p)
{
    jinja_node *loop = node_of(p, JINJA_FOR, parse_tuple(p, parse_target_item), NULL);
    if (!loop) return NULL;
    if (!p->run->failed && !skip_name(p, "in")) return expected(p, "in");
    loop->b = parse_tuple(p, parse_or);
    if (skip_name(p, "if")) loop->c = parse_expression(p);
    if (at_name(p, "recursive")) return refuse(p, "recursive loops");
    need(p, JINJA_BLOCK_END, "%}");
    p->n_loops++;
    add_item(p, loop, unnamed, parse_body(p, (const char *const[]){"else", "endfor", NULL}));
    p->n_loops--;
    jinja_node *otherwise = NULL;
    if (!p->run->failed && skip_name(p, "else")) otherwise = parse_block(p, "endfor");
    else if (!p->run->failed) {
        p->token++;
        need(p, JINJA_BLOCK_END, "%}");
    }
    add_item(p, loop, unnamed, otherwise);
    return loop;
}

static jinja_node *parse_if(parser *p)
{
    jinja_node *node = node_of(p, JINJA_IF, parse_tuple(p, parse_expression), NULL), *otherwise = NULL;
    if (!node || !vouch_jinja_enter(p->run)) return NULL;
    need(p, JINJA_BLOCK_END, "%}");
    add_item(p, node, unnamed, parse_body(p, (const char *const[]){"elif", "else", "endif", NULL}));
    if (!p->run->failed && skip_name(p, "elif")) {
        otherwise = parse_if(p);
    } else if (!p->run->failed && skip_name(p, "else")) {
        otherwise = parse_block(p, "endif");
    } else if (!p->run->failed) {
        p->token++;
        need(p, JINJA_BLOCK_END, "%}");
    }
    add_item(p, node, unnamed, otherwise);
    vouch_jinja_leave(p->run);
    return node;
}

static jinja_node *parse_set_target(parser *p)
{
    jinja_node *target = parse_target_item(p);
    if (!target || !skip_operator(p, ".")) return target;
    jinja_node *attribute = node_of(p, JINJA_ATTRIBUTE, target, NULL);
    if (attribute) attribute->name = take_name(p);
    return attribute;
}

static jinja_node *parse_set(parser *p)
{
    jinja_node *target = parse_tuple(p, parse_set_target);
    if (skip_operator(p, "=")) {
        jinja_node *set = node_of(p, JINJA_SET, target, parse_tuple(p, parse_expression));
        need(p, JINJA_BLOCK_END, "%}");
        return set;
    }
    jinja_node *set = node_of(p, JINJA_SET_BLOCK, target, NULL);
    if (set && skip_operator(p, "|")) set->b = parse_block_filters(p);
    add_item(p, set, unnamed, parse_block(p, "endset"));
    return set;
}

/* Parses a macro's parameters after the opening parenthesis: names, each with a default or without. */
static void parse_parameters(parser *p, jinja_node *macro)
{
    while (!p->run->failed && !skip_operator(p, ")")) {
        if (macro->n) need_operator(p, ",");
        const jinja_string name = take_name(p);
        add_item(p, macro, name, skip_operator(p, "=") ? parse_expression(p) : NULL);
    }
}

static jinja_node *parse_macro(parser *p)
{
    jinja_node *macro = node_new(p, JINJA_MACRO_OF);
    if (!macro) return NULL;
    macro->name = take_name(p);
    need_operator(p, "(");
    parse_parameters(p, macro);
    const int32_t n_loops = p->n_loops;
    p->n_loops = 0;
    macro->b = parse_block(p, "endmacro");
    p->n_loops = n_loops;
    return macro;
}

static jinja_node *parse_call_block(parser *p)
{
    jinja_node *node = node_new(p, JINJA_CALL_BLOCK), *caller = node_new(p, JINJA_MACRO_OF);
    if (!node || !caller) return NULL;
    caller->name = vouch_jinja_literal("caller");
    if (skip_operator(p, "(")) parse_parameters(p, caller);
    node->a = parse_unary(p, true);
    if (!p->run->failed && node->a->kind != JINJA_CALL) return expected(p, "a call");
    node->b = caller;
    caller->b = parse_block(p, "endcall");
    return node;
}

static jinja_node *parse_filter_block(parser *p)
{
    jinja_node *node = node_of(p, JINJA_FILTER_BLOCK, parse_block_filters(p), NULL);
    add_item(p, node, unnamed, parse_block(p, "endfilter"));
    return node;
}

static jinja_node *parse_jump(parser *p, jinja_node_kind kind)
{
    if (p->n_loops == 0) vouch_jinja_fail(p->run, "break and continue belong into a loop");
    jinja_node *jump = node_new(p, kind);
    need(p, JINJA_BLOCK_END, "%}");
    return jump;
}

static void *refuse_statement(parser *p)
{
    static const char *const others[] = {"include", "import", "from",       "extends", "block",
                                         "with",    "do",     "autoescape", "trans",   "debug"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (at_name(p, others[i]))
            return vouch_jinja_fail(p->run, "vouch doesn't support '%s' in a template", others[i]), NULL;
    return expected(p, "for, if, set, macro, call, filter, break or continue");
}

static jinja_node *parse_statement(parser *p)
{
    p->run->line = p->token->line;
    if (skip_name(p, "for")) return parse_for(p);
    if (skip_name(p, "if")) return parse_if(p);
    if (skip_name(p, "set")) return parse_set(p);
    if (skip_name(p, "macro")) return parse_macro(p);
    if (skip_name(p, "call")) return parse_call_block(p);
    if (skip_name(p, "filter")) return parse_filter_block(p);
    if (skip_name(p, "generation")) return parse_block(p, "endgeneration");
    if (skip_name(p, "break")) return parse_jump(p, JINJA_BREAK);
    if (skip_name(p, "continue")) return parse_jump(p, JINJA_CONTINUE);
    return refuse_statement(p);
}

/* Parses up to the tag that begins with one of these names, and stops at the name. Without names: up to the end. */
static jinja_node *parse_body(parser *p, const char *const *ends)
{
    jinja_node *body = node_new(p, JINJA_BODY);
    if (!vouch_jinja_enter(p->run)) return NULL;
    while (!p->run->failed) {
        const jinja_token *token = p->token;
        if (token->kind == JINJA_END) {
            if (*ends) expected(p, *ends);
            break;
        }
        p->token++;
        if (token->kind == JINJA_DATA) {
            add_item(p, body, unnamed, node_of(p, JINJA_OUTPUT, constant(p, jinja_text(token->text)), NULL));
        } else if (token->kind == JINJA_PRINT_BEGIN) {
            add_item(p, body, unnamed, node_of(p, JINJA_OUTPUT, parse_tuple(p, parse_expression), NULL));
            need(p, JINJA_PRINT_END, "}}");
        } else {
            size_t i = 0;
            while (ends[i] && !at_name(p, ends[i])) i++;
            if (ends[i]) break;
            add_item(p, body, unnamed, parse_statement(p));
        }
    }
    vouch_jinja_leave(p->run);
    return body;
}

bool vouch_jinja_names(jinja_run *run, const char *text, size_t n, const char *name)
{
    const jinja_token *first = vouch_jinja_lex(run, text, n), *token = first;
    for (; token && token->kind != JINJA_END; token++) {
        const bool is_member = token > first && token[-1].kind == JINJA_OPERATOR && vouch_jinja_is(token[-1].text, ".");
        if (token->kind == JINJA_NAME && !is_member && vouch_jinja_is(token->text, name)) return true;
    }
    return false;
}

const jinja_node *vouch_jinja_parse(jinja_run *run, const char *text, size_t n)
{
    parser p = {.run = run, .token = vouch_jinja_lex(run, text, n)};
    if (!p.token) return NULL;
    const jinja_node *tree = parse_body(&p, (const char *const[]){NULL});
    return run->failed ? NULL : tree;
}
