/** Statuses, error codes and reasons in words, with the remedy where a person can do something. */

export interface Words {
  readonly title: string;
  readonly remedy: string | null;
}

const STATUS: Readonly<Record<string, string>> = {
  queued: 'Waits in the queue',
  sending: 'On its way to the provider',
  unknown: 'The provider may have it: its answer was lost',
  sent: 'Accepted by the provider',
  expired: 'Expired before it could be delivered',
  undelivered: 'Not delivered',
  failed: 'Failed',
  rejected: 'Rejected',
  delivered: 'Delivered',
  read: 'Read',
  cancelled: 'Cancelled before it started',
  bounced: 'Bounced',
  complained: 'Marked as spam by the recipient',
  delayed: 'Delayed: the recipient’s server takes it later',
  opened: 'Opened',
  clicked: 'A link was clicked',
  unsubscribed: 'The recipient unsubscribed',
  initiated: 'The call is being set up',
  ringing: 'The phone rings',
  no_answer: 'No answer',
  busy: 'The line was busy',
  answered: 'Answered',
  completed: 'The call has ended',
  redial: 'Not reached; the number is dialled again',
  digits: 'The person pressed digits',
  processing: 'The operator works on the order',
  reversed: 'Taken back by the operator',
};

export function statusTitle(status: string): string {
  return STATUS[status] ?? `Status ${status}`;
}

const SEND_LATER = 'Send again later';
const CALL_LATER = 'Call again later, or let the call redial';
const STATUS_PAGE = 'See the provider’s status page';
const COMPARE = 'Wait for the report; compare with the provider’s list before sending again';
const ANSWER_LOST = 'The answer of the provider was lost';
const CORRECT = 'Correct the address';
const SUSPENDED = 'The account is suspended';

const REASONS: Readonly<Record<string, readonly [title: string, remedy: string | null]>> = {
  // Policies
  opt_in_required: [
    'The recipient has not agreed to such messages',
    'Record the opt-in with its source, then send again',
  ],
  opted_out: [
    'The recipient opted out',
    'Send nothing until the recipient opts in again, such as by START',
  ],
  suppressed: [
    'The address is on the suppression list',
    'Correct the address; lift the suppression only if the recipient can receive again',
  ],
  window_closed: [
    'More than 24 hours passed since the recipient’s last message',
    'Send an approved template instead of free text',
  ],
  frequency_capped: [
    'The recipient already got as many messages as the cap allows',
    'Send later, or raise the cap',
  ],
  do_not_call: [
    'The number is on the do-not-call list',
    'Make no marketing calls to it; see Senders, Do not call',
  ],
  quiet_hours: ['Quiet hours of the recipient', null],
  // The library
  validity_over: ['It could not start within its validity', 'Allow a longer validity'],
  restored: [
    'In doubt after a restored backup: the lost database may have sent it',
    'Ask the recipient, or compare with the provider’s list, before sending again',
  ],
  outcome_lost: ['The process died before the answer arrived', COMPARE],
  lost: [ANSWER_LOST, COMPARE],
  content_unreadable: [
    'The message with its code cannot be decrypted: its key is missing, or it was changed',
    'Add the former key (verification.keys, SECRETS_KEY_PREVIOUS), and start a new verification',
  ],
  attachment_missing: ['An attachment is missing in the store', 'Send the message again'],
  // Providers
  unauthorized: [
    'The provider refuses our credentials',
    'Check the token or password of the provider',
  ],
  throttled: ['The provider asks to send more slowly', 'Lower the rate limit of the provider'],
  unreachable: [
    'The provider cannot be reached',
    'Check its address, the network and its status page',
  ],
  unavailable: ['The provider accepts nothing at the moment', STATUS_PAGE],
  timeout: ['The provider gave no answer in time', STATUS_PAGE],
  connection_lost: ['The connection broke before the answer', STATUS_PAGE],
  not_sent: ['The request was given up before it was sent', null],
  aborted: ['The request was given up before its answer came', null],
  answer_lost: [ANSWER_LOST, COMPARE],
  transport_error: [
    'The code of the transport failed, or gave no answer',
    'See the log of the app, which has the error and its stack',
  ],
  invalid_answer: [
    'The provider’s answer could not be read',
    'Check that the address is the provider’s',
  ],
  unexpected_redirect: [
    'The provider answered with a redirect',
    'Set the provider’s address without one',
  ],
  tls: ['The TLS connection to the provider failed', 'Check its certificate and host name'],
  unsupported_channel: [
    'The provider does not carry this channel',
    'Route the channel to another provider',
  ],
  unsupported_content: ['The provider does not take this content', 'Send another kind of content'],
  not_routable: [
    'The provider has no route to this number',
    'Check the country code, or route it elsewhere',
  ],
  sender_unknown: [
    'The provider does not let us send from this sender',
    'Register the sender at the provider, or send from another one',
  ],
  payment_required: ['The balance at the provider is too low', 'Add funds at the provider'],
  account_restricted: [
    'The provider does not let the account send',
    'Check the account at the provider',
  ],
  not_the_provider: [
    'Another server answered in the provider’s place',
    'Check the address of the provider, and proxies before it',
  ],
  unsupported_recipient: [
    'The provider sends to phone numbers only',
    'Send through a provider that takes this address',
  ],
  template_unknown: [
    'The provider’s settings do not have this template',
    'Add the template to the settings of the provider',
  ],
  number_denied: ['The provider denies this number', 'Check the number'],
  // Recipients
  absent_subscriber: ['The phone was switched off or out of reach', SEND_LATER],
  validity_expired: ['The network could not deliver it in time', SEND_LATER],
  destination_refused: ['The network refuses this number', 'Check the number with the recipient'],
  busy: ['The line was busy', CALL_LATER],
  no_answer: ['Nobody answered', CALL_LATER],
  call_rejected: ['The call was rejected', 'Check the number and the caller id'],
  // Orders
  operator_refused: [
    'The operator refused the order',
    'Check the number, its network and the balance at the operator; order again under a new reference',
  ],
  reversed_by_operator: [
    'The operator took the order back',
    'Ask the operator why; order again under a new reference',
  ],
  settled_by_operator: ['Settled as failed by a person', null],
  address_refused: ['The recipient’s server refuses the address', CORRECT],
  account_suspended: [SUSPENDED, 'An operator resumes the account'],
};

