"""Which heads matter here, and steering: sections that are closed at first."""

import re

import streamlit as st

from bertcore import Model
from bertcore.analysis.compare.steering import EXAMPLE, MAX_STRENGTH, PLACE
from bertcore.analysis.compare.what_if import EffectOfChanges
from bertcore.analysis.heads.importance import HeadImportance
from bertcore.base.states import state_name
from bertcore.model.interventions import parse_head

from ...plots import plain
from ...shell import Compute, Field, computed, frame, is_available, one_of, show
from ...shell.links import HEADS_OFF, MASK, name_of
from .changes import Case
from .views import RANKING, STEER, meaning, measure_of

STRONGEST = 10  # most heads that are listed
MAX_LETTERS = 2_000  # of a list of words

IS_RANKED = Field("rank", False)
WORD = Field("rank_word", "")
LABEL = Field("rank_label", "")
MEASURE = Field("rank_by", "")
IS_STEERED = Field("steer", False)
WORDS_A = Field("steer_a", ", ".join(EXAMPLE[0]))
WORDS_B = Field("steer_b", ", ".join(EXAMPLE[1]))
TEMPLATE = Field("steer_in", PLACE)
STATE = Field("steer_state", -1)
STRENGTH = Field("steer_by", 1.0)


# ---- which heads matter ----


@frame.closed(RANKING.question, IS_RANKED, WORD, LABEL, MEASURE)
def show_ranking(page: frame.Page, case: Case, effect: EffectOfChanges) -> None:
    """Draw the effect of removing each head, and the strongest with switches."""
    if not is_available(RANKING, page):
        return
    place = st.container()  # the picture is above the choices
    arguments = (*case.arguments, *_followed(page.bert, case, effect))
    stage, stopped = "Removing each head in turn", "The ranking was stopped."
    with place:
        compute = Compute(name="ranking", stage=stage, stopped=stopped)
        importance = computed(RANKING, page, *arguments, compute=compute)
        measures = list(importance.measures())
        MEASURE.key(default=measures[0], options=measures)
        measure = MEASURE.value
        left, right = st.columns([3, 2], gap="large")
        with left:
            if len(measures) > 1:
                names = {name: measure_of(importance, name).name for name in measures}
                one_of("Effect on", names, MEASURE, default=measures[0], with_label=True)
            show(
                RANKING,
                page,
                *arguments,
                drawn={"measure": measure, "is_dark": page.is_dark},
                compute=lambda *asked, **options: importance,
                with_json=True,
                meaning=meaning(importance, measure),
            )
        with right:
            _list(importance, measure)


def _followed(
    bert: Model, case: Case, effect: EffectOfChanges
) -> tuple[int | None, str | None, str | None]:
    """Draw the choice of mask, word and label; return those that there are."""
    masks = [shift.position for shift in effect.runs.shifts]
    task = effect.task
    labels = task.choices if task is not None and task.kind in ("classes", "labels") else ()
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    position, word, label = None, "", ""
    if masks:
        MASK.key(default=masks[0], options=masks)
        if len(masks) > 1:
            at = f"At the {plain(bert.tokenizer.mask_token)}"
            one_of(at, masks, MASK, default=masks[0], where=row, with_label=True)
        position = MASK.value
        hint = "BERT's best guess"
        word = row.text_input("Word to follow", key=WORD.key(), placeholder=hint, width=220)
    if labels:
        options = ["", *labels]
        label = row.selectbox(
            "Label to follow",
            options,
            format_func=lambda name: name or "the best guess",
            key=LABEL.key(options=options),
            width=220,
        )
    return position, word.strip() or None, label or None


def _list(importance: HeadImportance, measure: str) -> None:
    """Draw the strongest heads, each with a switch."""
    strongest = importance.strongest(measure, STRONGEST)
    off = set(HEADS_OFF.value)
    st.markdown(f"**The {len(strongest)} strongest**")
    rows = st.container(gap=None)
    for layer, head, effect in strongest:
        name = name_of(layer, head)
        is_pressed = rows.button(
            f"Head {name}  ·  {effect:+.4f}  ·  {'switch on' if name in off else 'switch off'}",
            key=f"strong_{name}",
            on_click=_toggle,
            args=(name,),
            type="tertiary",
        )
        if is_pressed:  # the change is of the whole page, and this section runs alone
            st.rerun()


def _toggle(name: str) -> None:
    HEADS_OFF.put(sorted({*HEADS_OFF.value} ^ {name}, key=parse_head))


# ---- steering ----


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a list: separated by commas, semicolons or lines.

    >>> words_of("good, very good;bad")
    ('good', 'very good', 'bad')
    """
    return tuple(word.strip() for word in re.split(r"[,;\n]", text) if word.strip())


@frame.closed(STEER.question, IS_STEERED, WORDS_A, WORDS_B, TEMPLATE, STATE, STRENGTH)
def show_steer(page: frame.Page, case: Case) -> None:
    """Draw the lists, the choices, and the answers with the direction between the lists."""
    last = page.bert.config.num_hidden_layers
    place = st.container()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    fields = {"From these words (A)": WORDS_A, "To these (B)": WORDS_B, "Each in": TEMPLATE}
    for label, field in fields.items():
        row.text_input(label, key=field.key(), max_chars=MAX_LETTERS, width=240)
    states = list(range(last + 1))
    row.selectbox(
        "Where",
        states,
        format_func=state_name,
        key=STATE.key(default=last // 2, options=states),
        width=140,
    )
    row.number_input(
        "Strength",
        min_value=-MAX_STRENGTH,
        max_value=MAX_STRENGTH,
        step=0.5,
        key=STRENGTH.key(low=-MAX_STRENGTH, high=MAX_STRENGTH),
        width=140,
    )
    # A link may bring more than the boxes take.
    typed_a, typed_b, template = (of.value[:MAX_LETTERS] for of in fields.values())
    words = (words_of(typed_a), words_of(typed_b))
    compute = Compute(name="steer", stage="Steering")
    with place:
        asked = (*case.arguments, *words, template, STATE.value, STRENGTH.value)
        show(STEER, page, *asked, compute=compute)
