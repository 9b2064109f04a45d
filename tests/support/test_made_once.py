"""A checkpoint that is made once is, for each who asks, as if it were made anew."""

from pathlib import Path

import torch

from tests.support.made_once import made_once


def test_each_has_its_own_files_model_and_random_source(tmp_path: Path) -> None:
    calls = []

    @made_once
    def make(folder: Path, width: int = 2, **changes: object) -> torch.nn.Module:
        calls.append(width)
        torch.manual_seed(0)
        model = torch.nn.Linear(width, 1)
        (folder / "weights").write_text(f"{width} {changes}")
        return model

    first = make(tmp_path / "a")
    after = torch.randn(3)
    with torch.no_grad():
        first.weight.zero_()
    (tmp_path / "a" / "weights").write_text("spoilt")
    second = make(folder=tmp_path / "b")
    assert torch.equal(torch.randn(3), after)
    assert second.weight.all()
    assert (tmp_path / "b" / "weights").read_text() == "2 {}"
    assert calls == [2]
    make(tmp_path / "a", 3, kind="x")
    assert (tmp_path / "a" / "weights").read_text() == "3 {'kind': 'x'}"
    assert calls == [2, 3]
