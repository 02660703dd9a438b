import { setImmediate as turn } from 'node:timers/promises';

/** Bytes that are parsed in one turn of the event loop, at most about twice as many. */
const PIECE = 262_144;

/** Bytes that are scanned in one turn. */
const SCANNED = 1_048_576;

/** Most lists and objects within each other. */
const DEEPEST = 100;

/** Most fields of one object: a program reads the names of all at once. */
const MOST_IN_OBJECT = 1_000;

export class MalformedJsonError extends Error {
  override readonly name = 'MalformedJsonError';
}

/** The body has more than it may; the message is the rule. */
export class ExcessiveJsonError extends Error {
  override readonly name = 'ExcessiveJsonError';
}

const [COLON, COMMA, QUOTE, BACKSLASH] = Buffer.from(':,"\\');
const [LIST, LIST_END, OBJECT, OBJECT_END] = Buffer.from('[]{}');

/** A text, list or object that is larger than a piece: the places of its first and last byte. */
interface Part {
  readonly start: number;
  readonly end: number;
}

export interface SlicedJsonOptions {
  /** Most fields, and most lists and objects. */
  readonly most: number;
  /**
   * Parses a piece: a whole value, or some entries of a list or object as one.
   * @param field the field of the body that the entries are in; `undefined`: of the body itself
   */
  readonly parse: (json: string, field: string | undefined) => unknown;
  /** Asked between two slices; then the rest is not parsed. */
  readonly isGone: () => boolean;
}

/**
 * Parses a large body of JSON in slices, between which other work has turns of the event loop. Lists
 * and objects that are larger than a piece are cut at the commas between their entries.
 * @throws MalformedJsonError, ExcessiveJsonError, or the error of `parse`
 */
export async function parseInSlices(body: Buffer, options: SlicedJsonOptions): Promise<unknown> {
  const parts = await largeParts(body, options);
  return new SlicedJson(body, parts, options).value();
}

/** The large parts in the order of their starts. */
async function largeParts(
  body: Buffer,
  { most, isGone }: Pick<SlicedJsonOptions, 'most' | 'isGone'>,
): Promise<Part[]> {
  const parts: Part[] = [];
  const open: number[] = [];
  /** By depth. */
  const fieldsOf: number[] = [];
  let [fields, lists, text] = [0, 0, -1];
  const refuse = (rule: string): never => {
    throw new ExcessiveJsonError(`must have at most ${rule}`);
  };
  const tooMany = `${most} fields, and as many lists and objects`;
  const note = (start: number, end: number): void => {
    if (end - start >= PIECE) parts.push({ start, end });
  };
  for (let at = 0; at < body.length;) {
    for (const stop = Math.min(at + SCANNED, body.length); at < stop; at++) {
      const byte = body[at];
      if (text !== -1) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) {
          note(text, at);
          text = -1;
        }
      } else if (byte === QUOTE) text = at;
      else if (byte === COLON) {
        if (++fields > most) refuse(tooMany);
        const own = (fieldsOf[open.length] ?? 0) + 1;
        if (own > MOST_IN_OBJECT) refuse(`${MOST_IN_OBJECT} fields in one object`);
        fieldsOf[open.length] = own;
      } else if (byte === LIST || byte === OBJECT) {
        open.push(at);
        fieldsOf[open.length] = 0;
        if (++lists > most) refuse(tooMany);
        if (open.length > DEEPEST) refuse(`${DEEPEST} lists and objects within each other`);
      } else if (byte === LIST_END || byte === OBJECT_END) {
        const start = open.pop() ?? -1;
        if (body[start] !== (byte === LIST_END ? LIST : OBJECT)) throw new MalformedJsonError();
        note(start, at);
      }
    }
    if (at < body.length) await nextTurn(isGone);
  }
  if (text !== -1 || open.length > 0) throw new MalformedJsonError();
  return parts.sort((one, other) => one.start - other.start);
}

async function nextTurn(isGone: () => boolean): Promise<void> {
  await turn();
  if (isGone()) throw new MalformedJsonError();
}

class SlicedJson {
  /** Index of the next large part: they are passed in their order. */
  #next = 0;

  constructor(
    private readonly body: Buffer,
    private readonly parts: readonly Part[],
    private readonly options: SlicedJsonOptions,
  ) {}

