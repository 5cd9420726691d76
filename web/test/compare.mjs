// What "equal to the analysis" means.
import assert from "node:assert/strict";

/** Equal but for the last digits: both add the same numbers, in the same order as far as it matters. */
function isEqual(a, b) {
  if (a === null || b === null) return a === b;
  return a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

/** What the page ranks is what the analysis ranks. */
export function compare(ours, theirs, at) {
  assert.deepEqual(ours.map((one) => one.id), theirs.map((one) => one.id), at);
  ours.forEach((one, index) => {
    const other = theirs[index];
    for (const end of ["total", "low", "high"]) {
      assert.ok(isEqual(one[end], other[end]), `${at}: ${one.id}: ${end} ${one[end]}, not ${other[end]}`);
    }
    assert.deepEqual([one.tie, one.best, one.candidate], [other.tie, other.best, other.candidate], `${at}: ${one.id}`);
  });
}

export const plain = (ranked) =>
  ranked.map(({ point, ...rest }) => ({ ...rest, id: point.id, candidate: point.candidate }));
