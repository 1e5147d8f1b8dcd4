/* SPDX-License-Identifier: MIT */
/*
 * Law L6: the library allocates nothing between two tokens. When memory or threads run out before, it returns an error
 * and leaks nothing.
 *
 * This program replaces malloc, mmap and pthread_create, so that it counts the requests of the whole process and can
 * refuse the n-th request, or all from the n-th on. Sanitizers replace malloc themselves, so these tests skip under
 * them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/decode/answer.h"
#include "support/sanitized.h"
#include "support/model/tokenizers.h"
#include "text/internal.h"

/* --------------------------------------------------------------- counting */

/* The requests that the tests count and refuse. */
typedef enum request { REQUEST_MEMORY, REQUEST_THREAD, N_REQUESTS } request;

static _Atomic int64_t n_requests[N_REQUESTS];  /* since the last arm() */
static _Atomic int64_t refuse_from[N_REQUESTS]; /* the first request to refuse, from 1; 0: none */
static _Atomic int64_t n_refused;               /* since the last arm() */
static atomic_bool refuse_one;                  /* refuses only that request, none after it */
static _Atomic int64_t n_live, live_bytes;      /* blocks and mappings not yet released */

static void arm(request what, int64_t from, bool one)
{
    atomic_store(&refuse_one, one);
    atomic_store(&n_refused, 0);
    for (int i = 0; i < N_REQUESTS; i++) {
        atomic_store(&n_requests[i], 0);
        atomic_store(&refuse_from[i], i == (int)what ? from : 0);
    }
}

static void disarm(void)
{
    for (int i = 0; i < N_REQUESTS; i++) atomic_store(&refuse_from[i], 0);
}

#if !TEST_SANITIZED

static bool is_refused(request what)
{
    const int64_t n = atomic_fetch_add(&n_requests[what], 1) + 1, from = atomic_load(&refuse_from[what]);
    const bool refused = from != 0 && (n == from || (n > from && !atomic_load(&refuse_one)));
    atomic_fetch_add(&n_refused, refused);
    return refused;
}

/* Exported, so that shared libraries, even the C library, call these functions. */
#pragma GCC visibility push(default)

/* The C library's implementations. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);
void *memalign(size_t alignment, size_t size);

static void *granted(void *block)
{
    if (!block) return NULL;
    atomic_fetch_add(&n_live, 1);
    atomic_fetch_add(&live_bytes, (int64_t)malloc_usable_size(block));
    return block;
}

static void given_back(void *block)
{
    if (!block) return;
    atomic_fetch_sub(&n_live, 1);
    atomic_fetch_sub(&live_bytes, (int64_t)malloc_usable_size(block));
}

static void *refused(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return is_refused(REQUEST_MEMORY) ? refused() : granted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return is_refused(REQUEST_MEMORY) ? refused() : granted(__libc_calloc(n, size));
}

void *realloc(void *block, size_t size)
{
    if (is_refused(REQUEST_MEMORY)) return refused();
    const int64_t old = block ? (int64_t)malloc_usable_size(block) : 0;
    void *moved = __libc_realloc(block, size);
    if (!moved && size != 0) return NULL;
    atomic_fetch_add(&n_live, (moved != NULL) - (block != NULL));
    atomic_fetch_add(&live_bytes, (moved ? (int64_t)malloc_usable_size(moved) : 0) - old);
    return moved;
}

void *memalign(size_t alignment, size_t size)
{
    return is_refused(REQUEST_MEMORY) ? refused() : granted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *new_block = memalign(alignment, size);
    if (!new_block) return ENOMEM;
    *block = new_block;
    return 0;
}

void free(void *block)
{
    given_back(block);
    __libc_free(block);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (is_refused(REQUEST_MEMORY)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *map = (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
    if (map == MAP_FAILED) return map;
    atomic_fetch_add(&n_live, 1);
    if (fd < 0) atomic_fetch_add(&live_bytes, (int64_t)size);
    return map;
}

int munmap(void *address, size_t size)
{
    atomic_fetch_sub(&n_live, 1);
    return (int)syscall(SYS_munmap, address, size);
}

typedef int pthread_create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Small stacks: the C library then keeps all of them for later threads, so the number of live blocks stays constant. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg)
{
    static pthread_create_fn *real;
    pthread_attr_t small;
    (void)attributes;
    if (is_refused(REQUEST_THREAD)) return EAGAIN;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&real, &symbol, sizeof real);
    }
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 18);
    const int error = real(thread, &small, start, arg);
    pthread_attr_destroy(&small);
    return error;
}

#pragma GCC visibility pop
#define NEEDS_COUNTING() (void)0
#else
#define NEEDS_COUNTING() test_skip("a sanitizer has its own malloc")
#endif

/* ---------------------------------------------------------------- a whole run */

