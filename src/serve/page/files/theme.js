// Light or dark before the first paint: what was chosen here, else what the system prefers.
"use strict";
(() => {
  try {
    const chosen = localStorage.getItem("brume-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // No storage: the system's preference.
  }
})();
