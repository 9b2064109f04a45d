"""Lessons of a static site: answers and verdicts in TypeScript against those of `bertcore`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bertcore
from app.live import lessons as live_lessons
from app.live.live_file import PAGES, live_site
from app.live.weights import pack_weights
from app.shell.guide import catalogue
from app.shell.words.language import found_words, in_words, languages
from bertcore import Bert
from bertcore.lessons.answer import Found, NotShownError
from bertcore.lessons.lesson import Step, judge, tell, written
from bertcore.lessons.translation import PLACE
from tests.support.exhaustive import all_but
from tests.support.nasty_text import PARAGRAPH
from tests.support.node import run_typescript
from tests.support.tiny import tiny_bert

Case = tuple[str, str | None]
TEXTS: list[Case] = [
    ("The old [MASK] rowed his boat.", "He was tired."),
    ("Unforgettable naïve café, unhappily! 東京 It's the bank.", None),
    ("strawberries strawberries", "The river, the river."),
    ("a", "b"),
    ("[CLS] [SEP]", None),
    ("\u200b", ""),
    ("  ", None),
    (" ".join(PARAGRAPH.split()[:45]), "It ends."),
]
COMPUTE = """
import { answerOf, NAMES, NotShown } from "./app/live/answers";
import { judge, optionsOf, said } from "./app/live/lesson";
import { Reader } from "./app/live/reader";
import { filled } from "./app/live/wording";
const reader = await Reader.open(new Uint8Array(readFileSync("weights.bin")));
const { cases, language } = given;
const answered = cases.map(({ step, first, second, chosen }) => {
  try {
    const found = answerOf(reader, step.answer, step.given, first, second);
    const values = found.options.map(({ value }) => said(value, language));
    const verdicts = chosen.map((one) => {
      const { why, facts, ...rest } = judge(step, found, one, language);
      return { ...rest, why: filled(why, facts) };
    });
    return { ...found, values, options: optionsOf(step, found, language), verdicts };
  } catch (error) {
    if (!(error instanceof NotShown)) return { error: String(error.message) };
    return { shown: said(error.said, language) };
  }
});
const found = { answered, names: NAMES };
"""


def _cases(bert: Bert, code: str) -> Iterator[tuple[Step, str, str | None, dict[str, Any]]]:
    seen = set()
    for lesson, steps in live_lessons.lessons(live_lessons.kept(bert, PAGES), code):
        own = [(lesson.text_a, lesson.text_b or None), (lesson.other_a, lesson.other_b or None)]
        for step in steps:
            exported = live_lessons._step(step)
            brought = [(step.text_a, step.text_b)] if step.text_a else []
            function = (step.answer and step.answer.name, *step.given.values())
            texts = [] if function in seen or code != "en" else TEXTS
            seen.add(function)
            for first, second in [*own, *brought, *texts]:
                yield step, first, second, exported


def _answer(bert: Bert, step: Step, case: Case, code: str) -> Found | str | None:
    """Return the answer, why the text does not show it, or None for another error."""
    if not case[0].strip():
        return found_words("Sentence A is empty.", code=code)
    try:
        return in_words(step.find(bert, *case), code)
    except NotShownError as error:
        return found_words(str(error), code=code)
    except ValueError:
        return None


def _chosen(step: Step, found: Found) -> list[str | float]:
    if options := step.options(found):
        return list(options)[:9]
    right = float(found.answer)
    facts = [found.facts[fact] for fact in step.because]
    return [right, 3 * right + 100, *(float(fact) for fact in facts), right * 1.04]


@pytest.mark.parity
@pytest.mark.parametrize("code", all_but(["en"], [*languages()]))
def test_answers_and_verdicts_are_those_of_python(code: str, tmp_path: Path) -> None:
    bert = bertcore.load("default", device="cpu")
    theirs, asked = [], []
    for step, first, second, exported in _cases(bert, code):
        found = _answer(bert, step, (first, second), code)
        chosen = _chosen(step, found) if isinstance(found, Found) else []
        theirs.append((step, found, chosen))
        asked.append({"step": exported, "first": first, "second": second, "chosen": chosen})
    words = {"code": code, **languages()[code]}
    (tmp_path / "weights.bin").write_bytes(pack_weights(bert, "float32"))
    ours = run_typescript(COMPUTE, tmp_path, {"cases": asked, "language": words})
    assert {*ours["names"]} == live_lessons.ANSWERS
    for case, found, (step, right, chosen) in zip(asked, ours["answered"], theirs, strict=True):
        where = (step.title, case["first"][:60], case["second"])
        if right is None:
            assert "error" in found, (where, found)
        elif isinstance(right, str):
            assert found.get("shown") == right, where
        else:
            assert "answer" in found, (where, found)
            _same(step, found, right, where)
            _same_verdicts(step, found["verdicts"], right, chosen, where)


def _same(step: Step, found: dict[str, Any], right: Found, where: object) -> None:
    same(found["answer"], right.answer, where)
    named = {name for text in _texts(step) for name, _ in PLACE.findall(text)} | {*step.because}
    assert named <= {*found["facts"], "chosen", "answer", "chosen_value", "answer_value"}, where
    for name, fact in found["facts"].items():
        same(fact, right.facts[name], (where, name))
    assert {each["name"]: each["text"] for each in found["options"]} == step.options(right), where
    values = [option.value for option in right.options]
    for ours, value in zip(found["values"], values, strict=True):
        same_text(ours, value, where)
    assert sorted(found["also"]) == sorted(right.also), where


def _same_verdicts(
    step: Step, found: list[dict[str, Any]], right: Found, chosen: list[Any], where: object
) -> None:
    for ours, one in zip(found, chosen, strict=True):
        verdict = tell(step, right, judge(step, right, one))
        same_text(ours["why"], verdict.why, (where, one))
        assert ours["isRight"] == verdict.is_right, (where, one)
        same_text(ours["yours"], verdict.yours, where)
        same_text(ours["models"], verdict.models, where)


def _texts(step: Step) -> list[str]:
    of_choices = [text for one in step.choices for text in (one.text, one.why, one.wrong)]
    return [step.text, step.question, step.right, step.wrong, *step.because.values(), *of_choices]


def same(ours: Any, theirs: Any, where: object) -> None:
    """Numbers may differ by what float32 loses."""
    if isinstance(theirs, str):
        assert ours == theirs, where
    else:
        assert ours == pytest.approx(theirs, rel=2e-3, abs=2e-4), where


NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


def same_text(ours: str, theirs: str, where: object) -> None:
    """The last digit of a number may be another one."""
    assert NUMBER.sub("#", ours) == NUMBER.sub("#", theirs), where
    for one, other in zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True):
        mine, number = (float(text.replace(",", "")) for text in (one, other))
        last = 10.0 ** -len(other.partition(".")[2])
        assert abs(mine - number) <= max(last, abs(number) * 0.011), (where, ours, theirs)


def test_numbers_are_written_as_in_python(tmp_path: Path) -> None:
    numbers = [0, 1, 0.5, 0.125, 0.375, 0.01234, 16384, 2.0, -0.25, 1e-5, 0.00012, 9.995, 12345.5]
    numbers += [0.085, 0.0999, 0.1, 0.105, 1234.5, -1234.5, 2.5e-7, 99.95, 1 / 3, 0.145, 1e6, 999.6]
    found = run_typescript(
        """
        import { written } from "./app/live/wording";
        const found = given.map((one) => [written(one), written(one, true)]);
        """,
        tmp_path,
        numbers,
    )
    assert found == [[written(number), written(number, in_percent=True)] for number in numbers]


def test_a_site_has_the_lessons_that_its_pages_and_its_checkpoint_can_show() -> None:
    bert = bertcore.load("default", device="cpu")

    def names(*pages: str) -> list[str]:
        return [*live_lessons.kept(bert, pages)]

    every = "word-pieces one-head what-a-picture-does-not-say masked-words next-sentence".split()
    assert names(*PAGES) == every
    assert names("tokens") == ["word-pieces"]
    assert names("glance") == []
    # It has two layers, and a vocabulary in which the lesson's word is not in pieces.
    small = live_lessons.kept(tiny_bert(), PAGES)
    assert "one-head" not in small
    assert "next-sentence" in small
    for lesson, steps in live_lessons.lessons(live_lessons.kept(bert, PAGES), "zh"):
        assert lesson == catalogue.lessons("zh")[lesson.name]
        assert 2 * len(steps) >= len(lesson.steps)
    index = live_site(tiny_bert(), pages=["glance"])["index.html"].decode()
    assert '"guide": []' in index


def test_every_language_has_the_words_that_the_guide_asks_for() -> None:
    """A word that is missing would leave a site without its views."""
    script = Path(live_lessons.__file__).with_name("guide.ts").read_text(encoding="utf-8")
    places = re.findall(r"(?:this\.(?:words|button)\(|label = .*\?)([^,)\n]*)", script)
    asked = {name for place in places for name in re.findall(r'"(\w+)"', place)}
    assert asked >= {"start", "continue", "number_first", "check", "done_right"}
    for code, words in languages().items():
        assert asked <= words["guide"].keys(), code
