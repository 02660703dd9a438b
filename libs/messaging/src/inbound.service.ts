import { Inject, Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import { timeLimit } from './message/time-limit.js';
import { InboundTexts } from './contacts/inbound-texts.js';
import { InboundMediaError, MessageNotFoundError, SubmitFailure } from './message/errors.js';
import { isBatchId } from './message/ids.js';
import type { InboundRecord, TenantOption } from './message/views.js';
import {
  type InboundMedia,
  MESSAGE_TRANSPORTS,
  type MessageTransport,
  type Transports,
} from './ports/message-transport.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from './ports/messaging-settings.js';

export interface MediaOptions extends TenantOption {
  /** Number of the file in the content of the message, 0 for the first. @default 0 */
  readonly file?: number;
  /** Ends the fetch. */
  readonly signal?: AbortSignal;
}

/**
 * Reads inbound messages, as long as their texts are kept, and fetches their files from the provider.
 * @example
 * const { stream, contentType } = await inbound.media(received.id);
 * await pipeline(stream, createWriteStream('photo.jpg'));
 */
@Injectable()
export class InboundService {
  /** @internal */
  constructor(
    @Inject(InboundTexts) private readonly texts: InboundTexts,
    @Inject(MESSAGE_TRANSPORTS) private readonly transports: Transports,
    @Inject(MESSAGING_SETTINGS) private readonly settings: Pick<MessagingSettings, 'inbound'>,
  ) {}

  /**
   * An inbound message with its content.
   * @param id of the event, not the provider's
   * @throws MessageNotFoundError, also of another tenant
   */
  async message(id: string, { tenant = '' }: TenantOption = {}): Promise<InboundRecord> {
    const found = isBatchId(id) ? await this.texts.record(id, tenant) : undefined;
    if (!found) throw new MessageNotFoundError(id);
    return found;
  }

  /**
   * Fetches a file of an inbound message from the provider that brought it, with its token. Nothing is
   * fetched before this call, and nothing is stored. The stream fails with an `InboundMediaError` above
   * `inbound.media.maxBytes` or after `inbound.media.timeout`: read or destroy it.
   * @param id of the event, not the provider's
   * @throws InboundMediaError
   */
  async media(id: string, options: MediaOptions = {}): Promise<InboundMedia> {
    const { file: n = 0, signal: given, tenant } = options;
    const message = await this.message(id, { tenant }).catch((error: unknown) => {
      throw error instanceof MessageNotFoundError
        ? new InboundMediaError('not_found', `${error.message}, or its text is no longer kept`)
        : error;
    });
    const { channel, to, content } = message;
    const file = content.kind === 'media' ? content.files[n] : undefined;
    if (!file) throw new InboundMediaError('not_found', `Message ${id} has no file ${String(n)}`);
    const { maxBytes, timeout } = this.settings.inbound.media;
    if (file.size !== null && file.size > maxBytes) throw tooLarge(maxBytes);
    const signal = timeLimit(timeout, ...(given ? [given] : []));
    const [name, transport] = this.#transportOf(message);
    const asked = { channel, to, file, messageId: message.messageId ?? '' };
    const media = await fetched(transport, asked, signal, name);
    if (media.size !== null && media.size > maxBytes) {
      media.stream.destroy();
      throw tooLarge(maxBytes);
    }
    return {
      stream: bounded(media.stream, maxBytes, signal, name),
      contentType: media.contentType ?? file.contentType,
      filename: media.filename ?? file.filename,
      size: media.size ?? file.size,
    };
  }

  /** @throws InboundMediaError */
  #transportOf({ provider }: InboundRecord): [string, Fetching] {
    const transport = this.transports.get(provider ?? '');
    if (!canFetch(transport))
      throw new InboundMediaError(
        'unsupported',
        transport
          ? `The provider ${provider} cannot be asked for files`
          : `The provider ${provider ?? 'of the message'} is none of this app: it cannot be asked for files`,
      );
    return [provider ?? '', transport];
  }
}

type Fetching = Required<Pick<MessageTransport, 'fetchMedia'>>;

function canFetch(
  transport: MessageTransport | undefined,
): transport is MessageTransport & Fetching {
  return transport?.fetchMedia !== undefined;
}

function tooLarge(most: number): InboundMediaError {
  return new InboundMediaError(
    'media_too_large',
    `The file has more than ${most} bytes; raise inbound.media.maxBytes to take it`,
  );
}

/** @throws InboundMediaError for any failure of the transport */
async function fetched(
  transport: Fetching,
  media: Parameters<Fetching['fetchMedia']>[0],
  signal: AbortSignal,
  provider: string,
): Promise<InboundMedia> {
  try {
    return await transport.fetchMedia(media, signal);
  } catch (error) {
    throw failureOf(error, provider);
  }
}

function failureOf(error: unknown, provider: string): InboundMediaError {
  if (error instanceof InboundMediaError) return error;
  const said = error instanceof SubmitFailure ? ` (${error.code})` : '';
  return new InboundMediaError(
    'unavailable',
    `The provider ${provider} did not give the file in time, or broke off${said}; try again`,
  );
}

/** The bytes of a file, at most `most`, until the signal ends them. */
function bounded(source: Readable, most: number, signal: AbortSignal, provider: string): Readable {
  const end = (): unknown => source.destroy(new Error('aborted'));
  // Nothing may read the source when it fails.
  source.on('error', () => undefined);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const stream = Readable.from(bytesOf(source, most, provider), { objectMode: false });
  return stream.once('close', () => {
    signal.removeEventListener('abort', end);
    source.destroy();
  });
}

async function* bytesOf(source: Readable, most: number, provider: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most) throw tooLarge(most);
      yield chunk;
    }
  } catch (error) {
    throw failureOf(error, provider);
  }
}
