/* SPDX-License-Identifier: MIT */
/*
 * Prompt caches and saved sessions: what one engine has written another one goes on from, with the same bytes (law L7),
 * for every family. Then what must never come from a file: another user's prompt, another model's, another type's, and
 * damaged records.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/session.h"
#include "os/os.h"
#include "support/decode/answer.h"
#include "support/sanitized.h"

enum { PROMPT = 150, N_CTX = 256, N_VOCAB = 400, LENGTH = 12, LEAST = 1 << 20 };

static const char *const hybrids[] = {"llama", "jamba", "qwen35"};
enum { N_HYBRIDS = sizeof hybrids / sizeof *hybrids };

static vouch_model *model_of(const char *arch, const char *cpu)
{
    vouch_model *model;
    vouch_error err;
    vouch_model_options options = vouch_model_options_default();
    options.cpu = cpu;
    char name[64];
    snprintf(name, sizeof name, "%s.gguf", arch);
    const char *path = test_temporary(name);
    if (!vouch_os_exists(path))
        tiny_model_write(path, &(tiny_model_options){
                                   .arch = arch, .seed = 8, .n_layers = 4, .head_dim = 32, .n_ff = 64, .n_ctx = N_CTX});
    if (vouch_model_open(&model, path, &options, &err)) fail_msg("%s", err.message);
    return model;
}

static vouch_prompt_cache *cache_open(const char *folder, int64_t n_bytes)
{
    vouch_prompt_cache *cache;
    vouch_error err;
    if (vouch_prompt_cache_open(&cache, folder, n_bytes, &err)) fail_msg("%s", err.message);
    return cache;
}

static vouch_session_options options_of(vouch_prompt_cache *cache, uint64_t scope)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = N_CTX;
    o.n_threads = 2;
    o.max_tokens = LENGTH;
    o.ignore_eos = true;
    o.prompt_cache = cache;
    o.scope = scope;
    return o;
}

/* An answer to prompt number `seed`. *digest: of the memory afterwards. Returns how many tokens of the prompt ran. */
static int64_t answer_with(answer *out, uint64_t *digest, const vouch_model *model, vouch_session_options options,
                           uint64_t seed)
{
    int32_t prompt[PROMPT];
    const int32_t n = options.n_ctx < PROMPT ? 100 : PROMPT;
    answer_prompt(prompt, n, N_VOCAB, seed, false);
    vouch_session *session = answer_open(model, &options);
    answer_continue(out, session, prompt, n);
    *digest = vouch_memory_digest(vouch_session_target(session));
    vouch_session_close(session);
    return out->stats.prompt_tokens;
}

/* Answers with the cache, and compares with the answer without one. Returns how many tokens came from the cache. */
static int64_t reused_of(const vouch_model *model, vouch_session_options options, uint64_t seed)
{
    static answer plain, got;
    uint64_t digest, expected;
    vouch_session_options without = options;
    without.prompt_cache = NULL;
    const int64_t n = answer_with(&plain, &expected, model, without, seed);
    const int64_t n_run = answer_with(&got, &digest, model, options, seed);
    assert_true(answer_equal(&got, &plain));
    assert_true(digest == expected);
    return n - n_run;
}

static void every_family_goes_on_from_files(void **state)
{
    (void)state;
    vouch_prompt_cache *cache = cache_open(test_temporary("families"), 0);
    const char *arch;
    for (int32_t i = 0; (arch = tiny_model_family(i)); i++) {
        vouch_model *model = model_of(arch, NULL);
        vouch_session_options options = options_of(cache, 0);
        options.n_ctx = 128; /* sparse attention of tiny models sees no more */
        if (reused_of(model, options, 1) != 0) fail_msg("%s: an empty cache gave tokens", arch);
        const int64_t n = reused_of(model, options, 1);
        if (n != 64) fail_msg("%s: %lld tokens came from the cache", arch, (long long)n);
        vouch_model_close(model);
    }
    assert_int_equal(vouch_prompt_cache_check(cache, NULL), VOUCH_OK);
    assert_int_equal(vouch_prompt_cache_get_info(cache).n_damaged, 0);
    vouch_prompt_cache_close(cache);
}

