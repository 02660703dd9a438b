export interface KannelPorts {
  readonly admin: number;
  /** Port at which bearerbox listens for smsbox. */
  readonly boxes: number;
  readonly sendsms: number;
  /** Port at which bearerbox listens for the network, or of the SMSC to which it binds. */
  readonly network: number;
}

export interface KannelPlace {
  readonly directory: string;
  readonly ports: KannelPorts;
  readonly username: string;
  readonly password: string;
  readonly log: boolean;
  /** Bearerbox binds to an SMSC over SMPP, instead of waiting for fakesmsc. */
  readonly isSmpp: boolean;
  /** The `get-url` for inbound messages; without it they are dropped. */
  readonly inboundUrl?: string | undefined;
}

/** Configuration with all ports on loopback, both stores on disk, long texts in parts, and callbacks repeated until they succeed. */
export function kannelConfiguration({
  directory,
  ports,
  username,
  password,
  log,
  isSmpp,
  inboundUrl,
}: KannelPlace): string {
  return `
group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = ${password}
smsbox-port = ${ports.boxes}
smsbox-interface = 127.0.0.1
box-deny-ip = "*.*.*.*"
box-allow-ip = "127.0.0.1"
store-type = spool
store-location = "${directory}/messages"
dlr-storage = spool
dlr-spool = "${directory}/reports"
${logging(directory, 'bearerbox', log)}

group = smsc
smsc-id = FAKE
port = ${ports.network}
${isSmpp ? SMPP : 'smsc = fake\nconnect-allow-ip = 127.0.0.1'}

group = smsbox
smsbox-id = box1
bearerbox-host = 127.0.0.1
bearerbox-port = ${ports.boxes}
sendsms-port = ${ports.sendsms}
sendsms-interface = 127.0.0.1
http-request-retry = 1000
http-queue-delay = 1
mo-recode = true
${log ? `access-log = "${directory}/smsbox-access.log"\n` : ''}${logging(directory, 'smsbox', log)}

group = smsbox-route
smsbox-id = box1
smsc-id = FAKE

group = sendsms-user
username = ${username}
password = ${password}
max-messages = 10
concatenation = true
user-deny-ip = "*.*.*.*"
user-allow-ip = "127.0.0.1"

group = sms-service
keyword = default
catch-all = true
max-messages = 0
${inboundUrl === undefined ? 'text = "unused"' : `get-url = "${inboundUrl}"`}
`;
}

/** With the window that `smpp()` has, too. */
const SMPP = `smsc = smpp
host = 127.0.0.1
transceiver-mode = true
smsc-username = kannel
smsc-password = secret
system-type = VMA
interface-version = 34
max-pending-submits = 10
reconnect-delay = 1`;

/** 0 is everything, 4 nothing but panic. */
function logging(directory: string, box: string, log: boolean): string {
  return `log-file = "${directory}/${box}.log"\nlog-level = ${log ? 0 : 4}`;
}
