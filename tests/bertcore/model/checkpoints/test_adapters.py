"""LoRA adapters: equal to peft's merged model; what cannot be merged is a sentence."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import bertcore
from bertcore.model.bert import with_parts
from bertcore.model.checkpoints import source
from bertcore.model.checkpoints.folder import ADAPTER_CONFIG, ADAPTER_WEIGHTS, find_checkpoint
from bertcore.training.tasks import open_task_model, read_task_head
from tests.support.adapters import as_pickle, make_adapter, reopened
from tests.support.cases import cases
from tests.support.exhaustive import spread
from tests.support.kit import edit, mini, put, state, store
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other
from tests.support.what_opens import opens

TARGETS = {
    "modernbert": ["Wqkv", "Wo", "Wi"],
    "bert": ["query", "value"],
    "distilbert": ["q_lin", "v_lin", "lin1"],
    "roberta": ["query", "key", "dense"],
}
CLASSES = {
    "modernbert": "ModernBertForMaskedLM",
    "distilbert": "DistilBertForMaskedLM",
    "roberta": "RobertaForMaskedLM",
}
IDS = torch.randint(7, 90, (2, 9), generator=torch.Generator().manual_seed(3))


def make_base(family: str, folder: Path) -> Path:
    if family == "bert":
        tiny_bert().save(folder)
    else:
        make(CLASSES[family], folder)
    return folder


def states(bert: bertcore.Model) -> torch.Tensor:
    with torch.no_grad():
        return bert.module(IDS)


def assert_same_states(folder: Path, merged: Any) -> None:
    """Compare last hidden states, and logits of words, with those of peft's merged model."""
    inner = getattr(merged, merged.base_model_prefix, merged)
    bert = bertcore.load(folder, device="cpu")
    ours = states(bert)
    with torch.no_grad():
        torch.testing.assert_close(ours, inner(IDS).last_hidden_state, atol=1e-5, rtol=1e-5)
        if hasattr(merged, "cls"):
            logits = merged(IDS).logits
            torch.testing.assert_close(bert.module.mlm_logits(ours), logits, atol=1e-5, rtol=1e-5)


def test_a_config_beside_an_adapter_names_its_labels_and_no_more(tmp_path: Path) -> None:
    base = make_base("bert", tmp_path / "base")
    make_adapter(base, tmp_path / "a", "SEQ_CLS", target_modules=TARGETS["bert"])
    names = {"0": "bad", "1": "fair", "2": "good"}
    own = {"id2label": names, "num_hidden_layers": 99, "vocab_size": -1}
    put(tmp_path / "a", "config.json", own)
    model = open_task_model(tmp_path / "a", device="cpu")
    assert model.labels == tuple(names.values())
    assert model.module.network.config.num_hidden_layers == tiny_config().num_hidden_layers
    (tmp_path / "a" / "config.json").write_text("[1")
    with pytest.raises(RuntimeError, match=r"config\.json"):
        open_task_model(tmp_path / "a", device="cpu")


@pytest.mark.parity
@pytest.mark.parametrize(
    ("family", "task_type"), spread(TARGETS, ["SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS"])
)
def test_logits_are_those_of_peft(family: str, task_type: str, tmp_path: Path) -> None:
    base = make_base(family, tmp_path / "base")
    # Of questions peft saves qa_outputs alone, which ModernBERT's class calls otherwise.
    is_named = family == "modernbert" and task_type == "QUESTION_ANS"
    saved = {"modules_to_save": ["classifier"]} if is_named else {}
    merged = make_adapter(base, tmp_path / "a", task_type, target_modules=TARGETS[family], **saved)
    assert_same_states(tmp_path / "a", merged)
    task = {"SEQ_CLS": "classify", "TOKEN_CLS": "tag", "QUESTION_ANS": "qa"}[task_type]
    model = open_task_model(tmp_path / "a", task=task, device="cpu")
    with torch.no_grad():
        ours, theirs = model.module(IDS), merged(IDS)
    logits = theirs.get("logits")
    if logits is None:
        logits = torch.stack([theirs["start_logits"], theirs["end_logits"]], -1)
    torch.testing.assert_close(ours, logits, atol=1e-5, rtol=1e-5)
    assert read_task_head(bertcore.load(tmp_path / "a", device="cpu")) is not None


