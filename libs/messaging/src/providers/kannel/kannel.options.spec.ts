import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError } from '../../message/errors.js';
import { kannel, type KannelOptions, kannelSettings } from './kannel.transport.js';

const callback = { url: 'http://127.0.0.1:3000/reports', secret: 'hunter2-hunter2-hunter2' };
const options: KannelOptions = {
  url: 'http://127.0.0.1:13013',
  username: 'tester',
  password: 'hunter2-hunter2',
  callback,
};

describe('kannelSettings', () => {
  it('the default path of sendsms is added', () => {
    const urlOf = (url: string) => kannelSettings('', { ...options, url }).url;
    expect(urlOf('http://box:13013')).toBe('http://box:13013/cgi-bin/sendsms');
    expect(urlOf('http://box:13013/')).toBe('http://box:13013/cgi-bin/sendsms');
    expect(urlOf('https://box/sms/send')).toBe('https://box/sms/send');
  });

  it.each<[string, Partial<Record<keyof KannelOptions, unknown>>]>([
    ['url', { url: '' }],
    ['url', { url: 'box:13013' }],
    ['url', { url: 'http://tester:hunter2@box' }],
    ['url', { url: 'http://box/?password=hunter2' }],
    ['username', { username: '' }],
    ['username', { username: 'tester\n' }],
    ['password', { password: undefined }],
    ['password', { password: 'hunter2\n' }],
    ['password', { password: ' hunter2' }],
    ['password', { password: 'hünter2' }],
    ['smsc', { smsc: '' }],
    ['callback.url', { callback: { ...callback, url: undefined } }],
    ['callback.url', { callback: { ...callback, url: '/reports' } }],
    ['callback.url', { callback: { ...callback, url: 'http://h/?token=hunter2' } }],
    ['callback.secret', { callback: { ...callback, secret: undefined } }],
    ['callback.secret', { callback: { ...callback, secret: 'hunter2' } }],
    ['callback.secret', { callback: { ...callback, secret: 'hunter2 hunter2 hunter2' } }],
    ['reports', { reports: 'yes' }],
    ['connections', { connections: 0 }],
    ['name', { name: 'A b' }],
    ['pasword', { pasword: 'hunter2' } as object],
  ])('a wrong %s is named without a secret', (option, changes) => {
    const read = () => kannel({ ...options, ...changes } as KannelOptions);
    expect(read).toThrow(MessagingConfigError);
    expect(read).toThrow(new RegExp(`^kannel\\.${option}: `));
    expect(read).not.toThrow(/h[uü]nter2/);
  });
});
