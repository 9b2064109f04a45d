"""What the app needs of Streamlit's internals, import by import: a new release breaks it here."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit import cli_util
from streamlit.elements.widgets.file_uploader import FileUploaderSerde
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import Serialized, SessionState, WStates
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec
from streamlit.testing.v1 import AppTest

from app import streamlit_internals as internals
from app.shell.source import UploadSource
from tests.support.asgi import run


@pytest.fixture
def unguarded() -> Iterator[None]:
    """Take the guards of messages away again."""
    read, handle = WStates.__getitem__, AppSession.handle_backmsg
    make = DeferredFileHandler.handle
    yield
    DeferredFileHandler.handle = make  # type: ignore[method-assign]
    WStates.__getitem__ = read  # type: ignore[method-assign]
    AppSession.handle_backmsg = handle  # type: ignore[method-assign]


def inside(script: Callable[[], None]) -> AppTest:
    app = AppTest.from_function(script).run()
    assert not app.exception
    return app


def test_a_run_knows_its_session_and_page() -> None:
    assert (internals.session(), internals.page_hash()) == ("", "")

    def script() -> None:
        import streamlit as st

        from app import streamlit_internals

        st.text(streamlit_internals.session())
        st.text(streamlit_internals.page_hash())

    names = [text.value for text in inside(script).text]
    assert len(names) == 2
    assert all(names)


def test_a_stopped_run_ends_without_a_word() -> None:
    def script() -> None:
        import streamlit as st

        from app.streamlit_internals import StopException

        st.text("before")
        raise StopException

    app = inside(script)
    assert [text.value for text in app.text] == ["before"]
    assert not app.error


def test_the_runtime_knows_who_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert internals.is_connected("anybody")  # without a server
    for name in ("is_active_session", "get_client", "uploaded_file_mgr"):
        assert hasattr(Runtime, name), name
    client = SimpleNamespace(client_context=SimpleNamespace(cookies={"a": "b"}))
    server = SimpleNamespace(get_client={"here": client}.get, is_active_session="here".__eq__)
    monkeypatch.setattr(internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(internals.runtime, "get_instance", lambda: server)
    assert [internals.is_connected(name) for name in ("here", "gone")] == [True, False]
    assert internals.cookies_of("here") == {"a": "b"}
    assert internals.cookies_of("gone") is None


def test_uploads_are_kept_by_session_and_id(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MemoryUploadedFileManager("/upload")
    server = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(internals.runtime, "get_instance", lambda: server)
    manager.add_file("session", UploadedFileRec("file", "name", "text/plain", b"abc"))
    (kept,) = internals.uploads().file_storage["session"].items()
    assert (kept[0], kept[1].data) == ("file", b"abc")
    internals.uploads().remove_file("session", "file")
    assert not internals.uploads().file_storage.get("session")


def test_a_session_that_is_gone_is_closed_with_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not internals.close_session("anybody")  # without a server
    assert hasattr(Runtime, "close_session")
    manager, closed = MemoryUploadedFileManager("/upload"), list[str]()
    for name in ("here", "gone"):
        manager.add_file(name, UploadedFileRec("file", "name", "text/plain", b"abc"))
    state = SessionState()
    state["kept"] = "what was read of a file"
    kept = SimpleNamespace(session=SimpleNamespace(session_state=state))
    server = SimpleNamespace(
        uploaded_file_mgr=manager,
        is_active_session="here".__eq__,
        close_session=closed.append,
        _session_mgr=SimpleNamespace(get_session_info=lambda name: kept),
    )
    assert isinstance(AppSession.session_state, property)
    assert "self._session_mgr =" in inspect.getsource(Runtime.__init__)
    monkeypatch.setattr(internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(internals.runtime, "get_instance", lambda: server)
    assert [internals.close_session(name) for name in ("here", "gone")] == [False, True]
    assert closed == ["gone"]
    assert "kept" not in state
    assert [*manager.file_storage] == ["here"]
    monkeypatch.setattr(internals, "session", lambda: "here")
    internals.remove_upload("file")
    assert not manager.file_storage["here"]


def test_a_box_is_emptied_for_the_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MemoryUploadedFileManager("/upload")
    record = UploadedFileRec("file", "name", "text/plain", b"abc")
    manager.add_file("here", record)
    file = UploadedFile(record, FileURLs())
    boxes = {"one": file, "several": [DeletedFile("gone"), file], "none": None}
    monkeypatch.setattr(internals.st, "session_state", boxes)
    monkeypatch.setattr(internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(
        internals.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=manager)
    )
    monkeypatch.setattr(internals, "session", lambda: "here")
    names = ("one", "several", "none", "absent")
    assert [internals.file_ids(name) for name in names] == [["file"], ["gone", "file"], [], []]
    box = UploadSource(key="one", label="", read=list, about=str)
    with box._taken([file]) as given:
        assert given == {"file": ("name", b"abc")}
    assert not manager.file_storage["here"]
    assert file.getvalue() == b""
    assert internals.file_ids("one") == ["file"]


@pytest.mark.usefixtures("unguarded")
@pytest.mark.parametrize("is_closed", [False, True])
def test_messages_for_the_owner_are_ignored_where_visitors_come(
    is_closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    handled = []
    monkeypatch.setattr(AppSession, "handle_backmsg", lambda _, message: handled.append(message))
    internals.guard_messages(is_closed=is_closed)
    session: Any = SimpleNamespace(id="a")
    for name in internals.FOR_THE_OWNER:
        message = BackMsg(**{name: True})
        assert message.WhichOneof("type") == name
        AppSession.handle_backmsg(session, message)
    AppSession.handle_backmsg(session, BackMsg(stop_script=True))
    assert len(handled) == (1 if is_closed else 3)
    for name in internals.OPERATIONS_OF_THE_OWNER:
        message = BackMsg()
        getattr(message.backend_operation_request, name).SetInParent()
        AppSession.handle_backmsg(session, message)
    assert len(handled) == (1 if is_closed else 5)


@pytest.mark.usefixtures("unguarded")
def test_of_what_no_browser_sends_nothing_or_little_is_handled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handled: list[BackMsg] = []
    monkeypatch.setattr(AppSession, "handle_backmsg", lambda _, message: handled.append(message))
    internals.guard_messages(is_closed=False)
    session: Any = SimpleNamespace(id="a")
    message = BackMsg()
    message.rerun_script.query_string = "a" * (internals.MAX_QUERY + 1)
    for name in ("unknown", "$$ID-mine", *(f"$$ID-{i}" for i in range(internals.MAX_WIDGETS))):
        message.rerun_script.widget_states.widgets.add(id=name)
    AppSession.handle_backmsg(session, message)
    asked = handled.pop().rerun_script
    assert asked.query_string == ""
    assert len(asked.widget_states.widgets) == internals.MAX_WIDGETS - 1
    assert asked.widget_states.widgets[0].id == "$$ID-mine"
    message = BackMsg()
    message.file_urls_request.file_names.extend(["a"] * 1000)
    AppSession.handle_backmsg(session, message)
    assert len(handled.pop().file_urls_request.file_names) == internals.MAX_FILES


@pytest.mark.usefixtures("unguarded")
def test_of_many_messages_the_last_of_each_kind_is_handled_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handled: list[BackMsg] = []
    monkeypatch.setattr(AppSession, "handle_backmsg", lambda _, message: handled.append(message))
    internals.guard_messages(is_closed=False)
    many: Any = SimpleNamespace(id="a")
    other: Any = SimpleNamespace(id="b")

    async def send() -> None:
        for number in range(1000):
            message = BackMsg()
            message.rerun_script.query_string = str(number)
            AppSession.handle_backmsg(many, message)
            AppSession.handle_backmsg(many, BackMsg(stop_script=True))
        before = len(handled)
        assert before < 1000
        AppSession.handle_backmsg(other, BackMsg(stop_script=True))
        assert len(handled) == before + 1
        while len(handled) < before + 3:
            await asyncio.sleep(0.05)

    run(send())
    last = {message.WhichOneof("type"): message for message in handled[-2:]}
    assert last.keys() == {"rerun_script", "stop_script"}
    assert last["rerun_script"].rerun_script.query_string == "999"


@pytest.mark.usefixtures("unguarded")
def test_late_messages_of_two_fragments_run_the_whole_page(monkeypatch: pytest.MonkeyPatch) -> None:
    handled: list[str] = []
    monkeypatch.setattr(
        AppSession, "handle_backmsg", lambda _, m: handled.append(m.rerun_script.fragment_id)
    )
    internals.guard_messages(is_closed=False)

    async def send(*fragments: str) -> str:
        session: Any = SimpleNamespace(id=fragments[-1])
        for fragment in ["first"] * internals.MAX_A_SECOND + [*fragments]:
            message = BackMsg()
            message.rerun_script.fragment_id = fragment
            AppSession.handle_backmsg(session, message)
        assert handled == ["first"] * internals.MAX_A_SECOND
        while len(handled) == internals.MAX_A_SECOND:
            await asyncio.sleep(0.05)
        last = handled[-1]
        handled.clear()
        return last

    assert run(send("a", "a", "a")) == "a"
    assert run(send("a", "b", "b")) == ""


@pytest.mark.usefixtures("unguarded")
def test_downloads_of_one_visitor_are_made_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making: list[str] = []
    go_on = asyncio.Event()

    async def make(_: Any, request: Any, session_id: str) -> BackendOperationResponse:
        making.append(session_id)
        await go_on.wait()
        return BackendOperationResponse(request_id=request.request_id)

    monkeypatch.setattr(DeferredFileHandler, "handle", make)
    tabs = {"first tab": "one", "second tab": "one"}
    internals.guard_messages(is_closed=False, visitor_of=tabs.get)

    async def ask(session_id: str) -> str:
        handler = DeferredFileHandler(lambda: None)  # type: ignore[arg-type, return-value]
        request = BackendOperationRequest(request_id="1")
        return (await handler.handle(request, session_id)).error_msg

    async def ask_all() -> list[str]:
        sessions = ["first tab", "second tab"] * 4 + ["other"]
        answers = [asyncio.create_task(ask(session_id)) for session_id in sessions]
        await asyncio.sleep(0)
        assert making == ["first tab", "other"]
        go_on.set()
        return await asyncio.gather(*answers)

    most = internals.MAX_DOWNLOADS
    refused = [internals.TOO_MANY_DOWNLOADS] * (8 - most)
    assert run(ask_all()) == [""] * most + refused + [""]
    assert len(making) == most + 1


def states(value_type: str, state: WidgetState) -> WStates:
    def read(value: Any) -> Any:
        return "usual" if value is None else value

    kept = WStates()
    kept.set_widget_metadata(
        WidgetMetadata(id="w", deserializer=read, serializer=str, value_type=value_type)  # type: ignore[arg-type]
    )
    kept.states["w"] = Serialized(state)
    return kept


@pytest.mark.usefixtures("unguarded")
def test_a_value_that_its_widget_cannot_have_is_the_usual_one() -> None:
    internals.guard_messages(is_closed=False)
    text = WidgetState(id="w", string_value="typed")
    assert states("string_value", text)["w"] == "typed"
    assert states("int_value", text)["w"] == "usual"
    number = WidgetState(id="w", int_value=3)
    assert states("double_value", number)["w"] == 3
    broken = WidgetState(id="w", json_value="{")
    assert states("json_value", broken)["w"] == "usual"


def nested(depth: int) -> str:
    return "[" * depth + "1" + "]" * depth


@pytest.mark.usefixtures("unguarded")
@pytest.mark.parametrize(
    ("depth", "is_refused"),
    [(1, False), (internals.MAX_DEPTH, False), (internals.MAX_DEPTH + 1, True), (100_000, True)],
)
def test_of_a_value_in_many_levels_nothing_is_read(
    depth: int, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(st, "error", shown.append)
    internals.guard_messages(is_closed=False)
    kept = states("json_value", WidgetState(id="w", json_value=nested(depth)))
    value = kept["w"]
    assert (value == "usual") == is_refused
    assert [internals.TOO_DEEP.format(most=internals.MAX_DEPTH)] * is_refused == shown


def test_an_upload_box_knows_its_types() -> None:
    serde = FileUploaderSerde(accept_multiple_files=False, allowed_types=[".csv"])
    assert serde.deserialize.__self__ is serde  # so the box of a widget is found
    assert serde.deserialize(None) is None
    assert serde.allowed_types == [".csv"]


def test_a_figure_reaches_the_browser_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {"data": [{"type": "bar", "y": [1]}], "layout": {"not_of_plotly": 1}}
    with pytest.raises(ValueError, match="not_of_plotly"):
        go.Figure(drawn)

    def script(drawn: dict[str, object]) -> None:
        from app.streamlit_internals import plotly_chart

        plotly_chart(drawn, key="figure")

    app = AppTest.from_function(script, args=(drawn,)).run()
    assert not app.exception
    assert "not_of_plotly" in app.get("plotly_chart")[0].proto.spec


def test_the_address_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(cli_util, "open_browser", opened.append)
    internals.open_browser(None)
    internals.open_browser("0.0.0.0")
    assert opened[0].startswith("http://localhost:")
    assert opened[1].startswith("http://")


def test_pages_of_the_navigation_are_of_the_type_that_is_named() -> None:
    def script() -> None:
        import streamlit as st

        from app.streamlit_internals import Page

        st.text(isinstance(st.Page(lambda: None, title="a"), Page))

    assert [text.value for text in inside(script).text] == ["True"]
    assert callable(st.switch_page)
