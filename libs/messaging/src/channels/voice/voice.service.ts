import { Inject, Injectable } from '@nestjs/common';
import { validated } from '../../message/errors.js';
import type { ReportDetails } from '../../message/events.js';
import type {
  ListedMessage,
  MessageFilter,
  MessageView,
  Page,
  SubmittedMessage,
  TenantOption,
} from '../../message/views.js';
import type { ChannelStatus } from '../../message/status.js';
import type { VoiceContent } from '../../message/content/voice-content.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-settings.js';
import type { Duration } from '../../ports/option-schema.js';
import { type BillingIncrement, billingIncrement, type Price } from '../../ports/rate-card.js';
import {
  ChannelContext,
  ChannelService,
  type CostEstimate,
  type EstimateOptions,
  pageOf,
} from '../channel.service.js';
import { type KnownFields, LABEL_FIELDS, refuseUnknownFields } from '../known-fields.js';
import { type ChannelMessage, contentOf, given, type Receipt, type SendOptions } from '../send.js';
import { billedSeconds, costOf } from './billing.js';
import {
  type CallEntry,
  type CallFacts,
  callLog,
  durationOf,
  numberOf,
  timeOf,
  wordOf,
} from './call.js';
import { REDIAL, VOICE_FIELDS } from './voice.channel.js';

/** Content of a call: exactly one of `text`, `audioUrl` and `code`. */
export interface CallSpeech {
  /** Spoken by the provider; 1 to 3,000 characters. */
  readonly text?: string | undefined;
  /** Language of the text, such as `en-GB`. @default the provider's */
  readonly language?: string | undefined;
  /** The provider's name of a voice. @default the provider's */
  readonly voice?: string | undefined;
  /** An audio file, which the provider fetches and the library never does. */
  readonly audioUrl?: string | undefined;
  /** 4 to 8 digits, spoken one by one. */
  readonly code?: string | undefined;
  /** How often it is said, 1 to 3. @default 1 */
  readonly repeat?: number | undefined;
}

/**
 * A call to one or many numbers; each is a message.
 * @example
 * await voice.send({ from: '2348000000001', to: '2348012345678', code: '4821', repeat: 2 });
 */
export interface VoiceMessage
  extends
    CallSpeech,
    Pick<ChannelMessage, 'to' | 'deliveryReport' | 'sendAt' | 'tags' | 'metadata'> {
  /** Caller id, digits with country code. @default the option `voice.from` */
  readonly from?: string | undefined;
  /** How long the phone rings, 15 to 60 s. @default '30s' */
  readonly ringTimeout?: Duration | undefined;
  /** Longest talk, at most 600 s. @default '600s' */
  readonly maxDuration?: Duration | undefined;
  /**
   * Dials again after a busy line or no answer, 0 to 3 times, `after` a wait of 1 s to 24 h
   * (`'60s'`), as attempts of the same message. @default never
   */
  readonly redial?: { readonly times: number; readonly after?: Duration | undefined } | undefined;
  /** Action where a machine answers. @default 'play' */
  readonly machine?: 'play' | 'hangup' | undefined;
  /** Digits that the person presses, 1 to 32, each within `timeout` (`'5s'`). @default none */
  readonly collect?:
    | { readonly maxDigits: number; readonly timeout?: Duration | undefined }
    | undefined;
  /** `marketing` keeps the quiet hours and the do-not-call list. @default 'transactional' */
  readonly category?: VoiceContent['category'] | undefined;
}

/** A call of a list. */
export interface ListedCall extends ListedMessage, CallFacts {
  readonly attempts: number;
}

/** A call with its submit response. */
export interface CallView extends Omit<SubmittedMessage, keyof CallFacts>, CallFacts {
  readonly sendAt: Date | null;
}

export interface CallEstimate extends CostEstimate {
  /** Estimated seconds of the talk; `null`: the length of the audio is not known. */
  readonly duration: number | null;
  /** Seconds that such a call is billed; of audio, the first block. */
  readonly billedSeconds: number;
}

/** A call whose facts are read, as a view or a change of its status has it. */
export interface CallAt extends Pick<MessageView, 'id' | 'recipient'> {
  readonly status: ChannelStatus;
  /** @default the option `tenant` */
  readonly tenant?: string;
}

/** A slow voice says as many characters of a text per second. */
const CHARACTERS_PER_SECOND = 14;

/** Statuses of a call that reached a person or machine. */
const FIELDS: KnownFields<VoiceMessage> = {
  ...VOICE_FIELDS,
  to: true,
  deliveryReport: true,
  sendAt: true,
  ...LABEL_FIELDS,
};

const ANSWERED: readonly string[] = ['answered', 'completed'];

/**
 * Makes calls that say a text, play audio or speak a code, and reads their statuses. A call whose
 * outcome is not known is `unknown` and is never dialled again.
 * @example
 * const { id } = await voice.send({ from: '2348000000001', to: '+234 801 234 5678', text: 'Hello' });
 * const { status, duration, cost } = await voice.call(`${id}-0`);
 */
@Injectable()
export class VoiceService extends ChannelService {
  /** @internal */
  constructor(
    @Inject(ChannelContext) context: ChannelContext,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
  ) {
    super('voice', context);
  }

