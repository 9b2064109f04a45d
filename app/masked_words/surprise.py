"""How much each token surprises a model: hidden alone, read from the left, or replaced."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertcore import Model, Trace
from bertcore.analysis.words.next_words import (
    end_of_text,
    next_surprise,
    predict_next,
    predicted_places,
)
from bertcore.analysis.words.surprise import Surprise, surprise

from ..plots import percent, plain, theme
from ..plots.charts import Boxes
from ..shell import Compute, Field, Picture, cache, frame
from ..token_strip.token_strip import token_strip
from .predictions import BEST_WORDS, TOP_K, mask_titles

AT_ONCE = 64  # most tokens of a text that is scored within the page's run; a longer one is queued
CERTAIN_BITS = 12  # bits at the end of the surprise scale: one in 4,096
NO_HEAD = (
    "This checkpoint has no next-token head, so it predicts nothing; fine-tuned checkpoints often "
    "lack it."
)

SURPRISE_OPEN = Field("surprise", False)
PLACE = Field("next_token", 0)


def _guesses(surprise: Surprise) -> pd.DataFrame:
    """Return a row for each token."""
    return pd.DataFrame(
        {
            "position": surprise.positions,
            "token": surprise.tokens,
            "bits": surprise.bits,
            "best_guess": surprise.best_words,
            "p_best_guess": surprise.best_probabilities,
        }
    )


def _ticked(guesses: pd.DataFrame) -> list[str]:
    pairs = zip(guesses.token, guesses.best_guess, strict=True)
    return ["✓" if guess == token else guess for token, guess in pairs]


def _surprise_hover(guesses: pd.DataFrame) -> list[str]:
    return [
        f"<b>{theme.escape(row.token)}</b>: {row.bits:.1f} bits ({percent(2.0**-row.bits)})<br>"
        f"BERT's guess: {theme.escape(row.best_guess)} ({percent(row.p_best_guess)})"
        for row in guesses.itertuples()
    ]


SURPRISES = Boxes(
    table=_guesses,
    below=_ticked,
    value="bits",
    high=CERTAIN_BITS,
    hover=_surprise_hover,
    scale_title="surprise, bits",
    ticks={"tickvals": [0, 4, 8, CERTAIN_BITS], "ticktext": ["0", "4", "8", f"{CERTAIN_BITS}+"]},
)
SURPRISE = Picture(
    name="surprise",
    chart=SURPRISES,
    how=(
        "Each token in turn is hidden on its own, and BERT predicts it from the rest; a typed "
        "\\[MASK\\] stays masked. Colour is its surprise in bits: 0 means that it was certain, "
        "and each further bit halves the probability. Below each token is BERT's own guess, with "
        "✓ if it was right. Over the {num_tokens} tokens the pseudo-perplexity is "
        "**{perplexity}**: as if BERT had to choose among that many equally likely pieces each "
        "time (Salazar et al. 2020)."
    ),
    code="""
from bertcore.analysis.words.surprise import surprise

surprises = surprise(bert, trace.text_a, trace.text_b)
surprises.bits, surprises.pseudo_perplexity
""",
)
NEXT_WORDS = Picture(
    name="next-words",
    chart=BEST_WORDS,
    how=(
        "Each bar is the probability of one piece of the vocabulary at this place, given only the "
        "tokens before it; all pieces together make 100%. The pink bar is the token that the text "
        "has there."
    ),
    code="""
from bertcore.analysis.words.next_words import predict_next

predictions = predict_next(bert, trace.text_a, trace.text_b, [{place}], {top_k})
predictions.words, predictions.probabilities            # [1, k]
""",
)
NEXT_SURPRISE = Picture(
    name="next-surprise",
    chart=SURPRISES,
    how=(
        "Each token is predicted from those before it, in one run. Colour is its surprise in "
        "bits: 0 means that it was certain, and each further bit halves the probability. Below "
        "each token is the model's own guess, with ✓ if it was right. {left_out} The perplexity "
        "is **{perplexity}**: as if the model had to choose among that many equally likely "
        "pieces each time."
    ),
    code="""
from bertcore.analysis.words.next_words import next_surprise

