"""Reasons that stand in other files than the weights, asked before tensors are compared."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

import bertcore
from bertcore.training.tasks import open_task_model
from tests.support.kit import edit, mini, opened, put, sentences, state, store
from tests.support.what_opens import opens

MISLEADING = re.compile(r"belong together|[Rr]ename|opy (it|the file) again|no BERT encoder")
QUERY = "bert.encoder.layer.0.attention.self.query.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mini(tmp_path / "bert")
    return tmp_path / "bert"


def refusal(folder: Path) -> str:
    with pytest.raises((ValueError, RuntimeError)) as error:
        bertcore.load(folder, device="cpu")
    return str(error.value)


KERNELS = {
    "tf": (("/", "gamma:0", "beta:0", "kernel:0", "bias:0", "embeddings:0")),
    "flax": ((".", "scale", "bias", "kernel", "bias", "embedding")),
}
"""Separator and last parts of names that TensorFlow and Flax in transformers 4 wrote."""


def as_written(tensors: dict[str, Tensor], form: str) -> dict[str, Tensor]:
    """Return tensors as the classes of TensorFlow or Flax wrote them."""
    separator, scale, shift, kernel, bias, table = KERNELS[form]
    written = {}
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        is_matrix = last == "weight" and tensor.dim() == 2 and "embeddings" not in path
        if "LayerNorm" in path:
            last = scale if last == "weight" else shift
        elif last == "weight":
            last = kernel if is_matrix else table
        else:
            last = bias
        written[separator.join([*path, last])] = tensor.T if is_matrix else tensor
    return {name: tensor.contiguous().clone() for name, tensor in written.items()}


@opens("safetensors of TensorFlow or Flax")
@pytest.mark.parametrize(("form", "program"), [("tf", "TensorFlow"), ("flax", "Flax")])
def test_safetensors_of_other_programs(form: str, program: str, folder: Path) -> None:
    """transformers#27064, #27372 (T4-10)."""
    file, said = folder / "model.safetensors", rf"by {program}.*==4\.49\.0.*from_{form}=True"
    save_file(as_written(state(folder), form), file, metadata={"format": form})
    sentence = refusal(folder)
    assert re.search(said, sentence)
    assert not MISLEADING.search(sentence)
    with pytest.raises(ValueError, match=said):
        open_task_model(folder, device="cpu")
    save_file({}, file, metadata={"format": form})
    assert "contains no BERT encoder" in refusal(folder)


@pytest.mark.parametrize("metadata", [None, {"format": "mlx"}, {"format": "tf"}])
def test_the_format_alone_refuses_nothing(metadata: dict[str, str] | None, folder: Path) -> None:
    """ml-explore/mlx#743 (T4-09): the names and shapes are PyTorch's."""
    wanted = opened(folder).trace("the food").hidden_states
    save_file(state(folder), folder / "model.safetensors", metadata=metadata)
    assert torch.equal(opened(folder).trace("the food").hidden_states, wanted)


BYTES = torch.uint8
PACKED: list[tuple[str, dict[str, str], dict[str, torch.dtype]]] = [
    # what the sentence says, the settings in config.json, and what stands instead of a matrix
    ("MLX", {"group_size": "64"}, {"": torch.uint32, "biases": torch.float16}),
    ("torchao", {"quant_method": "torchao"}, {"weight_qdata": torch.int8}),
    ("aqlm", {"quant_method": "aqlm"}, {"codes": torch.int16, "codebooks": torch.float16}),
    ("bitnet", {"quant_method": "bitnet"}, {"": BYTES, "weight_scale": torch.float32}),
    ("vptq", {"quant_method": "vptq"}, {"indices": torch.int16}),
    ("fp8", {"quant_method": "fp8"}, {"": torch.float8_e5m2}),
    ("bitsandbytes", {}, {"": torch.int8, "SCB": torch.float32}),
    ("bitsandbytes", {"quant_method": "bitsandbytes"}, {"": torch.int8}),
    ("bitsandbytes", {}, {"weight.absmax": BYTES, "weight.quant_state.nf4": BYTES}),
    ("gptq", {"quant_method": "gptq"}, {"qweight": torch.int32, "qzeros": torch.int32}),
    ("GPTQ or AWQ", {}, {"qweight": torch.int32, "qzeros": torch.int32}),
    ("compressed-tensors", {}, {"weight_packed": torch.int32}),
]


@opens("quantised weights")
@pytest.mark.parametrize(("by", "settings", "parts"), PACKED)
def test_weights_of_programs_that_pack(
    by: str, settings: dict[str, str], parts: dict[str, torch.dtype], folder: Path
) -> None:
    tensors = state(folder)
    del tensors[QUERY]
    for end, dtype in parts.items():
        name = QUERY.replace("weight", end) if end else QUERY
        tensors[name] = torch.ones(8, 4).to(dtype)
    store(folder, tensors)
    edit(folder, **{"quantization" if by == "MLX" else "quantization_config": settings or None})
    sentence = refusal(folder)
    assert f"are quantised by {by}" in sentence
    assert not MISLEADING.search(sentence)


def test_a_quantisation_of_floats_is_the_reason_if_they_do_not_fit(folder: Path) -> None:
    edit(folder, quantization_config={"quant_method": "higgs"})
    assert opened(folder).config.hidden_size == 32
    tensors = state(folder)
    tensors[QUERY.replace("weight", "tables")] = tensors.pop(QUERY)
    store(folder, tensors)
    sentence = refusal(folder)
    assert "says that they were quantised by higgs" in sentence
    assert not MISLEADING.search(sentence)


