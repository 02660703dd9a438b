import { describe, expect, it } from '@jest/globals';
import { checkWebhookUrl, originOf } from './webhook-url.js';

const strict = { allowPrivate: false, requireHttps: true };
const open = { allowPrivate: true, requireHttps: false };

describe('webhook URL', () => {
  it.each([
    'https://example.com/sms?account=7',
    'https://[2600:1901::1]:8443/x',
    'https://münchen.example/',
  ])('takes %s', (url) => {
    expect(() => checkWebhookUrl(url, strict)).not.toThrow();
  });

  it.each([
    ['nothing', undefined, 'must be an address'],
    ['a number', 7, 'must be an address'],
    ['no URL', 'example.com/sms', 'must be a complete address'],
    ['a space', 'https://example.com/a b', 'must be a complete address'],
    ['a line break', 'https://example.com/\nx', 'must be a complete address'],
    ['a backslash', 'https://example.com\\@evil.example', 'must be a complete address'],
    ['another scheme', 'ftp://example.com/', 'must begin with https://'],
    ['a script', 'javascript:alert(1)', 'must begin with https://'],
    ['plain http', 'http://example.com/', 'must begin with https://'],
    ['a password', 'https://me:secret@example.com/', 'user name or password'],
    ['a fragment', 'https://example.com/#top', 'fragment'],
    ['an empty fragment', 'https://example.com/#', 'fragment'],
    ['too long', `https://example.com/${'a'.repeat(2_048)}`, 'at most 2048'],
    ['loopback', 'https://127.0.0.1/', 'public internet'],
    ['decimal loopback', 'https://2130706433/', 'public internet'],
    ['octal private', 'https://012.0.0.1/', 'public internet'],
    ['mapped loopback', 'https://[::ffff:127.0.0.1]/', 'public internet'],
    ['localhost', 'https://localhost:3000/', 'public internet'],
    ['localhost with a dot', 'https://LOCALHOST./', 'public internet'],
    ['below localhost', 'https://app.localhost/', 'public internet'],
    ['cloud metadata', 'https://169.254.169.254/latest', 'public internet'],
  ])('refuses %s', (_what, url, message) => {
    expect(() => checkWebhookUrl(url, strict)).toThrow(message);
  });

  it('in development takes http and loopback', () => {
    expect(() => checkWebhookUrl('http://127.0.0.1:4000/hook', open)).not.toThrow();
    expect(() => checkWebhookUrl('http://localhost:4000', open)).not.toThrow();
  });

  it('shows only the origin in logs', () => {
    expect(originOf('https://example.com:8443/path/with-secret?key=abc')).toBe(
      'https://example.com:8443',
    );
  });
});
