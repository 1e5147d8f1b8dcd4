/* SPDX-License-Identifier: MIT */
#ifndef VOUCH_H
#define VOUCH_H
/*
 * vouch: speculative decoding for language models.
 *
 * THE CONTRACT
 *
 *   model    A file of weights with its tokenizer, packed for this processor.
 *            Immutable once open. Any number of sessions, in any threads, may
 *            use one model at the same time. It must outlive them.
 *   session  One sequence of tokens: its KV cache, drafter, random stream and
 *            statistics. Mutable. One thread at a time, except for
 *            vouch_session_cancel, which any thread or signal handler may call.
 *   engine   Runs the sequences of many sessions in shared passes (vouch_engine). A
 *            session by itself needs none.
 *   drafter  Guesses the next tokens. vouch_speculation names the drafters of a
 *            session, which owns them. A caller may bring its own (vouch_drafter).
 *   step     One cycle: draft a chain or a tree of guesses, score all of them in one
 *            pass of the target, judge them, commit 1 to n_draft + 1 tokens.
 *
 * A session emits the text that the target model alone would have emitted. Greedy
 * output is the same to the byte with every drafter. Sampled output has exactly
 * the target's distribution (Leviathan et al., arXiv 2211.17192, Algorithm 1).
 *
 * The library never prints, exits or reads the environment. The caller's rounding
 * mode and other floating-point settings don't change its results, and it leaves
 * them as they are. Every function that can fail returns a vouch_status. Where it
 * takes a vouch_error, which may be NULL, the message names the file, field and value.
 *
 * A pointer argument must not be NULL unless its comment allows it. Functions without
 * a session argument may be called from any thread at any time.
 *
 * The library allocates memory when it opens a model or a session, and afterwards
 * only while it turns text into ids; stepping allocates nothing. An allocation is
 * address space: the system adds pages as they are first written, so the resident
 * part of a session grows to vouch_session_memory while its context fills. A system
 * that overcommits memory may end the process then, and not at open.
 *
 *   vouch_error err;
 *   vouch_model *model;
 *   vouch_session *session;
 *   vouch_model_options mo = vouch_model_options_default();
 *   vouch_session_options so = vouch_session_options_default();
 *   if (vouch_model_open(&model, "model.gguf", &mo, &err)) die(err.message);
 *   if (vouch_session_open(&session, model, &so, &err)) die(err.message);
 *   vouch_message turn = {"user", "Name three rivers."};
 *   vouch_session_chat(session, &turn, 1, &err);
 *   vouch_step step;
 *   do {
 *       if (vouch_session_step(session, &step, &err)) die(err.message);
 *       fwrite(step.text, 1, step.n_text, stdout);
 *   } while (step.finish == VOUCH_FINISH_NONE);
 *   vouch_session_close(session);
 *   vouch_model_close(model);
 *
 * Conventions: p is the target's distribution, q the draft's, both after the same
 * sampling parameters; k is the draft length. Text is UTF-8. Paths are UTF-8, too,
 * with / between names also on Windows. Tokens are int32_t ids below the vocabulary
 * size. Times are seconds, sizes bytes. Strings and arrays given to an open function
 * are copied unless it says otherwise.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VOUCH_API __attribute__((visibility("default")))
#else
#define VOUCH_API
#endif

#define VOUCH_VERSION "0.1.0"

/* ------------------------------------------------------------------ errors */

/* Name, value, text. */
#define VOUCH_STATUS_LIST(X)                                              \
    X(VOUCH_OK, 0, "ok")                                                  \
    X(VOUCH_E_ARGUMENT, -1, "invalid argument")                           \
    X(VOUCH_E_MEMORY, -2, "not enough memory")                            \
    X(VOUCH_E_IO, -3, "input/output error")                               \
    X(VOUCH_E_FORMAT, -4, "damaged or malformed file")                    \
    X(VOUCH_E_UNSUPPORTED, -5, "not supported")                           \
    X(VOUCH_E_MISMATCH, -6, "draft and target do not fit together")       \
    X(VOUCH_E_CONTEXT, -7, "does not fit into the context")               \
    X(VOUCH_E_NUMERIC, -8, "the model gave no finite logits")             \
    X(VOUCH_E_CANCELLED, -9, "cancelled")                                 \
    X(VOUCH_E_BUFFER, -10, "buffer too small")                           \
    X(VOUCH_E_GRAMMAR, -11, "no token is left: grammar, logit_bias and min_tokens together ban all; lift a ban")

typedef enum vouch_status {
#define VOUCH_STATUS_ENUM(name, value, text) name = value,
    VOUCH_STATUS_LIST(VOUCH_STATUS_ENUM)
#undef VOUCH_STATUS_ENUM
} vouch_status;

/* Filled by the callee on failure, untouched on success. */
typedef struct vouch_error {
    vouch_status code;
    char message[500]; /* one line, no newline at its end */
} vouch_error;

/* The text of a status, a constant; "unknown status" for other values. */
VOUCH_API const char *vouch_status_text(vouch_status status);
/* VOUCH_VERSION of the library that is linked, a constant. */
VOUCH_API const char *vouch_version(void);

/* ------------------------------------------------------------------- model */

typedef struct vouch_model vouch_model;

/* Pooling: how vouch_session_embed makes one vector of the vectors of a text's tokens. MEAN takes their mean, LAST
 * takes the last token's. */
#define VOUCH_POOLING_LIST(X) X(NONE, none) X(MEAN, mean) X(LAST, last)
typedef enum vouch_pooling {
#define VOUCH_POOLING_ENUM(constant, name) VOUCH_POOLING_##constant,
    VOUCH_POOLING_LIST(VOUCH_POOLING_ENUM)
#undef VOUCH_POOLING_ENUM
} vouch_pooling;

/* Receives the part of the work that is done, from 0 to 1, in the thread of the running call. Must not call functions
 * on the model or session that is at work, except vouch_session_cancel. */
typedef void (*vouch_progress_fn)(void *user, double share);

#define VOUCH_MOST_LORAS 64

typedef struct vouch_model_options {
    const char *cpu;            /* NULL or "auto": the widest instruction set of this machine; else a name
                                   of vouch_cpu_name: "ref", "avx2", "avxvnni", "avx512",
                                   "avx512vnni", "avx512gfni"; on Arm "ref", "neon", "dotprod", "i8mm" */
    int32_t n_threads;          /* for packing; 0: the processors this process may use */
    const char *chat_template;  /* NULL: the file's. Otherwise the text of a Jinja template to use instead, or a name of
                                   vouch_chat_template_name. "chatml" is the file's own where that writes ChatML */
    const char *chat_variables; /* a JSON object of variables for the template, such as {"enable_thinking": false};
                                   NULL: none */
    bool text_only; /* opens for the model's facts and its tokenizer: checks the file and packs no weights, in
                       milliseconds. A session refuses such a model (ARGUMENT). The path may then also be a
                       GGUF file of a vocabulary without weights, a tokenizer.json, a
                       tokenizer.model, or a Hugging Face folder that has one. The model's facts
                       are 0 there, and its architecture is "none" */
    const char *const *adapters; /* [n_adapters] GGUF files of LoRA adapters (arXiv 2106.09685) for this model. A
                                    session says how much it takes of each (adapter_scales) */
    int32_t n_adapters;          /* 0 to VOUCH_MOST_LORAS */
    bool untuned; /* takes the usual way of reading packed weights instead of measuring which one is the fastest on this
                     machine, some 10 to 40 ms for each type of weights. Every way gives the same bits */
    vouch_progress_fn progress; /* may be NULL */
    void *progress_user;
} vouch_model_options;

/* Numbers and names of an open model; strings live as long as the model. */
typedef struct vouch_model_info {
    const char *name;         /* general.name or "" */
    const char *architecture; /* "llama", "qwen3" */
    const char *cpu;          /* the instruction set in use */
    const char *tokenizer;    /* "bpe/smollm", "spm", "unigram", ..., or "none" */
    const char *weight_types; /* "Q4_1 x210, F32 x61, Q8_0 x1" */
    int64_t n_parameters;
    int32_t n_adapters;
    int64_t file_bytes, packed_bytes;                                       /* of all files; of the weights in memory */
    int32_t n_vocab, n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff; /* n_embd, n_ff: widths, as GGUF has them */
    int32_t n_ctx_train;                                                    /* the context length that the file names */
    int32_t token_bos, token_eos;                                           /* -1 where absent */
    /* Tokens of prompts for text in the middle (vouch_tokenize_infill), -1 where absent. A model with the first three
     * can write such text. The last three end answers. */
    int32_t token_fim_prefix, token_fim_suffix, token_fim_middle, token_fim_pad, token_fim_repository, token_fim_file;
    bool tied_embeddings;
    const char *digest; /* 16 hexadecimal digits, a hash of architecture, hyperparameters, token table and samples
                           of all tensors: it differs between models. "": a tokenizer without its model */
    const char *chat_template;      /* "jinja"; "none": a base model; "unsupported": vouch can't run the template */
    const char *chat_template_text; /* "" where there is none */
    int32_t chat_template_lines;
    const char *chat_template_problem; /* why vouch can't run the template; "" where it can */
    const char *chat_template_fitting; /* a vouch_chat_template_name whose tokens the vocabulary has; "": none */
    vouch_pooling pooling;             /* as the model's file names it (pooling_type); NONE: it names none */
    bool chat_template_thinks; /* the template reads enable_thinking or thinking, which turn thoughts on and off */
    const char *thoughts_begin, *thoughts_end; /* marks around thoughts, as the chat template writes them: "<think>" and
                                                  "</think>"; "": it writes none */
} vouch_model_info;

VOUCH_API vouch_model_options vouch_model_options_default(void); /* all members 0 */
/* Name i of the chat templates that vouch brings: "chatml", "gemma", "llama3", ...; NULL past the last. */
VOUCH_API const char *vouch_chat_template_name(size_t i);

