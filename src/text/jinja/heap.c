/* SPDX-License-Identifier: MIT */
/* The run: memory, limits, the one error (value.h, J1); lists and dicts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "text/jinja/value.h"

enum { BLOCK = 1 << 16, ALIGN = 16, MESSAGE = 320, FEW_KEYS = 8 };

struct jinja_block {
    jinja_block *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

void vouch_jinja_run_begin(jinja_run *run, const jinja_limits *limits)
{
    *run = (jinja_run){.left = *limits};
}

void vouch_jinja_run_end(jinja_run *run)
{
    for (jinja_block *block = run->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    run->blocks = NULL;
}

static void *give_up(jinja_run *run, vouch_status code, const char *why)
{
    if (run->failed) return NULL;
    run->failed = true;
    vouch_fail(&run->error, code, "chat template, line %d: %s", run->line, why);
    return NULL;
}

void *vouch_jinja_take(jinja_run *run, size_t count, size_t size)
{
    if (run->failed) return NULL;
    if (size && count > (SIZE_MAX / 2 - ALIGN) / size) return give_up(run, VOUCH_E_MEMORY, "a value is too large");
    const size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes > run->left.bytes)
        return give_up(run, VOUCH_E_UNSUPPORTED, "it needs more memory than a prompt may take");
    jinja_block *block = run->blocks;
    if (!block || block->size - block->used < bytes) {
        const size_t room = bytes > BLOCK ? bytes : BLOCK;
        block = calloc(1, sizeof *block + room);
        if (!block) return give_up(run, VOUCH_E_MEMORY, "not enough memory");
        block->size = room;
        block->next = run->blocks;
        run->blocks = block;
    }
    void *taken = block->data + block->used;
    block->used += bytes;
    run->left.bytes -= bytes;
    return taken;
}

jinja_value vouch_jinja_fail(jinja_run *run, const char *format, ...)
{
    char why[MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    give_up(run, VOUCH_E_ARGUMENT, why);
    return jinja_undefined();
}

bool vouch_jinja_step(jinja_run *run, int64_t n)
{
    run->left.steps -= n;
    if (run->left.steps < 0) give_up(run, VOUCH_E_UNSUPPORTED, "it takes more steps than a prompt may take");
    return !run->failed;
}

bool vouch_jinja_enter(jinja_run *run)
{
    if (run->left.depth-- <= 0) give_up(run, VOUCH_E_UNSUPPORTED, "it is nested too deeply");
    return !run->failed;
}

/* ---------------------------------------------------------------------- lists */

/* The next capacity of an array that grows. */
static size_t grown(size_t capacity)
{
    return capacity ? 2 * capacity : 8;
}

jinja_value vouch_jinja_list_new(jinja_run *run, jinja_kind kind)
{
    jinja_value list = {.kind = kind, .list = vouch_jinja_take(run, 1, sizeof(jinja_list))};
    return list.list ? list : jinja_undefined();
}

void vouch_jinja_list_push(jinja_run *run, jinja_list *list, jinja_value item)
{
    if (!vouch_jinja_step(run, 1) || !list) return;
    if (list->n == list->capacity) {
        jinja_value *items = vouch_jinja_take(run, grown(list->capacity), sizeof *items);
        if (!items) return;
        if (list->n) memcpy(items, list->items, list->n * sizeof *items);
        list->items = items;
        list->capacity = grown(list->capacity);
    }
    list->items[list->n++] = item;
}

/* ---------------------------------------------------------------------- dicts */

jinja_value vouch_jinja_dict_new(jinja_run *run, jinja_kind kind)
{
    jinja_value dict = {.kind = kind, .dict = vouch_jinja_take(run, 1, sizeof(jinja_dict))};
    return dict.dict ? dict : jinja_undefined();
}

/* Equal keys have equal hashes: 1, 1.0 and True are one key. */
static uint64_t hash_of(const jinja_value *key)
{
    if (key->kind == JINJA_STRING) return vouch_hash_bytes(VOUCH_HASH_START, key->string.bytes, key->string.n);
    if (vouch_jinja_is_number(key)) {
        const double x = vouch_jinja_number(key);
        return vouch_hash_bytes(VOUCH_HASH_START, &x, sizeof x);
    }
    return key->kind;
}

static uint32_t *slot_of(jinja_run *run, const jinja_dict *dict, const jinja_value *key)
{
    for (uint64_t i = hash_of(key);; i++) {
        uint32_t *slot = &dict->slots[i & (dict->n_slots - 1)];
        if (*slot == 0 || vouch_jinja_equal(run, &dict->keys[*slot - 1], key) || run->failed) return slot;
    }
}

static void index_keys(jinja_run *run, jinja_dict *dict)
{
    dict->n_slots = 4 * dict->capacity;
    dict->slots = vouch_jinja_take(run, dict->n_slots, sizeof *dict->slots);
    for (size_t i = 0; dict->slots && i < dict->n; i++) *slot_of(run, dict, &dict->keys[i]) = (uint32_t)i + 1;
}

jinja_value *vouch_jinja_dict_get(jinja_run *run, const jinja_dict *dict, const jinja_value *key)
{
    if (!dict || !vouch_jinja_weigh(run, key->kind == JINJA_STRING ? key->string.n : 0)) return NULL;
    if (dict->slots) {
        const uint32_t number = *slot_of(run, dict, key);
        return number ? &dict->values[number - 1] : NULL;
    }
    for (size_t i = 0; i < dict->n; i++)
        if (vouch_jinja_equal(run, &dict->keys[i], key)) return &dict->values[i];
    return NULL;
}

jinja_value *vouch_jinja_dict_named(jinja_run *run, const jinja_dict *dict, const char *name)
{
    const jinja_value key = jinja_text(vouch_jinja_literal(name));
    return vouch_jinja_dict_get(run, dict, &key);
}

static bool dict_grow(jinja_run *run, jinja_dict *dict)
{
    const size_t capacity = grown(dict->capacity);
    jinja_value *keys = vouch_jinja_take(run, capacity, sizeof *keys);
    jinja_value *values = vouch_jinja_take(run, capacity, sizeof *values);
    if (!keys || !values || capacity > UINT32_MAX / 8) return false;
    if (dict->n) {
        memcpy(keys, dict->keys, dict->n * sizeof *keys);
        memcpy(values, dict->values, dict->n * sizeof *values);
    }
    dict->keys = keys;
    dict->values = values;
    dict->capacity = capacity;
    if (capacity > FEW_KEYS) index_keys(run, dict);
    return !run->failed;
}

void vouch_jinja_dict_set(jinja_run *run, jinja_dict *dict, jinja_value key, jinja_value value)
{
    if (!dict || !vouch_jinja_step(run, 1)) return;
    if (key.kind != JINJA_STRING && key.kind != JINJA_NONE && !vouch_jinja_is_number(&key)) {
        vouch_jinja_fail(run, "%s can't be the key of a dict", vouch_jinja_kind_name(key.kind));
        return;
    }
    jinja_value *known = vouch_jinja_dict_get(run, dict, &key);
    if (known) {
        *known = value;
        return;
    }
    if (run->failed || (dict->n == dict->capacity && !dict_grow(run, dict))) return;
    if (dict->slots) *slot_of(run, dict, &key) = (uint32_t)dict->n + 1;
    dict->keys[dict->n] = key;
    dict->values[dict->n++] = value;
}
