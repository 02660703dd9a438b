/** The codec and the client of the package `smpp`, which has no types of its own. */
declare module 'smpp' {
  type Value = number | string | Buffer | object | undefined;

  class PDU {
    constructor(command: string, fields: Record<string, unknown>);
    constructor(bytes: Buffer);
    readonly command: string;
    readonly command_status: number;
    readonly sequence_number: number;
    readonly [field: string]: Value;
    toBuffer(): Buffer;
    /** Makes the answer with status 0. */
    response(): PDU;
  }

  export interface NpmSession {
    on(event: 'deliver_sm', listener: (pdu: PDU) => void): void;
    on(event: 'error', listener: (error: Error) => void): void;
    bind_transceiver(fields: Record<string, Value>, answered: (answer: PDU) => void): void;
    submit_sm(fields: Record<string, Value>, answered: (answer: PDU) => void): void;
    unbind(answered: (answer: PDU) => void): void;
    send(pdu: PDU): void;
    close(): void;
  }

  interface TextEncoding {
    match(text: string): boolean;
    encode(text: string): Buffer;
    decode(bytes: Buffer): string;
  }

  const smpp: {
    readonly PDU: typeof PDU;
    readonly ESME_RINVPASWD: number;
    connect(options: { readonly url: string }, connected: () => void): NpmSession;
    readonly encodings: Readonly<Record<'ASCII' | 'LATIN1' | 'UCS2', TextEncoding>>;
  };
  export default smpp;
}
