import { Injectable, type Type } from '@nestjs/common';
import { type CodeSenders, GatewayChannels } from '../channel.js';
import { ApiError } from '../http/api-error.js';
import { AccountSenders } from './account-senders.js';

/** One-time codes come from the first sender of the account on the channel. */
export function firstSenderOf(channel: string): Type<CodeSenders> {
  @Injectable()
  class FirstSender {
    constructor(
      private readonly senders: AccountSenders,
      private readonly channels: GatewayChannels,
    ) {}

    async of(accountId: string) {
      const from = await this.senders.firstOf(accountId, channel);
      const { error, noun } = this.channels.sendersOf(channel);
      if (from === undefined) throw new ApiError(error, `This account has no ${noun}`);
      return { from };
    }
  }
  return FirstSender;
}
