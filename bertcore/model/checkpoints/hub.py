"""Fetch a checkpoint from the Hugging Face hub: the only module that uses the network itself.

Labelled data on the hub is read by the library `datasets`
(`bertcore/training/finetuning/data/hub_data.py`).
"""

import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, cast

from huggingface_hub import HfApi, constants, hf_hub_download
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.hf_api import ModelInfo, RepoSibling
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from bertcore.model.checkpoints.folder import (
    ADAPTER_CONFIG,
    ADAPTER_PICKLE,
    ADAPTER_WEIGHTS,
    MODULES,
    PICKLE,
    PICKLE_INDEX,
    SAFETENSORS,
    SAFETENSORS_INDEX,
    OnlyPickleError,
    find_weights,
    has_weights,
    is_adapter,
    other_format,
    read_modules,
)
from bertcore.model.tokenizer.files import VOCABULARIES

_SETTINGS = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    *VOCABULARIES,
    "README.md",
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    MODULES,
    "config_sentence_transformers.json",
    "sentence_*_config.json",
)
_WEIGHTS = ((SAFETENSORS,), (SAFETENSORS_INDEX, "model-*.safetensors"))
"""Forms of the weights; the first available one is used."""
_PICKLES = ((PICKLE,), (PICKLE_INDEX, "pytorch_model-*.bin"), (ADAPTER_PICKLE,))
_HttpError = cast(type[Exception], HfHubHTTPError.__bases__[0])
"""Base of the HTTP client's errors; the client depends on the hub library's version."""
_SECONDS = 5.0
"""Seconds to wait for the hub's first answer."""
_REVISION = re.compile(r"\w[\w./-]{0,199}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_BLOCK = 1 << 22

Progress = Callable[[int, int, str], None]
"""Called with the bytes fetched, the bytes to fetch, and the file's name; raise in it to stop."""


class HubId(NamedTuple):
    """A repository of the hub at a revision."""

    repo: str
    """`name` or `user/name`."""
    revision: str | None = None
    """A branch, a tag or a commit; None is the newest state of its main branch."""

    def __str__(self) -> str:
        return self.repo if self.revision is None else f"{self.repo}@{self.revision}"


class HubUnreachableError(RuntimeError):
    """The hub was not asked, or did not say what it has."""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file that a checkpoint needs."""

    name: str
    num_bytes: int
    blob: str
    """Its id: the sha256 for files in large-file storage, otherwise git's id."""
    is_cached: bool
    """Whether it is on this machine."""

    @property
    def is_weights(self) -> bool:
        """Whether it contains tensors."""
        return self.name.endswith((".safetensors", ".bin"))


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """The files that opening a checkpoint of the hub fetches."""

    hub_id: HubId
    commit: str
    files: tuple[HubFile, ...]
    num_parameters: int | None
    """As the hub counts them; None if it does not."""
    allow_pickle: bool

    @property
    def missing(self) -> tuple[HubFile, ...]:
        """The files that are not on this machine."""
        return tuple(file for file in self.files if not file.is_cached)

    @property
    def num_missing_bytes(self) -> int:
        """Size of the files to fetch."""
        return sum(file.num_bytes for file in self.missing)

    @property
    def num_weight_bytes(self) -> int:
        """Size of the weights, fetched or not."""
        return sum(file.num_bytes for file in self.files if file.is_weights)


def parse_hub_id(source: str) -> HubId | None:
    """Return the repository that a text of the form `name`, `user/name`, or either with `@revision`
    names.

    None if it has another form.

    >>> parse_hub_id("user/name@v1.0")
    HubId(repo='user/name', revision='v1.0')
    """
    repo, has_revision, revision = source.partition("@")
    try:
        validate_repo_id(repo)
    except HFValidationError:
        return None
    if repo.count("/") > 1:
        return None
    # git allows no two dots in names; in a path of the cache they would lead out of it.
    if has_revision and (not _REVISION.fullmatch(revision) or ".." in revision):
        return None
    return HubId(repo, revision if has_revision else None)


def is_hub_id(source: str) -> bool:
    """Return whether a text has the form of a hub id: `name`, `user/name`, or with `@revision`."""
    return parse_hub_id(source) is not None


def look_up(source: str, *, allow_pickle: bool = False, endpoint: str | None = None) -> FetchPlan:
    """Ask the hub which files opening a checkpoint needs, and their sizes; fetch no weights.

    For a sentence encoder, modules.json is fetched, which names the folders of its parts. `source`
    is as for `parse_hub_id`; `endpoint` is the address of another hub.

    OnlyPickleError if its only weights are a pickle and `allow_pickle` is False; ValueError if the
    hub has no such repository or revision, or it is not accessible or has no weights in a supported
    format; HubUnreachableError if the hub cannot be reached, or answers with an error; RuntimeError
    if modules.json cannot be fetched, or is damaged.
    """
    hub_id = parse_hub_id(source)
    if hub_id is None:
        raise ValueError(
            f"{source[:100]!r} is not a hub id; expected name, user/name or user/name@revision."
        )
    info = _listing(hub_id, endpoint)
    commit = info.sha or ""
    listed = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    folders = [""]
    if MODULES in listed:
        file = _hub_file(listed[MODULES], hub_id, commit)
        folder = _fetch(hub_id, commit, file, endpoint, None).parent
        folders += [module.path for module in read_modules(folder) if module.path]
    names = [name for folder in folders for name in _needed(folder, listed, allow_pickle)]
    encoder = folders[1] if folders[1:] else ""
    _check_weights(hub_id, list(listed), encoder, allow_pickle=allow_pickle)
    return FetchPlan(
        hub_id=hub_id,
        commit=commit,
        files=tuple(_hub_file(listed[name], hub_id, commit) for name in dict.fromkeys(names)),
        num_parameters=_num_parameters(info),
        allow_pickle=allow_pickle,
    )


def cached(source: str) -> Path | None:
    """Return the local folder of a hub checkpoint if it is complete, without asking the hub.

    None if parts are missing. It may not be the newest version.
    """
    hub_id = parse_hub_id(source)
    if hub_id is None:
        return None
    place = _storage(hub_id.repo)
    commit = hub_id.revision or "main"
    if not _COMMIT.fullmatch(commit):
        try:
            commit = (place / "refs" / commit).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
    folder = place / "snapshots" / commit
    return folder if _COMMIT.fullmatch(commit) and _is_complete(folder) else None


def download(source: str, *, allow_pickle: bool = False, endpoint: str | None = None) -> Path:
    """Return the local folder of a hub checkpoint; fetch the files not in the local cache.

    Only config, tokenizer, model card and weights are fetched; pickled weights only if
    `allow_pickle` is True and the repository has no safetensors. Each file is checked against the
    id that the hub announced. Files fetched completely are kept if the rest fails.

    Arguments and errors as for `look_up`; but an unreachable hub is no error if the checkpoint is
    in the cache, and RuntimeError if a file arrives incomplete or altered, or the disk has no room
    for it.
    """
    try:
        plan = look_up(source, allow_pickle=allow_pickle, endpoint=endpoint)
    except HubUnreachableError:
        folder = cached(source)
        if folder is None:
            raise
        return folder
    return fetch(plan, endpoint=endpoint)


def fetch(
    plan: FetchPlan, *, endpoint: str | None = None, progress: Progress | None = None
) -> Path:
    """Fetch the missing files of a checkpoint and return its local folder.

    `progress` is called as bytes arrive; None draws bars in a terminal. ValueError or RuntimeError
    as `download`.
    """
    place = _storage(plan.hub_id.repo)
    folder = place / "snapshots" / plan.commit
    _check_room(plan, place)
    num_done, total = 0, plan.num_missing_bytes
    for file in plan.files:
        if (folder / file.name).is_file():
            continue
        # A file that another revision has too is not fetched again, only linked here.
        bar = None if progress is None else _bar(progress, num_done, total, file.name)
        _fetch(plan.hub_id, plan.commit, file, endpoint, bar)
        num_done += 0 if file.is_cached else file.num_bytes
    if plan.hub_id.revision != plan.commit:
        _note_commit(place / "refs" / (plan.hub_id.revision or "main"), plan.commit)
    return folder


def push(folder: Path, repo: str, *, private: bool | None = None, token: str | None = None) -> str:
    """Upload a folder to a repository of the hub, made if it is not there; return its address.

    ValueError if the name or the token is refused; RuntimeError if the hub cannot be reached or
    breaks off.
    """
    hub_id = parse_hub_id(repo)
    if hub_id is None or hub_id.revision is not None:
        raise ValueError(f"{repo!r} is no name on the hub. Give user/name, without a revision.")
    api = HfApi(token=token)
    try:
        address = api.create_repo(repo, private=private, exist_ok=True)
        api.upload_folder(repo_id=repo, folder_path=folder, commit_message="Upload with BertScope")
    except (OSError, _HttpError) as error:
        status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
        if status in (401, 403):
            raise ValueError(
                f"the hub does not let you write to {repo} ({status}). Log in with a token that "
                "may write: hf auth login (or HF_TOKEN, or token=)."
            ) from error
        raise RuntimeError(
            f"{repo} was not uploaded to the hub: {_first_line(error) or type(error).__name__}. "
            "Check the connection and try again."
        ) from error
    return str(address)


def _listing(hub_id: HubId, endpoint: str | None) -> ModelInfo:
    """Return the hub's listing of a repository."""
    no_hub = f"the answer about {hub_id} is not that of a hub. Is HF_ENDPOINT a hub's address?"
    try:
        with _as_sentences(hub_id, is_listing=True):
            info = HfApi(endpoint=endpoint).model_info(
                hub_id.repo, revision=hub_id.revision, files_metadata=True, timeout=_SECONDS
            )
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise HubUnreachableError(no_hub) from error
    if not _COMMIT.fullmatch(info.sha or ""):
        raise HubUnreachableError(no_hub)
    return info


def _needed(folder: str, listed: dict[str, RepoSibling], allow_pickle: bool) -> list[str]:
    """Return the files that are needed from a folder of a repository."""
    place = f"{folder}/" if folder else ""
    inside = [name.removeprefix(place) for name in listed if name.startswith(place)]
    inside = [name for name in inside if "/" not in name]
    needed = _matching(inside, _SETTINGS)
    pickles = _PICKLES if allow_pickle and ADAPTER_WEIGHTS not in inside else ()
    for form in (*_WEIGHTS, *pickles):
        if form[0] in inside:
            needed += _matching(inside, form)
            break
    return [f"{place}{name}" for name in needed]


def _matching(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _check_weights(hub_id: HubId, names: list[str], folder: str, *, allow_pickle: bool) -> None:
    """Reject a repository without weights in a supported format in the folder of its encoder."""
    place = f"{folder}/" if folder else ""
    if {f"{place}{name}" for name in (SAFETENSORS, SAFETENSORS_INDEX)} & {*names}:
        return
    if {ADAPTER_CONFIG, ADAPTER_WEIGHTS} <= {*names}:
        return
    pickles = [n for n in (PICKLE, PICKLE_INDEX) if f"{place}{n}" in names]
    pickles += [ADAPTER_PICKLE] if {ADAPTER_CONFIG, ADAPTER_PICKLE} <= {*names} else []
    if pickles:
        if allow_pickle:
            return
        raise OnlyPickleError(
            f"{hub_id} has no model.safetensors on the hub, only {pickles[0]}, a pickle, which can "
            "contain code. If you trust its author, pass allow_pickle=True (--allow-pickle): "
            "then only its weights are read."
        )
    came = other_format(names)
    if ADAPTER_CONFIG in names:
        came = came or (
            f"It is an adapter of peft without {ADAPTER_WEIGHTS}. Save it again with peft."
        )
    raise ValueError(
        f"{hub_id} has no model.safetensors on the hub. "
        f"{came or 'It has no BERT weights that can be read. Choose another repository.'}"
    )


def _hub_file(sibling: RepoSibling, hub_id: HubId, commit: str) -> HubFile:
    blob = sibling.blob_id or "" if sibling.lfs is None else sibling.lfs.sha256
    place = _storage(hub_id.repo)
    paths = [place / "snapshots" / commit / sibling.rfilename]
    paths += [place / "blobs" / blob] if blob else []
    is_cached = any(path.is_file() for path in paths)
    return HubFile(sibling.rfilename, sibling.size or 0, blob, is_cached)


def _num_parameters(info: ModelInfo) -> int | None:
    total = getattr(info.safetensors, "total", None)
    return total if isinstance(total, int) and total > 0 else None


def _storage(repo: str) -> Path:
    """Return the folder of a repository in the library's cache (its layout is documented)."""
    cache = Path(constants.HF_HUB_CACHE).expanduser()
    return cache / repo_folder_name(repo_id=repo, repo_type="model")


def _is_complete(folder: Path) -> bool:
    """Return whether a folder of the cache has a config and all weights, or an adapter's own."""
    try:
        encoder = folder
        if (folder / MODULES).is_file():
            encoder = folder / read_modules(folder)[0].path
        if is_adapter(encoder):
            return any((encoder / n).is_file() for n in (ADAPTER_WEIGHTS, ADAPTER_PICKLE))
        if not (encoder / "config.json").is_file() or not has_weights(encoder):
            return False
        find_weights(encoder, allow_pickle=True)  # raises if one of several parts is missing
    except RuntimeError:
        return False
    return True


def _check_room(plan: FetchPlan, place: Path) -> None:
    """Reject a checkpoint that the disk has no room for, before anything is fetched."""
    there = next(folder for folder in (place, *place.parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    if plan.num_missing_bytes > free:
        raise RuntimeError(
            f"fetching {plan.hub_id} takes {plan.num_missing_bytes / 1e9:.1f} GB, but the disk of "
            f"the hub's cache ({constants.HF_HUB_CACHE}) has {free / 1e9:.1f} GB free. Make room, "
            "or set HF_HOME to a folder on another disk."
        )


def _fetch(
    hub_id: HubId, commit: str, file: HubFile, endpoint: str | None, bar: type[Any] | None
) -> Path:
    """Return the local path of a file; if it was missing, it is fetched and its id checked."""
    with _as_sentences(hub_id, file.name), _plain_http():
        path = Path(
            hf_hub_download(
                hub_id.repo,
                file.name,
                revision=commit,
                endpoint=endpoint,
                etag_timeout=_SECONDS,
                tqdm_class=bar,
            )
        )
    if not file.is_cached and file.blob:
        _check_content(path, file, hub_id)
    return path


@contextmanager
def _plain_http() -> Iterator[None]:
    """Fetch without hf_xet, whose transfers do not stop when progress raises."""
    before = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = True
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = before


def _check_content(path: Path, file: HubFile, hub_id: HubId) -> None:
    """Check a file against its id, since the library only compares sizes; remove it if wrong."""
    is_large = len(file.blob) == 64
    # git's ids do not protect against attacks, but detect damage in transit.
    digest = hashlib.sha256() if is_large else hashlib.sha1(usedforsecurity=False)
    if not is_large:
        digest.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    came = digest.hexdigest()
    if came != file.blob:
        stored = path.resolve()
        path.unlink()
        stored.unlink(missing_ok=True)
        raise RuntimeError(
            f"{file.name} of {hub_id} did not arrive as the hub announced it: its hash is "
            f"{came[:12]}..., expected {file.blob[:12]}.... It was altered or damaged in transit "
            "and has been removed. Try again; behind a proxy, ask its administrator."
        )


def _bar(progress: Progress, num_before: int, total: int, name: str) -> type[Any]:
    """Return a class with the part of tqdm's interface that the library uses, for one file."""

    class Bar:
        def __init__(self, *_: Any, initial: float | None = 0, **__: Any) -> None:
            self._num_bytes = int(initial or 0)
            self.update(0)

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing is drawn here."""

        def update(self, n: float | None = 1) -> None:
            self._num_bytes += int(n or 0)
            progress(min(num_before + self._num_bytes, total), total, name)

    return Bar


def _note_commit(ref: Path, commit: str) -> None:
    """Record the commit of a branch or tag, as the library does, for when the hub is offline."""
    ref.parent.mkdir(parents=True, exist_ok=True)
    # A separate name for each thread: visitors of one server may fetch the same file at once.
    partial = ref.with_name(f"{ref.name}.{os.getpid()}-{threading.get_ident()}.new")
    partial.write_text(commit, encoding="ascii")
    partial.replace(ref)


@contextmanager
def _as_sentences(hub_id: HubId, file: str = "", *, is_listing: bool = False) -> Iterator[None]:
    """Turn the library's errors into ours; a listing without an answer is an unreachable hub."""
    try:
        yield
    except (OSError, _HttpError, EntryNotFoundError) as error:
        cause = error.__cause__
        # The library's own message says less than the cause.
        known = isinstance(error, LocalEntryNotFoundError) and isinstance(cause, Exception)
        raise _sentence(cause if known else error, hub_id, file, is_listing) from error


def _sentence(error: Any, hub_id: HubId, file: str, is_listing: bool) -> Exception:
    refusal = _refusal(error, hub_id)
    if refusal is not None:
        return ValueError(refusal)
    what = f"fetching {file} of {hub_id} from the hub failed"
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
    if isinstance(error, OfflineModeIsEnabled):
        trouble, advice = "is not asked, since HF_HUB_OFFLINE is set", "Unset it"
    elif status is not None:
        trouble = f"answered with an error ({_first_line(error)})"
        advice = "Try again later"
        if status == 429:
            wait = error.response.headers.get("Retry-After", "")
            after = f"{wait} seconds" if wait.isdecimal() else "a few minutes"
            trouble = "answered with an error (429): too many requests from here"
            advice = f"Try again after {after} (with a token, hf auth login, it allows more)"
    elif isinstance(error, _HttpError) and (is_listing or not _is_broken(error)):
        trouble, advice = "cannot be reached", "Check the connection"
    elif isinstance(error, _HttpError):
        trouble = "broke off the connection"
        advice = "Check the connection and try again: files that arrived whole are kept"
    else:
        reason = _first_line(error) or type(error).__name__
        if "Consistency check failed" in str(error):
            size = reason.partition(":")[2].strip()
            reason = f"it arrived with a size other than announced: {size}"
        return RuntimeError(f"{what} ({reason}). Try again, or open a folder or 'default'.")
    advice += ", or open a folder or 'default'."
    if is_listing:
        return HubUnreachableError(
            f"{str(hub_id)!r} is not a folder here and not in the local cache, and the Hugging "
            f"Face hub {trouble}. {advice}"
        )
    return RuntimeError(f"{what}: it {trouble}. {advice}")


_REFUSALS: dict[type[Exception] | int, str] = {
    GatedRepoError: "{0.repo} is on the hub but its author asks for your agreement first. Agree on "
    "its page, then log in with: hf auth login (or set HF_TOKEN).",
    RepositoryNotFoundError: "{0.repo!r} is neither a folder here nor a public checkpoint on the "
    "hub. Check the spelling, or log in for a private one with: hf auth login (or set HF_TOKEN).",
    RevisionNotFoundError: "{0.repo} is on the hub but has no revision {0.revision!r}. Name a "
    "branch, a tag or a full commit id of it, or leave out the @ and what follows.",
    DisabledRepoError: "access to {0.repo} was disabled by the hub. Choose another checkpoint.",
    401: "the hub does not accept your token (HF_TOKEN, or that of hf auth login): it is wrong or "
    "has expired. Log in again with: hf auth login. Public checkpoints need none.",
    403: "the hub does not let your token read {0.repo} (403). Give the token the right to read "
    "this repository, or log in as another user with: hf auth login",
}
"""Why the hub refuses a checkpoint, and what to do; by the library's error, or the status."""


def _refusal(error: Any, hub_id: HubId) -> str | None:
    """Return why the hub refuses a checkpoint, and what to do; None if it does not."""
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
    said = (
        sentence
        for kind, sentence in _REFUSALS.items()
        if (kind == status if isinstance(kind, int) else isinstance(error, kind))
    )
    return next((sentence.format(hub_id) for sentence in said), None)


def _is_broken(error: Exception) -> bool:
    """Return whether an established connection broke."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"RemoteProtocolError", "ReadError", "ReadTimeout", "WriteError"})


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
