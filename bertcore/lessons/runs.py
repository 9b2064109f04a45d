"""Answers about pretraining, from the recorded runs that ship."""

import functools
import itertools
import json
import math
from typing import Any, NamedTuple

from bertcore.lessons.answer import Fact, Found, Kind, Option, answer, check_one_of, percent
from bertcore.model.model import Model
from bertcore.training.engine.probes import Probe, SentenceProbe, read_probes
from bertcore.training.pretraining.data.corpus import RECORDED_RUNS

_TOKENS_OF_BERT = 256 * 512 * 1_000_000
"""Rows of a step, tokens of a row, steps (Devlin et al. 2019, appendix A.2)."""


class Recorded(NamedTuple):
    """What is kept of a run."""

    config: dict[str, Any]
    lines: tuple[dict[str, Any], ...]
    """Of metrics.jsonl."""
    probes: tuple[Probe, ...]

    @property
    def scored(self) -> list[dict[str, Any]]:
        """The lines with a score on held-out text."""
        return [line for line in self.lines if "valid_mlm_loss" in line]

    @property
    def vocab_size(self) -> int:
        """Number of pieces of its vocabulary."""
        return int(self.config["model"]["vocab_size"])

    def sentence(self, number: int, step: int | None = None) -> tuple[int, SentenceProbe]:
        """Return a step and what it made of a probe sentence; None for the last step."""
        known = {probe.step: probe for probe in self.probes}
        step = max(known) if step is None else step
        if step not in known or not 0 <= number < len(known[step].sentences):
            raise ValueError(
                f"there is no probe of step {step} and sentence {number}; the steps are "
                f"{', '.join(map(str, known))}."
            )
        return step, known[step].sentences[number]


@functools.cache
def recorded(name: str) -> Recorded:
    """Return a recorded run that ships; ValueError for an unknown name."""
    folders = {path.name: path for path in RECORDED_RUNS}
    check_one_of("run", name, folders)
    folder = folders[name]
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return Recorded(config, tuple(map(json.loads, lines)), tuple(read_probes(folder)))


@answer(Kind.NUMBER, facts="vocab_size first_loss first_step last_loss")
def chance_of_run(bert: Model, text_a: str, text_b: str | None, run: str) -> Found:
    """Masked-word loss of a run that knows nothing yet: ln of the size of its vocabulary."""
    found = recorded(run)
    facts: dict[str, Fact] = {
        "vocab_size": found.vocab_size,
        "first_loss": found.lines[0]["mlm_loss"],
        "first_step": found.lines[0]["step"],
        "last_loss": found.scored[-1]["valid_mlm_loss"],
    }
    return Found(math.log(found.vocab_size), facts)


@answer(Kind.NUMBER, facts="words pairs step")
def total_of_run(bert: Model, text_a: str, text_b: str | None, run: str) -> Found:
    """Total loss at the end of a run, on held-out text: masked words plus next sentence."""
    last = recorded(run).scored[-1]
    words, pairs = round(last["valid_mlm_loss"], 2), round(last["valid_nsp_loss"], 2)
    return Found(words + pairs, {"words": words, "pairs": pairs, "step": last["step"]})


@answer(Kind.NUMBER, facts="before after from_step")
def steepest_step(bert: Model, text_a: str, text_b: str | None, run: str) -> Found:
    """The scored step at which the held-out masked-word loss has fallen most since the last."""
    scored = recorded(run).scored
    pairs = list(itertools.pairwise(scored))
    before, after = max(pairs, key=lambda two: _loss(two[0]) - _loss(two[1]))
    facts = {"before": _loss(before), "after": _loss(after), "from_step": before["step"]}
    return Found(after["step"], facts)


def _loss(line: dict[str, Any]) -> float:
    return float(line["valid_mlm_loss"])


@answer(Kind.NUMBER, facts="corpus rounds minutes steps times")
def tokens_of_run(bert: Model, text_a: str, text_b: str | None, run: str) -> Found:
    """Millions of tokens that a run has read; BERT read the fact "times" as many."""
    found = recorded(run)
    read = int(found.lines[-1]["num_tokens"])
    corpus = int(found.config["data_report"]["train"]["num_tokens"])
    facts: dict[str, Fact] = {
        "corpus": corpus / 1e6,
        "rounds": read / corpus,
        "minutes": found.lines[-1]["seconds"] / 60,
        "steps": found.lines[-1]["step"],
        "times": round(_TOKENS_OF_BERT / read, -2),
    }
    return Found(read / 1e6, facts)


_HIDDEN = "text hidden step best p rank p_hidden"


@answer(Kind.OPTION, facts=_HIDDEN)
def best_of_run(
    bert: Model, text_a: str, text_b: str | None, run: str, sentence: int, step: int = -1
) -> Found:
    """The word that a run finds best at the gap of a probe sentence, at a step; -1: the last."""
    step, probe = recorded(run).sentence(sentence, None if step < 0 else step)
    values = dict(zip(probe.top_words, map(percent, probe.top_probabilities), strict=True))
    options = tuple(Option(word, word, values[word]) for word in sorted(values))
    return Found(probe.top_words[0], _facts(step, probe), options)


def _facts(step: int, probe: SentenceProbe) -> dict[str, Fact]:
    return {
        "text": probe.text.text_a,
        "hidden": probe.word,
        "step": step,
        "best": probe.top_words[0],
        "p": float(probe.top_probabilities[0]),
        "rank": probe.rank,
        "p_hidden": probe.probability,
    }


@answer(
    Kind.CHOICE,
    facts="text hidden best p other_best other_p p_hidden other_p_hidden",
    names="same other",
)
def runs_agree(
    bert: Model, text_a: str, text_b: str | None, run: str, other: str, sentence: int
) -> Found:
    """Whether two runs end with the same best word at the gap of a probe sentence."""
    one, two = (_facts(*recorded(name).sentence(sentence)) for name in (run, other))
    facts: dict[str, Fact] = {
        **{name: one[name] for name in ("text", "hidden", "best", "p", "p_hidden")},
        "other_best": two["best"],
        "other_p": two["p"],
        "other_p_hidden": two["p_hidden"],
    }
    return Found("same" if one["best"] == two["best"] else "other", facts)


@answer(Kind.CHOICE, facts="belongs random p_belongs p_random accuracy", names="both one none")
def pairs_told(bert: Model, text_a: str, text_b: str | None, run: str) -> Found:
    """How many of the two probe pairs a run judges rightly at its end, at 50%."""
    found = recorded(run)
    last = found.probes[-1].sentences
    belongs, random = [one for one in last if one.is_next is not None]  # in this order
    assert belongs.is_next is not None
    assert random.is_next is not None
    right = (belongs.is_next > 0.5) + (random.is_next < 0.5)
    facts: dict[str, Fact] = {
        "belongs": str(belongs.text.text_b),
        "random": str(random.text.text_b),
        "p_belongs": belongs.is_next,
        "p_random": random.is_next,
        "accuracy": found.scored[-1]["valid_nsp_accuracy"],
    }
    return Found(("none", "one", "both")[right], facts)
