"""Fetch a checkpoint from the Hugging Face hub: the only module that uses the network."""

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

from bertcore.checkpoints.folder import PICKLE, PICKLE_INDEX, has_weights

_FILES = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "README.md",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-*.safetensors",
]
_PICKLES = [PICKLE, PICKLE_INDEX, "pytorch_model-*.bin"]
_HttpError = cast(type[Exception], HfHubHTTPError.__bases__[0])
"""What the hub library's HTTP client raises; which client it is depends on its version."""
_SECONDS = 5.0
"""How long to wait for the hub's first answer."""


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
        ValueError: If the hub has no such repository, or it may not be read.
        RuntimeError: If the hub cannot be reached and the checkpoint is not in the cache.
    """
    folder = _fetch(repo_id, _FILES, endpoint)
    if not has_weights(folder) and allow_pickle:
        folder = _fetch(repo_id, [*_FILES, *_PICKLES], endpoint)
    if not has_weights(folder):
        raise ValueError(
            f"{repo_id} has no model.safetensors on the hub. "
            + (
                "It holds no BERT weights that can be read."
                if allow_pickle
                else f"If it has a {PICKLE} and you trust its author, pass allow_pickle=True "
                "(--allow-pickle)."
            )
        )
    return folder


def _fetch(repo_id: str, patterns: list[str], endpoint: str | None) -> Path:
    try:
        return Path(
            HfApi(endpoint=endpoint).snapshot_download(
                repo_id,
                allow_patterns=patterns,
                ignore_patterns=["*/*"],  # a pattern's * would match folders too
                etag_timeout=_SECONDS,
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
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise RuntimeError(_unreachable(repo_id)) from error
    except EntryNotFoundError as error:
        raise ValueError(f"{repo_id} lacks a file on the hub ({error}).") from error
    except HfHubHTTPError as error:
        raise RuntimeError(
            f"the hub answered with an error for {repo_id!r} ({_first_line(error)}). "
            "Try again later, or open a folder."
        ) from error
    except (OSError, _HttpError) as error:
        raise RuntimeError(f"{_unreachable(repo_id)} ({_first_line(error)})") from error


def _unreachable(repo_id: str) -> str:
    return (
        f"{repo_id!r} is no folder here, and the Hugging Face hub cannot be reached to look for it "
        "there. Check the connection, or open a folder or 'default'."
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
