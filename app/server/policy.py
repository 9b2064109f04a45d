"""The policy of this server: what its visitors may open, upload and train.

`bertscope app` passes it in environment variables. A server that is started without them, by
`streamlit run`, is closed unless it listens only to this computer: if unset, Streamlit's
`server.address` means every network that reaches the machine. One that listens only to this
computer but has another name is reached through a proxy or tunnel, and is closed too.
"""

import ctypes
import functools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import streamlit as st

from .host_names import check_host, is_loopback

ACCESS = "BERTSCOPE_ACCESS"  # environment variable: "open" or "closed"; unset, the address decides
CHECKPOINT_VARIABLE = "BERTSCOPE_CHECKPOINT"
"""Environment variable naming the folder or hub id that opens instead of the shipped one."""
CHECKPOINTS = "BERTSCOPE_CHECKPOINTS"
"""Environment variable: folder of the checkpoints that visitors of a closed server may open."""
ALLOW_TRAINING = "BERTSCOPE_ALLOW_TRAINING"
"""Environment variable: minutes that a visitor's run on a closed server may take; unset, none."""
KEY = "BERTSCOPE_KEY"  # environment variable: key of the class, which visitors must enter
CLASS = "BERTSCOPE_CLASS"  # environment variable: name of the class whose answers are collected
CLASS_KEY = "BERTSCOPE_CLASS_KEY"  # environment variable: key of its page, which the teacher enters
CLASS_FILE = "BERTSCOPE_CLASS_FILE"
"""Environment variable: file that keeps its answers; unset, nothing is kept after the end."""
LESSONS = "BERTSCOPE_LESSONS"  # environment variable: folder of lessons beside the shipped ones
URL = "BERTSCOPE_URL"
"""Environment variable: address at which phones reach the server, as the command chose it."""
SECRETS = ("TOKEN", "SECRET", "PASSWORD", "_KEY")
"""Ends of the names of variables that a closed server does not keep, such as HF_TOKEN."""
HOSTS = "BERTSCOPE_HOSTS"
"""Environment variable: names under which visitors reach the server, separated by commas."""

MAX_CLASS_NAME = 60  # characters
CLASS_PARAMETERS = 1_000_000  # of a model that a learner trains
MIN_KEY_LENGTH = 8  # at 300 guesses a minute, a shorter one could be found within a term
MIN_CLASS_KEY_LENGTH = 12  # of the teacher, whose key is guessed as fast as the server computes


@dataclass(frozen=True, slots=True)
class TrainingLimits:
    """What a visitor of a closed server may train."""

    minutes: float
    """Of one run."""
    megabytes: int = 500
    """Of all files of a visitor, and so of a run."""
    runs: int = 1
    """Running at once."""
    parameters: int | None = None
    """Of a model that a run begins; None for no limit besides that of its files."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """What visitors of a closed server may upload."""

    megabytes: int = 60
    """Of one file."""
    files: int = 10
    """Of one visitor, kept at once."""
    megabytes_of_visitor: int = 200
    """Of one visitor: on the disk, and in memory of what was read."""
    megabytes_of_all: int = 4000
    """Of all visitors together."""
    megabytes_left_free: int = 1000
    """On the disk, after an upload."""
    megabytes_of_memory_left: int = 1000
    """Of the machine's memory, or its container's, when an upload has been opened."""


@dataclass(frozen=True, slots=True)
class SchoolClass:
    """A class whose answers to the lessons this server collects."""

    name: str
    key: str = field(repr=False)
    """Of the page that shows them."""
    file: Path | None = None
    """None: they end with the server."""
    url: str = ""
    """At which its phones reach this server; "" if nobody said so."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What this server lets its visitors do."""

    is_closed: bool
    is_local: bool
    """Whether only this computer reaches it."""
    checkpoints: Path | None = None
    """Folder of a closed server's checkpoints, besides the shipped ones."""
    may_train: bool = True
    training: TrainingLimits | None = None
    """None: no limits, and no training at all if `may_train` is False."""
    uploads: UploadLimits | None = None
    """None: no limits besides those of each page."""
    key: str = field(default="", repr=False)
    """Empty: no key is required."""
    hosts: tuple[str, ...] = ()
    """Names that the server answers to; empty: addresses, and the machine's own name."""
    school_class: SchoolClass | None = None
    lessons: Path | None = None
    """Folder of lessons beside those that ship."""
    is_stated: bool = False
    """Whether whoever runs it said open or closed; else its address and names decide."""

    @property
    def is_private(self) -> bool:
        """Whether it is open only because nobody but this computer should reach it."""
        return self.is_local and not (self.is_closed or self.is_stated)

    @property
    def tells_visitors_apart(self) -> bool:
        """Whether each browser is given a cookie."""
        return bool(self.is_closed or self.key or self.school_class)

    @property
    def is_closed_by_name(self) -> bool:
        """Whether it is closed only because it has a name besides localhost."""
        return self.is_local and self.is_closed and not self.is_stated


