import { MessageValidationError } from '../message/errors.js';

const SHAPE = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  number: /^\d{1,15}$/,
  position: /^\d{1,9}$/,
  group: /^grp_[0-9A-Za-z]{10,60}$/,
  suppression: /^\d{7,15} (\*|[a-z]{2,16})$/,
} as const;

/** Opaque to callers, so that what it stands for may change. */
export function encodeCursor(value: string): string {
  return Buffer.from(value).toString('base64url');
}

/** @throws MessageValidationError on `cursor` */
export function decodeCursor(cursor: string, shape: keyof typeof SHAPE): string {
  const value = Buffer.from(cursor.slice(0, 100), 'base64url').toString();
  if (!SHAPE[shape].test(value))
    throw new MessageValidationError([
      { path: 'cursor', message: 'is not one this list gave; start again without it' },
    ]);
  return value;
}