/* Plain C writes, and this machine's best instruction set reads. */
static void instruction_sets_read_each_other(void **state)
{
    (void)state;
    vouch_prompt_cache *cache = cache_open(test_temporary("sets"), 0);
    for (int i = 0; i < N_HYBRIDS; i++) {
        vouch_model *plain = model_of(hybrids[i], "ref"), *best = model_of(hybrids[i], NULL);
        for (int type = VOUCH_KV_F16; type <= VOUCH_KV_F32; type++) {
            vouch_session_options options = options_of(cache, 0);
            options.kv_type = (vouch_kv_type)type;
            assert_int_equal(reused_of(plain, options, 2), 0);
            assert_int_equal(reused_of(best, options, 2), 128);
        }
        vouch_model_close(plain);
        vouch_model_close(best);
    }
    vouch_prompt_cache_close(cache);
}

/* Divisors of the angles that differ beyond 200 tokens, as Phi 3's do ("longrope"). */
static void add_longrope(vouch_gguf_writer *writer, void *user)
{
    enum { N = 16 }; /* half of head_dim */
    static float divisors[2][N];
    const int64_t n = N;
    for (int i = 0; i < N; i++) divisors[0][i] = 1 + (float)i / 8;
    for (int i = 0; i < N; i++) divisors[1][i] = 4 * divisors[0][i];
    vouch_gguf_add_text(writer, "llama.rope.scaling.type", "longrope");
    vouch_gguf_add_u32(writer, "llama.rope.scaling.original_context_length", 200);
    vouch_gguf_add_tensor(writer, "rope_factors_short.weight", VOUCH_TYPE_F32, 1, &n, divisors[0]);
    vouch_gguf_add_tensor(writer, "rope_factors_long.weight", VOUCH_TYPE_F32, 1, &n, divisors[1]);
    (void)user;
}

/* Keys that were turned by the angles of long contexts are of no use in short ones. */
static void angles_keep_apart(void **state)
{
    (void)state;
    const char *path = test_temporary("longrope.gguf");
    tiny_model_write(path,
                     &(tiny_model_options){.seed = 8, .head_dim = 32, .n_ff = 64, .n_ctx = N_CTX, .add = add_longrope});
    vouch_model *model = model_of("longrope", NULL);
    vouch_prompt_cache *cache = cache_open(test_temporary("angles"), 0);
    vouch_session_options longer = options_of(cache, 0), shorter = options_of(cache, 0);
    shorter.n_ctx = 200;
    assert_int_equal(reused_of(model, longer, 6), 0);
    assert_int_equal(reused_of(model, shorter, 6), 0);
    assert_int_equal(reused_of(model, longer, 6), 128);
    assert_int_equal(reused_of(model, shorter, 6), 128);
    shorter.n_ctx = 190;
    assert_int_equal(reused_of(model, shorter, 6), 128);
    vouch_model_close(model);
    vouch_prompt_cache_close(cache);
}

static vouch_engine *engine_open(const vouch_model *model, vouch_prompt_cache *cache)
{
    vouch_engine *engine;
    vouch_error err;
    const vouch_engine_options o = {.n_sessions = 2, .n_ctx = N_CTX, .n_threads = 1, .prompt_cache = cache};
    if (vouch_engine_open(&engine, model, &o, &err)) fail_msg("%s", err.message);
    return engine;
}