  /**
   * Accepts a call as `SmsService.send()` does, with its options and errors.
   * @throws MessageValidationError naming each wrong field
   * @throws PolicyError where policy denies every recipient, such as `do_not_call`
   */
  async send(message: VoiceMessage, options: SendOptions = {}): Promise<Receipt> {
    const { from, to, deliveryReport, sendAt, tags, metadata } = given(message);
    refuseUnknownFields(message, FIELDS);
    const { text, audioUrl, code, language, voice, repeat } = message;
    const { ringTimeout, maxDuration, redial, machine, collect, category } = message;
    // Collecting the rest of the fields takes 4 µs.
    const content = {
      kind: 'call',
      text,
      audioUrl,
      code,
      language,
      voice,
      repeat,
      ringTimeout,
      maxDuration,
      redial,
      machine,
      collect,
      category,
    };
    return await this.enqueue(
      { from, to, content, deliveryReport, sendAt, tags, metadata },
      options,
    );
  }

  /**
   * One call with its facts.
   * @param id `{batchId}-{position}`, or the provider's id once it is known
   * @throws MessageNotFoundError
   */
  async call(id: string, options: TenantOption = {}): Promise<CallView> {
    const message = await this.message(id, options);
    const { sendAt } = await this.batch(message.batchId, options);
    const facts = await this.facts([message], options);
    return { ...message, sendAt, ...facts.get(message.id)! };
  }

  /**
   * Calls of all batches, also before they start; the newest batch first. A page looks at 1,000
   * batches, and with `to` or `status` at 10,000 recipients.
   * @throws MessageValidationError naming each wrong field of the filter
   */
  async list(filter: MessageFilter = {}): Promise<Page<ListedCall>> {
    const scope = await this.checkedFilter(filter);
    const page = await this.store.messages.page(scope, { ...filter, ...pageOf(filter) });
    const facts = await this.facts(page.data, filter);
    return { ...page, data: page.data.map((one) => ({ ...one, ...facts.get(one.id)! })) };
  }

  /**
   * Facts of calls, by their ids. A call without a cost in its reports has that of the rate
   * card, once it has ended. With `manager`, as the transaction sees them.
   */
  async facts(
    calls: readonly CallAt[],
    { tenant = '', manager }: Pick<SendOptions, 'tenant' | 'manager'> = {},
  ): Promise<ReadonlyMap<string, CallFacts>> {
    const { database, reads } = this.store;
    const logs = await reads.logs(
      calls.map(({ id }) => id),
      manager && database.join(manager),
    );
    const facts = new Map<string, CallFacts>();
    for (const call of calls)
      facts.set(call.id, await this.#factsOf(call, logs.get(call.id) ?? [], call.tenant ?? tenant));
    return facts;
  }

  /** Length and price of a call that says this; nothing is sent or stored. */
  async estimate(
    speech: CallSpeech & Pick<VoiceMessage, 'maxDuration'>,
    options: EstimateOptions = {},
  ): Promise<CallEstimate> {
    const checked = validated((errors) =>
      contentOf(this.definition, { ...speech, kind: 'call' }, errors),
    );
    const duration = secondsOf(checked.content as VoiceContent);
    const price = await this.#price(options.tenant, options.to ?? null);
    const seconds = billedSeconds(duration ?? 1, this.#billing(price));
    const cost = price && costOf(price, seconds);
    return {
      duration,
      billedSeconds: seconds,
      cost: cost?.amount ?? null,
      currency: cost?.currency ?? null,
    };
  }

  async #factsOf(call: CallAt, log: readonly CallEntry[], tenant: string): Promise<CallFacts> {
    const { details, redials } = callLog(log, REDIAL);
    // A submit without an outcome is not in the log.
    const isDialled = log.length > 0 && log.at(-1)?.name !== REDIAL;
    const isUnderWay = call.status === 'sending' || call.status === 'unknown';
    return {
      answeredAt: timeOf(details['answered_at']),
      endedAt: timeOf(details['ended_at']),
      hangupCause: wordOf(details['hangup_cause']),
      answeredBy: wordOf(details['answered_by']),
      digits: wordOf(details['digits']),
      ...(await this.#chargeOf(call, details, tenant)),
      attempts: redials + (isDialled || isUnderWay ? 1 : 0),
    };
  }

  async #chargeOf({ recipient, status }: CallAt, details: ReportDetails, tenant: string) {
    const isOver = this.context.channels.isTerminal(status);
    const wasAnswered = ANSWERED.includes(status);
    const duration = isOver && !wasAnswered ? 0 : durationOf(details);
    const given = { cost: wordOf(details['cost']), currency: wordOf(details['currency']) };
    const billed = numberOf(details['billed_seconds']);
    if (!isOver || duration === null) return { duration, billedSeconds: billed, ...given };
    const price = await this.#price(tenant, recipient === '' ? null : recipient);
    const seconds = billed ?? billedSeconds(duration, this.#billing(price));
    if (given.cost !== null || !price) return { duration, billedSeconds: seconds, ...given };
    const { amount: cost, currency } = costOf(price, seconds);
    return { duration, billedSeconds: seconds, cost, currency };
  }

  #price(tenant = '', recipient: string | null) {
    const { name: channel } = this.definition;
    return this.context.rates.price({ tenant, channel, category: null, recipient });
  }

  #billing(price: Price | undefined): BillingIncrement {
    const own = price?.billing;
    return own === undefined ? this.settings.voice.billing : billingIncrement('billing', own);
  }
}

function secondsOf({ text, code, repeat, maxDuration }: VoiceContent): number | null {
  const once =
    code !== undefined
      ? code.length
      : text === undefined
        ? null
        : Math.ceil(text.length / CHARACTERS_PER_SECOND);
  return once === null ? null : Math.min(once * repeat, Math.floor(maxDuration / 1_000));
}
