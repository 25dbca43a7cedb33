// Banner: a failure in the topic bar: what, why, what to change, when the next try is. It stays until the fault is gone.
import { h, icon, setShown, setText } from "./dom";

export interface Fault {
  what: string;
  reason: string;
  hint: string;
  /** Clock (Date.now()) of the next try; null where none is planned. */
  retryAt: number | null;
}

export class Banner {
  readonly element: HTMLElement;
  private readonly what = h("strong", { "data-banner": "what" });
  private readonly reason = h("span", { "data-banner": "reason" });
  private readonly hint = h("span", { class: "banner-hint", "data-banner": "hint" });
  private readonly countdown = h("span", { class: "banner-count", "data-banner": "countdown" });
  private readonly retry: HTMLButtonElement;

  constructor(host: HTMLElement, retried: () => void) {
    this.retry = h("button", { type: "button", class: "button", onclick: retried, "data-action": "retry" }, "Try now");
    this.element = h("div", { class: "banner", role: "alert", hidden: true }, icon("warn"),
      h("span", { class: "banner-text" }, this.what, " ", this.reason, " ", this.hint), this.countdown, this.retry);
    host.append(this.element);
  }

  update(fault: Fault | null, now: number): void {
    setShown(this.element, fault !== null);
    if (!fault) return;
    setText(this.what, fault.what);
    setText(this.reason, fault.reason && !/[.!?]$/.test(fault.reason) ? `${fault.reason}.` : fault.reason);
    setText(this.hint, fault.hint);
    setShown(this.countdown, fault.retryAt !== null);
    setShown(this.retry, fault.retryAt !== null);
    if (fault.retryAt !== null) setText(this.countdown, `next try in ${Math.max(0, Math.ceil((fault.retryAt - now) / 1000))} s`);
  }
}
