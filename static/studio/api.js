/** The host's REST calls for one item. Refusals become errors that carry the server's code and words. */

export class Refusal extends Error {
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

export class Api {
  #item;

  constructor(item, token) {
    this.#item = encodeURIComponent(item);
    this.token = token;
  }

  audit() {
    return this.#call("GET", "/audit");
  }

  /** Creates the item, or changes the named settings. */
  put(settings) {
    return this.#call("PUT", "", settings);
  }

  end() {
    return this.#call("POST", "/end");
  }

  async #call(method, path, body) {
    const headers = { authorization: `Bearer ${this.token}` };
    if (body) headers["content-type"] = "application/json";
    const answer = await fetch(`/v1/items/${this.#item}${path}`, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
    const json = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Refusal(json.error ?? { code: "internal", message: `The server answered ${answer.status}.` });
    return json;
  }
}
