/** The like: one per person, on or off. Somebody without a name gets one first. */
import { exact, short } from "../sdk/heartline.js";

export class LikeButton {
  #button;
  #count;
  #client;

  /** `onNameless()` is asked for a name when somebody without one presses. */
  constructor(button, count, client, onNameless) {
    this.#button = button;
    this.#count = count;
    this.#client = client;
    button.addEventListener("click", () => {
      if (client.hello?.role === "anonymous") return onNameless();
      client.like(!client.liked());
    });
  }

  /** As the client has it now. */
  draw(over) {
    const { likes } = this.#client.room().counts;
    const liked = this.#client.liked();
    this.#button.disabled = over;
    this.#button.setAttribute("aria-pressed", String(liked));
    this.#button.setAttribute("aria-label", `${liked ? "Take your like back" : "Like this show"}, ${exact(likes)} so far`);
    this.#count.textContent = short(likes);
    this.#count.value = String(likes);
  }
}
