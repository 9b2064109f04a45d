"""Answers about the objectives of BERT's relatives: what is hidden, asked, seen and written."""

import functools

from bertcore.analysis.objectives.answers import objective_answer, shipped_for, why_no_answer
from bertcore.analysis.objectives.demo import REPLACED, ObjectiveExample, objective_example
from bertcore.analysis.words.epoch_masks import epoch_masks
from bertcore.lessons.answer import Fact, Found, Kind, NotShownError, Option, answer, check_one_of
from bertcore.model.loading import load
from bertcore.model.model import Model
from bertcore.model.objectives import OBJECTIVES

SEED = 20
"""The draw that the page Objectives shows first."""


def _reader(bert: Model, objective: str) -> Model:
    """Return the checkpoint that answers an objective: this one, or else the one that ships.

    As on the page Objectives, so that the tokens are those of its picture.
    """
    check_one_of("objective", objective, OBJECTIVES)
    name = None if why_no_answer(bert, objective) is None else shipped_for(objective)
    return bert if name is None else _opened(name)


@functools.cache
def _opened(name: str) -> Model:
    return load(name)


def _expected(example: ObjectiveExample) -> list[str]:
    """Return what has to come out of the network, one entry for each place with a loss."""
    if example.verdict:
        return [example.verdict]
    return list(example.writes) or [token.target for token in example.reads if token.target]


@answer(Kind.NUMBER, facts="num_tokens share reads expected")
def number_asked(
    bert: Model, text_a: str, text_b: str | None, objective: str, seed: int = SEED
) -> Found:
    """Number of places of the text at which an objective measures a loss, in one draw."""
    example = objective_example(_reader(bert, objective), objective, text_a, text_b, seed=seed)
    expected, num_tokens = _expected(example), len(example.original)
    facts: dict[str, Fact] = {
        "num_tokens": num_tokens,
        "share": len(expected) / num_tokens,
        "reads": " ".join(token.text for token in example.reads if token.text),
        "expected": " ".join(expected),
    }
    return Found(len(expected), facts)


@answer(Kind.NUMBER, facts="num_asked num_tokens expected")
def percent_asked(
    bert: Model, text_a: str, text_b: str | None, objective: str, seed: int = SEED
) -> Found:
    """That number, in percent of the tokens."""
    found = number_asked(bert, text_a, text_b, objective, seed)
    facts: dict[str, Fact] = {
        "num_asked": found.answer,
        "num_tokens": found.facts["num_tokens"],
        "expected": found.facts["expected"],
    }
    return Found(100 * float(found.facts["share"]), facts)


@answer(Kind.NUMBER, facts="token position num_tokens before")
def number_seen(
    bert: Model, text_a: str, text_b: str | None, objective: str, seed: int = SEED
) -> Found:
    """Number of tokens that the first place with a loss may attend to."""
    example = objective_example(_reader(bert, objective), objective, text_a, text_b, seed=seed)
    places = [place for place, token in enumerate(example.reads) if token.target]
    if not places:
        raise NotShownError("Nothing of this text is asked for in this draw.")
    facts: dict[str, Fact] = {
        "token": example.reads[places[0]].target,
        "position": places[0],
        "num_tokens": len(example.reads),
        "before": places[0],
    }
    return Found(int(example.looks[-1].allowed[places[0]].sum()), facts)


@answer(Kind.OPTION, facts="reads")
def must_come_out(
    bert: Model,
    text_a: str,
    text_b: str | None,
    objective: str,
    beside: str,
    seed: int = SEED,
) -> Found:
    """What an objective expects to come out, beside what others (separated by spaces) expect.

    All on the tokens of this checkpoint.
    """
    examples = {
        name: objective_example(bert, name, text_a, text_b, seed=seed)
        for name in (objective, *beside.split())
    }
    written = {" ".join(_expected(one)): OBJECTIVES[name].title for name, one in examples.items()}
    options = tuple(Option(text, text, written[text]) for text in sorted(written))
    facts = {"reads": " ".join(token.text for token in examples[objective].reads if token.text)}
    return Found(" ".join(_expected(examples[objective])), facts, options)


