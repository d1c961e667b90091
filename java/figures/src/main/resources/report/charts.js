// Charts of speed, by a library that is unpacked when they come into view. Points are candidates: a click opens one.

const COLOURS = 6;
const SHAPES = ["circle", "rect", "triangle", "diamond"];
/** Bands of more curves hide each other. */
const MOST_BANDS = 3;
const charts = new Map();
let drawn = rows;

/** Draws the candidates that the filters let through, now or when the charts come into view. */
function showCharts(matching) {
  drawn = matching;
  if (charts.size) draw();
}

async function load() {
  const library = document.createElement("script");
  library.textContent = await unpack(byId("charts").textContent);
  document.head.append(library);
  for (const id of ["fastp", "sorted", "roofline"]) {
    const box = byId(id).querySelector(".canvas");
    const chart = window.echarts.init(box);
    const at = byId(id).querySelector(".at");
    chart.on("mouseover", ({ data }) => (at.textContent = data?.says ?? ""));
    chart.on("mouseout", () => (at.textContent = ""));
    chart.on("click", ({ data }) => {
      if (!data?.candidate) return;
      state.candidate = data.candidate;
      location.hash = address();
    });
    charts.set(id, chart);
  }
  addEventListener("resize", () => charts.forEach((chart) => chart.resize()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = (maker) => css(`--series-${maker % COLOURS}`);
const label = ({ method, model }) => [method, model].filter(Boolean).join(" · ");
const shape = (maker) => SHAPES[Math.floor(maker / COLOURS) % SHAPES.length];

function draw() {
  show("fastp", speed.curves.length > 0, fastp);
  show("sorted", drawn.some((row) => row.speedup), sorted);
  show("roofline", rows.some((row) => row.roof), roofline);
}

function show(id, any, option) {
  byId(id).hidden = !any;
  if (!any) return;
  const chart = charts.get(id);
  chart.resize();
  const { says, ...rest } = option();
  byId(id).querySelector(".canvas").setAttribute("aria-label", says);
  chart.setOption({ animation: false, grid: { left: 52, right: 18, top: 14, bottom: 44 }, ...rest }, true);
}

function axis(name, more) {
  const soft = css("--soft");
  const text = { color: soft, fontSize: 12 };
  const line = { lineStyle: { color: css("--line") } };
  return { name, nameLocation: "middle", nameTextStyle: text, axisLabel: text, axisLine: line, axisTick: line, splitLine: line, ...more };
}

const horizontal = (name, more) => axis(name, { nameGap: 26, ...more });
const vertical = (name, more) => axis(name, { nameGap: 38, ...more });
const plain = (data, style) => ({ type: "line", data, silent: true, showSymbol: false, lineStyle: { width: 1, ...style } });

/** Candidates as points, in the colour and shape of their method and model. */
const points = (maker, data) => ({
  type: "line",
  data,
  symbol: shape(maker),
  symbolSize: data.length > 1000 ? 4 : 7,
  showSymbol: true,
  showAllSymbol: true,
  lineStyle: { width: 0, opacity: 0 },
  itemStyle: { color: colour(maker), opacity: 0.85 },
  emphasis: { scale: 1.4, lineStyle: { width: 0 } },
});

const point = (row, value, figures) => ({
  value,
  candidate: row.id,
  says: `${row.name} · ${label(makers[row.maker])} · ${figures}`.replace(" ·  ·", " ·"),
});

const byMaker = (wanted) => makers.map((_, maker) => wanted.filter((row) => row.maker === maker));

function fastp() {
  const last = Math.max(2, ...speed.curves.map((curve) => curve.points.at(-2)?.[0] ?? 0));
  const most = Math.min(Math.ceil(last * 2) / 2, 5);
  const bands = speed.curves.length <= MOST_BANDS ? speed.curves.flatMap(band) : [];
  const lines = speed.curves.map(({ maker, points: steps }) => ({
    type: "line",
    step: "end",
    data: [...steps, [most, ...steps.at(-1).slice(1)]].map(([p, share]) => ({
      value: [p, 100 * share],
      says: `${label(makers[maker]) || "all"}: ${percent(share)} more than ${p.toFixed(2)}×`,
    })),
    symbolSize: 5,
    showSymbol: steps.length < 40,
    lineStyle: { width: 2, color: colour(maker), type: maker < COLOURS ? "solid" : "dashed" },
    itemStyle: { color: colour(maker) },
  }));
  return {
    says: `fast_p of ${speed.curves.length} methods and models against ${speed.baseline}`,
    xAxis: horizontal(`p, against ${speed.baseline}`, { type: "value", min: 0, max: most }),
    yAxis: vertical("% of tasks", { type: "value", min: 0, max: 100 }),
    series: [...bands, ...lines],
  };
}

/** A curve's interval: its lower end, and the rest on top of that. */
function band({ maker, points: steps }) {
  const side = (value, style) => ({
    ...plain(steps.map((step) => [step[0], 100 * value(step)]), { opacity: 0 }),
    step: "end",
    stack: `band ${maker}`,
    areaStyle: { color: colour(maker), ...style },
  });
  return [side((step) => step[2], { opacity: 0 }), side((step) => step[3] - step[2], { opacity: 0.12 })];
}

function sorted() {
  const groups = byMaker(drawn.filter((row) => row.speedup));
  const all = groups.flat().flatMap((row) => row.speedup);
  const series = groups.flatMap((group, maker) => {
    group.sort((a, b) => a.speedup[0] - b.speedup[0]);
    const x = (i) => (100 * (i + 0.5)) / group.length;
    const whiskers = group.flatMap(({ speedup: [, low, high] }, i) => (known(high) ? [[x(i), low], [x(i), high], ["-", "-"]] : []));
    const dots = group.map((row, i) => point(row, [x(i), row.speedup[0]], interval(row.speedup)));
    return group.length ? [plain(whiskers, { color: colour(maker) }), points(maker, dots)] : [];
  });
  return {
    says: `Speedups of ${groups.flat().length} correct candidates`,
    xAxis: horizontal("% of correct candidates", { type: "value", min: 0, max: 100 }),
    yAxis: vertical("speedup", {
      type: "log",
      logBase: 2,
      min: 2 ** Math.floor(Math.log2(Math.min(1, ...all))),
      max: 2 ** Math.ceil(Math.log2(Math.max(1, ...all))),
    }),
    series: [plain([[0, 1], [100, 1]], { color: css("--soft"), type: "dashed" }), ...series],
  };
}

const interval = ([value, low, high]) => `${value.toFixed(2)}×${known(high) ? ` [${low.toFixed(2)}–${high.toFixed(2)}]` : ""}`;

function roofline() {
  const groups = byMaker(drawn.filter((row) => row.roof));
  const every = rows.filter((row) => row.roof).map((row) => row.roof);
  const power = (round, value) => 10 ** round(Math.log10(value));
  const ridge = speed.bandwidth ? speed.rates.map((rate) => (1000 * rate) / speed.bandwidth) : [];
  const left = power(Math.floor, Math.min(...every.map(([intensity]) => intensity)));
  const right = power(Math.ceil, Math.max(...every.map(([intensity]) => intensity), ...ridge));
  const series = groups.flatMap((group, maker) => {
    const dots = group.map((row) =>
      point(row, row.roof, `${number(row.roof[0])} FLOP/byte, ${number(row.roof[1])} TFLOP/s`),
    );
    return dots.length ? [points(maker, dots)] : [];
  });
  const top = Math.max(...every.map(([, rate]) => rate), ...speed.rates);
  return {
    says: `Roofline with ${groups.flat().length} candidates`,
    xAxis: horizontal("FLOP/byte", { type: "log", min: left, max: right }),
    yAxis: vertical("TFLOP/s", {
      type: "log",
      min: power(Math.floor, Math.min(...every.map(([, rate]) => rate))),
      max: power(Math.ceil, top),
    }),
    series: [...roofs(left, right), ...series],
  };
}

/** The measured peaks of the device: bandwidth up to each arithmetic rate. */
function roofs(left, right) {
  const style = { color: css("--soft"), width: 1.5 };
  const slope = speed.bandwidth / 1000;
  if (!speed.bandwidth) return speed.rates.map((rate) => plain([[left, rate], [right, rate]], style));
  if (!speed.rates.length) return [plain([[left, left * slope], [right, right * slope]], style)];
  return speed.rates.map((rate) => plain([[left, Math.min(rate, left * slope)], [rate / slope, rate], [right, rate]], style));
}

/** The methods and models with the colours of their curves. */
function key() {
  const items = makers.map((maker, i) => {
    const mark = document.createElementNS(SVG, "svg");
    mark.setAttribute("viewBox", "0 0 28 8");
    mark.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", `line s${i % COLOURS} d${Math.floor(i / COLOURS)}`);
    path.setAttribute("d", "M0 4H28");
    mark.append(path);
    return el("li", {}, mark, label(maker));
  });
  byId("speed-key").replaceChildren(...items);
  byId("speed-key").hidden = makers.length < 2;
}

if (speed) {
  key();
  const seen = new IntersectionObserver(([{ isIntersecting }]) => {
    if (!isIntersecting) return;
    seen.disconnect();
    load();
  }, { rootMargin: "400px" });
  seen.observe(byId("speed"));
}
