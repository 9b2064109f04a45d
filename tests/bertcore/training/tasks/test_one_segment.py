"""A checkpoint with one segment row reads pairs of a file as it reads typed ones: all segments 0.

The usual form of Korean and classical Chinese RoBERTas: a WordPiece vocabulary, whose tokenizer
gives segment 1 to the second text, on a network without a second segment.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import bertcore
from tests.support.command_line import succeed
from tests.support.tiny import tiny_tokenizer

PAIRS = [
    ("The river bank was steep.", "It had rained all day."),
    ("He went to the shop", "and bought milk."),
] * 4
CLASSES = {
    "pair": transformers.RobertaForSequenceClassification,
    "qa": transformers.RobertaForQuestionAnswering,
    "choice": transformers.RobertaForMultipleChoice,
}


def make(folder: Path, task: str) -> Any:
    """Write a checkpoint with a head; return the model of transformers."""
    tokenizer = tiny_tokenizer()
    tokenizer.save(folder)
    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=66,
        type_vocab_size=1,
        pad_token_id=tokenizer.pad_id,
        attn_implementation="eager",
    )
    model = CLASSES[task](config).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    return model


def examples(file: Path, task: str) -> Path:
    if task == "pair":
        lines = [{"text": a, "text_pair": b, "label": i % 2} for i, (a, b) in enumerate(PAIRS)]
    elif task == "choice":
        lines = [
            {"sent1": a, "sent2": "", "ending0": b, "ending1": a, "label": 0} for a, b in PAIRS
        ]
    else:
        answers = [{"text": "rained", "answer_start": 7}]
        questions = [{"id": str(i), "question": "why", "answers": answers} for i in range(4)]
        paragraphs = [{"context": PAIRS[0][1], "qas": questions}]
        lines = [{"data": [{"paragraphs": paragraphs}]}]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return file


@pytest.mark.parity
def test_pairs_of_a_file_are_answered_as_by_transformers(tmp_path: Path) -> None:
    theirs = make(tmp_path / "t", "pair")
    file = examples(tmp_path / "pairs.jsonl", "pair")
    said = tmp_path / "said.jsonl"
    succeed("evaluate", "--task", "pair", "--checkpoint", tmp_path / "t", "--data", file,
        "--predictions", said)  # fmt: skip
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "t")
    for line, (a, b) in zip(said.read_text().splitlines(), PAIRS, strict=True):
        inputs = tokenizer(a, b, return_tensors="pt")
        inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
        wanted = torch.softmax(theirs(**inputs).logits[0], -1).max()
        assert json.loads(line)["confidence"] == pytest.approx(wanted.item(), abs=1e-5)


@pytest.mark.parametrize("task", CLASSES)
def test_every_task_with_two_texts_trains_and_is_scored(task: str, tmp_path: Path) -> None:
    make(tmp_path / "t", task)
    file = examples(tmp_path / "data.jsonl", task)
    succeed("evaluate", "--task", task, "--checkpoint", tmp_path / "t", "--data", file)
    words = ("--task", task, "--checkpoint", tmp_path / "t", "--train", file, "--dev", file)
    succeed("finetune", *words, "--out", tmp_path / "out", "--epochs", "1")


def test_the_tokenizer_of_the_checkpoint_has_one_segment(tmp_path: Path) -> None:
    make(tmp_path / "t", "pair")
    bert = bertcore.load(tmp_path / "t")
    assert bert.tokenizer.encode("the", "river").segment_ids == [0] * 5
    assert bert.tokenize("the", "river").segment_ids == [0] * 5
    assert not bert.tokenizer.template(is_pair=True).has_segments
    two = tiny_tokenizer()
    assert two.for_network(two.vocab_size, 2) is two
