"""The one door to Streamlit's internals: no other module of the app imports or changes them.

Streamlit documents none of what is imported here and may change it in any release;
`tests/app/test_streamlit_internals.py` states what each import must still do.
"""

import asyncio
import hashlib
import json
import logging
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import plotly.io
import streamlit as st
from plotly.basedatatypes import BaseFigure
from plotly.utils import PlotlyJSONEncoder
from streamlit import cli_util, runtime
from streamlit.cli_util import print_to_cli
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.component_registry import BidiComponentDefinition
from streamlit.elements.widgets.file_uploader import FileUploaderSerde
from streamlit.elements.widgets.text_widgets import TextAreaSerde, TextInputSerde
from streamlit.navigation.page import Page
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import RerunException, StopException, get_script_run_ctx
from streamlit.runtime.state.session_state import Serialized, WStates
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile
from streamlit.web.server import server_util

from bertcore.model.tokenizer.truncation import MOST_CHARACTERS

__all__ = ["Page", "RerunException", "StopException", "UploadedFile", "print_to_cli"]

log = logging.getLogger("bertscope.app")

FOR_THE_OWNER = ("clear_cache", "load_git_info")
"""Messages that work on the whole server: they clear all visitors' caches and name its files."""
OPERATIONS_OF_THE_OWNER = ("install_skills", "dismiss_skills_nudge")
"""Operations that Streamlit offers in its pages, and that write files."""
MAX_A_SECOND = 30
"""Messages of a visitor that are handled; further ones would hold up everybody's. They wait for
the second to end, and of those that wait the last of each kind is handled: it has the values
of all widgets."""
MAX_VISITORS = 10_000  # whose messages are counted
MAX_FILES = 100  # files for which a message may ask where to send them
MAX_DOWNLOADS = 5  # files of one visitor that are being made for a download, one after the other
TOO_MANY_DOWNLOADS = "Too many files are being made for you. Try again when they are there."
MAX_WIDGETS = 2000  # widgets whose values a message may have
WIDGET_ID = "$$"  # with which Streamlit's names of widgets begin
MAX_TYPED = 200_000
"""Characters of what a visitor sends as one value, such as a box with a list of texts."""
BOXES_OF_MANY = ("-my_sentences", "-lens_own_text")
"""Ends of the names of such boxes; every other box has one text, of at most MOST_CHARACTERS."""
LEFT_OUT = (
    "The text has {length:,} characters: the first {most:,} are read, and the rest is left out."
)
TOO_LONG = "The text has {length:,} characters; at most {most:,} are read. Give a part of it."
BATCH_SECONDS = 0.005  # for which what a run has drawn waits for what it draws next
MAX_DEPTH = 20
"""Levels of lists and objects in what a component or a figure reports; theirs have five."""
TOO_DEEP = (
    "What was sent has more than {most} levels of lists and objects, which nothing on this page "
    "has. It was not read: load the page again."
)
MAX_QUERY = 1 << 20  # characters of an address, more than any browser sends
OTHER_TYPE = (
    "The file is of a type that this box does not take: its name must end in one of {types}. Save "
    "it as one of them."
)


# ---- who is connected, and what runs ----


def session() -> str:
    """Return the id of the browser's session that runs this; "" outside of a page."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def page_hash() -> str:
    """Return what distinguishes the widgets of one page from those of another; "" outside."""
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""


def is_connected(session: str) -> bool:
    """Return whether a session's page is open; without a server all are."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session)


def cookies_of(session: str) -> Mapping[str, str] | None:
    """Return the cookies of a session's browser; None if it has left."""
    client = runtime.get_instance().get_client(session)
    return (
        None if client is None or client.client_context is None else client.client_context.cookies
    )


