import { type FactsByPlace, factsFor, UNKNOWN_RECIPIENT } from '../contacts/recipient-facts.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { MessageContent } from '../message/message.js';
import type {
  PolicyItem,
  PolicyMessage,
  PolicyScope,
  RecipientFacts,
} from '../ports/messaging-policy.js';

/** One message and whom it is for. */
export interface Addressed {
  readonly message: PolicyMessage;
  readonly recipients: readonly string[];
}

/** Messages that are judged together. Most policies have a say about few of them: only theirs become items. */
export class JudgedSlice {
  readonly length: number;
  readonly #items: (PolicyItem | undefined)[] = [];
  /** Which part each place is in, and where that begins. */
  readonly #partOf: Uint16Array;
  readonly #begins: number[] = [];

  constructor(
    private readonly parts: readonly Addressed[],
    private readonly facts: FactsByPlace,
    private readonly registry: Pick<ChannelRegistry, 'consentCategoryOf'>,
  ) {
    this.length = parts.reduce((sum, { recipients }) => sum + recipients.length, 0);
    this.#partOf = new Uint16Array(this.length);
    let begin = 0;
    parts.forEach(({ recipients }, part) => {
      this.#begins.push(begin);
      this.#partOf.fill(part, begin, (begin += recipients.length));
    });
  }

  /** The places a policy of this scope is asked about. */
  placesOf({ channels, recipients }: PolicyScope): number[] {
    const places: number[] = [];
    if (recipients === 'refused') {
      for (const place of this.facts.keys()) {
        const { suppressed, consent } = this.item(place).facts;
        if (suppressed || consent === 'opted_out') places.push(place);
      }
    } else for (let place = 0; place < this.length; place++) places.push(place);
    return channels && !this.parts.every(({ message }) => channels.includes(message.channel))
      ? places.filter((place) => channels.includes(this.item(place).message.channel))
      : places;
  }

  item(place: number): PolicyItem {
    const known = this.#items[place];
    if (known) return known;
    const part = this.#partOf[place] as number;
    const { message, recipients } = this.parts[part] as Addressed;
    const recipient = recipients[place - (this.#begins[part] as number)] as string;
    return (this.#items[place] = {
      message,
      recipient,
      facts: this.#factsOf(place, message),
    });
  }

  /** What the next policies judge in the content's place. */
  substitute(place: number, content: MessageContent): void {
    const item = this.item(place);
    const message = { ...item.message, content };
    this.#items[place] = { ...item, message, facts: this.#factsOf(place, message) };
  }

  #factsOf(place: number, { channel, content }: PolicyMessage): RecipientFacts {
    const known = this.facts.get(place);
    if (!known) return UNKNOWN_RECIPIENT;
    return known.categories
      ? factsFor(known, this.registry.consentCategoryOf(channel, content))
      : known;
  }
}
