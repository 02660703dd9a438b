import { randomBytes } from 'node:crypto';
import {
  ContactsService,
  type EmailMessage,
  EmailService,
  type ListedMessage,
  type MessageFilter,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_STATUS_LISTENER,
  type MessageStatusChanged,
  MessagingModule,
  MessagingService,
  type Page,
  PolicyError,
  simulator,
  type StatsOptions,
  type StatusListener,
} from '@dundun/messaging';
import {
  type MessageTransport,
  personalised,
  BouncedFailure,
  DeferredFailure,
  type Submission,
  type SubmissionAccepted,
} from '@dundun/messaging/ports';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const FROM = 'Shop <orders@shop.example>';
const TEXT = { from: FROM, subject: 'Hello', text: 'Hello' } as const;

/** Keeps each submission; `fail` may refuse it. */
class RecordingTransport implements MessageTransport {
  readonly name = 'mail';
  readonly capabilities = { maxRecipients: 2, idempotencyWindow: 3_600_000, channels: ['email'] };
  readonly submissions: Submission[] = [];
  fail: (submission: Submission) => void = () => undefined;

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.fail(submission);
    this.submissions.push(submission);
    return { reference: `ref-${submission.id}` };
  }

  of(batchId: string): Submission[] {
    return this.submissions.filter((one) => one.batchId === batchId);
  }
}

/** Records the events of a listener in the transaction and of one after the commit. */
class Events implements StatusListener {
  readonly within: MessageStatusChanged[] = [];
  readonly after: MessageStatusChanged[] = [];