/* BRIDGED: a draft model with another token table. PACED: the default options with a draft model. */
typedef enum drafting { PLAIN, SOURCES, MODEL, BRIDGED, PACED, CUSTOM, N_DRAFTINGS } drafting;

static bool has_model(drafting how)
{
    return how == MODEL || how == BRIDGED || how == PACED;
}

static char target_path[256], draft_path[256], foreign_path[256];

static int models_write(void **state)
{
    (void)state;
    strcpy(target_path, test_temporary("target.gguf"));
    strcpy(draft_path, test_temporary("draft.gguf"));
    strcpy(foreign_path, test_temporary("foreign.gguf"));
    tiny_model_write(foreign_path, &(tiny_model_options){.seed = 32, .vocab_seed = 9, .n_vocab = 320});
    tiny_model_write(target_path, &(tiny_model_options){.seed = 31, .type = VOUCH_TYPE_Q8_0});
    tiny_model_write(draft_path, &(tiny_model_options){.seed = 31, .type = VOUCH_TYPE_Q8_0, .noise = 0.02f});
    return 0;
}

static bool custom_allocates; /* true: the custom drafter breaks law L6 */

static int32_t propose_same(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    (void)user;
    void *volatile block = custom_allocates ? malloc(10) : NULL;
    free(block);
    for (int32_t i = 0; i < k; i++) guesses[i] = tokens[n_tokens - 1];
    return k;
}

static vouch_session_options options_of(drafting how, const vouch_model *draft, vouch_draft_memory *memory)
{
    static const char *const stop[] = {"never to be seen", "nor this"};
    static const vouch_logit_bias bias[] = {{5, 1}, {6, -1}};
    vouch_session_options options = vouch_session_options_default();
    options.n_ctx = how == SOURCES ? 20000 : 200; /* the context of 20,000 tokens is mapped, not allocated */
    options.n_threads = 3;
    options.prefill_chunk = 8;
    options.max_tokens = 16;
    options.ignore_eos = true;
    options.thought_budget = 3;
    options.stop = stop;
    options.n_stop = 2;
    options.expected_acceptance = true;
    options.sampling.temperature = how == PLAIN ? 0 : 0.8f;
    options.sampling.top_k = 30;
    options.sampling.top_p = 0.9f;
    options.sampling.min_p = 0.01f;
    options.sampling.repeat_penalty = 1.1f;
    options.sampling.bias = bias;
    options.sampling.n_bias = 2;
    vouch_speculation *spec = &options.speculation;
    spec->drafters = how == PLAIN     ? VOUCH_DRAFTER_NONE
                     : how == SOURCES ? VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE |
                                            VOUCH_DRAFTER_PREDICTION | VOUCH_DRAFTER_HISTORY
                     : how == PACED   ? VOUCH_DRAFTER_AUTO
                     : has_model(how) ? VOUCH_DRAFTER_MODEL
                                      : VOUCH_DRAFTER_CUSTOM;
    spec->draft_model = has_model(how) ? draft : NULL;
    spec->draft_memory = how == SOURCES ? memory : NULL;
    spec->allow_vocab_mismatch = true; /* has no effect on equal vocabularies */
    static const int32_t head[] = {5, 40, 41, 42, 43, 300};
    spec->tree_branches = how == BRIDGED ? 3 : 0;
    spec->draft_vocab = head;
    spec->n_draft_vocab = how == BRIDGED ? 6 : 0;
    spec->custom.propose = propose_same;
    spec->n_draft = how == CUSTOM ? 2 : 0; /* asked in every cycle, whatever the time of a pass */
    return options;
}

