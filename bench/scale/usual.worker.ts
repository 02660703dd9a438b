import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { Queue, Worker as JobWorker } from 'bullmq';
import { Redis } from 'ioredis';
import { firstValueFrom } from 'rxjs';
import { DataSource, EntitySchema, type Repository } from 'typeorm';
import { v7 } from 'uuid';
import { dataSourceOptions } from '../harness/data.source.js';
import { moment } from '../harness/moment.js';
import { serve } from '../harness/worker.serve.js';

interface UsualMessage {
  id: string;
  recipient: string;
  body: string;
  status: string;
}

const UsualMessageEntity = new EntitySchema<UsualMessage>({
  name: 'UsualMessage',
  tableName: 'usual_message',
  columns: {
    id: { type: 'varchar', length: 36, primary: true },
    recipient: { type: 'varchar', length: 20 },
    body: { type: 'text' },
    status: { type: 'varchar', length: 16 },
  },
});

export interface UsualOptions {
  readonly url: string;
  readonly sink: string;
  readonly redis: { readonly connection: string; readonly queue: string };
  readonly role: 'api' | 'worker';
}

let dataSource: DataSource;
let repository: Repository<UsualMessage>;
let redis: Redis;
let queue: Queue<UsualMessage> | undefined;
let worker: JobWorker<UsualMessage> | undefined;

/** The usual way with two processes: an INSERT and a job in one, the request and an UPDATE in the other. */
serve({
  start: async ({ url, sink, redis: broker, role }: UsualOptions) => {
    dataSource = new DataSource({
      ...dataSourceOptions(url),
      entities: [UsualMessageEntity],
      migrations: [],
      synchronize: role === 'api',
    });
    await dataSource.initialize();
    repository = dataSource.getRepository(UsualMessageEntity);
    redis = new Redis(broker.connection, { maxRetriesPerRequest: null });
    if (role === 'api') queue = new Queue(broker.queue, { connection: redis });
    else worker = workerOf(broker.queue, sink);
  },
  one: async (): Promise<{ key: string; given: number; accepted: number }> => {
    const given = moment();
    const message = {
      id: v7(),
      recipient: '2348010000000',
      body: 'Your code is 123456',
      status: 'queued',
    };
    await repository.insert(message);
    await queue?.add('send', message, { removeOnComplete: true });
    return { key: message.id, given, accepted: moment() };
  },
  stop: async () => {
    await worker?.close();
    await queue?.close();
    redis.disconnect();
    await dataSource.destroy();
  },
});

function workerOf(name: string, sink: string): JobWorker<UsualMessage> {
  const httpService = new HttpService(axios.create());
  return new JobWorker<UsualMessage>(
    name,
    async ({ data }) => {
      await firstValueFrom(
        httpService.post(
          `${sink}/ng/v1/sendsms`,
          { from: 'ACME', to: [data.recipient], body: data.body, delivery_report: 'none' },
          { headers: { authorization: 'Bearer tok_bench', 'idempotency-key': data.id } },
        ),
      );
      await repository.update({ id: data.id }, { status: 'sent' });
    },
    {
      connection: redis.duplicate(),
      concurrency: 64,
      limiter: { max: 1_000_000, duration: 1_000 },
    },
  );
}
