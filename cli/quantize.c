/* SPDX-License-Identifier: MIT */
/* vouch quantize and vouch convert: write a model as one GGUF file, its matrices in another type or as they are. */
#include <string.h>

#include "cli.h"
#include "tool/file.h"

static bool is_cancelled(void *user)
{
    (void)user;
    return tool_interrupted();
}

/* Prints a line such as "m.gguf: 148 of 211 tensors converted, 269.1 MB of weights to 85.6 MB". */
static void report(const cli_options *options, const vouch_quantize_result *r)
{
    if (!options->type) {
        fprintf(stderr, "%s: %lld tensors, %.1f MB of weights\n", options->out, (long long)r->n_tensors,
                (double)r->bytes_after * 1e-6);
        return;
    }
    fprintf(stderr, "%s: %lld of %lld tensors converted, %.1f MB of weights to %.1f MB\n", options->out,
            (long long)r->n_converted, (long long)r->n_tensors, (double)r->bytes_before * 1e-6,
            (double)r->bytes_after * 1e-6);
    if (r->n_fallback > 0)
        tool_note(
            r->n_fallback == 1
                ? "%lld matrix has a type with smaller blocks than %s, because its rows are not whole blocks of it"
                : "%lld matrices have a type with smaller blocks than %s, because their rows are not whole blocks "
                  "of it",
            (long long)r->n_fallback, options->type);
}

/* Does the error say that a type's name is wrong? */
static bool is_wrong_type(const vouch_error *err)
{
    static const char *const begins[] = {"type '", "output_type '", "embedding_type '"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (err->code == VOUCH_E_ARGUMENT && strncmp(err->message, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

static int write_anew(const cli_options *options, const char *label)
{
    tool_progress progress = {.label = label, .is_eager = true};
    vouch_quantize_options quantize = vouch_quantize_options_default();
    vouch_quantize_result result;
    vouch_error err;
    if ((options->quantize.force ? tool_file_check : tool_file_check_new)(options->out, &err))
        return cli_engine_fail(&err);
    quantize.type = options->type;
    quantize.output_type = options->quantize.output_type;
    quantize.embedding_type = options->quantize.embedding_type;
    quantize.pure = options->quantize.pure;
    quantize.allow_requantize = options->quantize.allow_requantize;
    quantize.n_threads = options->session.n_threads;
    quantize.progress = tool_progress_report;
    quantize.is_cancelled = is_cancelled;
    quantize.user = &progress;
    tool_interrupt_set(TOOL_INTERRUPT_READS);
    const vouch_status status = vouch_quantize(options->model, options->out, &quantize, &result, &err);
    tool_progress_end(&progress);
    if (status) {
        cli_engine_fail(&err);
        return is_wrong_type(&err) ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    report(options, &result);
    return CLI_DONE;
}

bool cli_quantize_check(cli_options *options, cli_given given)
{
    const unsigned command = options->command;
    (void)given;
    if (!options->out || (command == CLI_QUANTIZE && !options->type)) {
        tool_complain("%s is missing: expected %s", options->out ? "TYPE" : "OUT",
                      command == CLI_QUANTIZE ? "MODEL OUT TYPE, as in `vouch quantize m-f16.gguf m-q4.gguf Q4_K_M`"
                                              : "MODEL OUT, as in `vouch convert folder m.gguf`");
        return false;
    }
    if (!tool_file_is_same(options->out, options->model)) return true;
    tool_complain("%s is the model itself, and would be overwritten; name another file", options->out);
    return false;
}

int cli_quantize_run(const cli_options *options)
{
    return write_anew(options, "quantising");
}

int cli_convert_run(const cli_options *options)
{
    return write_anew(options, "converting");
}