  async value(): Promise<unknown> {
    const { body } = this;
    const [whole] = this.parts;
    if (!whole || !this.#isBlank(0, whole.start))
      return this.options.parse(body.toString(), undefined);
    const value = await this.#part(undefined);
    if (!this.#isBlank(whole.end + 1, body.length)) throw new MalformedJsonError();
    return value;
  }

  #part(field: string | undefined): Promise<unknown> {
    const part = this.parts[this.#next++] as Part;
    return this.body[part.start] === QUOTE ? this.#text(part, field) : this.#entries(part, field);
  }

  async #text({ start, end }: Part, field: string | undefined): Promise<string> {
    const { body } = this;
    const pieces: unknown[] = [];
    for (let from = start + 1, at = from; from < end; from = at) {
      for (const stop = Math.min(from + PIECE, end); at < stop || this.#isInside(at); at++)
        if (body[at] === BACKSLASH) at += body[at + 1] === LETTER_U ? 5 : 1;
      pieces.push(this.options.parse(`"${body.toString('utf8', from, at)}"`, field));
      await nextTurn(this.options.isGone);
    }
    return pieces.join('');
  }

  /** Whether a cut here is within a character: of several bytes, or of two escapes. */
  #isInside(at: number): boolean {
    const { body } = this;
    const byte = body[at] ?? 0;
    return (byte & 0xc0) === 0x80 || SECOND_HALF.test(body.toString('latin1', at, at + 4));
  }

  async #entries({ start, end }: Part, field: string | undefined): Promise<unknown> {
    const { body, parts } = this;
    const built = body[start] === LIST ? new BuiltList() : new BuiltObject();
    const add = (from: number, to: number) => this.#add(built, from, to, field);
    // The entries from here to the last comma are not parsed yet.
    let from = start + 1;
    let comma = start;
    let depth = 0;
    for (let at = from; at < end; at++) {
      const byte = body[at];
      const part = parts[this.#next];
      if (part?.start === at) {
        if (comma >= from) await add(from, comma);
        const key = this.#keyBefore(built, comma + 1, at, field);
        built.set(key, await this.#part(field ?? key));
        // Blanks, and then a comma or the end.
        comma = body.indexOf(COMMA, part.end);
        at = comma === -1 || comma > end ? end : comma;
        if (!this.#isBlank(part.end + 1, at)) throw new MalformedJsonError();
        from = at + 1;
      } else if (byte === QUOTE) at = this.#endOfText(at);
      else if (byte === LIST || byte === OBJECT) depth++;
      else if (byte === LIST_END || byte === OBJECT_END) depth--;
      else if (byte === COMMA && depth === 0) {
        comma = at;
        if (at - from < PIECE) continue;
        await add(from, at);
        from = at + 1;
      }
    }
    // Only an empty list or object has nothing here.
    if (from <= end && !(from === start + 1 && this.#isBlank(from, end))) await add(from, end);
    return built.value;
  }

  /** Parses entries, which must be there. */
  async #add(built: Built, from: number, to: number, field: string | undefined): Promise<void> {
    if (this.#isBlank(from, to)) throw new MalformedJsonError();
    const [start, end] = built.marks;
    built.add(this.options.parse(start + this.body.toString('utf8', from, to) + end, field));
    await nextTurn(this.options.isGone);
  }

  /** The name before a large part of an object; `undefined` in a list. */
  #keyBefore(
    built: Built,
    from: number,
    to: number,
    field: string | undefined,
  ): string | undefined {
    const text = this.body.toString('utf8', from, to);
    if (built instanceof BuiltList) {
      if (text.trim() !== '') throw new MalformedJsonError();
      return undefined;
    }
    // Refused as a name: `__proto__`, and `constructor` where `prototype` is within.
    const named = this.options.parse(`{${text}{"prototype":0}}`, field);
    const [key, ...others] = Object.keys(named as object);
    if (key === undefined || others.length > 0) throw new MalformedJsonError();
    return key;
  }

  /** The place of the quote that ends a text. */
  #endOfText(start: number): number {
    for (let at = start + 1; ; at++) {
      if (this.body[at] === QUOTE) return at;
      if (this.body[at] === BACKSLASH) at++;
    }
  }

  #isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (!BLANKS.includes(this.body[at] ?? 0)) return false;
    return true;
  }
}

const LETTER_U = 'u'.charCodeAt(0);

/** The start of the escape of a second surrogate. */
const SECOND_HALF = /^\\u[dD][c-fC-F]/;

const BLANKS = Buffer.from(' \t\r\n');

type Built = BuiltList | BuiltObject;

class BuiltList {
  readonly marks = '[]';
  readonly value: unknown[] = [];

  add(entries: unknown): void {
    for (const entry of entries as unknown[]) this.value.push(entry);
  }

  set(_key: unknown, entry: unknown): void {
    this.value.push(entry);
  }
}

class BuiltObject {
  readonly marks = '{}';
  readonly value: Record<string, unknown> = {};

  add(entries: unknown): void {
    Object.assign(this.value, entries);
  }

  set(key: string | undefined, entry: unknown): void {
    this.value[key ?? ''] = entry;
  }
}