  async onStatusChanged(changes: readonly MessageStatusChanged[]): Promise<void> {
    this.within.push(...changes);
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onChange(change: MessageStatusChanged): void {
    if (change.sequence > 0) this.after.push(change);
  }
}

@Module({ providers: [Events, { provide: MESSAGING_STATUS_LISTENER, useExisting: Events }] })
class EventsModule {}

describeOneDatabase('email', (database) => {
  let app: TestingModule;
  let email: EmailService;
  let transport: RecordingTransport;

  beforeAll(async () => {
    transport = new RecordingTransport();
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        EventsModule,
        MessagingModule.forRoot({
          providers: {
            mail: () => transport,
            main: simulator({ reportDelay: 10, replyDelay: 10 }),
          },
          routes: [{ channel: 'email', use: 'mail' }, { use: 'main' }],
          dispatch: { backoff: 1, maxAttempts: 3 },
          store: { retention: { content: 0 } },
          erasure: { keys: [randomBytes(32).toString('base64')] },
          callbackPath: false,
        }),
      ],
    }).compile();
    await app.init();
    email = app.get(EmailService);
  });
  afterAll(() => app.close());

  const query = <T>(sql: string): Promise<T[]> => app.get(DataSource).query(sql);
  const rowsOf = async (table: string, id: string) =>
    (await query<{ n: string | number }>(`SELECT n FROM messaging_${table} WHERE batch = '${id}'`))
      .length;
  const completed = (id: string, tenant = '') =>
    eventually(async () => expect((await email.batch(id, { tenant })).status).toBe('completed'));

  it('each address of to, cc and bcc is one message of the same content', async () => {
    const { id, recipients } = await email.send({
      from: FROM,
      to: ['Ada <ada@Example.com>', { email: 'bea@example.com', name: 'Béa' }],
      cc: ['ada@example.com', '"Doe, Cy" <cy@bücher.example>'],
      bcc: 'dan@example.com',
      replyTo: 'help@shop.example',
      subject: 'Your order {{number}}',
      html: '<p>It is on its way.</p>',
      text: '',
      headers: { 'x-priority': '1' },
    });
    expect(recipients).toBe(4);
    await completed(id);
    const content = {
      kind: 'email',
      from: { email: 'orders@shop.example', name: 'Shop' },
      to: [
        { email: 'ada@example.com', name: 'Ada' },
        { email: 'bea@example.com', name: 'Béa' },
      ],
      cc: [{ email: 'cy@xn--bcher-kva.example', name: 'Doe, Cy' }],
      replyTo: [{ email: 'help@shop.example' }],
      subject: 'Your order {{number}}',
      html: '<p>It is on its way.</p>',
      text: '',
      headers: { 'X-Priority': '1' },
    };
    const sent = transport.of(id);
    // The transport takes two recipients at most.
    expect(sent.map(({ recipients: to, messageIds }) => [to, messageIds])).toEqual([
      [
        ['ada@example.com', 'bea@example.com'],
        [`${id}-0`, `${id}-1`],
      ],
      [
        ['cy@xn--bcher-kva.example', 'dan@example.com'],
        [`${id}-2`, `${id}-3`],
      ],
    ]);
    for (const { content: got, sender, personal, attachments } of sent)
      expect([got, sender, personal, attachments]).toEqual([
        content,
        'orders@shop.example',
        undefined,
        undefined,
      ]);
    expect(await email.batch(id)).toMatchObject({ content, sender: 'orders@shop.example' });
  });

  it('each of recipients gets its own name and variables, also when it is tried again', async () => {
    const people = Array.from({ length: 1_003 }, (_, n) => ({
      email: `p${n}@example.com`,
      ...(n % 2 === 0 && { name: `Person ${n}` }),
      variables: { order: `<${n}>`, unused: 'x' },
    }));
    const refused = new Set<string>();
    transport.fail = ({ recipients: [first = ''], attempt }) => {
      if (attempt > 1 || !/^p(?:4|1002)@/.test(first)) return;
      refused.add(first);
      throw new DeferredFailure('greylisted', 'Come back later', 50, 60_000);
    };
    const { id } = await email.send({
      from: FROM,
      recipients: people,
      subject: 'Order {{ order }}',
      html: '<b>{{order}}</b>',
    });
    await completed(id);
    transport.fail = () => undefined;
    expect(refused.size).toBe(2);
    const got = new Map(
      transport
        .of(id)
        .flatMap(({ recipients, personal }) =>
          recipients.map((recipient, index) => [recipient, personal?.[index]] as const),
        ),
    );
    expect(got.size).toBe(1_003);
    for (const { email: address, name, variables } of people)
      expect(got.get(address)).toEqual({
        ...(name !== undefined && { name }),
        variables: { order: variables.order },
      });
    const [{ content, personal } = { content: { kind: 'email' } as never, personal: undefined }] =
      transport.of(id);
    expect(personalised(content as never, personal?.[0])).toMatchObject({
      subject: 'Order <0>',
      html: '<b>&lt;0&gt;</b>',
    });
    expect(await rowsOf('batch_personal', id)).toBe(2);
  });

  it('an unanswered submission of a process that died is sent again with its variables', async () => {
    const { id } = await email.send({
      from: FROM,
      recipients: [{ email: 'crash@example.com', variables: { x: '1' } }],
      subject: 'Hello {{x}}',
      text: 'Hello',
    });
    await completed(id);
    const [lane] = await query<{ lane: string }>(
      `SELECT lane FROM messaging_batch WHERE id = '${id}'`,
    );
    await query(`UPDATE messaging_submission SET outcome = NULL WHERE batch = '${id}'`);
    const [unanswered] = await app.get(MessageStore).work.unanswered(lane?.lane ?? '');
    expect(unanswered?.recipients).toEqual([
      { position: 0, recipient: 'crash@example.com', personal: { variables: { x: '1' } } },
    ]);
    await query(`UPDATE messaging_submission SET outcome = 1 WHERE batch = '${id}'`);
  });

  it('attachments are stored once and arrive with every submission, byte by byte', async () => {
    const [large, small] = [randomBytes(9 * 1_024 * 1_024 + 7), Buffer.from('logo')];
    const { id } = await email.send({
      ...TEXT,
      to: ['a@example.com', 'b@example.com', 'c@example.com'],
      attachments: [
        { filename: 'scan.pdf', contentType: 'application/pdf', content: large },
        {
          filename: 'logo.png',
          contentType: 'image/png',
          content: small.toString('base64'),
          contentId: 'logo',
        },
        { filename: 'copy.pdf', contentType: 'application/pdf', content: new Uint8Array(large) },
        { filename: 'empty.txt', contentType: 'text/plain', content: '' },
      ],
    });
    await completed(id);
    const sent = transport.of(id);
    expect(sent).toHaveLength(2);
    for (const { attachments = [] } of sent) {
      expect(
        attachments.map(({ filename, contentType, contentId }) => [
          filename,
          contentType,
          contentId,
        ]),
      ).toEqual([
        ['scan.pdf', 'application/pdf', undefined],
        ['logo.png', 'image/png', 'logo'],
        ['copy.pdf', 'application/pdf', undefined],
        ['empty.txt', 'text/plain', undefined],
      ]);
      const contents = [large, small, large, Buffer.alloc(0)];
      expect(attachments.map(({ content }, n) => content.equals(contents[n]!))).toEqual([
        true,
        true,
        true,
        true,
      ]);
    }
    // Three pieces of 4 MiB, and the small one.
    expect(await rowsOf('batch_attachment', id)).toBe(4);
  });

  it('retention erases variables, attachments and labels with the content', async () => {
    const { id } = await email.send({
      from: FROM,
      recipients: [{ email: 'old@example.com', variables: { x: '1' } }],
      subject: '{{x}}',
      text: 'Hello',
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'AAAA' }],
      metadata: { order: '1' },
    });
    const further = () =>
      Promise.all(
        ['batch_personal', 'batch_attachment', 'batch_label'].map((table) => rowsOf(table, id)),
      );
    await completed(id);
    await query(`UPDATE messaging_batch SET poll_at = NULL WHERE id = '${id}'`);
    expect(await further()).toEqual([1, 1, 1]);
    while (await app.get(MessageStore).purge.step(100));
    expect((await email.batch(id)).content).toBeNull();
    expect(await further()).toEqual([0, 0, 0]);
  });

  it('an erased person is removed from variables, headers and details, and other recipients stay', async () => {
    const sendAt = new Date(Date.now() + 3_600_000);
    const own = await email.send({
      from: FROM,
      sendAt,
      recipients: ['gone@example.com', 'stays@example.com'].map((address) => ({
        email: address,
        variables: { x: `secret of ${address}` },
      })),
      subject: '{{x}}',
      text: 'Hello',
    });
    const shown = await email.send({
      ...TEXT,
      sendAt,
      to: ['Gone <gone@example.com>', 'stays@example.com'],
      cc: 'cc@example.com',
    });
    await app.get(ContactsService).erase('gone@example.com');
    const [personal] = await query<{ entries: string }>(
      `SELECT entries FROM messaging_batch_personal WHERE batch = '${own.id}'`,
    );
    expect(personal?.entries).toBe('\n{"variables":{"x":"secret of stays@example.com"}}');
    const { content } = await email.batch(shown.id);
    expect(content).toMatchObject({ to: [{ email: 'stays@example.com' }] });
    expect(JSON.stringify(content)).not.toContain('gone');
  });

  it('a send joins a transaction, and a key repeats it with its attachments and variables', async () => {
    const message = {
      from: FROM,
      recipients: [{ email: 'key@example.com', variables: { x: '1' } }],
      subject: '{{x}}',
      text: 'Hello',
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'AAAA' }],
    };
    const options = { idempotencyKey: 'repeated' };
    const send = (manager?: Parameters<Parameters<MessagingService['transaction']>[0]>[0]) =>
      email.send(message, { ...options, ...(manager && { manager }) });
    await expect(
      app.get(MessagingService).transaction(async (manager) => {
        await send(manager);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(
      (await email.batches({ limit: 1_000 })).data.map(({ content }) => content),
    ).not.toContainEqual(
      expect.objectContaining({ subject: '{{x}}', attachments: [expect.anything()] }),
    );
    const first = await app.get(MessagingService).transaction((manager) => send(manager));
    expect(await send()).toMatchObject({ id: first.id, replayed: true });
    const others = [
      { ...message, recipients: [{ email: 'key@example.com', variables: { x: '2' } }] },
      { ...message, attachments: [{ ...message.attachments[0]!, content: 'AAAB' }] },
    ];
    for (const other of others)
      await expect(email.send(other, options)).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
  });

  it('groups are expanded to the email addresses of their members', async () => {
    const { groups } = app.get(ContactsService);
    const { id: group } = await groups.create('readers');
    await groups.add(group, [
      { email: 'one@example.com', phone: '2348012345678' },
      'two@example.com',
    ]);
    const { recipients } = await email.send({
      ...TEXT,
      recipients: [{ email: 'two@example.com', name: 'Two' }, group],
    });
    expect(recipients).toBe(2);
    await expect(
      email.send({ ...TEXT, subject: '{{x}}', recipients: [group] }),
    ).rejects.toMatchObject({ fields: [{ path: 'recipients[0]' }] });
  });

  it('marketing goes to recipients with an opt-in for marketing, and other email to all', async () => {
    const contacts = app.get(ContactsService);
    await contacts.optIn('reader@example.com', {
      channel: 'email',
      category: 'marketing',
      source: 'form',
    });
    const marketing = { ...TEXT, category: 'marketing' } as const;
    await expect(email.send({ ...marketing, to: 'nobody@example.com' })).rejects.toThrow(
      PolicyError,
    );
    await email.send({ ...TEXT, to: 'nobody@example.com' });
    const { id } = await email.send({
      ...marketing,
      recipients: [
        { email: 'reader@example.com', variables: { x: 'for reader' } },
        { email: 'nobody@example.com', variables: { x: 'for nobody' } },
      ],
      subject: '{{x}}',
    });
    await completed(id);
    expect((await email.batch(id)).counts).toEqual({ sent: 1, rejected: 1 });
    expect(transport.of(id).map(({ recipients, personal }) => [recipients, personal])).toEqual([
      [['reader@example.com'], [{ variables: { x: 'for reader' } }]],
    ]);
  });

  it('a bounce with its details follows a delivery, and a delay is an event', async () => {
    const events = app.get(Events, { strict: false });
    const { id } = await email.send({ ...TEXT, to: 'late@example.com' });
    await completed(id);
    const report = {
      reference: `ref-${id}-s0`,
      messageId: null,
      recipient: 'late@example.com',
      rawStatus: 'x',
      errorCode: null,
      providerTime: new Date('2026-01-01T00:00:00Z'),
    };
    const details = { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' };
    const hear = (...reports: object[]) =>
      app.get(MessageStore).reports.record(reports as never, { provider: 'mail' });
    await hear({ ...report, status: 'delayed', errorCode: '4.2.2' });
    await hear({ ...report, status: 'delayed', errorCode: '4.2.2' });
    await hear({ ...report, status: 'delivered' });
    await hear({ ...report, status: 'bounced', errorCode: '5.1.1', details });
    await hear({ ...report, status: 'delivered', rawStatus: 'again' });
    expect(await email.message(`${id}-0`)).toMatchObject({ status: 'bounced', errorCode: '5.1.1' });
    const of = (list: readonly MessageStatusChanged[]) =>
      list
        .filter(({ batchId }) => batchId === id)
        .map(({ sequence, status, event, details: own }) => [sequence, status, event, own]);
    const expected = [
      [1, 'sent', undefined, undefined],
      [2, 'sent', 'delayed', undefined],
      [3, 'delivered', undefined, undefined],
      [4, 'bounced', undefined, details],
    ];
    expect(of(events.within)).toEqual(expected);
    expect(of(events.after)).toEqual(expected);
    const { reports } = await email.timeline(`${id}-0`);
    expect(reports.map(({ status, rawStatus, details: own }) => [status, rawStatus, own])).toEqual([
      ['sent', 'submit', null],
      [null, 'delayed', null],
      ['delivered', 'x', null],
      ['bounced', 'x', details],
      ['delivered', 'again', null],
    ]);
  });

  it('a message that is refused for now is delayed with one event, then bounces with the answer', async () => {
    const events = app.get(Events, { strict: false });
    transport.fail = ({ attempt }) => {
      if (attempt < 5)
        throw new DeferredFailure('4.7.1', 'Greylisted', 50, 60_000, { smtp_code: 450 });
      if (attempt === 5) throw new BouncedFailure('5.1.1', 'No such user', { smtp_code: 550 });
    };
    const { id } = await email.send({ ...TEXT, to: 'grey@example.com' });
    await completed(id);
    transport.fail = () => undefined;
    expect(
      events.within
        .filter(({ batchId }) => batchId === id)
        .map(({ sequence, status, event, errorCode, details }) => [
          sequence,
          status,
          event,
          errorCode,
          details,
        ]),
    ).toEqual([
      [1, 'queued', 'delayed', '4.7.1', { smtp_code: 450 }],
      [2, 'bounced', undefined, '5.1.1', { smtp_code: 550 }],
    ]);
    const { reports } = await email.timeline(`${id}-0`);
    expect(reports.map(({ rawStatus, details }) => [rawStatus, details])).toEqual([
      ['delayed', { smtp_code: 450 }],
      ['submit', { smtp_code: 550 }],
    ]);
  });

  it('a hard bounce and a complaint suppress the address at once, and other bounces do not', async () => {
    const send = (to: string) => email.send({ ...TEXT, to });
    const report = async (to: string, changes: object) => {
      const { id } = await send(to);
      await completed(id);
      const sound = { messageId: null, recipient: to, rawStatus: 'x', providerTime: null };
      await app
        .get(MessageStore)
        .reports.record(
          [{ ...sound, reference: `ref-${id}-s0`, errorCode: null, ...changes } as never],
          { provider: 'mail' },
        );
      return `${id}-0`;
    };
    const hard = { status: 'bounced', errorCode: '5.1.1' };
    const by = { status: 'bounced', errorCode: '5.2.1', details: { category: 'recipient' } };
    const messages = [
      await report('hard@example.com', hard),
      await report('disabled@example.com', by),
      await report('complains@example.com', { status: 'complained' }),
    ];
    await report('blocked@example.com', { status: 'bounced', errorCode: '5.7.1' });
    const listed = { enhanced_code: '5.7.1', category: 'block' };
    await report('listed@example.com', { status: 'bounced', errorCode: '5.1.1', details: listed });
    await report('rate@example.com', { status: 'bounced', details: { enhanced_code: '5.2.1' } });
    await report('late@example.org', { status: 'delivered' });
    transport.fail = () => {
      throw new BouncedFailure('5.1.1', 'No such user', {});
    };
    const { id } = await send('unknown@example.com');
    await completed(id);
    transport.fail = () => undefined;
    const { data } = await app.get(ContactsService).suppressions();
    expect(
      data.map(({ address, channel, category, reason, messageId }) => [
        address?.value,
        channel,
        category,
        reason,
        messageId,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['complains@example.com', 'email', '*', 'complaint', messages[2]],
        ['disabled@example.com', 'email', '*', 'hard_bounce', messages[1]],
        ['hard@example.com', 'email', '*', 'hard_bounce', messages[0]],
        ['unknown@example.com', 'email', '*', 'hard_bounce', `${id}-0`],
      ]),
    );
    for (const to of ['hard@example.com', 'complains@example.com', 'unknown@example.com'])
      await expect(send(to)).rejects.toMatchObject({ code: 'suppressed' });
    for (const name of ['blocked', 'listed', 'rate']) await send(`${name}@example.com`);
    const some = await email.send({ ...TEXT, to: ['hard@example.com', 'fine@example.com'] });
    await completed(some.id);
    expect((await email.batch(some.id)).counts).toEqual({ sent: 1, rejected: 1 });
    expect(await email.message(`${some.id}-0`)).toMatchObject({
      recipient: 'hard@example.com',
      errorCode: 'suppressed',
    });
  });

  it('the list has a row for each recipient, the newest batch first, and finds rows by every filter', async () => {
    const tenant = 'lister';
    const sendAt = new Date('2150-01-01');
    const metadata = { order: '17', __proto__x: 'y' };
    const first = await email.send(
      {
        ...TEXT,
        recipients: Array.from({ length: 1_005 }, (_, n) => `p${n}@example.com`),
        sendAt,
        tags: ['news', 'a-1', 'news'],
        metadata,
      },
      { tenant },
    );
    const second = await email.send(
      { ...TEXT, from: 'other@shop.example', to: ['ada@example.com', 'p1004@example.com'], sendAt },
      { tenant },
    );
    const third = await email.send({ ...TEXT, to: 'ada@example.com', tags: ['a-1'] }, { tenant });
    await email.send({ ...TEXT, to: 'ada@example.com', tags: ['a-1'] }, { tenant: 'another' });
    await completed(third.id, tenant);
    const all: ListedMessage[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const page: Page<ListedMessage> = await email.list({
        tenant,
        limit: 400,
        ...(cursor !== undefined && { cursor }),
      });
      all.push(...page.data);
      cursor = page.nextCursor;
    }
    expect([pages, all.length]).toEqual([3, 1_008]);
    expect(all.map(({ id }) => id)).toEqual([
      `${third.id}-0`,
      `${second.id}-0`,
      `${second.id}-1`,
      ...Array.from({ length: 1_005 }, (_, n) => `${first.id}-${n}`),
    ]);
    expect(all[3]).toEqual({
      id: `${first.id}-0`,
      batchId: first.id,
      tenant: 'lister',
      channel: 'email',
      provider: null,
      position: 0,
      recipient: 'p0@example.com',
      status: 'queued',
      errorCode: null,
      deferredUntil: null,
      attempts: 0,
      sequence: 0,
      country: '',
      parts: 0,
      cost: null,
      currency: null,
      kind: 'email',
      template: null,
      metadata,
      sender: 'orders@shop.example',
      subject: 'Hello',
      tags: ['news', 'a-1'],
      acceptedAt: first.createdAt,
      sendAt,
    });
    const found = async (filter: MessageFilter) =>
      (await email.list({ tenant, limit: 5, ...filter })).data.map(({ id }) => id);
    expect(await found({ to: 'p1004@example.com' })).toEqual([
      `${second.id}-1`,
      `${first.id}-1004`,
    ]);
    expect(await found({ from: 'other@shop.example' })).toHaveLength(2);
    expect(await found({ status: 'sent' })).toEqual([`${third.id}-0`]);
    expect(await found({ tag: 'a-1', to: 'ada@example.com' })).toEqual([`${third.id}-0`]);
    expect(await found({ tag: 'A-1' })).toEqual([]);
    expect(await found({ batchId: second.id, limit: 1 })).toEqual([`${second.id}-0`]);
    expect(await found({ since: new Date(third.createdAt.getTime() + 1) })).toEqual([]);
    expect((await found({ since: third.createdAt }))[0]).toBe(`${third.id}-0`);
    expect(await found({ until: first.createdAt })).toEqual([]);
    const labelsOf = async ({ id }: { readonly id: string }) => {
      const { tags, metadata: own } = await email.batch(id, { tenant });
      return { tags, metadata: own };
    };
    expect(await labelsOf(first)).toEqual({ tags: ['news', 'a-1'], metadata });
    expect(await labelsOf(second)).toEqual({ tags: [], metadata: {} });
    expect(await labelsOf(third)).toEqual({ tags: ['a-1'], metadata: {} });
    for (const batchId of [third.id, 'x'])
      await expect(email.list({ tenant: 'another', batchId })).rejects.toMatchObject({
        code: 'not_found',
      });
    await expect(email.list({ tenant, cursor: 'x' })).rejects.toMatchObject({
      fields: [{ path: 'cursor' }],
    });
  });

  it('statistics count the messages whose log has a status or event at least once', async () => {
    const tenant = 'counter';
    const since = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3_600_000);
    const until = new Date(since.getTime() + 3 * 3_600_000);
    const { id } = await email.send(
      { ...TEXT, to: ['ada@example.com', 'bea@example.com', 'cy@example.com'], tags: ['t'] },
      { tenant },
    );
    await completed(id, tenant);
    const report = {
      reference: `ref-${transport.of(id)[0]?.id}`,
      messageId: null,
      recipient: 'ada@example.com',
      rawStatus: 'x',
      errorCode: null,
    };
    const statuses = ['delayed', 'delayed', 'delivered', 'bounced', 'unsubscribed'];
    for (const [n, status] of statuses.entries())
      await app
        .get(MessageStore)
        .reports.record([{ ...report, status, providerTime: new Date(1.7e12 + n) }] as never, {
          provider: 'mail',
        });
    const stats = (filter: Partial<StatsOptions>) =>
      email.stats({ tenant, since, until, interval: 'hour', ...filter });
    const counts = { sent: 3, delayed: 1, delivered: 1, bounced: 1, unsubscribed: 1 };
    const [before, now, next, ...others] = await stats({ tag: 't', domain: 'shop.example' });
    expect(others).toEqual([]);
    expect([before, now, next].map((one) => one?.start.getTime())).toEqual(
      [0, 1, 2].map((n) => since.getTime() + n * 3_600_000),
    );
    // The hour may have changed since the test began.
    const [full, empty] = now?.accepted === 3 ? [now, next] : [next, now];
    expect(full).toMatchObject({ accepted: 3, counts });
    expect(empty).toMatchObject({ accepted: 0, counts: {} });
    for (const filter of [{ tag: 'u' }, { domain: 'hop.example' }, { tenant: 'nobody' }])
      expect((await stats(filter)).map(({ accepted }) => accepted)).toEqual([0, 0, 0]);
    expect(await stats({ interval: 'day' })).toContainEqual(
      expect.objectContaining({ accepted: 3, counts }),
    );
    await expect(stats({ since: new Date(0) })).rejects.toMatchObject({
      fields: [{ path: 'since' }],
    });
  });

  it('a scheduled email can be moved or cancelled, and a sent email cannot', async () => {
    const sendAt = new Date(Date.now() + 3_600_000);
    const { id } = await email.send({ ...TEXT, to: ['a@example.com', 'b@example.com'], sendAt });
    const later = new Date(sendAt.getTime() + 60_000);
    expect(await email.reschedule(id, later)).toMatchObject({ status: 'scheduled', sendAt: later });
    expect(await email.cancel(id)).toMatchObject({
      status: 'cancelled',
      counts: { cancelled: 2 },
    });
    expect(transport.of(id)).toEqual([]);
    const other = await email.send({ ...TEXT, to: 'c@example.com', sendAt });
    await email.reschedule(other.id, new Date());
    await completed(other.id);
    expect(transport.of(other.id)).toHaveLength(1);
    const sent = { code: 'already_sent' };
    await expect(email.cancel(other.id)).rejects.toMatchObject(sent);
    await expect(email.reschedule(other.id, later)).rejects.toMatchObject(sent);
  });

  it('an estimate is the size of the whole message, and a message above the limit is refused', async () => {
    const of = (bytes: number) => ({
      ...TEXT,
      to: 'a@example.com',
      attachments: [
        { filename: 'a.bin', contentType: 'application/pdf', content: randomBytes(bytes) },
      ],
    });
    const { size } = await email.estimate(of(3_000_000));
    expect(size).toBeGreaterThan(3_000_000);
    expect(size).toBeLessThan(3_010_000);
    await expect(email.send(of(25 * 1_024 * 1_024))).rejects.toMatchObject({
      code: 'payload_too_large',
      fields: [{ path: 'attachments' }],
    });
  });

  it('several emails under one key are accepted all or none', async () => {
    const options = { tenant: 'many', idempotencyKey: 'k' };
    const messages = ['ada', 'bea', 'cy'].map((name) => ({
      ...TEXT,
      to: `${name}@example.com`,
      sendAt: new Date('2150-01-01'),
    }));
    const wrong = { ...TEXT, to: 'nobody', subject: '' };
    await expect(email.sendAll([...messages, wrong], options)).rejects.toMatchObject({
      fields: [{ path: 'messages[3].to[0]' }, { path: 'messages[3].subject' }],
    });
    expect((await email.list({ tenant: 'many' })).data).toEqual([]);
    const first = await email.sendAll(messages, options);
    expect(first.map(({ replayed }) => replayed)).toEqual([false, false, false]);
    const again = await email.sendAll(messages, options);
    expect(again).toEqual(first.map((receipt) => ({ ...receipt, replayed: true })));
    const others = [
      messages.slice(0, 2),
      messages.slice(0, 1),
      [...messages, ...messages],
      messages.with(2, { ...TEXT, to: 'dan@example.com' } as never),
    ];
    for (const other of others)
      await expect(email.sendAll(other, options)).rejects.toMatchObject({
        code: 'idempotency_key_reused',
      });
    expect((await email.list({ tenant: 'many' })).data).toHaveLength(3);
    // The key of a single send is another one.
    const { replayed } = await email.send(messages[0] as EmailMessage, options);
    expect(replayed).toBe(false);
  });
});
