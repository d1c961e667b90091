// How a candidate came about: what a method asked and was told, and what each round changed.

const LINES = { "+": "added", "-": "removed", "@": "hunk" };

/** A unified diff with its lines coloured. */
function diff(text) {
  const lines = text.split("\n").map((line) => el("span", { class: LINES[line[0]] ?? "same" }, `${line}\n`));
  return el("pre", { class: "output diff", tabindex: 0, role: "group", "aria-label": "Changes" }, ...lines);
}

/** A diff of two kernels, of which one may not be published. */
function difference(text) {
  if (!known(text)) return unknown("not published: a kernel of the two is missing");
  return text ? diff(text) : unknown("none: the same source");
}

/** What a round changed against the one before, under what was found about that one. */
function changed(change) {
  if (!change) return null;
  const before = el("p", { class: "reason" }, badge(change.status), " ", change.message ?? "");
  return el(
    "div",
    { class: "wide changed" },
    ...section(`Found in round ${change.round}`, before),
    ...section(`Changes since round ${change.round}`, difference(change.diff)),
  );
}

/** How a method wrote the candidate: each request with its reply, and what the referee found. */
function written(trajectory) {
  if (!trajectory) return null;
  const { answer, why, rounds } = trajectory;
  const chosen = answer ? `The answer is the kernel of ${answer}: ${why}.` : `No answer: ${why}.`;
  return el("div", { class: "wide written" }, ...section("How it was written", el("p", {}, chosen)), ...rounds.map(round));
}

function round(r) {
  const cost = [
    known(r.tokens) ? `${number(r.tokens)} tokens` : null,
    known(r.usd) ? `${number(r.usd)} USD` : null,
    known(r.seconds) ? `${number(r.seconds)} s` : null,
  ].filter(Boolean);
  const head = [r.ask, r.model, ...cost].filter(Boolean).join(" · ");
  const speed = [r.speedup, r.recorded].filter(Boolean).join("; ");
  return el(
    "details",
    {},
    el("summary", {}, head, " ", r.status ? badge(r.status) : null, speed ? ` ${speed}` : null),
    ...r.prompt.flatMap((message) => said(message, r.about)),
    ...(r.against
      ? section(`Changes since ${r.against}`, difference(r.diff ?? ""))
      : []),
    ...section("Reply", r.reply === undefined ? unknown(r.failure ?? "none") : scrollable("output", "Reply", r.reply)),
    ...(r.rule ? section("Code found by the rule", el("p", {}, r.rule)) : []),
    ...(r.status
      ? section("On development inputs", el("p", { class: "reason" }, badge(r.status), " ", r.message ?? ""))
      : []),
  );
}

/** A message of a prompt; what the round before had, too, is left out. */
function said({ role, text, above, below }, about) {
  const same = (lines) => (lines ? unknown(`… ${lines} lines as in the request before`) : null);
  if (!text && above + below) return [];
  const feedback = about.length && above ? `, with what was found about ${about.join(", ")}` : "";
  const title = `Prompt (${role}${feedback})`;
  return section(title, el("div", {}, same(above), scrollable("output", "Prompt", text), same(below)));
}
