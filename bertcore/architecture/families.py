"""The BERT family: each member's names of tensors and of fields of config.json.

All run on our encoder. Members differ in a table of names here and a few fields of `BertConfig`; a
model with further differences is not in this file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

Capability = Literal[
    "parts",
    "queries",
    "segments",
    "positions",
    "norm",
    "lens",
    "mask",
    "pieces",
    "pooler",
    "mlm",
    "nsp",
    "replaced",
    "sop",
    "next",
    "decoder",
]
"""The capabilities of a model: layers and weights that are read and changed ("parts"); queries,
keys and values in its traces; segment and position embeddings; a LayerNorm after the embeddings;
predictions from earlier layers ("lens"); a mask token instead of a hidden word; words of several
masks ("pieces"); a pooler; heads for masked words, next sentences, replaced tokens, sentence order
and the next token; a decoder."""
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
HEADS: tuple[Capability, ...] = ("pooler", "mlm", "nsp", "replaced", "sop", "next", "decoder")
"""Capabilities that a checkpoint may lack although others of its family have them."""

Names = tuple[tuple[str, str], ...]
"""(our name, theirs), in the order of the network."""


TASK_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "sequence": "ForSequenceClassification",
        "token": "ForTokenClassification",
        "span": "ForQuestionAnswering",
        "choice": "ForMultipleChoice",
    }
)
"""Kinds of task head -> the ending of their class in `transformers`."""


CLS, MEAN = POOLINGS = ("cls", "mean")
"""What the head of a text reads: as its class in `transformers`, or the mean of all tokens."""
MEAN_HEAD = "mean."
"""Prefix of the tensors of a text's head over the mean of its tokens, in files."""


class HeadForm(NamedTuple):
    """How a task head reads the last hidden states, and the names of its tensors."""

    reads: Literal["pooler", "first", "last", "mean", "all"]
    """The pooled vector, the state of the first or last token, the mean of all, or the state of
    every token."""
    classifier: str = "classifier"
    """Name of its last layer."""
    dense: str = ""
    """Name of a layer of width D before it; "": there is none."""
    norm: str = ""
    """Name of a LayerNorm after that layer; "": there is none."""
    activation: str = ""
    """Activation of that layer: "tanh", "relu" or "gelu"; "": the config's
    `classifier_activation`."""
    drops_input: bool = False
    """Whether dropout comes before that layer too."""
    has_dropout: bool = True
    """Whether dropout comes before the last layer."""

    def over_mean(self) -> HeadForm:
        """Return the form that reads the mean of all tokens.

        Its tensors have names of their own, so that no class of these families in `transformers`
        takes them for its head, which reads another vector.
        """
        return self._replace(
            reads="mean",
            classifier=MEAN_HEAD + self.classifier,
            dense=self.dense and MEAN_HEAD + self.dense,
            norm=self.norm and MEAN_HEAD + self.norm,
        )


_TOKEN = HeadForm("all")
_SPAN = HeadForm("all", "qa_outputs", has_dropout=False)
_POOLED = HeadForm("pooler")
_LAST = HeadForm("last")
_POOLED_HEADS: Mapping[str, HeadForm] = MappingProxyType(
    {"sequence": _POOLED, "token": _TOKEN, "span": _SPAN, "choice": _POOLED}
)


