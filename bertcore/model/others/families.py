"""Other architectures: what `transformers` says of each, and how four of them predict words."""

import inspect
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bertcore.model.architecture.families import FAMILIES, Capability, Family

MASKED, PERMUTED, DENOISING, SPANS, CAUSAL = "masked", "permuted", "denoising", "spans", "causal"
"""How a model was trained to predict words: from a mask in their place (BERT); from all others in
any order (XLNet); by generating the whole text (BART); by generating the words of a sentinel (T5);
each word from those before it (GPT-2)."""
_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
OTHERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(tomllib.loads(_TEXT))
"""`model_type` -> what `transformers` does not say of it: "name", "sign", "words" and more."""
SAME_NETWORK = {"camembert": "roberta"}
"""`model_type` -> that of the family with the same network under another name."""
_KINDS = {
    "sequence": "SEQUENCE_CLASSIFICATION",
    "token": "TOKEN_CLASSIFICATION",
    "span": "QUESTION_ANSWERING",
    "choice": "MULTIPLE_CHOICE",
}
"""Kind of task head -> the table of `transformers` that has its classes."""
_WITH_WORDS = {
    MASKED: ("MASKED_LM", "mlm"),
    PERMUTED: ("CAUSAL_LM", "mlm"),
    DENOISING: ("SEQ_TO_SEQ_CAUSAL_LM", "mlm"),
    SPANS: ("SEQ_TO_SEQ_CAUSAL_LM", "mlm"),
    CAUSAL: ("CAUSAL_LM", "next"),
}
"""Way to predict words -> the table of the classes that have the head, and the head."""
_OTHER_INPUTS = {
    "bbox": "the place of each word on a page",
    "pixel_values": "pictures",
    "image": "pictures",
    "visual_feats": "pictures",
    "input_features": "sound",
    "input_values": "sound",
    "xpath_tags_seq": "the tags of a web page",
}


class Opener(NamedTuple):
    """A class of `transformers` that checkpoints of an architecture can be opened as."""

    class_name: str
    heads: frozenset[str] = frozenset()
    """The heads that it has: "mlm" (hidden words), "next" (next token), "nsp" (next sentence)."""
    options: Mapping[str, Any] = {}
    """Arguments of its constructor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFamily(Family):
    """One architecture that runs on its own code in `transformers`."""

    openers: tuple[Opener, ...]
    """Classes that open it, the one with most heads first, the bare encoder last."""
    words: str
    """MASKED, PERMUTED, DENOISING, SPANS or CAUSAL."""
    tokens: Mapping[str, str] = field(default_factory=dict)
    """Special tokens by role, used if the tokenizer's files do not name them."""
    task_heads: Mapping[str, str] = field(default_factory=dict)
    """Kind of task head, a key of TASK_CLASSES -> its class; {}: none is read here."""
    only_float32: bool = False
    """Whether its code in `transformers` fails in other formats."""
    returns_scores: bool = False
    """Whether its code returns the scores before the softmax as attention (SqueezeBERT)."""
    layers: str = ""
    """Path of the list of layers in the encoder; "": no layer is called as one module."""
    reads_padding: bool = False
    """Whether padding changes the vectors of tokens beside it, though no token attends to it."""
    norm: str = ""
    """Path of the LayerNorm after the embeddings."""
    position_offset: int = 0
    """Position of the first token; padding has the one before."""

    @property
    def has_decoder(self) -> bool:
        return self.words in (DENOISING, SPANS)

    @property
    def is_time_first(self) -> bool:
        """Whether its layers have the tokens in the first dimension, [T, B, D] (XLNet)."""
        return self.words == PERMUTED

    @property
    def kinds(self) -> Collection[str]:
        return self.task_heads.keys()

    def task_class(self, kind: str) -> str:
        return self.task_heads[kind]

    def task_kind(self, class_name: str) -> str | None:
        return next((kind for kind, name in self.task_heads.items() if name == class_name), None)


