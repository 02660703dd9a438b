import { MessagingError } from '@dundun/messaging';
import { EnvironmentError } from '../config/environment.js';
import { toApiError } from '../http/error-mapping.js';
import { describeError } from '../http/log-redaction.js';

/** Code and sentence of an error of a command's work. */
export function describeCommandError(error: unknown): { code: string; message: string } {
  if (error instanceof EnvironmentError)
    return { code: 'invalid_configuration', message: error.message };
  const { code, message } = toApiError(error);
  if (code !== 'internal_error') return { code, message };
  // The library's own code, where the interface has none.
  if (error instanceof MessagingError) return { code: error.code, message: error.message };
  const { name, message: detail } = describeError(error);
  return { code, message: `${name}: ${detail}` };
}
