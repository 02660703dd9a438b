import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  COMMAND_STATUS,
  decodeText,
  encodeText,
  MessageAssembler,
  messageOf,
  type PduOf,
  SmppServer,
  type SmppSession,
  writeReceipt,
} from '@dundun/smpp';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { KannelPrograms } from '../../support/kannel-programs.js';
import { describeWithServer } from '../../support/servers.js';
import { type SmppKannelPorts, smppKannelConfiguration } from './smpp-configuration.js';

const USER = 'username=tester&password=kannel-pass-1';

describeWithServer('kannel', "Kannel's bearerbox bound to our server over SMPP", () => {
  let directory: string;
  let programs: KannelPrograms;
  let server: SmppServer;
  let http: Server;
  let ports: SmppKannelPorts;
  /** Requests of Kannel: receipts and inbound messages. */
  const calls: URL[] = [];
  const submitted: { readonly pdu: PduOf<'submit_sm'>; readonly id: number }[] = [];

  const bound = () => eventually(async () => expect(server.sessions).toHaveLength(1), 60_000);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-kannel-smpp-'));
    await mkdir(join(directory, 'spool'));
    http = createServer((request, response) => {
      calls.push(new URL(request.url ?? '', 'http://127.0.0.1'));
      response.end();
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    server = new SmppServer({
      authenticate: ({ systemId, password, systemType }) => ({
        status:
          systemId === 'kannel' && password === 'secret' && systemType === 'VMA'
            ? COMMAND_STATUS.ESME_ROK
            : COMMAND_STATUS.ESME_RINVPASWD,
      }),
      enquireLinkInterval: 500,
      handlers: {
        submit_sm: (pdu) => {
          const id = 0xabc000 + submitted.length;
          submitted.push({ pdu: { ...pdu, shortMessage: Buffer.from(pdu.shortMessage) }, id });
          // Hexadecimal here, decimal in the receipts.
          return { messageId: id.toString(16) };
        },
      },
    });
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    ports = {
      admin: await freePort(),
      boxes: await freePort(),
      sendsms: await freePort(),
      smsc: port,
      inbound: (http.address() as AddressInfo).port,
    };
    await writeFile(
      join(directory, 'kannel.conf'),
      smppKannelConfiguration(directory, ports, {
        username: 'kannel',
        password: 'secret',
        ids: '0x01',
      }),
    );
    programs = new KannelPrograms(directory);
    await programs.spawn('bearerbox', ['kannel.conf']);
    await bound();
    await programs.spawn('smsbox', ['kannel.conf']);
    await eventually(async () => void (await fetch(`http://127.0.0.1:${ports.sendsms}/`)), 60_000);
  });
  afterAll(async () => {
    for (const program of ['smsbox', 'bearerbox'] as const) await programs.end(program, 'SIGKILL');
    await server.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    await rm(directory, { recursive: true, force: true });
  });

  const session = (): SmppSession => server.sessions[0] as SmppSession;
  async function send(to: string, text: string): Promise<void> {
    const report = encodeURIComponent(
      `http://127.0.0.1:${ports.inbound}/report?to=${to}&status=%d&id=%F`,
    );
    const url = `http://127.0.0.1:${ports.sendsms}/cgi-bin/sendsms?${USER}&from=ACME&to=${to}&coding=${/[^\x20-\x7e€üß]/.test(text) ? 2 : 0}&charset=UTF-8&text=${encodeURIComponent(text)}&dlr-mask=31&dlr-url=${report}`;
    expect((await fetch(url)).status).toBe(202);
  }
  const sentTo = (to: string) =>
    submitted.filter(({ pdu }) => pdu.destination.address.endsWith(to));
  function textTo(to: string): string | undefined {
    const assembler = new MessageAssembler();
    let text: string | undefined;
    for (const { pdu } of sentTo(to)) {
      const { bytes, concatenation } = messageOf(pdu);
      const whole = concatenation ? assembler.add(to, concatenation, bytes) : bytes;
      if (whole) text = decodeText(whole, pdu.dataCoding);
    }
    return text;
  }

  it.each([
    ['2348010000001', 'Grüße für 5 €: short'],
    ['2348010000002', `long ${'lorem ipsum '.repeat(30)}end`],
    ['2348010000003', `Привет ${'мир '.repeat(40)}конец`],
  ])('a text that Kannel submits to %s is read unchanged', async (to, text) => {
    await send(to, text);
    await eventually(async () => expect(textTo(to)).toBe(text));
    const [first] = sentTo(to);
    expect(first?.pdu.source.address).toBe('ACME');
    expect((first?.pdu.registeredDelivery ?? 0) & 1).toBe(1);
  });

  it('receipts with decimal ids of hexadecimal answers reach Kannel, whose callback says delivered', async () => {
    await send('2348010000004', 'Hello');
    await eventually(async () => expect(sentTo('2348010000004')).toHaveLength(1));
    const [{ pdu, id }] = sentTo('2348010000004') as [(typeof submitted)[0]];
    const now = new Date();
    const receipt = writeReceipt({
      messageId: String(id),
      state: 'delivered',
      submitDate: now,
      doneDate: now,
    });
    // Kannel compares ids of the text as msg-id-type says.
    const { shortMessage, esmClass, dataCoding } = receipt;
    const answer = await session().request('deliver_sm', {
      source: pdu.destination,
      destination: pdu.source,
      shortMessage,
      esmClass,
      dataCoding,
    });
    expect(answer.status).toBe(0);
    await eventually(async () => {
      const found = calls.filter(
        ({ pathname, searchParams }) =>
          pathname === '/report' &&
          searchParams.get('to') === '2348010000004' &&
          searchParams.get('status') === '1',
      );
      expect(found).toHaveLength(1);
    });
  });

  it('an inbound message that we deliver reaches Kannel', async () => {
    const { bytes, dataCoding } = encodeText('Да, спасибо');
    const answer = await session().request('deliver_sm', {
      source: { ton: 1, npi: 1, address: '2348010000005' },
      destination: { ton: 3, npi: 0, address: '20880' },
      shortMessage: bytes,
      dataCoding,
    });
    expect(answer.status).toBe(0);
    await eventually(async () => {
      const [found] = calls.filter(({ pathname }) => pathname === '/inbound');
      expect(found?.searchParams.get('text')).toBe('Да, спасибо');
    });
  });

  it('Kannel binds again after the connection ended, and submits on', async () => {
    session().close();
    await bound();
    await send('2348010000007', 'again');
    await eventually(async () => expect(textTo('2348010000007')).toBe('again'), 60_000);
  });

  it('both sides answer enquire_link while nothing is sent', async () => {
    const log = async (): Promise<string> => programs.read('bearerbox.log');
    const count = async (command: string): Promise<number> =>
      (await log()).split(`type_name: ${command}`).length - 1;
    const before = await count('enquire_link_resp');
    await eventually(async () =>
      expect(await count('enquire_link_resp')).toBeGreaterThan(before + 3),
    );
    expect(session().isBound).toBe(true);
  });
});
