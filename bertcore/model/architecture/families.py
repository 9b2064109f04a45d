"""The BERT family: what each member calls its tensors and its fields of config.json.

All run on our encoder. A member is one `Family` of families.toml: names, defaults, heads, and what
it lacks; a model with further differences is not in this file.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
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
    decoder_bias: str = ""
    """A copy of the masked-word head's bias in some files; "": there is none."""
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
    attention_note: str = ""
    """What is odd about the numbers that it returns as attention, in sentences; "": nothing."""
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
        data-parallel wrappers (`module.`), trainers (`model.`) or bare encoders (none) open too. If
        there are several, that which starts with `encoder` is read; else the nearest to the top, by
        the alphabet if several are.

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
        name = re.sub(r"\.LayerNorm\.gamma$", ".LayerNorm.weight", name)
        return re.sub(r"\.LayerNorm\.beta$", ".LayerNorm.bias", name)

    def task_kind(self, class_name: str) -> str | None:
        """Return the kind of task head of a class of `transformers`, or None."""
        return task_kind(class_name)

    def task_class(self, kind: str) -> str:
        """Return the class of `transformers` with a task head.

        >>> FAMILIES["distilbert"].task_class("sequence"), CAUSAL_BERT.task_class("sequence")
        ('DistilBertForSequenceClassification', 'CausalBertForSequenceClassification')

        The last is a name of ours: no class of `transformers` reads a BERT's last token, and
        BertForSequenceClassification would read the first, which sees no other.
        """
        name = self.classes[frozenset()].removesuffix("Model") + TASK_CLASSES[kind]
        is_ours = self.is_causal and kind in self.tasks and self.tasks[kind].reads == "last"
        return f"Causal{name}" if is_ours else name

    def check_task_class(self, class_name: str, kind: str) -> None:
        """Reject a class with a pooler on causal attention by ValueError."""
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


def _both(ours: str, theirs: str) -> dict[str, str]:
    return {f"{ours}.{kind}": f"{theirs}.{kind}" for kind in ("weight", "bias")}


def _written_out(names: Names) -> dict[str, str]:
    table: dict[str, str] = {}
    for ours, theirs in names.items():
        is_single = ours.endswith((".weight", ".bias"))
        table |= {ours: theirs} if is_single else _both(ours, theirs)
    return table


def _families() -> dict[str, Family]:
    """Return the families of families.toml by their names there."""
    made: dict[str, Family] = {}
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for name, values in tomllib.loads(text).items():
        like = values.pop("like", None)
        for field_name in {"embeddings", "last"} & values.keys():
            values[field_name] = _written_out(values[field_name])
        for field_name in {"signs", "parts"} & values.keys():
            values[field_name] = tuple(values[field_name])
        if "heads" in values:
            values["heads"] = {head: _written_out(own) for head, own in values["heads"].items()}
        if "tasks" in values:
            values["tasks"] = {kind: HeadForm(**form) for kind, form in values["tasks"].items()}
        values["classes"] = {frozenset(k.split()): own for k, own in values["classes"].items()}
        values = {"model_type": name} | values
        made[name] = Family(**values) if like is None else replace(made[like], **values)
    return made


_MADE = _families()
BERT, MODERNBERT = _MADE["bert"], _MADE["modernbert"]
CAUSAL_BERT = _MADE.pop("causal-bert")
"""BERT as a decoder without an encoder: config.json has `is_decoder`. The head of a text is a
linear layer on the last token, the only one that has read all of it, as in GPT-2's classifier in
`transformers`."""
FAMILIES: Mapping[str, Family] = MappingProxyType(_MADE)
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
