"""What the forge reads: workflows, forms for issues, the citation; valid by published schemas."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard

import bertcore
from bertcore.model.checkpoints.source import SHIPPED

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"
FORMS = GITHUB / "ISSUE_TEMPLATE"
FILES = {
    "github-workflows": sorted((GITHUB / "workflows").glob("*.yml")),
    "github-issue-forms": [path for path in sorted(FORMS.glob("*.yml")) if path.stem != "config"],
    "github-issue-config": [FORMS / "config.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
    "compose-spec": [ROOT / "docs" / "deploy" / "compose.yaml"],
}


def jobs() -> dict[str, dict[str, Any]]:
    """Return the jobs of all workflows, each as "file:job"."""
    return {
        f"{path.stem}:{name}": job
        for path in FILES["github-workflows"]
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
    }


@pytest.mark.parametrize("schema", FILES)
def test_the_files_are_valid(schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    run = subprocess.run([*command, *FILES[schema]], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_each_job_ends_names_its_actions_by_commit_and_runs_what_the_makefile_has() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name, job in jobs().items():
        assert "uses" in job or job["timeout-minutes"] <= 90, name
        for step in job.get("steps", []):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}|", step.get("uses", "")), (name, step)
            for line in step.get("run", "").splitlines():
                if line.startswith("make "):
                    assert f"\n{line.split()[1]}:" in makefile, line


def test_every_python_that_is_promised_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if ":: Python ::" in line]
    assert jobs()["ci:test"]["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]}"


def test_a_release_is_tested_and_published_without_a_token() -> None:
    publish = jobs()["release:publish"]
    assert {"test", "build"} <= {*publish["needs"]}
    assert publish["permissions"]["id-token"] == publish["permissions"]["attestations"] == "write"
    text = (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "password:" not in text


def test_the_citation_and_the_changelog_are_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == bertcore.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{bertcore.__version__}] - {cited['date-released']}" in changes


@pytest.mark.parametrize("name", [name for name in SHIPPED if not name.startswith("toy-")])
def test_a_model_card_is_ready_for_the_hub(name: str) -> None:
    """The keys by which the hub lists a checkpoint; scores, data, and what it is not for."""
    card = ModelCard.load(SHIPPED[name] / "README.md", ignore_metadata_errors=False)
    head = card.data.to_dict()
    assert {"license", "language", "library_name", "pipeline_tag", "tags"} <= {*head}
    assert head["pipeline_tag"] in {
        "fill-mask",
        "question-answering",
        "text-classification",
        "text-generation",
        "token-classification",
    }
    assert {"## How good it is", "## Data"} <= {*card.text.splitlines()}, name
