/** The text of a template with its values; an empty value leaves its place as it is. */
export function templateText(
  body: string | null,
  name: string,
  values: readonly string[],
  names?: readonly string[] | null,
): string {
  const placeOf = (index: number): string => `{{${names?.[index] ?? index + 1}}}`;
  if (body === null)
    return [name, ...values.map((value, index) => `${placeOf(index)} ${value}`)].join('\n');
  return body.replaceAll(/\{\{\s*([\w]{1,64})\s*\}\}/g, (place, key: string) => {
    const index = names ? names.indexOf(key) : Number(key) - 1;
    return values[index] || place;
  });
}
