// The page in a real browser. `crates/lab/tests/cli/page.rs` writes the pages and the expected rankings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { compare } from "./compare.mjs";

const { PAGE, PAGE_HOSTILE, PAGE_CASES, PAGE_SHOTS, CHROMIUM } = process.env;
const skip = PAGE && CHROMIUM ? false : "PAGE and CHROMIUM are not set";
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
let browser;

before(async () => {
  if (skip) return;
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: CHROMIUM.startsWith("/") ? CHROMIUM : which(CHROMIUM), args: root });
});
after(async () => browser?.close());

function which(name) {
  const { statSync } = createRequire(import.meta.url)("node:fs");
  const found = process.env.PATH.split(":").map((folder) => join(folder, name)).find((path) => {
    try {
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
  assert.ok(found, `${name} is not on PATH`);
  return found;
}

/** A page with everything that went wrong in it: errors, messages of the console, and requests besides itself. */
async function open(file, options = {}, fragment = "") {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
  const wrong = [];
  page.on("console", (message) => wrong.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && url.split("#")[0] !== pathToFileURL(file).href) wrong.push(`request: ${url}`);
  });
  await page.goto(pathToFileURL(file).href + fragment);
  await page.waitForSelector("#explore .ranking");
  return { page, wrong };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

test("200 states of the page show what the analysis says, without an error or a request", { skip }, async () => {
  const cases = JSON.parse(readFileSync(PAGE_CASES, "utf8"));
  const { page, wrong } = await open(PAGE);
  for (const one of cases) {
    const seen = await page.evaluate(async (fragment) => {
      location.hash = fragment;
      await new Promise((done) => setTimeout(done));
      const ranked = window.weighbridge.ranked();
      return {
        index: window.weighbridge.index(),
        ranked: ranked.map(({ point, ...rest }) => ({ ...rest, id: point.id, candidate: point.candidate })),
        first: document.querySelector(".ranking tbody th")?.textContent,
        label: ranked[0]?.point.label,
      };
    }, one.fragment);
    assert.equal(seen.index, one.group);
    compare(seen.ranked, one.ranked, one.fragment);
    assert.equal(seen.first, seen.label);
  }
  assert.deepEqual(wrong, []);
  console.log(`page-states: ${cases.length} states equal the analysis`);
  await page.close();
});

test("every control works by keyboard, and the address keeps the state", { skip }, async () => {
  const { page, wrong } = await open(PAGE);
  const reached = new Set();
  for (let at = 0; at < 80; at++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => {
      const of = document.activeElement;
      return `${of?.tagName}.${of?.getAttribute("type") ?? ""}.${of?.id || of?.getAttribute("aria-label") || of?.textContent?.slice(0, 20)}`;
    });
    reached.add(name);
  }
  const controls = await page.evaluate(() =>
    [...document.querySelectorAll("#explore .panel input:not([type=radio]), #explore .panel select, #explore .panel button")]
      .filter((of) => of.checkVisibility())
      .map((of) => `${of.tagName}.${of.getAttribute("type") ?? ""}.${of.id || of.getAttribute("aria-label") || of.textContent?.slice(0, 20)}`),
  );
  for (const control of controls) assert.ok(reached.has(control), `${control} is not reached by Tab`);
  const speed = page.getByLabel("Link speed", { exact: true });
  await speed.focus();
  const verdict = () => page.locator(".verdict").textContent();
  const atFirst = await verdict();
  for (let at = 0; at < 120; at++) await page.keyboard.press("ArrowLeft");
  assert.notEqual(await verdict(), atFirst);
  // The address follows when the reader has stopped.
  await page.waitForFunction((before) => location.hash !== before, await page.evaluate(() => location.hash));
  const state = await page.evaluate(() => location.hash);
  const again = await open(PAGE, {}, state);
  assert.equal(await again.page.locator(".verdict").textContent(), await verdict());
  await again.page.close();
  // A point: into the chart by its one stop, along by arrows, chosen by Enter.
  await page.locator("g.point[tabindex='0']").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "detail");
  await page.getByRole("button", { name: "Close" }).press("Enter");
  assert.equal(await page.locator("#detail").count(), 0);
  assert.deepEqual(wrong, []);
  await page.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing wrong in ${colorScheme}`, { skip }, async () => {
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 }, colorScheme, bypassCSP: true });
    await page.goto(pathToFileURL(PAGE).href);
    await page.waitForSelector("#explore .ranking");
    await page.locator(".ranking tbody button").first().click();
    await page.addScriptTag({ path: axe });
    const { violations } = await page.evaluate(() => window.axe.run());
    const told = violations.map((of) => `${of.id}: ${of.help}: ${of.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
    assert.deepEqual(told, []);
    await page.close();
  });
}

test("hostile names stay text", { skip }, async () => {
  const { page, wrong } = await open(PAGE_HOSTILE);
  await page.locator(".ranking tbody button").first().click();
  await page.locator("g.point").first().dispatchEvent("click");
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("script").count(), 2);
  assert.ok((await page.locator("h1").textContent()).includes("<script>"));
  assert.deepEqual(wrong, []);
  await page.close();
});

test("how long the first paint and a slider's move take", { skip }, async () => {
  const paints = [];
  const moves = [];
  for (let round = 0; round < 5; round++) {
    const { page } = await open(PAGE);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN));
    const taken = await page.evaluate(async () => {
      const taken = [];
      for (const [label, places] of [["Link speed", 40], ["Reads per write", 40]]) {
        const range = [...document.querySelectorAll("label")].find((of) => of.textContent === label)?.htmlFor;
        const input = range && document.getElementById(range);
        if (!input) continue;
        for (let at = 0; at < places; at++) {
          input.value = String(100 + at * 5);
          const before = performance.now();
          input.dispatchEvent(new Event("input"));
          document.body.getBoundingClientRect();
          taken.push(performance.now() - before);
          await new Promise((done) => requestAnimationFrame(done));
        }
      }
      return taken;
    });
    moves.push(...taken);
    await page.close();
  }
  console.log(`page-first-paint: ${median(paints).toFixed(0)} ms (median of 5)`);
  console.log(`page-slider-move: ${median(moves).toFixed(1)} ms (median of ${moves.length}, with layout)`);
});

test("pictures of the page in three widths, light, dark and printed", { skip: skip || (PAGE_SHOTS ? false : "PAGE_SHOTS is not set") }, async () => {
  for (const width of [375, 1024, 1600]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, wrong } = await open(PAGE, { viewport: { width, height: 1200 }, colorScheme });
      await page.screenshot({ path: join(PAGE_SHOTS, `page-${width}-${colorScheme}.png`) });
      await page.locator("#explore").scrollIntoViewIfNeeded();
      await page.evaluate(() => document.getElementById("explore").scrollIntoView());
      await page.screenshot({ path: join(PAGE_SHOTS, `explore-${width}-${colorScheme}.png`) });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(overflow <= 0, `at ${width} pixels the page is ${overflow} pixels too wide`);
      assert.deepEqual(wrong, []);
      await page.close();
    }
  }
  const { page } = await open(PAGE);
  await page.pdf({ path: join(PAGE_SHOTS, "page.pdf"), format: "A4" });
  await page.close();
});
