import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { DnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { largeMails, SIGNATURES, withOriginal } from '../support/large-mails.js';
import { complaint, statusNotification } from '../support/mail-reports.js';
import { MailServer, type ReceivedMail } from '../support/mail-server.js';
import { sendOctets } from '../support/raw-mail.js';
import { AttackedGateway } from './attacked-gateway.js';

const IS_FULL = process.env['ATTACK'] === 'full';

const TO = 'hello@shop.example';

describeEachDatabase(
  'two senders of the largest mails',
  (db) => {
    const gateway = new AttackedGateway();
    let relay: MailServer;
    let dns: DnsServer;
    let port: number;
    let returnAddress: string;

    beforeAll(async () => {
      [relay, dns, port] = await Promise.all([MailServer.start(), DnsServer.start(), freePort()]);
      await gateway.start(db, {
        EMAIL_CARRIER: 'smtp',
        SMTP_URL: relay.url,
        SMTP_TLS: 'off',
        EMAIL_LISTEN: `127.0.0.1:${port}`,
        EMAIL_DNS_SERVERS: dns.address,
      });
      const own = ['--account', gateway.accountId, '--domain', 'shop.example'];
      await gateway.dundun('domain', 'add', ...own);
      const source = await db.open();
      await source.query(
        "UPDATE gateway_email_domain SET status = 'verified', verified_name = 'shop.example'",
      );
      const email = { from: TO, to: ['a@b.example'], subject: 'Hello', text: 'Hello' };
      const body = JSON.stringify(email);
      const accepted = new Promise<ReceivedMail>((resolve) => (relay.onAccepted = resolve));
      await eventually(async () => {
        const sent = await gateway.call('POST', '/email/ng/v1/messages', body, gateway.key);
        if (sent.status !== 200) throw new Error(await sent.text());
      });
      returnAddress = (await accepted).from;
    });
    afterAll(async () => {
      await gateway.destroy();
      await Promise.all([relay.close(), dns.close()]);
    });

    /** Two senders deliver the mails at the same time. @returns the codes of the answers */
    const deliver = async (to: string, mails: readonly Buffer[]): Promise<Set<string>> => {
      const from = to === TO ? 'ada@friend.example' : '';
      const codes = new Set<string>();
      const sender = async (): Promise<void> => {
        for (const octets of mails)
          codes.add((await sendOctets(port, { from, to, octets })).slice(0, 3));
      };
      await gateway.whileHealthy(() => Promise.all([sender(), sender()]));
      await gateway.freed();
      return codes;
    };

    it('mails of people leave health checks their turns, and no memory', async () => {
      const mails = Object.values(largeMails());
      const signatures = Buffer.from(`${SIGNATURES.join('\r\n')}\r\n`);
      const signed = mails.map((mail) => Buffer.concat([signatures, mail]));
      // Signed ones cost more; test/e2e/gateway/event-loop-mail.spec.ts delivers both.
      for (const kinds of IS_FULL ? [mails, signed] : [signed])
        expect(await deliver(TO, kinds)).toEqual(new Set(['250']));
    });

    it('bounces and complaints with the whole message do so, too', async () => {
      const reports = [statusNotification('failed', 'a@b.example'), complaint(returnAddress)];
      const mails = [...reports, ...reports].map((report) => withOriginal(report, 40_000_000));
      expect(await deliver(returnAddress, mails)).toEqual(new Set(['250']));
    });
  },
  IS_FULL ? ['sqlite', 'postgres'] : ['sqlite'],
);
