"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertcore.analysis.attribution.masked_word import (
    WordAttribution,
    attribute_word,
    check_random_weights,
)
from bertcore.analysis.words.candidates import Candidate, score_candidates
from bertcore.analysis.words.continuation_scores import ContinuationScore, score_continuations
from bertcore.analysis.words.epoch_masks import Corruption, corrupt
from bertcore.analysis.words.lens import Trajectories, layer_predictions, word_trajectories
from bertcore.analysis.words.next_words import next_surprise, predict_next
from bertcore.analysis.words.predictions import predict_masks, replaced_tokens
from bertcore.analysis.words.surprise import Surprise, surprise
from bertcore.base.states import state_names

from ...on_demand import pd
from ...plots import Figure, exactly, percent, plain, shorten, tabulate, theme
from ...plots.charts import AFTER_LAYER, Bars, Boxes, Grid, Intervals, Lines, Words, kind_boxes
from ...plots.tables import cells, columns, from_one, named
from ...view import View

CERTAIN_BITS = 12  # bits at the end of the surprise scale: one in 4,096
WHAT_HAPPENED = {
    None: "{token}: not chosen, no loss",
    "mask": "{token} is hidden behind {shown}; BERT has to predict {token}",
    "random": "{token} was replaced by {shown}; BERT has to predict {token}",
    "kept": "{token} stays, and BERT has to predict {token}",
}


# ---- predictions ----


BEST_TABLE = cells(
    {
        "position": "positions",
        "mask": "mask",
        "hidden": "originals",
        "hidden_rank": "original_ranks",
    },
    {"rank": from_one},
    piece="words",
    p="probabilities",
)


def mask_title(words: pd.DataFrame) -> str:
    """Return the title of a mask, in Plotly's HTML: the rank of the hidden token, if known."""
    first = words.iloc[0]
    at = f"{theme.escape(first['mask'])} (token {first['position']})<br>"
    if pd.isna(first["hidden_rank"]):
        return f"{at} "
    hidden = theme.escape(shorten(first["hidden"]))
    return f"{at}was <b>{hidden}</b>: rank {first['hidden_rank']:,}"


def scores_table(scored: Sequence[Candidate]) -> pd.DataFrame:
    """Return a row for each word, the most probable first; words without a score last."""
    table = columns(
        **named("*", "word", "pieces", "rank", "problem"),
        p="*.probability",
        p_per_piece="*.probability_per_piece",
        ln_p="*.log_probability",
    )(scored)
    table = table.assign(pieces=table["pieces"].map(" ".join))
    return table.sort_values("ln_p", ascending=False, kind="stable", ignore_index=True)


def score_notes(scores: pd.DataFrame) -> list[str]:
    """Return what stands in brackets behind each word."""
    return [
        f"{percent(p)}, " + (f"{percent(mean)} a piece" if pd.isna(rank) else f"rank {rank:,.0f}")
        for p, rank, mean in zip(scores["p"], scores["rank"], scores["p_per_piece"], strict=True)
    ]


# ---- layers ----


RANKS_TABLE = cells({"state": state_names}, {"word": "words"}, rank="ranks", p="probabilities")
RANK_LINES = Lines(
    x="state",
    y="rank",
    by="word",
    log="y",
    form=",",
    detail=lambda ranks: ranks["p"].map("({:.3%})".format),
    x_title=AFTER_LAYER,
    y_title="rank (1 = best)",
    height=330,
)


def rank_curves(path: Trajectories, *, accent: str | None = None) -> Figure:
    """Draw the rank of each word from layer to layer, on a logarithmic scale, 1 on top."""
    table = RANKS_TABLE(path)
    fig = RANK_LINES.draw(table)
    for line in fig.traces:
        if accent and line["name"] == theme.escape(shorten(accent)):
            line["line"] = {"color": theme.ACCENT, "width": 4}
    worst = table["rank"].max() if len(table) else 10
    powers = list(range(int(np.ceil(np.log10(max(worst, 2)))) + 1))
    fig.update_yaxes(
        type="log",
        range=[float(np.log10(max(worst, 10))) + 0.15, -0.15],
        tickvals=[10**e for e in powers],
        ticktext=[f"{10**e:,}" for e in powers],
    )
    return fig


def rank_names(frame: pd.DataFrame) -> list[str]:
    """Return the column `rank` in words."""
    return [{1: "best", 2: "2nd", 3: "3rd"}.get(rank, f"{rank}th") for rank in frame["rank"]]


