import { NotificationService, type NotificationView } from '@dundun/messaging';
import { Controller, Delete, Get, Param, Post, Res, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Auth, Caller } from '../accounts/auth.guard.js';
import type { Principal } from '../accounts/credentials.js';
import { MessageCosts } from '../billing/charging/message-costs.js';
import { type GatewayChannel, NOTIFICATIONS_SCOPE } from '../channel.js';
import type { HttpReply } from '../http/http-message.js';
import { Operation } from '../http/operation.decorator.js';
import { pageOf } from '../http/page.dto.js';
import { IdempotencyKey, JsonBody, ValidQuery } from '../http/request.decorators.js';
import { NotificationIntake } from './notification-intake.js';
import {
  batchesOf,
  Notification,
  notificationDtos,
  type NotificationFields,
  notificationOf,
  NotificationPage,
  NotificationsQuery,
  sendAnswerOf,
  SendNotificationAnswer,
} from './notifications.dto.js';

const CREDENTIALS =
  'With a key that has `notifications:send` and the scope of each channel, such as `sms:send`; the API token sends on `sms` and `voice` alone.';

/** `{id}` of the path, in lower case for the comparison. */
function NotificationId(): ParameterDecorator {
  return Param('notificationId', { transform: (id: string): string => id.toLowerCase() });
}

/** One message to one person over several channels of these. */
export function notificationsController(channels: readonly GatewayChannel[]): Type<object> {
  const dtos = notificationDtos(channels);

  @Controller('ng/v1/notifications')
  @Auth('any', NOTIFICATIONS_SCOPE)
  @ApiTags('Notifications')
  class NotificationsController {
    constructor(
      private readonly notifications: NotificationService,
      private readonly intake: NotificationIntake,
      private readonly costs: MessageCosts,
    ) {}

    @Post()
    @Operation('Send a notification', {
      description: `To one person, on the first channel of \`via\` that delivers. ${CREDENTIALS}`,
      answer: SendNotificationAnswer,
      success: 'The notification and its first message are accepted and stored.',
      idempotent: true,
    })
    async sendNotification(
      @Caller() caller: Principal,
      @IdempotencyKey() idempotencyKey: string | undefined,
      @JsonBody(dtos.request) request: NotificationFields,
      @Res({ passthrough: true }) reply: HttpReply,
    ): Promise<SendNotificationAnswer> {
      const receipt = await this.intake.send(request, caller, idempotencyKey);
      if (receipt.replayed) reply.header('idempotent-replayed', 'true');
      return sendAnswerOf(receipt);
    }

    @Post('estimate')
    @Operation('Price and size of the message on each channel', {
      description: `Nothing is sent or stored, and policies are not asked. ${CREDENTIALS}`,
      answer: dtos.estimate,
      success: 'What the message takes on each channel of `via`, as the estimate of its product.',
    })
    async estimateNotification(
      @Caller() caller: Principal,
      @JsonBody(dtos.request) request: NotificationFields,
    ): Promise<object> {
      return this.intake.estimate(request, caller);
    }

    @Get()
    @Operation('List notifications', {
      description:
        'Newest first. Those with a channel that the credential may not send on are left out, so a page can have fewer rows than `limit`, even none: go on until `next_cursor` is null.',
      answer: NotificationPage,
      success: 'A page of notifications.',
    })
    async listNotifications(
      @Caller() caller: Principal,
      @ValidQuery(NotificationsQuery) { cursor, limit }: NotificationsQuery,
    ): Promise<NotificationPage> {
      const own = { tenant: caller.accountId, limit, ...(cursor !== undefined && { cursor }) };
      const { data, nextCursor } = await this.notifications.list(own);
      const shown = data.filter((view) => this.intake.allows(caller, channelsOf(view)));
      const costs = await this.costs.ofBatches(batchesOf(shown));
      return pageOf({ data: shown, nextCursor }, (view) => notificationOf(view, costs));
    }

    @Get(':notificationId')
    @Operation('Read a notification', {
      description: 'With a credential that may send it.',
      answer: Notification,
      success: 'The notification as it is now.',
    })
    async readNotification(
      @Caller() caller: Principal,
      @NotificationId() id: string,
    ): Promise<Notification> {
      return this.#shown(await this.#find(id, caller));
    }

    @Delete(':notificationId')
    @Operation('Cancel a notification', {
      description:
        'No further channel takes over, and a message that is not sent yet is cancelled; one that was sent still decides the end. With a credential that may send it. A second cancellation is no error.',
      answer: Notification,
      success: 'The notification as it is now.',
      errors: ['AlreadySent'],
    })
    async cancelNotification(
      @Caller() caller: Principal,
      @NotificationId() id: string,
    ): Promise<Notification> {
      await this.#find(id, caller);
      return this.#shown(await this.notifications.cancel(id, { tenant: caller.accountId }));
    }

    async #shown(view: NotificationView): Promise<Notification> {
      return notificationOf(view, await this.costs.ofBatches(batchesOf([view])));
    }

    async #find(id: string, caller: Principal) {
      const found = await this.notifications.find(id, { tenant: caller.accountId });
      this.intake.check(caller, channelsOf(found));
      return found;
    }
  }
  return NotificationsController;
}

function channelsOf({ steps }: { readonly steps: readonly { readonly channel: string }[] }) {
  return steps.map(({ channel }) => channel);
}
