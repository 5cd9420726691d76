// Transfer times over a link, as `crates/model/src/transfer.rs` computes them: packets with their headers, and the windows of TCP's slow start.

import type { Conditions, Connection } from "./data";

const MTU = 1500;
const TCP_PAYLOAD = 1448;
const HEADERS = MTU - TCP_PAYLOAD;
const INITIAL_WINDOW = 10;

function packetBytes(payload: number): number {
  return payload + HEADERS * Math.max(Math.ceil(payload / TCP_PAYLOAD), 1);
}

/** Nanoseconds from sending the first byte until the last byte was sent. */
export function transferNs(bytes: number, byteNs: number, tripNs: number, connection: Connection): number {
  let total = packetBytes(bytes) * byteNs;
  if (connection === "warm") return total;
  const packets = Math.ceil(bytes / TCP_PAYLOAD);
  let waiting = 0;
  for (let window = INITIAL_WINDOW; 2 * window - INITIAL_WINDOW < packets; window *= 2) {
    waiting += Math.max(tripNs - (window - 1) * MTU * byteNs, 0);
  }
  return total + waiting;
}

/** The mean over the links. */
export function meanTransferNs(bytes: number, conditions: Conditions, sharing: number): number {
  const all = conditions.links.reduce((sum, link) => sum + link.share, 0);
  return conditions.links.reduce((sum, link) => {
    const byteNs = (8e3 * sharing) / link.mbit;
    return sum + (link.share / all) * transferNs(bytes, byteNs, link.rtt_ms * 1e6, conditions.connection);
  }, 0);
}
