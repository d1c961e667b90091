// The details of a candidate.

const section = (title, content) => (content ? [el("h3", {}, title), content] : []);

const unknown = (text) => el("p", { class: "unknown" }, text);

function list(pairs) {
  const present = pairs.filter(([, value]) => known(value) && value !== "");
  if (!present.length) return null;
  return el("dl", {}, ...present.flatMap(([key, value]) => [el("dt", {}, key), el("dd", {}, String(value))]));
}

const withoutPolicy = ({ status, stage, message }) => [`${status} (${stage})`, message].filter(known).join(": ");

const byPublishedRules = ({ exe_ok: correct }) => (known(correct) ? (correct ? "correct" : "not correct") : null);

function identity(v) {
  return list([
    ["Stage", v.stage],
    ["Rule", v.rule],
    ["Evidence", v.evidence],
    ["By the published rules", byPublishedRules(v)],
    ["Whoever computed", v.without_policy && withoutPolicy(v.without_policy)],
    ["Flags", v.flags.join(", ")],
    ["From", v.source],
    ["Method", v.method],
    ["Model", v.model],
    ["Round", v.round],
    ["SHA-256", v.candidate?.slice(0, 16)],
    ["Device", v.device.name],
  ]);
}

/** Text that scrolls, also by keyboard. */
const scrollable = (kind, label, text) => el("pre", { class: kind, tabindex: 0, role: "group", "aria-label": label }, text);

/** A table; columns are [title, row → cell, "number" for right-aligned]. */
function table(rows, columns) {
  const head = el("tr", {}, ...columns.map(([title, , kind]) => el("th", { scope: "col", class: kind ?? "" }, title)));
  const line = (item) =>
    el("tr", {}, ...columns.map(([title, cell, kind]) => el("td", { class: kind ?? "", "data-head": title }, String(cell(item)))));
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": columns[0][0] },
    el("table", { class: columns.length > 3 ? "stack" : "" }, el("thead", {}, head), el("tbody", {}, ...rows.map(line))),
  );
}

function frames({ frames }) {
  if (!frames?.length) return null;
  return table(frames, [
    ["Line", (f) => f.line, "number"],
    ["Function", (f) => f.function],
    ["Code", (f) => f.text?.trim() ?? ""],
  ]);
}

function mismatches({ mismatches }) {
  if (!mismatches?.length) return null;
  return table(mismatches, [
    ["Output", (m) => m.output],
    ["Index", (m) => `[${m.index.join(", ")}]`],
    ["Expected", (m) => m.expected, "number"],
    ["Got", (m) => m.got, "number"],
  ]);
}

