"""What the app needs of Streamlit's internals, import by import: a new release breaks it here."""

import asyncio
import inspect
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import plotly.io
import pytest
import streamlit as st
from starlette.applications import Starlette
from streamlit import cli_util
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.component_registry import BidiComponentDefinition
from streamlit.elements.widgets.file_uploader import FileUploaderSerde
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse, ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import Serialized, SessionState, WStates
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_routes import create_bidi_component_routes

from app.server import streamlit_internals as internals
from app.shell.uploads.source import UploadSource
from tests.support.asgi import ask, run


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[BackMsg]:
    """What Streamlit handles of the messages that are sent; guards go when the test ends."""
    messages: list[BackMsg] = []
    monkeypatch.setattr(AppSession, "handle_backmsg", lambda _, message: messages.append(message))
    for kind, name in ((WStates, "__getitem__"), (DeferredFileHandler, "handle")):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    return messages


def inside(script: Callable[[], None]) -> AppTest:
    app = AppTest.from_function(script).run()
    assert not app.exception
    return app


def test_a_run_knows_its_session_and_page_and_ends_when_it_is_stopped() -> None:
    assert (internals.session(), internals.page_hash()) == ("", "")

    def script() -> None:
        import streamlit as st

        from app.server import streamlit_internals as internals

        st.text(internals.session())
        st.text(internals.page_hash())
        st.text(isinstance(st.Page(lambda: None, title="a"), internals.Page))
        internals.plotly_chart({"layout": {"not_of_plotly": 1}}, key="figure")
        raise internals.StopException

    app = inside(script)
    session, page, is_page = (text.value for text in app.text)
    assert session
    assert page
    assert is_page == "True"
    assert not app.error
    # A figure reaches the browser unchecked.
    assert "not_of_plotly" in app.get("plotly_chart")[0].proto.spec


