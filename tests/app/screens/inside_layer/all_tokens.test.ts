import assert from "node:assert/strict";
import { test } from "node:test";

import { allTokens } from "../../../../app/screens/inside_layer/all_tokens";
import type { AllHeader } from "../../../../app/screens/inside_layer/model";
import type { Look } from "../../../../app/screens/inside_layer/strips";
import { fake, openPage } from "../../../support/fake_dom";

test("each token has a row: a strip of all parts and a length for each stage, and what fires", () => {
  openPage();
  const header: AllHeader = {
    kind: "all", name: "Layer 1", stages: ["state", "attention", "sum"], tokens: ["[CLS]", "river"], positions: [0, 4], text_ids: [-1, 0],
    firing: [12, 1300], selected: 4, colors: { a: "#a", b: "#b", special: "#s" } as AllHeader["colors"],
  };
  const bytes = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
  const blocks = [
    bytes(...Array.from({ length: 12 }, (_, k) => k)), // 3 stages of 2 tokens in 2 parts
    bytes(10, 20, 30, 40, 50, 60), bytes(0, 0, 0.25, 0.5, 0.75, 1),
  ];
  const picked: number[] = [];
  const look: Look = { isDark: false, colours: new Uint8Array(6 * 255), tip: {} as Look["tip"] };
  const grid = fake(allTokens(header, blocks, look, (position) => picked.push(position)));
  const rows = grid.all((node) => node.role === "row").slice(1);
  assert.deepEqual(rows.map((row) => row.querySelectorAll("small").map((one) => one.textContent)),
    [["10.0", "30.0  0.25", "50.0  0.75", "12"], ["20.0", "40.0  0.50", "60.0  1.00", "1,300"]]);
  assert.deepEqual(rows.map((row) => row.querySelectorAll(".strip").map((strip) => strip.width)), [[2, 2, 2], [2, 2, 2]]);
  assert.deepEqual(rows.map((row) => row.className), ["", "folded"]);
  const buttons = grid.querySelectorAll("button");
  assert.deepEqual(buttons.map((button) => [button.textContent, button.ariaPressed, button.style["--tone"]]),
    [["[CLS]", "false", "#s"], ["river", "true", "#a"]]);
  (buttons[0].onclick as () => void)();
  assert.deepEqual(picked, [0]);
});
