import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { COMMAND_STATUS } from '@dundun/smpp';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { Smsc } from '../../support/smpp/smsc.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

describe('a gateway whose SMSC refuses the bind', () => {
  let directory: string;
  let smsc: Smsc;
  let gateway: TestGateway;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-smpp-carrier-'));
    smsc = await Smsc.start();
    smsc.bindStatus = COMMAND_STATUS.ESME_RBINDFAIL;
    smsc.delivers = true;
    gateway = await new TestGateway({ CARRIER: 'smpp', SMPP_URL: smsc.url }).start();
  });
  afterAll(async () => {
    await gateway?.destroy();
    await smsc.stop();
    await rm(directory, { recursive: true });
  });

  it('stays ready as degraded, is named by `dundun carriers`, keeps the queue and sends it once the bind is accepted', async () => {
    const { apiToken: token } = await gateway.account();
    const body = { from: 'ACME', to: ['2348012345678', '2348012345679'], body: 'Hello' };
    const sent = await gateway.call('POST', '/ng/v1/sendsms', { token, body });
    expect(sent.status).toBe(200);
    const path = `/ng/v1/sms/${String(sent.body['reference_id'])}`;
    const counts = async () => (await gateway.call('GET', path, { token })).body['counts'];
    await eventually(async () => {
      const { status, body: health } = await gateway.call('GET', '/health/ready');
      expect([status, health]).toMatchObject([
        200,
        {
          status: 'degraded',
          details: { carriers: { status: 'degraded', paused: { bind_refused: 1 } } },
        },
      ]);
    });
    const settings = {
      CARRIER: 'smpp',
      SMPP_URL: smsc.url,
      DATABASE_URL: gateway.databaseUrl,
      NODE_ENV: 'test',
    };
    const shown = await commandLine(['carriers', '--json'], settings, directory);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      carriers: [{ carrier: 'smpp', reason: 'bind_refused' }],
    });
    expect(shown.stdout).not.toContain('secret');
    // Now and then one of them finds out whether the SMSC accepts a bind.
    await eventually(async () => expect(await counts()).toEqual({ queued: 2 }));
    expect(smsc.submitted).toEqual([]);
    smsc.bindStatus = COMMAND_STATUS.ESME_ROK;
    await eventually(async () => expect(await counts()).toEqual({ delivered: 2 }), 90_000);
    expect(smsc.texts).toEqual(['Hello', 'Hello']);
    await eventually(async () =>
      expect((await gateway.call('GET', '/health/ready')).body['status']).toBe('ok'),
    );
  });
});
