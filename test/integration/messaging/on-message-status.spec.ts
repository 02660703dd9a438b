import {
  type MessageStatusChanged,
  MessagingConfigError,
  MessagingModule,
  OnMessageStatus,
  simulator,
  SmsService,
  VoiceService,
} from '@dundun/messaging';
import { afterEach, expect, it, jest } from '@jest/globals';
import { Injectable, Logger, type Provider, Scope } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const TO = '2348012345678';
const UNDELIVERED = '2348012349901';

@Injectable()
class Heard {
  readonly calls: string[] = [];

  @OnMessageStatus('delivered', { channel: 'sms' })
  onDelivered({ recipient }: MessageStatusChanged): void {
    this.calls.push(`delivered ${recipient}`);
  }

  @OnMessageStatus(['delivered', 'undelivered'], { tag: 'order' })
  async onOrder({ status, metadata }: MessageStatusChanged): Promise<void> {
    this.calls.push(`order ${metadata?.['order']} ${status}`);
  }

  @OnMessageStatus('completed', { channel: ['voice', 'sms'] })
  onCall({ channel }: MessageStatusChanged): void {
    this.calls.push(`${channel} completed`);
  }
}

@Injectable()
class Failing {
  @OnMessageStatus('sent')
  throws(): void {
    throw new Error('no throw');
  }

  @OnMessageStatus('sent')
  async rejects(): Promise<void> {
    throw new Error('no rejection');
  }
}

@Injectable()
class WrongStatus {
  @OnMessageStatus('delivred')
  on(): void {}
}

@Injectable()
class WrongChannel {
  @OnMessageStatus('sent', { channel: 'fax' })
  on(): void {}
}

@Injectable({ scope: Scope.REQUEST })
class OfRequest {
  @OnMessageStatus('sent')
  on(): void {}
}

describeOneDatabase('@OnMessageStatus()', (database) => {
  let app: TestingModule | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
    jest.restoreAllMocks();
  });

  const boot = async (...providers: Provider[]) => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 1 }),
          callbackPath: false,
        }),
      ],
      providers,
    }).compile();
    return app.init();
  };

  it('@OnMessageStatus() calls methods by status, channel and tag, each once for a change', async () => {
    const { calls } = (await boot(Heard)).get(Heard);
    const sms = app!.get(SmsService);
    const order = { tags: ['order'], metadata: { order: '17' } };
    await sms.send({ from: 'ACME', to: TO, body: 'Hi', ...order });
    await sms.send({ from: 'ACME', to: UNDELIVERED, body: 'Hi', ...order });
    await sms.send({ from: 'ACME', to: UNDELIVERED, body: 'Hi', tags: ['other'] });
    await app!.get(VoiceService).send({ from: '2348000000001', to: TO, text: 'Hi' });
    const expected = [
      `delivered ${TO}`,
      'order 17 delivered',
      'order 17 undelivered',
      'voice completed',
    ];
    await eventually(async () => expect([...calls].sort()).toEqual(expected));
  });

  it('an error of an @OnMessageStatus() method is logged with its name and stack, and other methods are called', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const { calls } = (await boot(Failing, Heard)).get(Heard);
    await app!.get(SmsService).send({ from: 'ACME', to: TO, body: 'Hi' });
    await eventually(async () => expect(calls).toEqual([`delivered ${TO}`]));
    const lines = logged.mock.calls.map(([line, stack]) => [String(line), String(stack)]);
    for (const [name, text] of [
      ['Failing.throws', 'no throw'],
      ['Failing.rejects', 'no rejection'],
    ] as const)
      expect(lines).toContainEqual([
        expect.stringMatching(`^${name} failed for message [\\w-]+: Error: ${text}$`),
        expect.stringContaining('on-message-status.spec'),
      ]);
  });

  it.each<[string, Provider, string]>([
    ['a status', WrongStatus, "WrongStatus.on: 'delivred' is no status"],
    ['a channel', WrongChannel, "WrongChannel.on: the channel 'fax' is not registered"],
    ['a scope', OfRequest, 'OfRequest.on: its provider is made for each request'],
  ])('@OnMessageStatus() refuses %s at boot', async (_, provider, message) => {
    const error = await boot(provider).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(MessagingConfigError);
    expect((error as Error).message).toContain(message);
  });
});
