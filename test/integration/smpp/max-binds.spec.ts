import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MessagingModule, MessagingService, SmsService } from '@dundun/messaging';
import { smpp } from '@dundun/messaging/smpp';
import type { SmppSession } from '@dundun/smpp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { buildProcesses } from '../../support/builds.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Relay } from '../../support/relay.js';
import { Smsc } from '../../support/smpp/smsc.js';

/** Binds that the SMSC allows: two processes have two each. */
const MOST = 4;
const LANES = ['a', 'b', 'c', 'd', 'e', 'f'];

describeEachDatabase(
  'processes that share the binds of an SMSC',
  (database) => {
    let smsc: Smsc;
    let app: TestingModule;
    let script: string;
    let workers: ChildProcess[];
    let sent: { readonly id: string; readonly tenant: string; readonly text: string }[];

    beforeEach(async () => {
      smsc = await Smsc.start(undefined, 1_000);
      smsc.mostBinds = MOST;
      smsc.delivers = true;
      app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
          MessagingModule.forRoot({
            providers: { smsc: smpp({ url: smsc.url, maxBinds: MOST }) },
            dispatch: { enabled: false },
            callbackPath: false,
          }),
        ],
      }).compile();
      app.useLogger(false);
      await app.init();
      const entry = join(import.meta.dirname, 'worker.process.ts');
      script = join(await buildProcesses('dundun-smpp-worker', [entry]), 'worker.process.js');
      [workers, sent] = [[], []];
    });
    afterEach(async () => {
      for (const worker of workers) worker.kill('SIGKILL');
      await app.close();
      await smsc.stop();
    });

    const worker = async (at = database.url, maxBinds = MOST, lease = 3_000) => {
      const settings = [at, smsc.url, String(maxBinds), String(lease)];
      const made = fork(script, settings, { execArgv: [] });
      workers.push(made);
      await once(made, 'message');
      return made;
    };
    const end = async (process: ChildProcess, signal: 'SIGTERM' | 'SIGKILL') => {
      const ended = once(process, 'exit');
      process.kill(signal);
      await ended;
    };
    const bound = (count: number) =>
      eventually(async () => expect(smsc.sessions.length).toBe(count));
    /** Two binds of these have ended, and others took their places. */
    const replaced = (before: readonly SmppSession[]) =>
      eventually(async () => {
        const ended = before.filter(({ isClosed }) => isClosed).length;
        expect([ended, smsc.sessions.length]).toEqual([2, before.length]);
      });
    const send = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round++)
        for (const tenant of LANES) {
          const text = `${tenant} ${sent.length}`;
          const to = '2348012345678';
          const { id } = await app
            .get(SmsService)
            .send({ from: 'ACME', to, body: text }, { tenant });
          sent.push({ id, tenant, text });
        }
    };
    const statuses = () =>
      Promise.all(
        sent.map(async ({ id, tenant }) => {
          const { counts } = await app.get(SmsService).batch(id, { tenant });
          return Object.keys(counts).join();
        }),
      );
    const allAre = (expected: readonly string[]) =>
      eventually(async () => {
        const others = (await statuses()).filter((status) => !expected.includes(status));
        expect(others).toEqual([]);
      }, 60_000);
    const places = async () => (await app.get(MessagingService).providers())[0]?.places;

    it('several processes make at most `maxBinds` binds, send each message once, and take over the binds of a stopped process', async () => {
      const first = await worker();
      await worker();
      await bound(MOST);
      await worker();
      await send(10);
      await allAre(['delivered']);
      expect(await places()).toEqual({ taken: MOST, most: MOST });
      const before = smsc.sessions;
      await send(10);
      await Promise.all([send(10), end(first, 'SIGTERM')]);
      await replaced(before);
      await allAre(['delivered']);
      expect(smsc.texts.toSorted()).toEqual(sent.map(({ text }) => text).toSorted());
      // The third process had no bind before, and has no more than the first one left.
      expect(smsc.refusedBinds).toBe(0);
    });

    it('other processes take over the binds and lanes of a killed process after its lease', async () => {
      const first = await worker();
      await worker();
      await bound(MOST);
      const third = await worker();
      const before = smsc.sessions;
      await send(10);
      await end(first, 'SIGKILL');
      await replaced(before);
      await send(10);
      // What the killed process had sent without recording the answer is not sent again.
      await allAre(['delivered', 'unknown', 'sent']);
      await end(third, 'SIGTERM');
      await allAre(['delivered', 'unknown', 'sent']);
      expect(new Set(smsc.texts).size).toBe(smsc.texts.length);
      const all = await statuses();
      const { length } = all.filter((status) => status === 'unknown');
      expect(smsc.texts.length).toBeGreaterThanOrEqual(sent.length - length);
      // Sent after the kill.
      expect(all.slice(sent.length / 2)).not.toContain('unknown');
      expect(smsc.refusedBinds).toBe(0);
    });

    it('processes that cannot renew their places unbind before other processes may take them', async () => {
      const relay = await Relay.start(database.url);
      try {
        await worker(relay.url, 2, 9_000);
        await bound(2);
        await worker(database.url, 2, 9_000);
        const before = smsc.sessions;
        relay.hang();
        await bound(0);
        expect(await places()).toEqual({ taken: 2, most: MOST });
        await replaced(before);
        await send(5);
        await allAre(['delivered']);
        expect(smsc.refusedBinds).toBe(0);
      } finally {
        await relay.stop();
      }
    });

    it('another process takes over the binds of a process that is frozen past its lease, which does not bind again when it resumes', async () => {
      const first = await worker();
      const second = await worker();
      await bound(MOST);
      await worker();
      const before = smsc.sessions;
      first.kill('SIGSTOP');
      await send(5);
      // The SMSC counts the frozen binds until `enquire_link` has no answer; their receipts are lost.
      await replaced(before);
      const { refusedBinds } = smsc;
      expect(refusedBinds).toBeGreaterThan(0);
      first.kill('SIGCONT');
      await send(5);
      await allAre(['delivered', 'unknown', 'sent']);
      expect(smsc.refusedBinds).toBe(refusedBinds);
      const after = smsc.sessions;
      await end(second, 'SIGTERM');
      await replaced(after);
      await send(5);
      await allAre(['delivered', 'unknown', 'sent']);
      expect(new Set(smsc.texts).size).toBe(smsc.texts.length);
      expect(smsc.texts).toEqual(expect.arrayContaining(sent.slice(-30).map(({ text }) => text)));
    });
  },
  ['postgres', 'mariadb'],
);
