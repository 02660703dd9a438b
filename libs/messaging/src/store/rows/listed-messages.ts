import { addressIdentity } from '../../message/phone-identity.js';
import type { ProviderMessage } from '../../ports/message-transport.js';

/** How exact the times of submits are that a provider names: they may lack the seconds. In milliseconds. */
export const EXACTNESS = 61_000;
/** Longest time from the intent to the submit, in milliseconds. */
export const LONGEST_START = 60_000;

/** A submission of one message without an answer, which a listed message may be. */
export interface UnansweredMessage {
  readonly submissionId: string;
  readonly recipient: string;
  readonly sender: string;
  /** Time of the intent, in milliseconds. */
  readonly intendedAt: number;
  /** `undefined`: the text is gone, or is none. */
  readonly text: string | undefined;
  /** The message is `unknown`: no answer can come any more, and nothing else has settled it. */
  readonly isUnknown: boolean;
}

/**
 * Which submission each listed message is. The messages that could be each other form a group; a group
 * counts where it has as many listed messages as submissions, all of these are `unknown`, and each text
 * is known. Its members differ in nothing but their times, so that the order of these decides.
 */
export function settledBy(
  listed: readonly ProviderMessage[],
  ours: readonly UnansweredMessage[],
): ReadonlyMap<ProviderMessage, UnansweredMessage> {
  const settled = new Map<ProviderMessage, UnansweredMessage>();
  const left = new Set(listed);
  for (const first of listed) {
    if (!left.has(first)) continue;
    const group = groupOf(first, left, ours);
    for (const one of group.listed) left.delete(one);
    const isCertain = [...group.ours].every(
      ({ isUnknown, text }) => isUnknown && text !== undefined,
    );
    if (!isCertain || group.listed.size !== group.ours.size) continue;
    const inOrder = [...group.ours].toSorted(
      (a, b) => a.intendedAt - b.intendedAt || (a.submissionId < b.submissionId ? -1 : 1),
    );
    const pairs = [...group.listed].toSorted(byTime).map((one, n) => [one, inOrder[n]!] as const);
    if (pairs.every(([one, own]) => isPossible(one, own)))
      for (const [one, own] of pairs) settled.set(one, own);
  }
  return settled;
}

interface Group {
  readonly listed: ReadonlySet<ProviderMessage>;
  readonly ours: ReadonlySet<UnansweredMessage>;
}

function groupOf(
  first: ProviderMessage,
  listed: Iterable<ProviderMessage>,
  ours: readonly UnansweredMessage[],
): Group {
  const all = [...listed];
  const found = new Set([first]);
  const members = new Set<UnansweredMessage>();
  // Members that are added meanwhile are visited, too.
  for (const one of found)
    for (const own of ours) {
      if (members.has(own) || !isPossible(one, own)) continue;
      members.add(own);
      for (const other of all) if (isPossible(other, own)) found.add(other);
    }
  return { listed: found, ours: members };
}

function isPossible(listed: ProviderMessage, own: UnansweredMessage): boolean {
  const { report, sender, text, takenAt } = listed;
  const later = takenAt.getTime() - own.intendedAt;
  return (
    addressIdentity(report.recipient) === addressIdentity(own.recipient) &&
    (sender === null || sender === own.sender.replace(/^\+/, '')) &&
    later >= -EXACTNESS &&
    later <= EXACTNESS + LONGEST_START &&
    (own.text === undefined || own.text === text)
  );
}

function byTime(a: ProviderMessage, b: ProviderMessage): number {
  const later = a.takenAt.getTime() - b.takenAt.getTime();
  return later || (a.report.messageId < b.report.messageId ? -1 : 1);
}
