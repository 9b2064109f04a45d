"""Complete audits: each measure with its intervals, notes and known criticism, as tidy tables.

The command line prints them, and the report contains them. Texts in the tables are untrusted and
must be escaped when shown.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

from bertcore.analysis.words.candidates import parse_candidates
from bertcore.bias.associations import known_tests, run_association_tests
from bertcore.bias.crows_pairs import (
    MEASURES,
    read_crows_pairs,
    score_crows_pairs,
    stereotype_shares,
)
from bertcore.bias.direction import along_direction, debias_table
from bertcore.bias.erased import METHODS, erase, fit_erasure, measure_erasure
from bertcore.bias.own_sets import (
    DirectionWords,
    association_tests,
    direction_words,
    known_pairs,
    read_association,
    template_audits,
)
from bertcore.bias.pronouns import pronoun_shares, read_winobias, score_pronouns
from bertcore.bias.shares import Share, share_rows
from bertcore.bias.slots import known_words
from bertcore.bias.stereoset import read_stereoset, score_stereoset, stereoset_scores
from bertcore.bias.templates import Group, lean, score_templates
from bertcore.configs import BiasConfig
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTable:
    """Findings, one a row, and how they are written."""

    title: str = ""
    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, str]
    """Heading -> how the cell is made of a row, as by `str.format`: "{low:.1%} to {high:.1%}"."""

    @property
    def right(self) -> frozenset[str]:
        """The headings of columns with numbers."""
        return frozenset(name for name, form in self.columns.items() if ":" in form)

    def written(self) -> list[list[str]]:
        """Return the cells of each row; empty for a missing number, "one only" for NaN."""
        return [[_cell(form, row) for form in self.columns.values()] for row in self.rows]


def _cell(form: str, row: Mapping[str, Any]) -> str:
    names = [name for _, name, _, _ in Formatter().parse(form) if name]
    try:
        values = [Formatter().get_field(name, (), row)[0] for name in names]
    except KeyError:
        return ""
    if any(value is None for value in values):
        return ""
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        return "one only"
    return form.format_map(row)


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of one measure: tables for people, data for programs."""

    tables: list[AuditTable]
    data: dict[str, Any]
    notes: list[str]
    """What is odd about this audit; what speaks against the measure is in `report.ABOUT`."""


def _file(file: Path | None, measure: str, what: str) -> Path:
    if file is None:
        raise ValueError(f"{measure} needs a file: {what}. It is not shipped with BertScope.")
    return file


def _refuse_file(file: Path | None, measure: str, instead: str) -> None:
    if file is not None:
        raise ValueError(f"{measure} takes no file; {instead}.")


def _templates(bert: Model, file: Path | None, config: BiasConfig, on_stage: OnStage) -> Audit:
    _refuse_file(file, "templates", "give them with --template, --group and --filler")
    tables, summary, data, notes = [], [], [], []
    audits = _audits(bert, config)
    for number, (name, templates, groups, fillers) in enumerate(audits):
        on_stage("scoring templates", number / len(audits))
        scores = score_templates(bert, templates, groups, fillers)
        outcome = lean(scores)
        ends = {
            f"{over}_{end}": value
            for over in ("over_fillers", "over_templates", "over_words")
            for end, value in zip(("low", "high"), getattr(outcome, over), strict=True)
        }
        side = groups[0 if outcome.mean > 0 else 1].name
        summary.append({"audit": name, "leans_to": side, "mean": outcome.mean, **ends})
        differences = scores.differences()
        keys = [f"template_{number}" for number in range(len(scores.templates))]
        tables.append(
            AuditTable(
                title=name,
                rows=[
                    {
                        "filler": fillers[f],
                        "mean": differences[:, f].mean(),
                        **dict(zip(keys, differences[:, f], strict=True)),
                    }
                    for f in differences.mean(0).argsort()[::-1]
                ],
                columns={
                    "filler": "{filler}",
                    "mean": "{mean:+.2f}",
                    **{
                        template: f"{{{key}:+.2f}}"
                        for template, key in zip(scores.templates, keys, strict=True)
                    },
                },
            )
        )
        data.append(
            {
                "name": name,
                "templates": list(templates),
                "groups": {group.name: list(group.words) for group in groups},
                "fillers": list(fillers),
                **asdict(outcome),
                "scores": scores.scores.tolist(),
            }
        )
        notes += [f"{name}: {note}" for note in scores.notes]
        if outcome.turns:
            notes.append(f"{name}: the sign of the result depends on the wording of the template.")
    overview = AuditTable(
        title="Score of the first group's words minus the second's, nats (0: no preference)",
        rows=summary,
        columns={
            "audit": "{audit}",
            "leans to": "{leans_to}",
            "mean": "{mean:+.2f}",
            "over fillers": "{over_fillers_low:+.2f} to {over_fillers_high:+.2f}",
            "over wordings": "{over_templates_low:+.2f} to {over_templates_high:+.2f}",
            "over words": "{over_words_low:+.2f} to {over_words_high:+.2f}",
        },
    )
    return Audit([overview, *tables], {"audits": data}, notes)


