import { randomBytes } from 'node:crypto';
import { CARRIER_TYPES, type CarrierTypeName } from '../carrier-types.js';
import { SHARED_SETTINGS } from '../carrier-type.js';
import type { KannelGroup } from './kannel-file.js';
import { NO_TYPE, remedyOf, type WithoutCounterpart } from './kannel-remedies.js';
import { routesOf, takesOf } from './kannel-routes.js';

/** A carrier in the form of `CARRIERS_FILE`. */
export type ImportedCarrier = { readonly type: CarrierTypeName } & Readonly<Record<string, string>>;

export interface KannelImport {
  readonly carriers: Readonly<Record<string, ImportedCarrier>>;
  readonly routes: readonly object[];
  readonly without: readonly WithoutCounterpart[];
  /** SMSCs that are no carrier. */
  readonly leftOut: number;
}

/** An SMSC of the configuration as a carrier. */
interface Smsc {
  readonly name: string;
  readonly group: KannelGroup;
  carrier: ImportedCarrier;
}

/** Lines of an SMSC that the carrier or the routes have. */
const OF_EVERY_SMSC = ['smsc', 'smsc-id', 'allowed-prefix', 'denied-prefix', 'preferred-prefix'];
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  fake: ['host', 'port', 'connect-allow-ip'],
  http: ['system-type', 'send-url', 'smsc-username', 'smsc-password', 'username', 'password'],
  smpp: [
    'host',
    'port',
    'receive-port',
    'transceiver-mode',
    'use-ssl',
    'smsc-username',
    'smsc-password',
    'system-type',
    'instances',
    'max-pending-submits',
    'msg-id-type',
    'throughput',
  ],
};

/** Carriers and routes of a Kannel configuration, and every line of it that has no counterpart. */
export function carriersOf(groups: readonly KannelGroup[]): KannelImport {
  const found = new Finder();
  for (const group of groups) found.add(group);
  const { smscs, without, leftOut } = found;
  const carriers = Object.fromEntries(smscs.map(({ name, carrier }) => [name, carrier]));
  const { routes, without: unrouted } = routesOf(smscs.map(takesOf));
  return { carriers, routes, without: [...without, ...unrouted], leftOut };
}

class Finder {
  readonly smscs: Smsc[] = [];
  readonly without: WithoutCounterpart[] = [];
  leftOut = 0;

  add(group: KannelGroup): void {
    if (group.name === 'smsc') this.#addSmsc(group);
    else
      for (const [what, remedy] of remedyOf(group.name, group.values))
        this.without.push({ at: group.at, what: `${group.name}: ${what}`, remedy });
  }

  #addSmsc(group: KannelGroup): void {
    const kind = group.values.get('smsc') ?? '';
    if (kind === 'smpp' && this.#joinReceiver(group)) return;
    const name = this.#nameOf(group);
    const carrier = carrierOf(kind, group.values);
    const wrong = typeof carrier === 'string' ? carrier : wrongIn(carrier);
    if (typeof carrier === 'string' || wrong !== undefined) {
      this.leftOut++;
      const what = `smsc ${name}: no carrier is made of it`;
      this.without.push({ at: group.at, what, remedy: wrong ?? '' });
      return;
    }
    this.smscs.push({ name, group, carrier });
    const taken = [...OF_EVERY_SMSC, ...(TAKEN[kind] ?? [])];
    const left = new Map([...group.values].filter(([key]) => !taken.includes(key)));
    for (const [what, remedy] of remedyOf('smsc', left))
      this.without.push({ at: group.at, what: `smsc ${name}: ${what}`, remedy });
    if (kind === 'http')
      this.without.push({
        at: group.at,
        what: `smsc ${name}: the address that it reports to`,
        remedy: 'set PUBLIC_URL to the address of the gateway as that Kannel reaches it',
      });
  }

