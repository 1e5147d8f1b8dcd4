/* SPDX-License-Identifier: MIT */
/*
 * Walks the tree of a template (syntax.h).
 *
 * Names are looked up in scopes, from the innermost out: an iteration of a loop, a macro's call, the template, the
 * caller's variables. An `if` has no scope of its own. A macro sees the scope that it was defined in.
 */
#include "text/jinja/render.h"

#include <string.h>

#include "text/jinja/template.h"

typedef struct variable {
    jinja_string name;
    jinja_value value;
} variable;

typedef struct scope scope;
struct scope {
    scope *outer;
    size_t n, capacity;
    variable *variables;
};

struct jinja_macro {
    const jinja_node *node;
    scope *defined_in;
};

typedef enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } flow;

/* The scope of a statement, and its output. */
typedef struct frame {
    scope *scope;
    jinja_builder *out;
} frame;

static jinja_value evaluate(jinja_run *run, scope *scope, const jinja_node *node);
static flow execute(jinja_run *run, frame f, const jinja_node *node);

/* ------------------------------------------------------------------------ scopes */

static scope *scope_new(jinja_run *run, scope *outer)
{
    scope *inner = vouch_jinja_take(run, 1, sizeof *inner);
    if (inner) inner->outer = outer;
    return inner;
}

static variable *find_here(const scope *s, jinja_string name)
{
    for (size_t i = 0; i < s->n; i++)
        if (vouch_jinja_same(s->variables[i].name, name)) return &s->variables[i];
    return NULL;
}

static void scope_set(jinja_run *run, scope *s, jinja_string name, jinja_value value)
{
    if (!vouch_jinja_step(run, 1 + (int64_t)s->n / 8)) return;
    variable *known = find_here(s, name);
    if (known) {
        known->value = value;
        return;
    }
    if (s->n == s->capacity) {
        const size_t capacity = s->capacity ? 2 * s->capacity : 8;
        variable *variables = vouch_jinja_take(run, capacity, sizeof *variables);
        if (!variables) return;
        if (s->n) memcpy(variables, s->variables, s->n * sizeof *variables);
        s->variables = variables;
        s->capacity = capacity;
    }
    s->variables[s->n++] = (variable){name, value};
}

static jinja_value look_up(jinja_run *run, const scope *s, jinja_string name)
{
    for (; s; s = s->outer) {
        vouch_jinja_step(run, 1 + (int64_t)s->n / 8);
        const variable *known = find_here(s, name);
        if (known) return known->value;
    }
    const jinja_value global = vouch_jinja_global(name);
    if (global.kind != JINJA_UNDEFINED) return global;
    return (jinja_value){.kind = JINJA_UNDEFINED, .string = name};
}

/* --------------------------------------------------------------------- arguments */

const jinja_value *vouch_jinja_argument(const jinja_arguments *arguments, size_t i, const char *name)
{
    if (i < arguments->n) return &arguments->values[i];
    for (size_t j = 0; name && j < arguments->n_named; j++)
        if (vouch_jinja_is(arguments->names[j], name)) return &arguments->named[j];
    return NULL;
}

jinja_string vouch_jinja_string_argument(jinja_run *run, const jinja_arguments *arguments, size_t i, const char *name,
                                         const char *otherwise)
{
    const jinja_value *x = vouch_jinja_argument(arguments, i, name);
    if (!x) return otherwise ? vouch_jinja_literal(otherwise) : (jinja_string){0};
    if (x->kind != JINJA_STRING) {
        vouch_jinja_fail(run, "argument %s: expected a string, got %s", name, vouch_jinja_kind_name(x->kind));
        return vouch_jinja_literal("");
    }
    return x->string;
}

int64_t vouch_jinja_int_argument(jinja_run *run, const jinja_arguments *arguments, size_t i, const char *name,
                                 int64_t otherwise)
{
    const jinja_value *x = vouch_jinja_argument(arguments, i, name);
    if (!x) return otherwise;
    if (x->kind != JINJA_INT && x->kind != JINJA_BOOL) {
        vouch_jinja_fail(run, "argument %s: expected an int, got %s", name, vouch_jinja_kind_name(x->kind));
        return otherwise;
    }
    return vouch_jinja_integer(x);
}

