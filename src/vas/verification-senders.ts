import type { NewVerification } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { TemplateEntity } from '../accounts/accounts.tables.js';
import {
  AccountCallers,
  AccountDomains,
  SenderRegistry,
  WhatsAppNumbers,
} from '../accounts/senders.js';
import { ApiError } from '../http/api-error.js';
import type { VerificationChannel } from './verifications.dto.js';

/** Local part of the address that codes by email come from. */
const MAILBOX = 'codes';

type Sent = Pick<NewVerification, 'from' | 'template'>;

/** The sender that an account's codes come from: its first one on each channel. */
@Injectable()
export class VerificationSenders {
  constructor(
    @InjectDataSource() private readonly source: DataSource,
    private readonly senders: SenderRegistry,
    private readonly numbers: WhatsAppNumbers,
    private readonly domains: AccountDomains,
    private readonly callers: AccountCallers,
  ) {}

  /** @throws ApiError 422 where the account has none */
  of(accountId: string, channel: VerificationChannel): Promise<Sent> {
    return this.#first[channel](accountId);
  }

  readonly #first: Readonly<Record<VerificationChannel, (accountId: string) => Promise<Sent>>> = {
    sms: async (accountId) => ({ from: found('sender ID', await this.senders.firstOf(accountId)) }),
    whatsapp: (accountId) => this.#number(accountId),
    voice: async (accountId) => ({
      from: found('caller id', await this.callers.firstOf(accountId)),
    }),
    email: async (accountId) => {
      const domain = found('verified domain', await this.domains.firstOf(accountId));
      return { from: `${MAILBOX}@${domain}` };
    },
  };

  async #number(accountId: string): Promise<Sent> {
    const from = found('WhatsApp number', await this.numbers.of(accountId));
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
    return { from, template: { name: template.name, language: template.language } };
  }
}

const MISSING = {
  'sender ID': 'sender_not_registered',
  'WhatsApp number': 'sender_not_registered',
  'caller id': 'caller_not_registered',
  'verified domain': 'domain_not_verified',
} as const;

function found(what: keyof typeof MISSING, sender: string | undefined): string {
  if (sender !== undefined) return sender;
  throw new ApiError(MISSING[what], `This account has no ${what}`);
}
