"""Visitors who all press the heaviest button, over the websocket.

The work begins when the test says so: see `slow_app`.
"""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.browser.running import ROOT, Running, running_app
from tests.support.exhaustive import all_but
from tests.support.session import Session
from tests.support.tiny import tiny_bert

SECONDS = 240


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """The file for which the work waits."""
    return tmp_path / "go"


@pytest.fixture
def app(go: Path, tmp_path: Path) -> Iterator[Running]:
    folder = tiny_bert().save(tmp_path / "checkpoint")
    script = ROOT / "tests" / "support" / "browser" / "slow_app.py"
    with running_app(folder, script=script, BERTSCOPE_TEST_GO=str(go)) as app:
        yield app


def num_before(visitor: Session) -> int:
    """Return the place in line that a visitor sees; 0 for who is next or at work."""
    found = re.search(r"(\d+) before you", visitor.progress)
    assert visitor.progress
    return int(found[1]) if found else 0


@pytest.mark.slow
@pytest.mark.parametrize("many", all_but([20], [20, 100]))
def test_all_who_press_the_heaviest_button_get_their_result(
    app: Running, go: Path, many: int
) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(many) as pool:
        visitors = [stack.enter_context(Session(app.url)) for _ in range(many)]

        def press(number: int) -> None:
            query = {"text_a": f"the bank of river {number} [MASK]", "rank": "1"}
            visitors[number].open("what-if", urlencode(query))

        list(pool.map(press, range(many)))
        list(pool.map(Session.tick, visitors))
        assert sorted(map(num_before, visitors)) == list(range(many))
        stopping = [visitor for visitor in visitors if num_before(visitor) % 10 == 3]
        leaving = [visitor for visitor in visitors if num_before(visitor) % 10 == 5]
        for visitor in stopping:
            visitor.press("stop_ranking")
        for visitor in leaving:
            visitor.leave()
        staying = [visitor for visitor in visitors if visitor not in stopping + leaving]
        list(pool.map(Session.tick, staying))
        assert max(map(num_before, staying)) < many - len(stopping)
        go.touch()
        list(pool.map(get_result, staying))
        for visitor in staying:
            assert "figure_what-if-ranking" in visitor.widgets
            assert visitor.errors == []
        for visitor in stopping:
            assert "The ranking was stopped." in visitor.texts
            assert "figure_what-if-ranking" not in visitor.widgets


def get_result(visitor: Session) -> None:
    """Ask as the page's timer does until the work is done, then for the view."""
    deadline = time.monotonic() + SECONDS
    while "arrived_ranking" not in visitor.containers:
        assert time.monotonic() < deadline
        time.sleep(0.5)
        visitor.tick()
    visitor.report("arrival_ranking", "arrived", True)
