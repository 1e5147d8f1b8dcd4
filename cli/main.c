/* SPDX-License-Identifier: MIT */
/* vouch: finds the command that the first word names. `vouch --model ...` and `vouch MODEL ...` mean `vouch run`. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "hub/name.h"
#include "model/names.h"
#include "os/os.h"
#include "report/sheet.h"
#include "tool/memory.h"

/* Help shows these texts as they are: lines of at most 80 columns. */
static const cli_command commands[] = {
    {"run", CLI_RUN, false, cli_run_run, cli_run_check, NULL, "answer a prompt, or hold a conversation",
     "vouch run MODEL [PROMPT] [--draft-model FILE] [--prompt-file FILE]\n"
     "vouch run MODEL --chat [PROMPT]\n",
     "Without a prompt, vouch holds a conversation in a terminal, and otherwise reads\n"
     "the prompt from standard input. The prompt may have two parts: PROMPT, then an\n"
     "empty line, then --prompt-file or whatever a pipe or a file brings on standard\n"
     "input, without its last line end. In a loop that reads lines from standard\n"
     "input, write `vouch run ... </dev/null`, so that vouch leaves the lines alone.\n"
     "Standard output gets the text and nothing else.\n"
     "An answer is sampled as the model's file recommends, otherwise with temperature\n"
     "0.8 and top-p 0.95, so that each run gives another one. --temp 0 is greedy, and\n"
     "--seed gives the same answer again.\n",
     "vouch run m.gguf \"Name three rivers.\"\n"
     "vouch run m.gguf\n"
     "cat article.txt | vouch run m.gguf \"Summarise:\"\n"
     "vouch run m.gguf -p \"Correct the spelling:\" -f letter.txt\n"
     "vouch run m.gguf --draft-model small.gguf -k 6 -p \"Hello\" --stats\n"
     "vouch run m.gguf --temp 0 \"Name three rivers.\"\n"
     "vouch run m.gguf --temp 0.7 --seed 7 -p \"Once\" --trace --stats-json run.json\n"
     "vouch run m.gguf --raw -p \"The capital of France is\" -n 16\n"},
    {"chat", CLI_RUN, true, cli_run_run, cli_run_check, NULL, "hold a conversation",
     "vouch chat MODEL [PROMPT] [--system TEXT] [--draft-model FILE]\n",
     "The same as `vouch run MODEL --chat`. PROMPT is the first message. /help in the\n"
     "conversation lists its commands; /exit or Ctrl-D ends it.\n",
     "vouch chat m.gguf\n"
     "vouch chat m.gguf \"Name three rivers.\"\n"
     "vouch chat m.gguf --system \"You answer in one sentence.\" --temp 0\n"
     "vouch chat base.gguf --chat-template gemma\n"},
    {"batch", CLI_BATCH, false, cli_batch_run, cli_batch_check, NULL, "answer many prompts at once",
     "vouch batch MODEL --prompts FILE [--out FILE [--resume]] [--parallel N]\n",
     "Answers each prompt of the file as `vouch run` does with the same flags, byte\n"
     "for byte, except that answers are greedy unless --temp is given. It answers\n"
     "--parallel prompts at once, which takes much less time than one after the other,\n"
     "because the answers share passes of the model. Writes one JSON line for each\n"
     "prompt, in the order of the prompts. --resume goes on after an interruption.\n",
     "vouch batch m.gguf --prompts lines.txt --out answers.jsonl\n"
     "vouch batch m.gguf --prompts q.jsonl -o a.jsonl --parallel 16 --resume\n"
     "vouch batch m.gguf --prompts q.jsonl -o a.jsonl --temp 0.8 --max-memory 4G\n"},
    {"serve", CLI_SERVE, false, cli_serve_run, cli_serve_check, NULL,
     "answer requests over HTTP, as the OpenAI API has them",
     "vouch serve MODEL [--port N] [--parallel N] [--api-key-file FILE]\n"
     "vouch serve --model NAME=FILE [--model NAME=FILE]...\n",
     "Programs that talk to the OpenAI API talk to vouch, too: the base URL is\n"
     "http://127.0.0.1:8080/v1. Answers share passes of the model, and each has the\n"
     "bytes that it has alone. Flags for sampling and speculation are the defaults for\n"
     "requests that don't set them. SIGTERM or Ctrl-C ends the server when all\n"
     "answers are done; a second one ends it at once.\n",
     "vouch serve m.gguf\n"
     "vouch serve m.gguf --port 8000 --parallel 16 --ctx 8192\n"
     "vouch serve --model small=s.gguf --model large=l.gguf\n"
     "vouch serve m.gguf --host 0.0.0.0 --api-key-file keys.txt\n"},
    {"info", CLI_INFO, false, cli_info_run, cli_info_check, NULL,
     "say what a model file holds, and whether vouch can run it",
     "vouch info MODEL\nvouch info --machine [--json FILE]\n",
     "Reads any GGUF file: a model that vouch can't run, a vocabulary without weights,\n"
     "a split model that misses a part, a file that is cut short. The last lines say\n"
     "what vouch would need to run it. The exit status is 0 when the file could be\n"
     "read. With --machine, says what vouch finds on this machine, and what this build\n"
     "has: the kernels it chose, and optional parts such as the server.\n",
     "vouch info m.gguf\n"
     "vouch info --machine\n"},
    {"tokenize", CLI_TOKENIZE, false, cli_tokenize_run, cli_tokenize_check, NULL, "print a text as the model's tokens",
     "vouch tokenize MODEL [PROMPT] [--prompt-file FILE]\n",
     "Without a prompt, vouch reads standard input. It prints one token a line: the\n"
     "id, a tab, the text. Takes a GGUF file with a vocabulary and no weights, too.\n",
     "vouch tokenize m.gguf \"Hello, world\"\n"
     "vouch tokenize m.gguf --special --ids --prompt \"<|im_start|>user\"\n"
     "vouch tokenize small.gguf --frequent 8192 -f articles.txt >small.head\n"},
    {"perplexity", CLI_PERPLEXITY, false, cli_perplexity_run, NULL, cli_perplexity_check,
     "measure how well a model predicts a text", "vouch perplexity MODEL FILE [--ctx N] [--chunks N]\n",
     "Cuts the text into chunks of --ctx tokens, predicts the second half of each\n"
     "from its first half, as llama.cpp does, and prints the result on the last line.\n",
     "vouch perplexity m.gguf wiki.txt --ctx 512 --chunks 40\n"
     "zcat wiki.txt.gz | vouch perplexity m.gguf -\n"},
    {"logits", CLI_LOGITS, false, cli_logits_run, NULL, cli_logits_check,
     "write the raw logits of token ids as a NumPy array", "vouch logits MODEL --tokens LIST --out FILE\n",
     "Row i of the .npy file has the logits after the first i + 1 ids, as float32.\n"
     "The model needs no tokenizer, so that implementations can be compared.\n",
     "vouch logits m.gguf --tokens 1,2,3 --out logits.npy\n"
     "vouch logits m.gguf --tokens ids.txt --out logits.npy --prefill-chunk 7\n"},
    {"quantize", CLI_QUANTIZE, false, cli_quantize_run, NULL, cli_quantize_check,
     "write a model anew with smaller weights",
     "vouch quantize MODEL OUT TYPE [--pure] [--allow-requantize] [--force]\n",
     "Converts the matrices of a GGUF file, which is best in F16, BF16 or F32. A mix,\n"
     "such as Q4_K_M, keeps the matrices that matter most in types of more bits. Names,\n"
     "rules and bytes are llama.cpp's. Norms, biases and routers stay as they are.\n"
     "The output appears when it is complete, or not at all.\n",
     "vouch quantize m-f16.gguf m-q4.gguf Q4_K_M\n"
     "vouch quantize m-f16.gguf m-q8.gguf Q8_0 --threads 4\n"
     "vouch quantize m-f16.gguf m-q3.gguf Q3_K_M --output-type Q8_0\n"
     "vouch quantize m-q8.gguf m-q4.gguf Q4_0 --pure --allow-requantize\n"},
    {"convert", CLI_CONVERT, false, cli_convert_run, NULL, cli_quantize_check,
     "write a Hugging Face folder as a GGUF file", "vouch convert MODEL OUT [--type TYPE] [--force]\n",
     "Writes a Hugging Face folder (config.json, safetensors, tokenizer files) as one\n"
     "GGUF file, which llama.cpp reads, too. The other commands also read folders;\n"
     "a GGUF file only loads faster. Also joins the parts of a split GGUF file.\n"
     "The output appears when it is complete, or not at all.\n",
     "vouch convert Qwen3-0.6B qwen3.gguf\n"
     "vouch convert Qwen3-0.6B qwen3-q8.gguf --type Q8_0\n"
     "vouch convert m-00001-of-00003.gguf m.gguf\n"},
    {"distill", CLI_DISTILL, false, cli_distill_run, NULL, cli_distill_check,
     "teach a head or a small model that drafts for a model",
     "vouch distill MODEL --head OUT [--quick] [--prompts FILE] [--tokens N]\n"
     "vouch distill MODEL --student OUT [--student-model FILE]\n"
     "    [--student-layers N,N,...] [--loss NAME] [--on-policy] [--lora RANK]\n"
     "vouch distill MODEL --table OUT [--head OUT] [--prompts FILE] [--tokens N]\n",
     "The model answers prompts, its own ones unless --prompts is given, and a head\n"
     "learns to guess its tokens from the model's hidden states. Everything is kept\n"
     "in files beside the head, so that the same command goes on after an\n"
     "interruption.\n"
     "`vouch run MODEL --head OUT` drafts with the head.\n"
     "With --student, a small draft model learns instead, which begins as layers of the\n"
     "target or of another model. `vouch run MODEL --draft-model OUT` drafts with it.\n"
     "With --table, vouch counts what the model says after its last tokens. `vouch run\n"
     "MODEL --draft-table OUT` drafts from these counts.\n",
     "vouch distill m.gguf --head m.head.gguf --quick --tokens 120000\n"
     "vouch distill m.gguf --head m.head.gguf --prompts lines.txt --threads 8\n"
     "vouch distill m.gguf --head m.head.gguf --exclude questions.jsonl\n"
     "vouch distill m.gguf --table m.table.gguf --tokens 500000\n"
     "vouch distill m.gguf --student draft.gguf --student-layers 0,29 --tokens 400000\n"
     "vouch distill m.gguf --student draft.gguf --student-model small.gguf --lora 16\n"},
    {"bench", CLI_BENCH, false, cli_bench_run, cli_bench_check, NULL,
     "measure speculation, or the passes of a model, on this machine",
     "vouch bench MODEL --prompts FILE [--draft-model FILE] [--spec LIST]...\n"
     "    [-k N,N,...]\n"
     "vouch bench MODEL [--rows N,N,...] [--depth N]\n",
     "With --prompts, vouch answers each prompt with the target alone, with the draft\n"
     "model alone, and with each --spec and -k, in turn. Without --prompts, it\n"
     "measures one pass over 1, 2, ... rows: the time to check so many guesses at\n"
     "once. The table goes to standard output.\n",
     "vouch bench m.gguf\n"
     "vouch bench m.gguf --rows 1,5,8 --depth 4096 --reps 20 --json passes.json\n"
     "vouch bench m.gguf --prefill 512 --decode 128 --threads 2 --cpu avx2\n"
     "vouch bench m.gguf --prompts questions.jsonl --each 10 --html report.html\n"
     "vouch bench m.gguf --prompts lines.txt --spec ngram --spec suffix -k 4,8\n"
     "vouch bench m.gguf -d small.gguf --prompts lines.txt --temp 0.8 --csv a.csv\n"},
    {"check", CLI_CHECK, false, cli_check_run, cli_check_check, NULL,
     "verify the library's guarantees on this machine, or a server's",
     "vouch check MODEL [--draft-model FILE] [--law LIST] [--seconds S]\n    [--json FILE]\n"
     "vouch check --system [--json FILE]\n"
     "vouch check --vectors FILE [--json FILE]\n"
     "vouch check --server URL [--plain-server URL] [--law LIST] [--seconds S]\n    [--json FILE]\n",
     "Checks four laws on this machine with these files. L1: a row's logits have the\n"
     "same bits whatever else is in the pass. L2: with every drafter the text is the\n"
     "target's own. L3: rejected guesses leave no trace. L4: guesses that are always\n"
     "wrong cost hardly any speed. The verdict goes to standard output; the exit\n"
     "status is 1 where a law is broken.\n"
     "With --system, checks this build without a model: all kernels that this\n"
     "processor can run, and tiny models on each of them, give the bits that vouch has\n"
     "on every system. Takes a few seconds. With --vectors, compares them with a file\n"
     "of test vectors, which the authors of other engines can use, too.\n"
     "With --server, asks any server with the OpenAI API whether its text is the same\n"
     "with speculation, beside other requests, after a hit in its prefix cache and in\n"
     "a stream, whether seeds hold, and whether sampled tokens have the distribution\n"
     "that it tells. Each failure comes with command lines that reproduce it.\n",
     "vouch check m.gguf\n"
     "vouch check m.gguf --draft-model small.gguf --cpu avx2 --seconds 20\n"
     "vouch check m.gguf --law L1,L3 --json laws.json\n"
     "vouch check --system\n"
     "vouch check --vectors docs/vectors/vectors.json\n"
     "vouch check --server http://127.0.0.1:8080\n"
     "vouch check --server http://a:8000 --plain-server http://b:8000 --json r.json\n"},
    {"analyze", CLI_ANALYZE, false, cli_analyze_run, NULL, cli_analyze_check, "compare a draft model with its target",
     "vouch analyze MODEL --draft-model FILE [--text FILE | --prompts FILE]\n"
     "    [--svg FILE]\n",
     "Compares the distributions of both models at every token of some texts. Prints\n"
     "the chance that the target accepts a guess, by text, by position and by\n"
     "entropy; and, with the cost of passes on this machine, the expected speedup\n"
     "for each number of guesses.\n",
     "vouch analyze m.gguf --draft-model small.gguf\n"
     "vouch analyze m.gguf -d small.gguf --text book.txt --ctx 512 --svg plots.svg\n"
     "vouch analyze m.gguf -d small.gguf --prompts q.jsonl --temp 0.8 --json a.json\n"},
    {"pull", CLI_PULL, false, cli_pull_run, NULL, cli_pull_needs, "fetch a model by its name", "vouch pull NAME\n",
     "Fetches a model from the hub (huggingface.co, or HF_ENDPOINT) into the folder\n"
     "that huggingface_hub uses, too, and continues where an earlier run ended. Without\n"
     "a type, takes Q4_K_M or the next best one that is there. Every command takes such\n"
     "a name in place of a file, and fetches what is missing. HF_TOKEN opens gated and\n"
     "private repositories.\n",
     "vouch pull Qwen/Qwen3-4B-GGUF\n"
     "vouch pull Qwen/Qwen3-4B-GGUF:Q8_0\n"
     "vouch pull Qwen/Qwen3-0.6B@main\n"
     "vouch pull https://example.org/models/m.gguf\n"
     "vouch pull --print-path Qwen/Qwen3-4B-GGUF\n"},
    {"list", CLI_LIST, false, cli_list_run, NULL, NULL, "list the models on this machine", "vouch list [--json FILE]\n",
     "Lists fetched models, and those of Ollama, LM Studio and llama.cpp, which vouch\n"
     "runs where they lie.\n",
     "vouch list\n"
     "vouch list --json models.json\n"},
    {"rm", CLI_RM, false, cli_rm_run, NULL, cli_rm_needs, "remove a fetched model", "vouch rm NAME\n",
     "Removes all files of a repository, or those of one type. Models of other\n"
     "programs stay.\n",
     "vouch rm Qwen/Qwen3-4B-GGUF\n"
     "vouch rm Qwen/Qwen3-4B-GGUF:Q8_0\n"},
    {"embed", CLI_EMBED, false, cli_embed_run, NULL, NULL, "turn texts into vectors",
     "vouch embed MODEL -p TEXT [FLAGS]\n"
     "vouch embed MODEL [FLAGS] < TEXTS\n",
     "Prints a vector of length 1 for each text, as a line of JSON. The model's file says\n"
     "how one vector is made of those of a text's tokens, or --pooling does.\n",
     "vouch embed qwen3-embedding.gguf -p \"What is the capital of China?\"\n"
     "vouch embed m.gguf --pooling mean < lines.txt > vectors.jsonl\n"},
    {"memory", CLI_MEMORY, false, cli_memory_run, NULL, cli_memory_needs,
     "tell or clear what is kept of answers and prompts", "vouch memory FOLDER [--clear]\n",
     "Tells what --draft-memory and --prompt-cache have kept in a folder, or removes it.\n"
     "A server that is running keeps what it has in memory:\n"
     "POST /admin/draft-memory/clear and /admin/prompt-cache/clear make it forget that.\n",
     "vouch memory ~/.cache/vouch/answers\n"
     "vouch memory ~/.cache/vouch/answers --clear\n"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const char *command_word(const void *arg, size_t i)
{
    (void)arg;
    return i < N_COMMANDS ? commands[i].name : NULL;
}

static const cli_command *command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    const char *near = tool_nearest(name, command_word, NULL);
    if (near) tool_complain("unknown command '%s'; did you mean %s?", name, near);
    else tool_complain("'%s' is neither a command nor a file; `vouch --help` lists the commands", name);
    return NULL;
}

static void help_all(FILE *out)
{
    fprintf(out,
            "vouch %s: speculative decoding for language models. A cheap drafter\n"
            "guesses the next tokens, the model checks all guesses in one pass. The text is\n"
            "what the model alone would have said, sooner.\n\n"
            "usage: vouch COMMAND MODEL [FLAGS]\n\n",
            vouch_version());
    for (size_t i = 0; i < N_COMMANDS; i++) fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`vouch COMMAND --help` lists the flags. Without a command, vouch runs the model:\n\n"
                 "  vouch m.gguf\n"
                 "  vouch m.gguf \"Name three rivers.\"\n"
                 "  vouch m.gguf \"Name three rivers.\" --draft-model small.gguf\n\n"
                 "Exit status: 0 done, 1 failed while running or interrupted, 2 wrong usage.\n");
}

