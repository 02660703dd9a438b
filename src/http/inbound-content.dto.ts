import type { InboundContent } from '@dundun/messaging';
import { Choice, Field, Nested, Objects, Text, WholeNumber } from './fields.js';

const KINDS = [
  'text',
  'media',
  'location',
  'contacts',
  'reaction',
  'button',
  'list',
  'flow',
  'other',
] as const;
const FILES = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const;

export class InboundFileData {
  @Choice(FILES, { description: '`voice`: recorded in the chat.', examples: ['image'] })
  readonly type!: (typeof FILES)[number];

  @Text({ nullable: true, description: 'MIME type; null: not known.', examples: ['image/jpeg'] })
  readonly content_type!: string | null;

  @Text({ nullable: true, description: 'null: not known.', examples: ['invoice.pdf'] })
  readonly filename!: string | null;

  @WholeNumber({ minimum: 0, nullable: true, description: 'Bytes; null: not known.' })
  readonly size!: number | null;

  @Text({
    description: 'Path of its bytes at this service, for the credential of the account.',
    examples: ['/whatsapp/ng/v1/inbound/01a1f91d-94f5-779e-8c4f-a4ea0dc430dd/media/0'],
  })
  readonly path!: string;
}

class InboundLocationData {
  @Field({ type: 'number', minimum: -90, maximum: 90, examples: [6.45] })
  readonly latitude!: number;
  @Field({ type: 'number', minimum: -180, maximum: 180, examples: [3.39] })
  readonly longitude!: number;
  @Text({ nullable: true }) readonly name!: string | null;
  @Text({ nullable: true }) readonly address!: string | null;
  @Text({ nullable: true }) readonly url!: string | null;
}

const TEXTS = { type: 'array', items: { type: 'string' } } as const;

class InboundCardData {
  @Text({ nullable: true, examples: ['Ada Obi'] }) readonly name!: string | null;
  @Text({ nullable: true }) readonly organization!: string | null;
  @Field({ ...TEXTS, description: 'As the sender wrote them.' })
  readonly phones!: readonly string[];
  @Field(TEXTS) readonly emails!: readonly string[];
}

class InboundReactionData {
  @Text({ examples: ['👍'] }) readonly emoji!: string;

  @Text({ nullable: true, description: 'The platform’s id of the message that it is about.' })
  readonly message_id!: string | null;
}

class InboundButtonData {
  @Text({ nullable: true, examples: ['Yes'] }) readonly title!: string | null;
  @Text({ nullable: true, description: 'As the account sent it.' })
  readonly payload!: string | null;
}

class InboundRowData {
  @Text({ nullable: true, description: 'As the account sent it.' }) readonly id!: string | null;
  @Text({ nullable: true }) readonly title!: string | null;
  @Text({ nullable: true }) readonly description!: string | null;
}

class InboundFlowData {
  @Text({ nullable: true }) readonly name!: string | null;

  @Field({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'The filled form; null: it is no JSON object, or too long.',
  })
  readonly response!: Readonly<Record<string, unknown>> | null;
}

class InboundOtherData {
  @Text({ nullable: true, description: 'The platform’s word.', examples: ['order'] })
  readonly type!: string | null;

  @Field({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'The message as the platform sent it; null: it is too long.',
  })
  readonly raw!: unknown;
}

const MORE = { optional: true } as const;

/** For the document. */
export const CONTENT_EXAMPLE = {
  type: 'media',
  media: [
    {
      type: 'image',
      content_type: 'image/jpeg',
      filename: null,
      size: null,
      path: '/whatsapp/ng/v1/inbound/01a1f91d-94f5-779e-8c4f-a4ea0dc430dd/media/0',
    },
  ],
};

/** What an inbound message is; beside `type`, the field of that name. */
export class InboundContentData {
  @Choice(KINDS, {
    description: 'Beside it stands the field of that name; `text` has none.',
    examples: ['media'],
  })
  readonly type!: (typeof KINDS)[number];

  @Objects(InboundFileData, {
    ...MORE,
    message: 'must be a list of files',
    description: 'The text of the message is the caption.',
  })
  readonly media?: readonly InboundFileData[];

  @Nested(InboundLocationData, MORE) readonly location?: InboundLocationData;

  @Objects(InboundCardData, { ...MORE, message: 'must be a list of people' })
  readonly contacts?: readonly InboundCardData[];

  @Nested(InboundReactionData, MORE) readonly reaction?: InboundReactionData;
  @Nested(InboundButtonData, MORE) readonly button?: InboundButtonData;
  @Nested(InboundRowData, { ...MORE, description: 'The chosen row.' })
  readonly list?: InboundRowData;
  @Nested(InboundFlowData, MORE) readonly flow?: InboundFlowData;
  @Nested(InboundOtherData, MORE) readonly other?: InboundOtherData;
}

/** @param path of the message at this service */
export function contentDataOf(content: InboundContent, path: string): InboundContentData {
  switch (content.kind) {
    case 'text':
      return { type: 'text' };
    case 'media': {
      const media = content.files.map(({ type, contentType, filename, size }, n) => {
        return { type, content_type: contentType, filename, size, path: `${path}/media/${n}` };
      });
      return { type: 'media', media };
    }
    case 'location': {
      const { kind: type, ...location } = content;
      return { type, location };
    }
    case 'contacts':
      return { type: 'contacts', contacts: content.contacts };
    case 'reaction':
      return {
        type: 'reaction',
        reaction: { emoji: content.emoji, message_id: content.messageId },
      };
    case 'button': {
      const { kind: type, ...button } = content;
      return { type, button };
    }
    case 'list': {
      const { kind: type, ...list } = content;
      return { type, list };
    }
    case 'flow': {
      const { kind: type, ...flow } = content;
      return { type, flow };
    }
    case 'other': {
      const { type, raw } = content;
      return { type: 'other', other: { type, raw } };
    }
  }
}
