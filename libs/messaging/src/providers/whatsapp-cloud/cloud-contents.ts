import {
  buttonOf,
  contactsOf,
  flowOf,
  locationOf,
  mediaOf,
  otherOf,
  reactionOf,
  rowOf,
} from '../../callbacks/inbound-contents.js';
import type { InboundContent, InboundFile } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';

/**
 * Content of a message in a webhook of Meta; `undefined`: a text.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/reference/messages
 */
export function cloudContentOf(message: unknown): InboundContent | undefined {
  const type = own(message, 'type');
  if (type === 'text') return undefined;
  return known(type, message) ?? otherOf(type, message);
}

function known(type: unknown, message: unknown): InboundContent | undefined {
  const part = typeof type === 'string' ? own(message, type) : undefined;
  switch (type) {
    case 'image':
    case 'video':
    case 'document':
    case 'sticker':
      return file(type, part);
    case 'audio':
      return file(own(part, 'voice') === true ? 'voice' : 'audio', part);
    case 'location':
      return locationOf(part);
    case 'contacts':
      return contactsOf(part);
    case 'reaction':
      return reactionOf(own(part, 'emoji'), own(part, 'message_id'));
    case 'button':
      return buttonOf(own(part, 'text'), own(part, 'payload'));
    case 'interactive':
      return answer(part);
    default:
      return undefined;
  }
}

function file(type: InboundFile['type'], part: unknown): InboundContent | undefined {
  const given = {
    type,
    contentType: own(part, 'mime_type'),
    filename: own(part, 'filename'),
    source: own(part, 'id'),
  };
  return mediaOf([given], own(part, 'caption'));
}

/** Of an interactive message. */
function answer(part: unknown): InboundContent | undefined {
  const [button, row, form] = ['button_reply', 'list_reply', 'nfm_reply'].map((name) =>
    own(part, name),
  );
  if (button !== undefined) return buttonOf(own(button, 'title'), own(button, 'id'));
  if (row !== undefined) return rowOf(row);
  return form === undefined ? undefined : flowOf(own(form, 'name'), own(form, 'response_json'));
}