  /** A group that only receives is a receiver of the carrier with the same SMSC and user. */
  #joinReceiver({ values }: KannelGroup): boolean {
    const port = numberIn(values, 'receive-port');
    if (numberIn(values, 'port') > 0 || port === 0) return false;
    const of = (all: ReadonlyMap<string, string>, key: string) => all.get(key) ?? '';
    const sender = this.smscs.find(
      ({ group, carrier }) =>
        carrier['binds'] === 'tx:1' &&
        numberIn(group.values, 'port') === port &&
        ['host', 'smsc-username'].every((key) => of(group.values, key) === of(values, key)),
    );
    if (sender) sender.carrier = { ...sender.carrier, binds: 'tx:1,rx:1' };
    return sender !== undefined;
  }

  /** The `smsc-id` as a name of a carrier; a second group with it gets a number. */
  #nameOf({ values }: KannelGroup): string {
    const id = values.get('smsc-id') ?? values.get('smsc') ?? 'smsc';
    const plain = id
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replace(/^[^a-z0-9]+/, '');
    const base = plain.slice(0, 28) || 'smsc';
    const taken = new Set(this.smscs.map(({ name }) => name));
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}-${n}`;
      if (!taken.has(name)) return name;
    }
  }
}

type Values = ReadonlyMap<string, string>;

/** The only value of a carrier that is meant as a variable. */
const PUBLIC_URL = '${PUBLIC_URL}';

/** @returns the carrier, or what to do instead */
function carrierOf(kind: string, values: Values): ImportedCarrier | string {
  switch (kind) {
    case 'smpp':
      return smppOf(values);
    case 'http':
      return httpOf(values);
    case 'fake':
      return { type: 'simulator' };
    default:
      return NO_TYPE[kind] ?? `there is no carrier of the kind ${kind}: ask the operator for SMPP`;
  }
}

function smppOf(values: Values): ImportedCarrier | string {
  const [port, receivePort] = [numberIn(values, 'port'), numberIn(values, 'receive-port')];
  const isTransceiver = isTrue(values, 'transceiver-mode');
  if (port === 0)
    return 'it only receives, and no SMSC before it sends with the same host, port and user: give a carrier `binds` such as tx:1,rx:1';
  if (!isTransceiver && receivePort > 0 && receivePort !== port)
    return 'it receives at another port: a carrier has one; ask the operator for transceivers, or for both at one port';
  const host = values.get('host') ?? '';
  const part = (key: string) => encodeURIComponent(values.get(key) ?? '');
  const scheme = isTrue(values, 'use-ssl') ? 'smpps' : 'smpp';
  const each = Math.max(1, numberIn(values, 'instances'));
  const isReceiver = !isTransceiver && receivePort > 0;
  const rate = rateOf(values.get('throughput'));
  const systemType = values.get('system-type');
  const window = numberIn(values, 'max-pending-submits');
  return {
    type: 'smpp',
    url: `${scheme}://${part('smsc-username')}:${part('smsc-password')}@${host.includes(':') ? `[${host}]` : host}:${port}`,
    binds: isTransceiver ? `trx:${each}` : `tx:${each}${isReceiver ? `,rx:${each}` : ''}`,
    ...(window > 0 && { window: String(window) }),
    ...(systemType && { system_type: systemType }),
    ...(values.has('msg-id-type') && { id_format: idFormatOf(values.get('msg-id-type') ?? '') }),
    ...(rate !== undefined && { rate_limit: rate }),
  };
}

/** Bit 0: ids of answers are hexadecimal, bit 1: those of receipts are. */
function idFormatOf(written: string): string {
  return ['text', 'hex', 'decimal', 'text'][Number(written) & 3] ?? 'text';
}

/** Messages in a second, also fractions of one. */
function rateOf(written: string | undefined): string | undefined {
  const each = Number.parseFloat(written ?? '');
  if (!(each > 0)) return undefined;
  return Number.isInteger(each) ? `${each}/s` : `${Math.max(1, Math.floor(each * 3_600))}/h`;
}

function httpOf(values: Values): ImportedCarrier | string {
  const system = values.get('system-type') ?? '';
  if (system !== 'kannel')
    return `its system-type ${system} has no counterpart: use the type of carrier of the provider (docs/carriers.md), or ask it for SMPP`;
  return {
    type: 'kannel',
    url: values.get('send-url') ?? '',
    username: values.get('smsc-username') ?? values.get('username') ?? '',
    password: values.get('smsc-password') ?? values.get('password') ?? '',
    callback_url: PUBLIC_URL,
    callback_secret: randomBytes(32).toString('hex'),
  };
}

/** The rule of the first key that the type of carrier refuses, with the key. */
function wrongIn({ type, ...settings }: ImportedCarrier): string | undefined {
  const known: Readonly<Record<string, { readonly parse: (written: string) => unknown }>> = {
    ...CARRIER_TYPES[type].settings,
    ...SHARED_SETTINGS,
  };
  for (const [key, written] of Object.entries(settings)) {
    if (written === PUBLIC_URL) continue;
    if (written.includes('${'))
      return `its ${key} has \${, which names a variable in the file: write a carrier with \${NAME}, and set the variable to it`;
    try {
      known[key]?.parse(written);
    } catch (error) {
      return `${key} ${(error as Error).message}`;
    }
  }
  return undefined;
}

/** As Kannel reads numbers: the digits in front. */
function numberIn(values: Values, key: string): number {
  return Number.parseInt(values.get(key) ?? '', 10) || 0;
}

function isTrue(values: Values, key: string): boolean {
  return /^(?:true|yes|on|1)$/i.test(values.get(key) ?? '');
}