def _audits(bert: Model, config: BiasConfig) -> list[TypedAudit]:
    """Return what was typed, or those of our own sets that the vocabulary can write.

    ValueError if it can write none of them, or what was typed is incomplete.
    """
    typed = bool(config.template), bool(config.group), config.filler is not None
    if not any(typed):
        own: list[TypedAudit] = []
        for audit in template_audits():
            groups = [Group(group.name, known_words(bert, group.words)) for group in audit.groups]
            fillers = known_words(bert, audit.fillers)
            if fillers and all(group.words for group in groups):
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
    for given in config.group:
        name, equals, words = given.partition("=")
        if not equals or not name.strip():
            raise ValueError(
                f"--group is {given!r}; expected a name and words, such as women=she,mary."
            )
        asked.append(Group(name.strip(), parse_candidates(words)))
    filler = parse_candidates(config.filler or "")
    return [("typed", tuple(config.template), tuple(asked), filler)]


def _crows_pairs(bert: Model, file: Path | None, config: BiasConfig, on_stage: OnStage) -> Audit:
    path = _file(file, "crows-pairs", "crows_pairs_anonymized.csv of nyu-mll/crows-pairs")
    bad_rows = BadRows(skip=config.skip_bad_rows)
    pairs = read_crows_pairs(path, bad_rows=bad_rows)
    counts = TokenCounts.of_checkpoint(bert)
    scores = score_crows_pairs(
        bert,
        pairs,
        counts=counts,
        progress=lambda done: on_stage(f"scoring {len(pairs):,} pairs", done),
    )
    by_measure: dict[str, list[Share]] = {
        measure: stereotype_shares(scores, measure)
        for measure in MEASURES
        if measure != "frequency" or counts is not None
    }
    rows: dict[str, dict[str, Any]] = {}
    for share in share_rows(by_measure):
        measure, group = share["measure"], share["group"]
        row = rows.setdefault(group, {"group": group, "items": share["items"]})
        row |= {
            measure: share["mean"],
            f"{measure}_low": share["low"],
            f"{measure}_high": share["high"],
        }
    columns = {"kind": "{group}", "pairs": "{items:d}"}
    for measure in by_measure:
        columns[measure] = f"{{{measure}:.1%}}"
        columns[f"{measure}, 95%"] = f"{{{measure}_low:.1%}} to {{{measure}_high:.1%}}"
    table = AuditTable(
        title="CrowS-Pairs: the stereotyping sentence scores higher (50%: no preference)",
        rows=list(rows.values()),
        columns=columns,
    )
    notes = bad_rows.notes()
    if counts is None:
        notes.append("No word-frequency baseline: the checkpoint has no token_counts.txt.")
    without = sum(math.isnan(score.more["pll"]) for score in scores)
    if without:
        notes.append(f"{without} pairs share no token, so they have no pll.")
    data = {measure: [asdict(share) for share in listed] for measure, listed in by_measure.items()}
    items = [
        {**asdict(score.pair), "more_scores": score.more, "less_scores": score.less}
        for score in scores
    ]
    return Audit([table], {"shares": data, "items": items}, notes)


