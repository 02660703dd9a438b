import { type CallbackVerifier, type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { standardWebhooks } from '@dundun/messaging/values';
import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';
import type { HttpRequest } from '../http/http-message.js';
import { Probes } from './probes.service.js';

const PATH = 'probes';

/** Its handler verifies the signature over the raw bytes. */
export function isProbeAnswer(route: string | undefined): boolean {
  return route === `/${PATH}`;
}

const PROBE = /\bprobe\s+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/i;

/** Longest text of a message that is looked at. */
const LONGEST = 2_000;

interface RawRequest extends HttpRequest {
  readonly rawBody?: Buffer;
  readonly ip: string;
}

/** Test phones call here with the texts that they get, signed as the webhooks of the gateway. */
@Controller(PATH)
export class ProbesController {
  readonly #verifier?: CallbackVerifier;

  constructor(
    private readonly probes: Probes,
    @Inject(ENVIRONMENT) { PROBE_SECRET }: Pick<Environment, 'PROBE_SECRET'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {
    if (PROBE_SECRET !== undefined)
      this.#verifier = standardWebhooks([PROBE_SECRET], 'PROBE_SECRET');
  }

  @Post()
  @HttpCode(200)
  async answer(@Req() request: RawRequest): Promise<{ readonly seen: boolean }> {
    const { headers, rawBody = Buffer.alloc(0), ip } = request;
    const isSigned = await this.#verifier?.verify({
      method: 'POST',
      url: `/${PATH}`,
      pathSecret: undefined,
      headers,
      query: {},
      body: undefined,
      rawBody,
      ip,
      receivedAt: this.clock.now(),
    });
    if (!isSigned)
      throw new ApiError('unauthorized', 'Sign the request with PROBE_SECRET, with a time of now');
    // A phone passes on whatever it gets: other texts are no error, and are not kept.
    const [, id] = PROBE.exec(textOf(rawBody).slice(0, LONGEST)) ?? [];
    return { seen: id !== undefined && (await this.probes.seen(id.toLowerCase())) };
  }
}

/** @throws ApiError 422 on `text` */
function textOf(body: Buffer): string {
  const wrong = () =>
    new ApiError('invalid_field', undefined, {
      details: [{ path: 'text', message: 'must be the text of the message that the phone got' }],
    });
  try {
    const { text } = JSON.parse(body.toString()) as { text?: unknown };
    if (typeof text === 'string') return text;
  } catch {
    throw wrong();
  }
  throw wrong();
}
