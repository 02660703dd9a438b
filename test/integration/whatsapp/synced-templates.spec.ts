import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  ContactsService,
  MESSAGING_TEMPLATE_LISTENER,
  MessagingModule,
  simulator,
  type TemplateStatusUpdate,
  WhatsAppService,
} from '@dundun/messaging';
import {
  whatsappCloud,
  whatsappCloudParser,
  whatsappCloudSignature,
} from '@dundun/messaging/whatsapp-cloud';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { WhatsAppCloudServer } from '../../support/whatsapp-cloud-server.js';

const RECIPIENT = '2348012345678';
const FIELD = 'message_template_status_update';

describeOneDatabase('templates as Meta lists them', (database) => {
  let app: NestFastifyApplication;
  let cloud: WhatsAppCloudServer;
  let whatsapp: WhatsAppService;
  let url: string;
  const heard: TemplateStatusUpdate[] = [];
  let isFailing = false;
  const listener = {
    onTemplatesChanged: async (updates: readonly TemplateStatusUpdate[]) => {
      if (isFailing) throw new Error('no database');
      heard.push(...updates);
    },
  };

  beforeAll(async () => {
    cloud = await WhatsAppCloudServer.start();
    const body = { type: 'BODY', text: 'Hi {{1}}, {{2}}.' };
    const one = { name: 'order_ready', language: 'en', category: 'UTILITY', components: [body] };
    cloud.templates.push({ ...one, status: 'APPROVED' });
    // More than one page.
    for (let n = 0; n < 120; n++)
      cloud.templates.push({ ...one, name: `t${n}`, status: n % 2 ? 'APPROVED' : 'PENDING' });
    const { url: baseUrl, token, phoneNumberId, wabaId, appSecret, verifyToken } = cloud;
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          providers: { meta: whatsappCloud({ baseUrl, token, phoneNumberId, wabaId }) },
          whatsapp: { from: '2348000000001', templates: 'synced', syncTemplates: '100ms' },
          callbackPath: 'dlr',
          callbacks: {
            providers: {
              meta: {
                parser: whatsappCloudParser(),
                verifier: whatsappCloudSignature({ appSecret, verifyToken }),
              },
            },
          },
        }),
      ],
      providers: [{ provide: MESSAGING_TEMPLATE_LISTENER, useValue: listener }],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
      rawBody: true,
    });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/dlr/meta`;
    whatsapp = app.get(WhatsAppService);
    await app.get(ContactsService).optIn(RECIPIENT, { channel: 'whatsapp', source: 'test' });
  });
  afterAll(async () => {
    await app.close();
    await cloud.close();
  });

  const send = async (template: string, params = ['Ada', '12'], language = 'en') =>
    (await whatsapp.sendTemplate({ to: RECIPIENT, template, language, params })).id;
  const change = async (event: string, name: string) => {
    const value = { event, message_template_name: name, message_template_language: 'en' };
    return (await fetch(url, { method: 'POST', ...cloud.webhook(value, FIELD) })).status;
  };

  it('a listed template is sent in its category, with as many params as its body has', async () => {
    const id = await send('order_ready');
    await eventually(async () => expect((await whatsapp.batch(id)).counts).toEqual({ sent: 1 }));
    expect((await whatsapp.batch(id)).content).toMatchObject({ category: 'utility' });
    await expect(send('order_ready', ['Ada'])).rejects.toMatchObject({
      fields: [{ path: 'params' }],
    });
    await send('t119');
    expect(await whatsapp.estimate({ template: 't119' })).toMatchObject({ category: 'utility' });
  });

  it('an app reads the list with the statuses', () => {
    const all = whatsapp.templates();
    expect(all).toHaveLength(121);
    expect(all.find(({ name }) => name === 'order_ready')).toMatchObject({
      language: 'en',
      status: 'approved',
      category: 'utility',
    });
    expect(all.find(({ name }) => name === 't118')).toMatchObject({ status: 'pending' });
  });

  it.each([
    ['that is not approved', 't118', 'en', 'pending'],
    ['in another language', 'order_ready', 'fr', null],
    ['that is not listed', 'hello', 'en', null],
  ])('a template %s is refused at send', async (_, template, language, status) => {
    await expect(send(template, ['Ada', '12'], language)).rejects.toMatchObject({
      code: 'template_not_approved',
      template,
      language,
      status,
      fields: [{ path: 'template' }],
    });
  });

  it('a webhook changes the status of a template at once and calls the listeners', async () => {
    const template = cloud.templates.find(({ name }) => name === 't1');
    template!.status = 'PAUSED';
    expect(await change('PAUSED', 't1')).toBe(204);
    await expect(send('t1')).rejects.toMatchObject({ status: 'paused' });
    template!.status = 'APPROVED';
    expect(await change('REINSTATED', 't1')).toBe(204);
    await eventually(async () => expect(await send('t1')).toEqual(expect.any(String)));
    // It says nothing of whether the template can be sent.
    expect(await change('LOCKED', 't1')).toBe(204);
    const of = { account: cloud.wabaId, name: 't1', language: 'en' };
    expect(heard).toEqual([
      { ...of, status: 'paused' },
      { ...of, status: 'approved' },
    ]);
  });

  it('a send that is repeated after its template was withdrawn has the first receipt', async () => {
    const message = { to: RECIPIENT, template: 't5', language: 'en', params: ['Ada', '12'] };
    const options = { idempotencyKey: 'order-17' };
    const first = await whatsapp.sendTemplate(message, options);
    const template = cloud.templates.find(({ name }) => name === 't5');
    template!.status = 'DISABLED';
    expect(await change('DISABLED', 't5')).toBe(204);
    expect(await whatsapp.sendTemplate(message, options)).toMatchObject({
      id: first.id,
      replayed: true,
    });
    await expect(whatsapp.sendTemplate(message, { idempotencyKey: 'other' })).rejects.toMatchObject(
      {
        status: 'rejected',
      },
    );
  });

  it('a webhook whose listener fails is answered 503, so that Meta repeats it', async () => {
    isFailing = true;
    expect(await change('PAUSED', 't3')).toBe(503);
    isFailing = false;
    expect(await change('APPROVED', 't3')).toBe(204);
    expect(await change('APPROVED', 'white space')).toBe(400);
  });

  it('the next list adds new templates, and an unreadable list leaves the last one in use', async () => {
    const components = [{ type: 'BODY', text: 'Hi {{name}}, {{order}} for {{name}}.' }];
    const fresh = { name: 'fresh', language: 'en', category: 'MARKETING', components };
    cloud.templates.push({ ...fresh, status: 'APPROVED', parameter_format: 'NAMED' });
    const named = { to: RECIPIENT, template: 'fresh', language: 'en' };
    let id = '';
    await eventually(async () => {
      const params = { order: '17', name: 'Ada' };
      ({ id } = await whatsapp.sendTemplate({ ...named, params }));
    });
    await eventually(async () => expect((await whatsapp.batch(id)).counts).toEqual({ sent: 1 }));
    const parameters = [
      { type: 'text', parameter_name: 'name', text: 'Ada' },
      { type: 'text', parameter_name: 'order', text: '17' },
    ];
    expect(cloud.taken.at(-1)?.template).toMatchObject({
      components: [{ type: 'body', parameters }],
    });
    cloud.answer((_request, response) => void response.writeHead(500).end());
    const asked = cloud.requests.length;
    await eventually(async () => expect(cloud.requests.length).toBeGreaterThan(asked + 1));
    cloud.answer(undefined);
    expect(await send('fresh')).toEqual(expect.any(String));
  });

  it('the option needs a provider that lists templates', async () => {
    const imports = [
      TypeOrmModule.forRoot(database.options()),
      MessagingModule.forRoot({ transport: simulator(), whatsapp: { templates: 'synced' } }),
    ];
    const other = (await Test.createTestingModule({ imports }).compile()).createNestApplication();
    await expect(other.init()).rejects.toThrow(/^whatsapp\.templates: is 'synced'/);
    await other.close();
  });
});
