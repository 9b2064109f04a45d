"""Complete audits: each measure with its intervals, notes and known criticism, as tables.

These are what the command line prints and the report contains. Texts in the tables are untrusted
and must be escaped when shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bertcore.analysis.words.candidates import parse_candidates
from bertcore.bias.along_direction import along_direction
from bertcore.bias.crows_pairs import (
    MEASURES,
    read_crows_pairs,
    score_crows_pairs,
    stereotype_shares,
)
from bertcore.bias.debiased import debias_table
from bertcore.bias.erased import METHODS, erase, fit_erasure, measure_erasure
from bertcore.bias.own_sets import (
    DirectionWords,
    NamedAssociation,
    association_tests,
    direction_words,
    known_pairs,
    known_part,
    read_association,
    template_audits,
)
from bertcore.bias.pronouns import pronoun_shares, read_winobias, score_pronouns
from bertcore.bias.shares import Share
from bertcore.bias.slots import known_words
from bertcore.bias.stereoset import read_stereoset, score_stereoset, stereoset_scores
from bertcore.bias.templates import Group, lean, score_templates
from bertcore.bias.word_association import (
    association,
    chance_effects,
    table_vectors,
    text_vectors,
)
from bertcore.data.files import BadRows
from bertcore.grammar import TokenCounts
from bertcore.model import Model

OnStage = Callable[[str, float | None], None]
"""Called with the current stage and the fraction done, None if not known."""
TypedAudit = tuple[str, tuple[str, ...], tuple[Group, ...], tuple[str, ...]]
"""Name, templates, groups and fillers."""
CANNOT_TELL = (
    "No score here predicts harm in use: such measures hardly correlate with those of an "
    "application (Goldfarb-Tarrant et al. 2021). Audit the fine-tuned model on its own data."
)


@dataclass(slots=True)
class AuditTable:
    """A table of written cells."""

    columns: tuple[str, ...]
    right: tuple[str, ...] = ()
    """The columns with numbers."""
    title: str = ""
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add_row(self, *cells: str) -> None:
        """Add a row, with a cell for each column."""
        self.rows.append(cells)


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of one measure: tables for people, data for programs."""

    tables: list[AuditTable]
    data: dict[str, Any]
    notes: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditOptions:
    """The settings of the measures, from the options of `bertscope bias`."""

    template: list[str] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    filler: str | None = None
    layer: int | None = None
    method: str = "leace"
    pooling: str = "mean"
    skip_bad_rows: bool = False
    save: Path | None = None


def _table(*columns: str, right: tuple[str, ...] = ()) -> AuditTable:
    return AuditTable(columns, right)


def _counts(bert: Model) -> TokenCounts | None:
    folder = bert.report.folder if bert.report else None
    return None if folder is None else TokenCounts.open(Path(folder), bert.tokenizer)


def _file(file: Path | None, measure: str, what: str) -> Path:
    if file is None:
        raise ValueError(f"{measure} needs a file: {what}. It is not shipped with BertScope.")
    return file


def _interval(low: float, high: float, form: str = "{:.1%}") -> str:
    if math.isnan(low):
        return "one only"
    return f"{form.format(low)} to {form.format(high)}"


