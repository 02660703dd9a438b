import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Body, Controller, type INestApplication, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  type Channel,
  ContactsService,
  MessagingModule,
  RequirePolicy,
  simulator,
  WhatsAppService,
} from '@dundun/messaging';
import { describeOneDatabase } from '../../support/databases.js';

const handled = jest.fn();

@Controller()
class RepliesController {
  @RequirePolicy((context) => {
    const { to, text, channel } = context
      .switchToHttp()
      .getRequest<{ body: { to: string[]; text: string; channel?: Channel } }>().body;
    return { channel: channel ?? 'whatsapp', from: '1', to, content: { kind: 'text', text } };
  })
  @Post('replies')
  reply(@Body() body: unknown): string {
    handled(body);
    return 'handled';
  }
}

@RequirePolicy(() => ({
  channel: 'whatsapp',
  from: '1',
  to: '2348012345004',
  content: { kind: 'text', text: 'Hi' },
}))
@Controller('all')
class ClosedController {
  @Post('here')
  here(): string {
    handled();
    return 'handled';
  }

  @RequirePolicy(() => ({
    channel: 'sms',
    from: '1',
    to: '2348012345004',
    content: { kind: 'text', text: 'Hi' },
  }))
  @Post('there')
  there(): string {
    return 'handled';
  }
}

describeOneDatabase('@RequirePolicy()', (database) => {
  let app: INestApplication;
  let contacts: ContactsService;
  const [open, closed] = ['2348012345001', '2348012345002'];
  const post = async (body: object, path = 'replies') => {
    const response = await fetch(`${await app.getUrl()}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };

  beforeAll(async () => {
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({ transport: simulator(), callbackPath: false }),
      ],
      controllers: [RepliesController, ClosedController],
    }).compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    contacts = app.get(ContactsService);
    await contacts.optIn([open, closed], { channel: 'whatsapp', source: 'test' });
    await contacts.recordInbound(open, { sender: '1' });
  });
  afterAll(() => app.close());

  it('@RequirePolicy() admits an allowed request and sends nothing', async () => {
    expect(await post({ to: open, text: 'Hi' })).toEqual({ status: 201, body: 'handled' });
    expect((await app.get(WhatsAppService).batches()).data).toEqual([]);
  });

  it('@RequirePolicy() on a controller applies to each route without its own', async () => {
    handled.mockClear();
    expect(await post({}, 'all/here')).toMatchObject({
      status: 422,
      body: { code: 'opt_in_required' },
    });
    expect(handled).not.toHaveBeenCalled();
    expect((await post({}, 'all/there')).status).toBe(201);
  });

  it('@RequirePolicy() answers 422 with the code and skips the handler', async () => {
    handled.mockClear();
    expect(await post({ to: [open, closed], text: 'Hi' })).toMatchObject({
      status: 422,
      body: { statusCode: 422, code: 'window_closed' },
    });
    expect(await post({ to: '2348012345003', text: 'Hi' })).toMatchObject({
      status: 422,
      body: { code: 'opt_in_required' },
    });
    expect(await post({ to: 'nobody', text: 'Hi' })).toMatchObject({ status: 400 });
    expect(handled).not.toHaveBeenCalled();
    expect((await post({ to: '2348012345003', text: 'Hi', channel: 'sms' })).status).toBe(201);
  });
});