/* An answer of an engine. Returns how many tokens of the prompt it had already. */
static int64_t answer_in(vouch_engine *engine, uint64_t scope, const int32_t *prompt, answer *out)
{
    const vouch_session_options options = options_of(NULL, scope);
    const vouch_engine_event *events;
    size_t n_events;
    vouch_session *session;
    const int64_t before = vouch_engine_get_stats(engine)->shared_tokens;
    assert_int_equal(vouch_engine_session_open(&session, engine, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_prompt(session, prompt, PROMPT, NULL), VOUCH_OK);
    out->n = 0;
    while (vouch_engine_step(engine, &events, &n_events))
        for (size_t i = 0; i < n_events; i++) {
            memcpy(out->tokens + out->n, events[i].step.tokens, (size_t)events[i].step.n_tokens * sizeof(int32_t));
            out->n += events[i].step.n_tokens;
        }
    vouch_session_close(session);
    return vouch_engine_get_stats(engine)->shared_tokens - before;
}

static void a_scope_finds_its_own(void **state)
{
    (void)state;
    const char *folder = test_temporary("scopes");
    vouch_prompt_cache *cache = cache_open(folder, 0);
    vouch_model *model = model_of("llama", NULL), *other = model_of("qwen2", NULL);
    assert_int_equal(reused_of(model, options_of(cache, 1), 3), 0);
    assert_int_equal(reused_of(model, options_of(cache, 2), 3), 0);
    assert_int_equal(reused_of(model, options_of(cache, 1), 3), 128);
    assert_int_equal(reused_of(other, options_of(cache, 1), 3), 0);
    /* A model's file that was written again counts as another model, even if its bytes are the same. */
    vouch_model_close(model);
    assert_true(vouch_os_file_touch(test_temporary("llama.gguf")));
    model = model_of("llama", NULL);
    assert_int_equal(reused_of(model, options_of(cache, 1), 3), 0);
    /* In an engine's pages, too. */
    static answer out;
    vouch_engine *engine = engine_open(model, NULL);
    int32_t prompt[PROMPT];
    answer_prompt(prompt, PROMPT, N_VOCAB, 3, false);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(answer_in(engine, i == 1 ? 8 : 7, prompt, &out), i == 2 ? 128 : 0);
        if (i == 2) vouch_engine_forget(engine);
    }
    vouch_engine_close(engine);
    vouch_model_close(model);
    vouch_model_close(other);
    size_t n_files;
    int64_t n_bytes;
    assert_int_equal(vouch_prompt_cache_remove(folder, true, &n_files, &n_bytes, NULL), VOUCH_OK);
    assert_int_equal(n_bytes, vouch_prompt_cache_get_info(cache).n_bytes);
    assert_int_equal(n_files, 4 * 2);
    assert_int_equal(vouch_prompt_cache_clear(cache, NULL), VOUCH_OK);
    assert_int_equal(vouch_prompt_cache_remove(folder, true, &n_files, &n_bytes, NULL), VOUCH_OK);
    assert_int_equal(n_files, 0);
    vouch_prompt_cache_close(cache);
}

/* Paths of the records in a folder. */
static size_t list_records(const char *folder, char paths[][VOUCH_OS_PATH_SIZE], size_t most)
{
    char **names;
    size_t n = 0;
    const ptrdiff_t n_names = vouch_os_folder_list(folder, &names);
    for (ptrdiff_t i = 0; i < n_names; i++)
        if (vouch_os_matches("*.prompt", names[i]) && n < most)
            snprintf(paths[n++], VOUCH_OS_PATH_SIZE, "%s/%s", folder, names[i]);
    vouch_os_names_free(names, n_names);
    return n;
}

static void damage_costs_a_page(void **state)
{
    (void)state;
    enum { MOST = 4 };
    static char paths[MOST][VOUCH_OS_PATH_SIZE];
    const int n_flips = test_is_quick() || TEST_SANITIZED ? 30 : 150; /* each in two models */
    test_random random = {4};
    for (int i = 0; i < 2; i++) {
        const char *folder = test_temporary(i == 0 ? "damaged" : "damaged hybrid");
        vouch_prompt_cache *cache = cache_open(folder, 0);
        vouch_model *model = model_of(hybrids[i], NULL);
        assert_int_equal(reused_of(model, options_of(cache, 0), 5), 0);
        for (int flip = 0; flip < n_flips; flip++) {
            const size_t n_files = list_records(folder, paths, MOST);
            assert_int_equal(n_files, i == 0 ? 2 : 3); /* two pages, and the states */
            const char *path = paths[test_below(&random, (uint32_t)n_files)];
            size_t n;
            char *bytes = read_whole(path, &n);
            if (flip % 10 == 9) n = test_below(&random, (uint32_t)n); /* cut */
            else bytes[test_below(&random, (uint32_t)n)] ^= (char)(1 << test_below(&random, 8));
            write_whole(path, bytes, n);
            free(bytes);
            assert_true(reused_of(model, options_of(cache, 0), 5) < 128);
            assert_int_equal(vouch_prompt_cache_get_info(cache).n_damaged, flip + 1);
            assert_int_equal(reused_of(model, options_of(cache, 0), 5), 128); /* it was written again */
        }
        vouch_model_close(model);
        vouch_prompt_cache_close(cache);
    }
}

