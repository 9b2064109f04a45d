"""The load report: what a checkpoint contains, what was used and what was missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bertcore.architecture.families import CLS

Shape = tuple[int, ...]

HEAD_NAMES = {
    "pooler": "pooler",
    "mlm": "masked-word (MLM) head",
    "nsp": "next-sentence (NSP) head",
    "replaced": "replaced-token head",
    "sop": "sentence-order (SOP) head",
    "next": "next-token head",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """The task that a checkpoint was trained for."""

    architecture: str | None
    """The class of `transformers` that config.json names, such as BertForSequenceClassification."""
    task: str | None
    """What it predicts, in a few words; None if unknown."""
    label_names: tuple[str, ...]
    """Labels in config.json, in the order of their ids; () if these are not 0, 1, 2 ..."""
    num_outputs: int | None
    """Rows of the task head's last matrix; None if there is no task head."""
    kind: str | None = None
    """Kind of the task head that can be applied, of TASK_CLASSES; None: there is none."""
    problem_type: str = ""
    """As in config.json, or by the name of the class; "" if neither states it."""
    note: str | None = None
    """How the head was recognised, if not by a class of `transformers`, as a sentence."""
    refusal: str | None = None
    """Why tensors beside the encoder are not applied as a task head, in sentences."""
    pooling: str = CLS
    """What the head of a text reads, of POOLINGS."""

    @property
    def class_name(self) -> str:
        """The class that config.json names; "" if it names none."""
        return self.architecture or ""

    def sentences(self) -> Iterator[str]:
        """Yield the facts as sentences, with warnings if files disagree."""
        if self.architecture is not None:
            meaning = f", which predicts {self.task}" if self.task else ""
            yield f"config.json names the class {self.architecture}{meaning}."
        elif self.task is not None:
            yield f"By its tensors it predicts {self.task}."
        if self.refusal is not None:
            return
        number = len(self.label_names)
        if self.num_outputs is not None and number:
            count = number if number <= 10 else 8
            more = f" and {number - count} more" if number > count else ""
            yield f"Labels: {', '.join(self.label_names[:count])}{more}."
            if number != self.num_outputs:
                yield (
                    f"Warning: config.json names {number} labels but the head has "
                    f"{self.num_outputs} outputs."
                )
        elif self.num_outputs is not None:
            yield (
                f"The head has {self.num_outputs} outputs; config.json has no names for them by "
                "ids from 0 (id2label)."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorReport:
    """The stored tensors against the network that they are for. Names are those in the file."""

    stored_dtype: str
    """Number format of the token table in the file."""
    matched: dict[str, Shape]
    """Tensors that were loaded, with shapes."""
    missing: dict[str, Shape]
    """Tensors of absent or incomplete heads, with the shapes they would have."""
    unexpected: dict[str, Shape]
    """Tensors that no part of BERT uses, task heads excepted."""
    mis_shaped: dict[str, tuple[Shape, Shape]]
    """Tensors of heads that were left out because of their shape: name -> (shape in the file,
    expected shape). A mis-shaped tensor of the encoder is an error instead."""
    other_encoders: tuple[str, ...] = ()
    """Prefixes of further encoders in the file, which are not read."""
    mended_prefix: str | None
    """The prefix of the encoder's names instead of the family's (`bert.`); None if it was right."""
    num_renamed: int
    """LayerNorm tensors that were called gamma or beta."""
    num_stored_layers: int
    """Layers in the file; more than those of the network if config.json asks for fewer."""
    decoder: str
    """"tied" (not stored, or a copy of the token table), "untied" (another matrix) or "absent"."""
    heads: tuple[str, ...]
    """Which of pooler, mlm, next, nsp, replaced, sop were loaded."""
    incomplete_heads: tuple[str, ...] = ()
    """Heads that are incomplete or of another shape in the file: left out."""
    task_heads: dict[str, Shape]
    """Tensors of fine-tuned heads such as classifier.weight: not used."""
    fresh_heads: tuple[str, ...]
    """Biases of task heads that are exactly 0, as before the first step of training."""
    zero_heads: tuple[str, ...]
    """Matrices of task heads that are 0 throughout."""
    broken_heads: tuple[str, ...]
    """Tensors of task heads that contain NaN or infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport(TensorReport):
    """The result of loading a checkpoint."""

    source: str
    """The name that the user gave."""
    folder: Path
    """The folder of the files."""
    format: str
    """"safetensors", "safetensors in 3 files" or "pytorch_model.bin"."""
    num_bytes: int
    """Size of the weight files."""
    adapter: str | None
    """What a LoRA adapter changed in its base, as a sentence; None: it is not an adapter."""
    family: str
    """"BERT", "RoBERTa", ..."""
    family_note: str | None
    """A sentence if config.json names no family or a wrong one; else None."""
    family_heads: tuple[str, ...]
    """Heads that checkpoints of this family can have."""
    is_other: bool
    """Whether it is of another architecture, run by `transformers`."""
    lacks: tuple[str, ...]
    """What checkpoints of this family never have, one sentence each."""
    task: TaskFacts
    """The task that it was trained for."""
    no_answer: str | None
    """Why its task head, which fits its class, has no answer here; None if it has one."""
    sentence_encoder: tuple[str, ...]
    """How a text becomes one vector, in sentences."""
    oddities: tuple[str, ...]
    """Mismatches between the files, in sentences."""
    precision_note: str | None
    """Why it was opened in a number format other than requested; None: it was not."""
    not_finite: tuple[str, ...]
    """Loaded tensors that contain NaN or infinity."""
    num_layers: int
    num_parameters: int
    """Parameters of the loaded network, each weight counted once."""
    vocab_size: int
    """Pieces of the tokenizer."""
    num_rows: int
    """Rows of the token table."""
    num_unused: int
    """Rows that no token uses: padding, spare rows, or those of another tokenizer."""
    is_cased: bool
    """Whether upper and lower case differ for the tokenizer."""
    fingerprint: str
    """sha256 over names, shapes and stored bytes of the loaded weights; same weights, same value,
    regardless of file names."""

    def sentences(self) -> list[str]:
        """Return the report in plain words, the most important first."""
        return [
            *self._file_sentences(),
            *self._head_sentences(),
            *self._task_sentences(),
            *self.sentence_encoder,
            *self._name_sentences(),
            *self._vocabulary_sentences(),
            *self.oddities,
            f"Fingerprint: {self.fingerprint}.",
        ]

    def file_remarks(self) -> list[str]:
        """Return the doctor's remarks on the files: missing, renamed, split, tied or odd parts."""
        lines = [] if self.family_note is None else [f"Warning: {self.family_note}"]
        lines += self._absent_sentences()
        if " in " in self.format:
            lines.append(f"The weights are split into parts (sharded): {self.format}.")
        lines += [line for line in self._vocabulary_sentences() if line.startswith("Warning: ")]
        return [*lines, *self._broken_sentences(), *self._name_sentences(), *self.oddities]

    def _absent_sentences(self) -> Iterator[str]:
        lacking = [head for head in self.family_heads if head not in self.heads]
        absent = [name for head, name in HEAD_NAMES.items() if head in lacking]
        if absent:
            yield f"Absent: {', '.join(absent)}. Views that need them are off."

    def _file_sentences(self) -> Iterator[str]:
        """Size, format, family; and what is wrong with the weights."""
        yield (
            f"{len(self.matched)} tensors, {self.num_parameters:,} parameters, from "
            f"{self.format} (token table in {self.stored_dtype}, {self.num_bytes / 1e6:,.1f} MB) "
            f"in {self.folder}."
        )
        if self.precision_note is not None:
            yield f"Warning: {self.precision_note}"
        if self.adapter is not None:
            yield self.adapter
        if self.family_note is not None:
            yield f"Warning: {self.family_note}"
        if self.is_other:
            yield f"Family: {self.family}, another architecture, run by transformers."
        elif self.family == "ModernBERT":
            yield "Family: ModernBERT, with its own layers."
        elif self.family != "BERT":
            yield f"Family: {self.family}, on BERT's encoder."
        yield from self._broken_sentences()
        if self.num_stored_layers > self.num_layers:
            yield (
                f"Warning: the file has {self.num_stored_layers} layers but config.json asks for "
                f"{self.num_layers}; the others were left out."
            )

    def _broken_sentences(self) -> Iterator[str]:
        """Weights without a number, and task heads that cannot tell texts apart."""
        if self.not_finite:
            have = "has" if len(self.not_finite) == 1 else "have"
            yield (
                f"Warning: {_some(self.not_finite)} {have} NaN or infinite numbers, so results "
                "will be NaN."
            )
        if self.broken_heads:
            have = "has" if len(self.broken_heads) == 1 else "have"
            yield (
                f"Warning: {_some(self.broken_heads)} of the task head {have} NaN or infinite "
                "numbers."
            )
        if self.zero_heads:
            verb = "is" if len(self.zero_heads) == 1 else "are"
            yield (
                f"Warning: {_some(self.zero_heads)} {verb} 0 throughout, so the task head gives "
                "every text the same answer."
            )

    def _head_sentences(self) -> Iterator[str]:
        """Which pretraining heads are present, and why others are absent."""
        present = [name for head, name in HEAD_NAMES.items() if head in self.heads]
        if present:
            yield f"Present: {', '.join(present)}."
        yield from self._absent_sentences()
        yield from self.lacks
        for head in self.incomplete_heads:
            yield (
                f"The {HEAD_NAMES[head]} is incomplete or of another shape in the file, so it was "
                "left out."
            )
        for name, (came, expected) in self.mis_shaped.items():
            yield f"{name} is {list(came)}; config.json asks for {list(expected)}."
        if self.decoder == "untied":
            yield "The decoder is a matrix of its own, not the token table (untied)."

    def _task_sentences(self) -> Iterator[str]:
        """The task head, and what it was trained for."""
        if self.task.refusal is not None:
            yield (
                "Warning: no task head is read, neither on the Inspect page nor by bertscope "
                f"evaluate. {self.task.refusal}"
            )
        elif self.no_answer is not None:
            yield (
                "Warning: neither the Inspect page nor bertscope evaluate can use the task head "
                f"({_some(self.task_heads)}): {self.no_answer}"
            )
        elif self.task_heads:
            use = "The Inspect page and the command bertscope evaluate use it."
            yield f"Task head: {_some(self.task_heads)}. {use}"
        if self.task.note is not None:
            yield self.task.note
        if self.fresh_heads:
            verb = "is" if len(self.fresh_heads) == 1 else "are"
            yield (
                f"Warning: {_some(self.fresh_heads)} {verb} exactly 0, as in a head that was added "
                "and never trained."
            )
        yield from self.task.sentences()

    def _name_sentences(self) -> Iterator[str]:
        """What was tied, not used or renamed."""
        if self.decoder == "tied":
            head = "word head" if self.is_other else "masked-word head"
            yield f"The decoder of the {head} is the token table itself (tied)."
        if self.unexpected:
            yield f"Not part of {self.family}, not used: {named_shapes(self.unexpected)}."
        if self.mended_prefix is not None:
            came = repr(self.mended_prefix) if self.mended_prefix else "nothing"
            yield f"Names were corrected: they had {came} instead of the family's prefix."
        if self.other_encoders:
            others = ", ".join(map(repr, self.other_encoders))
            taken = repr(self.mended_prefix) if self.mended_prefix is not None else "the family's"
            yield (
                f"Warning: the file has {len(self.other_encoders) + 1} encoders; the one with the "
                f"prefix {taken} was opened, and not {others}."
            )
            other = next((one for one in self.other_encoders if "decoder" not in one), None)
            if other is not None:
                yield (
                    "To open another encoder of the file, write its prefix into config.json: "
                    f'"bertscope": {{"encoder": "{other}"}}.'
                )
        if self.num_renamed:
            yield f"{self.num_renamed} tensors called gamma or beta were renamed."

    def _vocabulary_sentences(self) -> Iterator[str]:
        """The tokenizer's size against the token table's, and its case."""
        surplus = self.vocab_size - self.num_rows
        if surplus > 0:
            which = "piece has" if surplus == 1 else f"{surplus:,} pieces have"
            yield (
                f"Warning: the vocabulary has {self.vocab_size:,} pieces but the token table "
                f"{self.num_rows:,} rows. The last {which} no row: a text that needs one is "
                "rejected."
            )
        elif self.num_unused:
            size = (
                f"The token table has {self.num_rows:,} rows and the vocabulary "
                f"{self.vocab_size:,} pieces: no token uses {self.num_unused:,} of the rows, and "
                "rows without a name are not predicted."
            )
            if self.num_unused > max(_MOST_PADDING, self.num_rows // 10):
                size = f"Warning: {size} Is it the tokenizer of these weights?"
            yield size
        else:
            yield f"Vocabulary: {self.vocab_size:,} pieces, one row each."
        if self.is_cased:
            yield "Cased: upper and lower case differ."
        else:
            yield "Uncased: text is lower-cased first."

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON: shapes as lists, the sentences under "sentences"."""
        values: dict[str, Any] = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name != "folder"
        }
        values["mis_shaped"] = {
            name: {"found": list(stored), "expected": list(expected)}
            for name, (stored, expected) in self.mis_shaped.items()
        }
        values["task"] = asdict(self.task)
        return {"folder": str(self.folder), **values, "sentences": self.sentences()}


_MOST_PADDING = 128
"""Tables are padded to a multiple of 64 or 128 rows."""


def list_up_to(items: Collection[str], limit: int = 10, *, separator: str = "; ") -> str:
    """Join the first `limit` items and count the rest."""
    more = f" and {len(items) - limit} more" if len(items) > limit else ""
    return separator.join(islice(items, limit)) + more


def named_shapes(tensors: Mapping[str, Shape]) -> str:
    """Name tensors with their shapes, the first six of them, and count the rest."""
    return list_up_to([f"{n} {list(s)}" for n, s in tensors.items()], 6, separator=", ")


def _some(names: Collection[str]) -> str:
    return list_up_to(names, 3, separator=", ")


def label_names(values: Mapping[str, Any], number: int | None = None) -> tuple[str, ...]:
    """Return the names of `id2label` in the order of their ids.

    Outputs with an equal or empty name are told apart by their ids: "pos (id 0)".

    Args:
        values: The content of config.json; anything in it may be wrong or strange.
        number: Outputs of the head; None takes as many as have names.

    Returns:
        () if the ids are not 0, 1, 2 ...; with `number` LABEL_0, LABEL_1 ... if these are not
        their ids, as in `transformers`.
    """
    named = values.get("id2label")
    by_id = {}
    if isinstance(named, Mapping):
        by_id = {str(place): _text(name) for place, name in named.items()}
    count = len(by_id) if number is None else number
    if by_id.keys() != {str(i) for i in range(count)}:
        return () if number is None else tuple(f"LABEL_{i}" for i in range(number))
    names = [by_id[str(i)] for i in range(count)]
    counts = Counter(names)
    return tuple(
        f"{name} (id {i})" if counts[name] > 1 or not name.strip() else name
        for i, name in enumerate(names)
    )


def odd_labels(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is odd about the names of a head's outputs, a sentence each."""
    named, ids = values.get("id2label"), values.get("label2id")
    names = {str(i): _text(name) for i, name in named.items()} if isinstance(named, dict) else {}
    counts = Counter(names.values())
    for name, count in counts.items():
        places = ", ".join(i for i, other in names.items() if other == name)[:60]
        if not name.strip():
            what = "Outputs" if count > 1 else "Output"
            yield f"{what} {places} of the head without a name (id2label): shown by id."
        elif count > 1:
            yield (
                f"{count} outputs of the head have the name {name[:40]!r} (ids {places}): they are "
                f"told apart by id, in a file too: '{name[:40]} (id {places.split(',')[0]})'."
            )
    if isinstance(ids, dict) and names:
        numbers = {_text(name): str(i) for name, i in ids.items()}
        wrong = [n for n, i in numbers.items() if i in names and names[i] != n and n in counts]
        if wrong:
            name = wrong[0]
            ours = next(i for i, other in names.items() if other == name)
            yield (
                f"Warning: label2id gives {name[:40]!r} the id {numbers[name]}, id2label the id "
                f"{ours}. Answers are named by id2label, as in transformers; if they are wrong, "
                "correct it in config.json."
            )
    elif isinstance(ids, dict) and ids and not isinstance(named, dict):
        listed = ", ".join(f"{_text(name)[:40]!r}" for name in list(ids)[:5])
        yield (
            f"config.json has label2id ({listed}) but no id2label, by which answers are named: "
            "they are called LABEL_0, LABEL_1 ..., as in transformers. Write the names into "
            "id2label."
        )


def _text(name: object) -> str:
    return "" if name is None else str(name)
