// The table of candidates. Its filters and its order are in the address, so that a view can be linked to and the back button
// works. Rows are made in groups when they come near the screen: a page holds ten thousand.

const GROUP = 50;
/** Fewer rows are all made at once. */
const FEW = 200;
/** How far from the screen rows are made. */
const NEAR = "1500px";
const FILTERS = ["status", "category", "method", "model", "round"];
const STAGES = ["static", "compile", "call", "correct", "perf"];
const DEFAULTS = { q: "", ...Object.fromEntries(FILTERS.map((filter) => [filter, ""])), sort: "task", candidate: "" };

const state = { ...DEFAULTS };
const opened = new Set();
let matching = [];

const distinct = (key) => [...new Set(rows.map((row) => row[key]).filter(known))];
const timed = rows.some((row) => row.speedup);

/** With columns for method and model there is no room for the source, which the details have. */
const several = distinct("method").length > 1 || distinct("model").length > 1;

const COLUMNS = [
  { id: "task", title: "Task", key: (r) => r.index },
  ...(distinct("method").length > 1 ? [{ id: "method", title: "Method", key: (r) => r.method }] : []),
  ...(distinct("model").length > 1 ? [{ id: "model", title: "Model", key: (r) => r.model }] : []),
  ...(distinct("round").length > 1 ? [{ id: "round", title: "Round", key: (r) => r.round }] : []),
  ...(several ? [] : [{ id: "source", title: "Source", key: (r) => r.source }]),
  { id: "status", title: "Status", key: (r) => r.status },
  { id: "stage", title: "Stage", key: (r) => STAGES.indexOf(r.stage) },
  { id: "seconds", title: "Seconds", key: (r) => r.seconds },
  ...(timed ? [{ id: "speedup", title: "Speedup", key: (r) => r.speedup?.[0] }] : []),
  { id: "reason", title: "Reason" },
];

// What a row is searched by, made once: thousands are filtered at every key press.
const haystacks = rows.map((r) =>
  [r.name, r.source, r.status, r.method, r.model, r.reason].join("\n").toLowerCase(),
);

// ---------------------------------------------------------------- the address

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(DEFAULTS)) state[key] = given.get(key) ?? DEFAULTS[key];
}

function address() {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) if (value !== DEFAULTS[key]) params.set(key, value);
  return params.size ? `#${params}` : location.pathname + location.search;
}

/** Changes what is shown. A step that the back button undoes, unless it replaces the one before. */
function go(changes, replaces = false) {
  Object.assign(state, changes);
  history[replaces ? "replaceState" : "pushState"](null, "", address());
  update();
}

// ---------------------------------------------------------------- filters and order

function update() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const active = FILTERS.filter((filter) => state[filter]);
  matching = rows
    .filter((row) => active.every((filter) => String(row[filter]) === state[filter]))
    .filter((row) => words.every((word) => haystacks[row.index].includes(word)));
  sort();
  showControls();
  showRows();
  showCharts(matching);
}

function sort() {
  const descending = state.sort.startsWith("-");
  const { key } = COLUMNS.find((column) => column.id === state.sort.replace("-", "") && column.key) ?? COLUMNS[0];
  const sign = descending ? -1 : 1;
  const collator = new Intl.Collator("en", { numeric: true });
  matching.sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    if (!known(left) || !known(right)) return known(right) - known(left) || a.index - b.index; // unknown last, either way
    const order = typeof left === "string" ? collator.compare(left, right) : left - right;
    return sign * order || a.index - b.index;
  });
}

function showControls() {
  for (const id of ["q", ...FILTERS]) if (byId(id).value !== state[id]) byId(id).value = state[id];
  byId("shown").textContent =
    matching.length === rows.length ? `${number(rows.length)} candidates` : `${number(matching.length)} of ${number(rows.length)}`;
  byId("reset").hidden = ["q", ...FILTERS].every((id) => !state[id]);
  for (const column of COLUMNS) {
    const header = document.querySelector(`th.col-${column.id}`);
    if (state.sort.replace("-", "") !== column.id) header.removeAttribute("aria-sort");
    else header.setAttribute("aria-sort", state.sort.startsWith("-") ? "descending" : "ascending");
  }
}

// ---------------------------------------------------------------- rows

/** Columns that this screen shows. A cell that spans hidden ones would take room for them. */
let span = 1;

function measure() {
  span = [...document.querySelectorAll(".verdicts > thead th")].filter((th) => th.offsetParent).length;
  for (const cell of document.querySelectorAll(".verdicts > tbody > tr > td[colspan]")) cell.colSpan = span;
}

const nearby = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) (isIntersecting ? fill : empty)(target);
  },
  { rootMargin: NEAR },
);

function showRows() {
  nearby.disconnect();
  for (const body of document.querySelectorAll(".verdicts > tbody")) body.remove();
  const list = document.querySelector(".verdicts");
  if (!matching.length) {
    list.append(el("tbody", {}, el("tr", {}, el("td", { class: "none", colspan: span }, "No candidate matches."))));
    return;
  }
  for (let from = 0; from < matching.length; from += GROUP) {
    const body = el("tbody");
    body.group = matching.slice(from, from + GROUP);
    list.append(body);
    if (!from || matching.length <= FEW) fill(body);
  }
  if (matching.length > FEW) reserveRest([...list.tBodies]);
}

