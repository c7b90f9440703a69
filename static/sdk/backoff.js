/**
 * When to come back after a socket closed, and whether at all. Pure: randomness comes in as a function.
 *
 * The server spreads its clients itself where it can (`bye.reconnect_after_ms`, drawn per socket); that is taken as
 * it is. Everything else backs off exponentially with full jitter, so that a fleet never returns in step.
 */

/** The first wait, at most: a blip on a phone's radio is over by then. */
export const BASE_MS = 500;
/** The longest wait: a person who stares at a banner gives up not much later. */
export const MAX_MS = 20_000;
/** A socket that lived for this long had been a good one: the next failure starts over. */
export const STABLE_MS = 10_000;
/** What a server may tell us to wait, at most. */
const TOLD_MAX_MS = 300_000;

/** Milliseconds before attempt number `attempt` (from 0): full jitter over a doubling ceiling, but never at once. */
export function delayMs(attempt, random) {
  const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(attempt, 16));
  return Math.round(ceiling * (0.2 + 0.8 * random()));
}

/** What a close code asks for: `back`, or `away` with a reason for people. */
export function closeMeaning(code) {
  if (code === 4500) return { come: "away", why: "token" };
  if (code === 4501) return { come: "away", why: "banned" };
  if (code === 4502) return { come: "away", why: "unknown" };
  if (code === 4504) return { come: "away", why: "ended" };
  if (code >= 4500 && code <= 4999) return { come: "away", why: "refused" };
  return { come: "back", why: code >= 4000 && code <= 4499 ? "server" : "network" };
}

/** The wait after a close, honouring what the server told. */
export function waitAfter({ attempt, told, random }) {
  if (Number.isFinite(told) && told >= 0) return Math.min(told, TOLD_MAX_MS);
  return delayMs(attempt, random);
}
