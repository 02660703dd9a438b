import { MessagingConfigError } from '../message/errors.js';
import { type OptionReader, textLike } from '../ports/option-schema.js';
import { parsedUrl } from '../message/url.js';

export const providerName = textLike(
  /^[a-z0-9][a-z0-9._-]{0,31}$/,
  '1 to 32 lower-case letters, digits, dots, dashes or underscores',
);

/** A key or token of an account; the error omits its value. @param what such as `the API key of the app` */
export const credential = (what: string): OptionReader<string> =>
  textLike(/^[\x21-\x7e]{16,}$/, `${what}: at least 16 characters, without white space`);

/** Address of a service; the error omits the value, which may contain a password. */
export const httpAddress: OptionReader<URL, string> = (option, value) => {
  const reject = (cause: string): never => {
    throw new MessagingConfigError(`${option}: ${cause}; pass one such as https://sms.example.com`);
  };
  if (typeof value !== 'string' || value === '') return reject('an address is missing');
  if (/\s/.test(value)) return reject('the address holds white space or a newline');
  const url = parsedUrl(value);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return reject('an address must start with http:// or https://');
  if (url.username !== '' || url.password !== '')
    return reject('the address holds credentials, which have options of their own');
  if (/[?#]/.test(value)) return reject('the address has a query or fragment');
  return url;
};

/** Address of a service, without a slash at its end. */
export const serviceAddress: OptionReader<string> = (option, value) => {
  const { origin, pathname } = httpAddress(option, value);
  return origin + pathname.replace(/\/+$/, '');
};