/* Opens a GGUF file (v2, v3), all parts of a split one (`path` is the first), or a Hugging Face folder (config.json,
 * safetensors, tokenizer files). Maps the files, checks every field, packs the weights and unmaps the files.
 * options NULL: the defaults. On success *out is the caller's, to be closed; on failure it is NULL.
 * Errors: ARGUMENT, MEMORY, IO, FORMAT, UNSUPPORTED. */
VOUCH_API vouch_status vouch_model_open(vouch_model **out, const char *path, const vouch_model_options *options,
                                        vouch_error *err);
/* Frees the model, which no session may still use. NULL is allowed. */
VOUCH_API void vouch_model_close(vouch_model *model);
/* The facts; they live as long as the model. */
VOUCH_API const vouch_model_info *vouch_model_get_info(const vouch_model *model);

/* One way of reading packed weights, measured when the model was opened. */
typedef struct vouch_kernel_trial {
    const char *type;        /* of the weights: "Q4_K" */
    int32_t rows;            /* of a pass */
    int32_t tiles;           /* of 16 outputs each that are read together, each as a stream of its own */
    int32_t ahead;           /* bytes between what is asked of memory and what is read */
    double bytes_per_second; /* of packed weights, by all threads */
    bool is_chosen; /* the fastest for this type and number of rows, or the usual way if that is hardly slower */
} vouch_kernel_trial;

/* Trial i, ordered by type and rows, the usual way first. False past the last. A small model, or one opened with
 * `untuned`, has none. */
VOUCH_API bool vouch_model_get_kernel_trial(const vouch_model *model, size_t i, vouch_kernel_trial *trial);

/* Bytes of packed weights that a pass of n_rows >= 1 rows reads; with experts the expected number, for rows that choose
 * their experts independently. */
VOUCH_API double vouch_model_pass_bytes(const vouch_model *model, int32_t n_rows);

/* The header of a model's file, or a Hugging Face folder, whether or not vouch can run the model. */
typedef struct vouch_file vouch_file;

/* The tensors of one type. */
typedef struct vouch_file_type {
    const char *name;  /* "Q4_K"; "unknown" for a type that this version has no name for */
    bool is_supported; /* vouch reads tensors of this type; integers as tables of tokens only */
    int64_t n_tensors, n_values;
} vouch_file_type;

/* The facts in the header of the file. Strings live as long as the vouch_file and may hold any bytes but NUL. Long
 * strings are cut. A text is "" and a number is 0 where the file doesn't say. */
typedef struct vouch_file_info {
    const char *name, *architecture, *license; /* general.name, ... */
    const char *kind;                          /* general.type: "model", "adapter", "mmproj", ... */
    const char *tokenizer;                     /* "bpe/smollm"; "MODEL/PRE" of the file where vouch lacks it; "none" */
    const char *chat_template; /* "jinja"; "none"; "unsupported": vouch can't run the template or the tokenizer */
    int32_t chat_template_lines;
    const char *chat_template_problem; /* why vouch can't run the template; "" where it can */
    const vouch_file_type *types;      /* [n_types], most values first */
    size_t n_types;
    int64_t file_bytes, n_parameters;
    int64_t n_tensors; /* 0: a vocabulary without weights */
    int32_t n_vocab, n_layers, n_embd, n_ctx_train, n_experts;
    const vouch_error *problems; /* [n_problems]: why vouch_model_open refuses the file; each names field and value */
    size_t n_problems;           /* 0: vouch_model_open accepts the file */
    const char *unknown_keys;    /* "NAME is VALUE, ...": metadata that vouch doesn't know, and ignores; "": none */
} vouch_file_info;

/* Reads the header and no weights, in milliseconds. Succeeds for a model that isn't supported, a vocabulary, a part of
 * a split model, and a GGUF file that is damaged or cut short after its first keys; `problems` says so.
 * On success *out is the caller's, to be closed; on failure it is NULL.
 * Errors: MEMORY, IO, FORMAT (no GGUF file), UNSUPPORTED (a version of GGUF); with a folder, the errors
 * of vouch_model_open. */
VOUCH_API vouch_status vouch_file_open(vouch_file **out, const char *path, vouch_error *err);
VOUCH_API void vouch_file_close(vouch_file *file); /* NULL is allowed */
/* The facts; they live as long as the vouch_file. */
VOUCH_API const vouch_file_info *vouch_file_get_info(const vouch_file *file);

/* Writing a model as one GGUF file, with its matrices in another type or as they are. */
typedef struct vouch_quantize_options {
    const char *type; /* a name of vouch_quantize_type: a type ("Q8_0") or a mix of types ("Q4_K_M"), as llama.cpp's
                         llama-quantize has them; upper or lower case. NULL: every tensor keeps its type, and so do
                         general.file_type and general.quantization_version */
    const char *output_type, *embedding_type; /* types of the output matrix and the token embedding; NULL: as `type` */
    bool pure;                                /* all matrices get the type that most matrices have in the mix */
    bool allow_requantize;            /* matrices that are quantised already are quantised again, which costs quality */
    int32_t n_threads;                /* 0: the processors this process may use */
    vouch_progress_fn progress;       /* may be NULL */
    bool (*is_cancelled)(void *user); /* asked several times a second: true ends the call; may be NULL */
    void *user;                       /* passed to progress and is_cancelled */
} vouch_quantize_options;

typedef struct vouch_quantize_result {
    int64_t bytes_before, bytes_after; /* of all tensors */
    int64_t n_tensors, n_converted;    /* all tensors; tensors whose type has changed */
    int64_t n_fallback; /* matrices that got a type with smaller blocks, because their rows are not whole blocks of the
                           wanted type */
} vouch_quantize_result;

VOUCH_API vouch_quantize_options vouch_quantize_options_default(void); /* Q4_K_M */
/* Name i of a type or mix, fewest bits per weight first; NULL past the last. */
VOUCH_API const char *vouch_quantize_type(size_t i);
/* Reads the model `from` as vouch_model_open does, and writes the GGUF file `to`, completely or not at all: writes
 * under a temporary name beside `to` and renames the file at the end. Keys and tensors keep their order. Unless `type`
 * is NULL, general.quantization_version and general.file_type are set anew, as the last keys. Matrices hold the bytes
 * that llama-quantize writes. Norms, biases, routers and other small tensors stay as they are. Memory: a few megabytes.
 * options NULL: the defaults; result may be NULL.
 * Errors: ARGUMENT (a type's name; a file quantised already), MEMORY, IO, FORMAT, UNSUPPORTED (a tensor's type),
 * NUMERIC (a weight that isn't finite or exceeds the type's range), CANCELLED. */
VOUCH_API vouch_status vouch_quantize(const char *from, const char *to, const vouch_quantize_options *options,
                                      vouch_quantize_result *result, vouch_error *err);

/* The i-th instruction set this machine can run, narrowest first; NULL past the last. */
VOUCH_API const char *vouch_cpu_name(size_t i);
/* The i-th instruction set that this build has kernels for, whether or not this machine can run it; NULL past the last.
 * "ref" is plain C. */
VOUCH_API const char *vouch_cpu_built_name(size_t i);
/* The i-th instruction set extension of this processor that some kernels need, such as "avx2" or "dotprod"; NULL past
 * the last. */
VOUCH_API const char *vouch_cpu_feature(size_t i);
/* Processors this process may run on (affinity mask), at least 1. */
VOUCH_API int32_t vouch_cpu_count(void);

/* OK when the two token tables are equal, so that one may draft for the other.
 * MISMATCH otherwise; the message names the first differing token. */
VOUCH_API vouch_status vouch_model_check_pair(const vouch_model *target, const vouch_model *draft, vouch_error *err);

/* -------------------------------------------------------------------- text */

typedef struct vouch_message {
    const char *role; /* "system", "developer", "user", "assistant", "tool"; the template may know fewer */
    const char *content;
} vouch_message;

#define VOUCH_TOKENIZE_SPECIAL 1u /* text of special tokens becomes their id */
#define VOUCH_TOKENIZE_BOS 2u     /* begins with BOS if the model's file asks for it (add_bos_token) */
#define VOUCH_TOKENIZE_EOS 4u     /* ends with EOS if the model's file asks for it (add_eos_token): for embeddings */

/* Text of n_text bytes to ids. Writes at most `capacity` ids and always the full
 * count to *n_tokens; BUFFER when it did not fit, so (NULL, 0) asks for the count.
 * Invalid UTF-8 is tokenized byte by byte, never refused. A byte or a character that the vocabulary
 * can't spell becomes the unknown token, or else U+FFFD (or "?" if it can't spell that either).
 * Errors: BUFFER, MEMORY, UNSUPPORTED (a model without a tokenizer). */
VOUCH_API vouch_status vouch_tokenize(const vouch_model *model, const char *text, size_t n_text, unsigned flags,
                                      int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err);
/* A conversation through the model's chat template, ready for the assistant's turn. Special tokens are recognised in
 * the template's own text and never in a message. An earlier answer may hold user-defined tokens such as <think>.
 * Errors: BUFFER, MEMORY, ARGUMENT (no messages, an unknown role, a conversation that the template refuses: the message
 * has the template's line and its reason), UNSUPPORTED (no template, one that can't be run, or one that needs more
 * steps or memory than a prompt may take). */
VOUCH_API vouch_status vouch_tokenize_chat(const vouch_model *model, const vouch_message *messages, size_t n_messages,
                                           int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err);
