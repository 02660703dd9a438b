import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
import { DnsServer } from '../../support/dns-server.js';
import { freePort } from '../../support/free-port.js';
import { largeMails, SIGNATURES, withOriginal } from '../../support/large-mails.js';
import { complaint, statusNotification } from '../../support/mail-reports.js';
import { MailServer, type ReceivedMail } from '../../support/mail-server.js';
import { sendOctets } from '../../support/raw-mail.js';
import { type ProbedGateway, Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

/** Most CPU time of one turn of the event loop, in milliseconds: other requests wait for it. */
const MOST = 100;

/** The first mails of a kind compile code, and collections of garbage come at any time. */
const TRIES = 5;

const TO = 'hello@shop.example';

describeEachDatabase(
  'the event loop of a gateway that receives the largest mails',
  (db) => {
    const processes = new Processes();
    let relay: MailServer;
    let dns: DnsServer;
    let gateway: ProbedGateway;
    let port: number;
    let returnAddress: string;

    beforeAll(async () => {
      [relay, dns, port] = await Promise.all([MailServer.start(), DnsServer.start(), freePort()]);
      await buildGateway();
      const settings = {
        DATABASE_URL: db.url,
        EMAIL_CARRIER: 'smtp',
        SMTP_URL: relay.url,
        SMTP_TLS: 'off',
        EMAIL_LISTEN: `127.0.0.1:${port}`,
        EMAIL_DNS_SERVERS: dns.address,
      };
      const dundun = async (...args: string[]): Promise<Record<string, string>> =>
        JSON.parse((await processes.dundun([...args, '--json'], settings)).stdout) as Record<
          string,
          string
        >;
      const { account_id: account = '', api_key: key = '' } = await dundun(
        'account',
        'create',
        '--name',
        'acme',
      );
      await dundun('domain', 'add', '--account', account, '--domain', 'shop.example');
      const source = await db.open();
      await source.query(
        "UPDATE gateway_email_domain SET status = 'verified', verified_name = 'shop.example'",
      );
      gateway = await processes.probedGateway(settings);
      const accepted = new Promise<ReceivedMail>((resolve) => (relay.onAccepted = resolve));
      await fetch(`${gateway.url}/email/ng/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from: TO, to: ['a@b.example'], subject: 'Hello', text: 'Hello' }),
      });
      returnAddress = (await accepted).from;
      await gateway.longestTurn();
    });
    afterAll(async () => {
      await processes.destroy();
      await Promise.all([relay.close(), dns.close()]);
    });

    /** The longest turn while two servers deliver a mail, of the try in which it was shortest. */
    async function longestTurnOf(octets: Buffer, to: string): Promise<number> {
      let least = Infinity;
      for (let attempt = 0; attempt < TRIES && least > MOST; attempt++) {
        await gateway.longestTurn();
        const mail = { from: to === TO ? 'ada@friend.example' : '', to, octets };
        expect(await Promise.all([sendOctets(port, mail), sendOctets(port, mail)])).toEqual([
          expect.stringMatching(/^250/),
          expect.stringMatching(/^250/),
        ]);
        least = Math.min(least, await gateway.longestTurn());
      }
      return least;
    }

    it('mails of people leave other requests their turns, whatever is large in them', async () => {
      const turns: Record<string, number> = {};
      for (const [name, raw] of Object.entries(largeMails())) {
        turns[name] = await longestTurnOf(raw, TO);
        const signed = Buffer.concat([Buffer.from(`${SIGNATURES.join('\r\n')}\r\n`), raw]);
        turns[`${name}, signed`] = await longestTurnOf(signed, TO);
      }
      expect(Object.entries(turns).filter(([, turn]) => turn > MOST)).toEqual([]);
    });

    it('bounces and complaints with the whole message leave other requests their turns', async () => {
      const reports = [statusNotification('failed', 'a@b.example'), complaint(returnAddress)];
      for (const report of reports)
        expect(await longestTurnOf(withOriginal(report), returnAddress)).toBeLessThan(MOST);
    });
  },
  // What a mail becomes is small; SQLite stores it on the event loop.
  process.env['DATABASES'] === 'each' ? ['sqlite', 'postgres'] : ['sqlite'],
);
