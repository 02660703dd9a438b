import {
  callbackParser,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  sharedSecret,
  SmsService,
} from '@dundun/messaging';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { exampleDatabase } from '../database.js';
import { AcmeServer } from './acme.server.js';
import { acme } from './acme.transport.js';

@Injectable()
class Deliveries extends EventEmitter {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ recipient, status, errorCode }: MessageStatusChanged): void {
    console.log(`${recipient} is ${status}${errorCode === null ? '' : ` (${errorCode})`}`);
    this.emit(status);
  }
}

@Module({})
class AppModule {
  static register(url: string, secret: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot(exampleDatabase()),
        MessagingModule.forRoot({
          transport: acme({ url, token: 'acme-token' }),
          callbacks: {
            providers: {
              acme: {
                // Acme posts { "id": "…", "to": "234…", "dlr": "DELIVRD" }.
                parser: callbackParser({
                  reports: {
                    messageId: 'id',
                    recipient: 'to',
                    status: 'dlr',
                    statuses: { delivered: 'DELIVRD', undelivered: 'UNDELIV' },
                  },
                }),
                verifier: sharedSecret({ secret }),
              },
            },
          },
        }),
      ],
      providers: [Deliveries],
    };
  }
}

/** Sends through the transport; the report comes back to the callback endpoint. */
export async function main(): Promise<void> {
  const server = new AcmeServer();
  server.blocked.add('2348012345670');
  const secret = randomBytes(16).toString('hex');
  const app = await NestFactory.create(AppModule.register(await server.start(), secret), {
    logger: ['error', 'warn'],
    rawBody: true,
  });
  await app.listen(0, '127.0.0.1');
  server.callback = `${await app.getUrl()}/messaging/delivery-reports/acme/${secret}`;

  const deliveries = app.get(Deliveries);
  const ends = [once(deliveries, 'delivered'), once(deliveries, 'rejected')];
  await app.get(SmsService).send({
    from: 'ACME',
    to: ['2348012345678', '2348012345670'],
    body: 'Through a transport of our own',
  });
  await Promise.all(ends);

  await app.close();
  await server.stop();
}
