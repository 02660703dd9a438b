import { ValidateBy } from 'class-validator';
import { parseTimestamp, TIMESTAMP_RULE } from './rfc3339.js';

/** An RFC 3339 time with an offset. */
export function IsTimestamp(): PropertyDecorator {
  return ValidateBy({
    name: 'isTimestamp',
    validator: {
      validate: (value: unknown) => parseTimestamp(value) !== undefined,
      defaultMessage: () => TIMESTAMP_RULE,
    },
  });
}
