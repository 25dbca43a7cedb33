// The list of keys.
import { h, iconButton } from "./dom";

export const kKeys: [string, string][] = [
  ["space", "pause, and jump to now"],
  ["g", "newest rows"],
  ["/", "search topics"],
  ["1  2", "table, time series"],
  ["↑ ↓  k j", "previous and next record"],
  ["Enter", "open the record"],
  ["Esc", "close the record, a menu or this list"],
  ["e", "error rows only"],
  ["c", "clear the rows"],
  ["l", "copy a link to this view"],
  ["u", "local time or UTC"],
  ["t", "light, dark or as the system"],
  ["[", "fold the topic list"],
  ["?", "this list"],
];

export class Help {
  readonly element: HTMLDialogElement;

  constructor(host: HTMLElement) {
    this.element = h("dialog", { class: "help", "aria-label": "Keys" },
      h("div", { class: "help-head" }, h("h2", {}, "Keys"), iconButton("close", "Close", "Esc", () => this.element.close())),
      h("dl", {}, ...kKeys.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])));
    host.append(this.element);
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.show();
  }
}
