/* SPDX-License-Identifier: MIT */
/*
 * The words of each tokenizer.ggml.pre: one row of `rules` a name, and the patterns that cut its texts.
 *
 * The first pattern cuts the text, the second cuts every piece that the first made, and so on. A match is a piece, and
 * so is the text between two matches. A pattern sees nothing outside its piece.
 *
 * The models' tokenizers were trained with these patterns, which are rewritten from Rust or Oniguruma for PCRE2.
 * They spell out white space as Unicode's property White_Space, because PCRE2's \s has U+180E besides. The rows and
 * their flags are those of llama.cpp v0.5.0. docs/tokenizers.md lists where the words differ from llama.cpp's: it
 * approximates patterns that tell upper from lower case, and we don't.
 *
 * No pattern takes quadratic time on a long run. Where a plain one would (digits from the right, cascades of spaces),
 * a function or a pattern for a second cut replaces it.
 */
#include <stdio.h>
#include <string.h>

#include "text/internal.h"

#define SPACES                                                                                               \
    "\\x{09}-\\x{0d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"                     \
    "\\x{202f}\\x{205f}\\x{3000}"
#define FLAT_SPACE /* white space except \n and \r */                                                        \
    "[\\x{09}\\x{0b}\\x{0c}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"              \
    "\\x{202f}\\x{205f}\\x{3000}]"
#define SPACE                 "[" SPACES "]"
#define NO_SPACE              "[^" SPACES "]"
#define NO_SPACE_LETTER_DIGIT "[^" SPACES "\\p{L}\\p{N}]"
#define LAST_SPACES           SPACE "+(?!" NO_SPACE ")|" SPACE "+"
#define LINE_ENDS             SPACE "*[\\r\\n]+"
#define SUFFIX                "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define ASCII_PUNCTUATION     "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"

/* U+0800 to U+4E00 without white space, ideographs and Hangul. */
#define EASTERN                                                                                              \
    "\\x{800}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}"         \
    "\\x{2060}-\\x{2fff}\\x{3001}-\\x{9fa5}\\x{ac00}-\\x{d7ff}"
#define KANA_IDEOGRAPHS "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{30ff}]+"

#define WORDS_GPT2                                                                                           \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?" NO_SPACE_LETTER_DIGIT "+|" LAST_SPACES
#define WORDS_LLAMA3(digits)                                                                                 \
    SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?" NO_SPACE_LETTER_DIGIT "+[\\r\\n]*|" LINE_ENDS      \
           "|" LAST_SPACES
/* Upper case, then lower case; letters without case and marks are both. */
#define UPPER "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}"
#define LOWER "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
#define WORDS_CASED(upper, lower, suffix)                                                                    \
    "[^\\r\\n\\p{L}\\p{N}]?" upper "*" lower "+" suffix "|[^\\r\\n\\p{L}\\p{N}]?" upper "+" lower "*" suffix
#define WORDS_GPT4O(digits, suffix, ends)                                                                    \
    WORDS_CASED("[" UPPER "]", "[" LOWER "]", suffix)                                                        \
    "|" digits "| ?" NO_SPACE_LETTER_DIGIT "+" ends "*|" LINE_ENDS "|" LAST_SPACES
/* PCRE2 can't subtract sets. A set without Han is the complement of (the set's complement, or Han). */
#define WORDS_KIMI                                                                                           \
    "\\p{sc:Han}+|" WORDS_CASED("[^\\p{Ll}\\p{N}\\p{P}\\p{S}\\p{Z}\\p{C}\\p{sc:Han}]",                       \
                                "[^\\p{Lu}\\p{Lt}\\p{N}\\p{P}\\p{S}\\p{Z}\\p{C}\\p{sc:Han}]", SUFFIX "?")    \
    "|\\p{N}{1,3}| ?" NO_SPACE_LETTER_DIGIT "+[\\r\\n]*|" LINE_ENDS "|" LAST_SPACES
#define WORDS_DEEPSEEK3                                                                                      \
    ASCII_PUNCTUATION "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|"    \
    LINE_ENDS "|" LAST_SPACES
#define WORDS_BLOOM                                                                                          \
    " ?[^(|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c})" SPACES "]+"
