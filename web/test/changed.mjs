// Pages with other data: what no stored run has.
import { readFileSync, writeFileSync } from "node:fs";

const START = '<script type="application/json" id="data">';

/** Writes a page as another one is, but for its data, which `change` makes from the data there. */
export function changed(file, to, change) {
  const page = readFileSync(file, "utf8");
  const start = page.indexOf(START) + START.length;
  const end = page.indexOf("</script>", start);
  const data = JSON.parse(page.slice(start, end));
  const text = JSON.stringify(change(data) ?? data).replaceAll("<", "\\u003c");
  writeFileSync(to, page.slice(0, start) + text + page.slice(end));
  return to;
}
