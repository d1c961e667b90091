// Takes the source from a file.

for (const input of document.querySelectorAll("[data-fills]")) {
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) document.querySelector(`[name="${input.dataset.fills}"]`).value = await file.text();
  });
}