def _templates(bert: Model, file: Path | None, options: AuditOptions, on_stage: OnStage) -> Audit:
    if file is not None:
        raise ValueError(
            "templates takes no file; give them with --template, --group and --filler."
        )
    tables, data, notes = [], [], []
    audits = _audits(bert, options)
    summary = _table(
        "audit",
        "leans to",
        "mean",
        "over fillers",
        "over wordings",
        "over words",
        right=("mean",),
    )
    summary.title = "Score of the first group's words minus the second's, nats (0: no preference)"
    for number, (name, templates, groups, fillers) in enumerate(audits):
        on_stage("scoring templates", number / len(audits))
        scores = score_templates(bert, templates, groups, fillers)
        found = lean(scores)
        ends = (found.over_fillers, found.over_templates, found.over_words)
        summary.add_row(
            name,
            groups[0 if found.mean > 0 else 1].name,
            f"{found.mean:+.2f}",
            *(_interval(*each, form="{:+.2f}") for each in ends),
        )
        differences = scores.differences()
        order = differences.mean(0).argsort()[::-1]
        table = _table("filler", "mean", *scores.templates, right=("mean", *scores.templates))
        table.title = name
        for f in order:
            cells = [fillers[f], f"{differences[:, f].mean():+.2f}"]
            table.add_row(*[*cells, *(f"{value:+.2f}" for value in differences[:, f])])
        tables.append(table)
        data.append(
            {
                "name": name,
                "templates": list(templates),
                "groups": {group.name: list(group.words) for group in groups},
                "fillers": list(fillers),
                **asdict(found),
                "scores": scores.scores.tolist(),
            }
        )
        notes += [f"{name}: {note}" for note in scores.notes]
        if found.turns:
            notes.append(f"{name}: the sign of the result depends on the wording of the template.")
    return Audit([summary, *tables], {"audits": data}, notes)


def _audits(bert: Model, options: AuditOptions) -> list[TypedAudit]:
    """Return what was typed, or those of our own sets that the vocabulary can write.

    Raises:
        ValueError: If it can write none of them, or what was typed is incomplete.
    """
    typed = bool(options.template), bool(options.group), options.filler is not None
    if not any(typed):
        own: list[TypedAudit] = []
        for audit in template_audits():
            groups = [Group(each.name, known_words(bert, each.words)) for each in audit.groups]
            fillers = known_words(bert, audit.fillers)
            if fillers and all(each.words for each in groups):
                own.append((audit.name, audit.templates, tuple(groups), fillers))
        if not own:
            raise ValueError(
                "this checkpoint's vocabulary cannot write the English words of any audit. Give "
                "your own with --template, --group and --filler."
            )
        return own
    if not all(typed):
        raise ValueError(
            "your own templates need --template, --group (twice) and --filler together."
        )
    asked = []
    for given in options.group:
        name, equals, words = given.partition("=")
        if not equals or not name.strip():
            raise ValueError(
                f"--group is {given!r}; expected a name and words, such as women=she,mary."
            )
        asked.append(Group(name.strip(), parse_candidates(words)))
    filler = parse_candidates(options.filler or "")
    return [("typed", tuple(options.template), tuple(asked), filler)]


def _share_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> AuditTable:
    table = _table(*columns, right=tuple(columns[1:]))
    table.title = title
    for row in rows:
        table.add_row(*row)
    return table


def _crows_pairs(bert: Model, file: Path | None, options: AuditOptions, on_stage: OnStage) -> Audit:
    path = _file(file, "crows-pairs", "crows_pairs_anonymized.csv of nyu-mll/crows-pairs")
    bad_rows = BadRows(skip=options.skip_bad_rows)
    pairs = read_crows_pairs(path, bad_rows=bad_rows)
    counts = _counts(bert)
    scores = score_crows_pairs(
        bert,
        pairs,
        counts=counts,
        progress=lambda done: on_stage(f"scoring {len(pairs):,} pairs", done),
    )
    found: dict[str, list[Share]] = {
        measure: stereotype_shares(scores, measure)
        for measure in MEASURES
        if measure != "frequency" or counts is not None
    }
    by_name = {measure: {share.group: share for share in each} for measure, each in found.items()}
    names = list(dict.fromkeys(share.group for each in found.values() for share in each))

    def row(name: str) -> list[str]:
        cells = [name, str(max(by[name].num_items for by in by_name.values() if name in by))]
        for by in by_name.values():
            share = by.get(name)
            cells += (
                ["", ""]
                if share is None
                else [f"{share.mean:.1%}", _interval(share.low, share.high)]
            )
        return cells

    columns = ["kind", "pairs"]
    for measure in found:
        columns += [measure, f"{measure}, 95%"]
    table = _share_table(
        "CrowS-Pairs: the stereotyping sentence scores higher (50%: no preference)",
        columns,
        map(row, names),
    )
    notes = [
        "Blodgett et al. 2021 find many of the pairs unclear or invalid; look at them.",
        "pll favours sentences whose differing word is frequent; aul and aula hide no word.",
    ]
    if counts is None:
        notes.append("No word-frequency baseline: the checkpoint has no token_counts.txt.")
    without = sum(math.isnan(score.more["pll"]) for score in scores)
    if without:
        notes.append(f"{without} pairs share no token, so they have no pll.")
    data = {measure: [asdict(share) for share in each] for measure, each in found.items()}
    items = [
        {**asdict(score.pair), "more_scores": score.more, "less_scores": score.less}
        for score in scores
    ]
    return Audit([table], {"shares": data, "items": items}, _with(notes, bad_rows.sentence()))


