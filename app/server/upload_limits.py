"""Limits on what visitors of a closed server send to Streamlit's upload endpoint.

A client can use it without any upload box, as often as it likes; Streamlit limits the size of one
file, and keeps all files in memory until the session ends.
"""

import asyncio
import logging
import re
import shutil
import tempfile
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import cookies, sessions, visits
from .door import refuse
from .gate import network_of
from .policy import UploadLimits
from .streamlit_internals import cookies_of, uploads

log = logging.getLogger("bertscope.app")

_UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/([^/]+)")
AT_ONCE = 2  # most uploads of one visitor in progress at once
AT_ONCE_OF_NETWORK = 15  # a visitor is a cookie, which costs nothing
AT_ONCE_OF_ALL = 20
WAIT_SECONDS = 30.0
"""That an upload may take, besides that of its bytes at SLOWEST: one that stalls keeps the place of
others, and its bytes count against the memory."""
SLOWEST = 20_000  # bytes a second
TOO_SLOW = "The upload stood still for too long. Send it again, over a faster connection."
MEMORY_OF_UPLOAD = 4
"""Bytes of memory that a byte of an upload may take: as it is received, on a disk in memory (tmpfs)
as in a container, opened once in a process of its own, and opened here."""
_WHAT_TO_DO = (
    "It was not kept. Send a smaller one, remove a file, or try again in ten minutes, when others "
    "may have left."
)
MAX_REFUSED = 1000
refused: dict[str, str] = {}  # session -> why its last upload was refused, until its page shows it
_OVERHEAD = 10_000  # bytes that a form adds to its file


@dataclass(frozen=True, slots=True, eq=False)
class _OnItsWay:
    """An upload in progress."""

    visitor: str
    network: str
    num_bytes: int


