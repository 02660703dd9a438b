import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  simulator,
} from '@dundun/messaging';
import { bullMq } from '@dundun/messaging/bullmq';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';

/** Events are published in the process that recorded the change: here, in a worker. */
@Injectable()
class Deliveries {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ tenant, recipient, status }: MessageStatusChanged): void {
    console.log(`worker: ${recipient} of ${tenant} is ${status}`);
  }
}

export interface ProcessOptions {
  /** `web` accepts messages, `worker` sends them. */
  readonly role: 'web' | 'worker';
  /** The database that all processes share. */
  readonly database: TypeOrmModuleOptions;
  /** Redis carries only the signals that a lane has work; messages stay in the database. */
  readonly redis: string;
  /** One name for each database. */
  readonly queue: string;
}

@Module({})
export class AppModule {
  static register({ role, database, redis, queue }: ProcessOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot(database),
        MessagingModule.forRoot({
          transport: simulator(),
          dispatch: {
            enabled: role === 'worker',
            engine: bullMq({ connection: redis, queue }),
          },
        }),
      ],
      providers: role === 'worker' ? [Deliveries] : [],
    };
  }
}
