"""A class over the running server: forty at once, and a locked file.

The learners speak the websocket as browsers do, all from one address.
"""

import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from app.server.class_store import WAIT_SECONDS, ClassStore
from app.shell.guide import catalogue
from tests.support.browser.running import Running, running_app
from tests.support.school import TEACHER
from tests.support.session import Session

SHIPPED = Path(__file__).resolve().parents[3] / "bertcore" / "model" / "checkpoints" / "default"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SHIPPED / "model.safetensors").is_file(), reason="none ships"),
]
LESSON = next(iter(catalogue.lessons().values()))
BOX = f"lesson_answer_{LESSON.name}_2"
KEY = "four words of a key"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("class") / "class.sqlite"


@pytest.fixture(scope="module")
def server(file: Path) -> Iterator[Running]:
    arguments = ("--closed", "--class", "NLP", "--class-file", str(file))
    environ = {"BERTSCOPE_CLASS_KEY": TEACHER, "BERTSCOPE_KEY": KEY}
    with running_app(arguments=arguments, **environ) as running:
        yield running


def _entered(server: Running) -> dict[str, str]:
    """Return the cookie of a new visitor who typed the key."""
    request = urllib.request.Request(f"{server.url}/", data=f"key={KEY}".encode())
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
    with pytest.raises(urllib.error.HTTPError) as answer:
        opener.open(request)
    assert answer.value.code == 303
    return {"Cookie": answer.value.headers["set-cookie"].partition(";")[0]}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _learner(server: Running) -> Session:
    """Return a learner at a step of a lesson that asks for a number."""
    session = Session(server.url, headers=_entered(server))
    session.open(
        "tokens", f"lesson={LESSON.name}&lesson_step=2&text_a={LESSON.text_a.replace(' ', '+')}"
    )
    session.press("class_other")
    return session


def _answer(session: Session, number: str = "5") -> str:
    session.set(BOX, number)
    session.press("lesson_check")
    return " ".join(session.texts)


def test_forty_learners_of_one_address_answer_at_once(server: Running, file: Path) -> None:
    with ThreadPoolExecutor(40) as pool:
        learners = [_learner(server) for _ in range(40)]
        told = list(pool.map(_answer, learners))
    assert not [text for text in told if "did not reach" in text]
    assert len(ClassStore(file, "NLP").learners()) == 40
    for learner in learners:
        learner.leave()


def test_a_locked_file_holds_no_page_and_loses_nothing(server: Running, file: Path) -> None:
    with _learner(server) as ada, _learner(server) as bob, ThreadPoolExecutor(1) as pool:
        _answer(ada)
        with closing(sqlite3.connect(file, isolation_level=None)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            waiting = pool.submit(_answer, ada, "7")
            time.sleep(0.5)
            start = time.perf_counter()
            bob.open("attention", "text_a=The+river.")
            assert time.perf_counter() - start < WAIT_SECONDS / 2
            said = waiting.result()
        assert "Your answer did not reach the class" in said
        assert "database is locked" in said
        assert "did not reach" not in _answer(ada, "8")
        assert not ada.errors
