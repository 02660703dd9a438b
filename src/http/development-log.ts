import { type DestinationStream, pino } from 'pino';

/** What of the settings decides. */
interface Where {
  readonly NODE_ENV: string;
}

/** Whether a person reads the log: on a terminal, in development. Elsewhere it is JSON. */
export function isReadByPerson({ NODE_ENV }: Where): boolean {
  return NODE_ENV === 'development' && process.stdout.isTTY;
}

/** Where the log goes: to stdout, for people as lines of text. */
export async function logDestination(where: Where): Promise<DestinationStream> {
  if (!isReadByPerson(where)) return pino.destination({ fd: 1, sync: true });
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: 1,
    sync: true,
    colorize: process.stdout.hasColors?.() ?? false,
    ignore: 'pid,context',
    translateTime: 'SYS:HH:MM:ss',
    messageFormat: '{if context}{context}: {end}{msg}',
    singleLine: true,
  });
}
