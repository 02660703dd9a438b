import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { kannelConfiguration } from '../../support/kannel-configuration.js';
import { describeWithServer } from '../../support/servers.js';
import { Smsc } from '../../support/smpp/smsc.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dundun-import-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const importOf = (...args: readonly string[]) =>
  commandLine(['import', 'kannel', ...args], {}, directory);

interface Answer {
  readonly file: string;
  readonly carriers: readonly { readonly carrier: string; readonly type: string }[];
  readonly remedies: readonly { readonly what: string }[];
}

describe('a gateway with the import of a Kannel configuration', () => {
  let smsc: Smsc;
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    smsc = await Smsc.start();
    smsc.delivers = true;
  });
  afterEach(async () => {
    await gateway?.destroy();
    gateway = undefined;
  });
  afterAll(() => smsc.stop());

  const configuration = () => {
    const { port } = new URL(smsc.url.replace('smpp:', 'http:'));
    return `group = core\nadmin-port = 13000\nadmin-password = core-secret\n
group = smsc\nsmsc = smpp\nsmsc-id = OPERATOR\nhost = 127.0.0.1\nport = ${port}\nreceive-port = ${port}
smsc-username = tester\nsmsc-password = secret\nmax-pending-submits = 7\nallowed-prefix = 234\n
group = smsc\nsmsc = fake\nsmsc-id = FAKE\nport = 10000\n`;
  };

  it('binds to its SMSC with the window of the file, and sends by its prefixes', async () => {
    await writeFile(join(directory, 'kannel.conf'), configuration());
    const { code, stdout, stderr } = await importOf('kannel.conf', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const answer = JSON.parse(stdout) as Answer;
    expect(answer).toMatchObject({
      file: 'carriers.yaml',
      carriers: [
        { carrier: 'operator', type: 'smpp' },
        { carrier: 'fake', type: 'simulator' },
      ],
    });
    expect(stdout).not.toContain('secret');
    const file = join(directory, 'carriers.yaml');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toMatch(/^ {4}window: '7'$/m);
    gateway = await new TestGateway({ CARRIERS_FILE: file }).start();
    const { apiToken: token } = await gateway.account();
    const body = { from: 'ACME', to: ['2348012345678', '447700900123'], body: 'Hello' };
    const sent = await gateway.call('POST', '/ng/v1/sendsms', { token, body });
    const path = `/ng/v1/sms/${String(sent.body['reference_id'])}`;
    await eventually(async () =>
      expect((await gateway!.call('GET', path, { token })).body['counts']).toEqual({
        delivered: 2,
      }),
    );
    expect(smsc.submitted.map(({ pdu }) => pdu.destination.address)).toEqual(['2348012345678']);
    expect(smsc.sessions.map(({ mode }) => mode).toSorted()).toEqual(['receiver', 'transmitter']);
  });

  it('an existing file, and a configuration without an SMSC, are refused and change nothing', async () => {
    await writeFile(join(directory, 'kannel.conf'), configuration());
    await writeFile(join(directory, 'mine.yaml'), 'mine');
    const refused = await importOf('kannel.conf', '--to', 'mine.yaml');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toBe('to: mine.yaml exists; name another file, or remove it\n');
    expect(await readFile(join(directory, 'mine.yaml'), 'utf8')).toBe('mine');
    await writeFile(join(directory, 'kannel.conf'), 'group = core\nadmin-port = 13000\n');
    const none = await importOf('kannel.conf');
    expect([none.code, none.stderr]).toEqual([
      1,
      'file: has 1 groups and none of them is an SMSC (`group = smsc`); name the file of bearerbox\n',
    ]);
    await expect(stat(join(directory, 'carriers.yaml'))).rejects.toThrow('ENOENT');
  });

  it('an SMSC that is left out ends the command with 1, and the file has the others', async () => {
    const text = `${configuration()}\ngroup = smsc\nsmsc = emi2\nsmsc-id = OLD\nhost = x\n`;
    await writeFile(join(directory, 'kannel.conf'), text);
    const { code, stdout } = await importOf('kannel.conf');
    expect(code).toBe(1);
    expect(stdout).toMatch(/smsc old: no carrier is made of it +.*ask the operator for SMPP/);
    expect(await readFile(join(directory, 'carriers.yaml'), 'utf8')).toMatch(/^ {2}operator:$/m);
  });
});

describeWithServer('kannel', 'configurations that Kannel itself reads', () => {
  it('two groups of one SMSC, of which one only receives, are a carrier with both binds', async () => {
    const { stdout } = await importOf('/usr/lib/kannel/test/drive_smpp.conf', '--json');
    const { carriers } = JSON.parse(stdout) as Answer;
    expect(carriers).toEqual([{ carrier: 'smpp', type: 'smpp' }]);
    expect(await readFile(join(directory, 'carriers.yaml'), 'utf8')).toContain('binds: tx:1,rx:1');
  });

  it.each(['/usr/share/doc/kannel/examples/kannel.conf', '/etc/kannel/kannel.conf'])(
    '%s has no SMSC, and is refused',
    async (path) => {
      const { code, stderr } = await importOf(path);
      expect([code, stderr]).toEqual([1, expect.stringContaining('none of them is an SMSC')]);
    },
  );

  it.each([true, false])('that of the suite of Kannel is read, with SMPP: %j', async (isSmpp) => {
    const ports = { admin: 1, boxes: 2, sendsms: 3, network: 4 };
    const place = { directory, ports, username: 'u', password: 'p-secret', log: true, isSmpp };
    await writeFile(join(directory, 'kannel.conf'), kannelConfiguration(place));
    const { code, stdout } = await importOf('kannel.conf', '--json');
    expect(code).toBe(0);
    expect(stdout).not.toContain('p-secret');
    expect((JSON.parse(stdout) as Answer).carriers).toEqual([
      { carrier: 'fake', type: isSmpp ? 'smpp' : 'simulator' },
    ]);
  });
});
