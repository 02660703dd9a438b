import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { StoreDatabase } from '../../../libs/messaging/src/store/database/store-database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, Gate } from '../dispatch/dispatch-fixture.js';
import { intend, TRANSPORT } from '../dispatch/intend.js';
import { report, TO } from './reports-app.js';

/** The next transaction of a process does all its work, and commits when it is let. */
function holdCommit(database: StoreDatabase): { reached: Promise<void>; commit: () => void } {
  const reached = new Gate();
  const commit = new Gate();
  const transaction = database.transaction.bind(database);
  const held: typeof transaction = (work) => {
    Reflect.deleteProperty(database, 'transaction');
    return transaction(async (tx) => {
      const result = await work(tx);
      reached.open();
      await commit.opened;
      return result;
    });
  };
  Object.defineProperty(database, 'transaction', { value: held, configurable: true });
  return { reached: reached.opened, commit: commit.open };
}

/** Resolves once a process has looked for waiting reports after its own commit. */
function lookedAgain({ reports }: MessageStore): Promise<void> {
  const looked = new Gate();
  const look = reports.matchWaiting.bind(reports);
  reports.matchWaiting = async (names) => {
    await look(names);
    looked.open();
  };
  return looked.opened;
}

describeEachDatabase(
  'a report and the answer it belongs to, in two transactions at once,',
  (database) => {
    let fixture: DispatchFixture;
    beforeAll(() => {
      fixture = new DispatchFixture(database);
    });
    afterEach(() => fixture.clear());

    async function meet() {
      const one = await fixture.boot({ dispatch: false });
      const other = await fixture.boot({ dispatch: false });
      const id = await one.send('x');
      const { heads } = await intend(one.store);
      return {
        id,
        sms: one.sms,
        sender: one.store,
        receiver: other.store,
        answer: () =>
          one.store.outcomes.record({
            ...heads[0]!,
            result: 'accepted',
            reference: `theirs-${id}`,
          }),
        hear: () =>
          other.store.reports.record([report({ reference: `theirs-${id}`, recipient: TO })], {
            provider: TRANSPORT,
          }),
      };
    }

    it('the process of the later answer finds the waiting report', async () => {
      const { id, sms, sender, answer, hear } = await meet();
      const { reached, commit } = holdCommit(sender.database);
      const answered = answer();
      await reached;
      await hear();
      expect((await sms.batch(id)).counts).toEqual({ sending: 1 });
      commit();
      await answered;
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 1 }));
    });

    it('the process of the later report finds the recorded answer', async () => {
      const { id, sms, sender, receiver, answer, hear } = await meet();
      const looked = lookedAgain(sender);
      const { reached, commit } = holdCommit(receiver.database);
      const heard = hear();
      await reached;
      await answer();
      await looked;
      expect((await sms.batch(id)).counts).toEqual({ sent: 1 });
      commit();
      await heard;
      expect((await sms.batch(id)).counts).toEqual({ delivered: 1 });
    });
  },
  ['postgres', 'mariadb'],
);
