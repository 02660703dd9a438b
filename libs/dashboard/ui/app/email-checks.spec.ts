import { describe, expect, it } from '@jest/globals';
import { linkFault, linksOf, sizeText } from './email-checks.js';

describe('linkFault()', () => {
  it.each([
    ['https://acme.test/orders/1', 'Your order'],
    ['https://www.acme.test/', 'acme.test'],
    ['mailto:help@acme.test?subject=Help', 'Write to us'],
    ['tel:+2348012345678', 'Call us'],
  ])('%s has no fault', (href, text) => {
    expect(linkFault(href, text)).toBeNull();
  });

  it.each([
    ['', 'Home', 'has no address'],
    ['https://acme.test/{{order}}', 'Order', 'has a variable that was not filled in'],
    ['https://acme.test/%7B%7Border%7D%7D', 'Order', 'has a variable that was not filled in'],
    ['#top', 'Top', 'leads to a place in the page, which mail programs ignore'],
    ['https://acme.test/a b', 'Order', 'has a space in it'],
    ['/orders', 'Order', 'is no whole address: begin it with https://'],
    ['mailto:help', 'Write', 'has no e-mail address behind mailto:'],
    ['javascript:alert(1)', 'Order', 'begins with javascript:, which mail programs remove'],
    ['https://user@acme.test/', 'Order', 'hides its host behind a user name'],
    ['https://192.0.2.7/', 'Order', 'names an IP address, which filters distrust'],
    ['https://localhost:3000/', 'Order', 'is reachable in your own network alone'],
    ['https://evil.test/', 'https://acme.test/orders', 'shows acme.test, and leads to evil.test'],
    ['http://acme.test/', 'Order', 'is not encrypted: use https'],
    [`https://acme.test/${'a'.repeat(2_000)}`, 'Order', 'has more than 2,000 characters'],
  ])('%s as “%s” %s', (href, text, fault) => {
    expect(linkFault(href, text)).toBe(fault);
  });
});

it('sizes are written in the units of mail programs', () => {
  expect([1_023, 1_024, 104_448, 1_500_000].map(sizeText)).toEqual([
    '1023 B',
    '1.0 KB',
    '102 KB',
    '1.4 MB',
  ]);
});

describe('linksOf()', () => {
  it('links are read with their texts, whatever their quotes, entities and tags', () => {
    const html = `<abbr>no</abbr><a href="https://acme.test/?a=1&amp;b=2"><b>Your</b>\n order</a>
      <A class=x HREF='https://acme.test/2'><img alt="x"></A><a href=https://acme.test/3>Caf&#233;</a>
      <a name="top"></a><map><area shape="rect" href="https://acme.test/4"></map>`;
    expect(linksOf(html)).toEqual([
      { href: 'https://acme.test/?a=1&b=2', text: 'Your order', fault: null },
      { href: 'https://acme.test/2', text: 'a picture', fault: null },
      { href: 'https://acme.test/3', text: 'Café', fault: null },
      { href: '', text: 'a picture', fault: 'has no address' },
      { href: 'https://acme.test/4', text: 'a picture', fault: null },
    ]);
  });

  it('the first 500 links are read, and what looks like links takes no time that grows with its square', () => {
    expect(linksOf('<a href="https://acme.test/">x '.repeat(501))).toHaveLength(500);
    const started = performance.now();
    expect(linksOf('<a '.repeat(500_000))).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
