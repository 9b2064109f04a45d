"""Objectives: one text under each pretraining objective, and one of them in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.objectives.answers import (
    ObjectiveAnswer,
    objective_answer,
    why_no_answer,
)
from bertcore.analysis.objectives.demo import (
    Looks,
    ObjectiveExample,
    count_objective,
    objective_example,
)
from bertcore.configs.data import MASKED_LM_PROB
from bertcore.objectives import OBJECTIVES, Objective
from bertcore.objectives.attention_masks import DIRECTIONS, Direction
from bertcore.objectives.counting import Counts

from ..epoch_masks.epochs import show_epochs
from ..plots.source_tables import links, markdown_table
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from ..sources.documents import DOCUMENTS
from . import PAGE, drawing
from .counts_figures import counts_figure, counts_table, shares
from .equal_time import equal_time_figure, equal_time_table, is_whole, measured
from .looks_figures import looks_map, looks_table

LAST_SEED = 999_999
ALL = "all"
DRAWN = "drawn"
OTHERS = tuple(one.text for one in DOCUMENTS)
"""Documents from which a random B may be drawn."""

OBJECTIVE = Field("shown_objective", ALL, (ALL, *OBJECTIVES), url="objective")
SEED = Field("objective_seed", 20)
PERCENTAGE = Field("objective_share", 15)
DIRECTION = Field("objective_mask", DRAWN, (DRAWN, *DIRECTIONS))
LOOKER = Field("objective_looks", 0)

FIRST_TERM = (
    " It is the loss of the masked words; the other term needs SpanBERT's own head, which is not "
    "read here."
)
DRAW = """
from bertcore.analysis.objectives.demo import objective_example

example = objective_example(
    bert, {name!r}, trace.text_a, trace.text_b,
    others={others!r}, seed={seed}, share={share}, direction={direction!r},
)
"""


def _tokens(example: ObjectiveExample) -> pd.DataFrame:
    """Return a row for each token of the encoder, or of the decoder if there is one."""
    if example.writes:
        return pd.DataFrame({"decoder_reads": example.decoder_reads, "writes": example.writes})
    return pd.DataFrame(
        {
            "reads": [token.text for token in example.reads],
            "became": [token.fate for token in example.reads],
            "must_come_out": [token.target for token in example.reads],
        }
    )


def _all_table(found: Sequence[tuple[str, ObjectiveExample | str]]) -> pd.DataFrame:
    """Return a row for each objective."""
    return pd.DataFrame([{"objective": name, **_summary(example)} for name, example in found])


def _summary(example: ObjectiveExample | str) -> dict[str, str]:
    if isinstance(example, str):
        return {"reads": "", "must_come_out": "", "why_not": example}
    targets = [token.target for token in example.reads if token.target]
    return {
        "reads": " ".join(token.text for token in example.reads),
        "must_come_out": example.verdict or " ".join(example.writes or targets),
        "why_not": "",
    }


OVERVIEW = Picture(
    name="objectives-all",
    table=_all_table,
    how=(
        "Each row is an objective, all on the same text: what was changed is coloured, and the "
        "places where loss is measured are underlined in pink. The expected output is below or "
        "after the arrow. Choose one to see it in detail."
    ),
    code="""
from bertcore.analysis.objectives.demo import objective_example
from bertcore.objectives import OBJECTIVES

examples = {{}}
for name in OBJECTIVES:
    try:
        examples[name] = objective_example(
            bert, name, trace.text_a, trace.text_b, others={others!r}, seed={seed}
        )
    except ValueError as reason:
        print(name, reason)
""",
)
EXAMPLE = Picture(
    name="objective",
    table=_tokens,
    how="The expected output is framed in pink. Loss is measured at {loss_at}.",
    code=DRAW + "example.reads, example.writes, example.verdict\n",
)
LOOKS = Picture(
    name="objective-looks",
    figure=looks_map,
    table=looks_table,
    how="The token of a row may attend to the blue columns. {looks}",
    code=DRAW + "example.looks[{number}].allowed\n",
)
COUNTS = Picture(
    name="objective-counts",
    figure=counts_figure,
    table=counts_table,
    how=(
        "Blue: this text, drawn {num_draws} times, with its 95% interval; {paper}. A short "
        "text cannot be divided exactly: a share is a whole number of tokens."
    ),
    code="""
