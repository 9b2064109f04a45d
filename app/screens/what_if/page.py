"""What if: parts of BERT switched off or changed, and what it answers then."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import BertConfig, Model, Trace
from bertcore.analysis.compare.steering import EXAMPLE, MAX_STRENGTH, PLACE
from bertcore.analysis.compare.task_shift import TaskShift
from bertcore.analysis.compare.what_if import EffectOfChanges
from bertcore.analysis.words.candidates import parse_candidates
from bertcore.base.states import state_name
from bertcore.model.architecture.config import ModernBertConfig
from bertcore.model.interventions import parse_head

from ...plots import plain, shorten_middle
from ...shell import (
    Compute,
    Field,
    computed,
    frame,
    hidden,
    how_to_read,
    is_available,
    one_of,
    show,
)
from ...shell.links import HEADS_OFF, MASK
from ...shell.pictures import capabilities
from . import PAGE, changes, head_switches, mask_drawing
from .changes import CHANGES, LAYERS_SKIPPED, PATTERN, PREFIX_LENGTH, Case
from .views import (
    ATTENTION,
    HIDDEN,
    NEXT_SENTENCE,
    RANKING,
    STEER,
    TASK,
    WORDS,
    meaning,
    measure_of,
)

OPENED: Field[list[str]] = Field("what_if_open", [], ("hidden", "attention"))
"""Headings that are open, of those about the inside."""
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
MAX_LETTERS = 2_000  # of a list of words
MOST_NAMED = 8  # most words with another tag that are named

PATTERN_NAMES = {
    "bidirectional": "All",
    "causal": "Causal",
    "right-to-left": "Right to left",
    "prefix": "Prefix",
    "drawn": "Drawn",
}
CAUSAL_NAMES = {"bidirectional": "Causal", "drawn": PATTERN_NAMES["drawn"]}
"""Names where attention is always causal."""
HOW_PATTERNS = {
    "bidirectional": "Every token may attend to every token, as in training.",
    "causal": (
        "Each token sees itself and those before it, as in GPT. BERT was not trained this way, and "
        "\\[CLS\\] sees only itself: the next-sentence answer is the same for every text."
    ),
    "right-to-left": "Each token sees itself and those after it, as in a sixth of UniLM's batches.",
    "prefix": (
        "The tokens of the prefix see each other; each later one sees the prefix and the tokens "
        "before it, as in UniLM's sequence-to-sequence mode."
    ),
    "drawn": "A filled cell: the row's token may attend to the column's, in every head.",
}
HOW_CAUSAL = {
    "bidirectional": "Each token sees itself and those before it, as in training.",
    "drawn": HOW_PATTERNS["drawn"] + " Later tokens stay masked.",
}
WITHIN_WINDOWS = " Layers with a window keep it: there no token sees beyond it."
HOW_SWITCHES = (
    "Each square is a head, each row a layer: click one to switch it off.\n\n"
    "A head that is off contributes nothing; its layer continues with the others. A skipped layer "
    "passes its input on unchanged."
)
NO_CHANGES = "Nothing is changed yet: before and after are the same. Click a head, or"
NO_QUESTION = (
    "Nothing is hidden, and there is no pair that this checkpoint judges, so BERT has no question "
    "to answer. Click a token above to hide it. Below is what changes inside."
)
NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What changes "
    "inside is below; to compare words, choose a pretrained checkpoint such as `default` in the "
    "sidebar."
)


# ---- what is changed ----


def choose_changes(page: frame.Page, case: Case) -> None:
    """Draw the heads and layers as switches, and which tokens may attend to which."""
    config = page.bert.config

    def switch(new: dict[str, Any]) -> None:
        HEADS_OFF.put([str(name) for name in new["off"]])
        LAYERS_SKIPPED.put([int(layer) for layer in new["skipped"]])

    switches = {
        "num_layers": config.num_hidden_layers,
        "num_heads": config.num_attention_heads,
        "off": sorted(HEADS_OFF.value, key=parse_head),
        "skipped": sorted(LAYERS_SKIPPED.value),
    }
    head_switches.COMPONENT(key="head_switches", data=switches, switched=switch)
    how_to_read(HOW_SWITCHES)
    row = st.container(horizontal=True, vertical_alignment="center")
    if case.changes:
        row.button("Undo all changes", icon=":material/undo:", on_click=changes.forget_all)
    show_pattern(config, page.trace, frame.more(row))


def show_pattern(config: BertConfig, trace: Trace, menu: DeltaGenerator) -> None:
    """Draw the choice of which tokens may attend to which in `menu`, a chosen one in the page.

    Args:
        trace: Names the tokens.
    """
    is_causal = config.family.is_causal
    names = CAUSAL_NAMES if is_causal else PATTERN_NAMES
    label = "Which tokens may attend to which"
    pattern = one_of(label, names, PATTERN, where=menu, with_label=True)
    if pattern == "prefix":
        st.slider("Tokens of the prefix", 0, trace.num_tokens, key=PREFIX_LENGTH.name)
    elif pattern == "drawn":
        blocks = [[*block] for block in changes.blocks(trace.num_tokens)]
        drawing = {"tokens": [*trace.tokens], "blocks": blocks, "is_causal": is_causal}
        mask_drawing.COMPONENT(key="mask_drawing", data=drawing, drawn=changes.put_blocks)
    how = (HOW_CAUSAL if is_causal else HOW_PATTERNS)[pattern]
    where = menu if pattern == PATTERN.default else st
    where.caption(frame.own_tokens(how + (WITHIN_WINDOWS if _has_windows(config) else "")))


def _has_windows(config: BertConfig) -> bool:
    layers = range(config.num_hidden_layers)
    return isinstance(config, ModernBertConfig) and any(config.window(layer) for layer in layers)


# ---- what it answers then ----


def show_answers(page: frame.Page, case: Case) -> EffectOfChanges:
    """Draw the answers of both runs: task, words, next sentence; return the comparison."""
    effect = page.compute(WORDS.of, *case)
    if not case.changes:
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(NO_CHANGES)
        layer = page.bert.config.num_hidden_layers // 2
        args = ([layer],)
        row.button(f"Skip layer {layer}", on_click=LAYERS_SKIPPED.put, args=args)
    runs, task = effect.runs, effect.task
    if effect.task_problem:
        st.warning(frame.message(effect.task_problem))
    elif task is not None:
        show(TASK, page, *case)
        if task.kind == "tags":
            list_changed_tags(task)
    if runs.shifts:
        show(WORDS, page, *case)
    if runs.next_before is not None:
        show(NEXT_SENTENCE, page, *case)
    if runs.shifts or task is not None or effect.task_problem:
        return effect
    if "mlm" not in page.bert.capabilities:
        st.warning(NO_MASKED_WORDS)
    elif runs.next_before is None:
        st.info(NO_QUESTION)
    return effect


def list_changed_tags(task: TaskShift) -> None:
    """Name the words that get another tag."""
    changed, total = task.changed(), len(task.names)
    if not changed:
        st.markdown(f"Each of the {total} words keeps its tag.")
        return
    named = []
    for i in changed[:MOST_NAMED]:
        tags = (task.choices[int(values[i].argmax())] for values in (task.before, task.after))
        word, before, after = (plain(shorten_middle(of, 20)) for of in (task.names[i], *tags))
        named.append(f"**{word}** ({task.positions[i]}): {before} → {after}")
    more = f"; and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
    st.markdown(f"{len(changed)} of {total} words get another tag: {'; '.join(named)}{more}.")


@frame.closed(HIDDEN.question, OPENED, at="hidden")
def show_hidden(page: frame.Page, case: Case) -> None:
    """Draw how much each layer's vectors changed."""
    show(HIDDEN, page, *case, with_json=True)


