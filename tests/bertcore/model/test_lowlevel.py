"""BERT in plain tensors: equal to `Bert` and to `transformers`; other families' tensors refused."""

import json
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from bertcore import Bert, load
from bertcore.model import lowlevel
from bertcore.model.checkpoints.source import SHIPPED
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "notebooks" / "bert_in_plain_tensors.ipynb"
GUIDE = ROOT / "docs" / "read-the-code.md"
SHAPES = [
    {},
    {"num_hidden_layers": 1, "num_attention_heads": 1},
    {"hidden_size": 48, "num_attention_heads": 3, "intermediate_size": 20, "num_hidden_layers": 3},
    {"tie_word_embeddings": False, "layer_norm_eps": 1e-5},
]
Opened = tuple[Bert, dict[str, torch.Tensor], dict[str, Any], Any]


def read(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tensors = load_file(folder / "model.safetensors")
    return {name: tensor.float() for name, tensor in tensors.items()}, config


@pytest.fixture(scope="module", params=range(len(SHAPES)))
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    bert = tiny_bert(tiny_config(**SHAPES[request.param]))
    folder = bert.save(tmp_path_factory.mktemp("bert") / "tiny")
    model = transformers.BertForPreTraining.from_pretrained(folder).eval()
    return bert, *read(folder), model


def batch(bert: Bert) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A pair, a shorter text and a single word, padded: ids, segments and mask, [3, T]."""
    texts = [("the man went to the river.", "he was good"), ("old dogs sat", None), ("paris", None)]
    rows = [bert.tokenize(*pair) for pair in texts]
    width = max(map(len, rows))
    ids, segments, mask = torch.zeros(3, 3, width, dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row.input_ids)
        segments[number, : len(row)] = torch.tensor(row.segment_ids)
        mask[number, : len(row)] = 1
    return ids, segments, mask


@torch.no_grad()
def test_equal_to_both_with_padding_and_pairs(opened: Opened) -> None:
    bert, tensors, config, model = opened
    ids, segments, mask = batch(bert)
    kept = mask.bool()
    labels = torch.where(torch.arange(ids.shape[1]) % 3 == 1, ids, lowlevel.IGNORED)
    labels[~kept] = lowlevel.IGNORED
    follows = torch.tensor([0, 1, 1])
    hidden = lowlevel.forward(tensors, config, ids, segments, mask)
    ours = bert.module(ids, segments, kept)
    theirs = model(
        ids,
        token_type_ids=segments,
        attention_mask=mask,
        output_hidden_states=True,
        labels=labels,
        next_sentence_label=follows,
    )
    torch.testing.assert_close(hidden[kept], ours[kept], atol=1e-5, rtol=0)
    torch.testing.assert_close(hidden[kept], theirs.hidden_states[-1][kept], atol=1e-5, rtol=0)
    words = lowlevel.masked_word_logits(tensors, config, hidden)
    torch.testing.assert_close(words[kept], theirs.prediction_logits[kept], atol=1e-5, rtol=1e-5)
    own = bert.module.mlm_logits(ours)[kept]
    torch.testing.assert_close(words[kept], own, atol=1e-5, rtol=1e-5)
    pairs = lowlevel.next_sentence_logits(tensors, hidden)
    torch.testing.assert_close(pairs, theirs.seq_relationship_logits, atol=1e-5, rtol=1e-5)
    loss = lowlevel.masked_word_loss(words, labels) + lowlevel.next_sentence_loss(pairs, follows)
    assert float(loss) == pytest.approx(float(theirs.loss), abs=1e-5)


@torch.no_grad()
def test_a_matrix_for_words_of_its_own_has_a_bias_of_its_own(tmp_path: Path) -> None:
    shape = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(**shape, intermediate_size=24, tie_word_embeddings=False)
    model = transformers.BertForPreTraining(config).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.normal_()
    model.save_pretrained(tmp_path)
    tensors, stated = read(tmp_path)
    ids = torch.tensor([[2, 9, 17, 3]])
    words = lowlevel.masked_word_logits(tensors, stated, lowlevel.forward(tensors, stated, ids))
    torch.testing.assert_close(words, model(ids).prediction_logits, atol=1e-5, rtol=1e-5)
    left = {key: one for key, one in tensors.items() if "decoder" not in key}
    with pytest.raises(ValueError, match=r"no matrix of its own for words"):
        lowlevel.masked_word_logits(left, stated, torch.zeros(1, 4, 32))


@torch.no_grad()
def test_a_classifier(tmp_path: Path) -> None:
    shape = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.BertConfig(**shape, intermediate_size=64, initializer_range=0.3)
    model = transformers.BertForSequenceClassification(config).eval()
    model.save_pretrained(tmp_path)
    tensors, stated = read(tmp_path)
    ids = torch.tensor([[2, 9, 17, 3]])
    hidden = lowlevel.forward(tensors, stated, ids)
    found = lowlevel.class_logits(tensors, hidden)
    torch.testing.assert_close(found, model(ids).logits, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="next-sentence head"):
        lowlevel.next_sentence_logits(tensors, hidden)
    with pytest.raises(ValueError, match="masked-word head"):
        lowlevel.masked_word_logits(tensors, stated, hidden)


@torch.no_grad()
def test_the_shipped_checkpoint() -> None:
    bert = load(device="cpu")
    tensors, config = read(SHIPPED["default"])
    encoding = bert.tokenize("The man went to the river.", "It was deep.")
    ids, segments = torch.tensor([encoding.input_ids]), torch.tensor([encoding.segment_ids])
    hidden = lowlevel.forward(tensors, config, ids, segments)
    torch.testing.assert_close(hidden[0], bert.hidden(encoding), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["RobertaForMaskedLM", "GPT2LMHeadModel"])
def test_another_family_is_refused(name: str, tmp_path: Path) -> None:
    (make_other if name.startswith("GPT2") else make)(name, tmp_path)
    tensors, config = read(tmp_path)
    with pytest.raises(ValueError, match=r"reads BERT only.*bertcore\.load"):
        lowlevel.forward(tensors, config, torch.tensor([[0]]))
    with pytest.raises(ValueError, match=r"tensors of BERT are missing.*bertcore\.load"):
        lowlevel.check(tensors, {"num_hidden_layers": 2})


def test_what_would_be_read_wrongly_is_refused(opened: Opened) -> None:
    """GPT's direction and tensors that would be passed over change the answer without a sign."""
    _, tensors, config, _ = opened
    ids = torch.zeros(1, 65, dtype=torch.long)
    with pytest.raises(ValueError, match="65 tokens; this checkpoint has 64 positions"):
        lowlevel.forward(tensors, config, ids)
    with pytest.raises(ValueError, match="is_decoder True"):
        lowlevel.forward(tensors, config | {"is_decoder": True}, ids)
    more = "bert.encoder.layer.0.attention.self.distance_embedding.weight"
    with pytest.raises(ValueError, match=f"'{more}' is no tensor of BERT's encoder"):
        lowlevel.check(tensors | {more: torch.zeros(1)}, config)
    cut = "bert.encoder.layer.0.output.dense."
    left = {name: tensor for name, tensor in tensors.items() if not name.startswith(cut)}
    with pytest.raises(ValueError, match=r"2 tensors of BERT are missing.*the file has '"):
        lowlevel.check(left, config)


def test_the_notebook_runs() -> None:
    """Each cell in order, as a reader runs it; its own assertions are the equality."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
    assert float(names["loss"]) > 0
    assert not any(cell.get("outputs") for cell in cells), "commit the notebook without outputs"


def test_the_guide_names_every_function() -> None:
    """In the order of the file, which is that of a forward pass."""
    guide = GUIDE.read_text(encoding="utf-8")
    own = [name for name, one in vars(lowlevel).items() if isfunction(one)]
    places = [guide.find(f"`{name}`") for name in own]
    assert -1 not in places, [name for name in own if f"`{name}`" not in guide]