typedef struct everything {
    vouch_model *target, *draft;
    vouch_draft_memory *memory; /* of SOURCES */
    vouch_session *session;
    unsigned drafters;
} everything;

static vouch_status open_all(everything *all, drafting how, vouch_error *err)
{
    vouch_model_options options = vouch_model_options_default();
    options.n_threads = 2;
    vouch_model_options thinks = options;
    thinks.chat_template = "{% for m in messages %}{% if m.thinking %}<think>{{ m.thinking }}</think>{% endif %}"
                           "{{ m.content }}{% endfor %}";
    vouch_status status = vouch_model_open(&all->target, target_path, &thinks, err);
    const char *draft = how == BRIDGED ? foreign_path : has_model(how) ? draft_path : NULL;
    if (status == VOUCH_OK && draft) status = vouch_model_open(&all->draft, draft, &options, err);
    if (status == VOUCH_OK && how == SOURCES)
        status = vouch_draft_memory_open(&all->memory, all->target, NULL, 1 << 16, err);
    if (status != VOUCH_OK) return status;
    const vouch_session_options session = options_of(how, all->draft, all->memory);
    all->drafters = session.speculation.drafters;
    return vouch_session_open(&all->session, all->target, &session, err);
}

static void close_all(everything *all)
{
    vouch_session_close(all->session);
    vouch_draft_memory_close(all->memory);
    vouch_model_close(all->draft);
    vouch_model_close(all->target);
}

static vouch_status answer_all(everything *all, vouch_error *err)
{
    static const char text[] = "Once upon a time the river, the stones and the sea<think>";
    const unsigned drafters = all->drafters;
    vouch_status status = VOUCH_OK;
    if (drafters & VOUCH_DRAFTER_PREDICTION) status = vouch_session_predict(all->session, text, sizeof text - 1, err);
    if (status == VOUCH_OK) status = vouch_session_text(all->session, text, sizeof text - 1, err);
    vouch_step step = {0};
    while (status == VOUCH_OK && step.finish == VOUCH_FINISH_NONE)
        status = vouch_session_step(all->session, &step, err);
    if (status == VOUCH_OK && atomic_load(&n_refused) == 0)
        assert_true(vouch_session_stats(all->session)->thought_tokens > 0);
    return status;
}

/* ------------------------------------------------------------------ law L6 */

/* Counts the requests during a prompt and its answer. also_look: times passes and reads logits between the steps. */
static int64_t count_while_answering(drafting how, bool also_look)
{
    static float logits[4 * 400];
    everything all = {0};
    vouch_error err;
    if (open_all(&all, how, &err) != VOUCH_OK) fail_msg("%s", err.message);
    int32_t prompt[40];
    answer_prompt(prompt, 40, 400, 3, true);
    arm(REQUEST_MEMORY, 0, false);
    vouch_status status = vouch_session_prompt(all.session, prompt, 40, &err);
    for (vouch_step step = {0}; status == VOUCH_OK && step.finish == VOUCH_FINISH_NONE;) {
        double seconds;
        if (also_look) status = vouch_session_time_pass(all.session, 3, 3, &seconds, &err);
        if (status == VOUCH_OK && also_look) status = vouch_session_logits(all.session, 1, 4, logits, &err);
        if (status == VOUCH_OK) status = vouch_session_step(all.session, &step, &err);
    }
    const int64_t n = atomic_load(&n_requests[REQUEST_MEMORY]) + atomic_load(&n_requests[REQUEST_THREAD]);
    assert_int_equal(status, VOUCH_OK);
    close_all(&all);
    return n;
}