# ---- attribution ----


def about_attribution(word: WordAttribution) -> Mapping[str, object]:
    """Return the word and the numbers of a caption."""
    return {
        "word": plain(word.word),
        "logit": exactly(word.logit, 2),
        "baseline": exactly(word.baseline, 2),
        "sum": exactly(float(word.shares.sum()), 2),
        "delta": f"{abs(word.delta):.2g}",
    }


REPLACED_P = "probability of being replaced"


# ---- surprise ----


GUESSES = columns(
    position="positions",
    token="tokens",
    bits="bits",
    best_guess="best_words",
    p_best_guess="best_probabilities",
)


def ticked(guesses: pd.DataFrame) -> list[str]:
    pairs = zip(guesses.token, guesses.best_guess, strict=True)
    return ["✓" if guess == token else guess for token, guess in pairs]


def perplexity(surprise: Surprise) -> Mapping[str, object]:
    """Return the numbers of a caption."""
    of = f"{surprise.pseudo_perplexity:,.1f}"
    return {"perplexity": of, "num_tokens": len(surprise.tokens)}


# ---- continuations ----


def continuations_table(scores: Sequence[ContinuationScore]) -> pd.DataFrame:
    """Return a row for each continuation and token, the most probable continuation first."""
    rows = [
        (number, score.text, score.total, score.mean, place, token, nats)
        for number, score in enumerate(sorted(scores, key=lambda score: -score.total))
        for place, (token, nats) in enumerate(zip(score.tokens, score.log_p, strict=True))
    ]
    return tabulate("rank continuation sum mean place token nats", rows)


# ---- masking ----


def actions(mask: str = "[MASK]") -> dict[str, tuple[str, str]]:
    """Return the name and colour of each thing that becomes of a chosen token."""
    return {
        "mask": (f"became {mask} (80%)", theme.SEGMENT_A),
        "random": ("became a random piece (10%)", theme.SEGMENT_B),
        "kept": ("kept, but still to be predicted (10%)", "#00805C"),
    }


def masking_strip(drawn: Corruption, *, mask: str = "[MASK]") -> Figure:
    """Draw the tokens in the colour of what became of each; those that were not chosen are pale.

    Args:
        mask: The checkpoint's mask token, for the legend.
    """
    tokens = list(zip(drawn.tokens, drawn.input_tokens, drawn.actions, strict=True))
    said = {None: "", "kept": "kept"}
    below = [said.get(action, f"was {token}") for token, _, action in tokens]
    hover = [
        WHAT_HAPPENED[action].format(token=theme.escape(token), shown=theme.escape(shown))
        for token, shown, action in tokens
    ]
    kinds = [action or "" for action in drawn.actions]
    return kind_boxes(drawn.input_tokens, below, kinds, hover, actions(mask), none="not chosen")


# ---- views ----

