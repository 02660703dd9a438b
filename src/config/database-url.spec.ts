import { describe, expect, it } from '@jest/globals';
import { parseDatabaseUrl } from './database-url.js';

describe('parseDatabaseUrl', () => {
  it.each([
    ['sqlite:data/dundun.sqlite', 'data/dundun.sqlite'],
    ['sqlite:/var/lib/dundun.sqlite', '/var/lib/dundun.sqlite'],
    ['sqlite:///var/lib/dundun.sqlite', '/var/lib/dundun.sqlite'],
    ['sqlite:./a.sqlite', './a.sqlite'],
  ])('%s is the file %s', (url, path) => {
    expect(parseDatabaseUrl(url)).toEqual({ type: 'sqlite', path });
  });

  it.each([
    ['postgres://u:p@h:5432/d', 'postgres'],
    ['postgresql://h/d', 'postgres'],
    ['mysql://u@h/d', 'mysql'],
    ['mariadb://u@h:3307/d', 'mariadb'],
  ])('%s is %s', (url, type) => {
    expect(parseDatabaseUrl(url)).toEqual({ type, url });
  });

  it.each([
    ['sqlite:', /names no file/],
    ['sqlite::memory:', /lost with the process/],
    ['sqlite://data/x.sqlite', /slashes that name a host/],
    ['postgres://h', /no database/],
    ['postgres:///d', /no host/],
    ['data/dundun.sqlite', /write sqlite:PATH/],
    ['redis://h/0', /write sqlite:PATH/],
  ])('%s is refused', (url, remedy) => {
    expect(() => parseDatabaseUrl(url)).toThrow(remedy);
  });
});
