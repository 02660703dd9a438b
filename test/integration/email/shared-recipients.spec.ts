import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmailService, MessagingModule } from '@dundun/messaging';
import {
  type MessageTransport,
  RetryableFailure,
  type Submission,
  type SubmissionAccepted,
} from '@dundun/messaging/ports';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const MESSAGE = { from: 'shop@shop.example', subject: 'Hello', text: 'Hello' };
const people = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@example.com`);

/** Keeps the numbers of recipients that it was asked to send to. */
class CountingTransport implements MessageTransport {
  readonly name = 'mail';
  readonly capabilities = { maxRecipients: 100, idempotencyWindow: 3_600_000, channels: ['email'] };
  readonly sizes: number[] = [];
  refusals = 0;

  async submit({ id, recipients }: Submission): Promise<SubmissionAccepted> {
    this.sizes.push(recipients.length);
    if (this.refusals-- > 0) throw new RetryableFailure('busy', 'Busy');
    return { reference: id };
  }
}

describeOneDatabase('an email to recipients who see each other', (database) => {
  let app: TestingModule;
  let email: EmailService;
  let transport: CountingTransport;

  beforeAll(async () => {
    transport = new CountingTransport();
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          // The lane's limit lets 10 of them start together.
          providers: { mail: { transport: () => transport, rateLimit: '1000/s' } },
          dispatch: { backoff: 5, rateLimit: { max: 10, per: 500 } },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    email = app.get(EmailService);
  });
  afterAll(() => app.close());

  async function sizesOf(message: Parameters<EmailService['send']>[0]): Promise<number[]> {
    transport.sizes.length = 0;
    const { id, recipients } = await email.send(message);
    await eventually(async () =>
      expect((await email.batch(id)).counts).toEqual({ sent: recipients }),
    );
    return [...transport.sizes];
  }

  it('an email to visible recipients is one request, whatever the rate limits of lane and provider', async () => {
    const to = people(30);
    expect(await sizesOf({ ...MESSAGE, to, cc: 'q@example.com', bcc: 'r@example.com' })).toEqual([
      32,
    ]);
    const [first, ...others] = await sizesOf({ ...MESSAGE, recipients: people(12) });
    expect([first, others.length > 0]).toEqual([4, true]);
  });

  it('an email to visible recipients is one request again after refusals, and while the provider is probed', async () => {
    transport.refusals = 4;
    const sizes = await sizesOf({ ...MESSAGE, to: people(20), bcc: 'r@example.com' });
    expect(sizes).toEqual([21, 21, 21, 21, 21]);
  });
});
