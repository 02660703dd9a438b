import type { SmtpOptions, UnprovenMail } from '@dundun/messaging/smtp';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { hkdfSync } from 'node:crypto';
import { DataSource } from 'typeorm';
import { type Environment, ENVIRONMENT } from '../../../config/environment.js';
import { digestKeyOf } from '../../../secrets/digest-key.js';
import { Secrets } from '../../../secrets/secrets.js';
import { DomainLookup } from '../domains/domain-check.js';
import { returnHost } from '../domains/domain-records.js';
import { SenderDomains } from '../domains/sender-domains.js';
import { provesSender } from './sender-proof.js';
import { SigningKeys } from '../domains/domain-keys.js';
import { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.js';

const VERP_KEY_BYTES = 32;

/** Settings of `smtp()` for the mail of accounts. */
@Injectable()
export class MailRelay {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly secrets: Secrets,
    private readonly signing: SigningKeys,
    private readonly links: UnsubscribeLinks,
    private readonly senders: SenderDomains,
    private readonly lookup: DomainLookup,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  /** @param listens whether this process receives bounces and inbound mail at `EMAIL_LISTEN` */
  async options(listens: boolean): Promise<Omit<SmtpOptions, 'url' | 'tls'>> {
    const { EMAIL_LISTEN } = this.environment;
    return {
      dkim: (domain) => this.signing.identityOf(domain),
      unsubscribeUrl: (message) => this.links.urlOf(message),
      verpKeys: [await this.#verpKey()],
      ...(listens &&
        EMAIL_LISTEN && {
          listener: {
            ...EMAIL_LISTEN,
            name: returnHost(this.environment),
            inboundDomains: async (domain) => (await this.senders.ownerOf(domain)) !== undefined,
            authenticate: (mail: UnprovenMail) =>
              provesSender(mail, (name) => this.lookup.textsOf(name)),
          },
        }),
    };
  }

  /** Derived from the key of digests, so that return addresses outlive a change of `SECRETS_KEY`. */
  async #verpKey(): Promise<string> {
    const key = await digestKeyOf(this.dataSource, this.secrets, this.environment);
    const derived = hkdfSync(
      'sha256',
      Buffer.from(key, 'base64'),
      '',
      'email return addresses',
      VERP_KEY_BYTES,
    );
    return Buffer.from(derived).toString('base64');
  }
}
