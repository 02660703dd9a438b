import type { ChannelRegistry } from '../../message/channel-registry.js';
import { PermanentFailure } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import type { VoiceContent } from '../../message/content/voice-content.js';
import type { SentSubmission, Submission } from '../../ports/message-transport.js';
import { fetchLists, type FetchedReports, type Get, PAGE, reportWish, type Wire } from './wires.js';

const CALLS = '/ng/v1/voice/calls';
const SECOND = 1_000;

/** Calls on the interface. */
export class VoiceWire implements Wire {
  readonly credential = 'apiToken';
  readonly path = CALLS;
  readonly idField = 'reference_id';

  constructor(
    private readonly channels: Pick<ChannelRegistry, 'isReported' | 'isEvent'>,
    private readonly deliveryReport: boolean | undefined,
  ) {}

  /** Without `redial`: each redial is a submission of this side. */
  bodyOf({ sender, recipients, content: given, deliveryReport }: Submission) {
    if (given.kind !== 'call')
      throw new PermanentFailure('unsupported_content', 'A call carries the content of a call');
    const content = given as VoiceContent;
    const { collect } = content;
    return {
      from: sender,
      to: recipients,
      text: content.text,
      language: content.language,
      voice: content.voice,
      audio_url: content.audioUrl,
      code: content.code,
      repeat: content.repeat,
      ring_timeout: Math.round(content.ringTimeout / SECOND),
      max_duration: Math.round(content.maxDuration / SECOND),
      machine: content.machine,
      ...(collect && {
        collect: {
          max_digits: collect.maxDigits,
          timeout: Math.round(collect.timeout / SECOND),
        },
      }),
      category: content.category,
      delivery_report: reportWish(this.deliveryReport ?? deliveryReport),
    };
  }

  /** Reads the calls of each send as they are now. */
  fetch(submissions: readonly SentSubmission[], get: Get): Promise<FetchedReports> {
    return fetchLists(
      submissions,
      get,
      this.channels,
      (reference) => `${CALLS}?reference_id=${reference}&limit=${PAGE}`,
      (call) => ({
        ...(call as object),
        smsc_timestamp: own(call, 'ended_at') ?? own(call, 'answered_at'),
      }),
    );
  }
}
