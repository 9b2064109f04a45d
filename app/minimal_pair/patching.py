"""Where it is decided: activations of one version put into the run of the other."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import pandas as pd
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from bertcore import Model
from bertcore.analysis.patching import (
    Answer,
    Direction,
    Part,
    Patched,
    PatchPair,
    PathPatched,
    Place,
    class_answer,
    common_masks,
    patch,
    patch_pair,
    patch_path,
    telling_token,
    word_answer,
)
from bertcore.analysis.shared.inputs import one_piece
from bertcore.network.task_reader import TaskReader

from ..plots import Figure, cell_table, own_markdown, plain, records, signed, theme
from ..plots.before_after import head_grid
from ..shell import Compute, Field, Picture, cache, capabilities, frame, one_of
from ..task_model.model import readable_task_head
from .compared import Versions, column_names, layer_map


class Asked(NamedTuple):
    """Two versions, and the two logits whose difference is followed; small and hashable."""

    key: cache.BertKey
    first: Versions
    second: Versions
    hide: int | None
    """Token of the first version that is hidden in both; None for the texts as they are."""
    is_class: bool
    """Whether classes of the task head are followed, and not words."""
    name: str
    other: str
    """"": the default of `word_answer` or `class_answer`."""


class Followed(NamedTuple):
    """The names of the two logits."""

    name: str
    other: str | None

    def __str__(self) -> str:
        """Return the difference as it is written."""
        return self.name if self.other is None else f"{self.name} − {self.other}"


def pair_of(asked: Asked) -> PatchPair:
    """Return the aligned versions; ValueError if they cannot be patched; see `patch_pair`."""
    return cache.computed(patch_pair, asked.key, asked.first, asked.second, hide=asked.hide)


def masks(asked: Asked) -> list[int]:
    """Return the columns that have a mask in both versions."""
    return common_masks(cache.opened(asked.key), pair_of(asked))


@cache.once
def followed_answer(asked: Asked) -> Followed:
    """Return the names of the logits, the defaults if none were given.

    ValueError as `word_answer` and `class_answer`.
    """
    answer = _answer(cache.opened(asked.key), asked, pair_of(asked))
    return Followed(answer.name, answer.other)


def patched(
    asked: Asked, part: Part, direction: Direction, *, on_fraction: Callable[[float], None]
) -> Patched:
    """Return the runs with every place patched."""
    model, pair = cache.opened(asked.key), pair_of(asked)
    answer = _answer(model, asked, pair)
    return patch(model, pair, answer, part, direction, on_fraction=on_fraction)


def reader_of(key: cache.BertKey) -> TaskReader | None:
    """Return the task head whose classes can be followed, or None."""
    reader = readable_task_head(key)
    return reader if reader is not None and reader.kind in ("classes", "labels", "score") else None


def most_telling(model: Model, first: Versions, second: Versions) -> int | None:
    """Return the token at which the predictions of the versions differ most."""
    return telling_token(model, patch_pair(model, first, second))


def _answer(model: Model, asked: Asked, pair: PatchPair) -> Answer:
    if asked.is_class:
        reader = reader_of(asked.key)
        assert reader is not None  # the page offers classes only then
        return class_answer(model, reader, pair, asked.name or None, asked.other or None)
    words = (_piece(model, word) for word in (asked.name, asked.other))
    return word_answer(model, pair, *words)


def _piece(model: Model, word: str) -> str | None:
    """Return the piece that a typed word is; None if blank.

    ValueError if the vocabulary has no pieces for it.
    """
    unknown, piece = model.tokenizer.unk_token, one_piece(model, word)
    if piece == unknown and word != unknown:
        raise ValueError(
            f"{word!r} is unknown to this vocabulary, so it has no logit. Choose another word."
        )
    return piece


@torch.no_grad()
def path(asked: Asked, sender: Place, receiver: Place, direction: Direction) -> PathPatched:
    """Return the result of one path; ValueError as `patch_path`."""
    model, pair = cache.opened(asked.key), pair_of(asked)
    return patch_path(model, pair, _answer(model, asked, pair), sender, receiver, direction)


DIRECTION_NAMES = {
    "denoising": "First into second (denoising)",
    "noising": "Second into first (noising)",
}
PART_NAMES = {
    "state": "Hidden states",
    "head": "Heads",
    "attention": "Attention",
    "feed_forward": "Feed-forward",
}
DIRECTION = Field("patch_direction", "denoising", tuple(DIRECTION_NAMES))
PART = Field("patch_part", "state", tuple(PART_NAMES))
HIDE = Field("patch_hide", -1)
ANSWERS = ("Words", "Classes")
ANSWER = Field("patch_answer", ANSWERS[0], ANSWERS)
WORD, OTHER_WORD = Field("patch_word", ""), Field("patch_other_word", "")
CLASS, OTHER_CLASS = Field("patch_class", ""), Field("patch_other_class", "")
SENDER, RECEIVER = Field("patch_sender", ""), Field("patch_receiver", "")

NO_ANSWER = (
    "This checkpoint has neither a masked-word (MLM) head nor a head that labels texts, so there "
    "is no answer to follow. Choose another in the sidebar, such as `default`."
)
NOTHING_COMMON = (
    "The versions have no token in common that could be hidden. Write \\[MASK\\] at the same place "
    "in both."
)
MOST_TOKENS = 128  # most places that are patched; the work grows with their square
_WHAT = {
    "state": "a token's hidden state after a layer (the residual stream)",
    "head": "the output of a head, at all tokens",
    "attention": "what the attention of a layer writes at a token",
    "feed_forward": "what the feed-forward block of a layer writes at a token",
}
_READ = {
    "denoising": "**denoising**: a high share means that this is enough to bring the answer back",
    "noising": "**noising**: a high share means that the answer is lost without it",
}
CODE = """
from bertcore.analysis.patching import Place, class_answer, patch, patch_pair
from bertcore.analysis.patching import patch_path, word_answer
from bertcore.tasks import read_task_head

