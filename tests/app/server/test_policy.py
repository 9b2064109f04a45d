"""What a server allows, by how it was started."""

import sys
from pathlib import Path

import pytest

from app.server import policy as policies
from app.server.policy import CHECKPOINT_VARIABLE, decide, default_source
from app.server.server import who
from tests.support.run_python import run_python


@pytest.mark.parametrize("address", ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1"])
def test_a_server_for_this_computer_is_open(address: str) -> None:
    decided = decide({}, address)
    assert (decided.is_closed, decided.is_local, decided.may_train) == (False, True, True)
    assert decided.training is None
    assert decided.uploads is None


@pytest.mark.parametrize(
    "address", [None, "", "0.0.0.0", "::", "192.168.0.7", "class.example.org", "localhost.evil.org"]
)
def test_any_other_address_is_closed_and_trains_nothing(address: str | None) -> None:
    decided = decide({}, address)
    assert (decided.is_closed, decided.is_local, decided.may_train) == (True, False, False)
    assert decided.uploads is not None


def test_the_word_of_whoever_starts_it_is_taken() -> None:
    assert not decide({policies.ACCESS: "open"}, "0.0.0.0").is_closed
    assert decide({policies.ACCESS: "closed"}, "localhost").is_closed


def test_another_name_than_localhost_closes_a_server_for_this_computer() -> None:
    for hosts, is_closed in (
        ("abc.ngrok.io", True),
        ("localhost,a.example.org", True),
        ("", False),
    ):
        decided = decide({policies.HOSTS: hosts}, "localhost")
        assert decided.is_closed is decided.is_closed_by_name is is_closed
        assert decided.is_private is not is_closed
    assert decide({policies.HOSTS: "localhost,127.0.0.1"}, "localhost").is_private
    for access in ("open", "closed"):
        stated = decide({policies.HOSTS: "a.org", policies.ACCESS: access}, "localhost")
        assert stated.is_closed == (access == "closed")
        assert (stated.is_private, stated.is_closed_by_name) == (False, False)


def test_the_terminal_tells_who_reaches_a_server_for_this_computer() -> None:
    def told(environ: dict[str, str], address: str = "localhost") -> str:
        return who(decide(environ, address))

    tunnel = {policies.HOSTS: "abc.ngrok.io"}
    assert told({}) == told({}, "0.0.0.0") == ""
    assert "abc.ngrok.io, so it is closed" in told(tunnel)
    assert "Whoever reaches abc.ngrok.io" in told({**tunnel, policies.ACCESS: "open"})
    assert told({**tunnel, policies.ACCESS: "closed"}) == ""


def test_training_has_limits() -> None:
    decided = decide({policies.ALLOW_TRAINING: "2.5"}, None)
    assert decided.may_train
    assert (decided.training.minutes, decided.training.runs) == (2.5, 1)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (policies.ACCESS, "Open", "open or closed"),
        (policies.ACCESS, "1", "open or closed"),
        (policies.ALLOW_TRAINING, "many", "minutes"),
        (policies.ALLOW_TRAINING, "-1", "minutes"),
        (policies.ALLOW_TRAINING, "nan", "minutes"),
        (policies.ALLOW_TRAINING, "inf", "minutes"),
        (policies.CHECKPOINTS, "/no/such/folder", "--checkpoints"),
        (policies.KEY, "1234567", "at least 8"),
    ],
)
def test_a_mistake_stops_the_start(name: str, value: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decide({name: value}, None)


def test_the_key_is_in_no_message(tmp_path: Path) -> None:
    decided = decide({policies.KEY: "river bank", policies.CHECKPOINTS: str(tmp_path)}, None)
    assert decided.key == "river bank"
    assert "river" not in repr(decided)
    with pytest.raises(ValueError, match="7 characters") as error:
        decide({policies.KEY: "riverba"}, None)
    assert "riverba" not in str(error.value)


def test_streamlit_alone_is_closed_unless_it_listens_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(policies.ACCESS)
    for address, is_closed in ((None, True), ("0.0.0.0", True), ("localhost", False)):
        monkeypatch.setattr(policies.st, "get_option", {"server.address": address}.get)
        policies.policy.cache_clear()
        assert policies.policy().is_closed is is_closed
    policies.policy.cache_clear()


def test_default_source_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHECKPOINT_VARIABLE, raising=False)
    assert default_source() == "default"
    monkeypatch.setenv(CHECKPOINT_VARIABLE, "/some/folder")
    assert default_source() == "/some/folder"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("access", ["open", "closed"])
def test_secrets_of_the_start_leave_the_process(access: str) -> None:
    """Also where the server is started by `streamlit run`, with the key in a variable."""
    script = """
import os
import os
import subprocess
import sys
from pathlib import Path
from app.server.policy import policy
assert policy().key == "a key of the class"
print(Path("/proc/self/environ").read_bytes(), sorted(os.environ))
"""
    secrets = {policies.KEY: "a key of the class", "HF_TOKEN": "hf_secret", "OTHER": "stays"}
    told = run_python("-c", script, **secrets, **{policies.ACCESS: access})
    assert "a key of the class" not in told
    assert policies.KEY not in told.rpartition("[")[2]
    assert "OTHER=stays" in told
    assert ("hf_secret" in told) == (access == "open")
    assert ("'HF_TOKEN'" in told) == (access == "open")
