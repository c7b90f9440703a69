/**
 * Floating reactions: own ones at once, those of others spread over the room's interval, so that hearts rain evenly
 * instead of in one clump per tick. Only transforms and opacity move; the number of elements is bounded.
 */
import { calm } from "../ui/dom.js";
import { kindIcon } from "../ui/icons.js";

/** Elements in the air at once: beyond this nobody sees one more, but a cheap phone feels it. */
const FLOATING_MAX = 42;
/** Drawn for one tick's taps of others, at most: the picture is of a crowd, the number is the truth. */
const PER_TICK_MAX = 7;
/** Places kept for own taps, so that a crowd never hides them. */
const OWN_RESERVE = 12;

export class Hearts {
  #layer;
  #floating = 0;

  constructor(layer) {
    this.#layer = layer;
  }

  /** One own tap, from where it was made (page coordinates). */
  own(kind, x, y) {
    if (!calm() && this.#floating < FLOATING_MAX) this.#rise(kind, x, y, 1);
  }

  /** `n` taps of others since the last tick, from `place` (an element), over the next `tickMs`. */
  others(kind, n, place, tickMs) {
    if (calm() || document.hidden || n <= 0) return;
    const draw = Math.min(PER_TICK_MAX, n <= 3 ? n : Math.round(2 + Math.log2(n)));
    for (let i = 0; i < draw; i += 1) {
      setTimeout(() => this.#other(kind, place), ((i + Math.random()) / draw) * tickMs);
    }
  }

  #other(kind, place) {
    if (this.#floating >= FLOATING_MAX - OWN_RESERVE) return;
    const box = place.getBoundingClientRect();
    this.#rise(kind, box.left + box.width / 2, box.top + 8, 0.82);
  }

  #rise(kind, x, y, size) {
    const origin = this.#layer.getBoundingClientRect();
    const particle = document.createElement("span");
    particle.className = "particle";
    particle.append(kindIcon(kind));
    this.#layer.append(particle);
    this.#floating += 1;
    const animation = particle.animate(path(x - origin.left - 17, y - origin.top - 17, size, origin.height), {
      duration: 1_900 + Math.random() * 1_100,
      easing: "cubic-bezier(.25, .6, .5, 1)",
    });
    const gone = () => {
      particle.remove();
      this.#floating -= 1;
    };
    animation.finished.then(gone, gone);
  }
}

/** Up, swaying, growing at first and fading at last. */
function path(x, y, size, height) {
  const rise = Math.min(height * 0.62, 300 + Math.random() * 220);
  const sway = (Math.random() < 0.5 ? -1 : 1) * (14 + Math.random() * 30);
  const scale = size * (0.8 + Math.random() * 0.5);
  const turn = (Math.random() - 0.5) * 50;
  const at = (t, s, opacity) => ({
    transform: `translate3d(${x + Math.sin(t * 4.2) * sway - t * 14}px, ${y - rise * t}px, 0) scale(${s}) rotate(${turn * t}deg)`,
    opacity,
  });
  return [at(0, scale * 0.4, 0.4), at(0.12, scale * 1.15, 1), at(0.25, scale, 1), at(0.5, scale, 0.95), at(0.75, scale * 0.95, 0.6), at(1, scale * 0.8, 0)];
}
