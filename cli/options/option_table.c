/* SPDX-License-Identifier: MIT */
#include "options/option_table.h"

#include <stddef.h>
#include <string.h>

#include "options/foreign.h"

_Static_assert(sizeof(vouch_kv_type) == sizeof(int) && sizeof(vouch_draft_sampling) == sizeof(int) &&
                   sizeof(vouch_accept) == sizeof(int),
               "choices are stored as int");

const char *const cli_command_names[CLI_COMMANDS] = {
#define NAME(constant, name) #name,
    CLI_COMMAND_LIST(NAME)
#undef NAME
};

#define AT(member)   .offset = offsetof(cli_options, member)
#define ASKING       (CLI_RUN | CLI_BENCH | CLI_ANALYZE | CLI_BATCH)
#define SAMPLING     ASKING | CLI_SERVE, "Sampling"
#define RECOMMENDED  "default: as the model's file recommends, otherwise " /* recommended.h */
#define SPECULATION  CLI_RUN | CLI_BENCH | CLI_BATCH | CLI_SERVE, "Speculation"
#define PAIRING      (CLI_RUN | CLI_BATCH | CLI_SERVE)
#define REMEMBERING  CLI_RUN | CLI_BATCH | CLI_SERVE, "Speculation"
#define REMEMBERING_PROMPTS CLI_RUN | CLI_BATCH | CLI_SERVE, "Resources"
#define SERVING      CLI_SERVE, "Server"
#define ANSWER       ASKING, "Answer"
#define OUTPUT       CLI_RUN, "Output"
#define PASSES       CLI_BENCH, "Passes"
#define READING      (CLI_PERPLEXITY | CLI_LOGITS | CLI_EMBED)
#define WITH_WEIGHTS (CLI_RUN | CLI_BENCH | CLI_CHECK | CLI_ANALYZE | CLI_BATCH | READING)
#define WITH_MODEL   (WITH_WEIGHTS | CLI_INFO | CLI_TOKENIZE)
#define WRITING      (CLI_QUANTIZE | CLI_CONVERT)
#define EVERYWHERE   (WITH_MODEL | WRITING | CLI_DISTILL)
#define HUB          (CLI_PULL | CLI_LIST | CLI_RM)
#define PENALTY      "[-1e6, 1e6]" /* a range in which logits stay finite */
#define RULES        VOUCH_ACCEPT_LIST(RULE_WORD) "auto" /* in the order of vouch_accept */
#define RULE_WORD(constant, name) #name "|"
#define POOLINGS     &VOUCH_POOLING_LIST(POOLING_WORD)[1] /* in the order of vouch_pooling */
#define POOLING_WORD(constant, name) "|" #name
#define SAMPLINGS    &VOUCH_DRAFT_SAMPLING_LIST(SAMPLING_WORD)[1] /* in the order of vouch_draft_sampling */
#define SAMPLING_WORD(constant, name) "|" #name
#define ANY          "[0, 2147483647]"
#define NO_LIMIT     "[-1, 2147483647]" /* -1 as in llama.cpp */
#define LOSSES       "forward-kl|reverse-kl|jensen-shannon|total-variation|cross-entropy" /* in train_loss's order */
#define QUANTIZE_TYPES \
    "F32, F16, BF16, Q8_0, Q6_K, Q5_K_M, Q5_K_S, Q5_1, Q5_0, Q4_K_M, Q4_K_S, Q4_1, Q4_0, IQ4_NL, MXFP4_MOE, " \
    "IQ4_XS, Q3_K_L, Q3_K_M, Q3_K_S, Q2_K, TQ2_0, TQ1_0"
#define SPEC_WORDS   "auto|none" VOUCH_DRAFTER_LIST(SPEC_WORD) /* in the order of the drafters' bits */
#define SPEC_WORD(constant, name, summary) "|" #name
#define LAW_WORD(name) "|" #name