/* The same for an engine with two sessions of each kind, which share the passes of their draft model. All answer
 * twice, in shared passes. */
static int64_t count_in_engine(void)
{
    const vouch_engine_options options = {.n_sessions = 2 * N_DRAFTINGS, .n_ctx = 200, .n_threads = 3, .page_size = 16};
    everything all[N_DRAFTINGS] = {0};
    vouch_session *beside[N_DRAFTINGS];
    vouch_model *target;
    vouch_engine *engine;
    vouch_error err;
    int32_t prompt[40];
    answer_prompt(prompt, 40, 400, 3, true);
    assert_int_equal(vouch_model_open(&target, target_path, NULL, &err), VOUCH_OK);
    assert_int_equal(vouch_engine_open(&engine, target, &options, &err), VOUCH_OK);
    for (drafting how = 0; how < N_DRAFTINGS; how++) {
        const char *draft = how == BRIDGED ? foreign_path : draft_path;
        assert_int_equal(vouch_model_open(&all[how].draft, draft, NULL, &err), VOUCH_OK);
        if (how == SOURCES)
            assert_int_equal(vouch_draft_memory_open(&all[how].memory, target, NULL, 1 << 16, &err), VOUCH_OK);
        vouch_session_options session = options_of(how, all[how].draft, all[how].memory);
        session.n_ctx = 0;
        if (vouch_engine_session_open(&all[how].session, engine, &session, &err) != VOUCH_OK ||
            vouch_engine_session_open(&beside[how], engine, &session, &err) != VOUCH_OK)
            fail_msg("%s", err.message);
    }
    arm(REQUEST_MEMORY, 0, false);
    for (int time = 0; time < 2; time++) {
        const vouch_engine_event *events;
        size_t n_events;
        for (drafting how = 0; how < N_DRAFTINGS; how++) {
            assert_int_equal(vouch_session_prompt(all[how].session, prompt, 40, &err), VOUCH_OK);
            assert_int_equal(vouch_session_prompt(beside[how], prompt, 30, &err), VOUCH_OK);
        }
        while (vouch_engine_step(engine, &events, &n_events)) {
            for (size_t i = 0; i < n_events; i++) assert_int_equal(events[i].status, VOUCH_OK);
        }
    }
    const int64_t n = atomic_load(&n_requests[REQUEST_MEMORY]) + atomic_load(&n_requests[REQUEST_THREAD]);
    for (drafting how = 0; how < N_DRAFTINGS; how++) {
        vouch_session_close(beside[how]);
        vouch_session_close(all[how].session);
        vouch_draft_memory_close(all[how].memory);
        vouch_model_close(all[how].draft);
    }
    vouch_engine_close(engine);
    vouch_model_close(target);
    return n;
}

static void an_engine_allocates_nothing_between_passes(void **state)
{
    (void)state;
    NEEDS_COUNTING();
    assert_int_equal(count_in_engine(), 0);
    custom_allocates = true;
    assert_true(count_in_engine() > 0);
    custom_allocates = false;
}

static void nothing_is_allocated_between_tokens(void **state)
{
    (void)state;
    NEEDS_COUNTING();
    for (drafting how = 0; how < N_DRAFTINGS; how++) {
        assert_int_equal(count_while_answering(how, false), 0);
        assert_int_equal(count_while_answering(how, true), 0);
    }
    custom_allocates = true;
    assert_int_equal(count_while_answering(CUSTOM, false) > 0, true);
    custom_allocates = false;
}

