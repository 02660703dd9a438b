/** A line of the configuration without a counterpart. Values are never part of it: they may be secrets. */
export interface WithoutCounterpart {
  /** File and line of its group. */
  readonly at: string;
  readonly what: string;
  readonly remedy: string;
}

/** Kinds of SMSC that have no type of carrier, with what to do. */
export const NO_TYPE: Readonly<Record<string, string>> = {
  '': 'it has no `smsc = …`: say which kind it is',
  at: 'a modem is no carrier: leave it at Kannel, and use that by a carrier of the type kannel',
  at2: 'a modem is no carrier: leave it at Kannel, and use that by a carrier of the type kannel',
};

const NOT_NEEDED = 'not needed: the gateway does it by itself';
const FILES = 'not needed: the log goes to stdout, see LOG_LEVEL';
const STORE = 'not needed: messages and reports are in the database, see DATABASE_URL';
const ADDRESSES = 'allow addresses in the firewall or the proxy; tokens protect the interface';
const ROUTE = 'write a rule in `routes` of the file, by `tenant`, `from` or `to`: docs/routes.md';
const BY_ACCOUNT = 'make a rule of the file with `tenant`, the id of the account';
const ADDRESS_TYPES = 'not needed: the gateway derives TON and NPI from the form of the address';
const TEXTS = 'not needed: texts are Unicode, and leave in the alphabet that fits them';
const BLOCKED = 'import the numbers as opted out: npx dundun contact import';
const WAP = 'WAP has no counterpart; leave it at Kannel';

/** What to do for a line, by the group and the beginning of the name; `*` is any group. */
const REMEDIES: readonly (readonly [group: string, key: RegExp, remedy: string])[] = [
  ['*', /^(?:access-)?log-|^syslog|^access-log/, FILES],
  ['*', /^store-|^dlr-(?:storage|spool)|^sms-resend/, STORE],
  ['*', /^white-list/, 'not needed: a message to a person leaves by consent, see docs/policy.md'],
  ['*', /^black-list/, BLOCKED],
  ['*', /-(?:allow|deny)-ip$/, ADDRESSES],
  [
    'core',
    /^(?:admin|status)-/,
    'npx dundun carriers, lanes and /health/ready show the state; the portal has users',
  ],
  ['core', /^wapbox|^wdp|^udp/, WAP],
  ['core', /^smsbox-|^ssl-|^box-/, 'not needed: there are no boxes; end TLS in a proxy'],
  ['core', /^unified-prefix/, 'send numbers with their country code, with or without the plus'],
  ['core', /^http-proxy/, 'requests to providers go out directly: allow them in the firewall'],
  [
    'core',
    /^(?:maximum-queue-length|sms-incoming-queue-limit|sms-outgoing-queue-limit)/,
    'MAX_PENDING_SENDS bounds what waits for the database',
  ],
  ['smsc', /^(?:allowed|denied|preferred)-smsc-id/, ROUTE],
  ['smsc', /-(?:ton|npi)$|^source-addr-autodetect/, ADDRESS_TYPES],
  ['smsc', /^alt-(?:addr-)?charset/, TEXTS],
  [
    'smsc',
    /^(?:reconnect-delay|enquire-link-interval|connection-timeout|wait-ack|flow-control|keepalive|retry|dead-start)/,
    NOT_NEEDED,
  ],
  ['smsc', /^interface-version/, 'not needed: the gateway speaks SMPP 3.4'],
  [
    'smsc',
    /^validityperiod/,
    'a send has a validity of its own: `validity_period` over SMPP, `validFor` in an app',
  ],
  [
    'smsc',
    /^ssl-/,
    'certificates of servers are checked by those of the system; client certificates have no counterpart: use a TLS proxy',
  ],
  ['smsc', /^(?:my-number|unified-prefix)/, 'give an account the number: npx dundun number add'],
  [
    'smsc',
    /^address-range/,
    'binds ask for no range; ask the operator to deliver all to the system_id',
  ],
  [
    'smsc',
    /^(?:service-type|esm-class|bind-)/,
    'it has no counterpart; ask the operator whether the bind works without',
  ],
  [
    'smsbox',
    /^sendsms-|^ssl-|^bearerbox-|^smsbox-id/,
    'the interface is POST /ng/v1/sendsms at PORT: docs/guides/migrate-from-kannel.md',
  ],
  ['smsbox', /^global-sender/, 'each send names its sender; in an app: the option sms.from'],
  ['smsbox', /^http-|^max-pending/, 'webhooks are repeated for days: docs/webhooks.md'],
  [
    'smsbox',
    /^(?:reply-|mo-recode)/,
    'inbound messages come to webhooks as Unicode; the gateway replies to STOP and START alone',
  ],
  [
    'sendsms-user',
    /^username|^password|^name/,
    'npx dundun account create --name …; its token replaces name and password',
  ],
  ['sendsms-user', /^(?:forced|default)-smsc/, BY_ACCOUNT],
  [
    'sendsms-user',
    /^(?:faked|default|forced)-sender/,
    'npx dundun sender add --account … --sender …; an account sends by its own senders alone',
  ],
  [
    'sendsms-user',
    /^(?:max-messages|concatenation|split-|omit-empty)/,
    'MAX_PARTS bounds the parts; long texts are always joined',
  ],
  ['sendsms-user', /^(?:allowed|denied)-prefix/, BY_ACCOUNT],
  ['sendsms-user', /^(?:header|footer)/, 'write it in the text of the send'],
  ['sendsms-user', /^dlr-url/, 'npx dundun webhook set --account … --url …: docs/webhooks.md'],
];

