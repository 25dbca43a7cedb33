// Schema editor: text of an Avro or Protobuf schema, checked by the server while one types; messages to choose from.
import { ApiError, checkSchema } from "./api";
import { h, setShown, setText } from "./dom";

export interface SchemaEvents {
  applied(schema: string, message: string): void;
}

const kCheckDelayMs = 400;

export class SchemaEditor {
  readonly element: HTMLElement;
  private readonly area: HTMLTextAreaElement;
  private readonly verdict = h("p", { class: "verdict", role: "status" });
  private readonly messages: HTMLSelectElement;
  private readonly messageBox: HTMLElement;
  private readonly apply: HTMLButtonElement;
  private format = "";
  private asked = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly events: SchemaEvents) {
    this.area = h("textarea", { class: "schema-text", rows: "10", spellcheck: "false", "aria-label": "Schema text",
      placeholder: "Empty: the schema comes from the registry", oninput: () => this.later() });
    this.messages = h("select", { "aria-label": "Message type", "data-control": "message" });
    this.messageBox = h("label", { class: "field", hidden: true }, "message type", this.messages);
    this.apply = h("button", { type: "button", class: "button primary", "data-action": "apply-schema",
      onclick: () => this.events.applied(this.area.value.trim(), this.messageBox.hidden ? "" : this.messages.value) }, "Use this schema");
    this.element = h("div", { class: "schema-editor" }, h("label", { class: "field" }, "schema", this.area), this.verdict,
      this.messageBox, this.apply);
  }

  set(format: string, schema: string, message: string): void {
    const changed = format !== this.format;
    this.format = format;
    if (document.activeElement !== this.area && this.area.value.trim() !== schema) {
      this.area.value = schema;
      this.fillMessages(message ? [message] : [], message);
      if (schema) this.later();
    } else if (changed && this.area.value.trim()) {
      this.later();
    }
  }

  private later(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), kCheckDelayMs);
  }

  private async check(): Promise<void> {
    const text = this.area.value.trim();
    const mine = ++this.asked;
    if (!text) {
      this.say("", "");
      this.fillMessages([], "");
      this.apply.disabled = false;
      return;
    }
    try {
      const answer = await checkSchema(this.format, text);
      if (mine !== this.asked) return;
      this.apply.disabled = !answer.ok;
      if (answer.ok) {
        this.fillMessages(answer.messages ?? [], this.messages.value);
        this.say("good", "The schema is valid.");
      } else {
        const { message = "the schema is not valid", line, column } = answer.error ?? {};
        this.say("bad", `${line ? `line ${line}${column ? `, column ${column}` : ""}: ` : ""}${message}`);
      }
    } catch (error) {
      if (mine !== this.asked) return;
      this.apply.disabled = false;
      this.say("bad", `The schema could not be checked: ${(error as ApiError).message}`);
    }
  }

  private say(kind: string, text: string): void {
    this.verdict.className = `verdict ${kind}`;
    this.verdict.dataset["state"] = kind;
    setText(this.verdict, text);
  }

  private fillMessages(names: string[], chosen: string): void {
    this.messages.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
    if (names.includes(chosen)) this.messages.value = chosen;
    setShown(this.messageBox, names.length > 0 && this.format === "protobuf");
  }
}
