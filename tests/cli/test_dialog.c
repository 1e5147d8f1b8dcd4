/* SPDX-License-Identifier: MIT */
/* The prompts of a question with several turns: which texts stand in each of them. */
#include "support/program/command.h"

#include <stdlib.h>
#include <string.h>

#include "bench/dialog.h"
#include "support/model/tiny_model.h"

static cli_options options;
static cli_engine engine = {.options = &options};
static char first[] = "hello", second[] = "and then", third[] = "bye", *turns[] = {first, second, third};
static cli_question question = {.turns = turns, .n_turns = 3};

/* Opens the tiny model with this template, and makes the first turn's tokens. */
static void begin(const char *chat_template, const char *system)
{
    char path[256];
    vouch_error err;
    strcpy(path, test_temporary("dialog.gguf"));
    tiny_model_write(path, &(tiny_model_options){.n_ctx = 256, .seed = 1});
    const bool is_raw = strcmp(chat_template, "none") == 0;
    const vouch_model_options model = {.chat_template = is_raw ? NULL : chat_template};
    assert_int_equal(vouch_model_open(&engine.model, path, &model, &err), VOUCH_OK);
    options = (cli_options){.model = "m.gguf", .chat_template = chat_template, .system = system};
    assert_int_equal(cli_prompt_tokenize_question(&engine, first, strlen(first), &question.tokens, &err), VOUCH_OK);
}

static void end(cli_dialog *dialog)
{
    cli_dialog_clear(dialog);
    free(question.tokens.items);
    vouch_model_close(engine.model);
}

static void ask(cli_dialog *dialog)
{
    vouch_error err;
    assert_int_equal(cli_dialog_ask(dialog, &engine, &question, &err), VOUCH_OK);
}

/* Answers the last turn in two steps. */
static void say(cli_dialog *dialog, const char *one, size_t n_one, const char *other, size_t n_other)
{
    cli_turn *turn = &dialog->items[dialog->n - 1];
    const int32_t tokens[] = {3, 1, 4};
    vouch_error err;
    assert_int_equal(cli_turn_hear(turn, &(vouch_step){.text = one, .n_text = n_one}, &err), VOUCH_OK);
    assert_int_equal(cli_turn_hear(turn, &(vouch_step){.text = other, .n_text = n_other}, &err), VOUCH_OK);
    assert_int_equal(cli_turn_keep(turn, tokens, 3, VOUCH_ACCEPT_MATCH, &err), VOUCH_OK);
    assert_int_equal(turn->accept, VOUCH_ACCEPT_MATCH);
    assert_int_equal(turn->answered.n, 3);
    assert_memory_equal(turn->answered.items, tokens, sizeof tokens);
}

/* The prompt of the last turn is this conversation, or this text. */
static void expect_prompt(const cli_dialog *dialog, const vouch_message *messages, size_t n, const char *text)
{
    const cli_tokens *prompt = &dialog->items[dialog->n - 1].prompt;
    cli_tokens expected;
    vouch_error err;
    const size_t n_given = messages ? n : strlen(text);
    assert_int_equal(cli_prompt_tokenize(&engine, text, messages, n_given, VOUCH_TOKENIZE_BOS, &expected, &err),
                     VOUCH_OK);
    assert_int_equal(prompt->n, expected.n);
    assert_memory_equal(prompt->items, expected.items, expected.n * sizeof *expected.items);
    free(expected.items);
}

static void answers_stand_in_later_prompts(void **state)
{
    (void)state;
    static const char *const systems[] = {NULL, "be brief"};
    for (size_t s = 0; s < 2; s++) {
        cli_dialog dialog = {NULL, 0};
        const vouch_message talk[] = {{"system", "be brief"}, {"user", first},         {"assistant", "yes sir"},
                                      {"user", second},       {"assistant", "no one"}, {"user", third}};
        const size_t skip = systems[s] == NULL;
        begin("chatml", systems[s]);
        ask(&dialog);
        expect_prompt(&dialog, talk + skip, 2 - skip, NULL);
        say(&dialog, "yes", 3, " sir", 4);
        ask(&dialog);
        expect_prompt(&dialog, talk + skip, 4 - skip, NULL);
        cli_dialog_drop(&dialog); /* as if it didn't fit */
        ask(&dialog);
        say(&dialog, "no one", 6, "", 0);
        ask(&dialog);
        expect_prompt(&dialog, talk + skip, 6 - skip, NULL);
        end(&dialog);
    }
}

static void without_a_template_texts_follow_each_other(void **state)
{
    (void)state;
    cli_dialog dialog = {NULL, 0};
    begin("none", NULL);
    ask(&dialog);
    expect_prompt(&dialog, NULL, 0, "hello");
    say(&dialog, " there", 6, "", 0);
    ask(&dialog);
    expect_prompt(&dialog, NULL, 0, "hello\n\n there\n\nand then");
    end(&dialog);
}

/* An answer that ends within a character, that holds a NUL, or that is empty, is still a message. */
static void odd_answers_are_messages(void **state)
{
    (void)state;
    static const struct {
        const char *said, *reads;
        size_t n;
    } answers[] = {{"a\xc3", "a\xef\xbf\xbd", 2}, {"a\0b", "a b", 3}, {"", "", 0}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        cli_dialog dialog = {NULL, 0};
        begin("chatml", NULL);
        ask(&dialog);
        say(&dialog, answers[i].said, answers[i].n, "", 0);
        ask(&dialog);
        const vouch_message talk[] = {{"user", first}, {"assistant", answers[i].reads}, {"user", second}};
        expect_prompt(&dialog, talk, 3, NULL);
        end(&dialog);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_stand_in_later_prompts),
        cmocka_unit_test(without_a_template_texts_follow_each_other),
        cmocka_unit_test(odd_answers_are_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
