"""Forms of tokenizer folders from public threads; each names its thread."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import cases
from tests.support.kit import SPECIAL as S
from tests.support.kit import edit
from tests.support.odd_tokenizers import (
    CLASS,
    W,
    added,
    check_same,
    from_json,
    made,
    put,
    said,
    token,
)
from tests.support.tiny_families import CORPUS

pytestmark = pytest.mark.parity
FOLLOW = "write PreTrainedTokenizerFast into tokenizer_config.json"


def test_a_bert_with_an_unnamed_tokenizer_of_xlm_roberta(tmp_path: Path) -> None:
    """paraphrase-multilingual-MiniLM-L12-v2, sdadas/mmlw (embeddings-benchmark/mteb#5377)."""
    from_json(tmp_path, lambda c: None, model_type="xlm-roberta")
    edit(tmp_path, "tokenizer_config.json", tokenizer_class="RobertaTokenizer")
    assert said(check_same(tmp_path), FOLLOW)
    put(tmp_path, "config.json", {"model_type": "bert"})
    edit(tmp_path, "tokenizer_config.json", tokenizer_class=None)
    assert said(check_same(tmp_path), FOLLOW)
    edit(tmp_path, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    assert check_same(tmp_path).kind == "Unigram"


def test_rules_of_tokenizer_json_that_gpt2tokenizer_does_not_follow(tmp_path: Path) -> None:
    """granite-4.0-micro (generative-computing/mellea#947)."""
    split = {"type": "Split", "pattern": {"Regex": r"\d|a"}, "behavior": "Isolated"}

    def change(rules: dict[str, Any]) -> None:
        parts = [split | {"invert": False}, rules["pre_tokenizer"]]
        rules["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": parts}

    from_json(tmp_path, change, model_type="roberta", tokenizer_class="GPT2Tokenizer")
    check_same(tmp_path)


@pytest.mark.parametrize("class_name", ["RobertaTokenizerFast", None])
def test_tokenizer_json_without_the_type_of_its_model(
    class_name: str | None, tmp_path: Path
) -> None:
    """roberta-base (huggingface/transformers#47706)."""
    from_json(tmp_path, lambda c: c["model"].pop("type"), model_type="roberta")
    edit(tmp_path, "tokenizer_config.json", tokenizer_class=class_name)
    assert check_same(tmp_path).kind == "byte-level BPE"


@pytest.mark.parametrize("model_type", ["bert", "roberta"])
def test_truncation_and_padding_in_tokenizer_json(model_type: str, tmp_path: Path) -> None:
    """all-MiniLM-L6-v2 (sugarme/tokenizer#29, martin-conur/quackformers#83)."""
    truncation = {"max_length": 128, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    padding = {"strategy": {"Fixed": 128}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    parts = {"truncation": truncation, "padding": padding}
    check_same(from_json(tmp_path, lambda c: c.update(parts), model_type=model_type))


def test_many_added_tokens_some_of_them_alike(tmp_path: Path) -> None:
    """A BERT with 10,000 more words (huggingface/transformers#11759)."""
    words = [f"#w{number}" for number in range(10_000)]
    tokens = {word: len(W) + number for number, word in enumerate(words)}
    made(tmp_path)
    put(tmp_path, "added_tokens.json", {**tokens, "#W7": len(W) + 10_001, "bank": len(W) + 10_002})
    ours = check_same(tmp_path)
    tokens = ours.encode("#w7 #w9999").tokens
    assert tokens[1] in ("#w7", "#W7")
    assert tokens[2] == "#w9999"
    assert said(ours, "in added_tokens.json, but transformers gives it")


def test_entity_markers_with_chinese_characters(tmp_path: Path) -> None:
    """PURE on Chinese text (princeton-nlp/PURE#36)."""
    marks = ["<subj_start=地点>", "<subj_end=地点>", "[unused1]"]
    check_same(added(tmp_path, *(token(mark, normalized=True) for mark in marks)), steps=True)
    made(tmp_path, [*S, "[unused1]", "[unused2]", *W[5:]])
    settings = {"additional_special_tokens": ["[unused1]"], "do_basic_tokenize": False}
    put(tmp_path, "tokenizer_config.json", {**CLASS, **settings})
    assert check_same(tmp_path, steps=True).encode("a [unused1] b").tokens[2] == "[unused1]"


def sentencepiece(folder: Path, name: str, kind: str, **names: Any) -> None:
    trainer = pytest.importorskip("sentencepiece").SentencePieceTrainer
    texts = folder / "texts.txt"
    texts.write_text("\n".join(CORPUS * 3))
    trainer.train(
        input=str(texts),
        model_prefix=str(folder / "made"),
        vocab_size=50,
        model_type=kind,
        minloglevel=2,
        **names,
    )
    (folder / "made.model").rename(folder / name)
    texts.unlink()
    (folder / "made.vocab").unlink()


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_sentencepiece_with_added_padding_and_mask(kind: str, tmp_path: Path) -> None:
    """An XLM-RoBERTa of one's own (huggingface/transformers#9246)."""
    sentencepiece(tmp_path, "sentencepiece.bpe.model", kind)
    put(tmp_path, "config.json", {"model_type": "xlm-roberta"})
    put(tmp_path, "added_tokens.json", {"<pad>": 50, "<mask>": 51})
    ours = check_same(tmp_path)
    assert ours.encode("<mask>").tokens[-2] == "<mask>"


@pytest.mark.parametrize(("name", "file", "model_type"), cases("sentencepiece_alone"))
def test_sentencepiece_alone(name: str | None, file: str, model_type: str, tmp_path: Path) -> None:
    """CamemBERT in transformers 5 (huggingface/transformers#44671, #11358)."""
    is_albert = "albert" in (name or model_type).lower()
    names = {"control_symbols": "[CLS],[SEP],[MASK]"} if is_albert else {}
    sentencepiece(tmp_path, file, "unigram", **names)
    put(tmp_path, "config.json", {"model_type": model_type})
    if name is not None:
        put(tmp_path, "tokenizer_config.json", {"tokenizer_class": name})
    check_same(tmp_path, tokens={})
    put(tmp_path, "tokenizer_config.json", {"tokenizer_class": name, "do_lower_case": True})
    check_same(tmp_path, tokens={})


def test_old_settings_of_every_version(tmp_path: Path) -> None:
    """transformers 1 to 4: paths of another machine, 1e30, roles as objects."""
    mark = {"content": "[MASK]", "single_word": False, "lstrip": False, "rstrip": False}
    old: list[dict[str, object]] = [
        {"do_lower_case": True, "max_len": 512, "init_inputs": []},
        {"do_lower_case": False, "model_max_length": 1000000000000000019884624838656},
        {"do_lower_case": True, "do_basic_tokenize": True, "never_split": None},
        {"name_or_path": "/home/x/bert", "special_tokens_map_file": "/home/x/map.json"},
        {"tokenizer_class": "BertTokenizerFast", "tokenizer_file": None, "strip_accents": None},
        {"mask_token": {**mark, "normalized": True, "__type": "AddedToken"}},
        {"tokenizer_class": None, "wordpieces_prefix": "##", "tokenize_chinese_chars": True},
    ]
    for number, settings in enumerate(old):
        folder = made(tmp_path / str(number), config=settings, max_position_embeddings=64)
        put(folder, "special_tokens_map.json", {"mask_token": {**mark, "normalized": True}})
        put(folder, "added_tokens.json", {})
        ours = check_same(folder, steps=True)
        assert ours.model_max_length == 64
