// Wires the page: filters, headers, keys, links, print.

function header() {
  const cells = COLUMNS.map((column) => {
    if (!column.key) return el("th", { scope: "col", class: `col-${column.id}` }, column.title);
    const button = el("button", { type: "button" }, column.title);
    button.addEventListener("click", () => go({ sort: state.sort === column.id ? `-${column.id}` : column.id }));
    return el("th", { scope: "col", class: `col-${column.id}` }, button);
  });
  document.querySelector(".verdicts > thead tr").replaceChildren(...cells);
}

function filters() {
  for (const id of FILTERS) {
    const values = distinct(id).map(String).sort(new Intl.Collator("en", { numeric: true }).compare);
    byId(id).append(...values.map((value) => el("option", { value }, value)));
    byId(id).closest("label").hidden = values.length < 2;
    byId(id).addEventListener("change", () => go({ [id]: byId(id).value, candidate: "" }));
  }
  // Typing a word is one step, however many letters it has.
  let typing = false;
  byId("q").addEventListener("input", () => {
    go({ q: byId("q").value, candidate: "" }, typing);
    typing = true;
  });
  byId("q").addEventListener("blur", () => (typing = false));
  byId("reset").addEventListener("click", () => {
    go({ ...DEFAULTS, sort: state.sort });
    byId("q").focus();
  });
}

/** Up and down between the rows; / searches. */
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (event.key === "/" && !target.matches("input, select, textarea")) {
    event.preventDefault();
    byId("q").focus();
  }
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || !target.matches(".opener")) return;
  const openers = [...document.querySelectorAll(".opener")];
  const next = openers[openers.indexOf(target) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

let scrolls = false;

function addressChanged() {
  readAddress();
  update();
  if (state.candidate) openLinked();
  else if (scrolls) byId("candidates").scrollIntoView();
  scrolls = false;
}

header();
filters();
addEventListener("hashchange", addressChanged);
addEventListener("keydown", keys);
addEventListener("click", (event) => {
  // A link of the page shows candidates; the back button leads back to where it was followed.
  scrolls = Boolean(event.target.closest?.('a[href^="#"]'));
});
addEventListener("resize", measure);
addEventListener("beforeprint", () => document.querySelectorAll(".verdicts > tbody").forEach((body) => body.group && fill(body)));
byId("candidates").hidden = false;
measure();
if (rows.length === 1) state.candidate = rows[0].id;
byId("candidates").classList.toggle("one", rows.length === 1);
if (location.hash) readAddress();
update();
openLinked(rows.length > 1);
