import type { MediaUpload } from '../../ports/message-transport.js';

export interface UploadBody {
  readonly body: Buffer;
  /** With the boundary of the parts. */
  readonly contentType: string;
}

/** The form of `POST /{phone number id}/media`. */
export async function uploadBody({
  content,
  contentType,
  filename = 'file',
}: MediaUpload): Promise<UploadBody> {
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
