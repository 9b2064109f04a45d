"""Files of lessons: what is read, what a learner's answer is told, what is refused and how."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertcore import load
from bertcore.base.toml_tables import from_table
from bertcore.lessons import rules
from bertcore.lessons.answer import ANSWERS, Found, Kind, NotShownError, Option
from bertcore.lessons.answers import heads
from bertcore.lessons.lesson import (
    MAX_BYTES,
    Lesson,
    Step,
    Verdict,
    Within,
    filled,
    hint,
    judge,
    read_lesson,
    tell,
)
from bertcore.lessons.words import filled_first, without_right
from tests.support.browser.wording import layers_beyond
from tests.support.lesson_text import parse_lesson
from tests.support.tiny import tiny_bert

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "bertcore" / "model" / "checkpoints" / "default"
FILES = sorted((ROOT / "app" / "screens" / "lessons" / "en").glob("*.toml"))
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
"""
TWO = """[[steps.choices]]
text = "Two"
why = "No."
"""
CHOICE += TWO
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


@pytest.mark.parametrize("path", sorted(FILES[0].parents[1].glob("*/*.toml")), ids=str)
def test_no_rule_without_knowledge_passes_a_lesson(path: Path) -> None:
    lesson = read_lesson(path)
    assert [*rules.faults(lesson), *rules.warnings(lesson)] == []


def test_the_longest_option_is_found_out() -> None:
    """And an option that is told by its reason or its place; alike ones are picked by chance."""
    right = CHOICE.replace('"One"', '"One, because it is so"')
    lesson = parse_lesson(HEAD + right * rules.LEAST)
    got = rules.scores(lesson)
    assert [got[name] for name in ("the longest", "the one with a reason", "option 1")] == [1] * 3
    assert (got["the shortest"], got["option 2"]) == (0, 0)
    assert [fault.partition(" is right")[0] for fault in rules.faults(lesson)] == [
        "the longest",
        "the one with a reason",
        "option 1",
    ]
    assert len([*rules.warnings(lesson)]) == rules.LEAST
    assert rules.scores(parse_lesson(HEAD + CHOICE))["the longest"] == 0.5
    assert [*rules.faults(parse_lesson(HEAD + CHOICE))] == [], "one question says nothing"


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
    verdicts = [told(step, found, chosen) for chosen in options]
    if options:
        assert {verdict.is_right for verdict in verdicts} == {True, False}, step.title
    else:
        assert judge(step, found, float(found.answer)).is_right, step.title
    read = (filled(step.text + step.question, found.facts, str), *(v.why for v in verdicts))
    assert all(read), step.title
    assert "nan" not in " ".join(read).split(), step.title
    assert layers_beyond(" ".join(read), 6) == [], step.title


def test_what_the_lesson_on_masked_words_says_of_capitals_holds() -> None:
    """Its text, not a fact: France's capital is right and Canada's is no capital."""
    lesson = read_lesson(ROOT / "app" / "screens" / "lessons" / "en" / "07-masked-words.toml")
    (step,) = [one for one in lesson.steps if one.title == "Is it a fact?"]
    bert = load("default")

    def best(country: str) -> str:
        return bert.fill_mask(f"The capital of {country} is [MASK].", top_k=1)[0][0][0]

    assert step.text_a == "The capital of Canada is [MASK]."
    assert (best("Canada"), best("France")) == ("canada", "paris")


def test_a_first_word_that_changes_by_chance_is_no_effect() -> None:
    """Of words that are about equal another may lead; what counts is the points that one loses."""
    bert = load("default")

    def p(text: str, word: str) -> float:
        return dict(bert.fill_mask(text, top_k=2000)[0])[word]

    found = filled_first(bert, "My aunt drinks strong tea in the morning.", None)
    facts = found.facts
    assert (facts["first"], facts["alone"], facts["after"]) == ("wife", "air", "kitchen")
    still = p("My wife drinks strong tea in the [MASK].", "air")
    assert facts["p_still"] == pytest.approx(still, rel=1e-4)
    assert (found.answer, 0 < float(facts["p_alone"]) - still < 0.05) == ("same", True)

    found = without_right(bert, "The doctor gave the sick child a bitter medicine.", None)
    facts = found.facts
    gaps = " ".join(["[MASK]"] * (int(facts["num_after"]) + 1))
    assert facts["p_still"] == pytest.approx(p(f"The doctor {gaps}", "gave"), rel=1e-4)
    assert (found.answer, facts["best_left"]) == ("other", "was")


def test_a_choice_that_the_model_refutes_says_what_is_true() -> None:
    text = CHOICE.replace("question =", 'answer = "same_tokens"\nquestion =')
    text = text.replace("question =", 'given = { first = "a", second = "b" }\nquestion =')
    text = text.replace('text = "One"\nwhy = "Because."\nright = true', SAME)
    (step,) = parse_lesson(HEAD + text.replace('text = "Two"\nwhy = "No."', OTHER)).steps
    found = Found("different", {"first_tokens": "a", "second_tokens": "b"})
    assert told(step, found, "Yes").why == "You would think so. It is a, and b."
    assert told(step, found, "No").why == "It is a, and b."
    assert told(step, Found("same", found.facts), "No").why == "Both are a."


