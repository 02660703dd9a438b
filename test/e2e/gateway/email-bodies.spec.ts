import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient, post } from '../../attack/raw-client.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const MESSAGES = '/email/ng/v1/messages';
const BATCH = '/email/ng/v1/messages/batch';
const MIB = 1_048_576;
const TEXT = {
  from: 'hello@demo.test',
  to: ['ada@example.com'],
  subject: 'Hello',
  text: 'Hello',
  send_at: '2150-01-01T00:00:00Z',
};

describe('limits of the bodies of emails', () => {
  const gateway = new TestGateway();
  let key: string;
  beforeAll(async () => {
    await gateway.start();
    key = gateway.running.demo?.apiKey ?? '';
  });
  afterAll(() => gateway.destroy());

  /** The status for a header that announces so many bytes, of which none are sent. */
  async function announced(
    path: string,
    bytes: number,
    token: string,
  ): Promise<number | undefined> {
    const client = await RawClient.connect(gateway.url);
    try {
      await client.write(post(path, '', token, bytes));
      await eventually(async () => expect(client.statuses).toHaveLength(1));
      return client.statuses[0];
    } finally {
      client.destroy();
    }
  }

  it.each([
    [MESSAGES, 36 * MIB],
    [BATCH, 40 * MIB],
  ])(
    '%s answers a caller without a valid credential before it sends %d bytes',
    async (path, most) => {
      const unknown = `svk_${'a'.repeat(49)}`;
      for (const token of ['', 'svk_x', unknown])
        expect(await announced(path, most, token)).toBe(401);
      expect(await announced(path, most + 1, key)).toBe(413);
    },
  );

  it('a batch of almost 40 MiB is accepted, and each other route takes 4 MiB', async () => {
    const attachment = {
      filename: 'a.bin',
      content_type: 'application/octet-stream',
      content: Buffer.alloc(9.9 * MIB, 1).toString('base64'),
    };
    const messages = Array.from({ length: 3 }, () => ({ ...TEXT, attachments: [attachment] }));
    const raw = JSON.stringify({ messages });
    expect(raw.length).toBeGreaterThan(39 * MIB);
    const taken = await gateway.call('POST', BATCH, { token: key, raw });
    expect([taken.status, taken.body['recipients_processed']]).toEqual([200, 3]);
    for (const path of ['contacts', 'suppressions/import', 'webhooks', 'domains'])
      expect([path, await announced(`/email/ng/v1/${path}`, 4 * MIB + 1, key)]).toEqual([
        path,
        413,
      ]);
  });
});
