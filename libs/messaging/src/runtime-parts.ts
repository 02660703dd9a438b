import { Inject, Injectable } from '@nestjs/common';
import { NotificationService } from './channels/notification/notification.service.js';
import { VasService } from './channels/vas/vas.service.js';
import { VerificationService } from './channels/verification/verification.service.js';
import { InboundRecorder } from './contacts/inbound.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { HoldWatch } from './dispatch/hold-watch.js';
import { PlaceKeeper } from './dispatch/place-keeper.js';
import { ProviderWatch } from './dispatch/provider-breaker.js';
import { EventEmitterPublisher } from './event-emitter.publisher.js';
import {
  inboundJob,
  type MessagingJob,
  notificationJobs,
  openOrdersJob,
  verificationJobs,
} from './jobs/messaging.jobs.js';
import { DISPATCH_ENGINE, type DispatchEngine } from './ports/dispatch-engine.js';
import type { EventPublisher } from './ports/listeners.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from './ports/messaging-settings.js';
import { WorkQueues } from './work-queues.js';

/** The parts of a process that send, and those that say when it may not. */
@Injectable()
export class DispatchParts {
  constructor(
    @Inject(Dispatcher) readonly dispatcher: Dispatcher,
    @Inject(DISPATCH_ENGINE) readonly engine: DispatchEngine,
    @Inject(WorkQueues) readonly queues: WorkQueues,
    @Inject(HoldWatch) readonly holds: HoldWatch,
    @Inject(ProviderWatch) readonly providers: ProviderWatch,
    @Inject(PlaceKeeper) readonly places: PlaceKeeper,
  ) {}
}

/** The periodic work of services, and what of it a stop waits for. */
@Injectable()
export class ServiceJobs {
  constructor(
    @Inject(InboundRecorder) private readonly inbound: InboundRecorder,
    @Inject(VasService) private readonly vas: VasService,
    @Inject(VerificationService) private readonly verification: VerificationService,
    @Inject(NotificationService) private readonly notifications: NotificationService,
    @Inject(EventEmitterPublisher) private readonly events: EventPublisher,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
  ) {}

  get jobs(): readonly MessagingJob[] {
    return [
      inboundJob(this.inbound, shortest(this.settings.store.retention)),
      ...verificationJobs(this.verification),
      ...notificationJobs(this.notifications),
      openOrdersJob(() => this.vas.takeOpen(), this.events),
    ];
  }

  async idle(): Promise<void> {
    await this.inbound.idle();
    await this.notifications.idle();
  }
}

/** Texts of inbound messages are kept as long as the content of messages. */
function shortest({ content, messages }: MessagingSettings['store']['retention']) {
  return content === undefined ? messages : Math.min(content, messages ?? Infinity);
}
