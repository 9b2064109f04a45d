"""An uploaded source: read once for each upload, and kept when the box is empty again."""

from __future__ import annotations

from collections.abc import Sequence

from streamlit.testing.v1 import AppTest

from app.shell.source import File, UploadSource

reads: list[Sequence[File]] = []


def read(files: Sequence[File]) -> int:
    reads.append(files)
    if any(file.data == b"bad" for file in files):
        raise ValueError("the file is bad.")
    return sum(len(file.data) for file in files)


SOURCE = UploadSource(key="sizes", label="Sizes", read=read, about=lambda size: f"{size} bytes")


def page() -> None:
    import streamlit as st

    from app.shell import frame
    from tests.app.shell.test_source import SOURCE

    with frame.guard():
        st.markdown(f"chosen: {SOURCE.choose()}")


def test_a_file_is_read_once_and_stays_without_the_box() -> None:
    reads.clear()
    app = AppTest.from_function(page).run()
    assert app.markdown[0].value == "chosen: None"
    app.get("file_uploader")[0].upload("my.txt", b"12345", "text/plain").run()
    assert app.run().markdown[0].value == "chosen: 5"
    assert [list(files) for files in reads] == [[File("my.txt", b"12345")]]
    assert app.get("file_uploader")[0].upload("b.txt", b"bad", "text/plain").run().error


def test_files_differ_by_name_and_content() -> None:
    files = [File("a", b"1"), File("a", b"2"), File("b", b"1")]
    assert len({file.digest for file in files}) == 3


def test_what_is_refused_is_read_once_and_the_sentence_stays() -> None:
    app = AppTest.from_function(page).run()
    app.get("file_uploader")[0].upload("bad.txt", b"bad", "text/plain").run()
    reads.clear()
    assert [error.value for error in app.run().error] == [r"The file is bad\."]
    assert reads == []
    app.get("file_uploader")[0].upload("good.txt", b"12345", "text/plain").run()
    assert not app.error
    assert app.markdown[0].value == "chosen: 5"
