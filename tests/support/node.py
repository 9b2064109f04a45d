"""Run the TypeScript modules of the browser components in Node.js, where it is installed.

Where the variable BERTSCOPE_NODE is `required`, tests fail without it in place of being skipped.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]


def node() -> str:
    """Return the path of Node.js, or skip the test where it or its packages are missing."""
    found = shutil.which("node")
    if found is None:
        _leave("Node.js is not installed")
    if not (ROOT / "node_modules").is_dir():
        _leave("node_modules is missing; `npm ci` installs it")
    return found


def _leave(reason: str) -> NoReturn:
    """Skip the test, or fail it where Node.js is required."""
    if os.environ.get("BERTSCOPE_NODE") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def run_node(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Node.js in the root of the repository; a failure is the caller's to judge."""
    return subprocess.run(
        [node(), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def run_typescript(source: str, folder: Path, given: object = None) -> Any:
    """Run a script that imports modules as "./app/..." in `folder`, where it reads and writes.

    It has `readFileSync`, `writeFileSync` and the value `given`, as of JSON; return what it calls
    `found`. AssertionError, with what it said, if the script fails.
    """
    (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
    source = f"""
    import {{ readFileSync, writeFileSync }} from "node:fs";
    const given = JSON.parse(readFileSync("given.json", "utf8"));
    {source}
    writeFileSync("found.json", JSON.stringify(typeof found === "undefined" ? null : found));
    """
    script = bundle_typescript(source, folder, "node")
    run = subprocess.run(
        [node(), script.name], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads((folder / "found.json").read_text(encoding="utf-8"))


def bundle_typescript(source: str, folder: Path, platform: str) -> Path:
    """Return a script that imports modules as "./app/..." as a module for "node" or "browser".

    AssertionError, with what esbuild said, if it cannot be bundled.
    """
    entry, script = folder / "script.ts", folder / "script.mjs"
    entry.write_text(source, encoding="utf-8")
    made = run_node(
        "--input-type=module",
        "--eval",
        'import { readFileSync } from "node:fs"; import { build } from "esbuild";'
        "const [entry, outfile, platform] = process.argv.slice(1);"
        'const stdin = { contents: readFileSync(entry, "utf8"), loader: "ts", resolveDir: "." };'
        'await build({ stdin, outfile, bundle: true, platform, format: "esm" });',
        str(entry),
        str(script),
        platform,
    )
    assert made.returncode == 0, made.stderr
    return script
