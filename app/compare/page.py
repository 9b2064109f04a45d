"""Compare: two checkpoints on the same text, such as before and after fine-tuning."""

from pathlib import Path

import streamlit as st

from bertcore.analysis.compare.checkpoints import limits
from bertcore.analysis.compare.weight_drift import WeightDrift, part_of

from ..access import checkpoints
from ..access.policy import policy
from ..plots import plain
from ..plots.drift import MEASURES, drift_grid, drift_table, other_bars, other_table
from ..run_folders import saved_checkpoints
from ..run_folders.folder_choice import choose_folder
from ..run_folders.runs import default_folder
from ..shell import Field, Picture, cache, consent, frame, one_of, sidebar
from ..shell.links import COMPARED_WITH, RUN, SUGGESTED
from . import PAGE
from .answers import show_answers
from .case import Case, in_order, open_both, opening_code, put_second
from .heads import VIEW, show_heads
from .layers import show_layers
from .sides import (
    Side,
    began_with,
    choices,
    open_other,
    shown_name,
    shown_names,
    sides,
    suggested,
)

MEASURE = Field("compare_measure", "relative", tuple(MEASURES))
NOT_FINITE = (
    "NaN or infinity in {count}: {names}. Such a drift is not a number, and its cell is empty."
)
OTHER_SHAPES = (
    "Not compared, since their shapes differ: {count}, such as {example} ({first} and {second})."
)
_CODE = """
from bertcore.analysis import weight_drift

drift = weight_drift(first, second)
drift.layers, drift.others, drift.tensors
"""
WEIGHTS = Picture(
    name="compare-weights",
    figure=drift_grid,
    table=drift_table,
    how=(
        "How far each matrix, with its bias, moved from the first to the second. Relative change: "
        "the Frobenius norm of the difference divided by that of the first; 10% is a tenth of its "
        "length. 1 − cosine: how far its direction turned, regardless of length. Fine-tuning moves "
        "the matrices of a small BERT by about 3 to 20%; between unrelated networks the change is "
        "over 100% and 1 − cosine is near 1."
    ),
    code=_CODE,
)
OTHERS = Picture(
    name="compare-others",
    figure=other_bars,
    table=other_table,
    how=(
        "The same measure for the parts outside the encoder's layers: embeddings, pooler, and the "
        "heads that both have. For parts of all zeros or NaN, this is written instead of a bar."
    ),
    code=_CODE,
)


def show_weights(case: Case) -> None:
    """Draw the drift of all weights."""
    drift = case.drift
    setup = opening_code(case)
    picture = st.container()
    measure = one_of("Measure", MEASURES, MEASURE)
    with picture:
        if drift.layers:
            drawn = {"measure": measure}
            WEIGHTS.show(None, drift, drawn=drawn, setup=setup, with_caption=False)
        else:
            st.info("No layer has matrices of the same shape in both, so no drift can be drawn.")
    WEIGHTS.caption()
    if drift.others:
        st.header("Outside the layers", anchor=False)
        OTHERS.show(None, drift, drawn={"measure": measure}, setup=setup)
    _note_left_out(case, drift)


def _note_left_out(case: Case, drift: WeightDrift) -> None:
    """State which tensors are not numbers, missing, or of other shapes."""
    if drift.not_finite:
        names = ", ".join(plain(name) for name in drift.not_finite[:3])
        count = len(drift.not_finite)
        names += f" and {count - 3} more" if count > 3 else ""
        st.error(NOT_FINITE.format(count=_tensors(count), names=names))
    for name, tensors in zip(case.names, (drift.only_first, drift.only_second), strict=True):
        if tensors:
            parts = dict.fromkeys(_part_words(tensor) for tensor in tensors)
            st.caption(f"Only {plain(name)} has: {plain(_listed(list(parts)))}.")
    if drift.mis_shaped:
        example, (one, two) = next(iter(drift.mis_shaped.items()))
        st.caption(
            OTHER_SHAPES.format(
                count=_tensors(len(drift.mis_shaped)),
                example=plain(example),
                first=" x ".join(map(str, one)),
                second=" x ".join(map(str, two)),
            )
        )


def _tensors(count: int) -> str:
    return "1 tensor" if count == 1 else f"{count:,} tensors"


def _part_words(tensor: str) -> str:
    layer, part = part_of(tensor)
    return part if layer is None else f"layer {layer}"


def _listed(parts: list[str]) -> str:
    return ", ".join(parts[:8]) + (f" and {len(parts) - 8} more" if len(parts) > 8 else "")


HELP = (
    "The sidebar's checkpoint is the first of the two, unless it is compared with the one that its "
    "training began with; then the order is before, after."
)
BEGAN_WITH = (
    "The training of {second} began with {first}, so {first} is the first of the two, and every "
    "difference below is what that training changed."
)
HOW_UNTRAINED = (
    "**untrained** has the shape and the vocabulary of {first} but random weights, so the "
    "difference is what training changed. Choose your own checkpoint above: `bertscope finetune` "
    "makes one, and so does a run on the Training page."
)
SAME_WEIGHTS = (
    "Both have the same weights (fingerprint {fingerprint}), so every difference below is zero; "
    "only a classifier's own layer, which is not part of the fingerprint, may differ."
)
HELP_FOLDER = (
    "A folder of pretraining runs, or of fine-tunings with keep_epochs, on the machine "
    "where BertScope runs."
)
NO_RUNS = (
    "No run in this folder has two saved checkpoints. The Training page starts runs and shows "
    "their folder; with `keep_epochs = true` in its recipe, `bertscope finetune` keeps the "
    "checkpoint of each epoch."
)


