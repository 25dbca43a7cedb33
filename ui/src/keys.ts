// Keyboard: single keys, but never while the user writes, nor where a control needs the key itself.

const kWriters = new Set(["INPUT", "TEXTAREA", "SELECT"]);
const kPressed = new Set(["BUTTON", "SUMMARY", "A"]);

export function bindKeys(actions: Record<string, () => void>): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const name = event.key === " " ? "space" : event.key;
    const isCheck = target instanceof HTMLInputElement && target.type === "checkbox";
    if (name !== "Escape") {
      if (kWriters.has(target.tagName) && !(isCheck && name !== "space")) return;
      if (name === "space" && kPressed.has(target.tagName)) return;
    }
    const action = actions[name];
    if (!action) return;
    event.preventDefault();
    action();
  });
  // A press outside a menu closes it.
  addEventListener("pointerdown", (event) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
      if (!menu.contains(event.target as Node)) menu.open = false;
    }
  });
}
