"""The BERT family: what each member calls its tensors and its fields of config.json.

All run on our encoder. A member is one `Family`: names, defaults, heads, and what it lacks; a model
with further differences is not in this file.
"""

import re
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

Names = Mapping[str, str]
"""Our name -> theirs, in the order of the network."""
POSITION_IDS = "embeddings.position_ids"
"""0, 1, 2, ...: a buffer that old versions of transformers stored; not a weight."""

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

    def over_mean(self) -> "HeadForm":
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

    model_type: str
    """As in config.json."""
    name: str
    """Its usual name: "DistilBERT"."""
    signs: tuple[str, ...] = ()
    """Parts of names that only its tensors have, possibly after a wrapper's `module.`."""
    prefix: str = ""
    """Prefix of the encoder's tensors in a model with heads: "distilbert."."""
    embeddings: Names = field(default_factory=dict)
    """Without the prefix, the token table first; with the matrix to the encoder's width, if the
    two widths differ."""
    layer_prefix: str = ""
    """"encoder.layer.{}." with the number of the layer in the braces; without the prefix."""
    layer: Names = field(default_factory=dict)
    """Parts of a layer, each with a weight and a bias."""
    last: Names = field(default_factory=dict)
    """The part after the last layer; without the prefix."""
    heads: Mapping[str, Names] = field(default_factory=dict)
    """By our name of the head: "pooler", "mlm", "nsp", "replaced" or "sop"; with all prefixes."""
    decoder_weight: str = ""
    """A copy of the token table in some files (tied), in others a matrix of its own."""
    decoder_bias: str | None = None
    """A copy of the masked-word head's bias in some files."""
    parts: tuple[str, ...] = ()
    """How the names of the encoder's tensors begin, after the prefix."""
    fields: Names = field(default_factory=dict)
    """Our field of BertConfig -> the key of config.json, if the two differ."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Our field -> the default of `transformers` if config.json lacks it, where it differs from
    BERT's."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Our field -> its only value; config.json has no key for it."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Keys of config.json that must have this value for our encoder to be the right one."""
    counts_after_padding: bool = False
    """Whether position ids begin after that of padding."""
    has_gelu_head: bool = False
    """Whether the masked-word head always uses the erf GELU, regardless of config.json."""
    classes: Mapping[frozenset[str], str] = field(default_factory=dict)
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

    @property
    def token_table(self) -> str:
        """Hugging Face's key of the token table, [V, E]."""
        return self.prefix + next(iter(self.embeddings.values()))

    @property
    def words_bias(self) -> str:
        """Hugging Face's key of the masked-word head's bias; it may also be `decoder_bias`."""
        return self.heads["mlm"]["mlm.decoder.bias"]

    def keys(
        self, num_layers: int, heads: Collection[str] | None = None, *, is_tied: bool = True
    ) -> dict[str, str]:
        """Return our parameter name -> Hugging Face's key, in the order of the network.

        A network without segments, or without a matrix from E to D, has fewer of them. An untied
        decoder comes last.

        Args:
            num_layers: L.
            heads: Those of the network; None: all of the family.
            is_tied: Whether the decoder is the token table.

        >>> BERT.keys(1)["layers.0.attention.query.weight"]
        'bert.encoder.layer.0.attention.self.query.weight'
        """
        table = {ours: self.prefix + theirs for ours, theirs in self.embeddings.items()}
        for layer in range(num_layers if "{}" in self.layer_prefix else 1):
            place = self.prefix + self.layer_prefix.format(layer)
            for ours, theirs in self.layer.items():
                table |= _both(f"layers.{layer}.{ours}", place + theirs)
        table |= {ours: self.prefix + theirs for ours, theirs in self.last.items()}
        for head, names in self.heads.items():
            if heads is None or head in heads:
                table |= names
        if not is_tied and (heads is None or "mlm" in heads):
            table["mlm.decoder.weight"] = self.decoder_weight
        return table

    def count_layers(self, keys: Iterable[str]) -> int:
        """Return the number of encoder layers in Hugging Face keys."""
        place = re.escape(self.prefix + self.layer_prefix).replace(r"\{\}", r"(?P<layer>\d{1,9})")
        matches = (re.match(place, key) for key in keys)
        return len({match.groupdict().get("layer") for match in matches if match})

    def encoder_pattern(self) -> re.Pattern[str]:
        """Return a pattern of the keys of the encoder's tensors and its pooler's."""
        single = "|".join(map(re.escape, [*self.embeddings.values(), *self.last.values()]))
        layer = re.escape(self.layer_prefix).replace(r"\{\}", r"\d+")
        parts = "|".join(map(re.escape, self.layer.values()))
        pooler = r"pooler\.(dense\.)?(weight|bias)"
        return re.compile(
            rf"{re.escape(self.prefix)}({single}|{layer}({parts})\.(weight|bias)|{pooler})"
        )

    def mend_keys(self, names: Iterable[str], encoder: str = "") -> "MendedKeys":
        """Find the encoder's prefix, make it the family's (`bert.`), and rename gamma and beta.

        Everything before the name of the token table is the prefix, so that files written by
        data-parallel wrappers (`module.`), trainers (`model.`) or bare encoders (none) open too.

        Args:
            names: The stored names.
            encoder: Start of the prefix of the encoder to read, if there are several in the file;
                without one, the nearest to the top is read, by the alphabet if several are.

        Source: ours. gamma and beta: google-research/bert's variable names.
        """
        names = sorted(names)
        bare = self.token_table.removeprefix(self.prefix)
        tables = [name for name in names if f".{name}".endswith(f".{bare}")]

        def distance(name: str) -> tuple[bool, bool, int]:
            is_wanted = bool(encoder) and name.startswith(encoder)
            return not is_wanted, not name.startswith(self.prefix), name.count(".")

        table = min(tables, key=distance, default=self.token_table)
        prefix = table.removesuffix(bare)
        mended = {name: self._mend(name, prefix) for name in names}
        stored: dict[str, str] = {}
        doubled: list[str] = []
        for name in sorted(names, key=lambda name: (mended[name] != name, name)):
            if mended[name] in stored:
                doubled.append(name)
            else:
                stored[mended[name]] = name
        return MendedKeys(
            stored=stored,
            prefix=None if prefix == self.prefix else prefix,
            num_renamed=sum(name.endswith((".gamma", ".beta")) for name in stored.values()),
            doubled=doubled,
            others=[name.removesuffix(bare) for name in tables if name != table],
        )

    def _mend(self, name: str, prefix: str) -> str:
        outer = prefix.removesuffix(self.prefix)
        if name.startswith(prefix) and name[len(prefix) :].startswith(self.parts):
            name = self.prefix + name[len(prefix) :]
        elif outer and name.startswith(outer):
            name = name[len(outer) :]
        return re.sub(r"\.LayerNorm\.(gamma|beta)$", _plain_norm, name)

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