function beyond({ holds, breaks }) {
  if (!holds) return null;
  const broken = breaks.length
    ? table(breaks, [
        ["Breaks on", (b) => b.property],
        ["In", (b) => b.case],
        ["As", (b) => b.status],
      ])
    : null;
  return el("div", {}, list([["Holds for", holds.join(", ")]]), broken);
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function origin({ origin }) {
  if (!origin) return null;
  const others = table(origin.operations, [
    ["Computed by others", (o) => o.name],
    ["Line", (o) => o.line ?? "", "number"],
    ["Elements over those of arguments and results", (o) => percent(o.share), "number"],
  ]);
  const foreign = origin.foreign_share === undefined ? "" : `; others did ${percent(origin.foreign_share)} of the work`;
  const share = el("p", {}, `${percent(origin.kernel_share)} by kernels of this file${foreign}`);
  return el("div", {}, share, ...(origin.operations.length ? [others] : []));
}

const measures = (map) => list(Object.entries(map ?? {}).map(([key, value]) => [key, number(value)]));

function kernels({ kernels, compile }) {
  const rows = kernels?.length ? kernels : compile ? [{ kernel: "largest of all", ...compile }] : [];
  if (!rows.length) return unknown("not measured");
  return table(rows, [
    ["Kernel", (k) => k.kernel],
    ["For", (k) => k.arch],
    ["Registers", (k) => orUnknown(k.registers), "number"],
    ["Shared", (k) => (known(k.shared_bytes) ? `${k.shared_bytes} B` : "not measured"), "number"],
    ["Spills", (k) => (known(k.spills) ? `${k.spills} B` : "not measured"), "number"],
    ["Compiled in", (k) => orUnknown(k.seconds, " s"), "number"],
  ]);
}

function seconds(verdict) {
  const stages = ["static", "compile", "call", "correct", "perf"];
  return list(stages.map((stage) => [stage, known(verdict.seconds[stage]) ? `${number(verdict.seconds[stage])} s` : null]));
}

const KEYWORDS =
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";

/** Python's tokens that are worth a colour: strings, comments, decorators, keywords, numbers. */
const TOKENS = new RegExp(
  [
    /("""[^]*?(?:"""|$)|\x27{3}[^]*?(?:\x27{3}|$)|"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)/,
    /(#[^\n]*)/,
    /(@[\w.]+)/,
    new RegExp(`\\b(${KEYWORDS.replaceAll(" ", "|")})\\b`),
    /\b(\d[\w.]*)/,
  ]
    .map((token) => token.source)
    .join("|"),
  "g",
);
const KINDS = ["string", "comment", "decorator", "keyword", "literal"];

/** Source as lines of [text, kind]; text without a kind stays as it is. */
function highlighted(text) {
  const lines = [[]];
  const add = (part, kind) =>
    part.split("\n").forEach((piece, i) => {
      if (i) lines.push([]);
      if (piece) lines.at(-1).push([piece, kind]);
    });
  let end = 0;
  for (const match of text.matchAll(TOKENS)) {
    add(text.slice(end, match.index));
    add(match[0], KINDS[match.slice(1).findIndex(known)]);
    end = match.index + match[0].length;
  }
  add(text.slice(end));
  return lines;
}

/** The line that is at fault: of the deepest frame, or the one that the message names. */
function failingLine({ frames, status, message }) {
  if (frames?.length) return frames.at(-1).line;
  return status === "correct" ? undefined : Number(/\bline (\d+)\b/.exec(message ?? "")?.[1]);
}

function noSource({ candidate, status }) {
  if (status === "no_code") return "The answer holds no Python source.";
  if (!candidate) return "No kernel was published with this result.";
  return "Not in this page, which would be too large; the results folder has it.";
}

/** Lines with numbers and colours; the line at fault is marked. */
function source(verdict, text) {
  if (!text) return unknown(noSource(verdict));
  const failing = failingLine(verdict);
  const lines = highlighted(text.replace(/\n$/, "")).map((parts, i) => {
    const marked = i + 1 === failing;
    const attributes = { class: marked ? "code-line failing" : "code-line", "data-line": i + 1 };
    const spans = parts.map(([part, kind]) => (kind ? el("span", { class: kind }, part) : part));
    return el("span", marked ? { ...attributes, "aria-current": "true" } : attributes, ...spans, "\n");
  });
  return el("pre", { class: "source", tabindex: 0, role: "group", "aria-label": "Source" }, el("code", {}, ...lines));
}

/** All that is known about a candidate. */
function panel({ verdict, source: text, change, trajectory }) {
  const facts = el(
    "div",
    {},
    ...section("Verdict", el("p", { class: "reason" }, badge(verdict.status), " ", verdict.message ?? "")),
    identity(verdict),
    ...section("Raised in", frames(verdict)),
    ...section("First wrong elements", mismatches(verdict)),
    ...section("Beyond the published tests", beyond(verdict)),
    ...section("Error against the tolerance", measures(verdict.error_metrics)),
    ...section("Who computed the result", origin(verdict)),
    ...(verdict.sizes?.length ? [] : section("Timings", untimed(verdict))),
    ...section("Compiled kernels", kernels(verdict)),
    ...section("Seconds by stage", seconds(verdict)),
    ...(verdict.profile?.failure ? section("Profile", unknown(verdict.profile.failure)) : []),
    ...section("Code quality", measures(verdict.quality)),
    ...section("Printed by the candidate", verdict.output ? scrollable("output", "Output", verdict.output) : null),
  );
  const timed = verdict.sizes?.length
    ? el("div", { class: "wide" }, ...section("Timings", timings(verdict)), ...profile(verdict))
    : null;
  const code = el("div", {}, ...section("Source", source(verdict, text)));
  return el("div", { class: "panel" }, facts, code, timed, changed(change), written(trajectory));
}
