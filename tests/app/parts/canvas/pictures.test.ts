import assert from "node:assert/strict";
import { test } from "node:test";

import { paintCells, SvgContext } from "../../../../app/parts/canvas/saving/pictures";
import { openPage } from "../../../support/fake_dom";

// Cells of two rows and three columns, each with its own red.
function cells(): HTMLCanvasElement {
  openPage();
  const canvas = document.createElement("canvas");
  const image = new ImageData(3, 2);
  for (let k = 0; k < 6; k++) image.data.set([10 * k, 0, 0, 255], 4 * k);
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  return canvas;
}

const attributes = (line: string): Record<string, string> =>
  Object.fromEntries([...line.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));

function rects(svg: SvgContext): Record<string, string>[] {
  return [...String(svg).matchAll(/<rect [^>]*>/g)].map(([line]) => attributes(line));
}

test("cells of a saved picture stand where they stand on the canvas", () => {
  const source = cells();
  const svg = new SvgContext(60, 40);
  paintCells(svg, source, [0, 0, 3, 2], [0, 0, 60, 40]);
  assert.deepEqual(rects(svg).map(({ x, y, fill }) => [x, y, fill]), [
    ["0", "0", "rgb(0,0,0)"], ["1", "0", "rgb(10,0,0)"], ["2", "0", "rgb(20,0,0)"],
    ["0", "1", "rgb(30,0,0)"], ["1", "1", "rgb(40,0,0)"], ["2", "1", "rgb(50,0,0)"],
  ]);
  assert.match(String(svg), /<svg x="0" y="0" width="60" height="40" viewBox="0 0 3 2"/);
});

test("a part of the cells is cut out at its place", () => {
  const source = cells();
  const svg = new SvgContext(60, 40);
  paintCells(svg, source, [1.5, 1, 1, 1], [5, 6, 20, 20]);
  assert.deepEqual(rects(svg).map(({ x, y, fill }) => [x, y, fill]), [["1", "1", "rgb(40,0,0)"], ["2", "1", "rgb(50,0,0)"]]);
  assert.match(String(svg), /<svg x="5" y="6" width="20" height="20" viewBox="1.5 1 1 1"/);
});

test("shapes and texts of a saved picture are those that were drawn", () => {
  openPage();
  const svg = new SvgContext(100, 50);
  svg.fillStyle = "#123456";
  svg.globalAlpha = 0.5;
  svg.fillRect(1.234, 2, 30, 4);
  svg.textAlign = "right";
  svg.fillText("a <b> & \u0000", 7, 8);
  svg.beginPath();
  svg.moveTo(1, 2);
  svg.lineTo(3, 4.567);
  svg.bezierCurveTo(1, 2, 3, 4, 5, 6);
  svg.lineWidth = 2.5;
  svg.stroke();
  svg.beginPath();
  svg.roundRect(10, 20, 30, 8, 3);
  svg.fill();
  const [rect] = rects(svg);
  assert.deepEqual(rect, { x: "1.23", y: "2", width: "30", height: "4", fill: "#123456", "fill-opacity": "0.5" });
  const [text] = String(svg).match(/<text .*<\/text>/) ?? [""];
  assert.ok(text.endsWith(">a &lt;b&gt; &amp; \ufffd</text>"));
  const { x, y, "text-anchor": anchor } = attributes(text);
  assert.deepEqual([x, y, anchor], ["7", "8", "end"]);
  const paths = [...String(svg).matchAll(/<path [^>]*>/g)].map(([line]) => attributes(line));
  assert.deepEqual([paths[0].d, paths[0]["stroke-width"], paths[0].fill], ["M1 2L3 4.57C1 2 3 4 5 6", "2.5", "none"]);
  assert.equal(paths[1].d, "M13 20h24a3 3 0 0 1 3 3v2a3 3 0 0 1 -3 3h-24a3 3 0 0 1 -3 -3v-2a3 3 0 0 1 3 -3z");
  assert.match(String(svg), /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="100" height="50" viewBox="0 0 100 50">/);
});
