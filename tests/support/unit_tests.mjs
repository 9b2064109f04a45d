// Runs the unit tests of the browser components' modules: `npm test [-- PART OF A PATH ...]`.
//
// The tests are tests/**/*.test.ts, beside the Python tests of the same folder. Node.js 20 runs no
// TypeScript, so esbuild bundles them; a trace names the line of the source. One bundle in one
// process: a process for each file takes far longer than the tests.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../..");
const parts = process.argv.slice(2);
const tests = readdirSync(join(root, "tests"), { recursive: true })
  .filter((path) => path.endsWith(".test.ts") && (!parts.length || parts.some((part) => path.includes(part)))).sort();
if (!tests.length) throw new Error(`no file tests/**/*.test.ts has ${parts.join(" or ")} in its path`);

const folder = mkdtempSync(join(tmpdir(), "bertscope-unit-tests-"));
try {
  const outfile = join(folder, "tests.mjs");
  await build({
    stdin: { contents: tests.map((path) => `import "./tests/${path}";`).join("\n"), resolveDir: root },
    absWorkingDir: root,
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    loader: { ".css": "empty" },
    logLevel: "warning",
  });
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test-reporter=spec", outfile], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
