import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { type Receipt, SmsService } from '../index.js';
import { fakeService, type PublicOf } from './fake-service.js';

const receipt: Receipt = { id: 'b1', recipients: 1, createdAt: new Date(0), replayed: false };
const message = { from: 'ACME', to: '2348012345678', body: 'Hello' };

it('a fake of a service has the given methods, and throws by name for the others', async () => {
  const sms = fakeService(SmsService, { send: () => Promise.resolve(receipt) });
  expect(await sms.send(message)).toBe(receipt);
  expect(() => sms.cancel('b1')).toThrow(expect.objectContaining({ code: 'not_faked' }));
  expect(() => sms.cancel('b1')).toThrow('fakeService(SmsService, { cancel: … })');
});

it('Nest provides a fake in place of the service', async () => {
  const sms = fakeService(SmsService);
  const app = await Test.createTestingModule({
    providers: [{ provide: SmsService, useValue: sms }],
  }).compile();
  await app.init();
  expect(app.get(SmsService)).toBe(sms);
  await app.close();
});

it('a class can implement the public members of a service', async () => {
  class FakeSms implements Pick<PublicOf<SmsService>, 'send'> {
    send = () => Promise.resolve(receipt);
  }
  expect(await fakeService(SmsService, new FakeSms()).send(message)).toBe(receipt);
});
