import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, type buildConnector, request } from 'undici';
import {
  checkWebhookUrl,
  guardedConnector,
  guardedLookup,
  isPublicAddress,
  literalAddress,
  originOf,
} from './webhook-address.js';

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '1.1.1.1', '196.216.2.1', '2600:1901::1', '2a00:1450:4009::1'])(
    '%s is a public address',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback net', '127.8.9.1'],
    ['private 10/8', '10.1.2.3'],
    ['private 172.16/12', '172.31.255.255'],
    ['private 192.168/16', '192.168.0.1'],
    ['link-local, cloud metadata', '169.254.169.254'],
    ['the host of Azure', '168.63.129.16'],
    ['shared address space', '100.64.0.1'],
    ['this network', '0.0.0.0'],
    ['this network, any host', '0.1.2.3'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['protocol assignments', '192.0.0.8'],
    ['documentation', '203.0.113.5'],
    ['benchmarking', '198.18.0.1'],
    ['IPv6 loopback', '::1'],
    ['IPv6 unspecified', '::'],
    ['unique local', 'fd00:ec2::254'],
    ['IPv6 link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['global with a zone', '2600:1901::1%lo'],
    ['site-local', 'fec0::1'],
    ['IPv6 multicast', 'ff02::1'],
    ['IPv4-mapped', '::ffff:10.0.0.1'],
    ['IPv4-mapped, hexadecimal', '::ffff:7f00:1'],
    ['IPv4-mapped of a public one', '::ffff:8.8.8.8'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::a00:1'],
    ['6to4 of 127.0.0.1', '2002:7f00:1::1'],
    ['Teredo', '2001:0:7f00:1::1'],
    ['IPv6 documentation', '2001:db8::1'],
    ['segment routing', '5f00::1'],
    ['not an address', 'example.com'],
    ['octal spelling', '0177.0.0.1'],
  ])('%s is refused: %s', (_what, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('literalAddress', () => {
  it.each([
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f000001/', '127.0.0.1'],
    ['http://0177.0.0.1/', '127.0.0.1'],
    ['http://127.1/', '127.0.0.1'],
    ['http://0/', '0.0.0.0'],
    ['http://0xa83f8110/', '168.63.129.16'],
    ['http://①②⑦.0.0.1/', '127.0.0.1'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://[0:0:0:0:0:0:0:1]/', '::1'],
  ])('the literal address %s is read as %s', (url, address) => {
    expect(literalAddress(new URL(url).hostname)).toBe(address);
    expect(isPublicAddress(address)).toBe(false);
  });

  it('addresses with a zone are refused by the URL parser', () => {
    expect(URL.canParse('http://[fe80::1%25eth0]/')).toBe(false);
    expect(URL.canParse('http://[fe80::1%eth0]/')).toBe(false);
  });

  it('a name that looks like an address is no literal', () => {
    expect(literalAddress('127.0.0.1.example.com')).toBeUndefined();
  });
});

describe('guarded connections', () => {
  let server: Server;
  let port: number;
  let reached = 0;

  beforeAll(async () => {
    server = createServer((_request, response) => {
      reached++;
      response.end('inside');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const forbidden = { code: 'address_forbidden' };
  const through = async (connect: buildConnector.connector, url: string) => {
    const agent = new Agent({ connect });
    try {
      return await request(url, { dispatcher: agent });
    } finally {
      await agent.destroy();
    }
  };

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]'])(
    'a guarded connection never reaches %s',
    async (host) => {
      const before = reached;
      await expect(through(guardedConnector({}), `http://${host}:${port}/`)).rejects.toMatchObject(
        forbidden,
      );
      expect(reached).toBe(before);
    },
  );

  it('a name with one private address is refused', async () => {
    const resolve = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const before = reached;
    await expect(
      through(guardedConnector({}, resolve), `http://mixed.test:${port}/`),
    ).rejects.toMatchObject(forbidden);
    expect(reached).toBe(before);
  });

  it('a connection uses the checked address and a later look-up is checked again', async () => {
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.1'];
    const asked: string[] = [];
    const connect = guardedConnector(
      {},
      async (hostname) => {
        asked.push(hostname);
        return [{ address: answers[asked.length - 1]!, family: 4 }];
      },
      (address) => address === '127.0.0.1',
    );
    const before = reached;
    const url = `http://rebind.test:${port}/`;
    await expect(through(connect, url)).resolves.toMatchObject({ statusCode: 200 });
    expect(asked).toHaveLength(1);
    await expect(through(connect, url)).rejects.toMatchObject(forbidden);
    expect(asked).toHaveLength(2);
    expect(reached).toBe(before + 1);
  });

  it('the look-up answers one or all addresses', async () => {
    const found = [
      { address: '8.8.8.8', family: 4 },
      { address: '2600:1901::1', family: 6 },
    ];
    const lookup = guardedLookup(async () => found);
    const look = (options: { all?: boolean; family?: number }) =>
      new Promise((resolve, reject) =>
        lookup('both.test', options, (error, address) =>
          error ? reject(error) : resolve(address),
        ),
      );
    await expect(look({ all: true })).resolves.toEqual(found);
    await expect(look({ all: false })).resolves.toBe('8.8.8.8');
    await expect(look({ family: 6 })).resolves.toBe('2600:1901::1');
  });

  it('a name without addresses is not found', async () => {
    const connect = guardedConnector({}, async () => []);
    await expect(through(connect, `http://nobody.test:${port}/`)).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
  });
});

const ports = [
  [80, 80],
  [443, 443],
  [1_024, 65_535],
] as const;
const strict = { allowPrivate: false, requireHttps: true, ports };
const open = { allowPrivate: true, requireHttps: false, ports };

describe('webhook URL', () => {
  it.each([
    'https://example.com/sms?account=7',
    'https://[2600:1901::1]:8443/x',
    'https://münchen.example/',
    'https://example.com:443/',
    'https://example.com:80/',
    'https://example.com:1024/',
    'https://example.com:65535/',
  ])('takes %s', (url) => {
    expect(() => checkWebhookUrl(url, strict)).not.toThrow();
  });

  it.each([
    ['nothing', '', 'must be an address'],
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
    [
      'the port of SMTP',
      'https://example.com:25/',
      'must have one of the ports 80, 443, 1024-65535',
    ],
    ['port 0', 'https://example.com:0/', 'must have one of the ports'],
    ['the port below 1024', 'https://example.com:1023/', 'must have one of the ports'],
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
