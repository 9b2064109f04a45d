"""An intruder who speaks the websocket of a closed server, and sends what no page offers."""

import http.client
import io
import json
import shutil
import tempfile
import time
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.navigation import PAGES
from tests.support.browser.running import ROOT, Running, running_app
from tests.support.exhaustive import all_but
from tests.support.session import Session, edits
from tests.support.upload_client import UploadClient, request

pytestmark = pytest.mark.slow

FILE_VIEW = "checkpoint=sentiment&inspect_view=file"
TRAIN = "training_view=Start+a+run"
TEXT = "my own secret words"
"""Of a visitor: no log may hold it."""


class Place(NamedTuple):
    """A closed server and what lies on its disk."""

    server: Running
    shared: Path
    """The folder of --checkpoints."""
    secret: Path
    """A checkpoint beside it."""

    @property
    def log(self) -> str:
        """All that the server wrote so far."""
        return self.server.log.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("disk")
    shared, secret = root / "shared", root / "secret-place"
    shutil.copytree(tiny, shared / "law")
    shutil.copytree(tiny, secret)
    shutil.make_archive(str(shared / "law"), "zip", tiny)
    (shared / "link").symlink_to(secret)
    with running_app(arguments=["--address", "0.0.0.0", "--checkpoints", str(shared)]) as server:
        yield Place(server, shared, secret)


@pytest.fixture
def intruder(place: Place) -> Iterator[Session]:
    with Session(place.server.url, keeps_messages=True) as session:
        yield session


@pytest.fixture(scope="module", autouse=True)
def the_server_goes_on(place: Place) -> Iterator[None]:
    """After all attempts; in between, each visitor of the next one sees it."""
    yield
    with Session(place.server.url) as visitor:
        visitor.open("tokens", f"text_a={TEXT}")
        assert visitor.errors == []
    assert TEXT not in place.log


@pytest.fixture(autouse=True)
def nothing_got_out(place: Place) -> Iterator[None]:
    """After each attempt: the log holds no words of visitors."""
    yield
    for bug in ("unexpected error", "Uncaught app", "a job failed"):
        assert bug not in place.log
    assert TEXT not in place.log
    assert str(place.secret) not in place.log


def hostile_sources(place: Place) -> list[str]:
    return [
        str(place.secret),
        f"{place.shared}/../{place.secret.name}",
        f"../{place.secret.name}",
        f"law/../../{place.secret.name}",
        str(place.shared / "law"),
        "link",
        "~",
        "/etc",
        "google-bert/bert-base-uncased",
        "bert-base-uncased",
        "https://example.org/bert",
        "own:copies",
        str(place.shared / "law.zip"),
        "law.zip",
        "law\0",
        "x" * 200_000,
    ]


LINKS = [
    ("tokens", "checkpoint"),
    ("inspect", "checkpoint"),
    ("compare", "compare_with"),
]


def refused_link(place: Place, page: str, name: str, source: str) -> None:
    """Make sure that a link with another checkpoint is refused in one sentence."""
    refused = place.log.count("refused")
    with Session(place.server.url) as visitor:
        visitor.open(page, urllib.parse.urlencode({name: source}))
        assert len(visitor.errors) == 1, source[:80]
        assert "by name" in visitor.errors[0]
        assert len(visitor.errors[0]) < 250
    assert place.log.count("refused") > refused


@pytest.mark.parametrize(("page", "name"), all_but(LINKS[:1], LINKS))
def test_a_link_opens_no_other_checkpoint(place: Place, page: str, name: str) -> None:
    for source in hostile_sources(place):
        refused_link(place, page, name, source)


@pytest.mark.parametrize(("key", "page"), [("checkpoint", "tokens"), ("compare_with", "compare")])
def test_no_widget_opens_another_checkpoint(
    intruder: Session, place: Place, key: str, page: str
) -> None:
    intruder.open(page)
    for source in hostile_sources(place):
        intruder.errors.clear()
        intruder.set(key, source)
        assert len(intruder.errors) == 1, source[:80]
        assert "by name" in intruder.errors[0]
    intruder.errors.clear()
    intruder.set(key, "law")
    assert intruder.errors == []