surprises = next_surprise(bert, trace.text_a, trace.text_b)
surprises.bits, surprises.pseudo_perplexity
""",
)

REPLACED_P = "probability of being replaced"


def _replaced(result: tuple[Sequence[str], Sequence[float]]) -> pd.DataFrame:
    tokens, probabilities = result
    return pd.DataFrame({"token": tokens, REPLACED_P: probabilities})


REPLACED = Picture(
    name="replaced-tokens",
    chart=Boxes(
        table=_replaced,
        below=lambda tokens: tokens[REPLACED_P].map(percent),
        value=REPLACED_P,
        hover=lambda tokens: [
            f"<b>{theme.escape(token)}</b><br>{REPLACED_P}: {p:.1%}"
            for token, p in zip(tokens.token, tokens[REPLACED_P], strict=True)
        ],
        scale_title=REPLACED_P,
        ticks={"tickformat": ".0%"},
        space_above=60,
    ),
    how=(
        "ELECTRA's discriminator predicts for each token whether it was replaced by another. "
        "Write a wrong word in a sentence and see whether its box turns bright."
    ),
    code="""
bert.replaced_tokens(trace.text_a, trace.text_b)        # [T]
""",
)


@frame.closed("Which tokens surprise BERT?", SURPRISE_OPEN)
def show_surprise(page: frame.Page) -> None:
    """Draw how much each token surprises BERT when it alone is hidden."""
    with frame.guard():
        if page.trace.num_tokens <= AT_ONCE:
            surprises = cache.call(surprise, page.bert_key, *page.texts)
        else:
            compute = Compute(stage="Hiding each token in turn")
            surprises = compute(surprise, page.bert_key, *page.texts)
        perplexity = f"{surprises.pseudo_perplexity:,.1f}"
        SURPRISE.show(page, surprises, perplexity=perplexity, num_tokens=len(surprises.tokens))


def show_next(page: frame.Page) -> None:
    """Draw what the model expects at the chosen token, given those before it, and all surprises."""
    if "next" not in page.bert.capabilities:
        st.warning(NO_HEAD)
        return
    num_tokens, end = page.trace.num_tokens, end_of_text(page.trace)
    PLACE.key(default=end, low=1, high=num_tokens)
    place = PLACE.value

    def pick(token: int) -> None:
        if token:
            PLACE.put(token)

    with frame.guard():
        chosen = place if place < num_tokens else None
        token_strip(page.trace, key="next_strip", selected=chosen, on_pick=pick)
        row = st.container(horizontal=True, vertical_alignment="center")
        label = "What comes after the end?"
        row.button(label, disabled=place == end, on_click=PLACE.put, args=(end,))
        row.caption("Click a token to see what was expected there, given the tokens before it.")
        TOP_K.key(low=3, high=15)
        predictions = page.compute(predict_next, *page.texts, (place,), TOP_K.value)
        NEXT_WORDS.show(
            page,
            predictions,
            drawn={"titles": mask_titles(predictions)},
            with_caption=False,
            place=place,
            top_k=TOP_K.value,
        )
        st.slider("Words", 3, 15, key=TOP_K.name, width=200)
        NEXT_WORDS.caption()
    if predicted_places(page.trace):
        st.header("What surprises it, reading from left to right", anchor=False)
        with frame.guard():
            surprises = page.compute(next_surprise, *page.texts)
            perplexity = f"{surprises.pseudo_perplexity:,.1f}"
            left_out = _left_out(page.trace)
            NEXT_SURPRISE.show(page, surprises, perplexity=perplexity, left_out=left_out)


def _left_out(trace: Trace) -> str:
    """Return which tokens have no surprise: those that were added, or the first."""
    texts = zip(trace.tokens, trace.text_ids, strict=True)
    added = dict.fromkeys(plain(token) for token, text in texts if text < 0)
    if trace.text_ids[0] < 0:
        return f"Tokens that were added ({', '.join(added)}) are left out."
    return f"The first token ({plain(trace.tokens[0])}) has nothing before it."


def show_replaced(page: frame.Page) -> None:
    """Draw the probability that each token was replaced, by a discriminator."""
    st.header("Which words were replaced?", anchor=False)
    with frame.guard():
        probabilities = page.compute(Model.replaced_tokens, *page.texts)
        REPLACED.show(page, (page.trace.tokens, probabilities.tolist()))
