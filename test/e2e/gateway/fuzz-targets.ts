import type { ContractClient } from './contract-client.js';
import { type Known, NOWHERE } from './fuzzed-request.js';

const PHONE = '2348012345678';
const EMAIL = 'ada@example.com';
const LATER = '2150-01-01T00:00:00Z';
const webhookAt = (path: string): object => ({ url: NOWHERE + path });

const GROUPS = '/ng/v1/groups';

interface Tokens {
  readonly apiToken: string;
  readonly apiKey: string;
}

/** Paths of the interface that are called with an API key. */
const OF_API_KEY = /^\/(?:whatsapp|email|ng\/v1\/notifications)\b/;

/** How the object of a path's parameter is made, and the field of the answer with its id. */
type Making = readonly [path: string, body: object, field: string];

const SENT: Making = [
  '/ng/v1/sendsms',
  { from: 'ACME', to: [PHONE], body: 'x', send_at: LATER },
  'reference_id',
];
const EMAIL_SENT: Making = [
  '/email/ng/v1/messages',
  { from: 'hello@demo.test', to: [EMAIL], subject: 'x', text: 'x', send_at: LATER },
  'reference_id',
];

/**
 * Objects that fuzzed requests name, of the demo account with the sender ACME and the domain
 * demo.test. One that requests delete or merge is made again.
 */
export class FuzzTargets {
  readonly #ids = new Map<string, string>();
  #domains = 0;

  constructor(
    private readonly client: Pick<ContractClient, 'call'>,
    private readonly tokens: Tokens,
  ) {}

  tokenOf(path: string): string {
    return OF_API_KEY.test(path) ? this.tokens.apiKey : this.tokens.apiToken;
  }

  async make(): Promise<void> {
    for (const collection of Object.keys(this.#makings())) await this.#make(collection);
  }

  readonly known: Known = (path, name) => {
    if (name === 'member') return PHONE;
    if (name === 'email') return EMAIL;
    return this.#ids.get(collectionOf(path));
  };

  /** Makes the object of the path again, where that was one of these and is gone. */
  async replace(path: string): Promise<void> {
    const collection = collectionOf(path);
    const [, id] = path.slice(collection.length).split(/[/?]/);
    if (id !== undefined && id === this.#ids.get(collection)) await this.#make(collection);
  }

  async #make(collection: string): Promise<void> {
    const [path, body, field] = this.#makings()[collection] ?? [];
    if (path === undefined || field === undefined) return;
    const token = this.tokenOf(path);
    const made = await this.client.call('POST', path, { token, body });
    // An account that has the most webhooks already gives one of those.
    const listed = made.status < 300 ? made : await this.client.call('GET', collection, { token });
    const [first = {}] = (listed.body['data'] ?? []) as Record<string, unknown>[];
    const found = made.body[field] ?? first['webhook_id'];
    if (typeof found !== 'string') return;
    this.#ids.set(collection, found);
    if (collection === GROUPS)
      await this.client.call('POST', `${GROUPS}/${found}/members`, {
        token,
        body: { members: [PHONE] },
      });
  }

  /** By the path before the parameter. */
  #makings(): Readonly<Record<string, Making>> {
    const contact = { phone: PHONE, opt_in: true };
    const name = `fuzz-${this.#domains++}.example`;
    return {
      '/ng/v1/sms': SENT,
      '/ng/v1/webhooks': ['/ng/v1/webhooks', webhookAt('/a'), 'webhook_id'],
      [GROUPS]: [GROUPS, { name: 'Fuzz' }, 'id'],
      '/ng/v1/voice/calls': [
        '/ng/v1/voice/calls',
        { from: '2348000000001', to: [PHONE], text: 'x', send_at: LATER },
        'reference_id',
      ],
      '/ng/v1/vas/orders': [
        '/ng/v1/vas/orders',
        { to: PHONE, product: 'airtime-ng', amount: '50', client_reference: name },
        'id',
      ],
      '/ng/v1/notifications': [
        '/ng/v1/notifications',
        { to: PHONE, via: ['sms'], sms: { from: 'ACME', body: 'x' }, send_at: LATER },
        'notification_id',
      ],
      '/ng/v1/vas/verifications': ['/ng/v1/vas/verifications', { to: PHONE, channel: 'sms' }, 'id'],
      '/whatsapp/ng/v1/contacts': ['/whatsapp/ng/v1/contacts', contact, 'id'],
      '/whatsapp/ng/v1/messages': [
        '/whatsapp/ng/v1/sendwhatsapp',
        {
          to: PHONE,
          message_type: 'template',
          template_name: 'order_update',
          language: 'en',
          params: ['a', 'b'],
        },
        'message_id',
      ],
      '/email/ng/v1/messages': EMAIL_SENT,
      '/email/ng/v1/domains': ['/email/ng/v1/domains', { name }, 'id'],
      '/email/ng/v1/contacts': ['/email/ng/v1/contacts', { email: EMAIL }, 'id'],
      '/email/ng/v1/webhooks': ['/email/ng/v1/webhooks', webhookAt('/b'), 'webhook_id'],
    };
  }
}

/** The path before its first parameter: `/ng/v1/sms`, `/email/ng/v1/domains`, `/ng/v1/vas/orders`. */
function collectionOf(path: string): string {
  return /^(?:\/whatsapp|\/email)?\/ng\/v1\/(?:(?:voice|vas)\/)?[a-z]+/.exec(path)?.[0] ?? path;
}