def close_session(session: str) -> bool:
    """Close a session, with its files and state, unless it is connected; return whether it was.

    In the thread of the server's loop.
    """
    if not runtime.exists() or runtime.get_instance().is_active_session(session):
        return False
    server = runtime.get_instance()
    kept = server._session_mgr.get_session_info(session)
    server.close_session(session)
    if kept is not None:  # the first sessions are out of the garbage collector's rounds
        kept.session.session_state.clear()
    uploads().remove_session_files(session)  # if Streamlit has just forgotten it by itself
    return True


def open_browser(address: str | None) -> None:
    """Open the app in the browser of this computer."""
    cli_util.open_browser(
        server_util.get_url(server_util.get_display_address(address or "localhost"))
    )


# ---- messages to clients ----


def keep_messages_of_fragments() -> None:
    """Send what a run drew of a fragment, too, if the fragment runs again before it was sent.

    Streamlit drops it. If further elements of the page wait behind it, the browser gets these
    without the place before them, shows "Bad delta path index", and draws nothing any more.
    """
    clear = ForwardMsgQueue.clear

    def clear_unless_of_fragments(
        queue: ForwardMsgQueue,
        retain_lifecycle_msgs: bool = False,
        fragment_ids_this_run: list[str] | None = None,
    ) -> None:
        clear(queue, retain_lifecycle_msgs, None if fragment_ids_this_run is None else [])

    ForwardMsgQueue.clear = clear_unless_of_fragments  # type: ignore[method-assign, assignment]


# ---- uploads ----


def uploads() -> MemoryUploadedFileManager:
    """Return what keeps the uploads: its `file_storage` is session -> id of a file -> the file."""
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager), "Streamlit keeps uploads in memory"
    return manager


def remove_upload(file: str) -> None:
    """Remove a file of the session that runs this from memory; its box is then empty."""
    manager = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    if isinstance(manager, MemoryUploadedFileManager):  # that of a test without a server is not
        manager.remove_file(session(), file)


def file_ids(box: str) -> list[str]:
    """Return the ids of the files of which a visitor sees the names in an upload box."""
    state = st.session_state.get(box)
    files: list[UploadedFile | DeletedFile] = (
        state if isinstance(state, list) else [] if state is None else [state]
    )
    return [file.file_id for file in files]


# ---- what a run costs ----


def spare_work() -> None:
    """Make the theme once, wake the server's loop once a batch, send scripts once, figures short.

    Streamlit does each for every run or element: a third of the processor time of an edit.
    """
    populate, call_soon = app_session._populate_theme_msg, AppSession._call_soon_on_event_loop
    folder = Path(tempfile.mkdtemp(prefix="bertscope-scripts-"))

    @cache
    def theme_of(section: str) -> CustomThemeConfig:
        populate(theme := CustomThemeConfig(), section)
        return theme

    def populate_once(message: CustomThemeConfig, section: str = "theme") -> None:
        if theme_of(section).ByteSize():  # an empty section is one that is not there
            message.MergeFrom(theme_of(section))

    lock = Lock()  # a run that ends and the one that follows it draw at once

    def call_in_batches(session: AppSession, call: Callable[[], None]) -> None:
        loop = session._event_loop

        def call_all() -> None:
            with lock:
                calls = session.__dict__.pop("_waiting")
            for waiting in calls:
                loop.call_soon(waiting)

        with lock:
            waiting = session.__dict__.setdefault("_waiting", [])
            waiting.append(call)
            is_first = len(waiting) == 1
        if is_first:
            call_soon(session, partial(loop.call_later, BATCH_SECONDS, call_all))  # type: ignore[arg-type]

    @cache
    def file_of(script: str) -> str:
        name = f"{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"
        (folder / name).write_text(script, encoding="utf-8")
        return name

    escaped_json = plotly.io.to_json

    def figure_json(figure: Any, **options: Any) -> str:
        if not isinstance(figure, _Drawn):
            return str(escaped_json(figure, **options))  # six characters for each / of its numbers
        return json.dumps(figure, cls=PlotlyJSONEncoder, separators=(",", ":"))

    plotly.io.to_json = figure_json
    component: Any = BidiComponentDefinition
    component.js_content, component.js_url = None, property(lambda drawn: file_of(drawn.js))
    BidiComponentManager.get_component_path = lambda *_: str(folder)  # type: ignore[method-assign]
    app_session._populate_theme_msg = populate_once  # type: ignore[assignment]
    AppSession._call_soon_on_event_loop = call_in_batches  # type: ignore[method-assign, assignment]


