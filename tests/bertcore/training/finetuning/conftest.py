"""The checkpoint that most tests of fine-tuning begin with."""

from pathlib import Path

import pytest

from tests.support.tiny import tiny_bert


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")