def test_numbers_are_judged() -> None:
    (step,) = parse_lesson(HEAD + NUMBER).steps
    found = step.find(tiny_bert(), "The river bank was steep.", None)
    assert (found.answer, found.facts["num_words"]) == (8, 6)
    right = told(step, found, 8)
    assert (right.is_right, right.why) == (True, "Yes, 8.")
    assert told(step, found, 6).why == "Those are the words."
    assert hint(step, found, judge(step, found, 6)) == "Those are the words."
    assert hint(step, found, judge(step, found, 5)) == "", "its only sentence has the answer"
    assert told(step, found, 6.1).why != "Those are the words.", "near a mistake is none"
    assert told(step, found, 5).why == "No: 5 is not 8."
    for impossible in (float("nan"), float("inf"), -1e300):
        assert not judge(step, found, impossible).is_right


def test_choices_are_judged() -> None:
    (step,) = parse_lesson(HEAD + CHOICE).steps
    found = step.find(tiny_bert(), "a", None)
    assert [*step.options(found)] == ["One", "Two"]
    assert judge(step, found, "One").is_right
    wrong = told(step, found, "Two")
    assert (wrong.is_right, wrong.models, wrong.why) == (False, "One", "No.")


def test_a_mistake_among_options_is_explained() -> None:
    text = NUMBER.replace("number_of_tokens", "first_piece").replace("num_words", "word")
    (step,) = parse_lesson(HEAD + text).steps
    options = (Option("a", "a", "1"), Option("b", "b", "2"), Option("c", "c"))
    found = Found("b", {"word": "c"}, options, also=("a",))
    assert [judge(step, found, name).is_right for name in "abc"] == [True, True, False]
    assert told(step, found, "c").why == "Those are the words."


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


def told(step: Step, found: Found, chosen: str | float) -> Verdict:
    return tell(step, found, judge(step, found, chosen))


MADE = 'answer = "becomes"\nquestion'
"""A choice that the model decides, without the word that its function needs."""
MALFORMED = [  # text, a replacement in it, and how the sentence begins
    (NUMBER, 'title = "A"\n', "", "title is missing; expected a text of 1 to"),
    (NUMBER, 'title = "A"', "title = 3", "title is 3; expected a text of 1 to 3,000 characters"),
    (NUMBER, 'title = "A"', "title = 0x" + "F" * 400_000, "title is a number of thousands"),
    (NUMBER, 'summary = "B"', 'sumary = "B"', "'sumary' is not known here. Did you mean summary?"),
    (NUMBER, "minutes = 5", "titl" * 100_000 + " = 1", "'titltitl"),
    (NUMBER, "minutes = 5", "minutes = 0", "minutes is 0; expected a whole number from 1 to 240"),
    (NUMBER, '["Count."]', '["Count.", 3]', "goals 2 is 3; expected a text"),
    (NUMBER, '["Count."]', '["Count.", "More."]', "goals 2 ('More.') has no step"),
    (NUMBER, "goals =", "[steps]\ngoals =", "lesson is not TOML: Cannot overwrite a value"),
    (NUMBER, NUMBER, "", "steps is missing; expected a list of 1 to 40"),
    (NUMBER, NUMBER, 'steps = "x"', "steps 1 is 'x'; expected a table"),
    (NUMBER, NUMBER, NUMBER * 41, "steps has 41 entries; expected a list of 1 to 40"),
    (NUMBER, NUMBER, "[[steps]]\n" * 49_000, "steps has 49000 entries; expected a list"),
    (NUMBER, '"How many tokens?"', '" "', "steps 1, question is ' '; expected a text"),
    (NUMBER, "goal = 1", "goal = 2", "steps 1, goal is 2; expected a whole number from 1 to 1"),
    (NUMBER, "_of_tokens", "_of_token", "steps 1, answer is 'number_of_token'; expected number_o"),
    (NUMBER, "{num_words}", "{num_wrods}", "steps 1, text names the fact {num_wrods}; known here"),
    (NUMBER, "many tokens?", "many of {answer}?", "steps 1, question names the fact {answer}"),
    (NUMBER, 'num_words = "', 'chosen = "', "steps 1, because chosen names the fact {chosen}"),
    (NUMBER, "right =", "given = { layer = 1 }\nright =", "steps 1, given, 'layer' is unknown"),
    (NUMBER, '"tokens?token=1"', '"http://a/b"', "steps 1, page is 'http://a/b'; expected what"),
    (NUMBER, "right =", 'within = "a"\nright =', "steps 1, within is 'a'; expected a number such"),
    (NUMBER, "right =", "within = nan\nright =", "steps 1, within is nan; expected"),
    (NUMBER, 'wrong = "No: {chosen} is not {answer}."\n', "", "steps 1, wrong is missing; expect"),
    (
        NUMBER,
        "[steps.b",
        "[[steps.choices]]\ntext = 'a'\nwhy = 'b'\n[steps.b",
        "steps 1, choices h",
    ),
    (CHOICE, "right = true\n", "", "steps 1, choices: write right = true in exactly one of them"),
    (CHOICE, '"Two"', '"One"', "steps 1, choices has a text twice"),
    (CHOICE, TWO, "", "steps 1, choices has 1 entries; expected 2 to 8"),
    (CHOICE, '"No."', '"No."\nis = "right"', "steps 1, choices: is and wrong are read where"),
    (CHOICE, 'why = "No."', "", "steps 1, choices 2, why is missing"),
    (CHOICE, "question", "cover = 3\nquestion", "steps 1, cover 1 is 3; expected a text"),
    (CHOICE, "question", "within = 1\nquestion", "steps 1, within is for numbers"),
    (CHOICE, "question", "because = { x = 'y' }\nquestion", "steps 1, because explains numbers"),
    (CHOICE, "question", MADE, "steps 1, given, word is missing; its answer needs it"),
    (CHOICE, "question", "given = { word = 3 }\n" + MADE, "steps 1, given, word is 3; expected"),
    (CHOICE, "question", "given = { word = 'a' }\n" + MADE, "steps 1, choices: is has ['', '']; e"),
]
NO_TOML = [
    ("title = ", "lesson is not TOML"),
    ("[title" + ".a" * 100_000 + "]", "lesson has tables in tables"),
    ("x = " + "9" * 400_000, "lesson has a number of thousands of digits"),
    ("x = " + "[" * 9000 + "]" * 9000, "lesson is nested too deeply"),
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *(
            pytest.param((HEAD + step).replace(old, new, 1), words, id=words[:40])
            for step, old, new, words in MALFORMED
        ),
        *(pytest.param(HEAD + text, words, id=words) for text, words in NO_TOML),
    ],
)
def test_a_malformed_file_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}") as refused:
        parse_lesson(text)
    assert len(str(refused.value)) < 600
    assert str(refused.value).endswith((".", "?"))


