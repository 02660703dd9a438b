import { once } from 'node:events';
import SMTPConnection from 'nodemailer/lib/smtp-connection';

export interface SentMail {
  readonly port: number;
  readonly from?: string;
  readonly to: string | readonly string[];
  readonly raw: string | Buffer;
  /** Own address of the connection. @default any */
  readonly localAddress?: string;
}

/** @returns the server's answer: to the message, or the refusal of the command before it */
export async function sendMail({
  port,
  from = '',
  to,
  raw,
  localAddress,
}: SentMail): Promise<string> {
  const connection = new SMTPConnection({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    ...(localAddress !== undefined && { localAddress }),
  });
  connection.on('error', () => undefined);
  connection.connect();
  try {
    await once(connection, 'connect');
    return await new Promise((resolve, reject) =>
      connection.send({ from, to: [to].flat() as string[] }, raw, (error, info) => {
        if (!error) resolve(info.response);
        else if (error.response) resolve(error.response);
        else reject(error);
      }),
    );
  } catch (error) {
    const { response } = error as { readonly response?: string };
    if (response === undefined) throw error;
    return response;
  } finally {
    connection.close();
  }
}
