import type { ContactGroup, GroupMember } from '@dundun/messaging';

/** A group on the wire. */
export interface GroupAnswer {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly created_at: string;
}

export function groupAnswer({ id, name, size, createdAt }: ContactGroup): GroupAnswer {
  return { id, name, size, created_at: createdAt.toISOString() };
}

/** Somebody in a group, as the store has them. */
export type MemberAnswer = GroupMember;

export function memberAnswer({ id, phone, bsuid, name }: GroupMember): MemberAnswer {
  return { id, phone, bsuid, name };
}
