"""`bert.encode` of sentence encoders against `SentenceTransformer.encode`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.modules import Dropout, LayerNorm, Normalize
from torch import nn

from bertcore import Bert, load
from bertcore.model.checkpoints.folder import OnlyPickleError, find_checkpoint
from bertcore.model.sentences import POOLINGS, pool, token_parts
from tests.support.exhaustive import spread
from tests.support.kit import edit, pickled, put, store
from tests.support.sentence_encoders import make_sentence_encoder
from tests.support.what_opens import opens

TEXTS = [
    "The river bank was steep.",
    "",
    "It had rained all day!",
    "the water " * 60,
    "Cats",
    "He went to the shop and bought milk for the dog, the cat and the house.",
]
"""Of many lengths: one without a word, one that is cut."""


def assert_same(folder: Path, reference: SentenceTransformer) -> None:
    """Compare in batches that are padded, and whose order is not that of the texts."""
    expected = torch.as_tensor(reference.encode(TEXTS, batch_size=4))
    ours = load(folder, device="cpu").encode(TEXTS, batch_size=4)
    assert ours.shape == expected.shape
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize("pooling", [*POOLINGS, ("cls", "mean"), ("max", "lasttoken", "mean")])
def test_every_pooling_is_that_of_sentence_transformers(
    pooling: str | tuple[str, ...], tmp_path: Path
) -> None:
    reference = make_sentence_encoder(tmp_path / "model", pooling=pooling)
    assert_same(tmp_path / "model", reference)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("pooling", "class_name"),
    spread(
        ["mean", "weightedmean"],
        [
            *("DistilBertModel", "RobertaModel", "ElectraModel", "AlbertModel", "ModernBertModel"),
            *("DebertaV2Model", "MPNetModel"),
        ],
    ),
)
def test_every_family_is_that_of_sentence_transformers(
    class_name: str, pooling: str, tmp_path: Path
) -> None:
    reference = make_sentence_encoder(
        tmp_path / "model", class_name, pooling=pooling, after=(Normalize(),), max_length=24
    )
    assert_same(tmp_path / "model", reference)


MODULES: dict[str, Callable[[], tuple[nn.Module, ...]]] = {
    "normalised": lambda: (Normalize(),),
    "dense": lambda: (Dense(32, 12),),
    "dense, normalised": lambda: (
        Dense(32, 16, bias=False, activation_function=nn.Identity()),
        Normalize(),
    ),
    "residual": lambda: (Dense(32, 8, activation_function=nn.GELU(), use_residual=True),),
    "residual of the same width": lambda: (Dense(32, 32, use_residual=True),),
    "norm, dropout": lambda: (LayerNorm(32), Dropout(0.5), Normalize()),
    "two dense": lambda: (Dense(32, 64, activation_function=nn.ReLU()), Dense(64, 4)),
}


@opens("sentence-transformers")
@pytest.mark.parity
@pytest.mark.parametrize("name", MODULES)
def test_modules_after_the_pooling_are_those_of_sentence_transformers(
    name: str, tmp_path: Path
) -> None:
    reference = make_sentence_encoder(tmp_path / "model", after=MODULES[name]())
    assert_same(tmp_path / "model", reference)


@pytest.mark.parity
@pytest.mark.parametrize("length", [3, 7, 64])
def test_texts_are_cut_at_the_length_of_the_sentence_encoder(length: int, tmp_path: Path) -> None:
    reference = make_sentence_encoder(tmp_path / "model", max_length=length)
    assert_same(tmp_path / "model", reference)
    bert = load(tmp_path / "model", device="cpu")
    assert len(bert.sentence_encoding(TEXTS[3])) == length


@pytest.mark.parity
def test_a_default_prompt_is_put_before_every_text(tmp_path: Path) -> None:
    options = {"prompts": {"query": "the day ", "passage": ""}, "default_prompt_name": "query"}
    reference = make_sentence_encoder(tmp_path / "model", **options)
    assert_same(tmp_path / "model", reference)
    assert "'the day '" in " ".join(load(tmp_path / "model").report.sentences("vectors"))
    edit(tmp_path / "model" / "1_Pooling", include_prompt=False)
    with pytest.raises(ValueError, match="include_prompt"):
        load(tmp_path / "model", device="cpu").encode(TEXTS)
    cased = tmp_path / "cased"
    make_sentence_encoder(cased, "RobertaModel")
    edit(cased, "sentence_bert_config.json", do_lower_case=True)
    with pytest.raises(ValueError, match="do_lower_case"):
        load(cased, device="cpu").encode(TEXTS)


@pytest.mark.parity
def test_the_form_before_version_6_and_a_folder_for_the_encoder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make_sentence_encoder(folder, pooling=("cls", "mean"), after=(Dense(64, 6),), max_length=20)
    old_form(folder)
    reference = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    assert_same(folder, reference)
    assert find_checkpoint(folder) == folder / "0_Transformer" == find_checkpoint(tmp_path)
    # The folder of the encoder stands for the whole, and nothing else is found below.
    assert_same(folder / "0_Transformer", reference)


def old_form(folder: Path) -> None:
    """Rewrite a sentence encoder as version 2 of the library wrote them."""
    (folder / "0_Transformer").mkdir()
    for file in [file for file in folder.iterdir() if file.is_file()]:
        if file.name not in ("modules.json", "config_sentence_transformers.json", "README.md"):
            file.rename(folder / "0_Transformer" / file.name)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    for module in modules:
        module["type"] = f"sentence_transformers.models.{module['type'].rpartition('.')[2]}"
    put(folder, "modules.json", modules)
    settings = {"max_seq_length": 20, "do_lower_case": False}
    put(folder / "0_Transformer", "sentence_bert_config.json", settings)
    switches = {
        "word_embedding_dimension": 32,
        "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }
    put(folder / "1_Pooling", "config.json", switches)


def test_a_dense_layer_in_a_pickle_is_read_after_consent(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make_sentence_encoder(folder, after=(Dense(32, 5),))
    expected = load(folder, device="cpu").encode(TEXTS)
    pickled(folder / "2_Dense")
    with pytest.raises(OnlyPickleError):
        load(folder, device="cpu")
    assert torch.equal(load(folder, device="cpu", allow_pickle=True).encode(TEXTS), expected)


def test_a_checkpoint_without_modules_says_that_the_mean_is_taken() -> None:
    bert = load(device="cpu")
    assert bert.sentence_modules is None
    assert any("mean over all tokens" in line for line in bert.report.sentences())
    texts = TEXTS[:2]
    assert torch.equal(bert.encode(texts), bert.encode(texts, pooling="mean"))


def test_a_named_pooling_and_layer_are_those_of_the_encoder_alone(tmp_path: Path) -> None:
    make_sentence_encoder(tmp_path / "model", after=(Dense(32, 5),), max_length=6)
    bert = load(tmp_path / "model", device="cpu")
    plain = Bert(bert.module, bert.tokenizer)
    assert torch.equal(bert.encode(TEXTS, pooling="max"), plain.encode(TEXTS, pooling="max"))
    assert torch.equal(
        bert.encode(TEXTS, pooling="mean", layer=0), plain.encode(TEXTS, pooling="mean", layer=0)
    )
    with pytest.raises(ValueError, match="layer is 0"):
        bert.encode(TEXTS, layer=0)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_parts_of_the_tokens_sum_to_the_pooled_vector(pooling: str) -> None:
    hidden = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    kept = torch.ones(1, 7, dtype=torch.bool)
    parts = token_parts(hidden, pooling)
    torch.testing.assert_close(parts.sum(0), pool(hidden[None], kept, pooling)[0])


def change_module(folder: Path, number: int, **values: str) -> None:
    """Set fields of an entry of modules.json."""
    modules = json.loads((folder / "modules.json").read_text())
    modules[number] |= values
    put(folder, "modules.json", modules)


UNREAD: dict[str, Callable[[Path], None]] = {
    "SPLADE": lambda folder: change_module(
        folder, 1, type="sentence_transformers.sparse_encoder.models.SpladePooling"
    ),
    "MLMTransformer', a sparse encoder": lambda folder: change_module(
        folder, 0, type="sentence_transformers.sparse_encoder.models.MLMTransformer"
    ),
    "ColBERT": lambda folder: change_module(folder, 1, type="pylate.models.Dense.Dense"),
    "own code, which is never run": lambda folder: change_module(folder, 2, type="custom.Mine"),
    "'median'": lambda folder: edit(folder / "1_Pooling", pooling_mode=["mean", "median"]),
    "os.system": lambda folder: edit(folder / "2_Dense", activation_function="os.system"),
    "token_embeddings": lambda folder: edit(
        folder / "2_Dense", module_input_name="token_embeddings"
    ),
}
"""What the sentence names -> the change that makes it."""


@pytest.mark.parametrize("named", UNREAD)
def test_what_is_not_known_is_a_sentence_and_the_encoder_opens(named: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make_sentence_encoder(folder, after=(Dense(32, 5), Normalize()))
    UNREAD[named](folder)
    bert = load(folder, device="cpu")
    (line,) = bert.report.sentences("vectors")
    assert line.startswith("Warning: ")
    assert named in line
    with pytest.raises(ValueError, match="pooling='mean'"):
        bert.encode(TEXTS)
    assert bert.encode(TEXTS, pooling="mean").shape == (len(TEXTS), 32)


def _link(folder: Path) -> None:
    (folder / "2_Dense").rename(folder.parent / "away")
    (folder / "2_Dense").symlink_to(folder.parent / "away")


DAMAGED: dict[str, Callable[[Path], object]] = {
    "no list of modules": lambda folder: (folder / "modules.json").write_text("{}"),
    "not valid JSON": lambda folder: (folder / "modules.json").write_text("[{"),
    "2_Dense'|'/tmp'": lambda folder: change_module(folder, 2, path="/tmp"),
    "no config.json": lambda folder: (folder / "1_Pooling" / "config.json").unlink(),
    "max_seq_length": lambda folder: edit(
        folder, "sentence_bert_config.json", max_seq_length="long"
    ),
    "width 31": lambda folder: edit(folder / "2_Dense", in_features=31),
    "out_features 0": lambda folder: edit(folder / "2_Dense", out_features=0),
    r"\[5, 31\].*\[5, 32\]": lambda folder: store(
        folder / "2_Dense", {"linear.weight": torch.zeros(5, 31), "linear.bias": torch.zeros(5)}
    ),
    "is a link": _link,
    "pooling_mode": lambda folder: edit(folder / "1_Pooling", pooling_mode={}),
}
"""What the message says -> the damage."""


@pytest.mark.parametrize("said", DAMAGED)
def test_damaged_files_are_an_error(said: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make_sentence_encoder(folder, after=(Dense(32, 5),))
    DAMAGED[said](folder)
    with pytest.raises(RuntimeError, match=said):
        load(folder, device="cpu")