def _dense_head(activation: str) -> HeadForm:
    return HeadForm(
        "first", "classifier.out_proj", "classifier.dense", activation=activation, drops_input=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One member of the family, in Hugging Face's names."""

    name: str
    """Its usual name: "DistilBERT"."""
    prefix: str
    """Prefix of the encoder's tensors in a model with heads: "distilbert."."""
    embeddings: Names
    """Without the prefix."""
    projection: Names = ()
    """From the embeddings' width to the encoder's, if the two differ; without the prefix."""
    layer_prefix: str
    """"encoder.layer.{}." with the number of the layer in the braces; without the prefix."""
    layer: Names
    """Parts of a layer, each with a weight and a bias."""
    last: Names = ()
    """The part after the last layer; without the prefix."""
    heads: Mapping[str, Names]
    """By our name of the head: "pooler", "mlm", "nsp", "replaced" or "sop"; with all prefixes."""
    decoder_weight: str
    """A copy of the token table in some files (tied), in others a matrix of its own."""
    decoder_bias: str | None = None
    """A copy of the masked-word head's bias in some files."""
    parts: tuple[str, ...]
    """How the names of the encoder's tensors begin, after the prefix."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Our field of BertConfig -> the key of config.json, if the two differ."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Our field -> the default of `transformers` if config.json lacks it, where it differs from
    BERT's."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Our field -> its only value; config.json has no key for it."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Keys of config.json that must have this value for our encoder to be the right one."""
    classes: Mapping[frozenset[str], str]
    """Heads -> the class of `transformers` that has them."""
    tasks: Mapping[str, HeadForm] = field(default_factory=dict)
    """Kind of task head, a key of TASK_CLASSES -> its form."""
    absent: Mapping[Capability, str] = field(default_factory=dict)
    """Capability that members never have -> the reason, as a sentence."""
    is_causal: bool = False
    """Whether a token attends only to itself and the tokens before it; the word head then predicts
    the next token."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of task head that it can have, of TASK_CLASSES."""
        return self.tasks.keys()

    def task_kind(self, class_name: str) -> str | None:
        """Return the kind of task head of a class of `transformers`, or None."""
        return task_kind(class_name)

    def task_class(self, kind: str) -> str:
        """Return the class of `transformers` with a task head.

        >>> DISTILBERT.task_class("sequence"), CAUSAL_BERT.task_class("sequence")
        ('DistilBertForSequenceClassification', 'CausalBertForSequenceClassification')

        The last is a name of ours: no class of `transformers` reads a BERT's last token, and
        BertForSequenceClassification would read the first, which sees no other.
        """
        name = self.classes[frozenset()].removesuffix("Model") + TASK_CLASSES[kind]
        is_ours = self.is_causal and kind in self.tasks and self.tasks[kind].reads == "last"
        return f"Causal{name}" if is_ours else name

    def check_task_class(self, class_name: str, kind: str) -> None:
        """Reject a class with a pooler on causal attention.

        Args:
            class_name: The class in config.json.
            kind: The kind of its task head.

        ValueError if it is one.
        """
        if self.is_causal and kind in self.tasks and class_name != self.task_class(kind):
            raise ValueError(
                f"the checkpoint is a {class_name} with causal attention: its head reads the first "
                "token, which sees no other, so its answer is the same for every text. Fine-tune "
                "the causal checkpoint here: a text is read from its last token."
            )


def task_kind(class_name: str) -> str | None:
    """Return the kind of task head that a class of `transformers` has, or None.

    >>> task_kind("RobertaForTokenClassification"), task_kind("BertForMaskedLM")
    ('token', None)
    """
    kinds = (kind for kind, ending in TASK_CLASSES.items() if class_name.endswith(ending))
    return next(kinds, None)


_BERT_EMBEDDINGS: Names = (
    ("embeddings.word_embeddings.weight", "embeddings.word_embeddings.weight"),
    ("embeddings.position_embeddings.weight", "embeddings.position_embeddings.weight"),
    ("embeddings.token_type_embeddings.weight", "embeddings.token_type_embeddings.weight"),
    ("embeddings.norm.weight", "embeddings.LayerNorm.weight"),
    ("embeddings.norm.bias", "embeddings.LayerNorm.bias"),
)
_BERT_LAYER: Names = (
    ("attention.query", "attention.self.query."),
    ("attention.key", "attention.self.key."),
    ("attention.value", "attention.self.value."),
    ("attention.output", "attention.output.dense."),
    ("attention.norm", "attention.output.LayerNorm."),
    ("feed_forward.intermediate", "intermediate.dense."),
    ("feed_forward.output", "output.dense."),
    ("feed_forward.norm", "output.LayerNorm."),
)


def _mlm(bias: str, transform: str, norm: str) -> Names:
    return (
        ("mlm.decoder.bias", bias),
        *_linear("mlm.dense", transform),
        *_linear("mlm.norm", norm),
    )


def _linear(ours: str, name: str) -> Names:
    return ((f"{ours}.weight", f"{name}.weight"), (f"{ours}.bias", f"{name}.bias"))


_ONLY_MASKED_WORDS = "It was pretrained on masked words alone"

BERT = Family(
    name="BERT",
    prefix="bert.",
    embeddings=_BERT_EMBEDDINGS,
    layer_prefix="encoder.layer.{}.",
    layer=_BERT_LAYER,
    heads={
        "pooler": _linear("pooler.dense", "bert.pooler.dense"),
        "mlm": _mlm(
            "cls.predictions.bias",
            "cls.predictions.transform.dense",
            "cls.predictions.transform.LayerNorm",
        ),
        "nsp": _linear("nsp.classifier", "cls.seq_relationship"),
    },
    decoder_weight="cls.predictions.decoder.weight",
    decoder_bias="cls.predictions.decoder.bias",
    parts=("embeddings.", "encoder.", "pooler."),
    classes={
        frozenset({"pooler", "mlm", "nsp"}): "BertForPreTraining",
        frozenset({"pooler", "nsp"}): "BertForNextSentencePrediction",
        frozenset({"mlm"}): "BertForMaskedLM",
        frozenset(): "BertModel",
    },
    tasks=_POOLED_HEADS,
)

_CAUSAL_HAS_NO_MASK = (
    "BERT with causal attention has no mask: it predicts each token from those before it. "
    "Open a checkpoint of masked words, such as 'default'."
)
CAUSAL_BERT = replace(
    BERT,
    name="BERT with causal attention",
    heads={"mlm": BERT.heads["mlm"]},
    classes={frozenset({"mlm"}): "BertLMHeadModel", frozenset(): "BertModel"},
    # For a text: a linear layer on the last token, the only one that has read all of it, as in
    # GPT-2's classifier in `transformers`. For tokens: BERT's own classes, with the causal mask.
    tasks={"sequence": _LAST, "token": _TOKEN, "span": _SPAN, "choice": _LAST},
    absent={
        "mlm": _CAUSAL_HAS_NO_MASK,
        "nsp": "BERT with causal attention has no next-sentence head: it was trained to continue "
        "texts.",
        "pooler": "BERT with causal attention has no pooler: its first token sees no other.",
        "lens": "The lens reads masked words, and BERT with causal attention has none.",
        "mask": _CAUSAL_HAS_NO_MASK,
    },
    is_causal=True,
)
"""BERT as a decoder without an encoder: config.json has `is_decoder`."""

DISTILBERT = Family(
    name="DistilBERT",
    prefix="distilbert.",
    embeddings=tuple(pair for pair in _BERT_EMBEDDINGS if "token_type" not in pair[0]),
    layer_prefix="transformer.layer.{}.",
    layer=(
        ("attention.query", "attention.q_lin."),
        ("attention.key", "attention.k_lin."),
        ("attention.value", "attention.v_lin."),
        ("attention.output", "attention.out_lin."),
        ("attention.norm", "sa_layer_norm."),
        ("feed_forward.intermediate", "ffn.lin1."),
        ("feed_forward.output", "ffn.lin2."),
        ("feed_forward.norm", "output_layer_norm."),
    ),
    heads={"mlm": _mlm("vocab_projector.bias", "vocab_transform", "vocab_layer_norm")},
    decoder_weight="vocab_projector.weight",
    parts=("embeddings.", "transformer."),
    fields={
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
        "hidden_dropout_prob": "dropout",
        "attention_probs_dropout_prob": "attention_dropout",
        "classifier_dropout": "seq_classif_dropout",
    },
    defaults={"classifier_dropout": 0.2},
    fixed={"type_vocab_size": 0, "layer_norm_eps": 1e-12},
    classes={frozenset({"mlm"}): "DistilBertForMaskedLM", frozenset(): "DistilBertModel"},
    tasks={
        "sequence": HeadForm("first", dense="pre_classifier", activation="relu"),
        "token": _TOKEN,
        "span": _SPAN,
        "choice": HeadForm("first", dense="pre_classifier", activation="relu"),
    },
    absent={
        "segments": "DistilBERT has no segment embeddings: only [SEP] separates text A from B.",
        "pooler": "DistilBERT has no pooler: its sentence vector is the last state of [CLS].",
        "nsp": "DistilBERT has no next-sentence head. It was pretrained on masked words and on its "
        "teacher's probabilities and vectors.",
    },
)

_ROBERTA_CLASSES = {frozenset({"mlm"}): "ForMaskedLM", frozenset[str](): "Model"}


def _roberta(name: str, class_prefix: str) -> Family:
    return Family(
        name=name,
        prefix="roberta.",
        embeddings=_BERT_EMBEDDINGS,
        layer_prefix="encoder.layer.{}.",
        layer=_BERT_LAYER,
        heads={
            "pooler": _linear("pooler.dense", "roberta.pooler.dense"),
            "mlm": _mlm("lm_head.bias", "lm_head.dense", "lm_head.layer_norm"),
        },
        decoder_weight="lm_head.decoder.weight",
        decoder_bias="lm_head.decoder.bias",
        parts=("embeddings.", "encoder.", "pooler."),
        defaults={"pad_token_id": 1},
        classes={heads: class_prefix + kind for heads, kind in _ROBERTA_CLASSES.items()},
        tasks={**_POOLED_HEADS, "sequence": _dense_head("tanh")},
        absent={
            "nsp": f"{name} has no next-sentence head. {_ONLY_MASKED_WORDS}.",
        },
    )


ROBERTA = _roberta("RoBERTa", "Roberta")
XLM_ROBERTA = _roberta("XLM-RoBERTa", "XLMRoberta")

ELECTRA = Family(
    name="ELECTRA",
    prefix="electra.",
    embeddings=_BERT_EMBEDDINGS,
    projection=_linear("embeddings.projection", "embeddings_project"),
    layer_prefix="encoder.layer.{}.",
    layer=_BERT_LAYER,
    heads={
        "mlm": _mlm(
            "generator_lm_head.bias",
            "generator_predictions.dense",
            "generator_predictions.LayerNorm",
        ),
        "replaced": (
            *_linear("replaced.dense", "discriminator_predictions.dense"),
            *_linear("replaced.classifier", "discriminator_predictions.dense_prediction"),
        ),
    },
    decoder_weight="generator_lm_head.weight",
    parts=("embeddings.", "embeddings_project.", "encoder."),
    defaults={"embedding_size": 128},
    classes={
        frozenset({"replaced"}): "ElectraForPreTraining",
        frozenset({"mlm"}): "ElectraForMaskedLM",
        frozenset(): "ElectraModel",
    },
    tasks={
        "sequence": _dense_head("gelu"),
        "token": _TOKEN,
        "span": _SPAN,
        "choice": HeadForm("first", dense="sequence_summary.summary", activation="gelu"),
    },
    absent={
        "pooler": "ELECTRA has no pooler: its sentence vector is the last state of [CLS].",
        "nsp": "ELECTRA has no next-sentence head. Its generator was trained on masked words and "
        "its discriminator on replaced ones.",
    },
)

_ALBERT_LAYER = "encoder.albert_layer_groups.0.albert_layers.0."

ALBERT = Family(
    name="ALBERT",
    prefix="albert.",
    embeddings=_BERT_EMBEDDINGS,
    projection=_linear("embeddings.projection", "encoder.embedding_hidden_mapping_in"),
    layer_prefix=_ALBERT_LAYER,  # one for all layers: it has no braces
    layer=(
        ("attention.query", "attention.query."),
        ("attention.key", "attention.key."),
        ("attention.value", "attention.value."),
        ("attention.output", "attention.dense."),
        ("attention.norm", "attention.LayerNorm."),
        ("feed_forward.intermediate", "ffn."),
        ("feed_forward.output", "ffn_output."),
        ("feed_forward.norm", "full_layer_layer_norm."),
    ),
    heads={
        "pooler": _linear("pooler.dense", "albert.pooler"),
        "mlm": _mlm("predictions.bias", "predictions.dense", "predictions.LayerNorm"),
        "sop": _linear("sop.classifier", "sop_classifier.classifier"),
    },
    decoder_weight="predictions.decoder.weight",
    decoder_bias="predictions.decoder.bias",
    parts=("embeddings.", "encoder.", "pooler."),
    fields={"classifier_dropout": "classifier_dropout_prob"},
    defaults={
        "embedding_size": 128,
        "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout": 0.1,
    },
    fixed={"share_layers": True},
    constants={"num_hidden_groups": 1, "inner_group_num": 1},
    classes={
        frozenset({"pooler", "mlm", "sop"}): "AlbertForPreTraining",
        frozenset({"mlm"}): "AlbertForMaskedLM",
        frozenset(): "AlbertModel",
    },
    tasks=_POOLED_HEADS,
    absent={
        "nsp": "ALBERT has no next-sentence head: it was pretrained to predict whether two "
        "sentences are in their original order (bert.sentence_order).",
    },
)

_MODERN_HEAD = ("head.dense", "head.norm")
MODERNBERT = Family(
    name="ModernBERT",
    prefix="model.",
    embeddings=(
        ("embeddings.word_embeddings.weight", "embeddings.tok_embeddings.weight"),
        ("embeddings.norm.weight", "embeddings.norm.weight"),
        ("embeddings.norm.bias", "embeddings.norm.bias"),
    ),
    layer_prefix="layers.{}.",
    layer=(
        ("attention.norm", "attn_norm."),
        ("attention.qkv", "attn.Wqkv."),
        ("attention.output", "attn.Wo."),
        ("feed_forward.norm", "mlp_norm."),
        ("feed_forward.intermediate", "mlp.Wi."),
        ("feed_forward.output", "mlp.Wo."),
    ),
    last=_linear("final_norm", "final_norm"),
    heads={"mlm": _mlm("decoder.bias", *_MODERN_HEAD)},
    decoder_weight="decoder.weight",
    parts=("embeddings.", "layers.", "final_norm."),
    fields={
        "hidden_act": "hidden_activation",
        "hidden_dropout_prob": "mlp_dropout",
        "attention_probs_dropout_prob": "attention_dropout",
        "layer_norm_eps": "norm_eps",
    },
    defaults={
        "pad_token_id": 50283,
        "layer_norm_eps": 1e-5,
        "max_position_embeddings": 8192,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout": 0.0,
    },
    fixed={"type_vocab_size": 0, "position_embedding": "rotary"},
    classes={frozenset({"mlm"}): "ModernBertForMaskedLM", frozenset(): "ModernBertModel"},
    tasks={
        kind: HeadForm(
            "all" if kind in ("token", "span") else "first",
            dense=_MODERN_HEAD[0],
            norm=_MODERN_HEAD[1],
        )
        for kind in TASK_CLASSES
    },
    absent={
        "segments": "ModernBERT has no segment embeddings: only [SEP] separates text A from B.",
        "positions": "ModernBERT adds no position vectors to its input: each head rotates its "
        "queries and keys by an angle that grows with the position (rotary positions).",
        "pooler": "ModernBERT has no pooler: its sentence vector is the last state of [CLS].",
        "nsp": f"ModernBERT has no next-sentence head. {_ONLY_MASKED_WORDS}.",
    },
)

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "bert": BERT,
        "distilbert": DISTILBERT,
        "roberta": ROBERTA,
        "xlm-roberta": XLM_ROBERTA,
        "electra": ELECTRA,
        "albert": ALBERT,
        "modernbert": MODERNBERT,
    }
)
"""Families by `model_type` of config.json."""

