import { type FieldError, MessageValidationError } from '@dundun/messaging';

/** Fields of a query or body, as the request has them. */
export type Given = Readonly<Record<string, unknown>>;

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2}))?$/;

/** Reads the fields of a request, and refuses all that are wrong at once. */
export class Fields {
  readonly #errors: FieldError[] = [];
  readonly #given: Given;

  constructor(given: unknown) {
    this.#given = typeof given === 'object' && given !== null ? (given as Given) : {};
  }

  refuse(path: string, message: string): undefined {
    this.#errors.push({ path, message });
    return undefined;
  }

  /** A text of up to `most` characters; `undefined`: missing or empty. */
  text(path: string, most = 320): string | undefined {
    const value = this.#given[path];
    if (value === undefined || value === '' || value === null) return undefined;
    if (typeof value === 'string' && value.length <= most) return value;
    return this.refuse(path, `must be a text of at most ${most} characters`);
  }

  need(path: string, most = 320): string {
    return this.text(path, most) ?? (this.refuse(path, 'is missing') as undefined) ?? '';
  }

  time(path: string): Date | undefined {
    const text = this.text(path, 40);
    if (text === undefined) return undefined;
    const time = new Date(text);
    if (TIME.test(text) && !Number.isNaN(time.getTime())) return time;
    return this.refuse(path, 'must be a time such as 2026-01-31T08:15:00Z');
  }

  oneOf<const T extends string>(path: string, values: readonly T[]): T | undefined {
    const text = this.text(path);
    if (text === undefined) return undefined;
    const found = values.find((value) => value === text);
    return found ?? this.refuse(path, `must be one of ${values.join(', ')}`);
  }

  flag(path: string): boolean {
    const value = this.#given[path];
    return value === true || value === 'true';
  }

  limit(most = 200, standard = 50): number {
    const given = this.#given['limit'];
    if (given === undefined || given === '') return standard;
    const limit = Number(given);
    if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
    this.refuse('limit', `must be 1 to ${most}`);
    return standard;
  }

  object(path: string): Given | undefined {
    const value = this.#given[path];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Given;
    return this.refuse(path, 'must be an object');
  }

  list(path: string): readonly unknown[] {
    const value = this.#given[path];
    if (Array.isArray(value)) return value;
    this.refuse(path, 'must be a list');
    return [];
  }

  /** @throws MessageValidationError naming each wrong field */
  done(): void {
    if (this.#errors.length > 0) throw new MessageValidationError(this.#errors);
  }
}

export function iso(time: Date): string;
export function iso(time: Date | null): string | null;
export function iso(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