def _with(notes: list[str], note: str | None) -> list[str]:
    return notes if not note else [*notes, note]


def _stereoset(bert: Model, file: Path | None, options: AuditOptions, on_stage: OnStage) -> Audit:
    path = _file(file, "stereoset", "dev.json of moinnadeem/StereoSet")
    bad_rows = BadRows(skip=options.skip_bad_rows)
    items = read_stereoset(path, bad_rows=bad_rows)
    scores = score_stereoset(
        bert, items, progress=lambda done: on_stage(f"scoring {len(items):,} gaps", done)
    )
    found = stereoset_scores(scores)
    columns = ["kind", "items", "LMS", "95%", "SS", "95% ", "ICAT", "95%  "]
    rows = [
        [
            score.group,
            str(score.num_items),
            *(
                cell
                for mean, low, high in (score.language_model, score.stereotype, score.icat)
                for cell in (f"{mean:.1f}", _interval(low, high, "{:.1f}"))
            ),
        ]
        for score in found
    ]
    table = _share_table(
        "StereoSet, within a sentence: LMS 100, SS 50, ICAT 100 are ideal; a random model has 50",
        columns,
        rows,
    )
    notes = [
        "ICAT trades language modelling against stereotypes: a worse model can score better.",
        "Blodgett et al. 2021 find many of the items unclear or invalid; look at them.",
    ]
    left = len(items) - found[0].num_items
    if left:
        notes.append(f"{left} items have a word that the vocabulary cannot write; left out.")
    data = {
        "scores": [asdict(score) for score in found],
        "items": [{**asdict(score.item), "log_p": score.log_p} for score in scores],
    }
    return Audit([table], data, _with(notes, bad_rows.sentence()))


def _winobias(bert: Model, file: Path | None, options: AuditOptions, on_stage: OnStage) -> Audit:
    path = _file(file, "winobias", "pro_stereotyped_type1.txt.dev of WinoBias, its twin beside it")
    bad_rows = BadRows(skip=options.skip_bad_rows)
    items = read_winobias(path, bad_rows=bad_rows)
    on_stage(f"scoring {len(items):,} pronouns", None)
    scores = score_pronouns(bert, items)
    found = pronoun_shares(scores)
    everything, occupations = found[0], sorted(found[1:], key=lambda share: -share.mean)
    rows = [
        [
            share.group,
            str(share.num_items),
            f"{share.mean:.1%}",
            _interval(share.low, share.high),
            f"{2 * share.mean - 1:+.1%}",
        ]
        for share in (everything, *occupations)
    ]
    table = _share_table(
        "WinoBias: the pronoun of the stereotype is the more probable one (50%: no preference)",
        ["occupation", "sentences", "share", "95%", "pro minus anti"],
        rows,
    )
    notes = [
        "The task was made for coreference systems; here a masked pronoun stands in for one.",
        "A model that always prefers one gender has a share near 50%, too: see the occupations.",
    ]
    data = {
        "shares": [asdict(share) for share in found],
        "items": [
            {**asdict(score.item), "log_p": [score.stereotype, score.other]} for score in scores
        ],
    }
    return Audit([table], data, _with(notes, bad_rows.sentence()))


