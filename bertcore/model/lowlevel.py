"""BERT in plain tensors: a dictionary of weights, lookups, matrix products, LayerNorm and softmax.

One file to read from top to bottom, of functions only: no `nn.Module`. It computes what
`bertcore.Bert` and `transformers` compute, within 1e-5, from the files of a checkpoint folder:

    stored = safetensors.torch.load_file(folder / "model.safetensors")
    tensors = {name: tensor.float() for name, tensor in stored.items()}
    config = json.loads((folder / "config.json").read_text())
    hidden = forward(tensors, config, input_ids)              # [B, T, D]

`docs/read-the-code.md` reads it beside the code of `transformers`. Dropout is left out: this is
the network after training. Dimension letters: B batch, T tokens, D hidden, H heads, K = D / H head
width, N neurons, V vocabulary, P positions, M tokens with a label.

Source: Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3; google-research/bert,
modeling.py. The names of the tensors are those that `transformers` writes.
"""

import re
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Tensors = Mapping[str, Tensor]
"""Name in the checkpoint's file -> weight. A linear layer's weight is [out, in]."""
Config = Mapping[str, Any]
"""The content of config.json, for what no tensor tells: the number of heads, the activation."""

TABLES = ("word_embeddings", "token_type_embeddings", "position_embeddings")
LINEARS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
IGNORED = -100
"""Label of a token without loss, as in PyTorch's cross-entropy."""


# 1. The input: three lookups, summed and normalised.


def embed(tensors: Tensors, config: Config, input_ids: Tensor, segment_ids: Tensor) -> Tensor:
    """Return the input of the first layer, [B, T, D], of ids int64 [B, T].

    A token's vector is the sum of three rows: of its word piece, its segment and its position.
    """
    position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)
    ids = (input_ids, segment_ids, position_ids)  # in the order of TABLES
    token, segment, position = (
        F.embedding(rows, tensors[f"bert.embeddings.{table}.weight"])
        for rows, table in zip(ids, TABLES, strict=True)
    )
    return normalize(tensors, config, "bert.embeddings.LayerNorm", token + segment + position)


# 2. A layer: attention, then feed-forward; each is added to what came in, then normalised.


def layer(
    tensors: Tensors, config: Config, number: int, hidden: Tensor, mask: Tensor | None
) -> Tensor:
    """Return the output of a layer, [B, T, D], of its input [B, T, D]."""
    name = f"bert.encoder.layer.{number}"
    mixed = attend(tensors, config, number, hidden, mask)
    hidden = normalize(tensors, config, f"{name}.attention.output.LayerNorm", hidden + mixed)
    added = feed_forward(tensors, number, hidden)
    return normalize(tensors, config, f"{name}.output.LayerNorm", hidden + added)


def attend(
    tensors: Tensors, config: Config, number: int, hidden: Tensor, mask: Tensor | None
) -> Tensor:
    """Return what attention adds to each token, [B, T, D].

    Args:
        mask: True at tokens, False at padding, [B, T]; None: no padding. No token attends to
            padding; the vectors at padding are computed too, and mean nothing.
    """
    name = f"bert.encoder.layer.{number}.attention"
    query, key, value = (
        split_heads(linear(tensors, f"{name}.self.{part}", hidden), config)  # [B, H, T, K]
        for part in ("query", "key", "value")
    )
    # A row for each query, a column for each key; divided, or softmax of wide heads is too sharp.
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5  # [B, H, T, T]
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)  # each row sums to 1
    mixed = (weights @ value).transpose(1, 2).flatten(2)  # [B, H, T, K] -> [B, T, D]
    return linear(tensors, f"{name}.output.dense", mixed)


def split_heads(vectors: Tensor, config: Config) -> Tensor:
    """Return [B, H, T, K] of [B, T, D]: head h has the dimensions h K to (h + 1) K."""
    num_heads = config["num_attention_heads"]
    return vectors.view(*vectors.shape[:2], num_heads, -1).transpose(1, 2)


def feed_forward(tensors: Tensors, number: int, hidden: Tensor) -> Tensor:
    """Return what the neurons add to each token, [B, T, D]; here tokens do not mix."""
    name = f"bert.encoder.layer.{number}"
    neurons = F.gelu(linear(tensors, f"{name}.intermediate.dense", hidden))  # [B, T, N]
    return linear(tensors, f"{name}.output.dense", neurons)


def linear(tensors: Tensors, name: str, vectors: Tensor) -> Tensor:
    """Return each vector times the transposed weight, plus the bias."""
    return F.linear(vectors, tensors[f"{name}.weight"], tensors[f"{name}.bias"])


def normalize(tensors: Tensors, config: Config, name: str, vectors: Tensor) -> Tensor:
    """Return each vector with mean 0 and variance 1 over its D numbers, scaled and shifted."""
    weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
    return F.layer_norm(vectors, weight.shape, weight, bias, config.get("layer_norm_eps", 1e-12))


# 3. The encoder: the input, then one layer after another.


