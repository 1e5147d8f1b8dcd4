/* SPDX-License-Identifier: MIT */
/*
 * Runs the fuzz target of the tokenizers inside the ordinary tests, on texts joined from hard pieces: words, runs of
 * one letter, white space, combining marks, emoji, special tokens, broken UTF-8 and random bytes.
 */
#include "fuzz/fuzz_tokenizer.c"
#include "support/decode/replay.h"

static const char *const pieces[] = {"the",
                                     " guess",
                                     "It's",
                                     "'LL",
                                     "  ",
                                     "\n\n",
                                     "\t",
                                     "\r\n",
                                     "1234567",
                                     "3.14",
                                     "...",
                                     "!?",
                                     "e\xcc\x81",        /* e and a combining acute accent */
                                     "\xc3\xa9",         /* e with acute accent, composed */
                                     "\xcc\x81",         /* the combining accent alone */
                                     "\xe4\xbd\xa0",     /* a Chinese character */
                                     "\xf0\x9f\x98\x80", /* an emoji */
                                     "\xe2\x80\x8d",     /* zero-width joiner */
                                     "\xe2\x80\xa8",     /* line separator */
                                     "\xc2\xa0",         /* no-break space */
                                     "\xff",             /* never in UTF-8 */
                                     "\xed\xa0\x80",     /* a surrogate: no UTF-8 */
                                     "\xc0\xaf",         /* an overlong slash: no UTF-8 */
                                     "\xf4\x90",         /* beyond U+10FFFF: no UTF-8 */
                                     "<|im_start|>",
                                     "<|im_end",
                                     "<think>",
                                     "|>",
                                     "\xea\xb0\x80",             /* a Hangul syllable, composed */
                                     "\xe1\x84\x80\xe1\x85\xa1", /* the same syllable, decomposed */
                                     "aaaaaaaa",
                                     "_"};

static size_t text_make(test_random *random, uint8_t *out, size_t room)
{
    size_t n = 0;
    const uint32_t n_pieces = 1 + test_below(random, 40);
    for (uint32_t i = 0; i < n_pieces && n + 160 < room; i++) {
        const char *piece = pieces[test_below(random, sizeof pieces / sizeof *pieces)];
        for (uint32_t times = test_below(random, 8) ? 1 : 1 + test_below(random, 9); times > 0; times--) {
            memcpy(out + n, piece, strlen(piece));
            n += strlen(piece);
        }
        if (test_below(random, 6) == 0) out[n++] = (uint8_t)test_below(random, 256);
    }
    return n;
}

static void test_replay(void **state)
{
    (void)state;
    enum { ROOM = 8192 };
    test_random random = {4};
    for (int i = 0; i < (test_is_quick() ? 3000 : 20000); i++) {
        uint8_t bytes[ROOM];
        bytes[0] = (uint8_t)test_below(&random, 256);
        bytes[1] = (uint8_t)test_below(&random, 256);
        const size_t n = 2 + text_make(&random, bytes + 2, ROOM - 2);
        feed("text", (size_t)i, bytes, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
