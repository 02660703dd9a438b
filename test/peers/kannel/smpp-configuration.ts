export interface SmppKannelPorts {
  readonly admin: number;
  readonly boxes: number;
  readonly sendsms: number;
  /** Port of the SMPP server. */
  readonly smsc: number;
  /** For inbound messages and receipts. */
  readonly inbound: number;
}

/** bearerbox and smsbox; bearerbox binds to an SMPP server as its SMSC. */
export const smppKannelConfiguration = (
  directory: string,
  ports: SmppKannelPorts,
  bind: { readonly username: string; readonly password: string; readonly ids?: string },
): string => `
group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = kannel-pass-1
smsbox-port = ${ports.boxes}
smsbox-interface = 127.0.0.1
dlr-storage = internal
sms-resend-freq = 1
log-file = "${directory}/bearerbox.log"
log-level = 0

group = smsc
smsc = smpp
smsc-id = SMPP
host = 127.0.0.1
port = ${ports.smsc}
transceiver-mode = true
smsc-username = ${bind.username}
smsc-password = ${bind.password}
system-type = VMA
interface-version = 34${bind.ids === undefined ? '' : `\nmsg-id-type = ${bind.ids}`}
enquire-link-interval = 1
reconnect-delay = 1

group = smsbox
smsbox-id = box1
bearerbox-host = 127.0.0.1
bearerbox-port = ${ports.boxes}
sendsms-port = ${ports.sendsms}
sendsms-interface = 127.0.0.1
mo-recode = true
log-file = "${directory}/smsbox.log"
log-level = 0

group = smsbox-route
smsbox-id = box1
smsc-id = SMPP

group = sendsms-user
username = tester
password = kannel-pass-1
max-messages = 10
concatenation = true

group = sms-service
keyword = default
catch-all = true
max-messages = 0
concatenation = true
get-url = "http://127.0.0.1:${ports.inbound}/inbound?from=%p&to=%P&text=%b"
`;
