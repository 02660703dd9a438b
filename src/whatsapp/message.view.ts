import type { MessageStatus, MessageTimeline, SubmittedMessage } from '@dundun/messaging';

/** Price and sender of a message, as far as they are known. */
interface Charged {
  /** The platform's id once it is known, ours before; reading back takes both. */
  readonly message_id: string;
  readonly cost: number | null;
  readonly currency: string | null;
  readonly category: string | null;
  readonly sender: string;
}

/** Answer to a send (interface section 2.4). */
export interface SendWhatsAppAnswer extends Charged {
  readonly status: 'sent' | 'queued' | 'unknown' | 'rejected' | 'failed' | 'expired' | 'cancelled';
}

export function sendWhatsAppAnswer(message: SubmittedMessage): SendWhatsAppAnswer {
  return { ...charged(message), status: submitStatus(message) };
}

/** What became of the submit, whatever was reported since: a delivered message was `sent`. */
function submitStatus({ status, providerId }: SubmittedMessage): SendWhatsAppAnswer['status'] {
  switch (status) {
    case 'queued':
    case 'sending':
      return 'queued';
    case 'sent':
    case 'delivered':
    case 'read':
    case 'undelivered':
      return 'sent';
    case 'expired':
    case 'failed':
    case 'rejected':
      return providerId === null ? status : 'sent';
    case 'unknown':
    case 'cancelled':
      return status;
  }
}

/** A message read back. */
export interface WhatsAppMessageAnswer extends Charged {
  /** The id it had before the platform's was known. */
  readonly reference_id: string;
  readonly to: string;
  /** `null` once retention erased it. */
  readonly message_type: 'template' | 'text' | null;
  readonly template_name: string | null;
  readonly language: string | null;
  readonly params: readonly string[] | null;
  /** `null`: a template, or once retention erased it. */
  readonly text: string | null;
  readonly status: MessageStatus;
  readonly error_code: string | null;
  readonly created_at: string;
  /** When it came to this status, as the platform says; `null` before anything was reported. */
  readonly smsc_timestamp: string | null;
}

export function messageAnswer(message: MessageTimeline): WhatsAppMessageAnswer {
  const { content } = message;
  const template = content?.kind === 'template' ? content : undefined;
  const last = message.reports.findLast(({ sequence }) => sequence !== null);
  return {
    ...charged(message),
    reference_id: message.id,
    to: message.recipient,
    message_type: template ? 'template' : content ? 'text' : null,
    template_name: template?.template ?? null,
    language: template?.language ?? null,
    params: template?.params ?? null,
    text: content?.kind === 'text' ? content.text : null,
    status: message.status,
    error_code: message.errorCode,
    created_at: message.acceptedAt.toISOString(),
    smsc_timestamp: last?.providerTime.toISOString() ?? null,
  };
}

/** The platform's category counts where it told one, else what it is sent as. */
function charged(message: SubmittedMessage): Charged {
  const { content } = message;
  const category = content?.kind === 'template' ? content.category : content && 'service';
  return {
    message_id: message.providerId ?? message.id,
    cost: message.cost === null ? null : Number(message.cost),
    currency: message.currency,
    category: message.category ?? category ?? null,
    sender: message.sender,
  };
}
