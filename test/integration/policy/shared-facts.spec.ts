import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import type { Logger } from 'typeorm';
import { ContactsService, PolicyError, SmsService } from '@dundun/messaging';
import { describeOneDatabase } from '../../support/databases.js';
import { bootApp } from './policy-app.js';

/** Counts the questions about recipients. */
class Questions implements Logger {
  count = 0;

  logQuery(sql: string): void {
    if (/FROM [\s\S]*messaging_suppression[\s\S]*messaging_consent/.test(sql)) this.count++;
  }

  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

describeOneDatabase('facts of concurrent sends', (database) => {
  const questions = new Questions();
  let app: TestingModule;
  let sms: SmsService;
  let contacts: ContactsService;
  const numbers = Array.from({ length: 60 }, (_, n) => `23480${40_000_000 + n * 10}`);
  const send = (to: string | readonly string[], tenant: string, from = 'ACME') =>
    sms.send({ from, to, body: 'Hello' }, { tenant }).then(
      () => 'sent',
      (error: unknown) => (error instanceof PolicyError ? error.code : String(error)),
    );

  beforeAll(async () => {
    const options = { ...database.options(), logger: questions, logging: ['query' as const] };
    app = await bootApp(options, { dispatch: false });
    sms = app.get(SmsService);
    contacts = app.get(ContactsService);
    const stop = { channel: 'sms', source: 'keyword' } as const;
    await contacts.optOut(
      numbers.filter((_, n) => n % 3 === 0),
      { ...stop, tenant: 'a' },
    );
    await contacts.suppress(
      numbers.filter((_, n) => n % 3 === 1),
      { reason: 'complaint', tenant: 'a' },
    );
    await contacts.optIn(numbers, { channel: 'sms', source: 'form', tenant: 'b' });
  });
  afterAll(() => app.close());

  it('concurrent sends share one query for recipient facts', async () => {
    questions.count = 0;
    const answers = await Promise.all(numbers.map((number) => send(number, 'a')));
    expect(answers).toEqual(numbers.map((_, n) => (n % 3 === 2 ? 'sent' : 'opted_out')));
    expect(questions.count).toBeGreaterThan(0);
    expect(questions.count).toBeLessThan(5);
  });

  it('shared recipient facts stay separate by tenant', async () => {
    questions.count = 0;
    const answers = await Promise.all(
      numbers.map((number, n) =>
        send(number, n % 2 === 0 ? 'a' : 'b', n % 4 < 2 ? 'ACME' : 'APEX'),
      ),
    );
    expect(answers).toEqual(
      numbers.map((_, n) => (n % 2 === 0 && n % 3 !== 2 ? 'opted_out' : 'sent')),
    );
    expect(questions.count).toBeLessThan(5);
  });

  it('exactly the recipients who refused are rejected', async () => {
    const { id, recipients } = await sms.send(
      { from: 'ACME', to: numbers, body: 'Hello' },
      { tenant: 'a' },
    );
    expect(recipients).toBe(60);
    const { data } = await sms.messages(id, { tenant: 'a' });
    expect(data.map(({ recipient, status }) => [recipient, status])).toEqual(
      numbers.filter((_, n) => n % 3 !== 2).map((number) => [number, 'rejected']),
    );
  });
});
