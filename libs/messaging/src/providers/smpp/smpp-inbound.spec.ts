import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { COMMAND_STATUS, encodeText, splitMessage } from '@dundun/smpp';
import { eventually } from '../../../../../test/support/eventually.js';
import { TransportStage } from '../../../../../test/support/smpp/transport-stage.js';

Logger.overrideLogger(false);

describe('inbound messages over SMPP', () => {
  const stage = new TransportStage();
  const from = { ton: 1, npi: 1, address: '2348012345678' };
  const to = { ton: 3, npi: 0, address: '20880' };
  const message = (text: string) => {
    const { dataCoding, bytes } = encodeText(text);
    return { source: from, destination: to, dataCoding, shortMessage: bytes };
  };

  it('a text is stored, and two equal texts are two messages', async () => {
    await stage.started();
    expect(await stage.smsc.inbound(message('Да'))).toBe(0);
    expect(await stage.smsc.inbound(message('Да'))).toBe(0);
    expect(stage.inbound).toMatchObject([
      { channel: 'sms', from: '2348012345678', to: '20880', text: 'Да' },
      { text: 'Да' },
    ]);
    expect(stage.inbound[0]?.messageId).not.toBe(stage.inbound[1]?.messageId);
  });

  it('the name of an alphanumeric sender is kept', async () => {
    await stage.started();
    const source = { ton: 5, npi: 0, address: 'My Bank' };
    expect(await stage.smsc.inbound({ ...message('Hi'), source })).toBe(0);
    expect(stage.inbound).toMatchObject([{ from: 'My Bank', to: '20880', text: 'Hi' }]);
  });

  it('a message that is repeated after a refusal, or on a new connection, keeps its id', async () => {
    await stage.started();
    await stage.smsc.inbound(message('YES'));
    const [first] = stage.inbound;
    stage.smsc.sessions[0]?.close();
    await eventually(async () => expect(stage.smsc.sessions).toHaveLength(1));
    await stage.smsc.inbound(message('YES'));
    expect(stage.inbound[1]?.messageId).toBe(first?.messageId);
  });

  it('parts become one message, also where the last part was refused at first', async () => {
    await stage.started();
    const text = 'lorem ipsum '.repeat(30);
    const parts = splitMessage(encodeText(text), { reference: 3 });
    const body = (index: number) => ({ ...message(''), ...parts[index] });
    await stage.smsc.inbound(body(2));
    await stage.smsc.inbound(body(0));
    stage.storeIsAway = true;
    expect(await stage.smsc.inbound(body(1))).toBe(COMMAND_STATUS.ESME_RX_T_APPN);
    stage.storeIsAway = false;
    expect(await stage.smsc.inbound(body(1))).toBe(0);
    expect(stage.inbound).toMatchObject([{ text }]);
  });

  it('a text that looks like a receipt is a message', async () => {
    await stage.started();
    await stage.smsc.inbound(message('id:1000000 stat:DELIVRD'));
    expect([stage.reports, stage.inbound.length]).toEqual([[], 1]);
  });
});
