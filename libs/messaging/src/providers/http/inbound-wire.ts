import {
  buttonOf,
  cardsOf,
  flowOf,
  listIn,
  locationOf,
  mediaOf,
  otherOf,
  reactionOf,
  rowOf,
} from '../../callbacks/inbound-contents.js';
import { InboundMediaError } from '../../message/errors.js';
import type { InboundContent, InboundFile } from '../../message/content/inbound-content.js';
import { identifier, own } from '../../message/report-fields.js';
import type { MediaRequest } from '../../ports/message-transport.js';

const TYPES: readonly InboundFile['type'][] = [
  'image',
  'video',
  'audio',
  'voice',
  'document',
  'sticker',
];
/** Id of a message, and number of a file in it. */
const SOURCE = /^[\w-]{1,64}\/\d{1,2}$/;
/** Paths of files, after that of `baseUrl`. */
export const FILE_PATH = /\/ng\/v1\/inbound\/[\w-]{1,64}\/media\/\d{1,2}$/;

/** Content of an inbound message of the interface; `undefined`: a text. */
export function contentOfWire(data: object): InboundContent | undefined {
  const content = own(data, 'content');
  const type = own(content, 'type');
  if (typeof type !== 'string' || type === 'text') return undefined;
  return known(type, own(content, type), data) ?? otherOf(type, content);
}

function known(type: string, part: unknown, data: object): InboundContent | undefined {
  const field = (name: string) => own(part, name);
  switch (type) {
    case 'media':
      return filesOf(part, data);
    case 'location':
      return locationOf(part);
    case 'contacts':
      return cardsOf(part, (card) => ({
        name: own(card, 'name'),
        organization: own(card, 'organization'),
        phones: listIn(card, 'phones'),
        emails: listIn(card, 'emails'),
      }));
    case 'reaction':
      return reactionOf(field('emoji'), field('message_id'));
    case 'button':
      return buttonOf(field('title'), field('payload'));
    case 'list':
      return rowOf(part);
    case 'flow':
      return flowOf(field('name'), field('response'));
    case 'other':
      return otherOf(field('type'), field('raw'));
    default:
      return undefined;
  }
}

/** The text of a message with files is their caption. */
function filesOf(part: unknown, data: object): InboundContent | undefined {
  const id = identifier(own(data, 'reference_id'));
  const files = (Array.isArray(part) ? part : []).map((file: unknown, n) => {
    const given = own(file, 'type');
    return {
      type: TYPES.find((type) => type === given),
      contentType: own(file, 'content_type'),
      filename: own(file, 'filename'),
      size: own(file, 'size'),
      source: id === null ? undefined : `${id}/${n}`,
    };
  });
  return mediaOf(files, own(data, 'text'));
}

/** Path of a file of an inbound message. @throws InboundMediaError */
export function filePathOf({ channel, file: { source } }: MediaRequest): string {
  if (!SOURCE.test(source))
    throw new InboundMediaError('unsupported', 'The file names no message of the service');
  const [id, n] = source.split('/');
  return `${channel === 'whatsapp' ? '/whatsapp' : ''}/ng/v1/inbound/${id}/media/${n}`;
}
