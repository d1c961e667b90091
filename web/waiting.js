// Shows what becomes of a submission; when its verdict is there, the page is loaded again with it.

const PAUSE = 2000;

for (const box of document.querySelectorAll("[data-judgement]")) wait(box);

async function wait(box) {
  const show = (name, text) => (box.querySelector(`[data-${name}]`).textContent = text);
  for (;;) {
    try {
      const reply = await fetch(`/v1/judgements/${encodeURIComponent(box.dataset.judgement)}?wait=20`);
      if (reply.status === 401 || reply.status === 404) return show("detail", "this submission cannot be seen any more");
      if (reply.ok) {
        const { state, ahead, message } = await reply.json();
        if (state === "done") return location.replace(location.pathname);
        show("state", state);
        if (state !== "queued" && state !== "judging") return show("detail", message ?? "");
        if (state === "judging") show("detail", "on a device");
        else if (ahead !== undefined) show("detail", ahead ? `${ahead} ahead in the queue` : "next in the queue");
      }
    } catch {
      show("detail", "no answer from the server; trying again");
    }
    await new Promise((next) => setTimeout(next, PAUSE));
  }
}
