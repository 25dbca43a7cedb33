// App: puts the parts together. The address is the only state of the view; every change goes through go().
//
// Data arrives at any time; pictures are drawn by one clock, at most ten a second, and not while the user drags or selects.
import { type Address, formatAddress, parseAddress, recordAddress, type StreamChoice, type Tab } from "./address";
import { type FormatList, getJson, type TopicInfo } from "./api";
import { Banner, type Fault } from "./banner";
import { Chart, guessFields } from "./chart";
import { ColumnsMenu } from "./columns_menu";
import { h, iconButton, recall, remember, setShown, setText } from "./dom";
import { explain } from "./explain";
import { download, exportView } from "./export";
import { count } from "./format";
import { Grid, kFreshMs } from "./grid";
import { Help } from "./help";
import { hintFor } from "./hints";
import { Inspector } from "./inspector";
import { bindKeys } from "./keys";
import { type ColumnPrefs, emptyPrefs, loadPrefs, savePrefs, visible } from "./prefs";
import { Rail } from "./rail";
import { type KnownColumn, View } from "./ring";
import { ServerWatch } from "./server_watch";
import { StatusBar } from "./status_bar";
import { Stream } from "./stream";
import { TopicBar } from "./topic_bar";

const kTickMs = 100;
const kMaxRestMs = 500;
const kRingRows = 100_000;
const kSurelyNotJson = 5;

/** following: the newest rows; scrolled: a fixed picture since the user scrolled away; paused: since the user paused. */
type Mode = "following" | "scrolled" | "paused";

export class App {
  private address: Address;
  private mode: Mode = "following";
  private fixed: View | null = null;
  private picture: View = new View([], 0, 0);
  private dirty = true;
  private pointerDown = false;
  private drawAfter = 0;
  private drawing = false;
  private newestColumn = 0;
  private prefs: ColumnPrefs = emptyPrefs();
  private topics = new Map<string, TopicInfo>();
  private partitionIds: number[] | null = null;
  private wantedRecord = "";
  private landed = false;
  private guessed: { fields: string[]; split: string } = { fields: [], split: "" };

  private readonly stream: Stream;
  private readonly watch: ServerWatch;
  private readonly rail: Rail;
  private readonly topicBar: TopicBar;
  private readonly banner: Banner;
  private readonly grid: Grid;
  private readonly chart: Chart;
  private readonly inspector: Inspector;
  private readonly status: StatusBar;
  private readonly columnsMenu: ColumnsMenu;
  private readonly help: Help;
  private readonly tabs: Record<Tab, HTMLButtonElement>;
  private readonly tablePanel = h("div", { class: "panel", role: "tabpanel", "aria-label": "Table" });
  private readonly seriesPanel = h("div", { class: "panel", role: "tabpanel", "aria-label": "Time series" });
  private readonly pill: HTMLButtonElement;
  private readonly pauseBar = h("div", { class: "pause-bar", hidden: true });
  private readonly waiting = h("span", { "data-status": "waiting" });
  private readonly emptyText = h("p");
  private readonly emptyButton: HTMLButtonElement;
  private readonly empty: HTMLElement;
  private readonly said = h("div", { class: "visually-hidden", role: "status" });

