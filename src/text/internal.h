/* SPDX-License-Identifier: MIT */
/*
 * Shared declarations of the files in this folder. tokenizer.h is the interface; these files implement it:
 *
 *   vocab.c          loads the token table and everything else that the model's file says
 *   ends.c           knows tokens by their names: whether they end an answer, whether their kind is wrong
 *   infill.c         puts a prompt for text in the middle together
 *   specials.c       finds the names of special tokens in a text
 *   added.c          white space and letters around a special token
 *   patterns.c       the patterns for words, one row for each tokenizer.ggml.pre
 *   pretokenizer.c   cuts a text into words (PCRE2)
 *   spaces.c         prepares a text for the tokenizers that write a space as U+2581
 *   bpe.c            merges the bytes or characters of a word into tokens
 *   charsmap.c       normalises a text by the file's table
 *   unigram.c        finds the most probable tokens of a text
 *   longest.c        takes the longest token at each position of a text
 *   encode.c         puts these together: vouch_tokenizer_encode
 *   chat.c           encodes a conversation through the chat template
 *   conversation.c   conversations as JSON
 *   jinja/           runs the template
 *   thoughts.c       finds thoughts in an answer and bounds them
 *   stream.c         turns tokens back into text
 */
#ifndef VOUCH_TEXT_INTERNAL_H
#define VOUCH_TEXT_INTERNAL_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/memory.h"
#include "text/tokenizer.h"

/* The numbers of tokenizer.ggml.token_type. */
typedef enum token_kind {
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN = 2,
    TOKEN_CONTROL = 3,
    TOKEN_USER_DEFINED = 4,
    TOKEN_UNUSED = 5,
    TOKEN_BYTE = 6
} token_kind;

enum { MAX_TOKEN_BYTES = 4096 };

/* Which special tokens a text may name. */
enum { MATCH_CONTROL = 1, MATCH_USER_DEFINED = 2 };

/* ------------------------------------------------------------ pre-tokenizer */

/* The algorithm that splits a word into tokens: the units that it merges, and the order of the merges. */
typedef enum token_scheme {
    SCHEME_BYTES,      /* byte-level BPE: bytes, by the rank of the merge */
    SCHEME_CHARACTERS, /* BPE: characters, by the rank of the merge; other bytes as <0xNN> */
    SCHEME_SCORES,     /* SentencePiece's BPE: characters, by the score of the token; other bytes as <0xNN> */
    SCHEME_UNIGRAM,    /* SentencePiece's unigram: the tokens with the highest sum of scores */
    SCHEME_LONGEST     /* RWKV's: the longest token that begins the rest of the text */
} token_scheme;

enum { MAX_CUTS = 6 };

typedef struct pretokenizer_rule {
    const char *pre;             /* tokenizer.ggml.pre */
    const char *name;            /* vouch_tokenizer_name */
    const char *const *patterns; /* at most MAX_CUTS, then NULL; NULL: the text is one word */
    token_scheme scheme;
    bool nfc;         /* the text is normalised first */
    bool whole_words; /* a word that is a token becomes that token, without merges */
    bool whole_lines; /* the same for a word of line ends only */
    bool add_bos;     /* where tokenizer.ggml.add_bos_token is absent */
} pretokenizer_rule;

/* Entries of `patterns` that stand for a function, which cuts digits (pretokenizer.c). */
extern const char vouch_digits_joined[], vouch_digits_bounded[], vouch_digits_counted[];

/* The rule of tokenizer.ggml.model and .pre; `pre` may be empty. NULL: unknown. */
const pretokenizer_rule *vouch_pretokenizer_rule(vouch_text model, vouch_text pre);
/* "smollm, gpt-2, ...": the commonest names, and how many others there are. */
void vouch_pretokenizer_names(char *out, size_t room);

typedef struct vouch_pretokenizer {
    const pretokenizer_rule *rule;
    pcre2_code *code[MAX_CUTS]; /* NULL: a function cuts instead; also after the last pattern */
    pcre2_match_context *limits;
    bool starved; /* an allocation failed while opening */
} vouch_pretokenizer;

