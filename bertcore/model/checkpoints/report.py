"""The load report: what a checkpoint contains, what was used and what was missing."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from bertcore.model.architecture.families import CLS

Shape = tuple[int, ...]

HEAD_NAMES = {
    "pooler": "pooler",
    "mlm": "masked-word (MLM) head",
    "nsp": "next-sentence (NSP) head",
    "replaced": "replaced-token head",
    "sop": "sentence-order (SOP) head",
    "next": "next-token head",
}
Kind = Literal[
    "size",
    "precision",
    "adapter",
    "family",
    "numbers",
    "heads",
    "absent",
    "task",
    "vectors",
    "names",
    "vocabulary",
    "files",
]
"""Of what a finding is, in the order of the report: size of the file, a number format other than
requested, a merged adapter, the architecture, numbers of the weights, heads of pretraining, those
that are absent, the task head, how a text becomes a vector, names of tensors, the vocabulary, files
that do not fit together."""
_STAND_OUT = ("absent", "names", "files")
"""Kinds of which every finding is a remark."""
_WARNING = "Warning: "


class Finding(NamedTuple):
    """One thing that was seen when a checkpoint was opened."""

    kind: Kind
    sentence: str
    """One sentence or several; a warning begins with "Warning: "."""
    severity: Literal["fact", "remark", "warning"]
    """A remark stands out, a warning may make answers wrong."""


def in_order(seen: Iterable[Finding]) -> list[Finding]:
    """Return findings in the order of Kind."""
    return sorted(seen, key=lambda each: get_args(Kind).index(each.kind))


def findings(kind: Kind, sentences: Iterable[str]) -> list[Finding]:
    """Return findings of a kind; a sentence that begins with "Warning: " is a warning."""
    usual: Literal["fact", "remark"] = "remark" if kind in _STAND_OUT else "fact"
    return [
        Finding(kind, line, "warning" if line.startswith(_WARNING) else usual)
        for line in dict.fromkeys(sentences)
    ]


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

    def sentences(self, task_heads: Mapping[str, Shape], no_answer: str | None) -> Iterator[str]:
        """Yield the facts, with warnings if files disagree.

        `no_answer` is why a head that fits its class has no answer here; None if it has one.
        """
        tensors = _some(task_heads)
        if self.refusal is not None:
            yield (
                "Warning: no task head is read, neither on the page Inspect my model nor by "
                f"bertscope evaluate. {self.refusal}"
            )
        elif no_answer is not None:
            yield (
                "Warning: neither the page Inspect my model nor bertscope evaluate can use "
                f"the task head ({tensors}): {no_answer}"
            )
        elif task_heads:
            yield f"Task head: {tensors}. The page Inspect my model and bertscope evaluate use it."
        if self.note is not None:
            yield self.note
        if self.architecture is not None:
            meaning = f", which predicts {self.task}" if self.task else ""
            yield f"config.json names the class {self.architecture}{meaning}."
        elif self.task is not None:
            yield f"By its tensors it predicts {self.task}."
        number = len(self.label_names)
        if self.refusal is not None or self.num_outputs is None:
            return
        if not number:
            yield (
                f"The head has {self.num_outputs} outputs; config.json has no names for them by "
                "ids from 0 (id2label)."
            )
            return
        yield f"Labels: {list_up_to(self.label_names, 10 if number <= 10 else 8, separator=', ')}."


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
    decoder: str
    """"tied" (not stored, or a copy of the token table), "untied" (another matrix) or "absent"."""
    heads: tuple[str, ...]
    """Which of pooler, mlm, next, nsp, replaced, sop were loaded."""
    task_heads: dict[str, Shape]
    """Tensors of fine-tuned heads such as classifier.weight."""
    broken_heads: tuple[str, ...] = ()
    """Tensors of task heads that contain NaN or infinity."""
    findings: list[Finding]
    """What was seen, in the order of Kind in a complete report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport(TensorReport):
    """The result of loading a checkpoint."""

    source: str
    """The name that the user gave."""
    folder: Path
    """The folder of the files."""
    format: str
    """"safetensors", "safetensors in 3 files" or "pytorch_model.bin"."""
    family: str
    """"BERT", "RoBERTa", ..."""
    task: TaskFacts
    """The task that it was trained for."""
    not_finite: tuple[str, ...]
    """Loaded tensors that contain NaN or infinity."""
    num_parameters: int
    """Parameters of the loaded network, each weight counted once."""
    fingerprint: str
    """sha256 over names, shapes and stored bytes of the loaded weights; same weights, same value,
    regardless of file names."""

    def sentences(self, *kinds: Kind) -> list[str]:
        """Return the report, or some kinds of findings, the most important first."""
        lines = [each.sentence for each in self.findings if not kinds or each.kind in kinds]
        return lines if kinds else [*lines, f"Fingerprint: {self.fingerprint}."]

    def check_finite(self) -> None:
        """Refuse weights with which nothing can be trained; ValueError if some are not finite."""
        if self.not_finite:
            raise ValueError(
                f"the checkpoint {self.source!r} has NaN or infinity in its weights "
                f"({_some(self.not_finite)}), so nothing can be trained with it. Open an "
                "earlier step of the run that saved it, or another checkpoint."
            )

    def file_remarks(self) -> list[str]:
        """Return what stands out: missing, renamed, split, tied, broken or odd parts."""
        return [each.sentence for each in self.findings if each.severity != "fact"]

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON: shapes as lists, the sentences under "sentences"."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return values | {
            "folder": str(self.folder),
            "mis_shaped": {
                name: {"found": list(stored), "expected": list(expected)}
                for name, (stored, expected) in self.mis_shaped.items()
            },
            "task": asdict(self.task),
            "findings": [each._asdict() for each in self.findings],
            "sentences": self.sentences(),
        }


