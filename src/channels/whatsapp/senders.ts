import type { NewVerification } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Sender, TemplateEntity } from '../../accounts/accounts.tables.js';
import {
  type CodeSenders,
  GatewayChannels,
  type NewAccount,
  type SenderKind,
} from '../../channel.js';
import { ApiError } from '../../http/api-error.js';
import { numberRemedy } from '../../http/fields.js';
import { AccountSenders } from '../../senders/account-senders.js';
import { firstSenderOf } from '../../senders/first-sender.js';

export const WHATSAPP_NUMBERS: SenderKind = {
  noun: 'WhatsApp number',
  allowed: 'a WhatsApp number',
  field: 'number',
  remedy: numberRemedy,
  error: 'sender_not_registered',
  drop: 'remove',
  first: 'oldest',
  isExclusive: true,
  words: {
    icon: 'call',
    many: 'WhatsApp numbers',
    hint: '7 to 15 digits with country code',
    empty: 'None. An operator adds one with “dundun number add”.',
  },
  actions: null,
};

/** The first number, and the template for codes. */
@Injectable()
export class WhatsAppCodes extends firstSenderOf('whatsapp') implements CodeSenders {
  constructor(
    senders: AccountSenders,
    channels: GatewayChannels,
    @InjectDataSource() private readonly source: DataSource,
  ) {
    super(senders, channels);
  }

  override async of(accountId: string) {
    return { ...(await super.of(accountId)), template: await this.#templateOf(accountId) };
  }

  async #templateOf(accountId: string): Promise<NewVerification['template']> {
    const [template] = await this.source.manager.find(TemplateEntity, {
      where: { accountId, category: 'authentication', status: 'approved', params_count: 1 },
      order: { name: 'ASC', language: 'ASC' },
      take: 1,
    });
    if (!template)
      throw new ApiError(
        'template_not_approved',
        'This account has no approved authentication template with one parameter',
      );
    return { name: template.name, language: template.language };
  }
}

const TEMPLATES = [
  { name: 'order_update', category: 'utility', params_count: 2 },
  { name: 'special_offer', category: 'marketing', params_count: 1 },
  { name: 'login_code', category: 'authentication', params_count: 1 },
] as const;

/** A number and templates on the simulated carrier, so that the account can send at once. */
export async function seedNumber(
  manager: EntityManager,
  { accountId, carriers }: NewAccount,
): Promise<void> {
  if (!carriers.of('whatsapp').some(({ traits }) => traits.isSimulated)) return;
  // In a range that no operator uses; an insert fails where the number is taken.
  const number = `2340${String(randomInt(1_000_000_000)).padStart(9, '0')}`;
  await manager.insert(Sender, {
    accountId,
    channel: 'whatsapp',
    sender: number,
    exclusive: number,
    state: 'approved',
    createdAt: new Date(),
  });
  await manager.insert(
    TemplateEntity,
    TEMPLATES.map((one) => ({ ...one, accountId, language: 'en', status: 'approved' as const })),
  );
}
