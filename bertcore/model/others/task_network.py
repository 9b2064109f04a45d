"""The class that `transformers` has for a task, behind the interface of our task networks."""

import copy
import json
from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from bertcore.model.network.attention import AttentionFunction, attention_fused
from bertcore.model.network.task_module import TaskModule
from bertcore.model.others.config import transformers_config
from bertcore.model.others.families import PERMUTED
from bertcore.model.others.network import OtherNetwork, run_head


class OtherTaskNetwork(TaskModule):
    """A model of `transformers` with its task head, of a kind of TASK_CLASSES.

    Its encoder may be shared with other networks.
    """

    def __init__(self, network: OtherNetwork, kind: str) -> None:
        super().__init__()
        self.network: OtherNetwork = network
        self.kind, self.lstm = kind, None

    @property
    def device(self) -> torch.device:
        return self.network.token_table.device

    @property
    def reads_one_state(self) -> bool:
        """Whether it is XLNet's head of a text, which reads the last token."""
        return self.network.other.words == PERMUTED and self.kind in ("sequence", "choice")

    def encode(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        attention: AttentionFunction = attention_fused,
    ) -> Tensor:
        segments, mask = (
            None if x is None else x.flatten(0, -2) for x in (segment_ids, attention_mask)
        )
        return self._chosen(self.network(input_ids.flatten(0, -2), segments, mask), mask)

    def read(self, hidden: Tensor, attention_mask: Tensor | None, lead: Sequence[int]) -> Tensor:
        mask = None if attention_mask is None else attention_mask.flatten(0, -2)
        # Each choice runs alone, as a row of one choice.
        shape = (len(hidden), 1, hidden.shape[1]) if self.kind == "choice" else hidden.shape[:2]
        ids = torch.zeros(shape, dtype=torch.long, device=hidden.device)
        mask = None if self.reads_one_state else mask
        logits = _logits(run_head(self.network.model, ids, hidden, mask))
        return logits.view(*lead) if self.kind == "choice" else logits

    def logits_of(self, hidden: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        lead, rows = hidden.shape[:-2], hidden.reshape(-1, *hidden.shape[-2:])
        mask = None if attention_mask is None else attention_mask.reshape(rows.shape[:2])
        logits = self.read(self._chosen(rows, mask), mask, (len(rows), 1))
        return logits.view(*lead, *logits.shape[1:])

    def check_head(self) -> None:
        """Make sure that the head reads only the last hidden states and their pooled vector.

        ValueError if the class answers differently for a text than from these states.
        """
        ids = torch.full((1, 2, 6) if self.kind == "choice" else (1, 6), 1, device=self.device)
        ids[..., 2:4] = 0
        model, mask = self.network.model, torch.ones_like(ids)
        reason = f"a {type(model).__name__} answers from more than the last hidden states"
        with torch.no_grad():
            theirs = _logits(self.network.run(model, input_ids=ids, attention_mask=mask))
            try:
                ours = self(ids, None, mask.bool())
            except Exception as error:  # its code may raise anything
                raise ValueError(f"{reason}, which is not supported ({error}).") from error
        if theirs.shape != ours.shape or not torch.allclose(ours, theirs, atol=1e-3, rtol=1e-3):
            raise ValueError(f"{reason}, which is not supported.")

    def head_tensors(self) -> dict[str, Tensor]:
        parameters = dict(self.network.model.named_parameters())
        return {name: tensor for name, tensor in parameters.items() if self.is_of_head(name)}

    def hf_config(self) -> dict[str, Any]:
        """Return the content of config.json, without the fields of a task."""
        values = json.loads(self.network.model.config.to_json_string(use_diff=False))
        dtype = str(self.network.token_table.dtype).removeprefix("torch.")
        return {k: value for k, value in values.items() if k != "torch_dtype"} | {"dtype": dtype}

    def hf_state_dict(self) -> dict[str, Tensor]:
        """Return all weights by name in files."""
        return dict(self.network.model.state_dict())

    def is_of_head(self, name: str) -> bool:
        name = name.removeprefix("network.model.")
        prefix = self.network.model.base_model_prefix
        return not name.startswith(f"{prefix}.") or name.startswith(f"{prefix}.pooler.")

    def _chosen(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Return the states that the head reads, [R, 1, D] or [R, T, D], of [R, T, D].

        XLNet's text ends in <cls>. Its class reads the last position, so it needs padding on the
        left; here padding is on the right and skipped.
        """
        if not self.reads_one_state or mask is None:
            return hidden[:, -1:] if self.reads_one_state else hidden
        return hidden[torch.arange(len(hidden), device=hidden.device), mask.sum(-1) - 1][:, None]


def _logits(out: Any) -> Tensor:
    """Return the logits of an output; start and end of an answer together, [..., T, 2]."""
    if "start_logits" in out:
        return torch.stack([out.start_logits, out.end_logits], -1)
    logits: Tensor = out.logits
    return logits


def task_network(
    network: OtherNetwork, kind: str, num_outputs: int, *, generator: Generator | None = None
) -> OtherTaskNetwork:
    """Return an encoder with a task head of its architecture, on the encoder's device.

    Args:
        network: The opened encoder, whose tensors are shared; it is not changed.
        generator: Random source for the head, and for a pooler that it reads and the encoder lacks;
            None leaves both empty, to be filled from a file.

    ValueError if `transformers` cannot build the head, or it is not supported.
    """
    import transformers

    class_name = network.other.task_class(kind)
    labels = {str(i): f"LABEL_{i}" for i in range(num_outputs)}
    ids = {label: int(i) for i, label in labels.items()}
    values = {**network.config.to_hf_dict(), "id2label": labels, "label2id": ids}
    config = transformers_config(network.config.model_type, values)
    if getattr(config, "summary_type", "last") != "last" and kind in ("sequence", "choice"):
        raise ValueError(
            f"config.json has summary_type {config.summary_type!r}; expected 'last': a "
            f"{class_name} is read at the last token. Correct it, or give it a new head."
        )
    try:
        with torch.device("meta"):
            model = getattr(transformers, class_name)(config).eval()
    except Exception as error:  # an impossible shape may raise anything
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"transformers cannot build a {class_name} ({reason})") from error
    prefix = model.base_model_prefix
    base, own = copy.copy(network.base), getattr(model, prefix)
    base._modules = dict(base._modules)
    if hasattr(own, "pooler") and (own.pooler is None or base.pooler is None):
        base.pooler = own.pooler
    setattr(model, prefix, base)
    _allocate(model, network.token_table, generator)
    hidden_word = getattr(base, "mask_emb", None)
    if hidden_word is not None:  # of XLNet's query stream, which no task head reads
        hidden_word.requires_grad = False
    inner = OtherNetwork(model, network.config, frozenset(), lock=network.lock)
    return OtherTaskNetwork(inner, kind)


@torch.no_grad()
def _allocate(model: Any, like: Tensor, generator: Generator | None) -> None:
    """Fill the empty layers of a model; with a generator, drawn as its class draws them."""
    for part in list(model.modules()):
        empty = [name for name, p in part.named_parameters(recurse=False) if p.is_meta]
        for name in empty:
            setattr(part, name, nn.Parameter(torch.zeros(getattr(part, name).shape)))
        if empty and generator is not None:
            with torch.random.fork_rng(devices=()):
                torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
                model._init_weights(part)
        for name in empty:
            setattr(part, name, nn.Parameter(getattr(part, name).to(like)))
