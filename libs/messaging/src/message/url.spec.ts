import { expect, it } from '@jest/globals';
import { parsedUrl } from './url.js';

it('reads an address with letters beyond ASCII however often it is called', () => {
  const addresses = ['https://münchen.example/', 'https://müller.example/größe?straße=1'];
  for (let n = 0; n < 20_000; n++)
    for (const address of addresses) expect(parsedUrl(address) !== undefined || n).toBe(true);
  expect(parsedUrl('https://münchen.example/')?.hostname).toBe('xn--mnchen-3ya.example');
});

it('a text that is no address is undefined, and a relative one needs its base', () => {
  expect(parsedUrl('münchen')).toBeUndefined();
  expect(parsedUrl('/next', 'https://example.com/first')?.href).toBe('https://example.com/next');
});
