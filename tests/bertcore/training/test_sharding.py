"""A network shared by processes that each keep a part: the steps, weights and state of one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bertcore.training.compiler import choose_compile
from bertcore.training.processes import Processes
from bertcore.training.sharding import launcher_shards, own_part, whole, whole_network
from tests.support.tiny import tiny_network

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_three_processes_make_the_steps_of_one(optimizer: str, tmp_path: Path) -> None:
    """What is compared is in sharded_steps.py; three divide no shape of the network evenly."""
    answer = subprocess.run(
        [sys.executable, "-m", "tests.support.sharded_steps", "3", str(tmp_path), optimizer],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert answer.returncode == 0, answer.stderr[-3000:]


def test_the_launcher_says_whether_to_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCELERATE_USE_FSDP", raising=False)
    monkeypatch.setenv("FSDP_VERSION", "2")
    assert not launcher_shards()
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    assert launcher_shards()
    assert not Processes("cpu").are_sharding  # one process has nobody to share with
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert Processes("cpu").are_sharding


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("FSDP_VERSION", "1", "asks for FSDP version 1.*--fsdp_version 2"),
        ("FSDP_VERSION", None, "asks for FSDP version 1"),  # as Accelerate takes it
        ("FSDP_OFFLOAD_PARAMS", "true", "--fsdp_offload_params.* Turn it off"),
        ("FSDP_ACTIVATION_CHECKPOINTING", "true", "--fsdp_activation_checkpointing"),
    ],
)
def test_sharding_of_another_kind_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, sentence: str
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.setenv("FSDP_VERSION", "2")
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=sentence):
        Processes("cpu")


def test_what_is_whole_is_left_as_it_is() -> None:
    network, tensor = tiny_network(), torch.ones(2)
    assert whole_network(network) is network
    assert whole(tensor) is tensor
    assert own_part(tensor) is tensor


def test_a_sharded_network_is_not_compiled() -> None:
    device, steps = torch.device("cpu"), 100_000
    choice, notice = choose_compile("auto", device, steps=steps, minutes=None, is_sharded=True)
    assert not choice
    assert notice is not None
    assert "the network is sharded" in notice
    assert choose_compile("auto", device, steps=9, minutes=None, is_sharded=True) == (False, None)
    with pytest.raises(ValueError, match=r"--compile on cannot work with sharding \(FSDP\)"):
        choose_compile("on", device, steps=steps, minutes=None, is_sharded=True)
