/** The picture: the video of `?video=`, or a stage of slow light; both can be paused. */
import { $, calm } from "../ui/dom.js";
import { glyph, kindIcon } from "../ui/icons.js";

export function stage(videoUrl) {
  const pause = $("#pause");
  $("#backdrop [data-kind]").append(kindIcon("heart"));
  const url = safe(videoUrl);
  if (url) withVideo(url, pause);
  else withBackdrop(pause);
}

/** Only what a video element can play from another place; never `javascript:` or `data:`. */
function safe(text) {
  if (!text) return null;
  try {
    const url = new URL(text, location.href);
    return ["http:", "https:", "blob:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function withBackdrop(pause) {
  // Who asked for little motion gets a still stage, and no button for something that does not move.
  pause.hidden = calm();
  const backdrop = $("#backdrop");
  toggle(pause, "Pause", "Play", () => !backdrop.classList.toggle("paused"));
}

function withVideo(url, pause) {
  const [video, sound] = [$("#video"), $("#sound")];
  video.src = url;
  video.hidden = false;
  video.addEventListener("error", () => {
    video.hidden = true;
    sound.hidden = true;
  });
  video.play().catch(() => {});
  const show = (button, icon, label) => {
    button.replaceChildren(glyph(icon));
    button.setAttribute("aria-label", label);
  };
  const showPlay = () => (video.paused ? show(pause, "play", "Play") : show(pause, "pause", "Pause"));
  const showSound = () => (video.muted ? show(sound, "muted", "Turn sound on") : show(sound, "sound", "Turn sound off"));
  for (const type of ["play", "pause"]) video.addEventListener(type, showPlay);
  video.addEventListener("volumechange", showSound);
  pause.addEventListener("click", () => (video.paused ? video.play().catch(() => {}) : video.pause()));
  sound.addEventListener("click", () => (video.muted = !video.muted));
  sound.hidden = false;
  showPlay();
  showSound();
}

function toggle(button, on, off, flip) {
  const show = (plays) => {
    button.replaceChildren(glyph(plays ? "pause" : "play"));
    button.setAttribute("aria-label", plays ? on : off);
  };
  button.addEventListener("click", () => show(flip()));
  show(true);
}