#define CASED_LETTERS /* of the scripts that deepseek-llm lists */                                           \
    "\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}\\x{1c4}-\\x{293}" \
    "\\x{295}-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}\\x{37f}\\x{386}\\x{388}-\\x{38a}" \
    "\\x{38c}\\x{38e}-\\x{3a1}\\x{3a3}-\\x{3f5}\\x{3f7}-\\x{481}\\x{48a}-\\x{52f}\\x{531}-\\x{556}" \
    "\\x{10a0}-\\x{10c5}\\x{13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}" \
    "\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}\\x{1f18}-\\x{1f1d}" \
    "\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}\\x{1f5b}\\x{1f5d}" \
    "\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}\\x{1fc2}-\\x{1fc4}" \
    "\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}" \
    "\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{2124}" \
    "\\x{2126}\\x{2128}\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}" \
    "\\x{2145}-\\x{2149}\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}" \
    "\\x{2ceb}-\\x{2cee}\\x{2cf2}\\x{2cf3}\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}" \
    "\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}\\x{ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}\\x{fb13}-\\x{fb17}" \
    "\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}\\x{104b0}-\\x{104d3}" \
    "\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}\\x{118a0}-\\x{118df}" \
    "\\x{1e900}-\\x{1e943}"

#define PATTERNS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Steps that are no patterns. vouch_pretokenizer_words knows these texts by their address. */
const char vouch_digits_joined[] = "digits in threes from the right; 1 or 2 left over stay with the text before";
const char vouch_digits_bounded[] = "digits that end a word, in threes from the right; 1 or 2 left over are a piece";
const char vouch_digits_counted[] = "a cut before each ASCII digit that begins the last 3, 6, 9, ... digits of its run";

#define GPT2      PATTERNS(WORDS_GPT2)
#define LLAMA3    PATTERNS(WORDS_LLAMA3("\\p{N}{1,3}"))
#define QWEN2     PATTERNS(WORDS_LLAMA3("\\p{N}"))
#define BLOOM     PATTERNS(WORDS_BLOOM)
#define GPT4O     PATTERNS(WORDS_GPT4O("\\p{N}{1,3}", SUFFIX "?", "[\\r\\n/]"))
#define DEEPSEEK3 PATTERNS("\\p{N}{1,3}", KANA_IDEOGRAPHS, WORDS_DEEPSEEK3)
/* Each digit alone, then gpt-2 on the text between digits. In one pattern: a digit is a word, and white space before
 * a digit counts as the end of a piece. */
#define SMOLLM                                                                                               \
    PATTERNS("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+|\\p{N}| ?" NO_SPACE_LETTER_DIGIT "+|" SPACE "+(?![^" SPACES  \
             "\\p{N}])|" SPACE "+")
#define TINY_AYA  PATTERNS(vouch_digits_bounded, WORDS_GPT4O("\\p{N}{1,3}", SUFFIX "?", "[\\r\\n/]"))
#define BAILINGMOE                                                                                           \
    PATTERNS("'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?" NO_SPACE_LETTER_DIGIT               \
             "+[\\r\\n]*|" SPACE "*[\\r\\n]|" LAST_SPACES)
#define LINES PATTERNS("[^\\n]+|\\n+")
#define BYTES .scheme = SCHEME_BYTES
#define CHARACTERS .scheme = SCHEME_CHARACTERS
#define ROW(pre, patterns, ...) {pre, "bpe/" pre, patterns, __VA_ARGS__}

