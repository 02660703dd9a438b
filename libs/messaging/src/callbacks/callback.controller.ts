import {
  applyDecorators,
  Controller,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Logger,
  type OnModuleInit,
  Post,
  Req,
  Res,
  type Type,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { CallbackRequest } from '../ports/callback-parser.js';
import { CallbacksService } from './callbacks.service.js';
import { CallbackEndpoints } from './callback-endpoints.js';

/** Properties that Express and Fastify requests share. */
interface IncomingCallback extends Pick<
  CallbackRequest,
  'headers' | 'query' | 'body' | 'rawBody' | 'ip'
> {
  /** Path and query, before a router removes a prefix. */
  readonly originalUrl: string;
  readonly params: { readonly provider?: string; readonly secret?: string };
}

/** Methods that the replies of Express and Fastify share. */
interface CallbackReply {
  status(code: number): CallbackReply;
  header(name: string, value: string): unknown;
}

const ROUTES = ['', ':provider', ':provider/:secret'];

/** Takes callbacks at `path` by POST and GET, on both HTTP platforms and for every API version. */
export function callbackController(
  path: string,
  decorators: readonly ClassDecorator[],
): Type<object> {
  @applyDecorators(...decorators)
  @Controller({ path, version: VERSION_NEUTRAL })
  class CallbackController {
    constructor(private readonly callbacks: CallbacksService) {}

    @Post(ROUTES)
    @HttpCode(204)
    post(
      @Req() request: IncomingCallback,
      @Res({ passthrough: true }) reply: CallbackReply,
    ): Promise<string | undefined> {
      return this.#answer(request, reply, 'POST');
    }

    /** Answers 200, because Kannel, which calls back by GET, takes only 200 and 202 as success. */
    @Get(ROUTES)
    @HttpCode(200)
    get(
      @Req() request: IncomingCallback,
      @Res({ passthrough: true }) reply: CallbackReply,
    ): Promise<string | undefined> {
      return this.#answer(request, reply, 'GET');
    }

    async #answer(
      request: IncomingCallback,
      reply: CallbackReply,
      method: CallbackRequest['method'],
    ): Promise<string | undefined> {
      // The platforms' requests have getters, which a spread would leave out.
      const { headers, originalUrl: url, params, query, body, rawBody, ip } = request;
      const answer = await this.callbacks.take(
        { method, url, pathSecret: params.secret, headers, query, body, rawBody, ip },
        params.provider,
      );
      if (answer) reply.status(200).header('content-type', answer.contentType);
      return answer?.body;
    }
  }
  return CallbackController;
}

/**
 * Warns at boot where the app takes verified callbacks and keeps no raw bodies. Nest tells no provider how
 * the app was made, so the check reads what Nest passes to its HTTP adapter when it registers the parsers. An
 * app with parsers of its own (`bodyParser: false`) registers none, and is not checked.
 */
@Injectable()
export class RawBodyCheck implements OnModuleInit {
  #keepsRawBody: boolean | undefined;

  constructor(
    @Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost,
    private readonly endpoints: CallbackEndpoints,
  ) {
    // An application context has no adapter.
    if (!httpAdapter) return;
    const register = httpAdapter.registerParserMiddleware.bind(httpAdapter);
    httpAdapter.registerParserMiddleware = (prefix?: string, rawBody?: boolean): unknown => {
      this.#keepsRawBody = rawBody === true;
      return register(prefix, rawBody);
    };
  }

  onModuleInit(): void {
    if (this.#keepsRawBody !== false || !this.endpoints.hasVerified) return;
    new Logger('MessagingCallbacks').warn(
      'callbacks: this app keeps no raw bodies, so a callback with a signature over its bytes is answered 500; ' +
        'pass { rawBody: true } to NestFactory.create()',
    );
  }
}
