import { createHash } from 'node:crypto';
import MimeNode from 'nodemailer/lib/mime-node';
import * as qp from 'nodemailer/lib/qp';
import {
  type Attachment,
  type EmailContent,
  invitationMethod,
  isShared,
  MEDIA_TYPE,
  type Personal,
} from '../../message/content/email-content.js';
import { personalised, variablesIn } from '../../message/variables.js';
import type { Submission } from '../../ports/message-transport.js';
import {
  emailIn,
  invalid,
  type UnsubscribeUrl,
  unsubscribeHeaders,
  wireAddress,
  withText,
} from '../email/mail-parts.js';
import {
  addressList,
  customField,
  encoded,
  type HeaderField,
  headerField,
} from './header-fields.js';

/** A message that is ready, apart from its signatures. */
export interface ComposedEmail {
  readonly from: string;
  readonly fields: readonly HeaderField[];
  readonly body: Buffer;
  /** SHA-256 of the body in the relaxed canonical form of RFC 6376. */
  readonly bodyHash: () => Buffer;
}

export interface CopyOf {
  readonly recipient: string;
  readonly personal?: Personal | undefined;
  /** Our id of the message, or of the batch where all recipients see each other. */
  readonly id: string;
  readonly date: Date;
  /** Address of the one-click page of this recipient, where the content has none. */
  readonly unsubscribeUrl?: string | undefined;
}

/** Composes the emails of submissions, each to one recipient. */
export class EmailComposer {
  /** The submissions of one plan share their content object. */
  readonly #templates = new WeakMap<EmailContent, EmailTemplate>();

  constructor(private readonly unsubscribeUrl: UnsubscribeUrl) {}

  /** @throws PermanentFailure where the content cannot be a message */
  compose(submission: Submission, recipient: string): ComposedEmail {
    const { id, batchId, tenant, messageIds, personal, dueAt, attachments } = submission;
    const content = emailIn(submission);
    let template = this.#templates.get(content);
    if (!template)
      this.#templates.set(content, (template = new EmailTemplate(content, attachments)));
    const messageId = messageIds?.[0] ?? id;
    return template.copyFor({
      recipient,
      personal: personal?.[0],
      id: template.isShared ? batchId : messageId,
      date: dueAt,
      unsubscribeUrl:
        content.category === 'marketing' && content.unsubscribeUrl === undefined
          ? this.unsubscribeUrl?.({ id: messageId, tenant, recipient })
          : undefined,
    });
  }
}

type TextField = 'text' | 'html';

/** A part of the body: the same in each copy, or made from the recipient's text. */
type Piece = { readonly bytes: Buffer; readonly canonical: Buffer } | { readonly of: TextField };

/**
 * The content of one batch. What its copies share is made once: attachments in base64, texts
 * without variables, and, where no text has a variable, the body with its hash.
 */
export class EmailTemplate {
  readonly #content: EmailContent;
  readonly #contentFields: readonly HeaderField[];
  readonly #shared: readonly HeaderField[];
  readonly #pieces: readonly Piece[];
  #body: Pick<ComposedEmail, 'body' | 'bodyHash'> | undefined;

