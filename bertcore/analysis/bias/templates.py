"""Templates: is a filler more probable with one group than with another?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.bias.words import (
    Group,
    TemplateAudit,
    known_group,
    known_words,
    left_out_note,
    template_audits,
    word_pieces,
)
from bertcore.model.likelihood import HiddenToken, Row, hidden_log_probabilities
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding
from bertcore.training.evaluation.intervals import bootstrap_means

GROUP_SLOT = "[X]"
MOST_CELLS = 20_000
"""Words times fillers times templates."""


@dataclass(frozen=True, slots=True)
class FillerLean:
    """How much more a filler favours the first group than the second, over the templates."""

    filler: str
    wordings: int
    """Number of templates."""
    difference: float
    """The mean, in nats."""
    low: float
    """The range."""
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class TemplateScores:
    """How much each filler favours each group's words, by template."""

    templates: tuple[str, ...]
    groups: tuple[Group, Group]
    fillers: tuple[str, ...]
    log_p: NDArray[np.float64]
    """Log-probability of each word at [X] with the filler in place, nats,
    [templates, fillers, words of both groups in order]."""
    prior: NDArray[np.float64]
    """The same with the filler hidden by as many masks as it has pieces, nats."""
    notes: tuple[str, ...] = ()
    """What is odd about the words, one sentence each."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """log p - log prior, nats: above 0, the filler makes the word more probable."""
        return self.log_p - self.prior

    def of_groups(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of each group's words, [templates, fillers, words] each."""
        first, second = np.split(self.scores, [len(self.groups[0].words)], axis=-1)
        return first, second

    def differences(self) -> NDArray[np.float64]:
        """Return the mean score of the first group's words minus that of the second's.

        Nats, [templates, fillers]; above 0: the filler leans to the first group.
        """
        first, second = self.of_groups()
        difference: NDArray[np.float64] = first.mean(-1) - second.mean(-1)
        return difference

    def leans(self) -> list[FillerLean]:
        """Return the lean of each filler, those to the first group first."""
        each = self.differences()
        numbers = zip(self.fillers, each.mean(0), each.min(0), each.max(0), strict=True)
        rows = [FillerLean(filler, len(each), *map(float, of)) for filler, *of in numbers]
        return sorted(rows, key=lambda row: -row.difference)


@dataclass(frozen=True, slots=True)
class Lean:
    """The mean difference between two groups, nats, and its 95% intervals."""

    mean: float
    over_fillers: tuple[float, float]
    """Ends by bootstrap over fillers; NaN of a single one."""
    over_templates: tuple[float, float]
    """Ends by bootstrap over templates; NaN of a single one."""
    over_words: tuple[float, float]
    """Ends by bootstrap over the words of both groups; NaN where a group has a single one."""
    turns: bool
    """Whether the sign differs between templates: the result depends on the wording."""


def known_audit(bert: Model, audit: TemplateAudit) -> TemplateAudit:
    """Return the audit with the words that the vocabulary can write.

    ValueError if none is left of the fillers or of a group.
    """
    groups = known_group(bert, audit.groups[0]), known_group(bert, audit.groups[1])
    fillers = known_words(bert, audit.fillers)
    sets = {"the fillers": (audit.fillers, fillers)}
    sets |= {
        repr(group.name): (group.words, known.words)
        for group, known in zip(audit.groups, groups, strict=True)
    }
    for name, (words, known) in sets.items():
        if words and not known:
            raise ValueError(
                f"no word of {name} can be written with this checkpoint's vocabulary: "
                f"{', '.join(words[:5])}. Use words of its language."
            )
    return TemplateAudit(audit.name, audit.templates, groups, fillers)


def score_templates(
    bert: Model, templates: Sequence[str], groups: tuple[Group, Group], fillers: Sequence[str]
) -> TemplateScores:
    """Return the log-probability bias scores of every template, filler and word.

    Each template has one [X], which the words of the groups fill, and one [MASK] for the fillers:
    "[X] worked as a [MASK]." A word of several pieces is scored as a whole: each piece with itself
    and the later ones hidden.

    ValueError if a template or set is not as expected, a word is unknown, a text is longer than the
    checkpoint reads, or there are too many cells.

    Source: Kurita et al. 2019, section 2.
    """
    bert.require("mlm")
    templates, fillers = tuple(templates), tuple(fillers)
    _check(templates, groups, fillers, bert.tokenizer.mask_token)
    words = [word for group in groups for word in group.words]
    shape = len(templates), len(fillers), len(words)
    if np.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"{shape[0]} templates with {shape[1]} fillers and {shape[2]} words make "
            f"{np.prod(shape):,} scores; at most {MOST_CELLS:,} are computed. Use fewer."
        )
    pieces = {text: word_pieces(bert, text) for text in {*words, *fillers}}
    mask_id = bert.tokenizer.mask_id
    asked: list[HiddenToken] = []
    owners: list[int] = []
    cells: dict[tuple[object, ...], int] = {}
    wanted = np.empty((2, *shape), dtype=np.int64)
    for t, template in enumerate(templates):
        encoding = bert.tokenize(template.replace(GROUP_SLOT, bert.tokenizer.mask_token))
        for f, filler in enumerate(fillers):
            for w, word in enumerate(words):
                hidden = [mask_id] * len(pieces[filler])
                for kind, fill in enumerate((pieces[filler], hidden)):
                    # The prior depends only on the filler's number of pieces.
                    key = (t, w, tuple(fill))
                    if key not in cells:
                        cells[key] = len(cells)
                        tokens = _hidden_tokens(bert, template, encoding, pieces[word], fill)
                        asked += tokens
                        owners += [cells[key]] * len(tokens)
                    wanted[kind, t, f, w] = cells[key]
    sums = np.zeros(len(cells))
    for rows, log_p in hidden_log_probabilities(bert, asked):
        np.add.at(sums, [owners[i] for i in rows], log_p)
    log_p, prior = sums[wanted]
    return TemplateScores(templates, groups, fillers, log_p, prior, _notes(pieces, groups))