@lru_cache
def described_family(model_type: str) -> OtherFamily | None:
    """Return an architecture as described by `transformers`, or None (see `why_not`).

    Also one of FAMILIES, for a checkpoint with a value that our network does not compute. What its
    code lacks is seen when it runs (`generic.probed`).
    """
    base = _base_class(model_type)
    if base is None or why_not(model_type) is not None:
        return None
    name, own = family_name(model_type), OTHERS.get(model_type, {})
    words = own.get("words", MASKED)
    through = f"{name} is read through transformers, which returns its attention and hidden states"
    absent: dict[Capability, str] = {
        "parts": f"{through} but not its parts: nothing inside it can be switched off, edited or "
        "measured here.",
        "queries": f"{through} but not its queries and keys.",
        "nsp": f"{name} has no next-sentence head.",
        "pooler": f"{name} has no pooler that is read here.",
    }
    roles = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    tokens = zip(roles, own.get("tokens", "- - - - -").split(), strict=True)
    tables = _KINDS if words in (MASKED, PERMUTED) else {}
    return OtherFamily(
        model_type=model_type,
        name=name,
        openers=tuple(_openers(model_type, base, *_WITH_WORDS[words])),
        words=words,
        tokens={role: token for role, token in tokens if token != "-"},
        is_causal=words == CAUSAL,
        only_float32="only_float32" in own,
        task_heads={
            kind: _classes(table)[model_type]
            for kind, table in tables.items()
            if isinstance(_classes(table).get(model_type), str)
        },
        absent=absent | own.get("absent", {}),
    )


def _openers(model_type: str, base: Any, table: str, head: str) -> Iterator[Opener]:
    if model_type == "mobilebert":
        yield Opener("MobileBertForPreTraining", frozenset({"mlm", "nsp"}))
    if model_type in _classes(table):
        yield Opener(_classes(table)[model_type], frozenset({head}))
    if model_type == "mobilebert":
        yield Opener("MobileBertForNextSentencePrediction", frozenset({"nsp"}))
    yield Opener(base.__name__)
    if "add_pooling_layer" in inspect.signature(base.__init__).parameters:
        yield Opener(base.__name__, options={"add_pooling_layer": False})
    if model_type == "t5":
        yield Opener("T5EncoderModel")


def why_not(model_type: str) -> str | None:
    """Return why a `model_type` that `transformers` knows cannot be opened, as a sentence.

    None: it may be a text encoder, or `transformers` does not know it.
    """
    base = _base_class(model_type)
    if base is None or "words" in OTHERS.get(model_type, {}):
        return None
    name, has_masks = family_name(model_type), model_type in _classes("MASKED_LM")
    if not has_masks and not any(model_type in _classes(table) for table in _KINDS.values()):
        return (
            f"{name} is not a text encoder: transformers has no class of it that fills in words, "
            "or labels a text or its tokens."
        )
    if model_type in _classes("CAUSAL_LM") and not has_masks:
        return (
            f"{name} is a decoder, in which a token attends only to those before it; only "
            "encoders are supported."
        )
    if model_type in _classes("SEQ_TO_SEQ_CAUSAL_LM"):
        return f"{name} has a decoder after its encoder; only encoders are supported."
    inputs = inspect.signature(base.forward).parameters
    read = next((argument for argument in _OTHER_INPUTS if argument in inputs), None)
    if read is None:
        return None
    what = _OTHER_INPUTS[read]
    return f"{name} reads {what} besides its tokens ({read}); only text is supported."


def family_of(model_type: str) -> OtherFamily | None:
    """Return the architecture of a `model_type` that `transformers` runs, or None."""
    is_ours = model_type in FAMILIES or model_type in SAME_NETWORK
    return None if is_ours else described_family(model_type)


def family_name(model_type: str) -> str:
    """Return the usual name of an architecture, or that of its class."""
    if model_type in FAMILIES:
        return FAMILIES[model_type].name
    if model_type in OTHERS:
        return str(OTHERS[model_type]["name"])
    base = _base_class(model_type)
    return model_type if base is None else str(base.__name__.removesuffix("Model"))


def own_prefix(model_type: str) -> str:
    """Return the prefix of its encoder's tensors in a model with a head."""
    base = _base_class(model_type)
    return "" if base is None else f"{base.base_model_prefix}."


def other_family(names: Iterable[str]) -> str | None:
    """Return the `model_type` of the other architecture that the tensors' names identify, or None.

    >>> other_family(["deberta.encoder.layer.0.attention.self.query_proj.weight"])
    'deberta-v2'
    """
    dotted = "".join(f".{name}\n" for name in names)
    candidates = [name for name, own in OTHERS.items() if "sign" in own and own["sign"] in dotted]
    return candidates[0] if len(candidates) == 1 else None


def _classes(head: str) -> Mapping[str, Any]:
    """Return `model_type` -> the class of `transformers` with a head; "": the bare network."""
    from transformers.models.auto import modeling_auto

    name = f"MODEL_FOR_{head}_MAPPING_NAMES" if head else "MODEL_MAPPING_NAMES"
    classes: Mapping[str, Any] = getattr(modeling_auto, name)
    return classes


def _base_class(model_type: str) -> Any:
    """Return the class of the bare network; None if `transformers` has none of that type."""
    import transformers

    name = _classes("").get(model_type)
    if not isinstance(name, str):
        name = name[0] if name else None
    return None if name is None else getattr(transformers, name, None)
