"""`bertscope` and `bertscope app`: open the app in the browser.

The app is a folder beside `bertscope` in a checkout and inside it in a wheel.
Streamlit runs as the process itself (Ctrl+C and signals reach it directly), in the folder where the
user typed the command, so that paths typed in the app mean what they mean in the terminal. Because
Streamlit reads `.streamlit/config.toml` only from that folder, ours is passed as flags.
"""

import errno
import importlib.util
import ipaddress
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NoReturn
from urllib.parse import quote

import psutil
import typer

from bertscope.app_root import find_app_root

DEFAULT_PORT = 8501
DEFAULT_ADDRESS = "localhost"
KEY = "BERTSCOPE_KEY"
CLASS_KEY = "BERTSCOPE_CLASS_KEY"
URL = "BERTSCOPE_URL"
_VIRTUAL = re.compile(
    "docker|br-|veth|virbr|vbox|virtualbox|vmnet|vmware|tun|tap|utun|wg|tailscale|zt|podman|cni",
    re.IGNORECASE,
)
"""Beginnings of the names of network cards that lead to no phone."""
_SECRETS = ("TOKEN", "SECRET", "PASSWORD", "_KEY")
"""Ends of the names of variables that a closed server does not get, such as HF_TOKEN."""
SERVER_THREADS = {
    "OMP_WAIT_POLICY": "PASSIVE",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
"""Variables of the server, unless they are set.

torch's idle threads sleep: by default they spin for a while after each small product, which takes
processor time from the other visitors, up to half of that of an edit. numpy's products are small.
glibc gives each thread an arena of its own, eight per core, and never returns the free end of one,
up to 64 MB: a server whose visitors run in threads kept 0.3 GB in that way.
"""
KEY_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters of a key that is made, none of which looks like another."""
OWN_SERVER = {"GOMP_SPINCOUNT": "3000"}
"""Variables of a server on one's own computer, unless they or `OMP_WAIT_POLICY` are set.

Waking a thread takes longer than a small product. If torch's threads spin briefly between products
(on Linux, where its OpenMP is GNU's), a short text takes 5 ms instead of 15. With many visitors,
each would take time from the others.
"""


@dataclass(frozen=True, slots=True)
class SchoolClass:
    """A class whose answers are collected; see `app/server/policy.py`."""

    name: str
    key: str = field(repr=False)
    """The teacher's."""
    is_made: bool
    """Whether the key is ours, and so has to be told."""
    file: Path | None = None

    def environment(self) -> dict[str, str]:
        """Return the variables that pass it to the server."""
        variables = {"BERTSCOPE_CLASS": self.name, "BERTSCOPE_CLASS_KEY": self.key}
        if self.file is not None:
            variables["BERTSCOPE_CLASS_FILE"] = str(self.file.expanduser().absolute())
        return variables

    def lines(self, url: str, key: str) -> Iterator[str]:
        """Return what is printed at the start: the teacher's page, its key, the link of the class.

        Args:
            url: Of the app, without a slash at the end.
            key: That visitors, the teacher too, are asked for first; the links bring it.
        """
        enter = f"#key={quote(key, safe='')}" if key else ""
        yield f"Class {self.name}. For the teacher alone: {url}/class{enter}"
        if self.is_made:
            yield f"Key of that page: {self.key}"
        yield f"For the class: {url}/lessons{enter}"
        yield "That page has it as a QR code, and a link for each lesson."


@dataclass(frozen=True, slots=True)
class Visitors:
    """What visitors of the server may do, as stated in the command."""

    is_open: bool | None = None
    """None: the address decides."""
    checkpoint: str = ""
    """That opens first: a folder or zip file, a hub id, or the name of a shipped one."""
    checkpoints: Path | None = None
    training_minutes: float | None = None
    """Of a run; 0: nobody trains. None: nobody on a closed server, no limit on an open one."""
    key: str = field(default="", repr=False)
    hosts: tuple[str, ...] = ()
    school_class: SchoolClass | None = None
    lessons: Path | None = None

    def find_open(self, address: str) -> bool:
        """Return whether a server that listens on an address is open; see `access.policy`."""
        if self.is_open is not None:
            return self.is_open
        return all(map(_is_this_computer, (address, *self.hosts)))

    def environment(self, address: str) -> dict[str, str]:
        """Return the variables that pass it to the app; see `app/server/policy.py`.

        Args:
            address: The address on which the server listens.

        ValueError if the settings contradict each other.
        """
        if self.find_open(address) and (self.checkpoints or self.training_minutes):
            raise ValueError(
                "--checkpoints and --training-minutes limit a closed server, but this one is open: "
                "its visitors may open any folder and train. Leave them out, or pass --closed."
            )
        if self.checkpoints is not None and not self.checkpoints.is_dir():
            raise ValueError(f"there is no folder {str(self.checkpoints)!r}. Pass another one.")
        if self.lessons is not None:
            from bertscope.notebook.notebook_view import app_module  # which imports torch

            shipped = app_module("app.shell.guide.catalogue").shipped()
            app_module("app.shell.guide.own_lessons").check(self.lessons, shipped)
        stated = {
            "BERTSCOPE_LESSONS": str(self.lessons.resolve()) if self.lessons else "",
            "BERTSCOPE_ACCESS": {None: "", True: "open", False: "closed"}[self.is_open],
            "BERTSCOPE_CHECKPOINT": self.checkpoint,
            "BERTSCOPE_CHECKPOINTS": str(self.checkpoints.resolve()) if self.checkpoints else "",
            "BERTSCOPE_ALLOW_TRAINING": f"{self.training_minutes:g}"
            if self.training_minutes
            else "",
            "BERTSCOPE_NO_TRAINING": "1" if self.training_minutes == 0 else "",
            KEY: self.key,
            "BERTSCOPE_HOSTS": ",".join(self.hosts),
        }
        if self.school_class is not None:
            stated |= self.school_class.environment()
        return {name: value for name, value in stated.items() if value}


def _is_this_computer(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"


def open_app(
    port: Annotated[int, typer.Option(min=1, max=65535)] = DEFAULT_PORT,
    address: str = DEFAULT_ADDRESS,
    no_browser: Annotated[bool, typer.Option("--no-browser")] = False,
    is_open: Annotated[bool | None, typer.Option("--open/--closed")] = None,
    checkpoint: str = "",
    checkpoints: Path | None = None,
    training_minutes: Annotated[float | None, typer.Option(min=0)] = None,
    key_file: Path | None = None,
    host: list[str] | None = None,
    base_path: str = "",
    class_name: Annotated[str | None, typer.Option("--class", metavar="NAME")] = None,
    class_key_file: Path | None = None,
    class_file: Path | None = None,
    lessons: Path | None = None,
) -> None:
    """Open the app in the browser, or serve it to a class.

    On any address except localhost the server is closed: visitors can open the shipped checkpoints
    and those of --checkpoints, by name, and train only with --training-minutes.

    Args:
        port: Port to listen on.
        address: Address to listen on. localhost: only this computer; 0.0.0.0: the whole network,
            for a class.
        no_browser: Start the server without opening a browser.
        is_open: Whether visitors may open folders of this machine and checkpoints of the hub, and
            train. Default: open on localhost, closed on any other address.
        checkpoint: Checkpoint that opens first: a folder, a zip file, a hub id, or the name of one
            that ships; or the variable BERTSCOPE_CHECKPOINT.
        checkpoints: Folder whose checkpoints and runs visitors of a closed server may open.
        training_minutes: Maximum minutes of a run of a closed server's visitors, who may train one
            at a time, deleted when their visit ends; in a class, a new model has at most 1,000,000
            parameters. 0: nobody trains, on an open server neither. Default: no runs on a closed
            server, no limit on an open one.
        key_file: File with the key that visitors are asked for; or the variable BERTSCOPE_KEY.
        host: Name under which visitors reach the server, such as class.example.org; may be
            repeated. Default: any address, and the names of this machine. With one, also a server
            on localhost is closed unless --open is passed.
        base_path: Path below which a proxy passes the server on with the path as it is, such as
            bert of https://class.example.org/bert/. A proxy that takes the path away (Jupyter's)
            needs none.
        class_name: Name of a class whose answers to the lessons are collected, for a page Class
            with a key of its own. The link of the class is printed.
        class_key_file: File with the key of that page, the teacher's; or the variable
            BERTSCOPE_CLASS_KEY. Default: one is made and printed.
        class_file: File that keeps what the class answers and hands in, and goes on with what it
            has. Default: nothing is kept after the server ends.
        lessons: Folder of lessons of your own (docs/write-a-lesson.md), listed after those that
            ship. Whoever writes them sees each change at once, and what is wrong with a file.

    \b
    Examples:
      bertscope app --checkpoint my-model
      bertscope app --address 0.0.0.0 --no-browser --checkpoints ~/course --key-file key.txt
      bertscope app --address 0.0.0.0 --no-browser --key-file key.txt --class "NLP, group 2"
      bertscope app --address 0.0.0.0 --no-browser --open
    """
    folder = Path(checkpoint).expanduser()
    visitors = Visitors(
        is_open=is_open,
        checkpoint=str(folder.resolve()) if checkpoint and folder.exists() else checkpoint,
        checkpoints=None if checkpoints is None else checkpoints.expanduser(),
        training_minutes=training_minutes,
        key=_key(KEY, key_file),
        hosts=tuple(host or ()),
        school_class=school_class(class_name, _key(CLASS_KEY, class_key_file), class_file),
        lessons=None if lessons is None else lessons.expanduser(),
    )
    serve(
        port=port,
        address=address,
        no_browser=no_browser,
        visitors=visitors,
        base_path=_base_path(base_path),
    )


def _base_path(typed: str) -> str:
    """Return a path without slashes at its ends; not a whole address."""
    path = typed.strip("/")
    if path and not re.fullmatch(r"[\w.~@-]+(/[\w.~@-]+)*", path, re.ASCII):
        raise ValueError(
            f"--base-path is {typed!r}; expected the path of the app's address alone: bert, if "
            "visitors open https://class.example.org/bert/."
        )
    return path


def _key(variable: str, file: Path | None) -> str:
    """Return the key in a file, or in an environment variable; "" if there is none."""
    if file is None:
        return os.environ.get(variable, "")
    try:  # editors on Windows write a byte order mark
        lines = file.expanduser().read_text(encoding="utf-8-sig").strip().splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{file} is not a text in UTF-8; expected one line, the key. Save it as UTF-8."
        ) from error
    if len(lines) != 1:
        raise ValueError(f"{file} has {len(lines)} lines; expected one, the key.")
    return lines[0].strip()


def serve(
    *,
    port: int = DEFAULT_PORT,
    address: str = DEFAULT_ADDRESS,
    no_browser: bool = False,
    visitors: Visitors | None = None,
    base_path: str = "",
) -> None:
    """Run the server instead of this process.

    RuntimeError if Streamlit or the app's files are missing. ValueError if it cannot listen there,
    or the settings contradict each other.
    """
    if importlib.util.find_spec("streamlit") is None:
        raise RuntimeError(
            "the app needs Streamlit, which is not installed here. "
            "Install everything with: pip install bertscope"
        )
    visitors = visitors or Visitors(key=_key(KEY, None))
    root = find_app_root()
    check_port(address, port)
    url = reached_at(address, port, visitors.hosts, base_path)
    if visitors.school_class is not None:
        for line in visitors.school_class.lines(url, visitors.key):
            typer.echo(line)
    environment = {**SERVER_THREADS, **os.environ, **visitors.environment(address), URL: url}
    # app/main.py and the pages import `app`.
    python_path = filter(None, (str(root), os.environ.get("PYTHONPATH")))
    environment["PYTHONPATH"] = os.pathsep.join(python_path)
    is_open = visitors.find_open(address)
    is_own = is_open and _is_this_computer(address)
    if is_own and "OMP_WAIT_POLICY" not in os.environ:
        environment = {**OWN_SERVER, **environment}
    if not is_open:
        environment = {
            name: value
            for name, value in environment.items()
            if name in (KEY, CLASS_KEY) or not name.upper().endswith(_SECRETS)
        }
    command = streamlit_command(
        root, port, address=address, headless=no_browser, base_path=base_path
    )
    _replace_process(command, environment)


def streamlit_command(
    root: Path, port: int, *, address: str, headless: bool, base_path: str = ""
) -> list[str]:
    """Return the command line that serves the app of `root`."""
    flags = [
        f"--server.port={port}",
        f"--server.address={address}",
        f"--server.headless={str(headless).lower()}",
        *([f"--server.baseUrlPath={base_path}"] if base_path else []),
    ]
    # -P: a file app.py in the user's folder must not be taken for our `app`.
    run = [sys.executable, "-P", "-m", "streamlit", "run", str(root / "app" / "main.py")]
    return [*run, *config_flags(root / ".streamlit" / "config.toml"), *flags]


def config_flags(path: Path) -> list[str]:
    """Return Streamlit's command-line flags for every value of a config.toml.

    RuntimeError if the file is missing or is not TOML.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise RuntimeError(
            f"the app's settings {path} cannot be read ({error}). Install BertScope again."
        ) from error
    return _flags_of("", table)


def _flags_of(prefix: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [
            flag for key, entry in value.items() for flag in _flags_of(f"{prefix}.{key}", entry)
        ]
    if isinstance(value, list):  # the theme's lists; Streamlit reads them as JSON
        value = json.dumps(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return [f"--{prefix.removeprefix('.')}={text}"]


def check_port(address: str, port: int) -> None:
    """Make sure that the app can listen on `address` and `port`: Streamlit only logs a line.

    ValueError if the port is taken or not allowed, or the address is not this computer's.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            if os.name != "nt":  # on Windows this option would let two programs share the port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            listener.listen()
    except OSError as error:
        advice = "Pass --address localhost for this computer only or 0.0.0.0 for the network."
        if error.errno == errno.EADDRINUSE:
            advice = f"Stop what uses it, or pass another port: bertscope app --port {port + 1}"
        elif isinstance(error, PermissionError):
            advice = f"Pass a port above 1023: bertscope app --port {DEFAULT_PORT}"
        raise ValueError(
            f"cannot listen on {address}, port {port} ({error.strerror}). {advice}"
        ) from error


def _replace_process(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Run `command` instead of this process."""
    sys.stdout.flush()
    if os.name == "nt":  # exec there starts a second process and gives the terminal back at once
        raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)
    variables, descriptors = hand_over(environment)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    os.execve(command[0], command, variables)


def hand_over(environment: Mapping[str, str]) -> tuple[dict[str, str], list[int]]:
    """Return the environment without secrets, and the pipes from which the next program reads them.

    What a process begins with stays readable in /proc for as long as it runs.
    """
    variables, descriptors = dict(environment), []
    for name in (KEY, CLASS_KEY):
        if value := variables.pop(name, ""):
            reader, writer = os.pipe()
            os.write(writer, value.encode())  # a pipe holds far more
            os.close(writer)
            variables[f"{name}_DESCRIPTOR"] = str(reader)
            descriptors.append(reader)
    return variables, descriptors


def school_class(name: str | None, key: str, file: Path | None) -> SchoolClass | None:
    """Return the class of a command; None without a name.

    Args:
        name: As passed.
        key: Empty for one that is made here.
        file: That keeps the answers.

    ValueError if the name is empty, or there is a key or a file without a name.
    """
    if name is None:
        if key or file:
            raise ValueError("a key or file of a class is given, but no class. Pass --class NAME.")
        return None
    if not name.strip():
        raise ValueError('the name of the class is empty. Pass one: --class "NLP, group 2"')
    made = "-".join("".join(secrets.choice(KEY_LETTERS) for _ in range(4)) for _ in range(3))
    return SchoolClass(name, key or made, not key, file)


def own_address() -> str:
    """Return the address at which phones of its network reach this machine; else its name.

    That of the card which leads to other networks, unless a program made it, as a VPN does; else
    one of a private network.
    """
    route = ""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # an address of documentation: nothing is sent
        route = probe.getsockname()[0]
    cards, found = psutil.net_if_stats(), []
    for name, addresses in psutil.net_if_addrs().items():
        if name in cards and cards[name].isup and not _VIRTUAL.match(name):
            found += [one.address for one in addresses if one.family == socket.AF_INET]
    known = [one for one in map(ipaddress.IPv4Address, found) if not one.is_loopback]
    best = [
        str(one) for one in sorted(known, key=lambda one: (one.is_link_local, not one.is_private))
    ]
    return route if route in best else [*best, route or socket.gethostname()][0]


def reached_at(address: str, port: int, hosts: tuple[str, ...], base_path: str) -> str:
    """Return the address of the app as others type it, as far as it is known here."""
    everywhere = address in ("", "0.0.0.0", "::")
    name = hosts[0] if hosts else own_address() if everywhere else address
    name = f"[{name}]" if ":" in name else name
    scheme, port_of = ("https", "") if hosts and port == 443 else ("http", f":{port}")
    return f"{scheme}://{name}{port_of}" + (f"/{base_path}" if base_path else "")
