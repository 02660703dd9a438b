import { readEntries, valuesOf } from '../../callbacks/callback-fields.js';
import { moment, own } from '../../message/report-fields.js';
import type { ChannelStatus } from '../../message/status.js';
import type { CallbackParser } from '../../ports/callback-parser.js';
import { mailReport } from '../email/mail-events.js';
import type { BounceCategory } from '../smtp/bounce.js';

/** Name of the metadata with our id of the submission, which the events repeat. */
export const SUBMISSION_FIELD = 'submission';

interface Bounce {
  readonly status: ChannelStatus;
  /** Where the answer of the server says less. */
  readonly category: BounceCategory;
  readonly isSoft?: boolean;
}

/** By the type of a bounce; others, such as an automatic reply, change no status. */
const BOUNCES: Readonly<Record<string, Bounce>> = {
  HardBounce: { status: 'bounced', category: 'recipient' },
  BadEmailAddress: { status: 'bounced', category: 'recipient' },
  SoftBounce: { status: 'bounced', category: 'other', isSoft: true },
  Blocked: { status: 'bounced', category: 'block' },
  DMARCPolicy: { status: 'bounced', category: 'block' },
  SpamNotification: { status: 'bounced', category: 'block' },
  VirusNotification: { status: 'bounced', category: 'content' },
  Unknown: { status: 'bounced', category: 'other' },
  Transient: { status: 'delayed', category: 'other' },
  DnsError: { status: 'delayed', category: 'other' },
};

/**
 * Parser of Postmark's webhooks of deliveries, bounces, spam complaints and subscription changes: one
 * event of one recipient each. What a recipient unsubscribed from is the event `unsubscribed`. Opens,
 * clicks and inbound mail are skipped.
 * @see https://postmarkapp.com/developer/webhooks/webhooks-overview
 * @see https://postmarkapp.com/developer/api/bounce-api#bounce-types
 */
export function postmarkParser(): CallbackParser {
  return {
    parse: (request) =>
      readEntries(request, (entry) => {
        const kind = own(entry, 'RecordType');
        const type = own(entry, 'Type');
        const [time] = valuesOf(entry, ['DeliveredAt', 'BouncedAt', 'ChangedAt']);
        const [recipient] = valuesOf(entry, ['Recipient', 'Email']);
        const event = {
          submissionId: own(own(entry, 'Metadata'), SUBMISSION_FIELD),
          reference: own(entry, 'MessageID'),
          recipient,
          rawStatus: kind,
          time: moment(time),
        };
        switch (kind) {
          case 'Delivery':
            return mailReport({ ...event, status: 'delivered' });
          case 'SpamComplaint':
            return mailReport({ ...event, status: 'complained' });
          case 'Bounce': {
            const bounce = typeof type === 'string' ? known(type) : undefined;
            if (!bounce) return mailReport({ ...event, status: null, rawStatus: type });
            const { status, category, isSoft = false } = bounce;
            const refusal = { answer: own(entry, 'Details'), category, isSoft };
            return mailReport({ ...event, status, rawStatus: type, refusal });
          }
          case 'SubscriptionChange':
            return isUnsubscribed(entry)
              ? mailReport({ ...event, status: 'unsubscribed' })
              : undefined;
          default:
            return undefined;
        }
      }),
  };
}

function known(type: string): Bounce | undefined {
  return Object.hasOwn(BOUNCES, type) ? BOUNCES[type] : undefined;
}

/** By the recipient, not by a bounce, a complaint or the account. */
function isUnsubscribed(entry: object): boolean {
  return (
    own(entry, 'SuppressSending') === true &&
    own(entry, 'SuppressionReason') === 'ManualSuppression' &&
    own(entry, 'Origin') === 'Recipient'
  );
}