static jinja_arguments evaluate_arguments(jinja_run *run, scope *s, const jinja_node *node)
{
    jinja_value *values = vouch_jinja_take(run, node->n + 1, sizeof *values);
    jinja_value *named = vouch_jinja_take(run, node->n + 1, sizeof *named);
    jinja_string *names = vouch_jinja_take(run, node->n + 1, sizeof *names);
    jinja_arguments all = {.values = values, .names = names, .named = named};
    for (size_t i = 0; i < node->n && !run->failed; i++) {
        const jinja_value x = evaluate(run, s, node->items[i]);
        if (node->names[i].bytes) {
            names[all.n_named] = node->names[i];
            named[all.n_named++] = x;
        } else {
            values[all.n++] = x;
        }
    }
    return all;
}

/* -------------------------------------------------------------------------- calls */

static jinja_value call_macro(jinja_run *run, const jinja_macro *macro, const jinja_arguments *arguments)
{
    const jinja_node *node = macro->node;
    scope *s = scope_new(run, macro->defined_in);
    if (!s || !vouch_jinja_enter(run)) return jinja_undefined();
    if (arguments->n > node->n)
        return vouch_jinja_fail(run, "macro %.*s takes at most %zu arguments, not %zu", JINJA_ARGS(node->name), node->n,
                                arguments->n);
    for (size_t i = 0; i < node->n && !run->failed; i++) {
        const jinja_value *given = i < arguments->n ? &arguments->values[i] : NULL;
        for (size_t j = 0; !given && j < arguments->n_named; j++)
            if (vouch_jinja_same(arguments->names[j], node->names[i])) given = &arguments->named[j];
        const jinja_value value = given            ? *given
                                  : node->items[i] ? evaluate(run, s, node->items[i])
                                                   : (jinja_value){.kind = JINJA_UNDEFINED, .string = node->names[i]};
        scope_set(run, s, node->names[i], value);
    }
    const jinja_value *caller = vouch_jinja_argument(arguments, SIZE_MAX, "caller");
    if (caller) scope_set(run, s, vouch_jinja_literal("caller"), *caller);
    jinja_builder out = {0};
    execute(run, (frame){s, &out}, node->b);
    vouch_jinja_leave(run);
    return jinja_text(vouch_jinja_built(&out));
}

jinja_value vouch_jinja_call(jinja_run *run, const jinja_value *callee, const jinja_arguments *arguments)
{
    if (run->failed) return jinja_undefined();
    if (callee->kind == JINJA_MACRO) return call_macro(run, callee->macro, arguments);
    if (callee->kind == JINJA_FUNCTION) {
        const jinja_value *self = callee->function.self;
        if (!vouch_jinja_weigh(run, self && self->kind == JINJA_STRING ? self->string.n : 0)) return jinja_undefined();
        return callee->function.call(run, self, arguments);
    }
    if (callee->kind == JINJA_UNDEFINED && callee->string.n)
        return vouch_jinja_fail(run, "'%.*s' is undefined", JINJA_ARGS(callee->string));
    return vouch_jinja_fail(run, "%s can't be called", vouch_jinja_kind_name(callee->kind));
}

/* ----------------------------------------------------------------- attributes, items */

static jinja_value entry_of(jinja_run *run, const jinja_value *x, const jinja_value *key)
{
    const bool has_entries = x->kind == JINJA_DICT || x->kind == JINJA_NAMESPACE || x->kind == JINJA_LOOP;
    const jinja_value *found = has_entries ? vouch_jinja_dict_get(run, x->dict, key) : NULL;
    if (found) return *found;
    return (jinja_value){.kind = JINJA_UNDEFINED,
                         .string = key->kind == JINJA_STRING ? key->string : (jinja_string){0}};
}

