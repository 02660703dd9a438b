import { describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../test/support/callback-request.js';
import type { InboundMessage } from '../message/events.js';
import type { InboundFile } from '../message/content/inbound-content.js';
import type { CallbackParser } from '../ports/callback-parser.js';
import { birdParser } from './bird/index.js';
import { clickatellParser } from './clickatell/index.js';
import { infobipParser } from './infobip/index.js';
import { plivoParser } from './plivo/index.js';
import { sinchParser } from './sinch/index.js';
import { telnyxParser } from './telnyx/index.js';
import { twilioParser } from './twilio/index.js';
import { vonageParser } from './vonage/index.js';
import { whatsappCloudParser } from './whatsapp-cloud/index.js';

const FROM = '2348012345678';
const TO = '2348000000001';
const URL = 'https://media.example/1';

function readBy(parser: CallbackParser, body: unknown): InboundMessage {
  const { messages = [], errors } = parser.parse(callbackRequest({ body }));
  expect(errors).toEqual([]);
  expect(messages).toHaveLength(1);
  return messages[0]!;
}

const file = (source: string, more: Partial<InboundFile> = {}): InboundFile => ({
  type: 'image',
  contentType: null,
  filename: null,
  size: null,
  source,
  ...more,
});
const media = (caption: string | null, ...files: readonly InboundFile[]) => ({
  kind: 'media',
  caption,
  files,
});

describe('WhatsApp Cloud API', () => {
  const read = (message: object, value: object = {}) =>
    readBy(whatsappCloudParser(), {
      entry: [
        {
          changes: [
            {
              field: 'messages',
              value: {
                metadata: { display_phone_number: TO, phone_number_id: '106540352242922' },
                messages: [{ from: FROM, id: 'wamid.1', timestamp: '1751247548', ...message }],
                ...value,
              },
            },
          ],
        },
      ],
    });
  const contentOf = (type: string, part: unknown) => read({ type, [type]: part }).content;
  const answerOf = (type: string, part: object) => contentOf('interactive', { type, [type]: part });
  const id = '1013859600285441';

  it('files have their id, type, caption and name', () => {
    const image = { id, mime_type: 'image/jpeg', sha256: 'x', caption: 'The meter' };
    expect(contentOf('image', image)).toEqual(
      media('The meter', file(id, { contentType: 'image/jpeg' })),
    );
    const pdf = { id, mime_type: 'application/pdf', filename: 'a.pdf' };
    expect(contentOf('document', pdf)).toEqual(
      media(
        null,
        file(id, { type: 'document', contentType: 'application/pdf', filename: 'a.pdf' }),
      ),
    );
    const ogg = { id, mime_type: 'audio/ogg; codecs=opus' };
    const audio = (voice: boolean) => contentOf('audio', { ...ogg, voice });
    const contentType = ogg.mime_type;
    expect(audio(true)).toEqual(media(null, file(id, { type: 'voice', contentType })));
    expect(audio(false)).toEqual(media(null, file(id, { type: 'audio', contentType })));
    expect([contentOf('video', { id }), contentOf('sticker', { id })]).toEqual([
      media(null, file(id, { type: 'video' })),
      media(null, file(id, { type: 'sticker' })),
    ]);
  });

  it('places, people and reactions have their fields', () => {
    const place = { latitude: 6.45, longitude: 3.39, name: 'Ọjà Ọba', address: '1 Broad Street' };
    expect(contentOf('location', place)).toEqual({ kind: 'location', ...place, url: null });
    const person = {
      name: { formatted_name: 'Ada Obi', first_name: 'Ada' },
      org: { company: 'ACME' },
      phones: [{ phone: '+234 801', wa_id: '234801', type: 'CELL' }, {}],
      emails: [{ email: 'ada@example.com' }],
    };
    expect(contentOf('contacts', [person, { name: {} }])).toEqual({
      kind: 'contacts',
      contacts: [
        {
          name: 'Ada Obi',
          organization: 'ACME',
          phones: ['+234 801'],
          emails: ['ada@example.com'],
        },
        { name: null, organization: null, phones: [], emails: [] },
      ],
    });
    expect(contentOf('reaction', { message_id: 'wamid.0', emoji: '👍' })).toEqual({
      kind: 'reaction',
      emoji: '👍',
      messageId: 'wamid.0',
    });
  });

  it('pressed buttons, chosen rows and filled forms have what the sender of the message gave', () => {
    expect(contentOf('button', { text: 'Yes', payload: 'yes:17' })).toEqual({
      kind: 'button',
      title: 'Yes',
      payload: 'yes:17',
    });
    expect(answerOf('button_reply', { id: 'no:17', title: 'No' })).toEqual({
      kind: 'button',
      title: 'No',
      payload: 'no:17',
    });
    const row = { id: 'r1', title: 'Small', description: 'Up to 1 kg' };
    expect(answerOf('list_reply', row)).toEqual({ kind: 'list', ...row });
    const form = { name: 'flow', body: 'Sent', response_json: '{"size":"M","flow_token":"t"}' };
    expect(answerOf('nfm_reply', form)).toEqual({
      kind: 'flow',
      name: 'flow',
      response: { size: 'M', flow_token: 't' },
    });
    expect(answerOf('nfm_reply', { ...form, response_json: 'none' })).toEqual({
      kind: 'flow',
      name: 'flow',
      response: null,
    });
  });

  it('what has no form here, or lacks its fields, is kept as it came', () => {
    const order = { catalog_id: '1', product_items: [{ quantity: 2 }] };
    expect(contentOf('order', order)).toMatchObject({
      kind: 'other',
      type: 'order',
      raw: { type: 'order', order, id: 'wamid.1' },
    });
    for (const [type, part] of [
      ['image', {}],
      ['image', { id: 'a b' }],
      ['location', { latitude: 91, longitude: 0 }],
      ['location', { latitude: '6.45x', longitude: 3 }],
      ['contacts', []],
      ['interactive', { type: 'unknown_reply', unknown_reply: {} }],
    ] as const)
      expect(contentOf(type, part)).toMatchObject({ kind: 'other', type });
  });

  it('a message has the name of the profile, and names the message that it answers', () => {
    const text = { type: 'text', text: { body: 'STOP' }, context: { from: TO, id: 'wamid.0' } };
    const contacts = [
      { wa_id: '2348099999999', profile: { name: 'Other' } },
      { wa_id: FROM, profile: { name: 'Ada ✨' } },
    ];
    const message = read(text, { contacts });
    expect(message).toMatchObject({
      text: 'STOP',
      profileName: 'Ada ✨',
      repliesTo: 'wamid.0',
    });
    expect(message).not.toHaveProperty('content');
    const forwarded = read({ ...text, context: { forwarded: true } });
    expect(forwarded).not.toHaveProperty('repliesTo');
    expect(forwarded).not.toHaveProperty('profileName');
  });
});

describe('Twilio', () => {
  const read = (more: object) =>
    readBy(twilioParser(), {
      SmsStatus: 'received',
      MessageSid: 'SM1',
      From: `whatsapp:+${FROM}`,
      To: `whatsapp:+${TO}`,
      Body: '',
      ...more,
    });

  it('an MMS has its files', () => {
    const message = read({
      Body: 'Look',
      NumMedia: '2',
      MediaUrl0: URL,
      MediaContentType0: 'image/jpeg',
      MediaUrl1: `${URL}b`,
      MediaContentType1: 'text/x-vcard',
    });
    expect(message.text).toBe('Look');
    expect(message.content).toEqual(
      media(
        'Look',
        file(URL, { contentType: 'image/jpeg' }),
        file(`${URL}b`, { type: 'document', contentType: 'text/x-vcard' }),
      ),
    );
  });

  it('WhatsApp has places, buttons, rows, forms, reactions, names and answered messages', () => {
    const given = [
      { MessageType: 'location', Latitude: '6.45', Longitude: '3.39', Label: 'Shop' },
      { MessageType: 'button', Body: 'Yes', ButtonText: 'Yes', ButtonPayload: 'yes:17' },
      { MessageType: 'interactive', ListId: 'r1', ListTitle: 'Small', ListDescription: 'One' },
      { MessageType: 'interactive', InteractiveData: '{"size":"M"}' },
      { MessageType: 'reaction', Body: '👍', OriginalRepliedMessageSid: 'SM0' },
      { MessageType: 'sticker', MediaUrl0: URL, MediaContentType0: 'image/webp' },
    ].map((more) => read(more).content);
    expect(given).toEqual([
      {
        kind: 'location',
        latitude: 6.45,
        longitude: 3.39,
        name: 'Shop',
        address: null,
        url: null,
      },
      { kind: 'button', title: 'Yes', payload: 'yes:17' },
      { kind: 'list', id: 'r1', title: 'Small', description: 'One' },
      { kind: 'flow', name: null, response: { size: 'M' } },
      { kind: 'reaction', emoji: '👍', messageId: 'SM0' },
      media(null, file(URL, { type: 'sticker', contentType: 'image/webp' })),
    ]);
    const answer = read({
      Body: 'Hi',
      MessageType: 'text',
      ProfileName: 'Ada',
      OriginalRepliedMessageSid: 'SM0',
    });
    expect(answer).toMatchObject({ profileName: 'Ada', repliesTo: 'SM0', text: 'Hi' });
    expect(answer).not.toHaveProperty('content');
    expect(read({ MessageType: 'contacts' }).content).toMatchObject({
      kind: 'other',
      type: 'contacts',
      raw: { MessageSid: 'SM1' },
    });
  });
});

describe('Vonage', () => {
  const read = (more: object) =>
    readBy(vonageParser(), {
      channel: 'whatsapp',
      message_uuid: 'm-1',
      to: TO,
      from: FROM,
      profile: { name: 'Ada' },
      context: { message_uuid: 'm-0', message_from: TO },
      ...more,
    });

  it('the Messages API has all contents of WhatsApp', () => {
    const contents = [
      { message_type: 'file', file: { url: URL, name: 'a.pdf', caption: 'Bill' } },
      { message_type: 'location', location: { lat: 6.45, long: 3.39, name: 'Shop' } },
      { message_type: 'reaction', reaction: { action: 'react', emoji: '👍' } },
      { message_type: 'button', button: { payload: 'yes:17', text: 'Yes' } },
      { message_type: 'reply', reply: { id: 'r1', title: 'Small', description: 'One' } },
      { message_type: 'reply', reply: { id: 'no', title: 'No' } },
      { message_type: 'contacts', contacts: [{ name: { formatted_name: 'Ada' } }] },
      { message_type: 'order', order: { catalog_id: '1' } },
    ].map((more) => read(more).content);
    expect(contents).toEqual([
      media('Bill', file(URL, { type: 'document', filename: 'a.pdf' })),
      {
        kind: 'location',
        latitude: 6.45,
        longitude: 3.39,
        name: 'Shop',
        address: null,
        url: null,
      },
      { kind: 'reaction', emoji: '👍', messageId: 'm-0' },
      { kind: 'button', title: 'Yes', payload: 'yes:17' },
      { kind: 'list', id: 'r1', title: 'Small', description: 'One' },
      { kind: 'button', title: 'No', payload: 'no' },
      {
        kind: 'contacts',
        contacts: [{ name: 'Ada', organization: null, phones: [], emails: [] }],
      },
      {
        kind: 'other',
        type: 'order',
        raw: expect.objectContaining({ order: { catalog_id: '1' } }),
      },
    ]);
    const text = read({ message_type: 'text', text: 'Hi' });
    expect(text).toMatchObject({ text: 'Hi', profileName: 'Ada', repliesTo: 'm-0' });
    expect(text).not.toHaveProperty('content');
  });

  it('an MMS has one file, or several', () => {
    const image = { channel: 'mms', message_type: 'image', image: { url: URL, name: 'a.png' } };
    expect(read(image).content).toEqual(media(null, file(URL, { filename: 'a.png' })));
    const several = {
      channel: 'mms',
      message_type: 'content',
      content: [
        { type: 'image', url: URL },
        { type: 'video', url: `${URL}b` },
      ],
    };
    expect(read(several).content).toEqual(
      media(null, file(URL), file(`${URL}b`, { type: 'video' })),
    );
  });
});

describe('Infobip', () => {
  const read = (message: unknown, more: object = {}) =>
    readBy(infobipParser(), {
      results: [
        {
          from: FROM,
          to: TO,
          integrationType: 'WHATSAPP',
          messageId: 'wamid.1',
          message,
          contact: { name: 'Ada' },
          ...more,
        },
      ],
    });

  it('WhatsApp has all contents', () => {
    const contents = [
      { type: 'VOICE', url: URL },
      { type: 'LOCATION', latitude: 6.45, longitude: 3.39, name: 'Shop' },
      { type: 'CONTACT', contacts: [{ name: { formattedName: 'Ada' } }] },
      { type: 'REACTION', emoji: '👍', messageId: 'wamid.0' },
      { type: 'BUTTON', text: 'Yes', payload: 'yes:17' },
      { type: 'INTERACTIVE_BUTTON_REPLY', id: 'no', title: 'No' },
      { type: 'INTERACTIVE_LIST_REPLY', id: 'r1', title: 'Small', description: 'One' },
      { type: 'INTERACTIVE_FLOW_REPLY', response: { size: 'M' } },
      { type: 'ORDER', catalogId: '1' },
    ].map((message) => read(message).content);
    expect(contents).toEqual([
      media(null, file(URL, { type: 'voice' })),
      {
        kind: 'location',
        latitude: 6.45,
        longitude: 3.39,
        name: 'Shop',
        address: null,
        url: null,
      },
      {
        kind: 'contacts',
        contacts: [{ name: 'Ada', organization: null, phones: [], emails: [] }],
      },
      { kind: 'reaction', emoji: '👍', messageId: 'wamid.0' },
      { kind: 'button', title: 'Yes', payload: 'yes:17' },
      { kind: 'button', title: 'No', payload: 'no' },
      { kind: 'list', id: 'r1', title: 'Small', description: 'One' },
      { kind: 'flow', name: null, response: { size: 'M' } },
      { kind: 'other', type: 'order', raw: { type: 'ORDER', catalogId: '1' } },
    ]);
    const text = read({ type: 'TEXT', text: 'Hi', context: { id: 'wamid.0', from: TO } });
    expect(text).toMatchObject({ text: 'Hi', profileName: 'Ada', repliesTo: 'wamid.0' });
    expect(text).not.toHaveProperty('content');
  });

  it('an MMS has its parts that are no text', () => {
    const parts = [
      { contentType: 'application/smil', value: '<smil/>' },
      { contentType: 'image/png', url: URL },
      { contentType: 'text/plain', value: 'STOP' },
    ];
    const message = read(parts, { integrationType: undefined });
    expect(message).toMatchObject({ channel: 'sms', text: 'STOP' });
    expect(message.content).toEqual(media('STOP', file(URL, { contentType: 'image/png' })));
  });
});

it('the Plivo parser reads files and buttons', () => {
  const body = { MessageUUID: 'm-1', From: FROM, To: TO };
  const mms = {
    ...body,
    Type: 'mms',
    Body: 'Look',
    MediaCount: '2',
    Media0: URL,
    Media1: `${URL}b`,
  };
  expect(readBy(plivoParser(), mms).content).toEqual(
    media('Look', file(URL, { type: 'document' }), file(`${URL}b`, { type: 'document' })),
  );
  const whatsApp = { ...body, Type: 'whatsapp' };
  const image = { ...whatsApp, ContentType: 'media', MimeType: 'image/jpeg', Media1: URL };
  expect(readBy(plivoParser(), image).content).toEqual(
    media(null, file(URL, { contentType: 'image/jpeg' })),
  );
  const button = { ...whatsApp, ContentType: 'button', ButtonText: 'Yes', ButtonPayload: 'yes:17' };
  expect(readBy(plivoParser(), button).content).toEqual({
    kind: 'button',
    title: 'Yes',
    payload: 'yes:17',
  });
});

it('the Telnyx and Sinch parsers read the files of an MMS', () => {
  const telnyx = {
    data: {
      event_type: 'message.received',
      payload: {
        id: 'm-1',
        type: 'MMS',
        from: { phone_number: `+${FROM}` },
        to: [{ phone_number: `+${TO}` }],
        text: 'Look',
        media: [{ url: URL, content_type: 'image/png', size: 102_400, sha256: null }],
      },
    },
  };
  expect(readBy(telnyxParser(), telnyx)).toMatchObject({
    channel: 'sms',
    text: 'Look',
    content: media('Look', file(URL, { contentType: 'image/png', size: 102_400 })),
  });
  const sinch = {
    type: 'mo_media',
    id: 'm-1',
    from: FROM,
    to: TO,
    received_at: '2026-01-15T14:30:22.123Z',
    body: {
      subject: 'Photo',
      message: 'Look',
      media: [
        { url: URL, content_type: 'image/png', status: 'Uploaded', code: 0 },
        { url: null, content_type: 'video/mp4', status: 'Failed', code: 400 },
      ],
    },
  };
  expect(readBy(sinchParser(), sinch)).toMatchObject({
    channel: 'sms',
    text: 'Look',
    content: media('Look', file(URL, { contentType: 'image/png' })),
  });
});

it('the Bird parser reads images and files with their captions, whose words count', () => {
  const read = (body: object) =>
    readBy(birdParser(), {
      event: 'sms.inbound',
      payload: {
        id: 'm-1',
        channelId: 'c-1',
        sender: { contact: { identifierValue: `+${FROM}` } },
        body,
      },
    });
  const image = read({ type: 'image', image: { text: 'STOP', images: [{ mediaUrl: URL }] } });
  expect(image).toMatchObject({ text: 'STOP', content: media('STOP', file(URL)) });
  const pdf = { mediaUrl: URL, contentType: 'application/pdf', filename: 'a.pdf' };
  expect(read({ type: 'file', file: { files: [pdf] } }).content).toEqual(
    media(null, file(URL, { type: 'document', contentType: 'application/pdf', filename: 'a.pdf' })),
  );
  const location = { type: 'location', location: { coordinates: { latitude: 1, longitude: 2 } } };
  expect(read(location).content).toEqual({ kind: 'other', type: 'location', raw: location });
});

it('the Clickatell parser reads files and places of the One API', () => {
  const read = (name: string, more: object) =>
    readBy(clickatellParser(), {
      event: {
        [name]: [{ channel: 'whatsapp', messageId: 'm-1', from: FROM, to: TO, ...more }],
      },
    });
  const image = { contentType: 'image/jpeg', fileName: 'a.jpg', byteSize: '12', downloadUrl: URL };
  const message = read('moMedia', {
    files: [image],
    caption: 'Look',
    relatedMessageId: 'm-0',
    whatsapp: { profileName: 'Ada' },
  });
  expect(message).toMatchObject({ text: 'Look', profileName: 'Ada', repliesTo: 'm-0' });
  expect(message.content).toEqual(
    media('Look', file(URL, { contentType: 'image/jpeg', filename: 'a.jpg', size: 12 })),
  );
  const place = read('moLocation', { location: { latitude: 6.45, longitude: 3.39 } });
  expect(place.content).toMatchObject({ kind: 'location', latitude: 6.45, longitude: 3.39 });
  const bytes = read('moMedia', {
    contentType: 'image/jpeg',
    content: 'iVBORw0K',
    caption: 'STOP',
  });
  expect(bytes).toMatchObject({
    text: 'STOP',
    content: {
      kind: 'other',
      type: 'media',
      raw: { contentType: 'image/jpeg', caption: 'STOP' },
    },
  });
});
