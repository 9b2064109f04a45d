"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bertcore.analysis.words.candidates import Candidate, score_candidates
from bertcore.analysis.words.epoch_masks import Corruption, corrupt
from bertcore.analysis.words.lens import Lens, Trajectories, layer_predictions, word_trajectories
from bertcore.analysis.words.next_words import next_surprise, predict_next
from bertcore.analysis.words.predictions import MaskPredictions, predict_masks, replaced_tokens
from bertcore.analysis.words.surprise import Surprise, surprise

from ..plots import Figure, percent, records, shorten, theme, token_flow
from ..plots.charts import Bars, Boxes, Grid, box_bars, layer_names, lines, state_names
from ..view import View

CERTAIN_BITS = 12  # bits at the end of the surprise scale: one in 4,096
FLOOR = 1e-12  # A logarithmic axis has no zero
PALE = "rgba(127, 134, 152, 0.16)"
"""Colour of a token that was not chosen."""
WHAT_HAPPENED = {
    None: "{token}: not chosen, no loss",
    "mask": "{token} is hidden behind {shown}; BERT has to predict {token}",
    "random": "{token} was replaced by {shown}; BERT has to predict {token}",
    "kept": "{token} stays, and BERT has to predict {token}",
}


# ---- predictions ----


def best_words(predictions: MaskPredictions) -> pd.DataFrame:
    """Return a row for each mask and rank."""
    mask, rank = (at.ravel() for at in np.indices(predictions.words.shape))
    return pd.DataFrame(
        {
            "position": [predictions.positions[i] for i in mask],
            "mask": predictions.mask,
            "hidden": pd.Series([predictions.originals[i] for i in mask], dtype=object),
            "hidden_rank": pd.array([predictions.original_ranks[i] for i in mask], dtype="Int64"),
            "rank": rank + 1,
            "piece": predictions.words.ravel(),
            "p": predictions.probabilities.ravel().astype(float),
        }
    )


def mask_title(words: pd.DataFrame) -> str:
    """Return the title of a mask, in Plotly's HTML: the rank of the hidden token, if known."""
    first = words.iloc[0]
    at = f"{theme.escape(first['mask'])} at {first['position']}<br>"
    if pd.isna(first["hidden_rank"]):
        return f"{at} "
    hidden = theme.escape(shorten(first["hidden"]))
    return f"{at}was <b>{hidden}</b>: rank {first['hidden_rank']:,}"


def scores_table(scored: Sequence[Candidate]) -> pd.DataFrame:
    """Return a row for each word, also for those without a score."""
    numbers = ("p=probability", "p_per_piece=probability_per_piece", "ln_p=log_probability")
    table = records(scored, "word", "pieces", *numbers, "rank", "problem")
    return table.assign(pieces=table["pieces"].map(" ".join))


