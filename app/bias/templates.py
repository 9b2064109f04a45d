"""Templates: which fillers lean towards which group, by wording and by word."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.words.candidates import parse_candidates
from bertcore.bias import (
    Group,
    Lean,
    TemplateAudit,
    TemplateScores,
    TopFills,
    known_words,
    lean,
    left_out_note,
    score_templates,
    template_audits,
    top_fills,
)
from bertcore.bias.templates import GROUP_SLOT
from bertcore.bias.top_fills import FEWEST_WORDS
from bertcore.model import Model

from ..plots import Figure, own_markdown, plain, shorten, subplots, tabulate, theme
from ..plots.charts import Intervals
from ..shell import Compute, Field, Picture, Progress, frame, one_of
from ..sources import my_sentences

ROW_PIXELS = 24
MOST_FILLERS = 60
AUDITS = {audit.name: audit for audit in template_audits()}
FIRST = next(iter(AUDITS.values()))
AUDIT = Field("bias_audit", FIRST.name, tuple(AUDITS))
TEMPLATES = Field("bias_templates", "\n".join(FIRST.templates))
NAMES = (Field("bias_group_1", FIRST.groups[0].name), Field("bias_group_2", FIRST.groups[1].name))
WORDS = (
    Field("bias_words_1", ", ".join(FIRST.groups[0].words)),
    Field("bias_words_2", ", ".join(FIRST.groups[1].words)),
)
FILLERS = Field("bias_fillers", ", ".join(FIRST.fillers))


SOURCES = {"box": "This box", **my_sentences.OFFERED}
SOURCE = Field("bias_templates_source", "box", tuple(SOURCES))


class Asked(NamedTuple):
    """What the visitor asks: templates, two groups, fillers."""

    templates: tuple[str, ...]
    groups: tuple[Group, Group]
    fillers: tuple[str, ...]


class Leaning(NamedTuple):
    """The scores, their mean with its intervals, and the fills that the model chooses itself."""

    scores: TemplateScores
    lean: Lean
    fills: TopFills
    note: str | None
    """Which words were left out, or None."""

    @property
    def order(self) -> list[int]:
        """Numbers of the fillers, those that lean most towards the first group on top."""
        order = np.argsort(-self.scores.differences().mean(0), kind="stable")
        return [int(place) for place in order]


def _figure(result: Leaning) -> Figure:
    """Draw a row for each filler: a point for each template, and their mean."""
    differences, order = result.scores.differences(), result.order
    fig = subplots(1, 1)
    places = list(range(len(order)))
    for number, template in enumerate(result.scores.templates):
        fig.add(
            "scatter",
            x=differences[number, order],
            y=places,
            mode="markers",
            marker={"color": theme.SPECIAL, "size": 6, "opacity": 0.7},
            hovertemplate=f"{theme.escape(template)}: %{{x:+.2f}}<extra></extra>",
            showlegend=False,
        )
    means = differences.mean(0)[order]
    fig.add(
        "scatter",
        x=means,
        y=places,
        mode="markers",
        marker={
            "color": [theme.SEGMENT_A if mean > 0 else theme.SEGMENT_B for mean in means],
            "size": 12,
        },
        customdata=[[theme.escape(result.scores.fillers[f])] for f in order],
        hovertemplate="<b>%{customdata[0]}</b>, mean: %{x:+.2f} nats<extra></extra>",
        showlegend=False,
    )
    first, second = (theme.escape(shorten(group.name, 24)) for group in result.scores.groups[:2])
    theme.plot_layout(fig, "", "", "", ROW_PIXELS * len(order) + 84)
    names = [theme.escape(shorten(result.scores.fillers[f], 24)) for f in order]
    fig.update_yaxes(**theme.named_rows(names, 0.4), tickfont={"size": 14}, ticklen=0)
    reach = max(0.5, float(np.abs(differences).max()) * 1.08)
    fig.update_xaxes(
        range=[-reach, reach], title_text=f"← {second}          nats          {first} →"
    )
    fig.add_vline(0, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})
    fig.update_layout(dragmode=False)
    return fig


def _table(result: Leaning) -> pd.DataFrame:
    """Return a row for each template, filler and word."""
    scores = result.scores
    words = [(group.name, word) for group in scores.groups for word in group.words]
    cells = (scores.log_p, scores.prior, scores.scores)
    return tabulate(
        "template filler group word log_p log_prior score",
        (
            (template, filler, *group_and_word, *(numbers[t, f, w] for numbers in cells))
            for t, template in enumerate(scores.templates)
            for f, filler in enumerate(scores.fillers)
            for w, group_and_word in enumerate(words)
        ),
    )


LEANING = Picture(
    name="bias-templates",
    figure=_figure,
    table=_table,
    how=(
        "How much more a filler favours the words of one group than those of the other, in nats "
        "(0.69 doubles the odds): log p of a word at \\[X\\] with the filler at \\[MASK\\], minus "
        "log p with the filler masked, so that a group's frequency cancels out (Kurita et al. "
        "2019). Grey: each wording alone; large: their mean. If the dots of a row are far apart, "
        "the answer depends on the wording."
    ),
    code="""
