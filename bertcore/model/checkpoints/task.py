"""The task a checkpoint was fine-tuned for, from config.json and its tensor names.

The only place that decides whether a task head can be applied: load report, Inspect, `evaluate` and
`finetune` ask it. A head is applied only if its class, or else its tensors, leave one reading.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bertcore.model.architecture.families import (
    CLS,
    FAMILIES,
    MEAN,
    MEAN_HEAD,
    TASK_CLASSES,
    Family,
    HeadForm,
    MendedKeys,
    task_kind,
)
from bertcore.model.checkpoints.adapter import MergedWeights
from bertcore.model.checkpoints.origin import own_code
from bertcore.model.checkpoints.report import (
    Finding,
    Shape,
    TaskFacts,
    label_names,
    named_shapes,
    number_findings,
)
from bertcore.model.checkpoints.weights import OpenWeights
from bertcore.model.network.task_heads import FEATURE_HEAD

PART_OF = "part_of"
"""Key, beside the fields of an encoder, for the `model_type` of the larger model around it."""
_KINDS = {
    "ForSequenceClassification": "a class or a number for a text or pair",
    "ForTokenClassification": "a tag for each token",
    "ForQuestionAnswering": "start and end of an answer",
    "ForMultipleChoice": "one of several choices",
    "AlbertForPreTraining": "masked words and the order of two texts",
    "ElectraForPreTraining": "which tokens were replaced",
    "ForPreTraining": "masked words and next sentences",
    "ForMaskedLM": "masked words",
    "ForNextSentencePrediction": "next sentences",
    "XLNetLMHeadModel": "words in a drawn order",
    "LMHeadModel": "the next token",
    "ForCausalLM": "the next token",
    "ForConditionalGeneration": "the text that its decoder writes",
    "Model": "nothing by itself: it is an encoder without heads",
}
"""Endings of the classes of `transformers`, and what they predict; the first match is used."""
_HINTS = {
    "choice": r"MultipleChoice",
    "token": r"Token|Tagg|NER(?![a-z])|Ner(?![a-z])|SequenceLabel",
    "span": r"QuestionAnswer|QA",
    "sequence": r"Classif|MultiLabel|Multilabel|Sentiment|Regress",
}
"""Parts of the names of people's own classes -> the kind of task head; the first match is used."""
_OF_ADAPTERS = ("SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS")
"""peft's names for tasks with a head."""
_MULTI_LABEL = re.compile(r"multi_?label", re.IGNORECASE)
_TAG = re.compile(r"[BIESLU]-.+")
_BESIDE = re.compile(
    r"(^|\.)((position|token_type)_ids$|(loss|criterion|class_weight|pos_weight|fit_dense)\w*)|"
    r"^cls\.(predictions|seq_relationship)\.|\.(modules_to_save|original_module)\."
)
"""Tensors that take no part in an answer: buffers, losses, TinyBERT's map to its teacher's width,
heads of BERT's pretraining, peft's copies."""
_LAST_MATRICES = (
    "classifier.out_proj.weight",
    "classifier.weight",
    "qa_outputs.weight",
    "classification_head.out_proj.weight",
    "score.weight",
    "logits_proj.weight",
)
"""Names of the last matrix of a task head."""
_NO_POOLER = (
    "The head of its class reads the pooler, which the file does not have: it was saved without, "
    "or the head was trained on another vector. Open it with the program that trained it."
)
_NUM_OUTPUTS = {"span": 2, "choice": 1}
"""Kind of head -> the outputs that it always has."""


def read_task(values: Mapping[str, Any], weights: OpenWeights, family: Family) -> TaskFacts:
    """Return the task of a checkpoint of the BERT family, and whether its head can be applied.

    Anything in config.json may be wrong or strange.
    """
    keys = family.mend_keys(weights.stored, weights.encoder)
    shapes = {key: weights.stored[name].shape for key, name in keys.stored.items()}
    beside = {key: shapes[key] for key in outside(keys, family)}
    facts = _Facts(values, beside)
    if not beside:
        return facts.without_tensors(weights)
    if PART_OF in values:
        return facts.refused(f"They belong to the {values[PART_OF]} around the encoder.")
    width = _width(shapes, family)
    has_pooler = any(name.startswith(f"{family.prefix}pooler.") for name in shapes)
    tasks, by_mean = family.tasks, _is_over_mean(values, beside, facts, family)
    if by_mean:
        facts.pooling = MEAN
        tasks = {"sequence": tasks["sequence"].over_mean()} if "sequence" in tasks else {}
        facts.note = (
            'Its head reads the mean of all tokens (fine-tuned with pooling = "mean"), as no '
            f"class of {family.name} in transformers does: transformers opens the encoder alone."
        )
    forms = {
        kind: form
        for kind, form in tasks.items()
        if (has_pooler or form.reads != "pooler") and not _misses(kind, form, shapes, width)
    }
    kind = "sequence" if by_mean else facts.kind_by_name(family)
    if kind is None and not facts.is_known_class:
        kind = facts.kind_by_tensors(
            {kind: form for kind, form in forms.items() if not _unread(beside, form, family)},
            family,
        )
    if kind is None:
        for whole in () if facts.is_known_class else forms.values():
            if unread := _unread(beside, whole, family):
                return without_unread(facts.told(), unread)
        return facts.unclear(_what_to_write(facts.architecture, beside, family, width))
    form = tasks.get(kind)
    if form is None:
        return facts.refused(f"{family.name} has no head of that kind here.")
    unread = _unread(beside, form, family)
    if kind not in forms:
        return facts.unclear(_misses(kind, form, shapes, width) or _NO_POOLER)
    outputs = shapes[f"{form.classifier}.weight"][0]
    if kind == "sequence" and outputs == 1 and facts.problem == "single_label_classification":
        return facts.refused(
            "config.json has problem_type single_label_classification, but with one output the "
            "answer is always the same (transformers 5 refuses it). Write regression there, or "
            "multi_label_classification for a yes or no."
        )
    facts.kind = kind
    if unread or keys.others:
        return without_unread(facts.told(), unread, keys.others)
    return facts.told()


