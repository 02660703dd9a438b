import {
  ContactsService,
  MESSAGING_POLICY,
  MessagingModule,
  type MessagingPolicy,
  type NewVerification,
  SmsService,
  type MessagingOptions,
  VerificationService,
} from '@dundun/messaging';
import { HoldsService, MessageHistory } from '@dundun/messaging/operations';
import {
  BouncedFailure,
  type ChannelDefinition,
  type MessageTransport,
  PausedFailure,
  type Submission,
  type SubmissionAccepted,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { HoldWatch } from '../../../libs/messaging/src/dispatch/hold-watch.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { columnsWith, filesWith } from '../../support/stored-text.js';

const OLD = Buffer.alloc(32, 1).toString('base64');
const NEW = Buffer.alloc(32, 2).toString('base64');
const HOLD = { lanes: '*', reason: 'test' };
const TABLES = [
  'hold',
  'verification',
  'verification_limit',
  'report',
  'message',
  'submission',
  'batch_text',
  'batch_chunk',
  'batch',
  'lane',
];
/** So long that no other number in the store has its digits. */
const LENGTH = 8;

/** Keeps the sent messages; `fails` is thrown while it is set. */
class Recorder implements MessageTransport {
  readonly name = 'recorder';
  readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000 };
  readonly submissions: Submission[] = [];
  fails: ((submission: Submission) => Error) | undefined;

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.submissions.push(submission);
    if (this.fails) throw this.fails(submission);
    return { reference: `ref-${submission.id}` };
  }

  codeTo(to: string): string {
    const sent = this.submissions.find(({ recipients }) => recipients[0] === to);
    return /\b\d{8}\b/.exec(JSON.stringify(sent?.content ?? ''))?.[0] ?? '';
  }
}

interface Started {
  readonly id: string;
  readonly to: string;
  readonly batch: string;
  readonly code: string;
}

type BootOptions = MessagingOptions & { readonly policies?: readonly MessagingPolicy[] };

interface Booted {
  readonly app: TestingModule;
  readonly codes: VerificationService;
  readonly recorder: Recorder;
}

