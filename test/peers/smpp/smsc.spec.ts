import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { decodeText, MessageAssembler, messageOf, type PduOf } from '@dundun/smpp';
import type { DeliveryReport } from '@dundun/messaging/ports';
import { PausedFailure } from '@dundun/messaging/ports';
import { smpp } from '@dundun/messaging/smpp';
import { Logger } from '@nestjs/common';
import type { SmppTransport } from '../../../libs/messaging/src/providers/smpp/smpp.transport.js';
import { eventually } from '../../support/eventually.js';
import { describeWithServer } from '../../support/servers.js';
import { transportContext } from '../../support/transport-context.js';

Logger.overrideLogger(false);

describeWithServer('netsmpp', 'our client at an SMSC of libnet-smpp-perl', () => {
  let smsc: ChildProcess;
  let lines: string[];
  let reports: DeliveryReport[];
  let transport: SmppTransport;
  const { signal } = new AbortController();

  const listening = () => eventually(async () => expect(lines[0]).toMatch(/^port \d+$/));

  beforeEach(async () => {
    [lines, reports] = [[], []];
    smsc = spawn('/usr/bin/perl', [join(import.meta.dirname, 'smsc.pl')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: smsc.stdout! }).on('line', (line) => lines.push(line));
    await listening();
    const port = lines[0]?.slice('port '.length);
    transport = smpp({
      url: `smpp://tester:secret@127.0.0.1:${port}`,
      idFormat: 'hex',
      enquireLink: 200,
    })(transportContext()) as SmppTransport;
    transport.listen(async (found) => void reports.push(...found));
  });
  afterEach(async () => {
    smsc.kill('SIGKILL');
    await stop();
  });

  const stop = () => transport.onApplicationShutdown();

  let used = 0;
  const submit = async (text: string, to = '2348012345678', validUntil?: Date) => {
    const id = `019a0f3e-7c55-7000-8000-0123456789ab-s${used++}`;
    const submission = {
      id,
      batchId: id.slice(0, 36),
      tenant: '',
      channel: 'sms',
      sender: 'ACME',
      content: { kind: 'text' as const, text },
      recipients: [to],
      deliveryReport: true,
      attempt: 1,
      dueAt: new Date(),
      firstSentAt: new Date(),
      ...(validUntil && { validUntil }),
    };
    const { reference } = await transport.submit(submission, signal);
    return { ...submission, submissionId: id, reference };
  };
  const submits = () => lines.filter((line) => line.startsWith('submit '));
  /** Texts as a phone shows them, by recipient. */
  function textTo(to: string): string | undefined {
    const assembler = new MessageAssembler();
    let text: string | undefined;
    for (const line of submits()) {
      const [, recipient, , coding, esmClass, , hex = ''] = line.split(' ');
      if (recipient !== to) continue;
      const pdu = {
        esmClass: Number(esmClass),
        shortMessage: Buffer.from(hex, 'hex'),
        tlvs: {},
      } as PduOf<'submit_sm'>;
      const { bytes, concatenation } = messageOf(pdu);
      const whole = concatenation ? assembler.add(to, concatenation, bytes) : bytes;
      if (whole) text = decodeText(whole, Number(coding));
    }
    return text;
  }

  it('the app is throttled by netsmpp, then sends short and long texts that arrive unchanged, with receipts by decimal ids', async () => {
    const texts = [
      'Grüße für 5 €',
      `${'lorem [ipsum] '.repeat(30)}end`,
      `${'Привет '.repeat(30)}end`,
    ];
    await expect(submit('first')).rejects.toBeInstanceOf(PausedFailure);
    const sent = [];
    for (const [n, text] of texts.entries())
      sent.push(await submit(text, `23480123456${n}0`, new Date(Date.now() + 3_600_000)));
    await eventually(async () =>
      expect(texts.map((_, n) => textTo(`23480123456${n}0`))).toEqual(texts),
    );
    for (const line of submits()) expect(line).toMatch(/ ACME \d+ \d+ 0000\d{8}000R /);
    for (const { reference } of sent)
      await eventually(async () =>
        expect(reports).toContainEqual(
          expect.objectContaining({ reference, status: 'delivered', rawStatus: 'DELIVRD' }),
        ),
      );
    await eventually(async () =>
      expect(lines.filter((line) => line === 'receipt 0')).toHaveLength(submits().length),
    );
  });

  it('the app deletes a message at netsmpp by cancel_sm, and is refused for an unknown one', async () => {
    await submit('first').catch(() => undefined);
    const sent = await submit('to be cancelled', '20880');
    expect(await transport.cancel(sent, signal)).toMatchObject([
      { submissionId: sent.submissionId, status: 'failed', rawStatus: 'DELETED' },
    ]);
    expect(await transport.cancel(sent, signal)).toEqual([]);
    const cancels = () => lines.filter((line) => line.startsWith('cancel '));
    await eventually(async () => expect(cancels()).toHaveLength(2));
    expect(new Set(cancels())).toEqual(new Set(['cancel abcd01 ACME 20880']));
  });

  it('the app queries netsmpp for a message without a receipt, keeps the link, and unbinds', async () => {
    await submit('first').catch(() => undefined);
    const sent = await submit('no receipt', '20880');
    expect(await transport.fetchReports([sent], signal)).toMatchObject([
      { submissionId: sent.submissionId, status: 'delivered' },
    ]);
    await eventually(async () => expect(lines).toContain('enquire'));
    // After `exit`, lines may still be unread.
    const ended = once(smsc, 'close');
    await stop();
    await ended;
    expect(lines.at(-1)).toBe('unbind');
  });
});
