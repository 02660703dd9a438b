const MIB = 1_048_576;

interface BodyLimits {
  readonly bytes: number;
  /** Most field names. */
  readonly fields: number;
}

/**
 * Limits of bodies with attachments, whose base64 takes a third more than the message, and of
 * recipients with variables.
 */
const LIMITS: Readonly<Record<string, BodyLimits>> = {
  '/email/ng/v1/messages': { bytes: 36 * MIB, fields: 1_000_000 },
  '/email/ng/v1/messages/batch': { bytes: 40 * MIB, fields: 200_000 },
};

/** `undefined`: those of every route. */
export function emailBodyLimits(route = ''): BodyLimits | undefined {
  return LIMITS[route];
}
