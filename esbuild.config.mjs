// Bundles the browser components: `node esbuild.config.mjs [--out FOLDER]`.
//
// Each entry module NAME.js becomes NAME.bundle.js beside it (or at the same path below FOLDER), a
// script that defines the constant `bundle` with the module's exports, and NAME.bundle.css with the
// styles that it imports. Bundles are committed: running BertScope needs no Node.js.

import { parseArgs } from "node:util";
import { build } from "esbuild";

const ENTRIES = [
  "architectures/drawing",
  "architectures/writing",
  "bertviz_views/framed",
  "canvas/heat_map/heat_map",
  "canvas/lines/lines",
  "canvas/neurons/neurons",
  "canvas/overview/overview",
  "corpus_map/point_map",
  "glance/drawing",
  "html_file/chart",
  "inside_layer/drawing",
  "layer_map/layer_watch",
  "objectives/drawing",
  "probes/drawing",
  "shell/live_text",
  "shell/render_signal",
  "token_strip/token_strip",
  "tokens/word_steps",
  "training_example/drawing",
  "what_if/head_switches",
  "what_if/mask_drawing",
];

const { values } = parseArgs({ options: { out: { type: "string", default: "app" } } });

await build({
  entryPoints: Object.fromEntries(ENTRIES.map((name) => [`${name}.bundle`, `./app/${name}`])),
  absWorkingDir: import.meta.dirname,
  outdir: values.out,
  bundle: true,
  format: "iife",
  globalName: "bundle",
  target: "es2022",
  legalComments: "inline",
  banner: Object.fromEntries(["js", "css"].map((kind) => [kind, "/* Made by `npm run build`; do not edit. */"])),
  logLevel: "warning",
});
