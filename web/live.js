// Follows runs in progress: the server sends each verdict, first those that there are.

for (const card of document.querySelectorAll("[data-events]")) follow(card);

function follow(card) {
  const set = (name, value) => (card.querySelector(`[data-count="${name}"]`).textContent = value);
  const last = card.querySelector("[data-last]");
  const bar = card.querySelector("progress");
  const known = Number(card.dataset.correct);
  let correct = 0;
  const events = new EventSource(card.dataset.events);
  events.addEventListener("verdict", (event) => {
    const { category, task, status } = JSON.parse(event.data);
    if (status === "correct") correct++;
    set("correct", Math.max(known, correct));
    last.textContent = `${category}/${task}: ${status}`;
  });
  events.addEventListener("progress", (event) => {
    const { judged, queued, judging } = JSON.parse(event.data);
    const total = judged + queued + judging;
    set("judged", judged);
    set("total", total);
    bar.max = Math.max(1, total);
    bar.value = judged;
  });
}
