import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest } from '../../ports/delivery-report-parser.js';

/**
 * The bytes a signature is over.
 * @throws MessagingConfigError where there was a body and the application keeps no bytes of it.
 */
export function rawBodyOf({ body, rawBody }: CallbackRequest): Buffer {
  if (rawBody) return rawBody;
  if (hasContent(body))
    throw new MessagingConfigError(
      'callbacks: the raw body, which the signature is over, is not kept; ' +
        'pass { rawBody: true } to NestFactory.create()',
    );
  return Buffer.alloc(0);
}

/** Express leaves `{}` where there was no body. */
function hasContent(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return Boolean(body);
  return Object.keys(body).length > 0;
}