/* The same for a conversation as JSON, with tools and everything else that a template reads. n_json bytes hold an array
 * of messages, or an object:
 *
 *   messages               as the OpenAI API has them: role; content, a string, null or parts of the type "text";
 *                          tool_calls; tool_call_id; others, such as reasoning_content, as the template reads them
 *   tools, documents       arrays of objects
 *   chat_template_kwargs   an object of further variables
 *   continue_final_message true: the text ends after the last message, an answer that the model goes on with
 *   others                 variables, too: add_generation_prompt (true unless given), enable_thinking, ...
 *
 * Templates differ. A template that doesn't read content in parts gets the texts of the parts, joined by line ends. A
 * template that doesn't read a call's arguments as a string gets the object that the string stands for. One that
 * doesn't know the role developer gets system. One that would lose or refuse one of several system messages at the
 * beginning gets one message. No text of the JSON becomes a special token, except user-defined tokens in an assistant's
 * content and thoughts. At most 100 levels deep. Errors as of vouch_tokenize_chat; ARGUMENT names the path, such as
 * messages[2].tool_calls[0].function.name. */
VOUCH_API vouch_status vouch_tokenize_chat_json(const vouch_model *model, const char *json, size_t n_json,
                                                int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err);
/* The text that the template writes for such a conversation. Writes at most `capacity` bytes, without a NUL, and always
 * the full count to *n_text; BUFFER when it did not fit, and then nothing is written. */
VOUCH_API vouch_status vouch_render_chat(const vouch_model *model, const char *json, size_t n_json, char *text,
                                         size_t capacity, size_t *n_text, vouch_error *err);
/* Another file that a prompt for text in the middle shows. */
typedef struct vouch_infill_file {
    const char *name; /* NULL: "tmp" */
    const char *text; /* [n_text] */
    size_t n_text;
} vouch_infill_file;

typedef struct vouch_infill {
    const char *prefix, *suffix, *begun; /* [n_prefix], [n_suffix], [n_begun] the text before and after the wanted one,
                                            and its beginning, from which the model goes on */
    size_t n_prefix, n_suffix, n_begun;
    const vouch_infill_file *files; /* [n_files] */
    size_t n_files;
    const char *repository, *filename; /* names of the repository, and of the file that has the gap. Models with tokens
                                          for files read them. NULL: not named */
    int32_t n_ctx;                     /* the context length, into which the prompt is cut; 0: nothing is cut */
    int32_t n_predict;                 /* most tokens of the answer, for which the cut leaves room; 0: not known */
} vouch_infill;

/* The prompt for text in the middle, for models with the tokens for it (Bavarian et al., arXiv 2207.14255; files as in
 * Qwen2.5-Coder, arXiv 2409.12186). In brackets, each where the model has the token, or the file a name:
 *
 *   BOS [REPOSITORY repository] [FILE name, its text] ... [FILE filename] PREFIX prefix begun SUFFIX suffix MIDDLE
 *
 * Special text becomes tokens only in `begun`. A model without FILE sees "--- snippet ---" between files. The cut is
 * llama.cpp's: of a window of 2048 tokens, or as many as fit beside the answer, the end of the prefix gets three
 * quarters and the beginning of the suffix gets a quarter, less `begun`. The end of the files fills the rest.
 * Errors: BUFFER, MEMORY, ARGUMENT (n_ctx), UNSUPPORTED (names the tokens that the model lacks). */
VOUCH_API vouch_status vouch_tokenize_infill(const vouch_model *model, const vouch_infill *infill, int32_t *tokens,
                                             size_t capacity, size_t *n_tokens, vouch_error *err);
/* The bytes of one token, which may be part of a character: *n_bytes of them, owned by
 * the model. Special tokens give their name. NULL for an id outside the vocabulary. */
VOUCH_API const char *vouch_token_bytes(const vouch_model *model, int32_t token, size_t *n_bytes);
/* True for control tokens, whose text is not part of an answer. */
VOUCH_API bool vouch_token_is_special(const vouch_model *model, int32_t token);

/* ----------------------------------------------------------------- grammars */

/* A set of texts to which answers are bound. docs/grammars.md describes the notations. Immutable once open. Any number
 * of sessions, of any models and in any threads, may use one grammar at the same time. It must outlive them. */
typedef struct vouch_grammar vouch_grammar;

/* The notation of a grammar's text, and with | how its schemas are read. Without a flag, the answers to a schema are
 * JSON texts that the standard calls valid, and a keyword that can't be bound is an error. */
typedef enum vouch_grammar_kind {
    VOUCH_GRAMMAR_GBNF,        /* llama.cpp's notation: root ::= "yes" | "no" */
    VOUCH_GRAMMAR_JSON_SCHEMA, /* a JSON Schema, draft 2020-12. Answers are JSON texts that it accepts */
    VOUCH_GRAMMAR_JSON,        /* any JSON object; the text is not used and may be NULL */
    VOUCH_GRAMMAR_REGEX,       /* a regular expression as in JSON Schema's `pattern`; it matches the whole answer */
    VOUCH_GRAMMAR_CLOSED = 16, /* an object whose schema has `properties` has no others than these and required ones,
                                  unless the schema has additionalProperties, unevaluatedProperties or
                                  patternProperties */
    VOUCH_GRAMMAR_LENIENT = 32 /* a keyword or format that can't be bound is let pass (vouch_grammar_unbound) */
} vouch_grammar_kind;

/* Compiles the text of n_text bytes. On success *out is the caller's, to be closed; on failure it is NULL.
 * Errors: ARGUMENT (names line and column of a GBNF text, the JSON pointer in a schema, or the rule, such as one that
 * is left recursive), UNSUPPORTED (a keyword of JSON Schema, with its JSON pointer; a grammar that is too large),
 * MEMORY. */
VOUCH_API vouch_status vouch_grammar_open(vouch_grammar **out, vouch_grammar_kind kind, const char *text, size_t n_text,
                                          vouch_error *err);
VOUCH_API void vouch_grammar_close(vouch_grammar *grammar); /* NULL is allowed */
/* Message i about a part of a schema that the grammar doesn't bind, such as `"/format": "regex" is not supported`:
 * keywords and formats that were let pass, and keywords that JSON Schema doesn't know. NULL: there are no more. Owned
 * by the grammar. Safe in any thread. */
VOUCH_API const char *vouch_grammar_unbound(const vouch_grammar *grammar, size_t i);

/* ---------------------------------------------------------------- sampling */

typedef struct vouch_logit_bias {
    int32_t token;
    float bias; /* added to the logit; -INFINITY bans the token */
} vouch_logit_bias;

#define VOUCH_MAX_BREAKERS 16
#define VOUCH_MAX_BREAKER_BYTES 64

/* From logits to a distribution, in this order, which llama.cpp takes too when its chain is set to it:
 *
 *     grammar, bias, penalties, DRY, top-n-sigma | temperature | top-k, typical, top-p, min-p, XTC
 *     on the logits                                              on the probabilities of the tokens that are left
 *
 * p and q alike go through it. Ties keep the lower id. Temperature 0 makes a point mass on the largest logit after
 * penalties and DRY; nothing after it changes a point mass, so typical and XTC do nothing there. */
typedef struct vouch_sampling {
    float temperature; /* >= 0; 0 is greedy */
    int32_t top_k;     /* 0: off */
    float top_p;       /* (0, 1]; 1: off */
    float min_p;       /* [0, 1); keeps p >= min_p * max p; 0: off */
    /* Locally typical sampling (Meister et al., arXiv 2202.00666): keeps the tokens whose -log p is nearest to the
     * entropy, as few as have a probability of typical_p together. (0, 1]; 1: off */
    float typical_p;
    /* Keeps logits that are at most so many standard deviations of all finite logits below the largest (Tang et al.,
     * arXiv 2411.07641). >= 0; 0: off */
    float top_n_sigma;
    /* XTC, "exclude top choices" (p-e-w, github.com/oobabooga/text-generation-webui/pull/6335): at a position at which
     * it applies, drops all tokens of at least xtc_threshold but the least likely of them. It applies with
     * xtc_probability, by a random number of seed and position, which p and q share. So MATCH and COUPLED give the same
     * bytes with every draft, and the other rules are exact, given the positions at which it applies. */
    float xtc_probability; /* [0, 1]; 0: off */
    float xtc_threshold;   /* [0, 1]; above 0.5 no two tokens reach it: off */
    /* DRY, "don't repeat yourself" (p-e-w, github.com/oobabooga/text-generation-webui/pull/5677): if the last n tokens
     * have occurred before, n >= dry_allowed_length, the token that followed them loses
     *
     *     dry_multiplier * dry_base ^ (n - dry_allowed_length)
     *
     * of its logit, for the longest such n. The n tokens lie after the last sequence breaker. A breaker is a text; it
     * may begin and end inside tokens. A token that contains one loses nothing. Costs about 2 ns for each of the last
     * dry_penalty_last_n tokens and row. */
    float dry_multiplier;                     /* >= 0; 0: off */
    float dry_base;                           /* >= 1 */
    int32_t dry_allowed_length;               /* >= 0 */
    int32_t dry_penalty_last_n;               /* DRY looks at this many last tokens, prompt included; 0: off */
    const char *const *dry_sequence_breakers; /* [n_dry_sequence_breakers], at most VOUCH_MAX_BREAKERS, each of 1 to
                                                 VOUCH_MAX_BREAKER_BYTES bytes. They need a tokenizer */
    size_t n_dry_sequence_breakers;
    float repeat_penalty;    /* > 0; 1: off. Divides positive logits, multiplies negative ones (CTRL, 1909.05858) */
    float frequency_penalty; /* subtracted from a token's logit once per occurrence; 0: off */
    float presence_penalty;  /* subtracted from the logit of a token that occurred; 0: off */
    int32_t penalty_window;  /* the three penalties look at this many last tokens, prompt included */
    uint64_t seed;           /* key of the counter-based random numbers (Philox) of the first answer; later answers of
                                a session have seeds derived from it (vouch_session_set_seed) */
    const vouch_logit_bias *bias;
    size_t n_bias;
} vouch_sampling;

/* Greedy, without penalties. XTC's threshold is 0.1; DRY's base is 1.75, its allowed length 2, its last_n 64, and its
 * breakers are "\n", ":", "\"" and "*", as llama.cpp has them. */
