/** The few lines of DOM work that every page repeats. Text only ever goes in as text. */

export const $ = (selector, root = document) => root.querySelector(selector);

/** An element with classes, text and children: `make("li", "line own", "text", child…)`. */
export function make(tag, classes = "", text = null, ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text !== null) element.textContent = text;
  element.append(...children);
  return element;
}

/** Runs `fn` once in the next frame however often it is asked for: counts may come faster than screens are drawn. */
export function perFrame(fn) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      fn();
    });
  };
}

/** Whether the reader wants little motion; asked each time, since the setting can change. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A name for people: the token's, or a short form of the id. */
export function nameOf({ name, user }) {
  if (name) return name;
  const id = user.replace(/^anon:/, "");
  return id.length > 14 ? `Guest ${id.slice(-4)}` : id;
}

/** `12:34`, or with the hour where there is one. */
export function clockText(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  const two = (n) => String(n).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
