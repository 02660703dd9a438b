import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MessagingModule, type MessagingOptions } from '@dundun/messaging';
import { kannel, kannelParser, kannelSignature } from '@dundun/messaging/kannel';
import type { DataSourceOptions } from 'typeorm';
import { freePort } from '../../support/free-port.js';
import type { Kannel } from '../../support/kannel.js';

const PATH = 'sms/reports';
const SECRET = 'f3b1c7d0a94e4c6fb2a17c5e8d903b64';

/** An app as in the library's documentation, with this Kannel as its provider. */
export async function startKannelApp(
  peer: Kannel,
  database: DataSourceOptions,
  options: Partial<MessagingOptions> = {},
): Promise<NestFastifyApplication> {
  // The port is chosen before the app listens, because Kannel's configuration contains it.
  const port = await freePort();
  const testing = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot(database),
      MessagingModule.forRoot({
        transport: kannel({
          url: peer.url,
          username: peer.username,
          password: peer.password,
          callback: { url: `http://127.0.0.1:${port}/${PATH}`, secret: SECRET },
        }),
        callbacks: {
          parser: kannelParser(),
          verifier: kannelSignature(SECRET),
        },
        callbackPath: PATH,
        ...options,
      }),
    ],
  }).compile();
  // Kannel keeps its connection open, for which close() would wait.
  const app = testing.createNestApplication<NestFastifyApplication>(
    new FastifyAdapter({ forceCloseConnections: true }),
  );
  await app.listen(port, '127.0.0.1');
  return app;
}