/* The words of a choice stand in the order of its enum. Help wraps the texts. */
static const tool_flag rows[] = {
    {"", NULL, 0, TOOL_FLAG_FILE, AT(model_word), "MODEL", NULL, EVERYWHERE | CLI_SERVE, "Model",
     "the model: a GGUF file, the first part of a split one, a Hugging Face folder, or a name such as "
     "OWNER/NAME:Q4_K_M, which `vouch pull` fetches; the same as --model FILE",
     NULL, NULL},
    {"", NULL, 0, TOOL_FLAG_FILE, AT(hub.name), "NAME", NULL, CLI_PULL, "Model",
     "OWNER/NAME, OWNER/NAME:Q4_K_M, OWNER/NAME:FILE.gguf or OWNER/NAME@REVISION; https://HOST/FILE.gguf", NULL, NULL},
    {"", NULL, 0, TOOL_FLAG_FILE, AT(hub.name), "NAME", NULL, CLI_RM, "Model",
     "the name of a fetched model, as `vouch list` prints it", NULL, NULL},
    {"", NULL, 0, TOOL_FLAG_FILE, AT(draft_memory), "FOLDER", NULL, CLI_MEMORY, "Memory",
     "the folder of --draft-memory or --prompt-cache", NULL, NULL},
    {"pooling", NULL, 0, TOOL_FLAG_CHOICE, AT(pooling), POOLINGS, NULL, CLI_SERVE | CLI_EMBED, "Embeddings",
     "how one vector is made of those of a text's tokens; none: as the model's file says", NULL, NULL},
    {"dimensions", NULL, 0, TOOL_FLAG_INT, AT(dimensions), "N", "[1, 65536]", CLI_EMBED, "Embeddings",
     "keep the first N numbers of each vector, for models that were trained for it (default: all)", NULL, NULL},
    {"clear", NULL, 0, TOOL_FLAG_SWITCH, AT(clears_memory), NULL, NULL, CLI_MEMORY, "Memory",
     "remove the answers of all models and all keys", NULL, NULL},
    {"with-draft", NULL, 0, TOOL_FLAG_SWITCH, AT(hub.with_draft), NULL, NULL, CLI_PULL, "Model",
     "fetch what drafts for the model, too: a file of the same repository, or the small model of its family", NULL,
     NULL},
    {"print-path", NULL, 0, TOOL_FLAG_SWITCH, AT(hub.print_path), NULL, NULL, CLI_PULL, "Model",
     "print where the model lies; fetch only what is missing, without asking the hub for a newer one", NULL, NULL},
    {"model", NULL, 'm', TOOL_FLAG_FILE, AT(model), "FILE", NULL, EVERYWHERE, "Model",
     "file or folder of the model whose text is wanted (the target)", NULL, NULL},
    {"model", NULL, 'm', TOOL_FLAG_TEXTS, AT(models), "NAME=FILE", NULL, CLI_SERVE, "Model",
     "serve this file or folder under this name; repeatable. Requests choose by the name; the first is the default",
     NULL, NULL},
    {"models", NULL, 0, TOOL_FLAG_FILE, AT(serve.models_folder), "FOLDER", NULL, CLI_SERVE, "Model",
     "serve the models of this folder: GGUF files, and folders with one or of Hugging Face. Each is loaded when a "
     "request "
     "asks for it. Those of --model are loaded at the start and stay",
     NULL, NULL},
    {"idle", NULL, 0, TOOL_FLAG_DOUBLE, AT(serve.idle), "S", "[0, 1e9]", CLI_SERVE, "Model",
     "a model of --models that nobody asks for goes after so many seconds; 0: it stays while there is memory (default "
     "600)",
     NULL, NULL},
    {"lora", NULL, 0, TOOL_FLAG_TEXTS, AT(loras), "FILE=SCALE", NULL, WITH_WEIGHTS | CLI_SERVE, "Model",
     "apply this LoRA adapter, a GGUF file made for the model; repeatable (default scale 1). Requests of a server "
     "choose "
     "their own scales",
     NULL, NULL},
    {"target", NULL, 0, TOOL_FLAG_FILE, AT(model), "FILE", NULL, CLI_DISTILL, "Model", "the same as --model FILE", NULL,
     NULL},
    {"head", NULL, 'o', TOOL_FLAG_FILE, AT(distill.head), "OUT", NULL, CLI_DISTILL, "Model",
     "the head's file to write. Files beside it, such as OUT.answers and OUT.states, keep unfinished work", NULL, NULL},
    {"table", NULL, 0, TOOL_FLAG_FILE, AT(distill.train.table), "OUT", NULL, CLI_DISTILL, "Model",
     "count what the model says after its last tokens, and write the table, which --draft-table takes; from the "
     "answers of --head, or alone",
     NULL, NULL},
    {"student", NULL, 0, TOOL_FLAG_FILE, AT(distill.student), "OUT", NULL, CLI_DISTILL, "Model",
     "teach a small draft model instead of a head, and write it to this GGUF file, which --draft-model takes", NULL,
     NULL},
    {"student-model", NULL, 0, TOOL_FLAG_FILE, AT(distill.train.student_model), "FILE", NULL, CLI_DISTILL, "Model",
     "the student begins as this model, of architecture llama and with the target's tokens (default: the target)", NULL,
     NULL},
    {"student-layers", NULL, 0, TOOL_FLAG_INTS, AT(distill.student_layers), "N,N,...", "[0, 1023]", CLI_DISTILL,
     "Model", "the student begins with these layers of that model, counted from 0, at most 64 (default: all)", NULL,
     NULL},
    {"", NULL, 0, TOOL_FLAG_FILE, AT(out), "OUT", NULL, WRITING, "Model", "the GGUF file to write", NULL, NULL},
    {"", NULL, 0, TOOL_FLAG_FILE, AT(type), "TYPE", NULL, CLI_QUANTIZE, "Model",
     "type or mix of types: " QUANTIZE_TYPES, NULL, NULL},
    {"type", "outtype", 0, TOOL_FLAG_FILE, AT(type), "TYPE", NULL, CLI_CONVERT, "Model",
     "type of the matrices, such as F16 or Q8_0, or a mix, as `vouch quantize` has them (default: as they are)", NULL,
     NULL},
    {"force", NULL, 0, TOOL_FLAG_SWITCH, AT(quantize.force), NULL, NULL, WRITING, "Model",
     "replace the output where it exists already", NULL, NULL},
    {"pure", NULL, 0, TOOL_FLAG_SWITCH, AT(quantize.pure), NULL, NULL, CLI_QUANTIZE, "Types",
     "give all matrices the type that most of the mix's matrices have", NULL, NULL},
    {"output-type", "output-tensor-type", 0, TOOL_FLAG_FILE, AT(quantize.output_type), "TYPE", NULL, CLI_QUANTIZE,
     "Types", "type of the output matrix (default: as the mix)", NULL, NULL},
    {"embedding-type", "token-embedding-type", 0, TOOL_FLAG_FILE, AT(quantize.embedding_type), "TYPE", NULL,
     CLI_QUANTIZE, "Types", "type of the token embedding (default: as the mix)", NULL, NULL},
    {"allow-requantize", NULL, 0, TOOL_FLAG_SWITCH, AT(quantize.allow_requantize), NULL, NULL, WRITING, "Types",
     "quantise matrices again that are quantised already, which costs quality", NULL, NULL},
    {"", NULL, 0, TOOL_FLAG_TEXT, AT(prompt_word), "PROMPT", NULL, CLI_RUN | CLI_TOKENIZE, "Prompt",
     "the text, a word after the model; the same as --prompt TEXT", NULL, NULL},
    {"", NULL, 0, TOOL_FLAG_FILE, AT(file), "FILE", NULL, CLI_PERPLEXITY, "Text",
     "the text to predict, a word after the model; the same as --file FILE", NULL, NULL},
    {"prompt", NULL, 'p', TOOL_FLAG_TEXT, AT(prompt), "TEXT", NULL, CLI_RUN, "Prompt",
     "the question, or the text to go on with. A file (-f), or else standard input from a pipe or a file, is added "
     "after it and an empty line. With --chat the first message",
     NULL, NULL},
    {"prompt", NULL, 'p', TOOL_FLAG_TEXT, AT(prompt), "TEXT", NULL, CLI_EMBED, "Embeddings",
     "the text; without it each line of standard input is one", NULL, NULL},
    {"prompt", NULL, 'p', TOOL_FLAG_TEXT, AT(prompt), "TEXT", NULL, CLI_TOKENIZE, "Prompt",
     "the text. A file (-f), or else standard input from a pipe or a file, is added after it and an empty line", NULL,
     NULL},
    {"prompt-file", NULL, 'f', TOOL_FLAG_FILE, AT(prompt_file), "FILE", NULL, CLI_RUN | CLI_TOKENIZE, "Prompt",
     "read the prompt from a file; - is standard input", NULL, NULL},
    {"prompts", NULL, 0, TOOL_FLAG_FILE, AT(prompts), "FILE", NULL, CLI_BENCH, "Prompt",
     "answer the prompts in this file: JSON lines with turns or messages, of which all are answered, with prompt or "
     "with question; or one prompt a line; - is standard input",
     NULL, NULL},
    {"prompts", NULL, 0, TOOL_FLAG_FILE, AT(prompts), "FILE", NULL, CLI_ANALYZE | CLI_BATCH, "Prompt",
     "answer the prompts in this file: JSON lines with turns or messages, of which the first is answered, with prompt "
     "or with question; or one prompt a line; - is standard input",
     NULL, NULL},
    {"prompts", NULL, 0, TOOL_FLAG_FILE, AT(prompts), "FILE", NULL, CLI_DISTILL, "Prompt",
     "teach from answers to the prompts in this file: JSON lines with turns or messages, of which the first is "
     "answered, with prompt or with question; or one prompt a line (default: the model makes its own prompts)",
     NULL, NULL},
    {"exclude", NULL, 0, TOOL_FLAG_TEXTS, AT(distill.excluded), "FILE", NULL, CLI_DISTILL, "Prompt",
     "leave out prompts that share 8 words in a row with a prompt in this file; repeatable. Name the prompts here that "
     "the head will be measured on",
     NULL, NULL},
    {"measure", NULL, 0, TOOL_FLAG_FILE, AT(distill.measured), "FILE", NULL, CLI_DISTILL, "Prompt",
     "measure the head on greedy answers to the prompts in this file; they are excluded, too", NULL, NULL},
    {"category", NULL, 0, TOOL_FLAG_TEXTS, AT(categories), "NAME", NULL,
     CLI_BENCH | CLI_ANALYZE | CLI_BATCH | CLI_DISTILL, "Prompt", "take only prompts of this category; repeatable",
     NULL, NULL},
    {"each", NULL, 0, TOOL_FLAG_INT, AT(n_each), "N", ANY, CLI_BENCH | CLI_ANALYZE | CLI_BATCH | CLI_DISTILL, "Prompt",
     "take at most N prompts of each category; 0: all", NULL, NULL},
    {"chat", NULL, 0, TOOL_FLAG_SWITCH, AT(chat), NULL, NULL, CLI_RUN, "Prompt", "hold a conversation", NULL, NULL},
    {"system", NULL, 0, TOOL_FLAG_TEXT, AT(system), "TEXT", NULL, ASKING, "Prompt",
     "system message (default: the one in the chat template)", NULL, NULL},
    {"chat-template", NULL, 0, TOOL_FLAG_FILE, AT(chat_template), "NAME|FILE", NULL, ASKING | CLI_TOKENIZE | CLI_SERVE,
     "Prompt",
     "chat template: auto (the model's own; a base model has none), none, a name such as chatml or gemma, or a file "
     "that holds one; list prints the names (default auto)",
     NULL, NULL},
    {"raw", NULL, 0, TOOL_FLAG_SWITCH, AT(raw), NULL, NULL, ASKING, "Prompt",
     "use no chat template: the model goes on with the prompt", NULL, NULL},
    {"think", NULL, 0, TOOL_FLAG_CHOICE, AT(think), "auto|on|off|hide", NULL, CLI_RUN | CLI_SERVE, "Prompt",
     "thoughts before the answer: auto (the chat template decides), on, off, or hide (the model thinks, but its "
     "thoughts are not written)",
     NULL, NULL},
    {"reasoning-budget", NULL, 0, TOOL_FLAG_INT, AT(session.thought_budget), "N", "[-1, 2147483647]",
     CLI_RUN | CLI_SERVE, "Prompt",
     "most tokens of thoughts: after so many their end is written for the model, and the answer goes on; 0: no "
     "thoughts, -1: any number",
     NULL, NULL},
    {"suffix", NULL, 0, TOOL_FLAG_TEXT, AT(suffix), "TEXT", NULL, CLI_RUN, "Prompt",
     "write the text between the prompt and this one, for code models that were taught to", NULL, NULL},
    {"suffix-file", NULL, 0, TOOL_FLAG_FILE, AT(suffix_file), "FILE", NULL, CLI_RUN, "Prompt",
     "the same with the text of a file", NULL, NULL},
    {"show-prompt", NULL, 0, TOOL_FLAG_SWITCH, AT(show_prompt), NULL, NULL, CLI_RUN, "Prompt",
     "print the prompt as the model reads it, and its tokens, instead of answering", NULL, NULL},

    {"draft-model", NULL, 'd', TOOL_FLAG_FILE, AT(draft_model), "FILE", NULL, CLI_BENCH | CLI_ANALYZE | CLI_CHECK,
     "Speculation", "GGUF file of a smaller model with the same tokens, which drafts", NULL, NULL},
    {"draft-model", NULL, 'd', TOOL_FLAG_FILE, AT(draft_model), "FILE", NULL, PAIRING, "Speculation",
     "GGUF file of a smaller model with the same tokens, which drafts; none; or auto: the file beside the model, or "
     "the small model on this machine, that vouch finds for it, where it fits into half of the memory that is "
     "available (default auto)",
     NULL, NULL},
    {"allow-other-head", NULL, 0, TOOL_FLAG_SWITCH, AT(allow_other_head), NULL, NULL, ASKING | CLI_CHECK | CLI_SERVE,
     "Speculation",
     "accept a head or table that was made for another file of the model, such as another type of weights", NULL, NULL},
    {"spec", NULL, 0, TOOL_FLAG_SET, AT(session.speculation.drafters), SPEC_WORDS, NULL,
     CLI_RUN | CLI_BATCH | CLI_SERVE, "Speculation",
     "the drafters, with commas between. auto: ngram, suffix and recycle, and each other drafter for which there is a "
     "file or a grammar",
     NULL, NULL},
    {"spec", NULL, 0, TOOL_FLAG_SETS, AT(bench.drafters), SPEC_WORDS, NULL, CLI_BENCH, "Speculation",
     "the drafters, as in `vouch run`; repeatable. bench compares each with plain decoding (default auto)", NULL, NULL},
    {"speculative", NULL, 0, TOOL_FLAG_SWITCH, AT(speculative), NULL, NULL, CLI_RUN, "Speculation",
     "the same as --spec draft; without --draft-model, as --spec auto", NULL, NULL},
    {"num-speculative-tokens", NULL, 'k', TOOL_FLAG_INT, AT(session.speculation.n_draft), "N", "[1, 64]",
     CLI_RUN | CLI_BATCH | CLI_SERVE, "Speculation", "most guesses per cycle (default: chosen by measured speed)",
     "--spec none turns speculation off", NULL},
    {"num-speculative-tokens", NULL, 'k', TOOL_FLAG_INTS, AT(bench.draft_lengths), "N,N,...", "[1, 64]", CLI_BENCH,
     "Speculation",
     "most guesses per cycle; bench measures each number with each --spec (default: chosen by measured speed)", NULL,
     NULL},
    {"tree", NULL, 0, TOOL_FLAG_FILE, AT(tree), "B,D", NULL, SPECULATION,
     "shape of the draft: at most B guesses for one position, at most D on one path; 1,D: chains. With --accept "
     "multipath, a draft model or head draws B independent paths",
     NULL, NULL},
    {"allow-vocab-mismatch", NULL, 0, TOOL_FLAG_SWITCH, AT(session.speculation.allow_vocab_mismatch), NULL, NULL,
     SPECULATION, "accept a draft model with another token table; it drafts the tokens that both models have", NULL,
     NULL},
    {"draft-vocab", NULL, 0, TOOL_FLAG_FILE, AT(draft_vocab), "FILE", NULL, SPECULATION,
     "the draft model guesses only the tokens in this list, which takes less time. `vouch tokenize --frequent N` makes "
     "the list",
     NULL, NULL},
    {"draft-sampling", NULL, 0, TOOL_FLAG_CHOICE, AT(session.speculation.draft_sampling), SAMPLINGS, NULL, SPECULATION,
     "how the draft model or head chooses its guesses: drawn from its distribution, or the likeliest; auto: the "
     "likeliest with a head and --accept match or auto, otherwise drawn",
     NULL, NULL},
    {"ngram-min", NULL, 0, TOOL_FLAG_INT, AT(session.speculation.ngram_min), "N", "[1, 16]", SPECULATION,
     "length of the shortest n-gram that ngram looks up", NULL, NULL},
    {"ngram-max", NULL, 0, TOOL_FLAG_INT, AT(session.speculation.ngram_max), "N", "[1, 16]", SPECULATION,
     "length of the longest n-gram that ngram looks up", NULL, NULL},
    {"prediction", NULL, 0, TOOL_FLAG_FILE, AT(prediction), "FILE", NULL, CLI_RUN, "Speculation",
     "your own prediction of the answer; guesses are copied from it", NULL, NULL},
    {"draft-memory", NULL, 0, TOOL_FLAG_FILE, AT(draft_memory), "FOLDER", NULL, REMEMBERING,
     "keep answers in this folder, and copy guesses from those that are there. A conversation, batch and serve "
     "remember "
     "their answers also without it, until they end",
     NULL, NULL},
    {"draft-memory-size", NULL, 0, TOOL_FLAG_SIZE, AT(draft_memory_size), "SIZE", "[0, 1e12]", REMEMBERING,
     "bytes of memory for answers, at least 100K; 0: none are remembered", NULL, NULL},
    {"session", NULL, 0, TOOL_FLAG_FILE, AT(session_file), "FILE", NULL, CLI_RUN, "Resources",
     "go on with the session in this file, if it is there, and keep it there at the end: what the model has made of "
     "all "
     "tokens so far. A conversation keeps its messages in FILE.json, too",
     NULL, NULL},
    {"prompt-cache", NULL, 0, TOOL_FLAG_FILE, AT(prompt_cache), "FOLDER", NULL, REMEMBERING_PROMPTS,
     "keep what the model has made of prompts and answers in this folder, and go on from there when a prompt begins "
     "with the same tokens",
     NULL, NULL},
    {"saved-slots", NULL, 0, TOOL_FLAG_FILE, AT(serve.slots_folder), "FOLDER", NULL, CLI_SERVE, "Resources",
     "let clients save what a slot remembers in files of this folder, and restore it (POST /slots/ID?action=save)",
     NULL, NULL},
    {"prompt-cache-size", NULL, 0, TOOL_FLAG_SIZE, AT(prompt_cache_size), "SIZE", "[1e6, 1e15]", REMEMBERING_PROMPTS,
     "most bytes of this folder's files (default 8G); what was used last stays", NULL, NULL},
    {"forget", NULL, 0, TOOL_FLAG_SWITCH, AT(session.speculation.forget), NULL, NULL, SPECULATION,
     "recycle starts each answer without what it kept of earlier answers", NULL, NULL},
    {"accept", NULL, 0, TOOL_FLAG_CHOICE, AT(session.speculation.accept), RULES, NULL, CLI_RUN | CLI_BATCH | CLI_SERVE,
     "Speculation",
     "the rule that judges guesses. Each gives exactly the target's distribution. match and coupled: a seed gives the "
     "same text whatever vouch drafts, and also with --spec none. auto: coupled with a draft model or head that "
     "samples, rejection with --lenience, otherwise match",
     NULL, NULL},
    {"accept", NULL, 0, TOOL_FLAG_CHOICES, AT(bench.rules), RULES, NULL, CLI_BENCH, "Speculation",
     "the rule that judges guesses, as in `vouch run`; repeatable (default auto)", NULL, NULL},
    {"lenience", NULL, 0, TOOL_FLAG_DOUBLE, AT(session.speculation.lenience), "L", "(0, 1]", SPECULATION,
     "lenience of rejection: accept a guess with probability min(1, p / (L q)); below 1 the text is no longer the "
     "target's own",
     NULL, NULL},

    {"max-tokens", NULL, 'n', TOOL_FLAG_INT, AT(session.max_tokens), "N", NO_LIMIT, CLI_RUN | CLI_BENCH | CLI_BATCH,
     "Answer", "maximum tokens per answer; 0 or -1: up to the end of the context", NULL, NULL},
    {"max-tokens", NULL, 'n', TOOL_FLAG_INT, AT(session.max_tokens), "N", NO_LIMIT, CLI_SERVE, "Answer",
     "maximum tokens per answer of a request that sets none; 0 or -1: up to the end of the context", NULL, NULL},
    {"max-tokens", NULL, 'n', TOOL_FLAG_INT, AT(session.max_tokens), "N", "[1, 2147483647]", CLI_ANALYZE, "Answer",
     "maximum tokens per answer", NULL, NULL},
    {"min-tokens", NULL, 0, TOOL_FLAG_INT, AT(session.min_tokens), "N", "[0, 2147483647]", CLI_RUN | CLI_BATCH,
     "Answer", "the model may end the answer only after N tokens; a stop text or a complete grammar ends it sooner",
     NULL, NULL},
    {"stop", NULL, 0, TOOL_FLAG_TEXTS, AT(stop), "TEXT", NULL, ANSWER, "end the answer before this text; repeatable",
     NULL, NULL},
    {"ignore-eos", NULL, 0, TOOL_FLAG_SWITCH, AT(session.ignore_eos), NULL, NULL, ANSWER,
     "go on when the model ends the answer", NULL, NULL},

    {"json", NULL, 0, TOOL_FLAG_SWITCH, AT(json_answer), NULL, NULL, CLI_RUN | CLI_BATCH, "Answer",
     "the answer is a JSON object", NULL, NULL},
    {"json-schema", NULL, 0, TOOL_FLAG_FILE, AT(json_schema), "FILE", NULL, CLI_RUN | CLI_BATCH, "Answer",
     "the answer is JSON that this schema accepts; a value that begins with { is the schema itself", NULL, NULL},
    {"open-objects", NULL, 0, TOOL_FLAG_SWITCH, AT(open_objects), NULL, NULL, CLI_RUN | CLI_BATCH, "Answer",
     "with --json-schema: an object may have other properties than the schema lists", NULL, NULL},
    {"regex", NULL, 0, TOOL_FLAG_TEXT, AT(regex), "PATTERN", NULL, CLI_RUN | CLI_BATCH, "Answer",
     "the whole answer matches this regular expression", NULL, NULL},
    {"grammar-file", NULL, 0, TOOL_FLAG_FILE, AT(grammar_file), "FILE", NULL, CLI_RUN | CLI_BATCH, "Answer",
     "the answer is a text of this grammar, in llama.cpp's notation (GBNF)", NULL, NULL},

    {"temp", "temperature", 0, TOOL_FLAG_FLOAT, AT(session.sampling.temperature), "T", "[0, inf)", CLI_RUN | CLI_SERVE,
     "Sampling", "temperature; 0: greedy, the likeliest token each time (" RECOMMENDED "0.8)", NULL, NULL},
    {"temp", "temperature", 0, TOOL_FLAG_FLOAT, AT(session.sampling.temperature), "T", "[0, inf)",
     CLI_BENCH | CLI_ANALYZE | CLI_BATCH, "Sampling", "temperature; 0: greedy, the likeliest token each time", NULL,
     NULL},
    {"top-k", NULL, 0, TOOL_FLAG_INT, AT(session.sampling.top_k), "N", ANY, SAMPLING,
     "sample from the N likeliest tokens; 0: from all (" RECOMMENDED "0; bench and analyze: 0)", NULL, NULL},
    {"top-p", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.top_p), "P", "(0, 1]", CLI_RUN | CLI_BATCH | CLI_SERVE,
     "Sampling", "sample from the fewest tokens whose probabilities sum to P (" RECOMMENDED "0.95)", NULL, NULL},
    {"top-p", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.top_p), "P", "(0, 1]", CLI_BENCH | CLI_ANALYZE, "Sampling",
     "sample from the fewest tokens whose probabilities sum to P", NULL, NULL},
    {"min-p", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.min_p), "P", "[0, 1)", SAMPLING,
     "sample from tokens with at least P times the probability of the likeliest "
     "(" RECOMMENDED "0; bench and analyze: 0)",
     NULL, NULL},
    {"typical", "typical-p", 0, TOOL_FLAG_FLOAT, AT(session.sampling.typical_p), "P", "(0, 1]", SAMPLING,
     "sample from the tokens whose log probability is nearest to the entropy, the fewest whose probabilities sum to P; "
     "1: off",
     NULL, NULL},
    {"top-n-sigma", "top-nsigma", 0, TOOL_FLAG_FLOAT, AT(session.sampling.top_n_sigma), "N", "[0, inf)", SAMPLING,
     "sample from tokens whose logit is at most N standard deviations below the largest; 0: off", NULL, NULL},
    {"xtc-probability", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.xtc_probability), "P", "[0, 1]", SAMPLING,
     "with this probability, at each position, exclude all tokens of at least --xtc-threshold but the least likely of "
     "them (" RECOMMENDED "0; bench and analyze: 0)",
     NULL, NULL},
    {"xtc-threshold", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.xtc_threshold), "P", "[0, 1]", SAMPLING,
     "the probability that --xtc-probability speaks of; above 0.5: off (" RECOMMENDED "0.1; bench and analyze: 0.1)",
     NULL, NULL},
    {"dry-multiplier", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.dry_multiplier), "X", "[0, 1e6]", SAMPLING,
     "DRY: if the last n tokens occurred before, subtract X * BASE ^ (n - LENGTH) from the logit of the token that "
     "followed them; 0: off",
     NULL, NULL},
    {"dry-base", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.dry_base), "BASE", "[1, 1e6]", SAMPLING,
     "the base in --dry-multiplier", NULL, NULL},
    {"dry-allowed-length", NULL, 0, TOOL_FLAG_INT, AT(session.sampling.dry_allowed_length), "LENGTH", ANY, SAMPLING,
     "DRY leaves repetitions of fewer tokens alone", NULL, NULL},
    {"dry-penalty-last-n", NULL, 0, TOOL_FLAG_INT, AT(session.sampling.dry_penalty_last_n), "N", ANY, SAMPLING,
     "DRY looks at the last N tokens; 0: off", NULL, NULL},
    {"dry-sequence-breaker", NULL, 0, TOOL_FLAG_TEXTS, AT(breakers), "TEXT", NULL, SAMPLING,
     "no repetition that DRY sees reaches over this text; repeatable; none: there are no such texts (default: line "
     "end, :, \", *)",
     NULL, NULL},
    {"repeat-penalty", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.repeat_penalty), "R", "[0.001, 1000]", SAMPLING,
     "make tokens that occurred less likely: divide a positive logit by R, multiply a negative one; 1: off "
     "(" RECOMMENDED "1; bench and analyze: 1)",
     NULL, NULL},
    {"frequency-penalty", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.frequency_penalty), "X", PENALTY, SAMPLING,
     "subtract X from a token's logit for each time it occurred", NULL, NULL},
    {"presence-penalty", NULL, 0, TOOL_FLAG_FLOAT, AT(session.sampling.presence_penalty), "X", PENALTY, SAMPLING,
     "subtract X from a token's logit if it occurred", NULL, NULL},
    {"penalty-window", "repeat-last-n", 0, TOOL_FLAG_INT, AT(session.sampling.penalty_window), "N", ANY, SAMPLING,
     "penalties look at the last N tokens (" RECOMMENDED "64; bench and analyze: 64)", NULL, NULL},
    {"logit-bias", NULL, 0, TOOL_FLAG_TEXTS, AT(bias_texts), "ID=X", NULL, SAMPLING,
     "add X, in [-1e9, 1e9], to the logit of token ID; -inf bans the token; repeatable", NULL, NULL},
    {"seed", NULL, 's', TOOL_FLAG_SEED, AT(session.sampling.seed), "N", "[0, 2^64)", CLI_RUN, "Sampling",
     "seed of the random numbers (default: 0 when greedy, otherwise a new one for each run, shown by --stats and by a "
     "note on a terminal). With a draft model and --accept rejection, the same text again also needs the same --spec "
     "and -k",
     NULL, NULL},
    {"seed", NULL, 's', TOOL_FLAG_SEED, AT(session.sampling.seed), "N", "[0, 2^64)",
     CLI_BENCH | CLI_ANALYZE | CLI_BATCH, "Sampling", "seed of the random numbers", NULL, NULL},

    {"file", NULL, 'f', TOOL_FLAG_FILE, AT(file), "FILE", NULL, CLI_PERPLEXITY, "Text",
     "the text to predict; - is standard input (default: standard input, unless that is a terminal)", NULL, NULL},
    {"text", NULL, 0, TOOL_FLAG_FILE, AT(text), "FILE", NULL, CLI_ANALYZE, "Text",
     "compare the models on this text, in chunks (default: on answers that the target writes)", NULL, NULL},
    {"ctx", NULL, 'c', TOOL_FLAG_INT, AT(session.n_ctx), "N", "[4, 1048576]", CLI_ANALYZE, "Text",
     "tokens per chunk of --text (default 256)", NULL, NULL},
    {"chunks", NULL, 0, TOOL_FLAG_INT, AT(n_chunks), "N", "[1, 1000000]", CLI_ANALYZE, "Text",
     "most chunks (default 8)", NULL, NULL},
    {"ctx", NULL, 'c', TOOL_FLAG_INT, AT(session.n_ctx), "N", "[4, 1048576]", CLI_PERPLEXITY, "Text",
     "tokens per chunk (default 512)", NULL, NULL},
    {"chunks", NULL, 0, TOOL_FLAG_INT, AT(n_chunks), "N", ANY, CLI_PERPLEXITY, "Text", "most chunks; 0: all", NULL,
     NULL},

    {"tokens", NULL, 0, TOOL_FLAG_INT, AT(distill.n_tokens), "N", "[1000, 2000000000]", CLI_DISTILL, "Lessons",
     "tokens of the target's answers to teach from", NULL, NULL},
    {"sampled", NULL, 0, TOOL_FLAG_DOUBLE, AT(distill.train.sampled), "S", "[0, 1]", CLI_DISTILL, "Lessons",
     "share of the answers that are sampled; the others are greedy", NULL, NULL},
    {"temp", "temperature", 0, TOOL_FLAG_FLOAT, AT(distill.train.temperature), "T", "(0, 10]", CLI_DISTILL, "Lessons",
     "temperature of sampled answers and of the model's own prompts", NULL, NULL},
    {"top-p", NULL, 0, TOOL_FLAG_FLOAT, AT(distill.train.top_p), "P", "(0, 1]", CLI_DISTILL, "Lessons",
     "sample from the fewest tokens whose probabilities sum to P", NULL, NULL},
    {"max-tokens", NULL, 'n', TOOL_FLAG_INT, AT(distill.train.max_tokens), "N", "[16, 65536]", CLI_DISTILL, "Lessons",
     "maximum tokens per answer", NULL, NULL},
    {"seed", NULL, 's', TOOL_FLAG_SEED, AT(distill.train.seed), "N", "[0, 2^64)", CLI_DISTILL, "Lessons",
     "seed of prompts, answers and training", NULL, NULL},
    {"quick", NULL, 0, TOOL_FLAG_SWITCH, AT(distill.train.quick), NULL, NULL, CLI_DISTILL, "Head",
     "a linear head, fitted in closed form within minutes, without a decoder layer", NULL, NULL},
    {"vocab", NULL, 0, TOOL_FLAG_INT, AT(distill.train.n_draft), "N", "[16, 2147483647]", CLI_DISTILL, "Head",
     "number of tokens that the head can guess, the most frequent ones; with --student, tokens that a step of training "
     "sees",
     NULL, NULL},
    {"ff-width", NULL, 0, TOOL_FLAG_INT, AT(distill.train.n_ff), "N", "[0, 1048576]", CLI_DISTILL, "Head",
     "width of the layer's feed-forward network; 0: the model's", NULL, NULL},
    {"unroll", NULL, 0, TOOL_FLAG_INT, AT(distill.train.depth), "N", "[1, 4]", CLI_DISTILL, "Training",
     "number of successive guesses that training unrolls", NULL, NULL},
    {"epochs", NULL, 0, TOOL_FLAG_INT, AT(distill.train.epochs), "N", "[1, 1000]", CLI_DISTILL, "Training",
     "times that training sees each token", NULL, NULL},
    {"rate", NULL, 0, TOOL_FLAG_DOUBLE, AT(distill.train.rate), "R", "(0, 1]", CLI_DISTILL, "Training",
     "largest learning rate", NULL, NULL},
    {"loss", NULL, 0, TOOL_FLAG_CHOICE, AT(distill.train.loss), LOSSES, NULL, CLI_DISTILL, "Training",
     "the loss that brings the student's distribution near to the target's", NULL, NULL},
    {"beta", NULL, 0, TOOL_FLAG_DOUBLE, AT(distill.train.beta), "B", "(0, 1)", CLI_DISTILL, "Training",
     "weight of the target's distribution in the mixture of jensen-shannon", NULL, NULL},
    {"on-policy", NULL, 0, TOOL_FLAG_SWITCH, AT(distill.train.on_policy), NULL, NULL, CLI_DISTILL, "Training",
     "the student goes on with the target's answers from a random token, and learns what the target says there, too",
     NULL, NULL},
    {"lora", NULL, 0, TOOL_FLAG_INT, AT(distill.train.lora), "RANK", "[1, 1048576]", CLI_DISTILL, "Training",
     "the student's matrices stay fixed; factors of this rank, which are added to them, learn in their place (LoRA): "
     "less memory and smaller checkpoints (default: all weights of the layers learn)",
     NULL, NULL},
    {"taps", NULL, 0, TOOL_FLAG_INTS, AT(distill.taps), "N,N,...", "[0, 1023]", CLI_DISTILL, "Head",
     "layers of the target whose states the head reads, counted from 0, at most 8 (default: four)", NULL, NULL},
    {"type", NULL, 0, TOOL_FLAG_FILE, AT(distill.train.type), "TYPE", NULL, CLI_DISTILL, "Head",
     "type of the taught matrices: Q8_0, Q4_1, Q4_0, F16 or F32 (default Q8_0)", NULL, NULL},

    {"special", NULL, 0, TOOL_FLAG_SWITCH, AT(tokenize.special), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "turn the names of special tokens into their ids", NULL, NULL},
    {"bos", NULL, 0, TOOL_FLAG_SWITCH, AT(tokenize.bos), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "begin with the token that the model's file asks for", NULL, NULL},
    {"messages", NULL, 0, TOOL_FLAG_FILE, AT(tokenize.messages), "FILE", NULL, CLI_TOKENIZE, "Tokens",
     "tokenize a conversation through the chat template: a JSON file with messages, tools and variables as the OpenAI "
     "API has them",
     NULL, NULL},
    {"render", NULL, 0, TOOL_FLAG_SWITCH, AT(tokenize.render), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "print the text that the chat template makes of --messages, without tokens", NULL, NULL},
    {"ids", NULL, 0, TOOL_FLAG_SWITCH, AT(tokenize.ids), NULL, NULL, CLI_TOKENIZE, "Tokens",
     "print only the ids, on one line", NULL, NULL},
    {"frequent", NULL, 0, TOOL_FLAG_INT, AT(tokenize.n_frequent), "N", "[1, 2147483647]", CLI_TOKENIZE, "Tokens",
     "print instead the ids of the N most frequent tokens and of the token that ends an answer, one a line: a list for "
     "--draft-vocab",
     NULL, NULL},

    {"tokens", NULL, 0, TOOL_FLAG_FILE, AT(tokens), "LIST|FILE", NULL, CLI_LOGITS, "Tokens",
     "token ids, such as 1,2,3, or a file of ids", NULL, NULL},
    {"out", NULL, 'o', TOOL_FLAG_FILE, AT(out), "FILE", NULL, CLI_LOGITS, "Tokens",
     "write the logits to this .npy file", NULL, NULL},

    {"out", NULL, 'o', TOOL_FLAG_FILE, AT(out), "FILE", NULL, CLI_BATCH, "Output",
     "write the answers to this file, one JSON line each (default: standard output)", NULL, NULL},
    {"resume", NULL, 0, TOOL_FLAG_SWITCH, AT(resume), NULL, NULL, CLI_BATCH, "Output",
     "continue after the answers that --out already has", NULL, NULL},
    {"parallel", NULL, 0, TOOL_FLAG_INT, AT(distill.train.n_parallel), "N", "[1, 64]", CLI_DISTILL, "Resources",
     "most prompts answered at once", NULL, NULL},
    {"parallel", NULL, 0, TOOL_FLAG_INT, AT(n_parallel), "N", "[1, 256]", CLI_BATCH, "Resources",
     "most prompts answered at once", NULL, NULL},
    {"parallel", "np", 0, TOOL_FLAG_INT, AT(n_parallel), "N", "[1, 256]", CLI_SERVE, "Resources",
     "most answers at once; more requests wait", NULL, NULL},
    {"queue", NULL, 0, TOOL_FLAG_INT, AT(serve.n_queue), "N", "[1, 1000000]", CLI_SERVE, "Resources",
     "most answers that wait; further requests get status 429", NULL, NULL},
    {"inter-token-ms", NULL, 0, TOOL_FLAG_DOUBLE, AT(serve.inter_token_ms), "MS", "[1, 60000]", CLI_SERVE, "Resources",
     "while answers are being written, a pass takes only the rows of prompts that fit into MS milliseconds, and at "
     "least 16",
     NULL, NULL},
    {"parallel", NULL, 0, TOOL_FLAG_INTS, AT(bench.parallel), "N,N,...", "[1, 256]", CLI_BENCH, "Prompt",
     "for each N, answer N prompts at once in shared passes, plain and with each --spec, and report throughput, time "
     "between tokens and acceptance. N is at most the number of prompts, of which the first turn is answered",
     NULL, NULL},
    {"max-memory", NULL, 0, TOOL_FLAG_SIZE, AT(max_memory), "SIZE", "[1, 1e18]", CLI_SERVE, "Resources",
     "most memory for all models together, with their caches: others go where one needs it (default: with --models, "
     "four fifths of what is free at the start)",
     NULL, NULL},
    {"max-memory", NULL, 0, TOOL_FLAG_SIZE, AT(max_memory), "SIZE", "[1, 1e18]", CLI_BATCH, "Resources",
     "most memory for weights, cache and sessions together, such as 800M or 4G. Where it is short, answers wait for "
     "each other (default: no limit)",
     NULL, NULL},

    {"rows", NULL, 'r', TOOL_FLAG_INTS, AT(bench.rows), "N,N,...", "[1, 65]", PASSES, "tokens scored in one pass", NULL,
     NULL},
    {"depth", NULL, 0, TOOL_FLAG_INT, AT(bench.depth), "N", "[0, 1000000]", PASSES, "tokens in the cache before a pass",
     NULL, NULL},
    {"prefill", NULL, 0, TOOL_FLAG_INT, AT(bench.n_prefill), "N", "[0, 1000000]", PASSES,
     "also time a prompt of N tokens; 0: no prompt", NULL, NULL},
    {"decode", NULL, 0, TOOL_FLAG_INT, AT(bench.n_decode), "N", "[0, 1000000]", PASSES,
     "also time N tokens decoded without speculation, after --depth tokens; 0: none", NULL, NULL},
    {"kernels", NULL, 0, TOOL_FLAG_SWITCH, AT(bench.kernels), NULL, NULL, PASSES,
     "instead of passes, show the ways of reading the weights that --tune measured, and which ones it chose", NULL,
     NULL},
    {"reps", NULL, 0, TOOL_FLAG_INT, AT(bench.n_reps), "N", "[1, 1000]", CLI_BENCH, "Measuring",
     "measure each N times (default 10; with --prompts 1)", NULL, NULL},
    {"machine", NULL, 0, TOOL_FLAG_SWITCH, AT(machine), NULL, NULL, CLI_INFO, "Machine",
     "instead of a model, show this machine and this build: processor, memory, kernels, optional parts", NULL, NULL},
    {"json", NULL, 'j', TOOL_FLAG_FILE, AT(json), "FILE", NULL, CLI_INFO, "Machine",
     "with --machine, write the same as JSON", NULL, NULL},
    {"system", NULL, 0, TOOL_FLAG_SWITCH, AT(check.system), NULL, NULL, CLI_CHECK, "Checking",
     "instead of a model, check this build on this machine: do all its kernels give the bits that vouch has on every "
     "system?",
     NULL, NULL},
    {"vectors", NULL, 0, TOOL_FLAG_FILE, AT(check.vectors), "FILE", NULL, CLI_CHECK, "Checking",
     "instead of a model, check this build with the test vectors of the float order: docs/vectors/vectors.json", NULL,
     NULL},
    {"write-vectors", NULL, 0, TOOL_FLAG_FILE, AT(check.new_vectors), "FILE", NULL, CLI_CHECK, "Checking",
     "instead of checking, write these test vectors, and their models beside FILE", NULL, NULL},
    {"law", NULL, 0, TOOL_FLAG_SET, AT(check.laws), "all" CLI_LAW_LIST(LAW_WORD), NULL, CLI_CHECK, "Checking",
     "check only these laws (comma-separated); L1 to L4 of a model, L1, L2, L7, S1 and S2 of a server", NULL, NULL},
    {"seconds", NULL, 0, TOOL_FLAG_DOUBLE, AT(check.seconds), "S", "[0, 86400]", CLI_CHECK, "Checking",
     "about how long to check; some checks run in any case", NULL, NULL},
    {"server", NULL, 0, TOOL_FLAG_FILE, AT(check.server.address), "URL", NULL, CLI_CHECK, "A server",
     "instead of a model, check the server at this address, of any kind that has the OpenAI API", NULL, NULL},
    {"plain-server", NULL, 0, TOOL_FLAG_FILE, AT(check.server.plain_address), "URL", NULL, CLI_CHECK, "A server",
     "the same model served without speculation, for a server that has no switch for it in a request (vouch and "
     "llama.cpp have one)",
     NULL, NULL},
    {"server-model", NULL, 0, TOOL_FLAG_FILE, AT(check.server.model), "NAME", NULL, CLI_CHECK, "A server",
     "the model to ask (default: the first that the server lists)", NULL, NULL},
    {"api-key", NULL, 0, TOOL_FLAG_FILE, AT(check.server.key), "KEY", NULL, CLI_CHECK, "A server",
     "the server's key (default: the variable OPENAI_API_KEY, which other users of this machine can't see)", NULL,
     NULL},
    {"timeout", NULL, 0, TOOL_FLAG_DOUBLE, AT(check.server.timeout), "S", "[0.1, 86400]", CLI_CHECK, "A server",
     "how long a whole answer may take", NULL, NULL},
    {"tolerance", NULL, 0, TOOL_FLAG_DOUBLE, AT(check.server.tolerance), "X", "[0, 100]", CLI_CHECK, "A server",
     "how far log probabilities with and without speculation may differ (default: not at all on vouch, 0.02 elsewhere)",
     NULL, NULL},
    {"seed", NULL, 's', TOOL_FLAG_SEED, AT(check.server.seed), "N", "[0, 2^64)", CLI_CHECK, "A server",
     "seed of the seeds and prompts to ask; 0: a new one", NULL, NULL},
    {"json", NULL, 'j', TOOL_FLAG_FILE, AT(json), "FILE", NULL, CLI_BENCH | CLI_CHECK | CLI_ANALYZE | CLI_LIST,
     "Output", "write the figures as JSON", NULL, NULL},
    {"svg", NULL, 0, TOOL_FLAG_FILE, AT(svg), "FILE", NULL, CLI_ANALYZE, "Output", "write the figures as plots", NULL,
     NULL},
    {"csv", NULL, 0, TOOL_FLAG_FILE, AT(bench.csv), "FILE", NULL, CLI_BENCH, "Report",
     "write one line for each answer to a prompt", NULL, NULL},
    {"html", NULL, 0, TOOL_FLAG_FILE, AT(bench.html), "FILE", NULL, CLI_BENCH, "Report", "write a report with plots",
     NULL, NULL},

    {"ctx", NULL, 'c', TOOL_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_BENCH, "Resources",
     "context length: most tokens of prompt and answer (default: as many as the measurements need)", NULL, NULL},
    {"ctx", NULL, 'c', TOOL_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_BATCH, "Resources",
     "context length: most tokens of a prompt and its answer (default: as many as the longest needs)", NULL, NULL},
    {"ctx", NULL, 'c', TOOL_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_RUN, "Resources",
     "context length: most tokens of prompt and answer (default: the model's, at most 4096)", NULL, NULL},
    {"ctx", NULL, 'c', TOOL_FLAG_INT, AT(session.n_ctx), "N", "[2, 1048576]", CLI_SERVE, "Resources",
     "context length: most tokens of a prompt and its answer (default: the model's, at most 4096)", NULL, NULL},
    {"threads", NULL, 't', TOOL_FLAG_INT, AT(session.n_threads), "N", "[1, 256]", EVERYWHERE | CLI_SERVE, "Resources",
     "threads (default: one for each processor)", NULL, NULL},
    {"cpu", NULL, 0, TOOL_FLAG_FILE, AT(cpu), "ISA", NULL, WITH_MODEL | CLI_SERVE, "Resources",
     "instruction set: ref, avx2, avxvnni, avx512, avx512vnni, avx512gfni; on Arm ref, neon, dotprod, i8mm (default "
     "auto: the widest that this machine has)",
     NULL, NULL},
    {"tune", NULL, 0, TOOL_FLAG_CHOICE, AT(tune), "on|off", NULL, WITH_WEIGHTS | CLI_SERVE, "Resources",
     "on: measure at the start which way of reading the weights is the fastest on this machine. Every way gives the "
     "same bits (bench --kernels shows them)",
     NULL, NULL},
    {"kv-type", NULL, 0, TOOL_FLAG_CHOICE, AT(session.kv_type), CLI_KV_TYPES, NULL, WITH_WEIGHTS | CLI_SERVE,
     "Resources", "type in which the cache keeps keys and values", NULL, NULL},
    {"prefill-chunk", NULL, 0, TOOL_FLAG_INT, AT(session.prefill_chunk), "N", "[16, 512]", CLI_SERVE, "Resources",
     "most tokens of prompts that one pass reads (default 256)", NULL, NULL},
    {"prefill-chunk", NULL, 0, TOOL_FLAG_INT, AT(session.prefill_chunk), "N", "[1, 512]", WITH_WEIGHTS, "Resources",
     "most tokens of a prompt that one pass reads (default 256)", NULL, NULL},

    {"color", "colour", 0, TOOL_FLAG_CHOICE, AT(color), "auto|always|never", NULL, OUTPUT,
     "colour the answer: green are accepted guesses, yellow is the token that replaces a rejected guess, cyan is the "
     "token after a draft accepted to its end, without colour is a token without a draft. --color alone means auto: "
     "only on a terminal (default: colours only in tables)",
     NULL, "auto"},
    {"trace", NULL, 0, TOOL_FLAG_SWITCH, AT(trace), NULL, NULL, OUTPUT,
     "print a table of the guesses of each cycle on standard error", NULL, NULL},
    {"stats", NULL, 0, TOOL_FLAG_SWITCH, AT(stats), NULL, NULL, OUTPUT, "print figures at the end on standard error",
     NULL, NULL},
    {"stats-json", NULL, 0, TOOL_FLAG_FILE, AT(stats_json), "FILE", NULL, OUTPUT,
     "write the figures as JSON; with --trace, also the guesses of each cycle", NULL, NULL},
    {"stats-json", NULL, 0, TOOL_FLAG_FILE, AT(stats_json), "FILE", NULL, CLI_BATCH, "Output",
     "write the figures of the whole run as JSON", NULL, NULL},
    {"seed", NULL, 's', TOOL_FLAG_SEED, AT(session.sampling.seed), "N", "[0, 2^64)", CLI_SERVE, "Sampling",
     "seed of requests that set none; 0: a new one for each (default 0)", NULL, NULL},
    {"host", NULL, 0, TOOL_FLAG_FILE, AT(serve.host), "ADDRESS", NULL, SERVING,
     "listen on this address; one that other machines reach needs a key (default 127.0.0.1)", NULL, NULL},
    {"port", NULL, 0, TOOL_FLAG_INT, AT(serve.port), "N", "[0, 65535]", SERVING,
     "listen on this port; 0: a free one, which the first line of the output names", NULL, NULL},
    {"api-key", NULL, 0, TOOL_FLAG_TEXTS, AT(serve.keys), "KEY", NULL, SERVING,
     "requests must carry one of the keys given; repeatable. Other users of this machine can see a key on the command "
     "line, but not one in --api-key-file",
     NULL, NULL},
    {"api-key-file", NULL, 0, TOOL_FLAG_FILE, AT(serve.key_file), "FILE", NULL, SERVING,
     "read keys from a file, one a line", NULL, NULL},
    {"admin-key", NULL, 0, TOOL_FLAG_TEXT, AT(serve.admin_key), "KEY", NULL, SERVING,
     "the operator's key: requests that change the server (POST /admin/...) must carry it. Where there are keys and "
     "not "
     "this one, such requests are refused",
     NULL, NULL},
    {"admin-key-file", NULL, 0, TOOL_FLAG_FILE, AT(serve.admin_key_file), "FILE", NULL, SERVING,
     "read the operator's key from a file", NULL, NULL},
    {"share-memory", NULL, 0, TOOL_FLAG_SWITCH, AT(serve.shares_memory), NULL, NULL, SERVING,
     "all API keys share the draft memory and the cached prompts. Without it each key has its own, because a fast "
     "answer tells that somebody has sent the same prompt, or has had the same answer",
     NULL, NULL},
    {"no-key", NULL, 0, TOOL_FLAG_SWITCH, AT(serve.no_key), NULL, NULL, SERVING,
     "listen without a key on an address that other machines reach", NULL, NULL},
    {"cors", NULL, 0, TOOL_FLAG_TEXTS, AT(serve.origins), "ORIGIN", NULL, SERVING,
     "let web pages of this origin send requests, such as https://chat.example; localhost: pages of this machine; *: "
     "all pages; repeatable",
     NULL, NULL},
    {"tls-cert", NULL, 0, TOOL_FLAG_FILE, AT(serve.tls_cert), "FILE", NULL, SERVING,
     "speak TLS with this certificate (PEM); needs --tls-key", NULL, NULL},
    {"tls-key", NULL, 0, TOOL_FLAG_FILE, AT(serve.tls_key), "FILE", NULL, SERVING,
     "the certificate's private key (PEM)", NULL, NULL},
    {"ping", NULL, 0, TOOL_FLAG_DOUBLE, AT(serve.ping), "S", "[0.1, 3600]", SERVING,
     "after S seconds without a token, send a comment in the stream, so that no proxy closes it", NULL, NULL},
    {"metrics-prefix", NULL, 0, TOOL_FLAG_FILE, AT(serve.metrics_prefix), "NAME", NULL, SERVING,
     "prefix of the names in /metrics; vllm: as vLLM's dashboards expect them (default vouch)", NULL, NULL},
    {"timeout", NULL, 0, TOOL_FLAG_DOUBLE, AT(serve.timeout), "S", "[1, 86400]", SERVING,
     "drop a client that takes longer to send a request, or to read what waits for it", NULL, NULL},

    {"help", NULL, 'h', TOOL_FLAG_SWITCH, AT(help), NULL, NULL, EVERYWHERE | CLI_SERVE | CLI_MEMORY | HUB, "Help",
     "print this text", NULL, NULL},
};
enum { N_ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)N_ROWS + (int)VOUCH_DRAFTERS <= (int)CLI_MOST_FLAGS, "raise CLI_MOST_FLAGS");

