/* SPDX-License-Identifier: MIT */
/* Stands for this room in a build without OpenBLAS. */
#include "base/status.h"
#include "train/distill.h"

vouch_status train_distill(const char *target, const char *out, const train_options *options, train_result *result,
                           vouch_error *err)
{
    (void)target;
    (void)out;
    (void)options;
    *result = (train_result){0};
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "this vouch was built without OpenBLAS, which `vouch distill` needs. On Debian or Ubuntu: "
                      "sudo apt-get install libopenblas-dev, then build again with make");
}
