import { hash } from 'node:crypto';
import {
  type AttachmentInfo,
  invitationMethod,
  MEDIA_TYPE,
} from '../../message/content/email-content.js';
import type { StoredAttachment } from '../../message/channel-definition.js';
import type { FieldError } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';

/** An attachment as callers give it. */
export interface EmailAttachment {
  readonly filename: string;
  /**
   * A media type, such as `application/pdf`. One such as `text/calendar; method=REQUEST` is an
   * invitation: it is an alternative of the text as well, so that mail programs show its buttons.
   */
  readonly contentType: string;
  /** Base64 (RFC 4648, padded, without line breaks) or the bytes. */
  readonly content: string | Uint8Array;
  /** Makes the attachment inline: the html names it as `cid:{contentId}`. */
  readonly contentId?: string;
}

interface CheckedAttachments {
  readonly infos: AttachmentInfo[];
  readonly stored: StoredAttachment[];
}

const MOST = 100;

const RULES = {
  filename: {
    form: /^[^/\\\p{Cc}\p{Cs}]{1,255}$/u,
    rule: 'must be 1 to 255 characters, without slashes and control characters',
  },
  contentType: {
    form: MEDIA_TYPE,
    rule: 'must be a media type, such as application/pdf or text/plain; charset=utf-8',
  },
  contentId: {
    form: /^[\w.@+-]{1,128}$/,
    rule: 'must be 1 to 128 letters, digits and the signs . _ @ + -',
  },
} as const;

export function checkAttachments(given: unknown, errors: FieldError[]): CheckedAttachments {
  const checked: CheckedAttachments = { infos: [], stored: [] };
  if (given === undefined) return checked;
  if (!Array.isArray(given) || given.length > MOST) {
    errors.push({ path: 'attachments', message: `must be an array of at most ${MOST}` });
    return checked;
  }
  given.forEach((entry: unknown, index) => {
    const before = errors.length;
    const refuse = (field: string, message: string) =>
      errors.push({ path: `attachments[${index}].${field}`, message });
    const text = (field: keyof typeof RULES) => {
      const value = own(entry, field);
      if (field === 'contentId' && value === undefined) return undefined;
      if (typeof value === 'string' && RULES[field].form.test(value)) return value;
      refuse(field, RULES[field].rule);
      return undefined;
    };
    const [filename = '', contentType = ''] = [text('filename'), text('contentType')];
    const contentId = text('contentId');
    const content = bytesOf(own(entry, 'content'));
    if (!content) refuse('content', 'must be base64 with padding and without spaces, or bytes');
    if (contentId !== undefined && checked.infos.some((info) => info.contentId === contentId))
      refuse('contentId', 'must differ from those of the other attachments');
    const isInvitation = ({ contentType: type }: Pick<AttachmentInfo, 'contentType'>) =>
      invitationMethod(type) !== undefined;
    if (isInvitation({ contentType }) && checked.infos.some(isInvitation))
      refuse(
        'contentType',
        'must not be a second calendar invitation (text/calendar with a method)',
      );
    if (!content || errors.length > before) return;
    const sha256 = hash('sha256', content, 'hex');
    checked.stored.push({ digest: sha256, content });
    checked.infos.push({
      filename,
      contentType,
      ...(contentId !== undefined && { contentId }),
      size: content.length,
      sha256,
    });
  });
  return checked;
}

/** Strict: Node's own decoder skips characters that are no base64. */
function bytesOf(given: unknown): Buffer | undefined {
  if (given instanceof Uint8Array)
    return Buffer.isBuffer(given)
      ? given
      : Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (typeof given !== 'string' || given.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(given, 'base64');
  // A tenth of the time of a regular expression, for 25 MiB.
  return bytes.toString('base64') === given ? bytes : undefined;
}
