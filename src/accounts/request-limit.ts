import { Inject, Injectable } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';
import type { HttpReply } from '../http/http-message.js';
import { RequestWindow } from './request-window.js';

/**
 * Requests per credential, told in the `RateLimit` and `RateLimit-Policy` headers
 * (draft-ietf-httpapi-ratelimit-headers). Each process counts for itself.
 */
@Injectable()
export class RequestLimit {
  readonly #window: RequestWindow | undefined;
  readonly #policy: string;

  constructor(@Inject(ENVIRONMENT) { REQUEST_LIMIT }: Environment) {
    this.#window = REQUEST_LIMIT && new RequestWindow(REQUEST_LIMIT);
    this.#policy = REQUEST_LIMIT
      ? `"credential";q=${REQUEST_LIMIT.max};w=${REQUEST_LIMIT.per / 1_000}`
      : '';
  }

  /** @throws ApiError 429 with `Retry-After` */
  take(credentialId: string, reply: HttpReply): void {
    if (!this.#window) return;
    const { remaining, reset } = this.#window.take(credentialId);
    reply.header('ratelimit-policy', this.#policy);
    reply.header('ratelimit', `"credential";r=${Math.max(0, remaining)};t=${reset}`);
    if (remaining < 0)
      throw new ApiError('rate_limited', 'Too many requests with this credential; wait a moment', {
        headers: { 'retry-after': String(reset) },
      });
  }
}
