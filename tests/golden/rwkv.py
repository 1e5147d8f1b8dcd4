# SPDX-License-Identifier: MIT
"""RWKV by the papers' formulas, in double precision and token by token, for reference.py.

RWKV-6 (arXiv 2404.05892), RWKV-7 (arXiv 2503.14456), and their mixers in Qwen's layers (arXiv 2501.15570). A state S of
a head is a matrix [values, keys], as the papers write it: it reads S q.
"""
import types

import torch

SHARES = {6: "wkvrg", 7: "rwkvag"}
HEAD_EPS = 64e-5


def layer_norm(x, weight, bias, eps):
    """LayerNorm over the last dimension."""
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias


class Rwkv:
    """The model of a GGUF file: called with tokens [1, n], it returns an object with logits [1, n, n_vocab]."""

    def __init__(self, keys: dict, tensors: dict):
        arch = keys["general.architecture"]
        self.version = 6 if "rwkv6" in arch else 7
        self.is_own = arch.startswith("rwkv") and "qwen" not in arch
        self.t = {name: values.double() for name, values in tensors.items()}
        self.n_layers, self.width = keys[f"{arch}.block_count"], keys[f"{arch}.wkv.head_size"]
        kind = "layer_norm_epsilon" if self.is_own else "layer_norm_rms_epsilon"
        self.eps = float(keys[f"{arch}.attention.{kind}"])
        self.rescale = keys.get(f"{arch}.rescale_every_n_layers", 0)
        self.config = types.SimpleNamespace(vocab_size=len(tensors["token_embd"]))

    def norm(self, x, name):
        """LayerNorm, or RMSNorm in Qwen's layers."""
        if self.is_own:
            return layer_norm(x, self.t[name], self.t.get(f"{name}.bias", 0), self.eps)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.t[name]

    def heads(self, x):
        """[heads, width]"""
        return x.reshape(-1, self.width)

    def gated(self, layer, y, gate):
        """W_out (y * gate)"""
        return self.t[f"blk.{layer}.time_mix_output"] @ (y.reshape(-1) * gate)

    def mix6(self, layer, x, before, state):
        """The mixer of RWKV-6; section 4 of the paper."""
        def get(name):
            return self.t[f"blk.{layer}.time_mix_{name}"]

        def project(name, row):
            return get(name) @ row + self.t.get(f"blk.{layer}.time_mix_{name}.bias", 0)

        low = torch.tanh(get("w1") @ (x + (before - x) * get("lerp_x"))).reshape(5, -1)
        mixed = {}
        for i, name in enumerate(SHARES[6]):
            share = get("lerp_fused").reshape(5, -1)[i] + get("w2")[i] @ low[i]
            mixed[name] = x + (before - x) * share
        r, k, v = (self.heads(project(name, mixed[name[0]])) for name in ("receptance", "key", "value"))
        k, v = (y.repeat_interleave(len(r) // len(y), dim=0) for y in (k, v))
        g = get("gate") @ mixed["g"]
        w = self.heads(get("decay") + get("decay_w2") @ torch.tanh(get("decay_w1") @ mixed["w"]))
        w = torch.exp(-torch.exp(w))
        first = self.t.get(f"blk.{layer}.time_mix_first")
        y = torch.zeros_like(v)
        for h in range(len(r)):
            if first is None:  # gated linear attention with normalised keys
                state[h] = state[h] * w[h] + torch.outer(v[h], k[h] * (1 - w[h]))
                y[h] = state[h] @ r[h] / self.width ** 0.5
            else:
                new = torch.outer(v[h], k[h])
                y[h] = (state[h] + new * first[h]) @ r[h]
                state[h] = state[h] * w[h] + new
        if first is None:
            return self.gated(layer, y, torch.sigmoid(g))
        y = layer_norm(y, self.heads(get("ln")), self.heads(get("ln.bias")), HEAD_EPS)
        return self.gated(layer, y, g * torch.sigmoid(g))

    def mix7(self, layer, x, before, state, first_v):
        """The mixer of RWKV-7; section 4 of the paper. Returns its values, too."""
        def get(name):
            return self.t.get(f"blk.{layer}.time_mix_{name}")

        def narrow(name, inner):
            return get(f"{name}2") @ inner(get(f"{name}1") @ mixed[name])

        def same(z):
            return z

        shares = get("lerp_fused").reshape(-1, len(x))
        mixed = {name: x + (before - x) * share for name, share in zip(SHARES[7], shares)}
        r, k, v = get("receptance") @ mixed["r"], get("key") @ mixed["k"], get("value") @ mixed["v"]
        w = torch.exp(-torch.exp(torch.tensor(-0.5)) * torch.sigmoid(get("w0") + narrow("w", torch.tanh)))
        a = torch.sigmoid(get("a0") + narrow("a", same))
        if first_v is None:
            first_v = v
        else:
            v = v + (first_v - v) * torch.sigmoid(get("v0") + narrow("v", same))
        removed = torch.nn.functional.normalize(self.heads(k * get("k_k")), dim=-1)
        k = k * (1 + (a - 1) * get("k_a"))
        bonus = (self.heads(r * k * get("r_k"))).sum(-1, keepdim=True)
        r, k, v, w, a = (self.heads(z) for z in (r, k, v, w, a))
        y = torch.zeros_like(v)
        for h in range(len(r)):
            change = torch.diag(w[h]) - torch.outer(removed[h], a[h] * removed[h])
            state[h] = state[h] @ change + torch.outer(v[h], k[h])
            y[h] = state[h] @ r[h]
        if get("ln") is not None:
            y = layer_norm(y, self.heads(get("ln")), self.heads(get("ln.bias")), HEAD_EPS)
        y = y + bonus * v
        gate = narrow("g", torch.sigmoid) if get("g1") is not None else torch.ones_like(x)
        return self.gated(layer, y, gate), first_v

    def feed(self, layer, x, before):
        """The channel mix, or Qwen's feed-forward network."""
        def get(name):
            return self.t[f"blk.{layer}.{name}"]

        if not self.is_own:
            gate = get("ffn_gate") @ x
            return get("ffn_down") @ (gate * torch.sigmoid(gate) * (get("ffn_up") @ x))
        key = torch.relu(get("channel_mix_key") @ (x + (before - x) * get("channel_mix_lerp_k")))
        y = get("channel_mix_value") @ (key * key)
        if self.version == 7:
            return y
        gate = get("channel_mix_receptance") @ (x + (before - x) * get("channel_mix_lerp_r"))
        return y * torch.sigmoid(gate)

    def __call__(self, tokens):
        n_embd = self.t["token_embd"].shape[1]
        states = torch.zeros(self.n_layers, n_embd // self.width, self.width, self.width, dtype=torch.float64)
        shifts = torch.zeros(self.n_layers, 2, n_embd, dtype=torch.float64)
        rows = []
        for token in tokens[0].tolist():
            x, first_v = self.t["token_embd"][token], None
            if self.is_own:
                x = self.norm(x, "token_embd_norm")
            for layer in range(self.n_layers):
                u = self.norm(x, f"blk.{layer}.attn_norm")
                if self.version == 6:
                    y = self.mix6(layer, u, shifts[layer, 0].clone(), states[layer])
                else:
                    y, first_v = self.mix7(layer, u, shifts[layer, 0].clone(), states[layer], first_v)
                x, shifts[layer, 0] = x + y, u
                u = self.norm(x, f"blk.{layer}.{'attn_norm_2' if self.is_own else 'ffn_norm'}")
                x = x + self.feed(layer, u, shifts[layer, 1].clone())
                shifts[layer, 1] = u
                if self.rescale and (layer + 1) % self.rescale == 0:
                    x = x / 2
            rows.append(self.t["output"] @ self.norm(x, "output_norm"))
        return types.SimpleNamespace(logits=torch.stack(rows)[None])
