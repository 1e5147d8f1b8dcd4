#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One training step of a small draft model, by PyTorch: python3 tests/golden/student.py >tests/golden/student.h

The model is written here a second time, with whole matrices, after the formulas of train/student.h and
train_loss_classes. Autograd makes the gradients. All in double precision.
"""
import torch

from train import EPS, HEAD_DIM, HEADS, KV_HEADS, N_FF, WIDTH, loss_of, norm, rotate, wave, write

LAYERS, ENDS, VOCAB, OUTPUTS, TOP = 2, [7, 12], 13, 11, 4
ROWS = ENDS[-1]
LAYER = [("attn_norm", (WIDTH,)), ("ffn_norm", (WIDTH,)), ("q", (HEADS * HEAD_DIM, WIDTH)),
         ("k", (KV_HEADS * HEAD_DIM, WIDTH)), ("v", (KV_HEADS * HEAD_DIM, WIDTH)), ("o", (WIDTH, HEADS * HEAD_DIM)),
         ("gate", (N_FF, WIDTH)), ("up", (N_FF, WIDTH)), ("down", (WIDTH, N_FF))]


def layer(x, w):
    """A decoder layer over one sequence x [n, WIDTH] from position 0."""
    n = len(x)
    h = norm(x, w["attn_norm"])
    q, k, v = ((h @ w[m].T).view(n, -1, HEAD_DIM) for m in "qkv")
    q, k = (torch.stack([rotate(y[i], i) for i in range(n)]) for y in (q, k))
    k, v = (y.repeat_interleave(HEADS // KV_HEADS, 1) for y in (k, v))
    scores = torch.einsum("ihd,jhd->hij", q, k) / HEAD_DIM ** 0.5
    unseen = torch.ones(n, n).triu(1).bool()
    p = torch.softmax(scores.masked_fill(unseen, -torch.inf), -1)
    x = x + torch.einsum("hij,jhd->ihd", p, v).reshape(n, -1) @ w["o"].T
    h = norm(x, w["ffn_norm"])
    return x + (torch.nn.functional.silu(h @ w["gate"].T) * (h @ w["up"].T)) @ w["down"].T


def classes(row, z, kind):
    """p of the lesson's classes, and logits whose softmax is the student's distribution over them."""
    if kind == "cross_entropy":
        ids, p = [3 * row % OUTPUTS], [1.0]
    else:
        ids, p = [(row + 2 * k) % OUTPUTS for k in range(TOP)], [0.4 / 2 ** k for k in range(TOP)]
        if row == 4:
            del ids[1], p[1]
    p = torch.tensor(p + [1 - sum(p)])
    others = [i for i in range(OUTPUTS) if i not in ids]
    return p, torch.cat([z[ids], torch.logsumexp(z[others], 0)[None]])


def student_loss(kind, block):
    parts = block.split([WIDTH] + LAYERS * [torch.Size(s).numel() for _, s in LAYER])
    embedding = wave(VOCAB * WIDTH, 2, 0.7).view(VOCAB, WIDTH)
    output, bias = wave(OUTPUTS * WIDTH, 3, 0.5).view(OUTPUTS, WIDTH), wave(OUTPUTS, 5, 0.3)
    total, first = 0, 0
    for end in ENDS:
        x = embedding[[(5 * i + 3) % VOCAB for i in range(first, end)]]
        for l in range(LAYERS):
            w = {name: part.view(shape) for (name, shape), part in zip(LAYER, parts[1 + l * len(LAYER):])}
            x = layer(x, w)
        z = norm(x, parts[0]) @ output.T + bias
        for i in range(first, end):
            if i != 2:
                total = total + 0.7 * loss_of(kind, *classes(i, z[i - first], kind))
        first = end
    return total


def main():
    print("/* SPDX-License-Identifier: MIT */\n/* Made by student.py with PyTorch. */")
    n = WIDTH + LAYERS * sum(torch.Size(s).numel() for _, s in LAYER)
    for kind in ["forward_kl", "reverse_kl", "jensen_shannon", "total_variation", "cross_entropy"]:
        block = wave(n, 1, 0.4).requires_grad_(True)
        loss = student_loss(kind, block)
        loss.backward()
        write(f"{kind}_loss", [loss.item()])
        write(f"{kind}_block", block.grad.tolist()[::17])


main()
