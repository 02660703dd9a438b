import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import type { DataSource } from 'typeorm';
import { migrated } from '../harness/data.source.js';
import { NaturalBatch } from '../harness/natural.batch.js';
import { serve } from '../harness/worker.serve.js';
import { type BareReport, bareReport, seedCampaign } from './campaign.js';
import { openRawStatus, type RawStatus } from './raw.status.js';

type BareMode = 'grouped' | 'update' | 'save';

let batch: string;
let dataSource: DataSource;
let raw: RawStatus;
let server: FastifyInstance;

/** Bare Fastify with one way to write a status. */
serve({
  start: async ({ url, mode }: { url: string; mode: BareMode }) => {
    dataSource = await migrated(url);
    batch = await seedCampaign(dataSource);
    raw = await openRawStatus(url);
    const group = new NaturalBatch<BareReport>((reports) => raw.storeGroup(reports));
    const store: Record<BareMode, (report: BareReport) => Promise<void>> = {
      grouped: (report) => group.add(report),
      update: (report) => raw.updateOne(report),
      save,
    };
    server = Fastify({ logger: false });
    server.post<{ Body: { data: Record<string, string> } }>('/reports', async ({ body }, reply) => {
      await store[mode](bareReport(body));
      return reply.code(204).send();
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  },
  batch: async () => batch,
  address: async () => {
    const { port } = server.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  },
  stop: async () => {
    await server.close();
    await raw.close();
    await dataSource.destroy();
  },
});

/** The usual way: read the entity, change it, save it. */
async function save({ batch: id, position, data }: BareReport): Promise<void> {
  const repository = dataSource.getRepository<{ batch: string; position: number; status: string }>(
    'messaging_message',
  );
  const message = await repository.findOneByOrFail({ batch: id, position });
  message.status = String(data['status']);
  // On SQLite all flows share one connection, so separate transactions are impossible.
  await repository.save(message, { transaction: dataSource.options.type === 'postgres' });
}
