import { ValidateIf } from 'class-validator';

/** The other rules hold where the field is there; `null` is a value, and not the same as leaving it out. */
export function MayBeLeftOut(): PropertyDecorator {
  return ValidateIf((_request, value) => value !== undefined);
}
