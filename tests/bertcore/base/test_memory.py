"""What fits into memory, and what is said where it does not."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch

import bertcore
from bertcore.base import memory
from bertcore.base.memory import fit_dtype, free_memory, memory_sentence, out_of_memory
from tests.support.tiny import tiny_bert

CPU = torch.device("cpu")
BILLION = 10**9


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The free memory of a machine, as a test sets it; no checkpoint is too small to ask."""
    there = {"bytes": 0.0}
    monkeypatch.setattr(memory, "free_memory", lambda device: int(there["bytes"]))
    monkeypatch.setattr(memory, "SMALL", 0)
    return there


@pytest.mark.parametrize(
    ("dtype", "gigabytes", "found"),
    [
        ("auto", 5.0, torch.float32),
        ("auto", 4.3, torch.bfloat16),
        ("float32", 5.0, torch.float32),
        ("bfloat16", 2.3, torch.bfloat16),
        ("auto", 1.5, r"4\.0 GB in float32 \(2\.0 GB in bfloat16\).*1\.5 GB are free\. Close"),
        ("bfloat16", 1.5, r"2\.0 GB in bfloat16.*1\.5 GB are free\. Close"),
        ("float32", 3.0, r"4\.0 GB in float32.*3\.0 GB are free\. Open it in bfloat16 \(2\.0 GB\)"),
    ],
)
def test_a_billion_parameters_open_in_the_format_that_fits_or_not(
    free: dict[str, float], dtype: str, gigabytes: float, found: torch.dtype | str
) -> None:
    free["bytes"] = gigabytes * 1e9
    if isinstance(found, str):
        with pytest.raises(RuntimeError, match=found):
            fit_dtype(dtype, BILLION, CPU)
        return
    fit = fit_dtype(dtype, BILLION, CPU)
    assert fit.dtype == found
    is_other = dtype == "auto" and found == torch.bfloat16
    assert ("4.0 GB in float32" in (fit.note or "")) == is_other


@pytest.mark.parametrize(
    ("gigabytes", "said"),
    [
        (8.0, "8.0 GB are free."),
        (3.0, "3.0 GB are free, so it will open in bfloat16."),
        (1.0, "1.0 GB are free: it will not open here."),
    ],
)
def test_what_it_takes_is_said_before(free: dict[str, float], gigabytes: float, said: str) -> None:
    free["bytes"] = gigabytes * 1e9
    sentence = memory_sentence(BILLION, CPU)
    assert "1,000 million parameters take 4.0 GB in float32, 2.0 GB in bfloat16" in sentence
    assert sentence.endswith(said)
    assert sentence.count("about") == 0
    assert "about 4.0 GB" in memory_sentence(BILLION, CPU, is_exact=False)


@pytest.mark.parametrize("has_products", [True, False])
def test_a_checkpoint_opens_in_bfloat16_where_only_that_fits(
    free: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_products: bool
) -> None:
    monkeypatch.setattr("bertcore.base.device.computes_bfloat16", lambda device: has_products)
    folder = tiny_bert().save(tmp_path / "tiny")
    free["bytes"] = 1e9
    exact = bertcore.load(folder, device="cpu")
    num_parameters = sum(p.numel() for p in exact.module.parameters())
    free["bytes"] = num_parameters * 3
    bert = bertcore.load(folder, device="cpu")
    assert bert.dtype == torch.bfloat16
    for name, parameter in exact.module.named_parameters():
        assert torch.equal(bert.module.get_parameter(name), parameter.to(torch.bfloat16))
    (told,) = [said for said in bert.report.sentences() if "opened in bfloat16" in said]
    assert ("has no bfloat16 products" in told) == (not has_products)
    assert bert.fill_mask("the [MASK]")
    assert not exact.report.sentences("precision")
    free["bytes"] = num_parameters
    with pytest.raises(RuntimeError, match="not enough memory"):
        bertcore.load(folder, device="cpu")


def test_free_memory_is_what_the_system_and_the_container_leave(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    own = tmp_path / "own"
    own.write_text("4:memory:/\n3:cpu:/\n0::/system.slice/class.service\n")
    monkeypatch.setattr(memory, "_OWN_GROUPS", own)
    assert 0 < free_memory(CPU) <= psutil.virtual_memory().total
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("2500000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 400000\n")
    assert free_memory(CPU) == 900_000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory(CPU) > 3_000_000
    service = tmp_path / "system.slice" / "class.service"  # as systemd's MemoryMax sets it
    service.mkdir(parents=True)
    (service / "memory.max").write_text("700000\n")
    (service / "memory.current").write_text("100000\n")
    (service / "memory.stat").write_text("anon 100000\n")
    assert free_memory(CPU) == 600_000


def fail_with_cause() -> None:
    try:
        torch.empty(10**14)
    except RuntimeError as error:
        raise ValueError("its code failed.") from error


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.empty(10**14),
        lambda: torch.ones(10**7, 1) @ torch.ones(1, 10**7),
        lambda: np.empty(10**15),
        lambda: bytearray(10**15),
        fail_with_cause,
    ],
)
def test_memory_that_runs_out_is_a_sentence(use: Callable[[], object]) -> None:
    with pytest.raises((RuntimeError, MemoryError, ValueError)) as raised:
        use()
    sentence = str(out_of_memory(raised.value))
    assert sentence.startswith("there is not enough memory for this. Use fewer or shorter texts")
    assert "GPU" not in sentence


@pytest.mark.gpu
def test_a_gpu_without_memory_is_known_by_its_error() -> None:
    with pytest.raises(torch.OutOfMemoryError) as raised:
        torch.empty(10**14, device="cuda")
    assert "on the GPU" in str(out_of_memory(raised.value))


@pytest.mark.gpu
def test_free_memory_of_a_gpu_falls_with_what_lies_on_it() -> None:
    device = torch.device("cuda")
    before = free_memory(device)
    kept = torch.empty(2**28, dtype=torch.uint8, device=device)
    assert before - free_memory(device) >= kept.numel() // 2
