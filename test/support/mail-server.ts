import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Parameters of RCPT, such as NOTIFY. */
  readonly parameters: unknown;
  readonly message: Buffer;
  readonly secure: boolean;
}

export type MailVerb = 'connect' | 'mail' | 'rcpt' | 'data';

/** A mail server that answers as told, and keeps the accepted messages. */
export class MailServer {
  readonly accepted: ReceivedMail[] = [];
  connections = 0;
  /** An answer such as `550 5.1.1 No such user`; `undefined`: it accepts. */
  answer: (verb: MailVerb, address: string) => string | undefined = () => undefined;
  /** The next message is accepted, and the connection closed before the answer. */
  losesAnswer = false;
  onAccepted: (mail: ReceivedMail) => void = () => undefined;
  /** The next connection is closed at this verb, without an answer. */
  cutsAt: MailVerb | undefined;
  readonly #server: SMTPServer;
  readonly #sockets = new Set<Socket>();

  private constructor(options: SMTPServerOptions) {
    const said = (verb: MailVerb, address: string): Error | undefined => {
      if (this.cutsAt === verb) {
        this.cutsAt = undefined;
        this.cutAll();
        return new Error('cut');
      }
      const answer = this.answer(verb, address);
      if (answer === undefined) return undefined;
      return Object.assign(new Error(answer.slice(4)), {
        responseCode: Number(answer.slice(0, 3)),
      });
    };
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      closeTimeout: 1,
      hidePIPELINING: true,
      onConnect: (_session, done) => {
        this.connections++;
        done(said('connect', ''));
      },
      onMailFrom: ({ address }, _session, done) => done(said('mail', address)),
      onRcptTo: ({ address }, _session, done) => done(said('rcpt', address)),
      onData: (stream, { envelope, secure }, done) => {
        void buffer(stream).then((message) => {
          const to = envelope.rcptTo.map(({ address }) => address);
          const error = said('data', to[0] ?? '');
          if (error) return done(error);
          const from = envelope.mailFrom ? envelope.mailFrom.address : '';
          const parameters = {
            mail: envelope.mailFrom && envelope.mailFrom.args,
            rcpt: envelope.rcptTo.map(({ args }) => args),
          };
          this.accepted.push({ from, to, parameters, message, secure: secure ?? false });
          this.onAccepted(this.accepted.at(-1) as ReceivedMail);
          if (!this.losesAnswer) return done();
          this.losesAnswer = false;
          return this.cutAll();
        });
      },
      ...options,
    });
    this.#server.on('error', () => undefined);
    this.#server.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const self = new MailServer(options);
    self.#server.listen(0, '127.0.0.1');
    await once(self.#server.server, 'listening');
    return self;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutAll();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
