"""The parts of a network that hold its parameters, and the tensors they were loaded from."""

from collections import Counter

from bertcore.model.checkpoints import LoadReport
from bertcore.model.model import Model
from bertcore.model.others.model import OtherModel

_PARTS = (
    ("embeddings.word_embeddings", "token table"),
    ("embeddings.position_embeddings", "position table"),
    ("embeddings.token_type_embeddings", "segment table"),
    ("embeddings.norm", "LayerNorm of the embeddings"),
    ("embeddings.projection", "matrix from embeddings to layers"),
    ("layers.", ""),
    ("final_norm", "final LayerNorm"),
    ("pooler", "pooler"),
    ("mlm", "masked-word head"),
    ("nsp", "next-sentence head"),
    ("replaced", "replaced-token head"),
    ("sop", "sentence-order head"),
)


def count_parameters(bert: Model) -> dict[str, int]:
    """Return the number of parameters of each part, in the network's order, each counted once.

    The decoder of the masked-word head is the token table and is not counted again.
    """
    counts: Counter[str] = Counter()
    if isinstance(bert, OtherModel):
        return _count_other(bert)
    for name, parameter in bert.module.named_parameters():
        part = next(label for prefix, label in _PARTS if name.startswith(prefix))
        if not part:
            part = "attention, all layers" if ".attention." in name else "feed-forward, all layers"
        counts[part] += parameter.numel()
    return dict(counts)


def _count_other(bert: OtherModel) -> dict[str, int]:
    """Count by the parameter names of another architecture."""
    model = bert.module.model
    table = model.get_input_embeddings().weight
    counts: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        is_layer = any(part.isdecimal() for part in name.split("."))
        if parameter is table:
            part = "token table"
        elif bert.module.other.has_decoder and ".decoder." in f".{name}":
            part = "decoder"
        elif is_layer:
            is_attention = any(sign in name.lower() for sign in ("attention", "attn"))
            part = "attention, all layers" if is_attention else "feed-forward, all layers"
        elif name.startswith(("cls.", "lm_", "final_")):
            part = "word head"
        else:
            part = "the rest: positions, norms, pooler"
        counts[part] += parameter.numel()
    return dict(counts)


def tensor_rows(report: LoadReport) -> list[tuple[str, str, str]]:
    """Return name, shape and outcome for each tensor of a load report, unusual ones first."""
    wrong = [
        (name, f"{_shape(stored)}, expected {_shape(expected)}", "wrong shape")
        for name, (stored, expected) in report.mis_shaped.items()
    ]
    kinds = (
        ("missing", report.missing),
        ("of a task head", report.task_heads),
        ("unexpected, not used", report.unexpected),
        ("loaded", report.matched),
    )
    return wrong + [
        (name, _shape(shape), kind) for kind, stored in kinds for name, shape in stored.items()
    ]


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(str(size) for size in shape) or "one number"
