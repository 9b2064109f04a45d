"""Small checkpoints as people have them, written by `transformers`: 2 layers, 32 wide.

The kit of the cases from public threads; the reference is always `reference`.
"""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

import bertcore
from tests.support.made_once import made_once
from tests.support.tiny_families import DISTILBERT, SHAPE

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_WORDS = "the food was cold but our waiter friendly river bank john smith lives in paris"
WORDS = [*SPECIAL, *LETTERS, *".,!?'-", *(f"##{c}" for c in LETTERS), *_WORDS.split()]
TEXT = "the food was [MASK] but our waiter lives in paris."


@made_once
def mini(folder: Path, name: str = "BertForSequenceClassification", **config: Any) -> Any:
    """Write a checkpoint of a class of `transformers` with a vocabulary of WORDS; return the model.

    `config` has fields of its configuration; `words`: another vocabulary.
    """
    torch.manual_seed(0)
    words = config.pop("words", WORDS)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    model_class = getattr(transformers, name)
    shape = {**SHAPE, "num_hidden_layers": 2}
    if name.startswith("DistilBert"):
        shape = {**DISTILBERT, "n_layers": 2}
    if name.startswith(("Roberta", "XLMRoberta", "ModernBert")):
        shape["pad_token_id"] = 0
    shape = {**shape, "vocab_size": len(words), **config}
    model = model_class(model_class.config_class(**shape)).eval()
    for key, parameter in model.named_parameters():
        if key.endswith("bias"):  # biases of 0 would be reported as a fresh head
            torch.nn.init.normal_(parameter, std=0.3)
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 64}
    put(folder, "tokenizer_config.json", settings)
    if name.startswith("ModernBert"):  # transformers reads its tokenizer.json alone
        transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
        (folder / "vocab.txt").unlink()
    model.save_pretrained(folder)
    return model


def put(folder: Path, name: str, value: object) -> None:
    """Write a JSON file."""
    (folder / name).write_text(json.dumps(value), encoding="utf-8")


def edit(folder: Path, name: str = "config.json", /, **fields: Any) -> None:
    """Change fields of a JSON file; None removes one."""
    values = json.loads((folder / name).read_text(encoding="utf-8")) | fields
    put(folder, name, {k: v for k, v in values.items() if v is not None or k not in fields})


def state(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder."""
    return load_file(folder / "model.safetensors")


def store(folder: Path, tensors: dict[str, Tensor]) -> None:
    """Replace the tensors of a folder."""
    copies = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    save_file(copies, folder / "model.safetensors", metadata={"format": "pt"})


def same_weights(one: Path, other: Path) -> bool:
    """Return whether two folders have the same tensors, to the last bit."""
    a, b = state(one), state(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def pickled(folder: Path, content: object = None, **options: Any) -> Path:
    """Put a pickle in place of the weights, of them or of other content; return its file."""
    content = state(folder) if content is None else content
    (folder / "model.safetensors").unlink()
    torch.save(content, folder / "pytorch_model.bin", **options)
    return folder / "pytorch_model.bin"


@torch.no_grad()
def reference(
    folder: Path, name: str, text: str = TEXT, pair: str | None = None, **options: Any
) -> Any:
    """Return the output of a class of `transformers` for a text, with hidden states."""
    model_class = getattr(transformers, name)
    model = model_class.from_pretrained(folder, attn_implementation="eager", **options).eval()
    tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    inputs = tokenizer(text, pair, return_tensors="pt")
    if not getattr(model.config, "type_vocab_size", 0):
        del inputs["token_type_ids"]
    return model(**inputs, output_hidden_states=True)


def opened(folder: Path | str, **options: Any) -> bertcore.Model:
    """Open a checkpoint on the CPU."""
    return bertcore.load(folder, device="cpu", **options)


def assert_same_states(folder: Path, name: str, text: str = TEXT) -> bertcore.Model:
    """Compare the last hidden states, and the words' logits if there are any; return the model."""
    theirs, model = reference(folder, name, text), opened(folder)
    trace = model.trace(text)
    torch.testing.assert_close(
        trace.hidden_states[-1], theirs.hidden_states[-1][0], atol=1e-5, rtol=0
    )
    if name.endswith("ForMaskedLM"):
        assert "mlm" in model.capabilities
        logits = model.module.mlm_logits(trace.word_states)
        torch.testing.assert_close(logits, theirs.logits[0], atol=1e-5, rtol=0)
    return model


def sentences(model: bertcore.Model) -> str:
    """Return the load report as one text."""
    return "\n".join(model.report.sentences())