VOUCH_API vouch_sampling vouch_sampling_default(void);

/* The parameters that a model's file can recommend: constant, member of vouch_sampling. */
#define VOUCH_SAMPLING_FIELD_LIST(X)    \
    X(TEMPERATURE, temperature)         \
    X(TOP_K, top_k)                     \
    X(TOP_P, top_p)                     \
    X(MIN_P, min_p)                     \
    X(TYPICAL_P, typical_p)             \
    X(XTC_PROBABILITY, xtc_probability) \
    X(XTC_THRESHOLD, xtc_threshold)     \
    X(REPEAT_PENALTY, repeat_penalty)   \
    X(PENALTY_WINDOW, penalty_window)

enum {
#define VOUCH_SAMPLING_FIELD_NUMBER(constant, member) VOUCH_SAMPLING_NUMBER_##constant,
    VOUCH_SAMPLING_FIELD_LIST(VOUCH_SAMPLING_FIELD_NUMBER) VOUCH_SAMPLING_FIELDS
#undef VOUCH_SAMPLING_FIELD_NUMBER
};
enum {
#define VOUCH_SAMPLING_FIELD_BIT(constant, member) VOUCH_SAMPLING_##constant = 1 << VOUCH_SAMPLING_NUMBER_##constant,
    VOUCH_SAMPLING_FIELD_LIST(VOUCH_SAMPLING_FIELD_BIT)
#undef VOUCH_SAMPLING_FIELD_BIT
};

/* Sampling as people expect it of this model. Sets the parameters of the list, except those in `keep` (VOUCH_SAMPLING_
 * bits), to what the model's file recommends: general.sampling.* of a GGUF file, generation_config.json of a Hugging
 * Face folder. Where the file says nothing, the temperature is 0.8, top_p 0.95, and the others are those of
 * vouch_sampling_default. Returns the bits of the parameters that the file recommends. `vouch run` and `vouch serve`
 * sample so; a session does what its options say. Any thread. */
VOUCH_API unsigned vouch_model_sampling(const vouch_model *model, unsigned keep, vouch_sampling *sampling);

/* ------------------------------------------------------------- speculation */

/* The drafters: constant, name, summary. */
#define VOUCH_DRAFTER_LIST(X)                                                              \
    X(MODEL, draft, "a smaller model guesses")                                             \
    X(NGRAM, ngram, "copies what followed the same few tokens before")                     \
    X(SUFFIX, suffix, "copies what mostly followed the longest repeated suffix")           \
    X(RECYCLE, recycle, "repeats what the target found likely after the same tokens")      \
    X(PREDICTION, prediction, "copies from your own prediction of the answer")             \
    X(HISTORY, history, "copies from earlier answers")                                     \
    X(GRAMMAR, grammar, "writes what the grammar leaves no choice about")                  \
    X(TABLE, table, "repeats what followed in other answers")                              \
    X(HEAD, head, "guesses from the target's hidden states")

/* A drafter's number: the index of its counters in vouch_stats. */
enum {
    VOUCH_DRAFTER_NUMBER_NONE,
#define VOUCH_DRAFTER_NUMBER(constant, name, summary) VOUCH_DRAFTER_NUMBER_##constant,
    VOUCH_DRAFTER_LIST(VOUCH_DRAFTER_NUMBER) VOUCH_DRAFTER_NUMBER_CUSTOM,
#undef VOUCH_DRAFTER_NUMBER
    VOUCH_DRAFTERS
};

/* Sets of drafters: AUTO, NONE, or bits of the others, but at most one of MODEL, HEAD and CUSTOM. All drafters of a set
 * guess one tree together. Free drafters take microseconds. Paid drafters, MODEL, HEAD and CUSTOM, take time: MODEL and
 * most heads a pass for each level of the draft, some heads one for the whole draft. */
typedef enum vouch_drafter_kind {
    VOUCH_DRAFTER_AUTO = 0, /* vouch_drafter_auto: drafters without needs, and others whose needs the caller gives */
    VOUCH_DRAFTER_NONE = 1, /* plain decoding */
#define VOUCH_DRAFTER_BIT(constant, name, summary) \
    VOUCH_DRAFTER_##constant = 1 << VOUCH_DRAFTER_NUMBER_##constant,
    /* The last bit: the caller's vouch_drafter. */
    VOUCH_DRAFTER_LIST(VOUCH_DRAFTER_BIT) VOUCH_DRAFTER_CUSTOM = 1 << VOUCH_DRAFTER_NUMBER_CUSTOM
#undef VOUCH_DRAFTER_BIT
} vouch_drafter_kind;

/* Who gives a drafter what it needs. */
typedef enum vouch_need {
    VOUCH_NEED_NOTHING,
    VOUCH_NEED_OPTION,    /* vouch_speculation: vouch_speculation_lacks tells whether it does */
    VOUCH_NEED_GRAMMAR,   /* vouch_session_options.grammar */
    VOUCH_NEED_PREDICTION /* vouch_session_predict, before an answer */
} vouch_need;

typedef struct vouch_drafter_info {
    const char *name;     /* "none", the names of the list, "custom" */
    const char *summary;  /* one line without a full stop */
    const char *needs;    /* what the caller must give: "a draft model"; NULL: nothing */
    vouch_need need;      /* who gives it */
    const char *flags;    /* the command's flags that give it, with spaces between; NULL: none */
    const char *settings; /* the command's flags that set how it drafts, likewise */
    const char *file;     /* what its file is, for help; NULL: vouch_draft_file_open opens none for it */
    bool is_paid;         /* takes more than microseconds */
    bool in_auto;         /* AUTO uses it, provided that the caller gives `needs` */
    bool in_model;        /* the target's own file may bring what it needs */
} vouch_drafter_info;

/* Facts about the drafter with bit 1 << i; name NULL for i outside [0, VOUCH_DRAFTERS). */
VOUCH_API vouch_drafter_info vouch_drafter_get_info(int i);
/* Its name, a constant; NULL for i outside [0, VOUCH_DRAFTERS). */
VOUCH_API const char *vouch_drafter_name(int i);
/* The set that AUTO stands for when the caller gives the needs of the drafters in `given`, such as
 * VOUCH_DRAFTER_MODEL with a draft model. */
VOUCH_API unsigned vouch_drafter_auto(unsigned given);
/* The set of drafters whose `need` this is. */
VOUCH_API unsigned vouch_drafter_needing(vouch_need need);

/* The content of a drafter's file: a head, a table. Immutable: any number of sessions, in any threads, may use
 * it at the same time. It must outlive them.
 *
 * HEAD's file is a tiny model that reads hidden states of one target and guesses the target's next tokens (EAGLE, arXiv
 * 2401.15077), or a folder with a published one; `vouch distill` teaches one, and docs/heads.md has the format.
 * TABLE's file counts what the target said after its last one to three tokens in its own answers (`vouch distill
 * --table`). */
typedef struct vouch_draft_file vouch_draft_file;

/* Opens the file of the drafter with number `drafter` (VOUCH_DRAFTER_NUMBER_) for the model `target`, which must
 * outlive it. A file that was made for another target is refused (MISMATCH), or with allow_other_target accepted where
 * all sizes are the same: then the drafter guesses worse, and the text stays the same. Published heads have no digest
 * of their target: they are accepted where all sizes are the same. On success *out is the caller's, to be closed; on
 * failure it is NULL. Errors: ARGUMENT (a target without weights; a drafter without a file), MEMORY, IO, FORMAT,
 * UNSUPPORTED, MISMATCH. */
VOUCH_API vouch_status vouch_draft_file_open(vouch_draft_file **out, int drafter, const char *path,
                                             const vouch_model *target, bool allow_other_target, vouch_error *err);
/* Frees what was read, which no session may still use. NULL is allowed. */
VOUCH_API void vouch_draft_file_close(vouch_draft_file *file);

/* Earlier answers of one model, each with the last 16 tokens of its prompt, which HISTORY copies from. All sessions
 * that are given the memory share it, in any threads. An answer enters it when it is over, and belongs to a scope: only
 * sessions with this scope see it. A guess that hits makes an answer faster, so users who share a scope can find
 * out by timing what the others wrote.
 *
 * With a folder, vouch_draft_memory_keep writes what is new to files, one for each scope: FOLDER/DIGEST-SCOPE.answers,
 * readable by this user only. A process that is killed at any moment leaves whole answers. */
typedef struct vouch_draft_memory vouch_draft_memory;

typedef struct vouch_draft_memory_info {
    size_t n_bytes;           /* of the memory, which never grows */
    int64_t n_tokens, n_most; /* tokens of answers that it holds, and holds at most */
    int64_t n_kept;           /* answers that it read from files when it opened */
    int64_t n_damaged;        /* damaged places of these files, which it removed */
} vouch_draft_memory_info;

/* Opens a memory of n_bytes, 64 KiB to 1 TiB; 0: 64 MiB. Where it is full, a new answer takes the place of the oldest.
 * folder: reads what its files have for this model, and makes the folder where it is missing; NULL: nothing is kept.
 * The model outlives it; it may have been opened with text_only, and sessions of another vouch_model with the same
 * digest may use the memory. On success *out is the caller's, to be closed; on failure it is NULL. Errors: ARGUMENT,
 * MEMORY, IO. */
VOUCH_API vouch_status vouch_draft_memory_open(vouch_draft_memory **out, const vouch_model *model, const char *folder,
                                               size_t n_bytes, vouch_error *err);
/* Adds an answer that no session wrote, such as one of an earlier conversation, unless its end is there already, or
 * it has fewer than 3 tokens. Any thread. Errors: ARGUMENT (no token of the model). */
VOUCH_API vouch_status vouch_draft_memory_add(vouch_draft_memory *memory, uint64_t scope, const int32_t *tokens,
                                              size_t n_tokens, vouch_error *err);