@frame.closed(ATTENTION.question, OPENED, at="attention")
def show_attention(page: frame.Page, case: Case) -> None:
    """Draw how much each head's attention changed."""
    show(ATTENTION, page, *case)


# ---- which heads matter, and steering ----


@frame.closed(RANKING.question, IS_RANKED, WORD, LABEL, MEASURE, alone=False)
def show_ranking(page: frame.Page, case: Case, effect: EffectOfChanges) -> None:
    """Draw the effect of removing each head; a click switches a head off."""
    if not is_available(RANKING, page):
        return
    place = st.container()  # the picture is above the choices
    arguments = (*case, *_followed(page.bert, effect))
    stage, stopped = "Removing each head in turn", "The ranking was stopped."
    compute = Compute(name="ranking", stage=stage, stopped=stopped)
    with place:
        importance = computed(RANKING, page, *arguments, compute=compute)
        measures = list(importance.measures())
        MEASURE.key(default=measures[0], options=measures)
        measure = MEASURE.value
        if len(measures) > 1:
            names = {name: measure_of(importance, name).name for name in measures}
            one_of("Effect on", names, MEASURE, default=measures[0], with_label=True)
        show(
            RANKING,
            page,
            *arguments,
            drawn={"measure": measure, "is_dark": page.is_dark},
            on_select=toggle,
            compute=compute,
            with_json=True,
            meaning=meaning(importance, measure),
        )


def toggle(name: str) -> None:
    """Switch a head off or on."""
    HEADS_OFF.put(sorted({*HEADS_OFF.value} ^ {name}, key=parse_head))


def _followed(bert: Model, effect: EffectOfChanges) -> tuple[int | None, str | None, str | None]:
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
    words = (parse_candidates(WORDS_A.value), parse_candidates(WORDS_B.value))
    with place:
        asked = (*case, *words, TEMPLATE.value, STATE.value, STRENGTH.value)
        show(STEER, page, *asked, compute=Compute(name="steer", stage="Steering"))


@frame.fragment
def show_page(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    with st.container(key="what_if"):
        changes.keep_all(page.bert.config, page.trace)
        hidden.strip(page.trace, page.encoding, page.masked, key="what_if_strip")
        case = Case(*page.texts, page.masked, changes.chosen(page.trace.num_tokens))
        left, right = st.columns([4, 5], gap="large")
        with left:
            choose_changes(page, case)
        compared = None
        with right, frame.guard():
            compared = show_answers(page, case)
        if compared is not None:  # else the sentence beside the switches says why
            has_answer = compared.runs.shifts or compared.runs.next_before or compared.task
            if not (has_answer or OPENED.is_chosen):
                OPENED.put(["hidden"])
            if case.changes:  # else nothing moved, and both pictures would be empty
                show_hidden(page, case)
                show_attention(page, case)
            show_ranking(page, case, compared)
            show_steer(page, case)


def draw() -> None:
    """Draw the page; a word is hidden if none is, unless parts are changed."""
    page = frame.begin(PAGE, asks_word=not any(field.is_chosen for field in CHANGES))
    capabilities.needs(page, "parts")
    show_page(page)