/* Prints each line of the text, indented: the first after `first`, the others after `others`. */
static void help_lines(const char *text, const char *first, const char *others, FILE *out)
{
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        fprintf(out, "%s%.*s\n", line == text ? first : others, (int)strcspn(line, "\n"), line);
}

static void help_command(const cli_command *c, FILE *out)
{
    help_lines(c->usage, "usage: ", "       ", out);
    fprintf(out, "\n%s", c->about);
    cli_options_help(c->bit, out);
    fprintf(out, "\nExamples\n");
    help_lines(c->examples, "  ", "  ", out);
}

/* Help of a command, or NULL: of all. In a terminal of less than 80 columns lines break between words. Returns the
 * command's exit status. */
static int help_print(const cli_command *c, FILE *out)
{
    cli_sheet sheet;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    if (c) help_command(c, sheet.out);
    else help_all(sheet.out);
    return cli_sheet_show(&sheet, out, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* The main thread may use as much stack as `ulimit -s` says, and the others get as much. */
static bool has_stack(void)
{
    enum { LEAST = 1 << 20 };
    const int64_t limit = vouch_os_stack_limit();
    if (limit >= LEAST) return true;
    tool_complain("the stack may have %lld KiB; vouch needs %d: `ulimit -s %d`", (long long)limit >> 10, LEAST >> 10,
                  LEAST >> 10);
    return false;
}

/* Flushes standard output. A failure to write is a failure of the command. */
static int finish_output(int status)
{
    vouch_error err;
    if (status == CLI_DONE && tool_print("", 0, &err)) status = cli_engine_fail(&err);
    return tool_output_closed() ? CLI_DONE : status;
}

static int command_run(const cli_command *c, int argc, char **argv)
{
    cli_options options;
    int status = CLI_WRONG_USAGE;
    if (!cli_options_parse(&options, c, argc, argv)) {
        fprintf(stderr, "`vouch %s --help` lists the flags\n", c->name);
    } else if (options.help) {
        status = help_print(c, stdout);
    } else if (options.lists_templates) {
        for (size_t i = 0; vouch_chat_template_name(i); i++) puts(vouch_chat_template_name(i));
        status = CLI_DONE;
    } else {
        tool_interrupt_set(TOOL_INTERRUPT_ENDS);
        status = cli_names_find(&options);
        if (!status) status = c->run(&options);
    }
    cli_options_free(&options);
    return finish_output(status);
}

/* Is the first word the model of `vouch MODEL ...`: a file, a folder with config.json, or a name? */
static bool is_model(const char *word)
{
    const size_t n = strlen(word);
    vouch_os_info info;
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, word) == 0) return false;
    char config[VOUCH_OS_PATH_SIZE];
    if ((n > 5 && strcmp(word + n - 5, ".gguf") == 0) || hub_kind_of(word) != HUB_PATH) return true;
    if (hub_is_behind_folder(word)) return true;
    if (!vouch_os_info_of(word, &info)) return false;
    snprintf(config, sizeof config, "%s/config.json", word);
    return info.kind != VOUCH_OS_FOLDER || vouch_os_exists(config);
}

