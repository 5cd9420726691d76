// Bundles the page's program and its style into `dist`: one script without imports, and one style sheet.
import { build } from "esbuild";

const shared = { bundle: true, minify: true, legalComments: "none", logLevel: "warning" };
await build({
  ...shared,
  entryPoints: ["src/page.ts"],
  outfile: "dist/page.js",
  format: "iife",
  target: ["es2022"],
  // Inside a page, the end of a script element would end the program.
  supported: { "inline-script": false },
});
await build({ ...shared, entryPoints: ["src/page.css"], outfile: "dist/page.css" });
// The pure modules alone, for the tests in Node.
await build({ ...shared, entryPoints: ["src/pure.ts"], outfile: "dist/pure.mjs", format: "esm", minify: false });
