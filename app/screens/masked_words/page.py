"""Masked words: hide tokens, and see what BERT puts in their place."""

import streamlit as st

from bertcore.analysis.words.candidates import parse_candidates
from bertcore.analysis.words.next_words import end_of_text, predicted_places
from bertcore.analysis.words.predictions import (
    MaskPredictions,
    fill_in_turn,
    predict_masks,
    tracked_words,
)
from bertcore.analysis.words.surprise import suggest_mask

from ...parts.token_strip.token_strip import token_strip
from ...plots import percent, plain, shorten
from ...shell import (
    LAST_SEED,
    Compute,
    Field,
    cache,
    caption,
    draw_again,
    frame,
    hidden,
    is_available,
    one_of,
    show,
)
from ...shell.links import MASK
from ...shell.pictures import capabilities
from ...shell.words import tr
from . import PAGE, views

MOST_IN_TURN = 16  # most masks that are also filled one after another; each costs a run
LENS_ROWS = 24  # tokens of the lens that are drawn at a time
BEST = 5  # pieces of the lens at a mask
AT_ONCE = 64  # most tokens of a text that is scored within the page's run; a longer one is queued
PERCENTAGES = (5, 10, 15, 25, 40)

TOP_K = Field("top_k", 5)
CANDIDATES_OPEN = Field("own_words", False)
CANDIDATES_LINE = Field("candidates", "")
AT_THE_MASK, EVERY_TOKEN = "At the mask", "Whole sentence"
LENS_VIEW = Field("lens", AT_THE_MASK, (AT_THE_MASK, EVERY_TOKEN))
LENS_OPEN = Field("after_layers", False)
FIRST_TOKEN = Field("lens_start", 0)
RANKS_OPEN = Field("ranks", False)
ATTRIBUTION_OPEN = Field("attribution", False)
RANDOM_OPEN = Field("random_weights", False)
GUESS = Field("guess", "")  # empty for the most probable
SURPRISE_OPEN = Field("surprise", False)
CONTINUATIONS_OPEN = Field("continuations", False)
CONTINUATIONS_LINES = Field("continuation", "")
PLACE = Field("next_token", 0)
SEED = Field("mask_seed", 1)
PERCENTAGE = Field("share", 15, PERCENTAGES)
MASKING_OPEN = Field("masking", False)

NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so it cannot predict words; fine-tuned "
    "checkpoints often lack it. Choose a pretrained one such as `default` in the sidebar."
)
UNKNOWN = (
    "{unknown} is not a word: it stands for every word that the vocabulary cannot read, as in the "
    "text that the checkpoint was trained on."
)
IN_TURN = "Filled one after another, the most certain first, with the earlier ones filled in:"
NO_NEXT_TOKEN = (
    "This checkpoint has no next-token head, so it predicts nothing; fine-tuned checkpoints often "
    "lack it."
)


def choose_masks(page: frame.Page) -> tuple[int, ...]:
    """Draw the strip, in which a click hides a token; return the hidden positions."""
    tokenizer, trace, masked = page.bert.tokenizer, page.trace, page.masked

    def suggest() -> None:
        hidden.toggle(page.compute(suggest_mask, *page.texts, masked))

    hidden.strip(trace, page.encoding, masked, key="mask_strip")
    row = st.container(horizontal=True, vertical_alignment="center")
    inputs = zip(trace.text_ids, trace.input_ids, strict=True)
    done = all(text < 0 or piece == tokenizer.mask_id for text, piece in inputs)
    icon = ":material/ink_eraser:"
    row.button(tr("Hide a good word for me"), icon=icon, on_click=suggest, disabled=done)
    row.caption(tr("Click a word to hide it, or type {mask}.", mask=plain(page.marks.mask)))
    with frame.more(row):
        st.slider(tr("Words for each mask"), 3, 15, key=TOP_K.key(low=3, high=15), width=200)
    return masked


@frame.fragment
def show_masks(page: frame.Page) -> None:
    """Draw everything that follows the hidden tokens; runs alone when they change."""
    masked = choose_masks(page)
    if page.bert.tokenizer.mask_id not in page.trace.input_ids:
        st.info(tr("Nothing is hidden, so there is no word to guess. Click one above."))
        return
    predictions = show_predictions(page, masked)
    position = choose_mask(predictions)
    if is_available(views.LENS, page):
        show_lens(page, masked, position)
    show_candidates(page, masked, position)
    if "lens" not in page.bert.capabilities:
        return
    own_words = parse_candidates(CANDIDATES_LINE.value)
    original = predictions.originals[predictions.positions.index(position)]
    followed = tracked_words(page.bert, predictions, position, own_words)
    show_ranks(page, masked, position, followed, original)
    best = str(predictions.words[predictions.positions.index(position), 0])
    show_attribution(page, position, tuple(dict.fromkeys((best, *followed))))


