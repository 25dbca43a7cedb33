// Small helpers for making elements. Text is always set as text, never as markup.

type Child = Node | string | null | undefined | false;

interface Attributes {
  class?: string;
  title?: string;
  [name: string]: unknown;
}

/** h("button", {class: "x", onclick: f, "aria-label": "…"}, "text"). `on…` are listeners, false and null are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "value") (element as unknown as HTMLInputElement).value = String(value);
    else if (name === "checked") (element as unknown as HTMLInputElement).checked = Boolean(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** Sets text only where it differs: an unchanged node is not laid out again, nor read aloud again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setShown(element: HTMLElement, shown: boolean): void {
  if (element.hidden === shown) element.hidden = !shown;
}

const kIcons = {
  pause: "M5 3v10M11 3v10",
  play: "M5 3l8 5-8 5z",
  clear: "M3 5h10M6 5V3h4v2M5 5l.6 8h4.8L11 5",
  export: "M8 2v8M5 7l3 3 3-3M3 13h10",
  link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 013.5 3.500L10.500 8.500M9 11l-1.500 1.500a2.500 2.500 0 01-3.500-3.500L5.500 7.500",
  columns: "M2.500 3h11v10h-11zM6 3v10M10 3v10",
  search: "M7 3a4 4 0 110 8 4 4 0 010-8zM10 10l3.500 3.500",
  star: "M8 2.500l1.700 3.500 3.800.5-2.800 2.600.7 3.800L8 11l-3.400 1.900.7-3.800L2.500 6.500l3.800-.5z",
  close: "M4 4l8 8M12 4l-8 8",
  options: "M3 5h6M12 5h1M3 11h1M7 11h6M10.500 3.500v3M5.500 9.500v3",
  rail: "M2.500 3h11v10h-11zM6 3v10",
  help: "M8 2.500a5.500 5.500 0 110 11 5.500 5.500 0 010-11zM6.500 6.500a1.500 1.500 0 112 1.400c-.4.200-.5.400-.5 1.100M8 11v.2",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
  theme: "M8 2.500a5.500 5.500 0 100 11zM8 2.500a5.500 5.500 0 010 11",
  warn: "M8 2.500l6 10.500H2zM8 6.500v3M8 11v.3",
} as const;

export type IconName = keyof typeof kIcons;

export function icon(name: IconName): SVGSVGElement {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(ns, "path");
  path.setAttribute("d", kIcons[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon: its name is what a screen reader says, its tooltip adds the key. */
export function iconButton(name: IconName, label: string, key: string, action: () => void): HTMLButtonElement {
  return h("button", {
    type: "button", class: "icon-button", "aria-label": label, title: key ? `${label} (${key})` : label, onclick: action,
  }, icon(name));
}

/** Local storage that may be refused (private windows): then nothing is remembered. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`kafscope.${key}`);
    else localStorage.setItem(`kafscope.${key}`, value);
  } catch {
    // Remembering is a comfort; without storage the page works the same.
  }
}

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`kafscope.${key}`);
  } catch {
    return null;
  }
}
