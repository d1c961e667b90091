// Builds the table of candidates and, when one is opened, its details. Everything shown comes from
// candidates in the end and is set as text, never as markup.
"use strict";
(() => {
  const PAGE = 100;
  const { verdicts, sources, timed, trajectories } = JSON.parse(document.getElementById("data").textContent);
  const known = (value) => value !== undefined && value !== null;
  const byId = (id) => document.getElementById(id);

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

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const total = (verdict) => {
    const seconds = Object.values(verdict.seconds);
    return seconds.length ? sum(seconds) : undefined;
  };

  /** Three significant digits; numbers that JSON cannot hold arrive as text. */
  function number(value) {
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value.toLocaleString("en");
    if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toExponential(2);
    return Number(value.toPrecision(3)).toString();
  }

  const orUnknown = (value, unit = "") => (known(value) ? number(value) + unit : "not measured");
  const name = (verdict) => `${verdict.category}/${verdict.task}${verdict.sample ? `#${verdict.sample}` : ""}`;
  const maker = (v) => [v.method, v.model].filter(Boolean).join(" ");
  const several = new Set(verdicts.map(maker)).size > 1;
  /** What an address calls a candidate. */
  const anchor = (v) => (several ? `${name(v)}@${maker(v)}` : name(v));
  /** Flags of every verdict of a run: the page's head says it once. */
  const OF_RUNS = ["scaled_inputs", "published_tolerance"];

  const reason = (verdict) => {
    const flags = verdict.flags.filter((flag) => !OF_RUNS.includes(flag));
    const broken = verdict.status === "correct" && verdict.breaks?.length;
    const breaks = broken ? `breaks on ${verdict.breaks.map((b) => b.property).join(", ")}` : null;
    const text = [verdict.rule ?? verdict.evidence, verdict.message, breaks].filter(Boolean).join(": ");
    return flags.length ? `${text} [${flags.join(", ")}]`.trim() : text;
  };

  const TONES = { correct: "good", invalid_task: "odd", infrastructure: "odd" };
  const badge = (status) => el("span", { class: `status ${TONES[status] ?? "bad"}` }, status);

  const COLUMNS = [
    { id: "task", title: "Task", key: name },
    { id: "source", title: "Source", key: (v) => v.source },
    { id: "status", title: "Status", key: (v) => v.status },
    { id: "stage", title: "Stage", key: (v) => ["static", "compile", "call", "correct", "perf"].indexOf(v.stage) },
    { id: "seconds", title: "Seconds", key: total },
    ...(timed ? [{ id: "speedup", title: "Speedup", key: (v) => v.speedup?.value }] : []),
    { id: "reason", title: "Reason" },
  ];

  const state = { column: COLUMNS[0], descending: false, page: 0, matching: verdicts };

  // What a row is searched by, made once: 5,000 candidates are filtered at every key press.
  const haystacks = new Map(
    verdicts.map((v) => [v, [name(v), v.source, v.status, v.method, v.model, reason(v)].join("\n").toLowerCase()]),
  );

  function compare(a, b) {
    const [left, right] = [state.column.key(a), state.column.key(b)];
    if (!known(left) || !known(right)) return known(right) - known(left); // unknown last, either way
    const order = typeof left === "string" ? left.localeCompare(right, "en", { numeric: true }) : left - right;
    return state.descending ? -order : order;
  }

  function update() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [status, category] = [byId("status").value, byId("category").value];
    state.matching = verdicts
      .filter((v) => (!status || v.status === status) && (!category || v.category === category))
      .filter((v) => words.every((word) => haystacks.get(v).includes(word)))
      .sort(compare);
    state.page = 0;
    show();
  }

  function show() {
    const { matching, page } = state;
    const first = page * PAGE;
    const rows = matching.slice(first, first + PAGE).map(row);
    const none = el("tr", {}, el("td", { class: "none", colspan: span() }, "No candidate matches."));
    document.querySelector(".verdicts > tbody").replaceChildren(...(rows.length ? rows : [none]));
    byId("shown").textContent =
      matching.length === verdicts.length ? `${verdicts.length} candidates` : `${matching.length} of ${verdicts.length}`;
    const pages = Math.ceil(matching.length / PAGE);
    document.querySelector(".pages").hidden = pages < 2;
    byId("page").textContent = `Page ${page + 1} of ${pages}`;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page + 1 >= pages;
    for (const column of COLUMNS) {
      const header = document.querySelector(`th.col-${column.id}`);
      if (column !== state.column) header.removeAttribute("aria-sort");
      else header.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    }
  }

  /** Columns that this screen shows. A cell that spans hidden ones would take room for them. */
  const span = () => [...document.querySelectorAll(".verdicts > thead th")].filter((th) => th.offsetParent).length;

  /** A name that may break after its slashes and underscores. */
  const breakable = (text) => text.split(/(?<=[/_])/).flatMap((part) => [el("wbr"), part]);

  function row(verdict) {
    const opener = el(
      "button",
      { type: "button", class: "opener", "aria-expanded": "false" },
      el("span", { class: "in" }, `${verdict.category}/`),
      ...breakable(name(verdict).slice(verdict.category.length + 1)),
    );
    const cells = {
      task: [opener, el("span", { class: "under" }, reason(verdict))],
      source: breakable(verdict.source),
      status: [badge(verdict.status)],
      stage: [verdict.stage],
      seconds: [known(total(verdict)) ? total(verdict).toFixed(2) : ""],
      speedup: [verdict.speedup ? `${verdict.speedup.value.toFixed(2)}×` : ""],
      reason: [el("span", { class: "cut" }, reason(verdict))],
    };
    const line = el(
      "tr",
      { class: "row" },
      ...COLUMNS.map((column) => el("td", { class: `col-${column.id}` }, ...cells[column.id])),
    );
    line.addEventListener("click", () => {
      if (String(getSelection())) return; // selecting a reason is not asking for details
      toggle(verdict, line, opener);
    });
    return line;
  }

  function toggle(verdict, line, opener) {
    const open = opener.getAttribute("aria-expanded") === "true";
    opener.setAttribute("aria-expanded", String(!open));
    line.classList.toggle("open", !open);
    if (open) {
      line.nextElementSibling.remove();
      return;
    }
    line.after(el("tr", { class: "details", "data-candidate": name(verdict) }, el("td", { colspan: span() }, details(verdict))));
    const source = line.nextElementSibling.querySelector("pre.source");
    const failing = source?.querySelector(".failing");
    if (failing) source.scrollTop = failing.offsetTop - source.clientHeight / 3;
    history.replaceState(null, "", `#${encodeURIComponent(anchor(verdict))}`);
  }

  function details(verdict) {
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
      ...section("Printed by the candidate", verdict.output ? el("pre", { class: "output", tabindex: 0 }, verdict.output) : null),
    );
    const timed = verdict.sizes?.length
      ? el("div", { class: "wide" }, ...section("Timings", timings(verdict)), ...profile(verdict))
      : null;
    return el("div", { class: "panel" }, facts, el("div", {}, ...section("Source", source(verdict))), timed, written(verdict));
  }

  const key = (method, task, sample) => JSON.stringify([method, task, sample]);
  const writtenBy = new Map(trajectories.map((t) => [key(t.method, t.task, t.sample), t]));

  /** How a method wrote the candidate: each request with its reply, and what the referee found. */
  function written({ method, category, task, sample }) {
    const trajectory = writtenBy.get(key(method, `${category}/${task}`, sample));
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
      ...section("Reply", r.reply === undefined ? unknown(r.failure ?? "none") : text(r.reply)),
      ...(r.rule ? section("Code found by the rule", el("p", {}, r.rule)) : []),
      ...(r.status
        ? section("On development inputs", el("p", { class: "reason" }, badge(r.status), " ", r.message ?? ""))
        : []),
    );
  }

  const text = (content) => el("pre", { class: "output", tabindex: 0 }, content);

  /** A message of a prompt; what the round before had, too, is left out. */
  function said({ role, text: content, above, below }, about) {
    const same = (lines) => (lines ? unknown(`… ${lines} lines as in the request before`) : null);
    if (!content && above + below) return [];
    const feedback = about.length && above ? `, with what was found about ${about.join(", ")}` : "";
    const title = `Prompt (${role}${feedback})`;
    return section(title, el("div", {}, same(above), text(content), same(below)));
  }

  const section = (title, content) => (content ? [el("h3", {}, title), content] : []);

  const unknown = (text) => el("p", { class: "unknown" }, text);

  function list(pairs) {
    const present = pairs.filter(([, value]) => known(value) && value !== "");
    if (!present.length) return null;
    return el("dl", {}, ...present.flatMap(([key, value]) => [el("dt", {}, key), el("dd", {}, String(value))]));
  }

  const withoutPolicy = ({ status, stage, message }) => [`${status} (${stage})`, message].filter(known).join(": ");

  function identity(v) {
    return list([
      ["Stage", v.stage],
      ["Rule", v.rule],
      ["Evidence", v.evidence],
      ["By the published rules", v.without_policy && withoutPolicy(v.without_policy)],
      ["Flags", v.flags.join(", ")],
      ["From", v.source],
      ["Method", v.method],
      ["Model", v.model],
      ["Round", v.round],
      ["SHA-256", v.candidate?.slice(0, 16)],
      ["Device", v.device.name],
    ]);
  }

  /** A table; columns are [title, row → cell, "number" for right-aligned]. */
  function table(rows, columns) {
    const head = el("tr", {}, ...columns.map(([title, , kind]) => el("th", { scope: "col", class: kind ?? "" }, title)));
    const line = (item) =>
      el("tr", {}, ...columns.map(([, cell, kind]) => el("td", { class: kind ?? "" }, String(cell(item)))));
    return el(
      "div",
      { class: "scroll", tabindex: 0 },
      el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows.map(line))),
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

  const untimed = ({ device, exe_ok: correct }) =>
    unknown(device.kind === "cpu" ? "not measured: no GPU" : correct ? "not measured" : "not measured: not correct");

  /** What the candidate gains over each baseline; nothing where eager is the only one. */
  function against(baselines) {
    if (!baselines.some((b) => b.name !== "eager")) return null;
    const day = (b) => (b.measured ? `${b.measured.slice(0, 16).replace("T", " ")} UTC` : "beside the candidate");
    return table(baselines, [
      ["Baseline", (b) => b.name],
      ["Speedup", (b) => (known(b.speedup) ? `${b.speedup.toFixed(2)}×` : "none"), "number"],
      ["95 % interval", (b) => (known(b.speedup) ? `${b.low.toFixed(2)}–${b.high.toFixed(2)}×` : ""), "number"],
      ["Measured", (b) => b.failure ?? day(b)],
    ]);
  }

  function timings({ speedup, sizes, baselines = [] }) {
    const overall = speedup
      ? el(
          "p",
          {},
          `${speedup.value.toFixed(2)}× against ${speedup.baseline}, geometric mean over ${sizes.length} sizes; ` +
            `95 % interval ${speedup.low.toFixed(2)}–${speedup.high.toFixed(2)}×`,
        )
      : null;
    const optional = [
      ["GB/s", "gbs"],
      ["TFLOP/s", "tflops"],
      ["IOU", "iou"],
      ["MFU", "mfu"],
      ["Flop/byte", "intensity"],
      ["Speed of light", "sol_ms", (s) => `${number(s.sol_ms)} ms, ${s.bound}`],
      ["Score", "sol_score"],
    ].filter(([, key]) => sizes.some((size) => known(size[key])));
    const cell = (key, show) => (s) => (known(s[key]) && show ? show(s) : orUnknown(s[key]));
    const light = sizes.some((size) => known(size.sol_ms))
      ? el(
          "p",
          { class: "unknown" },
          "IOU and MFU: share of the bandwidth and of the arithmetic rate measured on this device. Speed of light: the time at both " +
            "of these, and what decides it. Score: 1 at that time, 0.5 at the reference's.",
        )
      : null;
    const compiled = baselines.filter((b) => b.name !== "eager" && b.sizes_ms);
    return el(
      "div",
      {},
      overall,
      against(baselines),
      table(sizes, [
        ["Size", (s) => (s.host_bound ? `${s.shape}, waits for the host` : s.shape)],
        ["Candidate ms", (s) => number(s.candidate_ms), "number"],
        ["Reference ms", (s) => number(s.reference_ms), "number"],
        ...compiled.map((b) => [`${b.name} ms`, (s) => number(b.sizes_ms[sizes.indexOf(s)]), "number"]),
        ["Speedup", (s) => `${s.speedup.toFixed(2)}×`, "number"],
        ["95 % interval", (s) => `${s.low.toFixed(2)}–${s.high.toFixed(2)}×`, "number"],
        ...optional.map(([title, key, show]) => [title, cell(key, show), "number"]),
        ...memory(sizes),
        ["Rounds", (s) => s.rounds, "number"],
      ]),
      light,
      launched(sizes),
      clocks(sizes),
    );
  }

  /** Columns for the memory that one call held: the candidate's as its process reports it. */
  function memory(sizes) {
    const mib = (bytes) => (bytes === undefined ? "" : (bytes / 2 ** 20).toFixed(2));
    return [
      ["Peak MiB", "peak_bytes"],
      ["Reference peak MiB", "reference_peak_bytes"],
    ]
      .filter(([, key]) => sizes.some((size) => size[key] !== undefined))
      .map(([title, key]) => [title, (size) => mib(size[key]), "number"]);
  }

  /** Sizes whose figures are those of CUDA graphs, with the time of launching in them. */
  function launched(sizes) {
    const recorded = sizes.filter((size) => size.launched);
    if (!recorded.length) return null;
    return table(recorded, [
      ["Launched from Python at size", (s) => s.shape],
      ["Candidate ms", (s) => number(s.launched.candidate_ms), "number"],
      ["Reference ms", (s) => number(s.launched.reference_ms), "number"],
      ["Speedup", (s) => `${s.launched.speedup.toFixed(2)}×`, "number"],
      ["95 % interval", (s) => `${s.launched.low.toFixed(2)}–${s.launched.high.toFixed(2)}×`, "number"],
    ]);
  }

  /** What Nsight Compute says of one call; made in the candidate's own process. */
  function profile({ profile }) {
    if (!profile?.kernels) return [];
    const whole = (value) => (known(value) ? `${Math.round(value)} %` : "not measured");
    const occupancy = (k) =>
      whole(k.achieved_occupancy_pct) + (known(k.theoretical_occupancy_pct) ? ` of ${whole(k.theoretical_occupancy_pct)}` : "");
    const stall = (k) => (k.stall ? k.stall + (known(k.stall_pct) ? `, ${whole(k.stall_pct)}` : "") : "not measured");
    const kernels = table(profile.kernels, [
      ["Kernel", (k) => k.kernel],
      ["Launches", (k) => k.launches, "number"],
      ["Longest, ms", (k) => number(k.duration_ms), "number"],
      ["Occupancy", occupancy, "number"],
      ["DRAM", (k) => whole(k.dram_pct), "number"],
      ["SM", (k) => whole(k.sm_pct), "number"],
      ["Registers", (k) => orUnknown(k.registers), "number"],
      ["Waits mostly for", stall],
    ]);
    const claim = unknown("Nsight Compute's figures, made inside the candidate's sandbox: nothing rests on them. DRAM and SM: share of their peaks.");
    return section(`Profile at ${profile.shape ?? "the largest size"}`, el("div", {}, kernels, claim));
  }

  /** The device's state over the rounds of each size, and what held its clocks down. */
  function clocks(sizes) {
    if (!sizes.some((size) => size.clocks || size.throttle)) return null;
    const state = (key) => (s) => (known(s.clocks?.[key]) ? Math.round(s.clocks[key]) : "not measured");
    return table(sizes, [
      ["Device at size", (s) => s.shape],
      ["SM MHz", state("sm_mhz"), "number"],
      ["Memory MHz", state("memory_mhz"), "number"],
      ["°C", state("celsius"), "number"],
      ["W", state("watts"), "number"],
      ["Clocks held down by", (s) => (s.throttle ? s.throttle.join(", ") || "nothing" : "not measured")],
    ]);
  }

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

  /** Lines with numbers; the deepest frame's line is marked. */
  function source(verdict) {
    const text = sources[verdict.candidate];
    if (!text) return unknown(verdict.status === "no_code" ? "The answer holds no Python source." : "not kept");
    const failing = verdict.frames?.at(-1)?.line;
    const lines = text.replace(/\n$/, "").split("\n").map((line, i) => {
      const marked = i + 1 === failing;
      const attributes = { class: marked ? "code-line failing" : "code-line", "data-line": i + 1 };
      return el("span", marked ? { ...attributes, "aria-current": "true" } : attributes, `${line}\n`);
    });
    return el("pre", { class: "source", tabindex: 0, "aria-label": "Source" }, el("code", {}, ...lines));
  }

  function header() {
    const cells = COLUMNS.map((column) => {
      if (!column.key) return el("th", { scope: "col", class: `col-${column.id}` }, column.title);
      const button = el("button", { type: "button" }, column.title);
      button.addEventListener("click", () => {
        state.descending = state.column === column && !state.descending;
        state.column = column;
        update();
      });
      return el("th", { scope: "col", class: `col-${column.id}` }, button);
    });
    document.querySelector(".verdicts > thead tr").replaceChildren(...cells);
  }

  function filters() {
    for (const [id, key] of [["status", "status"], ["category", "category"]]) {
      const values = [...new Set(verdicts.map((v) => v[key]))].sort();
      byId(id).append(...values.map((value) => el("option", { value }, value)));
      byId(id).addEventListener("change", update);
    }
    byId("search").addEventListener("input", update);
    byId("previous").addEventListener("click", () => turn(-1));
    byId("next").addEventListener("click", () => turn(1));
    for (const item of document.querySelectorAll(".statuses li")) {
      const label = item.querySelector(".status");
      const button = el("button", { type: "button", title: `Show ${item.dataset.status} only` });
      label.replaceWith(button);
      button.append(label);
      button.addEventListener("click", () => {
        byId("status").value = item.dataset.status;
        update();
        byId("candidates").scrollIntoView();
      });
    }
  }

  function turn(by) {
    state.page += by;
    show();
    byId("candidates").scrollIntoView();
  }

  /** Opens the candidate that the address names, so that a verdict can be linked to, or the only one. */
  function openLinked() {
    const wanted = decodeURIComponent(location.hash.slice(1));
    const index = state.matching.findIndex((verdict) => anchor(verdict) === wanted);
    if (index < 0) {
      if (verdicts.length === 1) document.querySelector(".verdicts tr.row .opener").click();
      return;
    }
    state.page = Math.floor(index / PAGE);
    show();
    const line = document.querySelectorAll(".verdicts tr.row")[index % PAGE];
    line.querySelector(".opener").click();
    line.scrollIntoView();
  }

  header();
  filters();
  addEventListener("resize", () => {
    for (const cell of document.querySelectorAll(".verdicts > tbody > tr > td[colspan]")) cell.colSpan = span();
  });
  byId("candidates").hidden = false;
  update();
  openLinked();
})();
