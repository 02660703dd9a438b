export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'success' | 'danger';
}

/** Milliseconds that a toast stays; WCAG asks for time enough to read it. */
const SHOWN_FOR = 8000;

let toasts: readonly Toast[] = [];
let last = 0;
let listener: ((toasts: readonly Toast[]) => void) | undefined;

/** Shows the result of an action; screen readers announce it. */
export function toast(text: string, tone: Toast['tone'] = 'success'): void {
  const id = ++last;
  toasts = [...toasts.slice(-2), { id, text, tone }];
  listener?.(toasts);
  setTimeout(() => dismissToast(id), SHOWN_FOR);
}

export function dismissToast(id: number): void {
  toasts = toasts.filter((one) => one.id !== id);
  listener?.(toasts);
}

export function watchToasts(watch: (toasts: readonly Toast[]) => void): () => void {
  listener = watch;
  return () => {
    listener = undefined;
  };
}