static void the_folder_stays_within_its_size(void **state)
{
    (void)state;
    const char *folder = test_temporary("small");
    vouch_model *model = model_of("jamba", NULL);
    vouch_prompt_cache *cache = cache_open(folder, LEAST);
    for (uint64_t seed = 0; seed < 30; seed++) {
        assert_int_equal(reused_of(model, options_of(cache, 0), seed), 0);
        assert_int_equal(reused_of(model, options_of(cache, 0), seed), 128); /* what was used last is there */
        const vouch_prompt_cache_info info = vouch_prompt_cache_get_info(cache);
        assert_true(info.n_bytes <= LEAST);
    }
    vouch_prompt_cache_close(cache);
    size_t n_files;
    int64_t n_bytes;
    assert_int_equal(vouch_prompt_cache_remove(folder, true, &n_files, &n_bytes, NULL), VOUCH_OK);
    assert_true(n_bytes <= LEAST && n_bytes > LEAST / 2);
    assert_int_equal(vouch_prompt_cache_open(&cache, folder, 1000, NULL), VOUCH_E_ARGUMENT);
    vouch_model_close(model);
}

/* What an engine has of a prompt, without a session of it, goes to a file and to another engine; and to the same one
 * again, while its prompt cache writes. */
static void an_engine_goes_on(void **state)
{
    (void)state;
    static answer first, again;
    const int n_rounds = TEST_SANITIZED ? 4 : 20;
    const vouch_session_options whose = options_of(NULL, 7), other = options_of(NULL, 8);
    char path[VOUCH_OS_PATH_SIZE];
    snprintf(path, sizeof path, "%s", test_temporary("engine"));
    for (int i = 0; i < N_HYBRIDS; i++) {
        int32_t prompt[PROMPT], got[N_CTX], n;
        vouch_error err;
        vouch_model *model = model_of(hybrids[i], NULL);
        vouch_prompt_cache *cache = cache_open(test_temporary("of an engine"), 0);
        vouch_engine *engine = engine_open(model, cache);
        answer_prompt(prompt, PROMPT, N_VOCAB, 40, false);
        assert_int_equal(vouch_engine_save(engine, &whose, prompt, PROMPT, path, &n, &err), VOUCH_OK);
        assert_int_equal(n, 0);
        assert_int_equal(answer_in(engine, 7, prompt, &first), 0);
        assert_int_equal(vouch_engine_save(engine, &other, prompt, PROMPT, path, &n, &err), VOUCH_OK);
        assert_int_equal(n, 0);
        for (int round = 0; round < n_rounds; round++) {
            assert_int_equal(vouch_engine_save(engine, &whose, prompt, PROMPT, path, &n, &err), VOUCH_OK);
            assert_int_equal(n, 128);
            assert_int_equal(vouch_engine_load(engine, &whose, path, NULL, &n, &err), VOUCH_OK);
            assert_int_equal(n, 128);
            assert_int_equal(answer_in(engine, 7, prompt, &again), 128);
            assert_int_equal(again.n, first.n);
            assert_memory_equal(again.tokens, first.tokens, (size_t)first.n * sizeof(int32_t));
            int32_t others[PROMPT]; /* they take the copies of states in turn */
            answer_prompt(others, PROMPT, N_VOCAB, 50 + (uint64_t)round % 3, false);
            (void)answer_in(engine, 7, others, &again);
            (void)answer_in(engine, 7, prompt, &again);
        }
        vouch_engine_close(engine);
        engine = engine_open(model, NULL);
        assert_int_equal(vouch_engine_load(engine, &other, path, got, &n, &err), VOUCH_E_FORMAT);
        assert_int_equal(vouch_engine_load(engine, &whose, path, got, &n, &err), VOUCH_OK);
        assert_int_equal(n, 128);
        assert_memory_equal(got, prompt, 128 * sizeof *got);
        assert_int_equal(answer_in(engine, 7, prompt, &again), 128);
        assert_int_equal(again.n, first.n);
        assert_memory_equal(again.tokens, first.tokens, (size_t)first.n * sizeof(int32_t));
        vouch_engine_close(engine);
        vouch_model_close(model);
        assert_int_equal(vouch_prompt_cache_check(cache, NULL), VOUCH_OK);
        vouch_prompt_cache_close(cache);
    }
}