/* Writes the answers that the files don't have yet. Where another process is writing, it leaves them to the next call.
 * Without a folder it does nothing. Any thread. Errors: MEMORY, IO. */
VOUCH_API vouch_status vouch_draft_memory_keep(vouch_draft_memory *memory, vouch_error *err);
/* Forgets all answers, and removes their files. Any thread. Errors: IO. */
VOUCH_API vouch_status vouch_draft_memory_clear(vouch_draft_memory *memory, vouch_error *err);
VOUCH_API vouch_draft_memory_info vouch_draft_memory_get_info(const vouch_draft_memory *memory);
/* Keeps what is new and frees the memory, which no session may still use. NULL is allowed. */
VOUCH_API void vouch_draft_memory_close(vouch_draft_memory *memory);
/* Removes the files of all models from a folder of a draft memory. Sets *n_files to their number, *n_bytes to their
 * size. only_count: removes nothing. Errors: IO. */
VOUCH_API vouch_status vouch_draft_memory_remove(const char *folder, bool only_count, size_t *n_files, int64_t *n_bytes,
                                                 vouch_error *err);

/* A prompt cache keeps the keys, values and recurrent states of prompts and answers in files. A sequence that begins
 * with the same tokens takes them from there, also in another process. Engines and sessions of any models and threads
 * may share one cache. A sequence finds only the records of its own scope. A thread of each engine writes the pages as
 * they fill up. Every record is checked when it is read; a damaged one is removed, and its tokens are computed. Files
 * are readable by this user only, and a process that is killed at any moment leaves whole records. */
typedef struct vouch_prompt_cache vouch_prompt_cache;

typedef struct vouch_prompt_cache_info {
    int64_t n_bytes, n_most;   /* of the files; n_most: the least recently used ones go where they become more */
    int64_t n_records;         /* files: pages of tokens, and copies of recurrent states */
    int64_t n_read, n_written; /* records, since open */
    int64_t n_damaged;         /* records that were removed when they were read */
} vouch_prompt_cache_info;

/* folder is made where it is missing. n_bytes: most bytes of its files, at least 1e6; 0: 8 GiB. On success *out is
 * the caller's, to be closed; on failure it is NULL. Errors: ARGUMENT, MEMORY, IO. */
VOUCH_API vouch_status vouch_prompt_cache_open(vouch_prompt_cache **out, const char *folder, int64_t n_bytes,
                                               vouch_error *err);
/* Tells once of the first record since the last call that could not be written. Errors: IO, MEMORY, ARGUMENT (a page
 * has more bytes than all files may have). Any thread. */
VOUCH_API vouch_status vouch_prompt_cache_check(vouch_prompt_cache *cache, vouch_error *err);
/* Removes the files. An engine may still hold pages (vouch_engine_forget). Any thread. Errors: IO. */
VOUCH_API vouch_status vouch_prompt_cache_clear(vouch_prompt_cache *cache, vouch_error *err);
VOUCH_API vouch_prompt_cache_info vouch_prompt_cache_get_info(vouch_prompt_cache *cache);
/* Closes the cache, after its engines and sessions, which write what waits when they close. NULL is allowed. */
VOUCH_API void vouch_prompt_cache_close(vouch_prompt_cache *cache);
/* Removes the files from a folder of a prompt cache. Sets *n_files to their number, *n_bytes to their size.
 * only_count: removes nothing. Errors: IO. */
VOUCH_API vouch_status vouch_prompt_cache_remove(const char *folder, bool only_count, size_t *n_files, int64_t *n_bytes,
                                                 vouch_error *err);

/* The draft samplings: constant, name. */
#define VOUCH_DRAFT_SAMPLING_LIST(X) \
    X(AUTO, auto)                    \
    X(SAMPLE, sample)                \
    X(GREEDY, greedy)

/* How a draft model or a head draws its guesses. Every rule stays exact with each: the likeliest guess comes from a
 * point mass, not from the softmax.
 *
 *   AUTO    The default: GREEDY for HEAD under MATCH, and under VOUCH_ACCEPT_AUTO with lenience 1; otherwise SAMPLE.
 *   SAMPLE  Drawn from q.
 *   GREEDY  The likeliest of q. */
typedef enum vouch_draft_sampling {
#define VOUCH_DRAFT_SAMPLING_ENUM(constant, name) VOUCH_DRAFT_##constant,
    VOUCH_DRAFT_SAMPLING_LIST(VOUCH_DRAFT_SAMPLING_ENUM)
#undef VOUCH_DRAFT_SAMPLING_ENUM
} vouch_draft_sampling;

/* The name of the i-th draft sampling, a constant; NULL where there is no such sampling. */
VOUCH_API const char *vouch_draft_sampling_name(int i);

/* The rules: constant, name. */
#define VOUCH_ACCEPT_LIST(X) \
    X(REJECTION, rejection)  \
    X(MATCH, match)          \
    X(BLOCK, block)          \
    X(COUPLED, coupled)      \
    X(TRAVERSAL, traversal)  \
    X(MULTIPATH, multipath)

/* The rule by which guesses are judged. Under every rule sampled text has the target's own distribution, and greedy
 * text is the same to the byte. Rules differ in how many guesses they accept, and in whether the seed reproduces the
 * text.
 *
 *   REJECTION  Accepts a guess with min(1, p / q). No rule that judges each guess by itself accepts more (arXiv
 *              2211.17192).
 *   MATCH      Draws the target's token as plain decoding does and accepts the guess that equals it. The seed
 *              reproduces the text, with any drafters and draft lengths: byte for byte the text of
 *              VOUCH_DRAFTER_NONE with any rule but COUPLED. Accepts guesses by argmax and of free drafters as often as
 *              REJECTION does, and guesses drawn from q less often.
 *   BLOCK      Judges all guesses of a draft together. Accepts as many on average as REJECTION, or more where they
 *              are drawn from q (arXiv 2403.10444). Chains only.
 *   COUPLED    As MATCH, but draws by a race between the tokens, whose noise is a function of seed, position and token
 *              (Gumbel; arXiv 2408.07978). A draft model runs the same race, so its draws often agree with
 *              the target's. Accepts with at least (1 - d) / (1 + d), where d is the total-variation distance of p and
 *              q; REJECTION accepts with 1 - d. The text is the text of VOUCH_DRAFTER_NONE with COUPLED. Costs a random
 *              number for each token with p > 0.
 *   TRAVERSAL  BLOCK for trees of guesses drawn from q (arXiv 2505.12398). Accepts more of a tree with two levels or
 *              more than REJECTION does. A chain gives the text of BLOCK.
 *   MULTIPATH  A draft model or head draws tree_branches independent paths of tree_depth guesses instead of a tree. The
 *              rule chooses one of them, level by level, and judges it as BLOCK does, with the q of this choice (after
 *              arXiv 2602.16961). With one path it gives the text of BLOCK.
 *   AUTO       The default: a rule under which the seed reproduces the text, whatever pace drafts. COUPLED with a draft
 *              model or a head that samples; otherwise MATCH, which then accepts as often as REJECTION. REJECTION with
 *              a lenience below 1. */
typedef enum vouch_accept {
#define VOUCH_ACCEPT_ENUM(constant, name) VOUCH_ACCEPT_##constant,
    VOUCH_ACCEPT_LIST(VOUCH_ACCEPT_ENUM) VOUCH_ACCEPT_AUTO,
#undef VOUCH_ACCEPT_ENUM
    VOUCH_ACCEPTS = VOUCH_ACCEPT_AUTO /* number of rules */
} vouch_accept;

typedef struct vouch_accept_info {
    const char *name;     /* of the list; NULL: there is no such rule */
    bool trees;           /* the rule judges trees of guesses; otherwise chains only */
    bool paths;           /* draft models and heads draw independent paths for it, tree_branches of them */
    bool lenient;         /* the rule takes a lenience below 1 */
    bool seed_reproduces; /* the seed reproduces sampled text, whatever is drafted: it is the text of VOUCH_DRAFTER_NONE
                             with this rule */
} vouch_accept_info;

/* Facts about rule i. */
VOUCH_API vouch_accept_info vouch_accept_get_info(int i);
/* The name of rule i, a constant; NULL for i outside [0, VOUCH_ACCEPTS). */
VOUCH_API const char *vouch_accept_name(int i);

/* A drafter of the caller's own, whose guesses count as drawn from a point mass.
 * propose is given the n_tokens of the sequence and writes at most k guesses;
 * it returns their number, 0 for none. After a rejection or a new prompt, the next call
 * may have a shorter or another sequence. Called from the thread of the session. */
typedef struct vouch_drafter {
    int32_t (*propose)(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses);
    void *user; /* must outlive the session */
} vouch_drafter;

#define VOUCH_MAX_DRAFT 64 /* most guesses of a cycle */

