import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { declarationsOf } from './public-api.fixture.js';

it('the public types are these', () => {
  const declarations = declarationsOf(join(import.meta.dirname, 'index.ts'));
  expect(
    [...declarations].map(([name, text]) => `${name}\n  ${text}`).join('\n\n'),
  ).toMatchSnapshot();
});
