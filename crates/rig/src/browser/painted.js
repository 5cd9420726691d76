// What a page painted, and which fonts hid its text: asked in a world that the page's scripts do not reach.
(async () => {
  const navigation = performance.getEntriesByType("navigation")[0] ?? {};
  // A busy machine paints a while after the load event.
  const seen = await new Promise((done) => {
    let all = [];
    const observer = new PerformanceObserver((list) => {
      all = all.concat(list.getEntries());
      setTimeout(() => done(all.concat(observer.takeRecords())), 50);
    });
    observer.observe({ type: "largest-contentful-paint", buffered: true });
    setTimeout(() => done(all), 4000);
  });
  const paints = performance.getEntriesByName("first-contentful-paint");
  const plain = (family) => family.split(",")[0].replace(/["']/g, "").trim().toLowerCase();
  // Families whose text is not shown before they are there.
  const hiding = new Map();
  let rules = 0;
  const collect = (sheet, depth) => {
    let list;
    try {
      list = sheet.cssRules;
    } catch {
      return;
    }
    for (const rule of list) {
      if (++rules > 50000 || depth > 5) return;
      if (rule instanceof CSSImportRule && rule.styleSheet) collect(rule.styleSheet, depth + 1);
      if (!(rule instanceof CSSFontFaceRule)) continue;
      const source = /url\(["']?([^"')]+)/.exec(rule.style.getPropertyValue("src"));
      const display = rule.style.getPropertyValue("font-display") || "auto";
      if (!source || !["auto", "block"].includes(display)) continue;
      const family = plain(rule.style.getPropertyValue("font-family"));
      const of = hiding.get(family) ?? [];
      try {
        of.push(new URL(source[1], sheet.href ?? document.baseURI).href);
      } catch {
        continue;
      }
      hiding.set(family, of);
    }
  };
  for (const sheet of document.styleSheets) collect(sheet, 0);
  const fontsOf = (element) => (element ? (hiding.get(plain(getComputedStyle(element).fontFamily)) ?? []) : []);
  // If every text that can be seen has such a font, and there is no image, the first paint waits for one.
  let first = null;
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  for (let count = 0; count < 2000 && walker.nextNode(); count++) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element?.checkVisibility()) continue;
    const fonts = fontsOf(element);
    if (fonts.length === 0) {
      first = [];
      break;
    }
    first = (first ?? []).concat(fonts);
  }
  const largest = seen.at(-1);
  return {
    requestStart: navigation.requestStart,
    load: navigation.loadEventStart,
    fcp: paints[0]?.startTime,
    fonts: [...new Set(first ?? [])].slice(0, 20),
    largest: largest && {
      at: largest.startTime,
      url: largest.url,
      text: (largest.element?.textContent ?? "").trim().slice(0, 60),
      fonts: largest.url ? [] : fontsOf(largest.element),
    },
  };
})()
