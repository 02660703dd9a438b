import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { MailCommand, MailEntry, MailEvent } from './mail-protocol.js';

/**
 * A mail server in a process that no test kills. Each acceptance is one entry of its book, appended
 * before the answer leaves.
 */
const book: MailEntry[] = [];
let untilHold = 0;

const tell = (event: MailEvent): void => void process.send?.(event);

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  onData: (stream, { envelope }, done) => {
    const take = (message: Buffer) => {
      const messageId = /^Message-ID: <(\S+)>\r$/m.exec(message.toString('latin1'))?.[1] ?? '';
      const digest = createHash('sha256').update(message).digest('hex');
      for (const { address } of envelope.rcptTo) book.push({ to: address, messageId, digest });
      if (untilHold > 0 && --untilHold === 0) return tell({ event: 'held', messageId });
      return done();
    };
    // A message whose sender died before its end is not in the book.
    buffer(stream).then(take, done);
  },
});
server.on('error', () => undefined);

process.on('message', (message: MailCommand) => {
  switch (message.command) {
    case 'hold':
      untilHold = message.nth;
      break;
    case 'book':
      tell({ event: 'book', entries: book });
      break;
    default:
      message satisfies never;
  }
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () =>
  tell({ event: 'ready', port: (server.server.address() as AddressInfo).port }),
);