/* `vouch help [COMMAND]`. For `make install`: `vouch help --man` and `vouch help --completion SHELL`. */
static int help_run(int argc, char **argv)
{
    const char *topic = argc > 0 ? argv[0] : "";
    int status = CLI_DONE;
    if (!*topic) {
        status = help_print(NULL, stdout);
    } else if (strcmp(topic, "--man") == 0) {
        cli_manual_write(commands, N_COMMANDS, stdout);
    } else if (strcmp(topic, "--completion") == 0) {
        const char *shell = argc > 1 ? argv[1] : "";
        if (cli_completion_write(commands, N_COMMANDS, shell, stdout)) return finish_output(CLI_DONE);
        tool_complain("--completion '%s': expected one of bash|zsh|fish", shell);
        return CLI_WRONG_USAGE;
    } else {
        const cli_command *c = command_find(topic);
        if (!c) return CLI_WRONG_USAGE;
        status = help_print(c, stdout);
    }
    return finish_output(status);
}

int main(int argc, char **argv)
{
    vouch_os_start();
    tool_catch_cut_files();
    tool_memory_watch();
    if (!has_stack()) return CLI_FAILED;
    const char *word = argc > 1 ? argv[1] : "";
    if (!*word) {
        const int status = help_print(NULL, stderr);
        return status ? status : CLI_WRONG_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return help_run(argc - 2, argv + 2);
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0) {
        printf("vouch %s\n", vouch_version());
        return finish_output(CLI_DONE);
    }
    if (word[0] == '-' || is_model(word)) return command_run(&commands[0], argc - 1, argv + 1);
    const cli_command *c = command_find(word);
    return c ? command_run(c, argc - 2, argv + 2) : CLI_WRONG_USAGE;
}