/* Errors: UNSUPPORTED, MEMORY. After a failure, too, the caller closes *pre. */
vouch_status vouch_pretokenizer_open(vouch_pretokenizer *pre, const pretokenizer_rule *rule, vouch_error *err);
void vouch_pretokenizer_close(vouch_pretokenizer *pre);

/* Receives each word in turn. A status other than OK ends the walk. */
typedef vouch_status vouch_word_fn(void *user, const char *word, size_t n, vouch_error *err);
typedef struct word_walk {
    const vouch_pretokenizer *pre;
    pcre2_match_data *match; /* room for one pair; no other thread uses it */
    uint32_t options;        /* more options for pcre2_match */
    vouch_word_fn *visit;
    void *user;
} word_walk;
/* Calls visit with the words of text[n], well-formed UTF-8. No word is empty. */
vouch_status vouch_pretokenizer_words(const word_walk *walk, const char *text, size_t n, vouch_error *err);

/* ----------------------------------------------------------- token table */

/* Hash tables with open addressing: from bytes to ids (`slots`, -1 where free), and from pairs to merges (`merges`). */
typedef struct merge_slot {
    uint64_t pair; /* left id << 32 | right id; NO_PAIR where free */
    uint32_t rank;
    int32_t result;
} merge_slot;

#define NO_PAIR UINT64_MAX
#define NO_RANK UINT32_MAX

struct vouch_tokenizer {
    vouch_arena arena;      /* holds all arrays below */
    pretokenizer_rule rule; /* a row of patterns.c, changed by the file's own keys */
    vouch_pretokenizer pre;

    int32_t n_tokens;
    size_t *offset;          /* [n_tokens + 1] into bytes */
    char *bytes;             /* the tokens' texts; special tokens: their names */
    uint8_t *kind;           /* [n_tokens] token_kind */
    bool *ends;              /* [n_tokens] ends an answer */
    size_t longest;          /* bytes of the longest token */
    int32_t byte_token[256]; /* -1 where the vocabulary has none */
    bool lacks_bytes;        /* some byte has no token */
    vouch_text replacement;  /* for a character without tokens for its bytes: U+FFFD, "?" or nothing */

    int32_t unknown;    /* in place of a character without tokens; -1: none */
    bool space_prefix;  /* a space goes before a text, and before the text after a special token */
    bool remove_spaces; /* a text has no space at its ends and no two beside each other */
    uint8_t *flags;     /* [n_tokens] VOUCH_TOKEN_LSTRIP and others, of special tokens (added.c) */
    uint32_t *rank;     /* [n_tokens] SCORES: 0 for the tokens with the best score; equal scores, equal ranks */
    int32_t *words;     /* [n_words] UNIGRAM, LONGEST: ids of the tokens that a text may become, by their bytes */
    size_t n_words;
    struct unigram *unigram;   /* UNIGRAM (unigram.c) */
    struct charsmap *charsmap; /* UNIGRAM, and SCORES where the file has a table (charsmap.c) */

    int32_t *slots; /* [slot_mask + 1] by bytes: the tokens that a text may become without being named as special */
    size_t slot_mask;
    merge_slot *merges; /* [merge_mask + 1] */
    size_t merge_mask;

    int32_t *specials; /* [n_specials] ids, sorted by their bytes */
    size_t n_specials;
    bool special_first[256]; /* a special token begins with this byte */

    int32_t bos, eos;
    bool add_bos;
    bool add_eos;                       /* VOUCH_TOKENIZE_EOS adds EOS after a text */
    int32_t infill[VOUCH_INFILL_PARTS]; /* -1 where absent */

    vouch_text chat_template;                               /* size 0: none */
    bool chat_thinks;                                       /* the template has a switch for thoughts */
    vouch_error chat_error;                                 /* why the template can't be run; code OK: it can */
    struct json_t *chat_variables;                          /* an object; NULL: none */
    char *thoughts_begin, *thoughts_end, *thoughts_closing; /* thoughts.c; NULL: the template writes none */
};

static inline vouch_text tokenizer_text(const vouch_tokenizer *tokenizer, int32_t id)
{
    return (vouch_text){tokenizer->bytes + tokenizer->offset[id], tokenizer->offset[id + 1] - tokenizer->offset[id]};
}

/* Arguments of "%.*s" in a message: at most 60 bytes of the text. */
#define TEXT_ARGS(text) (int)((text).size < 60 ? (text).size : 60), (text).data

