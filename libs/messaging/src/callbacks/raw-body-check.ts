import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CallbackEndpoints } from './callback-endpoints.js';

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
