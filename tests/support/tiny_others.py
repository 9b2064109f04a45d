"""Tiny checkpoints of other architectures, written by `transformers` with random weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as FastTokenizer
from transformers import PreTrainedModel

import bertcore
from bertcore.others.model import OtherModel
from tests.support.made_once import made_once
from tests.support.tiny import tiny_tokenizer, tiny_vocabulary
from tests.support.tiny_families import CORPUS, byte_level_bpe, save_fast, unigram

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


def _template(fast: FastTokenizer, single: str, pair: str, names: list[str]) -> None:
    fast.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(name, fast.token_to_id(name)) for name in names],
    )


def _unigram(names: list[str], unk: str) -> FastTokenizer:
    fast = FastTokenizer(models.Unigram())
    fast.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    fast.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=names, unk_token=unk, show_progress=False
    )
    fast.train_from_iterator(CORPUS, trainer)
    return fast


def _save(fast: FastTokenizer, folder: Path, **names: str) -> int:
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, model_max_length=60, **names
    ).save_pretrained(folder)
    return int(fast.get_vocab_size())


def _deberta(folder: Path) -> int:
    fast = FastTokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    names = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=names,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    fast.train_from_iterator(CORPUS, trainer)
    fast.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False)])
    _template(fast, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])
    roles = ("pad_token", "cls_token", "sep_token", "unk_token")
    return _save(fast, folder, mask_token="[MASK]", **dict(zip(roles, names, strict=True)))


def _save_known(fast: FastTokenizer, folder: Path) -> int:
    save_fast(fast, folder)
    return int(fast.get_vocab_size())


def _wordpiece(folder: Path) -> int:
    tokenizer = tiny_tokenizer()
    tokenizer.save(folder)
    return tokenizer.vocab_size


def _xlnet(folder: Path) -> int:
    fast = _unigram(["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"], "<unk>")
    _template(
        fast,
        "$A:0 <sep>:0 <cls>:2",
        "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2",
        ["<sep>", "<cls>"],
    )
    return _save(
        fast,
        folder,
        unk_token="<unk>",
        cls_token="<cls>",
        sep_token="<sep>",
        pad_token="<pad>",
        mask_token="<mask>",
    )


def _t5(folder: Path) -> int:
    fast = _unigram(["<pad>", "</s>", "<unk>"], "<unk>")
    fast.add_special_tokens(SENTINELS)
    _template(fast, "$A </s>", "$A </s> $B </s>", ["</s>"])
    return _save(fast, folder, unk_token="<unk>", eos_token="</s>", pad_token="<pad>")


def _gpt2(folder: Path) -> int:
    fast = FastTokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    fast.train_from_iterator(CORPUS, trainer)
    name = "<|endoftext|>"
    return _save(fast, folder, unk_token=name, bos_token=name, eos_token=name)


def _mpnet(folder: Path) -> int:
    """MPNet's: BERT's word pieces with RoBERTa's special tokens."""
    names = ["<s>", "<pad>", "</s>", "<unk>"]
    vocab = [*names, *tiny_vocabulary(), "<mask>"]
    return _save_vocabulary(vocab, folder)


