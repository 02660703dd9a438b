import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { ContactsService, MessageValidationError } from '@dundun/messaging';
import { MessageHistory, MessagingOperations } from '@dundun/messaging/operations';
import { PermanentFailure, type Submission, UncertainFailure } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { limitTests } from '../../support/time-limit.js';
import { DispatchFixture, Gate, ScriptedTransport, textOf } from '../dispatch/dispatch-fixture.js';

limitTests(180);

const ADA = '2348012345601';
const BIM = '2348012345602';
const COLA = '2348012345603';

const body = 'Hi {{name}}';
const named = (to: string, name: string) => ({ to, variables: { name } });

/** The text that each recipient got. */
function textsOf(submissions: readonly Submission[]): Record<string, string> {
  return Object.fromEntries(
    submissions.flatMap((one) => one.recipients.map((to) => [to, textOf(one)] as const)),
  );
}

describeEachDatabase('an SMS with variables of its recipients', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(async () => {
    await fixture.clear();
    const source = await database.open();
    for (const table of ['batch_personal', 'consent', 'resend'])
      await source.query(`DELETE FROM messaging_${table}`);
    await source.destroy();
  });

  it('an SMS with variables reaches each recipient with its own text, and neighbours with the same text share a request', async () => {
    const { sms, transport, app } = await fixture.boot();
    const { id, recipients } = await sms.send({
      from: 'ACME',
      to: [named(ADA, 'Ada'), named(BIM, 'friend'), named(COLA, 'friend'), named(ADA, 'again')],
      body,
    });
    expect(recipients).toBe(3);
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 3 }));
    expect(transport.accepted.map((one) => [textOf(one), one.recipients])).toEqual([
      ['Hi Ada', [ADA]],
      ['Hi friend', [BIM, COLA]],
    ]);
    for (const one of transport.accepted) expect(Object.keys(one)).not.toContain('personal');
    const history = app.get(MessageHistory);
    expect(await history.message(`${id}-0`)).toMatchObject({ content: { text: 'Hi Ada' } });
    const ids = [`${id}-1`, `${id}-2`];
    expect([...(await history.contents(ids)).values()]).toMatchObject([
      { text: 'Hi friend' },
      { text: 'Hi friend' },
    ]);
  });

  it('each text stays with its recipient over many rows and among denied recipients', async () => {
    const { sms, transport, app } = await fixture.boot();
    const to = Array.from({ length: 1_203 }, (_, n) =>
      named(`23480${String(10_000_000 + n)}`, `customer ${n}`),
    );
    for (const denied of [0, 999, 1_001])
      await app.get(ContactsService).optOut(to[denied]!.to, { channel: 'sms', source: 'test' });
    const { id } = await sms.send({ from: 'ACME', to, body });
    // A request for each of 1,200 texts.
    await eventually(
      async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1_200, rejected: 3 }),
      120_000,
    );
    const got = textsOf(transport.accepted);
    expect(Object.keys(got)).toHaveLength(1_200);
    for (const [n, one] of to.entries())
      expect(got[one.to]).toBe([0, 999, 1_001].includes(n) ? undefined : `Hi customer ${n}`);
  });

  it('a refusal names the path and the variable that a recipient lacks, and nothing is stored', async () => {
    const { sms, app } = await fixture.boot();
    const send = sms.send({ from: 'ACME', to: [named(ADA, 'Ada'), { to: BIM }, COLA], body });
    const error = await send.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MessageValidationError);
    const message = 'is missing: the message uses {{name}}';
    expect((error as MessageValidationError).fields).toEqual([
      { path: 'to[1].variables.name', message },
      { path: 'to[2].variables.name', message },
    ]);
    const [row] = await app.get(DataSource).query('SELECT count(*) AS n FROM messaging_batch');
    expect(Number(row.n)).toBe(0);
  });

  it.each([
    ['a recipient without a number', [{ to: '12', variables: { name: 'x' } }], 'to[0].to'],
    ['a variable that is no text', [{ to: ADA, variables: { name: 7 } }], 'to[0].variables.name'],
    ['variables that are no object', [{ to: ADA, variables: 'Ada' }], 'to[0].variables'],
    ['a name with a brace', [{ to: ADA, variables: { name: 'x', '{': 'y' } }], 'to[0].variables'],
    ['a text that becomes too long', [named(ADA, '€'.repeat(800))], 'to[0]'],
    ['a group', ['grp_0123456789abcdef', named(ADA, 'Ada')], 'to[0]'],
  ])('an SMS with variables is refused for %s', async (_, to, path) => {
    const { sms } = await fixture.boot({ dispatch: false });
    const error = await sms
      .send({ from: 'ACME', to: to as never, body })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MessageValidationError);
    expect((error as MessageValidationError).fields).toMatchObject([{ path }]);
  });

  it('the braces of a text stay where no recipient has variables', async () => {
    const { sms, transport } = await fixture.boot();
    await sms.send({ from: 'ACME', to: [ADA, BIM], body });
    await eventually(async () => expect(transport.texts).toEqual([body]));
  });

  it('a message with its own text is resent with the same text after a crash', async () => {
    const transport = new ScriptedTransport();
    const stuck = new Gate();
    transport.script = async ({ recipients }) => {
      if (!recipients.includes(ADA)) return;
      await stuck.opened;
      throw new UncertainFailure('lost', 'The answer is lost');
    };
    const first = await fixture.boot({ lease: 1_000, shutdownTimeout: 10 }, transport);
    const to = [named(ADA, 'Ada'), named(BIM, 'Bim')];
    const { id } = await first.sms.send({ from: 'ACME', to, body });
    await eventually(async () => expect(transport.started).toHaveLength(2));
    const closing = first.app.close();
    const second = await fixture.boot({ lease: 1_000 });
    await eventually(async () => expect((await second.sms.batch(id)).counts).toEqual({ sent: 2 }));
    stuck.open();
    await closing;
    expect(second.transport.accepted).toMatchObject([
      { id: `${id}-s0`, recipients: [ADA], content: { text: 'Hi Ada' } },
    ]);
  });

  it('an operator repeats a message with the text of its recipient', async () => {
    const { sms, transport, app } = await fixture.boot();
    transport.script = ({ attempt, batchId }) => {
      if (batchId === id && attempt === 1) throw new PermanentFailure('blocked', 'refused');
    };
    let id: string | undefined;
    const later = new Date(Date.now() + 3_600_000);
    const to = [named(ADA, 'Ada'), named(BIM, 'Bim')];
    ({ id } = await sms.send({ from: 'ACME', to, body, sendAt: later }));
    await sms.reschedule(id, new Date());
    await eventually(async () => expect((await sms.batch(id!)).counts).toEqual({ rejected: 2 }));
    await app.get(MessagingOperations).resend(`${id}-1`);
    await eventually(async () => expect(transport.texts).toEqual(['Hi Bim']));
  });

  it('an SMS with variables is estimated for each recipient, with parts and price of its own text', async () => {
    const { sms, app } = await fixture.boot({
      dispatch: false,
      rateCard: { currency: 'NGN', sms: '0.5' },
    } as never);
    const to = [named(ADA, 'Ada'), named(BIM, 'ẹ'.repeat(70)), named(COLA, 'x'.repeat(160))];
    expect(await sms.estimate({ to, body })).toMatchObject({
      parts: 5,
      cost: '2.5',
      currency: 'NGN',
      recipients: [
        { to: ADA, parts: 1, encoding: 'GSM-7', cost: '0.5', ucs2Characters: [] },
        { to: BIM, parts: 2, encoding: 'UCS-2', cost: '1.0', ucs2Characters: ['ẹ'] },
        { to: COLA, parts: 2, encoding: 'GSM-7', cost: '1.0' },
      ],
    });
    await expect(sms.estimate({ to: [ADA, { to: BIM }], body })).rejects.toThrow(
      'to[0].variables.name',
    );
    const { id } = await sms.send({ from: 'ACME', to, body });
    expect((await sms.batch(id)).parts).toBe(2);
    expect((await app.get(MessageHistory).message(`${id}-0`)).parts).toBe(1);
  });
});