def _is_over_mean(
    values: Mapping[str, Any], beside: Mapping[str, Shape], facts: "_Facts", family: Family
) -> bool:
    """Return whether the head of a checkpoint reads the mean of all tokens.

    Our field of config.json does not decide it alone: `transformers` keeps the field where it saves
    a head of its own over such an encoder, and an adapter's base has it beside the adapter's head.
    """
    ours = values.get("bertscope")
    return (
        isinstance(ours, dict)
        and ours.get("pooling") == MEAN
        and any(name.startswith(MEAN_HEAD) for name in beside)
        and family.task_kind(facts.architecture or "") is None
    )


def outside(keys: MendedKeys, family: Family) -> list[str]:
    """Return the keys of tensors that are neither of the encoder nor of a pretraining head."""
    last = {f"{form.classifier}.weight" for form in family.tasks.values()} & keys.stored.keys()
    layers = {layer for form in family.tasks.values() for layer in (form.dense, form.norm)}
    heads = {name for names in family.heads.values() for name in names.values()}
    heads |= {family.decoder_weight, family.decoder_bias}
    if last:  # ModernBERT's classifiers begin like its masked-word head
        heads = {name for name in heads if name and name.rpartition(".")[0] not in layers}
    encoder = family.encoder_pattern()
    return [
        key
        for key in keys.stored
        if key not in heads
        and not encoder.fullmatch(key)
        and not _BESIDE.search(key)
        and not keys.is_of_other(key, family)
    ]


def _width(shapes: Mapping[str, Shape], family: Family) -> int:
    """Return D, by the first layer's output projection; 0 if it is not there."""
    name = family.prefix + family.layer_prefix.format(0) + family.layer["attention.output"]
    return next(iter(shapes.get(f"{name}.weight", ())), 0)


def _unread(beside: Mapping[str, Shape], form: HeadForm, family: Family) -> dict[str, Shape]:
    """Return the tensors beside the encoder that a head does not read, other whole heads apart."""
    read = {form.dense, form.norm, form.classifier}
    ours = (FEATURE_HEAD,) if form.reads == "mean" else (FEATURE_HEAD, MEAN_HEAD)
    others = {other.classifier for other in family.tasks.values()} - {"classifier"}
    if form.classifier in others:
        others.add("classifier")
    return {
        name: shape
        for name, shape in beside.items()
        if name.rpartition(".")[0] not in read | others and not name.startswith(ours)
    }


