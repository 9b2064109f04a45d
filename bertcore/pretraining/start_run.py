"""From text files to a Pretraining that is ready to run, and back into an interrupted one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bertcore.bert import Bert
from bertcore.config import BertConfig
from bertcore.configs import DataConfig, OptimizerConfig, TrainConfig
from bertcore.distillation import DistillConfig, check_same_vocabulary
from bertcore.pretraining.check_settings import check_settings
from bertcore.pretraining.data.corpus import (
    PackedCorpus,
    check_corpus,
    open_corpus,
    pack_corpus_to,
    read_documents,
    read_sentences,
    record_corpus,
)
from bertcore.pretraining.data.read_corpus import (
    TEXTS,
    ByteCount,
    OnStage,
    check_counts,
    check_text,
    silent,
)
from bertcore.pretraining.data.unigrams import unigram_entropy
from bertcore.pretraining.loss.distillation import check_teacher, keep_teacher, kept_teacher
from bertcore.pretraining.run import Pretraining
from bertcore.pretraining.start.starting_weights import check_start, keep_start, kept_start
from bertcore.tokenizer import Tokenizer
from bertcore.training.processes import launched_rank
from bertcore.training.provenance import (
    check_files,
    check_unchanged,
    describe_differences,
    git_revision,
    record_files,
    record_times,
    record_vocabulary,
    versions,
)
from bertcore.training.run_folder import RunFolder
from bertcore.training.run_lock import lock_run


def check_inputs(
    folder: Path, corpus: Sequence[Path], valid: Path, *, has_pairs: bool = True
) -> None:
    """Refuse, before minutes of reading, what can be seen to be wrong at once.

    Args:
        folder: Of the new run.
        corpus, valid: Text files.
        has_pairs: Whether next-sentence pairs are to be made of them.

    Raises:
        ValueError: If the folder is not empty, a file is missing or does not begin as text, or a
            text has too few documents or sentences for next-sentence pairs.
        OSError: If a file cannot be opened.
    """
    _run_folder(folder).check_is_new()
    for path in (*corpus, valid):
        next(read_documents([path]), None)
    check_text("train", corpus, has_pairs=has_pairs)
    check_text("valid", [valid], has_pairs=has_pairs)


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
    start_from: Bert | None = None,
    distill: DistillConfig | None = None,
    teacher: Bert | None = None,
    command: str = "",
    on_stage: OnStage = silent,
) -> Pretraining:
    """Pack the corpora, build the run, and write its folder, whole or not at all.

    Args:
        folder: New or empty.
        corpus: Training text files.
        valid: Held-out text file.
        tokenizer: Copied into the run.
        shape: The network to train.
        train_config, data_config, optimizer_config: Settings.
        start_from: The checkpoint to begin with where `train_config.start` is "checkpoint"; copied
            into the run.
        distill: The losses of a run with a teacher; None: there is none.
        teacher: What it learns from; copied into the run.
        command: What was typed, for the run's config.json.
        on_stage: Told how far the preparation is.

    Raises:
        ValueError: If the folder is not empty, a file cannot be read, or settings do not fit.
        OSError: If a file cannot be opened or written.
    """
    check_settings(shape, train_config, data_config)
    if start_from is not None:
        check_start(start_from)
    has_pairs = data_config.has_pairs
    if teacher is not None:
        longest = (data_config.long_phase() or data_config).max_seq_length
        check_same_vocabulary(tokenizer, teacher.tokenizer)
        check_teacher(teacher, shape, longest, has_pairs=has_pairs)
        if distill is not None:
            distill.check_shapes(shape, teacher.config)
    check_inputs(folder, corpus, valid, has_pairs=has_pairs)
    run = _run_folder(folder)
    with run.building() as partial:
        tokenizer.save(partial.data / "tokenizer")
        if start_from is not None:
            keep_start(start_from, partial.data)
        if teacher is not None:
            keep_teacher(teacher, partial.data)
        packed: dict[str, PackedCorpus] = {}
        sources = {}
        for name, paths in (("train", list(corpus)), ("valid", [valid])):
            times = record_times(paths)
            on_read = ByteCount(paths, f"reading the {TEXTS[name]}", on_stage)
            sentences = read_sentences(paths, on_read=on_read)
            packed[name] = pack_corpus_to(partial.data / name, sentences, tokenizer)
            longest = int(np.diff(packed[name].document_starts).max())
            check_counts(name, packed[name].num_documents, longest, has_pairs=has_pairs)
            sources[name] = record_files(paths)
            check_unchanged(times)
        on_stage("cutting rows and counting words", None)
        pretraining = Pretraining(
            run,
            shape=shape,
            tokenizer=tokenizer,
            train=packed["train"],
            valid=packed["valid"],
            train_config=train_config,
            data_config=data_config,
            optimizer_config=optimizer_config,
            start_from=None if start_from is None else start_from.module,
            distill=distill,
            teacher=None if teacher is None else teacher.module,
        )
        partial.write_config(
            {
                "command": command,
                "directory": os.getcwd(),
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "versions": versions(),
                "git": git_revision(),
                "corpus": [path.name for path in corpus],
                "valid": valid.name,
                "sources": sources,
                "packed": {
                    name: record_corpus(partial.data / name, corpus.fingerprint)
                    for name, corpus in packed.items()
                },
                "tokenizer": record_vocabulary(tokenizer),
                "start_from": _record_start(start_from),
                "teacher": _record_start(teacher),
                "distill": None if distill is None else asdict(distill),
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

    What was passed over on the way, such as a damaged checkpoint, is in `notices` of the result.

    Raises:
        ValueError: If there is no run in the folder, another process trains there, the texts or
            the packed corpus changed since its start, or its config.json was changed by hand so
            that it cannot be read.
        RuntimeError: If its packed corpus, its tokenizer or all its checkpoints are damaged.
    """
    run = _run_folder(folder)
    settings = run.read_config()
    try:
        shape = BertConfig.from_hf_dict(settings["model"])
        train_config = TrainConfig(**settings["train"])
        data_config = DataConfig(**settings["data"])
        optimizer_config = OptimizerConfig(**settings["optimizer"])
        weights = settings.get("distill")
        distill = None if weights is None else DistillConfig(**weights)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{str(run.config_file)!r} has settings that this version does not know ({error}). "
            "Restore the file as the run wrote it, or start a new run."
        ) from error
    lock = lock_run(run.path) if launched_rank() == 0 else nullcontext()
    with lock, run.explaining_full_disk():
        tokenizer = Tokenizer.open(run.data / "tokenizer")
        if launched_rank() == 0:
            _check_record(run, settings, tokenizer)
        pretraining = Pretraining(
            run,
            shape=shape,
            tokenizer=tokenizer,
            train=open_corpus(run.data / "train"),
            valid=open_corpus(run.data / "valid"),
            train_config=train_config,
            data_config=data_config,
            optimizer_config=optimizer_config,
            start_from=kept_start(run.data),
            distill=distill,
            teacher=kept_teacher(run.data),
            resume=True,
        )
    difference = describe_differences(settings.get("versions", {}), versions())
    if difference is not None:
        pretraining.notices.append(difference)
    return pretraining


def _check_record(run: RunFolder, settings: dict[str, Any], tokenizer: Tokenizer) -> None:
    """Refuse data that is not what the run was started with; runs of old have no record."""
    for name, what in TEXTS.items():
        if "packed" in settings:
            check_corpus(run.data / name, settings["packed"][name])
        if "sources" in settings:
            check_files(settings["sources"][name], what)
    if settings.get("tokenizer", record_vocabulary(tokenizer)) != record_vocabulary(tokenizer):
        raise ValueError(
            f"the tokenizer {str(run.data / 'tokenizer')!r} changed since the run was started. "
            "Restore that folder to resume, or start a new run."
        )


def _record_start(bert: Bert | None) -> dict[str, str] | None:
    """Return what to remember of the checkpoint that a run begins with."""
    if bert is None or bert.report is None:
        return None
    return {"name": bert.name, "fingerprint": bert.report.fingerprint}


def _run_folder(folder: Path) -> RunFolder:
    return RunFolder(folder.expanduser().resolve())
