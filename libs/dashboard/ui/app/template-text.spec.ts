import { expect, it } from '@jest/globals';
import { templateText } from './template-text.js';

it('values take their places by position or by name, and empty ones leave them', () => {
  expect(templateText('Hi {{1}}, order {{2}}', 'order', ['Ada', ''])).toBe('Hi Ada, order {{2}}');
  expect(templateText('Hi {{ name }}!', 'hi', ['Ada'], ['name'])).toBe('Hi Ada!');
  expect(templateText('{{1}} and {{3}}', 'none', ['$&'])).toBe('$& and {{3}}');
});

it('a template without a known text shows its name and values', () => {
  expect(templateText(null, 'order', ['Ada', '1001'], ['name', 'order'])).toBe(
    'order\n{{name}} Ada\n{{order}} 1001',
  );
});
