"""Masked words: hide tokens, and see what BERT puts in their place."""

import pandas as pd
import streamlit as st

from bertcore.analysis.words.epoch_masks import Corruption, corrupt
from bertcore.analysis.words.predictions import tracked_words
from bertcore.analysis.words.surprise import example_mask, suggest_mask

from ..plots import Figure, plain, theme, token_flow
from ..plots.charts import box_bars
from ..shell import LAST_SEED, Field, Picture, capabilities, draw_again, frame, one_of
from ..shell.links import MASKED
from ..token_strip.token_strip import token_strip
from . import PAGE
from .lens import LENS, show_lens, show_ranks
from .predictions import choose_mask, show_candidates, show_predictions
from .surprise import show_next, show_replaced, show_surprise

PALE = "rgba(127, 134, 152, 0.16)"
"""Colour of a token that was not chosen."""
PERCENTAGES = (5, 10, 15, 25, 40)

SEED = Field("mask_seed", 1)
PERCENTAGE = Field("share", 15, PERCENTAGES)
MASKING_OPEN = Field("masking", False)

WHAT_HAPPENED = {
    None: "{token}: not chosen, no loss",
    "mask": "{token} is hidden behind {shown}; BERT has to predict {token}",
    "random": "{token} was replaced by {shown}; BERT has to predict {token}",
    "kept": "{token} stays, and BERT has to predict {token}",
}


def actions(mask: str = "[MASK]") -> dict[str, tuple[str, str]]:
    """Return the name and colour of each thing that becomes of a chosen token."""
    return {
        "mask": (f"became {theme.escape(mask)} (80%)", theme.SEGMENT_A),
        "random": ("became a random piece (10%)", theme.SEGMENT_B),
        "kept": ("kept, but still to be predicted (10%)", "#00805C"),
    }


def _tokens(drawn: Corruption) -> pd.DataFrame:
    columns = {"token": drawn.tokens, "shown": drawn.input_tokens, "action": drawn.actions}
    return pd.DataFrame(columns, dtype=object)  # a token that was not chosen keeps its None


def masking_strip(drawn: Corruption, *, mask: str = "[MASK]") -> Figure:
    """Draw the tokens in the colour of what became of each; those that were not chosen are pale.

    Args:
        mask: The checkpoint's mask token, for the legend.
    """
    tokens = list(zip(drawn.tokens, drawn.input_tokens, drawn.actions, strict=True))
    said = {None: "", "kept": "kept"}
    below = [said.get(action, f"was {token}") for token, _, action in tokens]
    boxes = token_flow.place(drawn.input_tokens, below)
    fig = Figure()
    kinds = [*actions(mask).items(), (None, ("not chosen", PALE))]
    for kind, (name, colour) in kinds:
        members = [i for i, (_, _, action) in enumerate(tokens) if action == kind]
        hover = [
            WHAT_HAPPENED[kind].format(token=theme.escape(token), shown=theme.escape(shown))
            for token, shown, _ in (tokens[i] for i in members)
        ]
        fig.add_trace(
            box_bars(
                [boxes[i] for i in members],
                name=name,
                text=[token_flow.two_lines(tokens[i][1], below[i]) for i in members],
                textposition="none" if kind is None else "inside",
                insidetextfont={"size": 13, "color": theme.WHITE},
                marker={"color": colour, "line_width": 0, "cornerradius": 5},
                customdata=hover,
            )
        )
    pale = [i for i, (_, _, action) in enumerate(tokens) if action is None]
    texts = [token_flow.two_lines(tokens[i][1]) for i in pale]
    token_flow.write(fig, [boxes[i] for i in pale], texts)
    token_flow.draw(fig, boxes, legend_height=34)
    fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return fig


MASKING = Picture(
    name="masking",
    figure=masking_strip,
    table=_tokens,
    how=(
        "The sentence as a pretraining example: {chosen} of its {num_tokens} tokens (\\[CLS\\] and "
        "\\[SEP\\] counted, but never chosen) must be predicted. Each becomes \\[MASK\\] with "
        "probability 80%, a random piece with 10%, and stays as it is with 10%. Since any token "
        "may be a random one, BERT must keep a representation of every token; the unchanged ones "
        "bias it towards the word that is there (Devlin et al. 2019). The draw is made by the code "
        "that pretrains our own BERT."
    ),
    code="""
from bertcore.analysis.words.epoch_masks import corrupt

drawn = corrupt(bert, trace.text_a, trace.text_b, seed={seed}, masked_lm_prob={probability})
drawn.input_tokens, drawn.actions
""",
)


