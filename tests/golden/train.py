#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One training step of a small head, by PyTorch: python3 tests/golden/train.py >tests/golden/train.h

The head is written here a second time, one row and one key at a time, after the formulas of train/network/head.h and
train/network/attention.h. Autograd makes the gradients, torch.optim.AdamW the updated weights. All in double precision.
"""
import torch

torch.set_default_dtype(torch.float64)
ENDS, LENGTH, VOCAB, DRAFT, TOP, FEATURES, WIDTH, N_FF = [7, 12], 7, 13, 10, 4, 20, 16, 24
HEADS, KV_HEADS, HEAD_DIM, GENERATIONS, EPS, BASE = 4, 2, 4, 3, 1e-5, 10000.0
WEIGHTS, BETA = [1.0, 0.8, 0.6], 0.4
ROWS = ENDS[-1]


def wave(n, seed, scale):
    """The numbers that tests/support/head/tiny_lessons.h makes by the same formula."""
    i = torch.arange(n, dtype=torch.float64)
    return torch.sin(i * (1.3 + 0.1 * seed) + seed) * scale


SHAPES = [("fc", (WIDTH, FEATURES)), ("fc_bias", (WIDTH,)), ("token", (WIDTH, WIDTH)), ("token_bias", (WIDTH,)),
          ("leave", (WIDTH, WIDTH)), ("output_norm", (WIDTH,)), ("attn_norm", (WIDTH,)), ("ffn_norm", (WIDTH,)), ("q", (HEADS * HEAD_DIM, WIDTH)),
          ("k", (KV_HEADS * HEAD_DIM, WIDTH)), ("v", (KV_HEADS * HEAD_DIM, WIDTH)), ("o", (WIDTH, HEADS * HEAD_DIM)),
          ("gate", (N_FF, WIDTH)), ("up", (N_FF, WIDTH)), ("down", (WIDTH, N_FF))]


def block_new():
    sizes = [torch.Size(s).numel() for _, s in SHAPES]
    return wave(sum(sizes), 1, 0.4).requires_grad_(True), sizes


def views(block, sizes):
    return {name: part.view(shape) for (name, shape), part in zip(SHAPES, block.split(sizes))}


def norm(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * weight


def rotate(x, position):
    i = torch.arange(HEAD_DIM // 2)
    angle = position * BASE ** (-2.0 * i / HEAD_DIM)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1).flatten(-2)


def layer(x, past, w, g, positions):
    """past[j]: keys and values of generation j, rows by rows."""
    h = norm(x, w["attn_norm"])
    q, k, v = ((h @ w[m].T).view(ROWS, -1, HEAD_DIM) for m in "qkv")
    q = torch.stack([rotate(q[i], positions[i]) for i in range(ROWS)])
    k = torch.stack([rotate(k[i], positions[i]) for i in range(ROWS)])
    past.append((k, v))
    mixed = []
    for i in range(ROWS):
        first = 0 if i < ENDS[0] else ENDS[0]
        local = i - first
        seen = [(0, first + j) for j in range(max(local - g + 1, 0))]
        seen += [(j, i - g + j) for j in range(1, g + 1) if local - g + j >= 0]
        heads = []
        for head in range(HEADS):
            keys = torch.stack([past[j][0][at, head // (HEADS // KV_HEADS)] for j, at in seen])
            values = torch.stack([past[j][1][at, head // (HEADS // KV_HEADS)] for j, at in seen])
            heads.append(torch.softmax(keys @ q[i, head] / HEAD_DIM ** 0.5, 0) @ values)
        mixed.append(torch.cat(heads))
    x = x + torch.stack(mixed) @ w["o"].T
    h = norm(x, w["ffn_norm"])
    return x + (torch.nn.functional.silu(h @ w["gate"].T) * (h @ w["up"].T)) @ w["down"].T


def loss_of(kind, p, z):
    log_q = torch.log_softmax(z, 0)
    q = log_q.exp()
    some = p > 0
    log_p = torch.log(p.clamp_min(1e-9))
    if kind in ("forward_kl", "cross_entropy"):
        return (p[some] * (log_p[some] - log_q[some])).sum()
    if kind == "reverse_kl":
        return (q * (log_q - log_p)).sum()
    if kind == "jensen_shannon":
        m = torch.log(BETA * p + (1 - BETA) * q)
        return BETA * (p[some] * (log_p[some] - m[some])).sum() + (1 - BETA) * (q * (log_q - m)).sum()
    return (p - q).abs().sum() / 2


def head_loss(kind, block, sizes, output):
    w = views(block, sizes)
    features = wave(ROWS * FEATURES, 4, 1.0).view(ROWS, FEATURES)
    embedding = wave(VOCAB * WIDTH, 2, 0.7).view(VOCAB, WIDTH)
    ids = [(5 * i + 3) % VOCAB for i in range(ROWS)]
    positions = [i + 1 if i < LENGTH else i - LENGTH + 1 for i in range(ROWS)]
    tokens = embedding[ids] @ w["token"].T + w["token_bias"]
    past, total, s = [], 0, None
    for g in range(GENERATIONS):
        if g == 0:
            f = features @ w["fc"].T + w["fc_bias"]
        else:
            before = torch.stack([torch.zeros(WIDTH) if i in (0, ENDS[0]) else s[i - 1] for i in range(ROWS)])
            f = before @ w["leave"].T
        s = layer(tokens + f, past, w, g, positions)
        z = norm(s, w["output_norm"]) @ output.T
        for i in range(ROWS):
            local = i if i < ENDS[0] else i - ENDS[0]
            if local < g or i == 2:
                continue
            p = torch.zeros(DRAFT)
            if kind == "cross_entropy":
                p[(3 * i) % DRAFT] = 1
            else:
                for k in range(TOP):
                    p[(i + 2 * k) % DRAFT] += 0.5 / 2 ** k
            total = total + WEIGHTS[g] * loss_of(kind, p, z[i])
    return total


def write(name, values):
    print(f"static const double {name}[] = {{")
    line = ""
    for value in values:
        word = f"{value:.9g},"
        if len(line) + len(word) > 110:
            print("   " + line)
            line = ""
        line += " " + word
    print("   " + line + "\n};")


def main():
    print("/* SPDX-License-Identifier: MIT */\n/* Made by train.py with PyTorch. */")
    for kind in ["forward_kl", "reverse_kl", "jensen_shannon", "total_variation", "cross_entropy"]:
        block, sizes = block_new()
        output = wave(DRAFT * WIDTH, 3, 0.5).view(DRAFT, WIDTH).requires_grad_(True)
        loss = head_loss(kind, block, sizes, output)
        loss.backward()
        write(f"{kind}_loss", [loss.item()])
        write(f"{kind}_block", block.grad.tolist()[::7])
        write(f"{kind}_output", output.grad.flatten().tolist()[::5])
        if kind != "forward_kl":
            continue
        optimiser = torch.optim.AdamW([block], lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.02)
        for step in range(3):
            if step > 0:
                optimiser.zero_grad()
                head_loss(kind, block, sizes, output).backward()
            optimiser.step()
        write("adam_block", block.tolist()[::7])


if __name__ == "__main__":
    main()