class _Facts:
    """What config.json says of a task, and the names of the tensors beside the encoder."""

    def __init__(self, values: Mapping[str, Any], beside: Mapping[str, Shape]) -> None:
        architectures = values.get("architectures")
        named = architectures[0] if isinstance(architectures, list) and architectures else None
        self.architecture = named if isinstance(named, str) else None
        self.labels = label_names(values)
        problem = values.get("problem_type")
        self.problem = problem if isinstance(problem, str) else ""
        self.beside, self.code = beside, own_code(values)
        self.kind: str | None = None
        """Kind of the head that is applied; None until one is found."""
        self.note: str | None = None
        self.pooling = CLS

    @property
    def is_known_class(self) -> bool:
        """Whether config.json names a class of `transformers`, or what could be one."""
        return self.architecture is not None and self.architecture.endswith(tuple(_KINDS))

    def kind_by_name(self, family: Family) -> str | None:
        """Return the kind of head of the class that config.json names, exactly or by its words."""
        named = self.architecture or ""
        exact = family.task_kind(named)
        if exact is not None or self.is_known_class:
            return exact
        words = (kind for kind, words in _HINTS.items() if re.search(words, named))
        kind = next(words, None)
        if kind is not None:
            self.note = f"{named} is a class of its authors' own; it was read as a "
            self.note += f"{family.task_class(kind)}." if kind in family.kinds else "head."
        if kind == "sequence" and not self.problem and _MULTI_LABEL.search(named):
            self.problem = "multi_label_classification"
            self.note = f"{self.note} By its name, several labels can hold at once (multi-label)."
        return kind

    def kind_by_tensors(self, forms: Mapping[str, HeadForm], family: Family) -> str | None:
        """Return the only kind of head that tensors and label names fit, or None."""
        has_tags = "O" in self.labels and any(map(_TAG.fullmatch, self.labels))
        kinds = [kind for kind in ("span", "token", "sequence") if kind in forms]
        if "sequence" in kinds and forms["sequence"].reads == "pooler" and not has_tags:
            kinds = ["sequence"]  # a tagger would not have kept its pooler
        elif has_tags and "token" in kinds:
            kinds = ["token"]
        if len(kinds) != 1:
            return None
        named = f"names the class {self.architecture}" if self.architecture else "names no class"
        self.note = (
            f"config.json {named}; its tensors were read as those of a "
            f"{family.task_class(kinds[0])} with {_num_outputs(self.beside)} outputs. If it is "
            "another head, write its class into config.json (architectures)."
        )
        return kinds[0]

    def without_tensors(self, weights: OpenWeights) -> TaskFacts:
        """Return the facts of a file without a head; of an adapter's, why it has none."""
        kind = weights.task_type if isinstance(weights, MergedWeights) else None
        if kind not in _OF_ADAPTERS:
            return self.told()
        return self.refused(
            f"The adapter was trained with a head ({kind}) that neither it nor its base has: peft "
            "did not save it (modules_to_save), and a new one would answer at random. Copy it from "
            "the training, or fine-tune the adapter's checkpoint here."
        )

    def unclear(self, reason: str) -> TaskFacts:
        """Refuse a head for a reason, or for the code of its own that config.json names."""
        if self.code is not None:
            reason = (
                f"config.json names its own code ({self.code}), which is never run, so what they "
                "compute is not known here. Open them with that code, or fine-tune the encoder "
                "here."
            )
        return self.refused(reason)

    def refused(self, reason: str) -> TaskFacts:
        """Return the facts without a head, and why, naming the tensors."""
        beside = f"Beside the encoder are {named_shapes(self.beside)}. " if self.beside else ""
        return replace(self.told(), refusal=beside + reason)

    def told(self) -> TaskFacts:
        """Return the facts."""
        beside = self.beside
        if self.pooling != MEAN:  # an adapter's base keeps its head beside the adapter's
            beside = {name: beside[name] for name in beside if not name.startswith(MEAN_HEAD)}
        return TaskFacts(
            architecture=self.architecture,
            task=_meaning(self.architecture, self.kind),
            label_names=self.labels,
            num_outputs=_num_outputs(beside),
            kind=self.kind,
            problem_type=self.problem,
            note=self.note if self.kind else None,
            refusal=None,
            pooling=self.pooling,
        )


def facts_of(
    values: Mapping[str, Any], weights: OpenWeights, beside: Mapping[str, Shape], family: Family
) -> TaskFacts:
    """Return the task of a checkpoint of another architecture, by its class alone.

    `beside` are the tensors outside the encoder that are of no pretraining head.
    """
    facts = _Facts(values, beside)
    kind = facts.kind_by_name(family)
    if task_kind(facts.architecture or "") is not None and kind not in family.kinds:
        known = [family.task_class(kind) for kind in family.kinds]
        ours = f"BertScope reads those of {', '.join(member.name for member in FAMILIES.values())}"
        of_family = f"Of {family.name} are read: {', '.join(known)}"
        return facts.refused(
            f"It is of the class {facts.architecture}, whose head is not read here. "
            f"{of_family if known else ours}."
        )
    if not beside:
        return facts.without_tensors(weights)
    if kind in family.kinds:
        facts.kind = kind
        return facts.told()
    return facts.unclear(_what_to_write(facts.architecture, beside, family))


def without_unread(
    facts: TaskFacts, unread: Mapping[str, Shape], others: Sequence[str] = ()
) -> TaskFacts:
    """Return the facts, without a head if its class does not read all of the file.

    `unread` are the tensors that it does not, `others` the prefixes of further encoders.
    """
    unread = {name: shape for name, shape in unread.items() if not _BESIDE.search(name)}
    if not unread and not others:
        return facts
    what = named_shapes(unread) if unread else f"a further encoder, {others[0]!r}"
    return replace(
        facts,
        kind=None,
        note=None,
        refusal=f"Beside the layers of its class, the file has {what}. The head may have been "
        "trained on what they compute, so it is not applied to the encoder alone. If they take no "
        "part in its answers, save the checkpoint without them.",
    )