def test_what_an_open_server_draws_is_nothing_here(intruder: Session, place: Place) -> None:
    """The states of boxes and buttons that this server does not draw are not read."""
    with running_app() as server, Session(server.url) as visitor:
        visitor.open("training", "training_view=Start+a+run")
        folder, minutes = (visitor.widgets[key] for key in ("runs", "length_minutes"))
        assert visitor.errors == []
    intruder.open("training", "training_view=Start+a+run")
    for widget, value in ((folder, str(place.secret.parent)), (minutes, 1e9)):
        intruder.send(widget, value)
    assert not {"length_minutes", "run_name"} & {*intruder.widgets}
    assert b"secret-place" not in b"".join(intruder.messages)


@pytest.mark.parametrize("checkpoint", all_but(["law"], ["law", "default"]))
def test_no_message_tells_where_anything_lies(
    intruder: Session, place: Place, checkpoint: str
) -> None:
    own = [str(place.shared), str(ROOT), str(Path.home()), "bertscope-visits"]
    for page in PAGES.values():
        intruder.open(page.name, f"checkpoint={checkpoint}")
    sent = b"".join(intruder.messages).replace(b"\\", b"")  # as Markdown writes punctuation
    for told in own:
        assert told.encode() not in sent, told


def test_events_that_no_component_sends(intruder: Session) -> None:
    intruder.open("attention", "other_heads=1")
    hostile = (
        {"layer": 99, "heads": [99]},
        {"layer": -1, "heads": "all"},
        {"layer": {"a": 1}},
        [],
        None,
        "x" * 100_000,
        {"layer": float("1e308"), "heads": [[]] * 1000},
    )
    for value in hostile:
        intruder.report("attention_overview", "picked", value)
        intruder.report("attention_overview", "no-such-event", value)
    assert not [error for error in intruder.errors if "Something unexpected" in error], (
        intruder.errors
    )


def test_a_position_that_no_slider_reports(intruder: Session) -> None:
    intruder.open("training")
    for value in ("[1]", '{"a": 1}', '"a"', "NaN", "-1e300", "true"):
        widget = intruder.widgets["replay_watch"]
        state = WidgetState(id=widget.id, json_value=f'{{"layer": {value}}}')
        intruder._run(widget.fragment, state)
        assert intruder.errors == [], value


def test_an_event_in_many_levels_is_refused_in_one_sentence(intruder: Session) -> None:
    """Streamlit copies and compares values; each level takes one of Python's calls."""
    intruder.open("attention", "other_heads=1")
    widget = intruder.widgets["attention_overview"]
    events = f"$$STREAMLIT_INTERNAL_KEY_{widget.id}__events"
    for deep in ("[" * depth + "]" * depth for depth in (50, 500, 200_000)):
        for state in (
            WidgetState(id=events, json_trigger_value=f'[{{"event": "picked", "value": {deep}}}]'),
            WidgetState(id=widget.id, json_value=f'{{"picked": {deep}}}'),
        ):
            intruder.errors.clear()
            intruder._run(widget.fragment, state)
            (error,) = intruder.errors
            assert error.startswith("What was sent has more than 20 levels")


def test_a_click_that_comes_after_its_page_was_left_does_nothing(intruder: Session) -> None:
    """As of a visitor who clicks a picture, and at once the link to another page."""
    intruder.open("sentence-pairs", "several=1")
    selection = {"selection": {"points": [{"customdata": "0.1"}], "point_indices": [0]}}
    figure = intruder.widgets["figure_similar-map"]
    selected = WidgetState(id=figure.id, string_value=json.dumps(selection))
    intruder.open("attention", "other_heads=1")
    overview = intruder.widgets["attention_overview"]
    events = WidgetState(
        id=f"$$STREAMLIT_INTERNAL_KEY_{overview.id}__events",
        json_trigger_value='[{"event": "picked", "value": {"layer": 1}}]',
    )
    intruder._page = intruder.pages["training"]
    for _ in range(2):  # with the page itself, and after it
        intruder._run("", selected, events)
        assert intruder.errors == []
        assert "training_view" in intruder.widgets


