"""The other supported architectures: how each predicts words, and what each lacks."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from bertcore.architecture.families import TASK_CLASSES, Capability, Family

MASKED, PERMUTED, DENOISING, SPANS, CAUSAL = "masked", "permuted", "denoising", "spans", "causal"
"""How a model was trained to predict words: from a mask in their place (BERT); from all others in
any order (XLNet); by generating the whole text (BART); by generating the words of a sentinel (T5);
each word from those before it (GPT-2)."""


class Opener(NamedTuple):
    """A class of `transformers` that checkpoints of an architecture can be opened as."""

    class_name: str
    heads: frozenset[str] = frozenset()
    """The heads that it has: "mlm" (hidden words), "next" (next token), "nsp" (next sentence)."""
    options: Mapping[str, Any] = {}
    """Arguments of its constructor."""


class OtherHead(NamedTuple):
    """A task head of an architecture: its class in `transformers`, and what it reads."""

    class_name: str
    last: str = "classifier"
    """Name of its last layer in files; "": one of the usual names."""
    reads: Literal["first", "last", "all"] = "all"
    """The state of the first token, of the last one before padding, or of every token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFamily(Family):
    """One architecture that runs on its own code in `transformers`."""

    openers: tuple[Opener, ...]
    """Classes that open it, the one with most heads first, the bare encoder last."""
    words: str
    """MASKED, PERMUTED, DENOISING, SPANS or CAUSAL."""
    signs: tuple[str, ...]
    """Parts of names that only this architecture's tensors have; (): only config.json shows it."""
    tokens: Mapping[str, str] = field(default_factory=dict)
    """Special tokens by role, used if the tokenizer's files do not name them."""
    has_decoder: bool = False
    position_offset: int = 0
    """Position of the first token; padding has the one before."""
    only_float32: bool = False
    """Whether its code in `transformers` fails in other formats."""
    task_heads: Mapping[str, OtherHead] = field(default_factory=dict)
    """Kind of task head, a key of TASK_CLASSES -> the head; {}: none is read here."""
    layers: str = "encoder.layer"
    """Path of the list of layers in the encoder; "": no layer is called as one module."""
    is_time_first: bool = False
    """Whether its layers have the tokens in the first dimension, [T, B, D]."""
    reads_padding: bool = False
    """Whether padding changes the vectors of tokens beside it, though no token attends to it."""
    norm: str = ""
    """If `is_generic`: path of the LayerNorm after the embeddings."""
    is_generic: bool = False
    """Whether it is known here only through its classes in `transformers`."""

    @property
    def kinds(self) -> Collection[str]:
        return self.task_heads.keys()

    def task_class(self, kind: str) -> str:
        return self.task_heads[kind].class_name

    def task_kind(self, class_name: str) -> str | None:
        heads = self.task_heads.items()
        return next((kind for kind, head in heads if head.class_name == class_name), None)


def _task_heads(name: str, kinds: Iterable[str], **of_text: Any) -> dict[str, OtherHead]:
    """Return the heads of an architecture with the usual names.

    Args:
        name: The prefix of the classes of `transformers`.
        kinds: Kinds of TASK_CLASSES.
        of_text: Fields that differ in the heads that answer for a text or a choice.
    """
    heads = {kind: OtherHead(f"{name}{TASK_CLASSES[kind]}") for kind in kinds}
    for kind, head in heads.items():
        if kind in ("sequence", "choice"):
            heads[kind] = head._replace(**{"reads": "first", **of_text})
        elif kind == "span":
            heads[kind] = head._replace(last="qa_outputs")
    return heads


def family(name: str, *, absent: Mapping[Capability, str], **values: Any) -> OtherFamily:
    """Return a family with the properties that they all share."""
    through = f"{name} is read through transformers, which returns its attention and hidden states"
    usual: dict[Capability, str] = {
        "parts": f"{through} but not its parts: nothing inside it can be switched off, edited or "
        "measured here.",
        "queries": f"{through} but not its queries and keys.",
        "nsp": f"{name} has no next-sentence head.",
        "pooler": f"{name} has no pooler that is read here.",
    }
    unused: dict[str, Any] = {"prefix": "", "layer_prefix": "", "decoder_weight": ""}
    unused |= {"embeddings": (), "layer": (), "parts": (), "heads": {}, "classes": {}}
    return OtherFamily(name=name, absent=usual | dict(absent), **unused, **values)


