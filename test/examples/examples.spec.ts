import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'node:util';
import * as campaign from '../../examples/campaign/main.js';
import * as fallback from '../../examples/fallback/main.js';
import * as firstMessage from '../../examples/first-message/main.js';
import * as manyProcesses from '../../examples/many-processes/main.js';
import * as oneTimeCodes from '../../examples/one-time-codes/main.js';
import * as ownPolicy from '../../examples/own-policy/main.js';
import * as ownTransport from '../../examples/own-transport/main.js';
import * as prepaidCredits from '../../examples/prepaid-credits/main.js';
import * as transactionalOutbox from '../../examples/transactional-outbox/main.js';
import * as whatsAppConversation from '../../examples/whatsapp-conversation/main.js';
import { describeWithServer } from '../support/servers.js';

/** Runs an example and returns the lines that it printed. */
async function printed({ main }: { main(): Promise<void> }): Promise<string[]> {
  const lines: string[] = [];
  const log = jest
    .spyOn(console, 'log')
    .mockImplementation((...values) => void lines.push(format(...(values as [unknown]))));
  try {
    await main();
  } finally {
    log.mockRestore();
  }
  return lines;
}

let directory: string;
beforeEach(async () => {
  // Nest ends the process where an app does not boot.
  jest.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('the app did not boot');
  });
  directory = await mkdtemp(join(tmpdir(), 'dundun-examples-'));
  // The examples make their databases in it.
  process.env['TMPDIR'] = directory;
});
afterEach(async () => {
  jest.restoreAllMocks();
  delete process.env['TMPDIR'];
  await rm(directory, { recursive: true });
});

describe('the example', () => {
  it('first-message sends one message and hears that it is delivered', async () => {
    expect(await printed(firstMessage)).toEqual([
      'accepted for 1 recipient',
      '2348012345678 is sent',
      '2348012345678 is delivered',
      'counts { delivered: 1 }',
    ]);
  });

  it('transactional-outbox sends the message of the order that committed, and no other', async () => {
    expect(await printed(transactionalOutbox)).toEqual([
      'rolled back: the drum is sold out',
      expect.stringMatching(/^committed: order \d+$/),
      '2348012345678 is sent',
      '2348012345678 is delivered',
      'orders: 1',
      'messages: 2348012345678',
    ]);
  });

  it('whatsapp-conversation sends a free text only after the customer wrote', async () => {
    const lines = await printed(whatsAppConversation);
    expect(lines.slice(0, 2)).toEqual(['refused: opt_in_required', 'refused: window_closed']);
    expect(lines).toContain('the template is a utility message');
    const written = lines.findIndex((line) => line.startsWith('2348012349910 writes: '));
    expect(written).toBeGreaterThan(1);
    expect(lines.slice(written)).toContain('2348012349910 is read');
  });

  it('one-time-codes delivers a code before a newsletter and takes it once', async () => {
    expect(await printed(oneTimeCodes)).toEqual([
      expect.stringMatching(/^the code arrived before [1-9]\d* messages of the newsletter$/),
      'wrong code: pending',
      'right code: verified',
      'the same code again: expired',
    ]);
  });

  it('campaign prices each text, sends the first wave and cancels the second', async () => {
    const lines = await printed(campaign);
    expect(lines.slice(0, 3)).toEqual([
      '2348012345671: 1 part, GSM-7',
      '2348012345672: 1 part, UCS-2',
      'price: 0.0250 USD',
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([
        'drum-sale first: 2348012345672 is delivered',
        'drum-sale second: 2348012345673 is cancelled',
        'drum-sale second: 2348012345674 is cancelled',
        'cancelled: 2 messages of 1 batch',
      ]),
    );
    expect(lines.at(-1)).toBe('first wave: { delivered: 2 }');
  });

  it('fallback sends an SMS at once where WhatsApp is denied, and later where it is silent', async () => {
    expect(await printed(fallback)).toEqual([
      '2348012345671: delivered (whatsapp denied, sms delivered)',
      '2348012345672: delivered (whatsapp sent, sms delivered)',
    ]);
  });

  it('own-transport sends through Acme and takes its report and its refusal', async () => {
    const lines = await printed(ownTransport);
    expect(lines).toContain('2348012345678 is delivered');
    expect(lines).toContain('2348012345670 is rejected (number_blocked)');
  });

  it('prepaid-credits refuses a send without credits, and gives those of a rejected message back', async () => {
    expect(await printed(prepaidCredits)).toEqual([
      'credits: 1',
      '2348012349903 is rejected',
      'credits: 2',
      '2348012345678 is sent',
      '2348012345678 is delivered',
      'credits: 0',
      'insufficient_balance: The message needs 1 credits; buy more first',
    ]);
  });

  it('own-policy rejects the recipient who is excluded', async () => {
    const lines = await printed(ownPolicy);
    expect(lines).toContain('2348012345670 is rejected (self_excluded)');
    expect(lines.slice(-2)).toEqual([
      'counts { rejected: 1, delivered: 1 }',
      'refused: self_excluded',
    ]);
  });
});

describeWithServer('redis', 'the example', (redis) => {
  it('many-processes accepts in one process and sends in others', async () => {
    process.env['REDIS_URL'] = redis;
    const lines = await printed(manyProcesses);
    expect(lines).toContain('web: accepted 2 messages');
    expect(lines).toContain('worker: 2348012345671 of north is delivered');
    expect(lines).toContain('worker: 2348012345672 of south is delivered');
    expect(lines).toContain('web: the message of south is delivered');
  });
});
