/* SPDX-License-Identifier: MIT */
/* vouch: finds the command that the first word names. `vouch --model ...` alone means `vouch run`. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct command {
    const char *name;
    unsigned bit;
    int (*run)(const cli_options *options);
    const char *summary, *usage, *examples;
} command;

static const command commands[] = {
    {"run", CLI_RUN, cli_run, "answer a prompt, or hold a conversation",
     "vouch run --model FILE [--draft-model FILE] [--prompt TEXT | --prompt-file FILE | --chat]\n"
     "\n"
     "Without a prompt: a conversation in a terminal, otherwise the prompt is standard input.\n"
     "The text goes to standard output, and nothing else does.\n",
     "  vouch run --model m.gguf --prompt \"Name three rivers.\"\n"
     "  vouch run --model m.gguf --draft-model small.gguf -k 6 --prompt \"Hello\" --stats\n"
     "  vouch run --model m.gguf --spec ngram --temp 0.8 --top-p 0.95 --seed 7 -f article.txt\n"
     "  vouch run --model m.gguf --temp 0.7 --prompt \"Once\" --trace --stats-json run.json\n"
     "  vouch run --model m.gguf --raw --prompt \"The capital of France is\" -n 16\n"
     "  vouch run --model m.gguf --chat --system \"You answer in one sentence.\"\n"},
    {"info", CLI_INFO, cli_info, "what a model file holds", "vouch info --model FILE\n",
     "  vouch info --model m.gguf\n"},
    {"tokenize", CLI_TOKENIZE, cli_tokenize, "a text as the model's tokens",
     "vouch tokenize --model FILE [--prompt TEXT | --prompt-file FILE]\n"
     "\n"
     "Without a prompt, standard input is read. One token a line: id, tab, text.\n",
     "  vouch tokenize --model m.gguf --prompt \"Hello, world\"\n"
     "  vouch tokenize --model m.gguf --special --ids --prompt \"<|im_start|>user\"\n"
     "  vouch tokenize --model small.gguf --frequent 8192 --prompt-file articles.txt >small.head\n"},
    {"perplexity", CLI_PERPLEXITY, cli_perplexity, "how well a model predicts a text",
     "vouch perplexity --model FILE --file FILE [--ctx N] [--chunks N]\n"
     "\n"
     "Chunks of --ctx tokens, the second half of each counted; the last line is the result.\n",
     "  vouch perplexity --model m.gguf --file wiki.txt --ctx 512 --chunks 40\n"},
    {"bench", CLI_BENCH, cli_bench, "what speculation is worth here, and what passes of the model cost",
     "vouch bench --model FILE --prompts FILE [--draft-model FILE] [--spec LIST]... [-k N,N,...]\n"
     "       vouch bench --model FILE [--rows N,N,...] [--depth N]\n"
     "\n"
     "With prompts: each is answered by the target alone, the draft model alone, and with each --spec and -k, in\n"
     "turn. Without: the time of one pass over 1, 2, ... rows, which is what checking so many guesses at once\n"
     "costs. The table goes to standard output.\n",
     "  vouch bench --model m.gguf\n"
     "  vouch bench --model m.gguf --rows 1,5,8 --depth 4096 --reps 20 --json passes.json\n"
     "  vouch bench --model m.gguf --prefill 512 --decode 128 --threads 2 --cpu avx2\n"
     "  vouch bench --model m.gguf --prompts questions.jsonl --each 10 --html report.html\n"
     "  vouch bench --model m.gguf --prompts lines.txt --spec ngram --spec suffix,recycle -k 4,8 -n 256\n"
     "  vouch bench --model m.gguf --draft-model small.gguf --prompts lines.txt --temp 0.8 --csv answers.csv\n"},
    {"check", CLI_CHECK, cli_check_run, "whether what the library promises holds here",
     "vouch check --model FILE [--draft-model FILE] [--law LIST] [--seconds S] [--json FILE]\n"
     "\n"
     "Tries the laws on this machine with these files: a row's logits have the same bits whatever shares the pass\n"
     "(L1), text is that of the target alone with every way of guessing (L2), rejected guesses leave no trace (L3),\n"
     "and guesses that are never right cost hardly any speed (L4).\n"
     "The verdict goes to standard output; the exit status is 1 where a law is broken.\n",
     "  vouch check --model m.gguf\n"
     "  vouch check --model m.gguf --draft-model small.gguf --cpu avx2 --seconds 20 --json laws.json\n"
     "  vouch check --model m.gguf --law L1,L3\n"},
    {"analyze", CLI_ANALYZE, cli_analyze, "how well a draft model fits, and what that is worth",
     "vouch analyze --model FILE --draft-model FILE [--text FILE | --prompts FILE] [--svg FILE]\n"
     "\n"
     "Compares p and q of every token of some texts: the chance that a guess holds, by text, by position and by\n"
     "entropy; and with what passes cost here, the expected speedup for each number of guesses.\n",
     "  vouch analyze --model m.gguf --draft-model small.gguf\n"
     "  vouch analyze --model m.gguf --draft-model small.gguf --text book.txt --ctx 512 --chunks 20 --svg plots.svg\n"
     "  vouch analyze --model m.gguf --draft-model small.gguf --prompts questions.jsonl --each 5 --temp 0.8 "
     "--json a.json\n"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const char *command_word(const void *arg, size_t i)
{
    (void)arg;
    return i < N_COMMANDS ? commands[i].name : NULL;
}

static const command *command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    const char *near = cli_nearest(name, command_word, NULL);
    if (near) cli_complain("unknown command '%s'; did you mean %s?", name, near);
    else cli_complain("unknown command '%s'; `vouch --help` lists them", name);
    return NULL;
}

static void help_all(FILE *out)
{
    fprintf(out,
            "vouch %s: speculative decoding for language models. A cheap drafter guesses, the model\n"
            "checks all guesses in one pass; the text is what the model alone would have said, sooner.\n\n"
            "usage: vouch COMMAND [FLAGS]\n\n",
            vouch_version());
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`vouch COMMAND --help` lists the flags. Without a command, `run` is meant:\n\n"
                 "  vouch --model m.gguf --speculative --draft-model small.gguf --prompt \"Hello\"\n\n"
                 "Exit status: 0 done, 1 failed while running or interrupted, 2 wrong usage.\n");
}

static void help_command(const command *c, FILE *out)
{
    fprintf(out, "usage: %s", c->usage);
    cli_options_help(c->bit, out);
    fprintf(out, "\nExamples\n%s", c->examples);
}

/* Descriptors 0 to 2 exist, so that no file opened later is taken for one of them; a closed standard
 * output becomes one that can't be written to. A write after the reader has gone or beyond a file size
 * limit is an error to report, not a signal to die from. */