@functools.cache
def policy() -> Policy:
    """Return the policy of this process, decided at the first call.

    ValueError if an environment variable has an invalid value.
    """
    environ = dict(os.environ)
    for name in (KEY, CLASS_KEY):
        environ[name] = handed_over(name) or environ.get(name, "")
    decided = decide(environ, st.get_option("server.address"))
    for name in list(os.environ):
        if name in (KEY, CLASS_KEY) or (decided.is_closed and name.upper().endswith(SECRETS)):
            _forget(name)
    return decided


def handed_over(name: str) -> str:
    """Return a secret that `bertscope app` passed in a pipe; "" if it passed none.

    So it is not among the variables with which the process begins.
    """
    descriptor = os.environ.pop(f"{name}_DESCRIPTOR", None)
    if descriptor is None:
        return ""
    with open(int(descriptor), encoding="utf-8") as pipe:
        return pipe.read()


def _forget(name: str) -> None:
    """Take a variable out of this process, and out of what /proc/PID/environ has of its start.

    `bertscope app` starts the server without them; `streamlit run` does not.
    """
    if os.name == "posix":
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_void_p
        if address := getenv(os.fsencode(name)):
            ctypes.memset(address, 0, len(ctypes.string_at(address)))
    del os.environ[name]


def decide(environ: Mapping[str, str], address: str | None) -> Policy:
    """Return the policy given by environment variables and an address.

    Args:
        environ: With the variables of this module.
        address: Streamlit's `server.address`; None listens to every network.

    ValueError if a variable has an invalid value.
    """
    access = environ.get(ACCESS, "")
    if access not in ("", "open", "closed"):
        raise ValueError(f"{ACCESS} is {access!r}; expected open or closed, or unset it.")
    is_local = bool(address) and is_loopback(str(address))
    key = environ.get(KEY, "")
    check_key(key)
    hosts = tuple(name.strip() for name in environ.get(HOSTS, "").split(",") if name.strip())
    for name in hosts:
        check_host(name)
    base = Policy(
        False,
        is_local,
        key=key,
        hosts=hosts,
        school_class=_school_class(environ),
        lessons=_folder(environ.get(LESSONS, ""), "lessons"),
        is_stated=access != "",
    )
    if access == "open" or (access == "" and is_local and all(map(is_loopback, hosts))):
        return base
    limits = _training(environ.get(ALLOW_TRAINING, ""))
    if limits is not None and base.school_class is not None:
        limits = replace(limits, parameters=CLASS_PARAMETERS)
    return replace(
        base,
        is_closed=True,
        checkpoints=_folder(environ.get(CHECKPOINTS, ""), "checkpoints"),
        may_train=limits is not None,
        training=limits,
        uploads=UploadLimits(),
    )


def check_key(key: str, least: int = MIN_KEY_LENGTH) -> None:
    """Refuse a key that could be guessed; ValueError if it is too short, but not empty."""
    if key and len(key) < least:
        raise ValueError(
            f"the key has {len(key)} characters; expected at least {least}. Choose a "
            "longer one, such as four words."
        )


def _school_class(environ: Mapping[str, str]) -> SchoolClass | None:
    name, key, file = (environ.get(variable, "") for variable in (CLASS, CLASS_KEY, CLASS_FILE))
    if not name:
        return None
    if len(name) > MAX_CLASS_NAME or not name.strip() or not name.isprintable():
        raise ValueError(
            f"the class is called {name[:MAX_CLASS_NAME]!a}; expected 1 to {MAX_CLASS_NAME} "
            "characters without control characters. Pass another name with --class."
        )
    if not key:
        raise ValueError(
            f"the page of the class has no key. Start it with bertscope app --class, or set "
            f"{CLASS_KEY}."
        )
    check_key(key, MIN_CLASS_KEY_LENGTH)
    if key == environ.get(KEY, ""):
        raise ValueError(
            "the teacher's key is that of the visitors, who could all open the page of the class. "
            "Choose another one."
        )
    path = Path(file).expanduser() if file else None
    return SchoolClass(name.strip(), key, path, environ.get(URL, "").rstrip("/"))


def _folder(name: str, of: str) -> Path | None:
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ValueError(
            f"there is no folder {name!r}. Pass another one with --{of} (BERTSCOPE_{of.upper()})."
        )
    return folder.resolve()


def _training(minutes: str) -> TrainingLimits | None:
    if minutes in ("", "0"):
        return None
    try:
        number = float(minutes)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(
            f"{ALLOW_TRAINING} is {minutes!r}; expected the minutes that a run may take, such as "
            "10."
        )
    return TrainingLimits(minutes=number)


def base_path() -> str:
    """Return the path below which the app is, without slashes at its ends; "" for none."""
    return (st.get_option("server.baseUrlPath") or "").strip("/")


def default_source() -> str:
    """Return the checkpoint that opens first: the setting of the environment, or "default".

    Visitors of a closed server see its name, not its path.
    """
    source = os.environ.get(CHECKPOINT_VARIABLE) or "default"
    return Path(source).name if policy().is_closed else source
