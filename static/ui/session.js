/**
 * Who this tab is: the token from `#token=`, or the one that it had before. It is kept in the tab's own session storage
 * and taken out of the address at once, so that a copied link never carries it.
 */

/** The tab's identity for one purpose (`watch`, `studio`). */
export function session(purpose) {
  const slot = `heartline.${purpose}`;
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    write(slot, { token: given });
    history.replaceState(null, "", location.pathname + location.search);
  }
  return {
    get: () => read(slot),
    set: (value) => write(slot, value),
    clear: () => write(slot, null),
  };
}

/** Whether this page may ask for a development token: only ever on the machine itself. */
export function onLoopback() {
  return ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
}

/** Asks for a development token; null where the server is not in development mode. */
export async function devToken(claims) {
  if (!onLoopback()) return null;
  const answer = await fetch("/v1/dev/token", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(claims),
  });
  return answer.ok ? (await answer.json()).token : null;
}

function read(slot) {
  try {
    return JSON.parse(sessionStorage.getItem(slot)) ?? {};
  } catch {
    return {};
  }
}

function write(slot, value) {
  try {
    if (value === null) sessionStorage.removeItem(slot);
    else sessionStorage.setItem(slot, JSON.stringify(value));
  } catch {
    // A browser that refuses storage only forgets who it was on reload.
  }
}
