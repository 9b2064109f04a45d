"""Pages of HTML that hold a view, without a browser."""

import base64
import datetime
import html
import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from app.parts.html_file import chart
from app.parts.html_file.document import (
    File,
    Report,
    ScriptedPicture,
    Table,
    as_html,
    caption_html,
    hash_of,
    legible,
    to_html,
)
from app.plots.figure import Figure, trace
from app.shell import state
from app.shell.pictures import picture_files

PART = ScriptedPicture(script="draw(%PLACE%, %DATA%);", data=["AAEC", "/w=="])


def test_a_file_holds_all_that_it_is_given() -> None:
    created = datetime.datetime(2024, 2, 29, 7, 5, tzinfo=datetime.UTC)
    written = to_html(
        Report(
            title="A & B",
            part=PART,
            how_to_read="*one* and `two`",
            texts={"Text A": "the\r\nriver"},
            facts={"Checkpoint": "default", "Choices": "layer = 2\nheads = 0"},
            code="x < 1",
            table=Table(["a", "b"], [[1, 0.25], ["<i>", None]], 7),
            files=[File("x.csv", "text/csv", b"a,b")],
            created=created,
        )
    )
    assert "<title>A &amp; B</title>" in written
    assert "<em>one</em> and <code>two</code>" in written
    assert "<bdi>the\nriver</bdi>" in written
    assert "<bdi>layer = 2\nheads = 0</bdi>" in written
    assert "2024-02-29 07:05 UTC" in written
    assert "<code>x &lt; 1</code>" in written
    assert "The first 2 of 7 rows." in written
    assert "<td><bdi>0.25</bdi></td>" in written
    assert "<td><bdi>&lt;i&gt;</bdi></td><td><bdi></bdi></td>" in written
    assert f"data:text/csv;base64,{base64.b64encode(b'a,b').decode()}" in written
    assert '<script type="text/plain" id="data-1">/w==</script>' in written
    script = 'draw(document.getElementById(\'part\'), ["data-0", "data-1"]);'
    assert f'<script type="module">{script}</script>' in written


def test_the_policy_allows_the_scripts_of_the_file_and_nothing_else() -> None:
    extra = hash_of("library")
    part = ScriptedPicture("more(%PLACE%, %DATA%);", [], extra_hashes=[extra])
    written = to_html(Report(title="", part=part))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', written)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data: blob:"
    scripts = re.findall(r'<script type="module">(.*?)</script>', written, re.S)
    assert rules["script-src"].split() == [*map(hash_of, scripts), extra]
    assert not re.search(r"(src|href)=.https?:", written)


@pytest.mark.parametrize("letters", ["</script", "</SCRIPT >", "<!--"])
def test_a_script_that_would_end_itself_is_refused(letters: str) -> None:
    with pytest.raises(ValueError, match="would end it"):
        to_html(Report(title="", part=ScriptedPicture(f"x = '{letters}';", [])))


def test_words_of_strangers_are_text() -> None:
    assert as_html("</script>\"'&") == "&lt;/script&gt;&quot;&#x27;&amp;"
    assert legible("a\u202eb\u2028\0\ud800\tc\nd") == (
        "a\u2039U+202E\u203ab\u2039U+2028\u203a\u2039U+0000\u203a\ufffd\tc\nd"
    )
    caption = caption_html("[x](javascript:alert(1)) <b>y</b> ![z](http://a.b) <http://c.d>")
    assert not re.search("<(a|b|img)", caption)
    assert "<b>y</b>" in html.unescape(caption)


def test_a_figure_is_in_its_file_with_all_its_numbers() -> None:
    fig = Figure(trace("bar", x=["<b>"], y=np.array([0.5])))
    part = chart.chart(fig)
    library, figure = (base64.b64decode(data) for data in part.data)
    assert b'"template"' not in figure
    assert b"<b>" in figure
    assert len(library) < 1_600_000
    assert len(part.extra_hashes) == 1
    table = chart.table_of(pd.DataFrame({"a": range(1200)}))
    assert (len(table.rows), table.num_rows) == (chart.MOST_ROWS, 1200)
    arrays = chart.table_of({"w": np.zeros((2, 3), np.float32)})
    assert list(arrays.rows) == [("w", "2 x 3", "float32")]


def test_a_large_data_file_stays_out_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_files, "MOST_BYTES", 10)
    of = picture_files.Origin("Heads", None, {}, {"layer": "2"})
    fig = Figure(layout={"title": {"text": "All heads"}})
    frame = pd.DataFrame({"a": [1]})
    for size, is_in in ((10, True), (11, False)):
        file = File("x.csv", "text/csv", bytes(size))
        made = picture_files.figure_file(
            of,
            fig=fig,
            data=frame,
            file=lambda held=file: held,
            code="",
            how_to_read="",
            scheme="light",
        )
        assert (b"download=" in made) == is_in
        assert (b"not in this file" in made) != is_in
        assert b"<h1>Heads: All heads</h1>" in made
        assert b"layer = 2" in made
        assert b"Checkpoint" not in made


def test_choices_are_those_of_the_page_that_are_not_as_by_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = {
        "_kept": {"text_a": "x", "layer": 3, "heads": [0, 2], "view": "lines", "old": 1},
        "_kept_defaults": {"layer": 0, "heads": [], "view": "lines", "old": 0},
        "_kept_used": {"text_a", "layer", "heads", "view"},
    }
    monkeypatch.setattr(st, "session_state", session)
    assert state.choices() == {"heads": "0, 2", "layer": "3"}
