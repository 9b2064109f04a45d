"""Put a checkpoint among those that ship: float16 weights, and answers of the originals for a test.

    python docs/ship_checkpoint.py FOLDER NAME          # NAME: one of SHIPPED
    python docs/ship_checkpoint.py FOLDER NAME RANK     # as an adapter of the default

Copies config.json, the tokenizer, the weights, and what tells of the training text or the
fine-tuning (its files without their folders). The card (README.md) and the labelled file are
written by hand. The tests say by how much float16 changes a probability.

An adapter has what fine-tuning changed of each matrix of the encoder and of the embeddings, cut at
a rank; pooler, head, LayerNorms and biases are whole; the tokenizer is the default's. A matrix that
was not trained is left out.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from bertcore import load
from bertcore.analysis.attribution import answer, task_input
from bertcore.analysis.attribution.task_input import run_task, whole
from bertcore.model.bert import with_parts
from bertcore.model.checkpoints.folder import ADAPTER_CONFIG, ADAPTER_WEIGHTS, SAFETENSORS
from bertcore.model.checkpoints.source import DEFAULT, SHIPPED
from bertcore.training.tasks.classify import LabelAnswer
from bertcore.training.tasks.model import open_task_model
from bertcore.training.tasks.tag import TagAnswer

ANSWERS = Path(__file__).resolve().parents[1] / "tests" / "data" / "float32_answers"
TEXTS = (
    ("The capital of France is [MASK].", "It is the largest [MASK] of the country."),
    ("She poured the tea into her [MASK].", "The committee elected a new chairman."),
    ("The plot is thin, but the [MASK] is wonderful.", "I would not buy it again."),
    ("The [MASK] that came with the phone broke after a week.", "It was of no use to me."),
    ("He has been the mayor of the [MASK] since 1987.", "The river is 90 kilometres long."),
    ('"Where are you [MASK]?" she asked.', '"Home," he said, and shut the door.'),
    ("Service was slow and the [MASK] arrived cold!", "We will be back next week."),
    ("Photosynthesis takes place in the [MASK] of plants.", "Plants need light and water."),
)
"""Each pair is answered; text A alone by a fine-tuned checkpoint, text B by a causal one."""
TEXTS_OF = {
    "zh": (
        ("我爱[MASK]习。", "我每天都去学[MASK]。"),
        ("他是一名日本[MASK]球運動員。", "北京是中国的首[MASK]。"),
        ("該站位於[MASK]京都港區。", "車站[MASK]年啟用。"),
    ),
    "ru": (
        ("Я люблю [MASK].", "Он вышел из [MASK]."),
        ("Она посмотрела на него и [MASK].", "Мать сидела у [MASK]."),
        ("Было уже [MASK], когда он вернулся.", "Все молчали."),
    ),
}
"""The pairs of the checkpoints of other languages."""
QUESTIONS = (
    ("What is the capital of France?", "Lyon is large, but the capital of France is Paris."),
    ("Who built the bridge?", "The old bridge was built by the Romans in the second century."),
    ("When did the war end?", "Plants need light, water and warm soil to grow."),
    ("How long is the river?", "The river is 90 kilometres long. It rises in the north of Spain."),
)
"""Each with a text: what a checkpoint of spans is asked. The third has no answer there."""
COPIED = (
    "config.json",
    "vocab.txt",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)


def answers_of(source: str | Path, name: str) -> dict[str, NDArray[np.float32]]:
    """Return the probabilities that a checkpoint answers the texts of a shipped name with."""
    bert = load(source, device="cpu")
    answers = {}
    if "mlm" in bert.capabilities:
        for number, pair in enumerate(TEXTS_OF.get(name, TEXTS)):
            _, words = bert.mask_probabilities(bert.tokenize(*pair))
            answers[f"words {number}"] = words.numpy()[:, :4000]
            follows = bert.next_sentence(*pair)
            shares = [follows.is_next, follows.not_next]
            answers[f"pair {number}"] = np.array(shares, dtype=np.float32)
        return answers
    if "next" in bert.capabilities:
        for number, (_, text) in enumerate(TEXTS):
            states = bert.word_states(bert.tokenize(text))[1:-2]  # each after two tokens or more
            logits = with_parts(bert).module.next_logits(states).detach()
            answers[f"next {number}"] = logits.softmax(-1).numpy()[:, :500]
        return answers
    model = open_task_model(source, bert=bert)
    if model.task.name == "qa":
        for number, pair in enumerate(QUESTIONS):
            ends = run_task(model, [whole(task_input(model, *pair))])[0].softmax(0)
            answers[f"ends {number}"] = ends.numpy()
        return answers
    for number, (text, _) in enumerate(TEXTS):
        given = answer(model, task_input(model, text, None))
        assert isinstance(given, LabelAnswer | TagAnswer)
        answers[f"labels {number}"] = given.probabilities
    return answers


def without_folders(record: dict[str, Any]) -> dict[str, Any]:
    """Return what `finetune.json` holds, with files named as in any folder."""
    names = {key: Path(record[key]).name for key in ("train", "dev")}
    files = [
        {
            **{key: value for key, value in file.items() if key != "mtime_ns"},
            "path": Path(file["path"]).name,
        }
        for file in record["files"]
    ]
    return {**record, **names, "files": files}


def ship(folder: Path, name: str) -> None:
    """Write a checkpoint's files into SHIPPED[name] and its answers into ANSWERS."""
    _write_answers(folder, name)
    target = SHIPPED[name]
    target.mkdir(exist_ok=True)
    tensors = load_file(folder / SAFETENSORS)
    for file in COPIED:
        if folder != target and (folder / file).is_file():
            shutil.copyfile(folder / file, target / file)
    _copy_record(folder, target)
    _save(tensors, target / SAFETENSORS)


