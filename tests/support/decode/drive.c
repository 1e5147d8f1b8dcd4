/* SPDX-License-Identifier: MIT */
#include "support/decode/drive.h"

#include "support/decode/toy.h"

void drive_draft(vouch_cycle *cycle, const vouch_shape *most, int32_t room)
{
    vouch_cycle_begin(cycle, most, room);
    vouch_cycle_run(cycle, VOUCH_STAGE_CHOOSE);
    vouch_cycle_run(cycle, VOUCH_STAGE_OFFER);
    vouch_cycle_ask(cycle, 1);
    for (;;) {
        vouch_cycle_run(cycle, VOUCH_STAGE_LEVEL);
        if (cycle->staging != VOUCH_STAGED_ROWS) break;
        vouch_cycle_run_level(cycle);
        vouch_cycle_run(cycle, VOUCH_STAGE_GROW);
    }
    vouch_cycle_run(cycle, VOUCH_STAGE_JOIN);
}

vouch_status drive_cycle(vouch_cycle *cycle, const vouch_shape *most, int32_t room, vouch_cycle_result *out)
{
    drive_draft(cycle, most, room);
    toy_score(cycle->target.self, cycle->tokens, cycle->n_tokens, &cycle->draft);
    const vouch_cycle_pass pass = {.seconds = 1e-3, .n_rows = cycle->draft.n + 1};
    cycle->pass = &pass;
    for (int stage = VOUCH_STAGE_JUDGE; stage < VOUCH_STAGES; stage++) vouch_cycle_run(cycle, (vouch_stage)stage);
    cycle->pass = NULL;
    if (cycle->status == VOUCH_OK) *out = cycle->result;
    return cycle->status;
}