  /** @throws PermanentFailure where the content cannot be a message */
  constructor(given: EmailContent, attachments: readonly Attachment[] = []) {
    const content = withText(given);
    this.#content = content;
    const { root, pieces } = bodyOf(content, attachments);
    this.#contentFields = [headerField('MIME-Version', '1.0'), ...root];
    this.#pieces = pieces;
    const { from, to, cc, replyTo, headers = {} } = content;
    this.#shared = [
      headerField('From', addressList([from])),
      ...(to?.length ? [headerField('To', addressList(to))] : []),
      ...(cc?.length ? [headerField('Cc', addressList(cc))] : []),
      ...(replyTo?.length ? [headerField('Reply-To', addressList(replyTo))] : []),
      ...Object.entries(headers).map(([name, value]) => customField(name, value)),
    ];
  }

  /** Whether the recipients see each other, so that all copies are the same message. */
  get isShared(): boolean {
    return isShared(this.#content);
  }

  copyFor({ recipient, personal, id, date, unsubscribeUrl }: CopyOf): ComposedEmail {
    const content = personalised(this.#content, personal);
    const from = wireAddress(content.from.email);
    const to = { email: recipient, ...(personal?.name !== undefined && { name: personal.name }) };
    if (!/^[\w.-]{1,200}$/.test(id)) throw invalid('The id of the message cannot be a Message-ID');
    return {
      from,
      fields: [
        ...this.#shared,
        ...(this.isShared ? [] : [headerField('To', addressList([to]))]),
        headerField('Subject', encoded(content.subject)),
        headerField('Date', date.toUTCString().replace('GMT', '+0000')),
        headerField('Message-ID', `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`),
        ...unsubscribeHeaders(content, unsubscribeUrl).map(([name, value]) =>
          headerField(name, value),
        ),
        ...this.#contentFields,
      ],
      ...this.#bodyOf(content),
    };
  }

  #bodyOf(content: EmailContent): Pick<ComposedEmail, 'body' | 'bodyHash'> {
    if (this.#body) return this.#body;
    const parts = this.#pieces.map((piece) =>
      'of' in piece ? quotedPrintable(content[piece.of] ?? '') : piece,
    );
    const body = Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part.bytes)),
    );
    let hash: Buffer | undefined;
    const made = { body, bodyHash: () => (hash ??= body.length > 2 ? hashOf(parts) : EMPTY_HASH) };
    if (this.#pieces.every((piece) => !('of' in piece))) this.#body = made;
    return made;
  }
}

/** The canonical form of a body without lines is empty. */
const EMPTY_HASH = createHash('sha256').digest();

function hashOf(parts: readonly (string | { readonly canonical: Buffer })[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts)
    hash.update(typeof part === 'string' ? canonicalOf(part) : part.canonical);
  return hash.digest();
}

interface Entity {
  readonly root: readonly HeaderField[];
  readonly pieces: readonly Piece[];
}

/**
 * `mixed(alternative(text, related(html, inline…), invitation), attachments…)`, without unneeded
 * levels. An invitation is a file as well, as those of calendar services are.
 */
function bodyOf(content: EmailContent, attachments: readonly Attachment[]): Entity {
  const isInline = ({ contentId }: Attachment) =>
    contentId !== undefined && content.html !== undefined;
  const inline = attachments.filter(isInline).map((one) => attachmentOf(one, 'inline'));
  const others = attachments
    .filter((one) => !isInline(one))
    .map((one) => attachmentOf(one, 'attachment'));
  const html = content.html ? [textOf('html', content)] : [];
  const texts = content.text !== undefined || html.length === 0 ? [textOf('text', content)] : [];
  const related = joined('related', [...html, ...inline]);
  const invitation = attachments.find(({ contentType }) => invitationMethod(contentType));
  const alternative = joined('alternative', [
    ...texts,
    ...(related ? [related] : []),
    ...(invitation ? [alternativeOf(invitation)] : []),
  ]);
  const mixed = joined('mixed', [...(alternative ? [alternative] : []), ...others]);
  if (!mixed) throw invalid('The message has no content');
  return mixed;
}

