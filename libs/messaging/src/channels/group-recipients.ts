import { type ContactGroups, isGroupId } from '../contacts/contact-groups.js';
import type { Sql } from '../store/store-database.js';
import { normaliseRecipients } from '../message/phone-number.js';

/** Any number will do where a group stands, for the others to be checked in their places. */
const PLACEHOLDER = '10000000';

/** Most sends name none, and then there is nothing to wait for. */
export function namesGroups(to: unknown): boolean {
  return Array.isArray(to) ? to.some(isGroupId) : isGroupId(to);
}

/**
 * Looks up the groups in `to`, all in one query.
 * @throws MessageValidationError naming `to[3]` where there is no such group
 */
export async function lookUpGroups(
  groups: ContactGroups,
  sql: Pick<Sql, 'all'>,
  tenant: string,
  to: unknown,
  most: number,
): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
  const named: readonly unknown[] = Array.isArray(to) ? to : [to];
  const paths = new Map<string, string>();
  named.forEach((entry, index) => {
    if (isGroupId(entry) && !paths.has(entry)) paths.set(entry, `to[${index}]`);
  });
  return paths.size === 0 ? undefined : groups.expand(sql, tenant, paths, most);
}

/** Like `normaliseRecipients`, with groups in their members' place. */
export function expandRecipients(
  to: readonly unknown[],
  members: ReadonlyMap<string, readonly string[]> | undefined,
): ReturnType<typeof normaliseRecipients> {
  if (!members) return normaliseRecipients(to);
  const { errors } = normaliseRecipients(to.map((one) => (isGroupId(one) ? PLACEHOLDER : one)));
  if (errors.length > 0) return { recipients: [], errors };
  return normaliseRecipients(
    to.flatMap((one): readonly unknown[] => (isGroupId(one) ? (members.get(one) ?? []) : [one])),
  );
}

/** With `upstreamGroups`: the service knows its groups itself. */
export function keepGroups(to: readonly unknown[]): ReturnType<typeof normaliseRecipients> {
  const { recipients, errors } = normaliseRecipients(to.filter((one) => !isGroupId(one)));
  if (errors.length > 0)
    return normaliseRecipients(to.map((one) => (isGroupId(one) ? PLACEHOLDER : one)));
  return { recipients: [...recipients, ...new Set(to.filter(isGroupId))], errors };
}
