"""The hidden words of the text: they move with their words, on all pages and in the address."""

from typing import Any

import pytest
import torch

from app.navigation import PAGES
from app.parts.walk.drawing import message
from app.parts.walk.summary import Glance
from app.plots import percent
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell import cache
from app.shell.hidden import HiddenIn, moved, written
from app.shell.sentence_box import DEFAULT
from bertcore import Bert
from tests.support.opened import ok, page_of, python_shown, said, shown_names

A, B = "the river bank was steep", "it had rained"


def read(bert: Bert, text_a: str, text_b: str | None, masked: tuple[int, ...] = ()) -> HiddenIn:
    encoding = bert.tokenize(text_a, text_b)
    tokens, texts, offsets = encoding.tokens, encoding.text_ids, encoding.offsets
    return HiddenIn(masked, (text_a, text_b), tuple(tokens), tuple(texts), tuple(offsets))


@pytest.mark.parametrize(
    ("masked", "after", "expected"),
    [
        ((2, 9), ("so " + A, B), "river rained"),
        ((2, 9), (A, None), "river"),
        ((2, 9), (B, A), "rained river"),
        ((2, 3), ("the river shop was steep", B), "river"),
        ((2,), ("the bank was steep", B), ""),
        ((2,), ("the river river bank", B), "river"),
        ((2,), ("", None), ""),
    ],
)
def test_hidden_words_move_with_their_words(
    bert: Bert, masked: tuple[int, ...], after: tuple[str, str | None], expected: str
) -> None:
    now = read(bert, *after)
    assert [now.tokens[i] for i in moved(read(bert, A, B, masked), now)] == expected.split()


def test_in_other_pieces_those_are_hidden_whose_letters_were(bert: Bert) -> None:
    whole = HiddenIn((1, 2), (A, None), ("the", "river"), (0, 0), ((0, 3), (4, 9)))
    cut = HiddenIn(
        (), (A, None), ("th", "##e", "ri", "##ver"), (0,) * 4, ((0, 2), (2, 3), (4, 6), (6, 9))
    )
    assert moved(whole._replace(masked=(1,)), cut) == [2, 3]
    assert moved(cut._replace(masked=(2,)), whole) == []
    assert moved(cut._replace(masked=(2, 3)), whole) == [1]


def test_what_is_hidden_can_be_typed(bert: Bert) -> None:
    texts = written(bert.tokenize(A, B), (2, 9), (A, B))
    assert texts == ("the [MASK] bank was steep", "it had [MASK]")
    assert written(bert.tokenize(A), (), (A, None)) == (A, None)


def test_an_edit_moves_what_is_hidden_in_the_address_and_the_trace(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = ok(page_of("tokens", text_a=A, masked=["2", "0", "99", "x"]).run())
    assert app.query_params["masked"] == "2"
    assert app.button(key="show_hidden_2").label.split()[1] == "river"
    ok(app.text_area(key="text_a").set_value(f"it was {A}").run())
    assert app.query_params["masked"] == "4"
    assert "masked=[4]" in python_shown(app)[0]
    ok(app.button(key="show_hidden_4").click().run())
    assert "masked" not in app.query_params
    assert "masked=" not in python_shown(app)[0]


def test_a_page_that_reads_the_text_as_typed_says_so(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = ok(page_of("inspect_checkpoint", text_a=A, masked="2").run())
    assert app.button(key="show_hidden_2").disabled
    assert "reads the text as it is typed" in said(app)


def test_many_hidden_words_are_one_element(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = ok(page_of("tokens", text_a=A, masked=["1", "2", "3", "4"]).run())
    ok(next(one for one in app.button if one.label == "Show all").click().run())
    assert "masked" not in app.query_params


MONEY = 22
"""Position of "money" in the default pair."""
OWN_RUNS = {"architectures": 2, "sentence_pairs": 2, "compare": 1, "minimal_pair": 1}
"""Runs of the same ids that are others: with other attention or segment ids, of another checkpoint,
and of words that are tried before one is replaced."""


def default_bert(monkeypatch: pytest.MonkeyPatch) -> Bert:
    monkeypatch.delenv(CHECKPOINT_VARIABLE, raising=False)
    opened = cache.bert("default")
    return opened


@pytest.mark.parametrize("masked", [[], [str(MONEY)]])
def test_a_pair_has_one_probability(monkeypatch: pytest.MonkeyPatch, masked: list[str]) -> None:
    """On BERT at a glance, Sentence pairs and What if?, and in their Python."""
    default_bert(monkeypatch)
    drawn: list[Glance] = []
    monkeypatch.setattr(
        "app.screens.glance.page.drawing.message",
        lambda bert, glance, *rest: drawn.append(glance) or message(bert, glance, *rest),
    )
    app = ok(page_of("sentence_pairs", masked=masked).run())
    (header,) = (one.value for one in app.header if "probability" in one.value)
    p = shown_names(app)["result"].is_next
    assert f"**{percent(p)}**" in header
    assert percent(p) == ("93.1%" if masked else "87.0%")
    if masked:
        ok(page_of("glance", masked=masked).run())
        assert drawn[-1].pair is not None
        assert drawn[-1].pair.probability == pytest.approx(p, abs=1e-6)
    app = ok(page_of("what_if", masked=masked, off="0.0").run())
    assert shown_names(app, "what_if(")["result"].runs.next_before.is_next == pytest.approx(
        p, abs=1e-5
    )


READ_TEXT = [folder for folder, page in PAGES.items() if page.needs_text]


@pytest.mark.parametrize("page", READ_TEXT)
def test_a_text_is_run_once(monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    bert = default_bert(monkeypatch)
    typed = bert.tokenize(DEFAULT.text_a, DEFAULT.text_b).input_ids
    hidden = [bert.tokenizer.mask_id if i == MONEY else piece for i, piece in enumerate(typed)]
    runs: list[list[int]] = []
    look_up = type(bert.module.embeddings).look_up

    def counted(self: Any, input_ids: torch.Tensor, *rest: Any) -> Any:
        runs.extend(input_ids.reshape(-1, input_ids.shape[-1]).tolist())
        return look_up(self, input_ids, *rest)

    monkeypatch.setattr(type(bert.module.embeddings), "look_up", counted)
    cache._results().drop()
    ok(page_of(page, masked=str(MONEY)).run())
    assert runs.count(typed) <= 1
    assert runs.count(hidden) <= 1 + OWN_RUNS.get(page, 0)
