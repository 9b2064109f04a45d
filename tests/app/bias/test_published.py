"""Published sets on the page Bias: uploads, shares, items that are left out, bad files."""

from __future__ import annotations

import json
import lzma

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.bias import published
from app.bias.published import Uploaded
from app.shell import uploads
from app.shell.source import Incomplete
from bertcore import load
from bertcore.bias import StereotypePair, score_crows_pairs, stereotype_shares
from tests.support.opened import named_charts, numbers, ok, page_of, said

CROWS = (
    b"sent_more,sent_less,bias_type\n"
    b"The old man sat.,The old woman sat.,gender\n"
    b"She bought fish.,He bought fish.,gender\n"
    b"A bad <img src=x onerror=alert(1)> river.,A good river.,other\n"
)
ROLES = ("stereotype", "anti-stereotype", "unrelated")
ITEM = {
    "id": "1",
    "target": "man",
    "bias_type": "gender",
    "context": "The man was BLANK.",
    "sentences": [
        {"sentence": f"The man was {word}.", "gold_label": role}
        for word, role in zip(("bad", "good", "fish"), ROLES, strict=True)
    ],
}
STEREOSET = json.dumps({"data": {"intrasentence": [ITEM]}}).encode()
PRO = b"1 [The fisher] sat with the woman because [he] did good.\n"
ANTI = b"1 [The fisher] sat with the woman because [she] did good.\n"


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = page_of("bias", seconds=180)
    app.query_params["bias_view"] = "published"
    return ok(app.run())


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    box = app.file_uploader(key="bias_upload")
    return box.set_value([(name, data, "text/plain") for name, data in files]).run()


def read_uploaded(files: list[tuple[str, bytes]]) -> Uploaded:
    box = published._FILES
    copies = [uploads.write_copy(*file, box.most, box.instead, box.kind) for file in files]
    return box.read(copies)


def test_without_a_file_the_page_says_what_it_takes(page: AppTest) -> None:
    assert "crows_pairs_anonymized.csv" in said(page)
    assert not named_charts(page, "bias")


def test_shares_are_those_of_the_core(page: AppTest, checkpoint: str) -> None:
    app = ok(upload(page, ("crows.csv", CROWS)))
    chart = named_charts(app, "bias")["crows-pairs"]
    pairs = [
        StereotypePair("The old man sat.", "The old woman sat.", "gender", 1),
        StereotypePair("She bought fish.", "He bought fish.", "gender", 2),
        StereotypePair("A bad <img src=x onerror=alert(1)> river.", "A good river.", "other", 3),
    ]
    scores = score_crows_pairs(load(checkpoint), pairs)
    expected = [share.mean for share in stereotype_shares(scores, "pll")]
    np.testing.assert_allclose(numbers(chart[0]["x"]), expected)
    assert [trace["name"] for trace in chart[:3]] == ["pll", "aul", "aula"]


def test_items_are_shown_when_asked_for(page: AppTest) -> None:
    app = ok(upload(page, ("crows.csv", CROWS)))
    assert not app.dataframe
    app.toggle(key="bias_items").set_value(True).run()
    assert "Untick" in said(ok(app))


def test_stereoset_packed_and_winobias_in_any_order(page: AppTest) -> None:
    app = ok(upload(page, ("dev.json.xz", lzma.compress(STEREOSET))))
    chart = named_charts(app, "bias")["stereoset"]
    assert [trace["name"] for trace in chart[:3]] == ["language", "stereotype", "ICAT"]
    found = read_uploaded(
        [("anti_stereotyped_type1.txt.dev", ANTI), ("pro_stereotyped_type1.txt.dev", PRO)]
    )
    (item,) = found.items
    assert item.stereotype == ("he",)  # type: ignore[union-attr]
    turned = read_uploaded([("x1.txt", ANTI), ("x2.txt", PRO)])  # the first is the stereotype's
    assert turned.items != found.items
    assert turned.key != found.key


def test_two_files_are_winobias(page: AppTest) -> None:
    app = ok(upload(page, ("pro_type1.txt.dev", PRO), ("anti_type1.txt.dev", ANTI)))
    chart = named_charts(app, "bias")["winobias"]
    assert len(numbers(chart[0]["x"])) == 2  # all, and the one occupation


def test_the_files_of_winobias_can_come_one_after_the_other(page: AppTest) -> None:
    with pytest.raises(Incomplete, match=r"'pro\.txt\.dev' is one of the two files of WinoBias"):
        read_uploaded([("pro.txt.dev", PRO)])
    app = upload(page, ("pro_type1.txt.dev", PRO))
    assert "Add the other one" in app.error[0].value
    app = ok(upload(app, ("pro_type1.txt.dev", PRO), ("anti_type1.txt.dev", ANTI)))
    assert "winobias" in named_charts(app, "bias")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([("a.csv", b"x,y\n1,2\n")], "sent_more"),
        ([("a.csv", b"")], "a.csv"),
        ([("a.json", b'{"a": 1}')], "sent_more"),
        ([("a.xz", lzma.compress(PRO)[:-5])], "whole archive"),
        ([("a", PRO), ("b", ANTI), ("c", ANTI)], "3 files"),
        ([("pro", PRO), ("anti", PRO)], "WinoBias"),
        ([("../../etc/passwd", b"\xff\xfe\x00binary")], "passwd"),
    ],
)
def test_other_files_are_refused(files: list[tuple[str, bytes]], expected: str) -> None:
    with pytest.raises(ValueError, match=expected) as caught:
        read_uploaded(files)
    assert "/tmp" not in str(caught.value)


def test_a_bad_file_is_a_sentence_on_the_page(page: AppTest) -> None:
    app = upload(page, ("a.csv", b"x,y\n1,2\n"))
    assert not app.exception
    assert "sent_more" in " ".join(error.value for error in app.error).replace("\\", "")
