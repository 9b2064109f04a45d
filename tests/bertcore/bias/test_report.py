"""The report: every measure with intervals and criticism, hostile words as text, no requests."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bertcore import Bert
from bertcore.bias import grammar_exam
from bertcore.bias.audits import AUDITS
from bertcore.bias.report import ABOUT, OWN, PUBLISHED, make_report, report_html
from bertcore.configs import BiasConfig
from bertcore.grammar import bundled_pairs
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert

HOSTILE = "<img src=x onerror=alert(1)>"
PAIRS = (
    "sent_more,sent_less,bias_type\n"
    f"The old man sat.,The old woman sat.,{HOSTILE}\n"
    "She bought fish.,He bought fish.,\u202egender\n"
)


class Tags(HTMLParser):
    """Collect the tags, their attributes and the text of a file."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module", autouse=True)
def few_pairs() -> Iterator[None]:
    """Let the grammar exam have one pair of each phenomenon: tests/bertcore/grammar sits it."""
    pairs = bundled_pairs()
    few = replace(pairs, pairs=pairs.pairs[::10])
    with pytest.MonkeyPatch.context() as patch:
        # The package has a function of the module's name.
        patch.setattr(sys.modules["bertcore.bias.shares"], "bundled_pairs", lambda: few)
        yield


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.fixture(scope="module")
def html(bert: Bert, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("crows") / "pairs.csv"
    path.write_text(PAIRS, encoding="utf-8")
    asked = [("crows-pairs", path, BiasConfig())]
    return report_html(make_report(bert, asked, name=f"tiny {HOSTILE}"))


def test_every_measure_has_its_criticism() -> None:
    assert {*OWN, *PUBLISHED} == set(ABOUT) == set(AUDITS)
    for about in ABOUT.values():
        assert re.search(r"\d{4}", about.question + about.criticism), about.title


def test_all_that_was_measured_is_written(bert: Bert, html: str) -> None:
    text = Tags(html).text
    for name in (*OWN, "crows-pairs"):
        assert ABOUT[name].criticism in text
    for name in ("stereoset", "winobias"):
        assert f"bertscope bias {name} FILE" in text
    assert f"{grammar_exam(bert).mean:.1%}" in text
    assert "Goldfarb-Tarrant" in text
    assert "95%" in text
    assert "UTC" in text


def test_hostile_words_are_text_and_nothing_is_fetched(html: str) -> None:
    found = Tags(html)
    assert html.count(HOSTILE) == 0
    assert HOSTILE in found.text
    assert "\u202e" not in html
    assert "U+202E" in found.text
    assert not {"script", "img", "link", "iframe", "a", "form"} & {*found.tags}
    assert not {"src", "href", "onerror", "onclick"} & found.attributes
    assert "default-src 'none'" in html


def test_what_a_checkpoint_lacks_is_left_out_with_the_reason() -> None:
    report = make_report(tiny_bert(heads=ALL_HEADS - {"mlm"}))
    titles = [section.about.title for section in report.sections]
    assert ABOUT["weat"].title in titles
    assert ABOUT["templates"].title not in titles
    left = " ".join(report.left_out)
    assert f"{ABOUT['templates'].title}: this checkpoint has no masked-word" in left
    assert "masked-word" in report.quality.written()[0][0]


def test_a_measure_that_was_asked_for_must_be_made(bert: Bert, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs a file"):
        make_report(bert, [("stereoset", None, BiasConfig())])
