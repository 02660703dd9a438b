/**
 * The address; `undefined`: it is none. On Node 20 `URL.canParse()` refuses names such as
 * `https://münchen.example` once it is compiled, after some thousand calls.
 * @param base of a relative address
 */
export function parsedUrl(written: string, base?: string): URL | undefined {
  try {
    return new URL(written, base);
  } catch {
    return undefined;
  }
}
