// The rows of a run's page, and the details of each.

const { chunk: CHUNK, makers, speed, rows } = JSON.parse(byId("data").textContent);

/** What gzip in base64 holds, as text. */
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

const NOT_STATED = "not stated";
rows.forEach((row, index) => {
  row.index = index;
  row.category = row.task.slice(0, row.task.indexOf("/"));
  row.name = row.task + (row.sample ? `#${row.sample}` : "");
  row.method = makers[row.maker].method ?? NOT_STATED;
  row.model = makers[row.maker].model ?? NOT_STATED;
});

const chunks = new Map();

/** The details of a candidate: {verdict, source, change, trajectory}. */
async function detailsOf(row) {
  const at = Math.floor(row.index / CHUNK);
  if (!chunks.has(at)) chunks.set(at, unpack(byId(`chunk-${at}`).textContent).then(JSON.parse));
  const { verdicts, sources, changes, trajectories } = await chunks.get(at);
  const verdict = verdicts[row.index % CHUNK];
  const trajectory = trajectories.find((t) => t.method === row.method && t.task === row.task && t.sample === row.sample);
  return { verdict, source: sources[verdict.candidate], change: changes[row.index % CHUNK], trajectory };
}
