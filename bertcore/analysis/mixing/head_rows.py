"""Which rows of W_q are one head's, under Hugging Face's names."""

import re
from dataclasses import dataclass

from torch import Tensor

from bertcore.model.bert import with_parts
from bertcore.model.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class HeadRows:
    """The rows of W_q that make one head's queries, of K numbers each."""

    head: int
    name: str
    """Of the stored matrix, as `AutoModel` of `transformers` names it."""
    start: int
    """The head's first row, head x K."""
    end: int
    """One past its last row."""
    num_stored: int
    """Rows of the stored matrix: D, or 3 D if W_q, W_k and W_v are stored as one (ModernBERT)."""
    weight: Tensor
    """W_q, of all heads, [D, D]."""
    bias: Tensor | None
    """Of the head's rows, [K]; None if there is none."""

    @property
    def rows(self) -> Tensor:
        """The head's rows, [K, D]."""
        return self.weight[self.start : self.end]

    @property
    def python(self) -> str:
        """Python that reads the rows with `transformers`, of a checkpoint opened as `bert`."""
        path = "model." + re.sub(r"\.(\d+)", r"[\1]", self.name)
        bias = "" if self.bias is None else f"bias = {path}.bias[{self.start}:{self.end}]\n"
        return (
            "from transformers import AutoModel\n\n"
            'model = AutoModel.from_pretrained(bert.save("checkpoint"))\n'
            f"rows = {path}.weight[{self.start}:{self.end}]\n{bias}"
        )


def head_rows(bert: Model, layer: int = 0, head: int = 0) -> HeadRows:
    """Return the rows of W_q that belong to a head: its queries are its input times rows^T.

    The rows of W_k and W_v are the same numbers; in the output projection, a head has columns.

    ValueError if there is no such layer or head, or the architecture runs in `transformers`.
    """
    network = with_parts(bert).module
    config, family = network.config, network.config.family
    num_layers, num_heads = config.num_hidden_layers, config.num_attention_heads
    for name, number, count in (("layer", layer, num_layers), ("head", head, num_heads)):
        if not 0 <= number < count:
            raise ValueError(f"{name} is {number}; expected 0 to {count - 1}.")
    tensors = dict(network.layers[layer].attention.named_parameters())
    stored = "qkv" if "qkv.weight" in tensors else "query"  # W_q is the first third of qkv
    weight, bias = tensors[f"{stored}.weight"].detach().cpu(), tensors.get(f"{stored}.bias")
    names = family.keys(num_layers)
    name = names[f"layers.{0 if config.share_layers else layer}.attention.{stored}.weight"]
    start, end = head * config.head_size, (head + 1) * config.head_size
    return HeadRows(
        head=head,
        name=name.removeprefix(family.prefix).removesuffix(".weight"),
        start=start,
        end=end,
        num_stored=len(weight),
        weight=weight[: config.hidden_size],
        bias=None if bias is None else bias.detach().cpu()[start:end],
    )
