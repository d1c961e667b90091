// What the scripts of all pages share. Everything shown comes from candidates in the end and is set as text, never as markup.

const byId = (id) => document.getElementById(id);
const known = (value) => value !== undefined && value !== null;

/**
 * Text with what the eye would miss made visible: direction overrides, which make source read as
 * something else than runs, and control characters.
 */
const visible = (text) =>
  text
    .replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (c) => `⟦U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`)
    .replace(/[\0-\x08\x0b-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));

/** An element with attributes and children; null children are left out, strings become text. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter(known).map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** Three significant digits; numbers that JSON cannot hold arrive as text. */
function number(value) {
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toExponential(2);
  return Number(value.toPrecision(3)).toString();
}

const orUnknown = (value, unit = "") => (known(value) ? number(value) + unit : "not measured");

const TONES = { correct: "good", invalid_task: "odd", infrastructure: "odd" };
const badge = (status) => el("span", { class: `status ${TONES[status] ?? "bad"}` }, status);
