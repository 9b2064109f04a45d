"""Pages on a machine whose memory runs out: from any of their computations on, nothing succeeds."""

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.navigation import DOOR, PAGES
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell import cache
from app.shell.jobs import waiting
from tests.support.opened import PAIR, QUICK, said

SCRIPTS = Path(__file__).parents[2] / "pages"


def script(page: str) -> None:
    """A page as app/run.py runs it."""
    import runpy

    from app.shell import frame

    with frame.guard():
        runpy.run_path(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_memory_says_so(
    page: str, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, checkpoint)
    num_done, limit, has_failed = 0, 10**6, False

    def limited(compute: Callable[..., Any]) -> Callable[..., Any]:
        def limited_compute(*args: Hashable, **options: Any) -> Any:
            nonlocal num_done, has_failed
            if num_done >= limit:
                has_failed = True
                torch.empty(10**14)  # torch's own error
            num_done += 1
            return compute(*args, **options)

        return limited_compute

    monkeypatch.setattr(cache, "call", limited(cache.call))
    monkeypatch.setattr(cache, "computed", limited(cache.computed))
    monkeypatch.setattr(waiting, "result", limited(waiting.result))

    def run() -> AppTest:
        nonlocal num_done, has_failed
        num_done, has_failed = 0, False
        app = AppTest.from_function(
            script, kwargs={"page": str(SCRIPTS / f"{page}.py")}, default_timeout=300
        )
        app.query_params.update(PAIR | QUICK)
        if page == DOOR:  # which computes nothing where nothing is hidden
            app.query_params["masked"] = "2"
        app.run()
        assert not app.exception, (limit, app.exception)
        return app

    assert not run().error
    assert num_done or not PAGES[page].needs_checkpoint
    for limit in range(num_done):
        text = said(run())
        if not has_failed:  # less is left to compute than the first time
            break
        assert "here is not enough memory for this" in text, (limit, text)
        assert "enforce fail" not in text, limit
