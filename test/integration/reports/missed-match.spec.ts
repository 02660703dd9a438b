import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { StatusListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, Gate, RelayedDatabase } from '../dispatch/dispatch-fixture.js';
import { intend, TRANSPORT } from '../dispatch/intend.js';
import { report, TO } from './reports-app.js';

describeEachDatabase(
  'a report and the answer it belongs to, in two transactions at once,',
  (database) => {
    let fixture: DispatchFixture;
    let relayed: RelayedDatabase;
    let behindRelay: DispatchFixture;
    beforeAll(async () => {
      fixture = new DispatchFixture(database);
      relayed = await RelayedDatabase.start(database);
      behindRelay = new DispatchFixture(relayed.database);
    });
    afterEach(async () => {
      await behindRelay.clear();
      await fixture.clear();
    });
    afterAll(() => relayed.relay.stop());

    async function meet() {
      const one = await fixture.boot({ dispatch: false });
      const other = await behindRelay.boot({ dispatch: false });
      const id = await one.send('x');
      const { heads } = await intend(one.store);
      const reference = `theirs-${id}`;
      return {
        id,
        reference,
        sender: one,
        answer: () => one.store.outcomes.record({ ...heads[0]!, result: 'accepted', reference }),
        hear: () =>
          other.store.reports.record([report({ reference, recipient: TO })], {
            provider: TRANSPORT,
          }),
      };
    }

    it('the process of the later answer finds the waiting report', async () => {
      const { id, sender, answer, hear } = await meet();
      // A listener runs in the transaction of the answer.
      const [written, commit] = [new Gate(), new Gate()];
      sender.app.get(StatusListeners).add({
        onStatusChanged: () => {
          written.open();
          return commit.opened;
        },
      });
      const answered = answer();
      await written.opened;
      await hear();
      expect((await sender.sms.batch(id)).counts).toEqual({ sending: 1 });
      commit.open();
      await answered;
      await eventually(async () =>
        expect((await sender.sms.batch(id)).counts).toEqual({ delivered: 1 }),
      );
    });

    it('the process of the later report finds the recorded answer', async () => {
      const { id, reference, sender, answer, hear } = await meet();
      const committing = relayed.relay.hold('COMMIT');
      const heard = hear();
      const commit = await committing;
      await answer();
      await sender.store.reports.matchWaiting([reference]);
      expect((await sender.sms.batch(id)).counts).toEqual({ sent: 1 });
      commit();
      await heard;
      expect((await sender.sms.batch(id)).counts).toEqual({ delivered: 1 });
    });
  },
  ['postgres', 'mariadb'],
);