def test_the_runtime_knows_who_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert internals.is_connected("anybody")  # without a server
    assert not internals.close_session("anybody")
    for name in ("is_active_session", "get_client", "uploaded_file_mgr"):
        assert hasattr(Runtime, name), name
    client = SimpleNamespace(client_context=SimpleNamespace(cookies={"a": "b"}))
    server = SimpleNamespace(get_client={"here": client}.get, is_active_session="here".__eq__)
    monkeypatch.setattr(internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(internals.runtime, "get_instance", lambda: server)
    assert [internals.is_connected(name) for name in ("here", "gone")] == [True, False]
    assert internals.cookies_of("here") == {"a": "b"}
    assert internals.cookies_of("gone") is None


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    """A server's uploads: one file each of the sessions "here", which is this one, and "gone"."""
    manager = MemoryUploadedFileManager("/upload")
    for name in ("here", "gone"):
        manager.add_file(name, UploadedFileRec("file", "name", "text/plain", b"abc"))
    server = SimpleNamespace(uploaded_file_mgr=manager, is_active_session="here".__eq__)
    monkeypatch.setattr(internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(internals.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(internals, "session", lambda: "here")
    return manager


def test_what_a_fragment_drew_before_it_runs_again_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place of the page is filled before the next one, whenever the queue is sent."""

    def drawn(place: int, fragment: str) -> ForwardMsg:
        message = ForwardMsg(metadata={"delta_path": [0, place]})
        message.delta.fragment_id = fragment
        message.delta.new_element.text.body = fragment
        return message

    def sent() -> list[list[int]]:
        queue = ForwardMsgQueue()
        for place, fragment in enumerate(["", "closed", ""]):
            queue.enqueue(drawn(place, fragment))
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["closed"])
        queue.enqueue(drawn(1, "closed"))
        return [list(message.metadata.delta_path) for message in queue.flush()]

    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    assert sent() == [[0, 0], [0, 2], [0, 1]]  # Streamlit's own: no longer needed if this fails
    internals.keep_messages_of_fragments()
    assert sent() == [[0, 0], [0, 1], [0, 2], [0, 1]]


def test_uploads_are_kept_by_session_and_id(manager: MemoryUploadedFileManager) -> None:
    (kept,) = internals.uploads().file_storage["here"].items()
    assert (kept[0], kept[1].data) == ("file", b"abc")
    internals.remove_upload("file")
    assert not manager.file_storage.get("here")


def test_a_session_that_is_gone_is_closed_with_its_files(
    manager: MemoryUploadedFileManager,
) -> None:
    assert hasattr(Runtime, "close_session")
    assert isinstance(AppSession.session_state, property)
    assert "self._session_mgr =" in inspect.getsource(Runtime.__init__)
    state, closed = SessionState(), list[str]()
    state["kept"] = "what was read of a file"
    kept: Any = SimpleNamespace(session=SimpleNamespace(session_state=state))
    server: Any = internals.runtime.get_instance()
    server.close_session = closed.append
    server._session_mgr = SimpleNamespace(get_session_info=lambda name: kept)
    assert [internals.close_session(name) for name in ("here", "gone")] == [False, True]
    assert closed == ["gone"]
    assert "kept" not in state
    assert [*manager.file_storage] == ["here"]


def test_a_box_is_emptied_for_the_page_alone(
    manager: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record,) = manager.file_storage["here"].values()
    file = UploadedFile(record, FileURLs())
    boxes = {"one": file, "several": [DeletedFile("gone"), file], "none": None}
    monkeypatch.setattr(internals.st, "session_state", boxes)
    names = ("one", "several", "none", "absent")
    assert [internals.file_ids(name) for name in names] == [["file"], ["gone", "file"], [], []]
    box = UploadSource(key="one", label="", read=list, about=str)
    with box._taken([file]) as given:
        assert given == {"file": ("name", b"abc")}
    assert not manager.file_storage["here"]
    assert file.getvalue() == b""
    assert internals.file_ids("one") == ["file"]


@pytest.mark.parametrize("is_closed", [False, True])
def test_messages_for_the_owner_are_ignored_where_visitors_come(
    is_closed: bool, handled: list[BackMsg]
) -> None:
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


def test_of_what_no_browser_sends_nothing_or_little_is_handled(handled: list[BackMsg]) -> None:
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


@pytest.fixture
def spared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit as our server changes it; undone when the test ends."""
    of_session, of_script = "_call_soon_on_event_loop", BidiComponentDefinition
    changed: list[tuple[Any, str]] = [(app_session, "_populate_theme_msg")]
    changed += [(AppSession, of_session), (BidiComponentManager, "get_component_path")]
    changed += [(of_script, "js_content"), (of_script, "js_url"), (plotly.io, "to_json")]
    for place, name in changed:
        monkeypatch.setattr(place, name, getattr(place, name))
    internals.spare_work()


@pytest.mark.usefixtures("spared")
def test_what_a_run_draws_is_handed_on_in_its_order_by_one_call() -> None:
    done: list[int] = []

    async def hand_on() -> int:
        loop = asyncio.get_running_loop()
        session: Any = SimpleNamespace(_event_loop=loop)
        woken = len(loop._scheduled)  # type: ignore[attr-defined]
        for number in range(3):
            AppSession._call_soon_on_event_loop(session, lambda n=number: done.append(n))
        AppSession._call_soon_on_event_loop(session, lambda: 1 / 0)
        AppSession._call_soon_on_event_loop(session, lambda: done.append(3))
        loop.set_exception_handler(lambda *_: None)
        await asyncio.sleep(0)
        woken = len(loop._scheduled) - woken  # type: ignore[attr-defined]
        while len(done) < 4:
            await asyncio.sleep(0.005)
        return woken

    assert run(hand_on()) == 1
    assert done == [0, 1, 2, 3], "one that fails holds nothing up"


@pytest.mark.usefixtures("spared")
def test_the_theme_is_the_same_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    sections: list[str] = []

    def options(section: str) -> dict[str, str | None]:
        sections.append(section)
        return {"textColor": "#123456" if section == "theme.dark" else None}

    monkeypatch.setattr(app_session.config, "get_options_for_section", options)
    for _ in range(2):
        message = CustomThemeConfig()
        for section, part in (("theme.light", message.light), ("theme.dark", message.dark)):
            app_session._populate_theme_msg(part, section)
        assert message.dark.text_color == "#123456"
        assert not message.HasField("light")
    assert sections == ["theme.light", "theme.dark"]


@pytest.mark.usefixtures("spared")
def test_a_components_script_is_sent_once_by_its_address() -> None:
    script = "export default () => {}"
    drawn = BidiComponentDefinition("bertscope_x", js=script)
    assert not drawn.js_content
    manager = BidiComponentManager()
    served = create_bidi_component_routes(manager, "lab")
    manager.register(drawn)
    answer = ask(
        Starlette(routes=served), path=f"/lab/_stcore/bidi-components/bertscope_x/{drawn.js_url}"
    )
    assert (answer.status, answer.body) == (200, script)
    assert "javascript" in answer.headers["content-type"]


@pytest.mark.usefixtures("spared")
def test_a_figure_is_sent_as_short_json_and_others_stay_escaped() -> None:
    text = "</script> \u2028 \\u002f"

    def script() -> None:
        from app.server.streamlit_internals import plotly_chart

        trace = {"type": "scatter", "y": [1.0, float("nan")], "text": ["</script> \u2028 \\u002f"]}
        plotly_chart({"data": [trace], "layout": {}})

    [chart] = inside(script).get("plotly_chart")
    assert "</script>" in chart.proto.spec
    assert json.loads(chart.proto.spec)["data"][0]["text"] == [text]
    assert json.loads(chart.proto.spec)["data"][0]["y"] == [1.0, None]
    assert "</script>" not in plotly.io.to_json({"data": [{"text": [text]}]}, validate=False)


def test_of_many_messages_the_last_of_each_kind_is_handled_late(handled: list[BackMsg]) -> None:
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


def test_late_messages_of_two_fragments_run_the_whole_page(handled: list[BackMsg]) -> None:
    internals.guard_messages(is_closed=False)

    async def send(*fragments: str) -> str:
        session: Any = SimpleNamespace(id=fragments[-1])
        for fragment in ["first"] * internals.MAX_A_SECOND + [*fragments]:
            message = BackMsg()
            message.rerun_script.fragment_id = fragment
            AppSession.handle_backmsg(session, message)
        assert {message.rerun_script.fragment_id for message in handled} == {"first"}
        while len(handled) == internals.MAX_A_SECOND:
            await asyncio.sleep(0.05)
        last = handled[-1].rerun_script.fragment_id
        handled.clear()
        return last

    assert run(send("a", "a", "a")) == "a"
    assert run(send("a", "b", "b")) == ""


@pytest.mark.usefixtures("handled")
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


@pytest.mark.usefixtures("handled")
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


@pytest.mark.usefixtures("handled")
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


def test_the_address_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(cli_util, "open_browser", opened.append)
    internals.open_browser(None)
    internals.open_browser("0.0.0.0")
    assert opened[0].startswith("http://localhost:")
    assert opened[1].startswith("http://")