@frame.closed("How is the training data masked?", MASKING_OPEN, SEED, PERCENTAGE)
def show_masking(page: frame.Page) -> None:
    """Draw the 80/10/10 procedure on the sentence."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    seed = row.number_input(
        "Seed",
        min_value=0,
        max_value=LAST_SEED,
        step=1,
        width=140,
        key=SEED.key(low=0, high=LAST_SEED),
    )
    draw_again(SEED, row)
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen tokens", names, PERCENTAGE, where=row, with_label=True)
    with frame.guard():
        probability = percentage / 100
        drawn = page.compute(corrupt, *page.texts, seed, probability)
        MASKING.show(
            page,
            drawn,
            drawn={"mask": page.marks.mask},
            seed=seed,
            probability=probability,
            chosen=drawn.num_chosen,
            num_tokens=len(drawn.tokens),
        )


NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so it cannot predict words; fine-tuned "
    "checkpoints often lack it. Choose a pretrained one such as `default` in the sidebar."
)


def choose_masks(page: frame.Page) -> tuple[int, ...]:
    """Draw the strip and return the hidden positions.

    If the visitor has hidden nothing, one word is hidden as an example.
    """
    mask = page.bert.tokenizer.mask_token
    words_of_text = zip(page.trace.tokens, page.trace.text_ids, strict=True)
    allowed = [i for i, (token, text) in enumerate(words_of_text) if text >= 0 and token != mask]
    MASKED.key(options=allowed)
    masked = MASKED.value

    def toggle(position: int) -> None:
        if position in allowed:
            MASKED.put(sorted({*masked} ^ {position}))

    def suggest() -> None:
        toggle(page.compute(suggest_mask, *page.texts, tuple(masked)))

    is_asked = bool(masked) or page.bert.tokenizer.mask_id in page.trace.input_ids
    example = [] if is_asked else [page.compute(example_mask, *page.texts)]
    shown = masked or example
    token_strip(page.trace, key="mask_strip", selected=None, on_pick=toggle, marked=shown)
    row = st.container(horizontal=True, vertical_alignment="center")
    done = len(masked) == len(allowed)
    icon = ":material/ink_eraser:"
    row.button("Hide a good word for me", icon=icon, on_click=suggest, disabled=done)
    show_all = ":material/visibility:"
    row.button("Show all", icon=show_all, on_click=lambda: MASKED.put([]), disabled=not masked)
    how = f"Click a token to hide it, click again to show it, or type {plain(mask)} above."
    if example:
        how = f"**{plain(page.trace.tokens[example[0]])}** is hidden as an example. {how}"
    row.caption(how)
    return tuple(shown)


@frame.fragment
def show_masks(page: frame.Page) -> None:
    """Draw everything that follows the hidden tokens; runs alone when they change."""
    masked = choose_masks(page)
    predictions = show_predictions(page, masked)
    position = choose_mask(predictions)
    own_words = show_candidates(page, masked, position)
    if not LENS.is_available(page):
        return
    show_lens(page, masked, position)
    original = predictions.originals[predictions.positions.index(position)]
    followed = tracked_words(page.bert, predictions, position, own_words)
    show_ranks(page, masked, position, followed, original)


def show_instead(page: frame.Page) -> bool:
    """Draw what a checkpoint has instead of masked words; return whether it has no masked words.

    A discriminator detects replaced tokens, GPT-2 predicts the next; others say why not.
    """
    if "replaced" in page.bert.capabilities:
        show_replaced(page)
        return "mlm" not in page.bert.capabilities
    if "mlm" in page.bert.capabilities:
        return False
    elif capabilities.never_has(page.bert, "mlm"):
        capabilities.tells(page, "mlm")
        frame.fragment(show_next)(page)
    else:
        st.warning(NO_MASKED_WORDS)
    return True


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    if all(text_id < 0 for text_id in page.trace.text_ids):
        frame.end_page()  # nothing can be hidden, and frame.begin says why
    if not show_instead(page):
        show_masks(page)
        show_surprise(page)
    hides_words = not any(capabilities.never_has(page.bert, what) for what in ("mask", "mlm"))
    if hides_words:  # otherwise it was not trained this way
        show_masking(page)
