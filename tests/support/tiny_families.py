"""Tiny checkpoints of BERT's relatives, written by `transformers` with random weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import transformers
from tokenizers import (
    AddedToken,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from tokenizers import Tokenizer as FastTokenizer
from transformers import PreTrainedModel

from tests.support.made_once import made_once, write_random
from tests.support.tiny import tiny_tokenizer

CORPUS = [
    "The river bank was steep. It had rained all day, and the water ran down.",
    "He went to the shop and bought milk for the dog, the cat and the house.",
    "Paris is the capital of France; Berlin is the capital of Germany.",
] * 3
SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}


def bpe(names: list[str], mask: str = "") -> FastTokenizer:
    """Return a trained byte-level tokenizer; `mask` takes the space before it along."""
    fast = FastTokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=names,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    fast.train_from_iterator(CORPUS, trainer)
    if mask:
        fast.add_special_tokens([AddedToken(mask, lstrip=True, normalized=False)])
    return fast


def sentence_pieces(names: list[str], *, strips_accents: bool = False) -> FastTokenizer:
    """Return a trained Unigram tokenizer."""
    fast = FastTokenizer(models.Unigram())
    if strips_accents:
        fast.normalizer = normalizers.Sequence(
            [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
        )
    fast.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    fast.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=names, unk_token="<unk>", show_progress=False
    )
    fast.train_from_iterator(CORPUS, trainer)
    return fast


def set_template(fast: FastTokenizer, single: str, pair: str, *names: str) -> None:
    """Set where a tokenizer puts its special tokens."""
    special = [(name, fast.token_to_id(name)) for name in names]
    fast.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=special
    )


def byte_level_bpe() -> FastTokenizer:
    """Return a trained tokenizer in the form of RoBERTa's."""
    fast = bpe(["<s>", "<pad>", "</s>", "<unk>"], "<mask>")
    fast.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    return fast


def unigram(*, albert: bool) -> FastTokenizer:
    """Return a trained tokenizer in the form of ALBERT's, or of XLM-RoBERTa's."""
    names = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    if not albert:
        names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    fast = sentence_pieces(names, strips_accents=albert)
    fast.add_special_tokens([AddedToken(names[4], lstrip=True, normalized=False)])
    cls, sep = ("[CLS]", "[SEP]") if albert else ("<s>", "</s>")
    between, second = ("[SEP]:0", 1) if albert else ("</s> </s>", 0)
    pair = f"{cls} $A {between} $B:{second} {sep}:{second}"
    set_template(fast, f"{cls} $A {sep}", pair, cls, sep)
    return fast


def save_fast(fast: FastTokenizer, folder: Path, **roles: str) -> int:
    """Write a tokenizer as `transformers` does; return the size of its vocabulary.

    `roles` has the special token of each; none for those of RoBERTa or ALBERT.
    """
    if not roles:
        cls, sep, mask = ("[CLS]", "[SEP]", "[MASK]")
        if fast.token_to_id(cls) is None:
            cls, sep, mask = ("<s>", "</s>", "<mask>")
        roles = {"pad_token": "<pad>", "unk_token": "<unk>"}
        roles |= {"cls_token": cls, "sep_token": sep, "mask_token": mask}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, model_max_length=60, **roles
    ).save_pretrained(folder)
    return int(fast.get_vocab_size())


def save_wordpiece(folder: Path) -> int:
    """Write the tiny tokenizer; return the size of its vocabulary."""
    tokenizer = tiny_tokenizer()
    tokenizer.save(folder)
    return tokenizer.vocab_size


TOKENIZERS: dict[str, Callable[[Path], int]] = {
    "bert": save_wordpiece,
    "distilbert": save_wordpiece,
    "electra": save_wordpiece,
    "roberta": lambda folder: save_fast(byte_level_bpe(), folder),
    "xlm-roberta": lambda folder: save_fast(unigram(albert=False), folder),
    "albert": lambda folder: save_fast(unigram(albert=True), folder),
    "modernbert": lambda folder: save_fast(byte_level_bpe(), folder),
}
"""By model_type: writes a tokenizer and returns the size of its vocabulary."""

DISTILBERT = {
    "dim": 32,
    "n_layers": 3,
    "n_heads": 4,
    "hidden_dim": 64,
    "max_position_embeddings": 64,
}
MODERNBERT = {
    **SHAPE,
    "num_hidden_layers": 4,
    "intermediate_size": 48,
    "local_attention": 8,
    **dict.fromkeys(("bos_token_id", "cls_token_id"), 0),
    "pad_token_id": 1,
    **dict.fromkeys(("eos_token_id", "sep_token_id"), 2),
}
"""Windows that reach four tokens to each side, in layers 1 and 2."""
_WITH_BIASES = dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"), True)
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "DistilBertForMaskedLM": ("distilbert", DISTILBERT),
    "DistilBertModel": ("distilbert", {**DISTILBERT, "sinusoidal_pos_embds": True}),
    "ElectraForMaskedLM": ("electra", {**SHAPE, "embedding_size": 16}),
    "ElectraForPreTraining": ("electra", {**SHAPE, "embedding_size": 32}),
    "ElectraModel": ("electra", {**SHAPE, "embedding_size": 24, "hidden_act": "relu"}),
    "RobertaForMaskedLM": ("roberta", {**SHAPE, "type_vocab_size": 1, "hidden_act": "relu"}),
    "RobertaModel": ("roberta", {**SHAPE, "type_vocab_size": 2}),
    "XLMRobertaForMaskedLM": ("xlm-roberta", {**SHAPE, "type_vocab_size": 1}),
    "AlbertForPreTraining": ("albert", {**SHAPE, "embedding_size": 16}),
    "AlbertForMaskedLM": ("albert", {**SHAPE, "embedding_size": 32}),
    "AlbertModel": ("albert", {**SHAPE, "embedding_size": 48}),
    "ModernBertForMaskedLM": ("modernbert", MODERNBERT),
    "ModernBertModel": ("modernbert", {**MODERNBERT, **_WITH_BIASES, "local_attention": 12}),
}
"""Class of `transformers` -> its model_type and shape."""


@made_once
def make(class_name: str, folder: Path, **changes: Any) -> PreTrainedModel:
    """Write a checkpoint with every weight random, tokenizer included, and return its model."""
    model_type, shape = CLASSES[class_name]
    size = TOKENIZERS[model_type](folder)
    return write_random(folder, class_name, model_type, vocab_size=size, **{**shape, **changes})