bool vouch_jinja_check_defined(jinja_run *run, const jinja_value *x)
{
    if (x->kind != JINJA_UNDEFINED) return true;
    vouch_jinja_fail(run, "'%.*s' is undefined", JINJA_ARGS(x->string));
    return false;
}

jinja_value vouch_jinja_attribute(jinja_run *run, const jinja_value *x, jinja_string name)
{
    if (!vouch_jinja_check_defined(run, x)) return jinja_undefined();
    const jinja_value method = vouch_jinja_method(run, x, name), key = jinja_text(name);
    return method.kind != JINJA_UNDEFINED ? method : entry_of(run, x, &key);
}

jinja_value vouch_jinja_item(jinja_run *run, const jinja_value *x, const jinja_value *key)
{
    if (!vouch_jinja_check_defined(run, x)) return jinja_undefined();
    if (x->kind == JINJA_STRING && !vouch_jinja_weigh(run, x->string.n)) return jinja_undefined();
    if (key->kind == JINJA_INT && (x->kind == JINJA_STRING || x->kind == JINJA_LIST || x->kind == JINJA_TUPLE)) {
        const int64_t n = vouch_jinja_length(run, x), i = key->integer < 0 ? key->integer + n : key->integer;
        if (i < 0 || i >= n) return jinja_undefined();
        if (x->kind != JINJA_STRING) return x->list->items[i];
        const size_t begin = vouch_jinja_offset(x->string, (size_t)i);
        const jinja_string rest = vouch_jinja_cut(x->string, begin, x->string.n);
        return jinja_text(vouch_jinja_cut(rest, 0, vouch_jinja_offset(rest, 1)));
    }
    const jinja_value entry = entry_of(run, x, key);
    if (entry.kind != JINJA_UNDEFINED || key->kind != JINJA_STRING) return entry;
    const jinja_value method = vouch_jinja_method(run, x, key->string);
    return method.kind != JINJA_UNDEFINED ? method : entry;
}

static int64_t slice_part(jinja_run *run, scope *s, const jinja_node *node, int64_t otherwise)
{
    if (!node) return otherwise;
    const jinja_value x = evaluate(run, s, node);
    if (x.kind == JINJA_NONE) return otherwise;
    if (x.kind != JINJA_INT && x.kind != JINJA_BOOL)
        vouch_jinja_fail(run, "a slice needs ints, not %s", vouch_jinja_kind_name(x.kind));
    return run->failed ? otherwise : vouch_jinja_integer(&x);
}

/* As Python's slice.indices does: a position from the end is made one from the beginning, within [low, high]. */
static int64_t clamp(int64_t i, int64_t n, int64_t low, int64_t high)
{
    if (i < 0) i = i < -n ? -1 : i + n;
    return i < low ? low : i > high ? high : i;
}

static jinja_value evaluate_slice(jinja_run *run, scope *s, const jinja_node *node)
{
    const jinja_value x = evaluate(run, s, node->a);
    if (!vouch_jinja_check_defined(run, &x)) return x;
    if (x.kind != JINJA_STRING && x.kind != JINJA_LIST && x.kind != JINJA_TUPLE)
        return vouch_jinja_fail(run, "%s can't be sliced", vouch_jinja_kind_name(x.kind));
    if (x.kind == JINJA_STRING && !vouch_jinja_weigh(run, x.string.n)) return x;
    const int64_t n = vouch_jinja_length(run, &x), step = slice_part(run, s, node->items[2], 1);
    if (step == 0) return vouch_jinja_fail(run, "the step of a slice is 0");
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    const int64_t from = node->items[0] ? clamp(slice_part(run, s, node->items[0], step > 0 ? 0 : n), n, low, high)
                         : step > 0     ? low
                                        : high;
    const int64_t to = node->items[1] ? clamp(slice_part(run, s, node->items[1], step > 0 ? n : -n - 1), n, low, high)
                       : step > 0     ? high
                                      : low;
    if (x.kind == JINJA_STRING && step == 1)
        return jinja_text(vouch_jinja_cut(x.string, vouch_jinja_offset(x.string, (size_t)from),
                                          vouch_jinja_offset(x.string, (size_t)(to > from ? to : from))));
    const jinja_list *all = vouch_jinja_iterate(run, &x);
    jinja_value cut = vouch_jinja_list_new(run, x.kind == JINJA_STRING ? JINJA_LIST : x.kind);
    for (int64_t i = from; !run->failed && (step > 0 ? i < to : i > to);) {
        vouch_jinja_list_push(run, cut.list, all->items[i]);
        if (__builtin_add_overflow(i, step, &i)) break;
    }
    if (x.kind != JINJA_STRING || run->failed) return cut;
    jinja_builder text = {0};
    for (size_t i = 0; i < cut.list->n; i++) vouch_jinja_add(run, &text, cut.list->items[i].string);
    return jinja_text(vouch_jinja_built(&text));
}