def _what_to_write(
    named: str | None, beside: Mapping[str, Shape], family: Family, width: int | None = None
) -> str:
    """Return why no kind of head is known, and what to write or rename; `width` is D, if known."""
    classes = [family.task_class(kind) for kind in ("sequence", "token") if kind in family.kinds]
    known = f', such as "architectures": ["{classes[0]}"]' if classes else ""
    linear = [
        name.removesuffix(".weight")
        for name, shape in beside.items()
        if name.endswith(".weight") and len(shape) == 2 and width in (None, shape[1])
    ]
    last = next((form.classifier for form in family.tasks.values()), "classifier")
    rows = {name: re.sub(r"(^|\.)\d+$", "", name) for name in linear}
    chain = next((row for row in rows.values() if [*rows.values()].count(row) > 1), None)
    if chain is not None:
        return (
            f"Its layers {chain or 'without a name'} in a row are of no class of transformers. "
            "Open it with the program that trained it, or fine-tune the encoder here."
        )
    if linear and last not in linear and classes:
        alone = "" if len(linear) == 1 else ", save it without the others"
        return (
            f"No class of transformers has a layer {linear[0]}. If it reads what the classifier "
            f"of a {' or a '.join(classes)} reads, rename it to {last}{alone}, and write that "
            f"class into config.json{known}."
        )
    if not linear and classes:
        return f"None of them is a layer of a {' or a '.join(classes)}."
    return (
        "config.json does not state the task of the head "
        f"(architectures: {named or 'none'}). Write the class into it{known}."
    )


def _misses(kind: str, form: HeadForm, shapes: Mapping[str, Shape], width: int) -> str | None:
    """Return why the head of a class is not whole; None if it is, its pooler apart."""
    last = f"{form.classifier}.weight"
    layers = [f"{name}.weight" for name in (form.dense, form.norm) if name]
    lost = [n for n in (*layers, last, f"{form.classifier}.bias") if n not in shapes]
    if lost:
        return (
            f"Its class also has {', '.join(lost)}. If the file has them under other names, rename "
            "them; if it has other layers, open it with the program that trained it."
        )
    if shapes[last][1:] != (width,):
        return f"{last} does not read one vector of width {width}, as in its class."
    rows = _NUM_OUTPUTS.get(kind, shapes[last][0])
    if (shapes[last][0], shapes[f"{form.classifier}.bias"]) != (rows, (rows,)):
        return (
            f"{last} is {list(shapes[last])} and its bias "
            f"{list(shapes[f'{form.classifier}.bias'])}; its class has {rows} outputs."
        )
    return None


def head_numbers(
    weights: OpenWeights, task_heads: Mapping[str, Shape]
) -> tuple[list[Finding], tuple[str, ...]]:
    """Return what stands out in the numbers of task heads, and the tensors with NaN or infinity.

    One step of training moves a bias from 0, at which `transformers` starts those of new heads.
    """
    fresh: list[str] = []
    zero: list[str] = []
    broken: list[str] = []
    for name, shape in task_heads.items():
        if not weights.stored[name].is_float:
            continue
        tensor = weights.read(name)
        if not bool(tensor.isfinite().all()):
            broken.append(name)
        elif not bool(tensor.any()) and shape != (0,):
            if len(shape) > 1:
                zero.append(name)
            elif name.endswith(".bias"):
                fresh.append(name)
    return number_findings(broken=broken, zero=zero, fresh=fresh), tuple(broken)


def why_no_answer(facts: TaskFacts, broken: Sequence[str]) -> str | None:
    """Return why a task head that fits its class has no answer here; None if it has one.

    `broken` are its tensors that contain NaN or infinity.
    """
    if broken:
        return (
            f"the task head contains NaN or infinity ({broken[0]}), so it has no answer. Copy the "
            "checkpoint again, or train it with a lower learning rate."
        )
    number = facts.num_outputs or 0
    if facts.kind == "sequence" and facts.problem_type == "regression" and number > 1:
        return (
            f"the task head predicts {number} numbers, but only one can be used. Use a checkpoint "
            "that predicts one, or fine-tune this one with --new-head."
        )
    return None


def _meaning(architecture: str | None, kind: str | None) -> str | None:
    if kind is not None:
        return _KINDS[TASK_CLASSES[kind]]
    named = architecture or ""
    return next((meaning for ending, meaning in _KINDS.items() if named.endswith(ending)), None)


def _num_outputs(task_heads: Mapping[str, Shape]) -> int | None:
    """Return the number of outputs of a task head, or None without one."""
    for ending in _LAST_MATRICES:
        for name, shape in task_heads.items():
            if name.endswith(ending) and len(shape) == 2:
                return shape[0]
    return None