_SIGNS = (
    ("modernbert", ("embeddings.tok_embeddings.",)),
    ("distilbert", ("distilbert.", "attention.q_lin.", "vocab_projector.")),
    ("albert", ("albert.", "albert_layer_groups.", "sop_classifier.")),
    ("electra", ("electra.", "embeddings_project.", "generator_", "discriminator_predictions.")),
    ("roberta", ("roberta.", "lm_head.layer_norm.")),
    ("bert", ("cls.predictions.", "cls.seq_relationship.")),
)
"""Parts of names that only one family's tensors have, possibly after a wrapper's `module.`."""
_WEAK_SIGN = "bert."
"""Custom classes may call an encoder of another family `bert`, too."""


def certain_family(names: Iterable[str]) -> str | None:
    """Return the `model_type` that the names of the tensors identify, or None.

    RoBERTa and XLM-RoBERTa use the same names; "roberta" stands for both.

    >>> certain_family(["module.distilbert.embeddings.LayerNorm.weight"])
    'distilbert'
    """
    dotted = [f".{name}" for name in names]
    candidates = [
        model_type
        for model_type, signs in _SIGNS
        if any(f".{sign}" in name for name in dotted for sign in signs)
    ]
    return candidates[0] if len(candidates) == 1 else None


def likely_family(names: Iterable[str]) -> str | None:
    """Return `certain_family`, or "bert" if the prefix `bert.` is the only sign."""
    names = list(names)
    certain = certain_family(names)
    is_bert = any(f".{_WEAK_SIGN}" in f".{name}" for name in names)
    return certain or ("bert" if is_bert else None)
