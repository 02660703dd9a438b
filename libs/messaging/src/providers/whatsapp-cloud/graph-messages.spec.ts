import { expect, it } from '@jest/globals';
import type { MessageContent, TemplateContent } from '../../message/message.js';
import type { Submission } from '../../ports/message-transport.js';
import { messageBody } from './graph-messages.js';

const LINK = 'https://cdn.example.com/a.png';

function bodyOf(content: MessageContent, recipient = '2348012345678') {
  const submission = { id: 'b-s0', channel: 'whatsapp', content, recipients: [recipient] };
  return messageBody(submission as unknown as Submission, 'whatsapp-cloud');
}

function componentsOf(parts: Partial<TemplateContent>) {
  const content = { kind: 'template', template: 'sale', language: 'en', params: [] } as const;
  return (bodyOf({ ...content, ...parts })['template'] as Record<string, unknown>)['components'];
}

it('a template has header, body and buttons with their variables, in this order', () => {
  expect(
    componentsOf({
      params: ['Ada', '12'],
      header: { type: 'text', text: 'Black Friday' },
      buttons: [
        { type: 'url', index: 0, suffix: 'orders/17' },
        { type: 'quick_reply', index: 1, payload: 'more' },
        { type: 'copy_code', index: 2, code: '25OFF' },
      ],
    }),
  ).toEqual([
    { type: 'header', parameters: [{ type: 'text', text: 'Black Friday' }] },
    {
      type: 'body',
      parameters: [
        { type: 'text', text: 'Ada' },
        { type: 'text', text: '12' },
      ],
    },
    {
      type: 'button',
      sub_type: 'url',
      index: '0',
      parameters: [{ type: 'text', text: 'orders/17' }],
    },
    {
      type: 'button',
      sub_type: 'quick_reply',
      index: '1',
      parameters: [{ type: 'payload', payload: 'more' }],
    },
    {
      type: 'button',
      sub_type: 'copy_code',
      index: '2',
      parameters: [{ type: 'coupon_code', coupon_code: '25OFF' }],
    },
  ]);
});

it('variables by name have their names', () => {
  const parameters = [{ type: 'text', parameter_name: 'order', text: '17' }];
  expect(componentsOf({ params: ['17'], paramNames: ['order'] })).toEqual([
    { type: 'body', parameters },
  ]);
});

it.each([
  [
    { type: 'image', link: LINK },
    { type: 'image', image: { link: LINK } },
  ],
  [
    { type: 'video', mediaId: '44' },
    { type: 'video', video: { id: '44' } },
  ],
  [
    { type: 'document', mediaId: '44', filename: 'a.pdf' },
    { type: 'document', document: { id: '44', filename: 'a.pdf' } },
  ],
] as const)('a header %p is media by link or upload', (header, parameter) => {
  expect(componentsOf({ header })).toEqual([{ type: 'header', parameters: [parameter] }]);
});

it.each([
  [
    { type: 'image', link: LINK, caption: 'Here' },
    { link: LINK, caption: 'Here' },
  ],
  [
    { type: 'document', mediaId: '44', filename: 'a.pdf' },
    { id: '44', filename: 'a.pdf' },
  ],
  [{ type: 'audio', mediaId: '44' }, { id: '44' }],
] as const)('a message %p has its media', (media, sent) => {
  expect(bodyOf({ kind: 'media', ...media })).toEqual({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '2348012345678',
    type: media.type,
    [media.type]: sent,
    biz_opaque_callback_data: 'b-s0',
  });
});

it('content of other channels is refused', () => {
  expect(() => bodyOf({ kind: 'telegram.photo' })).toThrow('texts, templates and media');
});