pair = patch_pair(bert, {first}, {second}, hide={hide})
answer = {answer}
"""


UNIT = "share"


def share_map(runs: Patched, pair: PatchPair, *, is_dark: bool = False) -> Figure:
    """Draw the share of each layer and token, or of each head."""
    # Orange below 0, blue up to 1; values beyond are clipped.
    shares, shades = runs.shares, theme.around_zero(1, is_dark)
    if runs.part == "head":
        return head_grid(shares, (), "%{z:+.1%}", shades, UNIT)
    names = column_names(pair.first, pair.second, pair.columns)
    state = runs.part == "state"
    return layer_map(
        shares,
        shades,
        "%{z:+.1%}",
        names,
        pair.changed,
        y_title="layer (0: embeddings)" if state else "layer",
        letters=13,
        row_height=30,
        space=84,
        colorbar=theme.bar_above(UNIT, tickformat=".0%"),
    )


def share_table(runs: Patched, pair: PatchPair) -> pd.DataFrame:
    """Return a row for each patched run."""
    columns: dict[str, Any] = {"head": range(runs.shares.shape[1])}
    if runs.part != "head":
        firsts, seconds = zip(*pair.columns, strict=True)
        columns = {
            "position_first": firsts,
            "position_second": seconds,
            "token_first": [pair.first.tokens[i] for i in firsts],
            "token_second": [pair.second.tokens[j] for j in seconds],
        }
    layers, shares = range(len(runs.shares)), runs.shares
    return cell_table({"layer": layers}, columns, logit_difference=runs.values, share=shares)


def path_bars(run: PathPatched) -> Figure:
    """Draw the logit difference of both versions and of the patched run."""
    names = [
        "first version",
        f"patched: {run.sender} → {run.receiver}",
        "second version",
    ]
    values = [run.first, run.value, run.second]
    colours = [theme.SPECIAL, theme.ACCENT, theme.SPECIAL]
    fig = Figure()
    fig.add(
        "bar",
        x=values,
        y=names,
        orientation="h",
        marker={"color": colours},
        text=[f"{value:+.3f}" for value in values],
        textposition="auto",
        hovertemplate="%{y}: %{x:+.4f}<extra></extra>",
    )
    theme.plot_layout(fig, "", "logit difference", "", 190)
    fig.update_yaxes(autorange="reversed")
    return fig


def path_table(run: PathPatched) -> pd.DataFrame:
    """Return one row: the path and its result."""
    ends = {"sender": str(run.sender), "receiver": str(run.receiver)}
    values = records([run], "direction", "first", "second", "patched=value", "share")
    return pd.DataFrame([ends]).join(values)


PATCHING = Picture(
    name="minimal-pair-patching",
    figure=share_map,
    table=share_table,
    how=(
        "Each cell is a run of the {base} version with one activation patched in from the {source} "
        "version: {what}. Everything after it is recomputed. The number is how far the difference "
        "of the two logits moves from the {base} version's (0) to the {source} version's (1). This "
        "is {read}. Several places may carry the same information, so shares do not sum to 1."
    ),
    code=CODE
    + """found = patch(bert, pair, answer, {part!r}, {direction!r})
