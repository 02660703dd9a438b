import { Controller, Get, HttpCode, Post, Req, type Type, VERSION_NEUTRAL } from '@nestjs/common';
import type { CallbackRequest } from '../ports/delivery-report-parser.js';
import { CallbacksService } from './callbacks.service.js';

/** What Express and Fastify requests have in common. */
interface IncomingCallback extends Omit<CallbackRequest, 'method' | 'url' | 'pathSecret'> {
  /** Path and query, before any router took something off. */
  readonly originalUrl: string;
  readonly params: { readonly provider?: string; readonly secret?: string };
}

/** The endpoint of the callback path, a provider's below it, and a provider's with a secret in its path. */
const ROUTES = ['', ':provider', ':provider/:secret'];

/** The controller that takes delivery reports and inbound messages at `path`, whatever the platform and its API version. */
export function callbackController(path: string): Type<object> {
  @Controller({ path, version: VERSION_NEUTRAL })
  class CallbackController {
    constructor(private readonly callbacks: CallbacksService) {}

    @Post(ROUTES)
    @HttpCode(204)
    async post(@Req() request: IncomingCallback): Promise<void> {
      await this.callbacks.take(callbackOf(request, 'POST'), request.params.provider);
    }

    /** 200: Kannel, which calls back by GET, takes no success but it and 202. */
    @Get(ROUTES)
    @HttpCode(200)
    async get(@Req() request: IncomingCallback): Promise<void> {
      await this.callbacks.take(callbackOf(request, 'GET'), request.params.provider);
    }
  }
  return CallbackController;
}

function callbackOf(
  { headers, originalUrl, params, query, body, rawBody, ip }: IncomingCallback,
  method: CallbackRequest['method'],
): CallbackRequest {
  return {
    method,
    url: originalUrl,
    pathSecret: params.secret,
    headers,
    query,
    body,
    rawBody,
    ip,
  };
}