typedef struct vouch_speculation {
    unsigned drafters;  /* VOUCH_DRAFTER_ */
    unsigned auto_with; /* AUTO also uses these: VOUCH_DRAFTER_PREDICTION, or 0 */
    /* k: most guesses of a cycle, up to VOUCH_MAX_DRAFT.
     * 0: pace chooses the number in each cycle by measured cost and acceptance, down to none.
     * 1 or more, with AUTO: pace chooses, up to this number.
     * 1 or more, with a set of drafters: every draft has this many guesses, if the drafters find so many; a paid
     * drafter beside free ones makes half of them.
     * Except under MATCH and COUPLED the sampled text depends on the draft, so with pace it depends on timing. For a
     * text that the seed reproduces, use one of these, or fix the drafters and n_draft. */
    int32_t n_draft;
    int32_t tree_branches; /* most guesses with one parent, up to VOUCH_MAX_DRAFT, of MODEL and HEAD up to 8; under
                              MULTIPATH, the paths of guesses that MODEL or HEAD draws, up to 8; 1: chains;
                              0: free drafters make trees of up to 8 branches; where pace chooses, HEAD makes trees of
                              up to 4 branches from guesses that are not drawn; other paid drafters make chains */
    int32_t tree_depth;    /* longest path of guesses, up to VOUCH_MAX_DRAFT; 0: n_draft */
    const vouch_model *draft_model;                /* must outlive the session; NULL: none */
    const vouch_draft_file *files[VOUCH_DRAFTERS]; /* of this model, by drafter's number; must outlive the session */
    vouch_draft_memory *draft_memory; /* of this model, for HISTORY; must outlive the session; NULL: none */
    vouch_draft_sampling draft_sampling;
    bool allow_vocab_mismatch;  /* true: a draft model with another token table guesses the tokens that both models
                                   have (TLI, arXiv 2502.05202), still lossless; false: the session is refused */
    const int32_t *draft_vocab; /* [n_draft_vocab] ids of the draft model, no id twice. The model guesses only these, so
                                  its output matrix is smaller (FR-Spec, arXiv 2502.14856); still lossless. Copied */
    size_t n_draft_vocab;       /* 0: the draft model guesses all its tokens */
    int32_t ngram_min, ngram_max; /* shortest and longest n-gram that NGRAM looks up, 1 to 16; longest tried first */
    bool forget;                  /* RECYCLE starts each answer without the tokens that it kept of earlier answers */
    vouch_accept accept;
    double lenience; /* (0, 1]; 1: lossless. Below 1, only REJECTION: it accepts with min(1, p / (lenience q)), so that
                        no token gets a probability above p / lenience */
    vouch_drafter custom; /* with VOUCH_DRAFTER_CUSTOM */
} vouch_speculation;

/* The drafters among speculation->drafters that need a draft model, a head or a table which the options don't give: a
 * set of bits. */
VOUCH_API unsigned vouch_speculation_lacks(const vouch_speculation *speculation);

VOUCH_API vouch_speculation vouch_speculation_default(void);

/* ----------------------------------------------------------------- session */

typedef struct vouch_session vouch_session;

/* The type in which the cache keeps keys and values. Q8_0 takes 0.53 of F16's memory and Q4_0 0.28. Both need heads
 * whose width is a multiple of 32; otherwise vouch_session_open returns UNSUPPORTED. */
typedef enum vouch_kv_type { VOUCH_KV_F16, VOUCH_KV_F32, VOUCH_KV_Q8_0, VOUCH_KV_Q4_0 } vouch_kv_type;

typedef struct vouch_session_options {
    int32_t n_ctx;         /* context length, 2 to 2^24: prompt and answer together have at most so many tokens. 0: the
                              model's, or 4096 if that is less */
    int32_t n_threads;     /* 0: vouch_cpu_count() */
    int32_t prefill_chunk; /* most rows of one pass, 1 to 512; 0: 256 */
    vouch_kv_type kv_type;
    vouch_sampling sampling;
    vouch_speculation speculation;
    int32_t max_tokens;      /* most tokens of an answer; 0: up to the end of the context */
    int32_t min_tokens;      /* fewest tokens of an answer before a token that ends it, which has no chance until then;
                                at most max_tokens. A stop text or a complete grammar ends an answer all the same */
    const char *const *stop; /* [n_stop] an answer ends before any of these texts */
    size_t n_stop;
    const vouch_grammar *grammar; /* each answer is one of its texts, unless something else ends the answer before;
                                     NULL: any text. EOS comes only where a text of the grammar ends. The model needs
                                     a tokenizer. Must outlive the session */
    int32_t thought_budget;   /* most tokens of thoughts in an answer; -1: any number. After so many, and once the last
                                 character is whole, the end of thoughts is forced as the chat template writes it, and
                                 the answer goes on; 0: no thoughts. Speculation changes nothing (L2). A model whose
                                 template writes no thoughts has none to bound */
    bool ignore_eos;          /* an answer goes on after EOS (for measurements); after a complete grammar it ends */
    bool logprobs;            /* steps have the log probabilities of their tokens (costs time) */
    int32_t top_logprobs;     /* beside them, those of so many likeliest tokens, 0 to VOUCH_MAX_LOGPROBS */
    bool expected_acceptance; /* also compute sum min(p, q) for every judged guess, or, for a guess whose sibling was
                                 rejected, the chance that it is accepted (costs time) */
    uint64_t scope; /* whose texts these are: the session finds prompts and answers of its scope alone, in an engine's
                       pages, a draft memory and a prompt cache */
    const float *adapter_scales; /* [n_adapter_scales] how much of each adapter of the model the session takes; 0: it
                                    goes without. NULL: 1 of each. Copied. What a prompt cache and an engine's pages
                                    keep belongs to these scales */
    int32_t n_adapter_scales;    /* the model's n_adapters; 0 where adapter_scales is NULL */
    vouch_prompt_cache *prompt_cache; /* of a session by itself, else the engine's; must outlive it; NULL: none */
} vouch_session_options;

typedef enum vouch_finish {
    VOUCH_FINISH_NONE,   /* the answer goes on */
    VOUCH_FINISH_EOS,    /* the model ended it with a token that ends answers */
    VOUCH_FINISH_STOP,   /* a stop text came */
    VOUCH_FINISH_LENGTH, /* max_tokens */
    VOUCH_FINISH_CONTEXT /* the context is full */
} vouch_finish;

/* Where a step's last token came from. */
typedef enum vouch_origin {
    VOUCH_ORIGIN_ACCEPTED, /* a guess. The answer ended inside the accepted guesses; with finish NONE, the model gave
                              no finite logits after them, and the next step returns NUMERIC */
    VOUCH_ORIGIN_PLAIN,    /* nothing was drafted */
    VOUCH_ORIGIN_RESIDUAL, /* replaces the first rejected guess */
    VOUCH_ORIGIN_BONUS     /* follows a draft whose guesses were all accepted */
} vouch_origin;

typedef enum vouch_verdict { VOUCH_ACCEPTED, VOUCH_REJECTED, VOUCH_NOT_REACHED } vouch_verdict;

/* The judgement of one guess. NOT_REACHED: the text went another way, or ended; then p, accept and u are 0. */
typedef struct vouch_guess {
    int32_t token;
    int32_t parent;    /* the number of the guess before it; -1: it follows the sequence */
    int32_t depth;     /* guesses before it on its path */
    unsigned drafters; /* VOUCH_DRAFTER_ bits of the drafters that guessed it */
    vouch_verdict verdict;
    double q, p;   /* chances of the token in both distributions; q of a guess that was a point mass: 1 */
    double accept; /* Chance of acceptance: min(1, p / (lenience q)). With siblings: the chance that it or a sibling
                      before it is accepted. BLOCK, TRAVERSAL and MULTIPATH: the chance that this guess, one after it
                      or one judged before them is accepted. MATCH, COUPLED, and a guess that was a point mass: the
                      formula with q = 1 */
    double u;      /* Uniform in [0, 1). The guess is accepted if u < accept and no sibling before it was accepted.
                      BLOCK, TRAVERSAL, MULTIPATH: one u for all guesses judged together. MATCH, COUPLED, and a guess
                      that was a point mass: NAN, because the target's own token is drawn and compared with the guess */
} vouch_guess;

/* A token and the natural logarithm of its probability: log softmax of the model's logits, before all sampling
 * parameters. */
typedef struct vouch_logprob {
    int32_t token; /* -1: the vocabulary has no further token */
    float logprob;
} vouch_logprob;

#define VOUCH_MAX_LOGPROBS 20

/* The result of one step. The session owns its arrays; they are valid until the session's next call. */
typedef struct vouch_step {
    const int32_t *tokens; /* [n_tokens] committed by this step, in order */
    int32_t n_tokens;
    int32_t n_accepted; /* the first n_accepted of tokens were guesses */
    vouch_origin last;  /* where tokens[n_tokens - 1] came from */
    const char *text;   /* [n_text] whole characters now safe to show (not NUL-terminated);
                           a possible beginning of a stop text is held back */
    size_t n_text;
    const vouch_guess *guesses; /* [n_guesses] the draft with its verdicts; a guess's parent has a lower index */
    int32_t n_guesses;
    const vouch_logprob *logprobs; /* [n_tokens][1 + top_logprobs]: of each token first its own, then those of the
                                      likeliest tokens, the likeliest first; NULL without the option */
    vouch_accept accept;           /* the rule that judged the guesses */
    double lenience;               /* in effect in this step */
    vouch_finish finish;
    int32_t stop; /* with finish STOP: the number of the stop text that came, the longest if several end together; else
                     -1 */
} vouch_step;

#define VOUCH_DEPTHS (VOUCH_MAX_DRAFT + 1)

/* Sums over the answers since open or vouch_session_reset_stats. `vouch run --stats-json` derives its figures
 * from them: acceptance_rate = accepted / drafted, expected_acceptance = expected_acceptance_sum / judged,
 * tokens_per_cycle = generated_tokens / cycles, full_accept_fraction = full_accepts / draft_cycles,
 * accepted_per_position = accepted_at, predicted_tokens_per_second = predicted_tokens / predicted_seconds;
 * plain_tokens_per_second is measured when the answer is over, by vouch_session_time_pass. */
