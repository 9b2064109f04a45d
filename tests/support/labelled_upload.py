"""A labelled file on the page Inspect, uploaded and run without a browser."""

import io

import pytest
from streamlit.testing.v1 import AppTest

from app.screens.inspect_checkpoint import file_results


class Upload(io.BytesIO):
    """What the file uploader hands over."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name, self.file_id = name, f"{name}{hash(content)}"


def with_file(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | str
) -> AppTest:
    """Run the page with a file in its uploader."""
    content = content.encode() if isinstance(content, str) else content
    upload = Upload(name, content)
    monkeypatch.setattr(file_results.st, "file_uploader", lambda *args, **kwargs: upload)
    app.query_params["inspect_view"] = "file"
    return app.run()


def ran(app: AppTest) -> AppTest:
    """Press the button that runs the file."""
    return next(b for b in app.button if "Run the file" in b.label).click().run()
