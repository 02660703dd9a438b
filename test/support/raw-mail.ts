import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Sends octets as they are, so that lines may end in any way; a line that starts with a dot has it
 * twice already.
 * @returns the server's answer to the mail, or to the command that it refused
 */
export async function sendOctets(
  port: number,
  { from, to, octets }: { readonly from: string; readonly to: string; readonly octets: Buffer },
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const lines = createInterface(socket)[Symbol.asyncIterator]();
  const answer = async () =>
    ((await lines.next()) as IteratorResult<string, undefined>).value ?? '';
  try {
    await once(socket, 'connect');
    let said = await answer();
    for (const command of ['HELO x', `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA']) {
      if (!/^[23]/.test(said)) return said;
      socket.write(`${command}\r\n`);
      said = await answer();
    }
    if (!said.startsWith('354')) return said;
    socket.write(octets);
    socket.write('\r\n.\r\n');
    return await answer();
  } finally {
    socket.destroy();
  }
}
