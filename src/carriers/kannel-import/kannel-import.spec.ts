import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { carriersOf } from './kannel-carriers.js';
import { readKannelFile } from './kannel-file.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dundun-kannel-import-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(directory, name), text);
  return join(directory, name);
}
const groupsOf = async (text: string) => readKannelFile(await write('kannel.conf', text));
const importOf = async (text: string) => carriersOf(await groupsOf(text));

/** An SMSC of SMPP with further lines. */
const smsc = (...lines: readonly string[]) =>
  ['group = smsc', 'smsc = smpp', 'host = smsc.example.com', 'port = 2775', ...lines, '', ''].join(
    '\n',
  );
const USER = ['smsc-username = tester', 'smsc-password = secret'];

describe('the lines of a Kannel configuration', () => {
  it('a group ends at an empty line, its name may stand anywhere in it, and a comment is no empty line', async () => {
    const groups = await groupsOf(
      'group = core\n#admin-port = 1\nadmin-port = 13000\n   \nsmsc-id=NEW\ngroup=smsc\nhost=10.0.0.1\n',
    );
    expect(groups.map(({ name, values }) => [name, Object.fromEntries(values)])).toEqual([
      ['core', { 'admin-port': '13000' }],
      ['smsc', { 'smsc-id': 'NEW', host: '10.0.0.1' }],
    ]);
    expect(groups.map(({ at }) => at.replace(directory, ''))).toEqual([
      '/kannel.conf:1',
      '/kannel.conf:5',
    ]);
  });

  it('quotes are left out of a value, and escaped ones stay', async () => {
    const [group] = await groupsOf('group = a\nb = "x y"\nc = "say \\"a\\\\b\\""\nd = e = f\n');
    expect(Object.fromEntries(group!.values)).toEqual({ b: 'x y', c: 'say "a\\b"', d: 'e = f' });
  });

  it('included files and folders take the place of their line', async () => {
    await mkdir(join(directory, 'conf.d'));
    await write('conf.d/b.conf', 'group = b\n');
    await write('conf.d/a.conf', 'group = a\n');
    await write('users.conf', 'group = users\n');
    const groups = await groupsOf('include = "users.conf"\n\ninclude = conf.d\n\ngroup = last\n');
    expect(groups.map(({ name }) => name)).toEqual(['users', 'a', 'b', 'last']);
  });

  it.each([
    ['host = x\n\n', /kannel\.conf:1: these lines have no `group/],
    ['group = smsc\npassword secret\n', /kannel\.conf:2: is no line of the form/],
    ['include = none.conf\n', /kannel\.conf:1: none\.conf cannot be read \(ENOENT\)/],
    ['include = kannel.conf\n', /kannel\.conf:1: includes itself; remove the line/],
  ])('%j is refused with file, line and remedy', async (text, message) => {
    const refused = groupsOf(text);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow('secret');
  });
});

describe('SMSCs of SMPP', () => {
  it('address, user, binds, window, rate, type and form of the ids become keys of the carrier', async () => {
    const { carriers, without } = await importOf(
      smsc(
        ...USER,
        'smsc-id = Operator A',
        'transceiver-mode = true',
        'instances = 2',
        'max-pending-submits = 20',
        'throughput = 50',
        'system-type = VMA',
        'msg-id-type = 0x01',
      ),
    );
    expect(carriers).toEqual({
      'operator-a': {
        type: 'smpp',
        url: 'smpp://tester:secret@smsc.example.com:2775',
        binds: 'trx:2',
        window: '20',
        rate_limit: '50/s',
        system_type: 'VMA',
        id_format: 'hex',
      },
    });
    expect(without).toEqual([]);
  });

  it.each([
    [['receive-port = 2775'], { binds: 'tx:1,rx:1' }],
    [['receive-port = 0'], { binds: 'tx:1' }],
    [[], { binds: 'tx:1' }],
    [['use-ssl = yes'], { url: 'smpps://tester:secret@smsc.example.com:2775' }],
    [['throughput = 0.5'], { rate_limit: '1800/h' }],
    [['msg-id-type = 0x02'], { id_format: 'decimal' }],
    [['msg-id-type = 0x03'], { id_format: 'text' }],
  ])('%j is %j', async (lines, keys) => {
    const { carriers } = await importOf(smsc(...USER, ...lines));
    expect(carriers['smpp']).toMatchObject(keys);
  });

  it('characters of a user that an address cannot have are percent-encoded', async () => {
    const { carriers } = await importOf(smsc('smsc-username = a@b', 'smsc-password = ${x}/:'));
    expect(carriers['smpp']?.['url']).toBe('smpp://a%40b:%24%7Bx%7D%2F%3A@smsc.example.com:2775');
  });

  it('a group that only receives is a bind of the carrier that sends to the same SMSC', async () => {
    const receiver = smsc(...USER, 'smsc-id = a').replace('port =', 'receive-port =');
    const { carriers, without } = await importOf(smsc(...USER, 'smsc-id = a') + receiver);
    expect(Object.keys(carriers)).toEqual(['a']);
    expect(carriers['a']).toMatchObject({ binds: 'tx:1,rx:1' });
    expect(without).toEqual([]);
  });

  it('two groups with one smsc-id are two carriers, whose names differ', async () => {
    const { carriers } = await importOf(
      smsc(...USER, 'smsc-id = A') + smsc(...USER, 'smsc-id = a'),
    );
    expect(Object.keys(carriers)).toEqual(['a', 'a-2']);
  });

  it('an SMSC that the type refuses is left out, with the rule and without its secret', async () => {
    const long = smsc('smsc-username = tester', 'smsc-password = nine-char');
    const { carriers, without, leftOut } = await importOf(long + smsc(...USER, 'smsc-id = b'));
    expect([Object.keys(carriers), leftOut]).toEqual([['b'], 1]);
    expect(without[0]).toMatchObject({
      what: 'smsc smpp: no carrier is made of it',
      remedy: expect.stringMatching(/^url must have a password of at most 8/),
    });
    expect(JSON.stringify(without)).not.toContain('nine-char');
  });

  it('receipts at another port, and other protocols, are left out with what to ask for', async () => {
    const { leftOut, without } = await importOf(
      smsc(...USER, 'receive-port = 2776') +
        'group = smsc\nsmsc = cimd2\nhost = x\n\ngroup = smsc\nsmsc = at\n',
    );
    expect(leftOut).toBe(3);
    expect(without.map(({ remedy }) => remedy)).toEqual([
      expect.stringContaining('ask the operator for transceivers'),
      expect.stringContaining('ask the operator for SMPP'),
      expect.stringContaining('a modem is no carrier'),
    ]);
  });
});

describe('other kinds of SMSC', () => {
  it('another Kannel is a carrier of the type kannel, with a secret for its reports', async () => {
    const { carriers, without } = await importOf(
      'group = smsc\nsmsc = http\nsmsc-id = relay\nsystem-type = kannel\nsend-url = "http://10.0.0.2:13013/cgi-bin/sendsms"\nsmsc-username = u\nsmsc-password = p-of-the-relay\n',
    );
    expect(carriers['relay']).toEqual({
      type: 'kannel',
      url: 'http://10.0.0.2:13013/cgi-bin/sendsms',
      username: 'u',
      password: 'p-of-the-relay',
      callback_url: '${PUBLIC_URL}',
      callback_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(without).toMatchObject([{ remedy: expect.stringContaining('set PUBLIC_URL') }]);
  });

  it.each([
    ['its username', 'smsc-username = u${PATH}\nsmsc-password = p'],
    ['its password', 'smsc-username = u\nsmsc-password = p${PATH}'],
    ['its url', 'smsc-username = u\nsmsc-password = p\nsend-url = "http://x/${PATH}"'],
  ])('%s with ${ is left out: it would become a variable of the gateway', async (what, lines) => {
    const url = lines.includes('send-url') ? '' : 'send-url = "http://x"\n';
    const { carriers, without } = await importOf(
      `group = smsc\nsmsc = http\nsystem-type = kannel\n${url}${lines}\n`,
    );
    expect(carriers).toEqual({});
    expect(without[0]?.remedy).toMatch(new RegExp(`^${what} has \\$\\{`));
  });

  it.each([
    ['its system_type', 'system-type = ${PATH}'],
    ['its url', 'host = ${PATH}'],
  ])('%s of an SMSC of SMPP with ${ is left out, too', async (what, line) => {
    const { carriers, without } = await importOf(smsc(...USER, line));
    expect(carriers).toEqual({});
    expect(without[0]?.remedy).toMatch(new RegExp(`^${what} has \\$\\{`));
  });

  it('fakesmsc is the simulator, and an API of HTTP is left out with its remedy', async () => {
    const { carriers, without } = await importOf(
      'group = smsc\nsmsc = fake\nport = 10000\nconnect-allow-ip = 127.0.0.1\n\ngroup = smsc\nsmsc = http\nsystem-type = generic\nsend-url = "http://x"\n',
    );
    expect(carriers).toEqual({ fake: { type: 'simulator' } });
    expect(without).toMatchObject([
      { remedy: expect.stringContaining('type of carrier of the provider') },
    ]);
  });
});

describe('routes', () => {
  const named = (name: string, ...lines: readonly string[]) =>
    smsc(...USER, `smsc-id = ${name}`, ...lines);

  it('a rule for each prefix has the SMSCs that Kannel would choose from, preferred ones first', async () => {
    const { routes } = await importOf(
      named('a', 'allowed-prefix = "+234;00233"') +
        named('b') +
        named('c', 'preferred-prefix = 2348', 'denied-prefix = 233'),
    );
    expect(routes).toEqual([
      { channel: 'sms', to: ['2348'], use: { failover: ['c', 'a', 'b'] } },
      { channel: 'sms', to: ['233'], use: { failover: ['a', 'b'] } },
      { channel: 'sms', to: ['234'], use: { failover: ['a', 'b', 'c'] } },
      { channel: 'sms', use: { failover: ['b', 'c'] } },
    ]);
  });

  it('with both lists, a number is refused that is denied and not allowed', async () => {
    const { routes } = await importOf(
      named('a', 'allowed-prefix = 2348', 'denied-prefix = 234') + named('b'),
    );
    expect(routes).toEqual([
      { channel: 'sms', to: ['2348'], use: { failover: ['a', 'b'] } },
      { channel: 'sms', to: ['234'], use: 'b' },
      { channel: 'sms', use: { failover: ['a', 'b'] } },
    ]);
  });

  it('beginnings with the same SMSCs share a rule, and one with national ones alone gets no other number', async () => {
    const { routes, without } = await importOf(
      named('a', 'allowed-prefix = "23480;23481"') + named('b', 'allowed-prefix = 070'),
    );
    expect(routes).toEqual([{ channel: 'sms', to: ['23480', '23481'], use: 'a' }]);
    expect(without).toMatchObject([{ what: 'smsc b: a prefix without country code' }]);
  });

  it('numbers that no SMSC takes, national prefixes and shared load are told', async () => {
    const { routes, without } = await importOf(named('a', 'denied-prefix = "44;070"'));
    expect(routes).toEqual([{ channel: 'sms', use: 'a' }]);
    expect(without.map(({ what }) => what)).toEqual([
      'smsc a: denied-prefix',
      'smsc a: a prefix without country code',
    ]);
    const shared = await importOf(named('a') + named('b'));
    expect(shared.without).toMatchObject([{ remedy: expect.stringContaining('weighted') }]);
  });
});

describe('what has no counterpart', () => {
  it('every line of every group is a key, a rule, or named with its remedy, without its value', async () => {
    const { without } = await importOf(
      [
        'group = core\nadmin-port = 13000\nadmin-password = bar-secret\nlog-file = "/var/log/x"\nstore-file = x\nunified-prefix = "+234,0"\nbox-deny-ip = "*.*.*.*"\n',
        smsc(
          ...USER,
          'smsc-id = a',
          'enquire-link-interval = 30',
          'source-addr-ton = 5',
          'allowed-smsc-id = a',
          'alt-charset = UTF-8',
          'never-heard-of = 1',
        ),
        'group = smsbox\nbearerbox-host = localhost\nsendsms-port = 13013\nglobal-sender = 12345\n',
        'group = sendsms-user\nusername = shop\npassword = user-secret\nforced-smsc = a\nmax-messages = 10\n',
        'group = sms-service\nkeyword = default\nget-url = "http://app/sms?key=service-secret"\n',
        'group = smpp-tlv\nname = PE_ID\ntag = 0x1400\n',
        'group = mysql-connection\nid = dlr\npassword = mysql-secret\n',
      ].join('\n'),
    );
    const told = without.map(({ what }) => what);
    for (const one of [
      'core: admin-port, admin-password',
      'core: unified-prefix',
      'smsc a: allowed-smsc-id',
      'smsc a: never-heard-of',
      'smsbox: global-sender',
      'sendsms-user: username, password',
      'sendsms-user: forced-smsc',
      'sms-service: the group',
      'smpp-tlv: the group',
      'mysql-connection: the group',
    ])
      expect(told).toContain(one);
    expect(without.every(({ remedy }) => remedy.length > 0)).toBe(true);
    expect(JSON.stringify(without)).not.toMatch(/secret/);
  });
});
