import { type FieldError, validated } from '../../message/errors.js';
import type { MediaUpload } from '../../ports/message-transport.js';

const [KB, MB] = [1_024, 1_048_576];

/**
 * Most bytes of a file by its MIME type.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types
 */
const LIMITS: ReadonlyMap<string, number> = new Map([
  ...types('image', ['jpeg', 'png'], 5 * MB),
  ...types('image', ['webp'], 500 * KB),
  ...types('video', ['mp4', '3gpp'], 16 * MB),
  ...types('audio', ['aac', 'amr', 'mpeg', 'mp4', 'ogg'], 16 * MB),
  ...types('text', ['plain'], 100 * MB),
  ...types(
    'application',
    [
      'pdf',
      'msword',
      'vnd.ms-excel',
      'vnd.ms-powerpoint',
      'vnd.openxmlformats-officedocument.wordprocessingml.document',
      'vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'vnd.openxmlformats-officedocument.presentationml.presentation',
    ],
    100 * MB,
  ),
]);

function types(kind: string, names: readonly string[], most: number): [string, number][] {
  return names.map((name) => [`${kind}/${name}`, most]);
}

export interface UploadBody {
  readonly body: Buffer;
  /** With the boundary of the parts. */
  readonly contentType: string;
}

/** The form of `POST /{phone number id}/media`. @throws MessageValidationError */
export async function uploadBody(media: MediaUpload): Promise<UploadBody> {
  const { content, contentType, filename = 'file' } = validated((errors) => checked(media, errors));
  const form = new FormData();
  form.set('messaging_product', 'whatsapp');
  form.set('type', contentType);
  form.set('file', new File([new Uint8Array(content)], filename, { type: contentType }));
  const encoded = new Response(form);
  return {
    contentType: encoded.headers.get('content-type') as string,
    body: Buffer.from(await encoded.arrayBuffer()),
  };
}

function checked(media: MediaUpload, errors: FieldError[]): MediaUpload {
  const { content, contentType, filename } = media;
  const type =
    typeof contentType === 'string' ? contentType.toLowerCase().split(';')[0]?.trim() : '';
  const most = LIMITS.get(type ?? '');
  const refuse = (path: string, message: string) => errors.push({ path, message });
  if (most === undefined)
    refuse('contentType', `is no type that WhatsApp takes: ${[...LIMITS.keys()].join(', ')}`);
  if (!Buffer.isBuffer(content) || content.length === 0)
    refuse('content', 'must be a Buffer of at least one byte');
  else if (most !== undefined && content.length > most)
    refuse('content', `must have at most ${most} bytes for ${type}, and has ${content.length}`);
  if (filename !== undefined && !/^[^\p{Cc}\p{Cs}/\\]{1,240}$/u.test(filename))
    refuse('filename', 'must be 1 to 240 characters without slashes');
  return media;
}