def _hidden_tokens(
    bert: Model, template: str, encoding: Encoding, word: Sequence[int], fill: Sequence[int]
) -> list[HiddenToken]:
    """Return the pieces of a word at [X], each with those before it; masks are at both slots."""
    mask, mask_id = bert.tokenizer.mask_token, bert.tokenizer.mask_id
    is_word_first = template.index(GROUP_SLOT) < template.index(mask)
    waiting = [word, fill] if is_word_first else [fill, word]
    places = [i for i, each in enumerate(encoding.input_ids) if each == mask_id]
    length = len(encoding) + len(word) + len(fill) - 2
    if encoding.truncation is not None or length > bert.max_length:
        raise ValueError(
            f"the template {template[:60]!r} has more tokens than this checkpoint reads at most, "
            f"{bert.max_length}. Shorten it."
        )
    start = places[0 if is_word_first else 1] + (0 if is_word_first else len(fill) - 1)
    hidden = []
    for step in range(len(word)):
        given = [*word[:step], *[mask_id] * (len(word) - step)]
        parts = {
            place: given if part is word else part
            for place, part in zip(places, waiting, strict=True)
        }
        ids: list[int] = []
        segments: list[int] = []
        for i, token in enumerate(encoding.input_ids):
            own = parts.get(i, [token])
            ids += own
            segments += [encoding.segment_ids[i]] * len(own)
        hidden.append(HiddenToken(Row(ids, segments), start + step, word[step]))
    return hidden


def _check(
    templates: Sequence[str], groups: tuple[Group, Group], fillers: Sequence[str], mask: str
) -> None:
    if not templates:
        raise ValueError(f"there is no template. Give one with {GROUP_SLOT} and {mask}.")
    for template in templates:
        for slot in (GROUP_SLOT, mask):
            if (number := template.count(slot)) != 1:
                raise ValueError(
                    f"the template {template!r} has {number} slots {slot}; expected one "
                    f"{GROUP_SLOT} for a word of a group and one {mask} for a filler."
                )
    sets = {f"group {group.name!r}": group.words for group in groups}
    for name, words in {**sets, "list of fillers": fillers}.items():
        if not words:
            raise ValueError(f"the {name} has no word. Give at least one.")
        if twice := [word for word in words if words.count(word) > 1]:
            raise ValueError(f"{twice[0]!r} is in the {name} twice. Leave one out.")
    both = {word.lower() for word in groups[0].words} & {word.lower() for word in groups[1].words}
    if both:
        raise ValueError(
            f"{min(both)!r} is in the groups {groups[0].name!r} and {groups[1].name!r}; a shared "
            "word carries no information. Leave it out of one."
        )


def _notes(pieces: dict[str, list[int]], groups: Sequence[Group]) -> tuple[str, ...]:
    notes = []
    several = sorted(text for text, ids in pieces.items() if len(ids) > 1)
    if several:
        listed = ", ".join(several[:5]) + (" ..." if len(several) > 5 else "")
        notes.append(f"Words of several pieces count as wholes ({len(several)}): {listed}.")
    if len({len(group.words) for group in groups}) > 1:
        listed = ", ".join(f"{group.name} {len(group.words)}" for group in groups)
        notes.append(
            f"The groups have different numbers of words ({listed}); their means are compared."
        )
    return tuple(notes)


def lean(scores: TemplateScores) -> Lean:
    """Return the mean difference between the groups over all templates, fillers and words."""
    table = scores.differences()  # [templates, fillers]
    by_template = table.mean(1)
    fillers, templates = bootstrap_means(table.mean(0)), bootstrap_means(by_template)
    sets = [words.mean((0, 1)) for words in scores.of_groups()]
    over_words = float("nan"), float("nan")
    if min(map(len, sets)) > 1:
        generator = np.random.default_rng(0)
        draws = [words[generator.integers(len(words), size=(1000, len(words)))] for words in sets]
        low, high = np.percentile(draws[0].mean(1) - draws[1].mean(1), (2.5, 97.5))
        over_words = float(low), float(high)
    return Lean(
        mean=float(table.mean()),
        over_fillers=(float(fillers.low), float(fillers.high)),
        over_templates=(float(templates.low), float(templates.high)),
        over_words=over_words,
        turns=bool(by_template.min() < 0 < by_template.max()),
    )


@dataclass(frozen=True, slots=True)
class AuditedTemplates:
    """The scores of an audit, and their mean with its intervals."""

    scores: TemplateScores
    lean: Lean
    notes: tuple[str, ...]
    """Which words were left out, and what is odd about the others, one sentence each."""


def audit_templates(
    bert: Model,
    audit: TemplateAudit | None = None,
    *,
    progress: Callable[[float, str], None] = lambda done, stage: None,
) -> AuditedTemplates:
    """Return the scores of an audit's words that the vocabulary can write; None: the first one.

    ValueError as of `known_audit` and `score_templates`.
    """
    progress(0.0, "Scoring templates")
    asked = audit or template_audits()[0]
    known = known_audit(bert, asked)
    scores = score_templates(bert, known.templates, known.groups, known.fillers)
    before, after = (
        (*each.fillers, *each.groups[0].words, *each.groups[1].words) for each in (asked, known)
    )
    left_out = left_out_note(before, after)
    notes = (*(() if left_out is None else (left_out,)), *scores.notes)
    return AuditedTemplates(scores, lean(scores), notes)