/* A flag for the file of each drafter that has one, before --allow-other-head. */
const tool_flag_table *cli_option_table(void)
{
    static bool is_made;
    static tool_flag flags[CLI_MOST_FLAGS];
    static tool_flag_table table = {flags, 0, cli_command_names, CLI_COMMANDS, cli_foreign_flags};
    for (size_t i = 0; i < N_ROWS && !is_made; i++) {
        for (int d = VOUCH_DRAFTERS - 1; d >= 0 && strcmp(rows[i].name, "allow-other-head") == 0; d--) {
            const vouch_drafter_info info = vouch_drafter_get_info(d);
            if (!info.file) continue;
            flags[table.n++] = (tool_flag){.name = info.flags,
                                           .kind = TOOL_FLAG_FILE,
                                           .offset = offsetof(cli_options, draft_files) + (size_t)d * sizeof(char *),
                                           .value = "FILE",
                                           .commands = ASKING | CLI_CHECK | CLI_SERVE,
                                           .group = "Speculation",
                                           .help = info.file};
        }
        flags[table.n++] = rows[i];
    }
    is_made = true;
    return &table;
}

cli_options cli_options_default(unsigned command)
{
    cli_options options = {.session = vouch_session_options_default(),
                           .n_parallel = 8,
                           .draft_memory_size = 64000000,
                           .prompt_cache_size = 8000000000,
                           .bench = {.rows = {{1, 2, 4, 5, 8, 16}, 6}, .depth = 128},
                           .check = {.seconds = 60, .server = {.timeout = 120, .tolerance = -1}},
                           .serve = {.host = "127.0.0.1",
                                     .metrics_prefix = "vouch",
                                     .port = 8080,
                                     .n_queue = 256,
                                     .ping = 15,
                                     .timeout = 60,
                                     .idle = 600,
                                     .inter_token_ms = 50},
                           .distill = {.n_tokens = 2000000, .train = train_options_default()}};
    options.session.max_tokens = command & (CLI_RUN | CLI_BATCH) ? 512 : command & CLI_SERVE ? 0 : 128;
    options.session.n_ctx = options.session.n_threads = options.session.prefill_chunk = 0;
    options.session.speculation.n_draft = 0;
    return options;
}
