/** Whether to log the n-th of equal failures: the first, the tenth, the hundredth … */
export function isLogged(n: number): boolean {
  return /^10*$/.test(String(n));
}
