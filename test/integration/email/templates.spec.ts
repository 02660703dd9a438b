import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  defineEmailTemplates,
  EmailRenderError,
  EmailService,
  MessagingModule,
  MessagingService,
  simulator,
} from '@dundun/messaging';
import { Test, type TestingModule } from '@nestjs/testing';
import { render } from '@react-email/render';
import { TypeOrmModule } from '@nestjs/typeorm';
import Handlebars from 'handlebars';
import { createElement } from 'react';
import { describeOneDatabase } from '../../support/databases.js';

interface Order {
  readonly name: string;
  readonly items: readonly string[];
}

const orderHtml = Handlebars.compile<Order>(
  '<p>Dear {{name}}</p><ul>{{#each items}}<li>{{this}}</li>{{/each}}</ul><p>\\{{code}}</p>',
  { strict: true },
);

function Welcome({ name }: { readonly name: string }) {
  return createElement('p', null, `Welcome, ${name}`);
}

const templates = defineEmailTemplates({
  order: (props: Order) => ({ subject: `Your order, ${props.name}`, html: orderHtml(props) }),
  welcome: async ({ name }: { name: string }) => {
    const element = createElement(Welcome, { name });
    return {
      subject: `Welcome, ${name}`,
      html: await render(element),
      text: await render(element, { plainText: true }),
    };
  },
  broken: ({ secret }: { secret: string }) => {
    throw new Error(`cannot render ${secret}`);
  },
  empty: () => undefined as never,
  wordless: () => ({ subject: '' }),
});

describeOneDatabase('emails from templates', (database) => {
  let app: TestingModule;
  let email: EmailService;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator(),
          dispatch: { enabled: false },
          callbackPath: false,
        }),
      ],
    }).compile();
    await app.init();
    email = app.get(EmailService);
  });
  afterAll(() => app.close());

  const to = { from: 'shop@example.com', to: 'ada@example.com' };
  const accepted = async () => (await email.batches({ limit: 1_000 })).data.length;

  it('a Handlebars template makes subject and html, and leaves variables to each recipient', async () => {
    const { id } = await email.send({
      from: 'shop@example.com',
      recipients: [{ email: 'ada@example.com', variables: { code: '17' } }],
      template: templates.order,
      props: { name: 'Ada', items: ['<Tea>', 'Cup'] },
    });
    expect((await email.batch(id)).content).toMatchObject({
      subject: 'Your order, Ada',
      html: '<p>Dear Ada</p><ul><li>&lt;Tea&gt;</li><li>Cup</li></ul><p>{{code}}</p>',
    });
  });

  it('a React Email template makes subject, html and text', async () => {
    const { id } = await email.send({ ...to, template: templates.welcome, props: { name: 'Ada' } });
    const { content } = await email.batch(id);
    expect(content).toMatchObject({ subject: 'Welcome, Ada', text: 'Welcome, Ada' });
    expect(content).toMatchObject({ html: expect.stringContaining('<p>Welcome, Ada</p>') });
    expect(content).not.toHaveProperty('props');
  });

  it('the compiler refuses props of another template', async () => {
    // @ts-expect-error -- the name is missing
    const wrong = () => email.send({ ...to, template: templates.order, props: { items: [] } });
    await expect(wrong()).rejects.toThrow(EmailRenderError);
  });

  it('a template renders in the transaction of the caller, and is rolled back with it', async () => {
    const before = await accepted();
    const messaging = app.get(MessagingService);
    const props = { name: 'Ada' };
    await expect(
      messaging.transaction(async (manager) => {
        await email.send({ ...to, template: templates.welcome, props }, { manager });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await accepted()).toBe(before);
    const { id } = await messaging.transaction((manager) =>
      email.send({ ...to, template: templates.welcome, props }, { manager }),
    );
    expect((await email.batch(id)).content).toMatchObject({ subject: 'Welcome, Ada' });
  });

  it('a template that fails throws a typed error with its cause and without props, and stores nothing', async () => {
    const before = await accepted();
    const props = { secret: 'my-secret' };
    const messages = [
      { ...to, subject: 'Hello', text: 'Hello' },
      { ...to, template: templates.broken, props },
    ];
    for (const sending of [
      email.send({ ...to, template: templates.broken, props }),
      email.sendAll(messages),
    ]) {
      const error = await sending.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(EmailRenderError);
      expect(error).toMatchObject({
        code: 'render_failed',
        template: 'broken',
        message: 'The email template broken failed; see the cause',
        cause: expect.objectContaining({ message: 'cannot render my-secret' }),
      });
    }
    expect(await accepted()).toBe(before);
  });

  it('a template that makes no email is refused, and stores nothing', async () => {
    const before = await accepted();
    await expect(
      email.send({ ...to, template: templates.empty, props: undefined }),
    ).rejects.toThrow('The email template empty must return { subject, html, text }');
    await expect(
      email.send({ ...to, template: templates.wordless, props: undefined }),
    ).rejects.toMatchObject({ fields: [{ path: 'text' }, { path: 'subject' }] });
    const both = { ...to, template: templates.welcome, props: { name: 'Ada' }, subject: 'Mine' };
    await expect(email.send(both)).rejects.toMatchObject({ fields: [{ path: 'subject' }] });
    const none = { ...to, template: { name: 'x' } as never, props: {} };
    await expect(email.send(none)).rejects.toMatchObject({ fields: [{ path: 'template' }] });
    expect(await accepted()).toBe(before);
  });

  it('many emails of several templates are accepted at once, and an estimate renders', async () => {
    const receipts = await email.sendAll([
      { ...to, template: templates.welcome, props: { name: 'Ada' } },
      { ...to, template: templates.order, props: { name: 'Bea', items: [] } },
    ]);
    const subjects = [];
    for (const { id } of receipts)
      subjects.push((await email.batch(id)).content as { readonly subject?: string } | null);
    expect(subjects.map((content) => content?.subject)).toEqual([
      'Welcome, Ada',
      'Your order, Bea',
    ]);
    const { size } = await email.estimate({
      ...to,
      template: templates.order,
      props: { name: 'Ada', items: ['x'.repeat(10_000)] },
    });
    expect(size).toBeGreaterThan(10_000);
  });
});
