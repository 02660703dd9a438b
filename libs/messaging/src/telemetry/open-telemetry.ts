export type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** Name of the instrumentation scope. */
export const SCOPE = '@dundun/messaging';

/** A provider's code may be any text; codes that may contain a phone number are left out. */
const PLAIN_CODE = /^(?!.*\d{7})[\w.:-]{1,64}$/;

/** The API, or `undefined` where the package is not installed. */
export async function openTelemetryApi(
  load: () => Promise<OpenTelemetryApi> = () => import('@opentelemetry/api'),
): Promise<OpenTelemetryApi | undefined> {
  return load().catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** Value of `error.type`: the error's code or name, where it is a plain word. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const found = [code, name].find((word) => typeof word === 'string' && PLAIN_CODE.test(word));
  return typeof found === 'string' ? found : '_OTHER';
}

function isMissing(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return true;
  // Jest passes the words of Yarn's Plug'n'Play on without its code.
  return code === undefined && /tried to access @opentelemetry\/api\b/.test(String(message));
}
