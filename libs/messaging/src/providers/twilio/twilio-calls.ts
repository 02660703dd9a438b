import { readEntries } from '../../callbacks/callback-fields.js';
import type { DeliveryReport, ReportDetails } from '../../message/events.js';
import { identifier, own, recipientNumber, word } from '../../message/report-fields.js';
import type { CallbackAnswer, CallbackParser } from '../../ports/callback-parser.js';
import { TwimlSeal } from './twiml-seal.js';

const STATUSES: Readonly<Record<string, string>> = {
  queued: 'initiated',
  initiated: 'initiated',
  ringing: 'ringing',
  'in-progress': 'answered',
  completed: 'completed',
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'failed',
  canceled: 'failed',
};

const SECOND = 1_000;

/** Parameter of our callback address with the id of the submission. */
export const SUBMISSION = 'submission';

/** Parameter of our callback address with the sealed TwiML of a call that ends where a machine answers. */
export const SEALED = 'twiml';

/** The TwiML that ends a call after its digits. */
const NO_MORE = '<Response></Response>';

/** The TwiML that ends a call which a machine has answered. */
const HANG_UP = '<Response><Hangup/></Response>';

/**
 * Parser of Twilio's callbacks about calls, a form for each status, and of the digits that a person
 * pressed, which are the event `digits`. Verify them by `twilioSignature()`. With `authToken` it also
 * answers what a call with `machine: 'hangup'` does: it ends where a machine or a fax has answered.
 * @see https://www.twilio.com/docs/voice/api/call-resource#statuscallback
 * @see https://www.twilio.com/docs/voice/twiml/gather
 */
export function twilioVoiceParser({
  authToken,
}: { readonly authToken?: string } = {}): CallbackParser {
  const seal = authToken === undefined ? undefined : new TwimlSeal(authToken);
  return {
    parse: (request) => {
      const submissionId = identifier(request.query[SUBMISSION]);
      const sealed = request.query[SEALED];
      const parsed = readEntries(request, (entry) => {
        const report = reportOf(entry);
        return typeof report === 'string' || submissionId === null
          ? report
          : { ...report, submissionId };
      });
      const { reports = [] } = parsed;
      if (typeof sealed === 'string' && seal) {
        const isPerson = reports.some(({ details }) => !MACHINES.has(details?.['answered_by']));
        const twiml = isPerson ? seal.open(sealed, submissionId ?? '') : undefined;
        return { ...parsed, answer: answerOf(twiml ?? HANG_UP) };
      }
      const hasDigits = reports.some(({ status }) => status === 'digits');
      return hasDigits ? { ...parsed, answer: answerOf(NO_MORE) } : parsed;
    },
  };
}

const MACHINES: ReadonlySet<unknown> = new Set(['machine', 'fax']);

function answerOf(twiml: string): CallbackAnswer {
  return {
    contentType: 'text/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="UTF-8"?>${twiml}`,
  };
}

function reportOf(entry: object): DeliveryReport | string {
  const sid = identifier(own(entry, 'CallSid'));
  if (sid === null) return 'no CallSid';
  const rawStatus = word(own(entry, 'CallStatus'));
  if (rawStatus === null) return 'no CallStatus';
  const digits = word(own(entry, 'Digits'));
  const sip = word(own(entry, 'SipResponseCode'));
  const at = timeOf(own(entry, 'Timestamp'));
  const status = digits === null ? (STATUSES[rawStatus] ?? null) : 'digits';
  const isRefused = sip !== null && Number(sip) >= 400;
  return {
    reference: sid,
    messageId: sid,
    recipient: recipientNumber(own(entry, 'To')),
    status,
    rawStatus: digits === null ? rawStatus : 'digits',
    errorCode: word(own(entry, 'ErrorCode')) ?? (isRefused ? `sip_${sip}` : null),
    providerTime: at,
    details: detailsOf({
      status,
      at,
      duration: own(entry, 'CallDuration'),
      answeredBy: own(entry, 'AnsweredBy'),
      cause: sip === null ? null : `sip_${sip}`,
      digits,
    }),
  };
}

/** The report that a call of Twilio's API is. `undefined`: it says nothing yet. */
export function reportOfCall(call: unknown): DeliveryReport | undefined {
  const sid = identifier(own(call, 'sid'));
  const rawStatus = word(own(call, 'status'));
  const status = rawStatus === null ? undefined : STATUSES[rawStatus];
  if (sid === null || rawStatus === null || status === undefined) return undefined;
  const at = timeOf(own(call, 'end_time')) ?? timeOf(own(call, 'start_time'));
  const price = word(own(call, 'price'));
  const details = detailsOf({
    status,
    at,
    duration: own(call, 'duration'),
    answeredBy: own(call, 'answered_by'),
    cause: null,
    digits: null,
  });
  return {
    reference: sid,
    messageId: sid,
    recipient: recipientNumber(own(call, 'to')),
    status,
    rawStatus,
    errorCode: null,
    providerTime: at,
    // Twilio writes a charge to the account as a negative price.
    details: {
      ...details,
      ...(price !== null && {
        cost: price.replace('-', ''),
        currency: word(own(call, 'price_unit')),
      }),
    },
  };
}

interface CallEnd {
  readonly status: string | null;
  readonly at: Date | null;
  readonly duration: unknown;
  readonly answeredBy: unknown;
  readonly cause: string | null;
  readonly digits: string | null;
}

function detailsOf({ status, at, duration, answeredBy, cause, digits }: CallEnd): ReportDetails {
  const seconds = word(duration);
  const isOver =
    status !== null && !['initiated', 'ringing', 'answered', 'digits'].includes(status);
  const talk = seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
  const by = word(answeredBy);
  return {
    ...(status === 'answered' && at && { answered_at: at.toISOString() }),
    ...(isOver && at && { ended_at: at.toISOString() }),
    ...(status === 'completed' &&
      at &&
      talk !== null && { answered_at: new Date(at.getTime() - talk * SECOND).toISOString() }),
    ...(isOver && talk !== null && { duration: talk }),
    ...(by !== null && { answered_by: by.startsWith('machine') ? 'machine' : by }),
    ...(isOver && cause !== null && { hangup_cause: cause }),
    ...(digits !== null && { digits }),
  };
}

/** RFC 2822, as in `Sun, 24 Aug 2025 13:49:54 +0000`. */
function timeOf(value: unknown): Date | null {
  const at = typeof value === 'string' && value.length <= 64 ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at);
}
