"""A hub on this machine that answers over HTTP as the Hugging Face hub does, for the real library.

Small files are answered by the hub itself under their git id; large ones (LFS) are redirected to a
second server, as to the hub's storage, under their sha256. Each way in which a hub or a line can
fail is a field of `Hub`.
"""

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote, urlparse

import pytest
from huggingface_hub import constants

LARGE = (".safetensors", ".bin", ".gguf", ".h5", ".onnx")
"""Endings of what lies in large-file storage."""
TOKEN = "hf_of_the_user"
_CHUNK = 1 << 14
_FILE = re.compile(r"/(?P<name>.+?)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_API = re.compile(r"/api/models/(?P<name>.+?)(?:/(?P<kind>revision|tree)/(?P<revision>[^/]+))?")


def git_id(content: bytes) -> str:
    """Return the id under which git keeps a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content: bytes) -> str:
    """Return the id of a file in large-file storage."""
    return hashlib.sha256(content).hexdigest()


@dataclass
class Repository:
    """A repository: its revisions, and who may read it."""

    revisions: dict[str, dict[str, bytes]]
    """Branch or tag -> file -> content."""
    is_private: bool = False
    is_gated: bool = False
    num_parameters: int | None = None
    """As the hub counts them in the headers of safetensors."""
    earlier: list[dict[str, bytes]] = field(default_factory=list)
    """Former states of branches, which keep their commits."""

    def commit(self, revision: str) -> str | None:
        """Return the commit of a branch, a tag or itself; None where there is none."""
        if revision in self.revisions:
            return _commit(self.revisions[revision])
        return revision if revision in self._commits() else None

    def files(self, commit: str) -> dict[str, bytes]:
        """Return the files of a commit."""
        return self._commits()[commit]

    def _commits(self) -> dict[str, dict[str, bytes]]:
        return {_commit(files): files for files in (*self.earlier, *self.revisions.values())}


def _commit(files: Mapping[str, bytes]) -> str:
    listed = "".join(f"{file}{sha256(content)}" for file, content in sorted(files.items()))
    return hashlib.sha1(listed.encode()).hexdigest()


@dataclass
class Hub:
    """Repositories by name, what was asked for, and how the hub is broken."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    endpoint: str = ""
    storage: str = ""
    """Address of the large files."""
    requests: list[str] = field(default_factory=list)
    """Method and path of each."""
    fetched: list[str] = field(default_factory=list)
    """Files whose content was sent, or begun."""
    tokens_at_storage: list[str] = field(default_factory=list)
    """Tokens that came where none belong."""
    status: int | None = None
    """Of every answer of the hub in place of the right one."""
    body: bytes = b"{}"
    """The same of its content."""
    only_files: bool = False
    """Whether `status` is that of files alone, and the listing is right."""
    error_headers: dict[str, str] = field(default_factory=dict)
    """Besides `status`."""
    silent: bool = False
    """It takes requests and does not answer."""
    cut_after: int | None = None
    """Bytes of a large file after which the line breaks."""
    num_cuts: int = 10**9
    """How often it does."""
    altered: dict[str, bytes] = field(default_factory=dict)
    """File -> what is sent in place of the announced content."""
    hold_after: int | None = None
    """Bytes of a large file after which the storage waits for `go_on`."""
    go_on: threading.Event = field(default_factory=threading.Event)

    def add(
        self, name: str, content: Path | Mapping[str, bytes], *, revision: str = "main"
    ) -> Repository:
        """Add the files of a folder, or by name, as a repository or as a revision of one."""
        if isinstance(content, Path):
            content = {file.name: file.read_bytes() for file in content.iterdir()}
        repository = self.repositories.setdefault(name, Repository({}))
        if revision in repository.revisions:
            repository.earlier.append(repository.revisions[revision])
        repository.revisions[revision] = dict(content)
        return repository


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, hub: Hub, *arguments: object) -> None:
        self.hub = hub
        super().__init__(*arguments)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def answer(
        self, body: bytes, headers: Mapping[str, str] | None = None, *, status: int = 200
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, code: str = "", message: str = "") -> None:
        headers = {"X-Error-Code": code, "X-Error-Message": message}
        body = json.dumps({"error": message}).encode()
        self.answer(body, {k: v for k, v in headers.items() if v}, status=status)

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")


