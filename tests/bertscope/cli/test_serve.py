"""`bertscope app` for a class: what its options state to the app."""

import os
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from bertscope.cli.commands import open_app
from tests.support.cases import cases
from tests.support.command_line import app, refusal

runner = CliRunner()


class Started:
    """What would have run in place of the command."""

    def __init__(self) -> None:
        self.command: list[str] = []
        self.environment: dict[str, str] = {}

    def __call__(self, command: list[str], environment: dict[str, str]) -> None:
        self.command, self.environment = command, environment


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    for name in [name for name in os.environ if name.startswith("BERTSCOPE_")]:
        monkeypatch.delenv(name)
    made = Started()
    monkeypatch.setattr(open_app, "check_port", lambda *_: None)
    monkeypatch.setattr(open_app, "_replace_process", made)
    return made


def stated(started: Started) -> dict[str, str]:
    """The variables of the policy."""
    names = ("ACCESS", "CHECKPOINTS", "ALLOW_TRAINING", "KEY", "HOSTS", "NO_TRAINING")
    found = {name: started.environment.get(f"BERTSCOPE_{name}") for name in names}
    return {name: value for name, value in found.items() if value}


@pytest.mark.parametrize("words", [[], ["app"], ["app", "--address", "0.0.0.0"]])
def test_nothing_is_stated_of_itself(started: Started, words: list[str]) -> None:
    assert runner.invoke(app, words).exit_code == 0
    assert stated(started) == {}


def test_all_options_reach_the_app(started: Started, tmp_path: Path) -> None:
    key = tmp_path / "key.txt"
    key.write_text("the river bank\n", encoding="utf-8")
    words = ["app", "--address", "0.0.0.0", "--closed", "--checkpoints", str(tmp_path)]
    words += ["--training-minutes", "2.5", "--key-file", str(key)]
    result = runner.invoke(app, [*words, "--host", "a.example.org", "--host", "*.b.example"])
    assert result.exit_code == 0, result.stderr
    assert stated(started) == {
        "ACCESS": "closed",
        "CHECKPOINTS": str(tmp_path.resolve()),
        "ALLOW_TRAINING": "2.5",
        "KEY": "the river bank",
        "HOSTS": "a.example.org,*.b.example",
    }
    assert "the river bank" not in " ".join(started.command) + result.stdout


@pytest.mark.parametrize(("named", "opened"), [(".", os.getcwd()), ("qa", "qa"), ("a/b", "a/b")])
def test_the_app_opens_with_a_folder_or_name(started: Started, named: str, opened: str) -> None:
    assert runner.invoke(app, ["app", "--checkpoint", named]).exit_code == 0
    assert started.environment["BERTSCOPE_CHECKPOINT"] == opened


@pytest.mark.parametrize(("words", "said"), cases("contradictions_of_app"))
def test_a_contradiction_is_one_sentence(started: Started, words: list[str], said: str) -> None:
    result = runner.invoke(app, ["app", "--address", "0.0.0.0", *words])
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert started.command == []


def test_a_name_closes_a_server_on_localhost(started: Started, tmp_path: Path) -> None:
    words = ["app", "--host", "abc.ngrok.io"]
    closed = runner.invoke(app, [*words, "--checkpoints", str(tmp_path)])
    assert closed.exit_code == 0, closed.stderr  # an option of a closed server
    assert runner.invoke(app, [*words, "--open", "--checkpoints", "."]).exit_code == 2


def test_a_base_path_reaches_streamlit(started: Started) -> None:
    assert runner.invoke(app, ["app", "--base-path", "/user/ada/bert/"]).exit_code == 0
    assert started.command[-1] == "--server.baseUrlPath=user/ada/bert"
    for wrong in ("http://class.example.org/bert", "a//b", "a b", "a?b"):
        said = refusal("app", "--base-path", wrong)
        assert "expected the path of the app's address alone" in said
    assert runner.invoke(app, ["app"]).exit_code == 0
    assert not any("baseUrlPath" in word for word in started.command)


def test_a_key_file_is_read_as_editors_write_it(started: Started, tmp_path: Path) -> None:
    key = tmp_path / "key.txt"
    key.write_bytes("\ufeffder Fluß fließt\r\n".encode())
    assert runner.invoke(app, ["app", "--key-file", str(key)]).exit_code == 0
    assert stated(started)["KEY"] == "der Fluß fließt"
    key.write_bytes("der Fluß fließt".encode("latin-1"))
    said = refusal("app", "--key-file", key)
    assert "key.txt is not a text in UTF-8" in said
    assert "der Flu" not in said


def test_the_key_is_handed_over_in_a_pipe() -> None:
    given = {"PATH": "/bin", "BERTSCOPE_KEY": "the river bank"}
    environment, descriptors = open_app.hand_over(given)
    descriptor = int(environment.pop("BERTSCOPE_KEY_DESCRIPTOR"))
    assert environment == {"PATH": "/bin"}
    assert descriptors == [descriptor]
    with open(descriptor) as pipe:
        assert pipe.read() == "the river bank"
    assert open_app.hand_over({"PATH": "/bin"}) == ({"PATH": "/bin"}, [])


