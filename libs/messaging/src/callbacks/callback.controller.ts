import { Controller, Get, HttpCode, Post, Req, type Type, VERSION_NEUTRAL } from '@nestjs/common';
import type { CallbackRequest } from '../ports/delivery-report-parser.js';
import { CallbacksService } from './callbacks.service.js';

/** Properties that Express and Fastify requests share. */
interface IncomingCallback extends Omit<CallbackRequest, 'method' | 'url' | 'pathSecret'> {
  /** Path and query, before a router removes a prefix. */
  readonly originalUrl: string;
  readonly params: { readonly provider?: string; readonly secret?: string };
}

/** Routes of the callback path, of a provider below it, and of a provider with a secret in its path. */
const ROUTES = ['', ':provider', ':provider/:secret'];

/**
 * Builds the controller that takes delivery reports and inbound messages at `path`, on both HTTP platforms and for
 * every API version.
 */
export function callbackController(path: string): Type<object> {
  @Controller({ path, version: VERSION_NEUTRAL })
  class CallbackController {
    constructor(private readonly callbacks: CallbacksService) {}

    @Post(ROUTES)
    @HttpCode(204)
    async post(@Req() request: IncomingCallback): Promise<void> {
      await this.callbacks.take(callbackOf(request, 'POST'), request.params.provider);
    }

    /** Answers 200, because Kannel, which calls back by GET, takes only 200 and 202 as success. */
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
