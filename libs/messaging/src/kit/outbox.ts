import type { Attachment, Personal } from '../message/content/email-content.js';
import type { Channel, MessageContent } from '../message/message.js';
import { personalised } from '../message/variables.js';
import { dataMedia } from '../ports/data-media.js';
import type {
  InboundMedia,
  MediaRequest,
  MessageTransport,
  Submission,
  SubmissionAccepted,
  TransportContext,
  TransportFactory,
} from '../ports/message-transport.js';

/** A message that the dispatch has handed to a provider of the kit, which accepted it. */
export interface SentMessage {
  /** `{batchId}-{position}`, as events and timelines have it. */
  readonly id: string;
  readonly batchId: string;
  readonly tenant: string;
  readonly channel: Channel;
  /** Name of the provider that would have carried it. */
  readonly provider: string;
  readonly from: string;
  /** Address key, such as digits with country code. */
  readonly to: string;
  /** The text of an SMS, WhatsApp message, email or call, with the recipient's variables filled in. */
  readonly body?: string;
  /** Subject of an email. */
  readonly subject?: string;
  /** Name of a WhatsApp template. */
  readonly template?: string;
  /** Values of the template, by position. */
  readonly params?: readonly string[];
  /** The whole content, as a transport gets it. */
  readonly content: MessageContent;
  /** Name and variables of the recipient of an email. */
  readonly personal?: Personal;
  readonly attachments?: readonly Attachment[];
  /** 1 for the first try; more where a channel sends again, as calls after a busy line. */
  readonly attempt: number;
  /** By the clock of the kit. */
  readonly at: Date;
  /** Id of the submission, one request to the provider, and the provider's reference of it. */
  readonly submissionId: string;
  readonly reference: string;
}

/** Submissions that the providers of the kit have accepted. A resend repeats a submission and is not in it twice. */
export class Outbox {
  readonly #submissions = new Set<string>();
  readonly #messages: SentMessage[] = [];
  #cleared = 0;

  /** A transport that accepts each submission at once. */
  transport(provider: string): TransportFactory {
    return (context) => new OutboxTransport(provider, this, context);
  }

  add(submission: Submission, of: Pick<SentMessage, 'provider' | 'reference' | 'at'>): void {
    if (this.#submissions.has(submission.id)) return;
    this.#submissions.add(submission.id);
    this.#messages.push(...messagesOf(submission, of));
  }

  /** Since the last {@link clear}. */
  get all(): SentMessage[] {
    return this.#messages.slice(this.#cleared);
  }

  /** Messages so far. */
  get count(): number {
    return this.#messages.length;
  }

  /** The last try of a message, or of each message of a batch. */
  messages(id: string): SentMessage[] {
    const found = this.#messages.filter((message) => message.id === id || message.batchId === id);
    return [...new Map(found.map((message) => [message.id, message])).values()];
  }

  clear(): void {
    this.#cleared = this.#messages.length;
  }
}

class OutboxTransport implements MessageTransport {
  readonly capabilities = { maxRecipients: 1_000, idempotencyWindow: 86_400_000 };

  constructor(
    readonly name: string,
    private readonly outbox: Outbox,
    private readonly context: TransportContext,
  ) {}

  submit(submission: Submission): Promise<SubmissionAccepted> {
    const { id, channel, content, messageIds } = submission;
    const { channels, clock } = this.context;
    const reference = channels.get(channel).irrevocable?.referenceOf(content) ?? id;
    this.outbox.add(submission, { provider: this.name, reference, at: new Date(clock.now()) });
    return Promise.resolve({ reference, ...(messageIds && { messageIds }) });
  }

  fetchMedia(media: MediaRequest): Promise<InboundMedia> {
    return new Promise((resolve) => resolve(dataMedia(media)));
  }
}

function messagesOf(
  submission: Submission,
  of: Pick<SentMessage, 'provider' | 'reference' | 'at'>,
): SentMessage[] {
  const { batchId, tenant, channel, sender, content, attempt, recipients } = submission;
  const { messageIds = [], personal = [], attachments } = submission;
  return recipients.map((to, place) => ({
    id: messageIds[place] ?? submission.id,
    batchId,
    tenant,
    channel,
    from: sender,
    to,
    ...shown(content, personal[place]),
    content,
    ...(personal[place] && { personal: personal[place] }),
    ...(attachments && { attachments }),
    attempt,
    submissionId: submission.id,
    ...of,
  }));
}

/** The fields of the content that tests look at most. */
function shown(
  content: MessageContent,
  personal: Personal | undefined,
): Pick<SentMessage, 'body' | 'subject' | 'template' | 'params'> {
  switch (content.kind) {
    case 'text':
      return { body: content.text };
    case 'template':
      return { template: content.template, params: content.params };
    case 'email': {
      const { subject, text, html } = personalised(content, personal);
      return { subject, ...bodyOf(text ?? html) };
    }
    case 'call':
      return bodyOf(content.text ?? content.code ?? content.audioUrl);
    default:
      return {};
  }
}

function bodyOf(body: string | undefined): Pick<SentMessage, 'body'> {
  return body === undefined ? {} : { body };
}
