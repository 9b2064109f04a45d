"""Masked words: hide tokens, and see what BERT puts in their place."""

from collections.abc import Sequence

import streamlit as st

from bertcore.analysis.words.candidates import parse_candidates
from bertcore.analysis.words.next_words import end_of_text, predicted_places
from bertcore.analysis.words.predictions import (
    Filled,
    MaskPredictions,
    fill_in_turn,
    predict_masks,
    tracked_words,
)
from bertcore.analysis.words.surprise import example_mask, suggest_mask

from ..plots import percent, plain, shorten
from ..shell import (
    LAST_SEED,
    Compute,
    Field,
    cache,
    capabilities,
    caption,
    draw_again,
    frame,
    is_available,
    one_of,
    show,
)
from ..shell.links import MASK, MASKED
from ..token_strip.token_strip import token_strip
from . import PAGE
from .views import (
    CANDIDATES,
    LENS,
    MASKING,
    NEXT_SURPRISE,
    NEXT_WORDS,
    PREDICTIONS,
    RANKS,
    REPLACED,
    SURPRISE,
    WHOLE_SENTENCE,
)

MOST_IN_TURN = 16  # most masks that are also filled one after another; each costs a run
LENS_ROWS = 24  # tokens of the lens that are drawn at a time
BEST = 5  # pieces of the lens at a mask
AT_ONCE = 64  # most tokens of a text that is scored within the page's run; a longer one is queued
PERCENTAGES = (5, 10, 15, 25, 40)

TOP_K = Field("top_k", 5)
CANDIDATES_LINE = Field("candidates", "")
AT_THE_MASK, EVERY_TOKEN = "At the mask", "Whole sentence"
LENS_VIEW = Field("lens", AT_THE_MASK, (AT_THE_MASK, EVERY_TOKEN))
FIRST_TOKEN = Field("lens_start", 0)
RANKS_OPEN = Field("ranks", False)
SURPRISE_OPEN = Field("surprise", False)
PLACE = Field("next_token", 0)
SEED = Field("mask_seed", 1)
PERCENTAGE = Field("share", 15, PERCENTAGES)
MASKING_OPEN = Field("masking", False)

NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so it cannot predict words; fine-tuned "
    "checkpoints often lack it. Choose a pretrained one such as `default` in the sidebar."
)
NO_NEXT_TOKEN = (
    "This checkpoint has no next-token head, so it predicts nothing; fine-tuned checkpoints often "
    "lack it."
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
    if not is_available(LENS, page):
        return
    show_lens(page, masked, position)
    original = predictions.originals[predictions.positions.index(position)]
    followed = tracked_words(page.bert, predictions, position, own_words)
    show_ranks(page, masked, position, followed, original)


def show_predictions(page: frame.Page, masked: tuple[int, ...]) -> MaskPredictions:
    """Draw the most probable words of each mask."""
    TOP_K.key(low=3, high=15)
    arguments = (*page.texts, masked, TOP_K.value)
    predictions = page.compute(predict_masks, *arguments)
    show(PREDICTIONS, page, *arguments)
    capabilities.note(page, "mask")
    unknown = page.bert.tokenizer.unk_token
    if unknown in predictions.words:
        st.caption(
            f"{plain(unknown)} is not a word: it stands for every word that the vocabulary cannot "
            "read, as in the text that the checkpoint was trained on."
        )
    if 1 < len(predictions.positions) <= MOST_IN_TURN:
        st.markdown(
            "Filled one after another, the most certain first, with the earlier ones filled in: "
            + in_turn(page.compute(fill_in_turn, *page.texts, masked))
        )
    return predictions


def in_turn(steps: Sequence[Filled]) -> str:
    """Return the steps of filling several masks, as Markdown."""
    return " → ".join(
        f"**{plain(shorten(step.word))}** at {step.position} ({plain(percent(step.probability))})"
        for step in steps
    )


def mask_names(predictions: MaskPredictions) -> list[str]:
    """Return a short name for each mask, as plain text: where it is and what was there."""
    return [
        f"{predictions.mask} at {position}" if token is None else f"{shorten(token)} ({position})"
        for position, token in zip(predictions.positions, predictions.originals, strict=True)
    ]


def choose_mask(predictions: MaskPredictions) -> int:
    """Draw the controls below the bars; return the mask that the pictures below are about."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="large")
    row.slider("Words for each mask", 3, 15, key=TOP_K.name, width=200)
    names = dict(zip(predictions.positions, mask_names(predictions), strict=True))
    first = predictions.positions[0]
    key = MASK.key(default=first, options=list(names))
    if len(names) == 1:
        return first

    def name(position: int) -> str:
        return plain(names[position])

    position = row.pills("Look closer at", list(names), format_func=name, key=key)
    return first if position is None else position


def show_candidates(page: frame.Page, masked: tuple[int, ...], position: int) -> tuple[str, ...]:
    """Draw the scores of the visitor's own words; return the words."""
    st.header("Your own words", anchor=False)
    line = st.text_input(
        "Words to score at this mask, separated by commas",
        key=CANDIDATES_LINE.key(),
        placeholder="river, bank, hillside, New York",
    )
    words = parse_candidates(line)
    if not words:
        st.caption(
            "Try words that BERT did not suggest: rare or wrong ones, or several words in one "
            "place."
        )
        return words
    arguments = (*page.texts, masked, position, words)
    scored = page.compute(CANDIDATES.of, *arguments)
    for candidate in scored:
        if candidate.problem:
            st.warning(plain(candidate.problem))
    if not all(candidate.problem for candidate in scored):
        show(CANDIDATES, page, *arguments)
    return words


@frame.fragment
def show_lens(page: frame.Page, masked: tuple[int, ...], position: int) -> None:
    """Draw the prediction after each layer, for one mask or along the sentence."""
    st.header(LENS.question, anchor=False)
    if one_of("Lens", LENS_VIEW.options or (), LENS_VIEW) == AT_THE_MASK:
        show(LENS, page, *page.texts, masked, (position,), BEST)
    else:
        positions = choose_window(page.trace.num_tokens)
        show(LENS, page, *page.texts, masked, positions, BEST, drawn={"chart": WHOLE_SENTENCE})


def choose_window(num_tokens: int) -> tuple[int, ...]:
    """Return the positions of the lens: all, or as many as fit from the chosen one on."""
    last = num_tokens - LENS_ROWS
    if last <= 0:
        return tuple(range(num_tokens))
    start = st.slider("First token", 0, last, key=FIRST_TOKEN.key(low=0, high=last))
    return tuple(range(start, start + LENS_ROWS))


@frame.closed(RANKS.question, RANKS_OPEN)
def show_ranks(
    page: frame.Page,
    masked: tuple[int, ...],
    position: int,
    words: tuple[str, ...],
    original: str | None,
) -> None:
    """Draw the rank of each of `words` from layer to layer."""
    drawn = {"accent": original}
    show(RANKS, page, *page.texts, masked, position, words, drawn=drawn)


@frame.closed(SURPRISE.question, SURPRISE_OPEN)
def show_surprise(page: frame.Page) -> None:
    """Draw how much each token surprises BERT when it alone is hidden."""
    if page.trace.num_tokens <= AT_ONCE:
        show(SURPRISE, page, *page.texts, compute=cache.computed)
    else:
        show(SURPRISE, page, *page.texts, compute=Compute(stage="Hiding each token in turn"))


@frame.closed(MASKING.question, MASKING_OPEN, SEED, PERCENTAGE)
def show_masking(page: frame.Page) -> None:
    """Draw the 80/10/10 procedure on the sentence."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    key = SEED.key(low=0, high=LAST_SEED)
    seed = row.number_input("Seed", 0, LAST_SEED, step=1, width=140, key=key)
    draw_again(SEED, row)
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen tokens", names, PERCENTAGE, where=row, with_label=True)
    drawn = {"mask": page.marks.mask}
    with frame.guard():
        show(MASKING, page, *page.texts, seed, percentage / 100, drawn=drawn)


def show_next(page: frame.Page) -> None:
    """Draw what the model expects at the chosen token, given those before it, and all surprises."""
    if "next" not in page.bert.capabilities:
        st.warning(NO_NEXT_TOKEN)
        return
    num_tokens, end = page.trace.num_tokens, end_of_text(page.trace)
    PLACE.key(default=end, low=1, high=num_tokens)
    place = PLACE.value

    def pick(token: int) -> None:
        if token:
            PLACE.put(token)

    with frame.guard():
        selected = place if place < num_tokens else None
        token_strip(page.trace, key="next_strip", selected=selected, on_pick=pick)
        row = st.container(horizontal=True, vertical_alignment="center")
        label = "What comes after the end?"
        row.button(label, disabled=place == end, on_click=PLACE.put, args=(end,))
        row.caption("Click a token to see what was expected there, given the tokens before it.")
        TOP_K.key(low=3, high=15)
        predictions = show(NEXT_WORDS, page, *page.texts, (place,), TOP_K.value, with_caption=False)
        st.slider("Words", 3, 15, key=TOP_K.name, width=200)
        if predictions is not None:
            caption(NEXT_WORDS, predictions)
    if predicted_places(page.trace):
        st.header(NEXT_SURPRISE.question, anchor=False)
        with frame.guard():
            show(NEXT_SURPRISE, page, *page.texts)


def show_instead(page: frame.Page) -> bool:
    """Draw what a checkpoint has instead of masked words; return whether it has no masked words.

    A discriminator detects replaced tokens, GPT-2 predicts the next; others say why not.
    """
    if "replaced" in page.bert.capabilities:
        st.header(REPLACED.question, anchor=False)
        with frame.guard():
            show(REPLACED, page, *page.texts)
        return "mlm" not in page.bert.capabilities
    if "mlm" in page.bert.capabilities:
        return False
    if capabilities.never_has(page.bert, "mlm"):
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