def candidate_dots(scored: Sequence[Candidate]) -> Figure:
    """Draw a dot for each word with a score, and a ring for the mean of several pieces."""
    frame = scores_table(scored)
    frame = frame[frame["ln_p"].notna()].sort_values("ln_p", ascending=False, kind="stable")
    below = [pieces if " " in pieces else "" for pieces in frame["pieces"]]
    # Names may repeat once shortened, so rows are numbers with tick texts.
    rows, names = list(range(len(frame))), [*map(_two_lines, frame["word"], below)]
    dots, rings = (frame[of].clip(lower=FLOOR).tolist() for of in ("p", "p_per_piece"))
    several = [row for row in rows if below[row]]
    labels = [
        percent(p) if pd.isna(rank) else f"{percent(p)}, rank {int(rank):,}"
        for p, rank in zip(frame["p"], frame["rank"], strict=True)
    ]
    fig = Figure()
    fig.add(
        "bar",
        x=dots,
        y=rows,
        orientation="h",
        width=0.12,
        marker_color=theme.SEGMENT_A,
        opacity=0.35,
        hoverinfo="skip",
        showlegend=False,
    )
    if several:
        fig.add(
            "scatter",
            x=[rings[row] for row in several],
            y=several,
            mode="markers",
            marker={"symbol": "circle-open", "size": 12, "color": theme.SEGMENT_B},
            marker_line_width=2,
            name="mean per piece",
            hovertemplate="%{x:.3%} per piece<extra></extra>",
        )
    fig.add(
        "scatter",
        x=dots,
        y=rows,
        mode="markers+text",
        marker={"size": 12, "color": theme.SEGMENT_A},
        text=[f"  {label}" for label in labels],
        textposition="middle right",
        cliponaxis=False,
        name="whole word",
        customdata=names,
        hovertemplate="%{customdata}: %{x:.3%}<extra></extra>",
        showlegend=bool(several),
    )
    theme.plot_layout(fig, "", "probability (logarithmic)", "", 36 * len(rows) + 90)
    lowest = int(np.floor(np.log10(min([1e-4, *dots]))))
    powers = range(lowest - lowest % 2, 1, 2 if lowest < -6 else 1)
    fig.update_xaxes(
        type="log",
        range=[lowest - 0.2, -0.22 * lowest],  # room for the label of a certain word
        tickvals=[10.0**e for e in powers],
        ticktext=[percent(10.0**e) if e >= -5 else f"10<sup>{e}</sup>" for e in powers],
    )
    fig.update_yaxes(**theme.named_rows(names, 0.4))
    return fig


def _two_lines(name: str, below: str) -> str:
    first = f"<b>{theme.escape(shorten(name))}</b>"
    small = f'<span style="font-size:10.5px">{theme.escape(shorten(below, 30))}</span>'
    return f"{first}<br>{small}" if below else first


# ---- layers ----


def lens_words(lens: Lens) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings), position and rank."""
    layer, place, rank = (at.ravel() for at in np.indices(lens.words.shape))
    return pd.DataFrame(
        {
            "layer": layer,
            "position": np.array(lens.positions)[place],
            "token": [lens.tokens[n] for n in place],
            "entropy_bits": lens.entropy[layer, place].astype(float),
            "rank": rank + 1,
            "piece": lens.words.ravel(),
            "p": lens.probabilities.ravel().astype(float),
        }
    )


def ranks_table(path: Trajectories) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and word."""
    layer, word = (at.ravel() for at in np.indices(path.ranks.shape))
    return pd.DataFrame(
        {
            "layer": layer,
            "word": [path.words[i] for i in word],
            "rank": path.ranks.ravel(),
            "p": path.probabilities.ravel().astype(float),
        }
    )


def rank_curves(path: Trajectories, *, accent: str | None = None) -> Figure:
    """Draw the rank of each word from layer to layer, on a logarithmic scale, 1 on top."""
    table = ranks_table(path)
    hover = "<b>{name}</b>: rank %{y:,}, %{customdata:.3%}"
    columns = {"x": "layer", "y": "rank", "by": "word", "detail": "p"}
    fig = lines(table, **columns, hover=hover, accent=accent or "")
    theme.plot_layout(fig, "", "", "rank (1 = best)", 330)
    num_states, worst = len(path.ranks), table["rank"].max() if len(table) else 10
    powers = list(range(int(np.ceil(np.log10(max(worst, 2)))) + 1))
    fig.update_xaxes(tickvals=list(range(num_states)), ticktext=layer_names(num_states))
    fig.update_yaxes(
        type="log",
        range=[float(np.log10(max(worst, 10))) + 0.15, -0.15],
        tickvals=[10**e for e in powers],
        ticktext=[f"{10**e:,}" for e in powers],
    )
    fig.update_layout(hovermode="x unified", showlegend=True)
    return fig


