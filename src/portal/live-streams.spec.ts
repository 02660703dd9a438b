import { expect, it, jest } from '@jest/globals';
import type { MessageHistory } from '@dundun/messaging';
import { Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { LiveStreams } from './live-streams.js';
import type { SessionsService, SignedIn } from './sessions.service.js';

it('an outage of the database is logged once, and leaves the streams open', async () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  let looks = 0;
  let lookedThrice = (): void => undefined;
  const third = new Promise<void>((resolve) => (lookedThrice = resolve));
  const sessions = {
    byIds: () => {
      if (++looks === 4) lookedThrice();
      return Promise.reject(new Error('the database is away'));
    },
  } as unknown as SessionsService;
  const streams = new LiveStreams(sessions, {} as MessageHistory);
  const response = new PassThrough();
  const signedIn: SignedIn = {
    sessionId: 'one',
    user: { id: 'usr_1', email: 'ada@example.com', isOperator: false },
    account: null,
  };
  try {
    streams.open(signedIn, () => response as unknown as ServerResponse);
    await third;
    expect(warn).toHaveBeenCalledTimes(1);
    expect(response.writableEnded).toBe(false);
  } finally {
    streams.onModuleDestroy();
    warn.mockRestore();
  }
  expect(response.writableEnded).toBe(true);
});
