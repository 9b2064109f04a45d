"""Fine-tuning and pretraining in one call each, end to end on tiny models."""

import inspect
import json
from pathlib import Path

import pytest
from transformers import AutoTokenizer, BertForPreTraining, BertForSequenceClassification

import bertcore
from bertcore.analysis.attribution import answer, run_file, task_input
from bertcore.configs import Columns, DataConfig, FinetuneConfig, TrainConfig
from tests.support.finetuning_files import write_reviews
from tests.support.small_corpus import small_documents
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_tasks import make_task

QUICK = FinetuneConfig(epochs=2, batch_size=8, learning_rate=1e-3, device="cpu")


def test_a_table_becomes_a_model_with_a_report_that_transformers_opens(tmp_path: Path) -> None:
    tiny_bert().save(tmp_path / "base")
    table, dev = write_reviews(tmp_path / "train.tsv"), write_reviews(tmp_path / "dev.tsv", seed=1)
    steps: list[int] = []
    model = bertcore.finetune(
        table,
        dev=dev,
        out=tmp_path / "out",
        checkpoint=tmp_path / "base",
        config=QUICK,
        on_progress=lambda progress: steps.append(progress.step),
    )
    assert model.labels == ("bad", "good")
    assert max(steps) == 2 * 64 // 8
    accuracy = run_file(model, dev).metrics()[0]["accuracy"]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert accuracy == pytest.approx(report["best"]["scores"]["metrics"]["accuracy"])
    assert BertForSequenceClassification.from_pretrained(tmp_path / "out").num_labels == 2


def test_columns_and_a_held_out_part_are_named(tmp_path: Path) -> None:
    tiny_bert().save(tmp_path / "base")
    table = write_reviews(tmp_path / "train.tsv")
    table.write_text(table.read_text().replace("sentence\tlabel", "words\tkind"))
    model = bertcore.finetune(
        table,
        held_out=0.25,
        columns=Columns(text="words", label="kind"),
        out=tmp_path / "out",
        checkpoint=tmp_path / "base",
        config=FinetuneConfig(epochs=1, device="cpu"),
    )
    assert model.labels == ("bad", "good")
    with pytest.raises(ValueError, match="already has"):
        bertcore.finetune(table, held_out=0.25, out=tmp_path / "out")


def corpus(path: Path, seed: int) -> Path:
    text = "\n\n".join("\n".join(lines) for lines in small_documents(seed=seed))
    path.write_text(text, encoding="utf-8")
    return path


def test_texts_become_a_checkpoint_which_is_then_trained_further(tmp_path: Path) -> None:
    train, valid = corpus(tmp_path / "train.txt", 0), corpus(tmp_path / "valid.txt", 1)
    few = TrainConfig(steps=3, device="cpu", evaluate_rows=8)
    data = DataConfig(max_seq_length=32, max_predictions_per_seq=4, batch_size=4)
    shape = tiny_config(vocab_size=120)
    bert = bertcore.pretrain(train, valid, out=tmp_path / "run", train=few, data=data, shape=shape)
    assert bert.config.vocab_size == bert.tokenizer.vocab_size == 120
    assert bert.capabilities >= {"mlm", "nsp"}
    further = bertcore.pretrain(
        [train], valid, out=tmp_path / "further", train=few, data=data, start_from=bert
    )
    assert further.tokenizer.vocab == bert.tokenizer.vocab
    assert json.loads((tmp_path / "further" / "config.json").read_text())["start_from"]
    BertForPreTraining.from_pretrained(further.save(tmp_path / "saved"))


def test_a_task_is_opened_from_a_folder_and_from_memory(tmp_path: Path) -> None:
    theirs = make_task(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    text = "the film was very good"
    models = bertcore.open_task(tmp_path), bertcore.open_task(theirs, tokenizer=tokenizer)
    first, second = (answer(model, task_input(model, text)) for model in models)
    assert first.probabilities == pytest.approx(second.probabilities, abs=1e-6)
    with pytest.raises(ValueError, match="has its own tokenizer"):
        bertcore.open_task(tmp_path, tokenizer=tokenizer)


@pytest.mark.parametrize("function", [bertcore.finetune, bertcore.pretrain, bertcore.open_task])
def test_every_option_is_named_with_its_type(function: object) -> None:
    assert callable(function)
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.kind is not parameter.VAR_KEYWORD
        assert parameter.annotation not in (parameter.empty, "Any")