/* -------------------------------------------------------------------- expressions */

static jinja_value evaluate_collection(jinja_run *run, scope *s, const jinja_node *node)
{
    if (node->kind == JINJA_DICT_OF) {
        jinja_value dict = vouch_jinja_dict_new(run, JINJA_DICT);
        for (size_t i = 0; i + 1 < node->n && !run->failed; i += 2) {
            const jinja_value key = evaluate(run, s, node->items[i]), value = evaluate(run, s, node->items[i + 1]);
            vouch_jinja_dict_set(run, dict.dict, key, value);
        }
        return dict;
    }
    jinja_value list = vouch_jinja_list_new(run, node->kind == JINJA_LIST_OF ? JINJA_LIST : JINJA_TUPLE);
    for (size_t i = 0; i < node->n && !run->failed; i++)
        vouch_jinja_list_push(run, list.list, evaluate(run, s, node->items[i]));
    return list;
}

static jinja_value evaluate_call(jinja_run *run, scope *s, const jinja_node *node)
{
    const jinja_value callee = evaluate(run, s, node->a);
    const jinja_arguments arguments = evaluate_arguments(run, s, node);
    return vouch_jinja_call(run, &callee, &arguments);
}

static jinja_value apply_filter(jinja_run *run, scope *s, const jinja_node *node, const jinja_value *input)
{
    const jinja_value x = !node->a ? *input : input ? apply_filter(run, s, node->a, input) : evaluate(run, s, node->a);
    const jinja_arguments arguments = evaluate_arguments(run, s, node);
    return run->failed ? jinja_undefined() : vouch_jinja_filter(run, node->name, &x, &arguments);
}

static jinja_value evaluate_test(jinja_run *run, scope *s, const jinja_node *node)
{
    const jinja_value x = evaluate(run, s, node->a);
    const jinja_arguments arguments = evaluate_arguments(run, s, node);
    return run->failed ? jinja_undefined() : jinja_bool(vouch_jinja_test(run, node->name, &x, &arguments));
}

static jinja_value evaluate_binary(jinja_run *run, scope *s, const jinja_node *node)
{
    const jinja_value a = evaluate(run, s, node->a), b = evaluate(run, s, node->b);
    return run->failed ? jinja_undefined() : vouch_jinja_operate(run, node->name, &a, &b);
}

/* a < b < c is a < b and b < c, each evaluated once. */
static jinja_value evaluate_comparison(jinja_run *run, scope *s, const jinja_node *node)
{
    jinja_value left = evaluate(run, s, node->a);
    for (size_t i = 0; i < node->n && !run->failed; i++) {
        const jinja_value right = evaluate(run, s, node->items[i]);
        if (run->failed || !vouch_jinja_holds(run, node->names[i], &left, &right)) return jinja_bool(false);
        left = right;
    }
    return jinja_bool(true);
}

static jinja_value evaluate_choice(jinja_run *run, scope *s, const jinja_node *node)
{
    const jinja_value a = evaluate(run, s, node->a);
    const bool is_true = vouch_jinja_truth(&a);
    switch (node->kind) {
    case JINJA_NOT: return jinja_bool(!is_true);
    case JINJA_AND: return is_true ? evaluate(run, s, node->b) : a;
    case JINJA_OR: return is_true ? a : evaluate(run, s, node->b);
    default: return is_true ? evaluate(run, s, node->b) : node->c ? evaluate(run, s, node->c) : jinja_undefined();
    }
}

