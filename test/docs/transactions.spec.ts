import {
  MessagingModule,
  type MessagingOptions,
  MessagingService,
  simulator,
  SmsService,
  TransactionRequiredError,
  typeOrmTransactional,
} from '@dundun/messaging';
import { clsTransactional } from '@dundun/messaging/cls-transactional';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import * as cls from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { Test, type TestingModule } from '@nestjs/testing';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { randomUUID } from 'node:crypto';
import { Script } from 'node:vm';
import ts from 'typescript';
import { DataSource, EntitySchema } from 'typeorm';
import * as transactional from 'typeorm-transactional';
import { describeEachDatabase } from '../support/databases.js';
import { blocks } from './markdown-blocks.js';

interface Order {
  readonly id: string;
  readonly phone: string;
}

const Order = new EntitySchema<Order>({
  name: 'shop_order',
  columns: {
    id: { type: String, primary: true, length: 36 },
    phone: { type: String, length: 20 },
  },
});

const UNCHARGED = '2348000000009';

class DeclinedError extends Error {}

async function charge({ phone }: Order): Promise<void> {
  if (phone === UNCHARGED) throw new DeclinedError();
}

type Orders = new (first: unknown, sms: SmsService) => { place(order: Order): Promise<void> };

/** The class of each block of the page, in their order. */
const FORMS = blocks().filter(({ page }) => page === 'docs/transactions.md');

function ordersOf(place: number): Orders {
  const { outputText } = ts.transpileModule(FORMS[place]!.code, {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      experimentalDecorators: true,
    },
  });
  const packages: Readonly<Record<string, object>> = {
    'typeorm-transactional': transactional,
    '@nestjs-cls/transactional': cls,
  };
  const exports: { Orders?: Orders } = {};
  const run = new Script(
    `(function (require, exports, Order, charge) {${outputText}\n})`,
  ).runInThisContext() as (...given: unknown[]) => void;
  run((name: string) => packages[name], exports, Order, charge);
  return exports.Orders!;
}

transactional.initializeTransactionalContext();

describeEachDatabase('the forms of docs/transactions.md', (database) => {
  let app: TestingModule | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
    transactional.deleteDataSourceByName('default');
  });

  // The first boot runs all migrations.
  beforeAll(async () => (await boot()).close(), 120_000);

  const boot = async (
    ambientTransaction?: MessagingOptions['ambientTransaction'],
    add: (source: DataSource) => DataSource = (source) => source,
  ): Promise<TestingModule> => {
    const options = { ...database.options(), entities: [Order] };
    const data = TypeOrmModule.forRootAsync({
      useFactory: () => options,
      dataSourceFactory: async () => add(new DataSource(options)).initialize(),
    });
    const building = Test.createTestingModule({
      imports: [
        data,
        ClsModule.forRoot({
          plugins: [
            new cls.ClsPluginTransactional({
              adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() }),
            }),
          ],
        }),
        MessagingModule.forRoot({
          transport: simulator(),
          callbackPath: false,
          ...(ambientTransaction && { ambientTransaction }),
        }),
      ],
    });
    app = await building.compile();
    app.useLogger(false);
    await app.init();
    const source = app.get(DataSource);
    await source.query(
      'CREATE TABLE IF NOT EXISTS shop_order (id varchar(36) PRIMARY KEY, phone varchar(20) NOT NULL)',
    );
    return app;
  };

  /** What is stored of an order that is placed: its row, and messages to its phone. */
  const placed = async (orders: InstanceType<Orders>, phone: string) => {
    const sms = app!.get(SmsService);
    const before = new Set((await sms.list({ limit: 100 })).data.map(({ id }) => id));
    const order = { id: randomUUID(), phone };
    const error = await orders.place(order).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const sent = (await sms.list({ limit: 100 })).data.filter(({ id }) => !before.has(id));
    const rows = await app!.get(DataSource).manager.countBy(Order, { id: order.id });
    return { error, orders: rows, messages: sent.length };
  };

  /** Of an order that is charged, and of one that is declined. */
  const twoOrders = async (orders: InstanceType<Orders>) => [
    await placed(orders, '2348000000001'),
    await placed(orders, UNCHARGED),
  ];
  const bothOrNone = [
    { error: undefined, orders: 1, messages: 1 },
    { error: expect.any(DeclinedError), orders: 0, messages: 0 },
  ];

  it.each([
    ['messaging.transaction()', 0, MessagingService],
    ['dataSource.transaction()', 1, DataSource],
    ['a query runner', 2, DataSource],
  ])('%s commits order and message together, or none', async (_, place, token) => {
    await boot();
    const orders = new (ordersOf(place))(app!.get<unknown>(token), app!.get(SmsService));
    expect(await twoOrders(orders)).toEqual(bothOrNone);
  });

  it('@Transactional() of typeorm-transactional commits order and message together, or none', async () => {
    await boot(typeOrmTransactional(), transactional.addTransactionalDataSource);
    const repository = app!.get(DataSource).getRepository(Order);
    const orders = new (ordersOf(3))(repository, app!.get(SmsService));
    expect(await twoOrders(orders)).toEqual(bothOrNone);
    const messaging = app!.get(MessagingService);
    const nested = {
      place: (order: Order) =>
        transactional.runInTransaction(async () => {
          await messaging.transaction(() => orders.place(order));
          throw new DeclinedError();
        }),
    };
    expect(await placed(nested, '2348000000001')).toMatchObject({ orders: 0, messages: 0 });
  });

  it('@Transactional() of @nestjs-cls/transactional commits order and message together, or none', async () => {
    await boot(clsTransactional());
    const orders = new (ordersOf(4))(app!.get(cls.TransactionHost), app!.get(SmsService));
    expect(await twoOrders(orders)).toEqual(bothOrNone);
  });

  it('a data source of typeorm-transactional without the option, or whose transactions cannot be found, is refused at boot', async () => {
    const { addTransactionalDataSource: add } = transactional;
    await expect(boot(undefined, add)).rejects.toThrow(
      /^ambientTransaction: .*typeOrmTransactional/,
    );
    transactional.deleteDataSourceByName('default');
    const unpatched = (dataSource: DataSource) => add({ dataSource, patch: false });
    await expect(boot(typeOrmTransactional(), unpatched)).rejects.toThrow(/patch: true/);
  });

  it('without the manager, the message is sent of an order that was rolled back; SQLite refuses the send at once', async () => {
    await boot();
    const source = app!.get(DataSource);
    const orders = new (ordersOf(5))(source, app!.get(SmsService));
    const [error, messages] =
      database.kind === 'sqlite' ? [TransactionRequiredError, 0] : [DeclinedError, 1];
    expect(await placed(orders, UNCHARGED)).toEqual({
      error: expect.any(error),
      orders: 0,
      messages,
    });
  });

  it('a send of another flow waits for the end of a transaction', async () => {
    await boot();
    const sms = app!.get(SmsService);
    let end = () => {};
    const open = new Promise<void>((resolve) => (end = resolve));
    const source = app!.get(DataSource);
    const running = source.transaction(async (manager) => {
      await manager.save(Order, { id: randomUUID(), phone: '2348000000001' });
      await open;
    });
    const sent = sms.send({ from: 'ACME', to: '2348000000001', body: 'Hello' });
    setTimeout(end, 100);
    await running;
    await expect(sent).resolves.toMatchObject({ recipients: 1 });
  });
});
