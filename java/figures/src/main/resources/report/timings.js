// Timings of a candidate.

function untimed({ device, status, speedup }) {
  if (device.kind === "published") {
    return speedup ? el("p", {}, `${speedup.value.toFixed(2)}×, as published: without sizes and interval`) : unknown("no speedup is published");
  }
  return unknown(device.kind === "cpu" ? "not measured: no GPU" : status === "correct" ? "not measured" : "not measured: not correct");
}

/** What the candidate gains over each baseline; nothing where eager is the only one. */
function against(baselines) {
  if (!baselines.some((b) => b.name !== "eager")) return null;
  const day = (b) => (b.measured ? `${b.measured.slice(0, 16).replace("T", " ")} UTC` : "beside the candidate");
  return table(baselines, [
    ["Baseline", (b) => (b.name === "expert" ? "the expert's kernel" : b.name)],
    ["Speedup", (b) => (known(b.speedup) ? `${b.speedup.toFixed(2)}×` : "none"), "number"],
    ["95 % interval", (b) => (known(b.speedup) ? `${b.low.toFixed(2)}–${b.high.toFixed(2)}×` : ""), "number"],
    ["Measured", (b) => b.failure ?? day(b)],
  ]);
}

/** The speedup over all sizes; where these have weights, beside the mean without them. */
function overall({ speedup, sizes, baselines = [] }) {
  if (!speedup) return null;
  const text = (of, which) => `${which} over ${sizes.length} sizes; 95 % interval ${of.low.toFixed(2)}–${of.high.toFixed(2)}×`;
  const first = `${speedup.value.toFixed(2)}× against ${speedup.baseline}, `;
  if (!sizes.every((size) => known(size.weight))) return el("p", {}, first + text(speedup, "geometric mean"));
  const same = baselines.find((b) => b.geometric && b.speedup === speedup.value)?.geometric;
  const mean = same ? `. Without weights ${same.value.toFixed(2)}×, ${text(same, "geometric mean")}` : "";
  return el("p", {}, first + text(speedup, "of the total time") + mean);
}

function timings({ speedup, sizes, baselines = [] }) {
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
    overall({ speedup, sizes, baselines }),
    against(baselines),
    table(sizes, [
      ["Size", (s) => (s.host_bound ? `${s.shape}, waits for the host` : s.shape)],
      ...(sizes.some((size) => known(size.weight)) ? [["Weight", (s) => `${(100 * s.weight).toFixed(1)} %`, "number"]] : []),
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