from bertcore.analysis.objectives.demo import count_objective

counts = count_objective(
    bert, {name!r}, trace.text_a, trace.text_b, others={others!r}, seed={seed}, share={share},
)
counts.rates
""",
)
EQUAL_TIME = Picture(
    name="objectives-equal-time",
    figure=equal_time_figure,
    table=equal_time_table,
    how=(
        "A dot is an objective's median over {seeds} fine-tuning seeds, the line their range. Pink "
        "is BERT's own recipe, trained twice; a dot within the band of its two runs cannot be "
        "distinguished from it. No dot means that the objective has no such head. All networks had "
        "{layers} layers of width {hidden}, the same text and {minutes:g} minutes on one core, "
        "{low:.1f} to {high:.1f} million tokens, so the order says nothing about long runs: an "
        "objective that learns from more places per step, as ELECTRA does, costs more per step "
        "here. ALBERT's layers share their weights. Lower loss is better; it is measured on BERT's "
        "masks, and 100/0/0, span-sbo and plm were trained on others. Minimal pairs and BLiMP are "
        "scored without fine-tuning."
    ),
    code="""
import json

from bertscope.app_root import find_app_root

# Measured by `python -m benchmarks objectives`, which trains and fine-tunes every row.
file = find_app_root() / "app" / "objectives" / "equal_time.json"
found = json.loads(file.read_text(encoding="utf-8"))
found["rows"]
""",
)
LOOKERS: Mapping[str, str] = MappingProxyType(
    {
        "decoder": "Left of the line are the encoder's tokens, right of it the decoder's own; "
        "those still to be written are hidden.",
        "content stream": "The content stream: a token sees itself, and what comes before it in "
        "the order.",
        "query stream": "The query stream, from which tokens are predicted: no token sees itself.",
    }
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        _show(page)


def _show(page: frame.Page) -> None:
    name, seed = _choose_objective()
    if name != ALL:
        _show_one(page, OBJECTIVES[name], seed)
        return
    found = page.compute(_all, *page.texts, seed)
    rows = [drawing.shown(one, example) for one, example in found]
    data = drawing.message(rows, page.marks.mask, in_detail=False)
    drawing.draw(data, on_pick=_pick)
    OVERVIEW.offer(page, found, record=dict(found), seed=seed, others=OTHERS)
    if is_whole():
        _show_equal_time()


def _show_equal_time() -> None:
    """Draw the scores of networks trained with each objective for the same time."""
    st.subheader("Trained for the same time", anchor=False)
    found = measured()
    tokens = [number / 1e6 for number in found.num_tokens.values()]
    settings = found.settings
    EQUAL_TIME.show(
        None,
        found,
        setup="",
        seeds=settings["fine-tuning seeds"],
        layers=settings["layers"],
        hidden=settings["hidden"],
        minutes=settings["minutes"],
        low=min(tokens),
        high=max(tokens),
    )


def _pick(name: str) -> None:
    """Choose an objective, with its paper's share."""
    OBJECTIVE.put(name)
    share = None if name == ALL else OBJECTIVES[name].share
    if share is not None:
        PERCENTAGE.put(round(100 * share))


