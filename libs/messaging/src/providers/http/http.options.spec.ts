import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError } from '../../message/errors.js';
import { http } from './http.transport.js';
import type { HttpTransportOptions } from './http.options.js';

const good = { baseUrl: 'https://sms.example.com', apiToken: 'tok_s3cr3t' };

const mistakes: [string, Partial<Record<keyof HttpTransportOptions, unknown>>, string, RegExp][] = [
  ['no token', { apiToken: undefined }, 'apiToken', /missing/],
  ['an empty token', { apiToken: '' }, 'apiToken', /missing/],
  ['a token with Bearer', { apiToken: 'Bearer tok_s3cr3t' }, 'apiToken', /Bearer/],
  ['a token with bearer and space', { apiToken: ' bearer tok_s3cr3t' }, 'apiToken', /Bearer/],
  ['Bearer alone', { apiToken: 'Bearer' }, 'apiToken', /Bearer/],
  ['a token with a newline', { apiToken: 'tok_s3cr3t\n' }, 'apiToken', /white space or a newline/],
  ['a token with a leading space', { apiToken: ' tok_s3cr3t' }, 'apiToken', /white space/],
  ['a token with a space inside', { apiToken: 'tok_ s3cr3t' }, 'apiToken', /white space/],
  ['a token with a soft hyphen', { apiToken: 'tok_s3cr3t\u00ad' }, 'apiToken', /characters/],
  ['a key in place of the token', { apiToken: 'svk_s3cr3t' }, 'apiToken', /apiKey/],
  ['a key without svk_', { apiKey: 'tok_s3cr3t' }, 'apiKey', /svk_/],
  ['a key with a newline', { apiKey: 'svk_s3cr3t\n' }, 'apiKey', /white space/],
  ['a key with Bearer', { apiKey: 'Bearer svk_s3cr3t' }, 'apiKey', /Bearer/],
  ['no address', { baseUrl: undefined }, 'baseUrl', /missing/],
  ['a bare host', { baseUrl: 'sms.example.com' }, 'baseUrl', /http:\/\/ or https/],
  ['a foreign scheme', { baseUrl: 'ftp://sms.example.com' }, 'baseUrl', /http:\/\/ or https/],
  ['an address with a newline', { baseUrl: 'https://sms.example.com\n' }, 'baseUrl', /newline/],
  ['a password in the address', { baseUrl: 'https://a:s3cr3t@b.c' }, 'baseUrl', /credentials/],
  ['a query in the address', { baseUrl: 'https://b.c/?k=s3cr3t' }, 'baseUrl', /query/],
  ['an empty query in the address', { baseUrl: 'https://b.c/?' }, 'baseUrl', /query/],
  ['the operation in the address', { baseUrl: 'https://b.c/ng/v1/sendsms' }, 'baseUrl', /before/],
  ['another text field', { textField: { sms: 'text' } }, 'textField.sms', /'body' or 'content'/],
  ['no recipients', { maxRecipients: 0 }, 'maxRecipients', /at least 1/],
  ['no window', { idempotencyWindow: 'soon' }, 'idempotencyWindow', /duration/],
  ['no name', { name: '' }, 'name', /lower-case/],
];

describe('http()', () => {
  it.each(mistakes)('http() refuses %s with the remedy', (_what, options, option, cause) => {
    const make = () => http({ ...good, ...options } as HttpTransportOptions);
    expect(make).toThrow(MessagingConfigError);
    expect(make).toThrow(new RegExp(`^http\\.${option}: `));
    expect(make).toThrow(cause);
    expect(make).not.toThrow(/s3cr3t/);
  });

  it('http() refuses an unknown option and lists the known names', () => {
    const make = (options: object) => () => http({ ...good, ...options });
    expect(make({ apitoken: 'tok_s3cr3t' })).toThrow('http.apitoken: there is no such option');
    expect(make({ conections: 4 })).toThrow(
      /^http\.conections: there is no such option.*\bconnections\b/,
    );
    expect(make({ textField: { email: 'body' } })).toThrow(
      /^http\.textField\.email: there is no such/,
    );
    expect(make({ deliveryReport: 'no' })).toThrow(/^http\.deliveryReport: must be true or false/);
  });

  it('http() accepts valid credentials', () => {
    expect(http({ ...good, apiKey: 'svk_s3cr3t' })).toBeInstanceOf(Function);
    expect(http({ ...good, baseUrl: 'http://[::1]:8080/sms/' })).toBeInstanceOf(Function);
  });
});
