import type { CurlAction } from '@dundun/dashboard/ui';
import type { CurlForm, CurlSend } from '../../http/curl-form.js';
import { root } from './addresses.js';

type SendRequest = Extract<CurlAction, { action: 'send' }>['request'];

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
    `curl -X ${method} '${new URL(`../${path}`, root).href}'`,
    `  -H "Authorization: Bearer $${token}"`,
    ...(body
      ? [
          `  -H 'Content-Type: application/json'`,
          `  -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
        ]
      : []),
  ].join(' \\\n');
}

/** Commands for the actions of the dashboard, by the requests of each channel. */
export function curlWith(
  forms: Readonly<Record<string, CurlForm>>,
): (action: CurlAction) => string | undefined {
  return (action) => {
    const form = forms[action.action === 'send' ? action.request.channel : action.channel];
    if (!form) return undefined;
    const command = (method: ApiCommand['method'], path: string, body?: object): string =>
      commandOf({ method, path, body, token: form.token });
    switch (action.action) {
      case 'send':
        return form.send
          ? command('POST', form.send.path, bodyOf(form.send, action.request))
          : undefined;
      case 'messages':
        return form.list === null ? undefined : command('GET', form.list);
      case 'message':
        return command(
          'GET',
          form.message
            .replace('{message}', action.id)
            .replace('{batch}', action.id.replace(/-\d+$/, '')),
        );
      case 'batch':
        return command('GET', form.batch.replace('{batch}', action.id));
      case 'cancel':
        return form.cancels && command('DELETE', form.batch.replace('{batch}', action.id));
      case 'reschedule':
        return (
          form.reschedules &&
          command('PATCH', form.batch.replace('{batch}', action.id), { send_at: action.sendAt })
        );
    }
  };
}

function bodyOf(
  { fields, kind, toOne, reports }: CurlSend,
  { from, to, sendAt, content }: SendRequest,
): object {
  const { kind: given, ...all } = content;
  const own = fields
    ? Object.fromEntries(
        Object.entries(fields).flatMap(([name, as]) => (name in all ? [[as, all[name]]] : [])),
      )
    : all;
  return {
    ...(toOne ? { to: to[0] } : { from, to }),
    ...(kind !== undefined && { [kind]: given }),
    ...own,
    ...(reports && { delivery_report: 'yes' }),
    ...(sendAt && !toOne && { send_at: sendAt }),
  };
}
