"""The menu: which pages it names, in which order, and when *More tools* is open."""

from streamlit.testing.v1 import AppTest

from app.navigation import CLASS, DOOR, GROUPS, PAGES, QUESTIONS, READING
from app.shell.menu import label


def test_seven_pages_stand_first_and_every_other_has_a_short_question() -> None:
    first, *further = GROUPS.values()
    assert len(first) == 7
    assert {*QUESTIONS} == {folder for group in further for folder in group} | {CLASS}
    assert all(question.endswith("?") and len(question) <= 40 for question in QUESTIONS.values())


def test_all_pages_but_the_lessons_lead_on() -> None:
    assert sorted(READING) == sorted({*PAGES} - {"lessons", DOOR})


def test_an_entry_is_the_title_and_the_question_of_a_further_tool() -> None:
    assert label("Tokens", "", {}) == "Tokens"
    assert label("Bias", "Which?", {"Bias": "Предвзятость"}) == "Предвзятость :small[Which?]"


def test_more_tools_opens_for_a_page_in_it_and_stays_open() -> None:
    def menu() -> None:
        import streamlit as st

        from app.shell.menu import draw_more
        from app.shell.withheld.class_link import ALL

        draw_more(st.session_state["page"], ALL)

    at = AppTest.from_function(menu)
    opened = []
    for page in ("", "tokens", "heads", "tokens"):
        at.session_state["page"] = page
        opened.append('<details class="more-tools" open>' in at.run().get("html")[0].proto.body)
    assert opened == [False, False, True, True]
