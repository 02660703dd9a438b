import { afterEach, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { ORDERED } from './audit.js';
import { Cluster } from './cluster.js';

const full = process.env['CHAOS'] === 'full';
const messages = full ? 3_000 : 400;

describeEachDatabase(
  'an upstream that answers wrongly, before or after acceptance,',
  (database) => {
    let cluster: Cluster;
    afterEach(() => cluster.stop());

    it.each(full ? [true, false] : [database.kind === 'postgres'])(
      'no message is lost or doubled where a third of the requests get a wrong answer and a process is killed (keys honoured: %s)',
      async (honoursKeys) => {
        cluster = await Cluster.start(
          {
            database: database.url,
            honoursKeys,
            replicas: database.kind === 'sqlite' ? 1 : 2,
            options: { concurrency: 8 },
          },
          await database.open(),
        );
        cluster.begin();
        await cluster.upstream.set({ wrong: 0.3 });
        const sending = cluster.send(cluster.sends(messages));
        await cluster.started(messages / 8);
        await cluster.injectFault('SIGKILL', 200);
        await sending;
        await cluster.finished(120_000);
        await cluster.shutDown();
        const findings = await cluster.audit();
        expect(findings).toMatchObject(ORDERED);
        expect(cluster.callers.refused).toEqual([]);
        expect(await cluster.upstream.wrongAnswers()).toBeGreaterThan(messages / 20);
        expect(honoursKeys ? findings.unknown : []).toEqual([]);
      },
    );
  },
  ['sqlite', 'postgres'],
);