def _relative(name: str) -> dict[Capability, str]:
    return {
        "positions": f"{name} adds no position vectors to its input: its attention depends on how "
        "far apart two tokens are (relative positions)."
    }


def _rotary(name: str) -> dict[Capability, str]:
    return {
        "positions": f"{name} adds no position vectors to its input: each head rotates its queries "
        "and keys by an angle that grows with the position (rotary positions)."
    }


def _no_segments(name: str) -> dict[Capability, str]:
    return {"segments": f"{name} has no segment embeddings."}


def _no_norm(name: str) -> dict[Capability, str]:
    return {"norm": f"{name} has no LayerNorm after its embeddings: its layers normalise inside."}


_BERT_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
_BART_TOKENS = {
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "mask_token": "<mask>",
}
_WORDS = frozenset({"mlm"})
_MASKED_ALONE = "It was pretrained on masked words alone."
_NO_PIECES = "words of one piece only: this architecture does not fill one mask for each piece."


def _deberta(name: str, class_name: str, sign: str) -> OtherFamily:
    return family(
        name,
        openers=(
            Opener(f"{class_name}ForMaskedLM", _WORDS),
            Opener(f"{class_name}Model"),
        ),
        words=MASKED,
        signs=(sign,),
        tokens=_BERT_TOKENS,
        only_float32=class_name == "Deberta",
        task_heads=_task_heads(
            class_name, (k for k in TASK_CLASSES if k != "choice" or class_name == "DebertaV2")
        ),
        absent={**_no_segments(name), **_relative(name)},
    )


