// Numbers for readers: three significant digits, a unit after a space, as `crates/model/src/units.rs`.

const TIMES: [string, number][] = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];
const SIZES: [string, number][] = [["B", 1], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9]];
const SPEEDS: [string, number][] = [["kbit/s", 1e-3], ["Mbit/s", 1], ["Gbit/s", 1e3]];

/** Three significant digits: `1.23`, `12 300`. */
export function significant(number: number): string {
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "–";
  if (number === 0) return "0";
  const rounded = Number(number.toPrecision(3));
  const digits = Math.floor(Math.log10(Math.abs(rounded)));
  const text = rounded.toFixed(Math.min(Math.max(2 - digits, 0), 9));
  return text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
}

/** The same without trailing zeros. */
export function trimmed(number: number): string {
  const text = significant(number);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function unitOf(amount: number, units: [string, number][]): [string, number] {
  const rounded = Math.abs(Number(amount.toPrecision(3)));
  return [...units].reverse().find(([, size]) => rounded >= size) ?? units[0] ?? ["", 1];
}

function withUnit(amount: number, low: number | null, high: number | null, units: [string, number][]): string {
  const [unit, size] = unitOf(amount, units);
  const text = `${significant(amount / size)}\u00a0${unit}`;
  const ends = range(low === null ? null : low / size, high === null ? null : high / size);
  return amount === low && amount === high ? text : text + ends;
}

/** ` (1.20–1.30)`; with one end ` (at most 1.30)`; nothing without ends. */
function range(low: number | null, high: number | null): string {
  if (low !== null && high !== null) {
    return ` (${significant(low)}${low < 0 || high < 0 ? " to " : "–"}${significant(high)})`;
  }
  if (high !== null) return ` (at most ${significant(high)})`;
  return low !== null ? ` (at least ${significant(low)})` : "";
}

export const ns = (time: number, low: number | null = null, high: number | null = null) =>
  withUnit(time, low, high, TIMES);
export const bytes = (count: number) => withUnit(count, null, null, SIZES);
export const mbit = (speed: number) => {
  const [unit, size] = unitOf(speed, SPEEDS);
  return `${trimmed(speed / size)}\u00a0${unit}`;
};
export const price = (amount: number, low: number | null = null, high: number | null = null) =>
  significant(amount) + (amount === low && amount === high ? "" : range(low, high));

/** A change: `−79%`, `+3.2%`, `3.2×` from twice on, `=`. */
export const percent = (share: number) =>
  Math.abs(share) < 5e-4 ? "=" : share >= 1 ? `${significant(1 + share)}×` : `${share < 0 ? "−" : "+"}${Number(Math.abs(share * 100).toPrecision(2))}%`;

/** A value of a metric in its unit. */
export function ofUnit(unit: string, value: number, low: number | null, high: number | null): string {
  switch (unit) {
    case "ns":
      return withUnit(value, low, high, TIMES);
    case "s":
      return withUnit(value * 1e9, low === null ? null : low * 1e9, high === null ? null : high * 1e9, TIMES);
    case "bytes":
      return withUnit(value, low, high, SIZES);
    case "bytes-per-second":
    case "bytes/s":
      return `${withUnit(value, low, high, SIZES)} per second`;
    case "per-second":
    case "1/s":
      return `${price(value, low, high)} per second`;
    case "share":
      return `${significant(value * 100)}%`;
    case "ratio":
    case "×":
      return `${significant(value)}×${range(low === value ? null : low, high === value ? null : high)}`;
    case "count":
      return Number.isInteger(value) && value === low && value === high ? trimmed(value) : price(value, low, high);
    default:
      return price(value, low, high);
  }
}

/** A name for an amount on an axis, without an interval. */
export const tick = (unit: string) => (value: number) =>
  ofUnit(unit, value, null, null).replace(/\u00a0/g, " ").replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

/** `a`, `a and b`, `a, b and c`; of more than `most`, how many there are besides. */
export function list(words: string[], most = 3): string {
  const shown = words.slice(0, most);
  const left = words.length - shown.length;
  if (left > 0) return `${shown.join(", ")} and ${left} more`;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1] ?? ""}`;
}