static jinja_value evaluate_inner(jinja_run *run, scope *s, const jinja_node *node)
{
    jinja_value a, b;
    switch (node->kind) {
    case JINJA_CONSTANT: return node->constant;
    case JINJA_VARIABLE: return look_up(run, s, node->name);
    case JINJA_LIST_OF:
    case JINJA_TUPLE_OF:
    case JINJA_DICT_OF: return evaluate_collection(run, s, node);
    case JINJA_ATTRIBUTE: return a = evaluate(run, s, node->a), vouch_jinja_attribute(run, &a, node->name);
    case JINJA_SUBSCRIPT:
        a = evaluate(run, s, node->a);
        b = evaluate(run, s, node->b);
        return run->failed ? a : vouch_jinja_item(run, &a, &b);
    case JINJA_SLICE: return evaluate_slice(run, s, node);
    case JINJA_CALL: return evaluate_call(run, s, node);
    case JINJA_FILTER: return apply_filter(run, s, node, NULL);
    case JINJA_TEST: return evaluate_test(run, s, node);
    case JINJA_NOT:
    case JINJA_AND:
    case JINJA_OR:
    case JINJA_IF_ELSE: return evaluate_choice(run, s, node);
    case JINJA_NEGATE: return a = evaluate(run, s, node->a), vouch_jinja_negate(run, &a);
    case JINJA_PLUS: return evaluate(run, s, node->a);
    case JINJA_BINARY: return evaluate_binary(run, s, node);
    default: return evaluate_comparison(run, s, node);
    }
}

static jinja_value evaluate(jinja_run *run, scope *s, const jinja_node *node)
{
    if (!vouch_jinja_step(run, 1) || !vouch_jinja_enter(run)) return jinja_undefined();
    const jinja_value x = evaluate_inner(run, s, node);
    vouch_jinja_leave(run);
    return x;
}

/* --------------------------------------------------------------------- statements */

static void assign(jinja_run *run, scope *s, const jinja_node *target, const jinja_value *value)
{
    if (run->failed) return;
    if (target->kind == JINJA_VARIABLE) {
        scope_set(run, s, target->name, *value);
    } else if (target->kind == JINJA_ATTRIBUTE) {
        const jinja_value space = evaluate(run, s, target->a);
        if (space.kind != JINJA_NAMESPACE)
            vouch_jinja_fail(run, "only attributes of a namespace can be set, not of %s",
                             vouch_jinja_kind_name(space.kind));
        else vouch_jinja_dict_set(run, space.dict, jinja_text(target->name), *value);
    } else {
        const jinja_list *all = vouch_jinja_iterate(run, value);
        if (!all) return;
        if (all->n != target->n) vouch_jinja_fail(run, "%zu values can't be assigned to %zu names", all->n, target->n);
        for (size_t i = 0; i < target->n && !run->failed; i++) assign(run, s, target->items[i], &all->items[i]);
    }
}

/* loop.cycle(a, b, ...) */
static jinja_value loop_cycle(jinja_run *run, const jinja_value *self, const jinja_arguments *arguments)
{
    const jinja_value *index = vouch_jinja_dict_named(run, self->dict, "index0");
    if (arguments->n == 0 || !index) return vouch_jinja_fail(run, "loop.cycle needs values");
    return arguments->values[(size_t)index->integer % arguments->n];
}

static void set_loop(jinja_run *run, const jinja_value *loop, const char *name, jinja_value value)
{
    vouch_jinja_dict_set(run, loop->dict, jinja_text(vouch_jinja_literal(name)), value);
}