/* The tokens of a session: a prompt and its answer, and n more. */
static int32_t longer_prompt(int32_t *to, const int32_t *prompt, int32_t n_prompt, const answer *a, int32_t n)
{
    memcpy(to, prompt, (size_t)n_prompt * sizeof *to);
    memcpy(to + n_prompt, a->tokens, (size_t)a->n * sizeof *to);
    answer_prompt(to + n_prompt + a->n, n, N_VOCAB, 77, false);
    return n_prompt + a->n + n;
}

/* A session of each family is saved after an answer. Another one loads it, and goes on with the bytes of a session that
 * has never stopped. */
static void a_saved_session_goes_on(void **state)
{
    (void)state;
    enum { FIRST = 70, MORE = 9 };
    static answer first, expected, got;
    const char *arch;
    char path[VOUCH_OS_PATH_SIZE];
    snprintf(path, sizeof path, "%s", test_temporary("saved"));
    for (int32_t i = 0; (arch = tiny_model_family(i)); i++) {
        vouch_model *model = model_of(arch, NULL);
        vouch_session_options options = options_of(NULL, 0);
        vouch_error err;
        int32_t prompt[FIRST], next[FIRST + LENGTH + MORE];
        options.n_ctx = 128;
        answer_prompt(prompt, FIRST, N_VOCAB, 30, false);
        vouch_session *one = answer_open(model, &options);
        answer_continue(&first, one, prompt, FIRST);
        if (vouch_session_save(one, path, &err)) fail_msg("%s: %s", arch, err.message);
        const uint64_t digest = vouch_memory_digest(vouch_session_target(one));
        const int32_t n = longer_prompt(next, prompt, FIRST, &first, MORE);
        answer_continue(&expected, one, next, n);
        vouch_session_close(one);
        vouch_session *two = answer_open(model, &options);
        if (vouch_session_load(two, path, &err)) fail_msg("%s: %s", arch, err.message);
        assert_true(vouch_memory_digest(vouch_session_target(two)) == digest);
        answer_continue(&got, two, next, n);
        assert_true(answer_equal(&got, &expected));
        if (got.stats.prompt_tokens != MORE + 1)
            fail_msg("%s: %lld tokens ran", arch, (long long)got.stats.prompt_tokens);
        /* Back to the checkpoint, where one of the answer's tokens isn't the same. */
        next[FIRST]++;
        next[FIRST] %= N_VOCAB;
        answer_continue(&expected, two, next, n);
        vouch_session_close(two);
        two = answer_open(model, &options);
        assert_int_equal(vouch_session_load(two, path, &err), VOUCH_OK);
        answer_continue(&got, two, next, n);
        assert_true(answer_equal(&got, &expected));
        assert_true(got.stats.prompt_tokens <= LENGTH + MORE + 17);
        vouch_session_close(two);
        vouch_model_close(model);
    }
}

