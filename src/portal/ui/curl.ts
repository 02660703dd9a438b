import { type CurlAction, mount } from '@dundun/dashboard/ui';

type SendRequest = Extract<CurlAction, { action: 'send' }>['request'];

interface Surface {
  readonly token: string;
  /** The request of a send; missing where it needs more than the dialog asks for. */
  readonly send?: { readonly path: string; readonly body: (of: SendRequest) => object };
  readonly list?: string;
  /** Paths of one message and of a send. */
  readonly message: (id: string) => string;
  readonly batch: (id: string) => string;
  readonly cancels?: boolean;
  readonly reschedules?: boolean;
}

/** A send to one recipient, where messages are read one by one. */
const firstOf = (path: string) => (id: string) => `${path}/${id}-0`;
const one = (path: string) => (id: string) => `${path}/${id}`;
const batchOf = (id: string) => id.replace(/-\d+$/, '');

/** Paths of the built-in channels; another channel has no public interface. */
const SURFACES: Readonly<Record<string, Surface>> = {
  sms: {
    token: 'API_TOKEN',
    send: {
      path: 'ng/v1/sendsms',
      body: ({ from, to, sendAt, content }) => ({
        from,
        to,
        body: content['text'],
        ...(sendAt && { send_at: sendAt }),
      }),
    },
    list: 'ng/v1/sms',
    // An SMS is read with its batch.
    message: (id) => `ng/v1/sms/${batchOf(id)}/reports`,
    batch: one('ng/v1/sms'),
    cancels: true,
    reschedules: true,
  },
  whatsapp: {
    token: 'API_KEY',
    send: { path: 'whatsapp/ng/v1/sendwhatsapp', body: whatsAppBody },
    message: one('whatsapp/ng/v1/messages'),
    batch: firstOf('whatsapp/ng/v1/messages'),
  },
  email: {
    token: 'API_KEY',
    send: { path: 'email/ng/v1/messages', body: bodyOfFields },
    list: 'email/ng/v1/messages',
    message: one('email/ng/v1/messages'),
    batch: one('email/ng/v1/messages'),
    cancels: true,
    reschedules: true,
  },
  voice: {
    token: 'API_TOKEN',
    send: { path: 'ng/v1/voice/calls', body: bodyOfFields },
    list: 'ng/v1/voice/calls',
    message: one('ng/v1/voice/calls'),
    batch: one('ng/v1/voice/calls'),
    cancels: true,
  },
  vas: {
    token: 'API_TOKEN',
    list: 'ng/v1/vas/orders',
    message: (id) => `ng/v1/vas/orders/${batchOf(id)}`,
    batch: one('ng/v1/vas/orders'),
  },
};

/** A request of the published interface. */
export interface ApiCommand {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Such as `ng/v1/groups`. */
  readonly path: string;
  readonly body?: object | undefined;
  /** Variable with the secret. @default API_TOKEN */
  readonly token?: string;
}

/** The command, with the name of a variable in the place of the secret. */
export function commandOf({ method, path, body, token = 'API_TOKEN' }: ApiCommand): string {
  return [
    `curl -X ${method} '${new URL(`../${path}`, mount).href}'`,
    `  -H "Authorization: Bearer $${token}"`,
    ...(body
      ? [
          `  -H 'Content-Type: application/json'`,
          `  -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
        ]
      : []),
  ].join(' \\\n');
}

/** The command for an action of the dashboard. */
export function curlOf(action: CurlAction): string | undefined {
  const channel = action.action === 'send' ? action.request.channel : action.channel;
  const surface = SURFACES[channel];
  if (!surface) return undefined;
  const command = (method: ApiCommand['method'], path: string, body?: object): string =>
    commandOf({ method, path, body, token: surface.token });
  switch (action.action) {
    case 'send':
      return surface.send && command('POST', surface.send.path, surface.send.body(action.request));
    case 'messages':
      return surface.list && command('GET', surface.list);
    case 'message':
      return command('GET', surface.message(action.id));
    case 'batch':
      return command('GET', surface.batch(action.id));
    case 'cancel':
      return surface.cancels ? command('DELETE', surface.batch(action.id)) : undefined;
    case 'reschedule':
      return surface.reschedules
        ? command('PATCH', surface.batch(action.id), { send_at: action.sendAt })
        : undefined;
  }
}

function bodyOfFields({ from, to, sendAt, content }: SendRequest): object {
  const { kind: _kind, ...fields } = content;
  return { from, to, ...fields, ...(sendAt && { send_at: sendAt }) };
}

function whatsAppBody({ to, content }: SendRequest): object {
  const { kind, ...fields } = content;
  return kind === 'template'
    ? {
        to: to[0],
        message_type: kind,
        template_name: fields['template'],
        language: fields['language'],
        params: fields['params'],
      }
    : { to: to[0], message_type: kind, text: fields['text'] };
}
