import type { ServerResponse } from 'node:http';
import { type Handler, RecordingServer } from './recording-server.js';

/** smsbox's sendsms over POST, with the observed answers of Kannel 1.4.5; it ignores keys. */
export class SendsmsServer extends RecordingServer {
  readonly username = 'tester';
  readonly password = 'kannel-pass-1';
  /** Prefix of numbers that no SMSC takes. */
  readonly unroutable = '99';
  readonly taken: Parameters<Handler>[0][] = [];

  static async start(): Promise<SendsmsServer> {
    const server = new SendsmsServer((...exchange) => server.#take(...exchange));
    await server.listen();
    return server;
  }

  #take(...[request, response]: Parameters<Handler>): void {
    const { headers, url } = request;
    const to = String(headers['x-kannel-to'] ?? '');
    if (url !== '/cgi-bin/sendsms') return say(response, 404, 'Unknown request.');
    if (!headers['content-type']?.startsWith('text/plain'))
      return say(response, 400, 'Invalid content-type');
    if (
      headers['x-kannel-username'] !== this.username ||
      headers['x-kannel-password'] !== this.password
    )
      return say(response, 403, 'Authorization failed for sendsms');
    if (to === '') return say(response, 400, 'Empty receiver number not allowed, rejected');
    if (to.startsWith(this.unroutable))
      return say(response, 403, 'Not routable. Do not try again.');
    this.taken.push(request);
    say(response, 202, '0: Accepted for delivery');
  }
}

export function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end(text);
}