FORGED = f"{TEXT}\nrefused: forged"


def values_of_any_kind(widget: str) -> Iterator[WidgetState]:
    """Yield states with every kind of value, whatever the widget's is."""
    plain: dict[str, list[Any]] = {
        "trigger_value": [True],
        "bool_value": [True],
        "double_value": [float("nan"), 1e308],
        "int_value": [-(2**60)],
        "string_value": [FORGED],
        "json_value": ["[1]", FORGED],
        "json_trigger_value": ["{}", FORGED],
        "bytes_value": [b"\xff"],
    }
    arrays: dict[str, list[Any]] = {
        "double_array_value": [float("inf")] * 3,
        "int_array_value": [-1, 10**9],
        "string_array_value": [FORGED],
    }
    for field, values in plain.items():
        for value in values:
            yield WidgetState(id=widget, **{field: value})
    for field, values in arrays.items():
        for content in ([], values):
            state = WidgetState(id=widget)
            getattr(state, field).SetInParent()
            getattr(state, field).data.extend(content)
            yield state
    for field in ("arrow_value", "string_trigger_value", "chat_input_value"):
        state = WidgetState(id=widget)
        getattr(state, field).SetInParent()
        yield state
    state = WidgetState(id=widget)
    file = state.file_uploader_state_value.uploaded_file_info.add()
    file.file_id, file.name, file.size = "none", f"../../a.{FORGED}", 2**40
    yield state


@pytest.mark.parametrize(
    "name", all_but(["training"], ["tokens", "training", "bias", "objectives"])
)
def test_no_widget_takes_a_value_of_another_kind(place: Place, name: str) -> None:
    with Session(place.server.url) as visitor:
        visitor.open(name)
        widgets = [widget.id for widget in visitor.widgets.values()]
        for states in zip(*map(values_of_any_kind, widgets), strict=True):
            visitor._run("", *states)  # all at once: the page runs once for each kind of value
            assert not [
                error
                for error in visitor.errors
                if "unexpected" in error or "has encountered an error" in error
            ], (states[0].WhichOneof("value"), visitor.errors)
            visitor.errors.clear()
    assert "ignored: a value that its widget cannot have" in place.log
    assert "forged" not in place.log


def test_a_text_of_thirty_megabytes_ends_that_visit_alone(place: Place) -> None:
    with Session(place.server.url) as session:
        session.open("tokens")
        with pytest.raises(ConnectionClosed):
            session.set("text_a", "word " * 6_000_000)


def test_an_address_that_no_browser_sends_is_not_read(intruder: Session, place: Place) -> None:
    intruder.open("tokens", urllib.parse.urlencode({"text_a": "word " * 400_000}))
    assert intruder.errors == []
    assert b"word word" not in b"".join(intruder.messages)
    assert "ignored: an address that no browser sends" in place.log


# ---- uploads ----


@pytest.fixture
def upload(place: Place) -> Callable[..., tuple[int, str]]:
    """Send a file to the upload endpoint, as a browser does."""
    return UploadClient(place.server.url).send


BOX = "heads_upload"
"""The box of FILE, a page with one."""
FILE = ("heads", "heads_source=file")


