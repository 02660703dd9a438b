import type { NewVerification } from '@dundun/messaging';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type CodeSenders, GatewayChannels } from '../../channel.js';
import type { VerificationChannel } from './verifications.dto.js';

/** What an account's codes come from on each channel. */
@Injectable()
export class VerificationSenders implements OnModuleInit {
  readonly #channels = new Map<string, CodeSenders>();

  constructor(
    private readonly channels: GatewayChannels,
    private readonly modules: ModuleRef,
  ) {}

  async onModuleInit(): Promise<void> {
    for (const { name, codes } of this.channels.all)
      if (codes) this.#channels.set(name, await this.modules.create(codes));
  }

  /** @throws ApiError 422 where the account has none, Error where the channel carries no codes */
  async of(
    accountId: string,
    channel: VerificationChannel,
  ): Promise<Pick<NewVerification, 'from' | 'template'>> {
    const senders = this.#channels.get(channel);
    if (!senders) throw new Error(`the channel ${channel} carries no codes`);
    return senders.of(accountId);
  }
}
