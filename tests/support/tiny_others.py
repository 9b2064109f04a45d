"""Tiny checkpoints of other architectures, written by `transformers` with random weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

import bertcore
from bertcore.model.others.model import OtherModel
from tests.support.made_once import made_once, prefix_of, write_random
from tests.support.tiny import tiny_vocabulary
from tests.support.tiny_families import (
    SHAPE,
    bpe,
    byte_level_bpe,
    save_fast,
    save_wordpiece,
    sentence_pieces,
    set_template,
    unigram,
)

TEXT, PAIR = "The river bank was steep.", "It had rained all day!"
MASKED = [
    "DebertaForMaskedLM",
    "DebertaV2ForMaskedLM",
    "MobileBertForPreTraining",
    "XLNetLMHeadModel",
    "T5ForConditionalGeneration",
    "BartForConditionalGeneration",
    "MPNetForMaskedLM",
    "EuroBertForMaskedLM",
]
"""Those that predict hidden words."""
SENTINELS = [f"<extra_id_{number}>" for number in range(6)]


def _deberta(folder: Path) -> int:
    pad, cls, sep, unk = names = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    fast = bpe(names, "[MASK]")
    set_template(fast, f"{cls} $A {sep}", f"{cls} $A {sep} $B:1 {sep}:1", cls, sep)
    roles = {"pad_token": pad, "cls_token": cls, "sep_token": sep, "unk_token": unk}
    return save_fast(fast, folder, mask_token="[MASK]", **roles)


def _xlnet(folder: Path) -> int:
    names = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"]
    fast = sentence_pieces(names)
    first = "$A:0 <sep>:0"
    set_template(fast, f"{first} <cls>:2", f"{first} $B:1 <sep>:1 <cls>:2", "<sep>", "<cls>")
    roles = {f"{name}_token": f"<{name}>" for name in ("unk", "cls", "sep", "pad", "mask")}
    return save_fast(fast, folder, **roles)


def _t5(folder: Path) -> int:
    fast = sentence_pieces(["<pad>", "</s>", "<unk>"])
    fast.add_special_tokens(SENTINELS)
    set_template(fast, "$A </s>", "$A </s> $B </s>", "</s>")
    return save_fast(fast, folder, unk_token="<unk>", eos_token="</s>", pad_token="<pad>")


def _gpt2(folder: Path) -> int:
    name = "<|endoftext|>"
    return save_fast(bpe([name]), folder, unk_token=name, bos_token=name, eos_token=name)


def _mpnet(folder: Path) -> int:
    """MPNet's: BERT's word pieces with RoBERTa's special tokens."""
    vocab = ["<s>", "<pad>", "</s>", "<unk>", *tiny_vocabulary(), "<mask>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")
    transformers.MPNetTokenizer.from_pretrained(folder, model_max_length=60).save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    return len(vocab)


def _eurobert(folder: Path) -> int:
    pad, first, last, mask = "<|pad|>", "<|begin_of_text|>", "<|end_of_text|>", "<|mask|>"
    fast = bpe([pad, first, last, mask])
    set_template(fast, f"{first} $A {last}", f"{first} $A {last} {first} $B {last}", first, last)
    return save_fast(fast, folder, pad_token=pad, mask_token=mask)


TOKENIZERS: dict[str, Callable[[Path], int]] = {
    "deberta": _deberta,
    "deberta-v2": lambda folder: save_fast(unigram(albert=True), folder),
    "mobilebert": save_wordpiece,
    "xlnet": _xlnet,
    "t5": _t5,
    "bart": lambda folder: save_fast(byte_level_bpe(), folder),
    "gpt2": _gpt2,
    "mpnet": _mpnet,
    "eurobert": _eurobert,
}
"""By model_type: writes a tokenizer and returns the size of its vocabulary."""

