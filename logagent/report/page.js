"use strict";
for (const box of document.querySelectorAll(".copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = box.dataset.copy;
  button.setAttribute("aria-label", box.dataset.copy + ": " + box.textContent);
  const line = box.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(line);
    button.textContent = box.dataset.copied;
    setTimeout(() => { button.textContent = box.dataset.copy; }, 2000);
  });
  if (navigator.clipboard) box.append(button);
}
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