def test_a_name_of_a_file_reaches_no_log(
    place: Place, upload: Callable[..., tuple[int, str]]
) -> None:
    with Session(place.server.url) as session:
        session.open(*FILE)
        assert upload(session.id, "mine", b"x")[0] == 204
        state = WidgetState(id=session.widgets[BOX].id)
        file = state.file_uploader_state_value.uploaded_file_info.add()
        file.file_id, file.name, file.size = "mine", f"a.{FORGED}", 1
        session._run(session.widgets[BOX].fragment, state)
        for name in ("a.zip", f"a.{TEXT}", "a.zip%0Aforged", "../../a.zip", "a\\\\.zip"):
            assert upload(session.id, "mine", b"x", file_name=name)[0] == 204
            session.attach(BOX, "mine")
        assert not [error for error in session.errors if "has encountered" in error]
    assert "forged" not in place.log


def test_uploads_have_limits(place: Place, upload: Callable[..., tuple[int, str]]) -> None:
    with Session(place.server.url) as session:
        session.open(*FILE)
        assert upload("no-such-session", "a", b"x")[0] == 400
        assert upload(session.id, "a", b"x", **{"X-Xsrftoken": "no"})[0] == 403
        assert upload(session.id, "a", b"x", Origin="http://evil.example.org")[0] == 403
        assert upload(session.id, "a", b"x", **{"Content-Length": "64000000"})[0] == 413
        assert upload(session.id, "a", b"x", **{"Content-Length": "-1"})[0] in (400, 411)
        answers = [upload(session.id, f"file-{number}", b"x") for number in range(11)]
        assert [status for status, _ in answers] == [204] * 10 + [429]
        assert "10 files" in answers[-1][1]
        assert upload(session.id, "file-3", b"y")[0] == 204  # in place of the one before
    assert "refused: an upload" in place.log


# ---- names and origins ----


def opened(place: Place, **headers: str) -> int:
    """Return the status with which a websocket is opened."""
    try:
        with Session(place.server.url, headers=headers):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def test_other_names_and_origins_are_refused(place: Place) -> None:
    host = place.server.url.removeprefix("http://")
    assert opened(place) == 101
    assert opened(place, Origin=place.server.url) == 101
    for origin in (
        "http://evil.example.org",
        "null",
        f"http://{host}.evil.org",
        "http://localhost",
    ):
        assert opened(place, Origin=origin) == 403, origin
    for name in ("evil.example.org", "localhost.evil.org", "127.0.0.1.evil.org", "a@localhost", ""):
        status, said = request(place.server.url, "GET", "/", headers={"Host": name})
        assert status in (400, 421), name
        assert "<html" not in said
    assert request(place.server.url, "GET", "/", headers={"Host": "192.168.7.7:8501"})[0] == 200
    assert request(place.server.url, "GET", "/_stcore/metrics")[0] == 404
    for method, name in (("GET", "openapi.json"), ("POST", "interact"), ("POST", "mcp")):
        assert request(place.server.url, method, f"/_stcore/agent/{name}")[0] == 404
    assert request(place.server.url, "GET", "/_stcore/health")[0] == 200


def test_no_path_of_the_address_leads_to_a_file(place: Place) -> None:
    law = "law/model.safetensors"
    for path in (f"/{law}", f"/media/../{law}", f"/static/..%2f..%2f{law}", f"/app/static/{law}"):
        status, said = request(place.server.url, "GET", path)
        assert status in (400, 403, 404) or "<!doctype html>" in said.lower(), path


def test_a_message_that_is_none(place: Place) -> None:
    with Session(place.server.url) as session:
        session._socket.send(b"\xff" * 1000)
    with Session(place.server.url) as session:
        message = BackMsg()
        message.load_git_info = True
        session._socket.send(message.SerializeToString())
        message = BackMsg()
        message.debug_shutdown_runtime = True
        session._socket.send(message.SerializeToString())


