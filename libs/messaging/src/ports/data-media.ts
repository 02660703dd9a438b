import { Readable } from 'node:stream';
import { InboundMediaError } from '../message/errors.js';
import type { InboundMedia, MediaRequest } from './message-transport.js';

const DATA = /^data:([\w.+/-]*)(?:;[\w=.-]+)*;base64,([A-Za-z0-9+/]*={0,2})$/;

/**
 * The file of a transport without a provider: its source has the bytes, as
 * `data:image/png;base64,…` (RFC 2397).
 * @throws InboundMediaError `media_expired` for any other source
 */
export function dataMedia({ file }: Pick<MediaRequest, 'file'>): InboundMedia {
  const [, contentType = '', data] = DATA.exec(file.source) ?? [];
  if (data === undefined)
    throw new InboundMediaError('media_expired', 'The source of the file is no data: URL');
  const bytes = Buffer.from(data, 'base64');
  return {
    stream: Readable.from([bytes], { objectMode: false }),
    contentType: contentType === '' ? null : contentType,
    filename: null,
    size: bytes.length,
  };
}
