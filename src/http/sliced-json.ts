import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { ApiError, invalidField } from './api-error.js';

/** Bytes that are scanned and parsed in one turn of the event loop, at most about twice as many. */
const PIECE = 262_144;

/** Most lists and objects within each other. */
const DEEPEST = 100;

/** Most fields of one object: a program reads the names of all at once. */
const MOST_IN_OBJECT = 1_000;

const [COLON, COMMA, QUOTE, BACKSLASH, LETTER_U] = Buffer.from(':,"\\u');
const [LIST, LIST_END, OBJECT, OBJECT_END] = Buffer.from('[]{}');

/** The start of the escape of a second surrogate. */
const SECOND_HALF = /^\\u[dD][c-fC-F]/;

/** Name, in a piece, of the entry that an earlier piece began; no body contains it. */
export const BEGUN = randomUUID();

export interface SlicedJsonOptions {
  /** Most fields, and most lists and objects. */
  readonly most: number;
  /** @param field that contains an entry which an earlier piece began */
  readonly parse: (json: string, field: string | undefined) => unknown;
  /** Asked between two slices; then the rest is not parsed. */
  readonly isGone: () => boolean;
}

/** A list or object whose end is not scanned yet. */
interface Open {
  readonly isList: boolean;
  fields: number;
  /** Place of the name and colon of its last entry. */
  name: readonly [start: number, end: number];
}

/**
 * Parses a large body of JSON in slices, between which other work has turns of the event loop. The
 * body is cut at commas, and within long texts; each piece is parsed as JSON with the brackets that
 * are open at its start before it, those that are open at its end closed, and `0` for an entry that
 * an earlier piece has.
 * @throws ApiError, or the error of `parse`
 */
export async function parseInSlices(
  body: Buffer,
  { most, parse, isGone }: SlicedJsonOptions,
): Promise<unknown> {
  const pieces = new Pieces(body, parse);
  const open: Open[] = [];
  let [fields, lists, textStart, isText] = [0, 0, 0, false];
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (
      at - (isText ? Math.max(textStart, pieces.end) : pieces.end) >= PIECE &&
      (isText ? !isInside(body, at) : byte === COMMA)
    ) {
      pieces.add(at, open, isText);
      await turn();
      if (isGone()) throw new ApiError('malformed_json');
    }
    if (isText) {
      if (byte === BACKSLASH) at += body[at + 1] === LETTER_U ? 5 : 1;
      else isText = byte !== QUOTE;
    } else if (byte === QUOTE) [textStart, isText] = [at, true];
    else if (byte === COLON) {
      if (++fields > most) refuse(most);
      const inner = open.at(-1);
      if (!inner) continue;
      inner.name = [textStart, at];
      if (++inner.fields > MOST_IN_OBJECT) refuse(`${MOST_IN_OBJECT} fields in one object`);
    } else if (byte === LIST || byte === OBJECT) {
      open.push({ isList: byte === LIST, fields: 0, name: [0, 0] });
      if (++lists > most) refuse(most);
      if (open.length > DEEPEST) refuse(`${DEEPEST} lists and objects within each other`);
    } else if (byte === LIST_END || byte === OBJECT_END) open.pop();
  }
  return pieces.add(body.length, [], false);
}

function refuse(rule: string | number): never {
  const most = typeof rule === 'string' ? rule : `${rule} fields, and as many lists and objects`;
  throw invalidField('', `must have at most ${most}`);
}

/** Whether a cut here is within a character: of several bytes, or of two escapes. */
function isInside(body: Buffer, at: number): boolean {
  const byte = body[at] ?? 0;
  return (byte & 0xc0) === 0x80 || SECOND_HALF.test(body.toString('latin1', at, at + 4));
}

class Pieces {
  /** End of the last piece. */
  end = 0;
  #value: unknown;
  #opening = '';
  /** Names of the entries that are open at the end of the last piece, from the outermost. */
  #names: readonly string[] = [];

  constructor(
    private readonly body: Buffer,
    private readonly parse: SlicedJsonOptions['parse'],
  ) {}

  /** @returns the value of the pieces so far */
  add(end: number, open: readonly Open[], isText: boolean): unknown {
    const text = this.body.toString('utf8', this.end, end);
    const closing = open.map(({ isList }) => (isList ? ']' : '}')).reverse();
    const json = `${this.#opening}${text}${isText ? '"' : ''}${closing.join('')}`;
    const piece = this.parse(json, this.#names[0]);
    // Closed, a bracket before a comma is an empty list.
    if (!isText && /[[{]$/.test(text.trimEnd())) throw new ApiError('malformed_json');
    this.#value = this.end === 0 ? piece : this.#joined(this.#value, piece, 0);
    this.end = end;
    this.#names = open.map((one) => this.#nameOf(one));
    const opening = open.map(({ isList }) => (isList ? '[' : `{"${BEGUN}":`));
    this.#opening = opening.join('') + (isText ? '"' : '0');
    return this.#value;
  }

  #nameOf({ isList, name }: Open): string {
    if (isList) return '';
    // Refused as a name: `__proto__`, and `constructor` where `prototype` is within.
    const json = `{${this.body.toString('utf8', ...name)}:{"prototype":0}}`;
    const named = this.parse(json, undefined);
    return Object.keys(named as object)[0] as string;
  }

  #joined(begun: unknown, piece: unknown, depth: number): unknown {
    if (typeof piece === 'string') return `${begun as string}${piece}`;
    if (typeof piece !== 'object') return begun;
    if (Array.isArray(piece)) {
      const list = begun as unknown[];
      list.push(this.#joined(list.pop(), piece[0], depth + 1));
      for (let n = 1; n < piece.length; n++) list.push(piece[n]);
      return list;
    }
    const { [BEGUN]: rest, ...added } = piece as Record<string, unknown>;
    const object = begun as Record<string, unknown>;
    const name = this.#names[depth] as string;
    object[name] = this.#joined(object[name], rest, depth + 1);
    return Object.assign(object, added);
  }
}
