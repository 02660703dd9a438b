import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import smpp from 'smpp';
import { arbitraryPdu as anyPdu } from '../../../../test/support/smpp/arbitrary-pdu.js';
import { npmFields } from '../../../../test/support/smpp/npm-fields.js';
import { decodePdu } from './decode.js';
import { encodePdu } from './encode.js';

// The package `smpp` is an independent codec, so that agreement rules out a misreading of our own.

/** They have one name for the field and the TLV `message_state`. */
const arbitraryPdu = anyPdu.filter(
  ({ command, tlvs }) => command !== 'query_sm_resp' || tlvs?.messageState === undefined,
);

it('every PDU has the bytes that the package smpp writes', () => {
  fc.assert(
    fc.property(arbitraryPdu, (pdu) => {
      const theirs = new smpp.PDU(pdu.command, npmFields(pdu)).toBuffer();
      expect(encodePdu(pdu).toString('hex')).toBe(theirs.toString('hex'));
    }),
    { numRuns: 2_000 },
  );
});

it('the package smpp reads each encoded PDU', () => {
  fc.assert(
    fc.property(arbitraryPdu, (pdu) => {
      const theirs = new smpp.PDU(encodePdu(pdu));
      const wanted = npmFields(pdu);
      const read = Object.keys(wanted).filter((name) => !FILTERED.has(name));
      expect(theirs.command).toBe(pdu.command);
      expect(pick(theirs, read)).toEqual(pick(wanted, read));
    }),
    { numRuns: 1_000 },
  );
});

it('a PDU that the package smpp encodes is read field by field', () => {
  fc.assert(
    fc.property(arbitraryPdu, (pdu) => {
      const theirs = new smpp.PDU(pdu.command, npmFields(pdu)).toBuffer();
      expect(decodePdu(theirs)).toEqual(pdu);
    }),
    { numRuns: 2_000 },
  );
});

/** Their decoder turns these into dates and texts. */
const FILTERED = new Set([
  'schedule_delivery_time',
  'validity_period',
  'final_date',
  'short_message',
  'message_payload',
  'callback_num',
  'callback_num_atag',
]);

function pick(from: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (from as Record<string, unknown>)[name]]));
}