# ---- messages of clients: any message, and any value for any widget ----


def guard_messages(
    *, is_closed: bool, visitor_of: Callable[[str], str | None] = lambda session: session
) -> None:
    """Ignore what visitors of a closed server may not send, and what no browser does.

    Args:
        is_closed: Whether the server is.
        visitor_of: Returns whose a session is; a visitor's tabs share the number of messages.
    """
    _guard_widgets()
    _guard_downloads(visitor_of)
    handle = AppSession.handle_backmsg
    recent: dict[str, deque[float]] = {}
    waiting: dict[tuple[str, str | None], BackMsg] = {}

    def handle_late(session: AppSession, name: tuple[str, str | None]) -> None:
        handle_guarded(session, waiting.pop(name))

    def handle_guarded(session: AppSession, message: BackMsg) -> None:
        if len(recent) > MAX_VISITORS:
            recent.clear()
        times = recent.setdefault(visitor_of(session.id) or session.id, deque(maxlen=MAX_A_SECOND))
        kind, now = message.WhichOneof("type"), time.monotonic()
        if len(times) == MAX_A_SECOND and now - times[0] < 1:
            name = (session.id, kind)
            before = waiting.get(name)
            if before is None:
                loop = asyncio.get_running_loop()
                loop.call_later(1 - (now - times[0]), handle_late, session, name)
            elif before.rerun_script.fragment_id != message.rerun_script.fragment_id:
                message.rerun_script.fragment_id = ""  # the whole page, which holds both
            waiting[name] = message
            return
        times.append(now)
        operation = message.backend_operation_request.WhichOneof("payload")
        if is_closed and (kind in FOR_THE_OWNER or operation in OPERATIONS_OF_THE_OWNER):
            log.warning("ignored: a message that visitors may not send")
            return
        if kind == "rerun_script":
            widgets = message.rerun_script.widget_states.widgets
            # One of another name would be a value of the session, under a key of ours.
            known = [state for state in widgets[:MAX_WIDGETS] if state.id.startswith(WIDGET_ID)]
            if len(known) < len(widgets):
                del widgets[:]
                widgets.extend(known)
            if len(message.rerun_script.query_string) > MAX_QUERY:
                log.warning("ignored: an address that no browser sends")
                message.rerun_script.query_string = ""
        elif kind == "file_urls_request":
            del message.file_urls_request.file_names[MAX_FILES:]
        handle(session, message)

    AppSession.handle_backmsg = handle_guarded  # type: ignore[method-assign, assignment]


def _guard_downloads(visitor_of: Callable[[str], str | None]) -> None:
    """Make the files that one visitor asks for one after the other, at most MAX_DOWNLOADS.

    Streamlit makes each in one of few threads that all visitors share, as often as it is asked for.
    """
    make = DeferredFileHandler.handle
    turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
    asked: Counter[str] = Counter()

    async def make_guarded(
        handler: DeferredFileHandler, request: BackendOperationRequest, session_id: str
    ) -> BackendOperationResponse:
        visitor = visitor_of(session_id) or session_id
        if asked[visitor] >= MAX_DOWNLOADS:
            log.warning("refused: too many downloads at once")
            return BackendOperationResponse(
                request_id=request.request_id, error_msg=TOO_MANY_DOWNLOADS
            )
        asked[visitor] += 1
        try:
            async with turns.setdefault(visitor, asyncio.Semaphore()):
                return await make(handler, request, session_id)
        finally:
            asked[visitor] -= 1
            if not asked[visitor]:
                del asked[visitor]

    DeferredFileHandler.handle = make_guarded  # type: ignore[method-assign, assignment]