def _stereoset(bert: Model, file: Path | None, config: BiasConfig, on_stage: OnStage) -> Audit:
    path = _file(file, "stereoset", "dev.json of moinnadeem/StereoSet")
    bad_rows = BadRows(skip=config.skip_bad_rows)
    items = read_stereoset(path, bad_rows=bad_rows)
    scores = score_stereoset(
        bert, items, progress=lambda done: on_stage(f"scoring {len(items):,} gaps", done)
    )
    groups = stereoset_scores(scores)
    columns = {"kind": "{group}", "items": "{num_items:d}"}
    for heading, name in (("LMS", "language_model"), ("SS", "stereotype"), ("ICAT", "icat")):
        columns[heading] = f"{{{name}[0]:.1f}}"
        columns[f"{heading}, 95%"] = f"{{{name}[1]:.1f}} to {{{name}[2]:.1f}}"
    table = AuditTable(
        title="StereoSet, within a sentence: LMS 100, SS 50, ICAT 100 are ideal; a random model "
        "has 50",
        rows=[asdict(group) for group in groups],
        columns=columns,
    )
    notes = bad_rows.notes()
    left = len(items) - groups[0].num_items
    if left:
        notes.append(f"{left} items have a word that the vocabulary cannot write; left out.")
    data = {
        "scores": table.rows,
        "items": [{**asdict(score.item), "log_p": score.log_p} for score in scores],
    }
    return Audit([table], data, notes)


def _winobias(bert: Model, file: Path | None, config: BiasConfig, on_stage: OnStage) -> Audit:
    path = _file(file, "winobias", "pro_stereotyped_type1.txt.dev of WinoBias, its twin beside it")
    bad_rows = BadRows(skip=config.skip_bad_rows)
    items = read_winobias(path, bad_rows=bad_rows)
    on_stage(f"scoring {len(items):,} pronouns", None)
    scores = score_pronouns(bert, items)
    shares = pronoun_shares(scores)
    everything, occupations = shares[0], sorted(shares[1:], key=lambda share: -share.mean)
    table = AuditTable(
        title="WinoBias: the pronoun of the stereotype is the more probable one (50%: no "
        "preference)",
        rows=[
            {**asdict(share), "pro_minus_anti": 2 * share.mean - 1}
            for share in (everything, *occupations)
        ],
        columns={
            "occupation": "{group}",
            "sentences": "{num_items:d}",
            "share": "{mean:.1%}",
            "95%": "{low:.1%} to {high:.1%}",
            "pro minus anti": "{pro_minus_anti:+.1%}",
        },
    )
    data = {
        "shares": [asdict(share) for share in shares],
        "items": [
            {**asdict(score.item), "log_p": [score.stereotype, score.other]} for score in scores
        ],
    }
    return Audit([table], data, bad_rows.notes())


def _weat(bert: Model, file: Path | None, config: BiasConfig, on_stage: OnStage) -> Audit:
    tests = known_tests(bert, association_tests()) if file is None else [read_association(file)]
    outcomes = run_association_tests(
        bert,
        tests,
        layer=config.layer,
        pooling=config.pooling,
        on_fraction=lambda done: on_stage("association tests", done),
    )
    where = "the token table" if config.layer is None else f"hidden state {config.layer}"
    data, rows = [], []
    for outcome in outcomes:
        row = outcome.row()
        chance = None if outcome.chance is None else row["chance_sets_as_large"]
        rows.append({**row, "chance": chance})
        data.append(
            {
                "name": outcome.test.name,
                "sets": outcome.test.test.names,
                "layer": outcome.layer,
                **asdict(outcome.association),
                "chance": chance,
            }
        )
    table = AuditTable(
        title=f"Association tests on {where}: d above 0 links the two first sets (-2 to 2)",
        rows=rows,
        columns={
            "test": "{test}",
            "targets": "{first_targets} / {second_targets}",
            "attributes": "{first_attributes} / {second_attributes}",
            "effect size d": "{effect_size:+.2f}",
            "p": "{p_value:.4f}",
            "chance sets": "{chance:.0%}",
        },
    )
    notes = [
        "p: the share of ways to split the target words into two sets that reach this difference."
    ]
    if any(outcome.chance is not None for outcome in outcomes):
        notes.append(
            "chance sets: how often random words of the same frequency have as large an effect."
        )
    notes += [f"{o.test.name}: {o.association.note}" for o in outcomes if o.association.note]
    notes += [f"{one.name}: the names are those of {one.source}." for one in tests if one.source]
    return Audit([table], {"tests": data}, notes)


