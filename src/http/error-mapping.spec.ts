import { describe, expect, it } from '@jest/globals';
import {
  BatchNotFoundError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  MessageValidationError,
  PolicyError,
} from '@dundun/messaging';
import { AlreadySentError } from '@dundun/messaging/operations';
import {
  ForbiddenException,
  HttpException,
  PayloadTooLargeException,
  UnauthorizedException,
} from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { API_ERRORS, ApiError, isApiErrorCode } from './api-error.js';
import { toApiError } from './error-mapping.js';

const failedQuery = (code: string): QueryFailedError =>
  new QueryFailedError('SELECT', [], Object.assign(new Error('x'), { code }));

describe('toApiError', () => {
  it.each<[string, unknown, number, string]>([
    [
      'a wrong message',
      new MessageValidationError([{ path: 'to', message: 'x' }]),
      422,
      'invalid_field',
    ],
    [
      'a recipient policy forbids',
      new PolicyError([
        { recipient: '2348012345678', code: 'quiet_hours', reason: 'sleeps', policy: 'x' },
      ]),
      422,
      'quiet_hours',
    ],
    ['a key in use', new IdempotencyKeyInUseError(), 409, 'idempotency_key_in_use'],
    ['a reused key', new IdempotencyKeyReusedError(), 422, 'idempotency_key_reused'],
    ['no batch', new BatchNotFoundError('x'), 404, 'not_found'],
    ['a sent batch', new AlreadySentError('x'), 409, 'already_sent'],
    ['Nest: too large', new PayloadTooLargeException(), 413, 'payload_too_large'],
    ['Nest: no credential', new UnauthorizedException(), 401, 'unauthorized'],
    ['Nest: forbidden', new ForbiddenException(), 403, 'insufficient_scope'],
    [
      'Nest: a status without a code of ours',
      new HttpException('x', 418),
      400,
      'malformed_request',
    ],
    ['a lost PostgreSQL', failedQuery('57P01'), 503, 'unavailable'],
    [
      'a refused connection',
      Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
      503,
      'unavailable',
    ],
    ['a locked SQLite', failedQuery('SQLITE_BUSY'), 503, 'unavailable'],
    ['a broken query', failedQuery('42601'), 500, 'internal_error'],
    ['an unknown error', new Error('boom'), 500, 'internal_error'],
    ['a thrown text', 'boom', 500, 'internal_error'],
    ['a value that poses as a status', { statusCode: 404 }, 500, 'internal_error'],
  ])('%s', (_what, error, status, code) => {
    expect(toApiError(error)).toMatchObject({ status, code });
  });

  it('hides the message of an unknown error', () => {
    expect(JSON.stringify(toApiError(new Error('secret')).body)).not.toContain('secret');
    expect(JSON.stringify(toApiError(new ForbiddenException('secret')).body)).not.toContain(
      'secret',
    );
  });

  it('keeps the field errors of a validation error', () => {
    const fields = [{ path: 'to[3]', message: 'must be a number' }];
    expect(toApiError(new MessageValidationError(fields)).body.error.details).toEqual(fields);
  });

  it('returns an ApiError unchanged', () => {
    const error = new ApiError('not_found', 'x');
    expect(toApiError(error)).toBe(error);
  });
});

describe('the errors of the gateway', () => {
  it('every status has one error type, except for policy errors', () => {
    const classes = new Map<number, Set<string>>();
    for (const code of Object.keys(API_ERRORS).filter(isApiErrorCode)) {
      const { status, body } = new ApiError(code);
      const { type } = body.error;
      if (type !== 'policy_error')
        classes.set(status, (classes.get(status) ?? new Set()).add(type));
    }
    for (const types of classes.values()) expect(types.size).toBe(1);
  });
});
