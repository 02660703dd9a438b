import type { InboundMedia } from './ports/message-transport.js';

const MIME = /^[\w.+-]+\/[\w.+-]+$/;

/**
 * HTTP headers to pass a file of an inbound message on: a download, which no browser shows as a page
 * of yours, whatever its sender says it is.
 * @example
 * const media = await inbound.media(id);
 * response.set(mediaHeaders(media));
 * await pipeline(media.stream, response);
 */
export function mediaHeaders({
  contentType,
  filename,
}: Pick<InboundMedia, 'contentType' | 'filename'>): Record<string, string> {
  const [type = ''] = (contentType ?? '').split(';');
  return {
    'Content-Type': MIME.test(type.trim()) ? type.trim() : 'application/octet-stream',
    'Content-Disposition': `attachment; ${namesOf(filename ?? 'file')}`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  };
}

/** A name in ASCII, and the whole one (RFC 6266, RFC 8187). */
function namesOf(filename: string): string {
  const name = filename.replace(/[\p{Cc}\p{Cs}/\\]/gu, '_');
  const plain = name.replace(/[^\x20-\x7e]|["%]/gu, '_');
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${plain}"; filename*=UTF-8''${whole}`;
}
