import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import smpp, { type NpmSession } from 'smpp';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import {
  type NewSmppCredential,
  SmppCredentials,
} from '../../../src/smpp/smpp-credentials.service.js';
import { SmppDelivery } from '../../../src/smpp/smpp.tables.js';
import { TestGateway } from '../../e2e/gateway/test-gateway.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { describeWithServer } from '../../support/servers.js';

const TO = '2348012345678';

describe('other SMPP clients as customers of the gateway', () => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let pair: NewSmppCredential;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    gateway = await new TestGateway({ SMPP_LISTEN: `127.0.0.1:${port}` }).start();
    account = await gateway.account();
  });
  beforeEach(async () => {
    const credentials = gateway.running.app.get(SmppCredentials, { strict: false });
    pair = await credentials.add(account.accountId);
  });
  afterAll(() => gateway.destroy());

  const textOf = async (id: string): Promise<unknown> =>
    (await gateway.call('GET', `/ng/v1/sms/${id}`, { token: account.apiToken })).body['body'];
  const expectNoneWaiting = (): Promise<void> =>
    eventually(async () => {
      const source = gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
      expect(await source.manager.count(SmppDelivery)).toBe(0);
    });

  describe('the package smpp', () => {
    let session: NpmSession;
    const bound = (password: string): Promise<number> =>
      new Promise((resolve, reject) => {
        session = smpp.connect({ url: `smpp://127.0.0.1:${port}` }, () =>
          session.bind_transceiver({ system_id: pair.systemId, password }, (answer) =>
            resolve(answer.command_status),
          ),
        );
        session.on('error', reject);
      });

    it('the package smpp binds, submits a text in UCS-2 by message_payload, and answers its receipt', async () => {
      const text = `Привет ${'мир '.repeat(60)}`;
      expect(await bound(pair.password)).toBe(0);
      const receipts: string[] = [];
      session.on('deliver_sm', (pdu) => {
        receipts.push(String(pdu['receipted_message_id']));
        session.send(pdu.response());
      });
      const id = await new Promise<string>((resolve) =>
        session.submit_sm(
          {
            source_addr_ton: 5,
            source_addr: 'ACME',
            dest_addr_ton: 1,
            dest_addr_npi: 1,
            destination_addr: TO,
            registered_delivery: 1,
            data_coding: 8,
            short_message: '',
            message_payload: text,
          },
          (answer) => resolve(String(answer['message_id'])),
        ),
      );
      expect(await textOf(id)).toBe(text);
      await eventually(async () => expect(receipts).toEqual([id]));
      await expectNoneWaiting();
      await new Promise<void>((resolve) => session.unbind(() => resolve()));
      session.close();
    });

    it.each(['£ $ @ é € {ok}', '@', 'Plain text\r\nin two lines'])(
      'the package smpp submits %j with data_coding 1, its name for GSM 03.38',
      async (text) => {
        expect(await bound(pair.password)).toBe(0);
        const fields = { source_addr_ton: 5, source_addr: 'ACME', destination_addr: TO };
        const answer = await new Promise<Record<string, unknown>>((resolve) =>
          session.submit_sm({ ...fields, data_coding: 1, short_message: text }, resolve),
        );
        expect(answer['command_status']).toBe(0);
        expect(await textOf(String(answer['message_id']))).toBe(text);
        session.close();
      },
    );

    it('the package smpp is refused with a wrong password', async () => {
      expect(await bound('wrong')).toBe(smpp.ESME_RINVPASWD);
      session.close();
    });
  });

  describeWithServer('netsmpp', "Debian's Net::SMPP", () => {
    it('netsmpp binds, submits a text, answers its receipt, and queries it', async () => {
      const script = join(import.meta.dirname, 'customer.pl');
      const { systemId, password } = pair;
      const args = [script, String(port), systemId, password, TO, 'Hello from Perl'];
      const { stdout } = await promisify(execFile)('/usr/bin/perl', args);
      const [id = '', receipt, ...answers] = stdout.trim().split('\n');
      expect(await textOf(id)).toBe('Hello from Perl');
      // State 2 is delivered; 0x11 is ESME_RCANCELFAIL.
      expect(answers).toEqual(['state 0 2', 'cancel 17']);
      expect(receipt).toMatch(new RegExp(`^id:${id} .* stat:DELIVRD err:000 text:$`));
      await expectNoneWaiting();
    });
  });
});
