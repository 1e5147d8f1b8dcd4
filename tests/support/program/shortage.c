/* SPDX-License-Identifier: MIT */
#include "support/program/shortage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/program/command.h"
#include "support/sanitized.h"

static shortage_page *page;

bool shortage_begin(void)
{
    char library[512];
    strcpy(library, program("tests/shortage.so"));
    if (TEST_SANITIZED || access(library, R_OK) != 0) return false;
    const char *path = test_path("shortage.page");
    char *whole_path = realpath(library, NULL);
    write_whole(path, &(shortage_page){0}, sizeof *page);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(page != MAP_FAILED);
    setenv(SHORTAGE_PAGE, path, 1);
    setenv("LD_PRELOAD", whole_path, 1);
    free(whole_path);
    return true;
}

void shortage_set(shortage_call call, long n, int n_more)
{
    atomic_store(&page->call, SHORTAGE_NONE);
    atomic_store(&page->left, n);
    atomic_store(&page->n_more, n_more);
    atomic_store(&page->call, call);
}

void shortage_cut(const char *path)
{
    strcpy(page->cut, path);
}

bool shortage_came(void)
{
    return atomic_load(&page->left) <= 0;
}

const char *shortage_name(shortage_call call)
{
    static const char *const names[] = {"none", "malloc", "mmap", "thread", "read", "write", "cut"};
    return names[call];
}