describeEachDatabase('the message of a pending code', (database) => {
  let source: DataSource;
  const apps: TestingModule[] = [];
  const errors: string[] = [];
  let numbers = 0;
  const numberOf = () => `234803${String(++numbers * 10_007).padStart(7, '0')}`;

  beforeAll(async () => (source = await database.open()));
  beforeEach(() => {
    errors.length = 0;
    jest
      .spyOn(Logger.prototype, 'error')
      .mockImplementation((line: unknown) => void errors.push(String(line)));
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    jest.restoreAllMocks();
    for (const table of TABLES) await source.query(`DELETE FROM messaging_${table}`);
  });

  async function boot(
    verification: MessagingOptions['verification'] = {},
    { policies = [], ...options }: BootOptions = {},
  ): Promise<Booted> {
    const recorder = new Recorder();
    const app = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: () => recorder,
          erasure: { keys: [Buffer.alloc(32, 9).toString('base64')] },
          whatsapp: { templates: 'open', from: '2348000000001' },
          voice: { from: '2348000000002' },
          verification: { template: { name: 'login_code', language: 'en' }, ...verification },
          callbackPath: false,
          ...options,
        }),
      ],
      providers: policies.map((useValue) => ({ provide: MESSAGING_POLICY, useValue })),
    }).compile();
    app.useLogger(false);
    await app.init();
    apps.push(app);
    return { app, codes: app.get(VerificationService), recorder };
  }

  const close = async ({ app }: Booted) => {
    apps.splice(apps.indexOf(app), 1);
    await app.close();
  };
  const hold = async ({ app }: Booted) => {
    await app.get(HoldsService).hold(HOLD);
    await app.get(HoldWatch, { strict: false }).refresh();
  };
  const release = ({ app }: Booted) => app.get(HoldsService).release(HOLD);

  /** Starts a code whose message a hold keeps, and reads the code as a simulated phone does. */
  async function started(
    { codes, app }: Booted,
    channel: string,
    own: Partial<NewVerification> = {},
  ): Promise<Started> {
    const to = channel === 'email' ? `${randomUUID()}@example.com` : numberOf();
    const from = { sms: 'ACME', email: 'codes@shop.example' }[channel];
    if (channel === 'whatsapp')
      await app.get(ContactsService).optIn([to], { channel, source: 'test' });
    const { id } = await codes.start({ to, channel, from, length: LENGTH, ...own });
    const [row] = await source.query<{ batch: string }[]>(
      `SELECT batch FROM messaging_verification WHERE id = '${id}'`,
    );
    const batch = row?.batch ?? '';
    const store = app.get(MessageStore, { strict: false });
    const contents = await store.records.contents([`${batch}-0`], { codes: true });
    const [code = ''] = /\b\d{8}\b/.exec(JSON.stringify([...contents.values()])) ?? [];
    expect(code).toMatch(/^\d{8}$/);
    return { id, to, batch, code };
  }

  const expectSent = async ({ recorder, codes }: Booted, { id, to, code }: Started) => {
    await eventually(async () => expect(recorder.codeTo(to)).toBe(code));
    expect(await codes.check(id, code)).toMatchObject({ status: 'verified' });
  };
  const columnsOf = (pending: readonly Started[]) =>
    columnsWith(
      source,
      pending.map(({ code }) => code),
    );
  const placesOf = async (pending: readonly Started[]) => [
    ...(await columnsOf(pending)),
    ...(await filesWith(
      database,
      pending.map(({ code }) => code),
    )),
  ];
  const contentOf = async ({ batch }: Started): Promise<string> => {
    const rows = await source.query<{ content: string }[]>(
      `SELECT content FROM messaging_batch WHERE id = '${batch}'`,
    );
    return rows[0]?.content ?? '';
  };
  const messageOf = ({ app }: Booted, { batch }: Pick<Started, 'batch'>) =>
    app.get(MessageHistory).message(`${batch}-0`);

  it('a pending code of any channel is in no column and no file, and arrives after the hold', async () => {
    const booted = await boot({ keys: [NEW, OLD] });
    await hold(booted);
    const pending = [];
    for (const channel of ['sms', 'whatsapp', 'voice', 'email'])
      pending.push(await started(booted, channel));
    expect(await placesOf(pending)).toEqual([]);
    expect(booted.recorder.submissions).toEqual([]);
    await release(booted);
    for (const one of pending) await expectSent(booted, one);
    expect(await placesOf(pending)).toEqual([]);
  });

  it('a code within a long text is in no column, and arrives', async () => {
    const booted = await boot({
      keys: [NEW],
      text: ({ code }) => `${code} ${'An einen Text dieser Länge. '.repeat(300)}`,
    });
    await hold(booted);
    const one = await started(booted, 'email');
    const [row] = await source.query<{ pieces: string | number }[]>(
      `SELECT count(*) AS pieces FROM messaging_batch_text WHERE batch = '${one.batch}'`,
    );
    expect(Number(row?.pieces)).toBe(1);
    expect(await placesOf([one])).toEqual([]);
    await release(booted);
    await expectSent(booted, one);
  });

  it('without keys the content is stored in clear, and with keys it is still sent', async () => {
    const before = await boot();
    await hold(before);
    const one = await started(before, 'sms');
    expect(await columnsOf([one])).toEqual(['messaging_batch.content']);
    await close(before);
    const after = await boot({ keys: [NEW] });
    await release(after);
    await expectSent(after, one);
  });

  it('reencrypt() writes codes under the first key, those in clear and in long texts too', async () => {
    const text: NonNullable<MessagingOptions['verification']>['text'] = ({ code }) =>
      `${code} ${'x'.repeat(5_000)}`;
    const clear = await boot({ text });
    await hold(clear);
    const inClear = await started(clear, 'email');
    await close(clear);
    const old = await boot({ keys: [OLD], text });
    const pending = [inClear, await started(old, 'voice'), await started(old, 'email')];
    await close(old);
    const both = await boot({ keys: [NEW, OLD] });
    expect(await both.codes.reencrypt()).toBe(3);
    expect(await both.codes.reencrypt()).toBe(0);
    expect(await columnsOf(pending)).toEqual([]);
    await close(both);
    const renewed = await boot({ keys: [NEW] });
    await release(renewed);
    for (const one of pending) await expectSent(renewed, one);
  });

  it.each([
    ['a wrong key', [NEW]],
    ['no key', []],
  ])(
    'with %s a message with a code is rejected, and the others of its lane are sent',
    async (_, keys) => {
      const before = await boot({ keys: [OLD] });
      await hold(before);
      const one = await started(before, 'sms');
      const to = numberOf();
      await before.app.get(SmsService).send({ from: 'ACME', to, body: 'Hello' });
      const written = await contentOf(one);
      await close(before);
      const after = await boot({ keys });
      expect(await after.codes.reencrypt()).toBe(0);
      expect(await contentOf(one)).toBe(written);
      await release(after);
      await eventually(async () =>
        expect(await messageOf(after, one)).toMatchObject({
          status: 'rejected',
          errorCode: 'content_unreadable',
          content: null,
        }),
      );
      await eventually(async () =>
        expect(after.recorder.submissions).toMatchObject([{ recipients: [to] }]),
      );
      expect(errors.join('\n')).toContain('add that key to the option verification.keys');
      expect(errors.join('\n')).not.toContain(one.code);
    },
  );

  it('the content of one message decrypts in no other', async () => {
    const booted = await boot({ keys: [NEW] });
    await hold(booted);
    const [one, other] = [await started(booted, 'sms'), await started(booted, 'sms')];
    const content = await contentOf(one);
    await source.query(
      `UPDATE messaging_batch SET content = '${content}' WHERE id = '${other.batch}'`,
    );
    await release(booted);
    await expectSent(booted, one);
    await eventually(async () =>
      expect(await messageOf(booted, other)).toMatchObject({
        status: 'rejected',
        errorCode: 'content_unreadable',
      }),
    );
    expect(errors.join('\n')).toContain('was changed, or belongs to another batch');
  });

  it.each([
    ['repeated with its key', [NEW, OLD], true],
    ['unknown without its key', [NEW], false],
  ] as const)('a submission without an answer is %s', async (_, keys, isRepeated) => {
    const before = await boot({ keys: [OLD] });
    await hold(before);
    const one = await started(before, 'sms');
    before.recorder.fails = () => new UncertainFailure('odd', 'no answer');
    await release(before);
    await eventually(async () => expect(before.recorder.submissions).toHaveLength(1));
    expect(await columnsOf([one])).toEqual([]);
    await close(before);
    const after = await boot({ keys: [...keys] });
    if (isRepeated) return expectSent(after, one);
    await eventually(async () =>
      expect(await messageOf(after, one)).toMatchObject({
        status: 'unknown',
        errorCode: 'content_unreadable',
      }),
    );
    expect(after.recorder.submissions).toEqual([]);
  });

  it('words of a provider that repeat a code are stored and logged without it', async () => {
    const booted = await boot({ keys: [NEW], text: ({ code }) => `Enter ${code}.` });
    const lines: string[] = [];
    jest
      .spyOn(Logger.prototype, 'warn')
      .mockImplementation((line: unknown) => void lines.push(String(line)));
    await hold(booted);
    const bySms = await started(booted, 'sms');
    const byEmail = await started(booted, 'email');
    booted.recorder.fails = ({ channel, content }) => {
      const said = `refused: ${(content as { text: string }).text}`;
      return channel === 'sms'
        ? new PausedFailure('odd', said)
        : new BouncedFailure('odd', said, { diagnostic: said, category: 'content' });
    };
    await release(booted);
    await eventually(async () =>
      expect(await messageOf(booted, byEmail)).toMatchObject({
        status: 'bounced',
        errorText: 'refused: Enter ….',
      }),
    );
    await eventually(async () => expect(lines.join()).toContain('refused: Enter ….'));
    expect(await columnsOf([bySms, byEmail])).toEqual([]);
    for (const { code } of [bySms, byEmail]) expect(lines.join()).not.toContain(code);
  });

  it('a channel of an app cannot attach a code', async () => {
    const pigeon: ChannelDefinition = {
      name: 'pigeon',
      addressKinds: ['phone'],
      statuses: { sent: { rank: 40, reported: true, terminal: true } },
      accepted: 'sent',
      content: {
        'pigeon.note': ({ code }) => ({
          content: { kind: 'pigeon.note' },
          attachments: [{ digest: 'a'.repeat(64), content: Buffer.from(String(code)) }],
        }),
      },
      oneTimeCode: ({ code }) => ({ kind: 'pigeon.note', code }),
    };
    const booted = await boot({ keys: [NEW] }, { channels: [pigeon] });
    await expect(booted.codes.start({ to: numberOf(), channel: 'pigeon' })).rejects.toThrow(
      'content: must have no attachments beside a one-time code',
    );
  });

  it('content that a policy puts in the place of a code is as secret', async () => {
    const policy: MessagingPolicy = {
      name: 'other-text',
      decide: async ({ items, stage }) =>
        new Map(
          stage !== 'dispatch'
            ? []
            : items.map(({ message: { content } }, index) => [
                index,
                {
                  decision: 'substitute',
                  content: { kind: 'text', text: `Instead: ${(content as { text: string }).text}` },
                },
              ]),
        ),
    };
    const booted = await boot({ keys: [NEW] }, { policies: [policy] });
    await hold(booted);
    const one = await started(booted, 'sms');
    await release(booted);
    await expectSent(booted, one);
    expect(booted.recorder.submissions[0]?.content).toMatchObject({
      text: expect.stringMatching(/^Instead: /),
    });
    expect(await columnsOf([one])).toEqual([]);
    expect(await messageOf(booted, one)).toMatchObject({ content: null });
  });
});
