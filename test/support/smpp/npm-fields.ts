import type { Destination, PduInput, RefusedDestination, SmppAddress, Tlvs } from '@dundun/smpp';

const snake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Names that the package `smpp` writes otherwise than the specification's in snake case. */
const NAMES: Readonly<Record<string, string>> = {
  addressTon: 'addr_ton',
  addressNpi: 'addr_npi',
  destinationPort: 'dest_port',
};

/** The fields of a PDU by the names of the package `smpp`. */
export function npmFields({ sequence, status, tlvs, ...rest }: PduInput) {
  const { command: _command, ...body } = rest;
  const fields: Record<string, unknown> = {
    command_status: status ?? 0,
    sequence_number: sequence,
  };
  for (const [name, value] of Object.entries(body as Record<string, unknown>)) {
    if (name === 'source') Object.assign(fields, sourceFields(value as SmppAddress));
    else if (name === 'destination') Object.assign(fields, destinationFields(value as SmppAddress));
    else if (name === 'esme') Object.assign(fields, esmeFields(value as SmppAddress));
    else if (name === 'destinations')
      fields.dest_address = (value as Destination[]).map((each) =>
        'distributionList' in each ? { dl_name: each.distributionList } : destinationFields(each),
      );
    else if (name === 'refused')
      fields.unsuccess_sme = (value as RefusedDestination[]).map(({ status: code, ...each }) => ({
        ...destinationFields(each),
        error_status_code: code,
      }));
    else fields[NAMES[name] ?? snake(name)] = value;
  }
  return { ...fields, ...npmTlvs(tlvs ?? {}) };
}

function npmTlvs(tlvs: Tlvs): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(tlvs).map(([name, value]) => [NAMES[name] ?? snake(name), value]),
  );
}

function sourceFields({ ton, npi, address }: SmppAddress) {
  return { source_addr_ton: ton, source_addr_npi: npi, source_addr: address };
}

function destinationFields({ ton, npi, address }: SmppAddress) {
  return { dest_addr_ton: ton, dest_addr_npi: npi, destination_addr: address };
}

function esmeFields({ ton, npi, address }: SmppAddress) {
  return { esme_addr_ton: ton, esme_addr_npi: npi, esme_addr: address };
}
