import { afterEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import {
  type Clock,
  ContactsService,
  MESSAGING_POLICY,
  type MessageContent,
  type MessagingPolicy,
  type PolicySlice,
  SmsService,
  type PolicyDecision,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { UncertainFailure } from '@dundun/messaging/ports';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { describeOneDatabase } from '../../support/databases.js';
import type { FlatOptions } from '../../support/flat-options.js';
import { eventually } from '../../support/eventually.js';
import { GatedTransport } from './gated.transport.js';
import { bootApp } from './policy-app.js';

/** Real time plus the offset that a test sets. */
class LeapingClock implements Clock {
  leap = 0;
  now = () => systemClock.now() + this.leap;
  monotonic = () => systemClock.monotonic() + this.leap;
  id = () => systemClock.id();
}

/** Returns the decision that the test sets. */
class ToldPolicy implements MessagingPolicy {
  readonly name = 'told';
  say: (recipient: string, slice: PolicySlice) => PolicyDecision | undefined = () => undefined;

  async decide(slice: PolicySlice): Promise<Map<number, PolicyDecision>> {
    const decisions = new Map<number, PolicyDecision>();
    slice.items.forEach(({ recipient }, index) => {
      const decision = slice.stage === 'send' ? undefined : this.say(recipient.value, slice);
      if (decision) decisions.set(index, decision);
    });
    return decisions;
  }
}

const DENY: PolicyDecision = { decision: 'deny', code: 'told_so', reason: 'was told so' };

describeOneDatabase('policy at dispatch', (database) => {
  let app: TestingModule;
  let sms: SmsService;
  let contacts: ContactsService;
  let transport: GatedTransport;
  let clock: LeapingClock;
  let policy: ToldPolicy;
  let next = 0;
  const number = () => `23480${40_000_000 + next++ * 10}`;
  const send = (to: string | string[], more: object = {}) =>
    sms.send({ from: 'ACME', to, body: 'Hello', ...more });
  const stop = (phone: string) => contacts.optOut(phone, { channel: 'sms', source: 'keyword' });
  const counts = async (id: string) => (await sms.batch(id)).counts;

  async function boot(
    options: FlatOptions = {},
    capabilities?: GatedTransport['capabilities'],
  ): Promise<void> {
    transport = new GatedTransport(capabilities);
    clock = new LeapingClock();
    policy = new ToldPolicy();
    const providers = [{ provide: MESSAGING_POLICY, useValue: policy }];
    const given = { transport: () => transport, lane: () => `lane ${next}`, ...options };
    app = await bootApp(database.options(), given, { providers, clock });
    sms = app.get(SmsService);
    contacts = app.get(ContactsService);
  }

  afterEach(() => app.close());

  it('a STOP during a campaign stops the rest of it for that person', async () => {
    await boot({ concurrency: 1, lane: () => 'campaign' });
    const [person, other] = [number(), number()];
    let release = (): void => undefined;
    transport.answer = () => new Promise((resolve) => (release = resolve));
    const sent: string[] = [];
    for (let n = 0; n < 20; n++) sent.push((await send(n % 2 ? other : person)).id);
    await eventually(async () => expect(transport.submissions).toHaveLength(1));
    await stop(person);
    clock.leap += 1_001;
    transport.answer = async () => undefined;
    release();
    for (const [n, id] of sent.entries())
      await eventually(async () =>
        expect(await counts(id)).toEqual(n === 0 || n % 2 ? { sent: 1 } : { rejected: 1 }),
      );
    const to = transport.submissions.flatMap(({ recipients }) => recipients);
    expect(to).toEqual([person, ...Array.from({ length: 10 }, () => other)]);
    const { data } = await sms.messages(sent[2]!);
    expect(data).toMatchObject([{ recipient: person, errorCode: 'opted_out' }]);
  });

  it('a message that policy denies at dispatch is rejected without a request', async () => {
    await boot({}, { maxRecipients: 10, idempotencyWindow: 3_600_000 });
    const [a, b, c] = [number(), number(), number()];
    const { id } = await send([a, b, c], { sendAt: new Date(Date.now() + 3_600_000) });
    await contacts.suppress(b, { reason: 'complaint' });
    await sms.reschedule(id, new Date());
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 2, rejected: 1 }));
    expect(transport.submissions.map(({ recipients }) => recipients)).toEqual([[a], [c]]);
    expect((await sms.batch(id)).status).toBe('completed');
  });

  it('policy at dispatch also holds without idempotency keys', async () => {
    await boot({ concurrency: 2 }, { maxRecipients: 1, idempotencyWindow: 0 });
    const to = Array.from({ length: 9 }, number);
    policy.say = (recipient) => (to.indexOf(recipient) % 3 === 1 ? DENY : undefined);
    const { id } = await send(to);
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 6, rejected: 3 }));
    expect(transport.submissions.flatMap(({ recipients }) => recipients)).toEqual(
      to.filter((_, index) => index % 3 !== 1),
    );
  });

  it('deferred messages wait while the rest of their batch and later batches are sent', async () => {
    await boot();
    const [a, b, c, d] = [number(), number(), number(), number()];
    let deferred = true;
    policy.say = (recipient, { now }) =>
      recipient === b && deferred ? { decision: 'defer', until: new Date(now + 200) } : undefined;
    const first = await send([a, b, c]);
    const second = await send(d);
    await eventually(async () => {
      expect(await counts(first.id)).toEqual({ sent: 2, queued: 1 });
      expect(await counts(second.id)).toEqual({ sent: 1 });
    });
    expect(transport.submissions.flatMap(({ recipients }) => recipients)).toEqual([a, c, d]);
    expect(await sms.batch(first.id)).toMatchObject({
      status: 'sending',
      deferredUntil: expect.any(Date) as unknown,
      reason: policy.name,
    });
    deferred = false;
    await eventually(async () => expect(await counts(first.id)).toEqual({ sent: 3 }));
    expect(transport.submissions.at(-1)!.recipients).toEqual([b]);
    expect(await sms.batch(first.id)).toMatchObject({
      status: 'completed',
      deferredUntil: null,
      reason: null,
    });
    expect((await sms.messages(first.id)).data).toMatchObject([
      { errorCode: null },
      { errorCode: null, deferredUntil: null },
      { errorCode: null },
    ]);
  });

  it('views of a deferred message have the reason and the time', async () => {
    await boot();
    const until = new Date(Date.now() + 3_600_000);
    policy.say = () => ({ decision: 'defer', until, code: 'holiday' });
    const { id } = await send([number(), number()]);
    await eventually(async () => expect((await sms.messages(id)).data).toHaveLength(2));
    const why = { errorCode: 'holiday', deferredUntil: until, attempts: 0 };
    expect(await sms.batch(id)).toMatchObject({
      status: 'queued',
      deferredUntil: until,
      reason: 'holiday',
    });
    expect((await sms.batches()).data[0]).toMatchObject({ status: 'queued', deferredUntil: until });
    expect((await sms.messages(id)).data).toMatchObject([why, why]);
    expect((await sms.deliveries(id)).data).toMatchObject([why, why]);
    expect(await sms.message(`${id}-0`)).toMatchObject(why);
    expect(await sms.timeline(`${id}-1`)).toMatchObject({ status: 'queued', ...why });
    const history = app.get(MessageHistory);
    expect(await history.message(`${id}-0`)).toMatchObject({ ...why, waitsUntil: until });
    expect((await history.messages({ limit: 1 })).data).toMatchObject([why]);
    await sms.cancel(id);
    expect(await sms.batch(id)).toMatchObject({
      status: 'cancelled',
      deferredUntil: null,
      reason: null,
    });
    expect((await sms.message(`${id}-0`)).deferredUntil).toBeNull();
  });

  it('a deferred message can be cancelled', async () => {
    await boot();
    const until = new Date(Date.now() + 3_600_000);
    policy.say = () => ({ decision: 'defer', until });
    const { id } = await send([number(), number()]);
    await eventually(async () => expect((await sms.messages(id)).data).toHaveLength(2));
    expect((await sms.cancel(id)).counts).toEqual({ cancelled: 2 });
    expect(transport.submissions).toEqual([]);
  });

  it('substituted content is stored, sent and resent unchanged', async () => {
    await boot({ backoff: 1 });
    const content: MessageContent = {
      kind: 'template',
      template: 'hello',
      language: 'en',
      params: ['you'],
    };
    policy.say = (_, { items }) =>
      items[0]?.message.content.kind === 'text' ? { decision: 'substitute', content } : undefined;
    transport.answer = async () => {
      if (transport.submissions.length === 1)
        throw new UncertainFailure('lost', 'the answer was lost');
    };
    const { id } = await send(number());
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    expect(transport.submissions.map((one) => [one.id, one.content])).toEqual([
      [`${id}-s0`, content],
      [`${id}-s0`, content],
    ]);
    const rows = await app
      .get(DataSource)
      .query<{ content: string }[]>(
        `SELECT content FROM messaging_submission WHERE batch = '${id}'`,
      );
    expect(JSON.parse(rows[0]!.content)).toEqual(content);
    expect((await sms.batch(id)).content).toEqual({ kind: 'text', text: 'Hello' });
  });

  it('an uncertain submission to a recipient who said STOP becomes unknown', async () => {
    await boot({ backoff: 1 });
    const person = number();
    transport.answer = async () => {
      await stop(person);
      throw new UncertainFailure('lost', 'the answer was lost');
    };
    const { id } = await send(person);
    await eventually(async () => expect(await counts(id)).toEqual({ unknown: 1 }));
    expect(transport.submissions).toHaveLength(1);
  });

  it('a policy that throws blocks the lane until it answers', async () => {
    await boot();
    let asked = 0;
    policy.say = () => {
      if (++asked === 1) throw new Error('the policy has no database');
      expect(transport.submissions).toEqual([]);
      return undefined;
    };
    const { id } = await send(number());
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    expect(asked).toBeGreaterThan(1);
  });
});
