/* SPDX-License-Identifier: MIT */
#include "text/grammar/names.h"

#include <string.h>

#include "base/hash.h"

enum { TEXTS = 1 << 17, LISTS = 1 << 14, SPARE = 1024 };

void vouch_names_layout(vouch_names *names, bool used, vouch_arena *arena)
{
    const size_t texts = used ? TEXTS : 1, lists = used ? LISTS : 1;
    names->texts = vouch_arena_take(arena, texts, sizeof *names->texts);
    names->lists = vouch_arena_take(arena, lists, sizeof *names->lists);
    names->text_slots = vouch_arena_take(arena, 2 * texts, sizeof *names->text_slots);
    names->list_slots = vouch_arena_take(arena, 2 * lists, sizeof *names->list_slots);
    names->renamed = vouch_arena_take(arena, texts + lists, sizeof *names->renamed);
}

void vouch_names_init(vouch_names *names)
{
    names->n_texts = names->n_lists = 1;
    names->texts[0] = (vouch_name_text){.hash = 1, .before = -1};
    names->lists[0] = (vouch_name_list){.hash = 1, .before = -1};
}

bool vouch_names_fit(const vouch_names *names)
{
    return names->n_texts + SPARE <= TEXTS && names->n_lists + SPARE <= LISTS;
}

/* The slot of this text, or the free slot (0) where it belongs. */
static int32_t *text_slot(const vouch_names *names, int32_t before, unsigned char byte)
{
    const uint64_t hash = vouch_hash_word(vouch_hash_word(6, (uint64_t)before), byte);
    for (size_t at = (size_t)(hash % (2 * TEXTS));; at = (at + 1) % (2 * TEXTS)) {
        int32_t *slot = &names->text_slots[at];
        const vouch_name_text *known = &names->texts[*slot];
        if (*slot == 0 || (known->before == before && known->byte == byte)) return slot;
    }
}

static int32_t *list_slot(const vouch_names *names, int32_t before, int32_t last)
{
    const uint64_t hash = vouch_hash_word(vouch_hash_word(7, (uint64_t)before), (uint64_t)last);
    for (size_t at = (size_t)(hash % (2 * LISTS));; at = (at + 1) % (2 * LISTS)) {
        int32_t *slot = &names->list_slots[at];
        const vouch_name_list *known = &names->lists[*slot];
        if (*slot == 0 || (known->before == before && known->last == last)) return slot;
    }
}

/* Whether the name begins with the text. */
static bool begins(const vouch_names *names, int32_t name, int32_t text)
{
    if (name < 0) return false;
    while (names->texts[name].length > names->texts[text].length) name = names->texts[name].before;
    return name == text;
}

int32_t vouch_names_forget(const vouch_names *names, int32_t list, int32_t text)
{
    for (; text >= 0 && list > 0; list = names->lists[list].before)
        if (begins(names, names->lists[list].last, text)) return text;
    return VOUCH_TEXT_FREE;
}

int32_t vouch_names_extend(vouch_names *names, int32_t list, int32_t text, unsigned char byte, bool exact)
{
    if (text < 0) return text;
    if (names->texts[text].length == VOUCH_NAME_BYTES) return VOUCH_TEXT_LONG;
    int32_t *slot = text_slot(names, text, byte);
    if (!exact) return *slot > 0 ? vouch_names_forget(names, list, *slot) : VOUCH_TEXT_FREE;
    if (*slot > 0) return *slot;
    if (names->n_texts == TEXTS) return VOUCH_TEXT_LONG;
    names->texts[names->n_texts] = (vouch_name_text){.hash = vouch_hash_word(names->texts[text].hash, byte),
                                                     .before = text,
                                                     .byte = byte,
                                                     .length = (uint8_t)(names->texts[text].length + 1)};
    return *slot = names->n_texts++;
}

int32_t vouch_names_add(vouch_names *names, int32_t list, int32_t text)
{
    const vouch_name_list *known = &names->lists[list];
    if (list > 0 && known->last == VOUCH_TEXT_FREE) return -1;
    for (int32_t at = list; text >= 0 && at > 0; at = names->lists[at].before)
        if (names->lists[at].last == text) return -1;
    int32_t *slot = list_slot(names, list, text);
    if (*slot > 0) return *slot;
    if (names->n_lists == LISTS) return -1;
    const uint64_t hash = text >= 0 ? names->texts[text].hash : (uint64_t)text;
    names->lists[names->n_lists] =
        (vouch_name_list){.hash = vouch_hash_word(known->hash, hash),
                          .before = list,
                          .last = text,
                          .n = known->n + 1,
                          .bytes = known->bytes + (text >= 0 ? names->texts[text].length : 0)};
    return *slot = names->n_lists++;
}

int32_t vouch_names_alike(const vouch_names *names, int32_t list, int32_t text)
{
    int32_t n = 0;
    for (; list > 0; list = names->lists[list].before) {
        const int32_t name = names->lists[list].last;
        n += name == VOUCH_TEXT_FREE || (text >= 0 && begins(names, name, text));
    }
    return n;
}

/* ----------------------------------------------------------------- dropping */

void vouch_names_unmark(vouch_names *names)
{
    memset(names->renamed, 0, (TEXTS + LISTS) * sizeof *names->renamed);
}

void vouch_names_mark_text(vouch_names *names, int32_t text)
{
    for (; text > 0 && !names->renamed[text]; text = names->texts[text].before) names->renamed[text] = 1;
}

void vouch_names_mark_list(vouch_names *names, int32_t list)
{
    for (; list > 0 && !names->renamed[TEXTS + list]; list = names->lists[list].before) {
        names->renamed[TEXTS + list] = 1;
        vouch_names_mark_text(names, names->lists[list].last);
    }
}

int32_t vouch_names_text_now(const vouch_names *names, int32_t text)
{
    return text > 0 ? names->renamed[text] : text;
}

int32_t vouch_names_list_now(const vouch_names *names, int32_t list)
{
    return list > 0 ? names->renamed[TEXTS + list] : list;
}

/* A text comes after those of which it is made, and so does a list: one pass in order does it. */
void vouch_names_pack(vouch_names *names)
{
    int32_t n = 1;
    for (int32_t i = 1; i < names->n_texts; i++) {
        if (!names->renamed[i]) continue;
        names->texts[n] = names->texts[i];
        names->texts[n].before = vouch_names_text_now(names, names->texts[i].before);
        names->renamed[i] = n++;
    }
    names->n_texts = n;
    n = 1;
    for (int32_t i = 1; i < names->n_lists; i++) {
        if (!names->renamed[TEXTS + i]) continue;
        names->lists[n] = names->lists[i];
        names->lists[n].before = vouch_names_list_now(names, names->lists[i].before);
        names->lists[n].last = vouch_names_text_now(names, names->lists[i].last);
        names->renamed[TEXTS + i] = n++;
    }
    names->n_lists = n;
    memset(names->text_slots, 0, (size_t)2 * TEXTS * sizeof *names->text_slots);
    memset(names->list_slots, 0, (size_t)2 * LISTS * sizeof *names->list_slots);
    for (int32_t i = 1; i < names->n_texts; i++) *text_slot(names, names->texts[i].before, names->texts[i].byte) = i;
    for (int32_t i = 1; i < n; i++) *list_slot(names, names->lists[i].before, names->lists[i].last) = i;
}