def rank_names(frame: pd.DataFrame) -> list[str]:
    """Return the column `rank` in words."""
    return [{1: "best", 2: "2nd", 3: "3rd"}.get(rank, f"{rank}th") for rank in frame["rank"]]


REPLACED_P = "probability of being replaced"


# ---- surprise ----


def guesses_table(surprise: Surprise) -> pd.DataFrame:
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


def ticked(guesses: pd.DataFrame) -> list[str]:
    pairs = zip(guesses.token, guesses.best_guess, strict=True)
    return ["✓" if guess == token else guess for token, guess in pairs]


def surprise_hover(guesses: pd.DataFrame) -> list[str]:
    return [
        f"<b>{theme.escape(row.token)}</b>: {row.bits:.1f} bits ({percent(2.0**-row.bits)})<br>"
        f"BERT's guess: {theme.escape(row.best_guess)} ({percent(row.p_best_guess)})"
        for row in guesses.itertuples()
    ]


def replaced_hover(tokens: pd.DataFrame) -> list[str]:
    """Return the hover text of each token."""
    return [
        f"<b>{theme.escape(row.token)}</b><br>{REPLACED_P}: {row.probability:.1%}"
        for row in tokens.itertuples()
    ]


def perplexity(surprise: Surprise) -> Mapping[str, object]:
    """Return the numbers of a caption."""
    of = f"{surprise.pseudo_perplexity:,.1f}"
    return {"perplexity": of, "num_tokens": len(surprise.tokens)}


# ---- masking ----


def actions(mask: str = "[MASK]") -> dict[str, tuple[str, str]]:
    """Return the name and colour of each thing that becomes of a chosen token."""
    return {
        "mask": (f"became {theme.escape(mask)} (80%)", theme.SEGMENT_A),
        "random": ("became a random piece (10%)", theme.SEGMENT_B),
        "kept": ("kept, but still to be predicted (10%)", "#00805C"),
    }


