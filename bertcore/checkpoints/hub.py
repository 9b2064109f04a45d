"""Fetch a checkpoint from the Hugging Face hub: the only module that opens the network itself.

Labelled data of the hub is read by the library `datasets` (`bertcore/finetuning/data/hub_data.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from huggingface_hub import HfApi
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from bertcore.checkpoints.folder import (
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    MODULES,
    PICKLE,
    PICKLE_INDEX,
    OnlyPickleError,
    has_weights,
    is_adapter,
    is_checkpoint,
    read_modules,
)

_FILES = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "README.md",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-*.safetensors",
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    MODULES,
    "config_sentence_transformers.json",
    "sentence_*_config.json",
]
_PICKLES = [PICKLE, PICKLE_INDEX, "pytorch_model-*.bin"]
_HttpError = cast(type[Exception], HfHubHTTPError.__bases__[0])
"""Errors of the hub library's HTTP client, which depends on its version."""
_SECONDS = 5.0
"""Seconds to wait for the hub's first answer."""


def is_hub_id(source: str) -> bool:
    """Return whether a text has the form of a hub id: `name` or `user/name`."""
    try:
        validate_repo_id(source)
    except HFValidationError:
        return False
    return source.count("/") <= 1


def download(repo_id: str, *, allow_pickle: bool = False, endpoint: str | None = None) -> Path:
    """Return the local folder of a hub checkpoint; fetch what is not in the local cache.

    Only config, tokenizer, model card and weights are fetched; pickled weights only if
    `allow_pickle` is True and the repository has no safetensors.

    Args:
        repo_id: `name` or `user/name`.
        allow_pickle: Whether pytorch_model.bin may be fetched.
        endpoint: Address of another hub; None takes the usual one.

    Raises:
        OnlyPickleError: If its only weights are a pickle and `allow_pickle` is False.
        ValueError: If the hub has no such repository, or it may not be read.
        RuntimeError: If the hub cannot be reached and the checkpoint is not in the cache.
    """
    folder = _fetch(repo_id, _FILES, endpoint)
    if not has_weights(folder) and allow_pickle:
        folder = _fetch(repo_id, [*_FILES, *_PICKLES], endpoint)
    encoder = ""
    if (folder / MODULES).is_file():
        folder = _fetch_modules(repo_id, folder, endpoint, allow_pickle=allow_pickle)
        encoder = read_modules(folder)[0].path
    if has_weights(folder / encoder) or is_adapter(folder):
        return folder
    if not allow_pickle and _has_pickle(repo_id, encoder, endpoint):
        raise OnlyPickleError(
            f"{repo_id} has no model.safetensors on the hub, only {PICKLE}, a pickle, which can "
            "carry programs. If you trust its author, pass allow_pickle=True (--allow-pickle): it "
            "is then read with weights only."
        )
    raise ValueError(
        f"{repo_id} has no model.safetensors on the hub. It holds no BERT weights that can be read."
    )


def _fetch_modules(repo_id: str, folder: Path, endpoint: str | None, *, allow_pickle: bool) -> Path:
    """Fetch the folders that modules.json names: of each its settings and weights."""
    paths = [module.path for module in read_modules(folder) if module.path]
    names = [*_FILES, *(_PICKLES if allow_pickle else [])]
    wanted = [f"{path}/{name}" for path in paths for name in names]
    return _fetch(repo_id, wanted, endpoint, deeper=True) if wanted else folder


def _has_pickle(repo_id: str, encoder: str, endpoint: str | None) -> bool:
    """Return whether the hub has pickled weights of a repository, in the encoder's folder.

    Raises:
        RuntimeError: If it cannot be asked.
    """
    try:
        names = HfApi(endpoint=endpoint).list_repo_files(repo_id)
    except (OSError, _HttpError) as error:
        raise RuntimeError(
            f"the cache holds no weights of {repo_id!r}, and the Hugging Face hub did not list its "
            f"files ({_first_line(error)}). Check the connection, or open a folder or 'default'."
        ) from error
    place = f"{encoder}/" if encoder else ""
    return bool({f"{place}{PICKLE}", f"{place}{PICKLE_INDEX}"} & set(names))


def _fetch(
    repo_id: str, patterns: list[str], endpoint: str | None, *, deeper: bool = False
) -> Path:
    """Return the local folder with those files; from the cache alone without the hub.

    Args:
        repo_id, endpoint: As for `download`.
        patterns: Names of files, and what stands for several.
        deeper: Whether they lie one folder deeper, not in that of the repository itself.
    """
    api = HfApi(endpoint=endpoint)
    try:
        trouble = _trouble(api, repo_id)
        return Path(
            api.snapshot_download(
                repo_id,
                allow_patterns=patterns,
                # A pattern's * would match folders too.
                ignore_patterns=["*/*/*" if deeper else "*/*"],
                etag_timeout=_SECONDS,
                local_files_only=trouble is not None,
            )
        )
    except GatedRepoError as error:
        raise ValueError(
            f"{repo_id} is on the hub but its author asks for your agreement first. "
            "Agree on its page, then log in with: hf auth login"
        ) from error
    except RepositoryNotFoundError as error:
        raise ValueError(
            f"{repo_id!r} is neither a folder here nor a public checkpoint on the hub. "
            "Check the spelling, or log in for a private one with: hf auth login"
        ) from error
    except LocalEntryNotFoundError as error:
        # An interrupted or partial download: enough if the weights and the config are there.
        partial = getattr(error, "snapshot_path", None)
        if partial is not None and is_checkpoint(Path(partial)):
            return Path(partial)
        raise RuntimeError(
            f"{repo_id!r} is no folder here and not in the local cache, and the Hugging Face hub "
            f"{trouble or 'did not send it'}. Check the connection, or open a folder or 'default'."
        ) from error
    except (OSError, EntryNotFoundError, _HttpError) as error:
        raise RuntimeError(
            f"fetching {repo_id!r} from the hub failed ({_first_line(error)}). Try again, or open "
            "a folder or 'default'."
        ) from error


def _trouble(api: HfApi, repo_id: str) -> str | None:
    """Return why the hub cannot be used, or None; makes one request with a short timeout.

    Raises:
        RepositoryNotFoundError: If the hub says that there is no such repository.
    """
    try:
        api.repo_info(repo_id, timeout=_SECONDS)
    except RepositoryNotFoundError:
        raise
    except OfflineModeIsEnabled:
        return "is not asked, since HF_HUB_OFFLINE is set"
    except HfHubHTTPError as error:
        return f"answered with an error ({_first_line(error)})"
    except (OSError, _HttpError):
        return "cannot be reached"
    return None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