static const pretokenizer_rule rules[] = {
    ROW("smollm", SMOLLM, BYTES),
    ROW("gpt-2", GPT2, BYTES),
    ROW("llama-bpe", LLAMA3, BYTES, .whole_words = true, .add_bos = true),
    {"llama3", "bpe/llama-bpe", LLAMA3, BYTES, .whole_words = true, .add_bos = true},
    {"llama-v3", "bpe/llama-bpe", LLAMA3, BYTES, .whole_words = true, .add_bos = true},
    ROW("qwen2", QWEN2, BYTES, .nfc = true),
    ROW("qwen35",
        PATTERNS(SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^" SPACES
                        "\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" LINE_ENDS "|" LAST_SPACES),
        BYTES),
    ROW("gpt-4o", GPT4O, BYTES),
    ROW("tekken", PATTERNS(WORDS_GPT4O("\\p{N}", "", "[\\r\\n/]")), BYTES, .whole_words = true, .add_bos = true),
    ROW("gemma4", LINES, CHARACTERS, .whole_lines = true, .add_bos = true),
    ROW("lfm2", LLAMA3, BYTES, .whole_words = true, .add_bos = true),
    ROW("falcon3", LLAMA3, BYTES, .whole_words = true, .add_bos = true),
    ROW("falcon-h1", LLAMA3, BYTES, .whole_words = true, .add_bos = true),
    ROW("pixtral", LLAMA3, BYTES, .whole_words = true, .add_bos = true),
    ROW("midm-2.0", LLAMA3, BYTES, .whole_words = true, .add_bos = true),
    ROW("jina-v5-nano", LLAMA3, BYTES, .whole_words = true, .add_bos = true),
    ROW("dbrx", LLAMA3, BYTES),
    ROW("smaug-bpe", LLAMA3, BYTES),
    ROW("chatglm-bpe", LLAMA3, BYTES),
    ROW("glm4", LLAMA3, BYTES, .whole_words = true),
    ROW("glm5", LLAMA3, BYTES, .whole_words = true),
    ROW("deepseek-r1-qwen", QWEN2, BYTES, .nfc = true),
    ROW("megrez", QWEN2, BYTES, .nfc = true),
    ROW("kormo", QWEN2, BYTES),
    ROW("f2llmv2", QWEN2, BYTES, .nfc = true),
    ROW("stablelm2", QWEN2, BYTES),
    ROW("hunyuan", QWEN2, BYTES),
    ROW("solar-open", QWEN2, BYTES),
    ROW("grok-2", QWEN2, BYTES),
    ROW("laguna", PATTERNS("[^\\n]+|\\n+", WORDS_LLAMA3("\\p{N}")), BYTES),
    ROW("minicpm5", PATTERNS("\\p{N}{1,3}", WORDS_LLAMA3("\\p{N}+")), BYTES, .whole_words = true),
    ROW("jais-2",
        PATTERNS(WORDS_LLAMA3("\\p{N}{1,3}"),
                 /* Spaces in powers of two, as the cascade \s{512}(?!\S)|\s{256}(?!\S)|... cuts them. A piece that
                  * ends a line stays whole. */
                 "\\A(?s:.++)(?<=[\\r\\n])(*COMMIT)(*FAIL)|" FLAT_SPACE "{512}|" FLAT_SPACE "{256}|" FLAT_SPACE
                 "{128}|" FLAT_SPACE "{64}|" FLAT_SPACE "{32}|" FLAT_SPACE "{16}|" FLAT_SPACE "{8}|" FLAT_SPACE
                 "{4}|" FLAT_SPACE "{2}"),
        BYTES),
    ROW("llama4", GPT4O, BYTES),
    ROW("kanana2", GPT4O, BYTES),
    ROW("talkie", GPT4O, BYTES),
    ROW("minimax-m2", GPT4O, BYTES),
    ROW("granite-embed-multi-97m", GPT4O, BYTES, .whole_words = true),
    ROW("tiny_aya", TINY_AYA, BYTES),
    ROW("cohere2moe", TINY_AYA, BYTES),
    ROW("kimi-k2", PATTERNS(WORDS_KIMI), BYTES),
    ROW("youtu",
        PATTERNS("[\\x{ac00}-\\x{d7a3}\\x{3131}-\\x{318e}]+|[\\x{ff01}\\x{2026}\\x{201c}\\x{201d}\\x{2018}\\x{2019}"
                 "\\x{2014}\\x{ff1a}\\x{ff1b}\\x{ff0c}\\x{3001}-\\x{303f}\\x{fe30}-\\x{fe4f}]+|"
                 "[\\x{3105}-\\x{312f}]+|" KANA_IDEOGRAPHS,
                 WORDS_GPT4O("\\p{N}", SUFFIX "?", "[\\r\\n/]")),
        BYTES, .whole_words = true),
    ROW("deepseek-llm",
        PATTERNS("[\\r\\n]", SPACE "?[A-Za-z" CASED_LETTERS "]+",
                 SPACE "?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3001}\\x{3002}]+",
                 "(?<!" SPACE ")" SPACE "++\\z", "[" EASTERN "]+", "\\p{N}+"),
        BYTES),
    ROW("deepseek-coder", PATTERNS("[\\r\\n]", SPACE "?\\p{L}+", SPACE "?\\p{P}+", "[" EASTERN "]+", "\\p{N}"), BYTES),
    ROW("deepseek-v3", DEEPSEEK3, BYTES),
    ROW("hunyuan-dense", DEEPSEEK3, BYTES),
    ROW("joyai-llm", DEEPSEEK3, BYTES),
    ROW("hy_v4", DEEPSEEK3, BYTES),
    ROW("spark2_5",
        PATTERNS("\\p{N}{1,3}", KANA_IDEOGRAPHS,
                 ASCII_PUNCTUATION "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+|"
                                   "[\\r\\n]|" LAST_SPACES,
                 "\\p{N}"),
        BYTES),
    ROW("afmoe",
        PATTERNS(vouch_digits_joined,
                 "[\\x{4e00}-\\x{9fff}\\x{3400}-\\x{4dbf}\\x{8c48}-\\x{faff}\\x{3040}-\\x{30ff}\\x{ff65}-\\x{ff9f}"
                 "\\x{2f00}-\\x{2fdf}\\x{e40}-\\x{eff}\\x{1780}-\\x{17ff}\\x{1000}-\\x{109f}\\x{aa60}-\\x{aa7f}"
                 "\\x{a9e0}-\\x{a9ff}\\x{1100}-\\x{11ff}]+",
                 WORDS_DEEPSEEK3),
        BYTES),
    ROW("falcon", PATTERNS("[\\p{P}$+<=>^~|`]+", WORDS_GPT2, "[0-9][0-9][0-9]"), BYTES),
    ROW("default", PATTERNS("[\\p{P}$+<=>^~|]+", WORDS_GPT2, "\\p{N}+", "[0-9][0-9][0-9]"), BYTES),
    ROW("starcoder", SMOLLM, BYTES),
    ROW("refact", SMOLLM, BYTES),
    ROW("command-r", SMOLLM, BYTES),
    ROW("codeshell", SMOLLM, BYTES),
    ROW("exaone", SMOLLM, BYTES),
    ROW("minerva-7b", SMOLLM, BYTES),
    ROW("mellum2", SMOLLM, BYTES),
    ROW("exaone4", GPT2, BYTES),
    ROW("exaone-moe",
        PATTERNS(SUFFIX
                 "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*+(?: \\p{L}\\p{M}*+)*+)++|\\p{N}| ?" NO_SPACE_LETTER_DIGIT
                 "+[\\r\\n/]?|" SPACE "*[\\r\\n]|" LAST_SPACES),
        BYTES),
    ROW("mpt", GPT2, BYTES),
    ROW("olmo", GPT2, BYTES),
    ROW("jais", GPT2, BYTES),
    ROW("trillion", GPT2, BYTES),
    ROW("granite-docling", GPT2, BYTES),
    ROW("phi-2", GPT2, BYTES),
    ROW("gigachat", GPT2, BYTES),
    ROW("a.x-4.0", GPT2, BYTES),
    ROW("mellum", GPT2, BYTES),
    ROW("modern-bert", GPT2, BYTES),
    ROW("roberta-bpe", GPT2, BYTES),
    ROW("jina-es", GPT2, BYTES),
    ROW("jina-de", GPT2, BYTES),
    ROW("jina-v1-en", GPT2, BYTES),
    ROW("jina-v2-es", GPT2, BYTES),
    ROW("jina-v2-de", GPT2, BYTES),
    ROW("jina-v2-code", GPT2, BYTES),
    ROW("bloom", BLOOM, BYTES),
    ROW("poro-chat", BLOOM, BYTES),
    ROW("gpt3-finnish", BLOOM, BYTES),
    ROW("viking", PATTERNS(WORDS_BLOOM, "\\p{N}"), BYTES),
    ROW("chameleon",
        PATTERNS("<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", "\\p{N}", "[\\p{P}!-/:-@\\[-`{-~]",
                 WORDS_GPT2),
        BYTES, .add_bos = true),
    ROW("superbpe", PATTERNS("\\p{N}+", vouch_digits_counted), BYTES),
    ROW("bailingmoe", BAILINGMOE, BYTES),
    ROW("bailingmoe2", BAILINGMOE, BYTES),
    ROW("llada-moe", BAILINGMOE, BYTES),
    ROW("seed-coder",
        PATTERNS(SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^" SPACES "\\p{L}\\p{N}\\r\\n]+|" LINE_ENDS
                        "|" LAST_SPACES),
        BYTES),
    ROW("ufakzeka",
        PATTERNS("[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?" NO_SPACE_LETTER_DIGIT "+[\\r\\n]*|" LINE_ENDS
                 "|" LAST_SPACES),
        BYTES),
    ROW("sarvam-moe", LINES, CHARACTERS),
    ROW("granite-embed-multi-311m", LINES, CHARACTERS, .whole_lines = true, .add_bos = true),
};

