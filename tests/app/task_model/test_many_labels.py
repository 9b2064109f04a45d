"""A head of 151 labels, as of CLINC's intents: by name, by number, and drawn."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import torch
import transformers

from app.plots import theme
from app.task_model.score_figures import MOST_CLASSES, confusion_map, confusion_table
from bertcore.analysis.attribution import run_file
from bertcore.data.guess import guess
from bertcore.tasks import open_task_model
from tests.support.kit import mini

NUM = 151
LABELS = [f"intent, {i}" if i % 7 else f"<b>intent</b> | {i}" for i in range(NUM)]
PLACES = "bank river paris food waiter john smith cold friendly lives".split()


def test_151_labels_are_matched_scored_and_drawn(tmp_path: Path) -> None:
    model = mini(tmp_path / "head", num_labels=NUM, id2label=dict(enumerate(LABELS)))
    tokenizer = transformers.BertTokenizer.from_pretrained(tmp_path / "head")
    rng = np.random.default_rng(0)
    gold = [*range(NUM), *rng.integers(0, NUM, 250).tolist()]
    texts = [f"{PLACES[i % 10]} {PLACES[i // 10 % 10]} {i}" for i in range(len(gold))]
    inputs = tokenizer(texts[:100], return_tensors="pt", padding=True)
    with torch.no_grad():
        model.classifier.bias -= model(**inputs).logits.mean(0)  # so that no answer is always given
    model.save_pretrained(tmp_path / "head")
    ours = open_task_model(tmp_path / "head", task="classify", device="cpu")
    assert ours.labels == tuple(LABELS)
    runs = []
    for name, labels in (("names", LABELS), ("ids", list(map(str, range(NUM))))):
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="") as file:
            rows = zip(texts, (labels[i] for i in gold), strict=True)
            csv.writer(file).writerows([("text", "intent"), *rows])
        assert guess(path).chosen.label == "intent"
        runs.append(run_file(ours, path))
    assert [run.gold.tolist() for run in runs] == [gold, gold]
    assert runs[0].predicted.tolist() == runs[1].predicted.tolist()
    assert len(set(runs[0].predicted.tolist())) > 20
    assert any("'0' is" in note for note in runs[1].notes)
    found = runs[0].metrics()
    assert found.confusion is not None
    assert found.confusion.shape == (NUM, NUM)
    assert found.metrics["accuracy"] == np.mean(np.array(gold) == runs[0].predicted)
    drawn = confusion_map(found.confusion, runs[0].labels)
    assert len(drawn.settings["xaxis"]["ticktext"]) == MOST_CLASSES
    assert not any("<b>" in name for name in drawn.settings["xaxis"]["ticktext"])
    table = confusion_table(found.confusion, runs[0].labels)
    again = list(csv.reader(io.StringIO(table.to_csv(index=False))))
    assert {LABELS[1], LABELS[7]} <= {cell for row in again for cell in row}
    assert theme.escape(LABELS[0]) != LABELS[0]