def forward(
    tensors: Tensors,
    config: Config,
    input_ids: Tensor,
    segment_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
) -> Tensor:
    """Return the last hidden state, [B, T, D].

    Args:
        tensors, config: The weights and config.json of a BERT.
        input_ids: Pieces with [CLS] and [SEP], int64, [B, T].
        segment_ids: 0 in text A, 1 in text B, int64, [B, T]; None: one text.
        attention_mask: True or 1 at tokens, False or 0 at padding, [B, T]; None: no padding.

    ValueError if the weights are not those of a BERT, or the input has more than P tokens.
    """
    check(tensors, config)
    longest = len(tensors["bert.embeddings.position_embeddings.weight"])
    if input_ids.shape[1] > longest:
        raise ValueError(
            f"the input has {input_ids.shape[1]} tokens; this checkpoint has {longest} positions. "
            "Cut the text."
        )
    segment_ids = torch.zeros_like(input_ids) if segment_ids is None else segment_ids
    mask = None if attention_mask is None else attention_mask.bool()
    hidden = embed(tensors, config, input_ids, segment_ids)
    for number in range(config["num_hidden_layers"]):
        hidden = layer(tensors, config, number, hidden, mask)
    return hidden


# 4. The heads: what is read from the last hidden state.


def masked_word_logits(tensors: Tensors, config: Config, hidden: Tensor) -> Tensor:
    """Return a logit for each piece of the vocabulary, [..., V], of hidden [..., D].

    The matrix of the last product is the token table itself, unless config.json unties it.
    """
    name = "cls.predictions"
    require(tensors, f"{name}.transform.dense.weight", "masked-word head")
    vectors = F.gelu(linear(tensors, f"{name}.transform.dense", hidden))
    vectors = normalize(tensors, config, f"{name}.transform.LayerNorm", vectors)
    if config.get("tie_word_embeddings", True):
        table, bias = tensors["bert.embeddings.word_embeddings.weight"], tensors[f"{name}.bias"]
        return F.linear(vectors, table, bias)
    require(tensors, f"{name}.decoder.weight", "matrix of its own for words")
    return linear(tensors, f"{name}.decoder", vectors)


def pool(tensors: Tensors, hidden: Tensor) -> Tensor:
    """Return the vector of a whole text, [B, D]: a linear layer and tanh on [CLS]."""
    require(tensors, "bert.pooler.dense.weight", "pooler")
    return torch.tanh(linear(tensors, "bert.pooler.dense", hidden[:, 0]))


def next_sentence_logits(tensors: Tensors, hidden: Tensor) -> Tensor:
    """Return two logits, [B, 2]: 0, text B follows A; 1, B is a random text."""
    require(tensors, "cls.seq_relationship.weight", "next-sentence head")
    return linear(tensors, "cls.seq_relationship", pool(tensors, hidden))


def class_logits(tensors: Tensors, hidden: Tensor) -> Tensor:
    """Return a logit for each label of a fine-tuned BertForSequenceClassification, [B, labels]."""
    require(tensors, "classifier.weight", "classifier")
    return linear(tensors, "classifier", pool(tensors, hidden))


# 5. The losses of pretraining, in nats; BERT's is the sum of both.


def masked_word_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of -ln p(right piece) over the M tokens with a label, of logits [B, T, V].

    Labels are the right piece of a chosen token, IGNORED at all others, int64, [B, T].
    """
    is_chosen = labels != IGNORED
    log_p = torch.log_softmax(logits[is_chosen], dim=-1)  # [M, V]
    return -log_p.gather(1, labels[is_chosen][:, None]).mean()


def next_sentence_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of -ln p(right answer), of logits [B, 2] and labels 0 or 1, int64, [B]."""
    log_p = torch.log_softmax(logits, dim=-1)
    return -log_p.gather(1, labels[:, None]).mean()


# 6. What this file does not read.


def check(tensors: Tensors, config: Config) -> None:
    """Reject weights of another network; ValueError that names what differs."""
    fixed = {"model_type": "bert", "hidden_act": "gelu", "is_decoder": False}
    for field, value in (fixed | {"position_embedding_type": "absolute"}).items():
        if config.get(field, value) != value:
            raise ValueError(
                f"config.json has {field} {config[field]!r}; this file reads BERT only, with "
                f"{value!r}. Open the checkpoint with bertcore.load, which reads other families."
            )
    prefixes = [f"encoder.layer.{number}" for number in range(config["num_hidden_layers"])]
    parts = [f"{prefix}.{part}" for prefix in prefixes for part in (*LINEARS, *NORMS)]
    needed = {f"bert.embeddings.{table}.weight" for table in TABLES}
    for part in ("embeddings.LayerNorm", *parts):
        needed |= {f"bert.{part}.weight", f"bert.{part}.bias"}
    missing = sorted(needed - tensors.keys())
    if missing:
        raise ValueError(
            f"{len(missing)} tensors of BERT are missing, such as {missing[0]!r}; the file has "
            f"{min(tensors.keys() - needed, default='no other')!r}. Open the checkpoint with "
            "bertcore.load, which reads other families and names."
        )
    known = re.compile(r"bert\.(pooler\.dense\.(weight|bias)|embeddings\.position_ids)")
    for name in tensors:
        if name.startswith("bert.") and name not in needed and not known.fullmatch(name):
            raise ValueError(f"{name!r} is no tensor of BERT's encoder: it would be passed over.")


def require(tensors: Tensors, name: str, head: str) -> None:
    """Reject weights without a head; ValueError that names it."""
    if name not in tensors:
        raise ValueError(f"the weights have no {head} ({name!r}). Open a checkpoint that has one.")