@dataclass(frozen=True, slots=True)
class MendedKeys:
    """Stored names converted to Hugging Face's form."""

    stored: dict[str, str]
    """Hugging Face's key -> the name in the file."""
    prefix: str | None
    """The prefix before `embeddings.` instead of the family's (`bert.`); None if it was right."""
    num_renamed: int
    """LayerNorm tensors called gamma and beta, as in conversions from TensorFlow."""
    doubled: list[str]
    """Stored names whose corrected form is already taken by another tensor; not used."""
    others: list[str]
    """The prefixes of further encoders in the file; their tensors are not used."""

    def is_of_other(self, key: str, family: Family) -> bool:
        """Return whether a key belongs to one of these encoders."""
        starts = (prefix for prefix in self.others if key.startswith(prefix))
        return any(key[len(prefix) :].startswith(family.parts) for prefix in starts)


def task_kind(class_name: str) -> str | None:
    """Return the kind of task head that a class of `transformers` has, or None.

    >>> task_kind("RobertaForTokenClassification"), task_kind("BertForMaskedLM")
    ('token', None)
    """
    kinds = (kind for kind, ending in TASK_CLASSES.items() if class_name.endswith(ending))
    return next(kinds, None)


def _plain_norm(match: re.Match[str]) -> str:
    return ".LayerNorm.weight" if match[1] == "gamma" else ".LayerNorm.bias"


def _both(ours: str, theirs: str) -> dict[str, str]:
    return {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}


