/**
 * Icons as inline SVG, made by script so that pages need neither fonts nor further requests.
 * A kind of tap that has no drawing of its own gets a sparkle in a colour that follows from its name.
 */
const NS = "http://www.w3.org/2000/svg";

const FACE = { d: "M12 2.200a9.800 9.800 0 1 1 0 19.600 9.800 9.800 0 0 1 0-19.600z", fill: "#ffcf3f" };
const EYES = { d: "M8.500 7.900a1.300 1.700 0 1 1 0 3.400 1.300 1.700 0 0 1 0-3.400zm7 0a1.300 1.700 0 1 1 0 3.400 1.300 1.700 0 0 1 0-3.400z", fill: "#5b3200" };
const HAPPY_EYES = { d: "M6.500 10.400 8.600 8.300l2.100 2.100m2.600 0 2.100-2.100 2.100 2.100", stroke: "#5b3200" };

const KINDS = {
  heart: [{ d: "M12 20.700C5.400 15.200 2.300 11.700 2.300 8.100c0-2.900 2.300-5 4.900-5 2 0 3.800 1.100 4.800 3 1-1.900 2.800-3 4.800-3 2.600 0 4.900 2.100 4.900 5 0 3.600-3.100 7.100-9.700 12.600z", fill: "#ff3b6b" }],
  fire: [
    { d: "M12.800 1.700c.5 3.300-1.200 4.900-2.900 6.800-.6-1-.9-1.900-.9-3C6.500 8.100 4.700 11 4.700 14.400c0 4.400 3.200 7.900 7.300 7.900s7.300-3.400 7.300-7.700c0-5.200-3.200-9.900-6.500-12.900z", fill: "#ff7a1a" },
    { d: "M12.300 11.300c.2 2-1.100 2.800-2 4-.6.7-1 1.500-1 2.600 0 2.100 1.300 3.400 2.800 3.400s2.900-1.200 2.900-3.400c0-2.600-1.200-4.700-2.700-6.600z", fill: "#ffd84d" },
  ],
  laugh: [FACE, HAPPY_EYES, { d: "M6.500 12.700h11c0 3.400-2.300 5.800-5.500 5.800s-5.500-2.400-5.500-5.800z", fill: "#5b3200" }, { d: "M8.900 17.300c.8-.9 1.900-1.300 3.100-1.300s2.300.4 3.100 1.300c-.8.800-1.900 1.200-3.100 1.200s-2.300-.4-3.100-1.200z", fill: "#ff5d6c" }],
  wow: [FACE, EYES, { d: "M12 13.200a2.300 2.900 0 1 1 0 5.800 2.300 2.900 0 0 1 0-5.800z", fill: "#5b3200" }],
  sad: [FACE, EYES, { d: "M8 17.300c.9-1.700 2.300-2.600 4-2.600s3.100.9 4 2.600", stroke: "#5b3200" }, { d: "M17.200 12.200c1 1.400 1.500 2.300 1.500 3a1.500 1.500 0 0 1-3 0c0-.7.5-1.600 1.500-3z", fill: "#3aa4ff" }],
  star: [{ d: "m12 1.900 3.100 6.400 7 1-5.100 4.900 1.200 7L12 17.900l-6.200 3.300 1.200-7-5.100-4.900 7-1z", fill: "#ffc62e" }],
  up: [{ d: "M2.500 10.500h4v10.800h-4zM8 20.300V10.700l4.300-8.200c1.600 0 2.600 1.200 2.300 2.700l-.7 3.900h5.300c1.500 0 2.600 1.300 2.300 2.800l-1.400 7.300a2.500 2.500 0 0 1-2.500 2.100H10.500z", fill: "#3d9bff" }],
  clap: [
    { d: "M4.200 13.600 10 7.700c.6-.6 1.500-.6 2.100 0l.3.300 2.300-2.300c.5-.6 1.500-.6 2 0 .4.400.5.9.3 1.400l2-2c.6-.6 1.500-.6 2.100 0s.6 1.500 0 2.100l-7.600 7.600a6.600 6.600 0 0 1-9.300 0z", fill: "#ffb84d" },
    { d: "M5.500 18.400a6.600 6.600 0 0 0 9.300 0l6.600-6.600c.5-.6.5-1.500 0-2-.6-.6-1.500-.6-2.100 0l-3.800 3.800-1.900 1.900", stroke: "#c46f00" },
    { d: "M7.500 2.300l.7 2.400M12.200 1.900l-.3 2.500M3.700 5l1.800 1.800", stroke: "#ffc62e" },
  ],
};

