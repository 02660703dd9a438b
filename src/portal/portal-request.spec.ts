import { describe, expect, it } from '@jest/globals';
import type { HttpRequest } from '../http/http-message.js';
import { cookieOf, cookieValueOf, isOwnHost, isSameOrigin } from './portal-request.js';

const DEVELOPMENT = { NODE_ENV: 'development', PUBLIC_URL: 'http://localhost:3000' } as const;
const PRODUCTION = { NODE_ENV: 'production', PUBLIC_URL: 'https://sms.example.com' } as const;
const TOKEN = 'A'.repeat(43);

function requestWith(headers: Record<string, string>): HttpRequest {
  return { headers } as unknown as HttpRequest;
}

describe('isOwnHost', () => {
  it.each([
    'sms.example.com',
    'SMS.example.com',
    'sms.example.com:443',
    'localhost',
    'localhost:8080',
    '127.0.0.1:3000',
    '[::1]:3000',
  ])('%s is a host of the portal at https://sms.example.com', (host) => {
    expect(isOwnHost(host, PRODUCTION)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'evil.example',
    'sms.example.com.evil.example',
    'sms.example.com:8443',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'user@localhost',
    'localhost/path',
    'a b',
  ])('%s is no host of the portal', (host) => {
    expect(isOwnHost(host, PRODUCTION)).toBe(false);
  });
});

describe('isSameOrigin', () => {
  const host = 'sms.example.com';

  it.each([
    { 'sec-fetch-site': 'same-origin' },
    { origin: 'https://sms.example.com' },
    { origin: 'https://sms.example.com', 'sec-fetch-site': 'same-origin' },
  ])('the request headers %j are of the portal', (headers) => {
    expect(isSameOrigin(requestWith({ host, ...headers } as never), PRODUCTION)).toBe(true);
  });

  it.each([
    {},
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { origin: 'https://sms.example.com', 'sec-fetch-site': 'cross-site' },
  ])('the request headers %j are not of the portal', (headers) => {
    expect(isSameOrigin(requestWith({ host, ...headers } as never), PRODUCTION)).toBe(false);
  });
});

describe('the session cookie', () => {
  it('in production it is a __Host- cookie with Secure, also on a loopback address', () => {
    for (const host of ['sms.example.com', 'localhost:3000'])
      expect(cookieOf('session', TOKEN, requestWith({ host }), PRODUCTION)).toBe(
        `__Host-dundun=${TOKEN}; Path=/; HttpOnly; SameSite=Strict; Secure`,
      );
  });

  it('outside production it has Secure only where PUBLIC_URL has TLS', () => {
    const plain = `dundun=${TOKEN}; Path=/; HttpOnly; SameSite=Strict`;
    expect(cookieOf('session', TOKEN, requestWith({ host: 'localhost:3000' }), DEVELOPMENT)).toBe(
      plain,
    );
    const staging = { ...PRODUCTION, NODE_ENV: 'test' } as const;
    expect(cookieOf('session', TOKEN, requestWith({ host: 'localhost:3000' }), staging)).toBe(
      plain,
    );
    expect(cookieOf('session', TOKEN, requestWith({ host: 'sms.example.com' }), staging)).toContain(
      '; Secure',
    );
  });

  it('the session cookie is read under its own name alone, and only in its own form', () => {
    const read = (cookie: string, settings: typeof PRODUCTION | typeof DEVELOPMENT) =>
      cookieValueOf('session', requestWith({ host: 'localhost', cookie }), settings);
    expect(read(`a=b; __Host-dundun=${TOKEN}; c=d`, PRODUCTION)).toBe(TOKEN);
    expect(read(`dundun=${TOKEN}`, DEVELOPMENT)).toBe(TOKEN);
    expect(read(`dundun=${TOKEN}`, PRODUCTION)).toBeUndefined();
    expect(read(`xdundun=${TOKEN}`, DEVELOPMENT)).toBeUndefined();
    expect(read('dundun=short', DEVELOPMENT)).toBeUndefined();
    expect(read(`dundun=${TOKEN}'--`, DEVELOPMENT)).toBeUndefined();
  });
});