def choose(page: frame.Page) -> tuple[Side, Side]:
    """Draw the choice of the other checkpoint; return both, opened, in the order of the page.

    If the other does not open, one sentence shows why and the page ends.
    """
    own_source = page.bert_key.source
    row = st.container(horizontal=True, vertical_alignment="bottom", key="compare_choice")
    chosen = COMPARED_WITH.value or SUGGESTED
    options = list(dict.fromkeys([SUGGESTED, *choices(), chosen]))
    names = shown_names(options)
    hint = _hint(page.bert_key)
    row.selectbox(
        f"Compare {plain(shown_name(own_source))} with",
        options,
        key=COMPARED_WITH.key(),
        accept_new_options=not policy().is_closed,
        format_func=lambda source: (
            hint if source == SUGGESTED else names.get(source) or shown_name(source)
        ),
        on_change=lambda: consent.allow(COMPARED_WITH.value),
        help=f"{sidebar.how_to_choose()} {HELP}",
        width=420,
    )
    chosen = (COMPARED_WITH.value or SUGGESTED).strip()
    with frame.guard(stop=True):
        own_side, other_side = sides(page, chosen)
    first_side, second_side = in_order(own_side, other_side, chosen)
    row.button(
        "Swap",
        icon=":material/swap_horiz:",
        on_click=open_both,
        args=(second_side.key.source, first_side.key.source),
        disabled=other_side.is_untrained,
    )
    with row.popover("Two checkpoints of a run", icon=":material/history:"), frame.guard():
        _choose_saved(page.bert_key)
    open_other(other_side, put_second)
    if began_with(second_side.key) == first_side.key.source and not second_side.is_untrained:
        names = {
            "first": plain(first_side.name),
            "second": plain(second_side.name),
        }
        st.caption(BEGAN_WITH.format(**names))
    _note_limits(first_side, second_side)
    return first_side, second_side


def _hint(key: cache.BertKey) -> str:
    """Return what the suggestion is called in the list."""
    source = suggested(key)
    why = "what it began with" if source == began_with(key) else "suggested"
    return f"{shown_name(source)} ({why})"


def _note_limits(first: Side, second: Side) -> None:
    """State what cannot be compared, or that both have the same weights."""
    if second.is_untrained:
        name = plain(first.name)
        st.caption(HOW_UNTRAINED.format(first=name))
        return
    reports = [side.bert.report for side in (first, second)]
    prints = [None if report is None else report.fingerprint for report in reports]
    if prints[0] is not None and prints[0] == prints[1]:
        st.info(SAME_WEIGHTS.format(fingerprint=prints[0][:12]))
    limitations = cache.computed(limits, first.key, second.key)
    if limitations:
        st.warning("\n\n".join(plain(sentence) for sentence in limitations))


def _choose_saved(key: cache.BertKey) -> None:
    """Draw the choice of a run, by default the page's, and of two of its saved checkpoints."""
    default, own_prefix = default_folder(), ""
    own_run = saved_checkpoints.own_run(Path(key.place).expanduser())
    if own_run is not None:
        default, own_prefix = own_run
    folder = choose_folder(st.container(), default, HELP_FOLDER)
    runs = {} if folder is None else saved_checkpoints.of_runs(folder)
    if not runs:
        st.caption(NO_RUNS)
        return
    names = list(runs)
    usual = next((name for name in names if own_prefix and name.startswith(own_prefix)), names[0])
    run = st.selectbox("Run", names, key=RUN.key(default=usual, options=names))
    paths = {saved_checkpoints.label(path): path for path in runs[run]}
    left, right = st.columns(2)
    one = left.selectbox("First checkpoint", list(paths), key=f"compare_step_1_{run}")
    two = right.selectbox(
        "Second checkpoint", list(paths), index=len(paths) - 1, key=f"compare_step_2_{run}"
    )
    st.button(
        "Compare these checkpoints",
        on_click=open_both,
        args=tuple(checkpoints.name_of(paths[label]) for label in (one, two)),
    )


VIEWS = {
    "answers": ("Answers", show_answers),
    "heads": ("Heads", show_heads),
    "weights": ("Weights", show_weights),
    "texts": ("Layers over many texts", show_layers),
}


@frame.fragment
def show(case: Case) -> None:
    """Draw the chosen view; runs alone when a choice changes."""
    view = one_of("View", {name: title for name, (title, _) in VIEWS.items()}, VIEW)
    with frame.guard():
        VIEWS[view][1](case)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    first, second = choose(page)
    show(Case(first, second, page.text_a, page.text_b))
