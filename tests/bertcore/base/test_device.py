"""Names of devices, as pages show them."""

import pytest
import torch

from bertcore.base.device import device_name


def test_a_gpu_is_called_by_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"NVIDIA {device.index}")
    assert device_name(torch.device("cuda:1")) == "cuda:1, NVIDIA 1"
    assert device_name(torch.device("cpu")) == "cpu"
    assert device_name(torch.device("mps")) == "mps"
