import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MessagingModule, SmsService } from '@dundun/messaging';
import { smpp } from '@dundun/messaging/smpp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { buildProcesses } from '../../support/builds.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Smsc, type Submitted } from '../../support/smpp/smsc.js';

const TO = '2348012345678';
const LONG = `${'lorem ipsum '.repeat(35)}end`;

describeOneDatabase('a process that is killed before the receipts of its messages', (database) => {
  let smsc: Smsc;
  let killed: ChildProcess;
  let app: TestingModule;

  beforeEach(async () => {
    smsc = await Smsc.start();
    // The stored rows alone decide, as the process is dead.
    smsc.knowsQueries = false;
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          providers: { smsc: smpp({ url: smsc.url, reconnect: 50 }) },
          dispatch: { lease: '1s' },
          reports: { pollAfter: '1s' },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
  });
  const start = async (text: string): Promise<string> => {
    const entry = join(import.meta.dirname, 'sender.process.ts');
    const script = join(await buildProcesses('dundun-smpp', [entry]), 'sender.process.js');
    killed = fork(script, [database.url, smsc.url, TO, text], { execArgv: [] });
    const [{ id }] = (await once(killed, 'message')) as [{ readonly id: string }];
    return id;
  };
  afterEach(async () => {
    killed.kill('SIGKILL');
    await app.close();
    await smsc.stop();
  });

  it('a killed sender leaves a long message `sent` until receipts of all parts came to any process', async () => {
    const id = await start(LONG);
    await eventually(async () => expect(smsc.submitted).toHaveLength(3));
    const [first, second, last] = smsc.submitted as [Submitted, Submitted, Submitted];
    await app.init();
    const counts = async () => (await app.get(SmsService).batch(id)).counts;
    await eventually(async () => expect(await counts()).toEqual({ sent: 1 }));
    const ofKilled = first.session;
    expect(await smsc.receipt(first, 'delivered', { on: ofKilled })).toBe(0);
    killed.kill('SIGKILL');
    await eventually(async () => expect(smsc.sessions.includes(ofKilled)).toBe(false));
    await eventually(async () => expect(smsc.sessions).toHaveLength(1));
    expect(await smsc.receipt(last, 'delivered')).toBe(0);
    expect(await counts()).toEqual({ sent: 1 });
    expect(await smsc.receipt(second, 'delivered')).toBe(0);
    await eventually(async () => expect(await counts()).toEqual({ delivered: 1 }));
    expect(smsc.submitted).toHaveLength(3);
  });

  it('a message whose answer its killed sender never read is `unknown`, then `delivered` by its receipt, however early that comes', async () => {
    smsc.answer = () => 'no answer';
    const id = await start('Hello');
    await eventually(async () => expect(smsc.submitted).toHaveLength(1));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    await app.init();
    await eventually(async () => expect(smsc.sessions).toHaveLength(1));
    expect(await smsc.receipt(smsc.submitted[0]!, 'delivered')).toBe(0);
    const sms = app.get(SmsService);
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 1 }));
    expect(await sms.timeline(`${id}-0`)).toMatchObject({
      status: 'delivered',
      submissions: [{ outcome: 'unknown' }],
    });
    expect(smsc.submitted).toHaveLength(1);
  });

  it('messages without an answer between the same numbers stay `unknown`, as their receipts could be of either', async () => {
    smsc.answer = () => 'no answer';
    const ids: string[] = [];
    for (const text of ['Hello', 'Again']) {
      ids.push(await start(text));
      await eventually(async () => expect(smsc.submitted).toHaveLength(ids.length));
      killed.kill('SIGKILL');
      await once(killed, 'exit');
    }
    await app.init();
    const sms = app.get(SmsService);
    const counts = () => Promise.all(ids.map(async (id) => (await sms.batch(id)).counts));
    await eventually(async () => expect(await counts()).toEqual([{ unknown: 1 }, { unknown: 1 }]));
    expect(await smsc.receipt(smsc.submitted[0]!, 'delivered')).toBe(0);
    expect(await counts()).toEqual([{ unknown: 1 }, { unknown: 1 }]);
  });
});
