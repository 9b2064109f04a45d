"""One visitor of the running app without a browser: speaks the websocket as Streamlit's page does.

It gets every message that a browser gets and presses what a visitor may press, but draws nothing,
so that thousands of changes cost only what they cost the server.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

TIMEOUT_SECONDS = 120.0
_TRIGGERS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
"""Under which the triggers of a component of ours are sent, by its widget's id."""


@dataclass(frozen=True, slots=True)
class Widget:
    """A widget on the page."""

    id: str
    fragment: str
    """That runs alone when it changes; empty for the whole page."""


class Session:
    """One session with the app at `url`, with these headers besides the usual ones.

    `keeps_messages` fills `messages`.
    """

    def __init__(
        self, url: str, *, headers: Mapping[str, str] | None = None, keeps_messages: bool = False
    ) -> None:
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(
            connect(
                f"{url.replace('http', 'ws', 1)}/_stcore/stream",
                subprotocols=["streamlit"],  # type: ignore[list-item]  # a name is a string
                additional_headers=headers,
                max_size=None,
                proxy=None,
                open_timeout=TIMEOUT_SECONDS,
                ping_interval=None,  # as a browser: a busy server is slow, not gone
            )
        )
        self.id = ""
        """Streamlit's name of the session, under which its files are uploaded."""
        self.messages: list[bytes] = []
        """All that the server sent, if it is to be kept.

        Not the messages in which Streamlit begins a run: it tells there where its script lies.
        """
        self._keeps_messages = keeps_messages
        self.widgets: dict[str, Widget] = {}
        """What was drawn last, by the key that the app gave it."""
        self.pages: dict[str, str] = {}
        """Streamlit's hash of each page by its name in the address."""
        self.containers: set[str] = set()
        """Keys of the containers that were drawn since the last run of a whole page."""
        self.texts: list[str] = []
        """Markdown and coloured boxes of the last run."""
        self.page_texts: list[str] = []
        """The same of the last run of a whole page, with its sidebar."""
        self.errors: list[str] = []
        """Exceptions and error boxes since the start."""
        self.num_bytes = 0
        """Bytes of all messages since the start."""
        self.progress = ""
        """What stands at the progress bar; empty if the last run of its view drew none."""
        self._states: dict[str, WidgetState] = {}
        self._page = self._timer = ""
        self.query = ""
        """What stands behind the page's name in the address."""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, name: str = "glance", query: str = "") -> None:
        """Open a page by its name in the address; the door is ""."""
        self._page, self.query = self.pages.get(name, ""), query
        self.widgets.clear()
        self._states.clear()
        self._run(page_name="" if self._page else name)

    def set(self, key: str, value: str | float | list[str] | list[float]) -> None:
        """Change the value of a text box or list, a number, a row of choices, or a slider."""
        self.send(self.widgets[key], value)

    def send(self, widget: Widget, value: str | float | list[str] | list[float]) -> None:
        """Change the value of a widget, which need not be on the page."""
        state = WidgetState(id=widget.id)
        if isinstance(value, str):
            state.string_value = value
        elif isinstance(value, int | float):
            state.double_value = value
        elif all(isinstance(part, str) for part in value):
            state.string_array_value.data[:] = value
        else:
            state.double_array_value.data[:] = value
        self._states[widget.id] = state
        self._run(widget.fragment)

    def press(self, key: str) -> None:
        """Press a button."""
        widget = self.widgets[key]
        self._run(widget.fragment, WidgetState(id=widget.id, trigger_value=True))

    def attach(self, key: str, file_id: str, name: str = "", *others: str) -> None:
        """Give an upload box a file that was uploaded under this id; that is its name if empty.

        `others` are the ids of further files, of the same name.
        """
        widget = self.widgets[key]
        state = WidgetState(id=widget.id)
        for given in (file_id, *others):
            file = state.file_uploader_state_value.uploaded_file_info.add()
            file.file_id, file.name, file.size = given, name or given, 1
        self._states[widget.id] = state
        self._run(widget.fragment)

    def report(self, key: str, event: str, value: Any) -> None:
        """Let a component of ours report that something happened in it, such as a click."""
        widget = self.widgets[key]
        state = WidgetState(id=_TRIGGERS.format(widget.id))
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        self._run(widget.fragment, state)

    def tick(self) -> None:
        """Let the timer of a view that waits for its work ring once; without one, draw the page."""
        self.progress = ""
        timer, self._timer = self._timer, ""  # a run that draws none has no fragment to run again
        self._run(timer)

    def has_arrived(self) -> bool:
        """Return whether work in the background was done when the page was last drawn."""
        return any(name.startswith("arrived_") for name in self.containers)

    def leave(self) -> None:
        """Close the connection, as a browser does whose tab is closed."""
        self._socket.close()

    def _run(self, fragment: str = "", *once: WidgetState, page_name: str = "") -> None:
        """Ask for a run, with these states besides, and read what comes until it has ended."""
        request = BackMsg()
        asked = request.rerun_script
        asked.query_string, asked.page_script_hash = self.query, self._page
        asked.page_name, asked.fragment_id = page_name, fragment
        asked.widget_states.widgets.extend([*self._states.values(), *once])
        self._socket.send(request.SerializeToString())
        self.texts.clear()
        if not fragment:
            self.progress = ""
            self.containers.clear()
        self.widgets = {
            k: w for k, w in self.widgets.items() if fragment and w.fragment != fragment
        }
        while True:
            message = self._socket.recv(TIMEOUT_SECONDS, decode=False)
            self.num_bytes += len(message)
            heard = ForwardMsg.FromString(message)
            kind = heard.WhichOneof("type")
            if self._keeps_messages and kind != "new_session":
                self.messages.append(message)
            if kind == "script_finished":
                # A run that another one cut short is followed by that one.
                if heard.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue
                if not fragment:
                    self.page_texts = list(self.texts)
                return
            elif kind == "navigation":
                self.pages = {
                    p.url_pathname: p.page_script_hash for p in heard.navigation.app_pages
                }
                self._page = heard.navigation.page_script_hash
            elif kind == "auto_rerun":
                self._timer = heard.auto_rerun.fragment_id
            elif kind == "page_info_changed":
                self.query = heard.page_info_changed.query_string
            elif kind == "new_session":
                self.id = heard.new_session.initialize.session_id
            elif kind == "delta":
                self._hear(heard.delta)
            elif kind in ("session_event", "page_not_found"):
                self.errors.append(str(heard)[:300])

    def _hear(self, delta: Delta) -> None:
        if delta.WhichOneof("type") == "add_block":
            self.containers.add(delta.add_block.id.split("-", 2)[-1])
        if delta.WhichOneof("type") != "new_element":
            return
        element = delta.new_element
        kind = element.WhichOneof("type")
        content = getattr(element, kind) if kind else None
        if kind == "exception":
            self.errors.append(f"{content.type}: {content.message}")
        elif kind == "alert":
            self.texts.append(content.body)
            if content.format == content.ERROR:
                self.errors.append(content.body)
        elif kind == "progress":
            self.progress = content.text
        elif kind == "markdown":
            self.texts.append(content.body)
        elif hasattr(content, "id") and content.id:
            # Widgets' ids end in the key that the app gave.
            key = content.id.split("-", 2)[-1]
            self.widgets[key] = Widget(content.id, delta.fragment_id)


@contextmanager
def edits(url: str) -> Iterator[list[float]]:
    """Let a visitor edit within the block; give the seconds of each edit, complete at its end."""
    ended, ready, seconds = threading.Event(), threading.Event(), list[float]()

    def edit() -> None:
        with Session(url) as session:
            session.open("tokens")
            for number in range(10_000):
                start = time.perf_counter()
                session.set("text_a", f"The river near the bank of {number}.")
                if number >= 3:  # the first ones fill caches
                    ready.set()
                    seconds.append(time.perf_counter() - start)
                if ended.wait(0.1):
                    return

    thread = threading.Thread(target=edit, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield seconds
    finally:
        ended.set()
        thread.join()