def head_findings(
    heads: Collection[str],
    of_family: Iterable[str],
    lacks: Iterable[str],
    incomplete: Iterable[str] = (),
    mis_shaped: Mapping[str, tuple[Shape, Shape]] = MappingProxyType({}),
) -> list[Finding]:
    """Return which pretraining heads are present, and why others of the family are absent.

    `lacks` says in sentences what the family never has; `incomplete` are those that are incomplete,
    or of another shape (`mis_shaped`), in the file.
    """
    present = [name for head, name in HEAD_NAMES.items() if head in heads]
    lacking = [head for head in of_family if head not in heads]
    absent = [name for head, name in HEAD_NAMES.items() if head in lacking]
    lines = [f"Present: {', '.join(present)}."] if present else []
    why_absent = [f"Absent: {', '.join(absent)}. Views that need them are off."] if absent else []
    reasons = [*lacks]
    reasons += [
        f"The {HEAD_NAMES[head]} is incomplete or of another shape in the file, so it was left out."
        for head in incomplete
    ]
    reasons += [
        f"{name} is {list(came)}; config.json asks for {list(expected)}."
        for name, (came, expected) in mis_shaped.items()
    ]
    return [*findings("heads", lines), *findings("absent", why_absent), *findings("heads", reasons)]


def number_findings(
    *,
    not_finite: Collection[str] = (),
    broken: Collection[str] = (),
    zero: Collection[str] = (),
    fresh: Collection[str] = (),
) -> list[Finding]:
    """Return which weights are no numbers, and which task heads were never trained.

    `not_finite` are loaded tensors with NaN or infinity, `broken` those of task heads; `zero`
    matrices of these that are 0 throughout, and `fresh` biases that are 0, as before the first step
    of training.
    """
    lines = {
        "NaN or infinite numbers, so that results will be NaN": not_finite,
        "NaN or infinite numbers in the task head": broken,
        "nothing but 0 in the task head, which gives every text the same answer": zero,
        "exactly 0, as in a head that was added and never trained": fresh,
    }
    return findings(
        "numbers", [f"Warning: {what}: {_some(names)}." for what, names in lines.items() if names]
    )


def name_sentences(
    family: str,
    unexpected: Mapping[str, Shape],
    *,
    prefix: str | None,
    num_renamed: int,
    tied_head: str,
    others: Sequence[str] = (),
) -> Iterator[str]:
    """Yield what was tied, not used or renamed.

    `prefix` is that of the encoder's names instead of the family's, None if it was right, and
    `others` those of further encoders in the file, which are not read; `num_renamed` tensors were
    called gamma or beta; `tied_head` is the head whose decoder is the token table, "" for none.
    """
    if tied_head:
        yield f"The decoder of the {tied_head} is the token table itself (tied)."
    if unexpected:
        yield f"Not part of {family}, not used: {named_shapes(unexpected)}."
    if prefix is not None:
        came = repr(prefix) if prefix else "nothing"
        yield f"Names were corrected: they had {came} instead of the family's prefix."
    if others:
        taken = "the family's" if prefix is None else repr(prefix)
        yield (
            f"Warning: the file has {len(others) + 1} encoders; the one with the prefix {taken} "
            f"was opened, and not {', '.join(map(repr, others))}."
        )
        encoder = next((name for name in others if "decoder" not in name), None)
        if encoder is not None:
            yield (
                "To open another encoder of the file, write its prefix into config.json: "
                f'"bertscope": {{"encoder": "{encoder}"}}.'
            )
    if num_renamed:
        yield f"{num_renamed} tensors called gamma or beta were renamed."


def vocabulary_sentences(
    vocab_size: int, num_rows: int, num_unused: int, *, is_cased: bool
) -> Iterator[str]:
    """Yield the tokenizer's size against the token table's, and its case.

    `num_unused` rows have no token: padding, spare rows, or those of another tokenizer.
    """
    surplus = vocab_size - num_rows
    if surplus > 0:
        which = "piece has" if surplus == 1 else f"{surplus:,} pieces have"
        yield (
            f"Warning: the vocabulary has {vocab_size:,} pieces but the token table {num_rows:,} "
            f"rows. The last {which} no row: a text that needs one is rejected."
        )
    elif num_unused:
        size = (
            f"The token table has {num_rows:,} rows and the vocabulary {vocab_size:,} pieces: no "
            f"token uses {num_unused:,} of the rows, and rows without a name are not predicted."
        )
        # Tables are padded to a multiple of 64 or 128 rows.
        if num_unused > max(128, num_rows // 10):
            size = f"Warning: {size} Is it the tokenizer of these weights?"
        yield size
    else:
        yield f"Vocabulary: {vocab_size:,} pieces, one row each."
    case = "Cased: upper and lower case differ."
    yield case if is_cased else "Uncased: text is lower-cased first."


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
    """Return the names of `id2label` in the order of their ids, or those of `number` outputs.

    Outputs with an equal or empty name are told apart by their ids: "pos (id 0)". Anything in
    config.json may be wrong or strange: () if the ids are not 0, 1, 2 ...; with `number` LABEL_0,
    LABEL_1 ... if these are not their ids, as in `transformers`.
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


def odd_labels(values: Mapping[str, Any], number: int) -> Iterator[str]:
    """Yield what is odd about the names of a head's outputs (of `number`), a sentence each."""
    if number and (has := len(label_names(values))) not in (0, number):
        yield (
            f"Warning: config.json names {has} labels but the head has {number} outputs: they are "
            "called LABEL_0, LABEL_1 ... Write a name for each of them into id2label."
        )
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
