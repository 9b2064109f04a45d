"""From text files to a Pretraining that is ready to run, and back into an interrupted one."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

import bertcore
from bertcore.config import BertConfig
from bertcore.pretraining.batches import DataConfig
from bertcore.pretraining.corpus import (
    PackedCorpus,
    open_corpus,
    pack_corpus_to,
    read_documents,
    read_sentences,
)
from bertcore.pretraining.loop import Pretraining
from bertcore.pretraining.optimizer import OptimizerConfig
from bertcore.pretraining.run_folder import RunFolder
from bertcore.pretraining.train_config import TrainConfig, check_settings
from bertcore.pretraining.unigrams import unigram_entropy
from bertcore.tokenizer import Tokenizer, train_vocabulary

OnStage = Callable[[str, float | None], None]
"""Told what is being done and which share of it is done, 0 to 1; None if that is not known."""


def _silent(what: str, share: float | None) -> None:
    """Report to nobody."""


def check_inputs(folder: Path, corpus: Sequence[Path], valid: Path) -> None:
    """Refuse, before minutes of reading, what can be seen to be wrong at once.

    Raises:
        ValueError: If the folder is not empty, or a file is missing or does not begin as text.
        OSError: If a file cannot be opened.
    """
    _run_folder(folder).check_is_new()
    for path in (*corpus, valid):
        next(read_documents([path]), None)


def train_tokenizer(
    corpus: Sequence[Path],
    *,
    vocab_size: int,
    do_lower_case: bool = True,
    on_stage: OnStage = _silent,
) -> Tokenizer:
    """Learn a WordPiece vocabulary from text files.

    Raises:
        ValueError: If a file cannot be read or the text is too small for so many pieces.
    """
    texts = _Paragraphs(corpus, on_stage)
    vocab = train_vocabulary(texts, vocab_size=vocab_size, do_lower_case=do_lower_case)
    return Tokenizer(vocab, do_lower_case=do_lower_case)


def start_run(
    folder: Path,
    *,
    corpus: Sequence[Path],
    valid: Path,
    tokenizer: Tokenizer,
    shape: BertConfig,
    train_config: TrainConfig,
    data_config: DataConfig,
    optimizer_config: OptimizerConfig,
    command: str = "",
    on_stage: OnStage = _silent,
) -> Pretraining:
    """Pack the corpora, build the run, and write its folder, whole or not at all.

    Args:
        folder: New or empty.
        corpus: Training text files.
        valid: Held-out text file.
        tokenizer: Copied into the run.
        shape: The network to train.
        train_config, data_config, optimizer_config: Settings.
        command: What was typed, for the run's config.json.
        on_stage: Told how far the preparation is.

    Raises:
        ValueError: If the folder is not empty, a file cannot be read, or settings do not fit.
        OSError: If a file cannot be opened or written.
    """
    check_settings(shape, train_config, data_config)
    check_inputs(folder, corpus, valid)
    run = _run_folder(folder)
    with run.building() as partial:
        tokenizer.save(partial.data / "tokenizer")
        packed: dict[str, PackedCorpus] = {}
        for name, paths in (("train", list(corpus)), ("valid", [valid])):
            what = "reading the training text" if name == "train" else "reading the held-out text"
            on_read = _ByteCount(paths, what, on_stage)
            sentences = read_sentences(paths, on_read=on_read)
            packed[name] = pack_corpus_to(partial.data / name, sentences, tokenizer)
        on_stage("cutting pairs and counting words", None)
        pretraining = Pretraining(
            run,
            shape=shape,
            tokenizer=tokenizer,
            train=packed["train"],
            valid=packed["valid"],
            train_config=train_config,
            data_config=data_config,
            optimizer_config=optimizer_config,
        )
        partial.write_config(
            {
                "command": command,
                "versions": _versions(),
                "corpus": [path.name for path in corpus],
                "valid": valid.name,
                "model": shape.to_hf_dict(),
                "train": asdict(train_config),
                "data": asdict(data_config),
                "optimizer": asdict(optimizer_config),
                # What the first round over the text is made of.
                "data_report": {
                    "train": {
                        **pretraining.batches.describe(),
                        "unigram_entropy": round(
                            unigram_entropy(packed["train"].ids, tokenizer.vocab_size), 6
                        ),
                    },
                    "valid": {
                        "num_documents": packed["valid"].num_documents,
                        "num_tokens": packed["valid"].num_tokens,
                    },
                },
            }
        )
    return pretraining


def resume_run(folder: Path) -> Pretraining:
    """Open an interrupted run with the settings that it was started with.

    Raises:
        ValueError: If there is no run in the folder, or its config.json was changed by hand so
            that it cannot be read.
        RuntimeError: If its packed corpus, tokenizer or newest checkpoint is damaged.
    """
    run = _run_folder(folder)
    settings = run.read_config()
    try:
        shape = BertConfig.from_hf_dict(settings["model"])
        train_config = TrainConfig(**settings["train"])
        data_config = DataConfig(**settings["data"])
        optimizer_config = OptimizerConfig(**settings["optimizer"])
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{str(run.config_file)!r} has settings that this version does not know ({error}). "
            "Restore the file as the run wrote it, or start a new run."
        ) from error
    return Pretraining(
        run,
        shape=shape,
        tokenizer=Tokenizer.open(run.data / "tokenizer"),
        train=open_corpus(run.data / "train"),
        valid=open_corpus(run.data / "valid"),
        train_config=train_config,
        data_config=data_config,
        optimizer_config=optimizer_config,
        resume=True,
    )


def _run_folder(folder: Path) -> RunFolder:
    return RunFolder(folder.expanduser().resolve())


class _ByteCount:
    """Turns bytes read into the share of all files, and reports it a hundred times at most."""

    def __init__(
        self, paths: Sequence[Path], what: str, on_stage: OnStage, *, num_passes: int = 1
    ) -> None:
        self._what, self._on_stage = what, on_stage
        self._total = num_passes * max(1, sum(path.stat().st_size for path in paths))
        self._done = 0
        self._told = 0.0
        on_stage(what, 0.0)

    def __call__(self, num_bytes: int) -> None:
        self._done += num_bytes
        share = min(1.0, self._done / self._total)
        if share - self._told >= 0.01:
            self._told = share
            self._on_stage(self._what, share)


class _Paragraphs:
    """The paragraphs of files, read anew each time: a vocabulary reads its text twice."""

    def __init__(self, paths: Sequence[Path], on_stage: OnStage) -> None:
        self._paths = tuple(paths)
        for path in paths:  # a missing file has no size to count
            next(read_documents([path]), None)
        self._on_read = _ByteCount(self._paths, "learning the vocabulary", on_stage, num_passes=2)

    def __iter__(self) -> Iterator[str]:
        for document in read_documents(self._paths, on_read=self._on_read):
            yield from document


def _versions() -> dict[str, str]:
    """Return what a run runs on, for its config.json."""
    return {
        "bertscope": bertcore.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
    }