class UploadLimit:
    """ASGI middleware that refuses uploads beyond the limits of this server.

    A visitor is a browser, in however many tabs, or one session of a client without a cookie.
    """

    def __init__(self, app: ASGIApp, *, limits: UploadLimits) -> None:
        self.app = app
        self.limits = limits
        self._visitors: dict[str, str] = {}
        """By session, also for one whose connection has ended but whose files are still kept."""
        self._on_their_way: set[_OnItsWay] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it in one sentence."""
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        upload = _UPLOAD.fullmatch(scope["path"]) if is_put else None
        if upload is None:
            await self.app(scope, receive, send)
            return
        session, file = upload.groups()
        headers = Headers(scope=scope)
        # The length of a body in chunks is what is sent, whatever the header says.
        length = "" if "transfer-encoding" in headers else headers.get("content-length", "")
        visitor = self._visitor(session)
        network = network_of((scope.get("client") or ("",))[0])
        refusal = self._refusal(visitor, network, session, file, length)
        if refusal is not None:
            await _refuse(scope, receive, send, session, *refusal)
            return
        on_its_way = _OnItsWay(visitor, network, int(length))
        self._on_their_way.add(on_its_way)
        try:
            await _pass_in_time(self.app, scope, receive, send)
        except TimeoutError:
            await _refuse(scope, receive, send, session, 408, TOO_SLOW)
        except ClientDisconnect:  # logged with its traceback, which must not fill the disk
            pass
        finally:
            self._on_their_way.discard(on_its_way)
            sessions.watch(session)
            if visitor_of(session) is None:  # it left meanwhile: nobody would remove the file
                uploads().remove_file(session, file)

    def _visitor(self, session: str) -> str:
        """Return the visitor of a session, and forget those of sessions without files."""
        storage = uploads().file_storage
        self._visitors = {name: who for name, who in self._visitors.items() if name in storage}
        visitor = visitor_of(session) or self._visitors.get(session, session)
        self._visitors[session] = visitor
        return visitor

    def _refusal(
        self, visitor: str, network: str, session: str, file: str, length: str
    ) -> tuple[int, str] | None:
        limits = self.limits
        if not (length.isascii() and length.isdecimal()) or len(length) > 15:
            return 411, "An upload must state its size in bytes."
        num_bytes = int(length)
        if num_bytes > limits.megabytes * 2**20 + _OVERHEAD:  # as the upload boxes count
            return 413, f"This server takes files of up to {limits.megabytes} MB."
        on_their_way = [u.num_bytes for u in self._on_their_way if u.visitor == visitor]
        of_network = sum(upload.network == network for upload in self._on_their_way)
        if (
            len(on_their_way) >= AT_ONCE
            or of_network >= AT_ONCE_OF_NETWORK
            or len(self._on_their_way) >= AT_ONCE_OF_ALL
        ):
            return 429, "Too many uploads are in progress. Try again when they have finished."
        kept = _kept()
        kept.pop((session, file), None)  # the new one takes its place
        own = [size for (name, _), size in kept.items() if self._visitors.get(name) == visitor]
        own += on_their_way
        if len(own) >= limits.files:
            return 429, f"This server keeps {limits.files} files per visitor. Remove one first."
        used = sum(own) + visits.bytes_of(session)
        if used + num_bytes > limits.megabytes_of_visitor * 1e6:
            return 413, (
                f"This server keeps {limits.megabytes_of_visitor} MB per visitor, of which yours "
                f"use {used / 1e6:.0f}. Remove a file first, or end your visit."
            )
        coming = num_bytes + sum(upload.num_bytes for upload in self._on_their_way)
        held = sum(kept.values()) + visits.bytes_of_all()
        if held + coming > limits.megabytes_of_all * 1e6:
            return 507, (
                f"This server has no room left for a file of {num_bytes / 1e6:.0f} MB: it holds "
                f"{held / 1e6:.0f} of the {limits.megabytes_of_all} MB that all visitors together "
                f"may send. {_WHAT_TO_DO}"
            )
        free = shutil.disk_usage(tempfile.gettempdir()).free - num_bytes
        if free < limits.megabytes_left_free * 1e6:
            return 507, (
                f"This server has no room left on its disk for a file of {num_bytes / 1e6:.0f} MB: "
                f"{limits.megabytes_left_free} MB of it stay free. {_WHAT_TO_DO}"
            )
        free, needed = _free_memory(), MEMORY_OF_UPLOAD * coming
        if free - needed < limits.megabytes_of_memory_left * 1e6:
            return 507, (
                f"This server has {free / 1e6:.0f} MB of memory left, of which "
                f"{limits.megabytes_of_memory_left} MB stay free; a file of "
                f"{num_bytes / 1e6:.0f} MB and those on their way may take {needed / 1e6:.0f} MB. "
                f"{_WHAT_TO_DO}"
            )
        return None


async def _pass_in_time(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Pass an upload on while its bytes come; TimeoutError if they come slower than SLOWEST."""
    loop = asyncio.get_running_loop()
    began, num_bytes = loop.time(), 0
    async with asyncio.timeout_at(began + WAIT_SECONDS) as limit:

        async def receive_in_time() -> Message:
            nonlocal num_bytes
            message = await receive()
            num_bytes += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            limit.reschedule(None if is_whole else began + WAIT_SECONDS + num_bytes / SLOWEST)
            return message

        await app(scope, receive_in_time, send)


async def _refuse(
    scope: Scope, receive: Receive, send: Send, session: str, status: int, sentence: str
) -> None:
    log.warning("refused: an upload (%d)", status)
    # Its upload box says only that the request failed with a status; see browser/signals.py.
    while len(refused) >= MAX_REFUSED:
        refused.pop(next(iter(refused)), None)
    refused[session] = sentence
    await refuse(scope, receive, send, status, sentence)


def _free_memory() -> int:
    """Return the bytes that this machine, or the limit of its control group, has left."""
    import torch  # a visitor's page has imported it; the server's start need not wait for it

    from bertcore.base.memory import free_memory

    return free_memory(torch.device("cpu"))


def visitor_of(session: str) -> str | None:
    """Return the name of a connected session's visitor: its cookie's, or its own."""
    sent = cookies_of(session)
    return None if sent is None else cookies.visit_of(sent) or session


def _kept() -> dict[tuple[str, str], int]:
    """Return the bytes of all files by their session and id."""
    storage = uploads().file_storage
    return {
        (session, name): len(file.data)
        for session, files in [*storage.items()]
        for name, file in [*files.items()]
    }
