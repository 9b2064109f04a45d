"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from bertcore.analysis.bias import (
    AlongDirection,
    along_layers,
    audit_templates,
    run_association_test,
    run_association_tests,
)
from bertcore.analysis.bias.associations import MOST_EXACT
from bertcore.base.states import state_names

from ...plots.charts import AFTER_LAYER, Curve, Grid, Intervals, LayerCurves
from ...plots.tables import cells, columns
from ...view import View, tidy_at

WAYS = ("as it is", "neutralised", "LEACE")
"""Vectors that a probe is trained on."""


def explained(layers: tuple[AlongDirection, ...]) -> dict[str, object]:
    """Return the range of the variance that the direction explains, for a caption."""
    shares = [each.explained for each in layers]
    return {"explained": f"{min(shares):.0%} to {max(shares):.0%}"}


LEANING = View(
    name="bias-templates",
    question="Which words lean to which group?",
    of=audit_templates,
    table=tidy_at("scores.leans"),
    chart=Intervals(
        name="filler",
        number="wordings",
        value="difference",
        line=0,
        is_fraction=False,
        x_title="← second group          nats          first group →",
    ),
    how=(
        "Each dot is a word: right of 0 it goes more with the first group, left of 0 more with the "
        "second.\n\n"
        "How much more a filler favours the words of the first group than those of the second, in "
        "nats (0.69 doubles the odds): log p of a word at \\[X\\] with the filler at \\[MASK\\], "
        "minus log p with the filler masked, so that a group's frequency cancels out (Kurita et "
        "al. 2019). A dot is the mean over the wordings, the line their range: where it crosses 0, "
        "the answer depends on the wording."
    ),
    needs=frozenset({"mlm"}),
)
ASSOCIATIONS = View(
    name="bias-associations",
    question="Are names and words of groups closer to some attributes?",
    of=run_association_tests,
    table=columns(
        test="*.test.name",
        effect_size="*.association.effect_size",
        p_value="*.association.p_value",
    ),
    chart=Intervals(
        name="test",
        number=lambda tests: [
            f"p = {p:.3f}" if p >= 0.001 else "p < 0.001" for p in tests["p_value"]
        ],
        value="effect_size",
        line=0,
        is_fraction=False,
        x_title="effect size d",
    ),
    how=(
        "Each dot is a test: right of 0 the first words are closer to the first attributes, as a "
        "stereotype has it.\n\n"
        "Is the first set of words closer to the first set of attributes, by cosine (WEAT, "
        "Caliskan et al. 2017)? d is the difference between the two sets' means divided by their "
        "standard deviation, −2 to 2. p is the share of all partitions of the words into two sets "
        "whose difference is at least this high (one-sided: for d below 0, look at 1 − p); if "
        f"there are more than {MOST_EXACT:,} partitions, that many are sampled."
    ),
)
WORDS = View(
    name="bias-association-words",
    question="Which words make the effect?",
    of=run_association_test,
    table=tidy_at("words"),
    chart=Intervals(
        name="word",
        number="words_of_set",
        value="score",
        by="set",
        line=0,
        is_fraction=False,
        x_title="← second attributes          cosine          first attributes →",
    ),
    how=(
        "Each dot is a word: right of 0 it is closer to the first attributes, left of 0 to the "
        "second.\n\n"
        "Each word's mean cosine with one set of attributes minus that with the other. If the two "
        "colours are apart, there is an association. If a single word is far out, that word alone "
        "makes the effect."
    ),
)
COSINES = View(
    name="bias-direction",
    question="Is there a gender direction?",
    of=along_layers,
    table=cells({"state": state_names}, {"word": "0.words"}, cosine="*.cosines"),
    fills=explained,
    chart=Grid(
        row="word",
        column="state",
        value="cosine",
        form="+.2f",
        title="cosine",
        titles=("", AFTER_LAYER),
        is_signed=True,
    ),
    how=(
        "Each cell is an occupation after a layer: blue is nearer to *she*, orange nearer to "
        "*he*.\n\n"
        "The cosine of each occupation with the direction from *he, man, father ...* (orange, "
        "below 0) to *she, woman, mother ...* (blue, above 0), found after each layer by PCA of "
        "the differences within ten pairs (Bolukbasi et al. 2016). The direction explains "
        "{explained} of their variance; the rest lies outside it."
    ),
)
PROBES = View(
    name="bias-probes",
    question="Can a probe still tell the groups apart?",
    of=along_layers,
    table=columns(state=state_names, **{way: f"*.probes.{way}.accuracy" for way in WAYS}),
    chart=LayerCurves(
        curves=[Curve(way, way, place) for place, way in enumerate(WAYS)],
        title="",
        unit="a probe's accuracy",
        chance=0.5,
        chance_name="chance",
    ),
    how=(
        "Each dot is how often feminine and masculine words can be told apart in a layer; at 50% "
        "they cannot.\n\n"
        "How well a linear probe distinguishes 30 feminine words and names from 30 masculine ones, "
        "none of which are among the pairs (chance: 50%): as they are, without the direction "
        "(neutralised), and after LEACE, fitted on the pairs (Belrose et al. 2023). What a probe "
        "recovers was hidden, not removed (Gonen and Goldberg 2019)."
    ),
)
