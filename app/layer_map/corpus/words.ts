// The words of the points: search, counts, and room for names.

// The numbers of the words that are `text`, whatever their case; else of those that begin with it.
export function matching(words: string[], text: string): Set<number> {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return new Set();
  const lower = words.map((word) => word.toLowerCase());
  const where = (test: (word: string) => boolean) => new Set(lower.flatMap((word, k) => (test(word) ? [k] : [])));
  const same = where((word) => word === wanted);
  return same.size ? same : where((word) => word.startsWith(wanted));
}

// The most frequent of some numbers with their counts, the most frequent first.
export function mostFrequent(numbers: number[], most: number): [number, number][] {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, most);
}

type Box = [number, number, number, number];

// Returns a function that takes a box [left, top, right, bottom] if none before it lies there.
export function freeOf(): (box: Box) => boolean {
  const taken: Box[] = [];
  return (box) => {
    const isFree = taken.every((other) => box[2] < other[0] || other[2] < box[0] || box[3] < other[1] || other[3] < box[1]);
    if (isFree) taken.push(box);
    return isFree;
  };
}
