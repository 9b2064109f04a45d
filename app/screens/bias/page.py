"""The page Bias: templates, and below them what else tells of stereotypes, each when opened."""

import numpy as np
import streamlit as st

from bertcore.analysis.bias import (
    AuditedTemplates,
    Effect,
    Group,
    TemplateAudit,
    association_tests,
    debias_table,
    grammar_exam,
    left_out_note,
    measure_effects,
    template_audits,
)
from bertcore.analysis.words.candidates import parse_candidates
from bertcore.base.states import state_name
from bertcore.model.model import Model

from ...plots import own_markdown, plain, shorten, tabulate, theme
from ...shell import Compute, Field, Progress, computed, frame, how_to_read, show
from ...shell.pictures import capabilities
from . import PAGE
from .views import ASSOCIATIONS, COSINES, LEANING, PROBES, WORDS

MOST_FILLERS = 60
AUDITS = {audit.name: audit for audit in template_audits()}
FIRST = next(iter(AUDITS.values()))
AUDIT = Field("bias_audit", FIRST.name, tuple(AUDITS))
TEMPLATES = Field("bias_templates", "\n".join(FIRST.templates))
NAMES = (Field("bias_group_1", FIRST.groups[0].name), Field("bias_group_2", FIRST.groups[1].name))
GROUP_WORDS = (
    Field("bias_words_1", ", ".join(FIRST.groups[0].words)),
    Field("bias_words_2", ", ".join(FIRST.groups[1].words)),
)
FILLERS = Field("bias_fillers", ", ".join(FIRST.fillers))
TABLE = -1  # instead of a hidden state: the token table
LAYER = Field("bias_layer", TABLE)
TESTS = {test.name: test for test in association_tests()}
TEST = Field("bias_test", list(TESTS)[1], tuple(TESTS))

CANNOT_TELL = (
    "No score here predicts harm in use ([Goldfarb-Tarrant et al. "
    "2021](https://aclanthology.org/2021.acl-long.150/)): measure the fine-tuned model on its data."
)
PRICE = (
    "The part of the token table along the direction is removed from every word but the gendered "
    "ones (“hard debiasing”, Bolukbasi et al. 2016); the layers stay as they are. *Along the "
    "direction*: mean distance from 0 of 20 occupations. *Gap*: mean distance between women and "
    "men at them, in nats. *Masked words* and *minimal pairs* are the price. In brackets: 95% "
    "intervals. `bertscope bias --save FOLDER` writes the changed checkpoint; `--data FILE` scores "
    "CrowS-Pairs."
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        if not capabilities.tells(page, "mlm"):
            show_templates(page)
    show_quality(page)
    st.caption(CANNOT_TELL)
    show_associations(page)
    show_direction(page)
    show_price(page)


def show_templates(page: frame.Page) -> None:
    """Draw the choice, the lean with its intervals, and the picture."""
    compute, audit = Compute(name="templates"), choose_audit(page)
    audited = computed(LEANING, page, audit, compute=compute)
    show_lean(audited)
    for note in audited.notes:
        st.caption(plain(note))
    first, second = (theme.escape(shorten(group.name, 30)) for group in audit.groups)
    drawn = {"x_title": f"← {second}          nats          {first} →"}
    show(LEANING, page, audit, drawn=drawn, compute=compute)


def choose_audit(page: frame.Page) -> TemplateAudit:
    """Draw the choice of an audit and its words; return what is asked.

    ValueError if there are too many fillers.
    """
    st.selectbox("Audit", list(AUDITS), key=AUDIT.key(), on_change=fill_boxes, width=420)
    with st.expander("Templates and words", icon=":material/edit:"):
        st.text_area(
            own_markdown("Templates, one per line, each with \\[X\\] and \\[MASK\\]", page.marks),
            key=TEMPLATES.key(),
            height=100,
            max_chars=1000,
        )
        for name, words, column in zip(NAMES, GROUP_WORDS, st.columns(2), strict=True):
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
            "`score_templates` in Python."
        )
    stripped = (line.strip() for line in TEMPLATES.value.splitlines())
    mask = page.bert.tokenizer.mask_token
    templates = tuple(line.replace("[MASK]", mask) for line in stripped if line)
    first, second = (
        Group(name.value.strip() or f"group {number}", parse_candidates(words.value))
        for number, (name, words) in enumerate(zip(NAMES, GROUP_WORDS, strict=True), start=1)
    )
    return TemplateAudit("", templates, (first, second), fillers)


def fill_boxes() -> None:
    """Fill the boxes from the chosen audit."""
    audit = AUDITS.get(AUDIT.value)
    if audit is None:  # a program may send any name
        return
    TEMPLATES.put("\n".join(audit.templates))
    FILLERS.put(", ".join(audit.fillers))
    for name, words, group in zip(NAMES, GROUP_WORDS, audit.groups, strict=True):
        name.put(group.name)
        words.put(", ".join(group.words))


