import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { retryWhileUnavailable } from '../../../libs/messaging/src/store/database/retry.js';
import { describeEachDatabase } from '../../support/databases.js';

/** `ReadyForQuery`, and the tag of a transaction that is committed. */
const READY = Buffer.from('5a0000000549', 'hex');
const COMMITTED = Buffer.from('COMMIT\0');

/** The `ErrorResponse` of a session that an administrator ends, and a pooler's of a server it has lost. */
const ENDED = fatal('57P01', 'terminating connection');
const LOST = fatal('08P01', 'server conn crashed?');

function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  return Buffer.concat([Buffer.from('E'), lengthOf(fields), fields]);
}

function lengthOf(fields: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return length;
}

/** A way to the server that may cut a connection: as soon as it is made, both in one packet, or in place of the answer to a commit. */
class Cutting {
  cuts = 0;
  lostCommits = 0;
  readonly #open = new Set<Socket>();
  readonly #server: Server;

  constructor(private readonly target: URL) {
    this.#server = createServer((near) => this.#join(near));
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => this.#server.once('listening', resolve));
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return url.href;
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket): void {
    const far = connect(Number(this.target.port || 5432), this.target.hostname);
    const pair = [near, far];
    for (const socket of pair) {
      this.#open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => pair.forEach((one) => one.destroy()));
    }
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      const cut = this.cuts > 0 && chunk.subarray(-READY.length).equals(READY);
      if (this.lostCommits > 0 && chunk.includes(COMMITTED)) {
        this.lostCommits--;
        return void near.end(LOST);
      }
      if (!cut) return void near.write(chunk);
      this.cuts--;
      near.end(Buffer.concat([chunk, ENDED]));
    });
  }
}

describeEachDatabase(
  'a connection that is cut',
  (database) => {
    let cutting: Cutting;
    let source: DataSource;
    beforeAll(async () => {
      cutting = new Cutting(new URL(database.url));
      const url = await cutting.start();
      source = await new DataSource({ type: 'postgres', url } as DataSourceOptions).initialize();
    });
    afterAll(async () => {
      await source.destroy();
      await cutting.stop();
    });

    it('a connection cut right after connecting fails its statement and not the process', async () => {
      const store = databaseOf(source);
      await store.open();
      // The first flow holds the only open connection, so the others open new ones.
      const holder = source.createQueryRunner();
      await holder.connect();
      cutting.cuts = 3;
      expect(await retryWhileUnavailable(() => store.all('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
      expect(cutting.cuts).toBe(0);
      await holder.release();
      await store.close();
    });

    it('a commit whose answer was lost is not repeated', async () => {
      const store = databaseOf(source);
      await store.open();
      await store.all('CREATE TABLE kept (value int)');
      cutting.lostCommits = 1;
      const work = store.transaction((tx) => tx.run('INSERT INTO kept VALUES (1)'));
      await expect(work).rejects.toMatchObject({ code: '08P01' });
      expect(cutting.lostCommits).toBe(0);
      expect(await store.all('SELECT value FROM kept')).toEqual([{ value: 1 }]);
      await store.close();
    });
  },
  ['postgres'],
);
