import { expect, it } from '@jest/globals';
import { MessagingConfigError } from '../../message/errors.js';
import { type SmppOptions, smppSettings } from './smpp.options.js';

const url = 'smpp://tester:hunter2@smsc.example.com';

it('an address has its parts and the usual port', () => {
  expect(smppSettings({ url }).url).toEqual({
    host: 'smsc.example.com',
    port: 2775,
    isTls: false,
    systemId: 'tester',
    password: 'hunter2',
  });
  expect(smppSettings({ url: 'smpps://a%40b:p%2Fw@[::1]:3550' }).url).toMatchObject({
    host: '::1',
    port: 3550,
    isTls: true,
    systemId: 'a@b',
    password: 'p/w',
  });
});

it('one transceiver is bound unless the binds are named', () => {
  expect(smppSettings({ url }).binds).toEqual({ transceiver: 1, transmitter: 0, receiver: 0 });
  expect(smppSettings({ url, binds: { transmitter: 2, receiver: 1 } }).binds).toEqual({
    transceiver: 0,
    transmitter: 2,
    receiver: 1,
  });
});

it.each<[string, Partial<Record<keyof SmppOptions, unknown>>]>([
  ['url', { url: undefined }],
  ['url', { url: 'smsc.example.com:2775' }],
  ['url', { url: 'http://tester:hunter2@smsc.example.com' }],
  ['url', { url: 'smpp://smsc.example.com' }],
  ['url', { url: 'smpp://tester:hunter2hunter2@smsc.example.com' }],
  ['url', { url: 'smpp://a-system-id-of-17:hunter2@smsc.example.com' }],
  ['url', { url: 'smpp://tester:hunter2%@smsc.example.com' }],
  ['url', { url: `${url}/path` }],
  ['binds', { binds: { receiver: 1 } }],
  ['binds', { binds: { transceiver: 0 } }],
  ['binds.transmitter', { binds: { transmitter: -1 } }],
  ['binds.transmiter', { binds: { transmiter: 1 } }],
  ['window', { window: 0 }],
  ['systemType', { systemType: 'thirteen long' }],
  ['long', { long: 'UDH' }],
  ['idFormat', { idFormat: 'hexadecimal' }],
  ['timeZone', { timeZone: 'Lagos' }],
  ['refusals', { refusals: { throttled: 'paused' } }],
  ['refusals.0x58', { refusals: { '0x58': 'later' } }],
  ['answerTimeout', { answerTimeout: 'soon' }],
  ['maxBinds', { binds: { transmitter: 2, receiver: 1 }, maxBinds: 2 }],
  ['maxBinds', { maxBinds: 1_001 }],
  ['ca', { ca: '/etc/ssl/ca.pem' }],
])('a wrong %s is named without a secret: %j', (option, changes) => {
  const read = () => smppSettings({ url, ...changes } as SmppOptions);
  expect(read).toThrow(MessagingConfigError);
  expect(read).toThrow(new RegExp(`^smpp\\.${option}: `));
  expect(read).not.toThrow(/hunter2/);
});
