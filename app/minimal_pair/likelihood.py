"""Which of two versions is more probable, token by token, scored as on Grammar exam."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bertcore.grammar import reads_from_left, token_log_likelihoods
from bertcore.grammar.exam import TIE

from ..plots.formats import exactly
from ..shell import cache, frame
from ..shell.cache import Texts
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from ..shell.picture import Picture
from .compared import Compared, drawn_columns, note_left_out
from .figures import RUNS
from .likelihood_figures import Likelihoods, likelihood_rows, likelihood_table

AT_ONCE = 64
"""Most tokens of a version that is scored within the page's run; a longer one is queued."""

HIDDEN = (
    "each token is hidden in turn, with the pieces after it in its word, and predicted from all "
    "the others"
)
FROM_LEFT = "each token is predicted from those before it"
LEFT_CODE = """from bertcore.grammar import log_likelihoods

log_likelihoods(bert, texts)                # the sums, nats
"""
HIDDEN_CODE = """from bertcore.grammar import pseudo_log_likelihoods

pseudo_log_likelihoods(bert, texts)         # the sums, nats
for text in texts:
    places = [i for i, added in enumerate(text.special_tokens_mask) if not added]
    print(pseudo_log_likelihoods(bert, [text] * len(places), positions=[[i] for i in places]))
"""
LIKELIHOOD = Picture(
    name="minimal-pair-likelihood",
    figure=likelihood_rows,
    table=likelihood_table,
    how=(
        "The log-probability of each token, in nats: {scored}. Yellow is expected, dark "
        "surprising. A version's score is the sum, as on **Grammar exam**; one with more tokens "
        "sums more terms. Below is the difference of aligned tokens: blue where the first version "
        "is ahead."
    ),
    code="""
second = bert.trace({texts})
texts = [bert.tokenize(one.text_a, one.text_b) for one in (trace, second)]
{score}""",
)


def can_score(page: frame.Page, compared: Compared) -> bool:
    """Return whether both versions are whole texts that the checkpoint gives a probability."""
    bert = page.bert
    if not (reads_from_left(bert) or {"mlm", "mask"} <= bert.capabilities):
        return False
    return bert.tokenizer.mask_id not in {*compared.first.input_ids, *compared.second.input_ids}


def show_likelihood(page: frame.Page, compared: Compared) -> None:
    """Draw the verdict, and the log-probability of each token in both versions."""
    with frame.guard():
        first, second = (
            _scored(page, trace.text_a, trace.text_b, f"likelihood-{run}", trace.num_tokens)
            for run, trace in zip(RUNS, (compared.first, compared.second), strict=True)
        )
        if first is None or second is None:
            return
        both = Likelihoods(compared, first, second)
        is_causal = reads_from_left(page.bert)
        st.header(_verdict(both, is_causal=is_causal), anchor=False)
        drawn = drawn_columns(compared.pair, np.abs(np.nan_to_num(both.differences)))
        LIKELIHOOD.show(
            page,
            both,
            drawn={"drawn": drawn, "is_dark": page.is_dark},
            scored=FROM_LEFT if is_causal else HIDDEN,
            score=LEFT_CODE if is_causal else HIDDEN_CODE,
            texts=compared.texts,
        )
        note_left_out(drawn, compared.pair)


def _verdict(both: Likelihoods, *, is_causal: bool) -> str:
    """Return which version has the higher sum, and by how much.

    The sum is a log-probability of the text if each token is predicted from those before it.
    """
    first, second = both.sums
    if abs(first - second) <= TIE:
        equal = "are equally probable" if is_causal else "score the same"
        return f"Both versions {equal}: {exactly(first, 2)} nats"
    name = RUNS[int(second > first)]
    ahead = exactly(abs(first - second), 2).removeprefix("+")
    return (
        f"The {name} version {'is more probable' if is_causal else 'scores higher'} by {ahead} "
        f"nats: {exactly(first, 2)} and "
        f"{exactly(second, 2)}"
    )


def _scored(
    page: frame.Page, text_a: str, text_b: str | None, name: str, num_tokens: int
) -> NDArray[np.float64] | None:
    """Return the scores of a version; of a long one None while its progress is drawn."""
    read = Texts(page.bert_key, text_a, text_b)
    if num_tokens <= AT_ONCE:
        found: NDArray[np.float64] = cache.call(token_log_likelihoods, *read)
        return found

    def work(progress: Progress) -> NDArray[np.float64]:
        return token_log_likelihoods(
            page.bert,
            text_a,
            text_b,
            progress=lambda fraction: progress(fraction, "Hiding each token in turn"),
        )

    result: NDArray[np.float64] | None = waiting.result(Work(("likelihood", read), work), name)
    return result