BEST_WORDS = Bars(
    value="p",
    name="piece",
    by="position",
    accent=lambda words: words.piece == words.hidden,
    title=mask_title,
)
PREDICTIONS = View(
    name="masked-words",
    question="What does BERT put there?",
    of=predict_masks,
    table=BEST_TABLE,
    chart=BEST_WORDS,
    needs=frozenset({"mlm"}),
    how=(
        "Each bar is the probability of one word. The pink bar is the word that was there.\n\n"
        "A bar is one piece of the vocabulary; all pieces together make 100%. Several masks are "
        "predicted independently, each as if the others were unknown, so two good words may not "
        "fit together."
    ),
)
CANDIDATES = View(
    name="candidates",
    question="How probable are your own words?",
    of=score_candidates,
    table=scores_table,
    chart=Intervals(
        name="word",
        number=score_notes,
        value="ln_p",
        only={"problem": None},
        is_fraction=False,
        x_title="ln p",
    ),
    needs=frozenset({"mlm"}),
    how=(
        "The further right, the more probable the word is here; rank 1 is the best guess.\n\n"
        "A one-piece word has its probability from the bars above and its rank among all pieces of "
        "the vocabulary. A word of several pieces gets as many masks, and its pieces are predicted "
        "one after another from left to right, each with those before it filled in; the "
        "probabilities are multiplied. The dots are natural logarithms of the probabilities in "
        "brackets. If lengths differ, compare the geometric means of a piece with each other and "
        "with the words of one piece."
    ),
)
SURPRISES = Boxes(
    below=ticked,
    value="bits",
    high=CERTAIN_BITS,
    hover=lambda guesses: [
        f"<b>{theme.escape(row.token)}</b>: {row.bits:.1f} bits ({percent(2.0**-row.bits)})<br>"
        f"BERT's guess: {theme.escape(row.best_guess)} ({percent(row.p_best_guess)})"
        for row in guesses.itertuples()
    ],
    scale_title="surprise, bits",
    ticks={"tickvals": [0, 4, 8, CERTAIN_BITS], "ticktext": ["0", "4", "8", f"{CERTAIN_BITS}+"]},
)
SURPRISE = View(
    name="surprise",
    question="Which tokens surprise BERT?",
    of=surprise,
    table=GUESSES,
    fills=perplexity,
    chart=SURPRISES,
    needs=frozenset({"mlm"}),
    how=(
        "Each token in turn is hidden on its own, and BERT predicts it from the rest. The "
        "brighter, the more it is surprised.\n\n"
        "A typed \\[MASK\\] stays masked. Colour is the surprise in bits: 0 means that it was "
        "certain, and each further bit halves the probability. Below each token is BERT's own "
        "guess, with ✓ if it was right. Over the {num_tokens} tokens the pseudo-perplexity is "
        "**{perplexity}**: as if BERT had to choose among that many equally likely pieces each "
        "time (Salazar et al. 2020)."
    ),
)
CONTINUATIONS = View(
    name="continuations",
    question="How probable is a continuation?",
    of=score_continuations,
    table=continuations_table,
    chart=Words(
        text="token",
        value="nats",
        line="rank",
        heading=lambda frame: [
            f"{exactly(total, 2)} ({exactly(mean, 2)})"
            for total, mean in zip(frame["sum"], frame["mean"], strict=True)
        ],
        digits=2,
        scale_title="ln p",
    ),
    how=(
        "Below each other stand the continuations of sentence A, the most probable first. The "
        "stronger the orange, the less a token was expected.\n\n"
        "Above each are the sum of the tokens' log-probabilities, in nats, and in brackets their "
        "mean, to compare different lengths. Sentence A is read as it is typed, but not counted. A "
        "causal model predicts each token from those before it. A masked-word model hides each in "
        "turn, with the pieces after it in its word, and reads on both sides: the later words of a "
        "continuation support the earlier ones (Salazar et al. 2020; Kauf and Ivanova 2023)."
    ),
)
NEXT_WORDS = View(
    name="next-words",
    question="What comes next?",
    of=predict_next,
    table=BEST_TABLE,
    chart=BEST_WORDS,
    needs=frozenset({"next"}),
    how=(
        "Each bar is the probability of one word, given only the tokens before it. The pink bar is "
        "the word of the text.\n\n"
        "A bar is one piece of the vocabulary; all pieces together make 100%."
    ),
)
NEXT_SURPRISE = View(
    name="next-surprise",
    question="What surprises it, reading from left to right?",
    of=next_surprise,
    table=GUESSES,
    fills=perplexity,
    chart=SURPRISES,
    needs=frozenset({"next"}),
    how=(
        "Each token is predicted from those before it, in one run. The brighter, the more the "
        "model is surprised.\n\n"
        "Colour is the surprise in bits: 0 means that it was certain, and each further bit halves "
        "the probability. Below each token is the model's own guess, with ✓ if it was right. "
        "Tokens that were added, and a first token with nothing before it, are left out. The "
        "perplexity is **{perplexity}**: as if the model had to choose among that many equally "
        "likely pieces each time."
    ),
)
REPLACED = View(
    name="replaced-tokens",
    question="Which words were replaced?",
    of=replaced_tokens,
    chart=Boxes(
        below=lambda tokens: tokens["probability"].map(percent),
        value="probability",
        hover=lambda tokens: [
            f"<b>{theme.escape(row.token)}</b><br>{REPLACED_P}: {row.probability:.1%}"
            for row in tokens.itertuples()
        ],
        scale_title=REPLACED_P,
        ticks={"tickformat": ".0%"},
        space_above=60,
    ),
    needs=frozenset({"replaced"}),
    how=(
        "ELECTRA's discriminator predicts for each token whether it was replaced by another.\n\n"
        "Write a wrong word in a sentence and see whether its box turns bright."
    ),
)
LENS = View(
    name="lens",
    question="What would BERT predict after each layer?",
    of=layer_predictions,
    table=cells(
        {"state": state_names},
        {"position": "positions", "token": "tokens"},
        {"rank": from_one},
        entropy_bits="entropy",
        piece="words",
        p="probabilities",
    ),
    chart=Grid(
        row="state",
        column="rank",
        names=("", rank_names),
        value="p",
        text="piece",
        title="probability",
        bounds=(0, 1),
    ),
    needs=frozenset({"lens"}),
    how=(
        "What BERT would predict if it stopped there. Early layers read like nonsense: the head "
        "was trained on the last layer only.\n\n"
        "Brighter is more probable. On earlier layers the masked-word head shows how close a "
        "vector is to the head's input space, not what that layer knows. At a token that "
        "is not hidden, BERT sees the token itself and mostly repeats it."
    ),
)
WHOLE_SENTENCE = Grid(
    row="position",
    column="state",
    names=("token", ""),
    value="p",
    text="piece",
    title="probability",
    titles=("", AFTER_LAYER),
    bounds=(0, 1),
)
RANKS = View(
    name="ranks",
    question="How does each word's rank change from layer to layer?",
    of=word_trajectories,
    figure=rank_curves,
    table=RANKS_TABLE,
    needs=frozenset({"lens"}),
    how=(
        "Rank 1 is the most probable word of the vocabulary. A curve that rises shows where the "
        "model becomes surer of its word.\n\n"
        "The curves follow the hidden word, the three best words of the last layer, and those of "
        "your own words that are one piece."
    ),
)
ATTRIBUTION = View(
    name="masked-word-attribution",
    question="Which words made BERT guess this?",
    of=attribute_word,
    table=columns(position=range, token="tokens", share="shares"),
    chart=Words(text="token", value="share", digits=2, scale_title="lowers ← share → raises"),
    needs=frozenset({"mlm", "lens"}),
    fills=about_attribution,
    how=(
        "Blue tokens raise the logit of **{word}**, orange ones lower it, compared with a text in "
        "which every token is hidden.\n\n"
        "Integrated gradients (Sundararajan et al. 2017): the embeddings go straight from "
        "\\[MASK\\] to the text, and each token gets its part of the change. The logit is {logit} "
        "here and {baseline} where everything is hidden; the shares add up to {sum}, which misses "
        "the difference by {delta}, the error of the steps. A hidden token has no share."
    ),
)
RANDOM_WEIGHTS = View(
    name="random-weights",
    question="Would random weights give the same picture?",
    of=check_random_weights,
    table=cells(
        {"random": "stages"},
        {"shares": ("with their signs", "their sizes alone")},
        correlation="mean",
        low="low",
        high="high",
    ),
    chart=Intervals(
        name="random",
        value="correlation",
        by="shares",
        line=0,
        is_fraction=False,
        number=lambda check: [
            " / ".join(exactly(value, 2) for value in check.correlation[check.random == step])
            for step in check.random
        ],
        x_title="rank correlation",
    ),
    needs=frozenset({"mlm", "lens", "parts"}),
    fills=lambda check: {
        "num_tokens": check.num_tokens,
        "num_draws": check.num_draws,
        "chance": f"{check.chance:.2f}",
    },
    how=(
        "From the head down, weights become random. If a dot stays near 1, the picture says "
        "nothing about the model.\n\n"
        "Each row adds the part that it names to those that are random already; the last one has "
        "no trained weight left, since the table of the embeddings also turns vectors into words. "
        "A dot is Spearman's correlation with the shares above, the mean of {num_draws} draws; its "
        "line is their range. {num_tokens} tokens in any order reach ±{chance} in 95% of cases, so "
        "a short text decides little. Random weights turn the signs over, so the sizes are "
        "compared too (Adebayo et al. 2018)."
    ),
)
MASKING = View(
    name="masking",
    question="How is the training data masked?",
    of=corrupt,
    figure=masking_strip,
    table=columns(token="tokens", shown="input_tokens", action="actions"),
    fills=lambda drawn: {"chosen": drawn.num_chosen, "num_tokens": len(drawn.tokens)},
    how=(
        "The sentence as an example of the training: {chosen} of its {num_tokens} tokens must be "
        "predicted.\n\n"
        "\\[CLS\\] and \\[SEP\\] are counted, but never chosen. Each chosen one becomes \\[MASK\\] "
        "with probability 80%, a random piece with 10%, and stays as it is with 10%. Since any "
        "token may be a random one, BERT must keep a representation of every token; the unchanged "
        "ones bias it towards the word that is there (Devlin et al. 2019). The draw is made by the "
        "code that pretrains our own BERT."
    ),
)