def other_names(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"net.block_{i}": tensor for i, tensor in enumerate(tensors.values())}


def other_shape(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {**tensors, QUERY: torch.ones(16, 32)}


def one_layer(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in tensors.items() if ".layer.1." not in name}


@pytest.mark.parametrize("change", [other_names, other_shape, one_layer])
def test_own_code_is_the_reason_if_tensors_do_not_fit(
    change: Callable[[dict[str, Tensor]], dict[str, Tensor]], folder: Path
) -> None:
    edit(folder, auto_map={"AutoModel": "modeling_mine.MineModel"})
    assert opened(folder).config.hidden_size == 32
    store(folder, change(state(folder)))
    sentence = refusal(folder)
    assert "own code (modeling_mine.MineModel), which is never run" in sentence
    assert not MISLEADING.search(sentence)


def test_own_code_is_the_reason_for_a_head_that_is_not_read(folder: Path) -> None:
    tensors = state(folder)
    tensors["ranker.weight"] = tensors.pop("classifier.weight")
    tensors["ranker.bias"] = tensors.pop("classifier.bias")
    store(folder, tensors)
    fields = {"architectures": ["MineRanker"], "auto_map": {"AutoModel": "mine.MineRanker"}}
    edit(folder, **fields)
    said = sentences(opened(folder))
    assert "own code (mine.MineRanker), which is never run, so what they compute" in said
    assert not MISLEADING.search(said)


def test_an_adapter_beside_weights_is_not_silently_left_out(folder: Path) -> None:
    put(folder, "adapter_config.json", {"peft_type": "LORA", "base_model_name_or_path": "x"})
    assert "Warning: adapter_config.json is beside the weights" in sentences(opened(folder))


@opens("a sentence encoder without an encoder, or with several")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sentence_transformers.models.StaticEmbedding", "StaticEmbedding, a vector for each"),
        ("sentence_transformers.models.BoW", "BoW, counts of words"),
    ],
)
def test_modules_without_an_encoder(name: str, said: str, folder: Path) -> None:
    (folder / "config.json").unlink()
    put(folder, "modules.json", [{"idx": 0, "name": "0", "path": "", "type": name}])
    sentence = refusal(folder)
    assert said in sentence
    assert not MISLEADING.search(sentence)


def test_modules_with_several_encoders(folder: Path, tmp_path: Path) -> None:
    router = tmp_path / "router"
    router.mkdir()
    folder.rename(router / "document_0_Transformer")
    put(router, "modules.json", [{"path": "", "type": "sentence_transformers.models.Router"}])
    assert "Open the folder of one of them: document_0_Transformer" in refusal(router)
    assert opened(router / "document_0_Transformer").config.hidden_size == 32


def test_an_adapter_of_adapterhub(tmp_path: Path) -> None:
    values = {"config": {"architecture": "lora"}, "hidden_size": 768, "model_type": "bert"}
    values |= {"model_class": "BertAdapterModel", "model_name": "bert-base-uncased"}
    put(tmp_path, "adapter_config.json", values)
    (tmp_path / "pytorch_adapter.bin").write_bytes(b"x")
    assert "an adapter of AdapterHub (for bert-base-uncased), not of peft" in refusal(tmp_path)


# ---- what the report promises of a head ----


@opens("NaN, infinity or zeros in a head")
@pytest.mark.parametrize(
    ("name", "value"), [("classifier.weight", torch.nan), ("classifier.bias", torch.inf)]
)
def test_a_head_without_numbers_is_in_the_report(name: str, value: float, folder: Path) -> None:
    """yanmtt#7, DeepLearningExamples#543 (T4-20)."""
    tensors = state(folder)
    tensors[name].view(-1)[0] = value
    store(folder, tensors)
    report = opened(folder).report
    assert report.broken_heads == (name,)
    said = " ".join(report.sentences())
    assert f"Warning: NaN or infinite numbers in the task head: {name}." in said
    assert "can use the task head" in said
    assert "bertscope evaluate use it" not in said
    assert any(name in line for line in report.file_remarks())
    with pytest.raises(ValueError, match=rf"contains NaN or infinity \({name}\)"):
        open_task_model(folder, device="cpu")
    tensors["classifier.weight"].zero_()
    store(folder, tensors)
    assert "Warning: nothing but 0 in the task head" in sentences(opened(folder))
    store(folder, {n: torch.ones(0) if n.endswith(".weight") else t for n, t in tensors.items()})
    assert "DeepSpeed (ZeRO-3)" in refusal(folder)


def without_bias(folder: Path) -> None:
    store(folder, {n: t for n, t in state(folder).items() if n != "classifier.bias"})


def several_numbers(folder: Path) -> None:
    edit(folder, problem_type="regression")


def answer_of_three(folder: Path) -> None:
    tensors = {n: t for n, t in state(folder).items() if "classifier" not in n}
    tensors |= {"qa_outputs.weight": torch.ones(3, 32), "qa_outputs.bias": torch.ones(3)}
    store(folder, tensors)
    edit(folder, architectures=["BertForQuestionAnswering"])


@pytest.mark.parametrize("change", [without_bias, several_numbers, answer_of_three])
def test_no_use_is_promised_that_is_refused(change: Callable[[Path], None], folder: Path) -> None:
    assert "bertscope evaluate use it" in sentences(opened(folder))
    change(folder)
    said = sentences(opened(folder))
    assert "bertscope evaluate use it" not in said
    with pytest.raises(ValueError, match="task head"):
        open_task_model(folder, device="cpu")