def _choose_objective() -> tuple[str, int]:
    """Draw the choice of an objective and of a draw; return both."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    SEED.key(low=0, high=LAST_SEED)  # a link may ask for a number that is none
    seed = SEED.value
    names = {ALL: "All, side by side"}
    names |= {one: f"{entry.title} ({entry.model})" for one, entry in OBJECTIVES.items()}
    row.selectbox(
        "Objective",
        list(names),
        format_func=names.__getitem__,
        key=OBJECTIVE.key(),
        on_change=lambda: _pick(OBJECTIVE.value),
        width=340,
    )
    name = OBJECTIVE.value
    if name != ALL:
        row.button("All, side by side", icon=":material/arrow_back:", on_click=_pick, args=(ALL,))
    row.button(
        "Draw again",
        type="primary",
        icon=":material/casino:",
        on_click=lambda: SEED.put((seed + 1) % (LAST_SEED + 1)),
    )
    return name, seed


def _show_one(page: frame.Page, entry: Objective, seed: int) -> None:
    """Draw one objective in detail."""
    st.header(entry.title, anchor=False)
    st.markdown(f"{entry.idea} *{plain(entry.model)}: {plain(entry.paper)}*")
    share, direction = _choose(entry)
    values: dict[str, Any] = {
        "name": entry.name,
        "others": OTHERS if entry.name == "next-sentence" else (),
        "seed": seed,
        "share": share,
        "direction": direction,
    }
    arguments = tuple(values.values())
    with frame.guard():
        try:
            example: ObjectiveExample = page.compute(_example, *page.texts, *arguments)
        except ValueError as reason:  # the text does not suit this objective
            st.info(plain(frame.sentence_of(reason)))
        else:
            _show_example(page, entry, example, arguments, values)
            _show_counts(page, entry, arguments, values)
            if entry.name == "masked-words" and "mlm" in page.bert.capabilities:
                st.subheader("Static and dynamic masks", anchor=False)
                text = f"{page.text_a} {page.text_b or ''}"
                show_epochs(page, text, seed=seed, share=share or MASKED_LM_PROB)
    _show_loss(entry)
    _show_claims(entry)


def _choose(entry: Objective) -> tuple[float | None, Direction | None]:
    """Draw the controls of an objective; return the share, None for the paper's, and the mask."""
    share, direction = None, None
    row = st.container(horizontal=True, vertical_alignment="bottom")
    if entry.share is not None:
        usual = round(100 * entry.share)
        key = PERCENTAGE.key(default=usual, low=1, high=99)
        percentage = row.slider("Hidden", 1, 99, format="%d%%", key=key, width=300)
        share = None if percentage == usual else percentage / 100
    if entry.name == "unilm":
        chosen = one_of("Mask", (DRAWN, *DIRECTIONS), DIRECTION, where=row, with_label=True)
        direction = next((one for one in DIRECTIONS if one == chosen), None)
    return share, direction


def _show_example(
    page: frame.Page,
    entry: Objective,
    example: ObjectiveExample,
    arguments: tuple[Any, ...],
    values: dict[str, Any],
) -> None:
    """Draw what goes in and comes out, the checkpoint's answer, and the attention mask."""
    reason = why_no_answer(page.bert, entry.name)
    answer: ObjectiveAnswer | None = None
    if reason is None:
        answer = page.compute(_answer, *page.texts, *arguments)
    drawing.draw(
        drawing.message(
            [drawing.shown(entry.name, example, answer)],
            page.marks.mask,
            in_detail=True,
        )
    )
    for ends in example.ends:
        span = " ".join(ends.span)
        st.markdown(
            f"From both ends: **{plain(ends.left)}** … **{plain(ends.right)}** → {plain(span)}"
        )
    if example.direction and values["direction"] is None:
        st.markdown(f"Mask drawn: **{example.direction}**.")
    for note in example.notes:
        st.caption(plain(note))
    if answer is None:
        st.caption(f"**No answer.** {plain(frame.sentence_of(ValueError(reason)))}")
    elif answer.places:
        term = FIRST_TERM if example.ends else ""
        st.markdown(
            f"This checkpoint's mean loss here is **{answer.loss:.2f}** nats, over "
            f"{len(answer.places)} place{'s' if len(answer.places) > 1 else ''}.{term}"
        )
    EXAMPLE.offer(page, example, record=example, loss_at=entry.loss_at, **values)
    _show_looks(page, example, values)


