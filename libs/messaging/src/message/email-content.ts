/** An address of a header, with the name that mail programs show. */
export interface Mailbox {
  /** Normalised: a dot-atom local part, the domain in lower case with A-labels. */
  readonly email: string;
  readonly name?: string;
}

/** An attachment without its bytes, which the store keeps once per batch. */
export interface AttachmentInfo {
  readonly filename: string;
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

/** Fields of a send for one of its recipients. */
export interface Personal {
  readonly name?: string;
  /** Replace `{{name}}` in the content of this recipient's message. */
  readonly variables?: Readonly<Record<string, string>>;
}