def test_all_faults_of_a_file_are_named_at_once() -> None:
    text = (HEAD + NUMBER + CHOICE).replace("minutes = 5", "minutez = 5")
    for old in ('question = "How many tokens?"\n', 'why = "No."\n'):
        text = text.replace(old, "")
    with pytest.raises(ValueError, match="'minutez' is not known here") as refused:
        parse_lesson(text)
    missing = re.findall("([^.?]+) is missing", str(refused.value))
    assert missing == [" minutes", " steps 1, question", " steps 2, choices 2, why"]
    with pytest.raises(ValueError, match=r"text is missing.* And \d+ more\.$"):
        parse_lesson(HEAD + "[[steps]]\n" * 40)


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


_SCALARS = st.text(max_size=3) | st.integers() | st.floats() | st.booleans() | st.dates()
_KEYS = st.sampled_from("title goals steps choices given because within page answer is".split())


@given(
    st.text(max_size=300),
    _KEYS,
    st.recursive(_SCALARS, lambda some: st.lists(some) | st.dictionaries(_KEYS, some)),
)
def test_no_content_is_a_crash(text: str, key: str, content: object) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_lesson(text)
    for data in ({key: content}, {"steps": [{key: content}]}, {"steps": [{"choices": [content]}]}):
        with pytest.raises(ValueError, match="summary is missing"):
            from_table(Lesson, data, name="a")


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
    LARGE = ("layer_that_moved", "accuracy_of_way", "better_way")
    OF_SHIPPED = (*LARGE, "label_of_text", "tag_of_word")
    OWN = {  # noqa: RUF012
        "runs_agree": {"other": "novel"},
        "layer_that_moved": {"other": "pos"},
        "better_part": {"first": "all", "second": "head"},
        "accuracy_of_way": {"way": "great terrible"},
        "better_way": {"first": "great terrible", "second": "great terrible shifted"},
        "share_of_pair": {"first": "river", "second": "bank"},
    }

    @pytest.mark.parametrize("name", sorted(ANSWERS))
    def test_it_finds_what_it_promises(self, name: str) -> None:
        answer = ANSWERS[name]
        usual = self.GIVEN | self.OWN.get(name, {})
        given = {key: usual[key] for key in answer.given if key in usual}
        if name in self.OF_SHIPPED and not (SHIPPED / "model.safetensors").is_file():
            pytest.skip("no checkpoint ships")
        bert = load("default") if name in self.LARGE else tiny_bert()
        text_b = "It was [MASK]." if name == "share_of_pair" else self.PAIR[1]
        found = answer.function(bert, self.PAIR[0], text_b, **given)
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

    def test_reviews_that_do_not_fit_are_named(self) -> None:
        with pytest.raises(NotShownError, match="Some of the reviews are too long"):
            ANSWERS["accuracy_of_way"].function(tiny_bert(), *self.PAIR, way="river bank")

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
