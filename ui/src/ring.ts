// Ring: the newest rows of a stream, as batches; View: what is on the screen, a fixed picture of a ring.
//
// A row is named by its sequence number in the stream. A View keeps its batches alive, so a picture that is paused or
// scrolled stays as it is while the ring moves on.
import { Batch, type Column, joinBatches } from "./batch";
import type { ColumnRole, ColumnType, WireBatch } from "./wire";

export interface KnownColumn {
  name: string;
  role: ColumnRole;
  type: ColumnType;
  /** Clock (ms) at which it was first seen, for the highlight; 0 for those of the first batch. */
  since: number;
}

export class View {
  constructor(
    readonly batches: readonly Batch[],
    readonly firstSeq: number,
    readonly endSeq: number,
    /** Only these rows (sequence numbers, rising), or null for all. */
    readonly picked: readonly number[] | null = null,
  ) {}

  get rows(): number {
    return this.picked ? this.picked.length : this.endSeq - this.firstSeq;
  }

  seqAt(index: number): number {
    return this.picked ? this.picked[index]! : this.firstSeq + index;
  }

  indexOf(seq: number): number {
    if (!this.picked) return seq >= this.firstSeq && seq < this.endSeq ? seq - this.firstSeq : -1;
    return this.picked.indexOf(seq);
  }

  /** Batch and row of a sequence number; null if it is not in the view. */
  find(seq: number): { batch: Batch; row: number } | null {
    if (seq < this.firstSeq || seq >= this.endSeq) return null;
    let low = 0;
    let high = this.batches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.batches[middle]!.firstSeq <= seq) low = middle;
      else high = middle - 1;
    }
    const batch = this.batches[low]!;
    return { batch, row: seq - batch.firstSeq };
  }

  /** The same picture, error rows only. */
  errorsOnly(): View {
    const picked: number[] = [];
    for (const batch of this.batches) {
      for (const row of batch.errorRows()) {
        const seq = batch.firstSeq + row;
        if (seq >= this.firstSeq && seq < this.endSeq) picked.push(seq);
      }
    }
    return new View(this.batches, this.firstSeq, this.endSeq, picked);
  }

  /** Sequence number of a record, newest first; -1 if it is not here. */
  findRecord(partition: number, offset: bigint): number {
    for (let i = this.batches.length - 1; i >= 0; --i) {
      const batch = this.batches[i]!;
      const offsets = batch.byRole("offset");
      if (!offsets) continue;
      const partitions = batch.byRole("partition");
      for (let row = batch.rows - 1; row >= 0; --row) {
        if (offsets.bigint(row) !== offset) continue;
        if (partitions && partitions.text(row, true) !== String(partition)) continue;
        return batch.firstSeq + row;
      }
    }
    return -1;
  }
}

const kJoinCount = 32;
const kJoinRows = 512;

export class Ring {
  private batches_: Batch[] = [];
  private firstSeq_ = 0;
  private endSeq_ = 0;
  private bytes_ = 0;
  private columns_: KnownColumn[] = [];
  private names_ = new Map<string, KnownColumn>();
  private errorRows_ = 0;

  constructor(readonly maxRows = 100_000, readonly maxBytes = 256 * 1024 * 1024) {}

  get firstSeq(): number {
    return this.firstSeq_;
  }
  get endSeq(): number {
    return this.endSeq_;
  }
  get rows(): number {
    return this.endSeq_ - this.firstSeq_;
  }
  get bytes(): number {
    return this.bytes_;
  }
  get batchCount(): number {
    return this.batches_.length;
  }
  /** Error rows since the stream began. */
  get errorRows(): number {
    return this.errorRows_;
  }
  /** All columns ever seen, in order of appearance: it only grows. */
  get columns(): readonly KnownColumn[] {
    return this.columns_;
  }

  append(wire: WireBatch, now: number): void {
    const batch = new Batch(this.endSeq_, wire);
    this.batches_.push(batch);
    this.endSeq_ = batch.endSeq;
    this.bytes_ += batch.bytes;
    this.errorRows_ += batch.errorRows().length;
    for (const column of batch.columns) this.learn(column, now);
    this.joinTail();
    this.trim();
  }

  /** Forgets the rows; columns and counters stay, as the stream goes on. */
  clear(): void {
    this.batches_ = [];
    this.firstSeq_ = this.endSeq_;
    this.bytes_ = 0;
  }

  view(): View {
    return new View(this.batches_.slice(), this.firstSeq_, this.endSeq_);
  }

  private learn(column: Column, now: number): void {
    const known = this.names_.get(column.name);
    if (known) {
      if (known.type !== column.type && column.type !== "null") known.type = column.type;
      return;
    }
    const first = this.batches_.length === 1 && this.batches_[0]!.firstSeq === 0;
    const fresh = { name: column.name, role: column.role, type: column.type, since: first ? 0 : now };
    this.names_.set(column.name, fresh);
    this.columns_.push(fresh);
  }

  // A slow topic sends a row or two at a time: kJoinCount small neighbours of one schema become one batch.
  private joinTail(): void {
    const count = this.batches_.length;
    if (count < kJoinCount) return;
    const tail = this.batches_.slice(count - kJoinCount);
    if (tail.some((batch) => batch.rows > kJoinRows / kJoinCount)) return;
    const signature = tail[0]!.signature();
    if (tail.some((batch) => batch.signature() !== signature)) return;
    this.batches_.splice(count - kJoinCount, kJoinCount, joinBatches(tail));
  }

  private trim(): void {
    let drop = 0;
    while (drop < this.batches_.length - 1) {
      const batch = this.batches_[drop]!;
      const whole = this.endSeq_ - batch.endSeq >= this.maxRows;
      if (!whole && this.bytes_ <= this.maxBytes) break;
      this.bytes_ -= batch.bytes;
      ++drop;
    }
    if (drop > 0) this.batches_.splice(0, drop);
    const head = this.batches_[0]?.firstSeq ?? this.endSeq_;
    this.firstSeq_ = Math.max(this.firstSeq_, head, this.endSeq_ - this.maxRows);
  }
}
