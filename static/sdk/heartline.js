/**
 * The public module of the Heartline client: what pages and embedders import as `/sdk/heartline.js`.
 * Everything else in this folder is its inside and may change.
 */
export { connect, HeartlineClient } from "./client.js";
export { exact, short } from "./display.js";
