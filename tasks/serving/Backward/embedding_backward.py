"""Gradient of an embedding table: rows of a gradient are added up where their tokens point.

`embedding_backward(grad_output, ids, num_embeddings, padding_idx=-1)` returns the float32 tensor `(num_embeddings, D)`

    out[v, d] = sum over t with ids[t] == v of grad_output[t, d],

0 where no token is `v`, and 0 in the row `padding_idx`, if that is not negative.

- `grad_output` is bfloat16 `(T, D)`, `ids` is int64 `(T,)` with values in `[0, num_embeddings)`; both are contiguous, `T ≥ 1`.
- Sums are float32, in any order: text repeats few tokens very often. Half of the tokens may be one and the same.

Sizes: vocabulary and hidden size of Llama 3.1 8B (128256, 4096), Qwen2.5-7B (152064, 3584), Mixtral 8x7B (32000, 4096), DeepSeek-V3
(129280, 7168) and Mamba-2.8B (50280, 2560), after their model cards; ids follow Zipf's law, as words do. The gradient is in float32, as Megatron-LM
and DeepSpeed keep it. Weights are in proportion to the elements read and written.
"""

import torch

from kbx.suite import Close, call, in_order

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("backward", "scatter", "memory-bound", "training")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "large")

CASES = [
    dict(tokens=131, vocabulary=67, width=32),
    dict(tokens=64, vocabulary=300, width=45),
    dict(tokens=1031, vocabulary=5, width=17),
    dict(tokens=37, vocabulary=1, width=128),
    dict(tokens=1, vocabulary=19, width=1),
    dict(tokens=257, vocabulary=97, width=33, padding_idx=0),
    dict(tokens=19, vocabulary=64, width=515),
    dict(tokens=515, vocabulary=129, width=64, padding_idx=3),
    dict(tokens=300, vocabulary=50, width=40, one=True),
]

SIZES = [
    dict(tokens=8192, vocabulary=128256, width=4096),
    dict(tokens=16384, vocabulary=152064, width=3584),
    dict(tokens=32768, vocabulary=32000, width=4096),
    dict(tokens=4096, vocabulary=129280, width=7168),
    dict(tokens=65536, vocabulary=50280, width=2560),
    dict(tokens=131072, vocabulary=128256, width=4096, padding_idx=0),
]
WEIGHTS = [2.2, 2.3, 0.8, 3.8, 0.9, 3.2]


def _norms(grad_output, ids, num_embeddings, padding_idx=-1):
    """Of what is added up, which rounding errors are relative to."""
    squares = torch.zeros(num_embeddings, grad_output.shape[1], dtype=torch.float64, device=ids.device)
    return squares.index_add_(0, ids, grad_output.double().square()).sqrt_() * in_order(ids.numel())


CONTRACT = Close(scale=_norms, strides="contiguous")


def embedding_backward(grad_output, ids, num_embeddings, padding_idx=-1):
    wide = torch.promote_types(grad_output.dtype, torch.float32)
    out = torch.zeros(num_embeddings, grad_output.shape[1], dtype=wide, device=ids.device)
    out.index_add_(0, ids, grad_output.to(wide))
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def inputs(make, tokens, vocabulary, width, padding_idx=-1, one=False):
    """Ids by Zipf's law; `one`: half of them are the same."""
    rank = (vocabulary ** make.plain(tokens, dtype=torch.float64, low=0.0, high=1.0)).long() - 1
    ids = rank.clamp(0, vocabulary - 1) * 7919 % vocabulary
    if one:
        ids = ids.masked_fill(make.bools(tokens), vocabulary // 2)
    return call(make.floats(tokens, width), ids, vocabulary, padding_idx=padding_idx)


def positive_sorted_segments(grad_output, ids, num_embeddings, padding_idx=-1):
    """Tokens in the order of their ids, and one sum for each id."""
    order = torch.argsort(ids, stable=True)
    kept, counts = torch.unique_consecutive(ids[order], return_counts=True)
    sums = [part.sum(0) for part in grad_output[order].float().split(counts.tolist())]
    out = torch.zeros(num_embeddings, grad_output.shape[1], device=ids.device)
    out[kept] = torch.stack(sums)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def positive_one_hot_product(grad_output, ids, num_embeddings, padding_idx=-1):
    hot = torch.nn.functional.one_hot(ids, num_embeddings).float()
    if padding_idx >= 0:
        hot[:, padding_idx] = 0
    return hot.T @ grad_output.float()


def negative_last_one_wins(grad_output, ids, num_embeddings, padding_idx=-1):
    """Stores in place of adding."""
    out = torch.zeros(num_embeddings, grad_output.shape[1], device=ids.device)
    out[ids] = grad_output.float()
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def negative_sums_in_bfloat16(grad_output, ids, num_embeddings, padding_idx=-1):
    out = torch.zeros(num_embeddings, grad_output.shape[1], dtype=torch.bfloat16, device=ids.device)
    for token, row in zip(ids.tolist(), grad_output, strict=True):
        out[token] += row
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out.float()


def negative_padding_counted(grad_output, ids, num_embeddings, padding_idx=-1):
    return embedding_backward(grad_output, ids, num_embeddings)


def negative_mean(grad_output, ids, num_embeddings, padding_idx=-1):
    """Divides by the count, as `scale_grad_by_freq` does."""
    counts = torch.bincount(ids, minlength=num_embeddings).clamp(min=1)[:, None]
    return embedding_backward(grad_output, ids, num_embeddings, padding_idx) / counts


def negative_ids_off_by_one(grad_output, ids, num_embeddings, padding_idx=-1):
    out = embedding_backward(grad_output, (ids + 1) % num_embeddings, num_embeddings)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out
