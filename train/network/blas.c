/* SPDX-License-Identifier: MIT */
#include "train/network/blas.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static train_blas_functions functions;
static bool is_open;

/* Puts the address of a function into *to. ISO C has no cast from an object pointer to a function pointer. */
static bool find(void *library, const char *name, void *to)
{
    void *const address = dlsym(library, name);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

static void load(void)
{
    void *const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    is_open = library != NULL;
#define FIND(name) is_open = is_open && find(library, #name, &functions.name);
    TRAIN_BLAS_FUNCTIONS(FIND)
#undef FIND
}

vouch_status train_blas_open(vouch_error *err)
{
    pthread_once(&once, load);
    if (is_open) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "libopenblas.so.0 is missing, which `vouch distill` needs. On Debian or Ubuntu: sudo apt-get "
                      "install libopenblas0");
}

const train_blas_functions *train_blas(void)
{
    const vouch_status status = train_blas_open(NULL);
    assert(status == VOUCH_OK);
    (void)status;
    return &functions;
}
