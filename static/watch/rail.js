/**
 * The reaction buttons: press, hold, several fingers, keyboard, and double tap on the picture.
 * It turns gestures into taps and counts into text; what a tap means is the client's.
 */
import { make } from "../ui/dom.js";
import { kindIcon } from "../ui/icons.js";
import { exact, short } from "../sdk/heartline.js";

/** A finger that stays down taps on at this pace: as fast as a quick thumb, within the default rates. */
const HOLD_EVERY_MS = 110;
/** From when on a press is a hold. */
const HOLD_AFTER_MS = 380;
/** Two touches on the picture within this time, and so close, are hearts. */
const DOUBLE_MS = 320;
const DOUBLE_PX = 60;
/** A click that no pointer came before is a keyboard's, or a screen reader's. */
const POINTER_CLICK_MS = 700;
/** A short buzz per tap, where there is a motor. */
const BUZZ_MS = 8;

export class Rail {
  #place;
  #onTap;
  #buttons = new Map();
  #kinds = "";

  /** `onTap(kind, x, y)` in page coordinates. */
  constructor(place, onTap) {
    this.#place = place;
    this.#onTap = onTap;
  }

  /** Shows these kinds: the first (a heart, if there is one) as the large button at the bottom. */
  show(kinds) {
    if (this.#kinds === kinds.join()) return;
    this.#kinds = kinds.join();
    const main = kinds.includes("heart") ? "heart" : kinds[0];
    const others = kinds.filter((kind) => kind !== main).reverse();
    this.#buttons.clear();
    this.#place.classList.toggle("many", kinds.length > 5);
    this.#place.replaceChildren(...[...others, main].map((kind) => this.#button(kind, kind === main)));
  }

  /** The number beneath a button. */
  count(kind, n) {
    const parts = this.#buttons.get(kind);
    if (!parts || parts.shown === n) return;
    parts.shown = n;
    parts.data.textContent = short(n);
    parts.data.value = String(n);
    parts.button.title = `${exact(n)} ${kind}${n === 1 ? "" : "s"}`;
    parts.button.setAttribute("aria-label", `Send a ${kind}, ${exact(n)} so far`);
  }

  /** The button of a kind. */
  place(kind) {
    return this.#buttons.get(kind)?.button;
  }

  enable(on) {
    for (const { button } of this.#buttons.values()) button.disabled = !on;
  }

  /** Double tap on the picture is a heart where it was made. */
  listenOn(stage) {
    let last = { at: -Infinity, x: 0, y: 0 };
    stage.addEventListener("pointerdown", (event) => {
      if (event.target.closest("button, a, .top, .banner, .final")) return;
      const now = { at: event.timeStamp, x: event.clientX, y: event.clientY };
      const near = Math.hypot(now.x - last.x, now.y - last.y) < DOUBLE_PX;
      if (near && now.at - last.at < DOUBLE_MS) this.#tap(this.#mainKind(), now.x, now.y);
      last = now;
    });
  }

  #mainKind() {
    const kinds = this.#kinds.split(",");
    return kinds.includes("heart") ? "heart" : kinds[0];
  }

  #button(kind, main) {
    const data = make("data", "", "0");
    data.value = "0";
    data.dataset.kind = kind;
    const disc = make("span", "disc");
    disc.append(kindIcon(kind));
    const button = make("button", main ? "react main" : "react", null, disc, data);
    button.type = "button";
    button.dataset.kind = kind;
    button.setAttribute("aria-label", `Send a ${kind}`);
    this.#buttons.set(kind, { button, data, shown: null });
    this.#gestures(button, kind);
    return button;
  }

  #gestures(button, kind) {
    const holds = new Map();
    let pointerAt = -Infinity;
    const release = (event) => {
      clearTimeout(holds.get(event.pointerId));
      holds.delete(event.pointerId);
      if (holds.size === 0) button.classList.remove("down");
    };
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || button.disabled) return;
      pointerAt = event.timeStamp;
      button.classList.add("down");
      button.setPointerCapture(event.pointerId);
      this.#tap(kind, event.clientX, event.clientY);
      const again = (after) => holds.set(event.pointerId, setTimeout(() => {
        if (button.disabled) return release(event);
        this.#tap(kind, event.clientX, event.clientY);
        again(HOLD_EVERY_MS);
      }, after));
      again(HOLD_AFTER_MS);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, release);
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    button.addEventListener("click", (event) => {
      if (event.timeStamp - pointerAt < POINTER_CLICK_MS && event.detail > 0) return;
      if (event.detail > 0 && event.pointerType) return;
      const box = button.getBoundingClientRect();
      this.#tap(kind, box.left + box.width / 2, box.top + 20);
    });
  }

  #tap(kind, x, y) {
    // Before the first gesture a browser refuses this with a console message; activation says whether it would.
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(BUZZ_MS);
    this.#onTap(kind, x, y);
  }
}
