import { invalidField } from '../http/api-error.js';
import { isText } from '../http/fields.js';
import { PASSWORD_LENGTH } from './portal-api.js';

/** @throws ApiError 422 */
export function checkNewPassword(password: string, email: string): void {
  const { min, max } = PASSWORD_LENGTH;
  const { length } = password.normalize('NFKC');
  if (!isText(password, 4 * max) || length < min || length > max)
    throw invalidField('password', `must be ${min} to ${max} characters`);
  if (new Set(password).size < 5 || password.toLowerCase() === email)
    throw invalidField('password', 'is easy to guess; use a longer phrase of several words');
}