def _mlm(bias: str, transform: str, norm: str) -> Names:
    return {"mlm.decoder.bias": bias, **_both("mlm.dense", transform), **_both("mlm.norm", norm)}


def _tables(*kinds: str) -> dict[str, str]:
    names = (f"embeddings.{kind}_embeddings.weight" for kind in kinds)
    return {name: name for name in names} | _both("embeddings.norm", "embeddings.LayerNorm")


def _layer(norm_1: str, norm_2: str, inner: str, outer: str, *attention: str) -> Names:
    """Return the names of a layer of BERT; `attention`: query, key, value and output."""
    parts = ("query", "key", "value", "output")
    return {
        **{f"attention.{part}": name for part, name in zip(parts, attention, strict=True)},
        "attention.norm": norm_1,
        "feed_forward.intermediate": inner,
        "feed_forward.output": outer,
        "feed_forward.norm": norm_2,
    }


_ONLY_MASKED_WORDS = "It was pretrained on masked words alone"

BERT = Family(
    model_type="bert",
    name="BERT",
    signs=("cls.predictions.", "cls.seq_relationship."),
    prefix="bert.",
    embeddings=_tables("word", "position", "token_type"),
    layer_prefix="encoder.layer.{}.",
    layer=_layer(
        "attention.output.LayerNorm",
        "output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        *(f"attention.{part}" for part in ("self.query", "self.key", "self.value", "output.dense")),
    ),
    heads={
        "pooler": _both("pooler.dense", "bert.pooler.dense"),
        "mlm": _mlm(
            "cls.predictions.bias",
            "cls.predictions.transform.dense",
            "cls.predictions.transform.LayerNorm",
        ),
        "nsp": _both("nsp.classifier", "cls.seq_relationship"),
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

_DISTILBERT_HEAD = HeadForm("first", dense="pre_classifier", activation="relu")
DISTILBERT = Family(
    model_type="distilbert",
    name="DistilBERT",
    signs=("distilbert.", "attention.q_lin.", "vocab_projector."),
    prefix="distilbert.",
    embeddings=_tables("word", "position"),
    layer_prefix="transformer.layer.{}.",
    layer=_layer(
        "sa_layer_norm",
        "output_layer_norm",
        "ffn.lin1",
        "ffn.lin2",
        *(f"attention.{part}_lin" for part in ("q", "k", "v", "out")),
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
        "sequence": _DISTILBERT_HEAD,
        "token": _TOKEN,
        "span": _SPAN,
        "choice": _DISTILBERT_HEAD,
    },
    absent={
        "segments": "DistilBERT has no segment embeddings: only [SEP] separates text A from B.",
        "pooler": "DistilBERT has no pooler: its sentence vector is the last state of [CLS].",
        "nsp": "DistilBERT has no next-sentence head. It was pretrained on masked words and on its "
        "teacher's probabilities and vectors.",
    },
)

ROBERTA = replace(
    BERT,
    model_type="roberta",
    name="RoBERTa",
    signs=("roberta.", "lm_head.layer_norm."),
    prefix="roberta.",
    heads={
        "pooler": _both("pooler.dense", "roberta.pooler.dense"),
        "mlm": _mlm("lm_head.bias", "lm_head.dense", "lm_head.layer_norm"),
    },
    decoder_weight="lm_head.decoder.weight",
    decoder_bias="lm_head.decoder.bias",
    defaults={"pad_token_id": 1},
    counts_after_padding=True,
    has_gelu_head=True,
    classes={frozenset({"mlm"}): "RobertaForMaskedLM", frozenset(): "RobertaModel"},
    tasks={**_POOLED_HEADS, "sequence": _dense_head("tanh")},
    absent={"nsp": f"RoBERTa has no next-sentence head. {_ONLY_MASKED_WORDS}."},
)
XLM_ROBERTA = replace(
    ROBERTA,
    model_type="xlm-roberta",
    name="XLM-RoBERTa",
    signs=(),
    classes={heads: f"XLM{name}" for heads, name in ROBERTA.classes.items()},
    absent={"nsp": f"XLM-RoBERTa has no next-sentence head. {_ONLY_MASKED_WORDS}."},
)
"""It has RoBERTa's names of tensors, too."""

ELECTRA = replace(
    BERT,
    model_type="electra",
    name="ELECTRA",
    signs=("electra.", "embeddings_project.", "generator_", "discriminator_predictions."),
    prefix="electra.",
    embeddings={**BERT.embeddings, **_both("embeddings.projection", "embeddings_project")},
    heads={
        "mlm": _mlm(
            "generator_lm_head.bias",
            "generator_predictions.dense",
            "generator_predictions.LayerNorm",
        ),
        "replaced": {
            **_both("replaced.dense", "discriminator_predictions.dense"),
            **_both("replaced.classifier", "discriminator_predictions.dense_prediction"),
        },
    },
    decoder_weight="generator_lm_head.weight",
    decoder_bias=None,
    parts=("embeddings.", "embeddings_project.", "encoder."),
    defaults={"embedding_size": 128},
    has_gelu_head=True,
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

ALBERT = replace(
    BERT,
    model_type="albert",
    name="ALBERT",
    signs=("albert.", "albert_layer_groups.", "sop_classifier."),
    prefix="albert.",
    embeddings={
        **BERT.embeddings,
        **_both("embeddings.projection", "encoder.embedding_hidden_mapping_in"),
    },
    layer_prefix="encoder.albert_layer_groups.0.albert_layers.0.",  # one for all layers
    layer=_layer(
        "attention.LayerNorm",
        "full_layer_layer_norm",
        "ffn",
        "ffn_output",
        *(f"attention.{part}" for part in ("query", "key", "value", "dense")),
    ),
    heads={
        "pooler": _both("pooler.dense", "albert.pooler"),
        "mlm": _mlm("predictions.bias", "predictions.dense", "predictions.LayerNorm"),
        "sop": _both("sop.classifier", "sop_classifier.classifier"),
    },
    decoder_weight="predictions.decoder.weight",
    decoder_bias="predictions.decoder.bias",
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
    absent={
        "nsp": "ALBERT has no next-sentence head: it was pretrained to predict whether two "
        "sentences are in their original order (bert.sentence_order).",
    },
)

_MODERN_HEAD = HeadForm("first", dense="head.dense", norm="head.norm")
MODERNBERT = Family(
    model_type="modernbert",
    name="ModernBERT",
    signs=("embeddings.tok_embeddings.",),
    prefix="model.",
    embeddings={
        "embeddings.word_embeddings.weight": "embeddings.tok_embeddings.weight",
        **_both("embeddings.norm", "embeddings.norm"),
    },
    layer_prefix="layers.{}.",
    layer={
        "attention.norm": "attn_norm",
        "attention.qkv": "attn.Wqkv",
        "attention.output": "attn.Wo",
        "feed_forward.norm": "mlp_norm",
        "feed_forward.intermediate": "mlp.Wi",
        "feed_forward.output": "mlp.Wo",
    },
    last=_both("final_norm", "final_norm"),
    heads={"mlm": _mlm("decoder.bias", "head.dense", "head.norm")},
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
        kind: _MODERN_HEAD._replace(reads="all" if kind in ("token", "span") else "first")
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
        family.model_type: family
        for family in (BERT, DISTILBERT, ROBERTA, XLM_ROBERTA, ELECTRA, ALBERT, MODERNBERT)
    }
)
"""Families by `model_type` of config.json."""


def certain_family(names: Iterable[str]) -> str | None:
    """Return the `model_type` that the names of the tensors identify, or None.

    RoBERTa and XLM-RoBERTa use the same names; "roberta" stands for both.

    >>> certain_family(["module.distilbert.embeddings.LayerNorm.weight"])
    'distilbert'
    """
    dotted = "".join(f".{name}\n" for name in names)
    candidates = [
        model_type
        for model_type, family in FAMILIES.items()
        if any(f".{sign}" in dotted for sign in family.signs)
    ]
    return candidates[0] if len(candidates) == 1 else None


def likely_family(names: Iterable[str]) -> str | None:
    """Return `certain_family`, or "bert" if the prefix `bert.` is the only sign.

    Custom classes may call an encoder of another family `bert`, too.
    """
    names = list(names)
    is_bert = any(".bert." in f".{name}" for name in names)
    return certain_family(names) or ("bert" if is_bert else None)
