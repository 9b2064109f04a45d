"""Let it write: one network token by token, the other by filling a row of masks."""

from dataclasses import asdict
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bertcore.analysis.words.continuation import (
    Continuation,
    MaskWriting,
    WrittenScores,
    continue_text,
    is_unilm,
    score_written,
    write_with_masks,
)

from ..component import Component
from ..plots import plain
from ..plots.source_tables import markdown_table
from ..shell import (
    LAST_SEED,
    Compute,
    Field,
    Picture,
    Progress,
    cache,
    capabilities,
    draw_again,
    frame,
    one_of,
)
from .sights import BERT, GPT, Readers, name_of, result_or_reason

COMPONENT = Component("bertscope_writing", __file__)
HALF, WHOLE = STARTS = ("its first half", "all of it")
MOST_TOKENS = 20

START = Field("written_after", HALF, STARTS)
NUM = Field("written_tokens", 12)
TEMPERATURE = Field("temperature", 0.0)
SEED = Field("written_seed", 1)


class WrittenTexts(NamedTuple):
    """What both wrote after the same text."""

    before: str
    next: Continuation | str | None
    """A sentence if it cannot write; None if there is no such checkpoint."""
    masks: MaskWriting | str
    scores: dict[str, WrittenScores]
    """By network."""
    before_tokens: tuple[str, ...]
    """As the first one reads them."""


class WritingChoice(NamedTuple):
    """How they write."""

    before: str
    num_tokens: int
    temperature: float
    seed: int


def _table(written: WrittenTexts) -> pd.DataFrame:
    """Return a row for each written token, in the order of writing."""
    rows = []
    if isinstance(written.next, Continuation):
        rows += [
            (GPT, step, len(written.before_tokens) + step - 1, token.token, token.probability)
            for step, token in enumerate(written.next.written, start=1)
        ]
    if isinstance(written.masks, MaskWriting):
        rows += [
            (BERT, number, step.position, step.word, step.probability)
            for number, step in enumerate(written.masks.steps, start=1)
        ]
    names = ("network", "step", "position", "token", "probability")
    return pd.DataFrame(rows, columns=list(names))


WRITTEN = Picture(
    name="let-it-write",
    table=_table,
    how=(
        "The darker a word, the more probable it was. GPT predicts only the next token, which is "
        "what it was trained to do. BERT needs the number of words beforehand, runs over the whole "
        "text again for each, and meets what it never saw in training: a row of masks with nothing "
        "after it. A mask is filled while its neighbours may still be masks, so words are "
        "repeated; and no product of its guesses is the probability of a text. Both are small "
        "networks: how they write says more than what they write."
    ),
    code="""
from bertcore.analysis import write_with_masks

before = {before!r}
filled = write_with_masks(bert, before, {num})
filled.text, [(step.position, step.word, step.probability) for step in filled.steps]
{more}""",
)
TWIN_CODE = """
from bertcore.analysis import continue_text, score_written

went_on = continue_text(twin, before, {num}, temperature={temperature}, seed={seed})
went_on.text, [score_written(bert, {judge}, before, text) for text in (went_on.text, filled.text)]
"""


def show_writing(page: frame.Page, readers: Readers) -> None:
    """Draw what both write after the text."""
    if capabilities.tells_of(readers.bert, "mlm"):
        return
    if is_unilm(page.bert):
        readers = readers._replace(left=page.bert_key)
        st.caption(
            "This UniLM writes in both ways: a \\[MASK\\] after the text is filled under its "
            "left-to-right mask, then the next one after it; and the row of masks is filled under "
            "the mask of both sides."
        )
    choice = _choose(readers)
    written = Compute(name="let-it-write")(write_both, readers, choice)
    COMPONENT(key="writing", data=message(readers, written))
    for name, writing in ((_left_name(readers), written.next), (BERT, written.masks)):
        if isinstance(writing, str):
            st.caption(f"**{name}** writes nothing. {plain(writing)}")
    if readers.left is None:
        st.info(
            "No next-token network is open. Choose one in the sidebar, such as GPT-2 or one made "
            "by `bertscope pretrain --objective causal` (or `unilm`)."
        )
    _show_scores(written, _left_name(readers))
    more = ""
    if isinstance(written.next, Continuation):
        more = TWIN_CODE.format(
            num=choice.num_tokens,
            temperature=choice.temperature,
            seed=choice.seed,
            judge="None" if is_unilm(page.bert) else "twin",
        )
    if isinstance(written.masks, MaskWriting):
        WRITTEN.offer(
            page,
            written,
            setup=readers.setup,
            record=written,
            before=choice.before,
            num=choice.num_tokens,
            more=more,
        )


