/* SPDX-License-Identifier: MIT */
/* Writes the model for tests/house/test_newcomers.sh. */
#include "support/model/tiny_model.h"

int main(int argc, char **argv)
{
    if (argc == 2) tiny_model_write(argv[1], &(tiny_model_options){.seed = 1});
    return argc != 2;
}