def show_predictions(page: frame.Page, masked: tuple[int, ...]) -> MaskPredictions:
    """Draw the most probable words of each mask."""
    arguments = (*page.texts, masked, TOP_K.value)
    predictions = page.compute(predict_masks, *arguments)
    show(views.PREDICTIONS, page, *arguments)
    capabilities.note(page, "mask")
    unknown = page.bert.tokenizer.unk_token
    if unknown in predictions.words:
        st.caption(tr(UNKNOWN, unknown=plain(unknown)))
    if 1 < len(predictions.positions) <= MOST_IN_TURN:
        steps = " → ".join(
            f"{step.position}: **{plain(shorten(step.word))}** ({percent(step.probability)})"
            for step in page.compute(fill_in_turn, *page.texts, masked)
        )
        st.markdown(f"{tr(IN_TURN)} {steps}")
    return predictions


def mask_names(predictions: MaskPredictions) -> list[str]:
    """Return a short name for each mask, as plain text: where it is and what was there."""
    return [
        f"{predictions.mask if token is None else shorten(token)} ({position})"
        for position, token in zip(predictions.positions, predictions.originals, strict=True)
    ]


def choose_mask(predictions: MaskPredictions) -> int:
    """Draw the choice among several masks; return the one that the pictures below are about."""
    names = dict(zip(predictions.positions, mask_names(predictions), strict=True))
    first = predictions.positions[0]
    key = MASK.key(default=first, options=list(names))
    if len(names) == 1:
        return first
    named = {position: plain(name) for position, name in names.items()}
    position = st.pills(tr("Look closer at"), list(named), format_func=named.__getitem__, key=key)
    return first if position is None else position


@frame.closed(views.CANDIDATES.question, CANDIDATES_OPEN, CANDIDATES_LINE, alone=False)
def show_candidates(page: frame.Page, masked: tuple[int, ...], position: int) -> None:
    """Draw the scores of the visitor's own words."""
    line = st.text_input(
        tr("Words to score at this mask, separated by commas"),
        key=CANDIDATES_LINE.key(),
        placeholder="river, bank, hillside, New York",
    )
    words = parse_candidates(line)
    if not words:
        st.caption(tr("Try words that BERT did not suggest: rare, wrong, or several in one place."))
        return
    arguments = (*page.texts, masked, position, words)
    scored = page.compute(views.CANDIDATES.of, *arguments)
    for candidate in scored:
        if candidate.problem:
            st.warning(plain(candidate.problem))
    if not all(candidate.problem for candidate in scored):
        show(views.CANDIDATES, page, *arguments)


@frame.closed(views.LENS.question, LENS_OPEN, LENS_VIEW, FIRST_TOKEN)
def show_lens(page: frame.Page, masked: tuple[int, ...], position: int) -> None:
    """Draw the prediction after each layer, for one mask or along the sentence."""
    chart, positions = views.LENS.chart, [position]
    if one_of("Lens", LENS_VIEW.options or (), LENS_VIEW) == EVERY_TOKEN:
        chart, positions = views.WHOLE_SENTENCE, choose_window(page.trace.num_tokens)
    show(views.LENS, page, *page.texts, masked, tuple(positions), BEST, drawn={"chart": chart})


def choose_window(num_tokens: int) -> list[int]:
    """Return the positions of the lens: all, or as many as fit from the chosen one on."""
    last = num_tokens - LENS_ROWS
    if last <= 0:
        return list(range(num_tokens))
    start = st.slider(tr("First token"), 0, last, key=FIRST_TOKEN.key(low=0, high=last))
    return list(range(start, start + LENS_ROWS))


@frame.closed(views.RANKS.question, RANKS_OPEN)
def show_ranks(
    page: frame.Page,
    masked: tuple[int, ...],
    position: int,
    words: tuple[str, ...],
    original: str | None,
) -> None:
    """Draw the rank of each of `words` from layer to layer."""
    drawn = {"accent": original}
    show(views.RANKS, page, *page.texts, masked, position, words, drawn=drawn)


@frame.closed(views.ATTRIBUTION.question, ATTRIBUTION_OPEN, GUESS, RANDOM_OPEN)
def show_attribution(page: frame.Page, position: int, words: tuple[str, ...]) -> None:
    """Draw the share of each token in a word's logit, and the check by random weights."""
    word = st.selectbox(tr("Word"), words, key=GUESS.key(default=words[0], options=words))
    show(views.ATTRIBUTION, page, position, word, drawn={"is_dark": page.is_dark})
    if "parts" in page.bert.capabilities:
        show_random_weights(page, position, word)