static void wrong_sessions_are_refused(void **state)
{
    (void)state;
    static answer first, got, plain;
    vouch_error err;
    int32_t prompt[PROMPT];
    char path[VOUCH_OS_PATH_SIZE], other_path[VOUCH_OS_PATH_SIZE];
    snprintf(path, sizeof path, "%s", test_temporary("saved"));
    snprintf(other_path, sizeof other_path, "%s", test_temporary("other"));
    answer_prompt(prompt, PROMPT, N_VOCAB, 31, false);
    for (int i = 0; i < N_HYBRIDS; i++) {
        vouch_model *model = model_of(hybrids[i], NULL), *other = model_of("qwen2", NULL);
        vouch_session_options options = options_of(NULL, 0);
        vouch_session *s = answer_open(model, &options);
        assert_int_equal(vouch_session_save(s, path, &err), VOUCH_E_ARGUMENT);
        answer_continue(&first, s, prompt, PROMPT);
        assert_int_equal(vouch_session_save(s, "/nowhere/at/all", &err), VOUCH_E_IO);
        assert_int_equal(vouch_session_save(s, path, &err), VOUCH_OK);
        vouch_session_close(s);
        size_t n;
        char *bytes = read_whole(path, &n);
        s = answer_open(model, &options);
        test_random random = {9};
        const int n_flips = test_is_quick() || TEST_SANITIZED ? 20 : 100;
        for (int flip = 0; flip < n_flips; flip++) {
            const size_t at = test_below(&random, (uint32_t)n), size = flip % 5 == 4 ? at : n;
            bytes[at] ^= 16;
            write_whole(other_path, bytes, size);
            bytes[at] ^= 16;
            if (vouch_session_load(s, other_path, &err) != VOUCH_E_FORMAT) fail_msg("byte %zu of %zu", at, n);
            assert_non_null(strstr(err.message, "other"));
        }
        answer_continue(&got, s, prompt, PROMPT); /* the session is as good as new */
        assert_true(answer_equal(&got, &first));
        assert_int_equal(vouch_session_load(s, "/nowhere/at/all", &err), VOUCH_E_IO);
        vouch_session_close(s);
        /* Another model, type, scope and context. */
        vouch_session_options wrong[] = {options, options, options, options};
        wrong[1].kv_type = VOUCH_KV_F32;
        wrong[2].scope = 5;
        wrong[3].n_ctx = PROMPT;
        const vouch_status status[] = {VOUCH_E_FORMAT, VOUCH_E_FORMAT, VOUCH_E_FORMAT, VOUCH_E_CONTEXT};
        for (int w = 0; w < 4; w++) {
            s = answer_open(w == 0 ? other : model, &wrong[w]);
            if (vouch_session_load(s, path, &err) != status[w]) fail_msg("%d: %s", w, err.message);
            vouch_session_close(s);
        }
        options.speculation.drafters = VOUCH_DRAFTER_NONE;
        answer_run(&plain, model, &options, prompt, PROMPT);
        assert_true(answer_equal(&plain, &first));
        free(bytes);
        vouch_model_close(model);
        vouch_model_close(other);
    }
}

/* A folder that can't be written costs the files, and no answer. It is told once. */
/* Of a prompt for which the files have no room, they keep the beginning. */
static void a_long_prompt_keeps_its_beginning(void **state)
{
    (void)state;
    const char *path = test_temporary("wide.gguf");
    tiny_model_write(path,
                     &(tiny_model_options){.seed = 8, .n_layers = 16, .head_dim = 32, .n_ff = 64, .n_ctx = N_CTX});
    vouch_model *model = model_of("wide", NULL);
    vouch_prompt_cache *cache = cache_open(test_temporary("narrow"), LEAST);
    vouch_session_options options = options_of(cache, 0);
    options.kv_type = VOUCH_KV_F32; /* a page has half of the folder's bytes */
    assert_int_equal(reused_of(model, options, 9), 0);
    assert_int_equal(reused_of(model, options, 9), 64);
    assert_int_equal(reused_of(model, options, 9), 64);
    vouch_model_close(model);
    vouch_prompt_cache_close(cache);
}

static void a_lost_folder_is_told(void **state)
{
    (void)state;
    vouch_error err;
    const char *folder = test_temporary("lost");
    vouch_model *model = model_of("llama", NULL);
    vouch_prompt_cache *cache = cache_open(folder, 0);
    char name[VOUCH_OS_PATH_SIZE];
    snprintf(name, sizeof name, "%s/prompt-cache.lock", folder);
    assert_true(vouch_os_remove(name) && vouch_os_folder_remove(folder));
    assert_int_equal(reused_of(model, options_of(cache, 0), 6), 0);
    assert_int_equal(vouch_prompt_cache_check(cache, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, folder));
    assert_int_equal(vouch_prompt_cache_check(cache, &err), VOUCH_OK);
    vouch_prompt_cache_close(cache);
    write_whole(folder, "x", 1);
    assert_int_equal(vouch_prompt_cache_open(&cache, folder, 0, &err), VOUCH_E_IO);
    assert_null(cache);
    vouch_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_goes_on_from_files),
        cmocka_unit_test(instruction_sets_read_each_other),
        cmocka_unit_test(angles_keep_apart),
        cmocka_unit_test(a_scope_finds_its_own),
        cmocka_unit_test(damage_costs_a_page),
        cmocka_unit_test(the_folder_stays_within_its_size),
        cmocka_unit_test(a_long_prompt_keeps_its_beginning),
        cmocka_unit_test(a_lost_folder_is_told),
        cmocka_unit_test(an_engine_goes_on),
        cmocka_unit_test(a_saved_session_goes_on),
        cmocka_unit_test(wrong_sessions_are_refused),
    };
    return cmocka_run_group_tests_name("prompt_cache", tests, NULL, NULL);
}