def _left_name(readers: Readers) -> str:
    """Return what the network that writes from the left is called."""
    return "UniLM" if readers.left is not None and is_unilm(cache.opened(readers.left)) else GPT


def _choose(readers: Readers) -> WritingChoice:
    """Draw the controls."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    start = one_of("After the text:", STARTS, START, where=row, with_label=True)
    row.slider("Tokens", 1, MOST_TOKENS, key=NUM.key(low=1, high=MOST_TOKENS), width=160)
    temperature, seed = 0.0, 0
    if readers.left is not None:
        key = TEMPERATURE.key(low=0.0, high=2.0)
        help = "0: the most probable token each time. 1: drawn from the network's probabilities."
        row.slider("Temperature", 0.0, 2.0, step=0.1, key=key, width=160, help=help)
        temperature = round(TEMPERATURE.value, 1)
        SEED.key(low=0, high=LAST_SEED)
        if temperature:
            seed = SEED.value
            draw_again(SEED, row)
    text = readers.running_text
    before = first_half(text) if start == HALF else text
    return WritingChoice(before, NUM.value, temperature, seed)


def first_half(text: str) -> str:
    """Return the first half of a text's words, at least one; letters if there are no spaces.

    >>> first_half("The old man sat on the mat."), first_half("one")
    ('The old man', 'one')
    """
    words = text.split()
    if len(words) > 1:
        return " ".join(words[: len(words) // 2])
    letters = text.strip()
    return letters[: len(letters) // 2] if len(letters) > 12 else letters


def write_both(readers: Readers, choice: WritingChoice, *, progress: Progress) -> WrittenTexts:
    """Return what both write, and how each network scores it."""
    bert, twin = readers.bert, None
    before, num_tokens, temperature, seed = choice
    next_tokens: Continuation | str | None = None
    before_tokens: tuple[str, ...] = ()
    if readers.left is not None:
        twin = cache.opened(readers.left)
        progress(0.05, "Writing token by token")
        encoding = twin.tokenize(before)
        tokens = zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
        before_tokens = tuple(token for token, is_added in tokens if not is_added)
        next_tokens = result_or_reason(
            continue_text, twin, before, num_tokens, temperature=temperature, seed=seed
        )
    progress(0.35, "Filling masks")
    masks = result_or_reason(write_with_masks, bert, before, num_tokens)
    progress(0.7, "Scoring both")
    scores = {}
    for name, writing in ((GPT, next_tokens), (BERT, masks)):
        if isinstance(writing, Continuation | MaskWriting) and writing.text.strip():
            judge = None if twin is None or is_unilm(twin) else twin
            score = result_or_reason(score_written, bert, judge, before, writing.text)
            if isinstance(score, WrittenScores):  # not of a text that fills all positions
                scores[name] = score
    return WrittenTexts(before, next_tokens, masks, scores, before_tokens)


def message(readers: Readers, written: WrittenTexts) -> dict[str, Any]:
    """Return the drawing's message."""
    following = masks = None
    if isinstance(written.next, Continuation) and readers.left is not None:
        following = {
            "name": f"{_left_name(readers)}: {name_of(readers.left)}",
            "before": written.before_tokens,
            "written": [asdict(token) for token in written.next.written],
        }
    if isinstance(written.masks, MaskWriting):
        steps = written.masks.steps
        masks = {
            "name": f"{BERT}: {name_of(readers.both)}",
            "tokens": steps[0].tokens,
            "places": written.masks.places,
            "steps": [
                {
                    "position": step.position,
                    "word": step.word,
                    "probability": step.probability,
                    "weights": step.weights.round(4).tolist(),
                }
                for step in steps
            ],
        }
    return {"next": following, "masks": masks}


def _show_scores(written: WrittenTexts, left: str) -> None:
    """Write how repetitive both texts are, and how probable each network finds them."""
    if not written.scores:
        return
    has_twin = any(score.perplexity is not None for score in written.scores.values())
    rows = []
    for name, score in written.scores.items():
        row = {
            "": f"**{left if name == GPT else name}** wrote",
            "Different tokens": f"{score.num_different} of {score.num_tokens}",
            "Repeated pairs of neighbours": f"{score.num_repeated} of {score.num_pairs}",
        }
        if has_twin:
            perplexity = "" if score.perplexity is None else f"{score.perplexity:,.1f}"
            row[f"Perplexity by {GPT}"] = perplexity
        row[f"Pseudo-perplexity by {BERT}"] = f"{score.pseudo_perplexity:,.1f}"
        rows.append(row)
    st.markdown(markdown_table(tuple(rows[0]), [tuple(row.values()) for row in rows]))
    st.caption(
        "A lower number means a more expected text, and repetition is easy to predict, so lower is "
        "not better. One text of this length cannot show a difference in quality."
    )
