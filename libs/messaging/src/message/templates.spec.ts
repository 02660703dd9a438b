import { describe, expect, it } from '@jest/globals';
import type { WhatsAppService } from '../channels/whatsapp/whatsapp.service.js';
import { type FieldError, MessagingConfigError } from './errors.js';
import { defineTemplates, placedParams, SyncedTemplates } from './templates.js';

const templates = defineTemplates({
  order_update: { language: 'en', category: 'utility', params: ['name', 'order'] },
  sale: { language: 'en', params: 2 },
  hello: { language: 'en_US', params: [] },
  long: { language: 'en', params: 1, fixedLength: 924 },
});

/** Never called: the compiler is the one that reads it. */
async function compiles(whatsApp: WhatsAppService, to: string): Promise<void> {
  const { order_update, sale, hello } = templates;
  await whatsApp.sendTemplate({ to, template: order_update, params: { name: 'a', order: 'b' } });
  await whatsApp.sendTemplate({ to, template: order_update, params: ['a', 'b'] });
  await whatsApp.sendTemplate({ to, template: sale, params: ['a', 'b'] });
  await whatsApp.sendTemplate({ to, template: hello });
  await whatsApp.sendTemplate({ to, template: 'unknown', language: 'en', params: ['a'] });
  // @ts-expect-error a parameter is missing
  await whatsApp.sendTemplate({ to, template: order_update, params: { name: 'a' } });
  // @ts-expect-error a parameter has another name
  await whatsApp.sendTemplate({ to, template: order_update, params: { name: 'a', number: 'b' } });
  // @ts-expect-error a parameter is no text
  await whatsApp.sendTemplate({ to, template: order_update, params: { name: 'a', order: 17 } });
  // @ts-expect-error one place too many
  await whatsApp.sendTemplate({ to, template: order_update, params: ['a', 'b', 'c'] });
  // @ts-expect-error one place too few
  await whatsApp.sendTemplate({ to, template: sale, params: ['a'] });
  // @ts-expect-error a template with parameters without any
  await whatsApp.sendTemplate({ to, template: sale });
  // @ts-expect-error there is no such template
  await whatsApp.sendTemplate({ to, template: templates.order_updates, params: [] });
  // @ts-expect-error a template named by a text needs its language
  await whatsApp.sendTemplate({ to, template: 'unknown' });
}

describe('templates', () => {
  it('template params are checked by the compiler', () => {
    expect(compiles).toHaveLength(2);
  });

  it('templates carry their names', () => {
    expect(templates.order_update).toEqual({
      name: 'order_update',
      language: 'en',
      category: 'utility',
      params: ['name', 'order'],
    });
  });

  it.each([
    ['', { language: 'en', params: [] }, /templates\.: must be/],
    ['a b', { language: 'en', params: [] }, /templates\.a b/],
    ['t', { language: 'english please', params: [] }, /templates\.t\.language/],
    ['t', { language: 'en', params: ['x', 'x'] }, /templates\.t\.params/],
    ['t', { language: 'en', params: -1 }, /templates\.t\.params/],
    ['t', { language: 'en', params: 2, named: true }, /templates\.t\.params: must be the names/],
    ['t', { language: 'en', params: ['a b'], named: true }, /templates\.t\.params: must be/],
    ['t', { language: 'en', params: [], named: 1 as never }, /templates\.t\.named/],
    ['t', { language: 'en', params: 1, fixedLength: 0.5 }, /templates\.t\.fixedLength/],
    ['t', { language: 'en', params: [], category: 'spam' as 'utility' }, /templates\.t\.category/],
  ])('the invalid template %j is refused with its field', (name, definition, told) => {
    const define = () => defineTemplates({ [name]: definition });
    expect(define).toThrow(MessagingConfigError);
    expect(define).toThrow(told);
  });

  it.each<[string, unknown, keyof typeof templates | undefined, string[], string[]]>([
    ['by name', { order: '17', name: 'Ade' }, 'order_update', ['Ade', '17'], []],
    ['by place', ['Ade', '17'], 'order_update', ['Ade', '17'], []],
    ['none', undefined, 'hello', [], []],
    ['of an unknown template', ['a'], undefined, ['a'], []],
    ['named, of an unknown one', { a: '1' }, undefined, [], ['params']],
    ['named, where only places are known', { a: '1' }, 'sale', [], ['params']],
    ['too few', ['a'], 'sale', [], ['params']],
    ['of a wrong name', { name: 'a', no: 'b' }, 'order_update', [], ['params.no', 'params.order']],
    [
      'from a prototype',
      Object.create({ name: 'a', order: 'b' }),
      'order_update',
      [],
      ['params.name', 'params.order'],
    ],
    ['of a wrong type', ['a', 7], 'sale', [], ['params[1]']],
    ['too long', ['a', 'x'.repeat(5_000)], 'sale', [], ['params[1]']],
    ['with a line break', ['a\nb', 'a\r\nb'], 'sale', [], ['params[0]', 'params[1]']],
    ['with a tab', { name: 'a\tb', order: '1' }, 'order_update', [], ['params.name']],
    ['with five spaces', ['a     b', 'c    d'], 'sale', [], ['params[0]']],
    ['that are empty', ['', '  '], 'sale', [], ['params[0]', 'params[1]']],
    [
      'of 1,024 characters together',
      ['👍', 'x'.repeat(1_023)],
      'sale',
      ['👍', 'x'.repeat(1_023)],
      [],
    ],
    ['too long together', ['ab', 'x'.repeat(1_023)], 'sale', [], ['params[1]']],
    ['too long in their body', ['x'.repeat(101)], 'long', [], ['params[0]']],
    ['that cannot be stored', ['a\0', '\ud800'], 'sale', [], ['params[0]', 'params[1]']],
    ['a text', 'Ade', 'sale', [], ['params']],
  ])('template params %s', (_what, given, name, values, paths) => {
    const errors: FieldError[] = [];
    const placed = placedParams(given, name && templates[name], errors);
    expect(errors.map(({ path }) => path)).toEqual(paths);
    expect(paths.length > 0 ? [] : placed).toEqual(values);
  });
});

it('a template update during a list read is not undone by the older list', async () => {
  const templates = new SyncedTemplates();
  const listed = { name: 'a', language: 'en', category: null, params: 0 } as const;
  const approved = [[{ ...listed, status: 'approved' as const }]];
  await templates.replace(async () => approved);
  await templates.replace(async () => {
    templates.update([{ account: '1', name: 'a', language: 'en', status: 'paused' }]);
    return approved;
  });
  expect(() => templates.find('a', 'en')).toThrow(/is paused/);
  await templates.replace(async () => approved);
  expect(templates.find('a', 'en')).toMatchObject({ status: 'approved' });
});