def show_lean(audited: AuditedTemplates) -> None:
    """Draw the mean, what it leans towards, and whether any interval contains zero."""
    leaning, groups = audited.lean, audited.scores.groups
    group = groups[0 if leaning.mean > 0 else 1].name
    ends = {
        "fillers": leaning.over_fillers,
        "wordings": leaning.over_templates,
        "words": leaning.over_words,
    }
    told = [
        f"over {name} {low:+z.2f} to {high:+z.2f}"
        for name, (low, high) in ends.items()
        if np.isfinite(low)
    ]
    if not told:
        st.markdown(f"**{leaning.mean:+z.2f} nats: no interval, so no verdict.**")
        st.caption("One wording, one filler and a group of one word: there is nothing to resample.")
        return
    unsure = [name for name, (low, high) in ends.items() if np.isfinite(low) and low <= 0 <= high]
    verdict = (
        f"no clear lean; with other {' or '.join(unsure)} the sign may change"
        if unsure
        else f"the fillers together lean towards {plain(group)}"
    )
    if leaning.turns and not unsure:
        verdict = "the sign changes with the wording"
    st.markdown(f"**{leaning.mean:+z.2f} nats: {verdict}.**")
    how_to_read(f"95% intervals by bootstrap: {'; '.join(told)}.")


def show_quality(page: frame.Page) -> None:
    """Draw the accuracy on our minimal pairs, if there is a masked-word head."""
    if "mlm" not in page.bert.capabilities:
        return
    with frame.guard():
        compute = Compute(name="quality", stage="The model's own quality")
        exam = compute(grammar_exam, page.bert_key)
        how_to_read(
            f"**This model** prefers the grammatical sentence in {exam.mean:.0%} of 200 pairs "
            f"({exam.low:.0%} to {exam.high:.0%}; chance 50%). One near chance looks fair."
        )


@frame.closed(ASSOCIATIONS.question, Field("bias_near", False), LAYER, TEST)
def show_associations(page: frame.Page) -> None:
    """Draw the tests on the chosen vectors, and the words of one of them."""
    options = [TABLE, *range(page.bert.config.num_hidden_layers + 1)]
    st.select_slider(
        "Vectors of",
        options,
        key=LAYER.key(options=options),
        format_func=lambda layer: "token table" if layer == TABLE else state_name(layer),
        width=420,
        help="The token table, or a hidden state of each word as a text by itself: the mean over "
        "its tokens, [CLS] and [SEP] included.",
    )
    layer = None if LAYER.value == TABLE else LAYER.value
    outcomes = show(ASSOCIATIONS, page, layer, compute=Compute(stage="Association tests"))
    assert outcomes is not None
    known = [outcome.test for outcome in outcomes]
    words = [
        [word for test in tests for group in test.sets for word in group.words]
        for tests in (TESTS.values(), known)
    ]
    if (note := left_out_note(*words)) is not None:
        st.caption(plain(note))
    names = [test.name for test in known]
    widget = TEST.key(default=names[min(1, len(names) - 1)], options=names)
    st.selectbox("Words of", names, key=widget, width=460)
    show(WORDS, page, TEST.value, layer)
    outcome = outcomes[names.index(TEST.value)]
    if outcome.note is not None:
        st.caption(plain(outcome.note))
    if outcome.test.source:
        st.caption(f"The names are those of {plain(outcome.test.source)}.")


@frame.closed(COSINES.question, Field("bias_along", False))
def show_direction(page: frame.Page) -> None:
    """Draw words along the direction by layer, and the probes."""
    show(COSINES, page, drawn={"is_dark": page.is_dark})
    show(PROBES, page)


@frame.closed("What does removing the direction change, and cost?", Field("bias_price", False))
def show_price(page: frame.Page) -> None:
    """Draw each measure before and after the direction is removed from the token table."""
    if capabilities.tells(page, "parts"):
        return
    effects = Compute(name="price")(_effects, page.bert_key)
    rows = [
        (effect.name, _written(effect, "before"), _written(effect, "after")) for effect in effects
    ]
    st.dataframe(tabulate("measure before after", rows), hide_index=True, width="stretch")
    st.caption(PRICE)


def _effects(bert: Model, *, progress: Progress) -> tuple[Effect, ...]:
    return measure_effects(bert, debias_table(bert), progress=progress)


def _written(effect: Effect, side: str) -> str:
    row, form = effect.row(), ".1%" if effect.unit == "share" else ".2f"
    mean, low, high = (f"{row[side + end]:{form}}" for end in ("", "_low", "_high"))
    return f"{mean} ({low} to {high})"
