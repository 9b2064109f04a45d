"""The fair line: rounds, not first come."""

import random

from app.shell.jobs.line import Line


def served(line: Line[str]) -> list[str]:
    order = []
    while (entry := line.take()) is not None:
        order.append(entry)
    return order


def test_each_visitor_has_one_entry_a_round() -> None:
    line: Line[str] = Line()
    for visitor, count in {"a": 4, "b": 1, "c": 2}.items():
        for number in range(count):
            line.join(visitor, f"{visitor}{number}")
    assert line.order() == ["a0", "b0", "c0", "a1", "c1", "a2", "a3"]
    assert line.of("c") == ["c0", "c1"]
    assert served(line) == ["a0", "b0", "c0", "a1", "c1", "a2", "a3"]
    assert line.take() is None


def test_a_newcomer_waits_for_one_entry_of_each_and_passes_nobody_for_ever() -> None:
    line: Line[str] = Line()
    for number in range(3):
        line.join("a", f"a{number}")
    assert line.take() == "a0"
    line.join("b", "b0")
    assert line.order() == ["a1", "b0", "a2"]
    assert line.take() == "a1"
    for number in range(4):  # a stranger at every moment
        line.join(f"new {number}", f"new {number}")
        line.take()
    assert line.order() == ["new 2", "new 3"]


def test_an_entry_of_several_visitors_is_served_once_at_its_first_place() -> None:
    line: Line[str] = Line()
    for number in range(3):
        line.join("a", f"a{number}")
    line.join("b", "a2")
    assert line.order() == ["a0", "a2", "a1"]
    assert not line.leave("b", "a2")  # a still waits for it
    assert line.order() == ["a0", "a1", "a2"]
    assert line.leave("a", "a2")
    assert "a2" not in line
    line.drop("a1")
    assert served(line) == ["a0"]


def test_between_joining_and_its_turn_nobody_is_served_twice() -> None:
    chance = random.Random(0)
    line: Line[str] = Line()
    seen: dict[str, list[str]] = {}
    """Visitor who waits -> who was served since."""
    for step in range(3000):
        visitor = chance.choice("abcdef")
        if chance.random() < 0.5:
            if not line.of(visitor):
                seen[visitor] = []
            line.join(visitor, f"{visitor}{step}")
        elif (entry := line.take()) is not None:
            owner = entry[0]
            for waiting, others in seen.items():
                if waiting != owner:
                    assert owner not in others, f"{owner} came twice before {waiting}"
                    others.append(owner)
            seen.pop(owner)
            if line.of(owner):
                seen[owner] = []


def test_what_comes_back_is_its_visitors_first_and_their_turn_comes_last() -> None:
    line: Line[str] = Line()
    for visitor, count in {"a": 3, "b": 2, "c": 1}.items():
        for number in range(count):
            line.join(visitor, f"{visitor}{number}")
    assert line.take() == "a0"
    line.join("d", "d0")
    line.join("a", "a0", is_next=True)
    assert line.order() == ["b0", "c0", "d0", "a0", "b1", "a1", "a2"]
    line.join("a", "a0", is_next=True)
    line.join("b", "b1", is_next=True)  # there already: nothing changes
    assert served(line) == ["b0", "c0", "d0", "a0", "b1", "a1", "a2"]


def test_who_may_not_be_served_is_passed_over_and_keeps_their_place() -> None:
    line: Line[str] = Line()
    for visitor in "abc":
        for number in range(2):
            line.join(visitor, f"{visitor}{number}")
    assert line.take(lambda entry: entry[0] != "a") == "b0"
    assert line.take(lambda entry: False) is None
    assert served(line) == ["a0", "c0", "b1", "a1", "c1"]
