// The page's ranking against that of the analysis: random conditions on stored runs, which `crates/cli/tests/cli/page.rs` writes.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { groupIn, rank, textOf, withText } from "../dist/pure.mjs";
import { compare, plain } from "./compare.mjs";

const folder = process.env.RANKING_CASES;

test("the ranking is that of the analysis", { skip: folder ? false : "RANKING_CASES names no folder" }, () => {
  let compared = 0;
  let ties = 0;
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
    const { data, cases } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    for (const one of cases) {
      const conditions = withText(data.conditions, one.fragment);
      assert.equal(groupIn(one.fragment, data.groups.length), one.group);
      const ranked = rank(data, data.groups[one.group], conditions);
      compare(plain(ranked), one.ranked, `${file}: ${one.fragment}`);
      assert.deepEqual(withText(data.conditions, textOf(conditions)), conditions);
      compared += ranked.length;
      ties += ranked.filter((entry) => entry.tie).length;
    }
  }
  assert.ok(compared > 1000 && ties > 100, `${compared} places, ${ties} ties`);
  console.log(`page-ranking: ${compared} places and ${ties} ties equal those of the analysis`);
});

test("what is wrong in an address is left out", () => {
  const usual = { goal: "time", links: [{ mbit: 1, rtt_ms: 2, share: 1 }], connection: "warm", reads: 1, core_hour: 1, gb: 1, second: 0 };
  for (const text of ["", "goal=fun", "reads=-1", "reads=", "reads=1e10", "link=0:1:1", "link=1", "nonsense", "__proto__=1"]) {
    assert.deepEqual(withText(usual, text), usual, text);
  }
  assert.equal(groupIn("group=9", 3), 0);
  assert.equal(groupIn("reads=1,group=2", 3), 2);
});
