import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TestGateway } from '../../e2e/gateway/test-gateway.js';
import { eventually } from '../../support/eventually.js';
import { Kannel } from '../../support/kannel.js';
import { describeWithServer } from '../../support/servers.js';
import { freePort } from '../../support/free-port.js';

describeWithServer('kannel', 'the gateway with Kannel as its carrier', () => {
  let peer: Kannel;
  let gateway: TestGateway;
  let token: string;

  beforeAll(async () => {
    peer = await Kannel.start();
    const port = String(await freePort());
    gateway = await new TestGateway({
      PORT: port,
      CARRIER: 'kannel',
      KANNEL_URL: new URL(peer.url).origin,
      KANNEL_USERNAME: peer.username,
      KANNEL_PASSWORD: peer.password,
      KANNEL_CALLBACK_URL: `http://127.0.0.1:${port}/`,
      KANNEL_CALLBACK_SECRET: '6d1f0c5be2a94d4f9f0f8c7b1a2e3d4c',
    }).start();
    token = (await gateway.account()).apiToken;
  });
  afterAll(async () => {
    await gateway.destroy();
    await peer.stop();
  });

  it('a batch through Kannel is sent and every delivery reported', async () => {
    const to = ['2348012345678', '2348012345679', '2348012345680'];
    const sent = await gateway.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to, body: 'Hello', delivery_report: 'none' },
    });
    const path = `/ng/v1/sms/${String(sent.body['reference_id'])}`;
    await eventually(async () => {
      const { body } = await gateway.call('GET', path, { token });
      expect(body).toMatchObject({ status: 'completed', counts: { delivered: 3 } });
    });
    // bearerbox reports a message as soon as it has written it; the network may read it later.
    await eventually(async () =>
      expect((await peer.delivered()).map((message) => message.to).toSorted()).toEqual(to),
    );
  });

  it('neither password nor secret nor number is logged', () => {
    const log = gateway.log.join('');
    expect(log).not.toBe('');
    expect(log).not.toMatch(/kannel-pass|6d1f0c5b|23480123456|signature=/);
  });
});
