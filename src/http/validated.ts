import type { FieldError } from '@dundun/messaging';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { invalidFields } from './api-error.js';

/**
 * `plain` as a DTO, its class-validator rules held and unknown fields refused.
 * @throws ApiError 422 naming each field as `to[3]`.
 */
export function validated<T extends object>(dto: new () => T, plain: object): T {
  const instance = plainToInstance(dto, plain, { exposeDefaultValues: true });
  const errors = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true });
  if (errors.length > 0) throw invalidFields(errors.flatMap((error) => fieldErrors(error)));
  return instance;
}

function fieldErrors(error: ValidationError, parent = ''): FieldError[] {
  const path = /^\d+$/.test(error.property)
    ? `${parent}[${error.property}]`
    : parent === ''
      ? error.property
      : `${parent}.${error.property}`;
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    path,
    message: rule === 'whitelistValidation' ? 'is not a field of this request' : message,
  }));
  return [
    ...own.slice(0, 1),
    ...(error.children ?? []).flatMap((child) => fieldErrors(child, path)),
  ];
}
