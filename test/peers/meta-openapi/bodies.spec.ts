import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import type { MessageContent } from '@dundun/messaging';
import { messageBody } from '../../../libs/messaging/src/providers/whatsapp-cloud/graph-messages.js';
import type { Submission } from '../../../libs/messaging/src/ports/message-transport.js';
import { corrected } from './corrected-schemas.js';

const LINK = 'https://cdn.example.com/a.png';
const TEMPLATE = { kind: 'template', template: 'sale', language: 'en_GB', params: [] } as const;

function bodyOf(content: MessageContent, recipient = '2348012345678'): object {
  const submission = { id: 'b-s0', channel: 'whatsapp', content, recipients: [recipient] };
  return messageBody(submission as unknown as Submission, 'whatsapp-cloud');
}

const BODIES: readonly (readonly [string, object])[] = [
  ['a text', bodyOf({ kind: 'text', text: 'Hi & bye' })],
  ['a text to a user id', bodyOf({ kind: 'text', text: 'Hi' }, 'platform:NG.134912')],
  ['an image by link', bodyOf({ kind: 'media', type: 'image', link: LINK, caption: 'Here' })],
  ['a video by upload', bodyOf({ kind: 'media', type: 'video', mediaId: '44' })],
  ['audio', bodyOf({ kind: 'media', type: 'audio', mediaId: '44' })],
  ['a document', bodyOf({ kind: 'media', type: 'document', mediaId: '44', filename: 'a.pdf' })],
  ['a sticker', bodyOf({ kind: 'media', type: 'sticker', mediaId: '44' })],
  ['a template without variables', bodyOf(TEMPLATE)],
  ['a template with a body', bodyOf({ ...TEMPLATE, params: ['Ada', '12'] })],
  ['a template with a text header', bodyOf({ ...TEMPLATE, header: { type: 'text', text: 'A' } })],
  ...(['image', 'video', 'document'] as const).map(
    (type) =>
      [
        `a template with the header ${type}`,
        bodyOf({ ...TEMPLATE, header: { type, link: LINK } }),
      ] as const,
  ),
  [
    'a template with buttons',
    bodyOf({
      ...TEMPLATE,
      buttons: [
        { type: 'url', index: 0, suffix: 'orders/17' },
        { type: 'quick_reply', index: 1, payload: 'more' },
        { type: 'copy_code', index: 2, code: '25OFF' },
      ],
    }),
  ],
];

/** Only with `TEST_META_OPENAPI` does jest.config.js list this suite. */
const FILE = process.env['TEST_META_OPENAPI'] ?? '';

describe('bodies of the WhatsApp Cloud API in the OpenAPI document of Meta', () => {
  let validate: ValidateFunction;
  beforeAll(() => {
    const { components } = load(readFileSync(FILE, 'utf8')) as Parameters<typeof corrected>[0];
    const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
    const schemas = corrected({ components });
    validate = ajv.compile({ ...schemas, $ref: '#/components/schemas/Message' });
  });

  it.each(BODIES)('%s validates', (_, body) => {
    validate(body);
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each([
    ['an unknown field', { ...BODIES[0]![1], colour: 'red' }],
    ['an unknown field of a text', { ...BODIES[0]![1], text: { body: 'a', colour: 'red' } }],
    ['a text without the product', { ...BODIES[0]![1], messaging_product: undefined }],
    ['media with a link and an id', { ...BODIES[2]![1], image: { id: '1', link: LINK } }],
    ['a template without a language', { ...BODIES[7]![1], template: { name: 'sale' } }],
    [
      'a component of an unknown type',
      {
        ...BODIES[7]![1],
        template: {
          name: 'sale',
          language: { policy: 'deterministic', code: 'en' },
          components: [{ type: 'footer' }],
        },
      },
    ],
  ])('%s does not validate', (_, body) => {
    expect(validate(JSON.parse(JSON.stringify(body)))).toBe(false);
  });
});