static void streaming_allocates_nothing(void **state)
{
    (void)state;
    NEEDS_COUNTING();
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_SIZE);
    static const char *const stops[] = {"never", "nor this"};
    vouch_stream *stream;
    assert_int_equal(vouch_stream_open(&stream, tokenizer, stops, 2, 4, NULL), VOUCH_OK);
    size_t bytes = 0;
    arm(REQUEST_MEMORY, 0, false);
    for (int32_t round = 0; round < 50; round++) {
        for (int32_t token = 0; token < TINY_SIZE; token++) {
            (void)vouch_stream_push(stream, (token * 37 + round) % TINY_SIZE);
            bytes += vouch_stream_take(stream).size;
        }
        vouch_stream_finish(stream);
        vouch_stream_reset(stream, -1);
    }
    assert_int_equal(atomic_load(&n_requests[REQUEST_MEMORY]), 0);
    assert_true(bytes > 10000);
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

/* The memory that a session reports equals the memory that opening it took, except for the thread pool's
 * bookkeeping. */
static void memory_is_known_at_open(void **state)
{
    (void)state;
    NEEDS_COUNTING();
    for (drafting how = 0; how < N_DRAFTINGS; how++) {
        everything all = {0};
        assert_int_equal(open_all(&all, how, NULL), VOUCH_OK);
        vouch_session_close(all.session);
        const int64_t before = atomic_load(&live_bytes);
        const vouch_session_options options = options_of(how, all.draft, all.memory);
        assert_int_equal(vouch_session_open(&all.session, all.target, &options, NULL), VOUCH_OK);
        const int64_t taken = atomic_load(&live_bytes) - before;
        const int64_t said = (int64_t)vouch_session_memory(all.session);
        if (said > taken || said < taken - 8192) fail_msg("says %lld, took %lld", (long long)said, (long long)taken);
        close_all(&all);
    }
}

/* ---------------------------------------------------------------- running out */

/* A function that requests memory or threads and releases everything, even if it fails. */
typedef vouch_status attempt(const void *self, vouch_error *err);

/* Opens models and a session, and answers a prompt. */
static vouch_status answer_once(const void *self, vouch_error *err)
{
    everything all = {0};
    vouch_status status = open_all(&all, *(const drafting *)self, err);
    const bool opened = status == VOUCH_OK;
    if (opened) status = answer_all(&all, err);
    disarm();
    /* A session stays usable after a failed answer. */
    if (opened && status != VOUCH_OK) assert_int_equal(answer_all(&all, NULL), VOUCH_OK);
    close_all(&all);
    return status;
}

/* Opens a tokenizer that normalises, encodes a text and a conversation, and opens a stream. */
static vouch_status tokenize_once(const void *self, vouch_error *err)
{
    static const vouch_message message = {"user", "Na\xc3\xafve e\xcc\x81 text"};
    static const char *const stop = "stop";
    vouch_tokenizer *tokenizer = NULL;
    vouch_stream *stream = NULL;
    int32_t out[256];
    size_t n;
    vouch_status status = vouch_tokenizer_open(&tokenizer, self, NULL, err);
    if (status == VOUCH_OK) status = vouch_tokenizer_encode_chat(tokenizer, &message, 1, out, 256, &n, err);
    if (status == VOUCH_OK) status = vouch_stream_open(&stream, tokenizer, &stop, 1, 8, err);
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
    return status;
}

/* Runs the attempt and refuses the n-th request, or all from the n-th on. Returns whether a request was refused. */
static bool fails_cleanly(attempt *what, const void *self, request of, int64_t n, bool one)
{
    vouch_error err = {0};
    const int64_t live = atomic_load(&n_live);
    arm(of, n, one);
    const vouch_status status = what(self, &err);
    const bool refused = atomic_load(&n_refused) > 0;
    disarm();
    if (status == VOUCH_OK && refused && !one) fail_msg("request %lld was refused in vain", (long long)n);
    if (status != VOUCH_OK && (status != VOUCH_E_MEMORY || !refused || err.code != status || !err.message[0]))
        fail_msg("request %lld: status %d, message '%s'", (long long)n, status, err.message);
    if (atomic_load(&n_live) != live)
        fail_msg("request %lld: %lld blocks leaked", (long long)n, (long long)(atomic_load(&n_live) - live));
    return refused;
}