typedef struct vouch_stats {
    int64_t prompt_tokens;                  /* run through the model; reused ones are not counted */
    int64_t generated_tokens;               /* EOS included */
    int64_t thought_tokens;                 /* of these, tokens of thoughts, without the marks around them */
    int64_t cycles, drafted, accepted;      /* drafted: guesses of all drafts; accepted: those committed */
    int64_t full_accepts;                   /* cycles that accepted a path of guesses to its end */
    int64_t draft_cycles;                   /* cycles with at least one guess */
    int64_t lenient_cycles;                 /* draft cycles with a lenience below 1; 0: the text is lossless */
    int64_t accepted_at[VOUCH_MAX_DRAFT];   /* guesses accepted at each depth */
    int64_t drafted_at[VOUCH_MAX_DRAFT];    /* guesses at each depth */
    int64_t accepted_by[VOUCH_DRAFTERS];    /* by drafter's number; a guess of two drafters counts for both */
    int64_t drafted_by[VOUCH_DRAFTERS];     /* likewise */
    int64_t depth_histogram[VOUCH_DEPTHS];  /* cycles by number of guesses */
    int64_t judged;                         /* guesses accepted or rejected */
    double expected_acceptance_sum;         /* sum min(p, q), added over the judged guesses: expected number accepted
                                               by rejection. 0 without expected_acceptance */
    double prefill_seconds, decode_seconds; /* passes over prompts; cycles */
    double draft_seconds, verify_seconds, judge_seconds; /* parts of decode_seconds: drafters, passes, the rule */
    double predicted_tokens, predicted_seconds; /* of all cycles, as pace expected them; 0: pace doesn't choose */
    double plain_step_seconds;                  /* pace's latest estimate of a step without guesses; 0: none */
} vouch_stats;

VOUCH_API vouch_session_options vouch_session_options_default(void);

/* Opens a session with an empty sequence. options NULL: the defaults. On success *out is the caller's, to be closed;
 * on failure it is NULL.
 * Errors: ARGUMENT (names the option), MEMORY, MISMATCH (draft model), UNSUPPORTED (kv_type, for the width
 * of the model's heads; a grammar with a byte that no token has; a grammar or breakers of DRY without a tokenizer). */
VOUCH_API vouch_status vouch_session_open(vouch_session **out, const vouch_model *model,
                                          const vouch_session_options *options, vouch_error *err);
VOUCH_API void vouch_session_close(vouch_session *session); /* NULL is allowed */
/* Writes the session's sequence with its keys, values and recurrent states to a file, which only this user can read; a
 * file of the name is replaced at once. A session with the same model, kv_type, adapter_scales and scope goes on from
 * it: a prompt that begins with these tokens runs only the others. Not while an answer of an engine's session is
 * running. Errors: ARGUMENT (nothing to save), IO, MEMORY. */
VOUCH_API vouch_status vouch_session_save(const vouch_session *session, const char *path, vouch_error *err);
/* The session's sequence becomes that of the file. On failure it is empty, or as before. Errors: IO, MEMORY, FORMAT (it
 * doesn't fit the session, or is damaged), CONTEXT, UNSUPPORTED (a head reads the hidden states of all tokens). */
VOUCH_API vouch_status vouch_session_load(vouch_session *session, const char *path, vouch_error *err);
/* Checks options without opening a session: OK where vouch_session_open with this model accepts them. A draft model
 * and stop texts are checked at open only. The model may have been opened with text_only. Errors: ARGUMENT (names the
 * option). Any thread. */
VOUCH_API vouch_status vouch_session_check(const vouch_model *model, const vouch_session_options *options,
                                           vouch_error *err);
/* Returns the rule that a session with these options uses. VOUCH_ACCEPT_AUTO is replaced by the rule that it stands
 * for, unless vouch_session_check refuses the options. Any thread. */
VOUCH_API vouch_accept vouch_session_options_rule(const vouch_model *model, const vouch_session_options *options);

/* Makes the sequence exactly these tokens and begins a new answer. Tokens that the sequence already begins with stay in
 * the cache and are not run again. Needs 1 to n_ctx - 1 tokens.
 * Cancelled before it begins, or failed: nothing changes. Cancelled later: the sequence is a prefix of these tokens,
 * and there is no answer to step.
 * Errors: ARGUMENT (no tokens, an id outside the vocabulary), CONTEXT, CANCELLED. */
VOUCH_API vouch_status vouch_session_prompt(vouch_session *session, const int32_t *tokens, size_t n_tokens,
                                            vouch_error *err);
/* vouch_tokenize (special text stays text), then vouch_session_prompt. */
VOUCH_API vouch_status vouch_session_text(vouch_session *session, const char *text, size_t n_text, vouch_error *err);
/* vouch_tokenize_chat, then vouch_session_prompt. */
VOUCH_API vouch_status vouch_session_chat(vouch_session *session, const vouch_message *messages, size_t n_messages,
                                          vouch_error *err);
/* fn is called after each prefill chunk of later prompts; NULL: no function. */
VOUCH_API void vouch_session_set_progress(vouch_session *session, vouch_progress_fn fn, void *user);

/* Runs one cycle and fills *step. After finish != NONE, a further step returns ARGUMENT until the next prompt.
 * On failure the session stays at its last commit. A failure comes at the same token as without drafts: all tokens
 * before it have been given. Errors: ARGUMENT, NUMERIC, GRAMMAR, CANCELLED. */
VOUCH_API vouch_status vouch_session_step(vouch_session *session, vouch_step *step, vouch_error *err);

/* Changes the lenience from the next step on. Lossy below 1 (greedy text doesn't change).
 * Errors: ARGUMENT (not in (0, 1], or below 1 while vouch_session_rule is not "rejection"); then nothing changes. */
VOUCH_API vouch_status vouch_session_set_lenience(vouch_session *session, double lenience, vouch_error *err);

/* The next answer takes its random numbers from this seed, as the first answer of a new session with this seed in its
 * sampling parameters does. Later answers take theirs from seeds derived from this one: the n-th answer after it from a
 * hash of (seed, n). So equal prompts get different sampled answers, and equal sequences of prompts get the same ones.
 * A prompt that fails begins no answer; neither does one that is cancelled before an engine has its first token. The
 * running answer keeps its seed. */
VOUCH_API void vouch_session_set_seed(vouch_session *session, uint64_t seed);

/* The running or the next prompt or step returns CANCELLED. Several calls before that count as one. A cancelled step
 * has changed nothing, and the next step goes on. A cancel that comes too late, during the last step of an answer, has
 * no effect, so it never reaches the next answer. Any thread; async-signal-safe. */
VOUCH_API void vouch_session_cancel(vouch_session *session);

/* The whole sequence, prompt and answer: [*n_tokens], owned by the session, valid until its next call. */
VOUCH_API const int32_t *vouch_session_tokens(const vouch_session *session, size_t *n_tokens);
/* The counters. The session owns them until it is closed; each prompt and step updates them. */
VOUCH_API const vouch_stats *vouch_session_stats(const vouch_session *session);
VOUCH_API void vouch_session_reset_stats(vouch_session *session); /* sets all counters to 0 */
/* Seconds of one pass of n_rows (1 to the larger of 16 and n_draft + 1) at the end of the sequence, the median
 * of `reps` (1 to 1000). Leaves no trace (law L3). Errors: ARGUMENT, CONTEXT (fewer positions left). */
VOUCH_API vouch_status vouch_session_time_pass(vouch_session *session, int32_t n_rows, int32_t reps, double *seconds,
                                               vouch_error *err);
/* The name of the rule in use (vouch_accept_name), a constant. */
VOUCH_API const char *vouch_session_rule(const vouch_session *session);
/* The names of the drafters in use, such as "ngram,recycle", or "none". The session owns the text. */
VOUCH_API const char *vouch_session_drafter(const vouch_session *session);
/* Bytes allocated for the session: cache, workspace, drafters. The resident part grows up to this size. Without the
 * parts that sessions of an engine share (vouch_engine_memory). */
VOUCH_API size_t vouch_session_memory(const vouch_session *session);
VOUCH_API size_t vouch_session_drafter_memory(const vouch_session *session); /* the drafters' part */

/* Sets the prediction that PREDICTION copies from, from the next prompt on. Tokens beyond n_ctx are dropped. The text
 * is copied. NULL with 0: no prediction. Needs VOUCH_DRAFTER_PREDICTION. Errors: ARGUMENT, MEMORY, UNSUPPORTED (a model
 * without a tokenizer). */
VOUCH_API vouch_status vouch_session_predict(vouch_session *session, const char *text, size_t n_text, vouch_error *err);

/* Makes the tokens one vector, out [n_embd] of the caller: the residual stream after the last layer and the output
 * norm, pooled over the tokens, and not normalised. Which tokens stand in a session's cache doesn't matter, nor what
 * runs beside it (laws L1, L7). They replace the session's sequence, and there is no answer. n_tokens is at most n_ctx
 * - 2. A session of an engine only takes the request: passes of the engine run the tokens, and then an event without
 * tokens tells that `out`, which must stay until then, is filled. Errors: ARGUMENT, CONTEXT, CANCELLED, MEMORY,
 * UNSUPPORTED (a model whose output reads more than one stream). */
VOUCH_API vouch_status vouch_session_embed(vouch_session *session, const int32_t *tokens, size_t n_tokens,
                                           vouch_pooling pooling, float *out, vouch_error *err);

/* Logits of the rows at positions [first, first + n) of the sequence: row i predicts the token at first + i + 1. `out`
 * is an array [n][n_vocab] of the caller. The sequence stays as it is.
 * Errors: ARGUMENT (outside the sequence). */
VOUCH_API vouch_status vouch_session_logits(vouch_session *session, int32_t first, int32_t n, float *out,
                                            vouch_error *err);

/* Log probabilities of the sequence's tokens at positions [first, first + n), first >= 1, each after the tokens before
 * it. `out`, an array [n][1 + n_top] of the caller, is filled as vouch_step.logprobs; n_top: 0 to VOUCH_MAX_LOGPROBS.
 * Errors: ARGUMENT, NUMERIC (a logit that isn't finite). */
VOUCH_API vouch_status vouch_session_logprobs(vouch_session *session, int32_t first, int32_t n, int32_t n_top,
                                              vouch_logprob *out, vouch_error *err);

/* As vouch_session_logits, but rows of p: logits through the session's sampling parameters, with penalties and DRY over
 * the tokens up to the row, with XTC's draws of the running answer's seed, and with the grammar where the row belongs
 * to the answer. Errors: ARGUMENT, NUMERIC, GRAMMAR. */
