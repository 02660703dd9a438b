const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** Whether a text is a month of UTC, such as `2026-11`. */
export function isMonth(text: string | null | undefined): text is string {
  return typeof text === 'string' && MONTH.test(text);
}

export function monthOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}

function moved(month: string, by: number): string {
  const time = new Date(`${month}-01T00:00:00Z`);
  time.setUTCMonth(time.getUTCMonth() + by);
  return monthOf(time);
}

export const monthBefore = (month: string): string => moved(month, -1);
export const monthAfter = (month: string): string => moved(month, 1);

/** Such as `November 2026`. */
export function monthName(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}