static bool name_is(const char *name, vouch_text text)
{
    return strlen(name) == text.size && memcmp(name, text.data, text.size) == 0;
}

const pretokenizer_rule *vouch_pretokenizer_rule(vouch_text model, vouch_text pre)
{
    static const pretokenizer_rule spm = {"", "spm", NULL, .scheme = SCHEME_SCORES, .add_bos = true};
    static const pretokenizer_rule unigram = {"", "unigram", NULL, .scheme = SCHEME_UNIGRAM};
    static const pretokenizer_rule longest = {"", "rwkv", NULL, .scheme = SCHEME_LONGEST};
    if (name_is("llama", model)) return &spm;
    if (name_is("rwkv", model)) return &longest;
    if (name_is("t5", model)) return &unigram;
    if (name_is("gemma4", model)) pre = model;
    if (pre.size == 0) pre = (vouch_text){"default", strlen("default")}; /* as llama.cpp has it */
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (name_is(rules[i].pre, pre)) return &rules[i];
    return NULL;
}

void vouch_pretokenizer_names(char *out, size_t room)
{
    enum { SHOWN = 16, N = sizeof rules / sizeof *rules };
    size_t used = 0;
    for (size_t i = 0; i < SHOWN && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s, ", rules[i].pre);
    if (used < room) snprintf(out + used, room - used, "and %d others", N - SHOWN);
}