static void prepare_process(void)
{
    int fd;
    do fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) close(fd);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* What is still in the buffer may fail to be written, and that is a failure of the command. */
static int finish_output(int status)
{
    vouch_error err;
    if (status == CLI_DONE && cli_print("", 0, &err)) return cli_engine_fail(&err);
    return status;
}

static int command_run(const command *c, int argc, char **argv)
{
    cli_options options;
    int status = CLI_WRONG_USAGE;
    if (!cli_options_parse(&options, c->bit, argc, argv)) {
        fprintf(stderr, "`vouch %s --help` explains the flags\n", c->name);
    } else if (options.help) {
        help_command(c, stdout);
        status = CLI_DONE;
    } else {
        cli_interrupt_set(CLI_INTERRUPT_ENDS);
        status = c->run(&options);
    }
    cli_options_free(&options);
    return finish_output(status);
}

int main(int argc, char **argv)
{
    prepare_process();
    const char *word = argc > 1 ? argv[1] : "";
    if (!*word) {
        help_all(stderr);
        return CLI_WRONG_USAGE;
    }
    const bool asks_help =
        strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
    if (asks_help && argc == 2) {
        help_all(stdout);
        return finish_output(CLI_DONE);
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0) {
        printf("vouch %s\n", vouch_version());
        return finish_output(CLI_DONE);
    }
    if (word[0] == '-' && !asks_help) return command_run(&commands[0], argc - 1, argv + 1);
    const command *c = command_find(asks_help ? argv[2] : word);
    if (!c) return CLI_WRONG_USAGE;
    if (!asks_help) return command_run(c, argc - 2, argv + 2);
    help_command(c, stdout);
    return finish_output(CLI_DONE);
}
