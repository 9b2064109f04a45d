"""The committed bundles of the browser components, against their sources, and their unit tests."""

import json
import re
from pathlib import Path

import pytest

from app.parts.bundle import read_bundle
from tests.support.node import ROOT, run_node

BUNDLES = sorted(path.relative_to(ROOT) for path in (ROOT / "app").rglob("*.bundle.*"))
SCRIPTS = [path for path in BUNDLES if path.suffix == ".js"]


def test_the_bundles_are_those_of_the_sources(tmp_path: Path) -> None:
    run = run_node("esbuild.config.mjs", "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.bundle.*")}
    committed = {path.relative_to("app"): (ROOT / path).read_bytes() for path in BUNDLES}
    assert set(made) == set(committed)
    stale = [path.as_posix() for path, content in made.items() if committed[path] != content]
    assert stale == [], "run `npm run build` and commit the bundles"


def test_the_unit_tests_of_the_modules_pass() -> None:
    run = run_node("tests/support/unit_tests.mjs")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_a_bundle_is_one_constant_and_fits_into_an_html_file(path: Path) -> None:
    bundle = read_bundle(ROOT / path.with_name(path.name.removesuffix(".bundle.js")))
    banner, script = bundle.script.splitlines()
    assert banner == "/* Made by `npm run build`; do not edit. */"
    assert re.fullmatch(r'"use strict";var bundle=\(\(\)=>\{.*\}\)\(\);', script)
    end = f"export default mounted(bundle.default, {json.dumps(bundle.style)});\n"
    assert bundle.module.endswith(f"\n{bundle.script}{end}")
    for mark in ("</script", "<!--", "%PLACE%", "%DATA%", "http://", "https://"):
        assert mark not in bundle.script.replace("http://www.w3.org/2000/svg", ""), mark


def test_a_missing_bundle_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.bundle\.js"):
        read_bundle(ROOT / "app" / "missing")
