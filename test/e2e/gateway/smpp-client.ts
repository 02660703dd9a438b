import {
  type BindMode,
  connectSmpp,
  type ConnectOptions,
  encodeText,
  type PduOf,
  readReceipt,
  type SmppSession,
  splitMessage,
  type SplitOptions,
} from '@dundun/smpp';
import type { NewSmppCredential } from '../../../src/smpp/smpp-credentials.service.js';

export const TO = '2348012345678';

/** A customer's bind, with its deliveries. */
export class SmppClient {
  readonly delivered: PduOf<'deliver_sm'>[] = [];
  /** The status of answers to `deliver_sm`. */
  status = 0;
  /** Answers no `deliver_sm`. */
  silent = false;
  session!: SmppSession;

  static async bind(
    port: number,
    { systemId, password }: NewSmppCredential,
    mode: BindMode = 'transceiver',
    more: Partial<ConnectOptions> = {},
  ): Promise<SmppClient> {
    const client = new SmppClient();
    client.session = await connectSmpp({
      host: '127.0.0.1',
      port,
      systemId,
      password,
      mode,
      responseTimeout: 60_000,
      handlers: {
        deliver_sm: (pdu) => {
          const { status, silent } = client;
          client.delivered.push({ ...pdu, shortMessage: Buffer.from(pdu.shortMessage) });
          return silent ? new Promise(() => undefined) : { status };
        },
      },
      ...more,
    });
    return client;
  }

  /** The answers to the parts of a text. */
  async submit(
    text: string,
    { to = TO, from = 'ACME', registeredDelivery = 1, ...more }: SubmitOptions = {},
  ): Promise<{ readonly status: number; readonly messageId: string }[]> {
    const { method, reference = 7, referenceBits, ...fields } = more;
    const parts = splitMessage(encodeText(text), {
      reference,
      ...(method && { method }),
      ...(referenceBits && { referenceBits }),
    });
    return Promise.all(
      parts.map(async (part) => {
        const answer = await this.session.request('submit_sm', {
          source: { ton: 5, npi: 0, address: from },
          destination: { ton: 1, npi: 1, address: to },
          registeredDelivery,
          ...fields,
          ...part,
        });
        const messageId = 'messageId' in answer ? answer.messageId : '';
        return { status: answer.status, messageId };
      }),
    );
  }

  /** Ids and states of the receipts, in order. */
  get receipts(): { readonly id: string | undefined; readonly state: string | undefined }[] {
    return this.delivered.flatMap((pdu) => {
      const receipt = readReceipt(pdu);
      return receipt ? [{ id: receipt.messageId, state: receipt.state }] : [];
    });
  }
}

interface SubmitOptions extends Partial<SplitOptions> {
  readonly to?: string;
  readonly from?: string;
  readonly registeredDelivery?: number;
  readonly scheduleDeliveryTime?: string;
  readonly validityPeriod?: string;
}
