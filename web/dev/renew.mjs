// Puts what `npm run build` made into pages that were written before, so that the program can be worked on without building Rust:
// `node dev/renew.mjs report.html`.
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";

const script = readFileSync("dist/page.js", "utf8");
const style = readFileSync("dist/page.css", "utf8");
const digest = createHash("sha256").update(script).digest("base64");

for (const file of process.argv.slice(2)) {
  const page = readFileSync(file, "utf8");
  const start = page.lastIndexOf("<script>") + "<script>".length;
  const end = page.indexOf("</script>", start);
  if (start < "<script>".length || end < 0) throw new Error(`${file}: is no page of \`weigh runs show -f html\``);
  const renewed = (page.slice(0, start) + script + page.slice(end))
    .replace(/<style>[^]*?<\/style>/, () => `<style>${style}</style>`)
    .replace(/'sha256-[^']+'/, () => `'sha256-${digest}'`);
  writeFileSync(`${file}.new`, renewed);
  renameSync(`${file}.new`, file);
}