/** What to do for every line of a group that has no key by key remedies. */
const GROUPS: Readonly<Record<string, string>> = {
  'sms-service':
    'inbound messages come to the webhook of the account that has the number: npx dundun number add, webhook set',
  'smsbox-route': 'not needed: there are no boxes',
  'smpp-tlv': 'TLVs of an operator have no counterpart; ask whether it takes messages without',
  modems: 'a modem is no carrier; leave it at Kannel',
  wapbox: WAP,
  ppg: WAP,
  'wap-push-user': WAP,
  'ota-setting': 'settings by SMS have no counterpart; leave them at Kannel',
  'ota-bookmark': 'settings by SMS have no counterpart; leave them at Kannel',
  smppbox: 'SMPP_LISTEN starts the server, npx dundun smpp add makes each pair: docs/smpp.md',
  opensmppbox: 'SMPP_LISTEN starts the server, npx dundun smpp add makes each pair: docs/smpp.md',
  sqlbox: 'send by the interface; an app with the library sends in its own transaction',
};

const DATABASE_GROUP =
  /^(?:mysql|pgsql|mssql|oracle|sdb|sqlite3|redis|cassandra)-connection$|^dlr-db$|^store-db$/;

/**
 * What of a group has no counterpart, with its remedy; lines with the same remedy are one.
 * @param values lines that nothing has taken
 */
export function remedyOf(
  group: string,
  values: ReadonlyMap<string, string>,
): readonly (readonly [what: string, remedy: string])[] {
  const whole = DATABASE_GROUP.test(group) ? STORE : GROUPS[group];
  if (whole !== undefined) return [['the group', whole]];
  const byRemedy = new Map<string, string[]>();
  for (const key of values.keys()) {
    const [, , remedy = 'it has no counterpart: docs/carriers.md has every key'] =
      REMEDIES.find(([of, name]) => (of === '*' || of === group) && name.test(key)) ?? [];
    byRemedy.set(remedy, [...(byRemedy.get(remedy) ?? []), key]);
  }
  return [...byRemedy].map(([remedy, keys]) => [keys.join(', '), remedy] as const);
}
