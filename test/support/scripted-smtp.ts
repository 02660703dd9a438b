import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

export const SMTP_VERBS = [
  'GREETING',
  'EHLO',
  'STARTTLS',
  'AUTH',
  'MAIL',
  'RCPT',
  'DATA',
  'DOT',
  'RSET',
] as const;

export type SmtpVerb = (typeof SMTP_VERBS)[number];

/** Behaviour of the server at a verb, instead of its own answer. */
export type SmtpFault =
  | { readonly answer: string }
  | { readonly does: 'cut' | 'silence' }
  /** The answer, one byte each 20 milliseconds, and never its end. */
  | { readonly does: 'drip' }
  /** A line of 10 MB without an end. */
  | { readonly does: 'flood' };

export interface ScriptedMail {
  readonly to: string;
  readonly message: string;
  readonly isSecure: boolean;
}

interface Options {
  /** Certificate and key: the server offers STARTTLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly hasAuth?: boolean;
}

const ANSWERS: Readonly<Record<string, string>> = {
  GREETING: '220 mx.example.org ESMTP',
  STARTTLS: '220 2.0.0 Go ahead',
  AUTH: '235 2.7.0 Welcome',
  MAIL: '250 2.1.0 Sender',
  RCPT: '250 2.1.5 Recipient',
  DATA: '354 Go ahead',
  DOT: '250 2.0.0 Queued',
  RSET: '250 2.0.0 Reset',
  QUIT: '221 2.0.0 Bye',
};

const FLOOD = Buffer.alloc(1_048_576, 'x');

/** A mail server without a library, which can fail at every verb in every way. */
export class ScriptedSmtp {
  readonly accepted: ScriptedMail[] = [];
  /** Everything that arrived without TLS. */
  plain = '';
  connections = 0;
  /** The fault at a verb; `to` is the recipient, once it is known. `undefined`: none. */
  fault: (verb: SmtpVerb, to: string) => SmtpFault | undefined = () => undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly options: Options) {
    this.#server = createServer((socket) => {
      this.connections++;
      this.#watch(socket);
      new Session(this, socket, options).start();
    });
  }

  static async start(options: Options = {}): Promise<ScriptedSmtp> {
    const self = new ScriptedSmtp(options);
    self.#server.listen(0, '127.0.0.1');
    await once(self.#server, 'listening');
    return self;
  }

  get url(): string {
    const user = this.options.hasAuth ? 'ada:secret@' : '';
    return `smtp://${user}127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection, so that the next message needs a new one. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

class Session {
  #socket: Socket;
  #isSecure = false;
  #text = '';
  #to = '';
  #isMessage = false;
  #isDead = false;

  constructor(
    private readonly server: ScriptedSmtp,
    private readonly plain: Socket,
    private readonly options: Options,
  ) {
    this.#socket = plain;
  }

  start(): void {
    this.#listen(this.plain);
    this.#reply('GREETING');
  }

  #listen(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => {
      if (!this.#isSecure) this.server.plain += data.toString('latin1');
      this.#text += data.toString('latin1');
      this.#read();
    });
  }

  #read(): void {
    for (;;) {
      const end = this.#text.indexOf(this.#isMessage ? '\r\n.\r\n' : '\r\n');
      if (end < 0 || this.#isDead) return;
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + (this.#isMessage ? 5 : 2));
      if (this.#isMessage) this.#take(line);
      else this.#command(line);
    }
  }

  #take(message: string): void {
    this.#isMessage = false;
    const to = this.#to;
    this.#reply('DOT', () => this.server.accepted.push({ to, message, isSecure: this.#isSecure }));
  }

  #command(line: string): void {
    const verb = (/^[A-Za-z]+/.exec(line)?.[0] ?? '').toUpperCase();
    switch (verb) {
      case 'EHLO':
      case 'HELO':
        return this.#reply('EHLO');
      case 'RCPT':
        this.#to = /<([^>]*)>/.exec(line)?.[1] ?? '';
        return this.#reply('RCPT');
      case 'DATA':
        return this.#reply('DATA', () => (this.#isMessage = true));
      case 'STARTTLS':
        if (!this.options.tls) return this.#say('502 5.5.1 No');
        return this.#reply('STARTTLS', () => this.#secure());
      case 'QUIT':
        return void this.#socket.end(`${ANSWERS['QUIT']}\r\n`);
      default:
        return this.#reply(verb as SmtpVerb);
    }
  }

  #reply(verb: SmtpVerb, onSuccess: () => void = () => undefined): void {
    const fault = this.server.fault(verb, this.#to);
    if (!fault) {
      this.#say(verb === 'EHLO' ? this.#extensions() : (ANSWERS[verb] ?? '502 5.5.1 No'));
      return onSuccess();
    }
    if ('answer' in fault) {
      this.#say(fault.answer);
      if (fault.answer.startsWith('421')) this.#socket.end();
      return;
    }
    this.#isDead = true;
    if (fault.does === 'cut') this.#socket.destroy();
    if (fault.does === 'drip') this.#drip('250-still here');
    if (fault.does === 'flood') for (let n = 0; n < 10; n++) this.#socket.write(FLOOD);
  }

  #drip(text: string): void {
    let at = 0;
    const timer = setInterval(() => this.#socket.write(text[at++ % text.length] ?? ''), 20);
    this.#socket.once('close', () => clearInterval(timer));
  }

  #extensions(): string {
    const offers = [
      ...(this.options.tls && !this.#isSecure ? ['STARTTLS'] : []),
      ...(this.options.hasAuth ? ['AUTH PLAIN'] : []),
    ];
    return ['mx.example.org', ...offers]
      .map((offer, index) => `250${index === offers.length ? ' ' : '-'}${offer}`)
      .join('\r\n');
  }

  #say(answer: string): void {
    if (!this.#socket.destroyed) this.#socket.write(`${answer}\r\n`);
  }

  #secure(): void {
    const { plain, options } = this;
    if (!options.tls) return;
    plain.removeAllListeners('data');
    this.#text = '';
    const secure = new TLSSocket(plain, {
      isServer: true,
      secureContext: createSecureContext(options.tls),
    });
    secure.on('error', () => undefined);
    this.#isSecure = true;
    this.#listen(secure);
  }
}
