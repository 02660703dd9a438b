/** Base of the errors of this package. `code` is stable; the message is for people. */
export abstract class SmppError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A value of the caller that SMPP cannot carry. Names the field and the remedy. */
export class SmppValueError extends SmppError {
  readonly code = 'invalid_value';

  constructor(
    /** The field, such as `source.address`. */
    readonly field: string,
    remedy: string,
  ) {
    super(`${field}: ${remedy}`);
  }
}

/**
 * Bytes that are no PDU of SMPP 3.4. Where the length of the PDU was right, the header is known and
 * the stream can go on after an answer with `status`.
 */
export class SmppDecodeError extends SmppError {
  readonly code = 'malformed_pdu';

  constructor(
    message: string,
    /** The command status to answer with. */
    readonly status: number,
    /** The header; `undefined` where the length itself is wrong and the stream cannot go on. */
    readonly header?: PduHeader,
  ) {
    super(message);
  }
}

/** The first 16 bytes of a PDU. */
export interface PduHeader {
  readonly length: number;
  readonly commandId: number;
  readonly status: number;
  readonly sequence: number;
}
