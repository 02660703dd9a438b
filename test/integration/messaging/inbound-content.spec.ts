import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { TestingModule } from '@nestjs/testing';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { DataSource } from 'typeorm';
import {
  ContactsService,
  INBOUND_RECEIVED,
  type InboundContent,
  type InboundListener,
  type InboundReceived,
  simulator,
} from '@dundun/messaging';
import { InboundMediaError, InboundService } from '@dundun/messaging/inbound';
import { MessageHistory } from '@dundun/messaging/operations';
import type { InboundMedia, InboundMessage, MessageTransport } from '@dundun/messaging/ports';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { InboundListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { StatementLog } from '../../support/statement-log.js';
import { bootApp } from '../policy/policy-app.js';

const FROM = '2348010000001';
const TO = '2348000000001';
const BYTES = Buffer.from('the bytes of a file');
const MOST = 1_000;

const image = (source: string): InboundContent => ({
  kind: 'media',
  caption: 'Look',
  files: [{ type: 'image', contentType: 'image/png', filename: 'a.png', size: null, source }],
});
const DATA = `data:image/png;base64,${BYTES.toString('base64')}`;

/** A provider of an app: what it gives is that of the source of the file. */
const OWN: MessageTransport = {
  name: 'own',
  capabilities: { maxRecipients: 1, idempotencyWindow: 0 },
  submit: () => Promise.reject(new Error('it sends nothing')),
  fetchMedia: ({ file: { source } }, signal) => {
    const media = (stream: Readable, size: number | null = null): Promise<InboundMedia> =>
      Promise.resolve({ stream, contentType: null, filename: null, size });
    if (source === 'large')
      return media(Readable.from(Array.from({ length: 10 }, () => 'x'.repeat(200))));
    if (source === 'announced') return media(Readable.from(['x']), MOST + 1);
    if (source === 'silent') return media(new Readable({ read: () => undefined }));
    if (source === 'broken')
      return media(
        new Readable({
          read() {
            this.push('x');
            this.destroy(new Error('secret of a token'));
          },
        }),
      );
    if (source === 'hanging')
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    return Promise.reject(new Error('secret of a token'));
  },
};

describeEachDatabase('contents of inbound messages', (database) => {
  const log = new StatementLog();
  let app: TestingModule;
  let inbound: InboundService;
  let history: MessageHistory;
  const told: InboundReceived[] = [];
  const listened: InboundReceived[] = [];
  const listener: InboundListener = {
    onInbound: async (received) => void listened.push(...received),
  };

  beforeAll(async () => {
    app = await bootApp(
      { ...database.options(), logging: true, logger: log },
      {
        transport: undefined,
        providers: { simulator: simulator({ reportDelay: 1 }), own: () => OWN },
        routes: [{ use: 'simulator' }],
        inbound: {
          tenant: ({ to }) => (to === TO ? 'acme' : 'globex'),
          media: { maxBytes: MOST, timeout: '300ms' },
        },
      },
    );
    inbound = app.get(InboundService);
    history = app.get(MessageHistory);
    app.get(EventEmitter2).on(INBOUND_RECEIVED, (one: InboundReceived) => told.push(one));
    app.get(InboundListeners).add(listener);
  });
  afterAll(() => app?.close());

  /** Records one message. @returns its event */
  async function receive(
    more: Partial<InboundMessage>,
    transport = 'simulator',
  ): Promise<InboundReceived> {
    const messageId = randomUUID();
    const message = { messageId, channel: 'whatsapp', from: FROM, bsuid: null, to: TO };
    await app
      .get(InboundRecorder)
      .record([{ ...message, text: null, sentAt: null, ...more }], { transport });
    const id = more.messageId ?? messageId;
    const found = () => told.filter((one) => one.messageId === id);
    await eventually(async () => expect(found()).toHaveLength(1));
    const [event] = found();
    expect(listened.filter((one) => one.messageId === id)).toEqual(found());
    return event!;
  }
  const tenant = 'acme';
  /** What the contact has sent, newest first. */
  const inboundOf = async (contactId: string) => {
    const contact = await history.contact(contactId);
    const { data } = await history.conversation(contact!);
    return data.flatMap((entry) => (entry.direction === 'in' ? [entry.message] : []));
  };

  const contents: readonly InboundContent[] = [
    image('1013859600285441'),
    {
      kind: 'location',
      latitude: 6.45,
      longitude: -3.39,
      name: 'Ọjà Ọba 🏬',
      address: null,
      url: null,
    },
    {
      kind: 'contacts',
      contacts: [{ name: 'Ada', organization: null, phones: ['+234 801'], emails: ['a@b.test'] }],
    },
    { kind: 'reaction', emoji: '👍', messageId: 'wamid.1' },
    { kind: 'button', title: 'Yes', payload: 'yes:17' },
    { kind: 'list', id: 'row-1', title: 'Row', description: 'First' },
    { kind: 'flow', name: 'flow', response: { size: 'M', nested: { a: [1] } } },
    { kind: 'other', type: 'order', raw: { catalog: 'c', nul: 'a\0b' } },
  ];

  it.each(contents.map((content) => [content.kind, content] as const))(
    'a message with the content %s has it in the event, the listener, the list and the record',
    async (kind, content) => {
      const event = await receive({
        content,
        text: kind === 'media' ? 'Look' : null,
        profileName: 'Ada ✨',
        repliesTo: 'wamid.0',
      });
      expect(event).toMatchObject({ content, profileName: 'Ada ✨', repliesTo: 'wamid.0' });
      const [listed] = await inboundOf(event.contactId);
      expect(listed).toEqual({
        id: event.id,
        tenant,
        provider: 'simulator',
        contactId: event.contactId,
        channel: 'whatsapp',
        from: FROM,
        to: TO,
        text: event.text,
        kind,
        messageId: event.messageId,
        profileName: 'Ada ✨',
        repliesTo: 'wamid.0',
        receivedAt: event.sentAt,
      });
      expect(await history.inboundContents([listed!])).toEqual(new Map([[event.id, content]]));
      expect(await inbound.message(event.id, { tenant })).toEqual({
        ...listed,
        content,
      });
    },
  );

  it('a text is its own content, and a message without either is another one', async () => {
    const text = await receive({ text: 'Hello' });
    expect(text.content).toEqual({ kind: 'text', text: 'Hello' });
    const nothing = await receive({});
    expect(nothing.content).toEqual({ kind: 'other', type: null, raw: null });
    const listed = (await inboundOf(text.contactId)).slice(0, 2);
    expect(listed.map(({ kind }) => kind).toSorted()).toEqual(['other', 'text']);
    expect(await history.inboundContents(listed)).toEqual(
      new Map([
        [text.id, text.content],
        [nothing.id, nothing.content],
      ]),
    );
  });

  it('lists of inbound messages do not read contents', async () => {
    const { contactId } = await receive({ content: image('x') });
    log.clear();
    await inboundOf(contactId);
    await history.inbound();
    await history.inbound({ tenants: [tenant, 'globex'] });
    const reads = log.matching(/FROM messaging_inbound_text/);
    expect(reads).toHaveLength(4);
    expect(reads.filter((sql) => /\bcontent\b|\*/.test(sql))).toEqual([]);
  });

  it('a content that is too long is stored without what is long', async () => {
    const raw = { long: 'x'.repeat(20_000) };
    const response = raw;
    const phones = ['1'.repeat(1_000)];
    const card = { name: 'A', organization: null, phones, emails: [] };
    const many = Array.from({ length: 40 }, () => card);
    const given: InboundContent[] = [
      { kind: 'other', type: 'order', raw },
      { kind: 'flow', name: 'f', response },
      { kind: 'contacts', contacts: many },
    ];
    const stored = await Promise.all(given.map((content) => receive({ content })));
    expect(stored.map(({ content }) => content)).toEqual([
      { kind: 'other', type: 'order', raw: null },
      { kind: 'flow', name: 'f', response: null },
      { kind: 'contacts', contacts: many.slice(0, 10) },
    ]);
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const odd = [
      { kind: 'other', type: null, raw: circular },
      { kind: 'hologram', raw: 1 },
      null,
    ] as unknown as InboundContent[];
    for (const content of odd)
      expect((await receive({ content })).content).toEqual({
        kind: 'other',
        type: null,
        raw: null,
      });
  });

  it('the words of a caption opt out as those of a text', async () => {
    const from = '2348010000009';
    await receive({ from, text: 'STOP', content: image('x') });
    const contact = await app.get(ContactsService).find(from, { tenant });
    expect(contact?.consents['whatsapp']?.state).toBe('opted_out');
  });

  it('a file is fetched from the provider that brought the message, and by its tenant alone', async () => {
    const event = await receive({ content: image(DATA) });
    const media = await inbound.media(event.id, { tenant });
    expect(media).toMatchObject({
      contentType: 'image/png',
      filename: 'a.png',
      size: BYTES.length,
    });
    expect(await buffer(media.stream)).toEqual(BYTES);
    for (const [id, options] of [
      [event.id, { tenant: 'globex' }],
      [event.id, { tenant, file: 1 }],
      [randomUUID(), { tenant }],
      ["' OR 1=1", { tenant }],
    ] as const)
      await expect(inbound.media(id, options)).rejects.toMatchObject({
        name: 'InboundMediaError',
        code: 'not_found',
      });
    await expect(inbound.message(event.id, { tenant: 'globex' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('a file that is too large or too slow ends with a typed error, without words of the provider', async () => {
    const codeOf = async (source: string, transport = 'own') => {
      const { id } = await receive({ content: image(source) }, transport);
      const error = await inbound
        .media(id, { tenant })
        .then(({ stream }) => buffer(stream))
        .catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(InboundMediaError);
      expect(String(error)).not.toContain('secret');
      return (error as InboundMediaError).code;
    };
    expect(await codeOf('large')).toBe('media_too_large');
    expect(await codeOf('announced')).toBe('media_too_large');
    expect(await codeOf('silent')).toBe('unavailable');
    expect(await codeOf('hanging')).toBe('unavailable');
    expect(await codeOf('broken')).toBe('unavailable');
    expect(await codeOf('refused')).toBe('unavailable');
    expect(await codeOf('no data', 'simulator')).toBe('media_expired');
    expect(await codeOf(DATA, 'gone')).toBe('unsupported');
  });

  it('a caller ends a fetch by its signal', async () => {
    const { id } = await receive({ content: image('silent') }, 'own');
    const controller = new AbortController();
    const { stream } = await inbound.media(id, { tenant, signal: controller.signal });
    controller.abort();
    await expect(buffer(stream)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('messages of a version without contents are read as texts', async () => {
    const event = await receive({ text: 'Hello', content: image(DATA) });
    await app
      .get(DataSource)
      .query(
        `UPDATE messaging_inbound_text SET message = NULL, provider = NULL, kind = NULL, profile = NULL, answers = NULL, content = NULL WHERE id = '${event.id}'`,
      );
    expect(await inbound.message(event.id, { tenant })).toMatchObject({
      kind: 'text',
      content: { kind: 'text', text: 'Hello' },
      messageId: null,
      provider: null,
      profileName: null,
    });
    await expect(inbound.media(event.id, { tenant })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('contents move with a merged contact, and go with an erased one', async () => {
    const [phone, bsuid] = ['2348010000011', 'NG.13491208655302741918'];
    const first = await receive({ from: phone, content: image(DATA) });
    const second = await receive({ from: null, bsuid, content: image(DATA) });
    expect(second.contactId).not.toBe(first.contactId);
    await receive({ from: phone, bsuid, text: 'It is me' });
    const all = await inboundOf(first.contactId);
    expect(all.map(({ kind }) => kind)).toEqual(['text', 'media', 'media']);
    expect((await history.inboundContents(all)).get(second.id)).toEqual(image(DATA));
    await app.get(ContactsService).erase(phone, { tenant });
    for (const { id } of [first, second])
      await expect(inbound.media(id, { tenant })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('contents are deleted as long after as texts', async () => {
    const { id } = await receive({ content: image(DATA) });
    const recorder = app.get(InboundRecorder);
    await app
      .get(DataSource)
      .query(
        `UPDATE messaging_inbound_text SET received_at = received_at - 3600000000 WHERE id = '${id}'`,
      );
    expect(await recorder.forgetTexts(1_800_000, 100)).toBe(1);
    await expect(inbound.media(id, { tenant })).rejects.toMatchObject({ code: 'not_found' });
  });
});
