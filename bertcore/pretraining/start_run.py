"""From text files to a Pretraining that is ready to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bertcore.config import BertConfig
from bertcore.pretraining.batches import DataConfig
from bertcore.pretraining.corpus import (
    PackedCorpus,
    open_corpus,
    pack_corpus,
    read_documents,
    read_sentences,
    save_corpus,
)
from bertcore.pretraining.loop import Pretraining, TrainConfig, versions
from bertcore.pretraining.optimizer import OptimizerConfig
from bertcore.pretraining.run_folder import RunFolder
from bertcore.tokenizer import Tokenizer, train_vocabulary


@dataclass(frozen=True, slots=True)
class _Texts:
    """The paragraphs of files, read anew each time: a vocabulary reads its text twice."""

    paths: tuple[Path, ...]

    def __iter__(self) -> Iterator[str]:
        for document in read_documents(self.paths):
            yield from document


def train_tokenizer(
    corpus: Sequence[Path], *, vocab_size: int, do_lower_case: bool = True
) -> Tokenizer:
    """Learn a WordPiece vocabulary from text files.

    Raises:
        ValueError: If a file cannot be read or the text is too small for so many pieces.
    """
    vocab = train_vocabulary(
        _Texts(tuple(corpus)), vocab_size=vocab_size, do_lower_case=do_lower_case
    )
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
) -> Pretraining:
    """Pack the corpora into a new run folder and build the run.

    Raises:
        ValueError: If the folder is not empty, a file cannot be read, or settings do not fit.
    """
    run = RunFolder(folder)
    for path in (*corpus, valid):
        next(read_documents([path]), None)  # a file that cannot be read stops us before we write
    run.write_config(
        {
            "command": command,
            "versions": versions(),
            "corpus": [path.name for path in corpus],
            "valid": valid.name,
            "model": shape.to_hf_dict(),
            "train": asdict(train_config),
            "data": asdict(data_config),
            "optimizer": asdict(optimizer_config),
        }
    )
    tokenizer.save(run.data / "tokenizer")
    packed: dict[str, PackedCorpus] = {}
    for name, paths in (("train", list(corpus)), ("valid", [valid])):
        save_corpus(pack_corpus(read_sentences(paths), tokenizer), run.data / name)
        packed[name] = open_corpus(run.data / name)
    return Pretraining(
        run,
        shape=shape,
        tokenizer=tokenizer,
        train=packed["train"],
        valid=packed["valid"],
        train_config=train_config,
        data_config=data_config,
        optimizer_config=optimizer_config,
    )


def resume_run(folder: Path) -> Pretraining:
    """Open an interrupted run with the settings that it was started with.

    Raises:
        ValueError: If there is no run or no checkpoint in the folder.
    """
    run = RunFolder(folder)
    settings = run.read_config()
    return Pretraining(
        run,
        shape=BertConfig.from_hf_dict(settings["model"]),
        tokenizer=Tokenizer.open(run.data / "tokenizer"),
        train=open_corpus(run.data / "train"),
        valid=open_corpus(run.data / "valid"),
        train_config=TrainConfig(**settings["train"]),
        data_config=DataConfig(**settings["data"]),
        optimizer_config=OptimizerConfig(**settings["optimizer"]),
        resume=True,
    )
