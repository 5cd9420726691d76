// The page in a real browser. `crates/cli/tests/cli/page.rs` writes the pages and the expected rankings.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { changed } from "./changed.mjs";
import { compare } from "./compare.mjs";

const { PAGE, PAGE_HOSTILE, PAGE_SLOW, PAGE_SLOW_HOSTILE, PAGE_PROFILE, PAGE_CASES, PAGE_SHOTS, CHROMIUM } = process.env;
const skip = PAGE && CHROMIUM ? false : "PAGE and CHROMIUM are not set";
/** Pictures and times are made where somebody wants to see them. */
const unwanted = skip || (PAGE_SHOTS ? false : "PAGE_SHOTS is not set");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
let browser;
let folder;

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "weigh-page-"));
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: CHROMIUM, args: root });
});
after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** A page with other data than the stored run has. */
const other = (name, change) => changed(PAGE, join(folder, `${name}.html`), change);

/** A page with everything that went wrong in it: errors, messages of the console, and requests besides itself. */
async function open(file, options = {}, fragment = "", until = "#explore .ranking") {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
  const wrong = [];
  page.on("console", (message) => wrong.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && url.split("#")[0] !== pathToFileURL(file).href) wrong.push(`request: ${url}`);
  });
  await page.goto(pathToFileURL(file).href + fragment);
  await page.waitForSelector(until);
  return { page, wrong };
}