DEBERTA = _deberta("DeBERTa", "Deberta", "attention.self.in_proj.")
DEBERTA_V2 = _deberta("DeBERTa-v2", "DebertaV2", "attention.self.query_proj.")
MOBILEBERT = family(
    "MobileBERT",
    openers=(
        Opener("MobileBertForPreTraining", _WORDS | {"nsp"}),
        Opener("MobileBertForMaskedLM", _WORDS),
        Opener("MobileBertForNextSentencePrediction", frozenset({"nsp"})),
        Opener("MobileBertModel"),
        Opener("MobileBertModel", options={"add_pooling_layer": False}),
    ),
    words=MASKED,
    signs=("embedding_transformation.", ".bottleneck."),
    task_heads=_task_heads("MobileBert", TASK_CLASSES),
    absent={
        "nsp": "this MobileBERT checkpoint has no next-sentence head.",
    },
)
_XLNET_HEADS = _task_heads("XLNet", TASK_CLASSES, last="logits_proj", reads="last")
_XLNET_HEADS["span"] = OtherHead("XLNetForQuestionAnsweringSimple", "qa_outputs")
XLNET = family(
    "XLNet",
    openers=(Opener("XLNetLMHeadModel", _WORDS), Opener("XLNetModel")),
    task_heads=_XLNET_HEADS,
    layers="layer",
    is_time_first=True,
    only_float32=True,
    words=PERMUTED,
    signs=(".rel_attn.",),
    tokens={
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "cls_token": "<cls>",
        "sep_token": "<sep>",
        "mask_token": "<mask>",
    },
    fields={
        "hidden_size": "d_model",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
        "intermediate_size": "d_inner",
        "hidden_act": "ff_activation",
    },
    absent={
        **_relative("XLNet"),
        **_no_norm("XLNet"),
        "segments": "XLNet adds no segment vectors to its input: its attention depends on whether "
        "two tokens are in the same segment.",
        "nsp": "XLNet has no next-sentence head: it was trained to predict words in "
        "a permuted order, without pairs.",
        "lens": "XLNet predicts a hidden word from a second stream of vectors, which the layers "
        "keep beside the hidden states, so its head cannot read the states of earlier layers.",
        "mask": "XLNet predicts a hidden word from all others: no token attends to it, so no "
        "mask token is needed.",
    },
)
_MPNET_HEADS = _task_heads("MPNet", TASK_CLASSES)
_MPNET_HEADS["sequence"] = _MPNET_HEADS["sequence"]._replace(last="classifier.out_proj")
MPNET = family(
    "MPNet",
    openers=(
        Opener("MPNetForMaskedLM", _WORDS),
        Opener("MPNetModel"),
        Opener("MPNetModel", options={"add_pooling_layer": False}),
    ),
    words=MASKED,
    signs=(".attention.attn.",),
    tokens={
        "pad_token": "<pad>",
        "unk_token": "[UNK]",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "mask_token": "<mask>",
    },
    position_offset=2,
    task_heads=_MPNET_HEADS,
    absent={
        **_no_segments("MPNet"),
        "nsp": "MPNet has no next-sentence head: it was pretrained to predict words in a permuted "
        "order.",
    },
)
EUROBERT = family(
    "EuroBERT",
    openers=(Opener("EuroBertForMaskedLM", _WORDS), Opener("EuroBertModel")),
    words=MASKED,
    signs=(),  # it names its tensors as Llama does, which is another network
    tokens={"pad_token": "<|pad|>", "mask_token": "<|mask|>"},
    task_heads=_task_heads("EuroBert", ("sequence", "token"), reads="all"),
    layers="layers",
    absent={
        **_no_segments("EuroBERT"),
        **_rotary("EuroBERT"),
        **_no_norm("EuroBERT"),
        "nsp": f"EuroBERT has no next-sentence head. {_MASKED_ALONE}",
    },
)
T5 = family(
    "T5",
    openers=(
        Opener("T5ForConditionalGeneration", _WORDS),
        Opener("T5Model"),
        Opener("T5EncoderModel"),
    ),
    words=SPANS,
    signs=(".SelfAttention.",),
    tokens={"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<extra_id_0>"},
    has_decoder=True,
    fields={
        "hidden_size": "d_model",
        "num_hidden_layers": "num_layers",
        "num_attention_heads": "num_heads",
        "intermediate_size": "d_ff",
        "hidden_act": "dense_act_fn",
    },
    absent={
        **_no_segments("T5"),
        **_relative("T5"),
        **_no_norm("T5"),
        "nsp": "T5 has no next-sentence head: it writes its answers as text.",
        "lens": "T5's words come from its decoder, so there is nothing to read from the encoder's "
        "layers.",
        "mask": "T5 hides words behind sentinels (<extra_id_0>, <extra_id_1>, ...) and its decoder "
        "writes what they stand for; the first piece that it writes for each is shown.",
        "pieces": f"T5 is asked for {_NO_PIECES}",
    },
)
BART = family(
    "BART",
    openers=(Opener("BartForConditionalGeneration", _WORDS), Opener("BartModel")),
    words=DENOISING,
    signs=(".encoder_attn.",),
    tokens=_BART_TOKENS,
    has_decoder=True,
    fields={
        "hidden_size": "d_model",
        "num_hidden_layers": "encoder_layers",
        "num_attention_heads": "encoder_attention_heads",
        "intermediate_size": "encoder_ffn_dim",
        "hidden_act": "activation_function",
    },
    absent={
        **_no_segments("BART"),
        "nsp": "BART has no next-sentence head: it was trained to repair texts.",
        "lens": "BART's words come from its decoder, so there is nothing to read from the "
        "encoder's layers.",
        "mask": "BART's decoder writes the whole text again; the word that it writes in the place "
        "of each mask, after the tokens before it, is shown.",
    },
)
GPT2 = family(
    "GPT-2",
    openers=(Opener("GPT2LMHeadModel", frozenset({"next"})), Opener("GPT2Model")),
    words=CAUSAL,
    is_causal=True,
    signs=(".attn.c_attn.",),
    tokens={"unk_token": "<|endoftext|>"},
    fields={
        "hidden_size": "n_embd",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
        "max_position_embeddings": "n_positions",
        "hidden_act": "activation_function",
    },
    absent={
        **_no_segments("GPT-2"),
        **_no_norm("GPT-2"),
        "nsp": "GPT-2 has no next-sentence head: it was trained to continue texts.",
        "mlm": "GPT-2 has no mask: it predicts each token from those before it.",
    },
)

OTHERS: Mapping[str, OtherFamily] = MappingProxyType(
    {
        "deberta": DEBERTA,
        "deberta-v2": DEBERTA_V2,
        "mobilebert": MOBILEBERT,
        "xlnet": XLNET,
        "mpnet": MPNET,
        "eurobert": EUROBERT,
        "t5": T5,
        "bart": BART,
        "gpt2": GPT2,
    }
)
"""Other architectures by `model_type` of config.json."""


def other_family(names: Iterable[str]) -> str | None:
    """Return the `model_type` of the other architecture that the tensors' names identify, or None.

    >>> other_family(["deberta.encoder.layer.0.attention.self.query_proj.weight"])
    'deberta-v2'
    """
    dotted = [f".{name}" for name in names]
    candidates = [
        model_type
        for model_type, family in OTHERS.items()
        if any(sign in name for name in dotted for sign in family.signs)
    ]
    return candidates[0] if len(candidates) == 1 else None