/* The value of the variable `loop` in iteration i. */
static jinja_value loop_of(jinja_run *run, const jinja_list *all, size_t i, int64_t depth)
{
    jinja_value *loop = vouch_jinja_take(run, 1, sizeof *loop);
    if (!loop) return jinja_undefined();
    *loop = vouch_jinja_dict_new(run, JINJA_LOOP);
    if (run->failed) return *loop;
    const int64_t index = (int64_t)i, n = (int64_t)all->n;
    set_loop(run, loop, "index0", jinja_int(index));
    set_loop(run, loop, "index", jinja_int(index + 1));
    set_loop(run, loop, "revindex0", jinja_int(n - 1 - index));
    set_loop(run, loop, "revindex", jinja_int(n - index));
    set_loop(run, loop, "first", jinja_bool(i == 0));
    set_loop(run, loop, "last", jinja_bool(index == n - 1));
    set_loop(run, loop, "length", jinja_int(n));
    set_loop(run, loop, "depth", jinja_int(depth));
    set_loop(run, loop, "depth0", jinja_int(depth - 1));
    if (i > 0) set_loop(run, loop, "previtem", all->items[i - 1]);
    if (index + 1 < n) set_loop(run, loop, "nextitem", all->items[i + 1]);
    set_loop(run, loop, "cycle", (jinja_value){.kind = JINJA_FUNCTION, .function = {.call = loop_cycle, .self = loop}});
    return *loop;
}

/* The items of a loop that meet its condition. The list is a copy, so the body can't change it. */
static const jinja_list *loop_items(jinja_run *run, scope *s, const jinja_node *node)
{
    const jinja_value over = evaluate(run, s, node->b);
    const jinja_list *all = run->failed ? NULL : vouch_jinja_iterate(run, &over);
    const jinja_value chosen = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        jinja_value keep = jinja_bool(true);
        if (node->c) {
            scope *inner = scope_new(run, s);
            if (!inner) return NULL;
            assign(run, inner, node->a, &all->items[i]);
            keep = evaluate(run, inner, node->c);
        }
        if (vouch_jinja_truth(&keep)) vouch_jinja_list_push(run, chosen.list, all->items[i]);
    }
    return run->failed ? NULL : chosen.list;
}

static void execute_for(jinja_run *run, frame f, const jinja_node *node)
{
    const jinja_list *all = loop_items(run, f.scope, node);
    for (size_t i = 0; all && i < all->n && !run->failed; i++) {
        scope *inner = scope_new(run, f.scope);
        if (!inner) return;
        scope_set(run, inner, vouch_jinja_literal("loop"), loop_of(run, all, i, 1));
        assign(run, inner, node->a, &all->items[i]);
        if (execute(run, (frame){inner, f.out}, node->items[0]) == FLOW_BREAK) break;
    }
    if (all && all->n == 0 && node->items[1]) execute(run, f, node->items[1]);
}

/* The text that a body writes. */
static jinja_value capture(jinja_run *run, scope *s, const jinja_node *body)
{
    jinja_builder out = {0};
    scope *inner = scope_new(run, s);
    if (inner) execute(run, (frame){inner, &out}, body);
    return jinja_text(vouch_jinja_built(&out));
}

static jinja_value macro_value(jinja_run *run, scope *s, const jinja_node *node)
{
    jinja_macro *macro = vouch_jinja_take(run, 1, sizeof *macro);
    if (!macro) return jinja_undefined();
    *macro = (jinja_macro){.node = node, .defined_in = s};
    return (jinja_value){.kind = JINJA_MACRO, .macro = macro};
}

/* {% call m(x) %}body{% endcall %}: m is called with a macro named caller beside its arguments. */
static jinja_value execute_call_block(jinja_run *run, scope *s, const jinja_node *node)
{
    const jinja_value callee = evaluate(run, s, node->a->a), caller = macro_value(run, s, node->b);
    const jinja_arguments given = evaluate_arguments(run, s, node->a);
    jinja_string *names = vouch_jinja_take(run, given.n_named + 1, sizeof *names);
    jinja_value *named = vouch_jinja_take(run, given.n_named + 1, sizeof *named);
    if (run->failed) return callee;
    memcpy(names, given.names, given.n_named * sizeof *names);
    memcpy(named, given.named, given.n_named * sizeof *named);
    names[given.n_named] = vouch_jinja_literal("caller");
    named[given.n_named] = caller;
    const jinja_arguments all = {
        .n = given.n, .values = given.values, .n_named = given.n_named + 1, .names = names, .named = named};
    return vouch_jinja_call(run, &callee, &all);
}

