import { expect, it } from '@jest/globals';
import { mediaHeaders } from './media-headers.js';

const of = (contentType: string | null, filename: string | null) =>
  mediaHeaders({ contentType, filename });

it('a file is a download, which no browser shows as a page', () => {
  expect(of('image/jpeg', 'a.jpg')).toEqual({
    'Content-Type': 'image/jpeg',
    'Content-Disposition': `attachment; filename="a.jpg"; filename*=UTF-8''a.jpg`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  });
});

it('a type that is none becomes bytes', () => {
  const types = [null, '', 'image', 'text/html\r\nset-cookie: a=b', 'a/b/c', 'text /html'];
  expect(types.map((type) => of(type, null)['Content-Type'])).toEqual(
    types.map(() => 'application/octet-stream'),
  );
  expect(of('audio/ogg; codecs=opus', null)['Content-Type']).toBe('audio/ogg');
});

it('a name of the sender ends no header, and is no path', () => {
  const names = (filename: string) => of(null, filename)['Content-Disposition'];
  expect(names('a"b\r\nset-cookie: c.png')).toBe(
    `attachment; filename="a_b__set-cookie: c.png"; filename*=UTF-8''a%22b__set-cookie%3A%20c.png`,
  );
  expect(names('../../etc\\passwd')).toBe(
    `attachment; filename=".._.._etc_passwd"; filename*=UTF-8''.._.._etc_passwd`,
  );
  expect(names(`Ọjà ('1').pdf`)).toBe(
    `attachment; filename="_j_ ('1').pdf"; filename*=UTF-8''%E1%BB%8Cj%C3%A0%20%28%271%27%29.pdf`,
  );
  expect(names('\ud800.png')).toBe(`attachment; filename="_.png"; filename*=UTF-8''_.png`);
});
