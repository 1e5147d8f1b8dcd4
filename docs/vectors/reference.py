#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the logits of the models beside a file of vectors, and compares their bits:

    python3 docs/vectors/reference.py docs/vectors/vectors.json [llama.gguf ...]

This is docs/float-order.md as a program, for Python 3.8 without packages. It shares no code with vouch. It runs models
of the architectures llama and qwen35 (gated delta nets and gated attention) with weights in F32, F16, Q4_0 and Q4_1.
A number in single precision is a Python float that holds such a value.
"""
import json
import math
import os
import struct
import sys
from ctypes import c_float
from fractions import Fraction
from operator import mul

# ------------------------------------------------------------------ single precision
def f32(x):
    """Rounds to nearest even. After one + - * / or square root of such values in double precision the result is that of
    single precision, because 53 bits are more than 2 * 24 + 1."""
    return c_float(x).value

def fma(a, b, c):
    """a * b + c, rounded once. The product is exact. An inexact sum is rounded to odd, so that the second rounding
    can't mistake it for a tie."""
    product = a * b
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)  # total + error is the exact sum
    if error:
        bits, = struct.unpack("<q", struct.pack("<d", total))
        if bits % 2 == 0:
            bits += 1 if (error > 0) == (total > 0) else -1
            total, = struct.unpack("<d", struct.pack("<q", bits))
    return f32(total)

def root(x):
    return f32(math.sqrt(x))

def tree(lanes):
    for width in (8, 4, 2, 1):
        for i in range(width):
            lanes[i] = f32(lanes[i] + lanes[i + width])
    return lanes[0]

def row_sum(x, add=lambda lane, value: f32(lane + value)):
    lanes = [0.0] * 16
    for i, value in enumerate(x):
        lanes[i % 16] = add(lanes[i % 16], value)
    return tree(lanes)

def exp(x):
    if x < -87:
        return 0.0
    x = min(x, 88.0)
    n = fma(x, float.fromhex("0x1.715476p+0"), 1.5 * 2**23) - 1.5 * 2**23
    r = fma(n, float.fromhex("0x1.bd0106p-13"), fma(n, float.fromhex("-0x1.63p-1"), x))
    p = float.fromhex("0x1.a0d2cep-13")
    for c in ("0x1.6e879cp-10", "0x1.11121p-7", "0x1.555382p-5", "0x1.555554p-3", "0x1p-1"):
        p = fma(p, r, float.fromhex(c))
    return f32(f32(fma(p, f32(r * r), r) + 1) * 2.0**n)

def silu(x):
    return f32(x / f32(1 + exp(-x)))

def softplus(x):
    t = exp(-abs(x))
    z = f32(t / f32(2 + t))
    series = 0.0
    for k in range(15, 0, -2):
        series = fma(series, f32(z * z), f32(1 / k))
    return fma(2 * z, series, max(x, 0.0))

# ------------------------------------------------------------------ double precision, for angles
def fma64(a, b, c):
    return float(Fraction(a) * Fraction(b) + Fraction(c))

