/* SPDX-License-Identifier: MIT */
/* A process that is killed at any moment while it writes to a prompt cache leaves records that change no byte. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "support/decode/answer.h"
#include "support/sanitized.h"

enum { N_PROMPTS = 8, N_TOKENS = 200, N_CTX = 256, N_VOCAB = 400 };

static vouch_model *model;

static int group_begin(void **state)
{
    (void)state;
    model = tiny_model_open(&(tiny_model_options){.arch = "jamba", .seed = 8, .n_layers = 4, .n_ctx = N_CTX});
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    vouch_model_close(model);
    return 0;
}

static vouch_session *session_open(vouch_prompt_cache *cache)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = N_CTX;
    o.n_threads = 1;
    o.max_tokens = 4;
    o.ignore_eos = true;
    o.prompt_cache = cache;
    vouch_session *session;
    return vouch_session_open(&session, model, &o, NULL) ? NULL : session;
}

static void prompt_of(int32_t prompt[N_TOKENS], int32_t i)
{
    answer_prompt(prompt, N_TOKENS, N_VOCAB, (uint64_t)i, false);
}

/* A child answers prompts until it is killed, with a folder so small that records are also removed. */
static void write_until_killed(const char *folder, int32_t first)
{
    int32_t prompt[N_TOKENS];
    vouch_prompt_cache *cache;
    if (vouch_prompt_cache_open(&cache, folder, 1 << 20, NULL)) _exit(1);
    for (int32_t i = first;; i++) {
        vouch_session *session = session_open(cache);
        vouch_step step;
        prompt_of(prompt, i % N_PROMPTS);
        if (!session || vouch_session_prompt(session, prompt, N_TOKENS, NULL)) _exit(1);
        if (vouch_session_step(session, &step, NULL)) _exit(1);
        vouch_session_close(session);
    }
}

static void a_killed_process_leaves_whole_records(void **state)
{
    (void)state;
    static answer plain[N_PROMPTS], got;
    const int n_kills = test_is_quick() || TEST_SANITIZED ? 20 : 200;
    const char *folder = test_temporary("killed");
    int32_t prompt[N_TOKENS];
    test_random random = {17};
    int64_t n_read = 0;
    for (int32_t i = 0; i < N_PROMPTS; i++) {
        vouch_session *session = session_open(NULL);
        prompt_of(prompt, i);
        answer_continue(&plain[i], session, prompt, N_TOKENS);
        vouch_session_close(session);
    }
    for (int i = 0; i < n_kills; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_until_killed(folder, 3 * i);
        usleep(1000 + test_below(&random, 40000));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        vouch_prompt_cache *cache;
        assert_int_equal(vouch_prompt_cache_open(&cache, folder, 1 << 20, NULL), VOUCH_OK);
        for (int32_t p = 0; p < 2; p++) {
            const int32_t number = (3 * i + p) % N_PROMPTS;
            vouch_session *session = session_open(cache);
            prompt_of(prompt, number);
            answer_continue(&got, session, prompt, N_TOKENS);
            assert_true(answer_equal(&got, &plain[number]));
            vouch_session_close(session);
        }
        const vouch_prompt_cache_info info = vouch_prompt_cache_get_info(cache);
        assert_int_equal(info.n_damaged, 0); /* a file has its name only when it is whole */
        n_read += info.n_read;
        vouch_prompt_cache_close(cache);
    }
    assert_true(n_read > n_kills);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_leaves_whole_records),
    };
    return cmocka_run_group_tests_name("prompt_cache_kill", tests, group_begin, group_end);
}