def _direction(bert: Model, file: Path | None, config: BiasConfig, on_stage: OnStage) -> Audit:
    _refuse_file(file, "direction", "it uses our own pairs of words")
    on_stage("finding the direction", None)
    along = along_direction(bert, layer=config.layer, pooling=config.pooling)
    leaning = dict(zip(along.words, along.cosines.tolist(), strict=True))
    tables = [
        AuditTable(
            title="Differences within the pairs (she - he ...)",
            rows=[
                {"component": number, "variance": variance}
                for number, variance in enumerate(along.explained[:5], start=1)
            ],
            columns={"component": "{component}", "variance explained": "{variance:.1%}"},
        ),
        AuditTable(
            title="Occupations along the direction (above 0: on the side of she)",
            rows=[
                {"word": word, "cosine": cosine}
                for word, cosine in sorted(leaning.items(), key=lambda item: -item[1])
            ],
            columns={"word": "{word}", "cosine": "{cosine:+.3f}"},
        ),
        AuditTable(
            title="What a linear probe can still recover",
            rows=[{"vectors": name, **asdict(probe)} for name, probe in along.probes.items()],
            columns={
                "vectors of other gendered words": "{vectors}",
                "a probe's accuracy": "{accuracy:.1%} ± {spread:.1%}",
                "chance": "{chance:.0%}",
            },
        ),
    ]
    notes = []
    data = {
        "explained": along.explained.tolist(),
        "cosines": leaning,
        "probes": {name: asdict(probe) for name, probe in along.probes.items()},
    }
    if config.save is not None:
        on_stage("debiasing the token table", None)
        own = direction_words()
        words = DirectionWords(known_pairs(bert, own.pairs), known_pairs(bert, own.probe))
        changed = debias_table(bert, words)
        changed.bert.save(config.save)
        data["saved"] = str(config.save)
        notes.append(
            f"{config.save} contains the checkpoint with {changed.num_neutralised:,} rows of its "
            f"token table neutralised and {len(changed.equalised)} pairs equalised. Measure its "
            "bias and its quality again: bertscope bias and bertscope evaluate with --checkpoint."
        )
    return Audit(tables, data, notes)


def _erase(bert: Model, file: Path | None, config: BiasConfig, on_stage: OnStage) -> Audit:
    _refuse_file(file, "erase", "it is fitted on our own sentences")
    if config.method not in METHODS:
        raise ValueError(f"--method is {config.method!r}; expected one of {', '.join(METHODS)}.")
    last = bert.config.num_hidden_layers
    state = last if config.layer in (None, -1) else int(config.layer or 0)
    on_stage("fitting the erasure", None)
    erasure = fit_erasure(bert, state, config.method)
    erased = erase(bert, erasure)
    if config.save is not None and erased.why_not_saved is not None:
        raise ValueError(f"--save: {erased.why_not_saved}")
    effects = measure_erasure(
        bert, erasure, progress=lambda done, name: on_stage(f"before and after: {name}", done)
    )
    table = AuditTable(
        title=f"Gender erased from hidden state {state} by {config.method}, live in the network",
        rows=[{**effect.row(), "form": ".1%" if effect.is_share else ".2f"} for effect in effects],
        columns={
            "measure": "{measure}",
            "before": "{before:{form}}",
            "before, 95%": "{before_low:{form}} to {before_high:{form}}",
            "after": "{after:{form}}",
            "after, 95%": "{after_low:{form}} to {after_high:{form}}",
            "neutral": "{neutral:{form}}",
        },
    )
    notes = [
        f"Fitted on {erasure.num_sentences} of our own sentences ({erasure.num_tokens:,} tokens); "
        f"{erasure.eraser.rank} of {bert.config.hidden_size} dimensions are removed.",
        "Compare a probe's accuracy afterwards with chance, at the last state, too.",
    ]
    data: dict[str, Any] = {
        "state": state,
        "method": config.method,
        "rank": erasure.eraser.rank,
        "effects": [asdict(effect) for effect in effects],
        "why_not_saved": erased.why_not_saved,
    }
    if config.save is not None:
        on_stage("saving", None)
        erased.save(config.save)
        data["saved"] = str(config.save)
        notes.append(
            f"{config.save} contains the checkpoint with the erasure in its weights: its heads "
            "answer as measured here. If the erasure is at the last hidden state, it is only in "
            "the weights of the heads that read the state: the state itself is unchanged, and a "
            "newly trained head can read all of it."
        )
    elif erased.why_not_saved is not None:
        notes.append(f"Live only: {erased.why_not_saved}")
    return Audit([table], data, notes)


AuditFunction = Callable[[Model, Path | None, BiasConfig, OnStage], Audit]
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
