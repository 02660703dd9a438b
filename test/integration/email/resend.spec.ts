import { expect, it } from '@jest/globals';
import { EmailService, MessagingModule, VerificationService } from '@dundun/messaging';
import { MessageHistory, MessagingOperations } from '@dundun/messaging/operations';
import {
  BouncedFailure,
  type MessageTransport,
  type Submission,
  type SubmissionAccepted,
} from '@dundun/messaging/ports';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

/** Bounces every recipient until `accepts`. */
class BouncingTransport implements MessageTransport {
  readonly name = 'mail';
  readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000, channels: ['email'] };
  readonly accepted: Submission[] = [];
  accepts = false;

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    if (!this.accepts) throw new BouncedFailure('mailbox_full', 'full', { smtp_code: 552 });
    this.accepted.push(submission);
    return { reference: `ref-${submission.id}` };
  }
}

async function boot(database: TestDatabase, transport: MessageTransport): Promise<TestingModule> {
  const app = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
      MessagingModule.forRoot({
        transport: () => transport,
        erasure: { keys: [Buffer.alloc(32, 7).toString('base64')] },
        callbackPath: false,
      }),
    ],
  }).compile();
  return app.init();
}

describeOneDatabase('an email that bounced', (database) => {
  it('a bounced email is sent again to its recipient alone, with its variables, labels and attachments', async () => {
    const transport = new BouncingTransport();
    const app = await boot(database, transport);
    try {
      const content = Buffer.from('Terms and conditions');
      const { id } = await app.get(EmailService).send({
        from: 'shop@shop.example',
        subject: 'Hello {{first}}',
        text: 'Hello {{first}}',
        recipients: [
          { email: 'ada@example.com', variables: { first: 'Ada' } },
          { email: 'bob@example.com', variables: { first: 'Bob' } },
        ],
        attachments: [{ filename: 'terms.txt', content, contentType: 'text/plain' }],
        tags: ['order', 'vip'],
        metadata: { order: '1001' },
      });
      const history = app.get(MessageHistory);
      const bounced = async () => (await history.messages({ status: 'bounced' })).data;
      await eventually(async () => expect(await bounced()).toHaveLength(2));
      const [bob] = (await history.messages({ to: 'bob@example.com' })).data;
      transport.accepts = true;
      const resent = await app.get(MessagingOperations).resend(bob!.id);
      await eventually(async () => expect(transport.accepted).toHaveLength(1));
      const [submission] = transport.accepted;
      expect(submission).toMatchObject({
        batchId: resent.id,
        recipients: ['bob@example.com'],
        personal: [{ variables: { first: 'Bob' } }],
      });
      expect(submission!.attachments).toHaveLength(1);
      expect(submission!.attachments![0]).toMatchObject({ filename: 'terms.txt' });
      expect(submission!.attachments![0]!.content.equals(content)).toBe(true);
      const labels = { tags: ['order', 'vip'], metadata: { order: '1001' } };
      expect(await history.batch(id)).toMatchObject(labels);
      expect(await history.batch(resent.id)).toMatchObject(labels);
      const tagged = await app.get(MessagingOperations).messages({ tag: 'vip' });
      expect(tagged.data.map(({ batchId }) => batchId)).toEqual([resent.id, id, id]);
    } finally {
      await app.close();
    }
  });
});

describeOneDatabase('a one-time code that failed', (database) => {
  it('a one-time code that failed is not sent again', async () => {
    const app = await boot(database, new BouncingTransport());
    try {
      await app
        .get(VerificationService)
        .start({ to: 'ada@example.com', channel: 'email', from: 'shop@shop.example' });
      const operations = app.get(MessagingOperations);
      const failed = async () => (await operations.messages({ status: 'bounced' })).data;
      await eventually(async () => expect(await failed()).toHaveLength(1));
      const [code] = await failed();
      await expect(operations.resend(code!.id)).rejects.toMatchObject({
        fields: [{ path: 'id', message: expect.stringContaining('one-time code') }],
      });
    } finally {
      await app.close();
    }
  });
});