SETTINGS: dict[str, dict[str, Any]] = dict(cases("adapter_settings"))


@pytest.mark.parity
@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_that_of_peft(name: str, tmp_path: Path) -> None:
    options = {"target_modules": ["query", "value"], **SETTINGS[name]}
    base = make_base("bert", tmp_path / "base")
    merged = make_adapter(base, tmp_path / "a", **options)
    assert_same_states(tmp_path / "a", merged)
    with torch.no_grad():
        ours = open_task_model(tmp_path / "a", device="cpu").module(IDS)
        torch.testing.assert_close(ours, merged(IDS).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("base", "options"),
    [
        ("bert", {"target_modules": ["query"]}),
        ("bert", {"target_modules": ["word_embeddings"], "saves_table": True}),
        ("gpt2", {"target_modules": ["c_attn"], "fan_in_fan_out": True}),  # stored transposed
    ],
)
def test_an_adapter_of_a_bare_encoder(base: str, options: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "base"
    make_other("GPT2LMHeadModel", folder) if base == "gpt2" else make_base(base, folder)
    merged = make_adapter(folder, tmp_path / "a", "FEATURE_EXTRACTION", **options)
    assert_same_states(tmp_path / "a", merged)


RESIZED: dict[str, dict[str, Any]] = dict(cases("resized_adapters"))
"""How the new tokens' vectors are saved; of a token table and a decoder that are tied."""


@opens("an adapter that brings its own token table or tokens")
@pytest.mark.parity
@pytest.mark.parametrize("case", RESIZED)
def test_an_adapter_brings_its_own_tokens(case: str, tmp_path: Path) -> None:
    """peft#1457, #2898, lm-evaluation-harness#1828 (T4-13)."""
    base = make_base("bert", tmp_path / "base")
    size = tiny_config().vocab_size
    options = {"target_modules": ["query"], "saves_table": "auto", "new_rows": 2, **RESIZED[case]}
    if "new tokens" in case:
        new: Any = [size, size + 1]
        is_named = isinstance(options["trainable_token_indices"], dict)
        options["trainable_token_indices"] = {"word_embeddings": new} if is_named else new
    make_adapter(base, tmp_path / "a", **options)
    task_type, new_rows = options.get("task_type", "SEQ_CLS"), options["new_rows"]
    adapted = reopened(base, tmp_path / "a", task_type, new_rows)
    if "tokens" in case:  # before merging, peft 0.21 leaves out the decoder's bias
        adapted = adapted.merge_and_unload()
    bert = bertcore.load(tmp_path / "a", device="cpu")
    rows = size + new_rows
    assert bert.config.vocab_size == rows
    ids = torch.tensor([[2, 5, 3, rows - 1, rows - 2, 3]])
    with torch.no_grad():
        theirs = adapted(ids, output_hidden_states=True)
        states = bert.module(ids)
    torch.testing.assert_close(states, theirs.hidden_states[-1], atol=1e-6, rtol=1e-6)
    if "for words" in case:
        assert "mlm" in bert.capabilities
        logits = bert.module.mlm_logits(states)
        torch.testing.assert_close(logits, theirs.logits, atol=2e-6, rtol=1e-6)


@pytest.mark.parity
@pytest.mark.parametrize("name", ["BertModel", "DebertaV2ForMaskedLM"])
def test_a_tokenizer_beside_an_adapter_has_the_new_tokens(name: str, tmp_path: Path) -> None:
    base, is_bert = tmp_path / "base", name == "BertModel"
    mini(base, name) if is_bert else make_other(name, base)
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    tokenizer.add_tokens(["<num>", "<url>"])
    targets = ["query", "value"] if is_bert else ["query_proj"]
    options = {"saves_table": True, "new_rows": 2, "target_modules": targets}
    merged = make_adapter(base, tmp_path / "a", "FEATURE_EXTRACTION", **options)
    tokenizer.save_pretrained(tmp_path / "a")
    text = "john lives in <num> <url>"
    inputs = tokenizer(text, return_tensors="pt")
    trace = bertcore.load(tmp_path / "a", device="cpu").trace(text)
    assert trace.input_ids == inputs["input_ids"][0].tolist()
    with torch.no_grad():
        wanted = merged(**inputs).last_hidden_state[0]
    torch.testing.assert_close(trace.hidden_states[-1], wanted, atol=1e-6, rtol=1e-6)


@pytest.mark.parity
@pytest.mark.parametrize("task_type", ["FEATURE_EXTRACTION", None])
def test_a_head_that_was_not_saved_is_said_to_be_random(task_type: str, tmp_path: Path) -> None:
    base = make_base("bert", tmp_path / "base")
    make_adapter(base, tmp_path / "a", "FEATURE_EXTRACTION", target_modules=["query"])
    edit(tmp_path / "a", ADAPTER_CONFIG, task_type=task_type, modules_to_save=None)
    with pytest.raises(ValueError, match=r"neither it nor its base has one: labels would come"):
        open_task_model(tmp_path / "a", device="cpu")


@pytest.mark.parity
@pytest.mark.parametrize("stored", ["one name", "the decoder's name", "both names"])
def test_the_bias_of_a_tied_decoder(stored: str, tmp_path: Path) -> None:
    base = make_base("bert", tmp_path / "base")
    tensors, name = state(base), "cls.predictions.bias"
    if stored != "one name":
        tensors["cls.predictions.decoder.bias"] = tensors[name].clone()
    if stored == "the decoder's name":
        del tensors[name]
    store(base, tensors)
    merged = make_adapter(base, tmp_path / "a", None, target_modules=["query"], bias="all")
    assert_same_states(tmp_path / "a", merged)


@pytest.mark.parity
def test_a_token_table_that_is_saved_whole_is_not_the_decoder(tmp_path: Path) -> None:
    """peft gives the encoder the new table; the masked-word head keeps that of the base."""
    base = make_base("bert", tmp_path / "base")
    options: dict[str, Any] = {"target_modules": ["query"], "modules_to_save": ["word_embeddings"]}
    merged = make_adapter(base, tmp_path / "a", None, **options)
    table = state(base)["bert.embeddings.word_embeddings.weight"]
    assert torch.equal(merged.cls.predictions.decoder.weight, table)
    assert_same_states(tmp_path / "a", merged)
    report = bertcore.load(tmp_path / "a", device="cpu").report
    assert report.decoder == "untied"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `base` and `adapter`, a classifier of three labels."""
    place = tmp_path_factory.mktemp("adapters")
    make_adapter(make_base("bert", place / "base"), place / "adapter", target_modules=["query"])
    return place


def test_the_report_says_what_was_merged(made: Path) -> None:
    bert = bertcore.load(made / "adapter", device="cpu")
    report, base = bert.report, bertcore.load(made / "base", device="cpu").report
    (line,) = [line for line in report.sentences() if line.startswith("Adapter: ")]
    assert "rank 4" in line
    assert "2 matrices (query)" in line
    assert "classifier.bias" in line
    assert report.folder == made / "adapter"
    assert report.task.architecture == "BertForSequenceClassification"
    assert report.task.num_outputs == 3
    assert report.fingerprint != base.fingerprint
    assert report.sentences("adapter") == [line]


@pytest.mark.parametrize("family", TARGETS)
def test_heads_of_the_base_are_left_out_beside_a_head_for_a_task(
    family: str, tmp_path: Path
) -> None:
    """As in peft's model; an adapter without a task keeps them, and an old name is one, too."""
    base = make_base(family, tmp_path / "base")
    if family == "bert":
        names = ("LayerNorm.weight", "LayerNorm.gamma")
        store(base, {name.replace(*names): tensor for name, tensor in state(base).items()})
    heads = bertcore.load(base, device="cpu").capabilities
    assert "mlm" in heads
    merged = make_adapter(base, tmp_path / "a", "SEQ_CLS", target_modules=TARGETS[family])
    assert_same_states(tmp_path / "a", merged)
    bert = bertcore.load(tmp_path / "a", device="cpu")
    # ModernBERT's classifier reads the first part of the head for words.
    kept = heads if family == "modernbert" else heads - {"mlm", "nsp"}
    assert bert.capabilities == kept
    assert "incomplete" not in " ".join(bert.report.sentences("heads"))
    said = [line for line in bert.report.sentences() if "heads of pretraining" in line]
    assert bool(said) == (family != "modernbert")
    make_adapter(base, tmp_path / "b", None, target_modules=TARGETS[family])
    assert bertcore.load(tmp_path / "b", device="cpu").capabilities == heads


def test_an_adapter_is_saved_whole_and_opens_in_other_forms(made: Path, tmp_path: Path) -> None:
    bert = with_parts(bertcore.load(made / "adapter", device="cpu"))
    saved = bertcore.load(bert.save(tmp_path / "merged"), device="cpu")
    assert torch.equal(states(saved), states(bert))
    folder = copytree(made / "adapter", tmp_path / "runs" / "a")
    tensors = load_file(folder / ADAPTER_WEIGHTS)
    save_file({name: t.half() for name, t in tensors.items()}, folder / ADAPTER_WEIGHTS)
    half = bertcore.load(folder, device="cpu")
    torch.testing.assert_close(states(half), states(bert), atol=0.02, rtol=0.02)
    change(folder, lora_alpha=3)
    assert bertcore.load(folder, device="cpu").report.fingerprint != half.report.fingerprint
    tiny_bert().tokenizer.save(folder)
    assert bertcore.load(folder, device="cpu").tokenize("The bank").tokens[1] == "the"
    assert find_checkpoint(tmp_path / "runs") == folder


def change(folder: Path, **values: Any) -> None:
    edit(folder, ADAPTER_CONFIG, **values)


def change_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    """Change the tensors of an adapter."""
    tensors = load_file(folder / ADAPTER_WEIGHTS)
    change(tensors)
    save_file(tensors, folder / ADAPTER_WEIGHTS)


def first_of(tensors: dict[str, torch.Tensor], part: str) -> str:
    return next(name for name in tensors if part in name)


def drop_half(tensors: dict[str, torch.Tensor]) -> None:
    del tensors[first_of(tensors, "lora_B")]


def add_magnitude(tensors: dict[str, torch.Tensor]) -> None:
    name = first_of(tensors, "lora_A").replace("lora_A.weight", "lora_magnitude_vector")
    tensors[name] = torch.ones(32)


def add_layer(tensors: dict[str, torch.Tensor]) -> None:
    tensors["base_model.model.bert.encoder.layer.9.output.dense.bias"] = torch.ones(32)


def rename(tensors: dict[str, torch.Tensor]) -> None:
    for name in [name for name in tensors if ".layer.1." in name]:
        tensors[name.replace(".layer.1.", ".layer.7.")] = tensors.pop(name)


def change_twice(tensors: dict[str, torch.Tensor]) -> None:
    for name in [name for name in tensors if ".layer.1." in name and "lora_" in name]:
        tensors[name.replace(".bert.", ".")] = tensors[name] * 2


def add_token(tensors: dict[str, torch.Tensor]) -> None:
    table = "base_model.model.bert.embeddings.word_embeddings"
    tensors[f"{table}.token_adapter.trainable_tokens_delta"] = torch.ones(1, 32)


def save_twice(tensors: dict[str, torch.Tensor]) -> None:
    name = "bert.encoder.layer.0.output.dense.bias"
    tensors |= {f"base_model.model.{name}": torch.ones(32), f"base_model.{name}": torch.zeros(32)}


REFUSED: dict[str, tuple[type[Exception], Callable[[Path], object]]] = {
    "the setting use_dora": (ValueError, lambda f: change(f, use_dora=True)),
    "lora_magnitude_vector": (ValueError, lambda f: change_tensors(f, add_magnitude)),
    "pissa": (ValueError, lambda f: change(f, init_lora_weights="pissa")),
    "trainable_token_indices .-1": (
        RuntimeError,
        lambda f: change(f, trainable_token_indices=[-1]),
    ),
    "vectors of width .32. for the tokens .999": (
        RuntimeError,
        lambda f: (
            change(f, trainable_token_indices=[999]),
            change_tensors(f, add_token),
        ),
    ),
    "regular expression": (ValueError, lambda f: change(f, rank_pattern={"(a+)+$": 2})),
    "a pickle": (ValueError, as_pickle),
    "saves bert.encoder.layer.9": (RuntimeError, lambda f: change_tensors(f, add_layer)),
    "no weights": (ValueError, lambda f: (f / ADAPTER_WEIGHTS).unlink()),
    "names no base": (RuntimeError, lambda f: change(f, base_model_name_or_path=None)),
    "which was not found.*there is no folder": (
        ValueError,
        lambda f: change(f, base_model_name_or_path="/nowhere/bert"),
    ),
    "which was not found.*such-bert@v2": (
        RuntimeError,
        lambda f: change(f, base_model_name_or_path="nobody/such-bert", revision="v2"),
    ),
    "is an adapter itself": (
        ValueError,
        lambda f: change(f, base_model_name_or_path=str(f)),
    ),
    "r 0": (RuntimeError, lambda f: change(f, r=0)),
    r"does not fit its base.*\[32, 4\] and \[4, 32\] .*rank 5": (
        RuntimeError,
        lambda f: change(f, r=5),
    ),
    r"one of the two LoRA matrices": (RuntimeError, lambda f: change_tensors(f, drop_half)),
    "layer.1.attention.self.query.weight twice": (
        RuntimeError,
        lambda f: change_tensors(f, change_twice),
    ),
    "layer.0.output.dense.bias twice": (RuntimeError, lambda f: change_tensors(f, save_twice)),
    r"changes bert\.encoder\.layer\.7": (RuntimeError, lambda f: change_tensors(f, rename)),
    "not valid JSON": (RuntimeError, lambda f: (f / ADAPTER_CONFIG).write_text("{")),
    "damaged, truncated": (RuntimeError, lambda f: (f / ADAPTER_WEIGHTS).write_bytes(b"x" * 99)),
}
"""What the message says -> (its kind, the change)."""


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_merged_is_a_sentence(said: str, made: Path, tmp_path: Path) -> None:
    folder = copytree(made / "adapter", tmp_path / "a")
    kind, do = REFUSED[said]
    do(folder)
    with pytest.raises(kind, match=said):
        bertcore.load(folder, device="cpu")


@opens("an adapter with a quantised base")
def test_a_quantised_base_is_refused(made: Path, tmp_path: Path) -> None:
    folder, base = copytree(made / "adapter", tmp_path / "a"), tmp_path / "base"
    tiny_bert().save(base)
    change(folder, base_model_name_or_path=str(base))
    edit(base, quantization_config={"load_in_4bit": True})
    with pytest.raises(ValueError, match="quantised"):
        bertcore.load(folder, device="cpu")
    edit(base, quantization_config=None)
    tensors, name = state(base), "bert.encoder.layer.0.attention.self.query.weight"
    store(base, tensors | {name: tensors[name].to(torch.uint8)})
    with pytest.raises(ValueError, match="quantised"):
        bertcore.load(folder, device="cpu")


@opens("an adapter whose base is on the hub")
def test_an_adapter_on_a_base_of_the_hub_asks_before_it_fetches(made: Path, tmp_path: Path) -> None:
    folder = copytree(made / "adapter", tmp_path / "a")
    assert not source.is_remote(str(folder))
    change(folder, base_model_name_or_path="nobody/such-bert")
    assert source.is_remote(str(folder))