class _HubAnswers(_Answers):
    """The hub itself: listings, small files, and where the large ones lie."""

    def do_GET(self) -> None:
        hub, address = self.hub, urlparse(self.path)
        hub.requests.append(f"{self.command} {self.path}")
        if hub.silent:
            time.sleep(1.5)
            self.close_connection = True
            return
        file = _FILE.fullmatch(address.path)
        if hub.status is not None and (file is not None or not hub.only_files):
            self.answer(hub.body, hub.error_headers, status=hub.status)
            return
        match = file or _API.fullmatch(address.path)
        repository = hub.repositories.get(match["name"]) if match is not None else None
        if self.token not in ("", TOKEN):
            self.refuse(401, message="Invalid credentials in Authorization header")
        elif match is None or repository is None or (repository.is_private and not self.token):
            # To whom is not logged in, the hub does not tell which of the two it is.
            status = 404 if self.token else 401
            self.refuse(status, "RepoNotFound", "Invalid username or password.")
        else:
            revision = unquote(match["revision"] or "main")
            commit = repository.commit(revision)
            if commit is None:
                self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            elif file is not None:
                self.send_file(repository, commit, unquote(file["file"]))
            elif match["kind"] == "tree":
                self.send_json([_entry(*item) for item in repository.files(commit).items()])
            else:
                blobs = "blobs" in parse_qs(address.query)
                self.send_json(_info(match["name"], repository, commit, blobs=blobs))

    do_HEAD = do_GET

    def send_json(self, content: object) -> None:
        self.answer(json.dumps(content).encode(), {"Content-Type": "application/json"})

    def send_file(self, repository: Repository, commit: str, file: str) -> None:
        if repository.is_gated:
            status = 403 if self.token else 401
            self.refuse(status, "GatedRepo", "Access to this model is restricted.")
            return
        content = repository.files(commit).get(file)
        headers = {"X-Repo-Commit": commit}
        if content is None:
            headers |= {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}
            self.answer(b"", headers, status=404)
        elif file.endswith(LARGE):
            place = f"{self.hub.storage}/{sha256(content)}?name={file}"
            headers |= {"Location": place, "X-Linked-Etag": f'"{sha256(content)}"'}
            self.answer(b"", headers | {"X-Linked-Size": str(len(content))}, status=302)
        else:
            if self.command == "GET":
                self.hub.fetched.append(file)
            sent = self.hub.altered.get(file, content)
            self.answer(sent, headers | {"ETag": f'"{git_id(content)}"'})


class _StorageAnswers(_Answers):
    """The storage of large files, on another address."""

    def do_GET(self) -> None:
        hub, address = self.hub, urlparse(self.path)
        if self.token:
            hub.tokens_at_storage.append(self.token)
        name = parse_qs(address.query)["name"][0]
        content = hub.altered.get(name, _large(hub, address.path[1:]))
        first = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        hub.fetched += [name] if first == 0 else []
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(content) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        is_cut = hub.cut_after is not None and hub.num_cuts > 0
        last = min(len(content), first + (hub.cut_after or 0)) if is_cut else len(content)
        for start in range(first, last, _CHUNK):
            if hub.hold_after is not None and start >= hub.hold_after:
                self.wfile.flush()
                hub.go_on.wait()
            self.wfile.write(content[start : min(start + _CHUNK, last)])
        if is_cut:
            hub.num_cuts -= 1
            self.close_connection = True


def _large(hub: Hub, wanted: str) -> bytes:
    return next(
        content
        for repository in hub.repositories.values()
        for files in repository.revisions.values()
        for content in files.values()
        if sha256(content) == wanted
    )


def _entry(file: str, content: bytes) -> dict[str, object]:
    entry: dict[str, object] = {"type": "file", "path": file, "size": len(content)}
    entry["oid"] = git_id(_pointer(content)) if file.endswith(LARGE) else git_id(content)
    if file.endswith(LARGE):
        entry["lfs"] = _lfs(content) | {"oid": sha256(content)}
    return entry


def _info(
    name: str, repository: Repository, commit: str, *, blobs: bool = False
) -> dict[str, object]:
    siblings = []
    for file, content in repository.files(commit).items():
        sibling: dict[str, object] = {"rfilename": file}
        if blobs:
            is_large = file.endswith(LARGE)
            sibling["size"] = len(content)
            sibling["blobId"] = git_id(_pointer(content) if is_large else content)
            sibling |= {"lfs": _lfs(content) | {"sha256": sha256(content)}} if is_large else {}
        siblings.append(sibling)
    info: dict[str, object] = {"id": name, "modelId": name, "sha": commit, "siblings": siblings}
    info |= {"private": repository.is_private, "gated": "manual" if repository.is_gated else False}
    if repository.num_parameters is not None:
        count = repository.num_parameters
        info["safetensors"] = {"parameters": {"F32": count}, "total": count}
    return info


def _lfs(content: bytes) -> dict[str, object]:
    return {"size": len(content), "pointerSize": len(_pointer(content))}


def _pointer(content: bytes) -> bytes:
    """Return what git keeps in place of a large file."""
    first = "version https://git-lfs.github.com/spec/v1"
    return f"{first}\noid sha256:{sha256(content)}\nsize {len(content)}\n".encode()


def use_empty_cache(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let the hub's library have an empty cache in a folder, no token and no wait between tries."""
    patch.setattr(constants, "HF_HUB_CACHE", str(folder / "cache"))
    patch.setattr(constants, "HF_TOKEN_PATH", str(folder / "token"))
    patch.setattr(constants, "HF_HUB_OFFLINE", False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_TOKEN"):
        patch.delenv(name, raising=False)
    no_wait = SimpleNamespace(sleep=lambda seconds: None, time=lambda: 0.0)
    patch.setattr("huggingface_hub.file_download.time", no_wait)
    patch.setattr("huggingface_hub.utils._http.time", no_wait)


@contextmanager
def hub_server(port: int = 0) -> Iterator[Hub]:
    """Serve a hub without repositories on this machine."""
    hub = Hub()
    servers = [
        ThreadingHTTPServer(("127.0.0.1", own_port), partial(answers, hub))
        for own_port, answers in ((port, _HubAnswers), (0, _StorageAnswers))
    ]
    hub.endpoint, hub.storage = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    for server in servers:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        for server in servers:
            server.shutdown()
            server.server_close()