from bertcore.bias import Group, lean, score_templates

scores = score_templates(bert, {templates!r}, {groups}, {fillers!r})
scores.differences(), lean(scores)
""",
    needs=frozenset({"mlm"}),
)


def _fill_table(fills: TopFills) -> pd.DataFrame:
    """Return two rows for each template: the overlap between the groups, and within them."""
    overlaps = {
        "between the groups": fills.overlap_between(),
        "within a group": fills.overlap_within(),
    }
    names = [", ".join(fill.token for fill in own) for own in fills.of_a_group()]
    return tabulate(
        "template of words overlap low high fills_of_a_group",
        (
            (template, of, fills.ids.shape[1], float(overlap[t]), np.nan, np.nan, names[t])
            for t, template in enumerate(fills.templates)
            for of, overlap in overlaps.items()
        ),
    )


FILLS = Picture(
    name="bias-disco",
    chart=Intervals(
        table=_fill_table,
        name="template",
        number="words",
        value="overlap",
        by="of",
        x_title="share of the fills that two sentences share",
    ),
    how=(
        "For each word at \\[X\\], the 3 most probable pieces at \\[MASK\\]. *Between the groups*: "
        "the share of them that two sentences have in common, one about each group, over all "
        "pairs; *within a group*: the same for two words of one group, since any other word "
        "changes the fills. The groups matter where the first is lower. **DisCo** (Webster et al. "
        "2020) is the number of fills a template that a chi-squared test ties to one group, at 5% "
        "divided by the template's different fills (Bonferroni): the paper has hundreds of names, "
        "and few words at \\[X\\] tie none, however biased the model. The overlap needs no test "
        "(Lauscher et al. 2021). Unlike the log-odds above, neither removes how probable the "
        "groups are."
    ),
    code="""
import numpy as np
from bertcore.bias import Group, top_fills

