/* SPDX-License-Identifier: MIT */
/* What all systems share (os.h). */
#include <stdlib.h>

#include "os/os.h"

void vouch_os_names_free(char **names, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; names && i < n; i++) free(names[i]);
    free(names);
}

/* Each system has a qsort with a context, but with its arguments in another order. So this calls the plain qsort, and a
 * variable of the thread holds the comparison and its context. */
typedef struct order {
    vouch_os_compare *compare;
    void *context;
} order;
static _Thread_local const order *current;

static int order_compare(const void *a, const void *b)
{
    return current->compare(a, b, current->context);
}

void vouch_os_sort(void *items, size_t n, size_t size, vouch_os_compare *compare, void *context)
{
    const order own = {compare, context}, *outer = current;
    current = &own;
    if (n > 0) qsort(items, n, size, order_compare);
    current = outer;
}