static flow execute_body(jinja_run *run, frame f, const jinja_node *body)
{
    for (size_t i = 0; i < body->n && !run->failed; i++) {
        const flow next = execute(run, f, body->items[i]);
        if (next != FLOW_ON) return next;
    }
    return FLOW_ON;
}

static void write_value(jinja_run *run, frame f, jinja_value x)
{
    if (!run->failed) vouch_jinja_add(run, f.out, vouch_jinja_str(run, &x));
}

static flow execute_if(jinja_run *run, frame f, const jinja_node *node)
{
    const jinja_value condition = evaluate(run, f.scope, node->a);
    if (run->failed) return FLOW_ON;
    const jinja_node *chosen = node->items[!vouch_jinja_truth(&condition)];
    return chosen ? execute(run, f, chosen) : FLOW_ON;
}

static flow execute_inner(jinja_run *run, frame f, const jinja_node *node)
{
    jinja_value x;
    switch (node->kind) {
    case JINJA_BODY: return execute_body(run, f, node);
    case JINJA_OUTPUT: write_value(run, f, evaluate(run, f.scope, node->a)); break;
    case JINJA_FOR: execute_for(run, f, node); break;
    case JINJA_IF: return execute_if(run, f, node);
    case JINJA_SET:
        x = evaluate(run, f.scope, node->b);
        assign(run, f.scope, node->a, &x);
        break;
    case JINJA_SET_BLOCK:
        x = capture(run, f.scope, node->items[0]);
        if (node->b) x = apply_filter(run, f.scope, node->b, &x);
        assign(run, f.scope, node->a, &x);
        break;
    case JINJA_MACRO_OF: scope_set(run, f.scope, node->name, macro_value(run, f.scope, node)); break;
    case JINJA_CALL_BLOCK: write_value(run, f, execute_call_block(run, f.scope, node)); break;
    case JINJA_FILTER_BLOCK:
        x = capture(run, f.scope, node->items[0]);
        write_value(run, f, apply_filter(run, f.scope, node->a, &x));
        break;
    case JINJA_BREAK: return FLOW_BREAK;
    case JINJA_CONTINUE: return FLOW_CONTINUE;
    default: break;
    }
    return FLOW_ON;
}

static flow execute(jinja_run *run, frame f, const jinja_node *node)
{
    if (!vouch_jinja_step(run, 1) || !vouch_jinja_enter(run)) return FLOW_ON;
    run->line = node->line;
    const flow next = execute_inner(run, f, node);
    vouch_jinja_leave(run);
    return next;
}

/* ------------------------------------------------------------------- the interface */

vouch_status vouch_jinja_check(jinja_run *run, const char *text, size_t n, vouch_error *err)
{
    (void)vouch_jinja_parse(run, text, n);
    if (run->failed && err) *err = run->error;
    return run->failed ? run->error.code : VOUCH_OK;
}

vouch_status vouch_jinja_render(jinja_run *run, const char *text, size_t n, const jinja_value *context,
                                jinja_string *out, vouch_error *err)
{
    jinja_builder written = {0};
    const jinja_node *tree = vouch_jinja_parse(run, text, n);
    scope *given = scope_new(run, NULL), *top = scope_new(run, given);
    for (size_t i = 0; !run->failed && i < context->dict->n; i++)
        scope_set(run, given, context->dict->keys[i].string, context->dict->values[i]);
    if (!run->failed) execute(run, (frame){top, &written}, tree);
    if (run->failed && err) *err = run->error;
    if (run->failed) return run->error.code;
    *out = vouch_jinja_built(&written);
    return VOUCH_OK;
}
