"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bertcore.analysis.compare.minimal_pair import (
    aligned_attention,
    aligned_likelihoods,
    compare_pair,
)
from bertcore.analysis.patching import SIDES, VersionsPatched, patch_versions
from bertcore.base.states import state_names
from bertcore.training.grammar import GroupAccuracy, bundled_accuracies

from ...on_demand import pd
from ...plots import ON_AXIS, exactly, plain, shorten, signed
from ...plots.before_after import mask_pairs, next_pairs, next_table, word_table
from ...plots.charts import Grid, Intervals, heads_grid
from ...plots.tables import Axis, Place, cells, columns, head_cells, named
from ...view import View

RUNS = ("first", "second")
GAP = "∅"  # stands for a token that a version does not have
MOST_TOKENS = 40  # most tokens of a map that can be read
MOST_SQUARE = 24  # the same of a map of each token with each


# ---- tables ----


def aligned(prefix: str = "", place: str = "alignment") -> Axis:
    """Return the columns of the aligned tokens: places and tokens, "" where one is missing.

    Args:
        prefix: Of the names of the columns.
        place: Where a result has the alignment.
    """

    columns: dict[str, Place] = {"column": range}
    for side, run in enumerate(RUNS):
        columns[f"position_{run}"] = f"{place}.columns.*.{side}"
        columns[f"token_{run}"] = f"{place}.tokens.*.{side}"
    return {prefix + name: of for name, of in columns.items()}


def token_names(frame: pd.DataFrame, prefix: str = "") -> list[str]:
    """Return what each column is called: its token, or both with an arrow."""
    names = []
    for first, second in zip(
        frame[f"{prefix}token_first"], frame[f"{prefix}token_second"], strict=True
    ):
        both = [shorten(token, ON_AXIS) or GAP for token in (first, second)]
        names.append(both[0] if first == second else " → ".join(both))
    return names


def with_sums(frame: pd.DataFrame) -> list[str]:
    """Return the name of each version with its score, and of the difference."""
    sums = frame.groupby("version", sort=False)["nats"].sum()
    sums.iloc[2] = sums.iloc[0] - sums.iloc[1]  # tokens that one version lacks count as well
    return [f"{name}  {exactly(sums[name], 2)}" for name in frame["version"]]


# ---- what fills the captions ----


def patched_words(result: VersionsPatched) -> Mapping[str, object]:
    """Return the words, the numbers and the direction of a caption."""
    patched = result.patched
    names = [RUNS[side] for side in SIDES[patched.direction]]
    return {
        "word": plain(result.word),
        "other": plain(result.other),
        "in_first": signed(patched.first),
        "in_second": signed(patched.second),
        "base": names[0],
        "source": names[1],
        "direction": patched.direction,
        "read": "this is enough to bring the answer back"
        if patched.direction == "denoising"
        else "the answer is lost without it",
    }


def accuracy_words(accuracies: Sequence[GroupAccuracy]) -> Mapping[str, object]:
    """Return the numbers of a caption."""
    everything = accuracies[0]
    return {
        "accuracy": f"{everything.accuracy:.1%}",
        "num_pairs": everything.num_pairs,
        "interval": f"{everything.low:.1%} to {everything.high:.1%}",
    }


# ---- views ----