found.shares, found.values                              # a row for each layer
""",
)
PATH = Picture(
    name="minimal-pair-path",
    figure=path_bars,
    table=path_table,
    needs=frozenset({"parts"}),
    how=(
        "The sender's activation from the {source} version is patched into the run of the {base} "
        "version and reaches the receiver through the residual stream alone: all heads and "
        "feed-forward blocks in between write what they wrote before. The receiver's new output is "
        "then patched in, and everything after it is recomputed."
    ),
    code=CODE
    + """found = patch_path(bert, pair, answer, {sender}, {receiver}, {direction!r})
found.share
""",
)


def show_patching(page: frame.Page, second: Versions) -> None:
    """Draw the choices, the shares of all places, and one path."""
    st.header("Which activations carry the difference", anchor=False)
    first = Versions(page.text_a, page.text_b)
    asked = _choose_answer(page, Asked(page.bert_key, first, second, None, False, "", ""))
    if asked is None:
        return
    pair, names = pair_of(asked), followed_answer(asked)
    has_parts = "parts" in page.bert.capabilities
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    direction, part = choose_way(row, has_parts=has_parts)
    capabilities.note(page, "parts")
    if part != "head" and len(pair.columns) > MOST_TOKENS:
        st.info(
            f"The versions have {len(pair.columns)} places, and each takes a run of its own: at "
            f"most {MOST_TOKENS} are patched here. Shorten the "
            f"texts{', or choose *Heads*' if has_parts else ''}."
        )
        return
    stopped = "The patching was stopped."
    compute = Compute(name="patching", stage="Patching each place", stopped=stopped)
    found = compute(patched, asked, part, direction)
    values = _code_values(page, asked, names, direction)
    followed = "Logit" if names.other is None else "Logit difference"
    st.markdown(
        f"{followed} **{plain(str(names))}**: {signed(found.first)} in the first version, "
        f"{signed(found.second)} in the second."
    )
    PATCHING.show(
        page,
        found,
        pair,
        drawn={"is_dark": page.is_dark},
        with_caption=False,
        part=part,
        what=_WHAT[part],
        read=_READ[direction],
        **values,
    )
    if part != "head" or not pair.is_aligned:
        st.caption(plain(pair.sentence()))
    PATCHING.caption(part=part, what=_WHAT[part], read=_READ[direction], **values)
    if has_parts:
        _show_path(page, asked, direction, values)


def choose_way(row: DeltaGenerator, *, has_parts: bool) -> tuple[Direction, Part]:
    """Draw the choice of a direction and of what is patched."""
    direction = one_of("Direction", DIRECTION_NAMES, DIRECTION, where=row, with_label=True)
    parts = PART_NAMES if has_parts else {"state": PART_NAMES["state"]}
    part = one_of("What is patched", parts, PART, where=row, with_label=True)
    return cast(Direction, direction), cast(Part, part)


def _choose_answer(page: frame.Page, asked: Asked) -> Asked | None:
    """Draw the choice of what is followed; return it, or None if there is nothing."""
    reader = reader_of(page.bert_key)
    has_words = "mlm" in page.bert.capabilities
    if not has_words and reader is None:
        st.info(NO_ANSWER)
        return None
    pair_of(asked)  # refuses versions that are the same
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    is_class = not has_words
    if has_words and reader is not None:
        is_class = one_of("Answer", ANSWERS, ANSWER, where=row, with_label=True) == ANSWERS[1]
    if is_class:
        assert reader is not None
        asked = asked._replace(is_class=True)
        if reader.kind == "score":
            return asked
        options = ["", *reader.labels]
        names = followed_answer(asked)
        fields = [(CLASS, "Class", names.name)]
        if reader.kind == "classes":
            fields.append((OTHER_CLASS, "Minus class", names.other or ""))
        chosen = [
            _choose_class(row, label, field, options, default) for field, label, default in fields
        ]
        return asked._replace(name=chosen[0], other=chosen[1] if len(chosen) > 1 else "")
    if not masks(asked):
        hide = _choose_hidden(page, asked, row)
        if hide is None:
            return None
        asked = asked._replace(hide=hide)
    names = followed_answer(asked)
    words = [
        row.text_input(label, key=field.key(), placeholder=default, width=180)
        for field, label, default in (
            (WORD, "Word", names.name),
            (OTHER_WORD, "Minus word", names.other or ""),
        )
    ]
    return asked._replace(name=words[0].strip(), other=words[1].strip())


def _choose_class(
    row: DeltaGenerator, label: str, field: Field[str], options: list[str], default: str
) -> str:
    """Draw the choice of a class; "" is the default."""
    return row.selectbox(
        label,
        options,
        format_func=lambda name: name or f"{default} (differs most)",
        key=field.key(options=options),
        width=220,
    )


def _choose_hidden(page: frame.Page, asked: Asked, row: DeltaGenerator) -> int | None:
    """Draw the choice of the token that is hidden in both versions; None: there is none."""
    pair = pair_of(asked)
    key = asked.key
    default = cache.computed(most_telling, key, asked.first, asked.second)
    if default is None:
        st.info(own_markdown(NOTHING_COMMON, page.marks))
        return None
    specials = pair.first.special_tokens_mask
    options = [
        i
        for (i, _), differs in zip(pair.columns, pair.changed, strict=True)
        if not differs and not specials[i]
    ]
    hidden: int = row.selectbox(
        "Hidden in both",
        options,
        format_func=lambda i: f"{pair.first.tokens[i]} · {i}",
        key=HIDE.key(default=default, options=options),
        width=180,
        help="Used if no mask is at the same place in both versions. The default is the token at "
        "which their predictions differ most.",
    )
    return hidden


def _show_path(
    page: frame.Page, asked: Asked, direction: Direction, values: dict[str, Any]
) -> None:
    """Draw the choice of a sender and a receiver, and the result of the path."""
    st.subheader("One path", anchor=False)
    places = _places(page)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    sender = places[_choose(row, "Sender", SENDER, list(places), next(iter(places)))]
    behind = {
        name: place
        for name, place in {**places, "the answer": Place("answer")}.items()
        if _order(place) > _order(sender)
    }
    receiver = behind[_choose(row, "Receiver", RECEIVER, list(behind), "the answer")]
    run = cache.computed(path, asked, sender, receiver, direction)
    st.markdown(
        f"The path from {sender} to {receiver} alone carries a share of **{run.share:+.1%}**."
    )
    ends: dict[str, Any] = {"sender": _code_of(sender), "receiver": _code_of(receiver)}
    PATH.show(page, run, **values, **ends)


def _choose(
    row: DeltaGenerator, label: str, field: Field[str], options: list[str], default: str
) -> str:
    chosen: str = row.selectbox(
        label, options, key=field.key(default=default, options=options), width=200
    )
    return chosen


def _places(page: frame.Page) -> dict[str, Place]:
    """Return the parts of all layers in the order of computation, by name."""
    config, places = page.bert.config, []
    for layer in range(config.num_hidden_layers):
        places.append(Place("attention", layer))
        places += [Place("head", layer, head) for head in range(config.num_attention_heads)]
        places.append(Place("feed_forward", layer))
    return {str(place): place for place in places}


def _order(place: Place) -> float:
    """Return when a part is computed."""
    if place.part == "answer":
        return float("inf")
    return 2 * place.layer + (place.part == "feed_forward")


def _code_of(place: Place) -> str:
    """Return a part as Python."""
    if place.part == "answer":
        return "Place('answer')"
    head = f", {place.head}" if place.part == "head" else ""
    return f"Place({place.part!r}, {place.layer}{head})"


def _code_values(
    page: frame.Page, asked: Asked, names: Followed, direction: Direction
) -> dict[str, Any]:
    """Return what fills the braces of captions and Python."""
    followed = f", {names.name!r}, {names.other!r}"
    answer = f"word_answer(bert, pair{followed})"
    if asked.is_class:
        reader = reader_of(page.bert_key)
        if reader is not None and reader.kind == "score":  # has no classes to name
            followed = ""
        answer = f"class_answer(bert, read_task_head(bert), pair{followed})"
    base, source = ("second", "first") if direction == "denoising" else ("first", "second")
    return {
        "first": tuple(asked.first),
        "second": tuple(asked.second),
        "hide": asked.hide,
        "answer": answer,
        "direction": direction,
        "base": base,
        "source": source,
    }