fills = top_fills(bert, {templates!r}, {groups})
fills.overlap_between(), fills.overlap_within()
fills.of_a_group(), np.mean([len(each) for each in fills.of_a_group()])
""",
    needs=frozenset({"mlm"}),
)


def show(page: frame.Page) -> None:
    """Draw the choice, the lean with its intervals, and the picture."""
    asked = _choose(page)
    result = Compute(name="templates")(_leaning, page.bert_key, asked)
    _show_lean(result)
    for note in (result.note, *result.scores.notes):
        if note is not None:
            st.caption(plain(note))
    templates = list(asked.templates)
    groups = ", ".join(f"Group({g.name!r}, {g.words!r})" for g in result.scores.groups)
    fillers = list(result.scores.fillers)
    LEANING.show(page, result, templates=templates, groups=f"[{groups}]", fillers=fillers)
    st.header("What the model fills in itself", anchor=False)
    _show_fills(result.fills)
    FILLS.show(page, result.fills, templates=templates, groups=f"({groups})")


def _show_fills(fills: TopFills) -> None:
    """Write how many fills the groups share, and how many belong to one of them."""
    between, within = (float(np.mean(o)) for o in (fills.overlap_between(), fills.overlap_within()))
    own = fills.of_a_group()
    number, words = np.mean([len(each) for each in own]), fills.ids.shape[1]
    disco = f"DisCo: **{number:.2f}** fills a template belong to one group."
    if words < FEWEST_WORDS:
        disco = (
            f"DisCo tests nothing: it needs {FEWEST_WORDS} words or more at \\[X\\], not {words}."
        )
    beside = "" if np.isnan(within) else f", two of one group **{within:.0%}**"
    st.markdown(
        f"Sentences about different groups share **{between:.0%}** of their {fills.ids.shape[-1]} "
        f"most probable fills{beside}. {disco}"
    )


def _leaning(bert: Model, asked: Asked, *, progress: Progress) -> Leaning:
    progress(0.0, "Scoring templates")
    groups = [Group(group.name, _known(bert, group.words, group.name)) for group in asked.groups]
    fillers = _known(bert, asked.fillers, "fillers")
    found = score_templates(bert, asked.templates, groups, fillers)
    before = (*asked.fillers, *(word for group in asked.groups for word in group.words))
    after = (*fillers, *(word for group in groups for word in group.words))
    fills = top_fills(bert, asked.templates, (groups[0], groups[1]))
    return Leaning(found, lean(found), fills, left_out_note(before, after))


def _choose(page: frame.Page) -> Asked:
    """Draw the choice of an audit and its words; return what is asked.

    ValueError if there are too many fillers.
    """
    st.selectbox("Audit", list(AUDITS), key=AUDIT.key(), on_change=_take, width=420)
    mask = page.bert.tokenizer.mask_token
    with st.expander("Templates and words", icon=":material/edit:"):
        if one_of("Templates", SOURCES, SOURCE, with_label=True) == my_sentences.MINE:
            lines = _of_list(mask)
        else:
            st.text_area(
                own_markdown(
                    "Templates, one per line, each with \\[X\\] and \\[MASK\\]", page.marks
                ),
                key=TEMPLATES.key(),
                height=100,
                max_chars=1000,
            )
            lines = TEMPLATES.value.splitlines()
        for name, words, column in zip(NAMES, WORDS, st.columns(2), strict=True):
            column.text_input("Group", key=name.key(), max_chars=60)
            column.text_area("Its words, at \\[X\\]", key=words.key(), height=80, max_chars=1000)
        st.text_area(
            own_markdown("Fillers, at \\[MASK\\]", page.marks),
            key=FILLERS.key(),
            height=80,
            max_chars=2000,
        )
    fillers = parse_candidates(FILLERS.value)
    if len(fillers) > MOST_FILLERS:
        raise ValueError(
            f"there are {len(fillers)} fillers; at most {MOST_FILLERS} are drawn. Use fewer, or "
            "run `bertscope bias`."
        )
    stripped = (line.strip() for line in lines)
    templates = tuple(line.replace("[MASK]", mask) for line in stripped if line)
    first, second = (
        Group(name.value.strip() or f"group {number}", parse_candidates(words.value))
        for number, (name, words) in enumerate(zip(NAMES, WORDS, strict=True), start=1)
    )
    return Asked(templates, (first, second), fillers)


def _of_list(mask: str) -> list[str]:
    """Draw the visitor's list; return its sentences that are templates, each once."""
    mine = my_sentences.choose()
    if mine is None:
        return []
    texts = dict.fromkeys(line.text for line in mine.found.lines)
    found = [t for t in texts if GROUP_SLOT in t and ("[MASK]" in t or mask in t)]
    if len(found) < len(texts):
        st.caption(
            f"Sentences of the list without \\[X\\] or {plain(mask)} are left out: "
            f"{len(texts) - len(found):,}."
        )
    return found


def _known(bert: Model, words: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the words that the vocabulary can write.

    ValueError if there are words and it can write none.
    """
    known = known_words(bert, words)
    if words and not known:
        raise ValueError(
            f"no word of {name!r} can be written with this checkpoint's vocabulary: "
            f"{', '.join(words[:5])}. Use words of its language."
        )
    return known


def _take() -> None:
    """Fill the boxes from the chosen audit."""
    audit: TemplateAudit | None = AUDITS.get(AUDIT.value)
    if audit is None:  # a program may send any name
        return
    TEMPLATES.put("\n".join(audit.templates))
    FILLERS.put(", ".join(audit.fillers))
    for name, words, group in zip(NAMES, WORDS, audit.groups, strict=True):
        name.put(group.name)
        words.put(", ".join(group.words))


def _show_lean(result: Leaning) -> None:
    """Draw the mean, what it leans towards, and whether any interval contains zero."""
    found, groups = result.lean, result.scores.groups
    group = groups[0 if found.mean > 0 else 1].name
    ends = {
        "fillers": found.over_fillers,
        "wordings": found.over_templates,
        "words": found.over_words,
    }
    told = [
        f"over {name} {low:+.2f} to {high:+.2f}"
        for name, (low, high) in ends.items()
        if np.isfinite(low)
    ]
    if not told:
        st.markdown(f"**{found.mean:+.2f} nats: no interval, so no verdict.**")
        st.caption("One wording, one filler and a group of one word: there is nothing to resample.")
        return
    unsure = [name for name, (low, high) in ends.items() if np.isfinite(low) and low <= 0 <= high]
    verdict = (
        f"no clear lean; with other {' or '.join(unsure)} the sign may change"
        if unsure
        else f"the fillers together lean towards {plain(group)}"
    )
    if found.turns and not unsure:
        verdict = "the sign changes with the wording"
    st.markdown(f"**{found.mean:+.2f} nats: {verdict}.**")
    st.caption(f"95% intervals by bootstrap: {'; '.join(told)}.")
