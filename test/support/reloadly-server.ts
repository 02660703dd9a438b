import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Reloadly's published behaviour: tokens, operators, top-ups, and their history. */
export class ReloadlyServer {
  readonly asked: Asked[] = [];
  readonly topups = new Map<string, { readonly transactionId: number; status: string }>();
  /** Answers a top-up in place of the double. */
  refuse: (() => { status: number; body: object | string } | 'hang up') | undefined;
  token = 'token-1';
  #server: Server | undefined;

  async start(): Promise<string> {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        const path = request.url ?? '';
        const body = (text === '' ? {} : JSON.parse(text)) as Asked['body'];
        this.asked.push({ path, headers: request.headers, body });
        const answer = this.#answer(path, body, request.headers.authorization);
        if (answer === 'hang up') return request.socket.destroy();
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #answer(path: string, body: Asked['body'], authorization?: string) {
    if (path === '/oauth/token')
      return body['client_secret'] === 'right'
        ? { status: 200, body: { access_token: this.token, expires_in: 86_400 } }
        : { status: 401, body: { errorCode: 'INVALID_CREDENTIALS', message: 'no' } };
    if (authorization !== `Bearer ${this.token}`)
      return { status: 401, body: { errorCode: 'INVALID_TOKEN', message: 'no' } };
    if (path === '/accounts/balance')
      return { status: 200, body: { balance: 12.5, currencyCode: 'USD' } };
    if (path.startsWith('/operators/countries/NG')) return { status: 200, body: OPERATORS };
    if (path.startsWith('/topups/reports')) {
      const key = new URL(path, 'http://x').searchParams.get('customIdentifier') ?? '';
      const found = this.topups.get(key);
      const topup = found && {
        ...found,
        customIdentifier: key,
        operatorTransactionId: 'op-7',
        requestedAmount: 97.5,
        requestedAmountCurrencyCode: 'NGN',
        deliveredAmount: 100,
      };
      return { status: 200, body: { content: topup ? [topup] : [] } };
    }
    const key = String(body['customIdentifier']);
    if (this.topups.has(key))
      return {
        status: 400,
        body: { errorCode: 'CUSTOM_IDENTIFIER_ALREADY_USED', message: 'has already been used' },
      };
    const refused = this.refuse?.();
    if (refused && refused !== 'hang up') return refused;
    const transactionId = 4_600_000 + this.topups.size;
    this.topups.set(key, { transactionId, status: 'PROCESSING' });
    return refused ?? { status: 200, body: { transactionId } };
  }
}

const OPERATORS = [
  {
    operatorId: 341,
    name: 'MTN Nigeria',
    data: false,
    bundle: false,
    denominationType: 'RANGE',
    supportsLocalAmounts: true,
    senderCurrencyCode: 'USD',
    destinationCurrencyCode: 'NGN',
    localMinAmount: 50,
    localMaxAmount: 50_000.5,
    minAmount: 0.1,
    maxAmount: 110,
  },
  {
    operatorId: 345,
    name: 'MTN Nigeria Data',
    data: true,
    denominationType: 'FIXED',
    supportsLocalAmounts: true,
    senderCurrencyCode: 'USD',
    destinationCurrencyCode: 'NGN',
    fixedAmounts: [0.3, 2],
    localFixedAmounts: [100, 1_000],
  },
  {
    operatorId: 9,
    name: 'Dollars alone',
    denominationType: 'RANGE',
    supportsLocalAmounts: false,
    senderCurrencyCode: 'USD',
    destinationCurrencyCode: 'NGN',
    minAmount: 1,
    maxAmount: 2,
  },
];
