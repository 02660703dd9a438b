import { MessagingConfigError } from '../../message/errors.js';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * Detects at boot the credential mistakes that the service would answer with 401 (interface section 5.7). The error
 * never contains the value.
 *
 * @throws MessagingConfigError naming `option`, the cause and the remedy
 */
export function checkCredential(option: 'apiToken' | 'apiKey', value: unknown): string {
  const where = option === 'apiToken' ? 'Settings, Security' : 'Email, API Keys';
  if (typeof value !== 'string' || value === '')
    throw new MessagingConfigError(`${option}: is missing; copy it from the dashboard (${where})`);
  if (/^\s*bearer\b/i.test(value))
    throw new MessagingConfigError(
      `${option}: starts with the word Bearer; pass the credential alone, the word is added for you`,
    );
  if (/\s/.test(value))
    throw new MessagingConfigError(
      `${option}: white space or a newline was copied with it; remove it (a file read with a trailing newline is a usual cause)`,
    );
  if (!VISIBLE_ASCII.test(value))
    throw new MessagingConfigError(
      `${option}: has characters no credential has; copy it again from the dashboard (${where})`,
    );
  if (option === 'apiKey' && !value.startsWith('svk_'))
    throw new MessagingConfigError(
      `apiKey: does not start with svk_; keys are made in the dashboard under Email, API Keys (the API token goes into apiToken)`,
    );
  if (option === 'apiToken' && value.startsWith('svk_'))
    throw new MessagingConfigError(
      `apiToken: is an svk_ key, which SMS does not take; pass it as apiKey, and the token of Settings, Security as apiToken`,
    );
  return value;
}

/**
 * Returns the address without its trailing slash.
 *
 * @throws MessagingConfigError naming `baseUrl`; the error omits the value, which may contain a password
 */
export function checkBaseUrl(value: unknown): string {
  const reject = (cause: string): never => {
    throw new MessagingConfigError(`baseUrl: ${cause}, such as https://sms.example.com`);
  };
  if (typeof value !== 'string' || value === '') return reject('is missing; pass an address');
  if (/\s/.test(value)) return reject('holds white space or a newline; pass a plain address');
  if (!URL.canParse(value)) return reject('is not an address; pass one with http:// or https://');
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return reject('must start with http:// or https://; pass an address');
  if (url.username !== '' || url.password !== '')
    return reject('holds credentials; pass them as apiToken and give a plain address');
  if (/[?#]/.test(value)) return reject('has a query or fragment; pass a plain address');
  if (/\/ng\/v1\b/.test(url.pathname))
    return reject('holds the path of an operation; give the address before /ng/v1');
  return url.origin + url.pathname.replace(/\/+$/, '');
}
