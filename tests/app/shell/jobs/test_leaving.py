"""Work of a page that was left, over the real websocket."""

import time

import pytest

from tests.support.browser.running import running_app
from tests.support.session import Session

PROBES = "map_method=pca&map_view=probe&probe_sentences=0"
"""A minute of work, none of it stored."""


@pytest.mark.slow
@pytest.mark.exhaustive  # its tick is answered late or never in one run of three: to be found
def test_who_leaves_a_page_never_waits_for_its_work() -> None:
    with running_app() as app, Session(app.url) as visitor:
        visitor.open("layer-map", PROBES)
        assert visitor.progress
        visitor.open("minimal-pair", "pair_many=1")
        seen = {visitor.progress}
        end = time.monotonic() + 120
        while not any("Scoring each pair" in text for text in seen) and time.monotonic() < end:
            time.sleep(0.2)
            visitor.tick()
            seen.add(visitor.progress)
        assert not visitor.errors
        assert not [text for text in seen if "before you" in text]
        assert any("Scoring each pair" in text for text in seen), seen  # it began
        visitor.open("layer-map", PROBES)  # its work begins anew
        assert visitor.progress
