import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MessagingConfigError } from '../message/errors.js';
import type { CallbackEndpointOptions } from '../ports/callback-options.js';
import { callbackVerifier } from './callback-endpoints.js';
import { callbackRequest } from '../../../../test/support/callback-request.js';
import { standardWebhooks } from '../providers/http/interface-callbacks.js';

const form = { verifier: standardWebhooks };
const verifierOf = (options: CallbackEndpointOptions) =>
  callbackVerifier(options, form, 'callbacks');

const secret = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
let warn: ReturnType<typeof jest.spyOn>;
beforeEach(() => {
  warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

it('an endpoint without a verification is refused by the name of the option', () => {
  for (const options of [{}, { secrets: [] }, { insecure: false }]) {
    const decide = () => verifierOf(options);
    expect(decide).toThrow(MessagingConfigError);
    expect(decide).toThrow(/^callbacks\.secrets: /);
  }
});

it('the option secrets verifies signatures, also where insecure is set', () => {
  for (const options of [{ secrets: [secret] }, { secrets: [secret], insecure: true }])
    expect(verifierOf(options).verify(callbackRequest())).toBe(false);
  expect(warn).not.toHaveBeenCalled();
});

it('insecure accepts every callback and logs one warning', async () => {
  const verifier = verifierOf({ insecure: true });
  expect(await verifier.verify({} as never)).toBe(true);
  expect(await verifier.verify({} as never)).toBe(true);
  expect(warn).toHaveBeenCalledTimes(1);
});

it('a custom verifier is used as given', () => {
  const verifier = { verify: () => false };
  expect(verifierOf({ verifier, insecure: true })).toBe(verifier);
});
