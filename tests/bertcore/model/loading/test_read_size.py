"""The size of a checkpoint from its small files, against the opened checkpoint."""

from pathlib import Path

import pytest

import bertcore
from bertcore.model.loading import loader, read_size
from tests.support import tiny_families, tiny_others

MAKERS = {
    **dict.fromkeys(tiny_families.CLASSES, tiny_families.make),
    **dict.fromkeys(tiny_others.CLASSES, tiny_others.make_other),
}


@pytest.mark.parametrize("name", MAKERS)
def test_equals_the_opened_checkpoint(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MAKERS[name](name, tmp_path)
    bert = bertcore.load(tmp_path, device="cpu")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the weights were loaded")

    if not hasattr(bert.config, "other"):
        monkeypatch.setattr(loader, "load", refuse)
    shape, longest = read_size(tmp_path)
    assert longest == bert.max_length
    for field in ("hidden_size", "num_hidden_layers", "vocab_size", "max_position_embeddings"):
        assert getattr(shape, field) == getattr(bert.config, field), field


def test_damaged_settings_are_named(tmp_path: Path) -> None:
    tiny_others.make_other("MPNetModel", tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": "many"}')
    with pytest.raises(RuntimeError, match="many"):
        read_size(tmp_path)
