// The pure parts of the map of a corpus: window, grid, words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isInside, PointGrid } from "../../../../app/layer_map/corpus/point_grid";
import { opacityOf, pointSize } from "../../../../app/layer_map/corpus/renderer";
import { MapWindow, type Place } from "../../../../app/layer_map/corpus/window";
import { freeOf, matching, mostFrequent } from "../../../../app/layer_map/corpus/words";

const near = (a: number[], b: number[]) => a.forEach((value, k) => assert.ok(Math.abs(value - b[k]) < 1e-9));

function opened(): MapWindow {
  const window = new MapWindow();
  window.resize(800, 400);
  return window;
}

test("the whole map stands in the middle of the canvas", () => {
  const window = opened();
  near(window.toPixels([0.5, 0.5]), [400, 200]);
  near(window.toPixels([1, 1]), [400 + 188, 200 - 188]);
  near(window.toMap(window.toPixels([0.2, 0.9])), [0.2, 0.9]);
});

test("zooming holds the place under the pointer, and ends at the whole map", () => {
  const window = opened();
  const place = window.toMap([500, 150]);
  window.zoomBy(4, [500, 150]);
  near(window.toPixels(place), [500, 150]);
  window.panBy(30, -20);
  near(window.toPixels(place), [530, 130]);
  window.zoomBy(0.01);
  assert.ok(window.isWhole);
});

test("the whole map stays where it is", () => {
  const window = opened();
  window.panBy(90, -40);
  near(window.toPixels([0.5, 0.5]), [400, 200]);
  assert.ok(window.isWhole);
});

test("the shader's scale and shift are those of the pixels", () => {
  const window = opened();
  window.zoomBy(3, [100, 300]);
  const { scale, shift } = window.clip();
  const [left, top] = window.toPixels([0.3, 0.6]);
  near([0.3 * scale[0] + shift[0], 0.6 * scale[1] + shift[1]], [left / 400 - 1, 1 - top / 200]);
});

function scattered(num: number): Uint16Array {
  let state = 7;
  return Uint16Array.from({ length: 2 * num }, () => (state = (state * 48271) % 2147483647) & 65535);
}

test("the nearest point is the one that a search through all finds", () => {
  const places = scattered(3000);
  const grid = new PointGrid(places);
  for (const at of [[0.5, 0.5], [0, 0], [1, 1], [0.123, 0.877]] as Place[]) {
    const reach = 0.02;
    let [best, least] = [-1, reach];
    for (let i = 0; i < 3000; i++) {
      const [x, y] = grid.place(i);
      const distance = Math.hypot(x - at[0], y - at[1]);
      if (distance <= least) [best, least] = [i, distance];
    }
    assert.equal(grid.nearest(at, reach), best);
  }
  assert.equal(grid.nearest([3, 3], 0.01), -1);
});

test("the lasso takes the points inside its outline", () => {
  const grid = new PointGrid(scattered(2000));
  const outline: Place[] = [[0.1, 0.1], [0.9, 0.2], [0.6, 0.8], [0.5, 0.3]];
  const expected = Array.from({ length: 2000 }, (_, i) => i).filter((i) => isInside(grid.place(i), outline));
  assert.deepEqual(grid.inside(outline), expected);
  assert.ok(expected.length > 100);
  assert.deepEqual(grid.inside(outline.slice(0, 2)), []);
  const square: Place[] = [[0, 0], [0, 1], [1, 1], [1, 0]];
  assert.ok(isInside([0.5, 0.5], square) && !isInside([1.5, 0.5], square));
});

test("a word is found whatever its case, else by its beginning", () => {
  const words = ["bank", "Bank", "banks", "river"];
  assert.deepEqual([...matching(words, " BANK ")], [0, 1]);
  assert.deepEqual([...matching(words, "ban")], [0, 1, 2]);
  assert.equal(matching(words, "  ").size, 0);
  assert.equal(matching(words, ".*").size, 0);
});

test("the most frequent come first", () => {
  assert.deepEqual(mostFrequent([4, 2, 4, 9, 2, 4], 2), [[4, 3], [2, 2]]);
});

test("names that overlap are left out", () => {
  const free = freeOf();
  assert.ok(free([0, 0, 10, 10]));
  assert.ok(!free([5, 5, 15, 15]));
  assert.ok(free([11, 0, 20, 10]));
});

test("few points are large and opaque, many small and faint", () => {
  assert.ok(pointSize(10, 1) > pointSize(200_000, 1));
  assert.ok(pointSize(200_000, 50) > pointSize(200_000, 1));
  assert.ok(opacityOf(100, 1) > opacityOf(200_000, 1));
});