def test_messages_for_the_owner_are_not_handled(place: Place) -> None:
    with Session(place.server.url, keeps_messages=True) as intruder:
        intruder.open("tokens")
        for kind in ("clear_cache", "load_git_info", "install_skills"):
            ignored = place.log.count("visitors may not send")
            message = BackMsg()
            if kind == "install_skills":
                message.backend_operation_request.install_skills.SetInParent()
            else:
                setattr(message, kind, True)
            intruder._socket.send(message.SerializeToString())
            intruder.set("text_a", f"The river {kind}.")
            assert place.log.count("visitors may not send") == ignored + 1
            assert intruder.errors == []
        kinds = {ForwardMsg.FromString(sent).WhichOneof("type") for sent in intruder.messages}
        assert "git_info_changed" not in kinds


LONGEST_EDIT = 2.0
"""Seconds, on a machine that does other things; alone it takes 0.2 s."""
HOLDING: list[tuple[str, Callable[[], bytes], str]] = [
    ("a.csv", lambda: (b'x","abc\n' * 30_000)[:190_000], "quotation mark that is not closed"),
    ("a.csv", lambda: (b'"a,' * 70_000)[:190_000], ""),
    ("a.json", lambda: b"[" * 190_000, "not valid JSON"),
    (
        "a.json",
        lambda: json.dumps({f"c{i}": {str(i): 0} for i in range(11_000)}).encode(),
        "expected at most 2,000",
    ),
    ("a.zip", lambda: zipped_names(3000), "zip archive of thousands of files"),
    ("a.parquet", lambda: b"PAR1" + b"\xff" * 190_000 + b"PAR1", "cannot be read as Parquet"),
]
"""Tables of 0.2 MB that took minutes, or all memory; and what is said of those that do not open."""


