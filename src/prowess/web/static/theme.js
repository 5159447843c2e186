// Light or dark as the system says, until somebody presses the button; loaded before anything is drawn.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // storage may be forbidden; the system's choice remains
    }
  };
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  if (remembered()) root.dataset.theme = remembered();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-button]");
    if (!button) return;
    const name = () => (button.textContent = isDark() ? "Light" : "Dark");
    button.hidden = false;
    name();
    system.addEventListener("change", name);
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem("theme", root.dataset.theme);
      } catch {
        // it then lasts for this page only
      }
      name();
      document.dispatchEvent(new CustomEvent("themechange"));
    });
  });
})();
