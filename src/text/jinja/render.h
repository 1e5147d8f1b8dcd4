/* SPDX-License-Identifier: MIT */
/* Shared declarations of evaluation, filters, tests and methods. */
#ifndef VOUCH_TEXT_JINJA_RENDER_H
#define VOUCH_TEXT_JINJA_RENDER_H

#include "text/jinja/syntax.h"

/* Calls a function, a method or a macro: a(arguments). */
jinja_value vouch_jinja_call(jinja_run *run, const jinja_value *callee, const jinja_arguments *arguments);
/* x.name and x[key]. Methods come first for x.name, entries for x[key]; undefined where there is neither. */
jinja_value vouch_jinja_attribute(jinja_run *run, const jinja_value *x, jinja_string name);
jinja_value vouch_jinja_item(jinja_run *run, const jinja_value *x, const jinja_value *key);

/* Fails and returns false where x is undefined. */
bool vouch_jinja_check_defined(jinja_run *run, const jinja_value *x);
/* operators.c. a OP b, where OP is + - * / // % ** or ~. */
jinja_value vouch_jinja_operate(jinja_run *run, jinja_string op, const jinja_value *a, const jinja_value *b);
/* a OP b, where OP is == != < <= > >= in or "not in". */
bool vouch_jinja_holds(jinja_run *run, jinja_string op, const jinja_value *a, const jinja_value *b);
jinja_value vouch_jinja_negate(jinja_run *run, const jinja_value *x);

/* Argument i, or the one of this name; NULL: not given. */
const jinja_value *vouch_jinja_argument(const jinja_arguments *arguments, size_t i, const char *name);
/* The same where a string is wanted: `otherwise` where not given. Fails where it is none. */
jinja_string vouch_jinja_string_argument(jinja_run *run, const jinja_arguments *arguments, size_t i, const char *name,
                                         const char *otherwise);
int64_t vouch_jinja_int_argument(jinja_run *run, const jinja_arguments *arguments, size_t i, const char *name,
                                 int64_t otherwise);

/* x | name(arguments), x is name(arguments). Fail where there is no such filter or test. */
jinja_value vouch_jinja_filter(jinja_run *run, jinja_string name, const jinja_value *x,
                               const jinja_arguments *arguments);
bool vouch_jinja_test(jinja_run *run, jinja_string name, const jinja_value *x, const jinja_arguments *arguments);
/* The bound method of a string, list or dict; undefined where it has none of this name. */
jinja_value vouch_jinja_method(jinja_run *run, const jinja_value *x, jinja_string name);
/* range, dict, namespace, raise_exception, strftime_now; undefined where there is none. */
jinja_value vouch_jinja_global(jinja_string name);

/* String operations that filters and methods share. */
typedef enum jinja_case { JINJA_UPPER, JINJA_LOWER, JINJA_TITLE, JINJA_CAPITALIZE } jinja_case;
jinja_string vouch_jinja_change_case(jinja_run *run, jinja_string s, jinja_case how);
/* Removes characters of `what` (bytes NULL: white space) at the left, the right or both. */
jinja_string vouch_jinja_strip(jinja_run *run, jinja_string s, jinja_string what, bool left, bool right);
/* Escapes & < > ' " for HTML, unless the string is safe. The result is safe. */
jinja_string vouch_jinja_escape(jinja_run *run, jinja_string s);
/* count < 0: all. */
jinja_string vouch_jinja_replace(jinja_run *run, jinja_string s, jinja_string old, jinja_string new, int64_t count);

#endif