def zipped_names(number: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for i in range(number):
            archive.writestr(f"{'a' * 50}{i}", b"")
    return out.getvalue()


def test_others_edit_while_hostile_tables_are_read(
    place: Place, upload: Callable[..., tuple[int, str]]
) -> None:
    with edits(place.server.url) as seconds:
        for number, (name, content, said) in enumerate(HOLDING):
            with Session(place.server.url) as session:
                session.open("inspect", FILE_VIEW)
                status, _ = upload(session.id, f"mine-{number}", content(), file_name=name)
                assert status == 204
                session.attach("inspect_upload", f"mine-{number}", name)
                errors = [error.replace("\\", "") for error in session.errors]
                assert all(said in error for error in errors), errors
    assert max(seconds) < LONGEST_EDIT, sorted(seconds)[-5:]


@pytest.fixture(scope="module")
def trainer() -> Iterator[Running]:
    """A closed server that lets visitors train, and closes the sessions of tabs after seconds."""
    with running_app(
        arguments=["--address", "0.0.0.0", "--training-minutes", "10"],
        STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="3",
    ) as server:
        yield server


def copies(trainer: Running) -> list[Path]:
    """Return the copies of uploads on the disk of the server, of all visits."""
    visits = Path(tempfile.gettempdir()).glob(f"bertscope-visits-*/{trainer.process}-*/visit-*")
    return [path for visit in visits for path in visit.glob("copies/*")]


def until_refused(session: Session) -> None:
    """Wait for the work that reads a file, if it is read in the background."""
    while session.progress and not session.errors:
        session.tick()
        if any(name.startswith("arrived_") for name in session.containers):
            session._run()


CORPUS = f"{TRAIN}&training_kind=pretrain&corpus=upload"
TIMES = 11
"""Once more than a visitor may have files."""
REFUSED = [
    ("inspect", FILE_VIEW, "inspect_upload", "a.csv", TIMES),
    ("inspect", FILE_VIEW, "inspect_upload", "a.csv.gz", TIMES),
    ("heads", "heads_source=file", "heads_upload", "a.csv", TIMES),
    ("training", CORPUS, "corpus_upload", "a.txt", 3),
]


@pytest.mark.parametrize(("page", "query", "box", "name", "times"), all_but(REFUSED[:1], REFUSED))
def test_of_a_file_that_a_page_refuses_the_sentence_alone_is_kept(
    page: str, query: str, box: str, name: str, times: int, trainer: Running
) -> None:
    """A visitor may have ten files in memory; each refused one would be another."""
    content = b"\xff\0" if page == "training" and "pretrain" in query else b"a," * 5000
    before = copies(trainer)
    upload = UploadClient(trainer.url).send
    with Session(trainer.url) as session:
        session.open(page, query)
        for number in range(times):
            session.errors.clear()
            assert upload(session.id, f"file-{number}", content, file_name=name) == (204, "")
            session.attach(box, f"file-{number}", name)
            until_refused(session)
            (refusal,) = session.errors
            assert copies(trainer) == before
        session.errors.clear()
        session._run()
        assert session.errors == [refusal]


SOUND = [
    ("inspect", FILE_VIEW, "inspect_upload", b"text,label\ngood,positive\n"),
    ("training", CORPUS, "corpus_upload", b"One.\n\nTwo.\n"),
]


@pytest.mark.parametrize(("page", "query", "box", "content"), all_but(SOUND[:1], SOUND))
def test_a_file_goes_with_the_one_that_takes_its_place(
    page: str, query: str, box: str, content: bytes, trainer: Running
) -> None:
    """From memory, of which a visitor has room for ten files, and from the disk."""
    name = "a.txt" if box == "corpus_upload" else "a.csv"
    before = len(copies(trainer))
    upload = UploadClient(trainer.url).send
    with Session(trainer.url) as session:
        session.open(page, query)
        for number in range(11):
            assert upload(session.id, f"file-{number}", content, file_name=name) == (204, "")
            session.attach(box, f"file-{number}", name)
            assert session.errors == []
            assert len(copies(trainer)) == before + 1
        session.open("tokens")
        session.open(page, query)
        assert any("Your last file is still here" in text for text in session.texts)
        refused = b"\xff\0" if name == "a.txt" else b"a," * 5000
        assert upload(session.id, "last", refused, file_name=name) == (204, "")
        session.attach(box, "last", name)
        until_refused(session)
        assert len(copies(trainer)) == before


def test_a_file_goes_with_its_tab_though_the_visit_goes_on(trainer: Running) -> None:
    """Of the first session too, which is out of the garbage collector's rounds."""
    before = set(copies(trainer))
    with Session(trainer.url) as session:
        page, query, box, content = SOUND[0]
        session.open(page, query)
        status, _ = UploadClient(trainer.url).send(session.id, "file", content, file_name="a.csv")
        assert status == 204
        session.attach(box, "file", "a.csv")
        (copy,) = {*copies(trainer)} - before
    end = time.monotonic() + 30
    while copy.exists():
        assert time.monotonic() < end
        time.sleep(0.2)
    assert copy.parents[1].is_dir()


def test_an_upload_without_room_is_refused_before_it_is_sent(trainer: Running) -> None:
    """By what its visit has on the disk, too, which Streamlit no longer keeps."""
    client, table = UploadClient(trainer.url), b"text,label\n" + b"a,positive\n" * 160_000
    with Session(trainer.url) as session:
        session.open("inspect", "checkpoint=sentiment&inspect_view=file")
        assert client.send(session.id, "file", table, file_name="a.csv") == (204, "")
        session.attach("inspect_upload", "file", "a.csv")
        (kept,) = [path for path in copies(trainer) if session_has(path, table)]
        with (kept / "large").open("wb") as more:
            more.truncate(180_000_000)
        netloc = urllib.parse.urlsplit(trainer.url).netloc
        connection = http.client.HTTPConnection(netloc, timeout=60)
        connection.putrequest("PUT", f"/_stcore/upload_file/{session.id}/next")
        connection.putheader("Content-Length", "50000000")
        connection.endheaders(b"a" * 1000)
        answer = connection.getresponse()
        assert answer.status == 413
        assert b"of which yours use 18" in answer.read()
        connection.close()


def session_has(copy: Path, content: bytes) -> bool:
    return any(path.stat().st_size == len(content) for path in copy.iterdir())
