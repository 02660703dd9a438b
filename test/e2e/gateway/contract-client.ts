import { violationsOf } from './prism.js';
import { type Answered, ResponseContract } from './response-contract.js';

export type { Answered };

export interface Call {
  readonly token?: string;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The document of every gateway of a suite: it does not depend on settings, and takes 0.1 s of CPU to make. */
let contract: Promise<ResponseContract> | undefined;

/** Calls a gateway and holds every answer to the OpenAPI document it serves. */
export class ContractClient {
  /**
   * @param url where it is called, or a proxy before it, which serves no document of its own
   * @param instead server for requests that the proxy cannot parse
   */
  constructor(
    private readonly url: string,
    private readonly documentAt = url,
    private readonly instead?: string,
  ) {}

  async call(method: string, path: string, call: Call = {}): Promise<Answered> {
    const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const request = {
      method,
      headers: {
        ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(body === undefined ? {} : { body }),
    };
    let response = await fetch(this.url + path, request);
    if (this.instead !== undefined && isProblem(response))
      response = await fetch(this.instead + path, request);
    this.#refuseViolations(`${method} ${path} ${response.status}`, response);
    const text = await response.text();
    const answered = {
      status: response.status,
      headers: response.headers,
      body: (text === '' || isFile(response) ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
    (await this.contract()).check(method, path, answered, text);
    return answered;
  }

  #refuseViolations(what: string, { headers }: Response): void {
    const wrong = violationsOf(headers).filter(({ location }) => location[0] === 'response');
    if (wrong.length > 0) throw new Error(`${what}: ${JSON.stringify(wrong)}`);
  }

  contract(): Promise<ResponseContract> {
    contract ??= fetch(`${this.documentAt}/openapi.json`).then(
      async (response) => new ResponseContract(await response.text()),
    );
    return contract;
  }
}

/** Its body is no JSON. */
function isFile({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/csv') ?? false;
}

export function isProblem({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/problem+json') ?? false;
}
