import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { TestGateway } from '../../e2e/gateway/test-gateway.js';
import { eventually } from '../../support/eventually.js';
import { describeWithServer } from '../../support/servers.js';

// Each attack lasts for several seconds.
jest.setTimeout(120_000);

const CONNECTIONS = 200;
const SECONDS = 12;

/** Its three attacks, each on all the connections it may open. */
const ATTACKS = {
  'slow headers': ['-H', '-i', '2'],
  'slow bodies': ['-B', '-i', '2', '-s', '8192', '-f', 'application/json'],
  'slow reading': ['-X', '-w', '10', '-y', '20', '-n', '2', '-z', '5', '-k', '10'],
};

describeWithServer('slowhttptest', 'a gateway under slow attacks', () => {
  const gateway = new TestGateway({ REQUEST_TIMEOUT: '2s' });
  let account: CreatedAccount;
  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  async function attack(flags: readonly string[]): Promise<string> {
    const url = `${gateway.url}/ng/v1/sendsms`;
    const shape = ['-c', String(CONNECTIONS), '-r', '100', '-l', String(SECONDS), '-p', '5'];
    const child = spawn('/usr/bin/slowhttptest', [...flags, ...shape, '-u', url, '-v', '1'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(child, 'close');
    return output;
  }

  it("the gateway serves other clients during slow attacks and keeps no attacker's connection", async () => {
    // The probe connects before the attackers: a new connection may be too slow on a stalled machine.
    await eventually(async () =>
      expect((await gateway.call('GET', '/health/live')).status).toBe(200),
    );
    let attacking = true;
    const attacks = Promise.all(Object.values(ATTACKS).map(attack)).finally(() => {
      attacking = false;
    });
    let most = 0;
    let served = 0;
    while (attacking) {
      const sent = await gateway.call('POST', '/ng/v1/sendsms', {
        token: account.apiToken,
        body: { from: 'ACME', to: ['2348012345678'], body: 'Hello' },
      });
      expect(sent.status).toBe(200);
      served++;
      most = Math.max(most, await gateway.connections());
    }
    const outputs = await attacks;
    // The attackers connected, but never all of them at once.
    expect(most).toBeGreaterThan(20);
    expect(served).toBeGreaterThan(10);
    for (const output of outputs) expect(output).toMatch(/service available:?\s*YES|closed/i);
    await eventually(async () => expect(await gateway.connections()).toBeLessThan(20));
  });
});
