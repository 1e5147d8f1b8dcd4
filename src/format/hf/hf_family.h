/* SPDX-License-Identifier: MIT */
/*
 * Families of Hugging Face models: which architecture of GGUF a model_type is, and how its tensors are named and laid
 * out there. The names and layouts are llama.cpp's.
 */
#ifndef VOUCH_FORMAT_HF_FAMILY_H
#define VOUCH_FORMAT_HF_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* How a tensor of the folder becomes one of GGUF. Shapes are [rows, columns]; a bias has one column. */
typedef enum vouch_hf_layout {
    VOUCH_HF_AS_IS,
    VOUCH_HF_QUERIES, /* in families that rotate adjacent pairs: the halves of each head are interleaved */
    VOUCH_HF_KEYS,
    VOUCH_HF_HEAD,        /* as QUERIES, of one head: the norm of queries or keys */
    VOUCH_HF_FUSED,       /* for each group of heads queries, key, value; GGUF: all queries, all keys, all values */
    VOUCH_HF_TRANSPOSED,  /* a weight is [columns, rows] */
    VOUCH_HF_STACKED,     /* one of several, numbered by the last '#'; GGUF: one tensor */
    VOUCH_HF_CONVOLUTION, /* [channels, 1, width]; GGUF: [channels, width] */
    VOUCH_HF_WHOLE,       /* as NAMED, three dimensions, as they are */
    VOUCH_HF_FIRST_HALF,  /* half of the rows; the next rule names the tensor of the other half */
    VOUCH_HF_SECOND_HALF,
    VOUCH_HF_EXPERTS, /* [experts, inputs, outputs]; GGUF: [experts, outputs, inputs] */
    VOUCH_HF_EVEN,    /* as EXPERTS, but only outputs 0, 2, ...; also for biases. The next rule has the other
                         outputs */
    VOUCH_HF_ODD,
    VOUCH_HF_GROUPS,       /* a vector [n]; GGUF: [groups, n / groups], groups of Mamba-2 heads */
    VOUCH_HF_NAMED,        /* `to` is the whole name in GGUF: no ".weight" or ".bias" is added */
    VOUCH_HF_COLUMN,       /* as NAMED, for a vector [n]; GGUF: [n, 1] */
    VOUCH_HF_DECAY,        /* as NAMED; GGUF has -exp(x) */
    VOUCH_HF_DECAY_COLUMN, /* as DECAY, for a vector [n]; GGUF: [n, 1] */
    VOUCH_HF_DELTA,        /* for each key head its query, key, values, gates; GGUF: all queries, all keys, all values.
                              The next rule has the gates. */
    VOUCH_HF_DELTA_GATE,
    /* Value heads of delta nets. The folder has the value heads of one key head side by side; GGUF has the first value
     * head of each key head, then the second of each, and so on. */
    VOUCH_HF_VALUES,         /* rows are value heads */
    VOUCH_HF_VALUES_NAMED,   /* as VALUES and NAMED */
    VOUCH_HF_VALUES_DECAY,   /* as VALUES and DECAY */
    VOUCH_HF_VALUES_LAST,    /* rows, or a convolution's channels, are queries, keys, then value heads */
    VOUCH_HF_VALUES_COLUMNS, /* columns are value heads */
    VOUCH_HF_IDS,            /* as NAMED, integers */
    VOUCH_HF_STEPS,          /* as NAMED, integers; GGUF adds each one's number to it (d2t of EAGLE-3) */
    VOUCH_HF_DROPPED         /* GGUF doesn't have the tensor */
} vouch_hf_layout;

/* `from` and `to` are names without ".weight" or ".bias", which stay the same. '#' is a number; the first is the
 * layer. */
typedef struct vouch_hf_rule {
    const char *from, *to;
    vouch_hf_layout layout;
} vouch_hf_rule;

/* A member of config.json that says whether the layers have certain tensors. */
typedef struct vouch_hf_switch {
    const char *key;     /* '!' before it: the layers have them where it is false; '?': a number, which must be 2 for
                            them; absent, it says nothing */
    bool usual;          /* its value where it is absent */
    const char *tensors; /* ends of their names, with '|' between them */
} vouch_hf_switch;

enum { VOUCH_HF_MOST_RULES = 3, VOUCH_HF_MOST_SWITCHES = 3 };

typedef struct vouch_hf_family {
    const char *model_type, *arch;
    const vouch_hf_rule *rules[VOUCH_HF_MOST_RULES]; /* lists, each ended by an empty rule; the first match counts */
    const char *activations;                         /* accepted names, with '|' between them */
    const char *keys;                                /* members of config.json (hf_keys.h) */
    vouch_hf_switch switches[VOUCH_HF_MOST_SWITCHES];
    const char *texts;      /* accepted model_type of text_config, with '|' between them; NULL: any */
    int32_t window_period;  /* 0: no layer has the window; 1: all; n: all but layers n - 1, 2n - 1, ...;
                               VOUCH_HF_MOST_LAYERS: those that layer_types names, not all */
    const char *defaults;   /* JSON: members that older files leave out; NULL: none */
    bool rotates_adjacent;  /* GGUF rotates adjacent pairs; Hugging Face always rotates half a head apart */
    bool adds_one;          /* norms multiply by 1 + weight */
    bool has_positions;     /* positions are learned, or ALiBi: nothing is rotated */
    bool has_two_rotations; /* layers with a window have heads of another width and another rotation (hf_gemma4.c) */
    bool is_recurrent;      /* some or all layers are recurrent: all with has_no_attention, else those that layer_types
                               or a period names */
    bool has_no_attention;
    bool has_rope_kinds;   /* rope_parameters has one object per layer type, such as full_attention */
    bool is_head;          /* config.json is a head's, with members that vouch doesn't know */
    const char *quantised; /* the one quant_method that this family can read; NULL: quantised folders are refused */
} vouch_hf_family;

/* Error: UNSUPPORTED. */
vouch_status vouch_hf_family_find(const char *model_type, const char *path, const vouch_hf_family **family,
                                  vouch_error *err);
/* Whether a tensor is for pictures or sound, or for a layer that guesses further tokens. */
bool vouch_hf_family_is_other(const char *name);
/* The rule for a tensor of the family; NULL: none. In models for pictures and text the names of the text's
 * tensors have "language_model." before them; the other tensors are dropped. may_be_bare: names may lack "model.", as
 * in models without an output matrix of their own, which AutoModel saves. *layer and *index are the numbers of the
 * name, or 0. *suffix points to ".weight", ".bias" or "" in `name`. */
const vouch_hf_rule *vouch_hf_family_rule(const vouch_hf_family *family, const char *name, bool may_be_bare,
                                          int32_t *layer, int32_t *index, const char **suffix);

#endif
