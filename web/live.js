// Follows runs in progress: the server sends an event for each verdict.

for (const card of document.querySelectorAll("[data-events]")) follow(card);

function follow(card) {
  const find = (name) => card.querySelector(`[data-count="${name}"]`);
  const bar = card.querySelector("progress");
  const events = new EventSource(card.dataset.events);
  // Verdicts that the page has counted come again from the start of the stream.
  events.addEventListener("progress", (event) => {
    const { judged, total, correct } = JSON.parse(event.data);
    if (judged !== undefined) {
      find("judged").textContent = judged;
      bar.value = judged;
    }
    if (total !== undefined) {
      find("total").textContent = total;
      bar.max = Math.max(1, total);
    }
    if (correct !== undefined) find("correct").textContent = correct;
  });
  events.addEventListener("verdict", (event) => {
    const { category, task, status } = JSON.parse(event.data);
    card.querySelector("[data-last]").textContent = `${category}/${task}: ${status}`;
  });
  events.addEventListener("end", () => {
    events.close();
    card.querySelector("[data-last]").textContent = "finished";
  });
}
