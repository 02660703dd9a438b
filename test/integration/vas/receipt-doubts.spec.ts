import { afterEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { VerificationService, weighted } from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import type { MessageTransport, Submission, SubmissionAccepted } from '@dundun/messaging/ports';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { ForwardClock } from '../dispatch/dispatch-fixture.js';
import { bootApp } from '../policy/policy-app.js';

const MINUTE = 60_000;

/** Accepts everything, and knows the codes that it got. */
class Carrier implements MessageTransport {
  readonly name = 'carrier';
  readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000 };
  readonly codes = new Map<string, string>();

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    const code = /\b\d{6}\b/.exec(JSON.stringify(submission.content))?.[0] ?? '';
    this.codes.set(submission.recipients[0] as string, code);
    return { reference: submission.id };
  }
}

describeEachDatabase('reports that a second witness contradicts', (database) => {
  let app: TestingModule | undefined;
  afterEach(() => app?.close());

  it('a carrier whose one-time codes are never checked is found, an honest one is not', async () => {
    const clock = new ForwardClock();
    const [a, b] = [new Carrier(), new Carrier()];
    app = await bootApp(
      database.options(),
      {
        providers: { a: () => a, b: () => b },
        routes: [{ channel: 'sms', use: weighted({ a: 50, b: 50 }) }],
        store: { outcomes: true },
      },
      { clock },
    );
    const codes = app.get(VerificationService);
    const history = app.get(MessageHistory);
    const since = new Date(clock.now());
    const started = await Promise.all(
      Array.from({ length: 240 }, async (_, n) => {
        // Networks of their own: a network has a limit of codes.
        const to = `23480${String(10 + (n % 80))}${String(100_000 + n)}`;
        return { to, ...(await codes.start({ to, channel: 'sms', from: 'ACME' })) };
      }),
    );
    await eventually(async () => expect(a.codes.size + b.codes.size).toBe(240));
    expect(Math.min(a.codes.size, b.codes.size)).toBeGreaterThan(80);
    for (const { id, to } of started) {
      const code = b.codes.get(to);
      if (code !== undefined) await codes.check(id, code);
    }
    // Codes that are still being typed say nothing.
    expect(await history.doubtfulReceipts({ since })).toEqual([]);
    clock.ahead += 11 * MINUTE;
    const found = await history.doubtfulReceipts({ since });
    expect(found).toEqual([
      {
        provider: 'a',
        channel: 'sms',
        country: 'NG',
        witness: 'codes',
        share: 0,
        others: 1,
        messages: a.codes.size,
        doubt: 1,
        reason: `0.0 % of ${a.codes.size} one-time codes were checked, of the other providers 100.0 %`,
      },
    ]);
    expect(await history.doubtfulReceipts({ since: new Date(clock.now()) })).toEqual([]);
  });
});
