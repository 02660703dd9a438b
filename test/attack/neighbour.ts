import type { AttackedGateway } from './attacked-gateway.js';
import { p99, type Probe, type Times, whileProbed } from './probes.js';

const IS_FULL = process.env['ATTACK'] === 'full';

/** Requests of each kind at least; of a hundred the slowest one is left out. */
const LEAST = IS_FULL ? 200 : 10;

/**
 * Most milliseconds of a health check; of 99 in 100 requests of the account as a multiple of the same
 * without an attack, and what is allowed in any case. In `npm test` other suites share the machine, so
 * that only answers are required.
 */
const MOST_HEALTH = 1_000;
const MOST_TIMES = 5;
const ALWAYS_ALLOWED = 250;

/** An account that attacks nothing: its lists, its reads of a batch and its sends go on. */
export class Neighbour {
  private constructor(
    private readonly running: AttackedGateway['running'],
    private readonly probes: readonly Probe[],
    private readonly idle: Times,
  ) {}

  static async of(gateway: AttackedGateway): Promise<Neighbour> {
    const made = await gateway.dundun('account', 'create', '--name', 'neighbour');
    const { api_token: token = '', account_id: accountId = '' } = made;
    await gateway.dundun('sender', 'add', '--account', accountId, '--sender', 'NEXT');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ from: 'NEXT', to: ['2348012345678'], body: 'Hello' });
    const sent = await gateway.call('POST', '/ng/v1/sendsms', body, token);
    const { reference_id: id } = (await sent.json()) as { reference_id: string };
    const at = (path: string) => ({ url: gateway.url + path, headers });
    const probes: Probe[] = [
      { name: 'health', url: `${gateway.url}/health/live` },
      { name: 'list', ...at('/ng/v1/sms?limit=20') },
      { name: 'batch', ...at(`/ng/v1/sms/${id}`) },
      { name: 'send', ...at('/ng/v1/sendsms'), method: 'POST', body },
    ];
    // The first requests load and compile code.
    await whileProbed(probes, 10, async () => undefined);
    const { times } = await whileProbed(probes, LEAST, async () => undefined);
    return new Neighbour(gateway.running, probes, times);
  }

  /** Runs an attack beside the requests of the account. @throws where one fails or they are slow */
  async during<T>(name: string, attack: () => Promise<T>): Promise<T> {
    await this.running.longestTurn();
    const { result, times } = await whileProbed(this.probes, LEAST, attack);
    const turn = await this.running.longestTurn();
    if (!IS_FULL) return result;
    const slow: string[] = [];
    const told: string[] = [];
    for (const kind of Object.keys(times)) {
      const [own, slowest] = [p99(times[kind]), times[kind]?.at(-1) ?? Infinity];
      const idle = p99(this.idle[kind]);
      const most = kind === 'health' ? MOST_HEALTH : Math.max(MOST_TIMES * idle, ALWAYS_ALLOWED);
      told.push(`${kind} ${[idle, own, slowest].map(Math.round).join('/')}`);
      if ((kind === 'health' ? slowest : own) > most) slow.push(`${kind}: ${own} ms, not ${most}`);
    }
    process.stdout.write(
      `${name}, ms idle p99/p99/slowest: ${told.join(', ')}, longest turn ${Math.round(turn)} of CPU\n`,
    );
    if (slow.length > 0) throw new Error(`${name}: ${slow.join('; ')}`);
    return result;
  }
}
