"""StereoSet: reading, word scores against candidates at a mask, the three scores by hand."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis.words.candidates import score_candidates
from bertcore.bias import GapItem, GapScore, read_stereoset, score_stereoset, stereoset_scores
from bertcore.data.files import BadRows
from tests.support.tiny import tiny_bert


def item(context: str, *words: str, name: str = "i") -> dict[str, object]:
    roles = ("stereotype", "anti-stereotype", "unrelated")
    return {
        "id": name,
        "target": "man",
        "bias_type": "gender",
        "context": context,
        "sentences": [
            {"sentence": context.replace("BLANK", word), "gold_label": role}
            for word, role in zip(words, roles, strict=True)
        ],
    }


def write(path: Path, items: list[dict[str, object]]) -> Path:
    text = json.dumps({"data": {"intrasentence": items}})
    if path.suffix == ".xz":
        path.write_bytes(lzma.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def test_gaps_are_found_whatever_case_and_full_stop(tmp_path: Path) -> None:
    made = item("The man was BLANK .", "bad", "good", "fishs")
    made["sentences"][0]["sentence"] = "the man was very bad"  # type: ignore[index]
    made["sentences"][1]["sentence"] = "The MAN was Good ."  # type: ignore[index]
    bad = BadRows(skip=True)
    found = read_stereoset(
        write(tmp_path / "s.json.xz", [made, item("A BLANK man.", "bad", "good", "cat")]),
        bad_rows=bad,
    )
    assert [each.words for each in found] == [
        ("very bad", "Good", "fishs"),
        ("bad", "good", "cat"),
    ]


@pytest.mark.parametrize(
    ("context", "sentence", "gap"),
    [
        ("The BLANK is tall.", "The chef is tall.", "chef"),
        (" BLANK are lazy.", "Chefs are lazy.", "Chefs"),
        ("The  BLANK is tall.", "The chef is tall.", "chef"),
        ("The BLANK  is tall.", "The chef is tall.", "chef"),
        ("The BLANK is tall. ", "The chef is tall.", "chef"),
        ("He is a BLANK.", "He is a chef", "chef"),
        ("He is BLANK", "he is a chef.", "a chef"),
        ("Mr. BLANK, he said.", "Mr. Smith Jr., he said.", "Smith Jr."),
        ("A BLANK. It ran.", "A dog. It ran.", "dog"),
        ("A BLANK . It ran.", "A dog . It ran.", "dog"),
        ("Two BLANKs ran.", "Two dogs ran.", "dog"),
        ("The BLANK are tall.", "These men are tall.", ""),
        ("The BLANK is tall.", "The chef this tall.", ""),
        ("The BLANK is tall.", "The is tall.", ""),
        ("The BLANK is tall.", "The chef is short.", ""),
        ("The BLANK is tall.", "The" + " " * 100_000 + "short.", ""),
    ],
)
def test_a_gap_is_what_stands_between_beginning_and_end(
    tmp_path: Path, context: str, sentence: str, gap: str
) -> None:
    made = item(context, "bad", "good", "cat")
    made["sentences"][0]["sentence"] = sentence  # type: ignore[index]
    path = write(tmp_path / "s.json", [made])
    if gap:
        assert read_stereoset(path)[0].words == (gap, "good", "cat")
    else:
        with pytest.raises(ValueError, match="does not fill the gap"):
            read_stereoset(path)


def test_bad_items_are_refused_or_counted(tmp_path: Path) -> None:
    items = [item("BLANK and BLANK", "a", "b", "c"), item("A BLANK.", "cat", "dog", "river")]
    path = write(tmp_path / "s.json", items)
    with pytest.raises(ValueError, match="2 gaps"):
        read_stereoset(path)
    bad = BadRows(skip=True)
    assert len(read_stereoset(path, bad_rows=bad)) == 1
    assert "1 bad row" in str(bad.sentence())


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"data": 3}', '{"data": {"intrasentence": [3]}}', "[" * 99999]
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="not a StereoSet"):
        read_stereoset(path)


def test_word_scores_are_those_of_candidates_at_a_mask(bert: Bert) -> None:
    gap = GapItem(
        "1", "the old man was BLANK to it", ("watering", "good", "fishs"), "man", "gender"
    )
    (score,) = score_stereoset(bert, [gap])
    text = "the old man was [MASK] to it"
    position = bert.tokenize(text).tokens.index("[MASK]")
    expected = [
        np.mean(each.piece_log_probabilities)
        for each in score_candidates(bert, text, None, [], position, gap.words)
    ]
    np.testing.assert_allclose(score.log_p, expected, atol=1e-4)


def test_a_word_that_cannot_be_written_has_no_score(bert: Bert) -> None:
    gap = GapItem("1", "a BLANK man", ("\u4e00", "good", "cat"), "man", "gender")
    (score,) = score_stereoset(bert, [gap])
    assert np.isnan(score.log_p[0])
    assert np.isfinite(score.log_p[1:]).all()
    with pytest.raises(ValueError, match="no item"):
        stereoset_scores([score])


def made(target: str, *log_p: float, kind: str = "gender") -> GapScore:
    words = ("a", "b", "c")
    return GapScore(GapItem("1", "BLANK", words, target, kind), (log_p[0], log_p[1], log_p[2]))


def test_the_three_scores_by_hand() -> None:
    scores = [
        made("man", -1, -2, -3),  # stereotype; both above the unrelated word
        made("man", -2, -1, -1.5),  # anti-stereotype; one of two above
        made("nurse", -1, -2, -3, kind="profession"),
    ]
    everything, gender, profession = stereoset_scores(scores)
    # Terms first: man has SS 50 and LMS 75, nurse 100 and 100.
    assert everything.stereotype[0] == pytest.approx(75)
    assert everything.language_model[0] == pytest.approx(87.5)
    assert everything.icat[0] == pytest.approx(87.5 * 25 / 50)
    means = [gender.stereotype[0], gender.language_model[0], gender.icat[0]]
    assert means == [50, 75, 75]
    assert profession.icat[0] == 0
    assert np.isnan(profession.icat[1:]).all()  # a single item has no interval
    assert everything.stereotype[1] <= 75 <= everything.stereotype[2]
