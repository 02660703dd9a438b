import type { FieldError } from '@dundun/messaging';
import { ApiError } from './api-error.js';

/** A text, and the name it was written under. */
export interface WrittenText<Name extends string> {
  readonly text: string;
  readonly field: Name;
}

/**
 * The text under any of its names; what is wrong is added to `errors`.
 * @throws ApiError `conflicting_fields` where two of them differ
 */
export function readText<Name extends string>(
  request: Readonly<Record<string, unknown>>,
  names: readonly [Name, ...Name[]],
  errors: FieldError[],
): WrittenText<Name> {
  const written = names.filter((name) => request[name] !== undefined);
  const field = written[0] ?? names[0];
  const different = written.find((name) => request[name] !== request[field]);
  if (different !== undefined)
    throw new ApiError('conflicting_fields', `${field} and ${different} differ; send one of them`, {
      details: [
        { path: field, message: `differs from ${different}` },
        { path: different, message: `differs from ${field}` },
      ],
    });
  const text = request[field];
  if (typeof text === 'string' && text !== '') return { text, field };
  errors.push({ path: field, message: 'must be a text of at least one character' });
  return { text: '', field };
}