@answer(Kind.TOKEN, facts="token original position num_tokens")
def replaced_token(bert: Model, text_a: str, text_b: str | None, seed: int = SEED) -> Found:
    """The token that ELECTRA's generator has replaced; any, if there are several."""
    example = objective_example(
        _reader(bert, "replaced-tokens"), "replaced-tokens", text_a, text_b, seed=seed
    )
    places = [at for at, token in enumerate(example.reads) if token.target == REPLACED[1]]
    if not places:
        raise NotShownError("The generator has put back what stood there, so there is no fake.")
    options = tuple(
        Option(str(place), f"{place}: {token.text}", token.target)
        for place, token in enumerate(example.reads)
    )
    facts: dict[str, Fact] = {
        "token": example.reads[places[0]].text,
        "original": example.original[places[0]],
        "position": places[0],
        "num_tokens": len(example.reads),
    }
    return Found(str(places[0]), facts, options, also=tuple(map(str, places[1:])))


@answer(Kind.CHOICE, facts="num_asked num_right target best p", names="all some none")
def answers_right(
    bert: Model, text_a: str, text_b: str | None, objective: str, seed: int = SEED
) -> Found:
    """How many places the page's checkpoint of an objective answers rightly.

    The facts "target", "best" and "p" are of the first place that it gets wrong, or else of the
    first one.
    """
    found = objective_answer(_reader(bert, objective), objective, text_a, text_b, seed=seed)
    best = [max(place.best, key=lambda guess: guess[1]) for place in found.places]
    is_right = [guess == place.target for (guess, _), place in zip(best, found.places, strict=True)]
    at = is_right.index(False) if False in is_right else 0
    facts: dict[str, Fact] = {
        "num_asked": len(is_right),
        "num_right": sum(is_right),
        "target": found.places[at].target,
        "best": best[at][0],
        "p": best[at][1],
    }
    return Found("all" if all(is_right) else "some" if any(is_right) else "none", facts)


@answer(Kind.NUMBER, facts="num_epochs copies")
def different_masks(
    bert: Model, text_a: str, text_b: str | None, copies: int = 0, seed: int = SEED
) -> Found:
    """Number of different masks of the text in 20 epochs: new ones each time, or from copies.

    BERT made 10 copies of its data with their masks once; 0 copies draw anew in each epoch.
    """
    text = f"{text_a} {text_b or ''}".strip()
    masks = epoch_masks(bert, text, dupe_factor=copies, seed=seed)
    return Found(masks.num_masks, {"num_epochs": len(masks.fates), "copies": copies})


@answer(Kind.NUMBER, facts="now table layers share num_layers")
def parameters_if(bert: Model, text_a: str, text_b: str | None, change: str) -> Found:
    """Millions of parameters if layers share their weights ("shared"), or half are left ("half").

    Of the embeddings and layers, heads not counted.
    """
    check_one_of("change", change, ("shared", "half"))
    own = [(name, each.numel()) for name, each in bert.module.named_parameters()]
    table = sum(count for name, count in own if name.startswith("embeddings."))
    layers = sum(count for name, count in own if name.startswith("layers."))
    num_layers = bert.config.num_hidden_layers
    if not table or not layers:
        raise ValueError(
            "this architecture's layers are not counted. Open a BERT, such as default."
        )
    left = layers / num_layers * (1 if change == "shared" else num_layers // 2)
    facts: dict[str, Fact] = {
        "now": (table + layers) / 1e6,
        "table": table / 1e6,
        "layers": layers / 1e6,
        "share": (table + left) / (table + layers),
        "num_layers": num_layers,
    }
    return Found((table + left) / 1e6, facts)
