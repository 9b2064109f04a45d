"""Start a pretraining run from text files, and resume an interrupted one."""

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.configs import DataConfig, DistillConfig, OptimizerConfig, TrainConfig
from bertcore.model.architecture.config import BertConfig
from bertcore.model.architecture.objectives import RowKind
from bertcore.model.bert import Bert
from bertcore.model.tokenizer import SPECIAL_TOKENS, Tokenizer, open_wordpiece
from bertcore.training.engine.processes import launched_rank
from bertcore.training.engine.provenance import (
    check_files,
    check_unchanged,
    describe_differences,
    git_revision,
    record_files,
    record_times,
    record_vocabulary,
    versions,
)
from bertcore.training.engine.run_folder import RunFolder
from bertcore.training.engine.run_lock import lock_run
from bertcore.training.pretraining.data.corpus import (
    TEXTS,
    ByteCount,
    OnStage,
    PackedCorpus,
    check_corpus,
    check_counts,
    check_text,
    note_on_halves,
    open_corpus,
    pack_corpus_to,
    read_documents,
    read_sentences,
    record_corpus,
    silent,
    train_tokenizer,
)
from bertcore.training.pretraining.distillation import Teacher, check_teacher
from bertcore.training.pretraining.objectives import Objective, objective_named
from bertcore.training.pretraining.run import Pretraining, check_settings
from bertcore.training.pretraining.starting_weights import (
    START_FOLDER,
    TEACHER_FOLDER,
    check_start,
    keep,
    kept,
)

NOTHING: Mapping[str, Any] = MappingProxyType({})


def check_inputs(
    folder: Path, corpus: Sequence[Path], valid: Path, *, rows: RowKind = "pairs"
) -> None:
    """Reject text files that are visibly wrong, before they are read completely.

    ValueError if the folder is not empty, a file is missing or does not begin as text, or a text
    has too few documents or sentences for next-sentence pairs. OSError if a file cannot be opened.
    """
    _run_folder(folder).check_is_new()
    for path in (*corpus, valid):
        next(read_documents([path]), None)
    check_text("train", corpus, rows=rows)
    check_text("valid", [valid], rows=rows)


def start_run(
    folder: Path,
    *,
    corpus: Sequence[Path],
    valid: Path,
    tokenizer: Tokenizer | None = None,
    vocabulary: Mapping[str, Any] = NOTHING,
    shape: BertConfig | None = None,
    train_config: TrainConfig,
    data_config: DataConfig,
    optimizer_config: OptimizerConfig,
    start_from: Bert | None = None,
    teacher: Teacher | None = None,
    command: str = "",
    on_stage: OnStage = silent,
) -> Pretraining:
    """Pack the corpora, build the run, and write its folder, completely or not at all.

    Args:
        tokenizer: Copied into the run. None: that of `start_from`, or one that is learned from
            `corpus`, with as many pieces as the shape has.
        vocabulary: How it is learned: further arguments of `train_tokenizer`.
        start_from: The checkpoint to start from; copied into the run.
        teacher: A teacher that the network learns from besides the text; copied into the run.
        command: The typed command, for the run's config.json.

    ValueError if the folder is not empty, a file cannot be read, or settings do not fit. OSError if
    a file cannot be opened or written.
    """
    if start_from is not None:
        tokenizer, shape = tokenizer or start_from.tokenizer, shape or start_from.config
        train_config = replace(train_config, start="checkpoint")
    assert shape is not None, "a new network has a shape"
    check_settings(shape, train_config, data_config)
    objective = objective_named(data_config.objective)
    # A tokenizer still to be learned will have the objective's own tokens, as this empty one has.
    known = tokenizer or objective.tokenizer(Tokenizer(SPECIAL_TOKENS))
    objective.check_tokenizer(known, data_config)
    if start_from is not None:
        check_start(start_from)
    if teacher is not None:
        check_teacher(teacher, known, shape, data_config)
    check_inputs(folder, corpus, valid, rows=data_config.rows)
    if tokenizer is None:
        tokenizer = _learn_tokenizer(corpus, shape.vocab_size, objective, vocabulary, on_stage)
    run = _run_folder(folder)
    with run.building() as partial:
        tokenizer.save(partial.data / "tokenizer")
        if start_from is not None:
            keep(start_from, partial.data / START_FOLDER)
        if teacher is not None:
            keep(teacher.bert, partial.data / TEACHER_FOLDER)
        texts = {"train": list(corpus), "valid": [valid]}
        packed, record = _pack_texts(partial.data, texts, tokenizer, data_config.rows, on_stage)
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
            teacher=teacher,
        )
        if (note := note_on_halves(packed["valid"], data_config.rows)) is not None:
            pretraining.notices.append(note)
        learned, held_out = packed["train"], packed["valid"]
        entropy = unigram_entropy(learned.ids, tokenizer.vocab_size)
        partial.write_config(
            {
                "command": command,
                "directory": os.getcwd(),
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "versions": versions(),
                "git": git_revision(),
                **record,
                "tokenizer": record_vocabulary(tokenizer),
                "start_from": _record_start(start_from),
                "teacher": None if teacher is None else _record_start(teacher.bert),
                "distill": None if teacher is None else asdict(teacher.losses),
                "model": shape.to_hf_dict(),
                "train": asdict(pretraining.config),
                "data": asdict(data_config),
                "optimizer": asdict(optimizer_config),
                "data_report": {
                    "train": {
                        "num_documents": learned.num_documents,
                        "num_sentences": learned.num_sentences,
                        "num_tokens": learned.num_tokens,
                        "unigram_entropy": round(entropy, 6),
                    },
                    "valid": {
                        "num_documents": held_out.num_documents,
                        "num_tokens": held_out.num_tokens,
                    },
                },
            }
        )
    return pretraining


