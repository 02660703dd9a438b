/** An answer in the place of an acceptance: by a proxy, or by the service itself. */
export interface WrongAnswer {
  /** 0: the connection is cut. */
  readonly status: number;
  readonly form: 'empty' | 'page' | 'own';
  /** The service has accepted the request before the answer. */
  readonly after: boolean;
}

const STATUSES = [400, 401, 403, 404, 405, 407, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504];
const FORMS = ['empty', 'page', 'own'] as const;

/** A 4xx in the service's own form, except "try later", refuses the request. */
export function refuses({ status, form }: WrongAnswer): boolean {
  return form === 'own' && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** The refusals that a retry cannot change. */
export function refusesForGood(wrong: WrongAnswer): boolean {
  return refuses(wrong) && wrong.status !== 401 && wrong.status !== 403;
}

/** Without keys, the service's own word that it takes nothing now is true. */
function isLie(wrong: WrongAnswer, honoursKeys: boolean): boolean {
  if (!wrong.after) return false;
  const later = wrong.form === 'own' && (wrong.status === 429 || wrong.status === 503);
  return refuses(wrong) || (later && !honoursKeys);
}

/** Every wrong answer that a service may give, or let a proxy give. */
export function wrongAnswers(honoursKeys: boolean): readonly WrongAnswer[] {
  const all = [true, false].flatMap((after) => [
    { status: 0, form: 'empty' as const, after },
    ...STATUSES.flatMap((status) => FORMS.map((form) => ({ status, form, after }))),
  ]);
  return all.filter((wrong) => !isLie(wrong, honoursKeys));
}

export function bodyOf({ status, form }: WrongAnswer): string {
  if (form === 'empty') return '';
  if (form === 'page') return `<html><h1>${status}</h1></html>`;
  return JSON.stringify({ error: { type: 'x', code: `chaos_${status}`, message: 'Chaos' } });
}
