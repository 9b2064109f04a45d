"""Names of devices, as pages show them, and the number format in which one computes."""

import platform

import pytest
import torch

from bertcore.base import device as module
from bertcore.base.device import compute_format, computes_bfloat16, device_name
from tests.support.cases import cases

CPU = torch.device("cpu")


def test_a_gpu_is_called_by_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"NVIDIA {device.index}")
    assert device_name(torch.device("cuda:1")) == "cuda:1, NVIDIA 1"
    assert device_name(torch.device("cpu")) == "cpu"
    assert device_name(torch.device("mps")) == "mps"


@pytest.mark.parametrize(
    ("machine", "flags", "has_onednn", "expected"),
    [
        ("x86_64", {"avx2"}, True, False),
        ("x86_64", {"avx2", "avx512_bf16"}, True, True),  # AMD64: as Windows writes it
        ("AMD64", {"avx2", "amx_tile"}, True, True),
        ("x86_64", {"avx2", "avx512_bf16"}, False, False),
        ("aarch64", {"neon"}, True, False),
        ("aarch64", {"neon", "bf16"}, True, True),
        ("arm64", {"neon", "bf16"}, False, False),  # macOS: torch has no oneDNN there
    ],
)
def test_the_flags_of_the_processor_decide(
    monkeypatch: pytest.MonkeyPatch, machine: str, flags: set[str], has_onednn: bool, expected: bool
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: has_onednn)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: "avx512_bf16" in flags)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: "amx_tile" in flags)
    # On x86, this is True where oneDNN only imitates the products.
    has_bf16 = "bf16" in flags or machine == "x86_64"
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: has_bf16)
    assert computes_bfloat16(CPU) == expected
    assert not computes_bfloat16(torch.device("mps"))


@pytest.mark.parametrize(("asked", "has", "expected", "sentence"), cases("number_formats"))
def test_auto_is_what_the_device_multiplies(
    monkeypatch: pytest.MonkeyPatch, asked: str, has: bool, expected: str, sentence: str
) -> None:
    monkeypatch.setattr(module, "computes_bfloat16", lambda device: has)
    chosen = compute_format(asked, CPU)
    assert chosen.dtype == expected
    assert chosen.sentence.endswith(sentence)
    # What a run records is what it is resumed in, whatever the processor.
    assert compute_format(chosen.dtype, CPU).dtype == expected
