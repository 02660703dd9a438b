import type { Contact } from '../contacts/contact.js';
import type { InboundTexts } from '../contacts/inbound-texts.js';
import { addressKey } from '../message/address.js';
import type { ConversationMessage, Page } from '../message/views.js';
import type { MessageList } from '../store/reads/messages/message-list.js';
import {
  encodePlace,
  inListOrder,
  type PageRequest,
  type Place,
  placeOf,
} from '../store/rows/cursor.js';

/** A conversation, or the messages of one address or direction of it; newest first. */
interface Part {
  readonly entries: readonly Entry[];
  /** Older entries begin here; `undefined`: there are none. */
  readonly reached: Place | undefined;
}

interface Entry {
  readonly place: Place;
  readonly of: ConversationMessage;
}

/**
 * Messages to a contact and from it, the newest first. Batches and inbound messages have ids by time, so
 * that one place says where each list goes on:
 *
 * ```
 * address 1 ─▶ page ┐
 * address 2 ─▶ page ┼▶ by id ─▶ up to the place that all lists have reached
 * inbound   ─▶ page ┘
 * ```
 */
export async function conversationOf(
  { id, tenant, addresses }: Pick<Contact, 'id' | 'tenant' | 'addresses'>,
  { messages, inbound }: { readonly messages: MessageList; readonly inbound: InboundTexts },
  { limit, cursor }: PageRequest,
): Promise<Page<ConversationMessage>> {
  const after = cursor === undefined ? undefined : placeOf(cursor);
  const sentTo = async (to: string): Promise<Part> => {
    const page = await messages.page({ tenants: [tenant] }, { to, limit, cursor });
    return {
      entries: page.data.map((message) => ({
        place: [message.batchId, message.position],
        of: { direction: 'out', message },
      })),
      reached: page.nextCursor === null ? undefined : placeOf(page.nextCursor),
    };
  };
  const received = async (): Promise<Part> => {
    const found = await inbound.ofContact(id, limit, after?.[0]);
    const entries = found.map((message): Entry => ({
      place: [message.id, 0],
      of: { direction: 'in', message },
    }));
    return { entries, reached: found.length === limit ? entries.at(-1)?.place : undefined };
  };
  const { entries, reached } = merged([
    ...(await Promise.all(addresses.map((address) => sentTo(addressKey(address))))),
    await received(),
  ]);
  const page = entries.slice(0, limit);
  const next = entries.length > limit ? page.at(-1)?.place : reached;
  return { data: page.map(({ of }) => of), nextCursor: next ? encodePlace(next) : null };
}

/** Entries beyond what one of the parts has reached are left for a later page. */
function merged(parts: readonly Part[]): Part {
  const [reached] = parts
    .flatMap((part) => (part.reached ? [part.reached] : []))
    .toSorted(inListOrder);
  const entries = parts
    .flatMap((part) => part.entries)
    .filter(({ place }) => !reached || inListOrder(place, reached) <= 0)
    .toSorted((one, other) => inListOrder(one.place, other.place));
  return { entries, reached };
}
