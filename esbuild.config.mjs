// Bundles the browser components: `node esbuild.config.mjs [--out FOLDER]`.
//
// Each module below app/ with a default export is an entry. NAME.ts becomes NAME.bundle.js beside it
// (or at the same path below FOLDER), a minified script that defines the constant `bundle` with the
// module's exports, and NAME.bundle.css with the styles that it imports. Bundles are committed: running
// BertScope needs no Node.js. They have no source maps: an HTML file that holds one opens without us.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const { values } = parseArgs({ options: { out: { type: "string", default: "app" } } });
const source = join(import.meta.dirname, "app");
const entries = readdirSync(source, { recursive: true })
  .filter((file) => file.endsWith(".ts") && /^export default /m.test(readFileSync(join(source, file), "utf8")))
  .map((file) => file.replace(/\.ts$/, ""));

// A module without styles of its own leaves those of the components that it draws to their bundles.
const isStyled = (name) => /^import "\.\/.*\.css";/m.test(readFileSync(join(source, `${name}.ts`), "utf8"));

for (const styled of [true, false]) {
  await build({
    entryPoints: Object.fromEntries(
      entries.filter((name) => isStyled(name) === styled).map((name) => [`${name}.bundle`, `./app/${name}`]),
    ),
    absWorkingDir: import.meta.dirname,
    outdir: values.out,
    bundle: true,
    minify: true,
    supported: { "template-literal": false }, // so that a bundle is one line
    format: "iife",
    globalName: "bundle",
    target: "es2022",
    legalComments: "inline",
    loader: styled ? {} : { ".css": "empty" },
    banner: Object.fromEntries(["js", "css"].map((kind) => [kind, "/* Made by `npm run build`; do not edit. */"])),
    logLevel: "warning",
  });
}
