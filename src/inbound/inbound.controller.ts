import {
  InboundMediaError,
  type InboundRecord,
  InboundService,
  mediaHeaders,
} from '@dundun/messaging/inbound';
import { Controller, Get, Injectable, Param, Res, StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth, Reads } from '../accounts/auth.guard.js';
import { GatewayChannels, INBOUND_SCOPE } from '../channel.js';
import { ApiError, isApiErrorCode } from '../http/api-error.js';
import type { HttpReply } from '../http/http-message.js';
import { Operation } from '../http/operation.decorator.js';
import { InboundMessage, inboundMessageOf } from './inbound.dto.js';

interface Readers {
  /** Part of the ids of operations. */
  readonly noun: string;
  /** Part of the summaries. */
  readonly by: string;
  readonly reads: (channel: string) => boolean;
}

const WHILE_KEPT = 'As long as the texts of messages are kept. The id is that of the callback.';

/** Inbound messages of an account for the holders of one kind of credential. */
function InboundRoutes({ noun, by, reads }: Readers) {
  @Injectable()
  class Routes {
    constructor(
      readonly inbound: InboundService,
      readonly channels: GatewayChannels,
    ) {}

    @Get(':referenceId')
    @Operation(`Read an inbound message${by}`, {
      id: `read${noun}`,
      description: WHILE_KEPT,
      answer: InboundMessage,
      success: 'The message.',
    })
    async read(
      @AccountId() tenant: string,
      @Param('referenceId') id: string,
    ): Promise<InboundMessage> {
      const record = await this.recordOf(id, tenant);
      return inboundMessageOf(record, this.channels.inboundPathOf(record.channel, record.id));
    }

    @Get(':referenceId/media/:file')
    @Reads('file')
    @Operation(`Download a file of an inbound message${by}`, {
      id: `download${noun}File`,
      description: `Fetched from the platform by this request. ${WHILE_KEPT}`,
      success: 'The bytes of the file.',
      bytes: true,
      errors: ['Gone', 'PayloadTooLarge'],
    })
    async file(
      @AccountId() tenant: string,
      @Param('referenceId') id: string,
      @Param('file') file: string,
      @Res({ passthrough: true }) reply: HttpReply,
    ): Promise<StreamableFile> {
      const record = await this.recordOf(id, tenant);
      const given = /^\d$/.test(file) ? Number(file) : Number.NaN;
      const media = await this.inbound
        .media(record.id, { tenant, file: given })
        .catch((error: unknown) => {
          throw fileErrorOf(error);
        });
      reply.headers(mediaHeaders(media));
      return new StreamableFile(media.stream);
    }

    /** @throws ApiError 404 */
    async recordOf(id: string, tenant: string): Promise<InboundRecord> {
      const record = await this.inbound.message(id.toLowerCase(), { tenant });
      if (!reads(record.channel))
        throw new ApiError('not_found', `No inbound message ${id.slice(0, 64)} here`);
      return record;
    }
  }
  return Routes;
}

/** Without the words of the library, which name carriers. */
function fileErrorOf(error: unknown): unknown {
  if (!(error instanceof InboundMediaError)) return error;
  const { code } = error;
  if (code === 'not_found' || code === 'unsupported')
    return new ApiError('not_found', 'The message has no such file, or none that can be fetched', {
      cause: error,
    });
  return new ApiError(isApiErrorCode(code) ? code : 'unavailable', undefined, { cause: error });
}

@Controller('ng/v1/inbound')
@Auth('api_token', INBOUND_SCOPE)
@ApiTags('Inbound')
export class InboundController extends InboundRoutes({
  noun: 'Inbound',
  by: '',
  // A key reads emails.
  reads: (channel) => channel !== 'email',
}) {}

@Controller('whatsapp/ng/v1/inbound')
@Auth('api_key', 'whatsapp:read')
@ApiTags('WhatsApp')
export class WhatsAppInboundController extends InboundRoutes({
  noun: 'WhatsAppInbound',
  by: ' by a key',
  reads: (channel) => channel === 'whatsapp',
}) {}