/** Rows that were not on the screen yet are taken to be as high as the first ones. */
function reserveRest(bodies) {
  const height = bodies[0].offsetHeight / bodies[0].group.length;
  for (const body of bodies) {
    if (!body.filled) reserve(body, height * body.group.length);
    nearby.observe(body);
  }
}

/** Keeps the room of a group whose rows are not there. */
function reserve(body, height) {
  const cell = el("td", { colspan: span });
  cell.style.height = `${height}px`;
  body.replaceChildren(el("tr", { class: "spacer", "aria-hidden": "true" }, cell));
  body.filled = false;
}

function fill(body) {
  if (body.filled) return;
  body.filled = true;
  body.replaceChildren(...body.group.map(line));
  for (const [i, row] of body.group.entries()) if (opened.has(row)) open(row, body.children[i]);
}

/** A group with the keyboard's focus or with open details stays. */
function empty(body) {
  if (!body.filled || body.contains(document.activeElement) || body.group.some((row) => opened.has(row))) return;
  reserve(body, body.offsetHeight);
}

/** A name that may break after its slashes, colons and underscores. */
const breakable = (text) => text.split(/(?<=[/:_])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));

function line(row) {
  const opener = el(
    "button",
    { type: "button", class: "opener", "aria-expanded": "false" },
    el("span", { class: "in" }, `${row.category}/`),
    ...breakable(row.name.slice(row.category.length + 1)),
  );
  const who = several
    ? el("span", { class: "under who" }, [row.method, row.model, known(row.round) ? `round ${row.round}` : ""].filter(Boolean).join(" · "))
    : null;
  const cells = {
    task: [opener, who, el("span", { class: "under" }, row.reason)],
    method: [row.method],
    model: breakable(row.model),
    round: [known(row.round) ? String(row.round) : ""],
    source: breakable(row.source),
    status: [badge(row.status)],
    stage: [row.stage],
    seconds: [known(row.seconds) ? row.seconds.toFixed(2) : ""],
    speedup: row.speedup ? [`${row.speedup[0].toFixed(2)}×`, row.speedup.length > 1 ? whisker(row.speedup) : null] : [],
    reason: [el("span", { class: "cut" }, row.reason)],
  };
  const made = el("tr", { class: "row" }, ...COLUMNS.map(({ id }) => el("td", { class: `col-${id}` }, ...cells[id])));
  made.row = row;
  made.addEventListener("click", () => {
    if (!String(getSelection())) toggle(row, made); // selecting a reason is not asking for details
  });
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
const extent = timed
  ? [Math.min(1, ...rows.map((r) => r.speedup?.[1] ?? 1)), Math.max(1, ...rows.map((r) => r.speedup?.[2] ?? 1))]
  : [1, 1];

/** A speedup with its interval on an axis that all rows share; a line at 1×. */
function whisker([value, low, high]) {
  const x = (v) => ((100 * Math.log(v / extent[0])) / Math.log(extent[1] / extent[0] || 2)).toFixed(1);
  const svg = document.createElementNS(SVG, "svg");
  const attributes = { class: "whisker", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img" };
  for (const [name, given] of Object.entries(attributes)) svg.setAttribute(name, given);
  svg.setAttribute("aria-label", `95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`);
  for (const [kind, d] of [["one", `M${x(1)} 0V10`], ["interval", `M${x(low)} 5H${x(high)}`], ["point", `M${x(value)} 2V8`]]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

// ---------------------------------------------------------------- details

function toggle(row, made) {
  if (opened.delete(row)) {
    made.nextElementSibling.remove();
    mark(made, false);
    if (state.candidate === row.id) note({ candidate: "" });
    return;
  }
  opened.add(row);
  open(row, made);
  note({ candidate: row.id });
}

/** Notes in the address what is open; not a step of its own. */
function note(changes) {
  Object.assign(state, changes);
  history.replaceState(null, "", address());
}

function mark(made, isOpen) {
  made.classList.toggle("open", isOpen);
  made.querySelector(".opener").setAttribute("aria-expanded", String(isOpen));
}

/** Puts the details below a row. */
async function open(row, made) {
  mark(made, true);
  const cell = el("td", { colspan: span });
  made.after(el("tr", { class: "details", "data-candidate": row.id }, cell));
  try {
    cell.replaceChildren(panel(await detailsOf(row)));
  } catch (failure) {
    cell.replaceChildren(unknown(`This browser cannot unpack the details (${failure}). results.jsonl has them.`));
  }
  const source = cell.querySelector("pre.source");
  const failing = source?.querySelector(".failing");
  if (failing) source.scrollTop = failing.offsetTop - source.clientHeight / 3;
}

/** Shows the candidate that the address names, so that a verdict can be linked to. */
async function openLinked(scrolled = true) {
  const at = matching.findIndex((row) => row.id === state.candidate);
  if (at < 0) return;
  const body = document.querySelectorAll(".verdicts > tbody")[Math.floor(at / GROUP)];
  fill(body);
  const made = [...body.children].find((child) => child.row === matching[at]);
  const details = opened.has(made.row) ? null : open(made.row, made);
  opened.add(made.row);
  if (scrolled) made.scrollIntoView();
  await details;
  if (scrolled) made.scrollIntoView();
}
