"""Limits on what visitors of a closed server send to Streamlit's upload endpoint.

A client can use it without any upload box, as often as it likes; Streamlit limits the size of one
file, and keeps all files in memory until the session ends.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections import Counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from .door import refuse
from .policy import UploadLimits

log = logging.getLogger("bertscope.app")

_UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/([^/]+)")
AT_ONCE = 2
"""Most uploads of one session in progress at once."""
AT_ONCE_OF_ALL = 20
_OVERHEAD = 10_000
"""Bytes that a form adds to its file."""


class UploadLimit:
    """ASGI middleware that refuses uploads beyond the limits of this server."""

    def __init__(self, app: ASGIApp, *, limits: UploadLimits) -> None:
        self.app = app
        self.limits = limits
        self._on_their_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it in one sentence."""
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        upload = _UPLOAD.fullmatch(scope["path"]) if is_put else None
        if upload is None:
            await self.app(scope, receive, send)
            return
        session, file = upload.groups()
        refusal = self._refusal(session, file, Headers(scope=scope).get("content-length", ""))
        if refusal is not None:
            log.warning("refused: an upload (%d)", refusal[0])
            await refuse(scope, receive, send, *refusal)
            return
        self._on_their_way[session] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._on_their_way[session] -= 1
            self._on_their_way += Counter()  # forgets sessions without any

    def _refusal(self, session: str, file: str, length: str) -> tuple[int, str] | None:
        limits = self.limits
        if not length.isdecimal() or len(length) > 15:
            return 411, "An upload must state its size in bytes."
        num_bytes = int(length)
        if num_bytes > limits.megabytes * 2**20 + _OVERHEAD:  # as the upload boxes count
            return 413, f"This server takes files of up to {limits.megabytes} MB."
        if self._on_their_way[session] >= AT_ONCE or self._on_their_way.total() >= AT_ONCE_OF_ALL:
            return 429, "Too many uploads are in progress. Try again when they have finished."
        kept = {name: size for name, size in _kept(session).items() if name != file}
        if len(kept) >= limits.files:
            return 429, f"This server keeps {limits.files} files per visitor. Remove one first."
        if sum(kept.values()) + num_bytes > limits.megabytes_of_visitor * 1e6:
            return 413, (
                f"This server keeps {limits.megabytes_of_visitor} MB per visitor. Remove a file "
                "first."
            )
        free = shutil.disk_usage(tempfile.gettempdir()).free - num_bytes
        if (
            _kept_of_all() + num_bytes > limits.megabytes_of_all * 1e6
            or free < limits.megabytes_left_free * 1e6
        ):
            return 507, "This server has no room left for visitors' files. Try again later."
        return None


def _kept(session: str) -> dict[str, int]:
    """Return the bytes of each file of a session by its id."""
    files = _manager().file_storage.get(session, {})
    return {name: len(file.data) for name, file in [*files.items()]}


def _kept_of_all() -> int:
    sessions = [*_manager().file_storage]
    return sum(sum(_kept(session).values()) for session in sessions)


def _manager() -> MemoryUploadedFileManager:
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager), "Streamlit keeps uploads in memory"
    return manager
