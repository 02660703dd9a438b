import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { RecordingServer } from '../../../../../test/support/recording-server.js';
import { HTTP_WAYS } from '../../../../../test/support/transport-context.js';
import { HttpClient } from './http-client.js';
import { type FileAccess, openFile } from './provider-files.js';

const BASE = 'https://eu.api.example.com';
const ACCESS: FileAccess = {
  name: 'acme',
  baseUrl: BASE,
  path: /^\/media\/\w+$/,
  own: ['api.example.com'],
  open: ['*.storage.example.com', 'cdn.example.com'],
  credential: { authorization: 'Bearer secret-of-acme' },
};
const SIGNED = 'https://eu.storage.example.com/bucket/a?sig=x&exp=1';

/** What a host answers to a request: a status, or an address to go on at. */
type Script = Readonly<Record<string, number | string>>;

describe.each(HTTP_WAYS)('files of a provider, %s', (_way, http) => {
  /** Stands in for every host of the internet. */
  let internet: RecordingServer;
  let client: HttpClient;
  let script: Script;
  beforeEach(async () => {
    script = {};
    internet = new RecordingServer(({ headers }, response) => {
      const next = script[String(headers['x-asked'])] ?? 404;
      if (typeof next === 'string') response.writeHead(307, { location: next }).end();
      else response.writeHead(next, { 'content-type': 'image/png' }).end('bytes');
    });
    await internet.listen();
    client = new HttpClient(http(), BASE, 4);
  });
  afterEach(async () => {
    await client.close();
    await internet.close();
  });

  /** The client asks the one server, whatever the host. */
  const atInternet: Pick<HttpClient, 'open'> = {
    open: (url, headers, signal) => {
      const at = new URL(url.pathname + url.search, internet.url);
      return client.open(at, { ...headers, 'x-asked': url.href }, signal);
    },
  };
  const open = (address: string, access: Partial<FileAccess> = {}) =>
    openFile(atInternet, address, { ...ACCESS, ...access }, new AbortController().signal);
  const refused = (address: string) => open(address).catch((error: unknown) => error);
  const asked = () =>
    internet.requests.map(({ headers }) => [headers['x-asked'], headers.authorization]);

  it('hosts of the API get the credential, and storage does not', async () => {
    const own = 'https://api.example.com/media/a';
    script = { [`${BASE}/media/a`]: own, [own]: SIGNED, [SIGNED]: 200 };
    const { stream, contentType, size } = await open(`${BASE}/media/a`);
    expect([await text(stream), contentType]).toEqual(['bytes', 'image/png']);
    expect(size === null || size === 5).toBe(true);
    expect(asked()).toEqual([
      [`${BASE}/media/a`, 'Bearer secret-of-acme'],
      [own, 'Bearer secret-of-acme'],
      [SIGNED, undefined],
    ]);
  });

  it('a relative redirect is of the same host, and of its files', async () => {
    script = {
      [`${BASE}/media/a`]: 'b',
      [`${BASE}/media/b`]: '/account',
      [`${BASE}/account`]: 200,
    };
    expect(await refused(`${BASE}/media/a`)).toMatchObject({ code: 'unsupported' });
    expect(asked().map(([address]) => address)).toEqual([`${BASE}/media/a`, `${BASE}/media/b`]);
  });

  it.each([
    'http://api.example.com/media/a',
    'https://api.example.com:8443/media/a',
    'https://user@api.example.com/media/a',
    'https://api.example.com/account',
    'https://api.example.com/media/a/b',
    'https://other.example.com/media/a',
    'https://api.example.com.evil.test/media/a',
    'https://evilstorage.example.com/a',
    'https://storage.example.com/a',
    'https://169.254.169.254/media/a',
    'https://[::1]/media/a',
  ])('%s is not called, and neither as a redirect', async (address) => {
    const unsupported = { name: 'InboundMediaError', code: 'unsupported' };
    expect(await refused(address)).toMatchObject(unsupported);
    expect(asked()).toEqual([]);
    script = { [`${BASE}/media/a`]: address };
    expect(await refused(`${BASE}/media/a`)).toMatchObject(unsupported);
    expect(asked()).toHaveLength(1);
  });

  it('three redirects are followed', async () => {
    const at = (n: number) => `https://cdn.example.com/${n}`;
    script = { [at(0)]: at(1), [at(1)]: at(2), [at(2)]: at(3), [at(3)]: at(4), [at(4)]: 200 };
    expect(await text((await open(at(1))).stream)).toBe('bytes');
    expect(await refused(at(0))).toMatchObject({ code: 'unavailable' });
  });

  it.each([
    [404, 'media_expired', 'media_expired'],
    [410, 'media_expired', 'media_expired'],
    [401, 'unavailable', 'unavailable'],
    [403, 'unavailable', 'media_expired'],
    [413, 'media_too_large', 'media_too_large'],
    [429, 'unavailable', 'unavailable'],
    [500, 'unavailable', 'unavailable'],
    [304, 'unavailable', 'unavailable'],
  ])('%d is %s at the API, and %s at storage', async (status, atApi, atStorage) => {
    script = { [`${BASE}/media/a`]: status, [SIGNED]: status };
    const errors = [await refused(`${BASE}/media/a`), await refused(SIGNED)];
    expect(errors).toMatchObject([{ code: atApi }, { code: atStorage }]);
    expect(errors.map(String).join()).not.toMatch(/secret|sig=/);
  });

  it('a host that does not answer is unavailable, in words without the address', async () => {
    internet.answer((_request, response) => void response.socket?.destroy());
    const error = await refused(SIGNED);
    expect(error).toMatchObject({ name: 'InboundMediaError', code: 'unavailable' });
    expect(String(error)).not.toMatch(/storage\.example|sig=/);
  });
});
