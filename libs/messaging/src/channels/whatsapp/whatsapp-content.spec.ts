import { expect, it } from '@jest/globals';
import type { FieldError } from '../../message/errors.js';
import {
  checkMedia,
  checkUpload,
  readButtons,
  readHeader,
  readParamNames,
} from './whatsapp-content.js';

function errorsOf(check: (errors: FieldError[]) => unknown): string[] {
  const errors: FieldError[] = [];
  check(errors);
  return errors.map(({ path }) => path);
}

const LINK = 'https://cdn.example.com/a.png?size=2';

it.each([
  ['an image by its link', { type: 'image', link: LINK, caption: 'Here' }],
  ['a document by its upload', { type: 'document', mediaId: '44', filename: 'Rechnung ü.pdf' }],
  ['a sticker', { type: 'sticker', mediaId: '44' }],
])('%s is media', (_, media) => {
  const errors: FieldError[] = [];
  expect(checkMedia(media, errors)).toEqual({ content: { kind: 'media', ...media } });
  expect(errors).toEqual([]);
});

it.each([
  ['no type', { link: LINK }, ['type']],
  ['neither link nor upload', { type: 'image' }, ['link']],
  ['both', { type: 'image', link: LINK, mediaId: '44' }, ['link']],
  ['a link with a password', { type: 'image', link: 'https://a:b@example.com/x' }, ['link']],
  ['a link that is no web address', { type: 'image', link: 'file:///etc/passwd' }, ['link']],
  ['a path in the id', { type: 'image', mediaId: '../44' }, ['mediaId']],
  ['audio with a caption', { type: 'audio', link: LINK, caption: 'x' }, ['caption']],
  ['an empty caption', { type: 'image', link: LINK, caption: '' }, ['caption']],
  ['an image with a filename', { type: 'image', link: LINK, filename: 'a.png' }, ['filename']],
  ['a path as filename', { type: 'document', link: LINK, filename: '../a' }, ['filename']],
])('media with %s is refused by the field', (_, media, paths) => {
  expect(errorsOf((errors) => checkMedia(media, errors))).toEqual(paths);
});

it('a header is a text or media', () => {
  for (const header of [
    { type: 'text', text: 'Ada' },
    { type: 'image', link: LINK },
    { type: 'video', mediaId: '44' },
    { type: 'document', mediaId: '44', filename: 'a.pdf' },
  ]) {
    const errors: FieldError[] = [];
    expect(readHeader({ ...header, unknown: 1 }, errors)).toEqual(header);
    expect(errors).toEqual([]);
  }
});

it.each([
  [{ type: 'audio', link: LINK }, ['header.type']],
  [{ type: 'text', text: 'x'.repeat(61) }, ['header.text']],
  [{ type: 'text', text: '' }, ['header.text']],
  [{ type: 'text', text: 'Ada\nObi' }, ['header.text']],
  [{ type: 'text', text: 'Ada\tObi' }, ['header.text']],
  [{ type: 'image' }, ['header.link']],
  ['Ada', ['header.type']],
])('the header %p is refused by the field', (header, paths) => {
  expect(errorsOf((errors) => readHeader(header, errors))).toEqual(paths);
});

it('buttons have a suffix, a payload or a code, each at its place', () => {
  const buttons = [
    { type: 'url', index: 0, suffix: 'orders/17?x=1' },
    { type: 'quick_reply', index: 1, payload: 'stop it' },
    { type: 'copy_code', index: 2, code: '25OFF' },
  ];
  const errors: FieldError[] = [];
  expect(readButtons(buttons, errors)).toEqual(buttons);
  expect(errors).toEqual([]);
});

it.each([
  ['no list', {}, ['buttons']],
  ['eleven buttons', Array(11).fill({}), ['buttons']],
  ['an unknown type', [{ type: 'flow', index: 0 }], ['buttons[0].type']],
  ['no place', [{ type: 'copy_code', code: 'A' }], ['buttons[0].index']],
  [
    'one place twice',
    [
      { type: 'url', index: 1, suffix: 'a' },
      { type: 'url', index: 1, suffix: 'b' },
    ],
    ['buttons[1].index'],
  ],
  ['white space in a suffix', [{ type: 'url', index: 0, suffix: 'a b' }], ['buttons[0].suffix']],
  ['an empty payload', [{ type: 'quick_reply', index: 0, payload: '' }], ['buttons[0].payload']],
  ['a long code', [{ type: 'copy_code', index: 0, code: 'x'.repeat(21) }], ['buttons[0].code']],
])('buttons with %s are refused by the field', (_, buttons, paths) => {
  expect(errorsOf((errors) => readButtons(buttons, errors))).toEqual(paths);
});

it('paramNames must have one name for each param', () => {
  const namesOf = (given: unknown) => {
    const errors: FieldError[] = [];
    const names = readParamNames(given, ['Ada', '12'], errors);
    return errors.length > 0 ? errors.map(({ path }) => path) : names;
  };
  expect(namesOf(undefined)).toBeUndefined();
  expect(namesOf(['name', 'order'])).toEqual(['name', 'order']);
  for (const wrong of [['name'], ['name', 'a b'], ['name', 1], 'name'])
    expect(namesOf(wrong)).toEqual(['paramNames']);
});

it.each([
  ['another type', { contentType: 'image/gif' }, 'contentType'],
  ['an image above 5 MB', { content: Buffer.alloc(5 * 1_048_576 + 1) }, 'content'],
  ['no bytes', { content: Buffer.alloc(0) }, 'content'],
  ['a path as filename', { filename: '../a.png' }, 'filename'],
])('an upload with %s is refused by the field', (_, changes, path) => {
  const file = { content: Buffer.from('PNG'), contentType: 'image/png', ...changes };
  expect(errorsOf((errors) => checkUpload(file, errors))).toEqual([path]);
});
