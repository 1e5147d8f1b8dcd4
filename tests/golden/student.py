#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One training step of a small draft model, by PyTorch: python3 tests/golden/student.py >tests/golden/student.h

The model is written here a second time, with whole matrices, after the formulas of train/network/student.h and
train_loss_classes. Autograd makes the gradients. All in double precision. With factors (train/network/lora.h), the fixed matrix
and the factors run one after the other, as in the LoRA paper, and torch.optim.AdamW makes a step.
"""
import torch

from train import EPS, HEAD_DIM, HEADS, KV_HEADS, N_FF, WIDTH, loss_of, norm, rotate, wave, write

LAYERS, ENDS, VOCAB, OUTPUTS, TOP = 2, [7, 12], 13, 11, 4
RANK, SCALE = 3, 2
ROWS = ENDS[-1]
LAYER = [("attn_norm", (WIDTH,)), ("ffn_norm", (WIDTH,)), ("q", (HEADS * HEAD_DIM, WIDTH)),
         ("k", (KV_HEADS * HEAD_DIM, WIDTH)), ("v", (KV_HEADS * HEAD_DIM, WIDTH)), ("o", (WIDTH, HEADS * HEAD_DIM)),
         ("gate", (N_FF, WIDTH)), ("up", (N_FF, WIDTH)), ("down", (WIDTH, N_FF))]


def linear(h, w, m):
    y = h @ w[m].T
    return y + SCALE * (h @ w[m + ".a"].T) @ w[m + ".b"].T if m + ".a" in w else y


def layer(x, w):
    """A decoder layer over one sequence x [n, WIDTH] from position 0."""
    n = len(x)
    h = norm(x, w["attn_norm"])
    q, k, v = (linear(h, w, m).view(n, -1, HEAD_DIM) for m in "qkv")
    q, k = (torch.stack([rotate(y[i], i) for i in range(n)]) for y in (q, k))
    k, v = (y.repeat_interleave(HEADS // KV_HEADS, 1) for y in (k, v))
    scores = torch.einsum("ihd,jhd->hij", q, k) / HEAD_DIM ** 0.5
    unseen = torch.ones(n, n).triu(1).bool()
    p = torch.softmax(scores.masked_fill(unseen, -torch.inf), -1)
    x = x + linear(torch.einsum("hij,jhd->ihd", p, v).reshape(n, -1), w, "o")
    h = norm(x, w["ffn_norm"])
    return x + linear(torch.nn.functional.silu(linear(h, w, "gate")) * linear(h, w, "up"), w, "down")


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


FACTORS = [(name + end, s) for name, (n_out, n_in) in LAYER[2:]
           for end, s in [(".a", (RANK, n_in)), (".b", (n_out, RANK))]]


def views(parts, names):
    return {name: part.view(shape) for (name, shape), part in zip(names, parts)}


def student_loss(kind, block, factors=None):
    parts = block.split([WIDTH] + LAYERS * [torch.Size(s).numel() for _, s in LAYER])
    embedding = wave(VOCAB * WIDTH, 2, 0.7).view(VOCAB, WIDTH)
    output, bias = wave(OUTPUTS * WIDTH, 3, 0.5).view(OUTPUTS, WIDTH), wave(OUTPUTS, 5, 0.3)
    total, first = 0, 0
    for end in ENDS:
        x = embedding[[(5 * i + 3) % VOCAB for i in range(first, end)]]
        for l in range(LAYERS):
            w = views(parts[1 + l * len(LAYER):], LAYER)
            if factors is not None:
                some = factors.view(LAYERS, -1)[l].split([torch.Size(s).numel() for _, s in FACTORS])
                w |= views(some, FACTORS)
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
    factors = wave(LAYERS * sum(torch.Size(s).numel() for _, s in FACTORS), 4, 0.3).requires_grad_(True)
    loss = student_loss("forward_kl", wave(n, 1, 0.4), factors)
    loss.backward()
    write("factors_loss", [loss.item()])
    write("factors_grads", factors.grad.tolist()[::17])
    torch.optim.AdamW([factors], lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.02).step()
    write("factors_after", factors.tolist()[::17])


main()
