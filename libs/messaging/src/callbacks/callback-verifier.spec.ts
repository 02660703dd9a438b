import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MessagingConfigError } from '../message/errors.js';
import { systemClock } from '../ports/clock.js';
import { callbackVerifier } from './callback-verifier.js';
import { StandardWebhooksVerifier } from './standard-webhooks.verifier.js';

const secret = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
let warn: ReturnType<typeof jest.spyOn>;
beforeEach(() => {
  warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

it('refuses to decide by silence', () => {
  for (const options of [undefined, {}, { secrets: [] }, { insecure: false }]) {
    const decide = () => callbackVerifier(options, systemClock);
    expect(decide).toThrow(MessagingConfigError);
    expect(decide).toThrow(/^callbacks\.secrets: /);
  }
});

it('checks the signature where there are secrets, insecure or not', () => {
  for (const options of [{ secrets: [secret] }, { secrets: [secret], insecure: true }])
    expect(callbackVerifier(options, systemClock)).toBeInstanceOf(StandardWebhooksVerifier);
  expect(warn).not.toHaveBeenCalled();
});

it('takes everything where it is told so, and warns once', async () => {
  const verifier = callbackVerifier({ insecure: true }, systemClock);
  expect(await verifier.verify({} as never)).toBe(true);
  expect(await verifier.verify({} as never)).toBe(true);
  expect(warn).toHaveBeenCalledTimes(1);
});

it('takes a verifier of your own', () => {
  const verifier = { verify: () => false };
  expect(callbackVerifier({ verifier, insecure: true }, systemClock)).toBe(verifier);
});
