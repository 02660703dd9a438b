import { type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface BirdMessage {
  readonly id: string;
  readonly request: {
    readonly receiver: { readonly contacts: readonly { readonly identifierValue: string }[] };
    readonly body?: object;
    readonly reference?: string;
  };
  status: string;
}

/** The messages of one channel of Bird. @see https://docs.bird.com/api/channels-api */
export class BirdServer extends ProviderServer<BirdMessage> {
  readonly accessKey = 'access-key-of-the-workspace';
  readonly workspaceId = 'a1405560-c8d3-4b1a-877d-3f449ad95352';
  readonly channelId = '614208aa-b153-4d5d-9989-2fddfc0ce4c3';

  get options() {
    const { accessKey, workspaceId, channelId, url: baseUrl } = this;
    return { accessKey, workspaceId, channelId, baseUrl };
  }

  protected handle({
    method,
    url,
    headers,
    body,
  }: Parameters<ProviderServer<BirdMessage>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== `AccessKey ${this.accessKey}`)
      return refusal(401, 'Unauthorized');
    const path = `/workspaces/${this.workspaceId}/channels/${this.channelId}/messages`;
    if (`${url}/messages` === path)
      return { status: 200, body: { id: this.channelId, status: 'active' } };
    if (method === 'GET') {
      const found = this.taken.find(({ id }) => url === `${path}/${id}`);
      return found ? { status: 200, body: messageOf(found) } : refusal(404, 'ResourceNotFound');
    }
    if (url !== path) return refusal(404, 'ResourceNotFound');
    const request = JSON.parse(body) as BirdMessage['request'];
    const [contact] = request.receiver.contacts;
    if (!/^\+(?!99)\d{8,15}$/.test(contact?.identifierValue ?? ''))
      return refusal(422, 'InvalidPayload');
    const id = `96a0b5fa-a986-453d-be5c-${String(this.taken.length + 1).padStart(12, '0')}`;
    const message = { id, request, status: 'accepted' };
    this.taken.push(message);
    return { status: 202, body: messageOf(message) };
  }
}

/** A message, as in answers and in the payload of webhooks. */
export function messageOf({ id, request, status }: BirdMessage) {
  const isFailed = status === 'delivery_failed';
  return {
    id,
    channelId: '614208aa-b153-4d5d-9989-2fddfc0ce4c3',
    sender: { connector: { id: '86cc4dc0-3dc0-41b7-ac43-8ec829ead56f' } },
    ...request,
    status,
    direction: 'outgoing',
    ...(isFailed && {
      reason: 'details: unknown subscriber; reason: unknown_subscriber; code: 1',
      failure: { code: 15005, source: { name: 'sms-messagebird', code: '1' } },
    }),
    lastStatusAt: '2026-01-01T00:00:01.000Z',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:01.000Z',
  };
}

function refusal(status: number, code: string): ProviderAnswer {
  return { status, body: { code, message: 'What is wrong' } };
}