  constructor(private readonly body: HTMLElement, worker: Worker) {
    this.address = parseAddress(location.search, location.hash);
    this.stream = new Stream(worker, kRingRows, () => {
      this.dirty = true;
    });
    this.watch = new ServerWatch({
      status: () => this.arrive(),
      topics: (list) => this.topicsCame(list.topics),
      formats: (list: FormatList) => {
        this.topicBar.setFormats(list);
        this.updateBar();
      },
      changed: () => this.rail.setStatus(this.watch.status, this.watch.failure !== ""),
    });
    const page = h("div", { class: "page" });
    const main = h("main", { class: "main" });
    this.rail = new Rail(page, { chosen: (topic) => this.chooseTopic(topic), folded: () => this.go({ rail: !this.address.rail }) });
    page.append(h("div", { class: "scrim", onclick: () => this.go({ rail: false }) }), main);
    this.topicBar = new TopicBar(main, {
      changed: (change) => this.changeStream(change), pauseToggled: () => this.togglePause(), cleared: () => this.clear(),
      exported: (kind) => void this.exportRows(kind), linkCopied: () => this.copyLink(location.href),
      railToggled: () => this.go({ rail: !this.address.rail }),
    });
    this.banner = new Banner(main, () => {
      this.stream.retryNow();
      this.watch.askNow();
    });
    this.columnsMenu = new ColumnsMenu((prefs) => this.setPrefs(prefs));
    const tab = (view: Tab, label: string, key: string) => h("button", { type: "button", role: "tab", class: "tab", "data-tab": view,
      title: `${label} (${key})`, onclick: () => this.go({ view }) }, label);
    this.tabs = { table: tab("table", "Table", "1"), series: tab("series", "Time series", "2") };
    this.pill = h("button", { type: "button", class: "pill", hidden: true, title: "Newest rows (g)", onclick: () => this.follow() });
    this.emptyButton = h("button", { type: "button", class: "button primary", onclick: () => this.emptyAction() });
    this.empty = h("div", { class: "empty", hidden: true }, this.emptyText, this.emptyButton);
    this.pauseBar.append(h("strong", {}, "Paused"), this.waiting,
      h("button", { type: "button", class: "button", "data-action": "catch-up", onclick: () => this.catchUp() }, "Catch up"),
      h("button", { type: "button", class: "button primary", "data-action": "jump", onclick: () => this.follow() }, "Jump to now"));
    const views = h("div", { class: "views" }, this.tablePanel, this.seriesPanel, this.empty, this.pill, this.pauseBar);
    const work = h("div", { class: "work" }, views);
    main.append(h("div", { class: "tab-row" }, h("div", { class: "tabs", role: "tablist", "aria-label": "View" }, this.tabs.table,
      this.tabs.series), this.columnsMenu.element), work);
    this.grid = new Grid(this.tablePanel, {
      scrolledAway: () => this.hold("scrolled"), scrolledBack: () => this.scrolledBack(),
      chosen: (seq, open) => this.choose(seq, open), resized: (name, width) => this.columnResized(name, width),
    });
    this.chart = new Chart(this.seriesPanel, {
      fieldsChosen: (fields) => this.go({ fields, split: this.splitNow() }, true),
      splitChosen: (split) => this.go({ fields: this.fieldsNow(), split: split || "-" }, true),
      picked: (seq) => this.choose(seq, true),
    });
    this.inspector = new Inspector(work, {
      closed: () => this.closeRecord(), stepped: (by) => this.grid.step(by),
      linkTo: (partition, offset) => this.copyLink(
        new URL(formatAddress(recordAddress(this.address, partition, offset)), location.href.split(/[?#]/)[0]).href),
    });
    this.status = new StatusBar(page, {
      errorsToggled: () => this.go({ errors: !this.address.errors, view: "table" }), utcToggled: () => this.go({ utc: !this.address.utc }),
      themeToggled: () => this.nextTheme(), help: () => this.help.toggle(),
    });
    this.help = new Help(body);
    body.append(page, this.said);
    // A phone's screen has no room for an open drawer.
    if (matchMedia("(max-width: 720px)").matches && !new URLSearchParams(location.search).has("rail")) this.address.rail = false;
    this.watchPointer(views);
  }

  start(): void {
    if (this.address.record && !this.address.from.startsWith("offset:")) {
      const [partition, offset] = this.address.record.split(":") as [string, string];
      this.address = recordAddress(this.address, Number(partition), BigInt(offset));
    }
    addEventListener("popstate", () => this.apply(parseAddress(location.search, location.hash)));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.applyTheme());
    bindKeys({
      space: () => this.togglePause(), g: () => this.follow(), "/": () => this.searchTopics(), "1": () => this.go({ view: "table" }),
      "2": () => this.go({ view: "series" }), j: () => this.grid.step(1), k: () => this.grid.step(-1),
      e: () => this.go({ errors: !this.address.errors, view: "table" }), c: () => this.clear(), l: () => this.copyLink(location.href),
      u: () => this.go({ utc: !this.address.utc }), t: () => this.nextTheme(), "[": () => this.go({ rail: !this.address.rail }),
      "?": () => this.help.toggle(), Escape: () => this.escape(),
    });
    (window as unknown as { kafscopeTest: unknown }).kafscopeTest = {
      state: () => this.testState(), idle: () => this.grid.element.flush(),
    };
    this.apply(this.address);
    this.watch.start();
    void this.tick();
  }

  // ---- address -----------------------------------------------------------------------------------------------------

  /** Changes the address: a new entry in the history, or in place of the present one. */
  private go(change: Partial<Address>, replace = false): void {
    const next = { ...this.address, ...change };
    const url = formatAddress(next) || location.pathname;
    if (replace) history.replaceState(null, "", url);
    else if (formatAddress(this.address) !== formatAddress(next)) history.pushState(null, "", url);
    this.apply(next);
  }

  private apply(next: Address): void {
    const before = this.address;
    this.address = next;
    if (this.stream.open(next)) this.opened(next);
    if ((next.view || "table") !== (before.view || "table") && this.mode === "scrolled") this.unfreeze();
    if (next.errors !== before.errors) this.unfreeze();
    if (next.record !== before.record && next.record && !this.inspector.isOpen) this.wantedRecord = next.record;
    if (!next.record && this.inspector.isOpen) this.closeInspector();
    document.title = next.topic ? `${next.topic} · Kafscope` : "Kafscope";
    this.body.classList.toggle("rail-folded", !next.rail);
    this.applyTheme();
    if (this.grid.utc !== next.utc) {
      this.grid.utc = next.utc;
      this.chart.utc = next.utc;
      void this.grid.refresh();
      this.chart.restyle();
      this.reinspect();
    }
    this.rail.setCurrent(next.topic);
    this.updateBar();
    this.showTab();
    this.dirty = true;
  }

  private opened(choice: StreamChoice): void {
    this.unfreeze();
    this.grid.forget();
    this.chart.forget();
    this.closeInspector();
    this.guessed = { fields: [], split: "" };
    this.wantedRecord = this.address.record;
    this.prefs = choice.topic ? loadPrefs(choice.topic) : emptyPrefs();
    this.partitionIds = null;
    if (choice.topic) void this.askPartitions(choice.topic);
  }

  private async askPartitions(topic: string): Promise<void> {
    try {
      const answer = await getJson<{ partitions: { id: number }[] }>(`api/v1/topics/${encodeURIComponent(topic)}`);
      if (topic !== this.address.topic) return;
      this.partitionIds = answer.partitions.map((partition) => partition.id);
      this.updateBar();
    } catch {
      // The list of partitions is a comfort; the stream itself reports what is wrong with the topic.
    }
  }

  private updateBar(): void {
    this.topicBar.update(this.address, this.topics.get(this.address.topic), this.partitionIds);
  }

  private tab(): Tab {
    return this.address.view || "table";
  }

  private showTab(): void {
    const now = this.tab();
    setShown(this.tablePanel, now === "table");
    setShown(this.seriesPanel, now === "series");
    setShown(this.columnsMenu.element, now === "table");
    for (const [name, button] of Object.entries(this.tabs)) button.setAttribute("aria-selected", String(name === now));
  }

  private chooseTopic(topic: string): void {
    // What was chosen for one topic (partitions, schema, fields) seldom fits another; the tab and the clock do.
    const { view, rail, utc, theme } = this.address;
    const narrow = matchMedia("(max-width: 720px)").matches;
    this.go({ ...parseAddress("", ""), topic, view, utc, theme, rail: narrow ? false : rail });
  }

  private changeStream(change: Partial<StreamChoice>): void {
    this.go({ ...change, record: "" });
  }

  // In the demo the first look is a live chart; elsewhere the user chooses.
  private arrive(): void {
    if (this.landed) return;
    this.landed = true;
    if (!this.address.topic && this.watch.status?.demo) {
      this.go({ topic: "sensors", view: "series", from: "last:1000", fields: ["temperature"], split: "sensor" }, true);
    }
  }

  private topicsCame(list: TopicInfo[]): void {
    this.topics = new Map(list.map((topic) => [topic.name, topic]));
    this.rail.setTopics(list);
    this.updateBar();
  }

  // ---- picture -----------------------------------------------------------------------------------------------------

  private async tick(): Promise<void> {
    const began = performance.now();
    // A highlight ends even where no row comes any more.
    if (this.newestColumn > 0 && Date.now() > this.newestColumn + kFreshMs) {
      this.newestColumn = 0;
      this.dirty = true;
    }
    const live = this.mode === "following" ? this.stream.ring.view() : this.fixed!;
    if (this.dirty && began >= this.drawAfter && !this.isBusy()) {
      this.dirty = false;
      this.drawing = true;
      this.picture = this.address.errors && this.tab() === "table" ? live.errorsOnly() : live;
      await this.draw();
      this.drawing = false;
      const cost = performance.now() - began;
      // A slow machine draws less often rather than falling behind; but one slow picture must not stop the next for long.
      this.drawAfter = performance.now() + (cost > 40 ? Math.min(cost * 3, kMaxRestMs) : 0);
    }
    this.updateBars();
    setTimeout(() => void this.tick(), kTickMs);
  }

  private async draw(): Promise<void> {
    const columns = this.stream.ring.columns;
    if (this.isNotJson()) {
      this.go({ format: "plaintext" }, true);
      this.say("Shown as plaintext: no record is valid JSON");
      return;
    }
    if (this.wantedRecord) await this.openWanted();
    if (this.tab() === "table") {
      const newest = Math.max(0, ...columns.map((column) => column.since));
      if (newest + kFreshMs > Date.now()) this.newestColumn = newest;
      this.grid.setColumns(this.tableColumns(), this.prefs.widths);
      this.columnsMenu.update(columns, this.prefs);
      this.grid.following = this.mode === "following";
      await this.grid.show(this.picture);
    } else {
      if (this.guessed.fields.length === 0) this.guessed = guessFields(columns, this.picture);
      this.chart.setControls(columns, this.fieldsNow(), this.splitNow());
      this.chart.show(this.picture, this.fieldsNow(), this.splitNow());
    }
  }

  // Without a format the server decodes JSON. A topic of which no record is JSON is text until the user says otherwise;
  // where a registry is known it may be Avro or Protobuf, and only the user can tell.
  private isNotJson(): boolean {
    const ring = this.stream.ring;
    return this.address.format === "" && !this.watch.status?.registry && ring.errorRows >= kSurelyNotJson && ring.errorRows === ring.endSeq;
  }

  // In the list of errors their reason stands where it is seen: before the values, which such a row has not.
  private tableColumns(): KnownColumn[] {
    const columns = visible(this.stream.ring.columns, this.prefs);
    if (!this.address.errors) return columns;
    const isValue = (column: KnownColumn) => column.role === "value";
    const errors = columns.filter((column) => column.role === "error");
    const others = columns.filter((column) => column.role !== "error");
    return [...others.filter((column) => !isValue(column)), ...errors, ...others.filter(isValue)];
  }

  private fieldsNow(): string[] {
    return this.address.fields.length > 0 ? this.address.fields : this.guessed.fields;
  }

  // "-" in the address: the user wants no split; empty: no choice was made.
  private splitNow(): string {
    if (this.address.split === "-") return "";
    return this.address.split || (this.address.fields.length > 0 ? "" : this.guessed.split);
  }

  private updateBars(): void {
    const now = Date.now();
    const ring = this.stream.ring;
    const paused = this.mode === "paused";
    const waiting = this.fixed ? ring.endSeq - this.fixed.endSeq : 0;
    const lost = this.fixed ? Math.max(0, ring.firstSeq - this.fixed.endSeq) : 0;
    this.topicBar.setPaused(paused);
    setShown(this.pauseBar, paused);
    setText(this.waiting, `${count(waiting)} ${waiting === 1 ? "row" : "rows"} waiting${lost > 0 ? `, ${count(lost)} of them let go` : ""}`);
    setShown(this.pill, this.mode === "scrolled" && this.tab() === "table");
    setText(this.pill, waiting > 0 ? `${count(waiting)} new ↓` : "newest ↓");
    this.status.update(this.stream, this.picture, paused, this.address.utc, this.address.errors);
    this.banner.update(this.fault(now), now);
    const why = this.picture.rows === 0 ? explain(this.stream, this.address, this.topics.get(this.address.topic), now) : null;
    setShown(this.empty, why !== null);
    if (why) {
      setText(this.emptyText, why.text);
      setShown(this.emptyButton, why.action !== "");
      setText(this.emptyButton, why.label);
      this.emptyButton.dataset["action"] = why.action;
    }
    const data = this.body.dataset;
    data["phase"] = this.stream.phase;
    data["mode"] = this.mode;
    data["rows"] = String(ring.endSeq);
    data["shown"] = String(this.picture.rows);
  }

  private fault(now: number): Fault | null {
    const failure = this.stream.failure;
    if (failure && this.stream.phase === "retrying") {
      return { what: `${this.address.topic}:`, reason: failure.reason, hint: failure.hint, retryAt: failure.retryAt };
    }
    if (this.watch.failure) {
      const away = this.watch.failure.includes("does not answer");
      const hint = away ? "Check that `kafscope serve` or `kafscope demo` still runs." : hintFor(this.watch.failure);
      return { what: "Server:", reason: this.watch.failure, hint, retryAt: Math.max(this.watch.nextAt, now) };
    }
    const status = this.watch.status;
    if (status && !status.broker_state.connected) {
      const reason = status.broker_state.reason ?? "no connection yet";
      return { what: `Broker ${status.brokers}:`, reason, hint: hintFor(reason) || hintFor("broker"), retryAt: this.watch.nextAt };
    }
    return null;
  }

  private isBusy(): boolean {
    if (this.pointerDown) return true;
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && this.grid.element.contains(selection.anchorNode);
  }

  private watchPointer(views: HTMLElement): void {
    views.addEventListener("pointerdown", (event) => {
      // Scroll bars belong to the table's own element: scrolling goes on drawing.
      if (event.target !== this.grid.element) this.pointerDown = true;
    });
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      addEventListener(end, () => {
        this.pointerDown = false;
      });
    }
  }

  // ---- following, pause --------------------------------------------------------------------------------------------

  private hold(mode: "scrolled" | "paused"): void {
    if (this.mode === "following") this.fixed = this.stream.ring.view();
    // What is on the screen stays: the picture that was drawn last, not the rows that came since.
    if (this.mode === "following" && this.picture.rows > 0 && !this.picture.picked) this.fixed = this.picture;
    this.mode = mode;
    this.grid.following = false;
    this.dirty = true;
  }

  private unfreeze(): void {
    this.mode = "following";
    this.fixed = null;
    this.grid.following = true;
    this.dirty = true;
  }

  private follow(): void {
    this.unfreeze();
    this.updateBars();
  }

  private scrolledBack(): void {
    if (this.mode === "scrolled") this.follow();
  }

  private togglePause(): void {
    if (this.mode === "paused") this.follow();
    else this.hold("paused");
    this.updateBars();
  }

  /** Resumes where the pause began: the first row that waited is at the top, later ones below. */
  private catchUp(): void {
    const from = this.fixed?.endSeq ?? this.stream.ring.endSeq;
    if (this.tab() !== "table") {
      this.follow();
      return;
    }
    this.mode = "scrolled";
    this.fixed = this.stream.ring.view();
    this.picture = this.address.errors ? this.fixed.errorsOnly() : this.fixed;
    const first = this.picture.picked ? this.picture.picked.findIndex((seq) => seq >= from) : Math.max(0, from - this.fixed.firstSeq);
    this.grid.following = false;
    void this.grid.show(this.picture).then(() => this.grid.scrollToIndex(Math.max(0, first), 0));
    this.updateBars();
  }

  private clear(): void {
    this.stream.ring.clear();
    this.closeRecord();
    this.unfreeze();
    this.grid.forget();
    this.say("Rows cleared");
  }

  private emptyAction(): void {
    const action = this.emptyButton.dataset["action"];
    if (action === "last100") this.changeStream({ from: "last:100", until: "" });
    else if (action === "earliest") this.changeStream({ from: "earliest", until: "" });
    else if (action === "all") this.go({ errors: false });
    else if (action === "read_again") {
      this.stream.restart();
      this.opened(this.address);
    }
  }

  // ---- records -----------------------------------------------------------------------------------------------------

  private choose(seq: number, open: boolean): void {
    this.grid.selectedSeq = seq;
    // A chosen row would run away under the eye: the picture stays until the user goes back to the newest rows.
    if (this.mode === "following" && this.tab() === "table") this.hold("scrolled");
    if (open || this.inspector.isOpen) this.inspect(seq);
    void this.grid.refresh();
  }

  private inspect(seq: number): void {
    const found = this.picture.find(seq) ?? this.stream.ring.view().find(seq);
    if (!found) return;
    const offset = found.batch.byRole("offset");
    const partition = this.partitionOf(found.batch, found.row);
    this.inspector.show({ ...found, seq, index: this.picture.indexOf(seq), total: this.picture.rows, utc: this.address.utc, partition });
    const record = offset ? `${partition}:${offset.bigint(found.row)}` : "";
    if (record !== this.address.record) {
      this.address = { ...this.address, record };
      history.replaceState(null, "", formatAddress(this.address));
    }
  }

  private reinspect(): void {
    if (this.inspector.isOpen && this.grid.selectedSeq >= 0) this.inspect(this.grid.selectedSeq);
  }

  private partitionOf(batch: View["batches"][number], row: number): number {
    const column = batch.byRole("partition");
    return Number(column?.text(row, true) ?? this.address.partitions.split(",")[0] ?? 0) || 0;
  }

  // A link to a record waits until the record has come.
  private async openWanted(): Promise<void> {
    const [partition, offset] = this.wantedRecord.split(":") as [string, string];
    const view = this.stream.ring.view();
    const seq = view.findRecord(Number(partition), BigInt(offset));
    if (seq < 0) return;
    this.wantedRecord = "";
    this.fixed = view;
    this.picture = view;
    this.mode = "scrolled";
    this.grid.following = false;
    this.grid.selectedSeq = seq;
    this.inspect(seq);
    if (this.tab() !== "table") return;
    this.grid.setColumns(this.tableColumns(), this.prefs.widths);
    await this.grid.show(view);
    await this.grid.scrollToIndex(view.indexOf(seq));
  }

  private closeRecord(): void {
    this.closeInspector();
    if (this.address.record) this.go({ record: "" }, true);
    void this.grid.refresh();
  }

  private closeInspector(): void {
    this.inspector.close();
    this.grid.selectedSeq = -1;
  }

  private escape(): void {
    const open = [...document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")];
    if (this.help.element.open) this.help.element.close();
    else if (open.length > 0) open.forEach((menu) => (menu.open = false));
    else if (this.inspector.isOpen) this.closeRecord();
  }

  // ---- small things ------------------------------------------------------------------------------------------------

  private setPrefs(prefs: ColumnPrefs): void {
    this.prefs = prefs;
    savePrefs(this.address.topic, prefs);
    this.columnsMenu.update(this.stream.ring.columns, prefs);
    this.dirty = true;
  }

  private columnResized(name: string, width: number | null): void {
    const widths = { ...this.prefs.widths };
    if (width === null) delete widths[name];
    else widths[name] = width;
    this.setPrefs({ ...this.prefs, widths });
  }

  private searchTopics(): void {
    if (!this.address.rail) this.go({ rail: true });
    this.rail.focusSearch();
  }

  private async exportRows(kind: "csv" | "json"): Promise<void> {
    const view = this.picture;
    const columns = this.tab() === "table" ? visible(this.stream.ring.columns, this.prefs) : this.stream.ring.columns;
    const blob = await exportView(view, columns, kind);
    download(blob, `${this.address.topic || "kafscope"}.${kind === "csv" ? "csv" : "ndjson"}`);
    this.say(`${count(view.rows)} rows exported`);
  }

  private copyLink(href: string): void {
    const done = () => this.say("Link copied");
    // Without a secure context there is no clipboard: the link is shown to be copied by hand.
    if (navigator.clipboard) navigator.clipboard.writeText(href).then(done, () => this.showLink(href));
    else this.showLink(href);
  }

  private showLink(href: string): void {
    const field = h("input", { type: "text", value: href, readonly: true, "aria-label": "Link" });
    const box = h("div", { class: "link-box" }, field, iconButton("close", "Close", "", () => box.remove()));
    this.body.append(box);
    field.select();
  }

  private say(text: string): void {
    setText(this.said, text);
  }

  private nextTheme(): void {
    const order = ["", "light", "dark"];
    const now = this.address.theme || recall("theme") || "";
    const next = order[(order.indexOf(now) + 1) % order.length]!;
    remember("theme", next || null);
    this.go({ theme: next }, true);
  }

  private applyTheme(): void {
    const wish = this.address.theme || recall("theme") || "";
    const dark = wish === "dark" || (wish === "" && matchMedia("(prefers-color-scheme: dark)").matches);
    const theme = dark ? "dark" : "light";
    if (document.documentElement.dataset["theme"] === theme) return;
    document.documentElement.dataset["theme"] = theme;
    this.chart.restyle();
  }

  private testState(): Record<string, unknown> {
    const ring = this.stream.ring;
    return {
      phase: this.stream.phase, mode: this.mode, total: ring.endSeq, first: ring.firstSeq, rows: ring.rows, batches: ring.batchCount,
      bytes: ring.bytes, shown: this.picture.rows, shownEnd: this.picture.endSeq, errors: ring.errorRows, draws: this.grid.draws,
      chartDraws: this.chart.draws, chartPoints: this.chart.points, chartSeries: this.chart.seriesCount, zoomed: this.chart.isZoomed,
      skipped: this.stream.skippedRows, columns: ring.columns.map((column) => column.name), busy: this.isBusy(),
      pending: this.dirty || this.drawing, top: this.grid.element.scrollTop,
    };
  }
}
