/* SPDX-License-Identifier: MIT */
/* Expressions (expression.h). */
#include "text/grammar/expression.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "os/os.h"

enum { SMALL = 4 }; /* most children of a sequence or choice that is copied; larger ones become a rule */

void vouch_builder_free(vouch_builder *builder)
{
    for (int32_t i = 0; i < builder->n_rules; i++) free(builder->rules[i].name);
    for (int32_t i = 0; i < builder->n_notes; i++) free(builder->notes[i]);
    free(builder->notes);
    free(builder->nodes);
    free(builder->children);
    free(builder->rules);
    *builder = (vouch_builder){0};
}

vouch_expression vouch_builder_fail(vouch_builder *builder, vouch_status status, const char *format, ...)
{
    if (builder->status != VOUCH_OK) return 0;
    char message[sizeof builder->error.message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    builder->status = vouch_fail(&builder->error, status, "%s", message);
    return 0;
}

/* Makes room for one more item. False after a failure. */
static bool grow(vouch_builder *builder, void **items, int32_t n, int32_t *room, size_t size)
{
    if (builder->status != VOUCH_OK) return false;
    if (n < *room) return true;
    if (n >= VOUCH_GRAMMAR_LARGEST) {
        vouch_builder_fail(builder, VOUCH_E_UNSUPPORTED,
                           "the grammar is too large: it has more than %d parts; use smaller counts or fewer rules",
                           VOUCH_GRAMMAR_LARGEST);
        return false;
    }
    const int32_t more = *room > 0 ? 2 * *room : 16;
    void *moved = realloc(*items, (size_t)more * size);
    if (!moved) {
        vouch_builder_fail(builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
        return false;
    }
    *items = moved;
    *room = more;
    return true;
}

void vouch_builder_note(vouch_builder *builder, const char *note)
{
    for (int32_t i = 0; i < builder->n_notes; i++)
        if (strcmp(builder->notes[i], note) == 0) return;
    if (builder->n_notes == VOUCH_MOST_NOTES) return;
    char *copy = strdup(note);
    void *items = builder->notes;
    const bool has_room = grow(builder, &items, builder->n_notes, &builder->notes_room, sizeof *builder->notes);
    builder->notes = items;
    if (has_room && copy) builder->notes[builder->n_notes++] = copy;
    else if (has_room) vouch_builder_fail(builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
    if (!has_room) free(copy);
}

static vouch_expression add(vouch_builder *builder, vouch_expression_node node)
{
    void *items = builder->nodes;
    const bool has_room = grow(builder, &items, builder->n_nodes, &builder->nodes_room, sizeof node);
    builder->nodes = items;
    if (!has_room) return 0;
    builder->nodes[builder->n_nodes] = node;
    return builder->n_nodes++;
}

void vouch_parts_add(vouch_builder *builder, vouch_parts *parts, vouch_expression part)
{
    void *items = parts->parts;
    const bool has_room = grow(builder, &items, parts->n, &parts->room, sizeof part);
    parts->parts = items;
    if (has_room) parts->parts[parts->n++] = part;
}

bool vouch_expression_is_nothing(const vouch_builder *builder, vouch_expression expression)
{
    const vouch_expression_node *e = &builder->nodes[expression];
    if (builder->status != VOUCH_OK) return true;
    if (e->kind != VOUCH_EXPRESSION_RULE || e->is_nothing) return e->is_nothing;
    const vouch_expression body = builder->rules[e->child].body;
    return body >= 0 && builder->nodes[body].is_nothing;
}

static vouch_expression add_list(vouch_builder *builder, vouch_expression_kind kind, vouch_parts *parts)
{
    if (parts->n == 1) {
        const vouch_expression only = parts->parts[0];
        free(parts->parts);
        *parts = (vouch_parts){0};
        return builder->status == VOUCH_OK ? only : 0;
    }
    vouch_expression_node node = {.kind = kind,
                                  .first = builder->n_children,
                                  .last = builder->n_children + parts->n,
                                  .is_small = parts->n <= SMALL,
                                  .is_nothing = kind == VOUCH_EXPRESSION_CHOICE};
    for (int32_t i = 0; i < parts->n; i++) {
        void *items = builder->children;
        const bool has_room =
            grow(builder, &items, builder->n_children, &builder->children_room, sizeof *builder->children);
        builder->children = items;
        if (!has_room) break;
        const vouch_expression_kind child = builder->nodes[parts->parts[i]].kind;
        node.is_small &= child == VOUCH_EXPRESSION_BYTES || child == VOUCH_EXPRESSION_RULE;
        const bool is_nothing = vouch_expression_is_nothing(builder, parts->parts[i]);
        if (kind == VOUCH_EXPRESSION_CHOICE) node.is_nothing &= is_nothing;
        else node.is_nothing |= is_nothing;
        builder->children[builder->n_children++] = parts->parts[i];
    }
    free(parts->parts);
    *parts = (vouch_parts){0};
    return builder->status == VOUCH_OK ? add(builder, node) : 0;
}

vouch_expression vouch_expression_sequence(vouch_builder *builder, vouch_parts *parts)
{
    return add_list(builder, VOUCH_EXPRESSION_SEQUENCE, parts);
}

vouch_expression vouch_expression_choice(vouch_builder *builder, vouch_parts *parts)
{
    return add_list(builder, VOUCH_EXPRESSION_CHOICE, parts);
}

static vouch_expression add_arguments(vouch_builder *builder, vouch_expression_kind kind, int32_t n, va_list list)
{
    vouch_parts parts = {0};
    for (int32_t i = 0; i < n; i++) vouch_parts_add(builder, &parts, va_arg(list, vouch_expression));
    return add_list(builder, kind, &parts);
}

vouch_expression vouch_expression_join(vouch_builder *builder, int32_t n, ...)
{
    va_list list;
    va_start(list, n);
    const vouch_expression e = add_arguments(builder, VOUCH_EXPRESSION_SEQUENCE, n, list);
    va_end(list);
    return e;
}

vouch_expression vouch_expression_either(vouch_builder *builder, int32_t n, ...)
{
    va_list list;
    va_start(list, n);
    const vouch_expression e = add_arguments(builder, VOUCH_EXPRESSION_CHOICE, n, list);
    va_end(list);
    return e;
}

vouch_expression vouch_expression_empty(vouch_builder *builder)
{
    return vouch_expression_join(builder, 0);
}

vouch_expression vouch_expression_nothing(vouch_builder *builder)
{
    return vouch_expression_either(builder, 0);
}

vouch_expression vouch_expression_byte_range(vouch_builder *builder, int32_t first, int32_t last)
{
    const bool is_one = first == last && first >= 0 && first < 256;
    if (is_one && builder->bytes[first] > 0) return builder->bytes[first] - 1;
    const vouch_expression range =
        add(builder,
            (vouch_expression_node){.kind = VOUCH_EXPRESSION_BYTES, .first = first, .last = last, .is_small = true});
    if (is_one && builder->status == VOUCH_OK) builder->bytes[first] = range + 1;
    return range;
}

vouch_expression vouch_expression_text(vouch_builder *builder, const char *text, size_t n)
{
    vouch_parts parts = {0};
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        vouch_parts_add(builder, &parts, vouch_expression_byte_range(builder, byte, byte));
    }
    return vouch_expression_sequence(builder, &parts);
}

vouch_expression vouch_expression_literal(vouch_builder *builder, const char *text)
{
    return vouch_expression_text(builder, text, strlen(text));
}

vouch_expression vouch_expression_token(vouch_builder *builder, const char *name, size_t n)
{
    vouch_parts parts = {0};
    vouch_parts_add(builder, &parts, vouch_expression_byte_range(builder, VOUCH_TOKEN_BEGINS, VOUCH_TOKEN_BEGINS));
    for (size_t i = 0; i < n; i++)
        vouch_parts_add(builder, &parts,
                        vouch_expression_byte_range(builder, (unsigned char)name[i], (unsigned char)name[i]));
    vouch_parts_add(builder, &parts, vouch_expression_byte_range(builder, VOUCH_TOKEN_ENDS, VOUCH_TOKEN_ENDS));
    return vouch_expression_sequence(builder, &parts);
}

/* ------------------------------------------------------------- repetitions */

vouch_expression vouch_expression_shared(vouch_builder *builder, vouch_expression part)
{
    if (builder->status != VOUCH_OK || builder->nodes[part].is_small) return part;
    const char *owner = builder->owner ? builder->owner : "root";
    const int32_t rule = vouch_builder_rule(builder, owner, strlen(owner));
    vouch_builder_define(builder, rule, part);
    return vouch_expression_rule(builder, rule);
}

static vouch_expression add_frame(vouch_builder *builder, vouch_expression_kind kind, vouch_expression part, bool first)
{
    const char *owner = builder->owner ? builder->owner : "root";
    const int32_t rule = vouch_builder_rule(builder, owner, strlen(owner));
    const bool is_nothing = vouch_expression_is_nothing(builder, part);
    vouch_builder_define(builder, rule, part);
    return add(builder, (vouch_expression_node){.kind = kind, .child = rule, .first = first, .is_nothing = is_nothing});
}

vouch_expression vouch_expression_object(vouch_builder *builder, vouch_expression part)
{
    return add_frame(builder, VOUCH_EXPRESSION_OBJECT, part, false);
}

vouch_expression vouch_expression_name(vouch_builder *builder, vouch_expression part, bool is_restricted)
{
    return add_frame(builder, VOUCH_EXPRESSION_NAME, part, is_restricted);
}

vouch_expression vouch_expression_room(vouch_builder *builder, vouch_expression name)
{
    if (builder->status != VOUCH_OK) return 0;
    vouch_expression_node room = builder->nodes[name];
    room.kind = VOUCH_EXPRESSION_ROOM;
    return add(builder, room);
}

vouch_expression vouch_expression_repeat(vouch_builder *builder, vouch_expression part, int32_t min, int32_t max)
{
    if (min == 1 && max == 1) return part;
    if (max == 0) return vouch_expression_empty(builder);
    if (max > 1 || min > 1) part = vouch_expression_shared(builder, part);
    const bool is_nothing = min > 0 && vouch_expression_is_nothing(builder, part);
    return add(builder, (vouch_expression_node){.kind = VOUCH_EXPRESSION_REPEAT,
                                                .first = min,
                                                .last = max,
                                                .child = part,
                                                .is_nothing = is_nothing});
}

vouch_expression vouch_expression_optional(vouch_builder *builder, vouch_expression part)
{
    return vouch_expression_repeat(builder, part, 0, 1);
}

/* ------------------------------------------------------------------- rules */

int32_t vouch_builder_rule(vouch_builder *builder, const char *name, size_t n)
{
    char *copy = strndup(name, n);
    void *items = builder->rules;
    const bool has_room = grow(builder, &items, builder->n_rules, &builder->rules_room, sizeof *builder->rules);
    builder->rules = items;
    if (has_room && !copy) vouch_builder_fail(builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
    if (!has_room || !copy) {
        free(copy);
        return 0;
    }
    builder->rules[builder->n_rules] =
        (vouch_rule_text){.name = copy, .hash = vouch_hash_bytes(VOUCH_HASH_START, name, n), .body = -1};
    return builder->n_rules++;
}

int32_t vouch_builder_find(const vouch_builder *builder, const char *name, size_t n)
{
    const uint64_t hash = vouch_hash_bytes(VOUCH_HASH_START, name, n);
    for (int32_t i = 0; i < builder->n_rules; i++) {
        const vouch_rule_text *rule = &builder->rules[i];
        if (rule->hash == hash && strlen(rule->name) == n && memcmp(rule->name, name, n) == 0) return i;
    }
    return -1;
}

void vouch_builder_define(vouch_builder *builder, int32_t rule, vouch_expression body)
{
    if (builder->status == VOUCH_OK) builder->rules[rule].body = body;
}

vouch_expression vouch_expression_rule(vouch_builder *builder, int32_t rule)
{
    if (builder->status != VOUCH_OK) return 0;
    const vouch_expression body = builder->rules[rule].body;
    return add(builder, (vouch_expression_node){.kind = VOUCH_EXPRESSION_RULE,
                                                .child = rule,
                                                .is_small = true,
                                                .is_nothing = body >= 0 && builder->nodes[body].is_nothing});
}