def _show_looks(page: frame.Page, example: ObjectiveExample, values: dict[str, Any]) -> None:
    """Draw which tokens may attend to which."""
    st.subheader("Which tokens may attend to which", anchor=False)
    names = {number: looks.name for number, looks in enumerate(example.looks)}
    number = 0
    if len(names) > 1:
        number = one_of("Attention", names, LOOKER)
    looks: Looks = example.looks[number]
    LOOKS.show(page, looks, number=number, looks=_who_looks(looks), **values)


def _who_looks(looks: Looks) -> str:
    """Return the sentence on a map: an encoder's is full, one-sided or a prefix."""
    if looks.name in LOOKERS:
        return LOOKERS[looks.name]
    if looks.allowed.all():
        return "Each token attends to all of them, on both sides."
    if not np.triu(looks.allowed, 1).any():
        return "Each token attends to itself and to those before it."
    if not np.tril(looks.allowed, -1).any():
        return "Each token attends to itself and to those after it."
    return (
        "The tokens of text A attend to all of A; those of text B to A, to themselves and to those "
        "before them."
    )


def _show_counts(
    page: frame.Page, entry: Objective, arguments: tuple[Any, ...], values: dict[str, Any]
) -> None:
    """Draw what 1,000 draws give, beside the paper's shares."""
    if not entry.rates:
        return
    st.subheader("1,000 draws", anchor=False)
    name, others, seed, share, _ = arguments
    counts: Counts = page.compute(_counts, *page.texts, name, others, seed, share)
    for one in counts.rates:
        if one.unit:
            early = " In a short text, spans end early." if one.high < one.expected else ""
            note = f" ({one.note})" if one.note else ""
            st.markdown(
                f"{plain(one.name).capitalize()}: **{one.mean:.2f}** ({one.low:.2f} to "
                f"{one.high:.2f}); the paper: **{one.expected:.1f}**{note}.{early}"
            )
    if shares(counts):
        has_paper = any(one.paper is not None for one in shares(counts))
        COUNTS.show(
            page,
            counts,
            drawn={"marks": page.marks},
            num_draws=f"{counts.num_draws:,}",
            paper="pink: the paper" if has_paper else "the paper gives no share",
            **values,
        )


def _show_loss(entry: Objective) -> None:
    st.subheader("The loss", anchor=False)
    st.latex(entry.formula)
    st.caption(entry.symbols)


def _show_claims(entry: Objective) -> None:
    """Write common misconceptions."""
    st.subheader("Common misconceptions", anchor=False)
    rows = [(claim.told, claim.true, links(claim.source)) for claim in entry.wrong]
    st.markdown(markdown_table(("Claim", "Fact", "Source"), rows))


def _all(
    bert: Model, text_a: str, text_b: str | None, seed: int
) -> tuple[tuple[str, ObjectiveExample | str], ...]:
    """Return each objective's draw, or a sentence on why there is none."""
    found: list[tuple[str, ObjectiveExample | str]] = []
    for name in OBJECTIVES:
        try:
            example = objective_example(bert, name, text_a, text_b, others=OTHERS, seed=seed)
            found.append((name, example))
        except ValueError as error:
            found.append((name, frame.sentence_of(error)))
    return tuple(found)


def _example(
    bert: Model,
    text_a: str,
    text_b: str | None,
    name: str,
    others: tuple[str, ...],
    seed: int,
    share: float | None,
    direction: Direction | None,
) -> ObjectiveExample:
    return objective_example(
        bert, name, text_a, text_b, others=others, seed=seed, share=share, direction=direction
    )


def _answer(
    bert: Model,
    text_a: str,
    text_b: str | None,
    name: str,
    others: tuple[str, ...],
    seed: int,
    share: float | None,
    direction: Direction | None,
) -> ObjectiveAnswer:
    return objective_answer(
        bert, name, text_a, text_b, others=others, seed=seed, share=share, direction=direction
    )


def _counts(
    bert: Model,
    text_a: str,
    text_b: str | None,
    name: str,
    others: tuple[str, ...],
    seed: int,
    share: float | None,
) -> Counts:
    return count_objective(bert, name, text_a, text_b, others=others, seed=seed, share=share)