@frame.closed(views.RANDOM_WEIGHTS.question, RANDOM_OPEN, alone=False, is_small=True)
def show_random_weights(page: frame.Page, position: int, word: str) -> None:
    """Draw how alike the shares remain with random weights."""
    show(views.RANDOM_WEIGHTS, page, position, word)


@frame.closed(views.SURPRISE.question, SURPRISE_OPEN)
def show_surprise(page: frame.Page) -> None:
    """Draw how much each token surprises BERT when it alone is hidden."""
    if page.masked:
        st.caption(tr("Here each token is hidden alone: the others are read as they are typed."))
    is_short = page.trace.num_tokens <= AT_ONCE
    compute = cache.computed if is_short else Compute(stage="Hiding each token in turn")
    show(views.SURPRISE, page, *page.texts, compute=compute)


@frame.closed(views.CONTINUATIONS.question, CONTINUATIONS_OPEN, CONTINUATIONS_LINES)
def show_continuations(page: frame.Page) -> None:
    """Draw the scores of the visitor's own continuations of text A."""
    typed = st.text_area(
        tr("Continuations of sentence A, one per line"),
        key=CONTINUATIONS_LINES.key(),
        height="content",
        max_chars=2000,
        placeholder="and went in.\nwith a key.",
    )
    lines = tuple(dict.fromkeys(line.strip() for line in typed.splitlines() if line.strip()))
    if lines:
        show(views.CONTINUATIONS, page, page.texts[0], lines)


@frame.closed(views.MASKING.question, MASKING_OPEN, SEED, PERCENTAGE)
def show_masking(page: frame.Page) -> None:
    """Draw the 80/10/10 procedure on the sentence."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    key = SEED.key(low=0, high=LAST_SEED)
    seed = row.number_input(tr("Seed"), 0, LAST_SEED, step=1, width=140, key=key)
    draw_again(SEED, row)
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen tokens", names, PERCENTAGE, where=row, with_label=True)
    drawn = {"mask": page.marks.mask}
    with frame.guard():
        show(views.MASKING, page, *page.texts, seed, percentage / 100, drawn=drawn)


def show_next(page: frame.Page) -> None:
    """Draw what the model expects at the chosen token, given those before it, and all surprises."""
    if "next" not in page.bert.capabilities:
        st.warning(tr(NO_NEXT_TOKEN))
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
        label = tr("What comes after the end?")
        row.button(label, disabled=place == end, on_click=PLACE.put, args=(end,))
        row.caption(tr("Click a token to see what was expected there, given the tokens before it."))
        TOP_K.key(low=3, high=15)
        predictions = show(
            views.NEXT_WORDS, page, *page.texts, (place,), TOP_K.value, with_caption=False
        )
        st.slider(tr("Words"), 3, 15, key=TOP_K.name, width=200)
        if predictions is not None:
            caption(views.NEXT_WORDS, predictions)
    if predicted_places(page.trace):
        st.header(tr(views.NEXT_SURPRISE.question), anchor=False)
        with frame.guard():
            show(views.NEXT_SURPRISE, page, *page.texts)


def show_instead(page: frame.Page) -> bool:
    """Draw what a checkpoint has instead of masked words; return whether it has no masked words.

    A discriminator detects replaced tokens, GPT-2 predicts the next; others say why not.
    """
    if "replaced" in page.bert.capabilities:
        st.header(tr(views.REPLACED.question), anchor=False)
        with frame.guard():
            show(views.REPLACED, page)
        return "mlm" not in page.bert.capabilities
    if "mlm" in page.bert.capabilities:
        return False
    if capabilities.never_has(page.bert, "mlm"):
        capabilities.tells(page, "mlm")
        frame.fragment(show_next)(page)
    else:
        st.warning(tr(NO_MASKED_WORDS))
    return True


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, asks_word=True)
    if all(text_id < 0 for text_id in page.trace.text_ids):
        frame.end_page()  # nothing can be hidden, and frame.begin says why
    if not show_instead(page):
        show_masks(page)
        show_surprise(page)
    if page.bert.capabilities & {"mlm", "next"}:
        show_continuations(page)
    hides_words = not any(capabilities.never_has(page.bert, what) for what in ("mask", "mlm"))
    if hides_words:  # otherwise it was not trained this way
        show_masking(page)