def _weat(bert: Model, file: Path | None, options: AuditOptions, on_stage: OnStage) -> Audit:
    tests = association_tests() if file is None else (read_association(file),)
    if file is None:
        known = [NamedAssociation(each.name, known_part(bert, each.test)) for each in tests]
        sizes = [min(map(len, (*each.test.targets, *each.test.attributes))) for each in known]
        tests = tuple(each for each, size in zip(known, sizes, strict=True) if size > 1)
        if not tests:
            raise ValueError(
                "this checkpoint's vocabulary cannot write the English words of any test. Give a "
                "file with your own."
            )
    counts = _counts(bert)
    rows, data, notes = [], [], []
    for number, each in enumerate(tests):
        on_stage("association tests", number / len(tests))
        sets = [*each.test.targets, *each.test.attributes]
        has_sentences = any(" " in text.strip() for set_ in sets for text in set_)
        layer = -1 if options.layer is None and has_sentences else options.layer
        if layer is None:
            vectors = [table_vectors(bert, words) for words in sets]
        else:
            vectors = [
                text_vectors(bert, words, layer=layer, pooling=options.pooling) for words in sets
            ]
        found = association(*vectors)
        chance = None
        if counts is not None and layer is None:
            effects = chance_effects(bert, each.test, counts)
            chance = float((abs(effects) >= abs(found.effect_size)).mean())
        x, y, a, b = each.test.names
        rows.append(
            [
                each.name,
                f"{x} / {y}",
                f"{a} / {b}",
                f"{found.effect_size:+.2f}",
                f"{found.p_value:.4f}",
                "" if chance is None else f"{chance:.0%}",
            ]
        )
        data.append(
            {
                "name": each.name,
                "sets": each.test.names,
                "layer": layer,
                **asdict(found),
                "chance": chance,
            }
        )
    where = "the token table" if options.layer is None else f"hidden state {options.layer}"
    table = _table(
        "test",
        "targets",
        "attributes",
        "effect size d",
        "p",
        "chance sets",
        right=("effect size d", "p", "chance sets"),
    )
    table.title = f"Association tests on {where}: d above 0 links the two first sets (-2 to 2)"
    for row in rows:
        table.add_row(*row)
    notes.append(
        "p: the share of ways to split the target words into two sets that reach this difference."
    )
    if any(each["chance"] is not None for each in data):
        notes.append(
            "chance sets: how often random words of the same frequency have as large an effect."
        )
    return Audit([table], {"tests": data}, notes)


def _direction(bert: Model, file: Path | None, options: AuditOptions, on_stage: OnStage) -> Audit:
    if file is not None:
        raise ValueError("direction takes no file; it uses our own pairs of words.")
    on_stage("finding the direction", None)
    along = along_direction(bert, layer=options.layer, pooling=options.pooling)
    leaning = dict(zip(along.words, along.cosines.tolist(), strict=True))
    parts = _table("component", "variance explained", right=("variance explained",))
    parts.title = "Differences within the pairs (she - he ...)"
    for number, share in enumerate(along.explained[:5], start=1):
        parts.add_row(str(number), f"{share:.1%}")
    table = _table("word", "cosine", right=("cosine",))
    table.title = "Occupations along the direction (above 0: on the side of she)"
    for name, value in sorted(leaning.items(), key=lambda each: -each[1]):
        table.add_row(name, f"{value:+.3f}")
    probing = _table(
        "vectors of other gendered words",
        "a probe's accuracy",
        "chance",
        right=("a probe's accuracy", "chance"),
    )
    probing.title = "What a linear probe can still recover"
    for name, found in along.probes.items():
        probing.add_row(name, f"{found.accuracy:.1%} ± {found.spread:.1%}", f"{found.chance:.0%}")
    notes = ["What a probe recovers was hidden, not removed (Gonen and Goldberg 2019)."]
    data = {
        "explained": along.explained.tolist(),
        "cosines": leaning,
        "probes": {name: asdict(found) for name, found in along.probes.items()},
    }
    if options.save is not None:
        on_stage("debiasing the token table", None)
        own = direction_words()
        words = DirectionWords(known_pairs(bert, own.pairs), known_pairs(bert, own.probe))
        changed = debias_table(bert, words)
        changed.bert.save(options.save)
        data["saved"] = str(options.save)
        notes.append(
            f"{options.save} contains the checkpoint with {changed.num_neutralised:,} rows of its "
            f"token table neutralised and {len(changed.equalised)} pairs equalised. Measure its "
            "bias and its quality again: bertscope bias and bertscope evaluate with --checkpoint."
        )
    return Audit([parts, table, probing], data, notes)


