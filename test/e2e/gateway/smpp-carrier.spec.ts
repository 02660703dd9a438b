import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { COMMAND_STATUS } from '@dundun/smpp';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PrivateRedis } from '../../chaos/private-redis.js';
import { eventually } from '../../support/eventually.js';
import { describeUnless } from '../../support/servers.js';
import { Smsc } from '../../support/smpp/smsc.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

function shareBind(engine: () => Promise<Readonly<Record<string, string>>>): void {
  let directory: string;
  let smsc: Smsc;
  let holder: TestGateway;
  let waiting: TestGateway;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-smpp-binds-'));
    smsc = await Smsc.start();
    smsc.delivers = true;
    const carrier = { CARRIER: 'smpp', SMPP_URL: smsc.url, SMPP_MAX_BINDS: '1', LEASE: '5s' };
    const settings = { ...carrier, ...(await engine()) };
    holder = await new TestGateway(settings).start();
    const { databaseUrl } = holder;
    waiting = await new TestGateway({ ...settings, DATABASE_URL: databaseUrl }).start();
  });
  afterAll(async () => {
    await waiting?.destroy();
    await holder?.destroy();
    await smsc.stop();
    await rm(directory, { recursive: true });
  });

  const readiness = async (gateway: TestGateway) => {
    const { status, body } = await gateway.call('GET', '/health/ready');
    return [status, body];
  };
  const carriersOf = (carriers: object) => [
    200,
    expect.objectContaining({ status: 'ok', details: expect.objectContaining({ carriers }) }),
  ];

  it('the gateway without the bind is ready as waiting, has its messages sent, and takes the bind over when the other stops', async () => {
    const { apiToken: token } = await holder.account();
    expect(await readiness(holder)).toEqual(carriersOf({ status: 'up', paused: {} }));
    const waits = carriersOf({ status: 'up', paused: {}, waiting: 'connections' });
    expect(await readiness(waiting)).toEqual(waits);
    const send = async (body: string): Promise<void> => {
      const content = { from: 'ACME', to: ['2348012345678'], body };
      const sent = await waiting.call('POST', '/ng/v1/sendsms', { token, body: content });
      const path = `/ng/v1/sms/${String(sent.body['reference_id'])}`;
      await eventually(async () =>
        expect((await waiting.call('GET', path, { token })).body['counts']).toEqual({
          delivered: 1,
        }),
      );
    };
    await send('of the holder');
    const settings = {
      CARRIER: 'smpp',
      SMPP_URL: smsc.url,
      SMPP_MAX_BINDS: '1',
      DATABASE_URL: holder.databaseUrl,
      NODE_ENV: 'test',
    };
    const shown = await commandLine(['carriers', '--json'], settings, directory);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      carriers: [{ carrier: 'smpp', health: 'up', reason: null, binds: '1 of 1' }],
    });
    await holder.stop();
    await eventually(async () =>
      expect(await readiness(waiting)).toEqual(carriersOf({ status: 'up', paused: {} })),
    );
    await send('of the other one');
    expect(smsc.texts).toEqual(['of the holder', 'of the other one']);
    expect(smsc.sessions).toHaveLength(1);
  });
}

describe('two gateways whose SMSC allows one bind', () => {
  shareBind(async () => ({}));
});

describeUnless(
  PrivateRedis.missing,
  'two gateways with BullMQ whose SMSC allows one bind on redis',
  () => {
    let redis: PrivateRedis;
    shareBind(async () => {
      redis = await PrivateRedis.start();
      return { ENGINE: 'bullmq', REDIS_URL: redis.url };
    });
    afterAll(() => redis.kill());
  },
);

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

  it('a gateway with a refused bind is ready as degraded, is shown by `dundun carriers`, and sends its queue once the bind is accepted', async () => {
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