LN2 = [float.fromhex(c) for c in ("0x1.62e42fefa39efp-1", "0x1.abc9e3b39803fp-56")]
HALF_PI = [float.fromhex(c) for c in ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110")]

def power(base, exponent):
    m, e = math.frexp(base)
    if m < math.sqrt(0.5):
        m, e = 2 * m, e - 1
    s, series = (m - 1) / (m + 1), 0.0
    for k in range(25, 0, -2):
        series = fma64(series, s * s, 1 / k)
    y = exponent * fma64(e, LN2[0], fma64(e, LN2[1], 2 * s * series))
    n = round(y * (1 / LN2[0]))
    r, series = fma64(-n, LN2[1], fma64(-n, LN2[0], y)), 1.0
    for k in range(16, 0, -1):
        series = fma64(series, r / k, 1)
    return math.ldexp(series, n)

def cosine_sine(angle):
    n, r, s, c = round(angle * (1 / HALF_PI[0])), angle, 1.0, 1.0
    for part in HALF_PI:
        r = fma64(-n, part, r)
    for k in range(18, 0, -2):
        s, c = fma64(-s, r * r / (k * (k + 1)), 1), fma64(-c, r * r / (k * (k - 1)), 1)
    s *= r
    return [(c, s), (-s, c), (-c, -s), (s, -c)][n % 4]

# ------------------------------------------------------------------ operations
def quantize(x):
    """Blocks of (d, 32 quants)."""
    blocks = []
    for i in range(0, len(x), 32):
        largest = max(map(abs, x[i:i + 32]))
        inverse = f32(127 / largest) if largest >= f32(1e-30) else 0.0
        blocks.append((f32(largest / 127) if inverse else 0.0, [round(f32(v * inverse)) for v in x[i:i + 32]]))
    return blocks

def matmul(w, x, start=None, factor=None):
    """start + W x, or factor * (W x). Each row of W has numbers, or blocks of (scale, minimum, 32 quants)."""
    has_blocks, y = isinstance(w[0][0], tuple), []
    x = quantize(x) if has_blocks else x
    for o, row in enumerate(w):
        acc = start[o] if start else 0.0
        for weight, value in zip(row, x):
            if has_blocks:
                (scale, minimum, numbers), (d, q) = weight, value
                acc = fma(f32(sum(map(mul, numbers, q)) * scale) + 0.0, d, acc)
                if minimum is not None:
                    acc = fma(minimum, f32(d * sum(q)), acc)
            else:
                acc = fma(weight, value, acc)
        y.append(f32(acc * factor) if factor else acc)
    return y

def rmsnorm(x, weight, eps):
    """x * weight, and the factor that follows: it multiplies what a matmul makes of these."""
    squares = [f32(v * v) for v in x] + [0.0] * (-len(x) % 16)
    total = row_sum([tree(squares[i:i + 16]) for i in range(0, len(x), 16)])
    return [f32(v * w) for v, w in zip(x, weight)], f32(1 / root(f32(f32(total / len(x)) + eps)))

def head_norm(x, weight, eps):
    products, factor = rmsnorm(x, weight, eps)
    return [f32(v * factor) for v in products]

def l2_norm(x, eps):
    factor = f32(1 / root(f32(row_sum(x, lambda lane, value: fma(value, value, lane)) + eps)))
    return [f32(v * factor) for v in x]

def rope(x, angles, half_split):
    y, n = list(x), len(angles)
    for i, (cos, sin) in enumerate(angles):
        a, b = (i, i + n) if half_split else (2 * i, 2 * i + 1)
        y[a], y[b] = fma(x[a], cos, f32(x[b] * -sin)), fma(x[b], cos, f32(x[a] * sin))
    return y

def attend(query, keys, values):
    """A head of a row: the keys and values of its tokens, in their order."""
    scores = matmul(keys, query)
    largest = max(scores)
    weights = [exp(f32(s - largest)) for s in scores]
    return matmul(list(zip(*values)), weights, factor=f32(1 / row_sum(weights)))

def scan(state, q, k, v, decay, rate):
    """A row of the delta rule, which changes state [keys][values]."""
    y = []
    for j, value in enumerate(v):
        known = out = 0.0
        for s, key in zip(state, k):
            known = fma(f32(s[j] * decay), key, known)
        d = f32(rate * f32(value - known))
        for s, key, query in zip(state, k, q):
            s[j] = fma(key, d, f32(s[j] * decay))
            out = fma(s[j], query, out)
        y.append(out)
    return y

# ------------------------------------------------------------------ GGUF
F32, F16, Q4_0, Q4_1 = 0, 1, 2, 3
BLOCKS = {F32: (1, "<f"), F16: (1, "<e"), Q4_0: (32, "<e16B"), Q4_1: (32, "<2e16B")}

def gguf_read(path):
    """The keys, and the tensors as rows for matmul: dictionaries by name."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]
    def text():
        return take(f"{take('Q')}s").decode()
    def value():
        kind = take("I")
        return text() if kind == 8 else take({4: "I", 6: "f"}[kind])
    magic, _version, n_tensors, n_keys = take("4sIQQ")
    assert magic == b"GGUF", f"{path}: no GGUF file"
    keys = {text(): value() for _ in range(n_keys)}
    infos = [(text(), [take("Q") for _ in range(take("I"))], take("I"), take("Q")) for _ in range(n_tensors)]
    start = -(-at // 32) * 32
    return keys, {name: rows(data[start + offset:], dims, kind) for name, dims, kind, offset in infos}

def rows(data, dims, kind):
    length, form = BLOCKS[kind]
    blocks = struct.iter_unpack(form, data[:math.prod(dims) // length * struct.calcsize(form)])
    if kind in (F32, F16):
        return split([number for number, in blocks], dims[0])
    if kind == Q4_0:
        blocks = ((d, None, [b % 16 - 8 for b in q] + [b // 16 - 8 for b in q]) for d, *q in blocks)
    else:
        blocks = ((d, m, [b % 16 for b in q] + [b // 16 for b in q]) for d, m, *q in blocks)
    return split(list(blocks), dims[0] // length)

def split(x, n):
    return [x[i:i + n] for i in range(0, len(x), n)]

# ------------------------------------------------------------------ models
class Model:
    def __init__(self, path):
        self.keys, self.tensors = gguf_read(path)
        self.is_hybrid = self.keys["general.architecture"] == "qwen35"
        self.width, self.eps = self.key("attention.key_length"), self.key("attention.layer_norm_rms_epsilon")
        self.frequencies = [power(self.key("rope.freq_base"), -2.0 * i / self.width) for i in range(self.width // 2)]
        self.memory = [{} for _ in range(self.key("block_count"))]

    def key(self, name):
        return self.keys[f"{self.keys['general.architecture']}.{name}"]

    def project(self, get, norm, names, x):
        """The matrices times the normalised row."""
        products, factor = rmsnorm(x, get(norm)[0], self.eps)
        return [matmul(get(name), products, factor=factor) for name in names]

    def attention(self, get, memory, x, angles):
        q, k, v = (split(y, self.width) for y in self.project(get, "attn_norm", ("attn_q", "attn_k", "attn_v"), x))
        if self.is_hybrid:  # of each head the query, then its gate
            q, gates = [head_norm(h, get("attn_q_norm")[0], self.eps) for h in q[0::2]], q[1::2]
            k = [head_norm(h, get("attn_k_norm")[0], self.eps) for h in k]
        def half(head):  # the cache is F16
            return struct.unpack(f"<{self.width}e", struct.pack(f"<{self.width}e", *head))
        memory.setdefault("k", []).append([half(rope(h, angles, self.is_hybrid)) for h in k])
        memory.setdefault("v", []).append([half(h) for h in v])
        mixed = []
        for h, query in enumerate(q):
            query = [f32(y * f32(1 / root(self.width))) for y in rope(query, angles, self.is_hybrid)]
            keys, values = ([row[h * len(k) // len(q)] for row in memory[name]] for name in "kv")
            head = attend(query, keys, values)
            mixed += [f32(y / f32(1 + exp(-g))) for y, g in zip(head, gates[h])] if self.is_hybrid else head
        return matmul(get("attn_output"), mixed, start=x)

    def delta_net(self, get, memory, x):
        n, n_keys, n_heads = (self.key("ssm." + k) for k in ("state_size", "group_count", "time_step_rank"))
        u, gate, rate, decay = self.project(get, "attn_norm", ("attn_qkv", "attn_gate", "ssm_beta", "ssm_alpha"), x)
        conv = get("ssm_conv1d")
        inputs = memory.setdefault("inputs", [[0.0] * len(u)] * (len(conv[0]) - 1))
        inputs.append(u)
        c = split([silu(matmul([w], [u[i] for u in inputs[-len(w):]])[0]) for i, w in enumerate(conv)], n)
        q = [[f32(v * f32(1 / root(n))) for v in l2_norm(h, self.eps)] for h in c[:n_keys]]
        k, values = [l2_norm(h, self.eps) for h in c[n_keys:2 * n_keys]], c[2 * n_keys:]
        states = memory.setdefault("states", [[[0.0] * n for _ in range(n)] for _ in range(n_heads)])
        inner = []
        for h, gates in enumerate(split(gate, n)):
            fall = exp(f32(softplus(f32(decay[h] + get("ssm_dt", ".bias")[0][h])) * get("ssm_a", "")[0][h]))
            y = scan(states[h], q[h % n_keys], k[h % n_keys], values[h], fall, f32(1 / f32(1 + exp(-rate[h]))))
            inner += [f32(silu(g) * v) for g, v in zip(gates, head_norm(y, get("ssm_norm")[0], self.eps))]
        return matmul(get("ssm_out"), inner, start=x)

    def step(self, token, position):
        """The logits after one more token."""
        x = [f32(f32(d * number) + (minimum or 0.0))
             for d, minimum, numbers in self.tensors["token_embd.weight"][token] for number in numbers]
        angles = [tuple(map(f32, cosine_sine(position * f))) for f in self.frequencies]
        for i, memory in enumerate(self.memory):
            def get(name, end=".weight"):
                return self.tensors[f"blk.{i}.{name}{end}"]
            is_recurrent = f"blk.{i}.ssm_out.weight" in self.tensors
            x = self.delta_net(get, memory, x) if is_recurrent else self.attention(get, memory, x, angles)
            norm = "post_attention_norm" if self.is_hybrid else "ffn_norm"
            gate, up = self.project(get, norm, ("ffn_gate", "ffn_up"), x)
            x = matmul(get("ffn_down"), [f32(silu(g) * u) for g, u in zip(gate, up)], start=x)
        return self.project(lambda name: self.tensors[name + ".weight"], "output_norm", ("output",), x)[0]

def main(path, *wanted):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)["models"]
    n_wrong = 0
    for vector in (v for v in vectors if not wanted or v["file"] in wanted):
        model, expected = Model(os.path.join(os.path.dirname(path), vector["file"])), vector["logits"].split()
        logits = [struct.pack(">f", x).hex() for i, token in enumerate(vector["tokens"]) for x in model.step(token, i)]
        wrong = [i for i, (ours, theirs) in enumerate(zip(logits, expected)) if ours != theirs]
        print(f"{vector['file']}: {len(logits) - len(wrong)} of {len(expected)} logits have the same bits")
        if wrong:
            print(f"    logit {wrong[0]} is {logits[wrong[0]]}, expected {expected[wrong[0]]}")
        n_wrong += len(wrong) + abs(len(expected) - len(logits))
    return int(n_wrong > 0)

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
