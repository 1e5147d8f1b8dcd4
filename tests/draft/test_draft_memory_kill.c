/* SPDX-License-Identifier: MIT */
/* A process that is killed at any moment while it keeps answers leaves whole ones. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/decode/configs.h"
#include "support/decode/numbered.h"
#include "support/sanitized.h"

enum { SMALL = 1 << 16 };

/* A child adds and keeps answers until it is killed, with a file so small that it is also rewritten. */
static void write_until_killed(const char *folder, int32_t first)
{
    vouch_draft_memory *m;
    if (vouch_draft_memory_open(&m, target, folder, SMALL, NULL)) _exit(1);
    for (int32_t i = first;; i++) {
        numbered_add(m, 0, i % 500);
        if (vouch_draft_memory_keep(m, NULL)) _exit(1);
    }
}

static void a_killed_process_leaves_whole_answers(void **state)
{
    (void)state;
    const int n_kills = test_is_quick() || TEST_SANITIZED ? 20 : 200;
    const char *folder = test_path("answers");
    test_random random = {13};
    int32_t n_most = 0;
    for (int i = 0; i < n_kills; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_until_killed(folder, 31 * i);
        usleep(500 + test_below(&random, 15000));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        vouch_draft_memory *m;
        assert_int_equal(vouch_draft_memory_open(&m, target, folder, SMALL, NULL), VOUCH_OK);
        const int32_t n = numbered_count(m, 500);
        if (n > n_most) n_most = n;
        vouch_draft_memory_close(m);
    }
    assert_true(n_most > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_leaves_whole_answers),
    };
    return cmocka_run_group_tests_name("draft_memory_kill", tests, configs_open, configs_close);
}