@pytest.mark.parametrize(("words", "is_given"), [(["--closed"], False), (["--open"], True)])
def test_a_closed_server_gets_no_other_secret(
    words: list[str], is_given: bool, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("MY_API_KEY", "secret")
    assert runner.invoke(app, ["app", *words]).exit_code == 0
    assert ("HF_TOKEN" in started.environment) == is_given
    assert ("MY_API_KEY" in started.environment) == is_given
    assert "PATH" in started.environment


@pytest.mark.parametrize(
    ("words", "spins"),
    [
        ([], "3000"),
        (["--closed"], None),
        (["--address", "0.0.0.0"], None),
    ],
)
def test_threads_spin_for_one_visitor_and_not_for_many(
    words: list[str], spins: str | None, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    assert runner.invoke(app, ["app", *words]).exit_code == 0
    assert started.environment.get("GOMP_SPINCOUNT") == spins
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    assert runner.invoke(app, ["app", *words]).exit_code == 0
    assert "GOMP_SPINCOUNT" not in started.environment


def test_a_class_reaches_the_app_and_its_links_are_printed(
    started: Started, tmp_path: Path
) -> None:
    words = ["app", "--address", "0.0.0.0", "--host", "bert.example.org", "--class", "NLP, 2"]
    visitors = tmp_path / "key.txt"
    visitors.write_text("four & words", encoding="utf-8")
    words += ["--key-file", str(visitors)]
    result = runner.invoke(app, [*words, "--class-file", str(tmp_path / "a.sqlite")])
    assert result.exit_code == 0, result.stderr
    assert started.environment["BERTSCOPE_CLASS"] == "NLP, 2"
    assert started.environment["BERTSCOPE_CLASS_FILE"] == str(tmp_path / "a.sqlite")
    key = started.environment["BERTSCOPE_CLASS_KEY"]
    assert result.stdout.count(key) == 1, "a key that is made is told once"
    assert len(key) == 14
    assert "http://bert.example.org:8501/class#key=four%20%26%20words\n" in result.stdout
    assert "http://bert.example.org:8501/lessons#key=four%20%26%20words\n" in result.stdout
    assert started.environment["BERTSCOPE_URL"] == "http://bert.example.org:8501"
    assert runner.invoke(app, words).exit_code == 0
    assert started.environment["BERTSCOPE_CLASS_KEY"] != key
    assert "BERTSCOPE_CLASS_FILE" not in started.environment


def test_a_teachers_key_that_is_given_is_not_printed(started: Started, tmp_path: Path) -> None:
    key = tmp_path / "key.txt"
    key.write_text("the teacher's key\n", encoding="utf-8")
    words = ["app", "--closed", "--class", "NLP", "--class-key-file", str(key)]
    result = runner.invoke(app, words)
    assert started.environment["BERTSCOPE_CLASS_KEY"] == "the teacher's key"
    assert "the teacher's key" not in result.stdout


@pytest.mark.parametrize(
    ("address", "port", "hosts", "base", "url"),
    [
        ("127.0.0.1", 8501, (), "", "http://127.0.0.1:8501"),
        ("::1", 8501, (), "bert", "http://[::1]:8501/bert"),
        ("0.0.0.0", 443, ("a.example.org", "b"), "", "https://a.example.org"),
        ("0.0.0.0", 8501, (), "", "http://192.168.1.7:8501"),
    ],
)
def test_links_lead_to_the_server(
    address: str,
    port: int,
    hosts: tuple[str, ...],
    base: str,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(open_app, "own_address", lambda: "192.168.1.7")
    assert open_app.reached_at(address, port, hosts, base) == url


@pytest.mark.parametrize(
    ("cards", "found"),
    [
        ({"lo": "127.0.0.1", "docker0": "172.17.0.1", "wlan0": "192.168.1.7"}, "192.168.1.7"),
        ({"en0": "169.254.3.3", "en1": "10.0.0.5", "utun3": "10.8.0.2"}, "10.0.0.5"),
        ({"eth0": "192.0.2.200", "eth1": "10.0.0.5"}, "192.0.2.200"),
        ({"lo": "127.0.0.1"}, "192.0.2.200"),
        ({"eth0:down": "10.0.0.9", "wlan0": "10.0.0.5"}, "10.0.0.5"),
    ],
)
def test_phones_get_the_address_of_a_real_card(
    cards: dict[str, str], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The route leads to 192.0.2.200: a real card's, or that of a VPN."""
    addresses = {
        name: [SimpleNamespace(family=socket.AF_INET, address=one)] for name, one in cards.items()
    }
    stats = {name: SimpleNamespace(isup=not name.endswith("down")) for name in cards}
    monkeypatch.setattr(open_app.psutil, "net_if_addrs", lambda: addresses)
    monkeypatch.setattr(open_app.psutil, "net_if_stats", lambda: stats)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: None)
    monkeypatch.setattr(socket.socket, "getsockname", lambda _: ("192.0.2.200", 1))
    assert open_app.own_address() == found
