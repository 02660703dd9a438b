import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { MessageHistory } from '@dundun/messaging/operations';
import {
  PermanentFailure,
  RetryableFailure,
  type Submission,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import {
  type DispatchApp,
  DispatchFixture,
  ScriptedTransport,
  textOf,
} from './dispatch-fixture.js';

const WINDOW = 3_600_000;
const SECRET = 'Your code is 4711';
const BAD = '2348000000666';

/** Fails until `recover` is called. */
function failing(transport: ScriptedTransport, fail: () => void): () => void {
  let ill = true;
  transport.script = () => {
    if (ill) fail();
  };
  return () => (ill = false);
}

describeOneDatabase('a failure of a provider', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const messageOf = ({ app }: DispatchApp, id: string) =>
    app.get(MessageHistory, { strict: false }).message(`${id}-0`);

  it.each([
    [
      'an answer that may come of a proxy',
      'http_500',
      'The proxy said 500',
      () => {
        throw new UncertainFailure('http_500', 'The proxy said 500');
      },
    ],
    [
      'an error in the code of the transport',
      'transport_error',
      'The transport threw TypeError; the log has its stack',
      () => {
        throw new TypeError(`no answer to ${SECRET}`);
      },
    ],
    [
      'an error whose name is a text',
      'transport_error',
      'The transport threw Error; the log has its stack',
      () => {
        throw Object.assign(new Error(), { name: SECRET });
      },
    ],
  ])(
    'the view of a message that is sending shows code, words and number of tries after %s',
    async (_, code, words, fail) => {
      const app = await fixture.boot();
      const recover = failing(app.transport, fail);
      const id = await app.send('x');
      await eventually(async () => {
        const { status, errorCode, errorText, attempts, submissions } = await messageOf(app, id);
        expect({ status, errorCode }).toEqual({ status: 'sending', errorCode: code });
        expect(errorText).toBe(words);
        expect(attempts).toBeGreaterThanOrEqual(2);
        expect(submissions).toMatchObject([{ outcome: null, errorCode: code, errorText }]);
      });
      const [listed] = (await app.sms.messages(id)).data;
      expect(listed).toMatchObject({ status: 'sending', errorCode: code });
      expect(await app.messaging.lanes()).toMatchObject([
        {
          lane: ':sms',
          doubt: {
            submissions: 1,
            since: expect.any(Date),
            errorCode: code,
            provider: 'scripted',
          },
        },
      ]);
      recover();
      await eventually(async () =>
        expect(await messageOf(app, id)).toMatchObject({
          status: 'sent',
          errorCode: null,
          errorText: null,
          attempts: app.transport.started.length,
        }),
      );
      expect(await app.messaging.lanes()).toEqual([]);
    },
  );

  it('the view of a message that is queued again shows code, words and number of tries', async () => {
    const app = await fixture.boot({ backoff: '1h' });
    failing(app.transport, () => {
      throw new RetryableFailure('busy', 'Try\nagain');
    });
    const id = await app.send('x');
    await eventually(async () =>
      expect(await messageOf(app, id)).toMatchObject({
        status: 'queued',
        errorCode: 'busy',
        errorText: 'Try again',
        attempts: 1,
      }),
    );
  });

  it('a permanent refusal keeps its code and its words in bounded length', async () => {
    const app = await fixture.boot();
    failing(app.transport, () => {
      throw new PermanentFailure('sender_banned', `The sender is banned: ${'x'.repeat(5_000)}`);
    });
    const id = await app.send('x');
    const shown = {
      errorCode: 'sender_banned',
      errorText: expect.stringMatching(/^The sender is/),
    };
    await eventually(async () =>
      expect(await app.sms.timeline(`${id}-0`)).toMatchObject({
        status: 'rejected',
        attempts: 1,
        ...shown,
        submissions: [{ outcome: 'rejected', ...shown }],
      }),
    );
    expect((await app.sms.message(`${id}-0`)).errorText).toHaveLength(500);
  });

  it('the view of a message that is accepted at once shows one try', async () => {
    const app = await fixture.boot();
    const id = await app.send('x');
    await eventually(async () =>
      expect(await messageOf(app, id)).toMatchObject({ status: 'sent', attempts: 1 }),
    );
  });

  it.each([
    ['first', [BAD, '2348000000001', '2348000000002']],
    ['between others', ['2348000000001', BAD, '2348000000002']],
    ['last', ['2348000000001', '2348000000002', BAD]],
  ])('a recipient that is refused %s in its batch has exactly maxAttempts tries', async (_, to) => {
    const transport = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: WINDOW });
    const { sms } = await fixture.boot({ maxAttempts: 3 }, transport);
    const ofBad = ({ recipients }: Submission) => recipients.includes(BAD);
    transport.script = (submission) => {
      if (ofBad(submission)) throw new RetryableFailure('busy', 'x');
    };
    const { id } = await sms.send({ from: 'ACME', to, body: 'x' });
    await eventually(async () =>
      expect((await sms.batch(id)).counts).toEqual({ sent: 2, failed: 1 }),
    );
    expect(transport.started.filter(ofBad).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const { data } = await sms.messages(id);
    expect(data.find(({ recipient }) => recipient === BAD)).toMatchObject({
      attempts: 3,
      errorCode: 'busy',
    });
  });

  it.each([1, 2, 3])(
    'a batch that is refused while others pass has exactly %i tries',
    async (maxAttempts) => {
      const { send, sms, transport } = await fixture.boot({ maxAttempts });
      transport.script = (submission) => {
        if (textOf(submission) === 'bad') throw new RetryableFailure('busy', 'x');
      };
      const first = await send('good');
      await eventually(async () => expect((await sms.batch(first)).counts).toEqual({ sent: 1 }));
      const bad = await send('bad');
      await send('good');
      await eventually(async () => expect((await sms.batch(bad)).counts).toEqual({ failed: 1 }));
      expect(transport.started.filter((one) => textOf(one) === 'bad')).toHaveLength(maxAttempts);
    },
  );
});
