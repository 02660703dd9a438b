import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { EmailService, MESSAGE_STATUS_CHANGED, type MessageStatusChanged } from '@dundun/messaging';
import { UncertainFailure } from '@dundun/messaging/ports';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import {
  type DispatchApp,
  DispatchFixture,
  ScriptedTransport,
} from '../dispatch/dispatch-fixture.js';
import { report } from './reports-app.js';

describeEachDatabase('the sequence of status events', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  /** The changes that an app hears of, as `number status or event`. */
  function heardBy({ app }: DispatchApp): string[] {
    const heard: string[] = [];
    app
      .get(EventEmitter2, { strict: false })
      .on(MESSAGE_STATUS_CHANGED, ({ sequence, event, status }: MessageStatusChanged) =>
        heard.push(`${sequence} ${event ?? status}`),
      );
    return heard;
  }
  const reports = ({ store }: DispatchApp, batch: string, ...statuses: readonly string[]) =>
    store.reports.record(
      statuses.map((status) => report({ submissionId: `${batch}-s0`, status, rawStatus: status })),
      { provider: 'scripted' },
    );
  it('the sequence counts the changes and events from sent on, without gaps', async () => {
    const app = await fixture.boot();
    const heard = heardBy(app);
    const { id } = await app.app
      .get(EmailService)
      .send({ from: 'shop@acme.test', to: 'ada@example.com', subject: 'Order', text: 'Hello' });
    await eventually(async () => expect(heard).toEqual(['1 sent']));
    await reports(app, id, 'delayed');
    await reports(app, id, 'delivered');
    // A lower rank changes nothing and takes no number.
    await reports(app, id, 'failed');
    await reports(app, id, 'complained');
    await eventually(async () =>
      expect(heard).toEqual(['1 sent', '2 delayed', '3 delivered', '4 complained']),
    );
    expect((await app.app.get(EmailService).timeline(`${id}-0`)).reports).toMatchObject(
      [1, 2, 3, null, 4].map((sequence) => ({ sequence })),
    );
  });

  it('the sequence is 0 for unknown, and 1 for the first change after it', async () => {
    const keyless = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: 0 });
    keyless.script = () => {
      throw new UncertainFailure('answer_lost', 'No answer');
    };
    const app = await fixture.boot({}, keyless);
    const heard = heardBy(app);
    const id = await app.send('x');
    await eventually(async () => expect(heard).toEqual(['0 unknown']));
    await reports(app, id, 'delivered');
    await eventually(async () => expect(heard).toEqual(['0 unknown', '1 delivered']));
  });

  it('the sequence is 1 for the cancel of a message that had not started', async () => {
    const app = await fixture.boot({ dispatch: false });
    const heard = heardBy(app);
    await app.sms.cancel(await app.send('x'));
    await eventually(async () => expect(heard).toEqual(['1 cancelled']));
  });
});
