"""Model cards: what a saved model was made from, its licence, its scores, and how it opens."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

import bertcore
from bertcore.configs import FinetuneConfig
from bertcore.model.checkpoints.card import read_licence
from tests.support.finetuning_files import write_reviews
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A checkpoint whose card states a licence."""
    folder = tiny_bert().save(tmp_path / "private" / "base")
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: 'cc-by-4.0'\n---\n# Base\n")
    return folder


def python_of(card: str) -> list[str]:
    return [part.partition("```")[0] for part in card.split("```python\n")[1:]]


def test_a_saved_model_names_its_base_and_licence_and_opens_as_shown(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = bertcore.load(base, device="cpu").save(tmp_path / "mine")
    card = (saved / "README.md").read_text()
    assert read_licence(saved) == "cc-by-4.0"
    assert "| Made from | base |" in card
    assert "private" not in card  # where it lay is nobody's business
    monkeypatch.chdir(tmp_path)
    for python in python_of(card):
        names: dict[str, Any] = {}
        exec(python, names)
        assert names["model"] is not None
    (saved / "README.md").write_text("my own words")
    assert (bertcore.load(saved).save(saved) / "README.md").read_text() == "my own words"


def test_a_fine_tuned_model_has_scores_data_and_the_licence_of_its_base(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bertcore.finetune(
        write_reviews(tmp_path / "train.tsv"),
        held_out=0.25,
        out=tmp_path / "out",
        checkpoint=base,
        config=FinetuneConfig(epochs=1, device="cpu"),
    )
    card = (tmp_path / "out" / "README.md").read_text()
    assert read_licence(tmp_path / "out") == "cc-by-4.0"
    for row in (
        "| Trained on | train.tsv (48 examples) |",
        "| Labels | bad, good |",
        "| accuracy |",
    ):
        assert row in card
    monkeypatch.chdir(tmp_path)
    for python in python_of(card):
        exec(python, {})


def test_another_architecture_has_a_card_without_a_licence(tmp_path: Path) -> None:
    make_other("XLNetModel", tmp_path / "xlnet")
    saved = bertcore.load(tmp_path / "xlnet").save(tmp_path / "mine")
    assert "| Licence of the base | not stated |" in (saved / "README.md").read_text()
    assert read_licence(saved) is None


def test_a_model_is_uploaded_with_its_card(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(HfApi, "create_repo", lambda api, repo, **options: f"https://hub/{repo}")

    def upload(api: HfApi, *, repo_id: str, folder_path: Path, **options: Any) -> None:
        sent.append((repo_id, api.token, sorted(path.name for path in folder_path.iterdir())))

    monkeypatch.setattr(HfApi, "upload_folder", upload)
    assert tiny_bert().push_to_hub("me/mine", token="t") == "https://hub/me/mine"
    ((repo, token, files),) = sent
    assert (repo, token) == ("me/mine", "t")
    assert {"README.md", "config.json", "model.safetensors"} <= {*files}


def refused(status: int) -> HfHubHTTPError:
    response: Any = SimpleNamespace(status_code=status, headers={}, request=None)
    return HfHubHTTPError("no", response=response)


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (OSError("no route"), RuntimeError, "me/mine was not uploaded to the hub: no route"),
        (refused(403), ValueError, "the hub does not let you write to me/mine"),
        (refused(500), RuntimeError, "me/mine was not uploaded"),
    ],
)
def test_a_failing_upload_says_why(
    error: Exception, kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(HfApi, "create_repo", fail)
    with pytest.raises(kind, match=said):
        tiny_bert().push_to_hub("me/mine")
    with pytest.raises(ValueError, match="is no name on the hub"):
        tiny_bert().push_to_hub("me/mine/three")