def _learn_tokenizer(
    corpus: Sequence[Path],
    size: int,
    objective: Objective,
    vocabulary: Mapping[str, Any],
    on_stage: OnStage,
) -> Tokenizer:
    """Learn the vocabulary; its size includes the objective's own tokens."""
    added = objective.num_added_tokens
    try:
        learned = train_tokenizer(corpus, vocab_size=size - added, on_stage=on_stage, **vocabulary)
    except ValueError as error:
        if not added:
            raise
        raise ValueError(
            f"{error} The objective {objective.name!r} takes {added} of the {size} pieces for "
            "tokens of its own; these numbers are for the rest."
        ) from error
    return objective.tokenizer(learned)


def _pack_texts(
    data: Path,
    texts: dict[str, list[Path]],
    tokenizer: Tokenizer,
    rows: RowKind,
    on_stage: OnStage,
) -> tuple[dict[str, PackedCorpus], dict[str, Any]]:
    """Pack the texts "train" and "valid"; return both, and their record for config.json."""
    packed: dict[str, PackedCorpus] = {}
    sources = {}
    for name, paths in texts.items():
        times = record_times(paths)
        on_read = ByteCount(paths, f"reading the {TEXTS[name]}", on_stage)
        sentences = read_sentences(paths, on_read=on_read)
        packed[name] = pack_corpus_to(data / name, sentences, tokenizer)
        check_counts(name, packed[name].num_documents, packed[name].most_sentences, rows=rows)
        sources[name] = record_files(paths)
        check_unchanged(times)
    return packed, {
        "corpus": [path.name for path in texts["train"]],
        "valid": texts["valid"][0].name,
        "sources": sources,
        "packed": {
            name: record_corpus(data / name, corpus.fingerprint) for name, corpus in packed.items()
        },
    }


def unigram_entropy(ids: NDArray[np.generic], vocab_size: int) -> float:
    """Return the entropy of the pieces' frequencies, nats; the ids may be memory-mapped.

    At this masked-word loss, a model predicts frequent words regardless of context: the plateau
    that small BERTs have to leave.

    >>> round(unigram_entropy(np.array([1, 1, 2, 2]), 3), 4)  # two equally frequent words: ln 2
    0.6931
    """
    counts = np.zeros(vocab_size, dtype=np.int64)
    for start in range(0, len(ids), 2**20):
        counts += np.bincount(ids[start : start + 2**20].astype(np.int64), minlength=vocab_size)
    frequencies = counts[counts > 0] / counts.sum()
    return float(-(frequencies * np.log(frequencies)).sum())


def resume_run(folder: Path) -> Pretraining:
    """Open an interrupted run with its original settings.

    Skipped parts, such as a damaged checkpoint, are listed in `notices` of the result.

    ValueError if there is no run in the folder, another process trains there, the texts or the
    packed corpus changed since its start, or its config.json was changed by hand so that it cannot
    be read. RuntimeError if its packed corpus, its tokenizer or all its checkpoints are damaged.
    """
    run = _run_folder(folder)
    settings = run.read_config()
    if not isinstance(settings, dict) or "train" not in settings:
        raise ValueError(
            f"{str(run.path)!r} is no pretraining run: its config.json is that of a checkpoint. A "
            "fine-tuning run is continued with `bertscope finetune --resume`; to train a "
            "checkpoint further, name it with --checkpoint and give --out a new folder."
        )
    if settings.get("direction") is not None:
        raise ValueError(
            f"{str(run.path)!r} was started with direction_penalty, which 0.3.0 removed, so it "
            "cannot be resumed as it began. Start a new run from its checkpoint with "
            "--checkpoint."
        )
    try:
        shape = BertConfig.from_hf_dict(settings["model"])
        train_config = TrainConfig(**settings["train"])
        data_config = DataConfig(**settings["data"])
        optimizer_config = OptimizerConfig(**settings["optimizer"])
        weights = settings.get("distill")
        losses = None if weights is None else DistillConfig(**weights)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{str(run.config_file)!r} has settings that this version does not know ({error}). "
            "Restore the original file, or start a new run."
        ) from error
    lock = lock_run(run.path) if launched_rank() == 0 else nullcontext()
    with lock, run.explaining_full_disk():
        tokenizer = open_wordpiece(run.data / "tokenizer")
        if launched_rank() == 0:
            _check_record(run, settings, tokenizer)
        teacher, start = kept(run.data / TEACHER_FOLDER), kept(run.data / START_FOLDER)
        if (teacher is None) != (losses is None):
            raise RuntimeError(
                f"{str(run.config_file)!r} and {str(run.data)!r} do not agree on whether the run "
                "has a teacher. Restore the run's folder, or start a new run."
            )
        pretraining = Pretraining(
            run,
            shape=shape,
            tokenizer=tokenizer,
            train=open_corpus(run.data / "train"),
            valid=open_corpus(run.data / "valid"),
            train_config=train_config,
            data_config=data_config,
            optimizer_config=optimizer_config,
            start_from=None if start is None else start.module,
            teacher=None if teacher is None or losses is None else Teacher(teacher, losses),
            resume=True,
        )
    difference = describe_differences(settings.get("versions", {}), versions())
    if difference is not None:
        pretraining.notices.append(difference)
    return pretraining


def _check_record(run: RunFolder, settings: dict[str, Any], tokenizer: Tokenizer) -> None:
    """Reject data other than the run was started with; old runs have no record."""
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
    """Return the record of the checkpoint that a run starts from."""
    if bert is None or bert.report is None:
        return None
    return {"name": bert.name, "fingerprint": bert.report.fingerprint}


def _run_folder(folder: Path) -> RunFolder:
    return RunFolder(folder.expanduser().resolve())
