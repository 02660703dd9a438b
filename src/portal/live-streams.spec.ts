import { expect, it, jest } from '@jest/globals';
import type { MessageHistory } from '@dundun/messaging/operations';
import { Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { ApiError } from '../http/api-error.js';
import { LiveStreams } from './live-streams.js';
import type { SessionsService, SignedIn } from './sign-in/sessions.service.js';

it('an outage of the database is logged once, and leaves the streams open', async () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  let looks = 0;
  let lookedThrice = (): void => undefined;
  const third = new Promise<void>((resolve) => (lookedThrice = resolve));
  const sessions = {
    present: () => {
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
    lacksSecondFactor: false,
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

it('a process holds ten streams of a session, twenty of a user and a hundred of an account', () => {
  const streams = new LiveStreams({} as SessionsService, {} as MessageHistory);
  const open = (user: number, session: number, accountId: string | null = 'acc_1') => {
    const signedIn: SignedIn = {
      sessionId: `${user}-${session}`,
      user: { id: `usr_${user}`, email: 'ada@example.com', isOperator: accountId === null },
      account:
        accountId === null
          ? null
          : { id: accountId, name: 'One', role: 'viewer', suspended: false },
      lacksSecondFactor: false,
    };
    try {
      streams.open(signedIn, () => new PassThrough() as unknown as ServerResponse);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'rate_limited') throw error;
      return false;
    }
  };
  let last = 0;
  const opened = (count: number, next: () => boolean) =>
    Array.from({ length: count }, next).filter(Boolean).length;
  try {
    expect(opened(12, () => open(0, 0))).toBe(10);
    expect(opened(30, () => open(0, 1 + (++last % 5)))).toBe(10);
    for (let user = 1; user < 5; user++)
      expect([opened(10, () => open(user, 0)), opened(10, () => open(user, 1))]).toEqual([10, 10]);
    expect(open(9, 0)).toBe(false);
    expect(open(9, 0, 'acc_2')).toBe(true);
    // Operators without an account have no account in common.
    const operators = Array.from({ length: 120 }, (_, n) => n + 100);
    expect(operators.filter((user) => open(user, 0, null))).toHaveLength(120);
  } finally {
    streams.onModuleDestroy();
  }
});
