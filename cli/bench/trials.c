/* SPDX-License-Identifier: MIT */
/*
 * vouch bench --kernels: the ways of reading packed weights that were measured when the model was opened, and which of
 * them was chosen. GB/s are those of the weights, so each figure compares with the speed of reading memory.
 */
#include "bench/bench.h"
#include "report/sheet.h"
#include "tool/file.h"

static void trials_write(FILE *out, const vouch_model *model)
{
    vouch_kernel_trial one;
    fprintf(out, "%-8s %4s %8s %8s %8s\n", "weights", "rows", "tiles", "ahead", "GB/s");
    for (size_t i = 0; vouch_model_get_kernel_trial(model, i, &one); i++)
        fprintf(out, "%-8s %4d %8d %8d %8.1f%s\n", one.type, one.rows, one.tiles, one.ahead,
                one.bytes_per_second * 1e-9, one.is_chosen ? "  chosen" : "");
    if (!vouch_model_get_kernel_trial(model, 0, &one))
        fprintf(out, "none: the model has less than 16 MiB of quantised weights, --tune is off, or --cpu is ref\n");
}

static json_t *trials_json(const vouch_model *model)
{
    vouch_kernel_trial one;
    json_t *array = json_array();
    for (size_t i = 0; array && vouch_model_get_kernel_trial(model, i, &one); i++)
        json_array_append_new(array, json_pack("{s:s, s:i, s:i, s:i, s:f, s:b}", "weights", one.type, "rows", one.rows,
                                               "tiles", one.tiles, "ahead", one.ahead, "bytes_per_second",
                                               one.bytes_per_second, "chosen", one.is_chosen));
    return array;
}

static int trials_report(const cli_engine *engine, const cli_provenance *provenance)
{
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return cli_engine_fail(&err);
    cli_provenance_print(sheet.out, provenance);
    fputc('\n', sheet.out);
    trials_write(sheet.out, engine->model);
    if (cli_sheet_print(&sheet, &err)) return cli_engine_fail(&err);
    if (!engine->options->json) return CLI_DONE;
    const tool_json_entry entries[] = {{"provenance", cli_provenance_json(provenance)},
                                       {"kernels", trials_json(engine->model)}};
    json_t *object = tool_json_object(entries, sizeof entries / sizeof entries[0]);
    const vouch_status written = tool_file_write_json(engine->options->json, object, &err);
    json_decref(object);
    return written ? cli_flag_fail("json", &err) : CLI_DONE;
}

int cli_bench_trials(const cli_options *options)
{
    cli_engine engine = {0};
    cli_provenance provenance = {0};
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    int status = cli_engine_open(&engine, options);
    if (!status)
        status = cli_provenance_of(&provenance, &engine) ? trials_report(&engine, &provenance) : cli_engine_fail(&err);
    cli_provenance_free(&provenance);
    cli_engine_close(&engine);
    return status;
}
