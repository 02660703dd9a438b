/** An address of a header, with the name that mail programs show. */
export interface Mailbox {
  /** Normalised: a dot-atom local part, the domain in lower case with A-labels. */
  readonly email: string;
  readonly name?: string;
}

/** An attachment without its bytes, which the store keeps once per batch. */
export interface AttachmentInfo {
  readonly filename: string;
  /** A media type with its parameters, such as `text/calendar; method=REQUEST`. */
  readonly contentType: string;
  /** The attachment is inline: the html names it as `cid:{contentId}`. */
  readonly contentId?: string;
  /** Size of the content in bytes. */
  readonly size: number;
  /** SHA-256 of the content in hexadecimal digits. */
  readonly sha256: string;
}

/** An attachment with its bytes, as a submission carries it. */
export interface Attachment extends Pick<AttachmentInfo, 'filename' | 'contentType' | 'contentId'> {
  readonly content: Buffer;
}

const TOKEN = String.raw`[\w!#$%&'*^.+-]{1,128}`;

/** A media type with up to ten parameters (RFC 2045), such as `text/plain; charset=utf-8`. */
export const MEDIA_TYPE = new RegExp(
  String.raw`^${TOKEN}/${TOKEN}(?:[ \t]{0,8};[ \t]{0,8}${TOKEN}=(?:${TOKEN}|"[ !#-[\]-~]{0,128}")){0,10}$`,
);

/**
 * The method of a calendar invitation: `REQUEST` of `text/calendar; method=REQUEST`. Mail programs show
 * buttons for one that is an alternative of the text. `undefined`: the attachment is a plain file.
 */
export function invitationMethod(contentType: string): string | undefined {
  if (!/^text\/calendar[ \t]*;/i.test(contentType)) return undefined;
  return /;[ \t]*method="?([a-z-]{1,32})/i.exec(contentType)?.[1]?.toUpperCase();
}

/** Content of an email, the same for all recipients of its batch. */
export interface EmailContent {
  readonly kind: 'email';
  readonly from: Mailbox;
  /** Shown in the headers to every recipient. Absent: each recipient gets a copy addressed to it alone. */
  readonly to?: readonly Mailbox[];
  readonly cc?: readonly Mailbox[];
  readonly replyTo?: readonly Mailbox[];
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Metadata only; the bytes are stored once per batch and come with the submission. */
  readonly attachments?: readonly AttachmentInfo[];
  readonly category?: 'transactional' | 'marketing';
  readonly unsubscribeUrl?: string;
}

/** Whether the recipients of the batch see each other in the header: one email for all of them. */
export function isShared(content: { readonly kind: string }): boolean {
  if (content.kind !== 'email') return false;
  const { to, cc } = content as EmailContent;
  return Boolean(to?.length || cc?.length);
}

/** Recipients of one request, as the email shows them. */
export interface Addressees {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  /** Addresses that the email does not show. */
  readonly bcc: readonly string[];
}

/**
 * Those of `to` and `cc` that are among the recipients of a request, and the others hidden. An address
 * that is not among them is not named, because the provider would send to it. `to` is empty only where
 * the email shows no recipient.
 */
export function addresseesOf(
  { to = [], cc = [] }: EmailContent,
  recipients: readonly string[],
): Addressees {
  const own = new Set(recipients);
  const isOwn = ({ email }: Mailbox): boolean => own.has(email);
  const shown = [to.filter(isOwn), cc.filter(isOwn)];
  const [first = [], ...others] = shown.filter((list) => list.length > 0);
  for (const { email } of shown.flat()) own.delete(email);
  return { to: first, cc: others.flat(), bcc: [...own] };
}

/** Fields of a send for one of its recipients. */
export interface Personal {
  readonly name?: string;
  /** Replace `{{name}}` in the content of this recipient's message. */
  readonly variables?: Readonly<Record<string, string>>;
}