/* The id of an ordinary token by its bytes, or -1. */
int32_t vouch_vocab_find(const vouch_tokenizer *tokenizer, const char *bytes, size_t n);
/* Score i of tokenizer.ggml.scores, 0 where the file has none. FORMAT: no finite number. */
vouch_status vouch_vocab_score(const char *path, const vouch_gguf_array *scores, size_t i, double *score,
                               vouch_error *err);
/* The rank of the merge of two tokens and the token it gives, or NO_RANK. Ids of -1 have none. */
uint32_t vouch_merge_find(const vouch_tokenizer *tokenizer, int32_t left, int32_t right, int32_t *result);

/* Facts from the names of all tokens of a file (ends.c). */
typedef struct name_facts {
    bool has_return, has_call, has_flush, has_plain_s;
} name_facts;
void vouch_names_note(name_facts *facts, vouch_text name);
/* The right kind of a token of this name, which has `kind` in the file. */
token_kind vouch_names_correct(const name_facts *facts, vouch_text name, token_kind kind);
/* What a token of this name is in a prompt for text in the middle, a vouch_infill_part; -1: nothing. */
int vouch_names_infill(vouch_text name);
/* Whether a control token of this name ends an answer. */
bool vouch_names_end_answer(vouch_text name);
/* Whether white space vanishes after this special token, in a model of this name (general.name). */
bool vouch_names_strip(vouch_text model_name, vouch_text name);

/* ids[low, high) are sorted by their bytes and share the first `depth`. Returns the first whose next byte is at least
 * `byte`. */
size_t vouch_sorted_bound(const vouch_tokenizer *tokenizer, const int32_t *ids, size_t low, size_t high, size_t depth,
                          int byte);
/* Narrows ids[*low, *high), sorted as above, to those whose next byte is `byte`. Returns the last of those that end
 * with it, or -1. */
int32_t vouch_sorted_step(const vouch_tokenizer *tokenizer, const int32_t *ids, size_t *low, size_t *high, size_t depth,
                          int byte);
/* Fills `words`. */
void vouch_words_sort(vouch_tokenizer *tokenizer);
/* Sorts the ids in `specials`. */
void vouch_specials_sort(vouch_tokenizer *tokenizer);
/* The longest special token of the kinds in `match` whose name begins text[n], and its *length; or -1. */
int32_t vouch_specials_match(const vouch_tokenizer *tokenizer, unsigned match, const char *text, size_t n,
                             size_t *length);

/* Reads the flags of special tokens. Kinds and names are loaded before. Error: FORMAT. */
vouch_status vouch_added_load(vouch_tokenizer *tokenizer, const vouch_gguf *gguf, vouch_text model_name,
                              vouch_error *err);
/* Whether the special token at text[at, at + length) counts there. */
bool vouch_added_fits(const vouch_tokenizer *tokenizer, int32_t special, const char *text, size_t n, size_t at,
                      size_t length);
/* Where a special token begins whose name begins at `at`: it may own the white space before, down to `start`. */
size_t vouch_added_begin(const vouch_tokenizer *tokenizer, int32_t special, const char *text, size_t start, size_t at);
/* Where the special token ends: it may own the white space after it. */
size_t vouch_added_end(const vouch_tokenizer *tokenizer, int32_t special, const char *text, size_t at, size_t n);

/* The template to read: the caller's, or the one that `given` names (templates.h). "chatml" is the file's where it
 * writes ChatML. `given` NULL: the file's, or the one that it names, as files of RWKV do. */
vouch_text vouch_chat_choose(vouch_text of_file, const char *given);
/* Checks the template, which the tokenizer owns, once the vocabulary is loaded. Fills chat_template, chat_error
 * and chat_thinks. `given`: as of vouch_chat_choose; NULL: it is the file's. Error: MEMORY. */
vouch_status vouch_chat_open(vouch_tokenizer *tokenizer, vouch_text chat_template, const char *given, vouch_error *err);
/* Reads how the template writes thoughts. Error: MEMORY. */
vouch_status vouch_thoughts_read(vouch_tokenizer *tokenizer, vouch_error *err);

/* --------------------------------------------------------------- encoding */