VOUCH_API vouch_status vouch_session_probabilities(vouch_session *session, int32_t first, int32_t n, float *out,
                                                   vouch_error *err);

/* ------------------------------------------------------------------ engine */

/*
 * An engine runs many sessions at once: each pass of the target holds rows of all of them, and reads the weights once.
 *
 *   vouch_engine_open(&engine, model, &eo, &err);
 *   for each prompt: vouch_engine_session_open(&s, engine, &so, &err), vouch_session_prompt(s, tokens, n, &err);
 *   while (vouch_engine_step(engine, &events, &n_events))
 *       for each event: use event.step; after its finish, close the session or give it another prompt
 *
 * A session gives the same bytes alone and beside any others, whenever they join, end, or are cancelled (law L7):
 * greedy text, and sampled text under MATCH and COUPLED. Under the other rules the distribution is the same; the text
 * depends on timing, as it does alone.
 *
 * Guesses of all sessions compete for the rows of a pass. The engine adds the guess that is likeliest to be accepted
 * next, as long as the expected tokens per second of all sessions together rise (law L4).
 *
 * One thread at a time uses an engine and its sessions, except for vouch_session_cancel.
 */
typedef struct vouch_engine vouch_engine;

typedef struct vouch_engine_options {
    int32_t n_sessions; /* most sessions open at once, 1 to 256; 0: 8 */
    int32_t n_ctx;      /* most tokens of one sequence, 2 to 2^24; 0: the model's, at most 4096 */
    int64_t n_cache;    /* tokens whose keys and values fit, of all sequences together, at least n_ctx; 0: enough for
                           n_sessions sequences of n_ctx. Where it is less and the cache fills up, the session that
                           joined last waits and runs its tokens again later: slower, with the same bytes */
    int32_t page_size;  /* tokens of a page of the cache, a multiple of 16, 16 to 256; 0: 64. Sequences share whole
                           pages of an equal beginning */
    bool no_sharing;    /* prompts don't take over pages that other sequences have left in the cache */
    vouch_prompt_cache *prompt_cache; /* must outlive the engine; NULL, or no_sharing: pages don't go to files */
    int32_t n_threads;                /* 0: vouch_cpu_count() */
    int32_t prefill_chunk;            /* most rows of one pass, 16 to 512; 0: 256 */
    vouch_kv_type kv_type;
    double inter_token_seconds; /* while sessions decode, a pass takes no more rows of prompts than fit into this time,
                                   but at least 16; 0: 0.05 */
} vouch_engine_options;

VOUCH_API vouch_engine_options vouch_engine_options_default(void);

/* options NULL: the defaults. On success *out is the caller's, to be closed; on failure it is NULL. The model must
 * outlive it. Errors: ARGUMENT (names the option), MEMORY, UNSUPPORTED (kv_type). */
VOUCH_API vouch_status vouch_engine_open(vouch_engine **out, const vouch_model *model,
                                         const vouch_engine_options *options, vouch_error *err);
/* Closes the engine, after its sessions. NULL is allowed. */
VOUCH_API void vouch_engine_close(vouch_engine *engine);

/* Opens a session of the engine. Of the options, n_ctx may be smaller than the engine's (0: the same); n_threads,
 * prefill_chunk and kv_type are the engine's. Errors: as vouch_session_open; ARGUMENT also where n_sessions are open.
 *
 * vouch_session_prompt of such a session only checks and stores the prompt. Passes of the engine run it, so the
 * function of vouch_session_set_progress is called from vouch_engine_step. vouch_session_step returns ARGUMENT. All
 * other functions work as for a session by itself. vouch_session_time_pass, vouch_session_logits and
 * vouch_session_probabilities run passes of their own. Where the cache is full, other sessions lose their part of it
 * and run their tokens again later. */
VOUCH_API vouch_status vouch_engine_session_open(vouch_session **out, vouch_engine *engine,
                                                 const vouch_session_options *options, vouch_error *err);

/* A paused session of an engine takes part in no pass. Its answer goes on where it stood, with the same bytes (law L7),
 * when it is no longer paused. It can be cancelled meanwhile. Where the cache is full, it loses its part of it first,
 * and runs its tokens again later. */
VOUCH_API void vouch_session_pause(vouch_session *session, bool is_paused);

/* The passes that run the session's next prompt also fill `out`, the caller's array [n_tokens - 1][1 + n_top], with
 * what vouch_session_logprobs gives of the prompt's tokens from position 1 on. The prompt then takes nothing from the
 * cache.
 * `out` must stay valid until an event of the session says so, a prompt of the session fails, or the session gets
 * another prompt or is closed. A prompt of one token has nothing to score. Errors: ARGUMENT (n_top, or a session by
 * itself). */
VOUCH_API vouch_status vouch_session_score_prompt(vouch_session *session, int32_t n_top, vouch_logprob *out,
                                                  vouch_error *err);

/* The result of a pass for one session: a step, or, with step.n_tokens 0, that its prompt is scored. */
typedef struct vouch_engine_event {
    vouch_session *session;
    vouch_status status; /* OK, NUMERIC, GRAMMAR, or CANCELLED; after a failure the answer is over */
    vouch_step step;     /* where status is OK. Its pointers are the session's, valid until its next call or step */
} vouch_engine_event;

/* Runs one pass for all sessions that have something to do. The engine owns *events [*n_events], valid until its next
 * call. A session has at most one event; while its prompt is running it has none. Returns false, with *n_events = 0,
 * where no session has anything to do. */
VOUCH_API bool vouch_engine_step(vouch_engine *engine, const vouch_engine_event **events, size_t *n_events);

/* Drops the pages that no session uses. Those that one uses no longer go to the files of a prompt cache. */
VOUCH_API void vouch_engine_forget(vouch_engine *engine);
/* Writes the pages that the engine has of the beginning of these tokens to a file, as vouch_session_save does: those of
 * a session with these adapter_scales and this scope. *n_saved: tokens that they hold; 0: none, and no file is written.
 * Errors: IO, MEMORY. */
VOUCH_API vouch_status vouch_engine_save(vouch_engine *engine, const vouch_session_options *whose,
                                         const int32_t *tokens, size_t n_tokens, const char *path, int32_t *n_saved,
                                         vouch_error *err);
/* Takes the pages of such a file, so that prompts which begin with their tokens find them. *n_loaded: tokens that the
 * engine has then, fewer than the file's where the cache is full. tokens [n_ctx] receives them; NULL: nobody asks.
 * Errors: IO, MEMORY, FORMAT (made for another model, kv type, adapters or scope, or damaged), ARGUMENT (the engine
 * doesn't share pages, or has a page_size other than 64).
 */
VOUCH_API vouch_status vouch_engine_load(vouch_engine *engine, const vouch_session_options *whose, const char *path,
                                         int32_t *tokens, int32_t *n_loaded, vouch_error *err);

/* Sums since open, over all sessions. */
typedef struct vouch_engine_stats {
    int64_t passes, rows;  /* rows of all passes: prompts, last tokens and guesses */
    int64_t prompt_rows;   /* of these, rows of prompts */
    int64_t shared_tokens; /* tokens of prompts that took the keys and values of another sequence, also from files */
    int64_t cycles, generated_tokens, drafted, accepted; /* as of vouch_stats */
    int64_t preemptions;              /* sequences that were dropped from the cache, to be run again */
    double seconds;                   /* of vouch_engine_step */
    int64_t draft_passes, draft_rows; /* passes of draft models and heads, and their rows */
} vouch_engine_stats;

VOUCH_API const vouch_engine_stats *vouch_engine_get_stats(const vouch_engine *engine); /* owned by the engine */
/* Sets seconds[i - 1] to the seconds of a pass of i rows, for i from 1 to n, n at most 320, as the passes so far tell
 * (t(n) of docs/performance.md). All are 0 before the first pass. */
VOUCH_API void vouch_engine_pass_seconds(const vouch_engine *engine, int32_t n, double *seconds);
/* Bytes allocated for the engine: cache and workspaces, also those that its sessions' draft models and heads share. The
 * sessions' own parts are vouch_session_memory. */
VOUCH_API size_t vouch_engine_memory(const vouch_engine *engine);

/* ------------------------------------------------------- rejection sampler */

/* A rule by itself, on plain probabilities: judges a chain of k guesses and draws the token that follows the accepted
 * ones (Leviathan et al., arXiv 2211.17192, Algorithm 1; the other rules as vouch_accept says).
 *   guesses [k], p [k + 1][n_vocab], q [k][n_vocab] or NULL where the guesses are argmaxes;
 *   k from 0 to VOUCH_MAX_DRAFT. Each row is divided by its sum, so unnormalised weights are allowed.
 * Uses the random numbers of positions first_position, first_position + 1, ... under `seed`. With BLOCK, the caller
 * must not use rejected guesses again, nor the random numbers that drew them.
 * Writes the number of accepted guesses to *n_accepted and the residual or bonus token to *final_token, which is always
 * below n_vocab; `verdicts`, [k], may be NULL. On failure nothing is written. Errors: ARGUMENT (k, accept or lenience
 * out of range, a guess outside the vocabulary, a weight that is negative or not finite, or a row of p or q that sums
 * to 0, even if the rule doesn't reach the row). Any thread. */
typedef struct vouch_rejection {
    int32_t k, n_vocab;
    const int32_t *guesses;
    const float *p, *q;
    vouch_accept accept;
    double lenience;
    uint64_t seed;
    int64_t first_position;
} vouch_rejection;
VOUCH_API vouch_status vouch_reject(const vouch_rejection *in, int32_t *n_accepted, int32_t *final_token,
                                    vouch_guess *verdicts, vouch_error *err);

#ifdef __cplusplus
}
#endif
#endif
