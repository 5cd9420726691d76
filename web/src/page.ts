// The program of a page: the explorer where the run has something to rank, buttons that copy, and light or dark.

import { type Data, type Embedded, SCHEMA } from "./data";
import { copyButton, h } from "./dom";
import { explorer } from "./explorer";
import { flames } from "./flames";
import { waits } from "./waits";

function read(): Embedded | Data | null {
  const text = document.getElementById("data")?.textContent ?? "null";
  const data = JSON.parse(text) as Embedded | Data | null;
  return data !== null && data.schema === SCHEMA ? data : null;
}

/** A switch between light and dark; the reader's system decides until it is used. */
function themeSwitch(): HTMLElement {
  const root = document.documentElement;
  const isDark = () => (root.dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = h("button", { type: "button", class: "theme" });
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    root.dataset["theme"] = isDark() ? "light" : "dark";
    name();
  });
  name();
  return button;
}

/** Commands and configuration can be copied. */
function copies(): void {
  for (const block of document.querySelectorAll("pre.literal")) {
    const text = block.textContent ?? "";
    if (block.querySelector("button") === null) block.append(copyButton(() => text));
  }
}

/** Pictures that are wider than a phone can be scrolled by keyboard. */
function pictures(): void {
  for (const picture of document.querySelectorAll("figure.chart")) {
    const isWide = picture.scrollWidth > picture.clientWidth;
    if (isWide) picture.setAttribute("tabindex", "0");
  }
}

document.getElementById("head")?.append(themeSwitch());
const data = read();
const place = document.getElementById("explore");
const main = document.getElementById("main");
if (data !== null && place !== null && main !== null) {
  if ("groups" in data) {
    explorer(data, place);
    waits(data, place);
  }
  flames(data.flames, main);
}
copies();
pictures();
