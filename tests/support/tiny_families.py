"""Tiny checkpoints of BERT's relatives, written by `transformers` with random weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
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

from tests.support.made_once import made_once
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


def byte_level_bpe() -> FastTokenizer:
    """Return a trained tokenizer in the form of RoBERTa's."""
    fast = FastTokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    fast.train_from_iterator(CORPUS, trainer)
    fast.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    fast.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    return fast


def unigram(*, albert: bool) -> FastTokenizer:
    """Return a trained tokenizer in the form of ALBERT's, or of XLM-RoBERTa's."""
    names = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    if not albert:
        names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    fast = FastTokenizer(models.Unigram())
    if albert:
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
    fast.add_special_tokens([AddedToken(names[4], lstrip=True, normalized=False)])
    cls, sep = ("[CLS]", "[SEP]") if albert else ("<s>", "</s>")
    between, second = ("[SEP]:0", 1) if albert else ("</s> </s>", 0)
    fast.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {between} $B:{second} {sep}:{second}",
        special_tokens=[(name, fast.token_to_id(name)) for name in (cls, sep)],
    )
    return fast


def save_fast(fast: FastTokenizer, folder: Path) -> None:
    """Write a tokenizer as `transformers` does, with the names of its special tokens."""
    bracketed = fast.token_to_id("[CLS]") is not None
    names = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    if not bracketed:
        names = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")
    roles = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, model_max_length=60, **dict(zip(roles, names, strict=True))
    ).save_pretrained(folder)


def _wordpiece(folder: Path) -> int:
    tokenizer = tiny_tokenizer()
    tokenizer.save(folder)
    return tokenizer.vocab_size


def _fast(fast: FastTokenizer, folder: Path) -> int:
    save_fast(fast, folder)
    return int(fast.get_vocab_size())


TOKENIZERS: dict[str, Callable[[Path], int]] = {
    "bert": _wordpiece,
    "distilbert": _wordpiece,
    "electra": _wordpiece,
    "roberta": lambda folder: _fast(byte_level_bpe(), folder),
    "xlm-roberta": lambda folder: _fast(unigram(albert=False), folder),
    "albert": lambda folder: _fast(unigram(albert=True), folder),
    "modernbert": lambda folder: _fast(byte_level_bpe(), folder),
}
"""By model_type: writes a tokenizer and returns the size of its vocabulary."""

_DISTILBERT = {
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
    "DistilBertForMaskedLM": ("distilbert", _DISTILBERT),
    "DistilBertModel": ("distilbert", {**_DISTILBERT, "sinusoidal_pos_embds": True}),
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
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        model_type, vocab_size=size, attn_implementation="eager", **{**shape, **changes}
    )
    model: PreTrainedModel = getattr(transformers, class_name)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape), alpha=0.1)
    model.save_pretrained(folder)
    return model