_RELATIVE = {**SHAPE, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
_V2 = {**_RELATIVE, "position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True}
_MOBILE = {
    **SHAPE,
    "embedding_size": 16,
    "intra_bottleneck_size": 16,
    "true_hidden_size": 16,
    "num_feedforward_networks": 2,
}
_XLNET = {"d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 64}
_T5 = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 3,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}
_BART = {
    "d_model": 32,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
}
_GPT2 = {
    "n_embd": 32,
    "n_layer": 3,
    "n_head": 4,
    "n_positions": 64,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
_EUROBERT = {**SHAPE, "num_key_value_heads": 2, "pad_token_id": 0}
_EUROBERT |= {"bos_token_id": 1, "eos_token_id": 2, "mask_token_id": 3}
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "DebertaForMaskedLM": ("deberta", {**_RELATIVE, "position_biased_input": False}),
    "DebertaModel": ("deberta", {**_RELATIVE, "type_vocab_size": 2}),
    "DebertaV2ForMaskedLM": ("deberta-v2", {**_V2, "position_biased_input": False}),
    "DebertaV2Model": ("deberta-v2", {**SHAPE, "embedding_size": 16, "type_vocab_size": 2}),
    "MobileBertForPreTraining": ("mobilebert", _MOBILE),
    "MobileBertForMaskedLM": ("mobilebert", {**_MOBILE, "normalization_type": "layer_norm"}),
    "XLNetLMHeadModel": ("xlnet", _XLNET),
    "XLNetModel": ("xlnet", _XLNET),
    "T5ForConditionalGeneration": ("t5", _T5),
    "T5EncoderModel": ("t5", _T5),
    "BartForConditionalGeneration": ("bart", {**_BART, "scale_embedding": True}),
    "GPT2LMHeadModel": ("gpt2", _GPT2),
    "MPNetForMaskedLM": ("mpnet", SHAPE),
    "MPNetModel": ("mpnet", SHAPE),
    "EuroBertForMaskedLM": ("eurobert", _EUROBERT),
}
"""Class of `transformers` -> its model_type and shape."""
WITH_HEADS = [name for name in CLASSES if not name.endswith("Model") or "LMHead" in name]


@made_once
def make_other(class_name: str, folder: Path, **changes: Any) -> PreTrainedModel:
    """Write a checkpoint with every weight random, tokenizer included, and return its model."""
    folder.mkdir(parents=True, exist_ok=True)
    model_type, shape = CLASSES[class_name]
    config = {"vocab_size": TOKENIZERS[model_type](folder), **shape, **changes}
    return write_random(folder, class_name, model_type, **config)


TASK_SHAPES: dict[str, dict[str, Any]] = {
    "deberta": {**_RELATIVE, "position_biased_input": True, "type_vocab_size": 2},
    "deberta-v2": {**_V2, "position_biased_input": False},
    "mobilebert": _MOBILE,
    "xlnet": _XLNET,
    "mpnet": SHAPE,
    "eurobert": _EUROBERT,
}
"""By model_type: those that classes with task heads have."""


@made_once
def make_other_task(
    folder: Path, task: str, model_type: str, labels: tuple[str, ...], **changes: Any
) -> PreTrainedModel:
    """Write a fine-tuned checkpoint of another architecture with random weights.

    The task follows "For" in the class of `transformers`; `model_type` is a key of TASK_SHAPES. One
    label makes a regression; `changes` are of the config, such as problem_type.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {"vocab_size": TOKENIZERS[model_type](folder), **TASK_SHAPES[model_type], **changes}
    if model_type == "xlnet" and task == "QuestionAnswering":
        task += "Simple"
    name = f"{prefix_of(model_type)}For{task}"
    return write_random(folder, name, model_type, labels=labels, seed=1, **config)


def opened(folder: Path, **options: Any) -> OtherModel:
    """Open a folder that `make_other` wrote."""
    bert = bertcore.load(folder, device="cpu", **options)
    assert isinstance(bert, OtherModel)
    return bert


def both(class_name: str, folder: Path) -> tuple[OtherModel, PreTrainedModel]:
    """Write a checkpoint; return it opened by us, and the model of `transformers`."""
    model = make_other(class_name, folder)
    return opened(folder), model


def given(bert: OtherModel, *texts: str) -> dict[str, torch.Tensor]:
    """Return the inputs of `transformers` for texts, by the folder's own tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert.report.folder)
    inputs = dict(tokenizer(*texts, return_tensors="pt"))
    if not bert.config.type_vocab_size:
        inputs.pop("token_type_ids", None)
    return inputs
