"""The files for several machines in docs/deploy: valid by published schemas, true of the app."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from typer.testing import CliRunner

from app.access.policy import UploadLimits
from bertscope.cli.main import app
from bertscope.cli.processes import COOKIE, HEALTH, find_caddy

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
KUBERNETES = "1.37"
HOST = "class.example.org"


def compose_complaints(path: Path) -> str:
    """Return what the schema of the Compose specification says of a file; "" for nothing."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    run = subprocess.run([*command, path], capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stdout + run.stderr


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def manifests() -> dict[str, Any]:
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
    return {document["kind"]: document for document in documents}


def test_the_compose_file_is_valid(compose: dict[str, Any], tmp_path: Path) -> None:
    assert compose_complaints(DEPLOY / "compose.yaml") == ""
    wrong = copy.deepcopy(compose)
    wrong["services"]["server"]["deploy"]["replica"] = 2
    (tmp_path / "compose.yaml").write_text(yaml.safe_dump(wrong))
    assert "replica" in compose_complaints(tmp_path / "compose.yaml")


def test_the_manifests_are_valid(manifests: dict[str, Any]) -> None:
    assert set(manifests) == {"Deployment", "Service", "Ingress", "NetworkPolicy"}
    for document in manifests.values():
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    wrong = copy.deepcopy(manifests["Deployment"])
    wrong["spec"]["replica"] = 2
    with pytest.raises(kubernetes_validate.ValidationError, match="replica"):
        kubernetes_validate.validate(wrong, KUBERNETES, strict=True)


def test_caddy_takes_its_file(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "BERTSCOPE_HOST": HOST,
        "BERTSCOPE_COOKIE_SECRET": "0f",
        "HOME": str(tmp_path),
    }

    def complaints(text: str) -> str:
        path = tmp_path / "Caddyfile"
        path.write_text(text)
        command = [find_caddy(), "adapt", "--validate", "--adapter", "caddyfile", "--config", path]
        run = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        return "" if run.returncode == 0 else run.stderr

    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    assert complaints(text) == ""
    assert "unrecognized" in complaints(text.replace("lb_policy", "lb_polity"))
    assert f"lb_policy cookie {COOKIE} " in text
    (size,) = [line for line in text.splitlines() if "max_size" in line]
    assert UploadLimits().megabytes * 2**20 < int(size.split()[1].removesuffix("MB")) * 10**6


def test_both_start_the_server_as_it_is(compose: dict[str, Any], manifests: dict[str, Any]) -> None:
    """Its options, port, user, health and cookie; `--host` names the place that visitors open."""
    pod = manifests["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    said = CliRunner().invoke(app, ["app", "--help"]).output
    for words in (compose["services"]["server"]["command"], container["args"]):
        assert all(word in said for word in words if word.startswith("--"))
    build = (ROOT / "Containerfile").read_text(encoding="utf-8")
    port = container["ports"][0]["containerPort"]
    assert f"EXPOSE {port}\n" in build
    assert f"dynamic a server {port}\n" in (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    assert f"USER {pod['securityContext']['runAsUser']}\n" in build
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] == HEALTH
    annotations = manifests["Service"]["metadata"]["annotations"]
    assert COOKIE in annotations.values()
    (rule,) = manifests["Ingress"]["spec"]["rules"]
    assert container["args"][-1] == rule["host"] == HOST
