import { type AddressInfo, createServer, type Socket } from 'node:net';
import { serve } from '../harness/worker.serve.js';

/** Milliseconds of the answer to a slow recipient. */
const SLOW = 1_000;

let accepted = 0;
let awaited: { readonly count: number; readonly resolve: () => void } | undefined;
let senders: string[] | undefined;

/**
 * A mail server that accepts everything at once. `grey…` is refused for now, `hang…` gets no answer,
 * and `slow…` a late one.
 */
const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  const session = new Session(socket);
  socket.on('data', (data) => session.take(data));
  socket.write('220 sink ESMTP\r\n');
});

class Session {
  #rest: Buffer = Buffer.alloc(0);
  #isMessage = false;
  #isRefused = false;
  #isHung = false;

  constructor(private readonly socket: Socket) {}

  take(data: Buffer): void {
    if (this.#isHung) return;
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    let answers = '';
    for (;;) {
      const end = this.#rest.indexOf(this.#isMessage ? '\r\n.\r\n' : '\r\n');
      if (end < 0 || this.#isHung) break;
      if (this.#isMessage) {
        this.#rest = this.#rest.subarray(end + 5);
        this.#isMessage = false;
        count();
        answers += '250 2.0.0 Queued\r\n';
      } else {
        answers += this.#answerTo(this.#rest.toString('latin1', 0, end));
        this.#rest = this.#rest.subarray(end + 2);
      }
    }
    if (answers !== '') this.socket.write(answers);
  }

  #answerTo(line: string): string {
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n';
      case 'MAIL':
        this.#isRefused = false;
        senders?.push(line.slice(line.indexOf('<') + 1, line.indexOf('>')));
        return '250 2.1.0 Sender\r\n';
      case 'RCPT':
        return this.#recipient(line);
      case 'DATA':
        this.#isMessage = !this.#isRefused;
        return this.#isRefused ? '503 5.5.1 No recipient\r\n' : '354 Go ahead\r\n';
      case 'QUIT':
        this.socket.end('221 2.0.0 Bye\r\n');
        return '';
      default:
        return '250 2.0.0 Done\r\n';
    }
  }

  #recipient(line: string): string {
    const [, fault] = /<(grey|hang|slow)/.exec(line) ?? [];
    if (fault === undefined) return '250 2.1.5 Recipient\r\n';
    if (fault === 'slow') {
      // The rest of the pipeline waits, too.
      this.socket.pause();
      setTimeout(() => this.socket.resume(), SLOW).unref();
      return '250 2.1.5 Recipient\r\n';
    }
    this.#isRefused = true;
    if (fault === 'grey') return '450 4.7.1 Greylisted\r\n';
    this.#isHung = true;
    return '';
  }
}

function count(): void {
  if (awaited && ++accepted >= awaited.count) awaited.resolve();
}

serve({
  start: () =>
    new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    }),
  address: async () => `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Resolves once `n` further messages were accepted. */
  arrived: (n: number) =>
    new Promise<void>((resolve) => {
      accepted = 0;
      awaited = { count: n, resolve };
    }),
  /** Keeps the return addresses from now on. */
  record: async () => {
    senders = [];
  },
  senders: async (): Promise<readonly string[]> => senders ?? [],
  stop: async () => {
    server.close();
  },
});