const CODE = /^[\w.:-]{1,64}$/;

export function reasonOf(code: string, provider: string | null): Words {
  const [title, remedy] = REASONS[code] ?? [];
  if (title !== undefined) return { title, remedy: remedy ?? null };
  if (/^5\.1\.\d+$/.test(code)) return { title: 'The mailbox does not exist', remedy: CORRECT };
  if (/^[45]\.2\.2$/.test(code)) return { title: 'The mailbox is full', remedy: SEND_LATER };
  if (/^4\.\d+\.\d+$/.test(code))
    return { title: 'The recipient’s server refused it for now', remedy: SEND_LATER };
  if (/^5\.7\.\d+$/.test(code))
    return {
      title: 'The recipient’s server refused it by its policy',
      remedy: 'Check SPF, DKIM and DMARC of the sender’s domain',
    };
  if (/^5\.\d+\.\d+$/.test(code))
    return { title: 'The recipient’s server refused it', remedy: 'Check the address' };
  const shown = CODE.test(code) ? code : 'of another form';
  const by = provider === null || provider === 'policy' ? 'the app' : provider;
  return {
    title: `Error code ${shown} of ${by}`,
    remedy:
      by === 'the app' ? null : `Look the code up in the documentation of the service behind ${by}`,
  };
}

const HOLDS: Readonly<Record<string, readonly [title: string, remedy: string]>> = {
  restored: [
    'The database is a restored backup: nothing is sent',
    'Check what is in doubt, then release the lanes on the command line',
  ],
  account_suspended: [SUSPENDED, 'Resume the account'],
  operator: ['Paused by an operator', 'Resume what was paused, under the same name'],
  guard: ['Held by a limit against abuse', 'Look at what the lane has waiting, then resume it'],
};

export function holdOf(reason: string): { readonly title: string; readonly remedy: string } {
  const [title, remedy] = HOLDS[reason] ?? [
    `Held by an operator (${CODE.test(reason) ? reason : 'without a reason'})`,
    'An operator releases the hold',
  ];
  return { title, remedy };
}
