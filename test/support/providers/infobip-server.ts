import { type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface InfobipMessage {
  readonly to: string;
  readonly messageId: string;
  readonly path: string;
  readonly request: Readonly<Record<string, unknown>>;
  status: readonly [groupName: string, name: string];
}

/** Statuses of the numbers with these ends. */
const STATUSES: Readonly<Record<string, string>> = {
  '9901': 'REJECTED_DESTINATION',
  '9902': 'REJECTED_DND',
  '9903': 'REJECTED_NOT_ENOUGH_CREDITS',
  '9904': 'REJECTED_SENDER',
  '9905': 'REJECTED_NETWORK',
  '9906': 'REJECTED_SYSTEM_ERROR',
};

interface Given {
  readonly destinations?: readonly { readonly to: string; readonly messageId: string }[];
  readonly to?: string;
  readonly messageId?: string;
  readonly [field: string]: unknown;
}

/** SMS, logs and WhatsApp of Infobip. @see https://www.infobip.com/docs/api/channels/sms */
export class InfobipServer extends ProviderServer<InfobipMessage> {
  readonly apiKey = '0123456789abcdef-0123';

  get options() {
    return { apiKey: this.apiKey, baseUrl: this.url };
  }

  protected handle({
    url,
    headers,
    body,
  }: Parameters<ProviderServer<InfobipMessage>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== `App ${this.apiKey}`) return refusal(401, 'E401');
    const { pathname, searchParams } = new URL(url, 'http://x');
    if (pathname === '/sms/3/logs')
      return this.#logsOf((searchParams.get('messageId') ?? '').split(','));
    if (pathname === '/account/1/balance')
      return { status: 200, body: { balance: 12.5, currency: 'EUR' } };
    const given = JSON.parse(body) as Given & { readonly messages?: readonly Given[] };
    switch (pathname) {
      case '/sms/3/messages':
        return { status: 200, body: this.#answerTo(given.messages ?? [], pathname) };
      case '/whatsapp/1/message/template':
        return { status: 200, body: this.#answerTo(given.messages ?? [], pathname) };
      case '/whatsapp/1/message/text':
        return { status: 200, body: this.#answerTo([given], pathname).messages[0]! };
      default:
        return refusal(404, 'E404');
    }
  }

  #answerTo(all: readonly Given[], path: string) {
    const messages = all.flatMap((request) =>
      (request.destinations ?? [request]).map(({ to = '', messageId = '' }) => {
        const isKnown = this.taken.some((one) => one.messageId === messageId);
        const refused = isKnown ? 'REJECTED_DUPLICATE_MESSAGE_ID' : STATUSES[to.slice(-4)];
        const status = ['PENDING', 'PENDING_ACCEPTED'] as const;
        if (refused === undefined) this.taken.push({ to, messageId, path, request, status });
        return {
          messageId,
          destination: to,
          status: statusOf(refused === undefined ? status : ['REJECTED', refused]),
        };
      }),
    );
    return { bulkId: '2034072219640523072', messages };
  }

  #logsOf(ids: readonly string[]): ProviderAnswer {
    const results = this.taken
      .filter(({ messageId }) => ids.includes(messageId))
      .map(({ to, messageId, status }) => ({
        sender: 'ACME',
        destination: to,
        bulkId: '2034072219640523072',
        messageId,
        sentAt: '2026-01-01T00:00:00.000+0000',
        doneAt: '2026-01-01T00:00:01.000+0000',
        messageCount: 1,
        price: { pricePerMessage: 0.01, currency: 'EUR' },
        status: statusOf(status),
        error: { groupId: 0, groupName: 'OK', id: 0, name: 'NO_ERROR', permanent: false },
      }));
    return { status: 200, body: { results } };
  }
}

function statusOf([groupName, name]: readonly [string, string]) {
  return { groupId: groupName === 'REJECTED' ? 5 : 1, groupName, id: 26, name, description: 'x' };
}

function refusal(status: number, errorCode: string): ProviderAnswer {
  return {
    status,
    body: { errorCode, description: 'x', action: 'x', violations: [], resources: [] },
  };
}
