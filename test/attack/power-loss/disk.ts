import { basename } from 'node:path';

/** A number from 0 up to, but not including, 1: below a half, the disk keeps writes that no sync covered. */
export type Chance = () => number;

/** A disk writes pieces of this many bytes whole or not at all. */
const SECTOR = 512;

/** A record of `journal.c`. */
interface Operation {
  readonly kind: 'C' | 'L' | 'U' | 'W' | 'T' | 'B' | 'E';
  readonly path: string;
  /** Offset of a write, length of a truncation, or number of a sync. */
  readonly offset: number;
  /** Bytes of a write, or the other path of a link. */
  readonly data: Buffer;
  /** Where its record begins in the journal. */
  readonly at: number;
}

type Write = Pick<Operation, 'kind' | 'offset' | 'data'>;

interface Renaming {
  readonly name: string;
  /** `undefined`: the name is deleted. */
  readonly file: DiskFile | undefined;
}

/** Changes in their order, and how many of them a sync covers. */
class Changes<T> {
  readonly #all: T[] = [];
  readonly #begun = new Map<number, number>();
  #synced = 0;

  add(change: T): void {
    this.#all.push(change);
  }

  beginSync(id: number): void {
    this.#begun.set(id, this.#all.length);
  }

  /** @returns the changes that it brings to the disk */
  endSync(id: number): readonly T[] {
    const until = this.#begun.get(id) ?? 0;
    const covered = this.#all.slice(this.#synced, until);
    this.#synced = Math.max(this.#synced, until);
    return covered;
  }

  get unsynced(): readonly T[] {
    return this.#all.slice(this.#synced);
  }
}

class Bytes {
  constructor(
    private bytes: Buffer,
    private length = bytes.length,
  ) {}

  copy(): Bytes {
    return new Bytes(Buffer.from(this.content));
  }

  get content(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  apply({ kind, offset, data }: Write): void {
    const length = kind === 'T' ? offset : Math.max(this.length, offset + data.length);
    if (length > this.bytes.length)
      this.bytes = Buffer.concat([this.content], Math.max(length, 2 * this.bytes.length));
    if (length < this.length) this.bytes.fill(0, length, this.length);
    data.copy(this.bytes, offset);
    this.length = length;
  }
}

class DiskFile {
  readonly changes = new Changes<Write>();
  readonly #disk: Bytes;

  constructor(content: Buffer) {
    // Another replay may begin with the same content.
    this.#disk = new Bytes(content).copy();
  }

  endSync(id: number): void {
    for (const write of this.changes.endSync(id)) this.#disk.apply(write);
  }

  after(chance: Chance): Buffer {
    const disk = this.#disk.copy();
    for (const write of this.changes.unsynced)
      for (const piece of sectorsOf(write)) if (chance() < 0.5) disk.apply(piece);
    return disk.content;
  }
}

function* sectorsOf(write: Write): Generator<Write> {
  const { kind, offset, data } = write;
  if (kind === 'T') return yield write;
  for (let at = 0; at < data.length;) {
    const end = Math.min(data.length, at + SECTOR - ((offset + at) % SECTOR));
    yield { kind, offset: offset + at, data: data.subarray(at, end) };
    at = end;
  }
}

/** Replays the journal of a killed process: its files as the disk has them. */
export class Disk {
  /** The files that processes see, and those of the last sync of the directory. */
  readonly #seen: Map<string, DiskFile>;
  readonly #named: Map<string, DiskFile>;
  readonly #renamings = new Changes<Renaming>();

  /** @param base the files of the directory before the process began, by name */
  constructor(
    private readonly directory: string,
    base: ReadonlyMap<string, Buffer>,
    journal: Buffer,
  ) {
    this.#seen = new Map([...base].map(([name, content]) => [name, new DiskFile(content)]));
    this.#named = new Map(this.#seen);
    const syncing = new Map<number, DiskFile>();
    for (const operation of operationsOf(journal)) this.#replay(operation, syncing);
  }

  /** Number of writes that no sync covered. */
  get unsynced(): number {
    const files = [...this.#seen.values()];
    return files.reduce((sum, { changes }) => sum + changes.unsynced.length, 0);
  }

  /** The files after a power loss; names reach the disk in the order of their changes. */
  after(chance: Chance): Map<string, Buffer> {
    const named = new Map(this.#named);
    for (const renaming of this.#renamings.unsynced) {
      if (chance() >= 0.5) break;
      rename(named, renaming);
    }
    // The index of the log is memory that processes share; the first connection makes it anew.
    const kept = [...named].filter(([name]) => !name.endsWith('-shm'));
    return new Map(kept.map(([name, file]) => [name, file.after(chance)]));
  }

  #replay(operation: Operation, syncing: Map<number, DiskFile>): void {
    const { kind, path, offset, data } = operation;
    const name = basename(path);
    const file = this.#seen.get(name);
    switch (kind) {
      case 'C':
        return this.#rename({ name, file: new DiskFile(Buffer.alloc(0)) });
      case 'L':
        return this.#rename({ name, file: this.#seen.get(basename(data.toString())) });
      case 'U':
        return this.#rename({ name, file: undefined });
      case 'W':
      case 'T':
        return file?.changes.add(operation);
      case 'B':
        if (path === this.directory) return this.#renamings.beginSync(offset);
        if (file) syncing.set(offset, file);
        return file?.changes.beginSync(offset);
      case 'E':
        if (path !== this.directory) return syncing.get(offset)?.endSync(offset);
        for (const renaming of this.#renamings.endSync(offset)) rename(this.#named, renaming);
    }
  }

  #rename(renaming: Renaming): void {
    rename(this.#seen, renaming);
    this.#renamings.add(renaming);
  }
}

function rename(names: Map<string, DiskFile>, { name, file }: Renaming): void {
  if (file) names.set(name, file);
  else names.delete(name);
}

/** The journal without its last record: a kill between a record and its write leaves it one write ahead. */
export function withoutLastRecord(journal: Buffer): Buffer {
  const operations = [...operationsOf(journal)];
  return journal.subarray(0, operations.at(-1)?.at ?? 0);
}

/** The kill may have cut the last record off. */
function* operationsOf(journal: Buffer): Generator<Operation> {
  const HEAD = 21;
  for (let at = 0; at + HEAD <= journal.length;) {
    const kind = journal.toString('latin1', at, at + 1) as Operation['kind'];
    const named = at + HEAD + journal.readUInt32LE(at + 1);
    const offset = Number(journal.readBigInt64LE(at + 5));
    const end = named + Number(journal.readBigUInt64LE(at + 13));
    if (end > journal.length) return;
    const path = journal.toString('utf8', at + HEAD, named);
    yield { kind, path, offset, data: journal.subarray(named, end), at };
    at = end;
  }
}
