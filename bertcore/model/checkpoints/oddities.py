"""What fits together badly in a checkpoint's files although all could be read. Source: ours."""

from collections.abc import Iterator

from bertcore.model.checkpoints.files import CheckpointFolder
from bertcore.model.checkpoints.folder import ADAPTER_CONFIG, find_modules
from bertcore.model.checkpoints.origin import own_code
from bertcore.model.checkpoints.report import TaskFacts, odd_labels
from bertcore.model.checkpoints.task import PART_OF
from bertcore.model.tokenizer import Tokenizer

_MANY = 0.05
"""Fraction of a vocabulary with capitals from which it counts as cased."""


def find_oddities(
    files: CheckpointFolder, tokenizer: Tokenizer, task: TaskFacts, family: str
) -> tuple[str, ...]:
    """Return the oddities of an opened checkpoint: what it is, what it means, and what to do."""
    return (
        *_around(files, family),
        *_beside(files),
        *tokenizer.remarks,
        *(() if task.num_outputs is None else odd_labels(files.config, task.num_outputs)),
        *_padding(files, tokenizer),
        *_case(tokenizer),
    )


def _around(files: CheckpointFolder, family: str) -> Iterator[str]:
    outer = files.config.get(PART_OF)
    if outer is not None:
        vector = " Its vector of a text is the last state of [CLS]." if outer == "dpr" else ""
        yield (
            f"config.json describes a model around an encoder (model_type {str(outer)[:50]!r}); "
            f"the {family} in it was opened.{vector}"
        )
    file = next(iter(sorted(path.name for path in files.base.glob("*.py"))), None)
    code = file or own_code(files.config)
    if code is not None:
        yield (
            f"It comes with its own code ({code[:80]}), which is never run: its tensors are "
            f"read as {family}. If that code computes something else, its answers differ."
        )


def setfit_head(files: CheckpointFolder) -> str | None:
    """Return a sentence on the classifier of SetFit in a folder, or None."""
    modules = find_modules(files.folder)
    root = files.folder if modules is None else modules[0]
    if not (root / "model_head.pkl").is_file():
        return None
    return (
        "model_head.pkl, the classifier of SetFit, is a pickle of scikit-learn and is never "
        "opened: only the encoder is. Fine-tune it here to classify, or use setfit."
    )


def _beside(files: CheckpointFolder) -> Iterator[str]:
    if files.adapter is None and (files.base / ADAPTER_CONFIG).is_file():
        yield (
            f"Warning: {ADAPTER_CONFIG} is beside the weights, which were read without that "
            "adapter. transformers would open the adapter's base with it: for that, move the "
            "adapter's two files to a folder of their own."
        )
    setfit = setfit_head(files)
    if setfit is not None:
        yield setfit


def _padding(files: CheckpointFolder, tokenizer: Tokenizer) -> Iterator[str]:
    pad = files.config.get("pad_token_id")
    if type(pad) is int and tokenizer.pad_id >= 0 and pad != tokenizer.pad_id:
        yield (
            f"Warning: the tokenizer ({tokenizer.kind}) pads with id {tokenizer.pad_id}, but "
            f"config.json has pad_token_id {pad}. If words are split into strange pieces, it "
            "belongs to another checkpoint: copy its files from the source of the weights."
        )


def _case(tokenizer: Tokenizer) -> Iterator[str]:
    added = {token.content for token in tokenizer.added_tokens}
    words = [p for p in tokenizer.vocab if p.isascii() and p[:1] != "[" and p not in added]
    upper = [] if "".join(words).islower() else [word for word in words if word != word.lower()]
    num_upper = len(upper)
    if tokenizer.do_lower_case and upper:
        pieces = f"{num_upper:,} piece{'s' * (num_upper > 1)}"
        yield (
            f"{'Warning: t' if num_upper > _MANY * len(words) else 'T'}ext is lower-cased, so that "
            f"{pieces} with capitals ({', '.join(upper[:3])}{', ...' if num_upper > 3 else ''}) "
            "cannot occur. If the checkpoint is a cased one, set do_lower_case to false in "
            "tokenizer_config.json."
        )
    elif not tokenizer.do_lower_case and tokenizer.kind == "WordPiece" and words and not num_upper:
        yield (
            "Warning: text is not lower-cased, but no piece of the vocabulary has a capital, so "
            "that words with capitals are unknown. If the checkpoint is an uncased one, set "
            "do_lower_case to true in tokenizer_config.json."
        )
