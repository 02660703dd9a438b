import { MessageValidationError } from '@dundun/messaging';

/** The library's error with the names the caller wrote. */
export function inWireFields(
  error: MessageValidationError,
  names: Readonly<Record<string, string>>,
): MessageValidationError {
  const fields = error.fields.map(({ path, message }) => ({ path: names[path] ?? path, message }));
  return new MessageValidationError(fields, error.code);
}
