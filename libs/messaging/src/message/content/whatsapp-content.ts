export const MEDIA_TYPES = ['image', 'video', 'audio', 'document', 'sticker'] as const;

export type MediaType = (typeof MEDIA_TYPES)[number];

/**
 * One of both: the address of a file, which the platform fetches, or the id of an upload, as
 * `WhatsAppService.uploadMedia()` gives it.
 */
export interface MediaSource {
  /** `https://…` or `http://…`, at most 2,048 characters. */
  readonly link?: string;
  readonly mediaId?: string;
}

/** Media outside a template, only inside an open 24-hour window. */
export interface MediaContent extends MediaSource {
  readonly kind: 'media';
  readonly type: MediaType;
  /** Text below an image, a video or a document; at most 1,024 characters. @default none */
  readonly caption?: string;
  /** Name of a document, as the recipient sees it. @default the platform's choice */
  readonly filename?: string;
}

/** Variable of a template's header, of at most 60 characters, or its media. */
export type TemplateHeader =
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'image' | 'video' } & MediaSource)
  | ({ readonly type: 'document'; readonly filename?: string } & MediaSource);

/** Variable of a template's button; `index` is its place among all buttons, from 0. */
export type TemplateButton =
  | {
      readonly type: 'url';
      readonly index: number;
      /** Follows the address that the template has. */
      readonly suffix: string;
    }
  | {
      readonly type: 'quick_reply';
      readonly index: number;
      /** Comes back with the message of a recipient who presses the button. */
      readonly payload: string;
    }
  | {
      readonly type: 'copy_code';
      readonly index: number;
      /** At most 20 characters. */
      readonly code: string;
    };
