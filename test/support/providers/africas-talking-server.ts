import { type ProviderAnswer, ProviderServer } from './provider-server.js';

/** Status of the numbers with these ends. */
const STATUSES: Readonly<Record<string, readonly [number, string]>> = {
  '9901': [403, 'InvalidPhoneNumber'],
  '9902': [406, 'UserInBlacklist'],
  '9903': [405, 'InsufficientBalance'],
  '9904': [402, 'InvalidSenderId'],
  '9905': [407, 'CouldNotRoute'],
  '9906': [500, 'InternalServerError'],
};

interface Sms {
  readonly to: string;
  readonly message: string;
  readonly from: string | null;
}

/** `/version1/messaging`. @see https://developers.africastalking.com/docs/sms/sending/bulk */
export class AfricasTalkingServer extends ProviderServer<Sms> {
  readonly apiKey = 'atsk_0123456789abcdef';

  get options() {
    return { username: 'acme', apiKey: this.apiKey, baseUrl: this.url };
  }

  protected handle({
    url,
    headers,
    body,
  }: Parameters<ProviderServer<Sms>['handle']>[0]): ProviderAnswer {
    if (headers['apikey'] !== this.apiKey)
      return { status: 401, body: 'The supplied authentication is invalid' };
    if (url === '/version1/user?username=acme')
      return { status: 200, body: { UserData: { balance: 'KES 12.50' } } };
    if (url !== '/version1/messaging') return { status: 404, body: 'Not found' };
    const form = new URLSearchParams(body);
    const from = form.get('from');
    if (from === 'UNKNOWN') return { status: 201, body: dataOf('InvalidSenderId', []) };
    const recipients = (form.get('to') ?? '').split(',').map((to) => {
      const [statusCode, status] = STATUSES[to.slice(-4)] ?? [101, 'Success'];
      if (statusCode !== 101)
        return { statusCode, number: to, status, cost: '0', messageId: 'None' };
      this.taken.push({ to, from, message: form.get('message') ?? '' });
      const messageId = `ATXid_${this.taken.length}`;
      return { statusCode, number: to, status, cost: 'NGN 2.2000', messageId };
    });
    // The order is not that of the request.
    return { status: 201, body: dataOf('Sent', recipients.toReversed()) };
  }
}

function dataOf(Message: string, Recipients: readonly object[]) {
  return { SMSMessageData: { Message, Recipients } };
}
