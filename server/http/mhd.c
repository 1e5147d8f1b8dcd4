/* SPDX-License-Identifier: MIT */
#include "http/mhd.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

server_mhd mhd;

/* Puts the address of a function into *to. ISO C has no cast from an object pointer to a function pointer. */
static bool find(void *library, const char *name, void *to)
{
    void *const address = dlsym(library, name);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

vouch_status server_mhd_open(vouch_error *err)
{
    void *const library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    bool is_open = library != NULL;
#define FIND(name) is_open = is_open && find(library, #name, &mhd.name);
    SERVER_MHD_FUNCTIONS(FIND)
#undef FIND
    if (is_open) return VOUCH_OK;
    *err = (vouch_error){VOUCH_E_UNSUPPORTED, "libmicrohttpd.so.12 is missing, which `vouch serve` needs. On Debian or "
                                              "Ubuntu: sudo apt-get install libmicrohttpd12"};
    return VOUCH_E_UNSUPPORTED;
}
