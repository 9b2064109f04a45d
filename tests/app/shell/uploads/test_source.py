"""An uploaded source: read once for each upload, and kept when the box is empty again."""

import gzip
import sys
from collections.abc import Sequence
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.shell import turns
from app.shell.uploads import on_disk
from app.shell.uploads.on_disk import Copy
from app.shell.uploads.source import Incomplete, UploadSource

reads: list[list[tuple[str, bytes]]] = []


def read(copies: Sequence[Copy]) -> int:
    reads.append([(copy.name, copy.path.read_bytes()) for copy in copies])
    if any(data == b"bad" for _, data in reads[-1]):
        raise ValueError("the file is bad.")
    if any(data == b"changed" for _, data in reads[-1]) and len(reads) == 1:
        st.rerun()  # as of a visitor who changes something meanwhile
    if any(data == b"fault" for _, data in reads[-1]):
        raise KeyError("x")
    if any(data == b"half" for _, data in reads[-1]) and len(copies) == 1:
        raise Incomplete("add the other half.")
    return sum(len(data) for _, data in reads[-1])


SOURCE = UploadSource(key="sizes", label="Sizes", read=read, about=lambda size: f"{size} bytes")
SEVERAL = UploadSource(
    key="several",
    label="Sizes",
    read=read,
    about=lambda size: f"{size} bytes",
    accepts_several=True,
)


def page() -> None:
    import streamlit as st

    from app.shell import frame
    from tests.app.shell.uploads.test_source import SEVERAL, SOURCE

    with frame.guard():
        st.markdown(f"chosen: {SOURCE.choose()}")
    with frame.guard():
        st.markdown(f"several: {SEVERAL.choose()}")


@pytest.fixture
def app(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(on_disk, "_copies", lambda: tmp_path)
    reads.clear()
    return AppTest.from_function(page).run()


def put(app: AppTest, *files: tuple[str, bytes], box: str = "sizes") -> AppTest:
    given = [(name, data, "text/plain") for name, data in files]
    return app.file_uploader(key=box).set_value(given or None).run()


def said(app: AppTest) -> list[str]:
    return [box.value.replace("\\", "") for box in (*app.markdown, *app.error, *app.caption)]


def test_a_file_is_read_once_and_stays_without_the_box(app: AppTest) -> None:
    assert app.markdown[0].value == "chosen: None"
    put(app, ("my.txt", b"12345"))
    assert app.run().markdown[0].value == "chosen: 5"
    assert reads == [[("my.txt", b"12345")]]
    put(app)
    assert "chosen: 5" in said(app)
    assert "Your last file is still here: 5 bytes." in said(app)
    assert put(app, ("b.txt", b"bad")).error


def test_what_is_refused_is_read_once_and_the_sentence_stays(app: AppTest, tmp_path: Any) -> None:
    put(app, ("bad.txt", b"bad"))
    reads.clear()
    assert [error.value for error in app.run().error] == [r"The file is bad\."]
    assert reads == []
    put(app, ("good.txt", b"12345"))
    assert not app.error
    assert app.markdown[0].value == "chosen: 5"
    assert [*tmp_path.iterdir()] == []  # `read` did not keep the copy


def test_a_refused_file_takes_the_one_before_with_it(app: AppTest) -> None:
    put(app, ("good.txt", b"12345"))
    put(app, ("bad.txt", b"bad"))
    put(app)
    assert said(app) == ["chosen: None", "several: None"]


def test_a_fault_of_a_reader_is_a_sentence_too(app: AppTest) -> None:
    put(app, ("a.txt", b"fault"))
    assert "Something unexpected" in app.error[0].value
    reads.clear()
    assert "a fault of BertScope" in app.run().error[0].value
    assert reads == []


def test_a_reading_that_a_change_ends_is_begun_again_with_the_copy(app: AppTest) -> None:
    assert "chosen: 7" in said(put(app, ("a.txt", b"changed")))
    assert reads == [[("a.txt", b"changed")]] * 2


def test_files_of_a_box_for_several_can_come_one_by_one(app: AppTest, tmp_path: Any) -> None:
    put(app, ("a", b"half"), box="several")
    assert "Add the other half." in said(app)
    assert len([*tmp_path.iterdir()]) == 1
    put(app, ("a", b"half"), ("b", b"the other"), box="several")
    assert "several: 13" in said(app)
    assert not app.error
    assert reads[-1] == [("a", b"half"), ("b", b"the other")]
    put(app, ("a", b"half"), ("b", b"bad"), box="several")
    assert "The file is bad." in said(app)
    assert [*tmp_path.iterdir()] == []
    put(app, ("c", b"12"), box="several")
    assert "several: 2" in said(app)


def test_others_run_at_short_notice_while_a_file_is_unpacked_and_read(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = []
    write = on_disk.write_copy

    def noted(*arguments: Any) -> Copy:
        seconds.append(sys.getswitchinterval())
        return write(*arguments)

    monkeypatch.setattr(on_disk, "write_copy", noted)
    usual = sys.getswitchinterval()
    put(app, ("a.gz", gzip.compress(b"") * 1000 + gzip.compress(b"1234")))
    assert "chosen: 4" in said(app)
    assert seconds == [pytest.approx(turns.SHORT_SECONDS)]
    assert sys.getswitchinterval() == usual
