import type {
  ChannelDefinition,
  SimulatedOutcome,
  SimulatedReport,
} from '../../message/channel-definition.js';
import type { FieldError } from '../../message/errors.js';
import { ADDRESS_RULES, addressOf } from '../../message/address.js';
import type { MessageContent } from '../../message/message.js';
import { STATUSES } from '../../message/status.js';
import type { VoiceContent } from '../../message/voice-content.js';
import type { MessagingSettings } from '../../ports/messaging-options.js';
import { checkCall } from './voice-fields.js';

const { expired, failed, rejected } = STATUSES;

const VOICE_STATUSES = {
  initiated: { rank: 41, reported: true },
  ringing: { rank: 45, reported: true },
  expired,
  no_answer: { rank: 62, terminal: true, reported: true, failed: true },
  busy: { rank: 64, terminal: true, reported: true, failed: true },
  failed,
  rejected,
  answered: { rank: 91, reported: true },
  completed: { rank: 95, terminal: true, reported: true },
} as const;

/** Event of a busy line or a missing answer after which the call is dialled again. */
export const REDIAL = 'redial';

/**
 * ```
 * queued → sending → unknown → initiated → ringing → no_answer → busy → failed → rejected → answered → completed
 *             ↑__________________________|  a busy line or no answer that is dialled again leaves the status
 * ```
 */
export function voiceChannel({
  from: caller,
  deliveryReport,
  maxRecipients,
  maxText,
}: MessagingSettings['voice']): ChannelDefinition {
  return {
    name: 'voice',
    title: 'Voice',
    addressKinds: ['phone'],
    statuses: VOICE_STATUSES,
    accepted: 'initiated',
    events: [REDIAL, 'digits'],
    redial: { after: ['busy', 'no_answer'], event: REDIAL, rule: redialOf },
    content: { call: (given, errors) => checkCall(given, maxText, errors) },
    messageOf: ({ from, ...fields }) => ({ from, content: { ...fields, kind: 'call' } }),
    oneTimeCode: ({ code }) => ({ kind: 'call', code }),
    sender: (from, errors) => callerOf(from ?? caller, errors),
    maxRecipients,
    groups: 'expand',
    deliveryReport,
    consent: { quietHours: ['marketing'], suppressedAs: { marketing: 'do_not_call' } },
    suppression: {},
    pricing: {},
    wire: { statusEvent: 'voice.call_status', identifiedBy: 'batch', call: true },
    simulate: {
      outcomeOf: ({ value }, dial) => outcomeOf(value.slice(-4), dial),
      underway: { status: 'ringing', rawStatus: 'ringing' },
    },
  };
}

function callerOf(from: unknown, errors: FieldError[]): string {
  const number = addressOf('phone', from);
  if (!number) errors.push({ path: 'from', message: ADDRESS_RULES.phone });
  return number?.value ?? '';
}

function redialOf(content: MessageContent): VoiceContent['redial'] {
  return content.kind === 'call' ? (content as VoiceContent).redial : undefined;
}

const RINGING: SimulatedReport = { status: 'ringing', rawStatus: 'ringing' };
/** Seconds. */
const TALK = 7;
const SECOND = 1_000;

function outcomeOf(
  digits: string,
  { attempt, content }: Parameters<NonNullable<ChannelDefinition['simulate']>['outcomeOf']>[1],
): SimulatedOutcome {
  const call = content?.kind === 'call' ? (content as VoiceContent) : undefined;
  switch (digits) {
    case '9901':
      return unanswered('busy');
    case '9902':
      return { ...unanswered('no_answer'), before: RINGING };
    case '9903':
      return {
        course: 'refused',
        status: 'rejected',
        rawStatus: 'rejected',
        errorCode: 'call_rejected',
      };
    case '9904':
      return attempt === 1 ? unanswered('busy') : answered('human');
    case '9908':
      return { ...answered('human'), course: 'unreported' };
    case '9911':
      return answered('machine', call?.machine === 'hangup' ? 1 : TALK);
    case '9912':
      return answered('human', TALK, call?.collect ? '1' : null);
    default:
      return answered('human');
  }
}

function unanswered(status: 'busy' | 'no_answer'): SimulatedOutcome {
  return {
    course: 'reported',
    status,
    rawStatus: status,
    errorCode: status,
    details: (at) => ({ ended_at: at.toISOString(), duration: 0, hangup_cause: status }),
  };
}

/** The end lies in the future of the simulated answer, so that no test waits for the talk. */
function answered(by: 'human' | 'machine', duration = TALK, digits: string | null = null) {
  const answeredAt = (at: Date) => ({ answered_at: at.toISOString(), answered_by: by });
  return {
    course: 'reported',
    before: RINGING,
    status: 'answered',
    rawStatus: 'answered',
    details: answeredAt,
    later: {
      status: 'completed',
      rawStatus: 'completed',
      details: (at: Date) => ({
        ...answeredAt(at),
        ended_at: new Date(at.getTime() + duration * SECOND).toISOString(),
        duration,
        hangup_cause: 'normal_clearing',
        ...(digits !== null && { digits }),
      }),
    },
  } as const satisfies SimulatedOutcome;
}
