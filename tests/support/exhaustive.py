"""Cases of which `make test` runs some and `make test-all` runs all."""

from collections.abc import Callable, Collection, Iterable
from itertools import product
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def all_but(usual: Collection[Any], cases: Iterable[Any]) -> list[ParameterSet]:
    """Return cases as parameters; those that are not among the usual ones are `exhaustive`."""
    missing = [case for case in usual if case not in (cases := list(cases))]
    assert not missing, f"no cases: {missing}"
    return [_parameters(case, is_usual=case in usual) for case in cases]


def spread(*choices: Iterable[Any]) -> list[ParameterSet]:
    """Return all combinations; usual are so many as there are of the longest list.

    Each choice occurs in a usual one, and neighbours of one list stand beside others of the next.
    """
    lists = [list(each) for each in choices]
    cases = [tuple(case) for case in product(*lists)]
    usual = []
    for number in range(max(map(len, lists))):
        places = (number + at * (number // len(each)) for at, each in enumerate(lists))
        usual.append(tuple(e[p % len(e)] for e, p in zip(lists, places, strict=True)))
    return all_but(usual, cases)


def first_of_each(cases: Iterable[Any], *keys: Callable[[Any], Any]) -> list[Any]:
    """Return the fewest cases, taken from the front, in which each value of each key occurs."""
    seen: set[tuple[int, Any]] = set()
    kept = []
    for case in cases:
        values = {(number, key(case)) for number, key in enumerate(keys)}
        if not values <= seen:
            kept.append(case)
            seen |= values
    return kept


def _parameters(case: Any, *, is_usual: bool) -> ParameterSet:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=() if is_usual else pytest.mark.exhaustive)
