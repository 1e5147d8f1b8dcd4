/* SPDX-License-Identifier: MIT */
/*
 * A student as a GGUF file. It begins as layers of an existing model of architecture llama, the target or a smaller
 * one. It is written as such a model: the keys, tokenizer, embedding and output matrix of that model's file, the layers
 * that have learned, and two more keys:
 *
 *   vouch.distill.target   digest of the target that it has learned from
 *   vouch.distill.recipe   how it has learned, JSON
 */
#ifndef VOUCH_TRAIN_STUDENT_FILE_H
#define VOUCH_TRAIN_STUDENT_FILE_H

#include "model/load/weights.h"
#include "train/network/student.h"

/* Copies layers[0, n_layers) of the model in the file `path`, whose weights are open; n_layers 0: all of its layers.
 * Errors: ARGUMENT (a layer), UNSUPPORTED (names the architecture, key or tensor), MEMORY, and those of opening. */
vouch_status train_student_open(train_student *student, const char *path, const vouch_weights *weights,
                                const int32_t *layers, int32_t n_layers, vouch_error *err);
void train_student_close(train_student *student);

/* cos and sin of the angles at positions [0, n_positions): [n_positions, head_dim / 2]. */
void train_student_angles(const train_student *student, real *cosines, real *sines, int64_t n_positions);

/* Writes the file completely or not at all. `path` is the file of the model as which the student
 * began, `type` the type of its layers' matrices (train_type_of). Errors: IO, MEMORY, and those of opening. */
vouch_status train_student_write(const train_student *student, const char *path, const char *out, vouch_type type,
                                 const char *digest, const char *recipe, vouch_error *err);

#endif