ALL_MATRICES = r"bert\.(embeddings|encoder)\..*(query|key|value|dense|embeddings)"
LAYERS = r"bert\.encoder\..*(query|key|value|dense)"
"""What peft changes, where the embeddings were trained and where they were not."""
_LABEL_FIELDS = ("id2label", "label2id", "problem_type", "bertscope")


def ship_adapter(folder: Path, name: str, rank: int) -> None:
    """Write SHIPPED[name] as a LoRA adapter of the default in peft's format.

    Its recorded answers are those of the same change in float32.
    """
    target = SHIPPED[name]
    target.mkdir(exist_ok=True)
    base = load_file(SHIPPED[DEFAULT] / SAFETENSORS)
    adapter: dict[str, Tensor] = {}
    merged: dict[str, Tensor] = {}
    for key, tensor in load_file(folder / SAFETENSORS).items():
        tensor = tensor.float()
        if key not in base or ".pooler." in key or "LayerNorm" in key:
            merged[key] = adapter[f"base_model.model.{key}"] = tensor
        elif tensor.ndim == 1:  # the bias of a matrix below
            matrix = key.removesuffix(".bias")
            merged[key] = adapter[f"base_model.model.{matrix}.base_layer.bias"] = tensor
        elif torch.equal(tensor, base[key].float()):  # was not trained
            merged[key] = tensor
        else:
            b, a = _cut(tensor - base[key].float(), rank)
            merged[key] = base[key].float() + b @ a
            adapter |= _pair(f"base_model.model.{key.removesuffix('.weight')}", b, a)
    with tempfile.TemporaryDirectory() as whole:
        shutil.copytree(folder, whole, dirs_exist_ok=True)
        save_file(merged, Path(whole) / SAFETENSORS, metadata={"format": "pt"})
        _write_answers(Path(whole), name)
    config = json.loads((folder / "config.json").read_text())
    named = {key: config[key] for key in ("architectures", *_LABEL_FIELDS) if key in config}
    (target / "config.json").write_text(json.dumps(named, indent=2) + "\n")
    _copy_record(folder, target)
    parts = ("classifier", "qa_outputs", "pooler", "LayerNorm")
    settings = {
        "base_model_name_or_path": DEFAULT,
        "lora_alpha": rank,
        "bias": "all",
        "modules_to_save": [part for part in parts if _has(adapter, part)],
        "peft_type": "LORA",
        "r": rank,
        "target_modules": ALL_MATRICES if _has(adapter, "embeddings", "lora_") else LAYERS,
        "task_type": {"sentiment": "SEQ_CLS", "pos": "TOKEN_CLS", "qa": "QUESTION_ANS"}[name],
    }
    (target / ADAPTER_CONFIG).write_text(json.dumps(settings, indent=2) + "\n")
    _save(adapter, target / ADAPTER_WEIGHTS)


def _has(tensors: dict[str, Tensor], module: str, part: str = "") -> bool:
    return any(f".{module}." in key and part in key for key in tensors)


def _cut(change: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Return B [out, R] and A [R, in], whose product is nearest to a change [out, in] of R ranks.

    PEFT wants R ranks of each matrix: where it has fewer (two segments), the others are 0.
    """
    u, s, v = torch.linalg.svd(change, full_matrices=False)
    root = s[:rank].sqrt()
    b, a = u[:, :rank] * root, root[:, None] * v[:rank]
    missing = rank - len(root)
    return torch.nn.functional.pad(b, (0, missing)), torch.nn.functional.pad(a, (0, 0, 0, missing))


def _pair(module: str, b: Tensor, a: Tensor) -> dict[str, Tensor]:
    """Return the two matrices by the names that PEFT gives them."""
    if module.endswith("_embeddings"):  # a table is the transpose of a matrix product's
        return {f"{module}.lora_embedding_A": b.T, f"{module}.lora_embedding_B": a.T}
    return {f"{module}.lora_A.weight": a, f"{module}.lora_B.weight": b}


def _write_answers(folder: Path, name: str) -> None:
    ANSWERS.mkdir(parents=True, exist_ok=True)
    answers: dict[str, Any] = {
        **answers_of(folder, name)
    }  # savez takes its own option the same way
    np.savez_compressed(ANSWERS / f"{name}.npz", **answers)


def _copy_record(folder: Path, target: Path) -> None:
    if (record := folder / "finetune.json").is_file():
        text = json.dumps(without_folders(json.loads(record.read_text())), indent=2)
        (target / "finetune.json").write_text(f"{text}\n")


def _save(tensors: dict[str, Tensor], file: Path) -> None:
    halves = {key: tensor.half().contiguous() for key, tensor in tensors.items()}
    save_file(halves, file, metadata={"format": "pt"})
    file.chmod(0o644)  # safetensors keeps others from reading


if __name__ == "__main__":
    folder, name, *ranks = sys.argv[1:]
    if ranks:
        ship_adapter(Path(folder).resolve(), name, int(ranks[0]))
    else:
        ship(Path(folder).resolve(), name)