const GLYPHS = {
  like: KINDS.up.map(({ d }) => ({ d, fill: "currentColor" })),
  eye: [{ d: "M2 12s3.600-6.500 10-6.500S22 12 22 12s-3.600 6.500-10 6.500S2 12 2 12z", stroke: "currentColor" }, { d: "M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z", fill: "currentColor" }],
  people: [{ d: "M9 4.500a3.700 3.700 0 1 1 0 7.400 3.700 3.700 0 0 1 0-7.400zM2 19.500c0-3.600 3-6 7-6s7 2.400 7 6v.5H2zM16.200 5.300a3.300 3.300 0 0 1 0 6.400 5.400 5.400 0 0 0 0-6.400zM17.800 14c2.500.6 4.200 2.600 4.200 5.500v.500h-4v-.5c0-2-.7-3.900-2-5.200z", fill: "currentColor" }],
  chat: [{ d: "M3.500 5.500c0-1 .8-1.700 1.700-1.700h13.600c1 0 1.700.8 1.700 1.700v9.800c0 1-.8 1.700-1.700 1.700H10l-4.800 3.700V17c-1 0-1.700-.8-1.700-1.700z", stroke: "currentColor" }],
  send: [{ d: "M3.200 4.600c-.3-.9.500-1.700 1.300-1.300l16.600 7.800c.8.400.8 1.500 0 1.900L4.500 20.700c-.8.400-1.600-.4-1.300-1.300L5.600 13l8-1-8-1z", fill: "currentColor" }],
  pause: [{ d: "M7 5h3.500v14H7zM13.500 5H17v14h-3.500z", fill: "currentColor" }],
  play: [{ d: "M7.500 4.600c0-.8.900-1.300 1.500-.8l10.500 7.400c.6.400.6 1.300 0 1.700L9 20.300c-.6.500-1.500 0-1.500-.8z", fill: "currentColor" }],
  muted: [{ d: "M4 9.500h3.500L12.500 5v14l-5-4.500H4z", fill: "currentColor" }, { d: "m16 9.500 5 5m0-5-5 5", stroke: "currentColor" }],
  sound: [{ d: "M4 9.500h3.500L12.500 5v14l-5-4.500H4z", fill: "currentColor" }, { d: "M15.800 9a4.300 4.300 0 0 1 0 6M18.300 6.500a7.800 7.800 0 0 1 0 11", stroke: "currentColor" }],
  down: [{ d: "M12 4.500v14m-6-6 6 6 6-6", stroke: "currentColor" }],
  check: [{ d: "m5 12.500 4.700 4.700L19.300 7", stroke: "currentColor" }],
  alert: [{ d: "M12 3.500 22 20.500H2zM12 10v4.500m0 2.500v.2", stroke: "currentColor" }],
  open: [{ d: "M13.500 4.500h6v6m0-6-9 9M17 13.500v6H4.500V7h6", stroke: "currentColor" }],
};

const SPARKLE = "M12 2c.9 5.600 2.900 8.500 10 10-7.100 1.500-9.100 4.400-10 10-.9-5.600-2.900-8.500-10-10 7.100-1.500 9.100-4.400 10-10z";

/** The icon of a kind of tap. */
export function kindIcon(kind) {
  return draw(KINDS[kind] ?? [{ d: SPARKLE, fill: `hsl(${hueOf(kind)} 85% 60%)` }]);
}

/** An icon of the page itself. */
export function glyph(name) {
  return draw(GLYPHS[name]);
}

/** Puts glyphs where the page asks for them with `data-glyph`. */
export function placeGlyphs(root = document) {
  for (const place of root.querySelectorAll("[data-glyph]")) place.prepend(glyph(place.dataset.glyph));
}

/** Kinds that have a drawing, for people to choose from. */
export const KNOWN_KINDS = Object.keys(KINDS);

/** A hue that is the same for a name on every screen. */
export function hueOf(name) {
  // FNV-1a, then spread by the golden angle, so that near names are far apart.
  let hash = 0x811c9dc5;
  for (const char of name) hash = Math.imul(hash ^ char.codePointAt(0), 0x01000193) >>> 0;
  return Math.round((hash % 997) * 137.508) % 360;
}

function draw(parts) {
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  for (const { d, fill, stroke } of parts) {
    const path = document.createElementNS(NS, "path");
    path.setAttribute("d", d);
    path.setAttribute("fill", fill ?? "none");
    if (stroke) {
      for (const [name, value] of [["stroke", stroke], ["stroke-width", "2"], ["stroke-linecap", "round"], ["stroke-linejoin", "round"]]) path.setAttribute(name, value);
    }
    svg.append(path);
  }
  return svg;
}
