// What tests in Node use: everything that needs no browser.

export * from "./conditions";
export * from "./ranking";
export * from "./format";