WORDS = View(
    name="minimal-pair-words",
    question="Which words does BERT put there?",
    of=compare_pair,
    table=word_table("shifts", RUNS),
    chart=mask_pairs(*RUNS),
    needs=frozenset({"mlm"}),
    how=(
        "Each pair of bars is a guess for the hidden word: grey in the first version, blue in the "
        "second. Longer is surer.\n\n"
        "Shown are the best words of both versions. The number after the probabilities is the "
        "difference in percentage points. KL measures how far the probabilities of the whole "
        "vocabulary moved: 0 means not at all."
    ),
)
NEXT_SENTENCE = View(
    name="minimal-pair-next-sentence",
    question="Does B follow A?",
    of=compare_pair,
    table=next_table("next_first", "next_second", RUNS),
    chart=next_pairs(*RUNS),
    needs=frozenset({"nsp"}),
    how=(
        "The bars are how sure BERT is that B follows A: grey in the first version, blue in the "
        "second.\n\n"
        "The answer is that of the next-sentence head; the last number is the difference in "
        "percentage points."
    ),
)
LIKELIHOOD = View(
    name="minimal-pair-likelihood",
    question="Which version is more probable?",
    of=aligned_likelihoods,
    table=cells({"version": (*RUNS, "first − second")}, aligned(), nats="nats"),
    chart=Grid(
        row="version",
        column="column",
        names=(with_sums, token_names),
        value="nats",
        form="+.2f",
        title="nats",
        is_signed=True,
        most=MOST_TOKENS,
    ),
    how=(
        "Each cell is a token; the more orange it is, the more it surprises the model.\n\n"
        "The number is its log-probability, in nats: {scored}. A version's score is the sum; one "
        "with more tokens sums more terms. The last row is the difference of aligned tokens: blue "
        "where the first version is ahead."
    ),
    fills=lambda both: {
        "scored": "each token is predicted from those before it"
        if both.reads_from_left
        else "each token is hidden in turn, with the pieces after it in its word, and predicted "
        "from all the others"
    },
)
VECTORS = View(
    name="minimal-pair-vectors",
    question="How does each token's vector differ?",
    of=compare_pair,
    table=cells({"state": state_names}, aligned(), one_minus_cosine="hidden_change"),
    chart=Grid(
        row="state",
        column="column",
        names=("", token_names),
        value="one_minus_cosine",
        is_written=False,
        form=".2f",
        title="1 − cosine",
        most=MOST_TOKENS,
    ),
    how=(
        "Each cell is a token's vector after a layer; the brighter it is, the more it differs "
        "between the versions.\n\n"
        "The number is 1 − cosine. At the input only changed and moved tokens differ. Follow a "
        "column down to see how far the change spreads, and which tokens take it up."
    ),
)
HEADS = View(
    name="minimal-pair-heads",
    question="Which heads differ most?",
    of=compare_pair,
    table=head_cells(divergence_bits="attention_change"),
    chart=heads_grid("divergence_bits", form=".3f", title="bits"),
    how=(
        "Each cell is a head; the brighter it is, the more its attention differs between the "
        "versions. Click one to see it below.\n\n"
        "The number is the Jensen-Shannon divergence of its rows; 0 means the same, 1 bit nothing "
        "in common. In layer 0 only the queries and keys of changed and moved tokens differ; in "
        "later layers everything may."
    ),
)
ATTENTION = View(
    name="minimal-pair-attention",
    question="What does each token attend to?",
    of=aligned_attention,
    table=cells(
        aligned("from_"), aligned("to_"), first="first", second="second", difference="difference"
    ),
    chart=Grid(
        row="from_column",
        column="to_column",
        names=(lambda frame: token_names(frame, "from_"), lambda frame: token_names(frame, "to_")),
        value="difference",
        is_written=False,
        form="+.1%",
        title="second − first",
        titles=("attends", "attended to"),
        is_signed=True,
        most=MOST_SQUARE,
    ),
    how=(
        "Blue: the row's token attends more to the column's in the second version; orange: "
        "less.\n\n"
        "Rows and columns of a token that one version lacks are empty; the other rows then need "
        "not sum to zero."
    ),
)
PATCHING = View(
    name="minimal-pair-patching",
    question="Which hidden states carry the difference?",
    of=patch_versions,
    table=cells(
        {"state": state_names},
        aligned(place="pair.alignment"),
        logit_difference="patched.values",
        share="patched.shares",
    ),
    chart=Grid(
        row="state",
        column="column",
        names=("", token_names),
        value="share",
        form="+.0%",
        title="share",
        bounds=(-1, 1),
        is_signed=True,
        most=MOST_TOKENS,
    ),
    needs=frozenset({"mlm", "parts"}),
    how=(
        "Each cell is one vector taken from the other version; the bluer it is, the more of the "
        "other answer it brings along.\n\n"
        "Logit difference **{word} − {other}**: {in_first} in the first version, {in_second} in "
        "the second. Each cell is a run of the {base} version with one hidden state (a token after "
        "a layer) patched in from the {source} version; everything after it is recomputed. The "
        "number is how far the difference of the two logits moves from the {base} version's (0) to "
        "the {source} version's (1). This is **{direction}**: a high share means that {read}. "
        "Several places may carry the same information, so shares do not sum to 1."
    ),
    fills=patched_words,
)
MANY = View(
    name="minimal-pair-many",
    question="Of many pairs, which sentence does BERT find more probable?",
    of=bundled_accuracies,
    table=columns(
        **named("*", "column", "group", "num_pairs", "num_right", "num_ties"),
        **named("*", "accuracy", "low", "high"),
    ),
    chart=Intervals(
        name="group",
        number="num_pairs",
        value="accuracy",
        line=0.5,
        only={"column": "phenomenon"},
    ),
    how=(
        "Each dot is how often BERT prefers the correct sentence of a pair, for one rule of "
        "grammar. At 50% it guesses.\n\n"
        "The good sentence is more probable in **{accuracy}** of our {num_pairs} pairs (95%: "
        "{interval}). A sentence's score is the sum of its pieces' log-probabilities: each given "
        "those before it if the checkpoint reads from the left, else each hidden in turn, with the "
        "pieces after it in its word (Kauf and Ivanova 2023). A pair is right if its good sentence "
        "scores higher; a tie counts as wrong. Lines are 95% intervals (Wilson); dotted is chance. "
        "`bertscope evaluate --task minimal-pairs` scores a file, such as one of BLiMP."
    ),
    fills=accuracy_words,
)
