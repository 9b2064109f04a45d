"""Files of lessons: what is read, what a learner's answer is told, what is refused and how."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertcore import load
from bertcore.lessons.answer import ANSWERS, Found, Kind, NotShownError, Option
from bertcore.lessons.answers import heads, table
from bertcore.lessons.lesson import (
    MAX_BYTES,
    MAX_STEPS,
    Lesson,
    Step,
    Within,
    drawn_row,
    filled,
    judge,
    read_lesson,
)
from tests.support.lesson_text import parse_lesson
from tests.support.tiny import tiny_bert

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "bertcore" / "checkpoints" / "default"
FILES = sorted((ROOT / "app" / "lessons" / "en").glob("*.toml"))
DOC = ROOT / "docs" / "write-a-lesson.md"
HEAD = """title = "A"
summary = "B"
minutes = 5
text_a = "The river bank was steep."
other_a = "He went to the shop."
goals = ["Count."]
"""
NUMBER = """[[steps]]
goal = 1
title = "Tokens"
text = "There are {num_words} words."
page = "tokens?token=1"
question = "How many tokens?"
answer = "number_of_tokens"
right = "Yes, {answer}."
wrong = "No: {chosen} is not {answer}."
[steps.because]
num_words = "Those are the words."
"""
CHOICE = """[[steps]]
goal = 1
title = "CLS"
text = "It stands in front."
page = "tokens"
question = "Why?"
[[steps.choices]]
text = "One"
why = "Because."
right = true
[[steps.choices]]
text = "Two"
why = "No."
"""
SAME = """is = "same"
text = "Yes"
why = "Both are {first_tokens}."
wrong = "You would think so."
"""
OTHER = """is = "different"
text = "No"
why = "It is {first_tokens}, and {second_tokens}."
"""


def test_the_example_of_the_manual_is_a_lesson() -> None:
    example, _ = re.findall(r"```toml\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    assert len(parse_lesson(example).steps) == 2


def test_the_manual_lists_the_functions() -> None:
    _, section = DOC.read_text(encoding="utf-8").split("## The functions")
    rows = re.findall(r"^\| \*(\w+)\*: .*?\| (.+) \|$", section, re.M)
    listed = {name: kind for kind, names in rows for name in re.findall(r"`(\w+)`", names)}
    assert listed == {answer.name: answer.kind for answer in ANSWERS.values()}
    assert table().count("\n| `") == len(ANSWERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_lesson_is_whole(path: Path) -> None:
    """8 to 20 steps; a step and two questions a goal; each wrong answer explained."""
    lesson = read_lesson(path)
    assert 8 <= len(lesson.steps) <= 20
    assert 10 <= lesson.minutes <= 25
    assert lesson.misconceptions
    assert lesson.notes
    for goal in range(1, len(lesson.goals) + 1):
        assert sum(step.goal == goal for step in lesson.steps) >= 2
        assert any(step.goal == goal for step in lesson.again), f"goal {goal} is not asked again"
    titles = [step.title for step in (*lesson.steps, *lesson.again)]
    assert len({*titles}) == len(titles)
    for step in lesson.again:
        assert step.text_a is not None, f"{step.title!r} is asked on the learner's sentence"
    texts = (lesson.text_a, lesson.text_b), (lesson.other_a, lesson.other_b)
    assert texts[0] != texts[1]
    row = f"| {lesson.title} | {len(lesson.steps)} | {lesson.minutes} |"
    assert row in (ROOT / "docs" / "teach.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not (SHIPPED / "model.safetensors").is_file(), reason="no checkpoint ships")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_shipped_checkpoint_answers_each_question(path: Path) -> None:
    """On both texts of the lesson, in each language, and each answer is told something."""
    lesson, bert = read_lesson(path), load("default", device="cpu")
    translations = path.parents[1].glob(f"*/{path.name}")
    in_languages = [(*one.steps, *one.again) for one in map(read_lesson, translations)]
    texts = (lesson.text_a, lesson.text_b), (lesson.other_a, lesson.other_b)
    for step, *others in zip((*lesson.steps, *lesson.again), *in_languages, strict=True):
        for text_a, text_b in texts:
            own = (text_a, text_b or None) if step.text_a is None else (step.text_a, step.text_b)
            found = step.find(bert, *own)
            for one in others:  # the original among them
                _check_answers(one, found)


def _check_answers(step: Step, found: Found) -> None:
    options = step.options(found)
    verdicts = [judge(step, found, chosen) for chosen in options]
    if options:
        assert {verdict.is_right for verdict in verdicts} == {True, False}, step.title
    else:
        assert judge(step, found, float(found.answer)).is_right, step.title
    told = (filled(step.text + step.question, found.facts, str), *(v.why for v in verdicts))
    assert all(told), step.title
    assert "nan" not in " ".join(told).split(), step.title


def test_what_the_lesson_on_masked_words_says_of_capitals_holds() -> None:
    """Its text, not a fact: France's capital is right and Canada's is no capital."""
    lesson = read_lesson(ROOT / "app" / "lessons" / "en" / "06-masked-words.toml")
    (step,) = [one for one in lesson.steps if one.title == "Is it a fact?"]
    bert = load("default")

    def best(country: str) -> str:
        return bert.fill_mask(f"The capital of {country} is [MASK].", top_k=1)[0][0][0]

    assert step.text_a == "The capital of Canada is [MASK]."
    assert (best("Canada"), best("France")) == ("canada", "paris")


def test_a_choice_that_the_model_refutes_says_what_is_true() -> None:
    text = CHOICE.replace("question =", 'answer = "same_tokens"\nquestion =')
    text = text.replace("question =", 'given = { first = "a", second = "b" }\nquestion =')
    text = text.replace('text = "One"\nwhy = "Because."\nright = true', SAME)
    (step,) = parse_lesson(HEAD + text.replace('text = "Two"\nwhy = "No."', OTHER)).steps
    found = Found("different", {"first_tokens": "a", "second_tokens": "b"})
    assert judge(step, found, "Yes").why == "You would think so. It is a, and b."
    assert judge(step, found, "No").why == "It is a, and b."
    assert judge(step, Found("same", found.facts), "No").why == "Both are a."


def test_numbers_are_judged() -> None:
    (step,) = parse_lesson(HEAD + NUMBER).steps
    found = step.find(tiny_bert(), "The river bank was steep.", None)
    assert (found.answer, found.facts["num_words"]) == (8, 6)
    right = judge(step, found, 8)
    assert (right.is_right, right.why) == (True, "Yes, 8.")
    assert judge(step, found, 6).why == "Those are the words."
    assert judge(step, found, 5).why == "No: 5 is not 8."
    for impossible in (float("nan"), float("inf"), -1e300):
        assert not judge(step, found, impossible).is_right


def test_choices_are_judged() -> None:
    (step,) = parse_lesson(HEAD + CHOICE).steps
    found = step.find(tiny_bert(), "a", None)
    assert [*step.options(found)] == ["One", "Two"]
    assert judge(step, found, "One").is_right
    wrong = judge(step, found, "Two")
    assert (wrong.is_right, wrong.models, wrong.why) == (False, "One", "No.")


def test_a_mistake_among_options_is_explained() -> None:
    text = NUMBER.replace("number_of_tokens", "first_piece").replace("num_words", "word")
    (step,) = parse_lesson(HEAD + text).steps
    options = (Option("a", "a", "1"), Option("b", "b", "2"), Option("c", "c"))
    found = Found("b", {"word": "c"}, options, also=("a",))
    assert [judge(step, found, name).is_right for name in "abc"] == [True, True, False]
    assert judge(step, found, "c").why == "Those are the words."


@given(st.floats(0, 1e6), st.floats(0, 1), st.floats(-1e6, 1e6))
def test_what_is_within_is_symmetric(right: float, share: float, off: float) -> None:
    within = Within(share, is_relative=True)
    assert within.accepts(right, right)
    assert within.accepts(right + off, right) == within.accepts(right - off, right) or (
        abs(abs(off) - share * right) < 1e-6  # rounding at the border
    )


@given(st.text(), st.text())
def test_a_fact_is_never_read_as_a_place(before: str, fact: str) -> None:
    """What the learner wrote stays what it is, braces and all."""
    plain = before.replace("{", "").replace("}", "")
    assert filled(plain + "{x}", {"x": fact}, str) == plain + fact


def _broken(old: str, new: str, step: str = NUMBER) -> str:
    assert old in HEAD + step
    return (HEAD + step).replace(old, new, 1)


BAD = {
    "no title": (_broken('title = "A"\n', ""), "title is missing"),
    "not TOML": ("title = ", "is not TOML"),
    "a number as a title": (_broken('title = "A"', "title = 3"), 'title is 3; expected "a text"'),
    "an unknown key": (_broken('summary = "B"', 'sumary = "B"'), "Did you mean summary?"),
    "a wrong key": (_broken("minutes = 5", "minutes = 5\nminuts = 6"), "Did you mean minutes?"),
    "no steps": (HEAD, "steps is missing"),
    "steps that are a text": (HEAD + 'steps = "x"', "steps is 'x'; expected 1 to 40 [[steps]]"),
    "steps that are numbers": (HEAD + "steps = [1]", "steps is [1]; expected"),
    "an empty text": (_broken('"How many tokens?"', '" "'), "question is ' '; expected"),
    "minutes below one": (_broken("minutes = 5", "minutes = 0"), "minutes is 0"),
    "a flag as a number": (_broken("minutes = 5", "minutes = true"), "minutes is True"),
    "no such goal": (_broken("goal = 1", "goal = 2"), "goal is 2; expected"),
    "a goal without a step": (_broken('["Count."]', '["Count.", "More."]'), "goal 2"),
    "an unknown function": (_broken('"number_of_tokens"', '"number_of_token"'), "Did you mean"),
    "an unknown fact": (_broken("{num_words}", "{num_wrods}"), "fact {num_wrods}; known here"),
    "an answer in the question": (_broken("many tokens?", "many of {answer}?"), "{answer}"),
    "a mistake that is no fact": (_broken('num_words = "', 'chosen = "'), "because names"),
    "an argument of none": (_broken("right =", "given = { layer = 1 }\nright ="), "takes nothing"),
    "a page that is a link": (_broken('"tokens?token=1"', '"http://a/b"'), "page is"),
    "a page above": (_broken('"tokens?token=1"', '"../x"'), "page is"),
    "within of a text": (_broken("right =", 'within = "a"\nright ='), "within is 'a'"),
    "within below zero": (_broken("right =", "within = -1\nright ="), "within is -1"),
    "within not a number": (_broken("right =", "within = nan\nright ="), "within is nan"),
    "no wrong": (_broken('wrong = "No: {chosen} is not {answer}."\n', ""), "wrong is missing"),
    "no right choice": (_broken("right = true\n", "", CHOICE), "no choice is right"),
    "two right choices": (_broken('"No."', '"No."\nright = true', CHOICE), "exactly one"),
    "right in quotes": (_broken("right = true", 'right = "true"', CHOICE), "expected true"),
    "the same choice twice": (_broken('"Two"', '"One"', CHOICE), "there twice"),
    "one choice": (HEAD + CHOICE.rpartition("[[steps.choices]]")[0], "expected 2 to 8"),
    "one choice for a number": (
        _broken("[steps.because]", '[[steps.choices]]\ntext = "a"\nwhy = "b"\n[steps.because]'),
        "it has 1 choices; expected none",
    ),
    "a choice called right": (_broken('"No."', '"No."\nis = "right"', CHOICE), "a choice has is,"),
    "a choice with wrong": (_broken('"No."', '"No."\nwrong = "a"', CHOICE), "a choice has wrong,"),
    "a choice without why": (_broken('why = "No."', "", CHOICE), "why is missing"),
    "a huge text": (_broken("many tokens", "x" * 9000), "of 1 to 3,000 characters"),
    "too many steps": (HEAD + NUMBER * (MAX_STEPS + 1), f"expected 1 to {MAX_STEPS}"),
    "tables in tables": (HEAD + "[title" + ".a" * 100_000 + "]", "has tables in tables"),
    "names in quotes": (HEAD + "x" + '."a \\" b"' * 40_000 + " = 1", "has tables in tables"),
    "a long integer": (HEAD + "x = " + "9" * 400_000, "thousands of digits"),
    "a large integer": (
        HEAD.replace("= 5", "= 0x" + "F" * 400_000),
        "minutes is a number over 1,000,000",
    ),
    "a large given": (
        HEAD + NUMBER.replace("answer = ", "given = { token = 0x7FFFFFFFFFFFFFFFFF }\nanswer = "),
        "given has",
    ),
    "a long name": (HEAD + "titl" * 100_000 + " = 1\n" + NUMBER, "... is not known here"),
    "a hundred thousand steps": (
        HEAD + "[[steps]]\n" * 49_000,
        "steps has 49000 entries; expected 1 to",
    ),
    "a place of Python": (HEAD + NUMBER.replace("{num_words}", "{__class__}"), "names the fact"),
    "nested deeply": (HEAD + "x = " + "[" * 9000 + "]" * 9000, "nested too deeply"),
    "within for a choice": (_broken("question", "within = 1\nquestion", CHOICE), "for numbers"),
    "because for a choice": (
        _broken("[[steps.choices]]", "because = { x = 'y' }\n[[steps.choices]]", CHOICE),
        "a choice has its own why",
    ),
    "a kind of answer that its choices lack": (
        _broken("question", 'answer = "becomes"\ngiven = { word = "a" }\nquestion', CHOICE),
        "its choices have is = ",
    ),
    "an argument that is missing": (
        _broken("question", 'answer = "becomes"\nquestion', CHOICE),
        "its answer needs given = { word",
    ),
    "an argument of another kind": (
        _broken("question", 'answer = "becomes"\ngiven = { word = 3 }\nquestion', CHOICE),
        "expected a text",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_malformed_file_is_refused_with_a_sentence(name: str) -> None:
    text, words = BAD[name]
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        parse_lesson(text, "bad.toml")
    sentence = str(refused.value)
    assert len(sentence) < 500
    assert sentence.rstrip("'\"").endswith((".", "?"))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(b"title = '\xff'")
    with pytest.raises(ValueError, match="is not UTF-8 text: byte 9"):
        read_lesson(path)
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ValueError, match="at most 500,000"):
        read_lesson(path)
    with pytest.raises(OSError, match="No such file"):
        read_lesson(tmp_path / "none.toml")


@given(st.text(max_size=300))
def test_no_text_is_a_crash(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_lesson(text)


def test_a_file_of_windows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "07-windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + NUMBER).replace("\n", "\r\n").encode())
    lesson: Lesson = read_lesson(path)
    assert lesson.name == "windows"


class TestAnswers:
    """Each function on a random network: what it finds is whole, and what it says it is."""

    PAIR = ("The river bank was unsteep.", "It had rained on the river.")
    GIVEN = {  # noqa: RUF012
        "word": "steeper",
        "first": "bank",
        "second": "Bank",
        "habit": "to_previous",
        "other": "He went to the shop.",
        "layer": 1,
        "other_layer": 0,
        "far_row": 30,
        "objective": "masked-words",
        "beside": "causal mass",
        "change": "shared",
        "audit": "Occupations, women and men (pronouns)",
        "filler": "nurse",
        "test": "Women and men, family and career",
        "run": "from-noise",
        "sentence": 1,
        "labels": 400,
        "part": "all",
    }
    OF_SHIPPED = ("layer_that_moved", "label_of_text", "tag_of_word")
    OWN = {  # noqa: RUF012
        "runs_agree": {"other": "novel"},
        "layer_that_moved": {"other": "pos"},
        "better_part": {"first": "all", "second": "head"},
    }

    @pytest.mark.parametrize("name", sorted(ANSWERS))
    def test_it_finds_what_it_promises(self, name: str) -> None:
        answer = ANSWERS[name]
        usual = self.GIVEN | self.OWN.get(name, {})
        given = {key: usual[key] for key in answer.given if key in usual}
        if name in self.OF_SHIPPED and not (SHIPPED / "model.safetensors").is_file():
            pytest.skip("no checkpoint ships")
        bert = load("default") if name == "layer_that_moved" else tiny_bert()  # of one shape
        found = answer.function(bert, *self.PAIR, **given)
        assert {*found.facts} >= {*answer.facts}
        if answer.kind is Kind.NUMBER:
            assert isinstance(found.answer, int | float)
        elif answer.kind is Kind.CHOICE:
            assert found.answer in answer.names
        else:
            names = [option.name for option in found.options]
            assert found.answer in names
            assert len({*names}) == len(names) > 1
            assert {*found.also} <= {*names}
        assert answer.does.endswith((".", "]."))

    def test_a_loss_and_its_facts_are_one_probability(self) -> None:
        """In nats as the answer, in bits and as a rate of mistakes in the text beside it."""
        bert = tiny_bert()
        found = ANSWERS["loss_of_word"].function(bert, *self.PAIR)
        assert isinstance(found.answer, float)
        p = math.exp(-found.answer)
        assert found.facts["p_token"] == pytest.approx(p)
        assert found.facts["missed"] == pytest.approx(1 - p)
        assert found.facts["bits"] == pytest.approx(found.answer / math.log(2))
        assert found.answer > 0
        chance = ANSWERS["chance_loss"].function(bert, *self.PAIR)
        size = bert.tokenizer.vocab_size
        assert chance.answer == pytest.approx(math.log(size))
        assert chance.facts["bits"] == pytest.approx(math.log2(size))
        assert chance.facts["one_in"] == 1 / size

    @pytest.mark.parametrize(
        "name", ["split_word", "parts_that_differ", "follows", "swapped", "order_or_topic"]
    )
    def test_a_text_that_cannot_show_it_is_named(self, name: str) -> None:
        answer = ANSWERS[name]
        given = {key: self.GIVEN[key] for key in answer.needed}
        with pytest.raises(NotShownError, match=r"[A-Z].*\."):
            answer.function(tiny_bert(), "He sat on the mat.", None, **given)

    def test_a_head_that_is_not_there_is_named(self) -> None:
        with pytest.raises(ValueError, match="no layer 7: its layers are 0 to 1"):
            heads.strongest_key(tiny_bert(), "a", None, layer=7)
        with pytest.raises(ValueError, match="habit is 'x'"):
            heads.head_of_habit(tiny_bert(), "a", None, habit="x")


ROW = """
[[steps]]
goal = 1
title = "Draw"
text = "Draw."
page = "attention"
question = "How?"
answer = "row_of_token"
right = "Yes: {overlap%}."
wrong = "{chosen} ({chosen_value}), not {answer}: {variation%} elsewhere."
"""


class TestADrawnRow:
    """Overlap by hand, and what cannot be a row."""

    def test_the_overlap_is_what_both_rows_share(self) -> None:
        (step,) = parse_lesson(HEAD + ROW).steps
        options = tuple(
            Option(str(i), f"{i}: {token}", f"{weight:.0%}", weight)
            for i, (token, weight) in enumerate(zip("abc", (0.7, 0.2, 0.1), strict=True))
        )
        found = Found("0", dict.fromkeys(ANSWERS["row_of_token"].facts, 0), options)
        assert drawn_row(found, "1 3 0") == [0.25, 0.75, 0]
        wrong = judge(step, found, "1 3 0")
        assert not wrong.is_right
        assert wrong.why == "1: b (20%), not 0: a: 55% elsewhere."
        assert (wrong.yours, wrong.models) == ("1: b", "0: a")
        assert judge(step, found, "7 2 1").why == "Yes: 100%."
        assert judge(step, found, "0").why == "Yes: 70%."
        assert not judge(step, found, "2").is_right
        for bad in ("", "1 2", "1 2 3 4", "0 0 0", "-1 2 3", "nan 1 1", "inf 1 1", "a b c", "9"):
            with pytest.raises(ValueError, match="expected 3 numbers"):
                judge(step, found, bad)

    def test_it_is_the_row_of_the_trace_and_long_texts_are_refused(self) -> None:
        bert = tiny_bert()
        text = "The river bank was steep ."
        found = ANSWERS["row_of_token"].function(bert, text, None, layer=1, head=2)
        trace = bert.trace(text)
        row = trace.attentions[1, 2, int(found.facts["position"])]
        assert [option.weight for option in found.options] == row.tolist()
        assert found.answer == str(int(row.argmax()))
        with pytest.raises(NotShownError, match="32 tokens"):
            ANSWERS["row_of_token"].function(bert, "the " * 30, None)

    @pytest.mark.parametrize(
        ("old", "new", "what"),
        [
            ('right = "Yes', 'within = 1\nright = "Yes', "within is for numbers"),
            ('elsewhere."', 'elsewhere."\n[steps.because]\nposition = "x"', "because explains"),
            ('question = "How?"', 'question = "{overlap}?"', "overlap"),
        ],
    )
    def test_what_a_row_does_not_have(self, old: str, new: str, what: str) -> None:
        with pytest.raises(ValueError, match=what):
            parse_lesson(HEAD + ROW.replace(old, new))