typedef struct bpe_symbol {
    int32_t id, start, previous, next; /* id -1: a character without a token; start: index in the word */
    uint32_t rank;                     /* of the pair this symbol makes with the next one; NO_RANK: none */
} bpe_symbol;

/* One call of encode. Tokens past the capacity are counted, not written. */
typedef struct encoder {
    const vouch_tokenizer *tokenizer;
    int32_t *tokens;
    size_t capacity, count;
    pcre2_match_data *match;
    bool after_special; /* nothing but special tokens so far, or right after one */
    const char *word;   /* [n_word] that bpe.c works on */
    size_t n_word;
    bpe_symbol *symbols; /* [room] */
    uint64_t *heap;      /* [2 * room] */
    size_t room;
} encoder;

vouch_status vouch_encoder_open(encoder *e, const vouch_tokenizer *tokenizer, int32_t *tokens, size_t capacity,
                                vouch_error *err);
void vouch_encoder_close(encoder *e);
/* Writes the count of tokens. BUFFER where they did not fit. */
vouch_status vouch_encoder_result(const encoder *e, size_t *n_tokens, vouch_error *err);
/* Drops a token of -1. */
static inline void encoder_push(encoder *e, int32_t token)
{
    if (token < 0) return;
    if (e->count < e->capacity) e->tokens[e->count] = token;
    e->count++;
}
/* BOS, if the file asks for it. A text that begins with BOS already (vouch_begins_with_bos) needs no second one. */
void vouch_encoder_bos(encoder *e);
bool vouch_begins_with_bos(const vouch_tokenizer *tokenizer, const char *text, size_t n);
/* Encodes text[n], in which the special tokens of `match` may be named. */
vouch_status vouch_encoder_text(encoder *e, const char *text, size_t n, unsigned match, vouch_error *err);
/* Encodes text[n], which a template wrote. marks[i] (jinja_mark; NULL: all are the template's) says where byte i came
 * from: the template names special tokens, an earlier answer user-defined ones, a user's text neither. Runs of white
 * space are found everywhere. */
vouch_status vouch_encoder_marked(encoder *e, const char *text, const uint8_t *marks, size_t n, vouch_error *err);
/* The bytes of one word. */
vouch_status vouch_bpe_word(encoder *e, const char *word, size_t n, vouch_error *err);
/* Encodes the bytes of a character without a token: as their own tokens, or as the unknown token. */
void vouch_bpe_spell(encoder *e, const char *bytes, size_t n);

/* The text as spaces.c prepares it; *out is the caller's to free(). Errors: MEMORY. */
vouch_status vouch_spaces_prepare(const vouch_tokenizer *tokenizer, bool with_prefix, const char *text, size_t n,
                                  char **out, size_t *n_out, vouch_error *err);
/* Copies text[n] to out, which has room for n bytes, and replaces each U+2581 by a space. Returns the bytes written. */
size_t vouch_spaces_unescape(const char *text, size_t n, char *out);

/* Reads the table; a file without one leaves texts as they are. Errors: FORMAT, MEMORY. */
vouch_status vouch_charsmap_open(vouch_tokenizer *tokenizer, const vouch_gguf *gguf, vouch_error *err);
void vouch_charsmap_close(struct charsmap *map); /* NULL is allowed */
/* Normalises the well-formed text[n] by the table, and replaces each U+2581 by a space. The caller frees *out. Errors:
 * ARGUMENT (the result has INT32_MAX bytes or more), MEMORY. */
vouch_status vouch_charsmap_text(const vouch_tokenizer *tokenizer, bool with_prefix, const char *text, size_t n,
                                 char **out, size_t *n_out, vouch_error *err);

/* Reads the scores of a unigram tokenizer whose tokens are loaded. Errors: FORMAT, MEMORY. */
vouch_status vouch_unigram_open(vouch_tokenizer *tokenizer, const vouch_gguf *gguf, vouch_error *err);
void vouch_unigram_close(struct unigram *u); /* NULL is allowed */
/* Normalises and encodes well-formed text[n]. */
vouch_status vouch_unigram_text(encoder *e, const char *text, size_t n, vouch_error *err);
/* Encodes any bytes. */
void vouch_longest_text(encoder *e, const char *text, size_t n);

#endif
