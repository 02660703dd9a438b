import { expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ContactsService, MessagingModule, sharedSecret, simulator } from '@dundun/messaging';
import { kannelInboundParser } from '@dundun/messaging/kannel';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Kannel } from '../../support/kannel.js';
import { describeWithServer } from '../../support/servers.js';
import { freePort } from '../../support/free-port.js';

const SECRET = 'f3b1c7d0a94e4c6f';
const FROM = '2348012345678';
/** `توقف`, as a handset writes it. */
const ARABIC_STOP = '%06%2A%06%48%06%42%06%41';

describeWithServer('kannel', 'what people write through a real bearerbox', () => {
  describeEachDatabase(
    'the store',
    (database) => {
      it('an Arabic STOP through Kannel opts out', async () => {
        const port = await freePort();
        const query = 'id=%I&from=%p&to=%P&text=%b&time=%T';
        const peer = await Kannel.start({
          inboundUrl: `http://127.0.0.1:${port}/sms/kannel/${SECRET}?${query}`,
          written: `${FROM} 22384 ucs2 ${ARABIC_STOP}`,
        });
        let app: NestFastifyApplication | undefined;
        try {
          const module = await Test.createTestingModule({
            imports: [
              TypeOrmModule.forRoot(database.options()),
              MessagingModule.forRoot({
                transport: simulator(),
                callbackPath: 'sms',
                callbacks: {
                  providers: {
                    kannel: {
                      parser: kannelInboundParser(),
                      verifier: sharedSecret({ secret: SECRET }),
                    },
                  },
                },
              }),
            ],
          }).compile();
          // Kannel keeps its connection open, for which close() would wait.
          app = module.createNestApplication<NestFastifyApplication>(
            new FastifyAdapter({ forceCloseConnections: true }),
          );
          await app.listen(port, '127.0.0.1');
          const contacts = app.get(ContactsService);
          await eventually(async () => {
            const contact = await contacts.find(FROM);
            expect(contact?.consents.sms).toMatchObject({ state: 'opted_out', evidence: 'توقف' });
            expect(Object.keys(contact?.lastInbound ?? {})).toEqual(['22384']);
          });
        } finally {
          await app?.close();
          await peer.stop();
        }
      });
    },
    ['sqlite'],
  );
});
