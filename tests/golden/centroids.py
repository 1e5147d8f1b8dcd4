#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes centroids.h: logits that transformers' Gemma 4 assistant finds by its centroids.

    tests/golden/centroids.py > tests/golden/centroids.h

Needs the packages torch and transformers. transformers 5.24.0 and torch 2.15.0 made the table in the repository.

The matrices follow from their names (hf_folders.py). transformers gives tokens of other centroids the least logit less
1; the table has -INFINITY for them.
"""
import types

import torch
from transformers.models.gemma4_assistant.modeling_gemma4_assistant import Gemma4AssistantMaskedEmbedder

from hf_folders import weights

WIDTH, VOCABULARY, CENTROIDS, BEST, ROWS = 24, 60, 12, 4, 3


def main() -> None:
    """Prints the header."""
    text = types.SimpleNamespace(hidden_size=WIDTH, vocab_size=VOCABULARY)
    embedder = Gemma4AssistantMaskedEmbedder(types.SimpleNamespace(
        centroid_intermediate_top_k=BEST, num_centroids=CENTROIDS, get_text_config=lambda: text))
    embedder.centroids.weight.data = weights("centroids.embed", torch.Size([CENTROIDS, WIDTH]))
    embedder.token_ordering.copy_(torch.tensor([7 * i % VOCABULARY for i in range(VOCABULARY)]))
    states = weights("states.embed", torch.Size([1, ROWS, WIDTH]))
    with torch.no_grad():
        logits = embedder(states, weights("lm_head.embed", torch.Size([VOCABULARY, WIDTH])))[0]
    print("/* SPDX-License-Identifier: MIT */\n/* Written by centroids.py. Token i of the order is 7 i mod the vocabulary. */")
    print(f"enum {{ CENTROIDS_WIDTH = {WIDTH}, CENTROIDS_VOCABULARY = {VOCABULARY}, CENTROIDS = {CENTROIDS}, "
          f"CENTROIDS_BEST = {BEST}, CENTROIDS_ROWS = {ROWS} }};")
    print("static const float centroids_logits[CENTROIDS_ROWS][CENTROIDS_VOCABULARY] = {")
    for row in logits:
        shown = ["-INFINITY" if x == row.min() else f"{x:.7e}f" for x in row.tolist()]
        print("    {" + ",\n     ".join(", ".join(shown[i:i + 6]) for i in range(0, VOCABULARY, 6)) + "},")
    print("};")


if __name__ == "__main__":
    main()