def _erase(bert: Model, file: Path | None, options: AuditOptions, on_stage: OnStage) -> Audit:
    if file is not None:
        raise ValueError("erase takes no file; it is fitted on our own sentences.")
    if options.method not in METHODS:
        raise ValueError(f"--method is {options.method!r}; expected one of {', '.join(METHODS)}.")
    last = bert.config.num_hidden_layers
    state = last if options.layer in (None, -1) else int(options.layer or 0)
    on_stage("fitting the erasure", None)
    erasure = fit_erasure(bert, state, options.method)
    erased = erase(bert, erasure)
    if options.save is not None and erased.why_not_saved is not None:
        raise ValueError(f"--save: {erased.why_not_saved}")
    effects = measure_erasure(
        bert, erasure, progress=lambda done, name: on_stage(f"before and after: {name}", done)
    )
    table = _table("measure", "before", "95%", "after", "95% ", "neutral", right=("neutral",))
    table.title = (
        f"Gender erased from hidden state {state} by {options.method}, live in the network"
    )
    for effect in effects:
        form = "{:.1%}" if effect.is_share else "{:.2f}"
        cells = [effect.name]
        for each in (effect.before, effect.after):
            cells += [form.format(each.mean), _interval(each.low, each.high, form)]
        neutral = "" if effect.neutral is None else form.format(effect.neutral)
        table.add_row(*[*cells, neutral])
    notes = [
        f"Fitted on {erasure.num_sentences} of our own sentences ({erasure.num_tokens:,} tokens); "
        f"{erasure.eraser.rank} of {bert.config.hidden_size} dimensions are removed.",
        "What a probe still finds was hidden, not removed (Gonen and Goldberg 2019): compare its "
        "accuracy afterwards with chance, at the last state, too.",
    ]
    data: dict[str, Any] = {
        "state": state,
        "method": options.method,
        "rank": erasure.eraser.rank,
        "effects": [asdict(effect) for effect in effects],
        "why_not_saved": erased.why_not_saved,
    }
    if options.save is not None:
        on_stage("saving", None)
        erased.save(options.save)
        data["saved"] = str(options.save)
        notes.append(
            f"{options.save} contains the checkpoint with the erasure in its weights: its heads "
            "answer as measured here. If the erasure is at the last hidden state, it is only in "
            "the weights of the heads that read the state: the state itself is unchanged, and a "
            "newly trained head can read all of it."
        )
    elif erased.why_not_saved is not None:
        notes.append(f"Live only: {erased.why_not_saved}")
    return Audit([table], data, notes)


AuditFunction = Callable[[Model, Path | None, AuditOptions, OnStage], Audit]
AUDITS = MappingProxyType[str, AuditFunction](
    {
        "templates": _templates,
        "crows-pairs": _crows_pairs,
        "stereoset": _stereoset,
        "winobias": _winobias,
        "weat": _weat,
        "direction": _direction,
        "erase": _erase,
    }
)
"""Name of a measure -> its audit of a model, with a file of items or None for our own sets."""