function textOf(of: TextField, content: EmailContent): Entity {
  const text = content[of] ?? '';
  const node = mimeNode(of === 'html' ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8');
  node.setHeader('Content-Transfer-Encoding', 'quoted-printable');
  const isPersonal = variablesIn([text]).size > 0;
  return {
    root: fieldsOf(node),
    pieces: [isPersonal ? { of } : pieceOf(quotedPrintable(text)), pieceOf('\r\n')],
  };
}

function attachmentOf(
  { filename, contentType, contentId, content }: Attachment,
  disposition: 'inline' | 'attachment',
): Entity {
  const name = filename.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ');
  const node = mimeNode(fileTypeOf(contentType), name);
  node.setHeader('Content-Transfer-Encoding', 'base64');
  node.setHeader('Content-Disposition', disposition);
  if (contentId !== undefined) {
    if (!/^[\w.@+-]{1,128}$/.test(contentId)) throw invalid('A content id has no valid form');
    node.setHeader('Content-ID', `<${contentId}>`);
  }
  return { root: fieldsOf(node), pieces: [base64Piece(content), pieceOf('\r\n')] };
}

function fileTypeOf(contentType: string): string {
  // A second part with the method would be a second invitation.
  if (invitationMethod(contentType)) return 'application/ics';
  // A message or multipart entity may not be in base64 (RFC 2046).
  const isEntity = /^(message|multipart)\//i.test(contentType);
  return MEDIA_TYPE.test(contentType) && !isEntity ? contentType : 'application/octet-stream';
}

function alternativeOf({ contentType, content }: Attachment): Entity {
  const node = mimeNode(MEDIA_TYPE.test(contentType) ? contentType : 'text/calendar');
  node.setHeader('Content-Transfer-Encoding', 'base64');
  return { root: fieldsOf(node), pieces: [base64Piece(content), pieceOf('\r\n')] };
}

/** A child of a discarded root, because only a root gets a Date and a Message-ID of its own. */
function mimeNode(contentType: string, filename?: string): MimeNode {
  const closed = { disableFileAccess: true, disableUrlAccess: true };
  return new MimeNode('multipart/mixed', closed).createChild(contentType, {
    ...closed,
    ...(filename !== undefined && { filename }),
  });
}

function fieldsOf(node: MimeNode): HeaderField[] {
  const fields: HeaderField[] = [];
  for (const line of node.buildHeaders().split('\r\n')) {
    const last = fields.at(-1);
    if (/^[ \t]/.test(line) && last)
      fields[fields.length - 1] = { ...last, lines: `${last.lines}\r\n${line}` };
    else fields.push({ name: line.slice(0, line.indexOf(':')), lines: line });
  }
  return fields;
}

/** A boundary with `=_` occurs in neither quoted-printable nor base64. */
function joined(type: string, entities: readonly Entity[]): Entity | undefined {
  const [first] = entities;
  if (!first || entities.length === 1) return first;
  const boundary = `=_${type}`;
  const pieces = entities.flatMap(({ root, pieces: own }, index) => [
    pieceOf(`${index === 0 ? '' : '\r\n'}--${boundary}\r\n${linesOf(root)}\r\n\r\n`),
    ...own,
  ]);
  return {
    root: [headerField('Content-Type', `multipart/${type}; boundary="${boundary}"`)],
    pieces: merged([...pieces, pieceOf(`\r\n--${boundary}--\r\n`)]),
  };
}

export function linesOf(fields: readonly HeaderField[]): string {
  return fields.map(({ lines }) => lines).join('\r\n');
}

function merged(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last && !('of' in last) && !('of' in piece))
      result[result.length - 1] = {
        bytes: Buffer.concat([last.bytes, piece.bytes]),
        canonical: Buffer.concat([last.canonical, piece.canonical]),
      };
    else result.push(piece);
  }
  return result;
}

/** Without line breaks at the end, which the canonical form of a body ignores. */
function quotedPrintable(text: string): string {
  const lines = text.replaceAll(/\r\n|\r|\n/g, '\r\n').replace(/(\r\n)+$/, '');
  return qp.wrap(qp.encode(lines), 76);
}

function pieceOf(text: string): { bytes: Buffer; canonical: Buffer } {
  return { bytes: Buffer.from(text), canonical: Buffer.from(canonicalOf(text)) };
}

/**
 * Quoted-printable leaves no white space at the end of a line, so that the relaxed form only
 * reduces white space within lines.
 */
function canonicalOf(text: string): string {
  return text.replaceAll(/[ \t]+/g, ' ');
}

function base64Piece(content: Buffer): Piece {
  const lines: string[] = [];
  // 57 bytes are a line of 76 characters.
  const step = 57 * 1_024;
  for (let from = 0; from < content.length; from += step)
    lines.push(
      content
        .subarray(from, from + step)
        .toString('base64')
        .replaceAll(/.{76}(?=.)/g, '$&\r\n'),
    );
  const bytes = Buffer.from(lines.join('\r\n'), 'latin1');
  return { bytes, canonical: bytes };
}