def _guard_widgets() -> None:
    """Take the usual value of a widget in place of one that it cannot have, for all widgets.

    Streamlit reads values when a page draws the widget, and before it if the widget has a callback,
    where no guard of ours is around it; it trusts that they are of the widget's kind.
    """
    read = WStates.__getitem__

    def read_guarded(states: WStates, name: str) -> Any:
        state, widget = states.states.get(name), states.widget_metadata.get(name)
        if not isinstance(state, Serialized) or widget is None:
            return read(states, name)
        kind = state.value.WhichOneof("value")
        serde = getattr(widget.deserializer, "__self__", None)
        if isinstance(serde, TextAreaSerde | TextInputSerde):
            most = MAX_TYPED if name.endswith(BOXES_OF_MANY) else MOST_CHARACTERS
            typed = state.value.string_value  # Streamlit bounds it only in the browser
            if len(typed) > most:
                st.warning(LEFT_OUT.format(length=len(typed), most=most))
                states.set_from_value(name, typed[:most])
                return read(states, name)
        if kind == "string_value" and len(state.value.string_value) > MAX_TYPED:
            st.error(TOO_LONG.format(length=len(state.value.string_value), most=MAX_TYPED))
            states.set_from_value(name, widget.deserializer(None))
            return read(states, name)
        try:
            # Browsers send whole numbers of a number box as integers.
            are_numbers = {kind, widget.value_type} <= {"int_value", "double_value"}
            if None in (kind, widget.value_type) or kind == widget.value_type or are_numbers:
                value = read(states, name)
                if not _is_deep(value):
                    return value
                raise RecursionError  # as of more levels, which cannot be read at all
        except RecursionError:
            st.error(TOO_DEEP.format(most=MAX_DEPTH))
        except Exception as error:  # each widget's own reading fails in its own way
            log.debug("no value of its widget: %s", type(error).__name__)
            if kind == "file_uploader_state_value" and isinstance(serde, FileUploaderSerde):
                st.error(OTHER_TYPE.format(types=", ".join(serde.allowed_types or ())))
                for file in state.value.file_uploader_state_value.uploaded_file_info:
                    remove_upload(file.file_id)
        log.warning("ignored: a value that its widget cannot have")
        states.set_from_value(name, widget.deserializer(None))
        return read(states, name)

    WStates.__getitem__ = read_guarded  # type: ignore[method-assign]


def _is_deep(value: Any) -> bool:
    """Return whether lists and mappings are nested in more than MAX_DEPTH levels."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        parts = [part for part in level if isinstance(part, dict | list)]
        level = [e for part in parts for e in (part.values() if isinstance(part, dict) else part)]
    return bool(level)


# ---- figures ----


class _Drawn(dict[str, Any]):
    """A figure of ours as JSON."""


class _Sent(BaseFigure):  # type: ignore[misc]  # Plotly has no types
    """A figure as Streamlit takes it: of Plotly's it reads `to_dict` alone, others it validates."""

    def __init__(self, drawn: dict[str, Any]) -> None:  # Plotly's own would validate it
        self._drawn = _Drawn(drawn)

    def to_dict(self) -> dict[str, Any]:
        return self._drawn


def plotly_chart(drawn: dict[str, Any], **options: Any) -> None:
    """Draw a figure.

    Args:
        drawn: As `Figure.to_dict` returns it.
        options: Those of `st.plotly_chart`.
    """
    layout, template = drawn["layout"], drawn["layout"].get("template", {})
    traces = [*drawn.get("data", ()), *(t for f in drawn.get("frames", ()) for t in f["data"])]
    kinds = {trace.get("type", "scatter") for trace in traces}
    # Of the template what is of the figure's kinds of traces: all kinds are 2 kB.
    of_kinds = {kind: of for kind, of in template.get("data", {}).items() if kind in kinds}
    sent = {**layout, "template": {**template, "data": of_kinds}}
    st.plotly_chart(_Sent({**drawn, "layout": sent}), **options)
