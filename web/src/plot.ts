// Charts by Plot, with one name each: their parts have names of their own, which a group in a drawing may not have.

import * as Plot from "@observablehq/plot";

/** Draws a chart whose name is given where it stands. */
export function plot(options: Plot.PlotOptions): SVGSVGElement & Plot.Plot {
  const drawn = Plot.plot(options) as SVGSVGElement & Plot.Plot;
  for (const part of drawn.querySelectorAll("g[aria-label]")) part.removeAttribute("aria-label");
  return drawn;
}