/* Refuses each request in turn. Returns the number of requests. */
static int64_t refuse_each(attempt *what, const void *self, request of, bool one)
{
    vouch_error err;
    assert_int_equal(what(self, &err), VOUCH_OK); /* libraries make their permanent allocations now */
    int64_t n = 1;
    while (fails_cleanly(what, self, of, n, one)) n++;
    return n - 1;
}

static void running_out_of_memory_is_a_clean_error(void **state)
{
    (void)state;
    test_skip_slow();
    NEEDS_COUNTING();
    for (drafting how = 0; how < N_DRAFTINGS; how++) {
        if (test_is_quick() && how != MODEL && how != SOURCES) continue;
        const int64_t n = refuse_each(answer_once, &how, REQUEST_MEMORY, true);
        assert_true(n > 20);
        assert_int_equal(refuse_each(answer_once, &how, REQUEST_MEMORY, false), n);
    }
}

static void text_without_memory_is_a_clean_error(void **state)
{
    (void)state;
    NEEDS_COUNTING();
    vouch_gguf_writer *writer = writer_open();
    size_t size;
    tiny_vocab_add_pre(writer, TINY_SIZE, 7, "qwen2");
    void *bytes = writer_finish(writer, &size);
    vouch_gguf *gguf = open_bytes(bytes, size);
    const int64_t n = refuse_each(tokenize_once, gguf, REQUEST_MEMORY, true);
    assert_true(n > 20);
    assert_int_equal(refuse_each(tokenize_once, gguf, REQUEST_MEMORY, false), n);
    vouch_gguf_close(gguf);
    free(bytes);
}

static void running_out_of_threads_is_a_clean_error(void **state)
{
    (void)state;
    NEEDS_COUNTING();
    const drafting model = MODEL, sources = SOURCES;
    /* Packing each model starts one thread, the session two. */
    assert_int_equal(refuse_each(answer_once, &model, REQUEST_THREAD, true), 4);
    assert_int_equal(refuse_each(answer_once, &model, REQUEST_THREAD, false), 4);
    assert_int_equal(refuse_each(answer_once, &sources, REQUEST_THREAD, true), 3);
}

/* The tests above can fail: the counters see every allocation and release, and refusing works. */
static void a_leak_would_be_seen(void **state)
{
    (void)state;
    NEEDS_COUNTING();
    const int64_t live = atomic_load(&n_live);
    void *volatile block = malloc(10);
    assert_int_equal(atomic_load(&n_live), live + 1);
    block = realloc(block, 100000);
    assert_int_equal(atomic_load(&n_live), live + 1);
    free(block);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(atomic_load(&n_live), live + 1);
    munmap(map, 4096);
    assert_int_equal(atomic_load(&n_live), live);
    char *volatile copy = strdup("requests of the C library are counted as well");
    assert_int_equal(atomic_load(&n_live), live + 1);
    free(copy);
    pcre2_match_data *match = pcre2_match_data_create(1, NULL); /* another library's request */
    assert_int_equal(atomic_load(&n_live), live + 1);
    pcre2_match_data_free(match);
    assert_int_equal(atomic_load(&n_live), live);
    arm(REQUEST_MEMORY, 2, true);
    void *volatile first = malloc(10), *volatile second = malloc(10), *volatile third = malloc(10);
    disarm();
    assert_true(first && !second && third);
    free(first);
    free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leak_would_be_seen),
        cmocka_unit_test(nothing_is_allocated_between_tokens),
        cmocka_unit_test(an_engine_allocates_nothing_between_passes),
        cmocka_unit_test(streaming_allocates_nothing),
        cmocka_unit_test(memory_is_known_at_open),
        cmocka_unit_test(running_out_of_memory_is_a_clean_error),
        cmocka_unit_test(text_without_memory_is_a_clean_error),
        cmocka_unit_test(running_out_of_threads_is_a_clean_error),
    };
    return cmocka_run_group_tests_name("memory", tests, models_write, NULL);
}