def tokens_table(drawn: Corruption) -> pd.DataFrame:
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
    table=best_words,
    chart=BEST_WORDS,
    needs=frozenset({"mlm"}),
    how=(
        "Each bar is the probability of one piece of the vocabulary; all pieces together make "
        "100%. The pink bar is the token that was there. Several masks are predicted "
        "independently, each as if the others were unknown, so two good words may not fit "
        "together."
    ),
)
CANDIDATES = View(
    name="candidates",
    question="How probable are your own words?",
    of=score_candidates,
    figure=candidate_dots,
    table=scores_table,
    needs=frozenset({"mlm"}),
    how=(
        "A one-piece word has its probability from the bars above and its rank among all pieces of "
        "the vocabulary; 1 is the best guess. A word of several pieces gets as many masks, and its "
        "pieces are predicted one after another from left to right, each with those before it "
        "filled in; the probabilities are multiplied. The blue dot is that product, the orange "
        "ring its geometric mean per piece: if lengths differ, compare rings with other rings and "
        "with the dots of one-piece words."
    ),
)
SURPRISES = Boxes(
    below=ticked,
    value="bits",
    high=CERTAIN_BITS,
    hover=surprise_hover,
    scale_title="surprise, bits",
    ticks={"tickvals": [0, 4, 8, CERTAIN_BITS], "ticktext": ["0", "4", "8", f"{CERTAIN_BITS}+"]},
)
SURPRISE = View(
    name="surprise",
    question="Which tokens surprise BERT?",
    of=surprise,
    table=guesses_table,
    fills=perplexity,
    chart=SURPRISES,
    needs=frozenset({"mlm"}),
    how=(
        "Each token in turn is hidden on its own, and BERT predicts it from the rest; a typed "
        "\\[MASK\\] stays masked. Colour is its surprise in bits: 0 means that it was certain, "
        "and each further bit halves the probability. Below each token is BERT's own guess, with "
        "✓ if it was right. Over the {num_tokens} tokens the pseudo-perplexity is "
        "**{perplexity}**: as if BERT had to choose among that many equally likely pieces each "
        "time (Salazar et al. 2020)."
    ),
)
NEXT_WORDS = View(
    name="next-words",
    question="What comes next?",
    of=predict_next,
    table=best_words,
    chart=BEST_WORDS,
    needs=frozenset({"next"}),
    how=(
        "Each bar is the probability of one piece of the vocabulary at this place, given only the "
        "tokens before it; all pieces together make 100%. The pink bar is the token that the text "
        "has there."
    ),
)
NEXT_SURPRISE = View(
    name="next-surprise",
    question="What surprises it, reading from left to right?",
    of=next_surprise,
    table=guesses_table,
    fills=perplexity,
    chart=SURPRISES,
    needs=frozenset({"next"}),
    how=(
        "Each token is predicted from those before it, in one run. Colour is its surprise in "
        "bits: 0 means that it was certain, and each further bit halves the probability. Below "
        "each token is the model's own guess, with ✓ if it was right. Tokens that were "
        "added, and a first token with nothing before it, are left out. The perplexity is "
        "**{perplexity}**: as if the model had to choose among that many equally likely pieces "
        "each time."
    ),
)
REPLACED = View(
    name="replaced-tokens",
    question="Which words were replaced?",
    of=replaced_tokens,
    chart=Boxes(
        below=lambda tokens: tokens["probability"].map(percent),
        value="probability",
        hover=replaced_hover,
        scale_title=REPLACED_P,
        ticks={"tickformat": ".0%"},
        space_above=60,
    ),
    needs=frozenset({"replaced"}),
    how=(
        "ELECTRA's discriminator predicts for each token whether it was replaced by another. "
        "Write a wrong word in a sentence and see whether its box turns bright."
    ),
)
LENS = View(
    name="lens",
    question="What would BERT predict after each layer?",
    of=layer_predictions,
    table=lens_words,
    chart=Grid(
        row="layer",
        column="rank",
        names=(state_names, rank_names),
        value="p",
        text="piece",
        title="probability",
        bounds=(0, 1),
    ),
    needs=frozenset({"lens"}),
    how=(
        "The word that BERT would predict if it stopped after this layer, from the embeddings to "
        "the last layer; brighter is more probable. The masked-word head was trained on the last "
        "layer only: on earlier layers it shows how close a vector is to the head's input space, "
        "not what that layer knows. Layer 1 is the output of the encoder layer with the heads of "
        "layer 0. At a token that is not hidden, BERT sees the token itself and mostly repeats it."
    ),
)
WHOLE_SENTENCE = Grid(
    row="position",
    column="layer",
    names=("token", state_names),
    value="p",
    text="piece",
    title="probability",
    bounds=(0, 1),
)
RANKS = View(
    name="ranks",
    question="How does each word's rank change from layer to layer?",
    of=word_trajectories,
    figure=rank_curves,
    table=ranks_table,
    needs=frozenset({"lens"}),
    how=(
        "Rank 1 is the most probable word of the vocabulary. The curves follow the hidden word, "
        "the three best words of the last layer, and those of your own words that are one piece."
    ),
)
MASKING = View(
    name="masking",
    question="How is the training data masked?",
    of=corrupt,
    figure=masking_strip,
    table=tokens_table,
    fills=lambda drawn: {"chosen": drawn.num_chosen, "num_tokens": len(drawn.tokens)},
    how=(
        "The sentence as a pretraining example: {chosen} of its {num_tokens} tokens (\\[CLS\\] and "
        "\\[SEP\\] counted, but never chosen) must be predicted. Each becomes \\[MASK\\] with "
        "probability 80%, a random piece with 10%, and stays as it is with 10%. Since any token "
        "may be a random one, BERT must keep a representation of every token; the unchanged ones "
        "bias it towards the word that is there (Devlin et al. 2019). The draw is made by the code "
        "that pretrains our own BERT."
    ),
)
