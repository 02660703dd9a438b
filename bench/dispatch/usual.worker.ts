import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { Queue, Worker as JobWorker } from 'bullmq';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { firstValueFrom } from 'rxjs';
import { DataSource, EntitySchema, type Repository } from 'typeorm';
import { v7 } from 'uuid';
import { dataSourceOptions } from '../harness/data.source.js';
import type { Count } from '../harness/rounds.js';
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

let dataSource: DataSource;
let repository: Repository<UsualMessage>;
let queue: Queue;
let redis: Redis;
let worker: JobWorker;
let left = 0;
let done: (() => void) | undefined;

/** The usual way without the library: a job per message, the queue's limiter, `HttpService`, one UPDATE. */
serve({
  start: async ({
    url,
    sink,
    width,
    redisUrl,
  }: {
    url: string;
    sink: string;
    width: number;
    redisUrl: string;
  }) => {
    dataSource = new DataSource({
      ...dataSourceOptions(url),
      entities: [UsualMessageEntity],
      migrations: [],
      synchronize: true,
    });
    await dataSource.initialize();
    repository = dataSource.getRepository(UsualMessageEntity);
    redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
    const name = `bench-${randomBytes(6).toString('hex')}`;
    const httpService = new HttpService(axios.create());
    queue = new Queue(name, { connection: redis });
    worker = new JobWorker<UsualMessage>(
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
        concurrency: width,
        limiter: { max: 1_000_000, duration: 1_000 },
        autorun: false,
      },
    );
    worker.on('completed', () => {
      if (--left === 0) done?.();
    });
    await queue.pause();
    void worker.run();
  },
  run: async (n: number): Promise<Count> => {
    const messages = Array.from({ length: n }, (_, i) => ({
      id: v7(),
      recipient: `23480${10_000_000 + i}`,
      body: 'Your code is 123456',
      status: 'queued',
    }));
    for (let from = 0; from < n; from += 500) {
      const some = messages.slice(from, from + 500);
      await repository.insert(some);
      await queue.addBulk(
        some.map((data) => ({ name: 'send', data, opts: { removeOnComplete: true } })),
      );
    }
    left = n;
    const finished = new Promise<void>((resolve) => (done = resolve));
    const begun = performance.now();
    await queue.resume();
    await finished;
    const ms = performance.now() - begun;
    await queue.pause();
    return { count: n, ms };
  },
  stop: async () => {
    await worker.close();
    await queue.obliterate({ force: true });
    await queue.close();
    redis.disconnect();
    await dataSource.destroy();
  },
});
