/* SPDX-License-Identifier: MIT */
/*
 * Protocol buffers, as far as sentencepiece_model.proto uses them:
 *
 *   message   fields, one after the other
 *   field     varint (number << 3 | wire type), then by type: 0 a varint | 1 eight bytes | 2 a varint n and n bytes
 *             | 5 four bytes
 *   varint    7 bits a byte, the lowest first; the top bit of a byte says that another follows; at most 10 bytes
 *
 * Fields may come in any order. Unknown ones are skipped.
 */
#include "format/sentencepiece.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct proto {
    const unsigned char *at, *end;
    const char *name; /* of the file, for messages */
    const unsigned char *begin;
} proto;

typedef struct proto_field {
    uint32_t number;
    uint64_t value;  /* of wire types 0, 1 and 5 */
    vouch_text text; /* of wire type 2 */
} proto_field;

static bool varint_read(proto *p, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && p->at < p->end; shift += 7) {
        const unsigned char byte = *p->at++;
        *value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80) return true;
    }
    return false;
}

static bool bytes_read(proto *p, size_t n, void *out)
{
    if ((size_t)(p->end - p->at) < n) return false;
    memcpy(out, p->at, n);
    p->at += n;
    return true;
}

static bool text_read(proto *p, vouch_text *text)
{
    uint64_t n;
    if (!varint_read(p, &n) || n > (size_t)(p->end - p->at)) return false;
    *text = (vouch_text){(const char *)p->at, (size_t)n};
    p->at += n;
    return true;
}

/* The next field of a message that isn't at its end. */
static vouch_status field_read(proto *p, proto_field *field, vouch_error *err)
{
    const size_t offset = (size_t)(p->at - p->begin);
    uint64_t key;
    bool good = varint_read(p, &key);
    *field = (proto_field){.number = good && key >> 3 <= UINT32_MAX ? (uint32_t)(key >> 3) : 0};
    if (field->number == 0) good = false;
    else if ((key & 7) == 0) good = varint_read(p, &field->value);
    else if ((key & 7) == 1) good = bytes_read(p, 8, &field->value);
    else if ((key & 7) == 2) good = text_read(p, &field->text);
    else if ((key & 7) == 5) good = bytes_read(p, 4, &field->value);
    else good = false;
    if (good) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT,
                      "%s: damaged at byte %zu, or no SentencePiece model: expected a field of a protocol buffer",
                      p->name, offset);
}

static proto message_of(const proto *p, const proto_field *field)
{
    const unsigned char *at = (const unsigned char *)field->text.data;
    return (proto){at, at ? at + field->text.size : at, p->name, p->begin};
}

static vouch_status piece_read(vouch_sentencepiece_piece *piece, proto p, size_t i, vouch_error *err)
{
    *piece = (vouch_sentencepiece_piece){.text = {"", 0}, .kind = 1};
    for (proto_field field; p.at < p.end;) {
        VOUCH_TRY(field_read(&p, &field, err));
        if (field.number == 1 && field.text.data) piece->text = field.text;
        if (field.number == 2) memcpy(&piece->score, &field.value, sizeof piece->score);
        if (field.number == 3) piece->kind = field.value <= 6 ? (int32_t)field.value : 0;
    }
    if (piece->kind < 1)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: piece %zu has an unknown type; expected 1 to 6", p.name, i);
    if (!isfinite(piece->score))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: piece %zu has the score %g; expected a finite number", p.name, i,
                          (double)piece->score);
    return VOUCH_OK;
}

static vouch_status trainer_read(vouch_sentencepiece *out, proto p, vouch_error *err)
{
    for (proto_field field; p.at < p.end;) {
        VOUCH_TRY(field_read(&p, &field, err));
        const int32_t id = field.value < INT32_MAX ? (int32_t)field.value : -1;
        if (field.number == 3) out->model_type = id;
        if (field.number == 24) out->space_is_suffix = field.value != 0;
        if (field.number == 40) out->unk = id;
        if (field.number == 41) out->bos = id;
        if (field.number == 42) out->eos = id;
        if (field.number == 43) out->pad = id;
    }
    return VOUCH_OK;
}

static vouch_status normalizer_read(vouch_sentencepiece *out, proto p, vouch_error *err)
{
    for (proto_field field; p.at < p.end;) {
        VOUCH_TRY(field_read(&p, &field, err));
        if (field.number == 2 && field.text.data) out->charsmap = field.text;
        if (field.number == 3) out->add_dummy_prefix = field.value != 0;
        if (field.number == 4) out->remove_extra_whitespaces = field.value != 0;
    }
    return VOUCH_OK;
}

/* The first walk counts the pieces, the second reads everything. */
static vouch_status model_read(vouch_sentencepiece *out, proto p, vouch_error *err)
{
    const bool counts = !out->pieces;
    out->n_pieces = 0;
    for (proto_field field; p.at < p.end;) {
        VOUCH_TRY(field_read(&p, &field, err));
        if (!field.text.data || field.number > 3) continue;
        const proto message = message_of(&p, &field);
        if (field.number == 1 && counts) out->n_pieces++;
        else if (field.number == 1) {
            VOUCH_TRY(piece_read(&out->pieces[out->n_pieces], message, out->n_pieces, err));
            out->n_pieces++;
        } else if (field.number == 2) VOUCH_TRY(trainer_read(out, message, err));
        else VOUCH_TRY(normalizer_read(out, message, err));
    }
    return VOUCH_OK;
}

vouch_status vouch_sentencepiece_read(vouch_sentencepiece *out, const void *bytes, size_t size, const char *name,
                                      vouch_error *err)
{
    const proto p = {bytes, (const unsigned char *)bytes + size, name, bytes};
    *out = (vouch_sentencepiece){.model_type = VOUCH_SENTENCEPIECE_UNIGRAM,
                                 .bos = 1,
                                 .eos = 2,
                                 .pad = -1,
                                 .charsmap = {"", 0},
                                 .add_dummy_prefix = true,
                                 .remove_extra_whitespaces = true}; /* the format's defaults */
    vouch_status status = model_read(out, p, err);
    if (status == VOUCH_OK && out->n_pieces == 0)
        status = vouch_fail(err, VOUCH_E_FORMAT, "%s: no SentencePiece model: it has no pieces", name);
    if (status == VOUCH_OK) {
        out->pieces = malloc(out->n_pieces * sizeof *out->pieces);
        status = out->pieces ? model_read(out, p, err)
                             : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the tokenizer in %s", name);
    }
    if (status != VOUCH_OK) vouch_sentencepiece_free(out);
    return status;
}

void vouch_sentencepiece_free(vouch_sentencepiece *model)
{
    free(model->pieces);
    model->pieces = NULL;
}