/** Milliseconds that each of these moves of a slider takes, until everything that follows is laid out. */
function slide(page, label, moves) {
  return page.getByRole("slider", { name: label }).evaluate(async (input, moves) => {
    const taken = [];
    for (let at = 0; at < moves; at++) {
      input.value = String(100 + at * 2);
      const before = performance.now();
      input.dispatchEvent(new Event("input"));
      document.body.getBoundingClientRect();
      taken.push(performance.now() - before);
      await new Promise((done) => requestAnimationFrame(done));
    }
    return taken;
  }, moves);
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

test("200 states of the page show what the analysis says, without an error or a request", { skip }, async () => {
  const cases = JSON.parse(readFileSync(PAGE_CASES, "utf8"));
  assert.ok(cases.length > 0);
  const { page, wrong } = await open(PAGE);
  for (const one of cases) {
    const seen = await page.evaluate(async (fragment) => {
      const changed = new Promise((done) => addEventListener("hashchange", done, { once: true }));
      location.hash = fragment;
      await changed;
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
    [...document.querySelectorAll("#view input, #view select, #explore .panel input:not([type=radio]), #explore .panel select, #explore .panel button")]
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
  assert.ok(await page.evaluate(() => document.querySelector("#detail").open && document.querySelector("#detail").contains(document.activeElement)));
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#detail").isHidden());
  assert.ok(await page.evaluate(() => document.activeElement.matches("g.point")));
  assert.deepEqual(wrong, []);
  await page.close();
});

/** Pages that axe looks at, with what is opened in them before. */
const LOOKED_AT = [
  ["a page with its evidence", PAGE, (page) => openAll(page, "details.part")],
  ["the details of one", PAGE, (page) => page.locator(".ranking tbody button").first().click()],
  ["a profile", PAGE_PROFILE, (page) => openAll(page, "#flames details")],
  ["slow clients", PAGE_SLOW, (page) => openAll(page, "#waits details")],
];
const openAll = (page, of) => page.locator(of).evaluateAll((all) => all.forEach((details) => (details.open = true)));

for (const [colorScheme, width, [what, file, prepare]] of [["light", 1400], ["dark", 1400], ["light", 375]].flatMap((of) => LOOKED_AT.map((one) => [...of, one]))) {
  test(`axe finds nothing wrong in ${what}, ${colorScheme} at ${width} pixels`, { skip }, async () => {
    const page = await browser.newPage({ viewport: { width, height: 1000 }, colorScheme, bypassCSP: true });
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("main");
    await prepare(page);
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
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("g.point").first().dispatchEvent("click");
  assert.match(await page.locator("#detail pre code").innerText(), /^weigh run cache-levels --configuration /);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("script").count(), 2);
  assert.ok((await page.locator("h1").textContent()).includes("<script>"));
  assert.deepEqual(wrong, []);
  await page.close();
});

test("slow clients over time: methods and their number are chosen by keyboard, and a moment has its values", { skip }, async () => {
  const { page, wrong } = await open(PAGE_SLOW, {}, "", "#waits table.grid");
  assert.ok(await page.locator("#explore").isHidden());
  const rows = () => page.locator("#waits .scroll").first().locator("tbody tr").allInnerTexts();
  const lines = () => page.locator("#waits figure svg [stroke^='var(--setup']").count();
  const [before, drawn] = [await rows(), await lines()];
  assert.ok(before.length > 1 && drawn > 1, `${before.length} rows, ${drawn} lines`);
  const other = page.locator("#waits .methods input:not(:checked)").first();
  const name = await other.inputValue();
  await other.focus();
  await page.keyboard.press("Space");
  assert.equal((await rows()).length, before.length + 1);
  assert.ok((await rows()).some((row) => row.includes(name)));
  assert.ok((await lines()) > drawn);
  // Without slow clients no worker is kept.
  await page.locator("#waits input[type=radio]:checked").focus();
  for (let at = 0; at < 4; at++) await page.keyboard.press("ArrowLeft");
  await page.locator("#waits input[type=radio][value='0']").press("Space");
  assert.ok((await rows()).every((row) => row.includes("alone")), (await rows()).join(" | "));
  await page.locator("#waits input[type=radio][value='8']").press("Space");
  // The moment: by keyboard, and by the pointer.
  const moment = page.getByRole("slider", { name: "Time" });
  await moment.press("Home");
  const first = await rows();
  assert.match(await page.locator("#waits caption").first().innerText(), /^At 0\.00 s$/);
  assert.ok(first.every((row) => row.includes("–")), first.join(" | "));
  for (let at = 0; at < 60; at++) await moment.press("ArrowRight");
  assert.ok((await rows()).some((row) => /8 of 8/.test(row)));
  const chart = page.locator("#waits figure svg[role=img]").first();
  await chart.hover({ position: { x: 200, y: 100 } });
  const there = await page.locator("#waits output").innerText();
  await chart.hover({ position: { x: 320, y: 100 } });
  assert.ok(parseFloat(await page.locator("#waits output").innerText()) > parseFloat(there));
  // Each has the command that measures it alone.
  await page.locator("#waits details").last().locator("summary").press("Enter");
  assert.match(await page.locator("#waits pre code").first().innerText(), /^weigh run .* --configuration '?browser-compat/);
  assert.deepEqual(wrong, []);
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator("#waits").isHidden());
  assert.ok(await page.locator("#view figure.chart").isVisible());
  await page.close();
});

test("hostile names of methods stay text beside slow clients, and response times over time have their line", { skip }, async () => {
  const { page, wrong } = await open(PAGE_SLOW_HOSTILE, {}, "", "#waits table.grid");
  await openAll(page, "#waits details");
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual([await page.locator("img").count(), await page.locator("script").count()], [0, 2]);
  assert.ok((await page.locator("#waits .methods").innerText()).includes("<img src=x"));
  assert.match(await page.locator("#waits").innerText(), /Response time of light requests/);
  assert.match(await page.locator("#waits .scroll").first().innerText(), /longest/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a flame graph is walked and zoomed by keyboard, and hostile names of functions stay text", { skip }, async () => {
  const { page, wrong } = await open(PAGE_PROFILE, {}, "", "#flames .frame");
  const names = () => page.locator("#flames .frame").evaluateAll((all) => all.map((of) => of.getAttribute("aria-label")));
  const told = () => page.locator("#flames [role=status]").innerText();
  assert.equal((await names()).length, 4);
  assert.equal(await page.locator("#flames .frame[tabindex='0']").count(), 1);
  await page.locator("#flames .frame[tabindex='0']").focus();
  assert.match(await told(), /^\{main\}: 100 samples, 100\.0%/);
  await page.keyboard.press("ArrowDown");
  assert.match(await told(), /^work: 90 samples/);
  await page.keyboard.press("ArrowDown");
  assert.match(await told(), /^php::strlen: 60 samples/);
  await page.keyboard.press("ArrowRight");
  assert.ok((await told()).includes("<img src=x"));
  await page.keyboard.press("Enter");
  // The chosen one and its callers over the whole width.
  const widths = await page.locator("#flames .frame rect").evaluateAll((all) => all.map((of) => Math.round(Number(of.getAttribute("width")))));
  assert.ok(widths.length === 3 && widths.every((width) => width === widths[0]), widths.join(" "));
  await page.keyboard.press("Escape");
  assert.equal((await names()).length, 4);
  await page.locator("#flames .frame").nth(1).click();
  await page.getByRole("button", { name: "Show everything" }).press("Enter");
  assert.equal((await names()).length, 4);
  await page.locator("#flames details details summary").press("Enter");
  assert.match(await page.locator("#flames table tbody tr").first().innerText(), /php::strlen\s+60 samples, 60\.0%/);
  assert.deepEqual([await page.evaluate(() => window.pwned), await page.locator("img").count(), await page.locator("script").count()], [undefined, 0, 2]);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("charts follow light and dark, and what is printed is light", { skip }, async () => {
  const { page } = await open(PAGE_SLOW, { colorScheme: "dark" }, "", "#waits table.grid");
  const paper = () => page.evaluate(() => {
    const rect = document.querySelector("figure.chart svg > rect");
    return [getComputedStyle(rect).fill, getComputedStyle(document.body).backgroundColor];
  });
  const [dark, page_dark] = await paper();
  assert.equal(dark, page_dark);
  await page.locator(".theme").click();
  const [light] = await paper();
  assert.equal(light, "rgb(255, 255, 255)");
  await page.locator(".theme").click();
  await page.emulateMedia({ media: "print" });
  assert.equal((await paper())[0], "rgb(255, 255, 255)");
  await page.close();
});

test("how long the first paint and a slider's move take", { skip: unwanted }, async () => {
  const paints = [];
  const moves = [];
  for (let round = 0; round < 5; round++) {
    const { page } = await open(PAGE);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN));
    const taken = [...(await slide(page, "Link speed", 40)), ...(await slide(page, "Reads per write", 40))];
    moves.push(...taken);
    await page.close();
  }
  console.log(`page-first-paint: ${median(paints).toFixed(0)} ms (median of 5)`);
  console.log(`page-slider-move: ${median(moves).toFixed(1)} ms (median of ${moves.length}, with layout)`);
});

test("an address that names a part of the page, or cannot be read, leaves the conditions as they are", { skip }, async () => {
  const { page, wrong } = await open(PAGE, {}, "#link=2:90:1,reads=3,group=1");
  const state = () => page.evaluate(() => [window.weighbridge.index(), JSON.stringify(window.weighbridge.ranked())]);
  const before = await state();
  await page.evaluate(() => (location.hash = document.querySelector(".part").id));
  await page.evaluate(() => (location.hash = "#%E0%A4%A"));
  await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
  assert.deepEqual(await state(), before);
  assert.equal(await page.getByLabel("Link speed in Mbit/s").inputValue(), "2");
  assert.deepEqual(wrong, []);
  await page.close();
  const unread = await open(PAGE, {}, "#%E0%A4%A=1");
  assert.deepEqual(unread.wrong, []);
  await unread.page.close();
});

test("what is chosen is ranked among itself", { skip }, async () => {
  const { page, wrong } = await open(PAGE);
  const best = await page.evaluate(() => window.weighbridge.ranked().find((one) => one.best).point.family);
  const families = page.locator(".families input");
  const others = await families.evaluateAll((inputs, best) => inputs.map((of) => of.value).filter((name) => name !== best), best);
  assert.ok(others.length > 0);
  for (const name of others) await page.locator(`.families input[value="${name}"]`).check();
  const seen = await page.locator(".ranking tbody tr.best").first().innerText();
  assert.match(seen, /\bbest\b/);
  assert.match(await page.locator(".verdict").innerText(), /^Best here: /);
  assert.equal(await page.locator("g.point.best").count(), 1);
  assert.notEqual(await page.locator("path.iso").getAttribute("d"), "");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("visitors on several links stand in the sliders, and one typical link in the list", { skip }, async () => {
  const { page, wrong } = await open(PAGE, {}, "#link=1.6:300:0.25+7:33:0.75");
  const shares = () => page.locator(".mix .slider").evaluateAll((rows) =>
    rows.map((row) => row.innerText.split("\n").join(" ")).filter((text) => !/\b0%/.test(text)));
  assert.deepEqual((await shares()).map((text) => text.match(/\d+%/)[0]), ["25%", "75%"]);
  assert.equal(await page.locator("output", { hasText: "2 links" }).count(), 2);
  // One step of one of them keeps the other.
  await page.locator(".mix input[type=range]").last().press("ArrowLeft");
  assert.equal((await page.evaluate(() => document.querySelector("pre code").textContent.length)) > 0, true);
  assert.match(await page.locator(".ranks > pre code").innerText(), /link=1\.6:300:25\+7:33:7[34]/);
  const choices = page.locator("#preset");
  await choices.selectOption({ index: 2 });
  assert.equal(await choices.inputValue(), "1");
  assert.doesNotMatch(await page.locator(".ranks > pre code").innerText(), /\+/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a number is taken as it is typed", { skip }, async () => {
  const { page } = await open(PAGE);
  const field = page.getByLabel("Link speed in Mbit/s");
  await field.fill("");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  await field.pressSequentially("0.125");
  assert.equal(await field.inputValue(), "0.125");
  assert.match(await page.locator(".ranks > pre code").innerText(), /link=0\.125:/);
  await page.close();
});

test("columns sort both ways, and a closed detail gives the focus back", { skip }, async () => {
  const { page } = await open(PAGE);
  const bytes = () => page.evaluate(() => [...document.querySelectorAll(".ranking tbody tr")].map((row) => row.children[4].textContent));
  const head = page.locator('.ranking [data-sort="bytes"]');
  await page.locator(".ranks > button").click();
  await head.press("Enter");
  const up = await bytes();
  await head.press("Enter");
  assert.deepEqual((await bytes()).reverse(), up);
  assert.equal(await page.locator('th[aria-sort="descending"]').count(), 1);
  const third = page.locator(".ranking tbody button").nth(2);
  await third.press("Enter");
  await page.getByRole("button", { name: "Close" }).press("Enter");
  assert.ok(await third.evaluate((of) => document.activeElement === of));
  await page.close();
});

test("without anything to rank the page still opens", { skip }, async () => {
  for (const [name, change] of [["unranked", { costs: null }], ["empty", { groups: [] }], ["newer", { schema: 99 }]]) {
    const { page, wrong } = await open(other(name, (data) => ({ ...data, ...change })), {}, "", "#answer");
    assert.ok(await page.locator("#explore").isHidden());
    assert.ok(await page.locator("#view figure.chart").isVisible());
    await page.locator(".part summary").first().press("Enter");
    assert.ok(await page.locator(".part[open] :is(ol, table)").first().isVisible());
    assert.deepEqual(wrong, []);
    await page.close();
  }
});

test("on paper the ink is dark, whatever the screen was, no column is cut off, and there are two pages", { skip }, async () => {
  const { page } = await open(PAGE, { colorScheme: "dark", viewport: { width: 1030, height: 700 } });
  const ink = () => page.evaluate(() => Number(getComputedStyle(document.body).color.match(/\d+/)[0]));
  await page.locator(".theme").click();
  await page.locator(".theme").click();
  assert.ok((await ink()) > 200);
  const printed = (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type \/Page\b/g).length;
  assert.ok(printed <= 2, `${printed} pages`);
  await openAll(page, "details.part");
  await page.emulateMedia({ media: "print" });
  assert.ok((await ink()) < 60);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label")));
  assert.deepEqual(cut, []);
  await page.close();
});

test("how long a slider's move takes with 200 configurations", { skip: unwanted }, async () => {
  const many = (data) => {
    const group = data.groups[0];
    const points = Array.from({ length: 200 }, (_, at) => {
      const point = structuredClone(group.points[at % group.points.length]);
      const factor = 1 + (at * 7) % 200 / 100;
      for (const of of [point.write, point.read]) {
        if (of === null) continue;
        of.value *= factor;
        of.rounds = of.rounds.map(([round, amount]) => [round, amount * factor]);
      }
      return { ...point, id: `${point.id}#${at}`, label: `${point.label} #${at}`, bytes: point.bytes * (3 - factor / 2) };
    });
    return { ...data, groups: [{ ...group, points }] };
  };
  const { page, wrong } = await open(other("many", many));
  const few = await slide(page, "Link speed", 100);
  await page.locator(".ranks > button").click();
  const all = await slide(page, "Link speed", 100);
  console.log(`page-slider-move-200: ${median(few).toFixed(1)} ms, ${median(all).toFixed(1)} ms with all in the table, which follows at rest (medians of 100, with layout)`);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("nothing is wider than the page in three widths, the answer and its tiles are on the first screen, and no names meet", { skip }, async () => {
  for (const [width, height] of [[375, 812], [1024, 900], [1600, 1000]]) {
    for (const file of [PAGE, PAGE_SLOW]) {
      const { page, wrong } = await open(file, { viewport: { width, height } }, "", ".tiles");
      const seen = await page.evaluate(() => {
        const root = document.documentElement;
        const boxes = [...document.querySelectorAll(".labels .name")].map((name) => name.getBoundingClientRect());
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 3 && b.top < a.bottom - 3;
        return {
          wide: root.scrollWidth - root.clientWidth,
          tall: root.scrollHeight,
          tiles: document.querySelector(".tiles").getBoundingClientRect().bottom,
          meeting: boxes.filter((a, at) => boxes.slice(at + 1).some((b) => meet(a, b))).length,
        };
      });
      assert.ok(seen.wide <= 0, `at ${width} pixels the page is ${seen.wide} pixels too wide`);
      assert.ok(seen.tiles <= height, `at ${width} pixels the tiles end at ${seen.tiles}`);
      assert.ok(width < 1600 || seen.tall <= 3500, `${seen.tall} pixels high`);
      assert.equal(seen.meeting, 0);
      assert.deepEqual(wrong, []);
      await page.close();
    }
  }
});

test("pictures of the page in two widths, light, dark and printed", { skip: unwanted }, async () => {
  for (const width of [375, 1600]) {
    for (const colorScheme of ["light", "dark"]) {
      const options = { viewport: { width, height: 1200 }, colorScheme };
      const { page } = await open(PAGE, options);
      await page.screenshot({ path: join(PAGE_SHOTS, `page-${width}-${colorScheme}.png`) });
      await page.evaluate(() => document.getElementById("explore").scrollIntoView());
      await page.screenshot({ path: join(PAGE_SHOTS, `explore-${width}-${colorScheme}.png`) });
      await page.close();
      const slow = await open(PAGE_SLOW, options, "", "#waits table.grid");
      await slow.page.screenshot({ path: join(PAGE_SHOTS, `slow-${width}-${colorScheme}.png`) });
      await slow.page.close();
    }
  }
  const { page } = await open(PAGE);
  await page.pdf({ path: join(PAGE_SHOTS, "page.pdf"), format: "A4" });
  await page.close();
});