def _save_vocabulary(vocab: list[str], folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")
    transformers.MPNetTokenizer.from_pretrained(folder, model_max_length=60).save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    return len(vocab)


def _eurobert(folder: Path) -> int:
    fast = FastTokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    names = ["<|pad|>", "<|begin_of_text|>", "<|end_of_text|>", "<|mask|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=names,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    fast.train_from_iterator(CORPUS, trainer)
    first, last = names[1], names[2]
    _template(fast, f"{first} $A {last}", f"{first} $A {last} {first} $B {last}", [first, last])
    return _save(fast, folder, pad_token=names[0], mask_token=names[3])


TOKENIZERS: dict[str, Callable[[Path], int]] = {
    "deberta": _deberta,
    "deberta-v2": lambda folder: _save_known(unigram(albert=True), folder),
    "mobilebert": _wordpiece,
    "xlnet": _xlnet,
    "t5": _t5,
    "bart": lambda folder: _save_known(byte_level_bpe(), folder),
    "gpt2": _gpt2,
    "mpnet": _mpnet,
    "eurobert": _eurobert,
}
"""By model_type: writes a tokenizer and returns the size of its vocabulary."""

_ENCODER = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
_RELATIVE = {**_ENCODER, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
_V2 = {**_RELATIVE, "position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True}
_MOBILE = {
    **_ENCODER,
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
_EUROBERT = {**_ENCODER, "num_key_value_heads": 2, "pad_token_id": 0}
_EUROBERT |= {"bos_token_id": 1, "eos_token_id": 2, "mask_token_id": 3}
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "DebertaForMaskedLM": ("deberta", {**_RELATIVE, "position_biased_input": False}),
    "DebertaModel": ("deberta", {**_RELATIVE, "type_vocab_size": 2}),
    "DebertaV2ForMaskedLM": ("deberta-v2", {**_V2, "position_biased_input": False}),
    "DebertaV2Model": ("deberta-v2", {**_ENCODER, "embedding_size": 16, "type_vocab_size": 2}),
    "MobileBertForPreTraining": ("mobilebert", _MOBILE),
    "MobileBertForMaskedLM": ("mobilebert", {**_MOBILE, "normalization_type": "layer_norm"}),
    "XLNetLMHeadModel": ("xlnet", _XLNET),
    "XLNetModel": ("xlnet", _XLNET),
    "T5ForConditionalGeneration": ("t5", _T5),
    "T5EncoderModel": ("t5", _T5),
    "BartForConditionalGeneration": ("bart", {**_BART, "scale_embedding": True}),
    "GPT2LMHeadModel": ("gpt2", _GPT2),
    "MPNetForMaskedLM": ("mpnet", _ENCODER),
    "MPNetModel": ("mpnet", _ENCODER),
    "EuroBertForMaskedLM": ("eurobert", _EUROBERT),
}
"""Class of `transformers` -> its model_type and shape."""
WITH_HEADS = [name for name in CLASSES if not name.endswith("Model") or "LMHead" in name]


@made_once
def make_other(class_name: str, folder: Path, **changes: Any) -> PreTrainedModel:
    """Write a checkpoint with every weight random, tokenizer included, and return its model."""
    folder.mkdir(parents=True, exist_ok=True)
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
        if model_type == "mobilebert":  # it reads a token's neighbours, padding too: 0 in training
            model.get_input_embeddings().weight[0] = 0
        for name, buffer in model.named_buffers():
            if name == "final_logits_bias":
                buffer.add_(torch.randn(buffer.shape))
    model.save_pretrained(folder)
    return model


TASK_CLASSES = {
    "deberta": "Deberta",
    "deberta-v2": "DebertaV2",
    "mobilebert": "MobileBert",
    "xlnet": "XLNet",
    "mpnet": "MPNet",
    "eurobert": "EuroBert",
}
"""By model_type: what the classes with task heads begin with."""
_SHAPES = {
    "deberta": {**_RELATIVE, "position_biased_input": True, "type_vocab_size": 2},
    "deberta-v2": {**_V2, "position_biased_input": False},
    "mobilebert": _MOBILE,
    "xlnet": _XLNET,
    "mpnet": _ENCODER,
    "eurobert": _EUROBERT,
}


@made_once
def make_other_task(
    folder: Path, task: str, model_type: str, labels: tuple[str, ...], **changes: Any
) -> PreTrainedModel:
    """Write a fine-tuned checkpoint of another architecture with random weights.

    Args:
        folder: To write to, tokenizer included.
        task: What follows "For" in the class of `transformers`.
        model_type: A key of TASK_CLASSES.
        labels: Their names; one for a regression.
        changes: Of the config, such as problem_type.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = TOKENIZERS[model_type](folder)
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(
        model_type,
        vocab_size=size,
        attn_implementation="eager",
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        **{**_SHAPES[model_type], **changes},
    )
    if model_type == "xlnet" and task == "QuestionAnswering":
        task += "Simple"
    model: PreTrainedModel = getattr(transformers, f"{TASK_CLASSES[model_type]}For{task}")(config)
    encoder = {id(parameter) for parameter in model.base_model.parameters()}
    with torch.no_grad():
        for parameter in model.parameters():
            # A large head, so that small differences of the states show in its answers.
            parameter.add_(
                torch.randn(parameter.shape), alpha=0.1 if id(parameter) in encoder else 0.3
            )
        if model_type == "mobilebert":
            model.get_input_embeddings().weight[0] = 0
    model.eval().save_pretrained(folder)
    return model


def opened(folder: Path, **options: Any) -> OtherModel:
    """Open a folder that `make_other` wrote."""
    bert = bertcore.load(folder, device="cpu", **options)
    assert isinstance(bert, OtherModel)
    return bert


def given(bert: OtherModel, *texts: str) -> dict[str, torch.Tensor]:
    """Return the inputs of `transformers` for texts, by the folder's own tokenizer."""
    assert bert.report is not None
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert.report.folder)
    inputs = dict(tokenizer(*texts, return_tensors="pt"))
    if not bert.config.type_vocab_size:
        inputs.pop("token_type_ids", None)
    return inputs
