export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'success' | 'danger';
}

/** Milliseconds that a toast stays; WCAG asks for time enough to read it. */
const SHOWN_FOR = 8000;

/** Shows the toasts; the newest place shows all of them, the others none. */
type Place = (toasts: readonly Toast[]) => void;

let toasts: readonly Toast[] = [];
let last = 0;
let places: readonly Place[] = [];

/** Shows the result of an action; screen readers announce it. */
export function toast(text: string, tone: Toast['tone'] = 'success'): void {
  const id = ++last;
  show([...toasts.slice(-2), { id, text, tone }]);
  setTimeout(() => dismissToast(id), SHOWN_FOR);
}

export function dismissToast(id: number): void {
  show(toasts.filter((one) => one.id !== id));
}

/** @returns ends it */
export function watchToasts(place: Place): () => void {
  places = [...places, place];
  show(toasts);
  return () => {
    places = places.filter((one) => one !== place);
    show(toasts);
  };
}

function show(next: readonly Toast[]): void {
  toasts = next;
  const newest = places.at(-1);
  for (const place of places) place(place === newest ? toasts : []);
}
